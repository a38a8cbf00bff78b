/* memopt.c — values that memory is known to hold.
 *
 * Blocks are walked in reverse postorder with a short list of (address, value): what stands in
 * memory at that address, because it was stored or loaded there.  A block with one predecessor goes
 * on with the predecessor's list; any other begins with none.  A load from a listed address becomes
 * the value, read as the load's type.
 *
 * A write strikes out what it may change (alias.c); barriers, fences, atomics and calls strike out
 * all memory that other work-items can write.
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
    pass_alias alias;
    ir_arena *scratch;
    const contents **end; /* by block id: at its end, when walked already */
    contents now;
    bool changed;
} walker;

/* ------------------------------------------------------------------------------------------ list */

static uint64_t size_of(const walker *w, const content *c) {
    return ir_access_size(w->m, c->value->type);
}

static void strike_written(walker *w, const ir_inst *i) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < w->now.n; k++) {
        const content c = w->now.known[k];
        if (!pass_may_write(&w->alias, i, c.address, size_of(w, &c))) w->now.known[kept++] = c;
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
    strike_written(w, store);
    if (!is_volatile(store)) learn(w, address, value);
}

static void walk(walker *w, ir_inst *i) {
    if (i->op == IR_OP_load)
        walk_load(w, i);
    else if (i->op == IR_OP_store)
        walk_store(w, i);
    else if (ir_has_flag(i, F_WRITES) || ir_has_flag(i, F_CONVERGENT))
        strike_written(w, i);
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
    pass_alias_begin(&w.alias, f, cx->scratch);
    w.end = ir_new_array(cx->scratch, const contents *, f->next_block);
    for (uint32_t k = 0; k < order->n; k++) {
        enter(&w, order->rpo[k]);
        foreach_inst (i, order->rpo[k]) walk(&w, i);
        leave(&w, order->rpo[k]);
    }
    return w.changed;
}
