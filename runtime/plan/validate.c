/* validate.c — does a fused group do what its members do one by one?
 *
 * Both ways start from the same contents of all buffers, including which bytes are undefined.  The
 * members run first, then the fused kernel, whose results stay.  The first element that differs is
 * reported.  Then both ways run once more, silently, while that element is watched, so that the
 * report can name the instruction that wrote it, or on devices that do not know that, the group of
 * work-items.
 *
 * Two elements are equal when their bits are, when both are NaN, and when neither has a value.
 * Internal buffers may hold anything afterwards, unless the fused kernel does not know them at all:
 * then they are as before.
 */
#include "ir/eval.h"
#include "runtime/plan/plan.h"

typedef struct {
    rt_validation *v;
    uint32_t buffer;       /* of the first difference */
    uint64_t index, count; /* its element; how many there are in all buffers */
} differences;

static uint32_t buffers(const rt_validation *v) { return v->plan->buffers.n; }

static uint64_t bytes_of(const rt_buffer_decl *b) { return b->count * rt_elem_size(b->elem); }

/* --------------------------------------------------------------------------------------- copies */

static rt_memory **make_copies(rt_validation *v) {
    rt_memory **m = ir_new_array(v->arena, rt_memory *, buffers(v));
    for (uint32_t i = 0; i < buffers(v); i++) {
        const rt_buffer_decl *b = &v->plan->buffers.data[i];
        m[i] = v->device->driver->allocate(v->device, b->name, bytes_of(b), NULL);
    }
    return m;
}

static void copy_all(const rt_validation *v, rt_memory *const *to, rt_memory *const *from) {
    for (uint32_t i = 0; i < buffers(v); i++)
        rt_device_copy(v->device, to[i], from[i], bytes_of(&v->plan->buffers.data[i]));
}

static void run(const rt_validation *v, bool fused) {
    copy_all(v, v->memory, v->before);
    v->launch(v->user, fused);
}

/* ----------------------------------------------------------------------------------- comparison */

static bool is_undefined(const rt_validation *v, const rt_memory *m, rt_elem e, uint64_t index) {
    uint64_t size = rt_elem_size(e);
    const rt_driver *d = v->device->driver;
    return d->undefined && d->undefined(v->device, m, index * size, size) != 0;
}

static uint64_t read_element(const rt_validation *v, rt_memory *m, rt_elem e, uint64_t index) {
    uint64_t bits = 0;
    rt_device_read(v->device, m, index * rt_elem_size(e), &bits, rt_elem_size(e));
    return bits;
}

static bool is_same(const rt_validation *v, rt_memory *a, rt_memory *b, rt_elem e, uint64_t k) {
    bool undefined = is_undefined(v, a, e, k);
    if (undefined || is_undefined(v, b, e, k)) return undefined == is_undefined(v, b, e, k);
    uint64_t x = read_element(v, a, e, k), y = read_element(v, b, e, k);
    bool nan = ir_is_float(e.kind) && ir_fp_is_nan(e.kind, x) && ir_fp_is_nan(e.kind, y);
    return x == y || nan;
}

/* Does the plan say so of the buffer, or of an argument? */
static bool is_internal(const rt_validation *v, uint32_t buffer) {
    bool internal = v->plan->buffers.data[buffer].internal.given;
    for (uint32_t m = 0; m < v->group->launches.n; m++) {
        const rt_plan_launch *l = &v->group->launches.data[m];
        for (uint32_t p = 0; p < l->args.n; p++)
            if (l->args.data[p].kind == RT_PLAN_BUFFER && l->args.data[p].index == buffer)
                internal |= l->args.data[p].internal.given;
    }
    return internal;
}

/* What the buffer has to hold afterwards; NULL: anything. */
static rt_memory *wanted(const rt_validation *v, uint32_t buffer) {
    if (v->unknown[buffer] && is_internal(v, buffer)) return v->before[buffer];
    return v->plan->buffers.data[buffer].internal.given ? NULL : v->unfused[buffer];
}

static void compare(differences *d, uint32_t buffer) {
    const rt_validation *v = d->v;
    const rt_buffer_decl *b = &v->plan->buffers.data[buffer];
    rt_memory *want = wanted(v, buffer);
    for (uint64_t k = 0; want && k < b->count; k++) {
        if (is_same(v, v->memory[buffer], want, b->elem, k)) continue;
        if (d->count++) continue;
        d->buffer = buffer;
        d->index = k;
    }
}

/* --------------------------------------------------------------------------------------- report */

static const char *value_text(const rt_validation *v, rt_memory *m, rt_elem e, uint64_t index) {
    ir_text t = {.arena = v->arena};
    if (is_undefined(v, m, e, index)) return "undefined";
    rt_print_element(&t, e, read_element(v, m, e, index));
    return t.data;
}

/* "written last by …" */
static const char *find_writer(const differences *d, bool fused) {
    const rt_validation *v = d->v;
    uint64_t size = rt_elem_size(v->plan->buffers.data[d->buffer].elem);
    rt_watch w = {.memory = v->memory[d->buffer], .offset = d->index * size, .bytes = size};
    ir_text t = {.arena = v->arena};
    v->device->watch = &w;
    run(v, fused);
    v->device->watch = NULL;
    ir_putf(&t, "%s last by %s", w.by_change ? "changed" : "written",
            w.writer ? w.writer : "nothing");
    return t.data;
}

static void report(const differences *d) {
    const rt_validation *v = d->v;
    const rt_buffer_decl *b = &v->plan->buffers.data[d->buffer];
    ir_ctx *cx = &v->plan->context->cx;
    const char *got = value_text(v, v->memory[d->buffer], b->elem, d->index);
    const char *want = value_text(v, wanted(v, d->buffer), b->elem, d->index);
    const char *unfused = find_writer(d, false), *fused = find_writer(d, true);
    rt_plan_at(v->plan, v->group->at);
    ir_report(cx, (ir_message){.severity = IR_ERROR},
              "group '%s': %s[%llu] is %s, %s %s\n  fused, %s\n  unfused, %s", v->group->name,
              b->name, (unsigned long long)d->index, got,
              is_internal(v, d->buffer) ? "the fused kernel must leave it" : "unfused", want, fused,
              unfused);
    if (d->count > 1)
        ir_report(cx, (ir_message){.severity = IR_NOTE}, "%llu elements differ",
                  (unsigned long long)d->count);
}

bool rt_validate(rt_validation *v) {
    rt_device *device = v->device;
    differences d = {.v = v};
    if (!v->before) v->before = make_copies(v);
    if (!v->unfused) v->unfused = make_copies(v);
    copy_all(v, v->before, v->memory);
    void (*output)(void *user, const char *text) = device->output;
    device->output = NULL; /* once is enough */
    run(v, false);
    device->output = output;
    copy_all(v, v->unfused, v->memory);
    run(v, true);
    for (uint32_t i = 0; i < buffers(v); i++) compare(&d, i);
    if (d.count) report(&d);
    return d.count == 0;
}
