/* nativecpu.c — kernels as DPC++'s Native CPU calls them.
 *
 * Its runtime calls K(args, state) for each work-group; the state says which one.  The function
 * made here puts an ir_group_info on the stack, with local memory and scratch after it, and calls
 * the kernel:
 *
 *   rsp -> ir_group_info · args, when some are local memory · local memory · scratch · (old frame)
 *
 * As in ir/launch.h, args holds pointers themselves and the addresses of values.  A pointer to
 * local memory is converted to its offset from g->local.  The stack is touched page by page on the
 * way down, so that the guard page of a thread is not skipped.
 */
#include "codegen/object/object.h"
#include "codegen/x86_64/x86.h"

/* Offsets in the state. */
enum {
    STATE_GLOBAL_RANGE = 24,
    STATE_LOCAL_SIZE = 48,
    STATE_GROUP_ID = 72,
    STATE_NUM_GROUPS = 120,
    STATE_GLOBAL_OFFSET = 144,
    ITEMS_ALIGN = 64, /* as ir_group_need counts them */
    PAGE = 4096,
    ENDBR = 4 /* bytes of endbr64 */
};

typedef struct {
    cg_object *object;
    ir_arena *arena;
    const cg_kernel *kernel;
    x86_code *code;
    uint32_t callee;              /* label */
    int32_t args, local, scratch; /* places above rsp */
} glue;

/* --------------------------------------------------------------------------------- instructions */

static x86_operand r64(unsigned n) { return x86_reg(X86_R64, n); }
static x86_operand at(unsigned base, int32_t disp) { return x86_mem(base, X86_NO_REG, 0, disp); }

static void emit(glue *g, x86_row row, x86_operand a, x86_operand b) {
    x86_operands o = {.arg = {a, b}};
    bool fits = x86_encode(g->code, row, &o);
    assert(fits);
    (void)fits;
}

static void emit1(glue *g, x86_row row, x86_operand a) { emit(g, row, a, (x86_operand){0}); }

static void load(glue *g, unsigned to, unsigned base, int32_t disp) {
    emit(g, X86_MOV_r64_rm64, r64(to), at(base, disp));
}

static void store(glue *g, unsigned from, size_t disp) {
    emit(g, X86_MOV_rm64_r64, at(RSP, (int32_t)disp), r64(from));
}

static void store_number(glue *g, uint32_t n, size_t disp) {
    emit(g, X86_MOV_rm32_imm32, at(RSP, (int32_t)disp), x86_imm((int32_t)n));
}

static void store_sum(glue *g, int32_t offset, size_t disp) { /* rsp + offset */
    emit(g, X86_LEA_r64_m, r64(RAX), at(RSP, offset));
    store(g, RAX, disp);
}

/* ------------------------------------------------------------------------------------ the stack */

static bool has_local_args(const cg_kernel *k) {
    for (uint32_t n = 0; n < k->nargs; n++)
        if (k->arg[n].kind == IR_ARG_LOCAL) return true;
    return false;
}

static uint64_t aligned(uint64_t bytes) {
    return (bytes + IR_LOCAL_ALIGN - 1) & ~(uint64_t)(IR_LOCAL_ALIGN - 1);
}

static void add_constant(glue *g, uint64_t v) {
    emit(g, X86_MOVABS_r64_imm64, r64(RCX), x86_imm((int64_t)v));
    emit(g, X86_ADD_r64_rm64, r64(RAX), r64(RCX));
}

/* rax = bytes of all that is put on the stack */
static void emit_size(glue *g) {
    const ir_group_need *need = &g->kernel->need;
    load(g, RAX, RSI, STATE_LOCAL_SIZE);
    emit(g, X86_IMUL_r64_rm64, r64(RAX), at(RSI, STATE_LOCAL_SIZE + 8));
    emit(g, X86_IMUL_r64_rm64, r64(RAX), at(RSI, STATE_LOCAL_SIZE + 16));
    add_constant(g, ITEMS_ALIGN - 1);
    emit(g, X86_AND_rm64_imm8, r64(RAX), x86_imm(-ITEMS_ALIGN));
    emit(g, X86_MOVABS_r64_imm64, r64(RCX), x86_imm((int64_t)need->scratch_item));
    emit(g, X86_IMUL_r64_rm64, r64(RAX), r64(RCX));
    add_constant(g, (uint64_t)g->scratch + need->scratch + IR_LOCAL_ALIGN - 1);
    emit(g, X86_AND_rm64_imm8, r64(RAX), x86_imm(-IR_LOCAL_ALIGN));
}

/* rsp -= rax, a page at a time */
static void emit_descent(glue *g) {
    uint32_t page = x86_label_new(g->code), rest = x86_label_new(g->code);
    x86_bind(g->code, page);
    emit(g, X86_CMP_rm64_imm32, r64(RAX), x86_imm(PAGE));
    emit1(g, X86_JB_rel32, x86_target(rest));
    emit(g, X86_SUB_rm64_imm32, r64(RSP), x86_imm(PAGE));
    emit(g, X86_OR_rm64_imm8, at(RSP, 0), x86_imm(0));
    emit(g, X86_SUB_rm64_imm32, r64(RAX), x86_imm(PAGE));
    emit1(g, X86_JMP_rel32, x86_target(page));
    x86_bind(g->code, rest);
    emit(g, X86_SUB_rm64_r64, r64(RSP), r64(RAX));
}

/* ------------------------------------------------------------------------ contents of the frame */

static void copy_three(glue *g, size_t to, int32_t from, unsigned more) {
    for (unsigned d = 0; d < 3; d++) {
        load(g, RAX, RSI, from + 8 * (int32_t)d);
        if (more) emit(g, X86_ADD_rm64_imm8, r64(RAX), x86_imm(more));
        store(g, RAX, to + 8 * d);
    }
}

static void emit_info(glue *g) {
    copy_three(g, offsetof(ir_group_info, group_id), STATE_GROUP_ID, 0);
    copy_three(g, offsetof(ir_group_info, group_end), STATE_GROUP_ID, 1);
    copy_three(g, offsetof(ir_group_info, num_groups), STATE_NUM_GROUPS, 0);
    copy_three(g, offsetof(ir_group_info, local_size), STATE_LOCAL_SIZE, 0);
    copy_three(g, offsetof(ir_group_info, global_size), STATE_GLOBAL_RANGE, 0);
    copy_three(g, offsetof(ir_group_info, global_offset), STATE_GLOBAL_OFFSET, 0);
    store_number(g, 3, offsetof(ir_group_info, work_dim));
    store_number(g, (uint32_t)g->kernel->need.local, offsetof(ir_group_info, local_bytes));
    store_sum(g, g->local, offsetof(ir_group_info, local));
    store_sum(g, g->scratch, offsetof(ir_group_info, scratch));
    emit(g, X86_XOR_rm32_r32, x86_reg(X86_R32, RAX), x86_reg(X86_R32, RAX));
    store(g, RAX, offsetof(ir_group_info, print));
    store(g, RAX, offsetof(ir_group_info, user));
}

static void emit_args(glue *g) {
    for (uint32_t n = 0; n < g->kernel->nargs; n++) {
        load(g, RAX, RDI, 8 * (int32_t)n);
        if (g->kernel->arg[n].kind == IR_ARG_LOCAL) {
            emit(g, X86_LEA_r64_m, r64(RCX), at(RSP, g->local));
            emit(g, X86_SUB_r64_rm64, r64(RAX), r64(RCX));
        }
        store(g, RAX, (size_t)g->args + 8 * n);
    }
    emit(g, X86_LEA_r64_m, r64(RDI), at(RSP, g->args));
}

static void emit_function(glue *g) {
    emit(g, X86_ENDBR64, (x86_operand){0}, (x86_operand){0});
    emit1(g, X86_PUSH_r64, r64(RBP));
    emit(g, X86_MOV_rm64_r64, r64(RBP), r64(RSP));
    emit_size(g);
    emit(g, X86_AND_rm64_imm8, r64(RSP), x86_imm(-IR_LOCAL_ALIGN));
    emit(g, X86_OR_rm64_imm8, at(RSP, 0), x86_imm(0));
    emit_descent(g);
    emit_info(g);
    if (has_local_args(g->kernel)) emit_args(g);
    emit(g, X86_MOV_rm64_r64, r64(RSI), r64(RDI));
    emit(g, X86_MOV_rm64_r64, r64(RDI), r64(RSP));
    emit1(g, X86_CALL_rel32, x86_target(g->callee));
    emit(g, X86_MOV_rm64_r64, r64(RSP), r64(RBP));
    emit1(g, X86_POP_r64, r64(RBP));
    emit(g, X86_RET, (x86_operand){0}, (x86_operand){0});
}

/* ----------------------------------------------------------------------------------- the object */

static void place(glue *g) {
    const cg_kernel *k = g->kernel;
    g->args = (int32_t)sizeof(ir_group_info);
    g->local = (int32_t)aligned(sizeof(ir_group_info) + 8 * (uint64_t)k->nargs);
    g->scratch = g->local + (int32_t)aligned(k->need.local);
}

static uint32_t add_function(glue *g, const char *name) {
    cg_image image;
    bool ok = x86_finish(g->code, &image);
    assert(ok && image.nrelocs == 1);
    (void)ok;
    uint32_t s =
        obj_add_data(g->object, g->arena, CG_TEXT, (obj_data){name, image.bytes, image.n, 16});
    cg_symbol *symbol = &g->object->symbols.data[s];
    symbol->function = symbol->exported = true;
    *ir_push(g->arena, &g->object->relocs) = (cg_reloc){.section = CG_TEXT,
                                                        .kind = CG_PC32,
                                                        .at = symbol->at + image.relocs[0].at,
                                                        .symbol = g->kernel->entry,
                                                        .addend = image.relocs[0].addend};
    *ir_push(g->arena, &g->object->frames) = (cg_frame){
        .symbol = s, .before = ENDBR, .prologue = (unsigned)ENDBR + x86_elf.push + x86_elf.move};
    return s;
}

/* The function, its second name, and the kernel renamed. */
static uint32_t add_kernel(cg_object *o, ir_arena *arena, const cg_kernel *k) {
    glue g = {.object = o, .arena = arena, .kernel = k, .code = x86_code_new(arena)};
    cg_symbol *old = &o->symbols.data[k->entry];
    old->name = ir_sprintf(arena, "%s.group", k->name);
    old->exported = false;
    g.callee = x86_label_new(g.code);
    place(&g);
    emit_function(&g);
    uint32_t s = add_function(&g, k->name);
    cg_symbol alias = o->symbols.data[s];
    alias.name = ir_sprintf(arena, "%s.SYCLNCPU", k->name);
    obj_add_symbol(o, arena, alias);
    return s;
}

void x86_add_nativecpu(cg_object *o, ir_arena *arena) {
    enum { ENTRY = 16 };
    uint32_t n = o->kernels.n;
    uint8_t *zeros = ir_alloc(arena, ENTRY * ((size_t)n + 1));
    const obj_data d = {"__sycl_native_cpu_decls", zeros, ENTRY * (n + 1), 8};
    uint32_t table = obj_add_data(o, arena, CG_DATA, d);
    o->symbols.data[table].exported = true;
    for (uint32_t k = 0; k < n; k++) {
        obj_put_string_address(o, arena, table, ENTRY * k, o->kernels.data[k].name);
        obj_put_address(o, arena, table, ENTRY * k + 8, add_kernel(o, arena, &o->kernels.data[k]));
    }
    obj_put_string_address(o, arena, table, ENTRY * n, "__nativecpu_end");
}
