/* layout.c — what a caller declares of structs that kernels take by value, for pass `closures`. */
#include "ir/layout.h"
#include "runtime/api/runtime.h"

typedef struct {
    spvf_context *context;
    ir_module *m;
    ir_layout *to;
} declaring;

/* A copy of a name that must be there. */
static const char *copy_name(const declaring *d, const char *name, const char *what) {
    if (!name) rt_throw(d->context, IR_ERR_ARGUMENT, "layout: %s is NULL", what);
    return ir_strdup(&d->m->arena, name);
}

static void copy_functions(const declaring *d, const char *init, const char *finalize,
                           const char **out) {
    out[0] = copy_name(d, init, "init");
    out[1] = finalize ? ir_strdup(&d->m->arena, finalize) : NULL;
}

static void declare_special(const declaring *d, const spvf_layout_special *s) {
    const char *functions[2], *type = copy_name(d, s->type, "the type of a special");
    copy_functions(d, s->init, s->finalize, functions);
    *ir_push(&d->m->arena, &d->to->specials) =
        (ir_layout_special){type, functions[0], functions[1]};
}

static ir_layout_member copy_member(const declaring *d, const spvf_layout_member *m) {
    ir_layout_member copy = {.offset = m->offset,
                             .size = m->bytes,
                             .kind = IR_MEMBER_BYTES,
                             .specialized = m->specialized};
    const char *functions[2];
    if (m->offset > UINT32_MAX || m->bytes > UINT32_MAX)
        rt_throw(d->context, IR_ERR_ARGUMENT, "layout: a member is beyond 4 GiB");
    if (m->name) copy.name = ir_strdup(&d->m->arena, m->name);
    if (m->type) {
        copy.kind = IR_MEMBER_VALUE;
        copy.type = ir_parse_member_type(d->m, m->type);
        if (copy.type == IR_VOID) ir_throw(&d->context->cx, IR_ERR_INPUT);
    } else if (m->init) {
        copy.kind = IR_MEMBER_SPECIAL;
        copy_functions(d, m->init, m->finalize, functions);
        copy.init = functions[0];
        copy.finalize = functions[1];
    }
    return copy;
}

static void declare_closure(const declaring *d, const spvf_layout_closure *c) {
    ir_layout_closure copy = {
        copy_name(d, c->kernel, "the kernel of a closure"), c->arg, c->size, {0}};
    if (c->member_count && !c->members)
        rt_throw(d->context, IR_ERR_ARGUMENT, "layout: %zu members at NULL", c->member_count);
    for (size_t k = 0; k < c->member_count; k++)
        *ir_push(&d->m->arena, &copy.members) = copy_member(d, &c->members[k]);
    *ir_push(&d->m->arena, &d->to->closures) = copy;
}

static void declare_text(const declaring *d, const char *name, const char *text) {
    if (!ir_parse_layout(d->m, name ? name : "<layout>", text, strlen(text)))
        ir_throw(&d->context->cx, d->context->cx.status);
}

void rt_declare_layout(spvf_module *m, const spvf_layout *layout) {
    spvf_layout l;
    if (!rt_take_options(m->context, "spvf_layout", &l, layout))
        ir_throw(&m->context->cx, IR_ERR_ARGUMENT);
    const declaring d = {m->context, m->ir, ir_layout_of(m->ir)};
    if (l.convention != SPVF_DECOMPOSE && l.convention != SPVF_BY_VALUE)
        rt_throw(d.context, IR_ERR_ARGUMENT, "layout: there is no convention %d", l.convention);
    if ((l.special_count && !l.specials) || (l.closure_count && !l.closures))
        rt_throw(d.context, IR_ERR_ARGUMENT, "layout: %s are at NULL",
                 l.special_count && !l.specials ? "specials" : "closures");
    d.to->values |= l.convention == SPVF_BY_VALUE;
    d.to->spill |= l.spill;
    d.to->drop |= l.drop_unused;
    if (l.parameter_area) d.to->area = l.parameter_area;
    for (size_t k = 0; k < l.special_count; k++) declare_special(&d, &l.specials[k]);
    for (size_t k = 0; k < l.closure_count; k++) declare_closure(&d, &l.closures[k]);
    if (l.text) declare_text(&d, l.text_name, l.text);
}
