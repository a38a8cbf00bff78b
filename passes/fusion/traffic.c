/* traffic.c — predicts how many bytes each buffer moves, member by member and in the fused kernel.
 *
 * The prediction is a limit of what fusion can gain.  Every access of a buffer has a place: an
 * offset (affine.c) and a size.  All items together touch as many elements there as the ids and
 * loop counters of the offset have values, and not more than the items execute.  Several places of
 * one buffer in one member overlap as far as their bounds say.  Unfused, each byte that a member
 * reads counts once, and each byte that it writes; a place that an item has read or written before
 * is not read again.  In the fused kernel the same holds for all members together.  Loops with
 * equal numbers of iterations access the same places.  A promoted buffer moves nothing in the fused
 * kernel.  After a barrier of all work-groups, places are read and written anew.
 *
 * Conditions are assumed to hold.  Constant and local memory do not count.  If an offset is not
 * understood, every item is assumed to touch an element of its own, and the numbers are not exact.
 */
#include "passes/fusion/fuse_impl.h"

/* A place, which a single item accesses. */
typedef struct place place;
struct place {
    place *chain; /* of the same hash */
    uint32_t arg, family;
    pass_affine offset;
    uint64_t size;
    uint32_t member[2];  /* that has read, has written it last, counted from 1 */
    uint64_t counted[2]; /* bytes that the fused kernel has read, has written there */
    uint32_t phase;      /* in this phase */
};

/* Bytes of places of one buffer, and the bounds of all of them. */
typedef struct {
    uint64_t sum;
    ir_i128 low, high;
    bool unbounded;
} tally;

enum { READ, WRITTEN };

typedef struct {
    const pass_findings *found;
    pass_fuse_result *result;
    ir_map places;
    tally (*unfused)[2], (*fused)[2]; /* by argument: of the current member */
    ir_vec(uint32_t) touched;         /* arguments of the current member */
    uint32_t phase;                   /* of the fused kernel, with that member */
} traffic;

static uint64_t add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static uint64_t multiply_saturated(uint64_t a, uint64_t b) {
    ir_u128 product = (ir_u128)a * b;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --------------------------------------------------------------------------------------- places */

/* Is it the same for all items?  Then it adds no elements. */
static bool is_uniform_symbol(const pass_symbol *s) {
    switch (s->kind) {
    case IR_OP_param:
    case IR_OP_global_size:
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size:
    case IR_OP_num_groups:
    case IR_OP_global_offset:
    case IR_OP_work_dim: return !s->value;
    default: return false;
    }
}

/* An offset with the iterations of any loop that has as many. */
static pass_affine with_any_loop(const pass_summary *s, const pass_access *x) {
    pass_affine f = x->offset;
    for (uint32_t k = 0; k < f.n; k++) {
        pass_symbol *of = &f.term[k].of;
        int64_t low, high;
        if (of->kind != IR_OP_phi || !pass_symbol_bounds(&s->launch, of, x->at->block, &low, &high))
            continue;
        if (low == 0 && high >= 0 && high <= UINT32_MAX)
            *of = (pass_symbol){IR_OP_phi, (uint32_t)high, NULL};
    }
    return f;
}

/* Several terms may be equal now: each stands for one of the other form. */
static bool has_same_terms(const pass_affine *a, const pass_affine *b) {
    unsigned taken = 0;
    for (uint32_t k = 0; k < a->n; k++) {
        uint32_t other = 0;
        while (other < b->n && (taken >> other & 1 || a->term[k].factor != b->term[other].factor ||
                                !pass_is_same_symbol(&a->term[k].of, &b->term[other].of)))
            other++;
        if (other == b->n) return false;
        taken |= 1u << other;
    }
    return a->n == b->n && a->constant == b->constant;
}

/* How many bytes all items touch. */
static uint64_t bytes_of(traffic *q, const pass_summary *s, const pass_access *x) {
    uint64_t items = pass_range_items(s->launch.range), ids = 1, rounds = 1;
    for (uint32_t k = 0; k < x->offset.n; k++) {
        const pass_symbol *of = &x->offset.term[k].of;
        int64_t low, high;
        if (is_uniform_symbol(of)) continue;
        bool bounded = pass_symbol_bounds(&s->launch, of, x->at->block, &low, &high);
        if (!bounded) q->result->exact_traffic = false;
        uint64_t count = !bounded ? items : high < low ? 0 : (uint64_t)(high - low) + 1;
        if (bounded && of->kind == IR_OP_phi)
            rounds = multiply_saturated(rounds, count);
        else
            ids = multiply_saturated(ids, count);
    }
    return multiply_saturated(multiply_saturated(least(ids, items), rounds), x->size);
}

/* The same for equal sums, whatever the order of their terms. */
static uint64_t hash_place(const place *p) {
    uint64_t terms = (uint64_t)p->offset.constant;
    for (uint32_t k = 0; k < p->offset.n; k++) {
        const pass_term *t = &p->offset.term[k];
        uint64_t h = ir_mix((uintptr_t)t->of.value, (uint64_t)t->factor);
        terms += ir_mix(h, (uint64_t)t->of.kind << 32 | t->of.index);
    }
    return ir_mix(ir_mix(ir_mix(p->arg, p->family), p->size), terms);
}

/* The place of an access, which other accesses may share. */
static place *find_place(traffic *q, uint32_t m, uint32_t arg, const pass_access *x) {
    place p = {.arg = arg, .offset = with_any_loop(&q->found->summary[m], x), .size = x->size};
    if (q->found->summary[m].remapped) p.family = m + 1; /* its ids are other numbers */
    uint64_t hash = hash_place(&p);
    place *first = ir_map_get(&q->places, hash), *same = first;
    while (same && !(same->arg == arg && same->family == p.family && same->size == p.size &&
                     has_same_terms(&same->offset, &p.offset)))
        same = same->chain;
    if (same && same->phase != q->phase) {
        memset(same->counted, 0, sizeof same->counted);
        same->phase = q->phase;
    }
    if (same) return same;
    p.phase = q->phase;
    p.chain = first;
    same = ir_dup(q->found->in->scratch, &p, sizeof p);
    ir_map_set(q->found->in->scratch, &q->places, hash, same);
    return same;
}

/* -------------------------------------------------------------------------------------- tallies */

static void tally_bytes(tally *t, uint64_t bytes, const pass_summary *s, const pass_access *x) {
    int64_t low, high;
    bool first = t->sum == 0;
    if (!bytes) return;
    t->sum = add_saturated(t->sum, bytes);
    if (!pass_affine_bounds(&s->launch, &x->offset, x->at->block, &low, &high)) {
        t->unbounded = true;
        return;
    }
    if (first || low < t->low) t->low = low;
    if (first || (ir_i128)high + x->size > t->high) t->high = (ir_i128)high + x->size;
}

static uint64_t total(const tally *t) {
    if (t->unbounded || (ir_u128)(t->high - t->low) > UINT64_MAX) return t->sum;
    return least(t->sum, (uint64_t)(t->high - t->low));
}

/* One direction of an access: 0 reads, 1 writes. */
static void count_access(traffic *q, uint32_t m, const pass_access *x, place *p,
                         unsigned direction) {
    const pass_summary *s = &q->found->summary[m];
    uint64_t bytes = bytes_of(q, s, x), before = p->counted[direction];
    bool again = p->member[direction] == m + 1;
    if (direction == READ && p->counted[WRITTEN] > before) before = p->counted[WRITTEN];
    if (direction == READ) again |= p->member[WRITTEN] == m + 1;
    if (again) return;
    const tally *t = q->unfused[p->arg];
    if (!t[READ].sum && !t[WRITTEN].sum) *ir_push(q->found->in->scratch, &q->touched) = p->arg;
    tally_bytes(&q->unfused[p->arg][direction], bytes, s, x);
    tally_bytes(&q->fused[p->arg][direction], bytes > before ? bytes - before : 0, s, x);
    p->member[direction] = m + 1;
    if (bytes > p->counted[direction]) p->counted[direction] = bytes;
}

static void count_member(traffic *q, uint32_t m) {
    const pass_summary *s = &q->found->summary[m];
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_access *x = &s->accesses.data[k];
        uint32_t arg;
        bool counts = pass_argument_of(&s->launch, x, &arg) && x->size &&
                      q->result->args[arg].kind == IR_ARG_POINTER;
        if (!counts) {
            if (!pass_is_local(x)) q->result->exact_traffic = false;
            continue;
        }
        place *p = find_place(q, m, arg, x);
        if (x->kind & PASS_READS) count_access(q, m, x, p, READ);
        if (x->kind & PASS_WRITES) count_access(q, m, x, p, WRITTEN);
    }
}

/* Takes the member's tallies over into the buffers. */
static void finish_member(traffic *q) {
    for (uint32_t k = 0; k < q->touched.n; k++) {
        uint32_t arg = q->touched.data[k];
        pass_fuse_buffer *b = &q->result->buffers[arg];
        b->unfused.read = add_saturated(b->unfused.read, total(&q->unfused[arg][READ]));
        b->unfused.written = add_saturated(b->unfused.written, total(&q->unfused[arg][WRITTEN]));
        b->fused.read = add_saturated(b->fused.read, total(&q->fused[arg][READ]));
        b->fused.written = add_saturated(b->fused.written, total(&q->fused[arg][WRITTEN]));
        memset(q->unfused[arg], 0, sizeof q->unfused[arg]);
        memset(q->fused[arg], 0, sizeof q->fused[arg]);
    }
    q->touched.n = 0;
}

void pass_find_traffic(const pass_findings *found, pass_fuse_result *r) {
    traffic q = {.found = found, .result = r};
    q.unfused = ir_alloc(found->in->scratch, r->nargs * sizeof *q.unfused);
    q.fused = ir_alloc(found->in->scratch, r->nargs * sizeof *q.fused);
    r->exact_traffic = true;
    for (uint32_t m = 0; m < found->in->request->nmembers; m++) {
        count_member(&q, m);
        finish_member(&q);
        q.phase += found->gap[m].wait == PASS_WAIT_GRID;
    }
    for (uint32_t a = 0; a < r->nargs; a++)
        if (r->args[a].state == PASS_ARG_PROMOTED) r->buffers[a].fused = (pass_traffic){0};
}
