/* cpu_watch.c — a launch that finds the work-group which gave some bytes their value.
 *
 * Native code does not say what it stores.  So groups run one after the other, on one thread, and
 * after each of them the bytes are compared with what they were: the last group that changed them
 * is named.  A group that wrote the same value again is not seen.
 */
#include "runtime/devices/cpu/cpu.h"

static void name_group(const cpu_launch *l, const uint64_t id[3]) {
    ir_text t = {.arena = l->notes};
    ir_putf(&t, "@%s, group (%llu, %llu, %llu)", cpu_kernel_of(l)->name, (unsigned long long)id[0],
            (unsigned long long)id[1], (unsigned long long)id[2]);
    l->watch->writer = t.data;
}

/* A group on its way. */
typedef struct {
    const rt_work *work;
    ir_group_info *info;
    uint64_t number;
} group;

static void run_group(void *arg) {
    const group *g = arg;
    rt_run_groups(g->work->run, g->info, g->work->args, g->number, 1);
}

void cpu_run_watched(const cpu_launch *l, const rt_work *work, ir_arena *scratch) {
    rt_watch *w = l->watch;
    const char *at = (const char *)w->memory->bytes + w->offset;
    void *before = ir_dup(scratch, at, w->bytes);
    ir_group_info g = *work->info;
    uint64_t groups = g.num_groups[0] * g.num_groups[1] * g.num_groups[2], last[3];
    bool changed = false;
    rt_stack stack = {0};
    if (!rt_stack_reserve(&stack, work->stack)) ir_throw(l->cx, IR_ERR_MEMORY);
    w->by_change = true;
    g.local = cpu_aligned(scratch, work->local);
    g.scratch = cpu_aligned(scratch, work->scratch);
    for (uint64_t n = 0; n < groups; n++) {
        rt_stack_run(&stack, run_group, &(group){work, &g, n});
        if (memcmp(before, at, w->bytes) == 0) continue;
        memcpy(before, at, w->bytes);
        memcpy(last, g.group_id, sizeof last);
        changed = true;
    }
    rt_stack_free(&stack);
    if (changed) name_group(l, last);
}
