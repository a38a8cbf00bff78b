/* save.c — plans of launches: kernels in their modules, values, and what memory holds before.
 *
 * Launches that follow each other in a submission are one plan, as only the first of them finds
 * memory as it is now.  Of those with the same kernels, ranges and sizes of memory, the first ones
 * are saved; a context remembers all.  Arguments that reach the same memory are given one buffer,
 * and begin `at` bytes of it.
 * Addresses that lead to memory of a size that is not known, and NULL, become small buffers
 * without contents.  Devices that keep no module save nothing (rt_driver.kernel).
 */
#include "runtime/devices/save.h"
#include "runtime/api/save.h"

enum { MOST_LAUNCHES = 1024 };

/* Memory that arguments reach, from the first of them on to its end. */
typedef struct {
    rt_memory *memory;   /* NULL: of this process */
    uint64_t begin, end; /* offsets in the memory, or addresses */
    uint32_t name;       /* number of an argument, */
    ir_type element;     /* and what it points to */
} region;

typedef struct {
    rt_device *device;
    const rt_command *launches;
    size_t count;
    bool prepares; /* memory has no contents yet */
    bool follows;  /* other commands of the submission come first */
    ir_vec(region) regions;
} saving;

static const rt_launch *launch_at(const saving *j, size_t n) { return &j->launches[n].launch; }

static const ir_func *kernel_at(const saving *j, size_t n) {
    return j->device->driver->kernel(launch_at(j, n)->function);
}

/* -------------------------------------------------------------------------------------- regions */

/* Bytes of memory from an address, or from an offset, on; 0: not known. */
static uint64_t bytes_of(const rt_device *d, const rt_arg *a) {
    if (a->kind == RT_ARG_ADDRESS) return a->address ? a->size : 0;
    if (a->kind != RT_ARG_MEMORY || !a->memory || !d->driver->size) return 0;
    const uint64_t size = d->driver->size(a->memory);
    return size > a->offset ? size - a->offset : 0;
}

/* What the argument reaches; without bytes if that is not known. */
static region reach_of(const rt_device *d, const rt_arg *a) {
    const uint64_t bytes = bytes_of(d, a);
    region r = {.begin = a->offset, .end = a->offset + bytes};
    if (!bytes) return (region){.begin = 0};
    if (a->kind == RT_ARG_ADDRESS)
        r.begin = (uintptr_t)a->address;
    else if (d->can.host_memory)
        r.begin = (uintptr_t)d->driver->address(a->memory) + a->offset;
    else
        r.memory = a->memory;
    r.end = r.begin + bytes;
    return r;
}

static bool is_in(const region *a, const region *b) {
    return a->memory == b->memory && a->begin >= b->begin && a->end <= b->end;
}

/* With all regions that overlap it, which it replaces. */
static void add_region(saving *j, rt_save *s, region r) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < j->regions.n; n++)
        if (is_in(&r, &j->regions.data[n])) return;
    for (uint32_t n = 0; n < j->regions.n; n++) {
        const region *old = &j->regions.data[n];
        if (r.memory != old->memory ||
            (!r.memory && (r.begin >= old->end || old->begin >= r.end))) {
            j->regions.data[kept++] = *old;
            continue;
        }
        if (old->name < r.name || old->begin < r.begin) r.element = old->element;
        if (old->name < r.name) r.name = old->name;
        if (old->begin < r.begin) r.begin = old->begin;
        if (old->end > r.end) r.end = old->end;
    }
    j->regions.n = kept;
    *ir_push(&s->arena, &j->regions) = r;
}

static void find_regions(saving *j, rt_save *s) {
    uint32_t name = 0;
    for (size_t k = 0; k < j->count; k++)
        for (size_t n = 0; n < launch_at(j, k)->count; n++, name++) {
            region r = reach_of(j->device, &launch_at(j, k)->args[n]);
            r.name = name;
            r.element = kernel_at(j, k)->param[n].pointee;
            if (r.end > r.begin) add_region(j, s, r);
        }
}

/* Where the argument begins; NULL: it is not known what it reaches. */
static const region *region_of(const saving *j, const rt_arg *a, uint64_t *offset) {
    const region r = reach_of(j->device, a);
    for (uint32_t n = 0; n < j->regions.n && r.end > r.begin; n++) {
        if (!is_in(&r, &j->regions.data[n])) continue;
        *offset = r.begin - j->regions.data[n].begin;
        return &j->regions.data[n];
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------- contents */

typedef struct {
    rt_device *device;
    const region *from;
    char *to;
} reading;

static void read_memory(void *arg) {
    const reading *r = arg;
    rt_device_read(r->device, r->from->memory, r->from->begin, r->to,
                   r->from->end - r->from->begin);
}

/* The device may have earlier commands to run, and reads after them. */
static const void *read_region(const saving *j, rt_save *s, const region *r) {
    spvf_context *c = j->device->context;
    char why[RT_CAUGHT_SIZE] = "", *caught = c->caught;
    reading job = {j->device, r, ir_alloc(&s->arena, r->end - r->begin)};
    c->caught = why;
    const bool ok = ir_try(&c->cx, read_memory, &job);
    c->caught = caught;
    if (!ok) rt_save_comment(s, "b%u has made up contents: %s", r->name, why);
    return ok ? job.to : NULL;
}

static const void *contents_of(const saving *j, rt_save *s, const region *r) {
    if (j->prepares) return NULL;
    if (!rt_save_takes_contents(s, r->end - r->begin)) {
        rt_save_comment(s, "b%u has made up contents: it has more bytes than %s", r->name,
                        s->past ? "remember_contents" : "SPVFUSE_SAVE_BUFFER");
        return NULL;
    }
    return r->memory ? read_region(j, s, r) : (const void *)(uintptr_t)r->begin;
}

static bool is_undefined(const saving *j, const region *r) {
    const rt_driver *driver = j->device->driver;
    const uint64_t bytes = r->end - r->begin;
    return r->memory && driver->undefined &&
           driver->undefined(j->device, r->memory, r->begin, bytes) == bytes;
}

static void put_region(const saving *j, rt_save *s, const region *r) {
    const rt_saved_buffer b = {.element = r->element,
                               .bytes = r->end - r->begin,
                               .undefined = is_undefined(j, r),
                               .contents = contents_of(j, s, r),
                               .internal = ""};
    rt_save_buffer(s, r->name, &b);
}

/* ------------------------------------------------------------------------------------- launches */

/* The number of the argument among those of all launches, and where it is. */
typedef struct {
    uint32_t name;
    const ir_func *kernel;
    const rt_launch *launch;
    uint32_t param;
} argument;

static void put_unknown(rt_save *s, const argument *a) {
    rt_save_comment(s, "b%u was NULL, or memory of a size that is not known", a->name);
    rt_save_buffer(s, a->name,
                   &(rt_saved_buffer){
                       .element = a->kernel->param[a->param].pointee, .bytes = 8, .internal = ""});
}

static void put_declaration(const saving *j, rt_save *s, const argument *at) {
    const rt_arg *a = &at->launch->args[at->param];
    uint64_t offset;
    if (a->kind == RT_ARG_VALUE) rt_save_value(s, at->name, a->bytes, a->size);
    if (a->kind != RT_ARG_MEMORY && a->kind != RT_ARG_ADDRESS) return;
    const region *r = region_of(j, a, &offset);
    if (!r)
        put_unknown(s, at);
    else if (r->name == at->name)
        put_region(j, s, r);
}

static const char *argument_text(const saving *j, rt_save *s, const argument *at) {
    const rt_arg *a = &at->launch->args[at->param];
    uint64_t offset = 0;
    if (a->kind == RT_ARG_VALUE) return ir_sprintf(&s->arena, "v%u", at->name);
    if (a->kind == RT_ARG_LOCAL)
        return ir_sprintf(&s->arena, "local %llu", (unsigned long long)a->size);
    const region *r = region_of(j, a, &offset);
    if (!offset) return ir_sprintf(&s->arena, "b%u", r ? r->name : at->name);
    return ir_sprintf(&s->arena, "b%u at %llu", r->name, (unsigned long long)offset);
}

static void put_launch(const saving *j, rt_save *s, argument *at) {
    const rt_launch *l = at->launch;
    const uint32_t first = at->name;
    for (at->param = 0; at->param < l->count; at->param++, at->name++) put_declaration(j, s, at);
    rt_save_launch(s, at->kernel, l->range, l->uneven);
    at->name = first;
    for (at->param = 0; at->param < l->count; at->param++, at->name++)
        rt_save_arg(s, at->kernel, at->param, argument_text(j, s, at));
    ir_put(&s->launches, "\n");
}

/* ------------------------------------------------------------------------------------- the plan */

static void write_launches(rt_save *s, void *arg) {
    saving *j = arg;
    const char *name = j->device->name, *device = *name ? name : j->device->driver->name;
    if (j->count == 1)
        rt_save_comment(s, "a launch of kernel '%s'", kernel_at(j, 0)->name);
    else
        rt_save_comment(s, "%zu launches, the first one of kernel '%s'", j->count,
                        kernel_at(j, 0)->name);
    rt_save_comment(s, "spvfuse run -O0 -d %s THIS-FILE", device);
    if (j->follows)
        rt_save_comment(s, "it followed other commands, before which memory held these contents");
    for (size_t n = 0; n < j->count; n++) rt_save_module(s, kernel_at(j, n)->module);
    memset(&j->regions, 0, sizeof j->regions);
    find_regions(j, s);
    argument at = {.name = 0};
    for (size_t n = 0; n < j->count; n++) {
        at.kernel = kernel_at(j, n);
        at.launch = launch_at(j, n);
        put_launch(j, s, &at);
    }
}

/* A number for launches that have the same plan, up to contents and values. */
static uint64_t add_number(const rt_device *d, uint64_t n, const rt_launch *l) {
    n = ir_hash(n, &l->function, sizeof l->function);
    n = ir_hash(n, l->range->global, sizeof l->range->global);
    n = ir_hash(n, l->range->local, sizeof l->range->local);
    for (size_t k = 0; k < l->count; k++) {
        const uint64_t bytes = bytes_of(d, &l->args[k]);
        n = ir_hash(n, &bytes, sizeof bytes);
    }
    return n;
}

static uint64_t number_of(const saving *j) {
    uint64_t number = j->prepares;
    for (size_t n = 0; n < j->count; n++) number = add_number(j->device, number, launch_at(j, n));
    return number;
}

static void save(spvf_context *c, saving *j) {
    const bool in_folder = rt_saves() && rt_save_is_new(number_of(j));
    rt_past *past = j->prepares ? NULL : j->device->context->past;
    if (!in_folder && !past) return;
    rt_save_plan(c, &(rt_save_request){.in_folder = in_folder,
                                       .past = past,
                                       .numbered = !j->prepares,
                                       .kind = j->count == 1 ? "launch" : "launches",
                                       .name = kernel_at(j, 0)->name,
                                       .replaces = !j->prepares,
                                       .write = write_launches,
                                       .arg = j});
}

static bool can_be_saved(const rt_device *d, const rt_command *c) {
    const rt_launch *l = &c->launch;
    if (c->kind != RT_COMMAND_LAUNCH) return false;
    for (uint32_t k = 0; k < l->range->dims; k++)
        if (!l->range->global[k]) return false;
    return d->driver->kernel(l->function)->nparams == l->count;
}

void rt_save_submission(rt_device *d, const rt_submission *s) {
    if (!rt_is_saved(d) || !d->driver->kernel || d->watch) return;
    for (size_t n = 0, count; n < s->count; n += count ? count : 1) {
        for (count = 0; n + count < s->count && count < MOST_LAUNCHES; count++)
            if (!can_be_saved(d, &s->commands[n + count])) break;
        if (count)
            save(s->context,
                 &(saving){
                     .device = d, .launches = &s->commands[n], .count = count, .follows = n != 0});
    }
}

void rt_save_prepared_launch(rt_device *d, spvf_context *c, const rt_launch *l) {
    const rt_command command = {.kind = RT_COMMAND_LAUNCH, .launch = *l};
    if (!rt_saves() || !d->driver->kernel || d->watch || !can_be_saved(d, &command)) return;
    save(c, &(saving){.device = d, .launches = &command, .count = 1, .prepares = true});
}
