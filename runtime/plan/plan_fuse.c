/* plan_fuse.c — what a plan's launches mean: modules, argument bytes, and the fuse request of a
 * group.  Equal buffer names in a group are identities; numbers and scalars are constants.
 */
#include "runtime/plan/plan.h"

/* -------------------------------------------------------------------------------------- library */

static bool same_specs(const rt_plan_launch *a, const rt_plan_launch *b) {
    if (a->specs.n != b->specs.n) return false;
    for (uint32_t i = 0; i < a->specs.n; i++)
        if (a->specs.data[i].id != b->specs.data[i].id ||
            a->specs.data[i].value != b->specs.data[i].value)
            return false;
    return true;
}

static bool is_same_definition(const spvf_definition *a, const spvf_definition *b) {
    if (strcmp(a->name, b->name) != 0 || a->call_count != b->call_count) return false;
    for (size_t n = 0; n < a->call_count; n++)
        if (strcmp(a->calls[n], b->calls[n]) != 0) return false;
    return true;
}

static bool same_definitions(const rt_plan_launch *a, const rt_plan_launch *b) {
    if (a->definitions.n != b->definitions.n) return false;
    for (uint32_t n = 0; n < a->definitions.n; n++)
        if (!is_same_definition(&a->definitions.data[n], &b->definitions.data[n])) return false;
    return true;
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Do both launch kernels of one file, read in one way? */
static bool is_same_module(const rt_plan_launch *a, const rt_plan_launch *b) {
    return strcmp(a->path, b->path) == 0 && is_same_text(a->layout, b->layout) &&
           is_same_text(a->build, b->build) && is_same_text(a->usual_build, b->usual_build) &&
           same_specs(a, b) && same_definitions(a, b);
}

const char *rt_plan_path(const spvf_plan *plan, ir_arena *a, const char *path) {
    if (path[0] == '/' || !plan->folder[0]) return path;
    return ir_sprintf(a, "%s/%s", plan->folder, path);
}

static bool is_opencl_c(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".cl") == 0;
}

/* Options for OpenCL C, or NULL: the file is no OpenCL C. */
static const char *build_options(const rt_plan_launch *l) {
    if (l->build || !is_opencl_c(l->path)) return l->build;
    return l->usual_build ? l->usual_build : "";
}

/* What the launch declares of its module. */
static spvf_layout read_layout(const rt_library *lib, const rt_plan_launch *l) {
    size_t size;
    const char *path = rt_plan_path(lib->plan, lib->arena, l->layout);
    const char *text = rt_read_file(lib->plan->context, lib->arena, path, &size);
    if (memchr(text, 0, size)) rt_plan_fail(lib->plan, l->at, "'%s' is no text", l->layout);
    return (spvf_layout){.size = sizeof(spvf_layout), .text = text, .text_name = path};
}

static void load(rt_library *lib, const rt_plan_launch *l) {
    spvf_plan *plan = lib->plan;
    size_t size;
    uint64_t start = rt_now_ns();
    const char *path = rt_plan_path(plan, lib->arena, l->path);
    char *bytes = rt_read_file(plan->context, lib->arena, path, &size);
    spvf_module_options o = {.size = sizeof o,
                             .specs = l->specs.data,
                             .spec_count = l->specs.n,
                             .closures = true,
                             .opencl_c = build_options(l),
                             .definitions = l->definitions.data,
                             .definition_count = l->definitions.n};
    const spvf_layout layout = l->layout ? read_layout(lib, l) : (spvf_layout){0};
    if (l->layout) o.layout = &layout;
    rt_loaded *known = ir_new(lib->arena, rt_loaded);
    *known = (rt_loaded){.first = l};
    *ir_push(lib->arena, &lib->loaded) = known;
    spvf_status status = spvf_module_load(plan->context, path, bytes, size, &o, &known->module);
    if (status == SPVF_OK) lib->definitions += o.definition_count;
    if (status == SPVF_OK) lib->answers += rt_answer_queries(known->module->ir, &lib->reflection);
    if (status == SPVF_OK && !lib->no_optimize)
        status = spvf_module_optimize(known->module, lib->passes);
    if (status == SPVF_ERROR_MEMORY) ir_throw(&plan->context->cx, IR_ERR_MEMORY);
    if (status != SPVF_OK) rt_plan_fail(plan, l->at, "'%s' cannot be used", l->path);
    lib->read_ns += rt_now_ns() - start;
}

rt_loaded *rt_library_get(rt_library *lib, const rt_plan_launch *l) {
    for (uint32_t i = 0; i < lib->loaded.n; i++) {
        rt_loaded *known = lib->loaded.data[i];
        if (is_same_module(known->first, l)) return known;
    }
    load(lib, l);
    return lib->loaded.data[lib->loaded.n - 1];
}

void rt_library_free(rt_library *lib) {
    for (uint32_t i = 0; i < lib->loaded.n; i++) spvf_module_destroy(lib->loaded.data[i]->module);
    lib->loaded.n = 0;
}

/* ------------------------------------------------------------------------------------ arguments */

/* Braces are around the members of each struct with pointers, and around nothing else. */
static void check_braces(const rt_library *lib, const rt_plan_launch *l, const ir_func *f) {
    for (uint32_t i = 0; i < f->nparams; i++) {
        const ir_param *p = &f->param[i];
        const rt_plan_arg *a = &l->args.data[i];
        bool begins = i == 0 || p[-1].closure != p->closure;
        bool opens = i == 0 || a[-1].closure != a->closure;
        if (p->closure && (!a->closure || begins != opens))
            rt_plan_fail(lib->plan, a->at,
                         "parameter %u of kernel '%s' is a struct with pointers: this member, at "
                         "byte %llu, is given %s",
                         p->closure - 1, l->kernel, (unsigned long long)p->offset,
                         !a->closure ? "without braces"
                         : begins    ? "in the braces of another one"
                                     : "in braces of its own");
        if (!p->closure && a->closure)
            rt_plan_fail(lib->plan, a->at,
                         "in braces are the members of a struct with pointers, which kernel '%s' "
                         "does not take here",
                         l->kernel);
    }
}

/* Plans do not give padding: it is 0, as a further argument. */
static void add_padding(const rt_library *lib, rt_plan_launch *l, const ir_func *f) {
    const rt_plan_arg zero = {.at = {RT_NUMBER, "0", 1, l->at.line, l->at.column},
                              .kind = RT_PLAN_LITERAL,
                              .padding = true};
    for (uint32_t i = 0; i < f->nparams && i <= l->args.n; i++) {
        if (!(f->param[i].attrs & IR_PARAM_PADDING)) continue;
        if (i < l->args.n && l->args.data[i].padding) continue;
        const uint32_t behind = l->args.n - i;
        const bool first = !i || f->param[i - 1].closure != f->param[i].closure;
        ir_push(&lib->plan->arena, &l->args);
        rt_plan_arg *at = &l->args.data[i];
        memmove(at + 1, at, behind * sizeof *at);
        *at = zero;
        at->closure = !first ? at[-1].closure : behind ? at[1].closure : 0;
    }
}

static const ir_func *kernel_of(const rt_library *lib, const rt_plan_launch *l,
                                const spvf_module *m) {
    const ir_func *f = ir_func_find(m->ir, l->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_plan_fail(lib->plan, l->at, "'%s' has no kernel '%s'", l->path, l->kernel);
    if (f->refusal) rt_plan_fail(lib->plan, l->at, "kernel '%s': %s", l->kernel, f->refusal);
    add_padding(lib, (rt_plan_launch *)(uintptr_t)l, f); /* the plan's */
    if (f->nparams != l->args.n)
        rt_plan_fail(lib->plan, l->at, "kernel '%s' has %u arguments, %u are given", l->kernel,
                     f->nparams, l->args.n);
    check_braces(lib, l, f);
    return f;
}

static rt_elem elem_of(ir_type t, bool negative) {
    return (rt_elem){ir_kind_of(t), negative,
                     ir_is_float(t) ? "the parameter's type" : "the parameter's integer type"};
}

/* A literal as the bytes of a scalar parameter; booleans take a byte. */
static void literal_bytes(const spvf_plan *plan, const rt_plan_arg *a, ir_type t, void *bytes) {
    if (ir_is_ptr(t) || ir_is_vector(t))
        rt_plan_fail(plan, a->at,
                     "this parameter takes a vector or a struct: declare a scalar "
                     "with its elements and pass that");
    uint64_t bits = rt_literal(plan, a->at, a->negative, elem_of(t, a->negative));
    memcpy(bytes, &bits, sizeof bits);
}

static void scalar_bytes(const spvf_plan *plan, const rt_plan_arg *a, const rt_value_type *want,
                         void *bytes) {
    const rt_scalar *s = &plan->scalars.data[a->index];
    if (s->size != want->size && s->size != want->packed_size)
        rt_plan_fail(plan, a->at, "'%s' has %zu bytes, the parameter has %llu", s->name, s->size,
                     (unsigned long long)want->size);
    memcpy(bytes, s->bytes, s->size);
}

/* The bytes of a by-value argument, in the run's arena. */
static const void *value_bytes(const rt_library *lib, const rt_plan_arg *a, const ir_func *f,
                               uint32_t param, size_t *size) {
    ir_type t = f->param_val[param]->type;
    spvf_arg_info info = rt_arg_info(f->module, t, &f->param[param]);
    rt_value_type want = {info.size, ir_is_ptr(t) ? info.size : ir_access_size(f->module, t)};
    void *bytes = ir_alloc(lib->arena, info.size + sizeof(uint64_t));
    if (a->kind == RT_PLAN_EMPTY && info.size)
        rt_plan_fail(lib->plan, a->at, "'{}' has no bytes, the parameter has %llu",
                     (unsigned long long)info.size);
    if (a->kind == RT_PLAN_SCALAR)
        scalar_bytes(lib->plan, a, &want, bytes);
    else if (a->kind == RT_PLAN_LITERAL)
        literal_bytes(lib->plan, a, t, bytes);
    *size = info.size;
    return bytes;
}

static bool fits_kind(const rt_plan_arg *a, spvf_arg_kind kind) {
    switch (kind) {
    case SPVF_ARG_BUFFER: return a->kind == RT_PLAN_BUFFER;
    case SPVF_ARG_LOCAL: return a->kind == RT_PLAN_LOCAL;
    case SPVF_ARG_VALUE: return a->kind >= RT_PLAN_SCALAR && a->kind <= RT_PLAN_EMPTY;
    default: return false;
    }
}

static void check_kind(const spvf_plan *plan, const rt_plan_arg *a, spvf_arg_kind kind) {
    static const char *const wants[] = {"a buffer", "'local' and a size", "a value",
                                        "an image, which plans cannot make",
                                        "a sampler, which plans cannot make"};
    if (!fits_kind(a, kind)) rt_plan_fail(plan, a->at, "the kernel takes %s here", wants[kind]);
}

/* A mark is of the kernel, and so of its other launches in the plan, too. */
static void take_mark(const rt_library *lib, const rt_plan_launch *l, spvf_module *m, uint32_t n) {
    const rt_plan_arg *a = &l->args.data[n];
    ir_func *f = ir_func_find(m->ir, l->kernel);
    if (a->specialized && !rt_mark_param(f, n))
        rt_plan_fail(lib->plan, a->at, "only values can be specialized");
    if (a->variable && a->kind == RT_PLAN_BUFFER)
        rt_plan_fail(lib->plan, a->at, "only values can be variable");
}

rt_bound_launch rt_bind(rt_library *lib, const rt_plan_launch *l) {
    rt_plan_at(lib->plan, l->at);
    rt_loaded *loaded = rt_library_get(lib, l);
    rt_bound_launch b = {.launch = l, .loaded = loaded};
    b.kernel = kernel_of(lib, l, loaded->module);
    b.args = ir_new_array(lib->arena, rt_bound_arg, l->args.n);
    for (uint32_t i = 0; i < l->args.n; i++) {
        const rt_plan_arg *a = &l->args.data[i];
        spvf_arg_info info =
            rt_arg_info(loaded->module->ir, b.kernel->param_val[i]->type, &b.kernel->param[i]);
        check_kind(lib->plan, a, info.kind);
        take_mark(lib, l, loaded->module, i);
        b.args[i].arg = a;
        b.args[i].size = a->bytes;
        if (info.kind == SPVF_ARG_VALUE)
            b.args[i].bytes = value_bytes(lib, a, b.kernel, i, &b.args[i].size);
    }
    return b;
}

/* -------------------------------------------------------------------------------------- request */

typedef struct {
    ir_vec(spvf_member) members;
    ir_vec(spvf_identity) identities, overlaps;
    ir_vec(spvf_constant) constants;
    ir_vec(spvf_promotion) promotions;
} request;

typedef struct {
    uint32_t member, param;
} place;

static bool is_before(place a, place b) {
    return a.member != b.member ? a.member < b.member : a.param < b.param;
}

static bool is_same(const rt_plan_arg *a, const rt_plan_arg *b) {
    return a->kind == b->kind && a->index == b->index && a->offset == b->offset &&
           a->variable == b->variable;
}

/* The first place in the group where a buffer, from the same byte on, or a scalar is given. */
static place first_use(const rt_group *g, const rt_plan_arg *a) {
    for (uint32_t m = 0; m < g->launches.n; m++)
        for (uint32_t p = 0; p < g->launches.data[m].args.n; p++)
            if (is_same(&g->launches.data[m].args.data[p], a)) return (place){m, p};
    return (place){0, 0};
}

static bool is_first_use(const rt_group *g, place at) {
    const place first = first_use(g, &g->launches.data[at.member].args.data[at.param]);
    return !is_before(first, at);
}

/* Those of the buffer before it that begin at other bytes. */
static void add_overlaps(rt_library *lib, request *r, const rt_group *g, place at) {
    const rt_plan_arg *a = &g->launches.data[at.member].args.data[at.param];
    for (place e = {0, 0}; e.member <= at.member; e = (place){e.member + 1, 0})
        for (; e.param < g->launches.data[e.member].args.n && is_before(e, at); e.param++) {
            const rt_plan_arg *b = &g->launches.data[e.member].args.data[e.param];
            if (b->kind == RT_PLAN_BUFFER && b->index == a->index && is_first_use(g, e))
                *ir_push(lib->arena, &r->overlaps) =
                    (spvf_identity){e.member, e.param, at.member, at.param};
        }
}

/* What the plan says of a buffer, or of one argument that is the buffer. */
static void add_promotion(rt_library *lib, request *r, place at, const rt_plan_arg *a,
                          bool accessor) {
    const rt_buffer_decl *b = &lib->plan->buffers.data[a->index];
    const rt_internal *i = accessor ? &a->internal : &b->internal;
    spvf_promotion p = {.member = at.member,
                        .param = at.param,
                        .kind = i->kind,
                        .accessor = accessor,
                        .assume = i->assume,
                        .elements = b->count,
                        .element_size = (uint32_t)rt_elem_size(b->elem)};
    if (!i->given) return;
    if (a->offset)
        rt_plan_fail(lib->plan, a->at,
                     "'%s' is internal, and so an argument as a whole: without 'at'", b->name);
    *ir_push(lib->arena, &r->promotions) = p;
}

/* False: it is the argument's first use. */
static bool add_identity(rt_library *lib, request *r, const rt_group *g, place at) {
    const place first = first_use(g, &g->launches.data[at.member].args.data[at.param]);
    if (is_before(first, at))
        *ir_push(lib->arena, &r->identities) =
            (spvf_identity){first.member, first.param, at.member, at.param};
    return is_before(first, at);
}

static void add_arg(rt_library *lib, request *r, const rt_group *g, place at,
                    const rt_bound_arg *a) {
    if (a->arg->kind == RT_PLAN_BUFFER) {
        if (!add_identity(lib, r, g, at)) {
            add_promotion(lib, r, at, a->arg, false);
            add_overlaps(lib, r, g, at);
        }
        add_promotion(lib, r, at, a->arg, true);
    } else if (a->arg->variable && a->arg->kind == RT_PLAN_SCALAR) {
        add_identity(lib, r, g, at);
    } else if (a->bytes && !a->arg->variable) {
        *ir_push(lib->arena, &r->constants) =
            (spvf_constant){at.member, at.param, a->bytes, a->size};
    }
}

static void add_launch(rt_library *lib, request *r, const rt_group *g, uint32_t member,
                       const rt_bound_launch *b) {
    const rt_plan_launch *l = b->launch;
    if (l->uneven)
        rt_plan_fail(lib->plan, l->at, "in a group, launches have whole work-groups: no 'uneven'");
    *ir_push(lib->arena, &r->members) = (spvf_member){b->loaded->module, l->kernel, l->range};
    for (uint32_t p = 0; p < l->args.n; p++) add_arg(lib, r, g, (place){member, p}, &b->args[p]);
}

spvf_status rt_fuse_group(rt_library *lib, const rt_group_request *to, rt_group_result *out) {
    request r = {0};
    const rt_group *g = to->group;
    *out = (rt_group_result){ir_new_array(lib->arena, rt_bound_launch, g->launches.n), NULL, NULL};
    for (uint32_t m = 0; m < g->launches.n; m++) {
        out->bound[m] = rt_bind(lib, &g->launches.data[m]);
        add_launch(lib, &r, g, m, &out->bound[m]);
    }
    spvf_fuse_options o = {.size = sizeof o,
                           .name = g->name,
                           .members = r.members.data,
                           .member_count = r.members.n,
                           .identities = r.identities.data,
                           .identity_count = r.identities.n,
                           .overlaps = r.overlaps.data,
                           .overlap_count = r.overlaps.n,
                           .constants = r.constants.data,
                           .constant_count = r.constants.n,
                           .promotions = r.promotions.data,
                           .promotion_count = r.promotions.n,
                           .barrier = g->barrier,
                           .force = g->force,
                           .known_range = true,
                           .phases = g->phases && to->phases,
                           .serial = to->serial,
                           .lanes = to->lanes,
                           .strict = to->strict,
                           .no_optimize = lib->no_optimize,
                           .passes = lib->passes};
    rt_plan_at(lib->plan, g->at);
    return rt_fuse(lib->plan->context, &o, &out->fusion, to->explains ? &out->refusal : NULL);
}

/* ----------------------------------------------------------------------------- groups of a plan */

const rt_group *rt_group_at(const spvf_plan *plan, size_t index) {
    for (uint32_t i = 0; i < plan->stmts.n; i++)
        if (plan->stmts.data[i].kind == RT_GROUP && index-- == 0) return &plan->stmts.data[i].group;
    return NULL;
}

const char *spvf_plan_group_name(const spvf_plan *plan, size_t index) {
    for (uint32_t i = 0; plan && i < plan->stmts.n; i++)
        if (plan->stmts.data[i].kind == RT_GROUP && index-- == 0)
            return plan->stmts.data[i].group.name;
    return NULL;
}

const char *spvf_plan_module_file(const spvf_plan *plan, size_t index) {
    for (uint32_t i = 0; plan && i < plan->stmts.n; i++) {
        const rt_stmt *s = &plan->stmts.data[i];
        uint32_t launches = s->kind <= RT_GROUP ? s->group.launches.n : 0;
        if (index < launches) return s->group.launches.data[index].path;
        index -= launches;
    }
    return NULL;
}

size_t spvf_plan_group_count(const spvf_plan *plan) {
    size_t n = 0;
    for (uint32_t i = 0; plan && i < plan->stmts.n; i++) n += plan->stmts.data[i].kind == RT_GROUP;
    return n;
}

rt_arg rt_device_arg(const rt_bound_arg *a, rt_memory *buffer) {
    switch (a->arg->kind) {
    case RT_PLAN_BUFFER: return rt_memory_arg(buffer, a->arg->offset);
    case RT_PLAN_LOCAL: return rt_local_arg(a->size);
    default: return rt_value_arg(a->bytes, a->size);
    }
}
