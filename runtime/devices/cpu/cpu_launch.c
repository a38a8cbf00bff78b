/* cpu_launch.c — a launch: its range, its arguments, its run.
 *
 * Local memory of a group: the kernel's own variables, then what each parameter that points to
 * local memory was given, each at a multiple of IR_LOCAL_ALIGN.
 *
 * A kernel of several phases is run once for each, on the groups that have something to do: all
 * groups of one have ended before the next begins.  After a phase that has failed, no further one
 * runs.
 */
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

static const uint64_t most_bytes = UINT64_C(1) << 30; /* of a thread: local memory, scratch */

typedef struct {
    const cpu_launch *what;
    ir_arena arena;
    ir_group_info info;
    cpu_wanted wanted;
    rt_use use;
    rt_work work;
    void **args;
    void *kept;     /* what phases leave to later ones */
    uint32_t phase; /* that is running */
    cpu_output output;
} launch;

static const ir_func *function_of(const launch *l) { return l->what->launch->function->ir; }

void cpu_refuse(ir_ctx *cx, const ir_func *kernel, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ir_error(cx, "kernel @%s: %s", kernel->name, text);
    ir_throw(cx, IR_ERR_DEVICE);
}

#define refuse(l, ...) cpu_refuse((l)->what->cx, function_of(l), __VA_ARGS__)

/* ---------------------------------------------------------------------------------------- range */

static void take_global_size(launch *l) {
    const spvf_range *r = l->what->launch->range;
    uint64_t items = 1;
    if (r->dims < 1 || r->dims > 3) refuse(l, "an nd-range has 1 to 3 dimensions, not %u", r->dims);
    l->info.work_dim = r->dims;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t n = l->info.global_size[d] = d < r->dims ? r->global[d] : 1;
        l->info.global_offset[d] = d < r->dims ? r->offset[d] : 0;
        if (n && items > INT64_MAX / n) refuse(l, "the nd-range has 2^63 work-items or more");
        items *= n ? n : 1;
    }
}

static void check_local_size(const launch *l) {
    const uint32_t *required = function_of(l)->attrs.local_size;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t local = l->info.local_size[d], global = l->info.global_size[d];
        if (local == 0) refuse(l, "local size is 0 in dimension %u", d);
        if (required[0] && required[d] != local)
            refuse(l, "it requires local size %u in dimension %u, not %llu", required[d], d,
                   (unsigned long long)local);
        if (global % local && !l->what->launch->uneven)
            refuse(l, "global size %llu is not a multiple of local size %llu in dimension %u",
                   (unsigned long long)global, (unsigned long long)local, d);
    }
}

static unsigned subgroup_of(const launch *l) {
    return rt_cpu_subgroup_size(&l->what->machine->options, function_of(l));
}

static bool has_local_size(const spvf_range *r) {
    return r->local[0] || (r->dims > 1 && r->local[1]) || (r->dims > 2 && r->local[2]);
}

static void count_groups(launch *l) {
    const ir_group_info *g = &l->info;
    for (unsigned d = 0; d < 3; d++)
        l->info.num_groups[d] = (g->global_size[d] + g->local_size[d] - 1) / g->local_size[d];
}

static void take_local_size(launch *l) {
    uint64_t *local = l->info.local_size, items = 1;
    const ir_kernel_attrs *attrs = &function_of(l)->attrs;
    if (has_local_size(l->what->launch->range)) {
        for (unsigned d = 0; d < 3; d++)
            local[d] = d < l->what->launch->range->dims ? l->what->launch->range->local[d] : 1;
        check_local_size(l);
    } else {
        rt_cpu_local_size(function_of(l), subgroup_of(l), l->what->launch->range, local, &l->arena);
        if (attrs->local_size[0] || attrs->subgroups) check_local_size(l);
    }
    for (unsigned d = 0; d < 3; d++) {
        if (local[d] > CPU_GROUP_ITEMS / items)
            refuse(l, "a work-group has more than %d work-items", CPU_GROUP_ITEMS);
        items *= local[d];
    }
    count_groups(l);
    uint64_t subgroups = (items + subgroup_of(l) - 1) / subgroup_of(l);
    if (attrs->subgroups && subgroups != attrs->subgroups)
        refuse(l, "it requires %u sub-groups, not %llu", attrs->subgroups,
               (unsigned long long)subgroups);
}

static uint64_t volume(const uint64_t size[3]) { return size[0] * size[1] * size[2]; }

void rt_cpu_limit_local_args(pass_group_shape *s) {
    uint64_t all = 0;
    for (unsigned n = 0; n < PASS_LOCAL_ARGS; n++)
        all = s->local_args[n] > most_bytes - all ? most_bytes : all + s->local_args[n];
    if (all == most_bytes) memset(s->local_args, 0, sizeof s->local_args);
}

static void find_local_args(const launch *l, pass_group_shape *s) {
    const rt_launch *what = l->what->launch;
    for (size_t k = 0, n = 0; k < what->count && n < PASS_LOCAL_ARGS; k++)
        if (what->args[k].kind == RT_ARG_LOCAL) s->local_args[n++] = what->args[k].size;
    rt_cpu_limit_local_args(s);
}

static ir_range range_of(const launch *l) {
    ir_range r = rt_inner_range(l->what->launch->range);
    memcpy(r.local, l->info.local_size, sizeof r.local);
    return r;
}

static pass_group_shape shape_of(const launch *l) {
    const ir_range r = l->wanted.range;
    pass_group_shape s = pass_shape_of(&r);
    cpu_find_promises(l->what, volume(l->info.global_size), &s);
    find_local_args(l, &s);
    s.short_numbers = r.dims > 1 && pass_has_short_ids(&r) && cpu_has_short_values(l->what);
    rt_forget_facts(l->what->machine->options.without, &s);
    return s;
}

/* ------------------------------------------------------------------------------------ arguments */

static uint64_t aligned(uint64_t bytes) {
    return (bytes + IR_LOCAL_ALIGN - 1) & ~(uint64_t)(IR_LOCAL_ALIGN - 1);
}

void *cpu_aligned(ir_arena *a, uint64_t size) {
    return (void *)(uintptr_t)aligned((uintptr_t)ir_alloc(a, size + IR_LOCAL_ALIGN));
}

static void *aligned_copy(ir_arena *a, const void *bytes, uint64_t size) {
    void *copy = cpu_aligned(a, size);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

/* Does the code have a variable in place of this argument? */
static bool is_variable(const launch *l, size_t param) {
    size_t before = 0;
    for (size_t k = 0; k < param; k++) before += l->what->launch->args[k].kind == RT_ARG_LOCAL;
    return before < PASS_LOCAL_ARGS && l->use.variant->shape.local_args[before];
}

/* Its place after what has been given away. */
static void *take_local(launch *l, size_t n) {
    uint64_t at = aligned(l->work.local), bytes = l->what->launch->args[n].size;
    if (bytes == 0) refuse(l, "argument %zu: local memory of 0 bytes", n);
    if (is_variable(l, n)) return NULL; /* it is among the local variables */
    if (at > most_bytes || bytes > most_bytes - at)
        refuse(l, "argument %zu: %llu bytes of local memory are too many: device cpu has %llu", n,
               (unsigned long long)bytes, (unsigned long long)most_bytes);
    l->work.local = at + bytes;
    return (void *)(uintptr_t)at;
}

/* Memory that is not there yet has no address. */
static void *address_of(const rt_arg *a) {
    if (a->kind == RT_ARG_ADDRESS) return a->address;
    return a->memory ? (char *)a->memory->bytes + a->offset : NULL;
}

static void *take_argument(launch *l, size_t n) {
    const rt_arg *a = &l->what->launch->args[n];
    ir_type t = function_of(l)->param_val[n]->type;
    bool is_local = ir_is_ptr(t) && ir_space_of(t) == IR_LOCAL;
    bool unused = n < 32 && l->use.variant->unused >> n & 1;
    if (ir_is_opaque(t)) refuse(l, "argument %zu: images are not supported by device cpu", n);
    if (is_local != (a->kind == RT_ARG_LOCAL))
        refuse(l, "argument %zu: wants %s", n, is_local ? "local memory" : "a value or a buffer");
    switch (a->kind) {
    case RT_ARG_LOCAL: return take_local(l, n);
    case RT_ARG_VALUE: return unused ? NULL : aligned_copy(&l->arena, a->bytes, a->size);
    default: return address_of(a);
    }
}

static void take_arguments(launch *l) {
    const ir_func *f = function_of(l);
    if (f->nparams != l->what->launch->count)
        refuse(l, "it takes %u arguments, not %zu", f->nparams, l->what->launch->count);
    l->args = ir_new_array(&l->arena, void *, l->what->launch->count + 2);
    for (size_t n = 0; n < l->what->launch->count; n++) l->args[n] = take_argument(l, n);
}

/* What phases leave to later ones, and which one it is. */
static void take_phases(launch *l) {
    const ir_phases *p = &l->use.variant->phases;
    uint64_t items = (volume(l->info.global_size) + 63) & ~UINT64_C(63);
    uint64_t groups = volume(l->info.num_groups);
    if (!p->n) return;
    if ((p->item && items > SIZE_MAX / 4 / p->item) ||
        (p->group && groups > SIZE_MAX / 4 / p->group))
        refuse(l, "what its phases leave to later ones does not fit into memory");
    l->kept = aligned_alloc(IR_LOCAL_ALIGN, aligned(p->group * groups + p->item * items + 1));
    if (!l->kept) ir_throw(l->what->cx, IR_ERR_MEMORY);
    l->args[l->what->launch->count] = l->kept;
    l->args[l->what->launch->count + 1] = &l->phase;
}

static void take_memory(launch *l) {
    const ir_group_need *need = &l->use.variant->need;
    const uint64_t *local = l->info.local_size;
    uint64_t items = (volume(local) + 63) / 64 * 64;
    if (need->local > most_bytes)
        refuse(l, "its local variables have %llu bytes, device cpu has %llu",
               (unsigned long long)need->local, (unsigned long long)most_bytes);
    if (need->scratch > most_bytes ||
        (need->scratch_item && items > (most_bytes - need->scratch) / need->scratch_item))
        refuse(l, "what %llu work-items of a group keep over barriers has more than %llu bytes",
               (unsigned long long)items, (unsigned long long)most_bytes);
    l->work.local = need->local;
    l->work.scratch = need->scratch + need->scratch_item * items;
    l->work.stack = l->use.variant->stack;
}

/* ------------------------------------------------------------------------------------------ run */

static void deliver(const launch *l) {
    const cpu_launch *what = l->what;
    bool wanted = what->output && !what->watch;
    if (l->output.text.n && wanted) what->output(what->output_user, l->output.text.data);
}

static void run_groups(launch *l) {
    const cpu_launch *what = l->what;
    if (what->watch) {
        cpu_run_watched(what, &l->work, &l->arena);
    } else if (rt_pool_run(what->machine->pool, &l->work) != IR_OK) {
        ir_error(what->cx, "kernel @%s: no memory for its work-groups", function_of(l)->name);
        ir_throw(what->cx, IR_ERR_MEMORY);
    }
}

/* Sets how many groups the phase runs, from the first one on.  Their order is x fastest, so they
 * are left out along the last dimension that has several.  False: none does anything. */
static bool take_extent(launch *l) {
    const ir_phases *p = &l->use.variant->phases;
    const ir_group_info *g = &l->info;
    unsigned last = 2;
    l->work.groups = 0;
    if (l->phase >= p->n || l->phase >= IR_EXTENTS) return true;
    while (last && g->num_groups[last] == 1) last--;
    uint64_t n = ir_groups_within(&p->extent[l->phase], last, g->global_offset[last],
                                  g->local_size[last], g->num_groups[last]);
    for (unsigned d = 0; d < last; d++) n *= g->num_groups[d];
    l->work.groups = n;
    return n;
}

/* An instruction takes half a nanosecond, if it is not repeated; and all phases are alike. */
static uint64_t guess_cost(const launch *l) {
    const rt_variant *v = l->use.variant;
    return v->item_steps * volume(l->info.local_size) * 500 / (v->phases.n ? v->phases.n : 1);
}

static void run(launch *l) {
    l->info.local_bytes = (uint32_t)l->work.local; /* which is below 2^31 */
    l->info.print = cpu_print;
    l->info.user = &l->output;
    l->work.name = function_of(l)->name;
    l->work.run = l->use.variant->run;
    l->work.info = &l->info;
    l->work.args = l->args;
    l->work.cost = l->use.launches ? &l->use.launches->cost : NULL;
    l->work.guess = guess_cost(l);
    do
        if (take_extent(l)) run_groups(l);
    while (++l->phase < l->use.variant->phases.n);
    deliver(l);
}

static void look_at_limits(void *arg) {
    launch *l = arg;
    take_memory(l);
    take_arguments(l);
    take_phases(l);
}

static void launch_with_code(void *arg) {
    launch *l = arg;
    look_at_limits(l);
    run(l);
}

/* Groups that the kernel cannot observe are what suits the machine; watches name groups. */
static void take_own_groups(launch *l) {
    const cpu_launch *what = l->what;
    if (what->launch->function->observes_groups || what->watch) return;
    const rt_function *f = what->launch->function;
    rt_cpu_own_groups(what->launch->range, f->order.inner, f->order.crosses,
                      rt_pool_threads(what->machine->pool), l->info.local_size);
    count_groups(l);
}

static void find_code(launch *l) {
    take_global_size(l);
    take_local_size(l);
    take_own_groups(l);
    l->wanted.scratch = &l->arena;
    l->wanted.range = range_of(l);
    l->wanted.shape = shape_of(l);
    cpu_find_values(l->what, &l->arena, &l->wanted);
    cpu_find_code(l->what, &l->wanted, &l->use);
}

static void prepare_kernel(void *arg) {
    launch *l = arg;
    find_code(l);
    bool ok = ir_try(l->what->cx, look_at_limits, l);
    rt_kernel_end(l->wanted.kernel, &l->use, 0);
    if (!ok) ir_throw(l->what->cx, l->what->cx->status);
}

static void count(const launch *l) {
    rt_code_counts *counts = l->what->counts;
    counts->launches++;
    for (unsigned n = 0; n < RT_FACTS; n++) counts->of[n] += l->use.variant->facts >> n & 1;
}

static void trace_launch(const launch *l) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "launch", function_of(l)->name);
    rt_trace_sizes(&t, "spvfuse.range.global_size", l->info.global_size, l->info.work_dim);
    rt_trace_sizes(&t, "spvfuse.range.local_size", l->info.local_size, l->info.work_dim);
    for (unsigned n = 0; n < RT_FACTS; n++) {
        char key[60];
        snprintf(key, sizeof key, "spvfuse.code.fact.%s", spvf_fact_name((spvf_fact)n));
        if (l->use.variant->facts >> n & 1) rt_trace_number(&t, key, 1);
    }
    rt_trace_write(&t);
}

static void launch_kernel(void *arg) {
    launch *l = arg;
    bool traced = rt_is_traced();
    find_code(l);
    count(l);
    if (traced) trace_launch(l);
    uint64_t start = rt_now_ns();
    bool ok = ir_try(l->what->cx, launch_with_code, l);
    rt_kernel_end(l->wanted.kernel, &l->use, rt_now_ns() - start);
    if (traced) rt_trace_end(0);
    if (!ok) ir_throw(l->what->cx, l->what->cx->status);
}

static void do_with_launch(const cpu_launch *what, void (*body)(void *arg)) {
    ir_ctx *cx = what->cx;
    launch l = {.what = what};
    ir_arena_init(&l.arena, cx);
    ir_arena_init(&l.output.arena, cx);
    l.output.text.arena = l.output.string.arena = &l.output.arena;
    pthread_mutex_init(&l.output.lock, NULL);
    bool ok = ir_try(cx, body, &l);
    ir_status status = cx->status;
    pthread_mutex_destroy(&l.output.lock);
    ir_arena_free(&l.output.arena);
    ir_arena_free(&l.arena);
    free(l.kept);
    if (!ok) ir_throw(cx, status);
}

void cpu_run_launch(const cpu_launch *what) { do_with_launch(what, launch_kernel); }

void cpu_prepare_launch(const cpu_launch *what) { do_with_launch(what, prepare_kernel); }
