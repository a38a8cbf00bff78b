/* roles_test.c — what encodings.def says of an instruction besides its bytes, against Zydis: which
 * operands are read and written, the size of memory, implicit registers and flags, the level.
 *
 * Zydis tells which parts of a register a form writes; the rows speak of whole registers, so a
 * register that keeps a part counts as read.  The differences that are meant are in a list.
 */
#include "tests/codegen/x86_64/cases.h"

#include <Zydis/Zydis.h>
#include <criterion/criterion.h>

/* What is meant to differ. */
static const struct {
    const char *mnemonics; /* between spaces */
    bool operands, flags, lanes;
    const char *why;
} differences[] = {
    {" sqrtss sqrtsd rcpss rsqrtss roundss roundsd cvtss2sd cvtsd2ss movss movsd movlps movlpd "
     "movhps "
     "movhpd movhlps movlhps ",
     true, false, false, "the other lanes stay"},
    {" bsf bsr ", true, false, false, "the result stays when the source is 0, or is undefined"},
    {" nop prefetcht0 prefetcht1 prefetcht2 prefetchnta ", true, false, false,
     "no access that can fault"},
    {" blendvps blendvpd pblendvb ", true, false, false, "xmm0 is an operand that is written out"},
    {" shl shr sar shld shrd ", false, true, false,
     "a count of 0 keeps the flags, also an immediate one"},
    {" vptest vtestps vtestpd ", false, true, false,
     "as ptest: the manual says that four flags become 0"},
    {" vpsllvq vpsrlvq vpshuflw vpshufhw ", false, false, true, "the manual has others"},
};

typedef struct {
    ZydisDecoder decoder;
    ZydisDecodedInstruction inst;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const x86_case *subject;
    const x86_form *form;
    const char *name;
} decoded;

static void begin(decoded *d) {
    *d = (decoded){0};
    ZydisDecoderInit(&d->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static void decode(decoded *d, const x86_case *c) {
    uint8_t bytes[X86_MAX_BYTES];
    x86_patch patch;
    unsigned n = x86_put(bytes, c->row, &c->operands, &patch);
    d->subject = c;
    d->form = &x86_forms[c->row];
    d->name = x86_mnemonics[d->form->mnemonic];
    ZyanStatus status = ZydisDecoderDecodeFull(&d->decoder, bytes, n, &d->inst, d->operands);
    cr_assert(ZYAN_SUCCESS(status), "row %d (%s) can be decoded", c->row, d->name);
    cr_expect_eq(d->inst.length, n, "length of row %d (%s)", c->row, d->name);
}

typedef enum { OPERANDS, FLAGS, LANES } fact;

static bool differs(const decoded *d, fact f) {
    char name[X86_MNEMONIC + 2];
    snprintf(name, sizeof name, " %s ", d->name);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (strstr(differences[i].mnemonics, name))
            return f == OPERANDS ? differences[i].operands
                   : f == FLAGS  ? differences[i].flags
                                 : differences[i].lanes;
    return false;
}

/* A register that is written under a condition keeps what it was otherwise. */
static unsigned role_of(const ZydisDecodedOperand *o) {
    bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool keeps =
        o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
    unsigned role = reads || keeps ? X86_READ : 0;
    if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) role |= X86_WRITE;
    return role;
}

/* ------------------------------------------------------------------------------------- operands */

static bool is_shown(const ZydisDecodedOperand *o) {
    return o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           o->encoding != ZYDIS_OPERAND_ENCODING_MASK;
}

static void check_operand(const decoded *d, unsigned arg, const ZydisDecodedOperand *o) {
    const x86_slot *s = &x86_shape_of(d->subject->row)->slot[arg];
    const x86_operand *a = &d->subject->operands.arg[arg];
    if (a->kind == X86_IMM || a->kind == X86_LABEL) return;
    cr_expect_eq(s->role, role_of(o), "role of operand %u of row %d (%s): %u, Zydis %u", arg,
                 d->subject->row, d->name, s->role, role_of(o));
    bool sized = a->kind == X86_MEM && s->bytes != X86_ADDRESS;
    if (sized)
        cr_expect_eq(s->bytes * 8, o->size, "memory of row %d (%s): %u bits, Zydis %u",
                     d->subject->row, d->name, s->bytes * 8, o->size);
}

static void check_operands(const decoded *d) {
    unsigned arg = 0;
    if (differs(d, OPERANDS)) return;
    for (unsigned i = 0; i < d->inst.operand_count; i++)
        if (is_shown(&d->operands[i])) check_operand(d, arg++, &d->operands[i]);
    cr_expect_eq(arg, x86_shape_of(d->subject->row)->nargs, "operands of row %d (%s)",
                 d->subject->row, d->name);
}

/* Lanes are those of the result, of what is stored, or of what is compared into a mask. */
static void check_lane(const decoded *d) {
    const ZydisDecodedOperand *o = d->operands;
    bool compares = x86_shape_of(d->subject->row)->slot[0].kind == X86_K;
    while (!is_shown(o) || (compares && o == d->operands)) o++;
    if (d->form->lane && !differs(d, LANES))
        cr_expect_eq(d->form->lane * 8, o->element_size, "lanes of row %d (%s): %u bits, Zydis %u",
                     d->subject->row, d->name, d->form->lane * 8, o->element_size);
}

/* ------------------------------------------------------------------------------------- implicit */

static unsigned resource_of(const ZydisDecodedOperand *o) {
    static const struct {
        ZydisRegister reg;
        x86_resource resource;
    } registers[] = {{ZYDIS_REGISTER_RAX, X86_RAX},
                     {ZYDIS_REGISTER_RCX, X86_RCX},
                     {ZYDIS_REGISTER_RDX, X86_RDX},
                     {ZYDIS_REGISTER_RBX, X86_RBX},
                     {ZYDIS_REGISTER_RSP, X86_RSP}};
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) return 1u << X86_STACK;
    if (o->type != ZYDIS_OPERAND_TYPE_REGISTER) return 0;
    if (o->reg.value == ZYDIS_REGISTER_MXCSR) return 1u << X86_MXCSR;
    ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++)
        if (registers[i].reg == whole) return 1u << registers[i].resource;
    return 0;
}

/* Flags count as read where one of them stays as it was. */
static void add_flags(const decoded *d, const ZydisDecodedOperand *o, unsigned *reads,
                      unsigned *writes) {
    enum {
        STATUS = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
                 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF
    };
    const ZydisAccessedFlags *f = d->inst.cpu_flags;
    unsigned written = (f->modified | f->set_0 | f->set_1 | f->undefined) & STATUS;
    bool keeps = written && (written != STATUS || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE);
    if (f->tested & STATUS || keeps) *reads |= 1u << X86_FLAGS;
    if (written) *writes |= 1u << X86_FLAGS;
}

static void check_implicit(const decoded *d) {
    /* Zydis does not speak of the order of accesses and of upper parts */
    unsigned ignored =
        1u << X86_MEMORY | 1u << X86_VECTORS | (unsigned)differs(d, FLAGS) << X86_FLAGS;
    unsigned reads = 0, writes = 0;
    for (unsigned i = 0; i < d->inst.operand_count; i++) {
        const ZydisDecodedOperand *o = &d->operands[i];
        if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) continue;
        if (role_of(o) & X86_READ) reads |= resource_of(o);
        if (role_of(o) & X86_WRITE) writes |= resource_of(o);
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == ZYDIS_REGISTER_RFLAGS)
            add_flags(d, o, &reads, &writes);
    }
    cr_expect_eq(d->form->reads & ~ignored, reads & ~ignored, "row %d (%s) reads %x, Zydis %x",
                 d->subject->row, d->name, d->form->reads, reads);
    cr_expect_eq(d->form->writes & ~ignored, writes & ~ignored, "row %d (%s) writes %x, Zydis %x",
                 d->subject->row, d->name, d->form->writes, writes);
}

/* ---------------------------------------------------------------------------------------- level */

static unsigned level_of(const char *set) {
    static const char *const sets[] = {
        [X86_V1] = " I86 I186 I386 I486REAL PENTIUMREAL PPRO CMOV FAT_NOP LONGMODE PAUSE SSE SSE2 "
                   "SSE_PREFETCH SSEMXCSR CET ", /* endbr64: a nop where it is not known */
        [X86_V2] = " SSE3 SSSE3 SSE4 SSE42 POPCNT CMPXCHG16B ",
        [X86_V3] = " AVX AVX2 AVX2GATHER FMA F16C BMI1 BMI2 LZCNT MOVBE ",
        [X86_V4] = " AVX512F AVX512BW AVX512DQ AVX512CD ",
        [X86_ICELAKE] = " AVX512_BITALG AVX512_VNNI AVX512_VPOPCNTDQ ",
    };
    char name[32];
    const char *width = strncmp(set, "AVX512", 6) == 0 ? strrchr(set, '_') : NULL;
    int stem = width ? (int)(width - set) : (int)strlen(set);
    snprintf(name, sizeof name, " %.*s ", stem, set);
    for (unsigned level = X86_V1; level <= X86_ICELAKE; level++)
        if (strstr(sets[level], name)) return level;
    return 0;
}

/* What could be written as VEX was. */
static void check_level(const decoded *d) {
    const char *set = ZydisISASetGetString(d->inst.meta.isa_set);
    bool shorter =
        d->form->encoding == X86_EVEX && d->inst.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    unsigned level = shorter ? x86_forms[d->form->shorter].level : d->form->level;
    cr_expect_eq(level, level_of(set), "row %d (%s) is V%u, Zydis says %s", d->subject->row,
                 d->name, level, set);
}

Test(roles, every_row_as_zydis_knows_it) {
    ir_ctx cx = {0};
    ir_arena arena;
    x86_cases cases = {0};
    decoded d;
    ir_arena_init(&arena, &cx);
    begin(&d);
    for (unsigned row = 0; row < X86_ROWS; row++) cases_of_kinds(&arena, row, &cases);
    for (const x86_case *c = cases.data; c < cases.data + cases.n; c++) {
        decode(&d, c);
        check_operands(&d);
        check_lane(&d);
        check_implicit(&d);
        check_level(&d);
    }
    ir_arena_free(&arena);
}
