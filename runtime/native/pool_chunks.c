/* pool_chunks.c — which groups a thread of a launch takes at a time (guided self-scheduling), and
 * how many threads are worth having, by what groups have taken so far.
 */
#include "runtime/native/pool_impl.h"

enum {
    GRAIN_NS = 20000,     /* work that is worth waking a thread */
    CHUNK_NS = 1000,      /* work that is worth going to the counter */
    CHUNKS_PER_THREAD = 2 /* of what is left, were it all cut equally */
};

/* --------------------------------------------------------------------------------------- chunks */

bool pool_take_chunk(pool_launch *l, uint64_t *at, uint64_t *count) {
    *at = atomic_load_explicit(&l->next, memory_order_relaxed);
    do {
        uint64_t left = l->total - *at;
        if (left == 0) return false;
        *count = left / l->parts;
        if (*count < l->least) *count = l->least < left ? l->least : left;
    } while (!atomic_compare_exchange_weak_explicit(&l->next, at, *at + *count,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

typedef struct {
    const rt_work *work;
    ir_group_info *info;
    uint64_t at, count;
} chunk;

static void run_chunk(void *arg) {
    const chunk *c = arg;
    rt_run_groups(c->work->run, c->info, c->work->args, c->at, c->count);
}

void pool_run_groups(const pool_launch *l, const rt_seat *s, uint64_t at, uint64_t count) {
    const rt_work *w = l->work;
    ir_group_info g = *w->info;
    const cg_host *host = cg_host_machine()->host;
    unsigned before = host->enter_float();
    rt_seat_place(s, w, &g);
    rt_stack_run(&s->stack, run_chunk, &(chunk){w, &g, at, count});
    host->leave_float(before);
}

uint64_t pool_run_short(pool_launch *l, const rt_seat *s, uint64_t start) {
    uint64_t done = 0, count = 1;
    do {
        pool_run_groups(l, s, done, count);
        done += count;
        count = 2 * count < l->total - done ? 2 * count : l->total - done;
    } while (count && rt_now_ns() - start < GRAIN_NS);
    l->next = done;
    return done;
}

/* ---------------------------------------------------------------------------------------- costs */

static uint64_t known_cost(const rt_work *w) {
    return w->cost ? atomic_load_explicit(&w->cost->picoseconds, memory_order_relaxed) : 0;
}

uint64_t pool_expected_cost(const rt_work *w) {
    uint64_t known = known_cost(w);
    return known ? known : w->guess;
}

uint64_t pool_cost_of(uint64_t ns, uint64_t groups) {
    return (uint64_t)((ir_u128)ns * 1000 / groups) + 1;
}

/* Three parts of what was known, one of what was measured. */
void pool_learn_cost(const rt_work *w, uint64_t now) {
    uint64_t old = known_cost(w);
    if (w->cost)
        atomic_store_explicit(&w->cost->picoseconds, old ? old - old / 4 + now / 4 : now,
                              memory_order_relaxed);
}

void pool_plan_launch(pool_launch *l, unsigned helpers, uint64_t cost) {
    uint64_t left = l->total - l->next, wanted = helpers;
    l->least = 1;
    if (wanted > left - 1) wanted = left - 1;
    if (cost) {
        ir_u128 worth = (ir_u128)left * cost / 1000 / GRAIN_NS;
        if (worth < wanted) wanted = (uint64_t)worth;
        if (cost < CHUNK_NS * 1000) l->least = CHUNK_NS * 1000 / cost;
    }
    l->wanted = (unsigned)wanted;
    l->parts = wanted ? (wanted + 1) * CHUNKS_PER_THREAD : 1;
}
