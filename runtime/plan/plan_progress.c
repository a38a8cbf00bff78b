/* plan_progress.c — how much of a run is done.
 *
 * All launches count the same.  Device check also tells how many work-groups of a launch have run.
 * Where groups are measured, each counts as one launch; how much of it is done is the lesser share
 * of the time and of the runs that are needed.
 */
#include "runtime/plan/plan.h"

static double weight_of(const rt_stmt *s, const spvf_run_options *o) {
    bool is_group = s->kind == RT_GROUP;
    if (s->kind != RT_LAUNCH && !is_group) return 0;
    if (o->timing || !is_group) return 1;
    double members = s->group.launches.n;
    return o->unfused ? members : o->validate ? members + 1 : 1;
}

static void tell_groups(void *user, uint64_t done, uint64_t all) {
    rt_tell_progress(user, (double)done / (double)all);
}

void rt_begin_progress(rt_plan_progress *p, const spvf_plan *plan, const spvf_run_options *o,
                       rt_device *d) {
    *p = (rt_plan_progress){.options = o};
    if (!o->progress) return;
    for (uint32_t i = 0; i < plan->stmts.n; i++) p->all += weight_of(&plan->stmts.data[i], o);
    if (o->timing) return;
    d->on_progress = tell_groups;
    d->on_progress_user = p;
}

void rt_begin_statement(rt_plan_progress *p, const rt_stmt *s) {
    p->weight = weight_of(s, p->options);
    p->ended = 0;
}

void rt_end_statement(rt_plan_progress *p) {
    rt_tell_progress(p, p->weight);
    p->before += p->weight;
}

void rt_tell_progress(rt_plan_progress *p, double part) {
    double done = p->ended + part;
    if (p->all <= 0) return;
    if (done > p->weight) done = p->weight; /* a group that is refused has more launches */
    p->options->progress(p->options->progress_user, (p->before + done) / p->all);
}

void rt_count_launch(rt_plan_progress *p) {
    if (p->options->timing) return;
    p->ended++;
    rt_tell_progress(p, 0);
}
