/* functions.c — signatures, parameters, calls, returns.
 *
 * A struct or array parameter becomes one parameter per leaf; a kernel's stays one argument, a
 * pointer to a copy (as compilers pass them).  A host cannot give a kernel the address of private
 * memory, so a pointer to storage class Function is such an argument without ByVal, too.  A struct
 * or array result is written through an extra first parameter, to memory that the caller provides.
 * When an entry point and an exported function have the same name (llvm-spirv wraps kernels that
 * way), the kernel keeps it.
 */
#include "frontend/reader.h"

/* ----------------------------------------------------------------------------------- signatures */

/* How one SPIR-V parameter is passed. */
static bool is_by_pointer(const spv_function *f, const spv_type *t) {
    return f->entry && spv_is_aggregate(t);
}

static uint32_t ir_params_of(const spv_function *f, const spv_type *t) {
    return spv_is_aggregate(t) && !is_by_pointer(f, t) ? t->leaves : 1;
}

static ir_type param_type(reader *r, const spv_function *f, spv_type *t, uint32_t leaf) {
    if (t->form == T_LACKING) return ir_ptr(IR_GLOBAL);
    if (is_by_pointer(f, t)) return ir_ptr(IR_PRIVATE);
    return spv_is_aggregate(t) ? spv_find_leaf(r, t, leaf).type->value : t->value;
}

static uint32_t param_attrs(const spv_decor *d, const spv_type *t) {
    static const uint32_t attrs[] = {IR_PARAM_ZEXT,     IR_PARAM_SEXT,    IR_PARAM_BYVAL,
                                     IR_PARAM_SRET,     IR_PARAM_NOALIAS, IR_PARAM_NOCAPTURE,
                                     IR_PARAM_READONLY, IR_PARAM_NOACCESS};
    uint32_t found = 0;
    for (unsigned i = 0; i < sizeof attrs / sizeof *attrs; i++)
        if (d->attrs >> i & 1) found |= attrs[i];
    if (d->has & D_RESTRICT) found |= IR_PARAM_RESTRICT;
    if (d->has & D_VOLATILE) found |= IR_PARAM_VOLATILE;
    if (t->value != ir_ptr(IR_PRIVATE)) found &= ~(uint32_t)IR_PARAM_BYVAL;
    return found;
}

static ir_param byval_param(reader *r, const spv_type *t) {
    return (ir_param){.pointee = t->memory,
                      .attrs = IR_PARAM_BYVAL,
                      .align = (uint32_t)ir_alignof(r->m, t->memory),
                      .byval_size = ir_sizeof(r->m, t->memory)};
}

/* A pointer to private memory that a kernel takes without saying that it is a copy. */
static void take_by_value(reader *r, const ir_param *p) {
    if (p->pointee == IR_VOID)
        spv_refuse(r, "a parameter points to private memory, and its type does not say how much");
    spv_warn(r, WARN_BYVAL);
}

static ir_param pointer_param(reader *r, const spv_function *f, const spv_type *t,
                              const spv_decor *d) {
    const spv_type *pointee = spv_pointee(r, t);
    ir_param p = {.attrs = param_attrs(d, t)};
    p.pointee = pointee ? pointee->memory : IR_VOID;
    p.align = d->has & D_ALIGNMENT ? spv_power_of_two(r, d->alignment) : 0;
    if (f->entry && t->value == ir_ptr(IR_PRIVATE) && !(p.attrs & IR_PARAM_BYVAL)) {
        take_by_value(r, &p);
        p.attrs |= IR_PARAM_BYVAL;
    }
    if ((p.attrs & IR_PARAM_BYVAL) && p.pointee != IR_VOID)
        p.byval_size = ir_sizeof(r->m, p.pointee);
    return p;
}

/* Kernels alone are given values; the address that a pointer is differs from run to run. */
static void mark_specialized(reader *r, const spv_function *f, ir_type t, ir_param *p) {
    if (!f->entry) return;
    if (ir_arg_kind_of(t, p) == IR_ARG_VALUE)
        p->attrs |= IR_PARAM_SPECIALIZED;
    else
        spv_warn(r, WARN_SPECIALIZED);
}

/* What is known of a parameter. */
static ir_param param_facts(reader *r, const spv_function *f, spv_type *t, uint32_t id) {
    const spv_decor *d = spv_decor_of(r, id);
    const char *name = spv_name(r, id);
    ir_param p = is_by_pointer(f, t)    ? byval_param(r, t)
                 : t->form == T_POINTER ? pointer_param(r, f, t, d)
                                        : (ir_param){.attrs = param_attrs(d, t)};
    p.name = name ? ir_strdup(&r->m->arena, name) : NULL;
    if (d->has & D_SPECIALIZED) mark_specialized(r, f, param_type(r, f, t, 0), &p);
    return p;
}

static uint32_t param_id(const reader *r, const spv_function *f, uint32_t i) {
    return r->input.words[f->param[i] + 2];
}

static void describe_params(reader *r, spv_function *f) {
    uint32_t at = 0;
    if (f->sret)
        f->ir->param[at++] = (ir_param){.name = "result",
                                        .pointee = f->type->elem->memory,
                                        .align = (uint32_t)ir_alignof(r->m, f->type->elem->memory),
                                        .attrs = IR_PARAM_SRET | IR_PARAM_NOALIAS};
    for (uint32_t i = 0; i < f->nparams; i++) {
        spv_type *t = f->type->member[i];
        uint32_t n = ir_params_of(f, t);
        ir_param facts = param_facts(r, f, t, param_id(r, f, i));
        for (uint32_t k = 0; k < n; k++, at++) {
            f->ir->param[at] = facts;
            if (n > 1 && facts.name)
                f->ir->param[at].name = ir_sprintf(&r->m->arena, "%s.%u", facts.name, k);
        }
    }
}

/* ---------------------------------------------------------------------------------- declaration */

static const char *function_name(reader *r, const spv_function *f) {
    const spv_decor *d = spv_decor_of(r, f->id);
    if (f->entry) return spv_string_at(r, f->entry + 3);
    const char *name = d->has & D_LINKAGE ? d->link_name : spv_name(r, f->id);
    return name && *name ? name : ir_sprintf(&r->scratch, "f%u", f->id);
}

static void check_signature(reader *r, spv_function *f) {
    const spv_type *t = f->type;
    if (t->form == T_LACKING) spv_refuse(r, "%s", t->reason);
    if (t->form != T_FUNCTION) spv_fail(r, "%%%u is not a function type", r->in.arg[1]);
    if (t->elem != r->in.type)
        spv_fail(r, "the result type %s differs from the function type's %s",
                 spv_type_name(r, r->in.type), spv_type_name(r, t->elem));
    if (t->count != f->nparams) spv_fail(r, "%u parameters for a type of %u", f->nparams, t->count);
    if (f->entry && t->elem->form != T_VOID) spv_fail(r, "an entry point must return void");
    for (uint32_t i = 0; i < f->nparams; i++) {
        spv_decode(r, f->param[i]);
        if (r->in.type != t->member[i])
            spv_fail(r, "parameter %u has type %s, want %s", i + 1, spv_type_name(r, r->in.type),
                     spv_type_name(r, t->member[i]));
    }
}

/* Refuses what no function can have as its signature. */
static void check_lack(reader *r, const spv_function *f) {
    const spv_type *t = f->type;
    const char *lack = spv_decor_of(r, f->id)->lack;
    uint64_t leaves = 0;
    if (!lack && t->elem->form == T_LACKING) lack = t->elem->reason;
    for (uint32_t i = 0; i < f->nparams && !lack; i++) {
        if (t->member[i]->form == T_LACKING) lack = t->member[i]->reason;
        leaves += ir_params_of(f, t->member[i]);
    }
    if (lack) spv_refuse(r, "%s", lack);
    if (leaves > SPV_MAX_LEAVES) spv_refuse(r, "parameters of this many parts are not supported");
}

static uint32_t function_flags(reader *r, const spv_function *f) {
    uint32_t control = r->in.arg[0], flags = spv_linkage(r, f->id) & ~(uint32_t)IR_FUNC_IMPORT;
    if (control & SpvFunctionControlInlineMask) flags |= IR_FUNC_INLINE;
    if (control & SpvFunctionControlDontInlineMask) flags |= IR_FUNC_NOINLINE;
    if ((control & SpvFunctionControlPureMask) && !f->sret) flags |= IR_FUNC_PURE;
    if ((control & SpvFunctionControlConstMask) && !f->sret) flags |= IR_FUNC_CONST;
    if (f->entry) flags |= IR_FUNC_KERNEL;
    if (!f->body) flags |= IR_FUNC_IMPORT;
    return flags;
}

/* A name is given once; an exported function that comes too late for its name is kept private. */
static const char *take_name(reader *r, const spv_function *f, uint32_t *flags) {
    const char *name = function_name(r, f), *unique = spv_free_name(r, name, f->id);
    if (unique == name || !(*flags & IR_FUNC_EXPORT)) return unique;
    const ir_func *other = ir_func_find(r->m, name);
    if (!other || !(other->flags & IR_FUNC_KERNEL)) spv_warn(r, WARN_EXPORT_TWICE);
    *flags &= ~(uint32_t)IR_FUNC_EXPORT;
    return unique;
}

static ir_func *make_func(reader *r, const spv_function *f) {
    ir_vec(ir_type) types = {0};
    uint32_t flags = function_flags(r, f);
    const char *name = take_name(r, f, &flags);
    if (f->sret) *ir_push(&r->scratch, &types) = ir_ptr(IR_PRIVATE);
    for (uint32_t i = 0; i < f->nparams && !f->refused; i++)
        for (uint32_t k = 0; k < ir_params_of(f, f->type->member[i]); k++)
            *ir_push(&r->scratch, &types) = param_type(r, f, f->type->member[i], k);
    ir_type ret = f->sret || f->refused ? IR_VOID : f->type->elem->value;
    ir_func *ir = ir_func_new(r->m, name, ret, types.n, types.data);
    ir->flags = flags;
    ir->loc = f->at;
    return ir;
}

static void check_declaration(reader *r, spv_function *f) {
    spv_decode(r, f->at);
    if (f->lack) spv_refuse(r, "%s", f->lack);
    if (!r->in.type) spv_fail(r, "OpFunction: %%%u is not a type", r->input.words[f->at + 1]);
    f->type = spv_type_at(r, r->in.arg[1]);
    check_signature(r, f);
    check_lack(r, f);
    spv_decode(r, f->at);
    const char *name = function_name(r, f);
    const ir_func *other = f->entry ? ir_func_find(r->m, name) : NULL;
    if (other) spv_fail(r, "two entry points are named \"%s\"", name);
}

static void declare(void *arg) {
    reader *r = arg;
    spv_function *f = r->declared;
    check_declaration(r, f);
    f->sret = spv_is_aggregate(f->type->elem) && f->type->elem->leaves;
    f->ir = make_func(r, f);
    describe_params(r, f);
    if (f->entry) spv_name_args(r, f->ir);
    if (!f->body) f->builtin = spv_find_builtin(r, f->ir->name, &f->builtin_key);
}

void spv_mark_refused(reader *r, spv_function *f, const char *why) {
    f->refused = true;
    f->ir->refusal = ir_strdup(&r->m->arena, why);
}

/* A function whose declaration cannot be read keeps its name and gets the reason. */
void spv_declare_function(reader *r, spv_function *f) {
    r->declared = f;
    const char *why = spv_attempt(r, declare);
    if (!why) return;
    spv_decode(r, f->at);
    f->refused = true;
    f->sret = false;
    if (!f->ir) f->ir = make_func(r, f);
    spv_mark_refused(r, f, why);
}

/* Entry points after the first that name the same function call it. */
static void make_second_entry(reader *r, const spv_function *f, const char *name) {
    const ir_func *first = f->ir;
    ir_vec(ir_type) types = {0};
    for (uint32_t i = 0; i < first->nparams; i++)
        *ir_push(&r->scratch, &types) = first->param_val[i]->type;
    ir_func *k = ir_func_new(r->m, name, IR_VOID, types.n, types.data);
    memcpy(k->param, first->param, first->nparams * sizeof *k->param);
    k->flags = first->flags;
    k->attrs = first->attrs;
    k->refusal = first->refusal;
    k->loc = first->loc;
    if (ir_is_declaration(first)) return;
    ir_builder b;
    ir_builder_init(&b, k);
    ir_at_end(&b, ir_block_new(k, NULL));
    ir_build_call(&b, f->ir, k->nparams, k->param_val);
    ir_build_ret(&b, NULL);
}

/* A function that calls one without a body cannot run either; the callee's reason is kept. */
void spv_refuse_callers(reader *r) {
    ir_vec(spv_function *) queue = {0};
    for (spv_function *f = r->first_function; f; f = f->next)
        if (f->refused) *ir_push(&r->scratch, &queue) = f;
    for (uint32_t i = 0; i < queue.n; i++) {
        const spv_function *f = queue.data[i];
        for (const spv_caller *c = f->callers; c; c = c->next) {
            if (c->func->refused) continue;
            spv_decode(r, c->func->at);
            spv_refuse_function(r, c->func, f->ir->refusal);
            *ir_push(&r->scratch, &queue) = c->func;
        }
    }
}

/* From the uses of variables that no interface lists up to the entry points that call them: what
 * only exported functions use needs no interface. */
void spv_warn_interfaces(reader *r) {
    ir_vec(spv_function *) queue = {0};
    for (spv_function *f = r->first_function; f; f = f->next)
        if (f->unlisted) *ir_push(&r->scratch, &queue) = f;
    for (uint32_t i = 0; i < queue.n; i++) {
        const spv_function *f = queue.data[i];
        spv_decode(r, f->unlisted);
        if (f->entry) spv_warn(r, WARN_INTERFACE);
        for (const spv_caller *c = f->callers; c; c = c->next) {
            if (c->func->unlisted) continue;
            c->func->unlisted = f->unlisted;
            *ir_push(&r->scratch, &queue) = c->func;
        }
    }
}

/* Imports whose calls became operations are no longer needed. */
void spv_drop_builtins(reader *r) {
    for (const spv_function *f = r->first_function; f; f = f->next)
        if (f->builtin) ir_func_remove(f->ir);
}

void spv_make_entries(reader *r) {
    for (uint32_t i = 0; i < r->facts.entries.n; i++) {
        spv_decode(r, r->facts.entries.data[i]);
        const spv_function *f = spv_find(r, r->in.arg[1])->func;
        const char *name = spv_string(r, 2);
        if (!strcmp(name, f->ir->name)) continue;
        ir_func *other = ir_func_find(r->m, name);
        if (other && (other->flags & IR_FUNC_KERNEL)) {
            if (!f->refused) spv_warn(r, WARN_ENTRY_TWICE);
            continue;
        }
        if (other) ir_func_rename(other, ir_sprintf(&r->scratch, "%s.body", name));
        make_second_entry(r, f, name);
    }
}

/* -------------------------------------------------------------------------- inside the function */

static spv_parts *bind_parts(reader *r, const spv_function *f, const spv_type *t, uint32_t at) {
    spv_parts *p;
    if (is_by_pointer(f, t)) {
        p = ir_new(&r->scratch, spv_parts);
        *p = (spv_parts){.pointer = f->ir->param_val[at],
                         .align = (uint32_t)ir_alignof(r->m, t->memory),
                         .block = r->b.block,
                         .after = r->b.block->last};
        return p;
    }
    p = spv_parts_new(r, t);
    for (uint32_t k = 0; k < t->leaves; k++) p->part[k] = f->ir->param_val[at + k];
    return p;
}

/* Takes the ids of the parameters. */
void spv_declare_params(reader *r, const spv_function *f) {
    for (uint32_t i = 0; i < f->nparams; i++) {
        spv_decode(r, f->param[i]);
        spv_new_id(r, ID_PENDING)->type = f->type->member[i];
    }
}

/* Those ids mean the IR function's parameters. */
void spv_bind_params(reader *r, const spv_function *f) {
    uint32_t at = f->sret ? 1 : 0;
    for (uint32_t i = 0; i < f->nparams; i++) {
        spv_type *t = f->type->member[i];
        spv_id *e = spv_find(r, param_id(r, f, i));
        e->kind = ID_VALUE;
        if (spv_is_aggregate(t)) {
            e->kind = ID_PARTS;
            e->parts = bind_parts(r, f, t, at);
        } else {
            e->val = f->ir->param_val[at];
        }
        at += ir_params_of(f, t);
    }
}

void spv_read_return(reader *r) {
    const spv_type *t = r->f->type->elem;
    if (t->form != T_VOID)
        spv_fail(r, "OpReturn in a function that returns %s", spv_type_name(r, t));
    ir_build_ret(&r->b, NULL);
}

static spv_access natural_access(const reader *r, const spv_type *t) {
    return (spv_access){.align = (uint32_t)ir_alignof(r->m, t->memory)};
}

void spv_read_return_value(reader *r) {
    const spv_type *t = r->f->type->elem;
    if (t->form == T_VOID) spv_fail(r, "OpReturnValue in a function that returns void");
    if (!spv_fits(r, 0, t)) spv_bad_type(r, 0, spv_type_name(r, t));
    if (!spv_is_aggregate(t)) {
        ir_build_ret(&r->b, spv_low_value(r, r->in.arg[0], t));
        return;
    }
    if (r->f->sret) spv_store_any(r, r->in.arg[0], r->f->ir->param_val[0], natural_access(r, t));
    ir_build_ret(&r->b, NULL);
}

/* ---------------------------------------------------------------------------------------- calls */

static ir_inst *pass_by_pointer(reader *r, const spv_type *t, uint32_t id) {
    ir_inst *copy = spv_temporary(r, t);
    spv_store_any(r, id, copy, natural_access(r, t));
    return copy;
}

/* Operand 1 + i as arguments of the IR function. */
static uint32_t pass(reader *r, const spv_function *f, uint32_t i, ir_inst **args) {
    uint32_t id = r->in.arg[1 + i];
    const spv_type *t = f->type->member[i];
    if (!spv_fits(r, 1 + i, t)) spv_bad_type(r, 1 + i, spv_type_name(r, t));
    if (is_by_pointer(f, t)) {
        args[0] = pass_by_pointer(r, t, id);
        return 1;
    }
    uint32_t n = ir_params_of(f, t);
    if (!spv_is_aggregate(t)) args[0] = spv_low_value(r, id, t);
    for (uint32_t k = 0; k < n && spv_is_aggregate(t); k++) args[k] = spv_leaf(r, id, k);
    return n;
}

static void note_caller(reader *r, spv_function *callee) {
    spv_caller *c = ir_new(&r->scratch, spv_caller);
    *c = (spv_caller){.func = r->f, .next = callee->callers};
    callee->callers = c;
}

static const spv_function *callee_of(reader *r) {
    const spv_id *e = spv_find(r, r->in.arg[0]);
    if (e->kind != ID_FUNCTION) spv_fail(r, "OpFunctionCall: %%%u is not a function", r->in.arg[0]);
    spv_function *f = e->func;
    if (f->refused) spv_refuse(r, "%s", f->ir->refusal);
    if (r->in.n - 1 != f->type->count)
        spv_fail(r, "OpFunctionCall: %u arguments for %u parameters", r->in.n - 1, f->type->count);
    if (r->in.type != f->type->elem)
        spv_fail(r, "OpFunctionCall: the result has type %s, want %s", spv_type_name(r, r->in.type),
                 spv_type_name(r, f->type->elem));
    note_caller(r, f);
    return f;
}

static void define_result(reader *r, const spv_function *f, ir_inst *call, ir_inst *memory) {
    spv_type *t = f->type->elem;
    if (t->form == T_VOID) return;
    if (!spv_is_aggregate(t))
        spv_define(r, call);
    else if (memory)
        spv_define_load(r, t, memory, (uint32_t)ir_alignof(r->m, t->memory), 0);
    else
        spv_define_parts(r, spv_parts_new(r, t));
}

void spv_read_function_call(reader *r) {
    const spv_function *f = callee_of(r);
    if (f->builtin) {
        spv_call_builtin(r, f);
        return;
    }
    spv_value_type(r, f->type->elem);
    if (f->entry) spv_warn(r, WARN_ENTRY_CALLED);
    ir_inst **args = ir_new_array(&r->scratch, ir_inst *, f->ir->nparams);
    uint32_t n = 0;
    ir_inst *memory = f->sret ? spv_temporary(r, f->type->elem) : NULL;
    if (memory) args[n++] = memory;
    for (uint32_t i = 0; i < f->nparams; i++) n += pass(r, f, i, args + n);
    r->body.writes++; /* after the loads of the arguments, before that of the result */
    define_result(r, f, ir_build_call(&r->b, f->ir, n, args), memory);
    r->body.writes++;
}
