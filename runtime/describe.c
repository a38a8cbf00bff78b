/* describe.c — kernels as the API shows them: arguments, attributes, local memory, refusals. */
#include "runtime/runtime.h"

static spvf_arg_kind arg_kind(ir_type t, const ir_param *p) {
    if (ir_kind_of(t) == IR_IMAGE || ir_kind_of(t) == IR_SAMPLED_IMAGE) return SPVF_ARG_IMAGE;
    if (ir_kind_of(t) == IR_SAMPLER) return SPVF_ARG_SAMPLER;
    if (!ir_is_ptr(t) || (p->attrs & IR_PARAM_BYVAL)) return SPVF_ARG_VALUE;
    return ir_space_of(t) == IR_LOCAL ? SPVF_ARG_LOCAL : SPVF_ARG_BUFFER;
}

spvf_arg_info rt_arg_info(const ir_module *m, ir_type t, const ir_param *p) {
    spvf_arg_info info = {.name = p->name, .type_name = p->type_name, .kind = arg_kind(t, p)};
    if (info.kind == SPVF_ARG_VALUE) {
        bool byval = ir_is_ptr(t);
        info.size = byval ? p->byval_size : ir_sizeof(m, t);
        info.align = byval ? p->align : (uint32_t)ir_alignof(m, t);
    } else {
        info.align = p->align;
    }
    info.constant = ir_is_ptr(t) && ir_space_of(t) == IR_CONST;
    info.read_only = info.constant || (p->attrs & IR_PARAM_READONLY);
    info.no_alias = (p->attrs & IR_PARAM_NOALIAS) != 0;
    return info;
}

/* Bytes of work-group variables: `bytes`, and one more. */
static uint64_t add_variable(const ir_module *m, const ir_global *g, uint64_t bytes) {
    return (bytes + g->align - 1) / g->align * g->align + ir_sizeof(m, g->type);
}

/* Of all of the module: an upper bound for a kernel that calls functions. */
static uint64_t all_local_memory(const ir_module *m) {
    uint64_t bytes = 0;
    foreach_global (g, m)
        if (g->space == IR_LOCAL) bytes = add_variable(m, g, bytes);
    return bytes;
}

typedef struct {
    spvf_module *module;
    ir_map seen; /* variables */
    uint64_t bytes;
    bool calls;
} local_use;

static void visit_uses(local_use *u, const ir_inst *i) {
    u->calls |= i->op == IR_OP_call && !(i->imm.func->flags & IR_FUNC_SHARED);
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        if (v->op != IR_OP_address || v->imm.global->space != IR_LOCAL) continue;
        const uintptr_t key = (uintptr_t)v->imm.global;
        if (ir_map_get(&u->seen, key)) continue;
        ir_map_set(&u->module->arena, &u->seen, key, v->imm.global);
        u->bytes = add_variable(u->module->ir, v->imm.global, u->bytes);
    }
}

static uint64_t local_memory(spvf_module *m, const ir_func *f, uint64_t all) {
    local_use u = {.module = m};
    if (!all) return 0;
    foreach_block (b, f)
        foreach_inst (i, b) visit_uses(&u, i);
    return u.calls ? all : u.bytes;
}

static void describe_kernel(spvf_module *m, const ir_func *f, uint64_t all_local,
                            spvf_kernel_info *k) {
    spvf_arg_info *args = ir_new_array(&m->arena, spvf_arg_info, f->nparams);
    for (uint32_t i = 0; i < f->nparams; i++)
        args[i] = rt_arg_info(m->ir, f->param_val[i]->type, &f->param[i]);
    *k = (spvf_kernel_info){.name = f->name,
                            .args = args,
                            .arg_count = f->nparams,
                            .required_subgroup_size = f->attrs.subgroup_size,
                            .local_memory = local_memory(m, f, all_local),
                            .refusal = f->refusal};
    memcpy(k->required_local_size, f->attrs.local_size, sizeof k->required_local_size);
    memcpy(k->local_size_hint, f->attrs.hint, sizeof k->local_size_hint);
}

typedef struct {
    spvf_module *module;
    ir_arena scratch;
} refusal_job;

/* What the kernel calls decides whether it can be used as much as what it is. */
static void note_refusal(void *user, const ir_func *kernel, const char *why) {
    spvf_module *m = user;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, kernel->name) == 0)
            m->kernels[i].refusal = ir_strdup(&m->arena, why);
}

static void find_refusals(void *arg) {
    refusal_job *j = arg;
    pass_find_refusals(j->module->ir, &j->scratch, note_refusal, j->module);
}

static void describe_refusals(spvf_module *m) {
    refusal_job j = {.module = m};
    ir_arena_init(&j.scratch, &m->context->cx);
    bool ok = ir_try(&m->context->cx, find_refusals, &j);
    ir_arena_free(&j.scratch);
    if (!ok) ir_throw(&m->context->cx, m->context->cx.status);
}

void rt_module_describe(spvf_module *m) {
    size_t n = 0;
    foreach_func (f, m->ir) n += (f->flags & IR_FUNC_KERNEL) != 0;
    m->kernels = ir_new_array(&m->arena, spvf_kernel_info, n);
    m->kernel_count = n;
    n = 0;
    const uint64_t all_local = all_local_memory(m->ir);
    foreach_func (f, m->ir)
        if (f->flags & IR_FUNC_KERNEL) describe_kernel(m, f, all_local, &m->kernels[n++]);
    describe_refusals(m);
}

size_t spvf_module_kernel_count(const spvf_module *m) { return m ? m->kernel_count : 0; }

const spvf_kernel_info *spvf_module_kernel(const spvf_module *m, size_t index) {
    return m && index < m->kernel_count ? &m->kernels[index] : NULL;
}

const spvf_kernel_info *spvf_module_find_kernel(const spvf_module *m, const char *name) {
    for (size_t i = 0; m && name && i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return &m->kernels[i];
    return NULL;
}

size_t spvf_module_spec_count(const spvf_module *m) { return m ? m->ir->specs.n : 0; }

spvf_status spvf_module_spec(const spvf_module *m, size_t index, spvf_spec_value *value,
                             uint32_t *bits) {
    if (!m || !value) return rt_refuse_call(m ? m->context : NULL, __func__, "value is NULL");
    if (index >= m->ir->specs.n)
        return rt_refuse_call(m->context, __func__, "there is no constant %zu among %u", index,
                              m->ir->specs.n);
    const ir_spec *s = &m->ir->specs.data[index];
    *value = (spvf_spec_value){s->id, s->value};
    if (bits) *bits = ir_bits(m->ir, s->type);
    return SPVF_OK;
}
