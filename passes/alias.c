/* alias.c — which addresses may lead to the same memory, and which instructions touch it.
 *
 * An address is an object and an offset: without its steps (ptradd) and casts it is a parameter, a
 * variable, or something of unknown origin; the steps add up to a sum of values (sum.c).
 *
 * Different objects are apart when their spaces differ, when both are variables, when one promises
 * it (noalias), and when the address of one is used for nothing but accesses, so that no other
 * address can be made from it.  In one object accesses are apart when their distance says so: a
 * constant, or a constant plus multiples of a power of two that leave room for both.
 *
 * Distances compare values as they are at one moment.  Who asks about accesses that different
 * iterations of a loop make must know that the addresses do not change there.
 */
#include "passes/analysis.h"

/* --------------------------------------------------------------------------------------- places */

pass_place pass_find_place(const pass_alias *a, const ir_inst *p) {
    const pass_place *known = p->id < a->n ? a->place[p->id] : NULL;
    return known ? *known : (pass_place){.object = p, .base = p};
}

const ir_inst *pass_object_of(const pass_alias *a, const ir_inst *p) {
    const pass_place *known = p->id < a->n ? a->place[p->id] : NULL;
    return known ? known->object : p;
}

static bool is_cast(const ir_inst *p) {
    return p->op == IR_OP_ptrcast || p->op == IR_OP_ptrcast_to;
}

bool pass_is_accessed(const ir_inst *i, unsigned arg) {
    switch (i->op) {
    case IR_OP_load:
    case IR_OP_fill: return arg == 0;
    case IR_OP_store: return arg == 1;
    case IR_OP_copy: return arg <= 1;
    default:
        return arg == 0 && (ir_info(i)->rule == R_ATOMIC || ir_info(i)->rule == R_ATOMIC_STORE);
    }
}

/* Is the address only used, not handed on? */
static bool is_plain_use(const ir_inst *user, unsigned arg) {
    bool moves = user->op == IR_OP_ptradd || is_cast(user);
    bool asks = user->op == IR_OP_ptr_space || ir_info(user)->rule == R_CMPI;
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

static void note_place(pass_alias *a, const ir_inst *p) {
    if (p->op != IR_OP_ptradd && !is_cast(p)) return;
    pass_place at = pass_find_place(a, ir_arg(p, 0));
    pass_affine by = {0};
    if (p->op == IR_OP_ptradd) pass_find_sum(ir_arg(p, 1), &by);
    if (!pass_affine_add(&at.offset, &by, 1)) at = (pass_place){.object = at.object, .base = p};
    a->place[p->id] = ir_dup(a->scratch, &at, sizeof at);
}

/* In reverse postorder an address comes before those that are made from it. */
void pass_alias_begin(pass_alias *a, ir_func *f, ir_arena *scratch) {
    const ir_order *order = &ir_dominators(f)->order;
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

/* -------------------------------------------------------------------------------------- objects */

static bool is_variable(const ir_inst *object) {
    return object->op == IR_OP_alloca || object->op == IR_OP_address;
}

static bool is_noalias(const pass_alias *a, const ir_inst *object) {
    return object->op == IR_OP_param &&
           a->f->param[object->imm.index].attrs & (IR_PARAM_NOALIAS | IR_PARAM_BYVAL);
}

bool pass_is_variable(const ir_func *f, const ir_inst *object) {
    return object->op == IR_OP_alloca ||
           (object->op == IR_OP_param && f->param[object->imm.index].attrs & IR_PARAM_BYVAL);
}

/* Does every address that leads there show it? */
static bool is_closed(const pass_alias *a, const ir_inst *object) {
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

/* Two different objects: does no address lead to both? */
static bool are_apart(const pass_alias *a, const ir_inst *x, const ir_inst *y) {
    if (is_closed(a, x) || is_closed(a, y)) return true;
    if (is_variable(x) && is_variable(y)) return true;
    bool known_x = x->op == IR_OP_param || is_variable(x);
    bool known_y = y->op == IR_OP_param || is_variable(y);
    if (!known_x || !known_y) return false;
    return is_noalias(a, x) || is_noalias(a, y) || x->op == IR_OP_alloca || y->op == IR_OP_alloca;
}

/* ------------------------------------------------------------------------------------ distances */

/* q - p; false when they do not count from one address, or it has too many terms. */
static bool find_distance(const pass_alias *a, const ir_inst *p, const ir_inst *q,
                          pass_affine *distance) {
    const pass_place x = pass_find_place(a, p), y = pass_find_place(a, q);
    *distance = y.offset;
    return x.base == y.base && pass_affine_add(distance, &x.offset, -1);
}

/* The bits of the distance that the constant alone decides. */
static uint64_t known_bits(const pass_alias *a, const pass_affine *distance) {
    uint64_t factors = 0;
    for (uint32_t k = 0; k < distance->n; k++) factors |= (uint64_t)distance->term[k].factor;
    uint64_t below = factors ? (factors & -factors) - 1 : UINT64_MAX;
    return ir_zext(below, a->f->module->pointer_bits);
}

static bool may_overlap(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                        uint64_t q_size) {
    const ir_inst *x = pass_object_of(a, p), *y = pass_object_of(a, q);
    pass_affine d;
    if (are_spaces_apart(a, p, q)) return false;
    if (x != y) return !are_apart(a, x, y);
    if (p_size > INT32_MAX || q_size > INT32_MAX || !find_distance(a, p, q, &d)) return true;
    uint64_t up = (uint64_t)d.constant, down = -up, known = known_bits(a, &d);
    return (up & known) < p_size || (down & known) < q_size;
}

bool pass_find_step(const pass_alias *a, const ir_inst *p, const ir_inst *q, int64_t *bytes) {
    pass_affine d = {0};
    if (p != q && (!find_distance(a, p, q, &d) || d.n)) return false;
    *bytes = ir_sext((uint64_t)d.constant, a->f->module->pointer_bits);
    return true;
}

bool pass_covers(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                 uint64_t q_size) {
    pass_affine d;
    if (p_size > INT32_MAX || q_size > p_size) return false;
    if (p != q && (!find_distance(a, p, q, &d) || d.n)) return false;
    uint64_t up = p == q ? 0 : (uint64_t)d.constant & known_bits(a, &d);
    return up <= p_size - q_size;
}

/* ------------------------------------------------------------------------------------- accesses */

static uint64_t bytes_of(const ir_inst *n) { return ir_is_const(n) ? n->imm.bits : UINT64_MAX; }

const ir_inst *pass_written(const pass_alias *a, const ir_inst *i, uint64_t *size) {
    if (i->op == IR_OP_store) {
        *size = ir_access_size(a->f->module, ir_arg(i, 0)->type);
        return ir_arg(i, 1);
    }
    if (i->op != IR_OP_copy && i->op != IR_OP_fill) return NULL;
    *size = bytes_of(ir_arg(i, 2));
    return ir_arg(i, 0);
}

static const ir_inst *read_by(const pass_alias *a, const ir_inst *i, uint64_t *size) {
    if (i->op == IR_OP_load) {
        *size = ir_access_size(a->f->module, i->type);
        return ir_arg(i, 0);
    }
    if (i->op != IR_OP_copy) return NULL;
    *size = bytes_of(ir_arg(i, 2));
    return ir_arg(i, 1);
}

/* Can a callee know its address? */
static bool may_call_reach(const pass_alias *a, const ir_inst *p) {
    const ir_inst *object = pass_object_of(a, p);
    return !pass_is_variable(a->f, object) || !is_closed(a, object);
}

/* At barriers and atomics others may do what they like with memory that they can reach, and the op
 * itself with what its operands lead to. */
static bool may_meet(const pass_alias *a, const ir_inst *i, const ir_inst *p) {
    if (!ir_has_flag(i, F_WRITES) && !ir_has_flag(i, F_CONVERGENT)) return false;
    if (i->op == IR_OP_call) return may_call_reach(a, p);
    if (space_of(a, p) != IR_PRIVATE) return true;
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type) &&
            may_overlap(a, ir_arg(i, n), UINT64_MAX, p, UINT64_MAX))
            return true;
    return false;
}

/* Printing writes nothing that a kernel reads. */
bool pass_writes(const ir_inst *i) {
    if (i->op == IR_OP_printf || i->op == IR_OP_assume) return false;
    return ir_has_flag(i, F_WRITES) || ir_has_flag(i, F_CONVERGENT);
}

bool pass_may_write(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size) {
    uint64_t written;
    if (!pass_writes(i) || space_of(a, p) == IR_CONST) return false;
    const ir_inst *to = pass_written(a, i, &written);
    return to ? may_overlap(a, to, written, p, size) : may_meet(a, i, p);
}

bool pass_may_read(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size) {
    uint64_t read;
    const ir_inst *from = read_by(a, i, &read);
    if (from) return may_overlap(a, from, read, p, size);
    return i->op != IR_OP_store && i->op != IR_OP_fill && may_meet(a, i, p);
}
