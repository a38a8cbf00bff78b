/* plan_phases.c — how launches of a run whose work-groups wait for each other ran: by kernel, way
 * and reason, as the device tells of each launch.
 */
#include "runtime/plan/plan.h"

static spvf_phase_run *find(rt_phase_runs *all, const rt_phase_way *way) {
    for (uint32_t n = 0; n < all->list.n; n++) {
        spvf_phase_run *r = &all->list.data[n];
        if (r->phases == way->phases && strcmp(r->kernel, way->kernel) == 0 &&
            strcmp(r->rule, way->rule) == 0)
            return r;
    }
    spvf_phase_run *r = ir_push(all->arena, &all->list);
    *r = (spvf_phase_run){.kernel = ir_strdup(all->arena, way->kernel),
                          .phases = way->phases,
                          .together = way->together,
                          .rule = way->rule,
                          .text = ir_strdup(all->arena, way->text)};
    return r;
}

static void count(void *user, const rt_phase_way *way) { find(user, way)->launches++; }

void rt_count_phases(rt_phase_runs *all, rt_device *device, ir_arena *arena) {
    all->arena = arena;
    device->on_phases = count;
    device->on_phases_user = all;
}

void rt_show_phases(const rt_phase_runs *all, const spvf_run_options *to) {
    for (uint32_t n = 0; n < all->list.n; n++) to->phases(to->phases_user, &all->list.data[n]);
}
