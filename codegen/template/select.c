/* select.c — instruction selection for the template machine: the words of isel.rules, and what has
 * no rule: constants, branches, calls of functions outside of the module.
 *
 * A word mach_NAME makes the value of v out of what its rule matched.  A narrow integer or truth
 * value has zeros above its bits in its register, because instructions clear them; so extension by
 * zeros is no instruction, and truncation is a copy of the low bytes.
 */
#include "codegen/native/select.h"

#include "codegen/template/template.h"
#include "ir/eval.h"

typedef cg_selection template_ctx;

/* The instruction for an operation whose operands are the same. */
static const uint8_t row_of[IR_OP_COUNT] = {
    [IR_OP_add] = TEMPLATE_ADD,
    [IR_OP_sub] = TEMPLATE_SUB,
    [IR_OP_mul] = TEMPLATE_MUL,
    [IR_OP_umulh] = TEMPLATE_MULHU,
    [IR_OP_smulh] = TEMPLATE_MULHS,
    [IR_OP_udiv] = TEMPLATE_DIVU,
    [IR_OP_sdiv] = TEMPLATE_DIVS,
    [IR_OP_urem] = TEMPLATE_REMU,
    [IR_OP_srem] = TEMPLATE_REMS,
    [IR_OP_and] = TEMPLATE_AND,
    [IR_OP_or] = TEMPLATE_OR,
    [IR_OP_xor] = TEMPLATE_XOR,
    [IR_OP_shl] = TEMPLATE_SHL,
    [IR_OP_lshr] = TEMPLATE_SHRU,
    [IR_OP_ashr] = TEMPLATE_SHRS,
    [IR_OP_rotl] = TEMPLATE_ROL,
    [IR_OP_umin] = TEMPLATE_MINU,
    [IR_OP_umax] = TEMPLATE_MAXU,
    [IR_OP_smin] = TEMPLATE_MINS,
    [IR_OP_smax] = TEMPLATE_MAXS,
    [IR_OP_sabs] = TEMPLATE_ABS,
    [IR_OP_popcount] = TEMPLATE_COUNT,
    [IR_OP_ptradd] = TEMPLATE_ADD,
    [IR_OP_eq] = TEMPLATE_EQ,
    [IR_OP_ne] = TEMPLATE_NE,
    [IR_OP_ult] = TEMPLATE_LTU,
    [IR_OP_ule] = TEMPLATE_LEU,
    [IR_OP_slt] = TEMPLATE_LTS,
    [IR_OP_sle] = TEMPLATE_LES,
    [IR_OP_fadd] = TEMPLATE_FADD,
    [IR_OP_fsub] = TEMPLATE_FSUB,
    [IR_OP_fmul] = TEMPLATE_FMUL,
    [IR_OP_fdiv] = TEMPLATE_FDIV,
    [IR_OP_fmin] = TEMPLATE_FMIN,
    [IR_OP_fmax] = TEMPLATE_FMAX,
    [IR_OP_copysign] = TEMPLATE_FSIGN,
    [IR_OP_sqrt] = TEMPLATE_FSQRT,
    [IR_OP_fneg] = TEMPLATE_FNEG,
    [IR_OP_fabs] = TEMPLATE_FABS,
    [IR_OP_rint] = TEMPLATE_RINT,
    [IR_OP_floor] = TEMPLATE_FLOOR,
    [IR_OP_ceil] = TEMPLATE_CEIL,
    [IR_OP_trunc_f] = TEMPLATE_CHOP,
    [IR_OP_sitofp] = TEMPLATE_ITOF,
    [IR_OP_fptosi] = TEMPLATE_FTOI,
    [IR_OP_fpcast] = TEMPLATE_FTOF,
    [IR_OP_atomic_xchg] = TEMPLATE_XCHG,
    [IR_OP_atomic_add] = TEMPLATE_XADD,
};

/* -------------------------------------------------------------------------------------- drafts */

/* A machine instruction in the making. */
typedef struct {
    template_row row;
    unsigned width;
    int32_t disp;
    ir_type type; /* of the result */
    unsigned n;
    ir_inst *arg[CG_MAX_ARGS];
} draft;

static ir_inst *build(ir_builder *b, const draft *d) {
    return ir_build_raw(b, IR_OP_mach, d->type,
                        ir_with_imm(template_imm(d->row, d->width, d->disp)),
                        (ir_args){d->n, d->arg});
}

/* An instruction of up to three operands in registers; NULL: there are fewer. */
static ir_inst *build_regs(ir_builder *b, draft d, ir_inst *x, ir_inst *y, ir_inst *z) {
    ir_inst *const operands[] = {x, y, z};
    for (unsigned n = 0; n < 3 && operands[n]; n++) d.arg[d.n++] = cg_in_register(b, operands[n]);
    return build(b, &d);
}

/* One register and a number. */
static ir_inst *build_number(ir_builder *b, draft d, ir_inst *x, int32_t number) {
    d.n = 2;
    d.arg[0] = cg_in_register(b, x);
    d.arg[1] = ir_const(b->f, IR_I64, (uint64_t)(int64_t)number);
    return build(b, &d);
}

static bool in_float(ir_type t) { return t == IR_F32 || t == IR_F64; }

static draft draft_of(const ir_inst *v, template_row row) {
    return (draft){.row = row, .width = template_log2_of(v->type), .type = v->type};
}

/* ------------------------------------------------------------------------------------ constants */

/* The value of an integer with its sign; truth values are 0 and 1. */
static int64_t value_of(const ir_inst *c) {
    if (ir_is_bool(c->type)) return c->imm.bits & 1;
    return ir_sext(c->imm.bits, 8u << template_log2_of(c->type));
}

/* Does the number of an instruction hold it, also with a place in the frame added? */
static bool is_short(const ir_inst *c) {
    const int64_t limit = 1 << 30;
    return value_of(c) >= -limit && value_of(c) < limit;
}

static ir_inst *build_constant(ir_builder *b, ir_inst *leaf) {
    const bool number = ir_is_const(leaf), floating = in_float(leaf->type);
    draft d = {.type = leaf->type, .n = 1, .arg = {leaf}};
    d.width = template_log2_of(leaf->type);
    if (leaf->op == IR_OP_alloca)
        d.row = TEMPLATE_ADDI;
    else if (leaf->op == IR_OP_address)
        d.row = TEMPLATE_LA;
    else if (floating || (number && !is_short(leaf)))
        d.row = floating ? TEMPLATE_FLDC : TEMPLATE_LDC;
    else
        d.row = TEMPLATE_LI;
    return build(b, &d);
}

/* ------------------------------------------------------------------------------------- integers */

static ir_inst *mach_two(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_regs(b, draft_of(v, row_of[v->op]), x, y, NULL);
}

static ir_inst *mach_one(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_regs(b, draft_of(v, row_of[v->op]), x, NULL, NULL);
}

static ir_inst *mach_add_constant(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *c) {
    draft d = draft_of(v, TEMPLATE_ADDI);
    d.disp = (int32_t)value_of(c);
    return build_regs(b, d, x, NULL, NULL);
}

static ir_inst *mach_and_constant(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *c) {
    return build_number(b, draft_of(v, TEMPLATE_ANDI), x, (int32_t)value_of(c));
}

/* With signs true is -1, which is less than 0. */
static ir_inst *mach_compare(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    draft d = draft_of(v, row_of[v->op]);
    d.width = template_log2_of(x->type);
    bool swap = ir_is_bool(x->type) && (v->op == IR_OP_slt || v->op == IR_OP_sle);
    if (!swap) return build_regs(b, d, x, y, NULL);
    d.row = v->op == IR_OP_slt ? TEMPLATE_LTU : TEMPLATE_LEU;
    return build_regs(b, d, y, x, NULL);
}

static ir_inst *mach_select(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *x, ir_inst *y) {
    return build_regs(b, draft_of(v, in_float(v->type) ? TEMPLATE_FSEL : TEMPLATE_SEL), c, x, y);
}

/* --------------------------------------------------------------------------------------- widths */

/* What is in the register already. */
static ir_inst *mach_same(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)v;
    return cg_in_register(b, x);
}

static ir_inst *mach_cut(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (ir_is_bool(v->type)) return build_number(b, draft_of(v, TEMPLATE_ANDI), x, 1);
    return build_regs(b, draft_of(v, TEMPLATE_MOV), x, NULL, NULL);
}

static ir_inst *mach_sext(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_number(b, draft_of(v, TEMPLATE_SEXT), x, (int32_t)ir_bits(NULL, x->type));
}

static ir_inst *mach_to_float(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_regs(b, draft_of(v, TEMPLATE_RTOF), x, NULL, NULL);
}

static ir_inst *mach_to_general(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_regs(b, draft_of(v, TEMPLATE_FTOR), x, NULL, NULL);
}

/* --------------------------------------------------------------------------------------- floats */

/* The outcomes for which a comparison is true: less 1, equal 2, greater 4, not ordered 8. */
static int outcomes_of(ir_op op) {
    switch (op) {
    case IR_OP_folt: return 1;
    case IR_OP_foeq: return 2;
    case IR_OP_fole: return 3;
    case IR_OP_fone: return 5;
    case IR_OP_ford: return 7;
    case IR_OP_funo: return 8;
    case IR_OP_fult: return 9;
    case IR_OP_fueq: return 10;
    case IR_OP_fule: return 11;
    default: assert(op == IR_OP_fune); return 13;
    }
}

static ir_inst *mach_float_compare(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    draft d = draft_of(v, TEMPLATE_FCMP);
    d.width = template_log2_of(x->type);
    d.n = 3;
    d.arg[0] = cg_in_register(b, x);
    d.arg[1] = cg_in_register(b, y);
    d.arg[2] = ir_const(b->f, IR_I64, (uint64_t)outcomes_of((ir_op)v->op));
    return build(b, &d);
}

/* Between floats, and with integers that have a sign; other roundings, and saturation, are expanded
 * before. */
static ir_inst *mach_convert(ir_builder *b, ir_inst *v, ir_inst *x) {
    ir_round usual = v->op == IR_OP_fptosi ? IR_RTZ : IR_RTE;
    if (v->imm.round.mode != usual || v->imm.round.sat) return NULL;
    return build_number(b, draft_of(v, row_of[v->op]), x, (int32_t)ir_bits(NULL, x->type));
}

/* --------------------------------------------------------------------------------------- memory */

/* Adds the memory at p as the last operand. */
static void add_memory(ir_builder *b, draft *d, ir_inst *p) {
    if (p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1)) && is_short(ir_arg(p, 1))) {
        d->disp = (int32_t)value_of(ir_arg(p, 1));
        p = ir_arg(p, 0);
    }
    d->arg[d->n++] = p->op == IR_OP_alloca ? p : cg_in_register(b, p);
}

static ir_inst *mach_load(ir_builder *b, ir_inst *v, ir_inst *p) {
    draft d = draft_of(v, in_float(v->type) ? TEMPLATE_FLD : TEMPLATE_LD);
    add_memory(b, &d, p);
    return build(b, &d);
}

/* What has no value gives v itself. */
static ir_inst *mach_store(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *p) {
    draft d = {.row = in_float(x->type) ? TEMPLATE_FST : TEMPLATE_ST, .type = IR_VOID};
    d.width = template_log2_of(x->type);
    d.arg[d.n++] = cg_in_register(b, x);
    add_memory(b, &d, p);
    build(b, &d);
    return v;
}

static ir_inst *mach_update(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *p) {
    draft d = draft_of(v, row_of[v->op]);
    d.arg[d.n++] = cg_in_register(b, x);
    add_memory(b, &d, p);
    return build(b, &d);
}

static ir_inst *mach_compare_exchange(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y,
                                      ir_inst *p) {
    draft d = draft_of(v, TEMPLATE_CAS);
    d.arg[d.n++] = cg_in_register(b, x);
    d.arg[d.n++] = cg_in_register(b, y);
    add_memory(b, &d, p);
    return build(b, &d);
}

/* A hint, which this target has no use for. */
static ir_inst *mach_prefetch(ir_builder *b, ir_inst *v, ir_inst *p) {
    (void)b, (void)p;
    return v;
}

static ir_inst *mach_fence(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    build(b, &(draft){.row = TEMPLATE_FENCE, .width = 3, .type = IR_VOID});
    return v;
}

/* ---------------------------------------------------------------------------------------- rules */

static ir_inst *operand(const ir_inst *v, unsigned n) { return ir_arg(v, n); }

static ir_inst *fire(const template_ctx *cx, const ir_inst *v, unsigned rule, ir_inst *r) {
    cg_note_rule(cx, v, rule, template_rule_info(rule));
    return r;
}

#include "codegen/template/isel_rules.inc"

/* ----------------------------------------------------------------------------- what has no rule */

static ir_inst *select_br(ir_builder *b, ir_inst *br) {
    ir_inst *c = cg_in_register(b, ir_arg(br, 0));
    ir_build_raw(b, IR_OP_mach_br, IR_VOID, ir_with_imm(template_imm(TEMPLATE_BT, 0, 0)),
                 IR_ARGS(c));
    return br;
}

static ir_inst *select_host_call(ir_builder *b, ir_inst *i) {
    draft d = {.row = TEMPLATE_CALLR, .width = 3, .type = i->type};
    for (unsigned n = 0; n < i->nargs; n++) d.arg[d.n++] = cg_in_register(b, ir_arg(i, n));
    return build(b, &d);
}

bool template_select(const cg_target *t, ir_func *f, const cg_options *o, ir_arena *scratch) {
    static const uint8_t params[] = {0, 1, 2, 3, 4, 5};
    static const cg_selector selector = {.title = "the template machine",
                                         .params = params,
                                         .nparams = sizeof params,
                                         .rules = template_apply_rules,
                                         .constant = build_constant,
                                         .branch = select_br,
                                         .host_call = select_host_call};
    return cg_select(&selector, t, f, o, scratch);
}
