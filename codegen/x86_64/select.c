/* select.c — instruction selection for x86-64: the rules of isel.rules with the predicates that
 * they ask, and what has no rule: branches and calls.  codegen/native/select.c walks over the
 * function; the other files of select.h have the words of the rules.
 */
#include "codegen/x86_64/select.h"

typedef cg_selection x86_ctx;

/* -------------------------------------------------------------------------- predicates of rules */

static inline ir_inst *operand(const ir_inst *v, unsigned n) { return ir_arg(v, n); }

static bool matches_int(const ir_inst *x, int64_t n) {
    uint64_t bits;
    if (!ir_is_const(x) || !ir_is_int(x->type) || !ir_is_splat(x, &bits)) return false;
    unsigned width = ir_bits(NULL, x->type);
    return bits == ir_zext((uint64_t)n, width);
}

static bool is_alone(const ir_inst *x) { return x->uses && !x->uses->next; }

/* Are truth values of vectors in registers of their own? */
static bool has_masks(const ir_builder *b) { return x86_has(b, X86_V4); }

/* Are there sums of products of bytes, and of words, with something else? */
static bool has_dots(const ir_builder *b) { return x86_has(b, X86_ICELAKE); }

/* Are n and the operation on bits that uses it one for AVX-512? */
static bool is_ternary(const ir_builder *b, const ir_inst *n) {
    return is_alone(n) && x86_has(b, X86_V4);
}

/* Two shifts that copy the sign of a narrower number: by how much they shift. */
static bool is_sign_copy(const ir_inst *v, const ir_inst *left, const ir_inst *right) {
    unsigned bits = 8u << x86_size_of(v);
    uint64_t by = left->imm.bits, narrow = bits - by;
    return by == right->imm.bits && by < bits && (narrow == 8 || narrow == 16 || narrow == 32);
}

/* Low bytes of a number: all bits of i8, i16 or i32 set. */
static bool is_low_part(const ir_inst *v, const ir_inst *mask) {
    uint64_t m = mask->imm.bits;
    return m == 0xff || m == 0xffff || (m == UINT32_MAX && x86_size_of(v) == 3);
}

/* Does a shift of v's width look at these bits of its amount only, as the machine does? */
static bool keeps_amount(const ir_inst *v, const ir_inst *mask) {
    return mask->imm.bits == (8u << x86_size_of(v)) - 1;
}

static bool contract(const ir_inst *v, const ir_inst *m) {
    unsigned both = v->flags & m->flags;
    return (both & (IR_CONTRACT | IR_FAST)) && is_alone(m);
}

static bool is_relaxed(const ir_inst *v) { return !(v->imm.sync.semantics & IR_SEM_SEQ_CST); }

static ir_inst *fire(const x86_ctx *cx, const ir_inst *v, unsigned rule, ir_inst *r) {
    cg_note_rule(cx, v, rule, x86_rule_info(rule));
    return r;
}

#include "codegen/x86_64/isel_rules.inc"

/* ----------------------------------------------------------------------------- what has no rule */

static ir_inst *select_br(ir_builder *b, ir_inst *br) {
    x86_draft d = {.type = IR_VOID};
    d.cc = x86_add_condition(b, &d, br, ir_arg(br, 0));
    ir_build_raw(b, IR_OP_mach_br, IR_VOID, ir_with_imm(x86_imm_of(&d)), (ir_args){d.n, d.arg});
    return br;
}

/* A call of a C function whose address is operand 0. */
static ir_inst *select_host_call(ir_builder *b, ir_inst *i) {
    x86_draft d = {.row = X86_CALL_rm64, .kind = MACH_CALL, .type = i->type};
    for (unsigned n = 0; n < i->nargs; n++) x86_add_reg(b, &d, ir_arg(i, n));
    return x86_build(b, &d);
}

/* Rules do not test levels, so operations on vectors that the level lacks are filtered here. */
static bool has_level_for(const cg_selection *s, const ir_inst *i) {
    bool truth = i->nargs && ir_is_bool(ir_arg(i, 0)->type);
    if (!ir_is_vector(i->type) || !ir_has_flag(i, F_LANEWISE) || truth) return true;
    return x86_takes(i, ((const x86_cpu *)s->target)->level) || x86_is_product_of_halves(i);
}

bool x86_select(const cg_target *t, ir_func *f, const cg_options *o, ir_arena *scratch) {
    static const cg_selector selector = {.title = "x86-64",
                                         .params = x86_argument_registers,
                                         .nparams = sizeof x86_argument_registers,
                                         .rules = x86_apply_rules,
                                         .constant = x86_build_leaf,
                                         .branch = select_br,
                                         .host_call = select_host_call,
                                         .strip = x86_strip,
                                         .is_selectable = has_level_for};
    const x86_cpu *cpu = (const x86_cpu *)t;
    bool streams = x86_begin_streams(f);
    x86_number_writes(f);
    if (!cg_select(&selector, t, f, o, scratch)) return false;
    if (streams) x86_end_streams(f);
    if (cpu->level >= X86_V4) x86_merge_masks(cpu, f);
    return x86_check_rows(cpu, f);
}
