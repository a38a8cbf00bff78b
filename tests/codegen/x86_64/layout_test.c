/* layout_test.c — labels, the lengths of jumps, alignment, constants, relocations.
 *
 * Programs are walked with Zydis: each reference must lead to its label.  Where nothing is aligned
 * and few rounds suffice, no jump may be long that would reach as a short one.
 */
#include "tests/codegen/x86_64/cases.h"
#include "tests/random.h"

#include <Zydis/Zydis.h>
#include <criterion/criterion.h>

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    x86_code *code;
    ir_vec(uint32_t) references; /* labels, in the order of the code */
    cg_image image;
    unsigned jumps, long_jumps, wasted; /* wasted: long, but would reach */
} program;

static void begin(program *p) {
    *p = (program){0};
    ir_arena_init(&p->arena, &p->cx);
    p->code = x86_code_new(&p->arena);
}

static void end(program *p) { ir_arena_free(&p->arena); }

static void put(program *p, x86_row row, x86_operand a, x86_operand b) {
    x86_operands o = {.arg = {a, b}};
    cr_assert(x86_encode(p->code, row, &o));
}

static void jump(program *p, x86_row row, uint32_t label) {
    put(p, row, x86_target(label), (x86_operand){0});
    *ir_push(&p->arena, &p->references) = label;
}

static void load(program *p, uint32_t label) {
    put(p, X86_MOVUPS_x_xm, x86_reg(X86_XMM, 9), x86_at(label, 0));
    *ir_push(&p->arena, &p->references) = label;
}

static void fill(program *p, unsigned bytes) {
    while (bytes--) put(p, X86_NOP, (x86_operand){0}, (x86_operand){0});
}

/* -------------------------------------------------------------------------------------- walking */

static int reference_operand(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o) {
    for (int n = 0; n < i->operand_count_visible; n++) {
        if (o[n].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o[n].imm.is_relative) return n;
        if (o[n].type == ZYDIS_OPERAND_TYPE_MEMORY && o[n].mem.base == ZYDIS_REGISTER_RIP) return n;
    }
    return -1;
}

static void count_jump(program *p, const ZydisDecodedInstruction *i, uint64_t at, uint64_t target) {
    if (i->meta.category == ZYDIS_CATEGORY_CALL || i->length == 8) return; /* no jump, a load */
    unsigned length = i->mnemonic == ZYDIS_MNEMONIC_JMP ? 5 : 6;
    int64_t d = (int64_t)(target - at) - 2;
    if (target > at) d -= length - 2; /* what is behind would move as well */
    p->jumps++;
    p->long_jumps += i->length != 2;
    p->wasted += i->length != 2 && d >= INT8_MIN && d <= INT8_MAX;
}

/* Finishes and looks at every reference. */
static void walk(program *p) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    uint32_t n = 0;
    cr_assert(x86_finish(p->code, &p->image));
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (uint32_t at = 0; at < p->image.code_bytes; at += i.length) {
        ZyanStatus s =
            ZydisDecoderDecodeFull(&decoder, p->image.bytes + at, p->image.code_bytes - at, &i, o);
        cr_assert(ZYAN_SUCCESS(s), "code at %u can be decoded", at);
        int k = reference_operand(&i, o);
        if (k < 0) continue;
        uint64_t target;
        ZydisCalcAbsoluteAddress(&i, &o[k], at, &target);
        uint32_t label = p->references.data[n++];
        cr_assert_eq(target, p->image.labels[label], "reference %u at %u leads to %llu, not to %u",
                     n, at, (unsigned long long)target, p->image.labels[label]);
        count_jump(p, &i, at, target);
    }
    cr_assert_eq(n, p->references.n);
}

/* ---------------------------------------------------------------------------------------- jumps */

/* A jump over so many bytes, and back over them: the lengths of both. */
static void check_distance(unsigned bytes, unsigned long_jumps) {
    program p;
    begin(&p);
    uint32_t before = x86_label_new(p.code), behind = x86_label_new(p.code);
    x86_bind(p.code, before);
    jump(&p, X86_JMP_rel32, behind);
    fill(&p, bytes);
    x86_bind(p.code, behind);
    jump(&p, X86_JNE_rel32, before);
    walk(&p);
    cr_expect_eq(p.long_jumps, long_jumps, "over %u bytes", bytes);
    end(&p);
}

Test(layout, jumps_are_short_as_long_as_they_reach) {
    check_distance(0, 0);
    check_distance(124, 0); /* back: 124 + 2 + 2 */
    check_distance(125, 1);
    check_distance(127, 1);
    check_distance(128, 2);
    check_distance(70000, 2);
}

static void random_item(program *p, uint64_t *seed, const uint32_t *labels, unsigned nlabels,
                        bool aligned) {
    static const x86_row rows[] = {X86_JMP_rel32, X86_JNE_rel32, X86_JL_rel32, X86_CALL_rel32};
    uint64_t r = splitmix64(seed);
    uint32_t label = labels[r >> 32 & (nlabels - 1)];
    switch (r % 8) {
    case 0:
    case 1:
    case 2: jump(p, rows[r >> 16 & 3], label); break;
    case 3: load(p, label); break;
    case 4:
        if (aligned && r >> 16 & 1)
            x86_keep_together(p->code, label);
        else if (aligned)
            x86_align(p->code, 1u << (r >> 20) % 7);
        break;
    default: fill(p, r >> 24 & 15); break;
    }
}

static void random_program(uint64_t *seed, bool aligned) {
    enum { LABELS = 16, ITEMS = 200 };
    program p;
    uint32_t labels[LABELS];
    unsigned bound = 0;
    begin(&p);
    for (unsigned i = 0; i < LABELS; i++) labels[i] = x86_label_new(p.code);
    for (unsigned i = 0; i < ITEMS; i++) {
        if (i % (ITEMS / LABELS) == 0 && bound < LABELS) x86_bind(p.code, labels[bound++]);
        random_item(&p, seed, labels, LABELS, aligned);
    }
    while (bound < LABELS) x86_bind(p.code, labels[bound++]);
    walk(&p);
    if (!aligned)
        cr_expect_eq(p.wasted, 0, "%u of %u jumps are long without need", p.wasted, p.jumps);
    end(&p);
}

Test(layout, random_programs) {
    uint64_t seed = 0x5eed;
    for (unsigned i = 0; i < 1000; i++) random_program(&seed, i & 1);
}

/* Each jump reaches until the next one grows: one round for each, were rounds not limited. */
Test(layout, a_chain_in_which_each_jump_pushes_the_one_before) {
    enum { LINKS = 20000, HALF = 62 };
    program p;
    begin(&p);
    uint32_t label = x86_label_new(p.code), next = x86_label_new(p.code);
    for (unsigned i = 0; i < LINKS; i++, label = next, next = x86_label_new(p.code)) {
        jump(&p, X86_JMP_rel32, next);
        fill(&p, HALF);
        x86_bind(p.code, label);
    }
    fill(&p, INT8_MAX);
    x86_bind(p.code, label);
    walk(&p);
    cr_expect_eq(p.long_jumps, LINKS);
    end(&p);
}

Test(layout, a_short_jump_that_was_asked_for) {
    for (unsigned bytes = 127; bytes <= 128; bytes++) {
        program p;
        begin(&p);
        uint32_t behind = x86_label_new(p.code);
        jump(&p, X86_JMP_rel8, behind);
        fill(&p, bytes);
        x86_bind(p.code, behind);
        cr_expect_eq(x86_finish(p.code, &p.image), bytes == 127);
        end(&p);
    }
}

/* A displacement after which a label of the same code is out of reach. */
Test(layout, a_distance_that_does_not_fit) {
    for (unsigned bytes = 0; bytes <= 1; bytes++) {
        program p;
        begin(&p);
        uint32_t behind = x86_label_new(p.code);
        put(&p, X86_LEA_r64_m, x86_reg(X86_R64, 0), x86_at(behind, INT32_MAX));
        fill(&p, bytes);
        x86_bind(p.code, behind);
        cr_expect_eq(x86_finish(p.code, &p.image), bytes == 0);
        end(&p);
    }
}

/* ---------------------------------------------------------------------- alignment and constants */

/* A loop of `bytes` and a jump back, after `before` others: where it begins. */
static uint32_t place_loop(unsigned before, unsigned bytes) {
    program p;
    begin(&p);
    uint32_t loop = x86_label_new(p.code), behind = x86_label_new(p.code);
    fill(&p, before);
    x86_keep_together(p.code, behind);
    x86_bind(p.code, loop);
    fill(&p, bytes);
    jump(&p, X86_JMP_rel32, loop);
    x86_bind(p.code, behind);
    walk(&p);
    cr_expect_eq(p.image.alignment, 64);
    uint32_t at = p.image.labels[loop];
    end(&p);
    return at;
}

Test(layout, loops_are_kept_together) {
    for (unsigned before = 0; before < 64; before++)
        for (unsigned bytes = 0; bytes < 126; bytes++) {
            unsigned last = bytes + 1; /* of the jump, too */
            bool stays = (before + last) / 64 == last / 64;
            cr_expect_eq(place_loop(before, bytes), stays ? before : 64, "%u bytes at %u", bytes,
                         before);
        }
}

Test(layout, alignment_is_kept) {
    for (unsigned before = 0; before < 70; before++) {
        program p;
        begin(&p);
        uint32_t loop = x86_label_new(p.code);
        fill(&p, before);
        x86_align(p.code, 32);
        x86_bind(p.code, loop);
        jump(&p, X86_JMP_rel32, loop);
        walk(&p);
        cr_expect_eq(p.image.labels[loop], (before + 31) / 32 * 32);
        cr_expect_eq(p.image.alignment, 32);
        end(&p);
    }
}

Test(layout, constants_are_shared_and_aligned) {
    static const uint8_t data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    program p;
    begin(&p);
    uint32_t labels[7];
    for (unsigned i = 0; i < 7; i++) {
        labels[i] = x86_constant(p.code, data, 1u << i);
        load(&p, labels[i]);
        cr_expect_eq(x86_constant(p.code, data, 1u << i), labels[i]);
    }
    walk(&p);
    cr_expect_eq(p.image.alignment, 64);
    for (unsigned i = 0; i < 7; i++) {
        uint32_t at = p.image.labels[labels[i]];
        cr_expect(at >= p.image.code_bytes && at + (1u << i) <= p.image.n);
        cr_expect_eq(at % (1u << i), 0);
        cr_expect_arr_eq(p.image.bytes + at, data, 1u << i);
    }
    end(&p);
}

Test(layout, labels_from_outside_become_relocations) {
    program p;
    begin(&p);
    uint32_t outside = x86_label_new(p.code);
    put(&p, X86_CALL_rel32, x86_target(outside), (x86_operand){0});
    put(&p, X86_JE_rel32, x86_target(outside), (x86_operand){0});
    put(&p, X86_MOV_rm32_imm32, x86_at(outside, 8), x86_imm(1));
    cr_assert(x86_finish(p.code, &p.image));
    const cg_label_reloc want[] = {{1, outside, -4}, {7, outside, -4}, {13, outside, 8 - 8}};
    cr_assert_eq(p.image.nrelocs, 3);
    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(p.image.relocs[i].at, want[i].at);
        cr_expect_eq(p.image.relocs[i].label, want[i].label);
        cr_expect_eq(p.image.relocs[i].addend, want[i].addend);
    }
    cr_expect_eq(p.image.labels[outside], UINT32_MAX);
    end(&p);
}

/* ------------------------------------------------------------------------------ what is refused */

Test(encode, operands_that_do_not_fit) {
    const x86_operand eax = x86_reg(X86_R32, 0), xmm1 = x86_reg(X86_XMM, 1),
                      zmm1 = x86_reg(X86_ZMM, 1);
    const x86_operand at = x86_mem(0, X86_NO_REG, 0, 0), many = x86_mem(0, 1, 0, 0);
    const struct {
        x86_row row;
        x86_operands o;
        const char *why;
    } rows[] = {
        {X86_ADD_rm32_r32, {.arg = {eax, x86_reg(X86_R64, 0)}}, "another class"},
        {X86_ADD_rm32_r32, {.arg = {eax, x86_reg(X86_R32, 16)}}, "no such register"},
        {X86_ADD_rm32_r32, {.arg = {x86_mem(0, 4, 0, 0), eax}}, "rsp as index"},
        {X86_ADD_rm32_r32, {.arg = {x86_mem(0, 1, 4, 0), eax}}, "a scale of 16"},
        {X86_ADD_rm32_r32, {.arg = {x86_mem(X86_RIP, 1, 0, 0), eax}}, "rip with an index"},
        {X86_ADD_rm32_r32, {.arg = {x86_mem(0, X86_NO_REG, 1, 0), eax}}, "a scale of nothing"},
        {X86_ADD_rm32_imm8, {.arg = {eax, at}}, "memory in place of an immediate"},
        {X86_ADD_rm32_r32, {.arg = {eax, eax, eax}}, "an operand too many"},
        {X86_MOVHPD_x_m64, {.arg = {xmm1}}, "an operand too few"},
        {X86_ADD_rm32_r32, {.arg = {eax, at}}, "memory in place of a register"},
        {X86_ADD_rm32_r32, {.arg = {eax, eax}, .lock = true}, "lock without memory"},
        {X86_MOV_rm32_r32, {.arg = {at, eax}, .lock = true}, "lock of a move"},
        {X86_ADD_rm32_imm8, {.arg = {eax, x86_imm(128)}}, "an immediate that would change"},
        {X86_ADD_rm8_imm8,
         {.arg = {x86_reg(X86_R8, 0), x86_imm(256)}},
         "an immediate of nine bits"},
        {X86_SHL_rm32_cl, {.arg = {eax, x86_reg(X86_R8, 2)}}, "a count in dl"},
        {X86_ADDPS_x_xm, {.arg = {xmm1, x86_reg(X86_XMM, 16)}}, "xmm16 without EVEX"},
        {X86_VADDPS_x_x_xm_e, {.arg = {xmm1, xmm1, x86_reg(X86_XMM, 32)}}, "no such register"},
        {X86_VADDPS_z_z_zm_e, {.arg = {zmm1, zmm1, zmm1}, .zero = true}, "zeroing without a mask"},
        {X86_VADDPS_z_z_zm_e, {.arg = {zmm1, zmm1, zmm1}, .mask = 8}, "no such mask"},
        {X86_VADDPS_z_z_zm_e,
         {.arg = {zmm1, zmm1, zmm1}, .broadcast = true},
         "a register broadcast"},
        {X86_VADDPS_z_z_zm_e, {.arg = {zmm1, zmm1, at}, .round = X86_RZ}, "rounding with memory"},
        {X86_VADDPS_z_z_zm_e, {.arg = {zmm1, zmm1, zmm1}, .round = X86_SAE}, "sae in place of er"},
        {X86_VMOVUPS_zm_z_e, {.arg = {at, zmm1}, .mask = 1, .zero = true}, "zeroing of memory"},
        {X86_VGATHERDPS_z_vm32z_e, {.arg = {zmm1, many}, .mask = 1}, "a gather onto its index"},
        {X86_VGATHERDPS_z_vm32z_e, {.arg = {zmm1, x86_mem(0, 2, 0, 0)}}, "a gather without mask"},
        {X86_VGATHERDPS_x_vm32x_x, {.arg = {xmm1, x86_mem(0, 2, 0, 0), xmm1}}, "one onto its mask"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(x86_length(rows[i].row, &rows[i].o), 0, "%s", rows[i].why);
}
