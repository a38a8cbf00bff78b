/* check_setup.c — what a launch asks for, checked before anything runs.
 *
 * A launch is refused when the kernel uses what the device does not have (images, groups wider than
 * a work-group), or when range and arguments do not fit the kernel; each refusal names what it is
 * about.  A local size that the caller leaves open is chosen here.
 */
#include "runtime/devices/check/check_impl.h"

enum { DEFAULT_SUBGROUP = 8, DEFAULT_GROUP = 64 };
static const uint64_t MAX_LOCAL_ARGS = UINT64_C(1) << 30; /* bytes, all arguments together */

/* ------------------------------------------------------------------------------------- refusals */

IR_NORETURN IR_PRINTF(2, 3) static void refuse(const check_setup *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(s->program->device->cx, (ir_message){.severity = IR_ERROR}, fmt, ap);
    va_end(ap);
    ir_throw(s->program->device->cx, IR_ERR_INPUT);
}

static bool is_group_op(const ir_inst *i) {
    return ir_has_flag(i, F_CONVERGENT) && i->op != IR_OP_call && i->op != IR_OP_barrier;
}

static void check_scope(const check_setup *s, const ir_func *f, const ir_inst *i, unsigned scope) {
    if (i->op == IR_OP_barrier && scope == IR_SCOPE_DEVICE) return;
    if (scope != IR_SCOPE_WORKGROUP && scope != IR_SCOPE_SUBGROUP)
        refuse(s,
               "@%s: %s of a scope that is neither work-group nor sub-group is not supported by "
               "device check",
               f->name, ir_info(i)->name);
}

static void check_globals(const check_setup *s, const ir_func *f, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *a = ir_arg(i, n);
        if (a->op == IR_OP_address && a->imm.global->flags & IR_FUNC_IMPORT)
            refuse(s, "@%s: @%s is imported and has no definition", f->name, a->imm.global->name);
    }
}

static void check_inst(const check_setup *s, const ir_func *f, const ir_inst *i) {
    if (ir_is_image_op((ir_op)i->op))
        refuse(s, "@%s: %s: images are not supported by device check", f->name, ir_info(i)->name);
    if (i->op == IR_OP_barrier) check_scope(s, f, i, i->imm.sync.exec);
    if (is_group_op(i)) check_scope(s, f, i, i->imm.group.scope);
    check_globals(s, f, i);
}

/* Looks at every function that the kernel may call. */
static void check_reachable(check_setup *s) {
    ir_vec(ir_func *) pending = {0};
    ir_map seen = {0};
    *ir_push(s->arena, &pending) = s->kernel;
    ir_map_set(s->arena, &seen, (uint64_t)(uintptr_t)s->kernel, s->kernel);
    while (pending.n) {
        ir_func *f = pending.data[--pending.n];
        foreach_block (b, f)
            foreach_inst (i, b) {
                check_inst(s, f, i);
                uint64_t key = i->op == IR_OP_call ? (uint64_t)(uintptr_t)i->imm.func : 0;
                if (!key || ir_map_get(&seen, key)) continue;
                ir_map_set(s->arena, &seen, key, i->imm.func);
                *ir_push(s->arena, &pending) = i->imm.func;
            }
    }
}

static void find_kernel(check_setup *s) {
    check_program *p = s->program;
    ir_func *f = s->kernel = ir_func_find(p->module, s->info->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL)) refuse(s, "no kernel @%s", s->info->kernel);
    if (ir_is_declaration(f))
        refuse(s, "kernel @%s has no body%s%s", f->name, f->refusal ? ": " : "",
               f->refusal ? f->refusal : "");
    uint64_t key = (uint64_t)(uintptr_t)f;
    if (ir_map_get(&p->prepared, key)) return;
    check_reachable(s);
    ir_map_set(&p->arena, &p->prepared, key, f);
}

/* ---------------------------------------------------------------------------------------- range */

static uint64_t largest_divisor(uint64_t n, uint64_t limit) {
    uint64_t d = n < limit ? n : limit;
    while (d > 1 && n % d != 0) d--;
    return d ? d : 1;
}

static void choose_local_size(check_setup *s) {
    const uint32_t *required = s->kernel->attrs.local_size;
    uint64_t room = DEFAULT_GROUP;
    for (unsigned d = 0; d < 3; d++) {
        s->local[d] = required[0] ? required[d] : largest_divisor(s->global[d], room);
        room /= s->local[d] < room ? s->local[d] : room;
    }
}

static void take_local_size(check_setup *s) {
    const ir_range *r = &s->info->range;
    const uint32_t *required = s->kernel->attrs.local_size;
    for (unsigned d = 0; d < 3; d++) s->local[d] = d < r->dims ? r->local[d] : 1;
    if (!ir_has_local_size(r)) {
        choose_local_size(s);
        return;
    }
    for (unsigned d = 0; d < 3; d++) {
        if (s->local[d] == 0) refuse(s, "local size is 0 in dimension %u", d);
        if (required[0] && required[d] != s->local[d])
            refuse(s, "kernel @%s requires local size %u in dimension %u, not %llu",
                   s->kernel->name, required[d], d, (unsigned long long)s->local[d]);
    }
}

static void take_subgroup_size(check_setup *s) {
    uint32_t *size = &s->options.subgroup_size, required = s->kernel->attrs.subgroup_size;
    if (*size == 0) *size = required ? required : DEFAULT_SUBGROUP;
    if (required && required != *size && !s->options.any_subgroup_size)
        refuse(s, "kernel @%s requires sub-groups of %u work-items, not %u", s->kernel->name,
               required, *size);
    if (*size > CHECK_MAX_SUBGROUP)
        refuse(s, "a sub-group has at most %d work-items", CHECK_MAX_SUBGROUP);
}

static void check_group_size(const check_setup *s) {
    uint64_t items = 1, size = s->options.subgroup_size;
    uint32_t required = s->kernel->attrs.subgroups;
    for (unsigned d = 0; d < 3; d++) {
        if (s->local[d] > CHECK_MAX_GROUP / items)
            refuse(s, "a work-group has more than %d work-items", CHECK_MAX_GROUP);
        items *= s->local[d];
    }
    if (required && (items + size - 1) / size != required)
        refuse(s, "kernel @%s requires %u sub-groups, not %llu", s->kernel->name, required,
               (unsigned long long)((items + size - 1) / size));
}

static void take_range(check_setup *s) {
    const ir_range *r = &s->info->range;
    if (r->dims < 1 || r->dims > 3) refuse(s, "an nd-range has 1 to 3 dimensions, not %u", r->dims);
    uint64_t total = 1;
    for (unsigned d = 0; d < 3; d++) {
        s->global[d] = d < r->dims ? r->global[d] : 1;
        s->offset[d] = d < r->dims ? r->offset[d] : 0;
        if (s->global[d] && total > UINT32_MAX / s->global[d])
            refuse(s, "the nd-range has 2^32 work-items or more");
        total *= s->global[d] ? s->global[d] : 1;
    }
    take_local_size(s);
    check_group_size(s);
    for (unsigned d = 0; d < 3; d++) {
        s->groups[d] = (s->global[d] + s->local[d] - 1) / s->local[d];
        if (s->global[d] % s->local[d] && !s->options.allow_non_uniform)
            refuse(s, "global size %llu is not a multiple of local size %llu in dimension %u",
                   (unsigned long long)s->global[d], (unsigned long long)s->local[d], d);
    }
}

/* ------------------------------------------------------------------------------------ arguments */

static void name_args(check_setup *s) {
    const ir_func *f = s->kernel;
    s->arg_names = ir_new_array(s->arena, const char *, f->nparams);
    for (uint32_t p = 0; p < f->nparams; p++)
        s->arg_names[p] =
            f->param[p].name ? f->param[p].name : ir_sprintf(s->arena, "argument %u", p);
}

/* A buffer that is bound twice has both names; offsets count from the first argument. */
static void name_buffer(const check_setup *s, uint32_t p, check_object *o) {
    const check_arg *arg = &s->info->args[p];
    for (uint32_t k = 0; k < p; k++)
        if (s->info->args[k].buffer == arg->buffer) {
            o->name = ir_sprintf(s->arena, "%s/%s", o->name, s->arg_names[p]);
            return;
        }
    o->name = s->arg_names[p];
    o->named_from = arg->offset;
}

static ir_value buffer_value(const check_setup *s, uint32_t p) {
    const check_arg *arg = &s->info->args[p];
    check_buffer *b = arg->buffer;
    if (arg->offset > b->size)
        refuse(s, "%s: offset %llu is outside of the buffer", s->arg_names[p],
               (unsigned long long)arg->offset);
    check_object **o = &b->object[s->wide];
    if (!*o) {
        *o = check_object_new(s->program->device, s->wide, b->size, CHECK_BUFFER_ALIGN);
        (*o)->store = &b->store;
        (*o)->space = IR_GLOBAL;
        (*o)->read_only = (b->flags & CHECK_BUFFER_READ_ONLY) != 0;
        (*o)->origin = b->origin;
    }
    name_buffer(s, p, *o);
    return (ir_value){.bits = {(*o)->base + arg->offset}};
}

static void check_struct(const check_setup *s, uint32_t p) {
    const check_arg *arg = &s->info->args[p];
    uint64_t size = s->kernel->param[p].byval_size;
    if (arg->kind != IR_ARG_VALUE || arg->size != size)
        refuse(s, "%s: wants a struct of %llu bytes", s->arg_names[p], (unsigned long long)size);
}

/* A struct by value that is in constant memory, which the launch has for it. */
static ir_value spilled_value(const check_setup *s, uint32_t p) {
    const check_arg *arg = &s->info->args[p];
    const uint32_t align = s->kernel->param[p].align;
    check_struct(s, p);
    check_object *o = check_object_new(s->program->device, s->wide, arg->size, align ? align : 1);
    o->store = ir_new(s->arena, check_storage);
    o->store->cap = arg->size;
    o->store->bytes = memcpy(ir_alloc(s->arena, arg->size), arg->bytes, arg->size);
    o->store->undef = ir_alloc(s->arena, arg->size);
    o->space = IR_CONST;
    o->read_only = o->temporary = true;
    o->name = s->arg_names[p];
    return (ir_value){.bits = {o->base}};
}

/* Addresses of local memory are those of a group. */
static ir_value pointer_value(const check_setup *s, uint32_t p) {
    const check_arg *arg = &s->info->args[p];
    if (arg->kind == IR_ARG_VALUE && s->kernel->param[p].attrs & IR_PARAM_SPILLED)
        return spilled_value(s, p);
    ir_space space = ir_space_of(s->kernel->param_val[p]->type);
    bool takes_local = space == IR_LOCAL;
    if (space == IR_PRIVATE)
        refuse(s, "%s: a pointer to private memory cannot be an argument", s->arg_names[p]);
    if (arg->kind == IR_ARG_POINTER && !arg->buffer) return (ir_value){.bits = {arg->offset}};
    if (arg->kind != (takes_local ? IR_ARG_LOCAL : IR_ARG_POINTER))
        refuse(s, "%s: wants %s", s->arg_names[p], takes_local ? "local memory" : "a buffer");
    if (!takes_local) return buffer_value(s, p);
    if (arg->size == 0) refuse(s, "%s: local memory of 0 bytes", s->arg_names[p]);
    return (ir_value){0};
}

static ir_value plain_value(const check_setup *s, uint32_t p) {
    const check_arg *arg = &s->info->args[p];
    const ir_module *m = s->program->module;
    ir_type t = s->kernel->param_val[p]->type;
    uint64_t size = ir_access_size(m, t), whole = ir_sizeof(m, t);
    if (arg->kind != IR_ARG_VALUE || (arg->size != size && arg->size != whole))
        refuse(s, "%s: wants a value of %llu bytes", s->arg_names[p], (unsigned long long)whole);
    unsigned lanes = ir_lanes(t), bytes = (unsigned)(size / lanes);
    const uint8_t *at = arg->bytes;
    ir_value v = {0};
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned k = 0; k < bytes; k++) v.bits[lane] |= (uint64_t)*at++ << 8 * k;
    return v;
}

/* What an argument is for all work-items, or zeros. */
static ir_value arg_value(const check_setup *s, uint32_t p) {
    ir_type t = s->kernel->param_val[p]->type;
    if (ir_is_opaque(t)) refuse(s, "%s: images are not supported by device check", s->arg_names[p]);
    if (!ir_is_ptr(t)) return plain_value(s, p);
    if (!(s->kernel->param[p].attrs & IR_PARAM_BYVAL)) return pointer_value(s, p);
    check_struct(s, p); /* each work-item has a copy */
    return (ir_value){0};
}

static void check_local_memory(const check_setup *s) {
    uint64_t left = MAX_LOCAL_ARGS;
    for (uint32_t p = 0; p < s->kernel->nparams; p++) {
        const check_arg *arg = &s->info->args[p];
        uint64_t size = arg->kind == IR_ARG_LOCAL ? arg->size : 0;
        if (size > left)
            refuse(s, "%s: %llu bytes of local memory are too many: device check has %llu",
                   s->arg_names[p], (unsigned long long)size, (unsigned long long)MAX_LOCAL_ARGS);
        left -= size;
    }
}

static void bind_args(check_setup *s) {
    uint32_t n = s->kernel->nparams;
    if (s->info->nargs != n)
        refuse(s, "kernel @%s takes %u arguments, not %u", s->kernel->name, n, s->info->nargs);
    if (n == 0) return;
    name_args(s);
    ir_value *args = ir_new_array(s->arena, ir_value, n);
    for (uint32_t p = 0; p < n; p++) args[p] = arg_value(s, p);
    check_local_memory(s);
    s->args = args;
}

void check_unname_buffers(const check_setup *s) {
    for (unsigned k = 0; k < s->info->nargs; k++) {
        const check_arg *arg = &s->info->args[k];
        check_object *o = arg->buffer ? arg->buffer->object[s->wide] : NULL;
        if (!o) continue;
        o->name = "a buffer that is no argument";
        o->named_from = 0;
    }
}

void check_set_up(check_setup *s) {
    find_kernel(s);
    take_subgroup_size(s);
    take_range(s);
    bind_args(s);
}
