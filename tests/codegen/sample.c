/* sample.c — see sample.h. */
#include "tests/codegen/sample.h"

enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R12 = 12 };

typedef struct {
    ir_arena *arena;
    cg_object *object;
    x86_code *code;
    uint32_t label[8]; /* of symbols, by their number */
} writer;

static x86_operand r32(unsigned n) { return x86_reg(X86_R32, n); }
static x86_operand r64(unsigned n) { return x86_reg(X86_R64, n); }
static x86_operand at(unsigned base, int32_t disp) { return x86_mem(base, X86_NO_REG, 0, disp); }

static void emit(writer *w, x86_row row, x86_operand a, x86_operand b) {
    x86_operands o = {.arg = {a, b}};
    bool ok = x86_encode(w->code, row, &o);
    assert(ok);
    (void)ok;
}

static void emit1(writer *w, x86_row row, x86_operand a) { emit(w, row, a, (x86_operand){0}); }

static void append(writer *w, cg_section s, const void *bytes, uint32_t n) {
    cg_object *o = w->object;
    uint8_t *grown = ir_alloc(w->arena, (size_t)o->size[s] + n + 16);
    if (o->size[s]) memcpy(grown, o->bytes[s], o->size[s]);
    memcpy(grown + o->size[s], bytes, n);
    o->bytes[s] = grown;
    o->size[s] += n;
}

static uint32_t symbol(writer *w, const char *name, cg_section s, bool exported, const void *bytes,
                       uint32_t n) {
    uint32_t place = w->object->size[s];
    append(w, s, bytes, n);
    *ir_push(w->arena, &w->object->symbols) =
        (cg_symbol){name, s, place, n, s == CG_TEXT, exported};
    return w->object->symbols.n - 1;
}

/* ------------------------------------------------------------------------------------ functions */

static void begin_function(writer *w) {
    w->code = x86_code_new(w->arena);
    for (unsigned i = 0; i < 8; i++) w->label[i] = x86_label_new(w->code);
    emit1(w, X86_PUSH_r64, r64(RBP));
    emit(w, X86_MOV_rm64_r64, r64(RBP), r64(RSP));
}

static uint32_t end_function(writer *w, const char *name, cg_frame frame) {
    static const uint8_t nops[16] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
                                     0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    cg_image image;
    emit1(w, X86_POP_r64, r64(RBP));
    emit(w, X86_RET, (x86_operand){0}, (x86_operand){0});
    bool ok = x86_finish(w->code, &image);
    assert(ok);
    (void)ok;
    uint32_t s = symbol(w, name, CG_TEXT, true, image.bytes, image.n);
    for (uint32_t i = 0; i < image.nrelocs; i++) {
        const cg_label_reloc *r = &image.relocs[i];
        *ir_push(w->arena, &w->object->relocs) =
            (cg_reloc){CG_TEXT, CG_PC32, w->object->symbols.data[s].at + r->at,
                       r->label - w->label[0], r->addend};
    }
    append(w, CG_TEXT, nops, (16 - image.n % 16) % 16);
    frame.symbol = s;
    *ir_push(w->arena, &w->object->frames) = frame;
    return s;
}

enum { BIAS, CALLS, MESSAGE, WHERE, FILL }; /* symbols, in the order in which they are made */

static uint32_t write_fill(writer *w) {
    begin_function(w);
    emit(w, X86_MOV_r64_rm64, r64(RAX), at(RDI, offsetof(ir_group_info, local)));
    emit(w, X86_ADD_r64_rm64, r64(RAX), at(RSI, 16)); /* part */
    emit(w, X86_MOV_rm32_imm32, at(RAX, 0), x86_imm(5));
    emit(w, X86_MOV_r64_rm64, r64(RDX), at(RSI, 8));
    emit(w, X86_MOV_r32_rm32, r32(RDX), at(RDX, 0)); /* value */
    emit(w, X86_ADD_r32_rm32, r32(RDX), x86_at(w->label[BIAS], 0));
    emit(w, X86_ADD_r32_rm32, r32(RDX), at(RAX, 0));
    x86_operands count = {.arg = {x86_at(w->label[CALLS], 0)}, .lock = true};
    x86_encode(w->code, X86_INC_rm32, &count);
    emit(w, X86_MOV_r64_rm64, r64(RAX), at(RDI, 0)); /* group_id[0] */
    emit(w, X86_MOV_r64_rm64, r64(RCX), at(RSI, 0)); /* out */
    emit(w, X86_MOV_rm32_r32, x86_mem(RCX, RAX, 2, 0), r32(RDX));
    return end_function(w, "fill", (cg_frame){.prologue = 4});
}

/* Its copy of the info on the stack moves on from group to group. */
static uint32_t write_block(writer *w) {
    enum { INFO = (sizeof(ir_group_info) + 15) / 16 * 16 };
    begin_function(w);
    uint32_t next = x86_label_new(w->code), end = x86_label_new(w->code);
    emit1(w, X86_PUSH_r64, r64(RBX));
    emit1(w, X86_PUSH_r64, r64(R12));
    emit(w, X86_MOV_rm64_r64, r64(RBX), r64(RDI));
    emit(w, X86_MOV_rm64_r64, r64(R12), r64(RSI));
    emit(w, X86_SUB_rm64_imm32, r64(RSP), x86_imm(INFO));
    for (int32_t i = 0; i < (int32_t)sizeof(ir_group_info); i += 8) {
        emit(w, X86_MOV_r64_rm64, r64(RAX), at(RDI, i));
        emit(w, X86_MOV_rm64_r64, at(RSP, i), r64(RAX));
    }
    x86_bind(w->code, next);
    emit(w, X86_MOV_r64_rm64, r64(RAX), at(RSP, 0));
    emit(w, X86_CMP_r64_rm64, r64(RAX), at(RBX, offsetof(ir_group_info, group_end)));
    emit1(w, X86_JAE_rel32, x86_target(end));
    emit(w, X86_MOV_rm64_r64, r64(RDI), r64(RSP));
    emit(w, X86_MOV_rm64_r64, r64(RSI), r64(R12));
    emit1(w, X86_CALL_rel32, x86_target(w->label[FILL]));
    emit1(w, X86_INC_rm64, at(RSP, 0));
    emit1(w, X86_JMP_rel32, x86_target(next));
    x86_bind(w->code, end);
    emit(w, X86_ADD_rm64_imm32, r64(RSP), x86_imm(INFO));
    emit1(w, X86_POP_r64, r64(R12));
    emit1(w, X86_POP_r64, r64(RBX));
    return end_function(
        w, "fill.block",
        (cg_frame){.prologue = 7, .nsaved = 2, .saved = {{.reg = 3, .below = 8}, {12, 16}}});
}

void sample_object(ir_arena *arena, cg_object *out) {
    static const int32_t bias = SAMPLE_BIAS;
    static const uint8_t zeros[8];
    static const cg_arg args[] = {
        {IR_ARG_POINTER, 8, 8, "out"}, {IR_ARG_VALUE, 4, 4, "value"}, {IR_ARG_LOCAL, 0, 4, "part"}};
    writer w = {.arena = arena, .object = out};
    *out = (cg_object){.align = {16, 4, 8}};
    symbol(&w, "bias", CG_RODATA, false, &bias, 4);
    symbol(&w, "calls", CG_DATA, true, zeros, 8);
    symbol(&w, "message", CG_RODATA, false, "sample", 7);
    symbol(&w, "where", CG_DATA, true, zeros, 8);
    *ir_push(arena, &out->relocs) =
        (cg_reloc){CG_DATA, CG_ABS64, out->symbols.data[WHERE].at, MESSAGE, 1};
    uint32_t fill = write_fill(&w), block = write_block(&w);
    *ir_push(arena, &out->files) = "sample.cl";
    *ir_push(arena, &out->lines) = (cg_line){0, 0, SAMPLE_LINE, 1, false};
    *ir_push(arena, &out->lines) = (cg_line){4, 0, SAMPLE_LINE + 1, 5, true};
    *ir_push(arena, &out->lines) = (cg_line){out->symbols.data[block].at, 0, 40, 1, false};
    *ir_push(arena, &out->kernels) =
        (cg_kernel){.name = "fill",
                    .entry = fill,
                    .block = block,
                    .nargs = 3,
                    .arg = args,
                    .need = {.local = SAMPLE_LOCAL, .scratch = 100, .scratch_item = 24}};
}

/* ------------------------------------------------------------------------ calls of this program */

static uint32_t add_call(writer *w, const char *name, sample_function *run) {
    begin_function(w);
    emit(w, X86_MOVABS_r64_imm64, r64(RAX), x86_imm((int64_t)(intptr_t)run));
    emit1(w, X86_CALL_rm64, r64(RAX));
    return end_function(w, name, (cg_frame){.prologue = 4});
}

void sample_add_call(ir_arena *arena, cg_object *o, const char *name, sample_function *run,
                     sample_function *block) {
    writer w = {.arena = arena, .object = o};
    o->align[CG_TEXT] = 16;
    cg_kernel k = {.name = name, .entry = add_call(&w, name, run)};
    k.block = add_call(&w, ir_sprintf(arena, "%s.block", name), block);
    *ir_push(arena, &o->kernels) = k;
}

void sample_add_hook(ir_arena *arena, cg_object *o, const char *name, const char *hook) {
    static const cg_arg args[] = {{IR_ARG_POINTER, 8, 8, NULL}};
    static const uint8_t zeros[8];
    writer w = {.arena = arena, .object = o};
    uint32_t variable = symbol(&w, hook, CG_DATA, true, zeros, 8);
    begin_function(&w);
    emit1(&w, X86_CALL_rm64, x86_at(w.label[0], 0));
    uint32_t s = end_function(&w, name, (cg_frame){.prologue = 4});
    o->relocs.data[o->relocs.n - 1].symbol = variable;
    *ir_push(arena, &o->kernels) =
        (cg_kernel){.name = name,
                    .entry = s,
                    .block = s,
                    .nargs = 1,
                    .arg = args,
                    .need = {.local = 1000, .scratch = 300, .scratch_item = 5000}};
}
