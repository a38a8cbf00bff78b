/* closures.c — kernels that take structs with pointers by value get a parameter for each member.
 *
 *   does        SYCL compilers pass what a kernel captures as one struct by value, its closure.
 *               Fusion and launches know arguments as parameters, not as bytes of a struct.  So
 *               each member of a closure with pointers, or with specialized members, becomes a
 *               parameter, in ascending order of offsets, at the place of the closure; each
 *               element of structs and arrays in it is a member.  The parameter says where it was
 *               (ir_param.closure, offset).  A special member becomes the parameters of the
 *               function that initializes it.
 *               The module may declare more about its closures (ir/layout.h), also that a pointer
 *               is one (closure_pointers.c)
 *   needs       kernels as they are read
 *   leaves      a stack variable in place of the closure, which the kernel fills first, and then
 *               calls the functions of specials.  sroa and mem2reg make values of its members;
 *               `padding` drops parameters for bytes that are not read
 *   gives up    on structs without a known type, with more than CLOSURE_MEMBERS members, with
 *               members that overlap, or with pointers to private or local memory, and on kernels
 *               that other functions call; what is declared of such a struct is an error
 *
 * A generic pointer in a closure comes from the host, so it is one to global memory.
 *
 * The type of a union is that of one of its members, so bytes between members may be those of
 * another one.  Each is part of a parameter, which is marked as padding.
 *
 * The method is that of the kernel lowering of SYCL compilers (LLVM RFC "SYCL kernel lowering").
 */
#include "passes/lower/closures.h"

/* ----------------------------------------------------------------------------------- parameters */

/* What takes the place of a closure: its members, or one parameter for all that is not special. */
typedef enum { AS_MEMBERS, AS_VALUE, AS_BUFFER } form;

typedef struct {
    ir_type type;
    ir_param facts;
} new_param;

typedef ir_vec(new_param) new_params;

static const char *name_member(const closure *c, const closure_member *m) {
    ir_arena *a = &c->pass->m->arena;
    const char *dot = m->name ? "." : "", *name = m->name ? m->name : "";
    const unsigned long long offset = m->offset;
    return c->param->name ? ir_sprintf(a, "%s%s%s.%llu", c->param->name, dot, name, offset)
                          : ir_sprintf(a, "arg%u%s%s.%llu", c->index, dot, name, offset);
}

static new_param *add_param(const closure *c, new_params *to, ir_type t, const closure_member *m) {
    new_param *p = ir_push(c->pass->scratch, to);
    *p = (new_param){.type = t};
    p->facts.closure = c->index + 1;
    p->facts.offset = m->offset;
    p->facts.name = name_member(c, m);
    return p;
}

static void add_value(const closure *c, const closure_member *m, new_params *to) {
    new_param *p = add_param(c, to, m->type, m);
    if (m->padding) p->facts.attrs |= IR_PARAM_PADDING;
    if (!ir_is_ptr(m->type)) p->facts.attrs |= c->param->attrs & IR_PARAM_SPECIALIZED;
    if (m->marked) p->facts.attrs |= IR_PARAM_SPECIALIZED;
    if (c->pass->layout->drop) p->facts.attrs |= IR_PARAM_OPTIONAL;
}

/* The special keeps its pointers, so what the function does not do with them says nothing. */
static void add_special(const closure *c, const closure_member *m, uint32_t number,
                        new_params *to) {
    const ir_func *init = m->special->init;
    for (uint32_t k = 1; k < init->nparams; k++) {
        const ir_param *from = &init->param[k];
        const ir_type t = init->param_val[k]->type;
        const bool generic = t == ir_ptr(IR_GENERIC);
        ir_param *p = &add_param(c, to, generic ? ir_ptr(IR_GLOBAL) : t, m)->facts;
        p->attrs = from->attrs & (IR_PARAM_BYVAL | IR_PARAM_ZEXT | IR_PARAM_SEXT);
        const bool value = !ir_is_ptr(t) || p->attrs & IR_PARAM_BYVAL;
        if (value && m->marked) p->attrs |= IR_PARAM_SPECIALIZED;
        if (value) p->attrs |= c->param->attrs & IR_PARAM_SPECIALIZED;
        if (c->pass->layout->drop) p->attrs |= IR_PARAM_OPTIONAL;
        p->byval_size = from->byval_size;
        p->pointee = from->pointee;
        p->align = from->align;
        p->type_name = from->type_name;
        p->special = number + 1;
        p->special_arg = k - 1;
        ir_arena *a = &c->pass->m->arena;
        p->name = from->name ? ir_sprintf(a, "%s.%s", p->name, from->name)
                             : ir_sprintf(a, "%s.%u", p->name, k - 1);
    }
}

static void add_whole(const closure *c, form as, new_params *to) {
    new_param *p = ir_push(c->pass->scratch, to);
    *p = (new_param){.type = ir_ptr(IR_PRIVATE), .facts = *c->param};
    if (as == AS_VALUE) return;
    p->type = ir_ptr(IR_CONST);
    p->facts.attrs = IR_PARAM_SPILLED | IR_PARAM_READONLY;
    p->facts.closure = c->index + 1;
}

static void add_params(const closure *c, form as, new_params *to) {
    if (as != AS_MEMBERS) add_whole(c, as, to);
    for (uint32_t k = 0, specials = 0; k < c->list.n; k++) {
        const closure_member *m = &c->list.data[k];
        if (m->special)
            add_special(c, m, specials++, to);
        else if (as == AS_MEMBERS)
            add_value(c, m, to);
    }
}

/* ---------------------------------------------------------------------------------------- sizes */

static void add_size(const ir_module *m, ir_type t, const ir_param *p, uint64_t *area) {
    const bool byval = p->attrs & IR_PARAM_BYVAL, opaque = ir_is_opaque(t);
    const uint64_t word = m->pointer_bits / 8;
    const uint64_t size = byval ? p->byval_size : opaque ? word : ir_sizeof(m, t);
    uint64_t align = byval ? p->align : opaque ? word : ir_alignof(m, t);
    if (!align) align = 1;
    *area = (*area + align - 1) / align * align + size;
}

/* Have all parameters of the kernel more bytes than they may have, with `new` in the place of one?
 * NULL: as they are. */
static bool exceeds_area(const closure_pass *p, const ir_func *f, uint32_t at,
                         const new_params *new) {
    const uint64_t most = p->layout->area;
    uint64_t area = 0;
    for (uint32_t k = 0; most && k < f->nparams; k++) {
        const bool replaced = new &&k == at;
        for (uint32_t n = 0; replaced && n < new->n; n++)
            add_size(f->module, new->data[n].type, &new->data[n].facts, &area);
        if (!replaced) add_size(f->module, f->param_val[k]->type, &f->param[k], &area);
    }
    return area > most;
}

/* --------------------------------------------------------------------------------------- bodies */

static ir_inst *place(ir_builder *b, ir_inst *variable, uint64_t offset) {
    ir_func *f = b->f;
    return ir_build_ptradd(b, variable, ir_const(f, ir_size_type(f->module), offset), true);
}

static void store_member(ir_builder *b, const closure_member *m, ir_inst *value,
                         ir_inst *variable) {
    if (m->held != m->type) value = ir_build1(b, IR_OP_ptrcast, m->held, value);
    uint64_t align = ir_alignof(b->f->module, m->held);
    while (m->offset % align || align > variable->imm.var->align) align /= 2;
    ir_build_store(b, value, place(b, variable, m->offset), (unsigned)align, 0);
}

/* The value as the function takes it: perhaps as a generic pointer. */
static ir_inst *as_argument(ir_builder *b, const ir_func *callee, uint32_t n, ir_inst *value) {
    const ir_type t = callee->param_val[n]->type;
    return t == value->type ? value : ir_build1(b, IR_OP_ptrcast, t, value);
}

static uint32_t initialize(ir_builder *b, const closure *c, const closure_member *m, uint32_t first,
                           ir_inst *variable) {
    ir_func *init = m->special->init;
    ir_inst **args = ir_new_array(c->pass->scratch, ir_inst *, init->nparams);
    args[0] = as_argument(b, init, 0, place(b, variable, m->offset));
    for (uint32_t k = 1; k < init->nparams; k++)
        args[k] = as_argument(b, init, k, b->f->param_val[first + k - 1]);
    ir_build_call(b, init, init->nparams, args);
    return init->nparams - 1;
}

static void finalize(ir_func *f, const closure_member *m, ir_inst *variable) {
    ir_func *end = m->special->finalize;
    ir_builder b;
    ir_builder_init(&b, f);
    foreach_block (block, f) {
        if (block->last->op != IR_OP_ret) continue;
        ir_before(&b, block->last);
        ir_inst *address = as_argument(&b, end, 0, place(&b, variable, m->offset));
        ir_build_call(&b, end, 1, &address);
    }
}

/* A variable with the bytes of the closure, before all other code.  Its parameters begin at
 * `first`. */
static ir_inst *fill_variable(ir_func *f, const closure *c, const ir_param *param, uint32_t first,
                              form as) {
    ir_builder b;
    ir_builder_init(&b, f);
    ir_before(&b, f->first->first);
    ir_inst *variable = ir_build_byval(&b, param);
    uint32_t at = first;
    if (as != AS_MEMBERS) ir_build_byval_copy(&b, param, variable, f->param_val[at++]);
    for (uint32_t k = 0; k < c->list.n; k++) {
        const closure_member *m = &c->list.data[k];
        if (m->special)
            at += initialize(&b, c, m, at, variable);
        else if (as == AS_MEMBERS)
            store_member(&b, m, f->param_val[at++], variable);
    }
    for (uint32_t k = 0; k < c->list.n; k++)
        if (c->list.data[k].special && c->list.data[k].special->finalize)
            finalize(f, &c->list.data[k], variable);
    return variable;
}

static void split(ir_func *f, const closure *c, uint32_t at, const new_params *new, form as) {
    const ir_param param = f->param[at];
    ir_inst *old = f->param_val[at];
    ir_type *types = ir_new_array(c->pass->scratch, ir_type, new->n);
    for (uint32_t k = 0; k < new->n; k++) types[k] = new->data[k].type;
    ir_split_param(f, at, new->n, types);
    for (uint32_t k = 0; k < new->n; k++) f->param[at + k] = new->data[k].facts;
    ir_replace_uses(old, fill_variable(f, c, &param, at, as));
}

/* ------------------------------------------------------------------------------------- choosing */

IR_NORETURN static void fail(const closure *c) {
    closure_fail(c->pass, c->error, "kernel '%s', parameter %u, byte %llu: %s", c->kernel->name,
                 c->index, (unsigned long long)c->at, c->why);
}

IR_NORETURN static void fail_area(const closure_pass *p, const ir_func *f) {
    closure_fail(p, "area-too-large", "the parameters of kernel '%s' have more than %llu bytes",
                 f->name, (unsigned long long)p->layout->area);
}

/* Chooses the form of parameters; false: the closure stays as it is. */
static bool choose(closure *c, uint32_t at, form *as, new_params *new) {
    const ir_layout *l = c->pass->layout;
    const bool declared = c->described || c->has_specials;
    if (c->error && declared) fail(c);
    if (c->error) c->list.n = 0;
    *as = l->values ? AS_VALUE : AS_MEMBERS;
    bool lowered = l->values ? c->has_specials : declared || c->has_pointers || c->has_marks;
    bool large = lowered && *as == AS_MEMBERS && c->many;
    if (c->error) lowered = large = false;
    if (large && !l->spill) {
        if (declared)
            closure_fail(c->pass, "area-too-large",
                         "kernel '%s', parameter %u has more than %d members", c->kernel->name,
                         c->index, CLOSURE_MEMBERS);
        lowered = large = false;
    }
    if (lowered && !large) add_params(c, *as, new);
    if (!large && exceeds_area(c->pass, c->kernel, at, lowered ? new : NULL)) {
        if (!l->spill) fail_area(c->pass, c->kernel);
        large = true;
    }
    if (!large) return lowered;
    *as = AS_BUFFER;
    new->n = 0;
    add_params(c, *as, new);
    return true;
}

static bool lower(const closure_pass *p, ir_func *f) {
    const bool called = ir_map_get(&p->called, (uintptr_t)f) != NULL;
    bool changed = false;
    for (uint32_t at = 0, index = 0; at < f->nparams; index++) {
        closure c = {.pass = p, .kernel = f, .param = &f->param[at], .index = index};
        new_params new = {0};
        form as;
        c.described = ir_map_get(&p->described, (uintptr_t)f->param_val[at]);
        const bool byval = f->param[at].attrs & IR_PARAM_BYVAL;
        if (byval) closure_find_members(&c);
        if (called && (c.described || c.has_specials))
            closure_fail(p, "called", "other functions call kernel '%s'", f->name);
        const bool lowered = byval && !called && choose(&c, at, &as, &new);
        if (lowered) split(f, &c, at, &new, as);
        at += lowered ? new.n : 1;
        changed |= lowered;
    }
    if (exceeds_area(p, f, 0, NULL)) fail_area(p, f);
    return changed;
}

bool pass_closures(ir_module *m, pass_ctx *cx) {
    static const ir_layout nothing;
    ir_map checked = {0};
    closure_pass p = {.m = m, .scratch = cx->scratch, .layout = m->layout, .checked = &checked};
    if (!p.layout) p.layout = &nothing;
    bool changed = pass_take_structs(m, cx->scratch);
    closure_find_called(m, cx->scratch, &p.called);
    closure_read_layout(&p);
    foreach_func (f, m)
        if (f->flags & IR_FUNC_KERNEL && !ir_is_declaration(f)) changed |= lower(&p, f);
    m->layout = NULL;
    return changed;
}

/* -------------------------------------------------------------------------------------- padding */

static bool drop_padding(ir_func *f, ir_arena *scratch) {
    bool *keep = ir_new_array(scratch, bool, f->nparams);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->nparams; i++) {
        const bool optional = f->param[i].attrs & (IR_PARAM_PADDING | IR_PARAM_OPTIONAL);
        keep[i] = !optional || f->param_val[i]->uses;
        kept += keep[i];
    }
    if (kept == f->nparams) return false;
    ir_keep_params(f, keep);
    return true;
}

/* Drops parameters that `closures` has made of bytes between members, if nothing reads them.  Needs
 * values in place of the variable with the closure. */
bool pass_padding(ir_module *m, pass_ctx *cx) {
    bool changed = false;
    foreach_func (f, m)
        if (f->flags & IR_FUNC_KERNEL) changed |= drop_padding(f, cx->scratch);
    return changed;
}
