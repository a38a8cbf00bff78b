/* affine.c — integers as sums over what a work-item knows.
 *
 * The form of a value is constant + sum of factor * symbol, equal to the value modulo 2^width.
 * Symbols are ids, by-value parameters, iteration numbers of loops, and whatever is not looked
 * into.  Sums, products and shifts by constants, and truncations keep that congruence.  An
 * extension needs more: the form must be the value itself, as the extension reads it.  It is when
 * the bounds of its symbols keep it within the narrow type, or, for signed values, when it is made
 * of whole values by operations that promise not to wrap.
 *
 * Ids are bounded by the nd-range, iteration numbers by an exit test against a constant.  Other
 * symbols have no bounds.  How deep and how far expressions are followed is limited; what lies
 * beyond is a symbol.
 */
#include "passes/passes.h"

enum { MAX_DEPTH = 24, MAX_STEPS = 1000 };

/* ----------------------------------------------------------------------------------------- sums */

static bool is_same_symbol(const pass_symbol *a, const pass_symbol *b) {
    return a->kind == b->kind && a->index == b->index && a->value == b->value;
}

static void drop_zeros(pass_affine *f) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].factor) f->term[kept++] = f->term[k];
    f->n = kept;
}

bool pass_affine_add(pass_affine *to, const pass_affine *f, int64_t factor) {
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t at = 0;
        while (at < to->n && !is_same_symbol(&to->term[at].of, &f->term[k].of)) at++;
        if (at == PASS_MAX_TERMS) return false;
        if (at == to->n) to->term[to->n++] = (pass_term){f->term[k].of, 0};
        int64_t part = ir_wrap_mul(f->term[k].factor, factor);
        to->term[at].factor = ir_wrap_add(to->term[at].factor, part);
    }
    to->constant = ir_wrap_add(to->constant, ir_wrap_mul(f->constant, factor));
    drop_zeros(to);
    return true;
}

bool pass_is_same_form(const pass_affine *a, const pass_affine *b) {
    pass_affine difference = *a;
    return pass_affine_add(&difference, b, -1) && !difference.n && !difference.constant;
}

/* --------------------------------------------------------------------------------------- bounds */

/* A test in the header is reached once more than the rest of the loop. */
static bool counter_bounds(const pass_launch *l, const ir_inst *phi, const ir_block *at,
                           int64_t *high) {
    const ir_loops *loops = ir_loop_tree(l->kernel);
    pass_counter c;
    if (!pass_find_counter(loops, phi, &c)) return false;
    int64_t latch = pass_count_passes(loops, c.loop, c.latch);
    int64_t header = pass_count_passes(loops, c.loop, phi->block);
    bool behind_test = at != phi->block && ir_in_loop(loops, at, c.loop);
    *high = latch >= 0 ? latch : header - behind_test;
    return *high >= 0;
}

static unsigned count_exits(const ir_loops *loops, const ir_loop *loop) {
    unsigned exits = 0;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        for (uint32_t s = 0; s < loop->block[k]->nsucc; s++)
            exits += !ir_in_loop(loops, loop->block[k]->succ[s], loop);
    return exits;
}

bool pass_is_counted(const pass_launch *l, const ir_loop *loop) {
    int64_t high;
    bool counted = false;
    foreach_phi (phi, loop->header) counted |= counter_bounds(l, phi, loop->header, &high);
    return counted && count_exits(ir_loop_tree(l->kernel), loop) == 1;
}

static uint64_t local_size(const pass_range *r, unsigned d) {
    return d < r->dims ? r->local[d] : 1;
}

/* Of a value that is not looked into, but whose operation says something. */
static bool value_bounds(const pass_launch *l, const ir_inst *v, const ir_block *at,
                         int64_t *high) {
    pass_affine limit;
    if (v->op != IR_OP_urem && v->op != IR_OP_and && v->op != IR_OP_umin) return false;
    if (ir_is_vector(v->type)) return false;
    pass_find_affine(l, ir_arg(v, 1), at, &limit);
    *high = limit.constant - (v->op == IR_OP_urem);
    return limit.n == 0 && *high >= 0;
}

bool pass_symbol_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at,
                        int64_t *low, int64_t *high) {
    const pass_range *r = l->range;
    uint64_t count = 0;
    *low = 0;
    if (s->kind == IR_OP_phi) return counter_bounds(l, s->value, at, high);
    if (s->value) return value_bounds(l, s->value, at, high);
    if (!r) return false;
    uint64_t size = pass_global_size(r, s->index);
    if (s->kind == IR_OP_global_id) {
        *low = s->index < r->dims ? (int64_t)r->offset[s->index] : 0;
        count = size;
    } else if (s->kind == IR_OP_local_id) {
        count = r->has_local ? local_size(r, s->index) : size;
    } else if (s->kind == IR_OP_group_id) {
        count = r->has_local ? (size - 1) / local_size(r, s->index) + 1 : size;
    } else if (s->kind == IR_OP_global_linear_id) {
        count = pass_range_items(r);
    }
    *high = (int64_t)((uint64_t)*low + count - 1);
    return count && *low >= 0 && *high >= *low;
}

bool pass_affine_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        int64_t *low, int64_t *high) {
    ir_i128 least = f->constant, most = f->constant;
    for (uint32_t k = 0; k < f->n; k++) {
        int64_t from, to, factor = f->term[k].factor;
        if (!pass_symbol_bounds(l, &f->term[k].of, at, &from, &to)) return false;
        least += (ir_i128)factor * (factor < 0 ? to : from);
        most += (ir_i128)factor * (factor < 0 ? from : to);
    }
    *low = (int64_t)least;
    *high = (int64_t)most;
    return least >= INT64_MIN / 2 && most <= INT64_MAX / 2;
}

/* ---------------------------------------------------------------------------------------- forms */

typedef struct {
    const pass_launch *launch;
    const ir_block *at; /* where the value is wanted */
    unsigned steps;     /* taken so far: shared expressions are followed again */
} finder;

static void find(finder *q, ir_inst *v, unsigned depth, pass_affine *out);

static void put_symbol(pass_affine *out, ir_op kind, uint32_t index, const ir_inst *value) {
    *out = (pass_affine){.term = {{{kind, index, value}, 1}}, .n = 1};
}

static void put_constant(pass_affine *out, int64_t n) { *out = (pass_affine){.constant = n}; }

static void find_param(finder *q, const ir_inst *v, pass_affine *out) {
    const pass_launch *l = q->launch;
    uint32_t n = v->imm.index;
    if (l->value && l->value[n])
        put_constant(out, *l->value[n]);
    else
        put_symbol(out, IR_OP_param, l->argument ? l->argument[n] : n, NULL);
}

static void find_query(finder *q, const ir_inst *v, pass_affine *out) {
    const pass_range *r = q->launch->range;
    bool has_dim = ir_info(v)->imm == I_DIM;
    unsigned d = has_dim ? v->imm.dim : 0;
    put_symbol(out, (ir_op)v->op, d, NULL);
    if (!r) return;
    if (v->op == IR_OP_global_size) put_constant(out, (int64_t)pass_global_size(r, d));
    if (v->op == IR_OP_global_offset) put_constant(out, d < r->dims ? (int64_t)r->offset[d] : 0);
    if (v->op == IR_OP_work_dim) put_constant(out, r->dims);
    if (!r->has_local) return;
    if (v->op == IR_OP_local_size || v->op == IR_OP_enqueued_local_size)
        put_constant(out, (int64_t)local_size(r, d));
    if (v->op == IR_OP_num_groups)
        put_constant(out, (int64_t)(pass_global_size(r, d) / local_size(r, d)));
}

static bool is_within(finder *q, const pass_affine *f, int64_t low, int64_t high) {
    int64_t from, to;
    return pass_affine_bounds(q->launch, f, q->at, &from, &to) && from >= low && to <= high;
}

static bool fits(finder *q, const pass_affine *f, unsigned bits, bool is_signed) {
    if (bits >= 64) return true;
    int64_t half = INT64_C(1) << (bits - 1);
    return is_signed ? is_within(q, f, -half, half - 1) : is_within(q, f, 0, 2 * half - 1);
}

/* Is the form of v its value as a signed number? */
static bool is_whole(finder *q, ir_inst *v, unsigned depth) {
    pass_affine form;
    pass_counter c;
    if (ir_is_const(v) || v->op == IR_OP_param) return true;
    if (depth >= MAX_DEPTH || ++q->steps > MAX_STEPS) return false;
    find(q, v, depth, &form);
    if (fits(q, &form, ir_bits(q->launch->kernel->module, v->type), true)) return true;
    if (form.n == 1 && form.term[0].of.value == v && v->op != IR_OP_phi) return true;
    if (v->op == IR_OP_phi)
        return pass_find_counter(ir_loop_tree(q->launch->kernel), v, &c) &&
               c.next->flags & IR_NSW && is_whole(q, c.init, depth + 1);
    bool sums =
        v->op == IR_OP_add || v->op == IR_OP_sub || v->op == IR_OP_mul || v->op == IR_OP_shl;
    return sums && v->flags & IR_NSW && is_whole(q, ir_arg(v, 0), depth + 1) &&
           is_whole(q, ir_arg(v, 1), depth + 1);
}

/* An extension of the low `bits` of x; false: the form of x does not survive it. */
static bool find_extension(finder *q, ir_inst *x, unsigned bits, bool is_signed, unsigned depth,
                           pass_affine *out) {
    find(q, x, depth + 1, out);
    if (fits(q, out, bits, is_signed)) return true;
    bool narrow = ir_bits(q->launch->kernel->module, x->type) == bits;
    return is_signed && narrow && is_whole(q, x, depth + 1);
}

static bool find_sum(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    pass_affine second;
    find(q, ir_arg(v, 0), depth + 1, out);
    find(q, ir_arg(v, 1), depth + 1, &second);
    return pass_affine_add(out, &second, v->op == IR_OP_sub ? -1 : 1);
}

static bool find_product(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    pass_affine x, y;
    find(q, ir_arg(v, 0), depth + 1, &x);
    find(q, ir_arg(v, 1), depth + 1, &y);
    *out = (pass_affine){0};
    if (y.n == 0) return pass_affine_add(out, &x, y.constant);
    return x.n == 0 && pass_affine_add(out, &y, x.constant);
}

/* Shifts by constants; up and down again is an extension. */
static bool find_shift(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    ir_inst *x = ir_arg(v, 0), *by = ir_arg(v, 1);
    unsigned width = ir_bits(q->launch->kernel->module, v->type);
    pass_affine form;
    *out = (pass_affine){0};
    if (!ir_is_const(by) || by->imm.bits >= width || by->imm.bits > 62) return false;
    if (v->op == IR_OP_shl) {
        find(q, x, depth + 1, &form);
        return pass_affine_add(out, &form, INT64_C(1) << by->imm.bits);
    }
    bool back = x->op == IR_OP_shl && ir_arg(x, 1) == by;
    return back && find_extension(q, ir_arg(x, 0), width - (unsigned)by->imm.bits,
                                  v->op == IR_OP_ashr, depth, out);
}

static bool find_counted(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    pass_counter c;
    pass_affine rounds;
    if (!pass_find_counter(ir_loop_tree(q->launch->kernel), v, &c)) return false;
    find(q, c.init, depth + 1, out);
    put_symbol(&rounds, IR_OP_phi, 0, v);
    return pass_affine_add(out, &rounds, c.step);
}

/* The low bits of x, as x & mask. */
static bool find_masked(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    const ir_inst *mask = ir_arg(v, 1);
    uint64_t bits = ir_is_const(mask) ? mask->imm.bits : 0;
    unsigned low = 0;
    while (low < 64 && bits >> low & 1) low++;
    if (low == 0 || low == 64 || bits >> low) return false;
    return find_extension(q, ir_arg(v, 0), low, false, depth, out);
}

/* ~x is -x - 1. */
static bool find_inverted(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    const ir_inst *ones = ir_arg(v, 1);
    pass_affine x;
    if (!ir_is_const(ones) || ir_signed_const(ones) != -1) return false;
    find(q, ir_arg(v, 0), depth + 1, &x);
    put_constant(out, -1);
    return pass_affine_add(out, &x, -1);
}

/* False: v is a symbol. */
static bool find_op(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    unsigned bits = v->nargs ? ir_bits(q->launch->kernel->module, ir_arg(v, 0)->type) : 0;
    switch (v->op) {
    case IR_OP_add:
    case IR_OP_sub: return find_sum(q, v, depth, out);
    case IR_OP_mul: return find_product(q, v, depth, out);
    case IR_OP_shl:
    case IR_OP_ashr:
    case IR_OP_lshr: return find_shift(q, v, depth, out);
    case IR_OP_and: return find_masked(q, v, depth, out);
    case IR_OP_xor: return find_inverted(q, v, depth, out);
    case IR_OP_trunc: find(q, ir_arg(v, 0), depth + 1, out); return true;
    case IR_OP_sext: return find_extension(q, ir_arg(v, 0), bits, true, depth, out);
    case IR_OP_zext: return find_extension(q, ir_arg(v, 0), bits, false, depth, out);
    case IR_OP_phi: return find_counted(q, v, depth, out);
    default: return false;
    }
}

static void find(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    if (ir_is_const(v))
        put_constant(out, ir_signed_const(v));
    else if (v->op == IR_OP_param)
        find_param(q, v, out);
    else if (ir_info(v)->rule == R_QUERY)
        find_query(q, v, out);
    else if (depth >= MAX_DEPTH || ++q->steps > MAX_STEPS || !find_op(q, v, depth, out))
        put_symbol(out, (ir_op)v->op, 0, v);
}

void pass_find_affine(const pass_launch *l, ir_inst *v, const ir_block *at, pass_affine *out) {
    finder q = {.launch = l, .at = at};
    find(&q, v, 0, out);
}

/* ------------------------------------------------------------------------------------- printing */

static void print_symbol(ir_text *out, const pass_launch *l, const pass_symbol *s) {
    if (s->value)
        ir_putf(out, "%%%s",
                ir_name_of(l->kernel, s->value) ? ir_name_of(l->kernel, s->value)
                                                : ir_ops[s->kind].name);
    else if (s->kind == IR_OP_param)
        ir_putf(out, "argument %u", s->index);
    else if (ir_ops[s->kind].imm == I_DIM)
        ir_putf(out, "%s.%u", ir_ops[s->kind].name, s->index);
    else
        ir_put(out, ir_ops[s->kind].name);
}

void pass_print_affine(ir_text *out, const pass_launch *l, const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++) {
        ir_putf(out, "%s%lld*", k ? " + " : "", (long long)f->term[k].factor);
        print_symbol(out, l, &f->term[k].of);
    }
    if (f->constant || !f->n) ir_putf(out, "%s%lld", f->n ? " + " : "", (long long)f->constant);
}
