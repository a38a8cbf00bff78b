/* profit.c — estimates whether a fused kernel is faster than its members.
 *
 * The model counts bytes of memory traffic.  Fusion saves launches, each worth LAUNCH bytes, and
 * the traffic that traffic.c predicts.  It costs something if more values are live at once than
 * registers hold: each word beyond REGISTERS, and beyond what the members need themselves, is
 * stored and loaded once per item.  It also costs something if two chains of operations, which the
 * processor executed one after the other, become one chain (delay.c).
 *
 * The model need not be exact, since fusion rarely loses.  A kernel is declined only if it costs
 * more than it saves.
 */
#include "passes/fusion/fuse.h"

enum {
    LAUNCH = 65536,  /* bytes that a device moves in the time of a launch, about 5 µs */
    REGISTERS = 128, /* words of 32 bits for each item; GPUs have up to 255, CPUs spill to L1 */
    SPILL = 8,       /* bytes per word: out and in again */
    STALL = 160,     /* bytes that a processor moves while a load waits for a store */
    CYCLE = 4        /* bytes that a processor moves in a cycle */
};

/* ------------------------------------------------------------------------------------- pressure */

typedef struct {
    const ir_module *m;
    bool *live; /* by value id */
    uint32_t words, most;
} counter;

static uint32_t words_of(const counter *c, const ir_inst *v) {
    if (v->type == IR_VOID || ir_is_opaque(v->type)) return 0;
    if (ir_elem(v->type) == IR_I1) return 1;
    return (uint32_t)((ir_access_size(c->m, v->type) + 3) / 4);
}

static bool takes_register(const ir_inst *v) { return !ir_is_leaf(v) || v->op == IR_OP_param; }

static void begin_life(counter *c, const ir_inst *v) {
    if (!takes_register(v) || c->live[v->id]) return;
    c->live[v->id] = true;
    c->words += words_of(c, v);
    if (c->words > c->most) c->most = c->words;
}

static void end_life(counter *c, const ir_inst *v) {
    if (!c->live[v->id]) return;
    c->live[v->id] = false;
    c->words -= words_of(c, v);
}

static void count_block(counter *c, const ir_live *live, ir_block *b) {
    foreach_live (w, live, &live->out[b->id]) begin_life(c, w.v);
    foreach_inst_reverse (i, b) {
        end_life(c, i);
        if (i->op == IR_OP_phi) continue;
        for (unsigned n = 0; n < i->nargs; n++) begin_life(c, ir_arg(i, n));
    }
    foreach_live (w, live, &live->in[b->id]) end_life(c, w.v);
}

static uint32_t find_pressure(ir_func *f, ir_arena *scratch) {
    const ir_live *live = ir_liveness(f);
    const ir_order *order = &ir_dominators(f)->order;
    counter c = {.m = f->module, .live = ir_new_array(scratch, bool, f->next_id)};
    for (uint32_t k = 0; k < order->n; k++) count_block(&c, live, order->rpo[k]);
    return c.most;
}

/* --------------------------------------------------------------------------------------- profit */

static ir_u128 sum_of(const pass_traffic *t) { return (ir_u128)t->read + t->written; }

typedef struct {
    const pass_fuse_request *request;
    ir_ctx *cx;
    ir_module *m;
    uint32_t most, stalls;
    uint64_t cycles;
    bool estimated; /* the cycles of all members are known */
} member_job;

/* A kernel that is a member twice counts twice. */
static void add_cycles(member_job *j, const ir_map *known) {
    const pass_fuse_request *r = j->request;
    j->estimated = true;
    for (uint32_t m = 0; m < r->nmembers; m++) {
        ir_func *f = ir_map_get(known, (uintptr_t)r->members[m].kernel);
        uint32_t cycles = ir_is_declaration(f) ? 0 : pass_estimate_cycles(f, &j->m->arena);
        j->cycles += cycles;
        j->estimated &= cycles != 0;
    }
}

/* The greatest pressure of the members, and the sums of their stalls and cycles, after the passes
 * that the fused kernel has gone through. */
static void look_at_members(void *arg) {
    member_job *j = arg;
    const pass_fuse_request *r = j->request;
    ir_map known = {0};
    j->m = ir_module_new(j->cx, "members", r->members[0].kernel->module->pointer_bits);
    for (uint32_t m = 0; m < r->nmembers; m++) {
        const ir_func *k = r->members[m].kernel;
        if (!ir_map_get(&known, (uintptr_t)k))
            ir_map_set(&j->m->arena, &known, (uintptr_t)k, ir_import_func(j->m, k, k->name));
    }
    if (!pass_run(j->m, NULL)) ir_throw(j->cx, j->cx->status);
    foreach_func (f, j->m) {
        uint32_t here = ir_is_declaration(f) ? 0 : find_pressure(f, &j->m->arena);
        if (here > j->most) j->most = here;
        if (!ir_is_declaration(f)) j->stalls += pass_count_stalls(f, &j->m->arena);
    }
    add_cycles(j, &known);
}

/* What the fused kernel has more of than its members, which are analysed only if it matters. */
static void compare_members(const pass_fuse_request *request, const pass_fuse_result *r,
                            pass_profit *p) {
    member_job j = {.request = request, .cx = r->module->cx, .most = REGISTERS};
    if (p->pressure <= REGISTERS && !p->stalls && !p->cycles) return;
    bool found = ir_try(j.cx, look_at_members, &j);
    ir_module_free(j.m);
    if (!found) ir_throw(j.cx, j.cx->status);
    p->excess = p->pressure > j.most ? p->pressure - j.most : 0;
    p->stalls = p->stalls > j.stalls ? p->stalls - j.stalls : 0;
    p->cycles = j.estimated && p->cycles > j.cycles ? (uint32_t)(p->cycles - j.cycles) : 0;
}

void pass_find_profit(const pass_fuse_request *request, pass_fuse_result *r, ir_arena *scratch) {
    pass_profit *p = &r->profit;
    ir_u128 before = 0, after = 0;
    *p = (pass_profit){.launches = request->nmembers - 1};
    p->pressure = find_pressure(r->kernel, scratch);
    for (uint32_t a = 0; a < r->nargs && r->buffers; a++) {
        before += sum_of(&r->buffers[a].unfused);
        after += sum_of(&r->buffers[a].fused);
    }
    ir_u128 saved = before > after ? before - after : 0;
    p->bytes = saved > UINT64_MAX ? UINT64_MAX : (uint64_t)saved;
    p->stalls = pass_count_stalls(r->kernel, scratch);
    if (request->serial && pass_may_be_delayed(r->kernel))
        p->cycles = pass_estimate_cycles(r->kernel, scratch);
    compare_members(request, r, p);
    ir_u128 each =
        (ir_u128)p->excess * SPILL + (ir_u128)p->stalls * STALL + (ir_u128)p->cycles * CYCLE;
    p->worth = each * pass_range_items(&r->range) <= saved + (ir_u128)p->launches * LAUNCH;
}
