/* dots.c — sums of products of neighbouring bytes and words become dot products of the target.
 *
 *   does        where a sum of i32 has the products of all four bytes of one value with those of
 *               another, or of both words of 16 bits, these terms become one operation (`bytedot`,
 *               `worddot`).  The value may be an i32 whose parts are cut out by shifts, a vector of
 *               32 bits whose lanes are extended, or four neighbouring bytes of memory, which are
 *               then loaded at once
 *   needs       simplify, so that parts are cut out in one form; only extensions of loads that
 *               nothing writes in between are joined
 *   leaves      the parts, for dce; corrections that do not change in a loop, for licm
 *   gives up    on targets without the operations, and sums of more than MOST_TERMS terms
 *
 * Instructions multiply unsigned bytes with signed ones.  Where both have signs, 128 is added to
 * one of them by flipping its sign, and 128 times the sum of the other is subtracted; where neither
 * has one, 128 is subtracted from one of them, and added in the same way.  What is corrected for is
 * the one from the outer loop, if they differ.
 */
#include "passes/passes.h"

enum { MOST_TERMS = 64, LANE = 32 };

static const uint32_t SIGNS = 0x80808080;

/* Bits of a value, or of memory: those from bit `at` on. */
typedef struct {
    ir_inst *base; /* a value of 32 bits, or an address */
    int64_t at;
    const ir_inst *load; /* of these bits; NULL: they are of a value */
    bool is_signed;
} part;

/* A term of a sum; size: bits of its factors, 0: it is none of such a product. */
typedef struct {
    ir_inst *value;
    unsigned size;
    part x, y;
    bool taken;
} term;

typedef struct {
    ir_func *f;
    ir_builder b;
    const ir_loops *loops;
    bool has_bytes, has_sat, has_words;
    unsigned n;
    term terms[MOST_TERMS];
} finder;

/* ---------------------------------------------------------------------------------------- parts */

static bool is_const(const ir_inst *v) { return ir_is_const(v) && !ir_is_vector(v->type); }

static unsigned size_of(ir_type t) {
    ir_kind k = ir_kind_of(t);
    return !ir_is_int(t) ? 0 : k == IR_I8 ? 8 : k == IR_I16 ? 16 : 0;
}

/* Bits of a value from `at` on. */
static bool is_value(part *p, ir_inst *v, uint64_t at) {
    if (v->op == IR_OP_bitcast) v = ir_arg(v, 0);
    p->base = v;
    p->at = (int64_t)at;
    return ir_bits(NULL, v->type) * ir_lanes(v->type) == LANE && !ir_is_ptr(v->type) && at < LANE;
}

static bool is_memory(part *p, ir_inst *load) {
    ir_inst *address = ir_arg(load, 0);
    p->base = address;
    p->load = load;
    p->at = 0;
    if (address->op == IR_OP_ptradd && is_const(ir_arg(address, 1))) {
        int64_t distance = ir_signed_const(ir_arg(address, 1));
        if (distance < -(1 << 20) || distance > 1 << 20) return true;
        p->base = ir_arg(address, 0);
        p->at = distance * 8;
    }
    return true;
}

/* v has as many bits as a part. */
static bool find_narrow(part *p, ir_inst *v) {
    ir_inst *x = v->nargs ? ir_arg(v, 0) : NULL;
    switch (v->op) {
    case IR_OP_load: return !(v->imm.mem.flags & IR_MEM_VOLATILE) && is_memory(p, v);
    case IR_OP_extract:
        return is_const(ir_arg(v, 1)) &&
               is_value(p, x, ir_arg(v, 1)->imm.bits * ir_bits(NULL, v->type));
    case IR_OP_trunc:
        if (x->type != IR_I32) return false;
        if ((x->op == IR_OP_lshr || x->op == IR_OP_ashr) && is_const(ir_arg(x, 1)))
            return is_value(p, ir_arg(x, 0), ir_arg(x, 1)->imm.bits);
        return is_value(p, x, 0);
    default: return false;
    }
}

/* Lane k of a vector whose parts are extended. */
static unsigned find_lane(part *p, ir_inst *v, uint64_t k) {
    if (v->op != IR_OP_sext && v->op != IR_OP_zext) return 0;
    ir_inst *x = ir_arg(v, 0);
    unsigned size = size_of(x->type);
    *p = (part){.is_signed = v->op == IR_OP_sext};
    return is_value(p, x, k * size) ? size : 0;
}

/* The upper bits of x, from those on that a shift by `by` leaves. */
static unsigned find_shifted(part *p, ir_inst *v) {
    ir_inst *x = ir_arg(v, 0);
    uint64_t by = is_const(ir_arg(v, 1)) ? ir_arg(v, 1)->imm.bits : 0;
    if (by != LANE - 8 && by != LANE - 16) return 0;
    unsigned size = LANE - (unsigned)by;
    *p = (part){.is_signed = v->op == IR_OP_ashr};
    if (x->op != IR_OP_shl || !is_const(ir_arg(x, 1))) return is_value(p, x, by) ? size : 0;
    uint64_t up = ir_arg(x, 1)->imm.bits;
    return up <= by && is_value(p, ir_arg(x, 0), by - up) ? size : 0;
}

/* Bits that a mask keeps. */
static unsigned find_masked(part *p, ir_inst *v) {
    ir_inst *x = ir_arg(v, 0);
    uint64_t mask = is_const(ir_arg(v, 1)) ? ir_arg(v, 1)->imm.bits : 0, at = 0;
    if (mask != UINT8_MAX && mask != UINT16_MAX) return 0;
    if (x->op == IR_OP_lshr && is_const(ir_arg(x, 1))) {
        at = ir_arg(x, 1)->imm.bits;
        x = ir_arg(x, 0);
    }
    *p = (part){0};
    return is_value(p, x, at) ? (mask == UINT8_MAX ? 8 : 16) : 0;
}

/* v, an i32, as a part that is extended: its size, or 0. */
static unsigned find_part(part *p, ir_inst *v) {
    switch (v->op) {
    case IR_OP_sext:
    case IR_OP_zext:
        *p = (part){.is_signed = v->op == IR_OP_sext};
        return find_narrow(p, ir_arg(v, 0)) ? size_of(ir_arg(v, 0)->type) : 0;
    case IR_OP_extract:
        return is_const(ir_arg(v, 1)) ? find_lane(p, ir_arg(v, 0), ir_arg(v, 1)->imm.bits) : 0;
    case IR_OP_ashr:
    case IR_OP_lshr: return find_shifted(p, v);
    case IR_OP_and: return find_masked(p, v);
    default: return 0;
    }
}

/* ------------------------------------------------------------------------------------- products */

static bool comes_after(const part *x, const part *y) {
    if (x->base != y->base) return x->base->id > y->base->id;
    if (x->is_signed != y->is_signed) return x->is_signed;
    return x->at > y->at;
}

static void find_product(term *t) {
    ir_inst *v = t->value, *product = v->op == IR_OP_extract ? ir_arg(v, 0) : v;
    unsigned x, y;
    if (product->op != IR_OP_mul) return;
    if (product == v) {
        x = find_part(&t->x, ir_arg(v, 0));
        y = find_part(&t->y, ir_arg(v, 1));
    } else {
        if (!is_const(ir_arg(v, 1))) return;
        x = find_lane(&t->x, ir_arg(product, 0), ir_arg(v, 1)->imm.bits);
        y = find_lane(&t->y, ir_arg(product, 1), ir_arg(v, 1)->imm.bits);
    }
    if (!x || x != y) return;
    t->size = x;
    if (comes_after(&t->x, &t->y)) {
        part first = t->y;
        t->y = t->x;
        t->x = first;
    }
}

/* Can what is loaded here be loaded at `root` as well?  Elements of private arrays become values,
 * so they stay apart. */
static bool may_move(const part *p, const ir_inst *root) {
    if (!p->load) return true;
    bool is_private = ir_space_of(ir_arg(p->load, 0)->type) == IR_PRIVATE;
    return !is_private && p->load->block == root->block && p->load->mark == root->mark;
}

/* ----------------------------------------------------------------------------------------- sums */

static bool is_sum(const ir_inst *v) { return v->op == IR_OP_add && v->type == IR_I32; }

/* A sum that is a term of one other sum only is part of that. */
static bool is_inner(const ir_inst *v) {
    if (!is_sum(v) || ir_count_uses(v) != 1) return false;
    const ir_inst *user = v->uses->user;
    return is_sum(user) && user->block == v->block;
}

/* False: there are too many terms. */
static bool collect(finder *s, ir_inst *sum) {
    ir_inst *stack[MOST_TERMS] = {sum};
    unsigned depth = 1;
    s->n = 0;
    while (depth) {
        ir_inst *v = stack[--depth];
        for (unsigned k = 2; k-- > 0;) {
            ir_inst *x = ir_arg(v, k);
            if (s->n == MOST_TERMS || depth == MOST_TERMS) return false;
            if (is_inner(x) && x->block == sum->block)
                stack[depth++] = x;
            else
                s->terms[s->n++] = (term){.value = x};
        }
    }
    return true;
}

static bool is_at(const part *p, const part *first, int64_t distance) {
    return p->base == first->base && !p->load == !first->load && p->is_signed == first->is_signed &&
           p->at == first->at + distance;
}

/* The term whose factors lie `distance` bits after those of t. */
static term *find_next(finder *s, const term *t, int64_t distance) {
    for (unsigned k = 0; k < s->n; k++) {
        term *u = &s->terms[k];
        bool fits = !u->taken && u != t && u->size == t->size;
        if (fits && is_at(&u->x, &t->x, distance) && is_at(&u->y, &t->y, distance)) return u;
    }
    return NULL;
}

static bool is_first(const part *p) { return p->load || p->at == 0; }

/* Is t the first of terms that are a whole lane?  Then all of them are taken. */
static bool take_lane(finder *s, term *t, const ir_inst *root) {
    term *found[4] = {t};
    bool wanted = t->size == 8 ? s->has_bytes
                               : t->size == 16 && s->has_words && t->x.is_signed && t->y.is_signed;
    if (t->taken || !wanted || !is_first(&t->x) || !is_first(&t->y)) return false;
    unsigned n = LANE / t->size;
    for (unsigned k = 1; k < n; k++)
        if (!(found[k] = find_next(s, t, (int64_t)(k * t->size)))) return false;
    for (unsigned k = 0; k < n; k++)
        if (!may_move(&found[k]->x, root) || !may_move(&found[k]->y, root)) return false;
    for (unsigned k = 0; k < n; k++) found[k]->taken = true;
    return true;
}

/* --------------------------------------------------------------------------------------- change */

/* The lane that begins with p. */
static ir_inst *build_lane(finder *s, const part *p) {
    if (!p->load)
        return p->base->type == IR_I32 ? p->base : ir_build1(&s->b, IR_OP_bitcast, IR_I32, p->base);
    const ir_inst *load = p->load;
    ir_inst *v = ir_build_load(&s->b, IR_I32, ir_arg(load, 0), 1, 0);
    v->imm.mem.align = load->imm.mem.align;
    v->imm.mem.flags |= load->imm.mem.flags & IR_MEM_NONTEMPORAL;
    return v;
}

static unsigned depth_of(const finder *s, const part *p) {
    const ir_loop *loop = p->base->block ? s->loops->of[p->base->block->id] : NULL;
    return loop ? loop->depth : 0;
}

static ir_inst *build_2(finder *s, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&s->b, op, IR_I32, x, y);
}

/* The products of t and of the terms after it. */
static ir_inst *build_lane_products(finder *s, const term *t) {
    ir_inst *signs = ir_const(s->f, IR_I32, SIGNS);
    const part *px = &t->x, *py = &t->y;
    bool same = px->is_signed == py->is_signed, are_signed = px->is_signed;
    bool x_is_outer = depth_of(s, px) < depth_of(s, py);
    if (same ? are_signed == x_is_outer : px->is_signed) px = &t->y, py = &t->x;
    ir_inst *x = build_lane(s, px), *y = build_lane(s, py);
    if (t->size == 16) return build_2(s, IR_OP_worddot, x, y);
    if (!same) return build_2(s, IR_OP_bytedot, x, y);
    ir_inst *flipped = build_2(s, IR_OP_xor, are_signed ? x : y, signs);
    ir_inst *all = build_2(s, IR_OP_bytedot, are_signed ? flipped : x, are_signed ? y : flipped);
    ir_inst *more = build_2(s, IR_OP_bytedot, are_signed ? signs : x, are_signed ? y : signs);
    return build_2(s, IR_OP_sub, all, more);
}

static void count_lane(const finder *s, const term *t) {
    if (t->size == 8)
        ir_count(s->f->module->cx, dots_bytes, 1);
    else
        ir_count(s->f->module->cx, dots_words, 1);
}

static ir_inst *add_to(finder *s, ir_inst *sum, ir_inst *v) {
    return sum ? build_2(s, IR_OP_add, sum, v) : v;
}

static bool rewrite_sum(finder *s, ir_inst *root) {
    term *first[MOST_TERMS / 2];
    unsigned lanes = 0;
    ir_inst *sum = NULL;
    if (!collect(s, root)) return false;
    for (unsigned k = 0; k < s->n; k++) find_product(&s->terms[k]);
    for (unsigned k = 0; k < s->n; k++)
        if (take_lane(s, &s->terms[k], root)) first[lanes++] = &s->terms[k];
    if (!lanes) return false;
    ir_before(&s->b, root);
    s->b.loc = root->loc;
    for (unsigned k = 0; k < lanes; k++) {
        sum = add_to(s, sum, build_lane_products(s, first[k]));
        count_lane(s, first[k]);
    }
    for (unsigned k = 0; k < s->n; k++)
        if (!s->terms[k].taken) sum = add_to(s, sum, s->terms[k].value);
    ir_replace_uses(root, sum);
    ir_remove(root);
    return true;
}

/* A sum that is clamped, of products where one factor has a sign.  Others may use the products. */
static bool rewrite_clamped(finder *s, ir_inst *v) {
    for (unsigned k = 0; k < 2; k++) {
        ir_inst *dot = ir_arg(v, k);
        if (dot->op != IR_OP_bytedot) continue;
        ir_before(&s->b, v);
        s->b.loc = v->loc;
        ir_count(s->f->module->cx, dots_clamped, 1);
        ir_replace_uses(v, ir_build(&s->b, IR_OP_bytedotsat, IR_I32, IR_PLAIN,
                                    IR_ARGS(ir_arg(dot, 0), ir_arg(dot, 1), ir_arg(v, !k))));
        ir_remove(v);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------- the pass */

static bool target_has(finder *s, const pass_ctx *cx, ir_op op) {
    const ir_target *t = cx->target;
    ir_inst *x = ir_undef(s->f, ir_vector(IR_I32, 4));
    if (!t || !t->takes) return false;
    ir_at_end(&s->b, s->f->first);
    ir_inst *i = ir_build_raw(&s->b, op, x->type, IR_PLAIN,
                              (ir_args){ir_ops[op].nargs, (ir_inst *[]){x, x, x}});
    bool takes = t->takes(i, t->level);
    ir_remove(i);
    return takes;
}

/* What an instruction has as its mark: the number of writes before it in its block. */
static void number_writes(ir_func *f) {
    foreach_block (b, f) {
        uint32_t writes = 0;
        foreach_inst (i, b) {
            i->mark = writes;
            writes += ir_has_flag(i, F_WRITES);
        }
    }
}

bool pass_dots(ir_func *f, pass_ctx *cx) {
    finder s = {.f = f};
    bool changed = false;
    ir_builder_init(&s.b, f);
    s.has_bytes = target_has(&s, cx, IR_OP_bytedot);
    s.has_sat = target_has(&s, cx, IR_OP_bytedotsat);
    s.has_words = target_has(&s, cx, IR_OP_worddot);
    if (!s.has_bytes && !s.has_words) return false;
    s.loops = ir_loop_tree(f);
    number_writes(f);
    foreach_block (b, f)
        for (ir_inst *i = b->first, *next; i; i = next) {
            next = i->next;
            if (is_sum(i) && !is_inner(i))
                changed |= rewrite_sum(&s, i);
            else if (i->op == IR_OP_saddsat && i->type == IR_I32 && s.has_sat)
                changed |= rewrite_clamped(&s, i);
        }
    return changed;
}
