/* lanes.c — which lanes of a vector in memory a work-item uses, and which it changes.
 *
 * Compilers write `v[i].y = x` as a load of the whole vector, an insertion, and a store of the
 * whole.  The other lanes are stored where they were loaded, by the same item, and nothing has
 * written there in between.  So such a store changes only the lanes that do not come from the load,
 * and such a load uses only the lanes that have other uses.  It does not matter whether the others
 * have been written before.
 *
 * A lane is followed back through insertions, shuffles, and vectors that are made from lanes.  Load
 * and store must be in one block, so that equal forms of their offsets mean equal places.  Between
 * them the block may write to other arguments and variables only, which are different memory for
 * fusion.
 */
#include "passes/analysis/alias.h"
#include "passes/fusion/fuse_impl.h"

/* On the way back from a lane to its load there are no others than carriers. */
enum { MAX_CARRIERS = 64, MAX_DEPTH = MAX_CARRIERS };

/* ------------------------------------------------------------------------ where lanes come from */

typedef struct {
    const ir_inst *value; /* a vector, or a scalar that is no lane of one */
    unsigned lane;
} source;

static bool has_number(const ir_inst *n, unsigned lanes) {
    return ir_is_const(n) && n->imm.bits < lanes;
}

/* What lane of what vector is a scalar? */
static source scalar_source(const ir_inst *s) {
    bool lane = s->op == IR_OP_extract && has_number(ir_arg(s, 1), ir_lanes(ir_arg(s, 0)->type));
    return lane ? (source){ir_arg(s, 0), (unsigned)ir_arg(s, 1)->imm.bits} : (source){s, 0};
}

/* One step back; the same value when there is no further step. */
static source step_back(source at) {
    const ir_inst *v = at.value;
    if (v->op == IR_OP_insert && has_number(ir_arg(v, 2), ir_lanes(v->type))) {
        bool here = ir_arg(v, 2)->imm.bits == at.lane;
        return here ? scalar_source(ir_arg(v, 1)) : (source){ir_arg(v, 0), at.lane};
    }
    if (v->op == IR_OP_vec && v->nargs == ir_lanes(v->type))
        return scalar_source(ir_arg(v, at.lane));
    if (v->op == IR_OP_shuffle) {
        unsigned first = ir_lanes(ir_arg(v, 0)->type), pick = v->imm.mask[at.lane];
        if (pick < first) return (source){ir_arg(v, 0), pick};
        if (pick - first < ir_lanes(ir_arg(v, 1)->type))
            return (source){ir_arg(v, 1), pick - first};
    }
    return at;
}

static source find_source(const ir_inst *v, unsigned lane) {
    source at = {v, lane};
    for (unsigned n = 0; n < MAX_DEPTH; n++) {
        source back = step_back(at);
        if (back.value == at.value && back.lane == at.lane) break;
        at = back;
    }
    return at;
}

/* ------------------------------------------------------------------------------- there and back */

static const pass_access *find_access(const pass_summary *s, const ir_inst *at, unsigned arg) {
    for (uint32_t k = 0; k < s->accesses.n; k++)
        if (s->accesses.data[k].at == at && s->accesses.data[k].arg == arg)
            return &s->accesses.data[k];
    return NULL;
}

static const ir_inst *object_of(const ir_inst *p) {
    while (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast) p = ir_arg(p, 0);
    return p;
}

/* May i write to the object, as far as its address shows? */
static bool may_write(const ir_inst *i, const ir_inst *object) {
    if (!pass_writes(i)) return false;
    const ir_inst *to = i->op == IR_OP_store ? object_of(ir_arg(i, 1)) : NULL;
    return !to || to == object || (to->op != IR_OP_param && to->op != IR_OP_alloca);
}

/* Does the store, in the same block, go to where the load reads, and nothing before it? */
static bool is_stored_back(const pass_summary *s, const ir_inst *load, const ir_inst *store) {
    const pass_access *x = find_access(s, load, 0), *y = find_access(s, store, 1);
    if (!x || !y || !x->object || x->object != y->object) return false;
    if ((load->imm.mem.flags | store->imm.mem.flags) & IR_MEM_VOLATILE) return false;
    if (load->type != ir_arg(store, 0)->type || !pass_is_same_form(&x->offset, &y->offset))
        return false;
    const ir_inst *i = load->next;
    while (i && i != store && !may_write(i, x->object)) i = i->next;
    return i == store;
}

static uint64_t bit(unsigned lane) { return UINT64_C(1) << lane; }

uint64_t pass_all_lanes(ir_type t) {
    return ir_lanes(t) == IR_MAX_LANES ? UINT64_MAX : bit(ir_lanes(t)) - 1;
}

uint64_t pass_changed_lanes(const pass_side *s) {
    const ir_inst *store = s->access->at;
    if (store->op != IR_OP_store) return UINT64_MAX;
    const ir_inst *v = ir_arg(store, 0);
    uint64_t changed = pass_all_lanes(v->type);
    for (unsigned k = 0; k < ir_lanes(v->type) && ir_is_vector(v->type); k++) {
        source from = find_source(v, k);
        if (from.value->op == IR_OP_load && from.lane == k &&
            is_stored_back(s->of, from.value, store))
            changed &= ~bit(k);
    }
    return changed;
}

/* ------------------------------------------------------------------------- what is made of them */

typedef struct {
    const pass_summary *of;
    const ir_inst *load;
    const ir_inst *carrier[MAX_CARRIERS]; /* vectors, and scalars that are lanes of the load */
    unsigned n;
    uint64_t used;
} follower;

/* The lanes of the load that a carrier has; with `back`, but those at their own places. */
static uint64_t lanes_of(const follower *q, const ir_inst *v, bool back) {
    uint64_t lanes = 0;
    for (unsigned k = 0; k < ir_lanes(v->type); k++) {
        source from = ir_is_vector(v->type) ? find_source(v, k) : scalar_source(v);
        if (!ir_is_vector(v->type)) from = find_source(from.value, from.lane);
        if (from.value == q->load && !(back && from.lane == k)) lanes |= bit(from.lane);
    }
    return lanes;
}

static bool moves_lanes(const ir_inst *i) {
    return i->op == IR_OP_extract || i->op == IR_OP_insert || i->op == IR_OP_vec ||
           i->op == IR_OP_shuffle;
}

/* Adds the user as a carrier; false: it does more with the lanes than move them to known places. */
static bool carry(follower *q, const ir_inst *user) {
    if (!moves_lanes(user) || q->n == MAX_CARRIERS) return false;
    if (user->op != IR_OP_vec && user->op != IR_OP_shuffle &&
        !ir_is_const(ir_arg(user, user->nargs - 1)))
        return false;
    for (unsigned k = 0; k < q->n; k++)
        if (q->carrier[k] == user) return true;
    q->carrier[q->n++] = user;
    return true;
}

uint64_t pass_used_lanes(const pass_side *s) {
    follower q = {.of = s->of, .load = s->access->at, .carrier = {s->access->at}, .n = 1};
    if (q.load->op != IR_OP_load || !ir_is_vector(q.load->type)) return UINT64_MAX;
    for (unsigned k = 0; k < q.n; k++) {
        const ir_inst *v = q.carrier[k];
        for (const ir_use *u = v->uses; u; u = u->next) {
            bool stored = u->user->op == IR_OP_store && u - u->user->arg == 0;
            bool back = stored && is_stored_back(q.of, q.load, u->user);
            if (back || !carry(&q, u->user)) q.used |= lanes_of(&q, v, back);
        }
    }
    return q.used;
}
