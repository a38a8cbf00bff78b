/* build.c — making instructions.
 *
 * ir_build sets up a candidate that is in no block and in no use list, and asks in turn: do its
 * operands make it a constant (ir_fold)? does a rule of the module's simplifier rewrite it? has
 * this block just computed the same (a small direct-mapped table of value numbers)?  Only then is
 * it inserted.  So building costs no garbage, and what a front end writes is already simple.
 *
 * Only pure operations are looked at.  The table of value numbers is used while appending to a
 * block, where every instruction of the block precedes the new one.
 */
#include "ir/build.h"
#include "ir/eval.h"

enum { MAX_CANDIDATE_ARGS = 64, MAX_DEPTH = 16, NUMBERS = 256 };

/* A candidate: an instruction with room for its operands, on the stack. */
typedef union {
    ir_inst inst;
    char room[sizeof(ir_inst) + MAX_CANDIDATE_ARGS * sizeof(ir_use)];
} candidate;

void ir_builder_init(ir_builder *b, ir_func *f) {
    b->f = f;
    b->block = NULL;
    b->before = NULL;
    b->loc = b->depth = 0;
    b->has_recent = false;
}

void ir_at_end(ir_builder *b, ir_block *block) {
    b->block = block;
    b->before = NULL;
}

void ir_before(ir_builder *b, ir_inst *where) {
    b->block = where->block;
    b->before = where;
}

/* In no block yet, and without its operands. */
static ir_inst *new_inst(const ir_builder *b, ir_op op, ir_type t, ir_attrs attrs, unsigned n) {
    ir_inst *i = ir_inst_new(b->f, op, t, n);
    i->flags = attrs.flags;
    i->imm = attrs.imm;
    i->loc = b->loc;
    return i;
}

ir_inst *ir_build_raw(ir_builder *b, ir_op op, ir_type t, ir_attrs attrs, ir_args args) {
    ir_inst *i = new_inst(b, op, t, attrs, args.n);
    for (unsigned k = 0; k < args.n; k++) ir_set_arg(i, k, ir_settle(b->f, op, k, args.val[k]));
    ir_insert(i, b->block, b->before);
    return i;
}

/* ------------------------------------------------------------------------------ value numbering */

static bool same_imm(const ir_inst *a, const ir_inst *b) {
    if (ir_info(a)->imm != I_MASK) return a->imm.bits == b->imm.bits;
    return memcmp(a->imm.mask, b->imm.mask, ir_lanes(a->type)) == 0;
}

bool ir_same_value(const ir_inst *a, const ir_inst *b) {
    if (a->op != b->op || a->type != b->type || a->nargs != b->nargs) return false;
    for (unsigned n = 0; n < a->nargs; n++)
        if (a->arg[n].val != b->arg[n].val) return false;
    return same_imm(a, b);
}

uint64_t ir_hash_value(const ir_inst *i) {
    uint64_t h = ir_mix(i->op, i->type);
    for (unsigned n = 0; n < i->nargs; n++) h = ir_mix(h, i->arg[n].val->id);
    if (ir_info(i)->imm == I_MASK) return ir_hash(h, i->imm.mask, ir_lanes(i->type));
    return ir_mix(h, i->imm.bits);
}

static ir_inst **number_of(ir_builder *b, const ir_inst *i) {
    if (!b->has_recent) memset(b->recent, 0, sizeof b->recent);
    b->has_recent = true;
    return &b->recent[ir_hash_value(i) % NUMBERS];
}

/* `known`, if it is equal to i and of this block; it keeps only the promises that both make. */
static ir_inst *take_equal(const ir_builder *b, ir_inst *known, const ir_inst *i) {
    if (!known || known->block != b->block || !ir_same_value(known, i)) return NULL;
    known->flags &= i->flags;
    return known;
}

/* ------------------------------------------------------------------------------------- building */

static void fill(candidate *c, ir_builder *b, ir_op op, ir_type t, unsigned n) {
    enum { MOST_HAVE = 2 }; /* operands; a size that is known takes a few stores */
    memset(c, 0, sizeof c->inst + MOST_HAVE * sizeof(ir_use));
    c->inst.op = (uint16_t)op;
    c->inst.nargs = (uint16_t)n;
    c->inst.type = t;
    c->inst.id = UINT32_MAX;
    c->inst.loc = b->loc;
}

static bool is_known(const ir_inst *i) { return ir_is_const(i) || i->op == IR_OP_undef; }

/* Constants go to the right of commutative operations. */
static void order_operands(ir_inst *i) {
    if (!ir_has_flag(i, F_COMMUTES) || !is_known(i->arg[0].val) || is_known(i->arg[1].val)) return;
    ir_inst *x = i->arg[0].val;
    i->arg[0].val = i->arg[1].val;
    i->arg[1].val = x;
}

static ir_inst *fold_known(ir_func *f, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (!is_known(i->arg[n].val)) return NULL;
    return i->nargs ? ir_fold(f, i) : NULL;
}

static ir_inst *rewrite(ir_builder *b, ir_inst *i) {
    const ir_simplifier *s = b->f->module->simplifier;
    if (!s || b->depth >= MAX_DEPTH) return NULL;
    b->depth++;
    ir_inst *better = s->apply(b, i, s->user);
    b->depth--;
    return better;
}

/* A candidate becomes an instruction of the block. */
static ir_inst *insert_candidate(ir_builder *b, const ir_inst *i) {
    ir_inst *made = new_inst(b, (ir_op)i->op, i->type, ir_attrs_of(i), i->nargs);
    for (unsigned k = 0; k < i->nargs; k++) ir_set_arg(made, k, i->arg[k].val);
    ir_insert(made, b->block, b->before);
    return made;
}

static ir_inst *find_or_insert(ir_builder *b, ir_inst *i) {
    if (b->before) return insert_candidate(b, i);
    ir_inst **number = number_of(b, i), *known = take_equal(b, *number, i);
    return known ? known : (*number = insert_candidate(b, i));
}

ir_inst *ir_build(ir_builder *b, ir_op op, ir_type t, ir_attrs attrs, ir_args args) {
    if (!(ir_ops[op].flags & F_PURE) || args.n > MAX_CANDIDATE_ARGS)
        return ir_build_raw(b, op, t, attrs, args);
    candidate c;
    fill(&c, b, op, t, args.n);
    c.inst.flags = attrs.flags;
    c.inst.imm = attrs.imm;
    ir_use *use = (ir_use *)(void *)(c.room + offsetof(ir_inst, arg));
    for (unsigned k = 0; k < args.n; k++) use[k].val = ir_settle(b->f, op, k, args.val[k]);
    order_operands(&c.inst);
    ir_inst *known = fold_known(b->f, &c.inst);
    if (!known) known = rewrite(b, &c.inst);
    return known ? known : find_or_insert(b, &c.inst);
}

ir_inst *ir_build_like(ir_builder *b, const ir_inst *i, ir_type t, ir_inst *const *args) {
    return ir_build(b, (ir_op)i->op, t, ir_attrs_of(i), (ir_args){i->nargs, args});
}

ir_inst *ir_build0(ir_builder *b, ir_op op, ir_type t) {
    return ir_build(b, op, t, IR_PLAIN, IR_NO_ARGS);
}

ir_inst *ir_build1(ir_builder *b, ir_op op, ir_type t, ir_inst *x) {
    return ir_build(b, op, t, IR_PLAIN, IR_ARGS(x));
}

ir_inst *ir_build2(ir_builder *b, ir_op op, ir_type t, ir_inst *x, ir_inst *y) {
    return ir_build(b, op, t, IR_PLAIN, IR_ARGS(x, y));
}

ir_inst *ir_build_select(ir_builder *b, ir_inst *cond, ir_inst *yes, ir_inst *no) {
    return ir_build(b, IR_OP_select, yes->type, IR_PLAIN, IR_ARGS(cond, yes, no));
}

/* --------------------------------------------------------------------------------------- memory */

ir_imm ir_mem_imm(unsigned align, unsigned flags) {
    unsigned log = 0;
    while (log < 31 && (2u << log) <= align) log++;
    return (ir_imm){.mem = {.align = (uint8_t)log, .flags = (uint8_t)flags}};
}

ir_inst *ir_build_load(ir_builder *b, ir_type t, ir_inst *p, unsigned align, unsigned mem_flags) {
    return ir_build_raw(b, IR_OP_load, t, ir_with_imm(ir_mem_imm(align, mem_flags)), IR_ARGS(p));
}

ir_inst *ir_build_store(ir_builder *b, ir_inst *v, ir_inst *p, unsigned align, unsigned mem_flags) {
    ir_attrs attrs = ir_with_imm(ir_mem_imm(align, mem_flags));
    return ir_build_raw(b, IR_OP_store, IR_VOID, attrs, IR_ARGS(v, p));
}

ir_inst *ir_build_alloca(ir_builder *b, ir_type t, unsigned align) {
    ir_var *var = ir_new(&b->f->module->arena, ir_var);
    *var = (ir_var){.type = t, .align = align};
    ir_attrs attrs = ir_with_imm((ir_imm){.var = var});
    return ir_build_raw(b, IR_OP_alloca, ir_ptr(IR_PRIVATE), attrs, IR_NO_ARGS);
}

ir_inst *ir_build_ptradd(ir_builder *b, ir_inst *p, ir_inst *bytes, bool inbounds) {
    if (ir_is_const(bytes) && bytes->imm.bits == 0) return p;
    ir_attrs attrs = ir_with_flags(inbounds ? IR_INBOUNDS : 0);
    return ir_build(b, IR_OP_ptradd, p->type, attrs, IR_ARGS(p, bytes));
}

/* -------------------------------------------------------------------------------------- vectors */

ir_inst *ir_build_shuffle(ir_builder *b, ir_inst *x, ir_inst *y, unsigned n, const uint8_t *mask) {
    ir_attrs attrs = ir_with_imm((ir_imm){.mask = ir_dup(&b->f->module->arena, mask, n)});
    return ir_build(b, IR_OP_shuffle, ir_vector(ir_elem(x->type), n), attrs, IR_ARGS(x, y));
}

/* The value of one lane when it can be seen through vec and insert. */
static ir_inst *known_lane(ir_inst *v, unsigned lane) {
    while (v->op == IR_OP_insert && ir_is_const(ir_arg(v, 2))) {
        if (ir_arg(v, 2)->imm.bits == lane) return ir_arg(v, 1);
        v = ir_arg(v, 0);
    }
    return v->op == IR_OP_vec ? ir_arg(v, lane) : NULL;
}

ir_inst *ir_build_extract(ir_builder *b, ir_inst *v, unsigned lane) {
    ir_inst *known = known_lane(v, lane);
    if (known) return known;
    return ir_build2(b, IR_OP_extract, ir_elem(v->type), v, ir_const(b->f, IR_I32, lane));
}

ir_inst *ir_build_insert(ir_builder *b, ir_inst *v, ir_inst *s, unsigned lane) {
    ir_inst *index = ir_const(b->f, IR_I32, lane);
    return ir_build(b, IR_OP_insert, v->type, IR_PLAIN, IR_ARGS(v, s, index));
}

ir_inst *ir_build_vec(ir_builder *b, ir_type t, ir_inst *const *lanes) {
    return ir_build(b, IR_OP_vec, t, IR_PLAIN, (ir_args){ir_lanes(t), lanes});
}

ir_inst *ir_build_splat(ir_builder *b, ir_inst *s, unsigned lanes) {
    ir_inst *args[IR_MAX_LANES];
    if (lanes == 1) return s;
    for (unsigned i = 0; i < lanes; i++) args[i] = s;
    return ir_build_vec(b, ir_vector(s->type, lanes), args);
}

/* ----------------------------------------------------------------------- queries, calls, groups */

ir_inst *ir_build_query(ir_builder *b, ir_op op, ir_type t, unsigned dim) {
    return ir_build(b, op, t, ir_with_imm((ir_imm){.dim = dim}), IR_NO_ARGS);
}

ir_inst *ir_build_barrier(ir_builder *b, unsigned exec, unsigned scope, unsigned semantics) {
    ir_imm imm = {
        .sync = {.exec = (uint8_t)exec, .scope = (uint8_t)scope, .semantics = (uint16_t)semantics}};
    return ir_build_raw(b, IR_OP_barrier, IR_VOID, ir_with_imm(imm), IR_NO_ARGS);
}

ir_inst *ir_build_call(ir_builder *b, ir_func *callee, unsigned n, ir_inst *const *args) {
    ir_attrs attrs = ir_with_imm((ir_imm){.func = callee});
    return ir_build_raw(b, IR_OP_call, callee->ret, attrs, (ir_args){n, args});
}

ir_inst *ir_build_phi(ir_block *block, ir_type t) {
    ir_inst *phi = ir_inst_new(block->func, IR_OP_phi, t, 0);
    ir_insert(phi, block, ir_first_non_phi(block));
    return phi;
}

/* ---------------------------------------------------------------------------------- terminators */

static ir_inst *terminate(ir_builder *b, ir_op op, ir_args args) {
    return ir_build_raw(b, op, IR_VOID, IR_PLAIN, args);
}

ir_inst *ir_build_jmp(ir_builder *b, ir_block *to) {
    ir_set_succs(b->block, 1, &to);
    return terminate(b, IR_OP_jmp, IR_NO_ARGS);
}

ir_inst *ir_build_br(ir_builder *b, ir_inst *cond, ir_block *taken, ir_block *other) {
    ir_set_succs(b->block, 2, (ir_block *[]){taken, other});
    return terminate(b, IR_OP_br, IR_ARGS(cond));
}

ir_inst *ir_build_switch(ir_builder *b, ir_inst *on, ir_block *other, ir_cases cases) {
    ir_arena *a = &b->f->module->arena;
    unsigned n = cases.n + 1;
    ir_block **succ = ir_new_array(a, ir_block *, n);
    ir_inst **args = ir_new_array(a, ir_inst *, n);
    succ[0] = other;
    args[0] = on;
    for (unsigned i = 1; i < n; i++) {
        succ[i] = cases.blocks[i - 1];
        args[i] = ir_const(b->f, on->type, cases.values[i - 1]);
    }
    ir_set_succs(b->block, n, succ);
    return terminate(b, IR_OP_switch, (ir_args){n, args});
}

ir_inst *ir_build_ret(ir_builder *b, ir_inst *value) {
    return terminate(b, IR_OP_ret, value ? IR_ARGS(value) : IR_NO_ARGS);
}

ir_inst *ir_build_unreachable(ir_builder *b) { return terminate(b, IR_OP_unreachable, IR_NO_ARGS); }
