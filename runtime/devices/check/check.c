/* check.c — the check device's devices, buffers, programs, and the way into a launch.
 *
 * A launch is refused before anything runs when the kernel uses what the device does not have
 * (images, groups wider than a work-group), or when range and arguments do not fit the kernel; each
 * refusal names what it is about.  Everything of a launch lives in its own arena; the addresses it
 * took are given back at the end.
 */
#include "runtime/devices/check/check_impl.h"

enum { MAX_SITES = 1 << 24, DEFAULT_SUBGROUP = 8, DEFAULT_GROUP = 64 };
static const uint64_t MAX_LOCAL_ARGS = UINT64_C(1) << 30; /* bytes, all arguments together */

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
    d->arena = arena;
    return d;
}

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
    for (unsigned k = 0; k < 2; k++) abandon(b->object[k], "a freed buffer");
    ir_arena arena = b->arena;
    ir_arena_free(&arena);
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

/* ------------------------------------------------------------------------------------- refusals */

IR_NORETURN IR_PRINTF(2, 3) static void refuse(const check_state *l, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(l->device->cx, (ir_message){.severity = IR_ERROR}, fmt, ap);
    va_end(ap);
    ir_throw(l->device->cx, IR_ERR_INPUT);
}

static bool is_image_op(const ir_inst *i) {
    return i->op >= IR_OP_sampler && i->op <= IR_OP_image_samples;
}

static bool is_group_op(const ir_inst *i) {
    return ir_has_flag(i, F_CONVERGENT) && i->op != IR_OP_call && i->op != IR_OP_barrier;
}

static void check_scope(const check_state *l, const ir_func *f, const ir_inst *i, unsigned scope) {
    if (i->op == IR_OP_barrier && scope == IR_SCOPE_DEVICE) return;
    if (scope != IR_SCOPE_WORKGROUP && scope != IR_SCOPE_SUBGROUP)
        refuse(l,
               "@%s: %s of a scope that is neither work-group nor sub-group is not supported by "
               "device check",
               f->name, ir_info(i)->name);
}

static void check_globals(const check_state *l, const ir_func *f, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *a = ir_arg(i, n);
        if (a->op == IR_OP_address && a->imm.global->flags & IR_FUNC_IMPORT)
            refuse(l, "@%s: @%s is imported and has no definition", f->name, a->imm.global->name);
    }
}

static void check_inst(const check_state *l, const ir_func *f, const ir_inst *i) {
    if (is_image_op(i))
        refuse(l, "@%s: %s: images are not supported by device check", f->name, ir_info(i)->name);
    if (i->op == IR_OP_barrier) check_scope(l, f, i, i->imm.sync.exec);
    if (is_group_op(i)) check_scope(l, f, i, i->imm.group.scope);
    check_globals(l, f, i);
}

/* Looks at every function that the kernel may call. */
static void check_reachable(check_state *l) {
    ir_vec(ir_func *) pending = {0};
    ir_map seen = {0};
    *ir_push(&l->arena, &pending) = l->kernel;
    ir_map_set(&l->arena, &seen, (uint64_t)(uintptr_t)l->kernel, l->kernel);
    while (pending.n) {
        ir_func *f = pending.data[--pending.n];
        foreach_block (b, f)
            foreach_inst (i, b) {
                check_inst(l, f, i);
                uint64_t key = i->op == IR_OP_call ? (uint64_t)(uintptr_t)i->imm.func : 0;
                if (!key || ir_map_get(&seen, key)) continue;
                ir_map_set(&l->arena, &seen, key, i->imm.func);
                *ir_push(&l->arena, &pending) = i->imm.func;
            }
    }
}

static void find_kernel(check_state *l) {
    check_program *p = l->program;
    ir_func *f = l->kernel = ir_func_find(p->module, l->info->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL)) refuse(l, "no kernel @%s", l->info->kernel);
    if (ir_is_declaration(f))
        refuse(l, "kernel @%s has no body%s%s", f->name, f->refusal ? ": " : "",
               f->refusal ? f->refusal : "");
    uint64_t key = (uint64_t)(uintptr_t)f;
    if (ir_map_get(&p->prepared, key)) return;
    check_reachable(l);
    ir_map_set(&p->arena, &p->prepared, key, f);
}

/* ---------------------------------------------------------------------------------------- range */

static uint64_t largest_divisor(uint64_t n, uint64_t limit) {
    uint64_t d = n < limit ? n : limit;
    while (d > 1 && n % d != 0) d--;
    return d ? d : 1;
}

static void choose_local_size(check_state *l) {
    const uint32_t *required = l->kernel->attrs.local_size;
    uint64_t room = DEFAULT_GROUP;
    for (unsigned d = 0; d < 3; d++) {
        l->local[d] = required[0] ? required[d] : largest_divisor(l->global[d], room);
        room /= l->local[d] < room ? l->local[d] : room;
    }
}

static void take_local_size(check_state *l) {
    const ir_range *r = &l->info->range;
    const uint32_t *required = l->kernel->attrs.local_size;
    for (unsigned d = 0; d < 3; d++) l->local[d] = d < r->dims ? r->local[d] : 1;
    if (!ir_has_local_size(r)) {
        choose_local_size(l);
        return;
    }
    for (unsigned d = 0; d < 3; d++) {
        if (l->local[d] == 0) refuse(l, "local size is 0 in dimension %u", d);
        if (required[0] && required[d] != l->local[d])
            refuse(l, "kernel @%s requires local size %u in dimension %u, not %llu",
                   l->kernel->name, required[d], d, (unsigned long long)l->local[d]);
    }
}

static void take_subgroup_size(check_state *l) {
    uint32_t *size = &l->options.subgroup_size, required = l->kernel->attrs.subgroup_size;
    if (*size == 0) *size = required ? required : DEFAULT_SUBGROUP;
    if (required && required != *size)
        refuse(l, "kernel @%s requires sub-groups of %u work-items, not %u", l->kernel->name,
               required, *size);
    if (*size > CHECK_MAX_SUBGROUP)
        refuse(l, "a sub-group has at most %d work-items", CHECK_MAX_SUBGROUP);
}

static void check_group_size(const check_state *l) {
    uint64_t items = 1, size = l->options.subgroup_size;
    uint32_t required = l->kernel->attrs.subgroups;
    for (unsigned d = 0; d < 3; d++) {
        if (l->local[d] > CHECK_MAX_GROUP / items)
            refuse(l, "a work-group has more than %d work-items", CHECK_MAX_GROUP);
        items *= l->local[d];
    }
    if (required && (items + size - 1) / size != required)
        refuse(l, "kernel @%s requires %u sub-groups, not %llu", l->kernel->name, required,
               (unsigned long long)((items + size - 1) / size));
}

static void take_range(check_state *l) {
    const ir_range *r = &l->info->range;
    if (r->dims < 1 || r->dims > 3) refuse(l, "an nd-range has 1 to 3 dimensions, not %u", r->dims);
    uint64_t total = 1;
    for (unsigned d = 0; d < 3; d++) {
        l->global[d] = d < r->dims ? r->global[d] : 1;
        l->offset[d] = d < r->dims ? r->offset[d] : 0;
        if (l->global[d] && total > UINT32_MAX / l->global[d])
            refuse(l, "the nd-range has 2^32 work-items or more");
        total *= l->global[d] ? l->global[d] : 1;
    }
    take_local_size(l);
    check_group_size(l);
    for (unsigned d = 0; d < 3; d++) {
        l->groups[d] = (l->global[d] + l->local[d] - 1) / l->local[d];
        if (l->global[d] % l->local[d] && !l->options.allow_non_uniform)
            refuse(l, "global size %llu is not a multiple of local size %llu in dimension %u",
                   (unsigned long long)l->global[d], (unsigned long long)l->local[d], d);
    }
}

/* ------------------------------------------------------------------------------------ arguments */

static void name_args(check_state *l) {
    const ir_func *f = l->kernel;
    l->arg_names = ir_new_array(&l->arena, const char *, f->nparams);
    for (uint32_t p = 0; p < f->nparams; p++)
        l->arg_names[p] =
            f->param[p].name ? f->param[p].name : ir_sprintf(&l->arena, "argument %u", p);
}

/* A buffer that is bound twice has both names; offsets count from the first argument. */
static void name_buffer(check_state *l, uint32_t p, check_object *o) {
    const check_arg *arg = &l->info->args[p];
    for (uint32_t k = 0; k < p; k++)
        if (l->info->args[k].buffer == arg->buffer) {
            o->name = ir_sprintf(&l->arena, "%s/%s", o->name, l->arg_names[p]);
            return;
        }
    o->name = l->arg_names[p];
    o->named_from = arg->offset;
}

static void bind_buffer(check_state *l, uint32_t p) {
    const check_arg *arg = &l->info->args[p];
    check_buffer *b = arg->buffer;
    if (arg->offset > b->size)
        refuse(l, "%s: offset %llu is outside of the buffer", l->arg_names[p],
               (unsigned long long)arg->offset);
    check_object **o = &b->object[l->wide];
    if (!*o) {
        *o = check_object_new(l->device, l->wide, b->size, CHECK_BUFFER_ALIGN);
        (*o)->store = &b->store;
        (*o)->space = IR_GLOBAL;
        (*o)->read_only = (b->flags & CHECK_BUFFER_READ_ONLY) != 0;
    }
    name_buffer(l, p, *o);
    l->args[p].bits[0] = (*o)->base + arg->offset;
}

static void bind_local(check_state *l, uint32_t p) {
    uint64_t size = l->info->args[p].size;
    if (size == 0) refuse(l, "%s: local memory of 0 bytes", l->arg_names[p]);
    if (size > MAX_LOCAL_ARGS - l->local_args)
        refuse(l, "%s: %llu bytes of local memory are too many: device check has %llu",
               l->arg_names[p], (unsigned long long)size, (unsigned long long)MAX_LOCAL_ARGS);
    l->local_args += size;
}

static void bind_pointer(check_state *l, uint32_t p) {
    const check_arg *arg = &l->info->args[p];
    ir_space space = ir_space_of(l->kernel->param_val[p]->type);
    bool takes_local = space == IR_LOCAL;
    if (space == IR_PRIVATE)
        refuse(l, "%s: a pointer to private memory cannot be an argument", l->arg_names[p]);
    if (arg->kind == IR_ARG_POINTER && !arg->buffer) return; /* NULL */
    if (arg->kind != (takes_local ? IR_ARG_LOCAL : IR_ARG_POINTER))
        refuse(l, "%s: wants %s", l->arg_names[p], takes_local ? "local memory" : "a buffer");
    if (takes_local)
        bind_local(l, p);
    else
        bind_buffer(l, p);
}

static void bind_value(check_state *l, uint32_t p) {
    const check_arg *arg = &l->info->args[p];
    const ir_module *m = l->program->module;
    ir_type t = l->kernel->param_val[p]->type;
    uint64_t size = ir_access_size(m, t), whole = ir_sizeof(m, t);
    if (arg->kind != IR_ARG_VALUE || (arg->size != size && arg->size != whole))
        refuse(l, "%s: wants a value of %llu bytes", l->arg_names[p], (unsigned long long)whole);
    unsigned lanes = ir_lanes(t), bytes = (unsigned)(size / lanes);
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned k = 0; k < bytes; k++)
            l->args[p].bits[lane] |= (uint64_t)((const uint8_t *)arg->bytes)[lane * bytes + k]
                                     << 8 * k;
}

static void bind_arg(check_state *l, uint32_t p) {
    const check_arg *arg = &l->info->args[p];
    const ir_param *param = &l->kernel->param[p];
    ir_type t = l->kernel->param_val[p]->type;
    if (ir_is_opaque(t)) refuse(l, "%s: images are not supported by device check", l->arg_names[p]);
    if (ir_is_ptr(t) && param->attrs & IR_PARAM_BYVAL) {
        if (arg->kind != IR_ARG_VALUE || arg->size != param->byval_size)
            refuse(l, "%s: wants a struct of %llu bytes", l->arg_names[p],
                   (unsigned long long)param->byval_size);
    } else if (ir_is_ptr(t)) {
        bind_pointer(l, p);
    } else {
        bind_value(l, p);
    }
}

static void bind_args(check_state *l) {
    uint32_t n = l->kernel->nparams;
    if (l->info->nargs != n)
        refuse(l, "kernel @%s takes %u arguments, not %u", l->kernel->name, n, l->info->nargs);
    if (n == 0) return;
    name_args(l);
    l->args = ir_new_array(&l->arena, ir_value, n);
    for (uint32_t p = 0; p < n; p++) bind_arg(l, p);
}

/* Names of arguments end with the launch. */
static void unname_buffers(const check_state *l) {
    for (unsigned k = 0; k < l->info->nargs; k++) {
        const check_arg *arg = &l->info->args[k];
        check_object *o = arg->buffer ? arg->buffer->object[l->wide] : NULL;
        if (!o) continue;
        o->name = "a buffer that is no argument";
        o->named_from = 0;
    }
}

/* --------------------------------------------------------------------------------------- launch */

static void launch(void *arg) {
    check_state *l = arg;
    find_kernel(l);
    take_subgroup_size(l);
    take_range(l);
    bind_args(l);
    if (l->options.only_prepare) return;
    check_run_groups(l);
    check_deliver(l);
}

bool check_run(check_program *p, const check_launch *info, check_result *out) {
    ir_ctx *cx = p->device->cx;
    check_state l = {.program = p, .info = info, .result = out, .device = p->device};
    l.wide = is_wide(p->module);
    l.number = ++p->device->launches;
    l.options = info->options;
    *out = (check_result){0};
    ir_arena_init(&l.arena, cx);
    bool ok = ir_try(cx, launch, &l);
    if (!ok) *out = (check_result){0};
    if (!ok && cx->status != IR_ERR_INPUT)
        ir_report(cx, (ir_message){.severity = IR_ERROR}, "kernel @%s: out of memory",
                  info->kernel);
    unname_buffers(&l);
    check_forget_temporary(p->device, l.wide);
    ir_arena_free(&l.arena);
    return ok;
}
