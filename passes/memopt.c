/* memopt.c — values that memory is known to hold.
 *
 * Blocks are walked in reverse postorder with a short list of (address, value): what stands in
 * memory at that address, because it was stored or loaded there.  A block with one predecessor goes
 * on with the predecessor's list; any other begins with none.  A load from a listed address becomes
 * the value, read as the load's type.
 *
 * A store strikes out what it may overlap, other writes all that they may reach; barriers, fences,
 * atomics and calls strike out all memory that other work-items can write.  Two addresses do not
 * overlap when they lie in different spaces, in different objects (stack variables, module-scope
 * variables, parameters that are noalias), or at constant distances that keep them apart.
 *
 * Addresses are equal when they are the same value, so gvn comes first.
 */
#include "passes/passes.h"

enum { MAX_KNOWN = 32 };

typedef struct {
    ir_inst *address, *value;
} content;

/* The newest first. */
typedef struct {
    content known[MAX_KNOWN];
    uint32_t n;
} contents;

typedef struct {
    ir_func *f;
    const ir_module *m;
    ir_arena *scratch;
    const contents **end; /* by block id: at its end, when walked already */
    contents now;
    bool changed;
} walker;

/* --------------------------------------------------------------------------------------- overlap */

/* An address as a constant distance from another value. */
typedef struct {
    const ir_inst *base;
    int64_t distance;
} near_address;

static near_address nearest(const walker *w, const ir_inst *p) {
    near_address a = {p, 0};
    while (a.base->op == IR_OP_ptradd && ir_is_const(ir_arg(a.base, 1))) {
        const ir_inst *step = ir_arg(a.base, 1);
        int64_t bytes = ir_sext(step->imm.bits, ir_bits(w->m, step->type));
        a.distance = (int64_t)((uint64_t)a.distance + (uint64_t)bytes);
        a.base = ir_arg(a.base, 0);
    }
    return a;
}

static const ir_inst *object_of(const ir_inst *p) {
    while (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast) p = ir_arg(p, 0);
    return p;
}

static bool is_variable(const ir_inst *object) {
    return object->op == IR_OP_alloca || object->op == IR_OP_address;
}

static bool is_noalias(const walker *w, const ir_inst *object) {
    return object->op == IR_OP_param &&
           w->f->param[object->imm.index].attrs & (IR_PARAM_NOALIAS | IR_PARAM_BYVAL);
}

/* Are these different objects, of which no address leads to the other? */
static bool are_apart(const walker *w, const ir_inst *a, const ir_inst *b) {
    ir_space x = ir_space_of(a->type), y = ir_space_of(b->type);
    if (x != y && x != IR_GENERIC && y != IR_GENERIC) return true;
    if (a == b) return false;
    if (is_variable(a) && is_variable(b)) return true;
    bool known_a = a->op == IR_OP_param || is_variable(a);
    bool known_b = b->op == IR_OP_param || is_variable(b);
    if (!known_a || !known_b) return false;
    return is_noalias(w, a) || is_noalias(w, b) || a->op == IR_OP_alloca || b->op == IR_OP_alloca;
}

static bool may_overlap(const walker *w, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                        uint64_t q_size) {
    near_address a = nearest(w, p), b = nearest(w, q);
    if (a.base != b.base) return !are_apart(w, object_of(p), object_of(q));
    if (p_size > INT32_MAX || q_size > INT32_MAX) return true;
    unsigned bits = w->m->pointer_bits;
    uint64_t up = ir_zext((uint64_t)b.distance - (uint64_t)a.distance, bits);
    uint64_t down = ir_zext((uint64_t)a.distance - (uint64_t)b.distance, bits);
    return up < p_size || down < q_size;
}

/* ------------------------------------------------------------------------------------------ list */

static uint64_t size_of(const walker *w, const content *c) {
    return ir_access_size(w->m, c->value->type);
}

static void strike_overlapping(walker *w, const ir_inst *p, uint64_t size) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < w->now.n; k++) {
        const content c = w->now.known[k];
        if (!may_overlap(w, p, size, c.address, size_of(w, &c))) w->now.known[kept++] = c;
    }
    w->now.n = kept;
}

/* What other work-items cannot reach is left. */
static void strike_shared(walker *w) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < w->now.n; k++) {
        ir_space space = ir_space_of(w->now.known[k].address->type);
        if (space == IR_PRIVATE || space == IR_CONST) w->now.known[kept++] = w->now.known[k];
    }
    w->now.n = kept;
}

static void learn(walker *w, ir_inst *address, ir_inst *value) {
    uint32_t n = w->now.n < MAX_KNOWN ? w->now.n++ : MAX_KNOWN - 1;
    memmove(&w->now.known[1], &w->now.known[0], n * sizeof w->now.known[0]);
    w->now.known[0] = (content){address, value};
}

static const content *find_content(const walker *w, const ir_inst *load) {
    uint64_t size = ir_access_size(w->m, load->type);
    for (uint32_t k = 0; k < w->now.n; k++) {
        const content *c = &w->now.known[k];
        if (c->address != ir_arg(load, 0)) continue;
        bool same = c->value->type == load->type ||
                    (size_of(w, c) == size && ir_can_reinterpret(w->m, c->value->type, load->type));
        return same ? c : NULL;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- instructions */

static bool is_volatile(const ir_inst *access) { return access->imm.mem.flags & IR_MEM_VOLATILE; }

static void walk_load(walker *w, ir_inst *load) {
    if (is_volatile(load)) return;
    const content *c = find_content(w, load);
    if (!c) {
        learn(w, ir_arg(load, 0), load);
        return;
    }
    ir_builder b;
    ir_builder_init(&b, w->f);
    ir_before(&b, load);
    b.loc = load->loc;
    ir_replace_uses(load, ir_build_reinterpret(&b, c->value, load->type));
    ir_remove(load);
    w->changed = true;
}

static void walk_store(walker *w, ir_inst *store) {
    ir_inst *value = ir_arg(store, 0), *address = ir_arg(store, 1);
    strike_overlapping(w, address, ir_access_size(w->m, value->type));
    if (!is_volatile(store)) learn(w, address, value);
}

static uint64_t bytes_of(const ir_inst *n) { return ir_is_const(n) ? n->imm.bits : UINT64_MAX; }

/* Barriers and atomics: others may have written anything they can reach, and the op itself what its
 * pointers lead to. */
static void walk_meeting(walker *w, const ir_inst *i) {
    strike_shared(w);
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type)) strike_overlapping(w, ir_arg(i, n), UINT64_MAX);
}

static void walk(walker *w, ir_inst *i) {
    switch (i->op) {
    case IR_OP_load: walk_load(w, i); break;
    case IR_OP_store: walk_store(w, i); break;
    case IR_OP_copy:
    case IR_OP_fill: strike_overlapping(w, ir_arg(i, 0), bytes_of(ir_arg(i, 2))); break;
    case IR_OP_alloca:
    case IR_OP_printf:
    case IR_OP_assume: break;
    case IR_OP_call: w->now.n = 0; break;
    default:
        if (ir_has_flag(i, F_WRITES) || ir_has_flag(i, F_CONVERGENT)) walk_meeting(w, i);
    }
}

/* A loop header has an edge from below, so a block with one predecessor comes behind it. */
static void enter(walker *w, const ir_block *b) {
    const contents *before = b->npred == 1 ? w->end[b->pred[0]->id] : NULL;
    w->now.n = 0;
    if (before) w->now = *before;
}

static void leave(walker *w, const ir_block *b) {
    bool wanted = false;
    for (uint32_t n = 0; n < b->nsucc; n++) wanted |= b->succ[n]->npred == 1;
    if (wanted) w->end[b->id] = ir_dup(w->scratch, &w->now, sizeof w->now);
}

/* Does: replaces loads by what was stored or loaded before at the same address.
 * Needs: equal addresses to be one value (gvn).
 * Leaves: stores; the control flow graph.
 * Gives up: where paths meet, and on addresses that differ by what is not a constant. */
bool pass_memopt(ir_func *f, pass_ctx *cx) {
    const ir_order *order = &ir_dominators(f)->order;
    walker w = {.f = f, .m = f->module, .scratch = cx->scratch};
    w.end = ir_new_array(cx->scratch, const contents *, f->next_block);
    for (uint32_t k = 0; k < order->n; k++) {
        enter(&w, order->rpo[k]);
        foreach_inst (i, order->rpo[k]) walk(&w, i);
        leave(&w, order->rpo[k]);
    }
    return w.changed;
}
