/* cpu_watch.c — a launch that looks for who gave some bytes their value.
 *
 * Native code does not say what it stores.  So groups run one after the other, on one thread, and
 * after each of them the bytes are looked at: the last group that changed them is named.  One that
 * wrote what was there already is not seen.
 */
#include "runtime/devices/cpu.h"

static void name_group(const cpu_launch *l, const uint64_t id[3]) {
    ir_text t = {.arena = l->notes};
    ir_putf(&t, "@%s, group (%llu, %llu, %llu)", l->kernel->function->name,
            (unsigned long long)id[0], (unsigned long long)id[1], (unsigned long long)id[2]);
    l->watch->writer = t.data;
}

void cpu_run_watched(const cpu_launch *l, const rt_work *work, ir_arena *scratch) {
    rt_watch *w = l->watch;
    const char *at = (const char *)w->memory->bytes + w->offset;
    void *before = ir_dup(scratch, at, w->bytes);
    ir_group_info g = *work->info;
    uint64_t groups = g.num_groups[0] * g.num_groups[1] * g.num_groups[2], last[3];
    bool changed = false;
    w->by_change = true;
    g.local = cpu_aligned(scratch, work->local);
    g.scratch = cpu_aligned(scratch, work->scratch);
    for (uint64_t n = 0; n < groups; n++) {
        rt_run_groups(work->run, &g, work->args, n, 1);
        if (memcmp(before, at, w->bytes) == 0) continue;
        memcpy(before, at, w->bytes);
        memcpy(last, g.group_id, sizeof last);
        changed = true;
    }
    if (changed) name_group(l, last);
}
