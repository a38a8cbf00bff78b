/* alias.c — which addresses may lead to the same memory, and which instructions access it.
 *
 * An address is an object and an offset.  The object is what remains without steps (ptradd) and
 * casts: a parameter, a variable, or a value of unknown origin.  The steps add up to a sum of
 * values (sum.c).
 *
 * Different objects are disjoint if their spaces differ, if both are variables, if one of them is
 * declared so (noalias: a parameter, or the load of an argument in code of a group), or if the
 * address of one is used for accesses only, so that no other address can be made from it.  Two
 * accesses of one object are disjoint if their distance is large enough for both: a constant, or a
 * constant plus multiples of a power of two.
 *
 * Addresses whose offsets differ by constants only are on one line.  All addresses of two lines
 * have the same relation, apart from the constants.  So a pass that compares many addresses relates
 * their lines once, and then compares constants.
 *
 * Distances compare values at one moment.  A pass that compares accesses of different iterations of
 * a loop must know that the addresses do not change in it.
 */
#include "passes/analysis/alias.h"

/* --------------------------------------------------------------------------------------- places */

static const pass_place *place_of(const pass_alias *a, const ir_inst *p) {
    return p->id < a->n ? a->place[p->id] : NULL;
}

pass_place pass_find_place(const pass_alias *a, const ir_inst *p) {
    const pass_place *known = place_of(a, p);
    return known ? *known : (pass_place){.object = p, .base = p};
}

const ir_inst *pass_object_of(const pass_alias *a, const ir_inst *p) {
    const pass_place *known = place_of(a, p);
    return known ? known->object : p;
}

static bool is_cast(const ir_inst *p) {
    return p->op == IR_OP_ptrcast || p->op == IR_OP_ptrcast_to;
}

bool pass_is_accessed(const ir_inst *i, unsigned arg) {
    switch (i->op) {
    case IR_OP_load:
    case IR_OP_masked_load:
    case IR_OP_gather:
    case IR_OP_fill: return arg == 0;
    case IR_OP_store:
    case IR_OP_masked_store:
    case IR_OP_scatter: return arg == 1;
    case IR_OP_copy: return arg <= 1;
    default: return arg == 0 && ir_is_atomic(i);
    }
}

/* Is the address only used, not handed on? */
static bool is_plain_use(const ir_inst *user, unsigned arg) {
    bool moves = user->op == IR_OP_ptradd || is_cast(user);
    bool asks =
        user->op == IR_OP_ptr_space || user->op == IR_OP_prefetch || ir_info(user)->rule == R_CMPI;
    return moves || asks || pass_is_accessed(user, arg);
}

/* Makes an address from one. */
static bool makes_address(const ir_inst *i) {
    return ir_is_ptr(i->type) && (ir_has_flag(i, F_PURE) || i->op == IR_OP_phi);
}

bool pass_follow_address(const ir_inst *address, ir_arena *scratch, pass_use_list *out) {
    ir_vec(const ir_inst *) addresses = {0};
    ir_map seen = {0};
    bool known = true;
    *ir_push(scratch, &addresses) = address;
    for (uint32_t n = 0; n < addresses.n; n++) {
        const ir_inst *from = addresses.data[n];
        if (ir_map_get(&seen, from->id + UINT64_C(1))) continue;
        ir_map_set(scratch, &seen, from->id + UINT64_C(1), out);
        for (const ir_use *u = from->uses; u; u = u->next) {
            *ir_push(scratch, out) = u;
            if (makes_address(u->user))
                *ir_push(scratch, &addresses) = u->user;
            else
                known &= is_plain_use(u->user, (unsigned)(u - u->user->arg));
        }
    }
    return known;
}

static void note_uses(pass_alias *a, const ir_inst *p) {
    for (const ir_use *u = p->uses; u; u = u->next)
        if (!is_plain_use(u->user, (unsigned)(u - u->user->arg)))
            a->escapes[pass_object_of(a, p)->id] = true;
}

/* Terms beyond those that count are not copied. */
static void copy_place(pass_place *to, const pass_place *from) {
    to->object = from->object;
    to->base = from->base;
    to->offset.n = from->offset.n;
    to->offset.constant = from->offset.constant;
    for (uint32_t k = 0; k < from->offset.n; k++) to->offset.term[k] = from->offset.term[k];
}

static void begin_place(pass_place *to, const ir_inst *object, const ir_inst *base) {
    to->object = object;
    to->base = base;
    to->offset.n = 0;
    to->offset.constant = 0;
}

static void note_place(pass_alias *a, const ir_inst *p) {
    if (p->op != IR_OP_ptradd && !is_cast(p)) return;
    const ir_inst *from = ir_arg(p, 0), *by = p->op == IR_OP_ptradd ? ir_arg(p, 1) : NULL;
    const pass_place *known = place_of(a, from);
    pass_place *at = ir_alloc_raw(a->scratch, sizeof *at);
    pass_affine sum;
    if (known)
        copy_place(at, known);
    else
        begin_place(at, from, from);
    if (by && ir_is_const(by)) {
        at->offset.constant = ir_wrap_add(at->offset.constant, ir_signed_const(by));
    } else if (by) {
        pass_find_sum((ir_inst *)by, &sum);
        if (!pass_affine_add(&at->offset, &sum, 1)) begin_place(at, at->object, p);
    }
    a->place[p->id] = at;
}

/* In reverse postorder an address comes before those that are made from it. */
void pass_alias_begin_in(pass_alias *a, ir_func *f, const ir_order *order, ir_arena *scratch) {
    *a = (pass_alias){.f = f, .scratch = scratch, .n = f->next_id};
    a->place = ir_new_array(scratch, const pass_place *, a->n);
    a->escapes = ir_new_array(scratch, bool, a->n);
    for (uint32_t k = 0; k < f->nparams; k++)
        if (ir_is_ptr(f->param_val[k]->type)) note_uses(a, f->param_val[k]);
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k])
            if (ir_is_ptr(i->type)) {
                note_place(a, i);
                note_uses(a, i);
            }
}

void pass_alias_begin(pass_alias *a, ir_func *f, ir_arena *scratch) {
    pass_alias_begin_in(a, f, &ir_dominators(f)->order, scratch);
}

/* -------------------------------------------------------------------------------------- objects */

static bool is_variable(const ir_inst *object) {
    return object->op == IR_OP_alloca || object->op == IR_OP_address;
}

static bool is_noalias(const pass_alias *a, const ir_inst *object) {
    if (object->op == IR_OP_load) return object->imm.mem.flags & IR_MEM_NOALIAS;
    return object->op == IR_OP_param &&
           a->f->param[object->imm.index].attrs & (IR_PARAM_NOALIAS | IR_PARAM_BYVAL);
}

bool pass_is_variable(const ir_func *f, const ir_inst *object) {
    return object->op == IR_OP_alloca ||
           (object->op == IR_OP_param && f->param[object->imm.index].attrs & IR_PARAM_BYVAL);
}

bool pass_is_closed(const pass_alias *a, const ir_inst *object) {
    return (object->op == IR_OP_alloca || is_noalias(a, object)) && object->id < a->n &&
           !a->escapes[object->id];
}

static ir_space space_of(const pass_alias *a, const ir_inst *p) {
    ir_space s = ir_space_of(p->type);
    return s == IR_GENERIC ? ir_space_of(pass_object_of(a, p)->type) : s;
}

static bool are_spaces_apart(const pass_alias *a, const ir_inst *p, const ir_inst *q) {
    ir_space x = space_of(a, p), y = space_of(a, q);
    return x != y && x != IR_GENERIC && y != IR_GENERIC;
}

/* Two loads give the same if they read one place: constants from one base tell places apart.  The
 * place of a load that has been replaced since is not known. */
static bool are_loads_of_one(const pass_alias *a, const ir_inst *x, const ir_inst *y) {
    if (x->op != IR_OP_load || y->op != IR_OP_load) return false;
    if (!x->block || !y->block) return true;
    const pass_place p = pass_find_place(a, ir_arg(x, 0)), q = pass_find_place(a, ir_arg(y, 0));
    bool comparable = p.base == q.base && !p.offset.n && !q.offset.n;
    return !comparable || p.offset.constant == q.offset.constant;
}

/* Two different objects: does no address lead to both? */
static bool are_apart(const pass_alias *a, const ir_inst *x, const ir_inst *y) {
    if (are_loads_of_one(a, x, y)) return false;
    if (pass_is_closed(a, x) || pass_is_closed(a, y)) return true;
    if (is_variable(x) && is_variable(y)) return true;
    bool known_x = x->op == IR_OP_param || is_variable(x) || is_noalias(a, x);
    bool known_y = y->op == IR_OP_param || is_variable(y) || is_noalias(a, y);
    if (!known_x || !known_y) return false;
    return is_noalias(a, x) || is_noalias(a, y) || x->op == IR_OP_alloca || y->op == IR_OP_alloca;
}

/* ------------------------------------------------------------------------------------ distances */

static int64_t factor_of(const pass_affine *f, const pass_symbol *s) {
    for (uint32_t k = 0; k < f->n; k++)
        if (pass_is_same_symbol(&f->term[k].of, s)) return f->term[k].factor;
    return 0;
}

/* The union of the bits of all factors of y - x; *terms counts those of only one of the two. */
static uint64_t join_factors(const pass_affine *x, const pass_affine *y, uint32_t *terms) {
    uint64_t factors = 0;
    for (uint32_t k = 0; k < y->n; k++) {
        int64_t other = factor_of(x, &y->term[k].of);
        factors |= (uint64_t)y->term[k].factor - (uint64_t)other;
        *terms += !other;
    }
    for (uint32_t k = 0; k < x->n; k++)
        if (!factor_of(y, &x->term[k].of)) {
            factors |= (uint64_t)x->term[k].factor;
            ++*terms;
        }
    return factors;
}

pass_relation pass_relate(const pass_alias *a, const ir_inst *p, const ir_inst *q) {
    static const pass_affine none;
    const pass_place *x = place_of(a, p), *y = place_of(a, q);
    const ir_inst *of_p = x ? x->object : p, *of_q = y ? y->object : q;
    bool apart = are_spaces_apart(a, p, q) || (of_p != of_q && are_apart(a, of_p, of_q));
    if (apart || of_p != of_q || (x ? x->base : p) != (y ? y->base : q))
        return (pass_relation){.how = apart ? PASS_APART : PASS_UNKNOWN_PLACE};
    uint32_t terms = 0;
    uint64_t factors = join_factors(x ? &x->offset : &none, y ? &y->offset : &none, &terms);
    if (terms > PASS_MAX_TERMS) return (pass_relation){.how = PASS_UNKNOWN_PLACE};
    unsigned width = a->f->module->pointer_bits;
    unsigned bits = factors ? (unsigned)__builtin_ctzll(factors) : width;
    return (pass_relation){PASS_AT_DISTANCE, (uint8_t)(bits < width ? bits : width), !factors};
}

/* The low bits of a distance that are known. */
static uint64_t cut(const pass_relation *r, uint64_t distance) {
    return r->bits ? ir_zext(distance, r->bits) : 0;
}

bool pass_may_overlap_at(const pass_relation *r, uint64_t distance, uint64_t p_size,
                         uint64_t q_size) {
    if (r->how != PASS_AT_DISTANCE) return r->how == PASS_UNKNOWN_PLACE;
    if (p_size > INT32_MAX || q_size > INT32_MAX) return true;
    return cut(r, distance) < p_size || cut(r, -distance) < q_size;
}

bool pass_covers_at(const pass_relation *r, uint64_t distance, uint64_t p_size, uint64_t q_size) {
    if (r->how != PASS_AT_DISTANCE || !r->exact || p_size > INT32_MAX || q_size > p_size)
        return false;
    return cut(r, distance) <= p_size - q_size;
}

/* The constant of an address. */
static uint64_t constant_offset(const pass_alias *a, const ir_inst *p) {
    const pass_place *known = place_of(a, p);
    return known ? (uint64_t)known->offset.constant : 0;
}

static uint64_t distance_of(const pass_alias *a, const ir_inst *p, const ir_inst *q) {
    return constant_offset(a, q) - constant_offset(a, p);
}

static bool may_overlap(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                        uint64_t q_size) {
    const pass_relation r = pass_relate(a, p, q);
    return pass_may_overlap_at(&r, distance_of(a, p, q), p_size, q_size);
}

bool pass_find_step(const pass_alias *a, const ir_inst *p, const ir_inst *q, int64_t *bytes) {
    const pass_relation r = pass_relate(a, p, q);
    bool known = p == q || (r.how == PASS_AT_DISTANCE && r.exact);
    if (known) *bytes = ir_sext(distance_of(a, p, q), a->f->module->pointer_bits);
    return known;
}

bool pass_covers(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                 uint64_t q_size) {
    if (p == q) return p_size <= INT32_MAX && q_size <= p_size;
    const pass_relation r = pass_relate(a, p, q);
    return pass_covers_at(&r, distance_of(a, p, q), p_size, q_size);
}

/* ------------------------------------------------------------------------------------- accesses */

static uint64_t constant_bytes(const ir_inst *n) {
    return ir_is_const(n) ? n->imm.bits : UINT64_MAX;
}

/* The number of lanes of a mask that are the only active ones, from the first lane on; 0: others
 * are active, or it is not known which. */
static unsigned count_first_lanes(const ir_inst *mask) {
    unsigned n = 0, lanes = ir_lanes(mask->type);
    if (!ir_is_const(mask)) return 0;
    while (n < lanes && ir_lane_bits(mask, n) & 1) n++;
    for (unsigned k = n; k < lanes; k++)
        if (ir_lane_bits(mask, k) & 1) return 0;
    return n;
}

/* The range in which a load or store of lanes accesses some.  Gathers and scatters go anywhere in
 * the object, also below the base: a range of unknown size is that, too. */
static uint64_t lanes_size(const pass_alias *a, const ir_inst *i, ir_type t) {
    if (i->op == IR_OP_gather || i->op == IR_OP_scatter) return UINT64_MAX;
    uint64_t size = ir_access_size(a->f->module, t);
    unsigned first =
        ir_is_masked(i) ? count_first_lanes(ir_arg(i, i->op == IR_OP_masked_load ? 1 : 2)) : 0;
    return first ? size / ir_lanes(t) * first : size;
}

bool pass_writes_all(const ir_inst *i) {
    if (i->op == IR_OP_masked_store) return count_first_lanes(ir_arg(i, 2)) != 0;
    return i->op == IR_OP_store || i->op == IR_OP_copy || i->op == IR_OP_fill;
}

const ir_inst *pass_written(const pass_alias *a, const ir_inst *i, uint64_t *size) {
    if (i->op == IR_OP_store) {
        *size = ir_access_size(a->f->module, ir_arg(i, 0)->type);
        return ir_arg(i, 1);
    }
    if (i->op == IR_OP_masked_store || i->op == IR_OP_scatter) {
        *size = lanes_size(a, i, ir_arg(i, 0)->type);
        return ir_arg(i, 1);
    }
    if (i->op != IR_OP_copy && i->op != IR_OP_fill) return NULL;
    *size = constant_bytes(ir_arg(i, 2));
    return ir_arg(i, 0);
}

const ir_inst *pass_read(const pass_alias *a, const ir_inst *i, uint64_t *size) {
    if (ir_is_load(i)) {
        *size = lanes_size(a, i, i->type);
        return ir_arg(i, 0);
    }
    if (i->op != IR_OP_copy) return NULL;
    *size = constant_bytes(ir_arg(i, 2));
    return ir_arg(i, 1);
}

/* Can a callee access it? */
static bool may_call_reach(const pass_alias *a, const ir_inst *p) {
    const ir_inst *object = pass_object_of(a, p);
    return !pass_is_variable(a->f, object) || !pass_is_closed(a, object);
}

/* Is i a wait for items of the work-group, and are p's bytes used by no other item?  A wait of all
 * groups is not meant: what is known across one has to be kept in memory, too. */
static bool is_wait_for_others(const pass_alias *a, const ir_inst *i, const ir_inst *p) {
    const ir_inst *object = pass_object_of(a, p);
    return i->op == IR_OP_barrier && i->imm.sync.exec >= IR_SCOPE_WORKGROUP &&
           object->op == IR_OP_param && a->f->param[object->imm.index].attrs & IR_PARAM_OWN;
}

/* At barriers and atomics other items may access all memory that they can reach, and the op
 * itself with what its operands lead to. */
static bool may_meet(const pass_alias *a, const ir_inst *i, const ir_inst *p) {
    if (!ir_has_flag(i, F_WRITES) && !ir_has_flag(i, F_CONVERGENT)) return false;
    if (i->op == IR_OP_call) return may_call_reach(a, p);
    if (is_wait_for_others(a, i, p)) return false;
    if (space_of(a, p) != IR_PRIVATE) return true;
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type) &&
            may_overlap(a, ir_arg(i, n), UINT64_MAX, p, UINT64_MAX))
            return true;
    return false;
}

/* Printing writes nothing that a kernel reads; hints write nothing. */
bool pass_writes(const ir_inst *i) {
    if (i->op == IR_OP_printf || i->op == IR_OP_assume || i->op == IR_OP_prefetch) return false;
    return ir_has_flag(i, F_WRITES) || ir_has_flag(i, F_CONVERGENT);
}

bool pass_is_constant(const pass_alias *a, const ir_inst *p) { return space_of(a, p) == IR_CONST; }

bool pass_may_write(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size) {
    uint64_t written;
    if (!pass_writes(i) || pass_is_constant(a, p)) return false;
    const ir_inst *to = pass_written(a, i, &written);
    return to ? may_overlap(a, to, written, p, size) : may_meet(a, i, p);
}

bool pass_may_read(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size) {
    uint64_t read;
    const ir_inst *from = pass_read(a, i, &read);
    if (from) return may_overlap(a, from, read, p, size);
    bool writes = pass_written(a, i, &read) && i->op != IR_OP_copy;
    return !writes && may_meet(a, i, p);
}

/* ---------------------------------------------------------------------------------------- lines */

static uint64_t hash_line(const pass_place *at, ir_type type) {
    uint64_t h = ir_mix(ir_mix(type, at->base->id), at->offset.n);
    for (uint32_t k = 0; k < at->offset.n; k++) {
        const pass_term *t = &at->offset.term[k];
        h = ir_mix(ir_mix(h, t->of.value->id), ir_mix(t->of.kind, (uint64_t)t->factor));
    }
    return h;
}

static bool is_same_line(const pass_place *x, const pass_place *y) {
    bool same = x->base == y->base && x->offset.n == y->offset.n;
    for (uint32_t k = 0; same && k < x->offset.n; k++) {
        const pass_term *s = &x->offset.term[k], *t = &y->offset.term[k];
        same = pass_is_same_symbol(&s->of, &t->of) && s->factor == t->factor;
    }
    return same;
}

/* Lines of one hash are a list. */
pass_on_line pass_find_line(const pass_alias *a, pass_lines *l, const ir_inst *p) {
    const pass_place at = pass_find_place(a, p);
    uint64_t hash = hash_line(&at, p->type);
    uintptr_t first = (uintptr_t)ir_map_get(&l->by_hash, hash);
    pass_on_line on = {.at = constant_offset(a, p)};
    for (uintptr_t k = first; k; k = l->list.data[k - 1].next) {
        const ir_inst *other = l->list.data[k - 1].first;
        const pass_place there = pass_find_place(a, other);
        on.line = (uint32_t)k - 1;
        if (other->type == p->type && is_same_line(&at, &there)) return on;
    }
    pass_line *line = ir_push(a->scratch, &l->list);
    *line = (pass_line){.first = p, .next = (uint32_t)first};
    if (at.offset.n == 1 && ir_space_of(p->type) != IR_GENERIC) {
        line->base = at.base;
        line->symbol = at.offset.term[0].of.value;
        line->zeros = (uint8_t)__builtin_ctzll((uint64_t)at.offset.term[0].factor);
    }
    ir_map_set(a->scratch, &l->by_hash, hash, (void *)(uintptr_t)l->list.n);
    on.line = l->list.n - 1;
    return on;
}

/* Multiples of two different symbols, from one base. */
static bool are_skew(const pass_line *x, const pass_line *y) {
    return x->base && x->base == y->base && x->symbol != y->symbol &&
           x->first->type == y->first->type;
}

pass_relation pass_relate_lines(const pass_alias *a, pass_lines *l, uint32_t x, uint32_t y) {
    const pass_line *from = &l->list.data[x], *to = &l->list.data[y];
    const ir_inst *p = from->first, *q = to->first;
    if (are_skew(from, to)) {
        uint8_t width = (uint8_t)a->f->module->pointer_bits;
        uint8_t zeros = from->zeros < to->zeros ? from->zeros : to->zeros;
        return (pass_relation){PASS_AT_DISTANCE, zeros < width ? zeros : width, false};
    }
    if (x >= PASS_MOST_RELATED || y >= PASS_MOST_RELATED) return pass_relate(a, p, q);
    if (!l->known[x]) l->known[x] = ir_new_array(a->scratch, pass_relation, PASS_MOST_RELATED);
    pass_relation *r = &l->known[x][y];
    if (r->how == PASS_UNRELATED) *r = pass_relate(a, p, q);
    return *r;
}
