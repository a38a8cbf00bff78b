/* check.c — the check device's devices, buffers, programs, and the way into a launch.
 *
 * Everything of a launch is in an arena of its own; the addresses it took are given back at the
 * end.
 */
#include "runtime/devices/check/check_impl.h"

enum { MAX_SITES = 1 << 24 };
/* Addresses of this process are below. */
static const uint64_t FIRST_OF_DEVICE = UINT64_C(1) << 48;

/* -------------------------------------------------------------------------------------- devices */

typedef struct {
    ir_arena *arena;
    size_t bytes;
    void *made;
} making;

static void make_first(void *arg) {
    making *m = arg;
    m->made = ir_alloc(m->arena, m->bytes);
}

/* An object that holds its own arena; NULL when memory is short. */
static void *make_in_arena(ir_ctx *cx, ir_arena *arena, size_t bytes) {
    making m = {.arena = arena, .bytes = bytes};
    ir_arena_init(arena, cx);
    return ir_try(cx, make_first, &m) ? m.made : NULL;
}

check_device *check_device_new(ir_ctx *cx) {
    ir_arena arena;
    check_device *d = make_in_arena(cx, &arena, sizeof *d);
    if (!d) return NULL;
    d->cx = cx;
    d->space[1].start = FIRST_OF_DEVICE;
    d->arena = arena;
    return d;
}

void check_device_for_people(check_device *d) { d->for_people = true; }

void check_device_free(check_device *d) {
    if (!d) return;
    ir_arena arena = d->arena;
    ir_arena_free(&arena);
}

/* The object's owner goes; its addresses stay known for a while. */
static void abandon(check_object *o, const char *name) {
    if (!o) return;
    o->alive = false;
    o->store = NULL;
    o->name = name;
    o->origin = NULL;
}

/* -------------------------------------------------------------------------------------- buffers */

static void make_store(void *arg) {
    check_buffer *b = arg;
    b->store.cap = b->size;
    b->store.bytes = ir_alloc(&b->arena, b->size);
    b->store.undef = ir_alloc(&b->arena, b->size);
}

check_buffer *check_buffer_new(check_device *d, uint64_t size, const void *data, unsigned flags) {
    ir_arena arena;
    check_buffer *b = make_in_arena(d->cx, &arena, sizeof *b);
    if (!b) return NULL;
    *b = (check_buffer){.device = d, .arena = arena, .size = size, .flags = flags};
    if (!ir_try(d->cx, make_store, b)) {
        check_buffer_free(b);
        return NULL;
    }
    if (data)
        memcpy(b->store.bytes, data, size);
    else
        memset(b->store.undef, 1, size);
    return b;
}

void check_buffer_free(check_buffer *b) {
    if (!b) return;
    for (unsigned k = 0; k < 2; k++) {
        bool is_host = k && b->flags & CHECK_BUFFER_AT_HOST;
        abandon(b->object[k], is_host ? "shared memory" : b->origin ? b->origin : "a freed buffer");
        if (is_host && b->object[k]) b->object[k]->origin = b->origin;
    }
    ir_arena arena = b->arena;
    ir_arena_free(&arena);
}

typedef struct {
    check_buffer *buffer;
    void *host;
} wrapping;

static void wrap(void *arg) {
    const wrapping *w = arg;
    check_buffer *b = w->buffer;
    b->store.cap = b->size;
    b->store.bytes = w->host;
    b->store.undef = ir_alloc(&b->arena, b->size);
    if (!(b->flags & CHECK_BUFFER_AT_HOST)) return;
    check_object *o = ir_new(&b->device->arena, check_object);
    *o = (check_object){.base = (uint64_t)(uintptr_t)w->host,
                        .size = b->size,
                        .store = &b->store,
                        .space = IR_GLOBAL,
                        .alive = true,
                        .name = "shared memory"};
    check_host_add(b->device, o);
    b->object[1] = o;
}

check_buffer *check_buffer_wrap(check_device *d, void *host, uint64_t size, unsigned flags) {
    ir_arena arena;
    check_buffer *b = make_in_arena(d->cx, &arena, sizeof *b);
    if (!b) return NULL;
    *b = (check_buffer){.device = d, .arena = arena, .size = size, .flags = flags};
    if (ir_try(d->cx, wrap, &(wrapping){b, host})) return b;
    check_buffer_free(b);
    return NULL;
}

void check_buffer_describe(check_buffer *b, const char *origin) {
    b->origin = origin;
    for (unsigned k = 0; k < 2; k++)
        if (b->object[k]) b->object[k]->origin = origin;
}

void *check_buffer_bytes(const check_buffer *b) { return b->store.bytes; }

void check_buffer_mark(check_buffer *b, uint64_t offset, uint64_t size, bool undefined) {
    if (offset <= b->size && size <= b->size - offset)
        memset(b->store.undef + offset, undefined, size);
}

uint64_t check_buffer_size(const check_buffer *b) { return b->size; }

static bool is_inside(const check_buffer *b, uint64_t offset, uint64_t size) {
    return offset <= b->size && size <= b->size - offset;
}

bool check_buffer_write(check_buffer *b, uint64_t offset, uint64_t size, const void *data) {
    if (!is_inside(b, offset, size)) return false;
    if (size) memcpy(b->store.bytes + offset, data, size);
    memset(b->store.undef + offset, 0, size);
    return true;
}

void check_buffer_copy(check_buffer *to, const check_buffer *from) {
    assert(to->size == from->size);
    if (!to->size) return;
    memcpy(to->store.bytes, from->store.bytes, to->size);
    memcpy(to->store.undef, from->store.undef, to->size);
}

bool check_buffer_read(const check_buffer *b, uint64_t offset, uint64_t size, void *data) {
    if (!is_inside(b, offset, size)) return false;
    if (size) memcpy(data, b->store.bytes + offset, size);
    return true;
}

uint64_t check_buffer_undefined(const check_buffer *b, uint64_t offset, uint64_t size) {
    uint64_t n = 0;
    if (!is_inside(b, offset, size)) return size;
    for (uint64_t k = 0; k < size; k++) n += b->store.undef[offset + k];
    return n;
}

/* ------------------------------------------------------------------------------------- programs */

static unsigned is_wide(const ir_module *m) { return m->pointer_bits == 64; }

static void make_global_object(check_program *p, check_global *g) {
    const ir_global *ig = g->global;
    uint64_t size = ir_sizeof(p->module, ig->type);
    check_object *o =
        check_object_new(p->device, is_wide(p->module), size, ig->align ? ig->align : 1);
    o->name = g->name;
    o->space = ig->space;
    o->read_only = ig->constant || ig->space == IR_CONST;
    o->store = ir_new(&p->arena, check_storage);
    o->store->cap = size;
    o->store->bytes = ir_alloc(&p->arena, size);
    o->store->undef = ir_alloc(&p->arena, size);
    if (ig->init)
        memcpy(o->store->bytes, ig->init, size);
    else
        memset(o->store->undef, 1, size);
    g->object = o;
}

static bool lives_in_program(const ir_global *g) {
    return (g->space == IR_GLOBAL || g->space == IR_CONST) && !(g->flags & IR_FUNC_IMPORT);
}

static check_global *find_global(const check_program *p, const ir_global *g) {
    return ir_map_get(&p->global_of, (uint64_t)(uintptr_t)g);
}

/* Addresses in initializers; those of local and private memory have no value here and stay 0. */
static void relocate(const check_program *p, const check_global *g) {
    for (uint32_t k = 0; g->object && k < g->global->nreloc; k++) {
        const ir_reloc *r = &g->global->reloc[k];
        const check_object *to = find_global(p, r->global)->object;
        uint64_t address = to ? to->base + (uint64_t)r->addend : 0;
        for (unsigned b = 0; b < p->module->pointer_bits / 8; b++)
            g->object->store->bytes[r->offset + b] = (uint8_t)(address >> 8 * b);
    }
}

static void add_global(check_program *p, const ir_global *ig) {
    check_global *g = ir_new(&p->arena, check_global);
    *g = (check_global){.global = ig, .index = p->globals.n};
    g->name = ir_sprintf(&p->arena, "@%s", ig->name);
    *ir_push(&p->arena, &p->globals) = g;
    ir_map_set(&p->arena, &p->global_of, (uint64_t)(uintptr_t)ig, g);
    if (lives_in_program(ig)) make_global_object(p, g);
}

static void make_program(void *arg) {
    check_program *p = arg;
    uint64_t sites = 0;
    foreach_func (f, p->module) sites += f->next_id;
    if (sites >= MAX_SITES) ir_throw(p->device->cx, IR_ERR_LIMIT);
    p->code = ir_interp_code_new(&p->arena, p->module);
    foreach_global (g, p->module) add_global(p, g);
    for (uint32_t k = 0; k < p->globals.n; k++) relocate(p, p->globals.data[k]);
}

check_program *check_program_new(check_device *d, ir_module *m) {
    ir_arena arena;
    check_program *p = make_in_arena(d->cx, &arena, sizeof *p);
    if (!p) return NULL;
    *p = (check_program){.device = d, .arena = arena, .module = m};
    if (ir_try(d->cx, make_program, p)) return p;
    check_program_free(p);
    return NULL;
}

void check_program_free(check_program *p) {
    if (!p) return;
    for (uint32_t k = 0; k < p->globals.n; k++)
        abandon(p->globals.data[k]->object, "a global of a freed program");
    ir_arena arena = p->arena;
    ir_arena_free(&arena);
}

/* --------------------------------------------------------------------------------------- launch */

typedef struct {
    check_setup setup;
    check_state state;
} running;

static void launch(void *arg) {
    running *r = arg;
    check_set_up(&r->setup);
    if (r->setup.options.only_prepare) return;
    check_run_groups(&r->state);
    check_deliver(&r->state);
}

bool check_run(check_program *p, const check_launch *info, check_result *out) {
    ir_ctx *cx = p->device->cx;
    ir_arena arena;
    ir_arena_init(&arena, cx);
    running r = {.setup = {.program = p,
                           .info = info,
                           .arena = &arena,
                           .options = info->options,
                           .wide = is_wide(p->module)},
                 .state = {.setup = &r.setup,
                           .device = p->device,
                           .arena = &arena,
                           .number = ++p->device->launches,
                           .findings.result = out}};
    *out = (check_result){0};
    bool ok = ir_try(cx, launch, &r);
    if (!ok) *out = (check_result){0};
    if (!ok && cx->status != IR_ERR_INPUT)
        ir_report(cx, (ir_message){.severity = IR_ERROR}, "kernel @%s: out of memory",
                  info->kernel);
    check_unname_buffers(&r.setup);
    check_forget_temporary(p->device, r.setup.wide);
    ir_arena_free(&arena);
    return ok;
}
