/* cpu_program.c — programs of device cpu: their variables, their kernels, and the code of those,
 * which is made when a launch asks for it.
 */
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- programs */

static bool has_globals(const ir_module *m) {
    foreach_global (g, m)
        if (g->space != IR_LOCAL) return true;
    return false;
}

/* The program's constants and variables come to be, and last as long as it does. */
static void load_globals(const cpu_machine *machine, rt_program *p) {
    rt_native_options options = {.machine = cg_host_machine(), .code = machine->options.code};
    cg_object object;
    rt_code code;
    rt_cpu_compile_globals(p->module, &options, &p->arena, &object);
    ir_status status = rt_code_load(&object, NULL, &code);
    if (status != IR_OK) {
        ir_error(p->arena.cx, "cpu: '%s': there is no room for its variables", p->module->name);
        ir_throw(p->arena.cx, status);
    }
    p->globals.code = code;
    p->globals = rt_code_variables(&code, &object, &p->arena);
}

void cpu_program_init(rt_program *p, const cpu_machine *machine, const ir_module *m) {
    p->machine = machine;
    p->module = m;
    ir_arena_init(&p->arena, m->cx);
    if (m->pointer_bits != 64) {
        ir_error(m->cx, "cpu: '%s' has pointers of %u bits, the device of 64", m->name,
                 m->pointer_bits);
        ir_throw(m->cx, IR_ERR_DEVICE);
    }
    if (has_globals(m)) load_globals(machine, p);
}

void cpu_program_clear(rt_program *p) {
    for (rt_function *f = p->functions; f; f = f->next) {
        rt_kernel_free(&f->code);
        rt_constants_free(&f->constants);
    }
    rt_code_unload(&p->globals.code);
    cpu_unload_images(p);
    ir_arena_free(&p->arena);
}

/* Blocks come after those that dominate them, so loops have branches to earlier ones. */
static bool may_repeat(const ir_func *f, ir_arena *scratch) {
    uint32_t *number = ir_new_array(scratch, uint32_t, f->next_block), n = 0;
    foreach_block (b, f) {
        number[b->id] = ++n;
        for (uint32_t k = 0; k < b->nsucc; k++)
            if (number[b->succ[k]->id]) return true;
        foreach_inst (i, b)
            if (i->op == IR_OP_call) return true;
    }
    return false;
}

rt_function *cpu_find_function(rt_program *p, const char *name) {
    ir_ctx *cx = p->module->cx;
    for (rt_function *f = p->functions; f; f = f->next)
        if (strcmp(f->ir->name, name) == 0) return f;
    const ir_func *ir = ir_func_find(p->module, name);
    if (!ir || !(ir->flags & IR_FUNC_KERNEL)) {
        ir_error(cx, "no kernel @%s", name);
        ir_throw(cx, IR_ERR_DEVICE);
    }
    if (ir_is_declaration(ir))
        cpu_refuse(cx, ir, "it has no body%s%s", ir->refusal ? ": " : "",
                   ir->refusal ? ir->refusal : "");
    rt_function *f = ir_new(&p->arena, rt_function);
    f->ir = ir;
    f->observes_groups = pass_observes_groups(ir, &p->arena);
    f->repeats = may_repeat(ir, &p->arena);
    if (!f->observes_groups)
        f->order = pass_find_inner(ir, p->machine->options.code.lanes != 1, &p->arena);
    f->program = p;
    rt_kernel_init(&f->code);
    rt_constants_init(&f->constants);
    cpu_take_image(f);
    f->next = p->functions;
    p->functions = f;
    return f;
}

/* ----------------------------------------------------------------------------------------- code */

typedef struct {
    const cpu_launch *launch;
    rt_native_options options;
    ir_arena arena;
    rt_variant *out;
    rt_entry entry;         /* of the cache */
    ir_global_list globals; /* of the kernel, which the entry counts */
    bool done;
} compilation;

static void load(compilation *c, const cg_object *o) {
    const rt_function *k = c->launch->launch->function;
    const rt_variables *globals = &k->program->globals;
    ir_status status = rt_code_load(o, globals->n ? globals : NULL, &c->out->code);
    if (status != IR_OK) {
        ir_error(c->arena.cx, "kernel @%s: there is no room for its code", k->ir->name);
        ir_throw(c->arena.cx, status);
    }
    const rt_tools *tools = &c->launch->machine->tools;
    if (rt_are_told(tools)) rt_code_announce(&c->out->code, o, tools, c->arena.cx);
}

/* Debuggers and profiles want names, which entries do not have; values are those of this run; an
 * inspection looks at code that is being made. */
static bool is_cached(const compilation *c) {
    const cpu_machine *m = c->launch->machine;
    bool inspected = c->arena.cx->inspection;
    return m->cache.folder >= 0 && !rt_are_told(&m->tools) && !c->options.values && !inspected;
}

static bool find_object(compilation *c, cg_object *o) {
    const cpu_machine *m = c->launch->machine;
    if (!is_cached(c)) return false;
    rt_key key = rt_key_of(cpu_kernel_of(c->launch), &c->options, &c->arena, &c->globals);
    rt_entry_begin(&m->cache, &key, &c->entry);
    return c->entry.bytes &&
           rt_object_read(c->entry.bytes, c->entry.size, &c->globals, &c->arena, o);
}

static void keep_object(compilation *c, const cg_object *o) {
    ir_text bytes = {.arena = &c->arena};
    if (!c->entry.claimed) return;
    rt_object_write(o, &c->globals, &bytes);
    rt_entry_write(&c->entry, bytes.data, bytes.n, c->arena.cx);
}

static void make_object(compilation *c, cg_object *o) {
    if (find_object(c, o)) return;
    c->launch->machine->options.compile(cpu_kernel_of(c->launch), &c->options, &c->arena, o);
    keep_object(c, o);
}

static void compile(void *arg) {
    compilation *c = arg;
    cg_object object = {0};
    make_object(c, &object);
    load(c, &object);
    const cg_kernel *k = &object.kernels.data[0];
    void *block = rt_code_symbol(&c->out->code, &object, k->block);
    memcpy(&c->out->run, &block, sizeof block); /* ISO C has no cast */
    c->out->need = k->need;
    c->out->stack = k->stack;
    c->out->phases = k->phases;
    c->out->item_steps = k->item_steps;
    c->out->shape = c->options.shape;
    c->out->facts = rt_facts_of(&c->options.shape, c->options.values);
    if (!(c->launch->machine->options.without & RT_FACT(UNUSED))) c->out->unused = k->unused;
    if (c->out->unused) c->out->facts |= RT_FACT(UNUSED);
    if (c->options.constants.n) c->out->facts |= RT_FACT(SPECIALIZED);
}

static void try_to_compile(void *arg) {
    compilation *c = arg;
    c->done = ir_try(c->arena.cx, compile, c);
}

/* Compiling goes deeper than a launch, and the thread may have little stack. */
static ir_status compile_on_own_stack(compilation *c) {
    if (!rt_stack_run_deep(try_to_compile, c)) return IR_ERR_MEMORY;
    return c->done ? IR_OK : c->arena.cx->status;
}

/* What rt_kernel_begin hands through. */
typedef struct {
    const cpu_launch *launch;
    const cpu_wanted *wanted;
} request;

static void trace_begin(const compilation *c) {
    const pass_group_shape *s = &c->options.shape;
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "build", "compile kernel");
    rt_trace_text(&t, "spvfuse.kernel.name", c->launch->launch->function->ir->name);
    if (s->local[0]) rt_trace_sizes(&t, "spvfuse.range.local_size", s->local, 3);
    if (c->options.values)
        rt_trace_number(&t, "spvfuse.code.values",
                        (unsigned)__builtin_popcount(c->options.values->known));
    rt_trace_write(&t);
}

static void trace_end(const compilation *c, ir_status status) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    rt_trace_text(&t, "spvfuse.code.origin", c->entry.bytes ? "cache" : "compiler");
    rt_trace_number(&t, "spvfuse.code.bytes", c->out->code.bytes);
    if (status != IR_OK) rt_trace_text(&t, "error.type", spvf_status_name((spvf_status)status));
    rt_trace_write(&t);
}

static ir_status compile_variant(void *user, const pass_group_shape *shape, const rt_values *values,
                                 rt_variant *out) {
    const request *r = user;
    const cpu_launch *l = r->launch;
    compilation c = {.launch = l,
                     .options = {.shape = *shape,
                                 .only_blocks = true,
                                 .machine = cg_host_machine(),
                                 .code = l->machine->options.code,
                                 .values = values,
                                 .constants = r->wanted->constants,
                                 .keep_calls = l->machine->options.keep_calls},
                     .out = out};
    c.options.shape.inner = l->launch->function->order.inner;
    c.options.shape.transposes = l->launch->function->order.transposes;
    c.options.shape.small |= l->machine->options.quick;
    if (c.options.shape.small) cpu_make_quickly(l->machine, &c.options.code);
    c.options.code.lines = rt_are_told(&l->machine->tools);
    c.options.steps = cpu_is_stepped(l);
    ir_arena_init(&c.arena, l->cx);
    bool traced = rt_is_traced();
    if (traced) trace_begin(&c);
    uint64_t start = rt_now_ns();
    ir_status status = compile_on_own_stack(&c);
    if (traced) trace_end(&c, status);
    l->counts->compile_ns += rt_now_ns() - start;
    l->counts->variants += status == IR_OK;
    rt_entry_end(&c.entry);
    ir_arena_free(&c.arena);
    out->shape.small = shape->small; /* code of a device where all of it is made quickly stays */
    if (status != IR_OK) {
        rt_code_unload(&out->code);
        *out = (rt_variant){0};
    }
    return status;
}

/* ------------------------------------------------------- code that another thread makes for it */

/* Its own copy of what compile_variant needs.  The function, with its module, and the machine
 * outlast it: freeing the kernel waits for its end. */
typedef struct {
    rt_later base; /* the first member */
    spvf_context context;
    ir_arena arena;
    pass_group_shape shape;
    rt_launch launch; /* nothing but its function */
    cpu_launch what;
    cpu_wanted wanted; /* nothing but constants */
} cpu_later;

/* What has been cancelled gets no more memory. */
static void *allocate_unless_cancelled(void *user, size_t bytes) {
    const cpu_later *l = user;
    return l->base.job.cancelled ? NULL : malloc(bytes);
}

static void release_memory(void *user, void *block) {
    (void)user;
    free(block);
}

static void make_later(rt_job *j) {
    cpu_later *l = (cpu_later *)j;
    rt_compiled *made = &l->base.made;
    const request r = {&l->what, &l->wanted};
    uint64_t start = rt_now_ns();
    ir_status status = compile_variant((void *)(uintptr_t)&r, &l->shape, NULL, &made->variant);
    made->ns = rt_now_ns() - start;
    made->state = status == IR_OK ? RT_COMPILED : RT_FAILED;
}

static void free_later(rt_later *base) {
    cpu_later *l = (cpu_later *)base;
    ir_arena_free(&l->arena);
    free(l);
}

/* The values of a launch end with it. */
static void copy_constants(void *arg) {
    cpu_later *l = arg;
    const rt_constants from = l->wanted.constants;
    rt_constant *list = ir_new_array(&l->arena, rt_constant, from.n);
    for (uint32_t n = 0; n < from.n; n++) {
        list[n] = from.list[n];
        list[n].bytes = ir_dup(&l->arena, list[n].bytes, list[n].size);
    }
    l->wanted.constants.list = list;
}

/* Where memory is counted, code is looked at while it is made, or tools are told of it, launches
 * make it. */
static bool is_for_later(const cpu_launch *l) {
    const ir_ctx *cx = l->cx;
    bool counted = cx->allocate || cx->limit;
    return !l->machine->options.waiting && !counted && !cx->inspection && !cx->counts &&
           !rt_are_told(&l->machine->tools);
}

static rt_later *begin_later(void *user, const pass_group_shape *shape) {
    const request *r = user;
    cpu_later *l = is_for_later(r->launch) ? calloc(1, sizeof *l) : NULL;
    if (!l) return NULL;
    rt_context_init(&l->context, &(spvf_context_options){.size = sizeof(spvf_context_options),
                                                         .allocate = allocate_unless_cancelled,
                                                         .release = release_memory,
                                                         .alloc_user = l});
    l->context.log = RT_LOG_NOTHING; /* if it fails, a launch says why */
    ir_arena_init(&l->arena, &l->context.cx);
    l->base = (rt_later){
        .job = {.run = make_later}, .pool = r->launch->machine->pool, .free = free_later};
    l->shape = *shape;
    l->launch.function = r->launch->launch->function;
    l->what = (cpu_launch){.cx = &l->context.cx,
                           .machine = r->launch->machine,
                           .launch = &l->launch,
                           .counts = r->launch->counts};
    l->wanted.constants = r->wanted->constants;
    bool copied = !l->wanted.constants.n || ir_try(&l->context.cx, copy_constants, l);
    if (copied && rt_pool_add_job(l->base.pool, &l->base.job)) return &l->base;
    free_later(&l->base);
    return NULL;
}

/* ------------------------------------------------------------------------------------- launches */

static double size_of(void *user) {
    const request *r = user;
    return cpu_size_of(r->launch, r->wanted);
}

void cpu_find_code(const cpu_launch *l, const cpu_wanted *wanted, rt_use *use) {
    request r = {l, wanted};
    rt_compiler compiler = {compile_variant, &r, l->machine->options.eager, size_of, begin_later};
    ir_status status =
        rt_kernel_begin(wanted->kernel, &wanted->shape, &wanted->values, &compiler, use);
    if (status != IR_OK) ir_throw(l->cx, status);
}
