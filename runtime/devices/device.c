/* device.c — devices by name, running one command, and what drivers share.
 *
 * A submission that is pending ends on a thread of its device.  `rt_device_run` waits for that.
 */
#include "runtime/devices/device.h"
#include "runtime/devices/save.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static const rt_driver *const drivers[] = {
#define DEVICE(name) &rt_##name##_driver,
#include "runtime/devices/devices.def"
#undef DEVICE
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

/* ----------------------------------------------------------------------------- opening, listing */

IR_NORETURN static void refuse_name(spvf_context *context, const char *name) {
    char forms[400] = "";
    for (unsigned n = 0; n < DRIVERS; n++) {
        size_t at = strlen(forms);
        snprintf(forms + at, sizeof forms - at, "%s%s", n ? ", " : "", drivers[n]->forms);
    }
    rt_throw(context, IR_ERR_ARGUMENT, "unknown device '%s': %s", name, forms);
}

rt_device *rt_device_open(spvf_context *context, const char *name) {
    for (unsigned n = 0; n < DRIVERS; n++) {
        size_t length = strlen(drivers[n]->name);
        if (strncmp(name, drivers[n]->name, length) != 0) continue;
        if (name[length] && name[length] != ':') continue;
        rt_device *d = drivers[n]->open(context, name[length] ? name + length + 1 : NULL);
        if (d) snprintf(d->name, sizeof d->name, "%s", name);
        if (d) return d;
    }
    refuse_name(context, name);
}

rt_bytes rt_assemble_by_driver(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm,
                               const char **why_not) {
    rt_bytes code = {NULL, 0};
    for (unsigned n = 0; n < DRIVERS && !code.size; n++)
        if (drivers[n]->assemble) code = drivers[n]->assemble(context, a, text, sm, why_not);
    return code;
}

const spvf_capabilities rt_can_nothing = {0};
const spvf_device_sizes rt_no_sizes = {0};

typedef struct {
    spvf_context *context;
    void (*each)(void *user, const spvf_device_info *info);
    void *user;
} list_job;

static void list_devices(void *arg) {
    const list_job *j = arg;
    for (unsigned n = 0; n < DRIVERS; n++) drivers[n]->list(j->context, j->each, j->user);
}

spvf_status spvf_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    if (!context || !each) return rt_refuse_call(context, __func__, "each is NULL");
    list_job j = {context, each, user};
    return rt_guard(context, list_devices, &j);
}

/* ---------------------------------------------------------------------------------- one command */

typedef struct {
    rt_submission submission; /* the first member */
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool has_ended;
    ir_status status;
    char why[RT_CAUGHT_SIZE];
} waiting;

static void note_end(rt_submission *s, ir_status status, const char *why) {
    waiting *w = (waiting *)s;
    rt_trace_end_of(s, status);
    pthread_mutex_lock(&w->lock);
    w->status = status;
    snprintf(w->why, sizeof w->why, "%s", why ? why : "");
    w->has_ended = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

static void await_end(waiting *w) {
    pthread_mutex_lock(&w->lock);
    while (!w->has_ended) pthread_cond_wait(&w->change, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    if (w->status != IR_OK) rt_throw(w->submission.context, w->status, "%s", w->why);
}

void rt_device_run(rt_device *d, const rt_command *command) {
    waiting w; /* which is large: what has an initial value is set here */
    w.submission =
        (rt_submission){.context = d->context, .commands = command, .count = 1, .ended = note_end};
    w.has_ended = false;
    w.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    w.change = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    rt_save_submission(d, &w.submission);
    if (rt_device_submit(d, &w.submission) == RT_ENDED) return;
    rt_device_await(d, &w.submission);
    await_end(&w);
}

uint64_t rt_new_recording(void) {
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void rt_device_launch(rt_device *d, const rt_launch *l) {
    rt_device_run(d, &(rt_command){.kind = RT_COMMAND_LAUNCH, .launch = *l});
}

void rt_device_copy(rt_device *d, rt_memory *to, rt_memory *from, uint64_t bytes) {
    const rt_copy copy = {.from = {.memory = from}, .to = {.memory = to}, .region = {bytes, 1, 1}};
    rt_device_run(d, &(rt_command){.kind = RT_COMMAND_COPY, .copy = copy});
}

void rt_device_read(rt_device *d, rt_memory *from, uint64_t offset, void *to, uint64_t bytes) {
    const rt_copy copy = {
        .from = {.memory = from, .offset = offset}, .to = {.bytes = to}, .region = {bytes, 1, 1}};
    rt_device_run(d, &(rt_command){.kind = RT_COMMAND_COPY, .copy = copy});
}

/* ------------------------------------------------------------------ whether a device can run it */

bool rt_can_run(spvf_context *c, void (*prepare)(void *arg), void *arg, char *why) {
    why[0] = 0;
    c->caught = why;
    bool ok = ir_try(&c->cx, prepare, arg);
    c->caught = NULL;
    if (ok) return true;
    ir_status status = c->cx.status;
    if (status == IR_ERR_INTERNAL) rt_throw(c, status, "%s", why);
    if (status == IR_ERR_MEMORY) ir_throw(&c->cx, status);
    if (!why[0]) snprintf(why, RT_CAUGHT_SIZE, "the device does not say why");
    return false;
}

typedef struct {
    rt_device *device;
    const spvf_fusion *fusion;
    const rt_arg *args;
    rt_function *function;
} building;

rt_function *rt_prepare_fusion(rt_device *d, const spvf_fusion *f, const rt_arg *args) {
    const spvf_fusion_info *i = spvf_fusion_get_info(f);
    rt_program *p = rt_device_build(d, spvf_fusion_module(f)->ir);
    rt_function *function = d->driver->find(d, p, i->name);
    const rt_launch l = {function, &i->range, args, i->arg_count, .uneven = false};
    if (d->driver->prepare) d->driver->prepare(d, d->context, &l);
    return function;
}

static void build(void *arg) {
    building *b = arg;
    b->function = rt_prepare_fusion(b->device, b->fusion, b->args);
}

rt_function *rt_build_fusion(rt_device *d, spvf_fusion *f, const rt_arg *args) {
    char why[RT_CAUGHT_SIZE];
    building b = {d, f, args, NULL};
    if (rt_can_run(d->context, build, &b, why)) return b.function;
    rt_fusion_refuse(f, why);
    return NULL;
}

void rt_explain_phases(rt_device *d, spvf_fusion *f, rt_function *function, const rt_arg *args) {
    const spvf_fusion_info *i = spvf_fusion_get_info(f);
    const rt_launch l = {function, &i->range, args, i->arg_count, .uneven = false};
    rt_phase_way way;
    if (d->driver->phases && d->driver->phases(d, &l, &way))
        rt_fusion_decide(f, way.rule, way.text);
}

/* ------------------------------------------------------------------------------------ arguments */

size_t rt_arg_block_size(size_t count, size_t value_bytes) {
    return count * sizeof(rt_arg) + value_bytes + RT_VALUE_ALIGN;
}

rt_arg_block rt_place_args(void *at, size_t count) {
    rt_arg *args = at;
    uintptr_t end = (uintptr_t)(args + count);
    uintptr_t values = (end + RT_VALUE_ALIGN - 1) & ~(uintptr_t)(RT_VALUE_ALIGN - 1);
    return (rt_arg_block){args, (unsigned char *)values};
}

/* -------------------------------------------------------------------------- objects of a device */

void rt_own(rt_owned **list, rt_owned *o) {
    o->next = *list;
    o->at = list;
    if (o->next) o->next->at = &o->next;
    *list = o;
}

void rt_disown(rt_owned *o) {
    *o->at = o->next;
    if (o->next) o->next->at = o->at;
}

void *rt_new_owned(spvf_context *c, rt_owned **list, size_t size) {
    rt_owned *o = calloc(1, size);
    if (!o) ir_throw(&c->cx, IR_ERR_MEMORY);
    rt_own(list, o);
    return o;
}

/* ------------------------------------------------------------------------------- bytes in boxes */

static uint64_t row_offset(const rt_box *b, const size_t region[3], size_t row) {
    return row / region[1] * b->slice + row % region[1] * b->row;
}

void rt_each_row(const rt_copy *c, void (*each)(void *user, uint64_t to, uint64_t from),
                 void *user) {
    const size_t *region = c->region;
    for (size_t n = 0; n < region[1] * region[2]; n++)
        each(user, row_offset(&c->to, region, n), row_offset(&c->from, region, n));
}

void rt_copy_rows(char *to, const char *from, const rt_copy *c) {
    const size_t *region = c->region;
    for (size_t n = 0; n < region[1] * region[2]; n++)
        memmove(to + row_offset(&c->to, region, n), from + row_offset(&c->from, region, n),
                region[0]);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* What has been filled is copied on, in pieces that a first-level cache holds. */
void rt_repeat_pattern(char *to, const rt_fill *f) {
    enum { PIECE = 4096 };
    if (f->size) memcpy(to, f->pattern, f->pattern_size);
    for (size_t n, done = f->pattern_size; done < f->size; done += n) {
        n = smaller(smaller(done, PIECE), f->size - done);
        memcpy(to + done, to, n);
    }
}

/* --------------------------------------------------------------------------------------- values */

const rt_arg *rt_value_given(const ir_func *f, const rt_launch *l, uint32_t param) {
    const rt_arg *a = &l->args[param];
    spvf_arg_info info = rt_arg_info(f->module, f->param_val[param]->type, &f->param[param]);
    return a->kind == RT_ARG_VALUE && a->size == info.size ? a : NULL;
}

rt_constants rt_marked_values(const ir_func *f, const rt_launch *l, ir_arena *a) {
    const uint32_t n = f->nparams < l->count ? f->nparams : (uint32_t)l->count;
    uint32_t marked = 0;
    for (uint32_t p = 0; p < n; p++) marked += (f->param[p].attrs & IR_PARAM_SPECIALIZED) != 0;
    if (!marked) return (rt_constants){0};
    rt_constant *list = ir_new_array(a, rt_constant, marked);
    marked = 0;
    for (uint32_t p = 0; p < n; p++) {
        if (!(f->param[p].attrs & IR_PARAM_SPECIALIZED)) continue;
        const rt_arg *value = rt_value_given(f, l, p);
        if (value) list[marked++] = (rt_constant){p, value->size, value->bytes};
    }
    return (rt_constants){list, marked};
}
