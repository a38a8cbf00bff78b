/* save.c — a plan of a launch: the kernel in its module, values, and what memory holds before.
 *
 * Of launches with the same kernel, range and sizes of memory, the first one is saved.  Addresses
 * that lead to memory of a size that is not known, and NULL, become small buffers without
 * contents; an argument that begins within a buffer becomes a buffer from there on.  Devices that
 * keep no module save nothing (rt_driver.kernel).
 */
#include "runtime/devices/save.h"
#include "runtime/api/save.h"

typedef struct {
    rt_device *device;
    const rt_launch *launch;
    const ir_func *kernel;
    bool prepares; /* memory has no contents yet */
    bool follows;  /* other launches of the submission come first */
} saving;

/* ------------------------------------------------------------------------------------ arguments */

/* Bytes of memory from an address, or from an offset, on; 0: not known. */
static uint64_t bytes_of(const saving *j, const rt_arg *a) {
    const rt_driver *driver = j->device->driver;
    if (a->kind == RT_ARG_ADDRESS) return a->address ? a->size : 0;
    if (!a->memory || !driver->size) return 0;
    const uint64_t size = driver->size(a->memory);
    return size > a->offset ? size - a->offset : 0;
}

typedef struct {
    const saving *saving;
    const rt_arg *from;
    char *to;
    uint64_t bytes;
} reading;

static void read_memory(void *arg) {
    const reading *r = arg;
    rt_device_read(r->saving->device, r->from->memory, r->from->offset, r->to, r->bytes);
}

/* A device that keeps commands in order may have earlier ones to run, and reads after them. */
static const void *contents_of(const saving *j, rt_save *s, uint32_t n, uint64_t bytes) {
    const rt_arg *a = &j->launch->args[n];
    spvf_context *c = j->device->context;
    if (!bytes || j->prepares) return NULL;
    if (!rt_save_takes_contents(bytes)) {
        rt_save_comment(s, "b%u has made up contents: it has more than SPVFUSE_SAVE_BUFFER", n);
        return NULL;
    }
    if (a->kind == RT_ARG_ADDRESS) return a->address;
    if (j->device->can.host_memory && !j->device->can.in_order)
        return (const char *)j->device->driver->address(a->memory) + a->offset;
    char why[RT_CAUGHT_SIZE] = "", *caught = c->caught;
    reading r = {j, a, ir_alloc(&s->arena, bytes), bytes};
    c->caught = why;
    const bool ok = ir_try(&c->cx, read_memory, &r);
    c->caught = caught;
    if (!ok) rt_save_comment(s, "b%u has made up contents: %s", n, why);
    return ok ? r.to : NULL;
}

static bool is_undefined(const saving *j, const rt_arg *a, uint64_t bytes) {
    const rt_driver *driver = j->device->driver;
    return a->kind == RT_ARG_MEMORY && a->memory && driver->undefined && bytes &&
           driver->undefined(j->device, a->memory, a->offset, bytes) == bytes;
}

/* Is it the same memory as an earlier argument? */
static size_t first_like(const rt_launch *l, size_t n) {
    for (size_t k = 0; k < n; k++) {
        const rt_arg *a = &l->args[k], *b = &l->args[n];
        if (a->kind != b->kind) continue;
        if (a->kind == RT_ARG_ADDRESS && a->address && a->address == b->address) return k;
        if (a->kind == RT_ARG_MEMORY && a->memory && a->memory == b->memory &&
            a->offset == b->offset)
            return k;
    }
    return n;
}

static void put_buffer(const saving *j, rt_save *s, uint32_t n) {
    const rt_arg *a = &j->launch->args[n];
    const uint64_t bytes = bytes_of(j, a);
    if (first_like(j->launch, n) != n) return;
    if (!bytes) rt_save_comment(s, "b%u was NULL, or memory of a size that is not known", n);
    const rt_saved_buffer b = {.element = j->kernel->param[n].pointee,
                               .bytes = bytes ? bytes : 8,
                               .undefined = is_undefined(j, a, bytes),
                               .contents = contents_of(j, s, n, bytes),
                               .internal = ""};
    rt_save_buffer(s, n, &b);
}

static void put_declaration(const saving *j, rt_save *s, uint32_t n) {
    const rt_arg *a = &j->launch->args[n];
    if (a->kind == RT_ARG_VALUE) rt_save_value(s, n, a->bytes, a->size);
    if (a->kind == RT_ARG_MEMORY || a->kind == RT_ARG_ADDRESS) put_buffer(j, s, n);
}

static const char *argument_text(const saving *j, rt_save *s, uint32_t n) {
    const rt_arg *a = &j->launch->args[n];
    switch (a->kind) {
    case RT_ARG_VALUE: return ir_sprintf(&s->arena, "v%u", n);
    case RT_ARG_LOCAL: return ir_sprintf(&s->arena, "local %llu", (unsigned long long)a->size);
    default: return ir_sprintf(&s->arena, "b%u", (unsigned)first_like(j->launch, n));
    }
}

/* ------------------------------------------------------------------------------------- the plan */

static void write_launch(rt_save *s, void *arg) {
    const saving *j = arg;
    const char *name = j->device->name, *device = *name ? name : j->device->driver->name;
    rt_save_comment(s, "a launch of kernel '%s'", j->kernel->name);
    rt_save_comment(s, "spvfuse run -O0 -d %s THIS-FILE", device);
    if (j->follows)
        rt_save_comment(s, "it followed other launches, before which memory held these contents");
    for (uint32_t n = 0; n < j->launch->count; n++) put_declaration(j, s, n);
    rt_save_launch(s, j->kernel, j->launch->range);
    for (uint32_t n = 0; n < j->launch->count; n++)
        rt_save_arg(s, j->kernel, n, argument_text(j, s, n));
    ir_put(&s->launches, "\n");
}

/* A number for launches that have the same plan, up to contents and values. */
static uint64_t number_of(const saving *j) {
    const rt_launch *l = j->launch;
    uint64_t n = ir_hash(j->prepares, &l->function, sizeof l->function);
    n = ir_hash(n, l->range->global, sizeof l->range->global);
    n = ir_hash(n, l->range->local, sizeof l->range->local);
    for (size_t k = 0; k < l->count; k++) {
        const uint64_t bytes = l->args[k].kind == RT_ARG_VALUE ? 0 : bytes_of(j, &l->args[k]);
        n = ir_hash(n, &bytes, sizeof bytes);
    }
    return n;
}

static bool has_items(const spvf_range *r) {
    for (uint32_t d = 0; d < r->dims; d++)
        if (!r->global[d]) return false;
    return true;
}

static void save(spvf_context *c, saving *j) {
    const rt_device *d = j->device;
    const rt_launch *l = j->launch;
    if (!d->driver->kernel || d->watch || !has_items(l->range)) return;
    j->kernel = d->driver->kernel(l->function);
    if (j->kernel->nparams != l->count || !rt_save_is_new(number_of(j))) return;
    rt_save_plan(c, &(rt_save_request){.kind = "launch",
                                       .name = j->kernel->name,
                                       .replaces = !j->prepares,
                                       .write = write_launch,
                                       .arg = j});
}

void rt_save_submission(rt_device *d, const rt_submission *s) {
    bool follows = false;
    if (!rt_saves()) return;
    for (size_t n = 0; n < s->count; n++) {
        if (s->commands[n].kind != RT_COMMAND_LAUNCH) continue;
        save(s->context,
             &(saving){.device = d, .launch = &s->commands[n].launch, .follows = follows});
        follows = true;
    }
}

void rt_save_prepared_launch(rt_device *d, spvf_context *c, const rt_launch *l) {
    if (rt_saves()) save(c, &(saving){.device = d, .launch = l, .prepares = true});
}
