/* native_compile.c — a kernel as code of this machine: the lists of passes and the stages of the
 * target, in order.
 *
 * What the standard pipeline leaves becomes the code of a work-group, which is improved and
 * lowered; the lists of passes are in passes/pipeline.c.  The target does the rest.
 */
#include "passes/workgroup/regions.h"
#include "runtime/native/native.h"

static cg_arg describe_arg(const ir_func *f, uint32_t n) {
    const ir_module *m = f->module;
    const ir_param *p = &f->param[n];
    ir_type t = f->param_val[n]->type;
    cg_arg a = {.kind = ir_arg_kind_of(t, p), .name = p->name, .align = p->align ? p->align : 1};
    if (ir_is_opaque(t)) a.kind = IR_ARG_POINTER; /* to the object */
    if (a.kind != IR_ARG_VALUE) return a;
    bool byval = p->attrs & IR_PARAM_BYVAL;
    a.size = byval ? (uint32_t)p->byval_size : (uint32_t)ir_sizeof(m, t);
    if (!byval) a.align = (uint32_t)ir_alignof(m, t);
    return a;
}

static void describe_args(const ir_func *f, ir_arena *arena, cg_kernel *k) {
    cg_arg *args = ir_new_array(arena, cg_arg, f->nparams + 1);
    for (uint32_t n = 0; n < f->nparams; n++) args[n] = describe_arg(f, n);
    for (uint32_t n = 0; n < f->nparams && n < 32; n++)
        k->unused |= (uint32_t)!f->param_val[n]->uses << n;
    k->nargs = f->nparams;
    k->arg = args;
}

/* Symbols by the hash of their names, + 1; of equal hashes, the first. */
static ir_map list_symbols(const cg_object *o, ir_arena *scratch) {
    ir_map symbols = {0};
    for (uint32_t n = 0; n < o->symbols.n; n++) {
        const char *name = o->symbols.data[n].name;
        uint64_t hash = ir_hash(0, name, strlen(name));
        if (!ir_map_get(&symbols, hash))
            ir_map_set(scratch, &symbols, hash, (void *)((uintptr_t)n + 1));
    }
    return symbols;
}

static uint32_t symbol_of(const cg_object *o, const ir_map *symbols, const char *name) {
    uintptr_t first = (uintptr_t)ir_map_get(symbols, ir_hash(0, name, strlen(name)));
    for (uint32_t n = (uint32_t)first - 1; n < o->symbols.n; n++)
        if (!strcmp(o->symbols.data[n].name, name)) return n;
    assert(false && "a function that was compiled has a symbol");
    return 0;
}

/* A kernel on its way. */
typedef struct {
    cg_kernel kernel;
    pass_group_code code;
} progress;

static bool refuse(const cg_kernel *k, ir_ctx *cx, const char *why) {
    return ir_error(cx, "kernel '%s' cannot run on a CPU: %s", k->name, why);
}

static bool make_group(ir_func *f, const rt_native_options *o, ir_arena *arena, progress *p) {
    ir_ctx *cx = f->module->cx;
    p->kernel.name = ir_strdup(arena, f->name);
    describe_args(f, arena, &p->kernel);
    for (unsigned d = 0; d < 3; d++) {
        uint32_t required = f->attrs.local_size[d];
        p->kernel.local_size[d] = required ? required : (uint32_t)o->shape.local[d];
    }
    const char *refusal = o->only_blocks ? pass_cut_phases(f, arena, &p->kernel.phases) : NULL;
    if (refusal) return refuse(&p->kernel, cx, refusal);
    const ir_target target = o->machine->describe(o->code.level);
    pass_group_shape shape = o->shape;
    shape.subgroup = pass_subgroup_needed(f, &target);
    pass_make_group(f, &shape, arena, &p->code);
    if (p->code.refusal) return refuse(&p->kernel, cx, p->code.refusal);
    if (o->only_blocks) ir_func_remove(p->code.one);
    if (o->only_blocks) p->code.one = p->code.block;
    return true;
}

static uint32_t count_kernels(const ir_module *m) {
    uint32_t n = 0;
    foreach_func (f, m) n += (f->flags & IR_FUNC_KERNEL) != 0;
    return n;
}

/* What kernels are looked up in, when all is compiled. */
typedef struct {
    ir_map symbols;
    uint64_t *stack; /* by symbol: bytes */
} made;

static made look_up(const cg_object *o, ir_arena *scratch) {
    made m = {list_symbols(o, scratch), ir_new_array(scratch, uint64_t, o->symbols.n + 1)};
    foreach_in (const cg_frame, f, o->frames) m.stack[f->symbol] = f->stack;
    return m;
}

static void finish(const progress *p, const made *m, ir_arena *arena, cg_object *out) {
    cg_kernel *k = ir_push(arena, &out->kernels);
    *k = p->kernel;
    k->need = p->code.need;
    k->item_steps = p->code.item_steps;
    k->entry = symbol_of(out, &m->symbols, p->code.one->name);
    k->block = symbol_of(out, &m->symbols, p->code.block->name);
    uint64_t one = m->stack[k->entry], block = m->stack[k->block];
    k->stack = one > block ? one : block;
}

static bool check_imports(const ir_module *m) {
    foreach_global (g, m)
        if (g->flags & IR_FUNC_IMPORT)
            return ir_error(m->cx, "@%s is imported and has no definition", g->name);
    return true;
}

/* ----------------------------------------------------------------------------------- the stages */

typedef struct {
    ir_module *m;
    const char *name; /* of the kernel; NULL: all */
    const rt_native_options *o;
    ir_arena *arena;
    cg_object *out;
    progress *kernels; /* n */
    uint32_t n;
} compilation;

static const char *print_module(const compilation *c) {
    ir_text t = {.arena = c->arena};
    ir_print_module(&t, c->m, 0);
    return t.data;
}

/* The module at the end of a compile that stops. */
static void print_stopped(const compilation *c) {
    c->out->stopped = true;
    ir_print_module(c->o->code.listing, c->m, 0);
}

/* False: the compile ends here, after an error or because a switch says so. */
static bool run(compilation *c, const char *list) {
    const ir_target target = c->o->machine->describe(c->o->code.level);
    static const ir_inspection nothing;
    const ir_inspection *i = c->m->cx->inspection ? c->m->cx->inspection : &nothing;
    const pass_options options = {.passes = list,
                                  .bisect = -1,
                                  .target = &target,
                                  .library = &cg_math_library,
                                  .keep_calls = c->o->keep_calls || c->o->steps,
                                  .lanes = c->o->code.lanes,
                                  .verify_each = i->verify_each,
                                  .dump_after = i->dump_after,
                                  .dump_changed = i->dump_changed,
                                  .dump = i->dump,
                                  .dump_user = i->dump_user,
                                  .trace_rules = i->trace_rules,
                                  .stop_after = c->o->code.stop_after,
                                  .stopped = &c->out->stopped,
                                  .any_stage = true};
    bool ok = pass_run(c->m, &options);
    if (!ok && c->m->cx->status == IR_ERR_MEMORY) ir_throw(c->m->cx, IR_ERR_MEMORY);
    if (ok && c->out->stopped) print_stopped(c);
    return ok && !c->out->stopped;
}

/* A stage, like the passes around it. */
static bool make_groups(compilation *c) {
    ir_ctx *cx = c->m->cx;
    ir_begin_stage(cx, "regions", NULL);
    if (cx->save) cx->where.code = print_module(c);
    ir_measure before = {0};
    if (cx->counts) before = (ir_measure){*cx->counts, ir_count_all_instructions(c->m)};
    foreach_func (f, c->m) {
        cx->where.func = f;
        bool wanted = f->flags & IR_FUNC_KERNEL && (!c->name || !strcmp(f->name, c->name));
        if (wanted && !make_group(f, c->o, c->arena, &c->kernels[c->n++])) return false;
    }
    cx->where.func = NULL;
    if (cx->counts) ir_report_counts(c->m, &before, ir_count_all_instructions(c->m), c->arena);
    if (ir_is_inspected(cx))
        cx->inspection->dump(cx->inspection->dump_user, cx->where.stage, print_module(c));
    if (ir_names_stage(cx, c->o->code.stop_after)) print_stopped(c);
    ir_end_stage(cx);
    return !c->out->stopped;
}

static bool check_name(const compilation *c) {
    return !c->name || c->n || ir_error(c->m->cx, "there is no kernel '%s'", c->name);
}

/* False: an error has been reported, or a switch has stopped the compile. */
/* For code that runs so little that making it should take little. */
static bool run_quick(compilation *c) {
    return run(c, pass_quick) && make_groups(c) && check_name(c) && run(c, pass_quick_groups) &&
           run(c, pass_quick_lowering);
}

static bool run_all(compilation *c) {
    if (!run(c, pass_standard) || !run(c, pass_index_pipeline)) return false;
    if (!make_groups(c) || !check_name(c) || !run(c, pass_group_pipeline)) return false;
    if (c->o->code.lanes != 1 && !run(c, pass_vector_pipeline)) return false;
    return run(c, pass_lowering);
}

/* The same for code that a debugger follows. */
static bool run_steps(compilation *c) {
    if (!run(c, pass_steps)) return false;
    rt_show_variables(c->m);
    return run(c, "calls") && make_groups(c) && check_name(c) && run(c, pass_steps_lowering);
}

static bool compile(compilation *c) {
    *c->out = (cg_object){0};
    c->kernels = ir_new_array(c->arena, progress, count_kernels(c->m) + 1);
    if (!check_imports(c->m)) return false;
    bool ok = c->o->steps ? run_steps(c) : c->o->shape.small ? run_quick(c) : run_all(c);
    if (!ok) return false;
    if (!c->o->machine->compile(c->m, &c->o->code, c->arena, c->out)) return false;
    if (c->out->stopped) return true;
    const made all = look_up(c->out, &c->m->arena);
    for (uint32_t k = 0; k < c->n; k++) finish(&c->kernels[k], &all, c->arena, c->out);
    return true;
}

bool rt_native_compile(ir_module *m, const char *name, const rt_native_options *o, ir_arena *arena,
                       cg_object *out) {
    compilation c = {.m = m, .name = name, .o = o, .arena = arena, .out = out};
    ir_clock clock = {0};
    bool timed = o->time || (m->cx->inspection && m->cx->inspection->time);
    if (timed) m->cx->clock = &clock;
    bool ok = compile(&c) || out->stopped;
    m->cx->clock = NULL;
    if (timed) ir_report_clock(m->cx, &clock, m->name, "native code");
    return ok;
}

/* ------------------------------------------------------------------------ modules to be used up */

typedef struct {
    rt_module_body *body;
    void *user;
    ir_module *module;
} module_job;

static void run_body(void *arg) {
    module_job *j = arg;
    j->body(j->user, j->module);
}

void rt_in_new_module(ir_ctx *cx, const ir_module *from, rt_module_body *body, void *user) {
    module_job j = {body, user, ir_module_new(cx, from->name, from->pointer_bits)};
    bool ok = ir_try(cx, run_body, &j);
    ir_status status = cx->status;
    ir_module_free(j.module);
    if (!ok) ir_throw(cx, status);
}
