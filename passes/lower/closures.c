/* closures.c — kernels that take structs with pointers by value get a parameter for each member.
 *
 *   does        SYCL compilers pass what a kernel captures as one struct by value, its closure.
 *               Fusion and launches know arguments as parameters, not as bytes of a struct.  So
 *               each member of a closure with pointers becomes a parameter, in ascending order of
 *               offsets, at the place of the closure; each element of structs and arrays in it is
 *               a member.  The parameter says where it was (ir_param.closure, offset)
 *   needs       kernels as they are read
 *   leaves      a stack variable in place of the closure, which the kernel fills first.  sroa and
 *               mem2reg make values of its members; `padding` drops parameters for bytes that are
 *               not read
 *   gives up    on structs without a known type, with more than MAX_MEMBERS members, with members
 *               that overlap, or with pointers to private or local memory, and on kernels that
 *               other functions call
 *
 * A generic pointer in a closure comes from the host, so it is one to global memory.
 *
 * The type of a union is that of one of its members, so bytes between members may be those of
 * another one.  Each is part of a parameter, which is marked as padding.
 *
 * The method is that of the kernel lowering of SYCL compilers (LLVM RFC "SYCL kernel lowering").
 */
#include "passes/passes.h"

enum { MAX_MEMBERS = 64 };

typedef struct {
    ir_type type; /* of the parameter */
    ir_type held; /* in memory: differs for generic pointers */
    uint64_t offset;
    bool padding;
} member;

typedef struct {
    const ir_module *m;
    member list[MAX_MEMBERS];
    unsigned n;
    uint64_t end; /* of the last one */
    bool fits, has_pointers;
} members;

static void push_member(members *c, const member *m) {
    c->fits &= c->n < MAX_MEMBERS && m->offset >= c->end;
    if (!c->fits) return;
    c->list[c->n++] = *m;
    c->end = m->offset + ir_access_size(c->m, m->held);
}

/* Integers as large as their alignment allows, up to `end`. */
static void add_padding(members *c, uint64_t end) {
    static const ir_type ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    while (c->fits && c->end < end) {
        unsigned log = 3;
        while (c->end & ((1u << log) - 1) || 1u << log > end - c->end) log--;
        ir_type t = ints[log];
        push_member(c, &(member){.type = t, .held = t, .offset = c->end, .padding = true});
    }
}

static void add_member(members *c, ir_type t, uint64_t offset) {
    bool pointer = ir_is_ptr(t), generic = t == ir_ptr(IR_GENERIC);
    bool from_host = !pointer || generic || t == ir_ptr(IR_GLOBAL) || t == ir_ptr(IR_CONST);
    c->fits &= from_host && !ir_is_opaque(t);
    c->has_pointers |= pointer;
    add_padding(c, offset);
    push_member(c, &(member){generic ? ir_ptr(IR_GLOBAL) : t, t, offset, false});
}

static void add_members(members *c, ir_type t, uint64_t offset) {
    if (!ir_is_aggregate(t)) {
        add_member(c, t, offset);
        return;
    }
    const ir_type_info *info = ir_type_get(c->m, t);
    bool array = info->kind == IR_ARRAY;
    for (uint32_t k = 0; k < info->count && c->fits; k++) {
        ir_type part = info->member[array ? 0 : k];
        add_members(c, part, offset + (array ? k * ir_sizeof(c->m, part) : info->offset[k]));
    }
}

/* Is p a closure whose members can be parameters? */
static bool find_members(const ir_module *m, const ir_param *p, members *c) {
    *c = (members){.m = m, .fits = true};
    if (!(p->attrs & IR_PARAM_BYVAL) || p->pointee == IR_VOID) return false;
    if (ir_sizeof(m, p->pointee) != p->byval_size) return false;
    add_members(c, p->pointee, 0);
    add_padding(c, p->byval_size);
    if (!c->fits || !c->has_pointers) return false;
    const member *last = &c->list[c->n - 1];
    return last->offset + ir_sizeof(m, last->held) <= p->byval_size;
}

/* A variable with the bytes of the closure, before all other code. */
static ir_inst *fill_variable(ir_func *f, const ir_param *closure, uint32_t first,
                              const members *c) {
    ir_builder b;
    ir_builder_init(&b, f);
    ir_before(&b, f->first->first);
    ir_inst *variable = ir_build_byval(&b, closure);
    for (unsigned k = 0; k < c->n; k++) {
        const member *m = &c->list[k];
        ir_inst *value = f->param_val[first + k];
        ir_inst *offset = ir_const(f, ir_size_type(f->module), m->offset);
        if (m->held != m->type) value = ir_build1(&b, IR_OP_ptrcast, m->held, value);
        uint64_t align = ir_alignof(f->module, m->held);
        while (m->offset % align || align > variable->imm.var->align) align /= 2;
        ir_build_store(&b, value, ir_build_ptradd(&b, variable, offset, true), (unsigned)align, 0);
    }
    return variable;
}

static const char *name_member(const ir_func *f, const ir_param *closure, uint32_t index,
                               uint64_t offset) {
    ir_arena *a = &f->module->arena;
    return closure->name ? ir_sprintf(a, "%s.%llu", closure->name, (unsigned long long)offset)
                         : ir_sprintf(a, "arg%u.%llu", index, (unsigned long long)offset);
}

static void split(ir_func *f, uint32_t index, uint32_t original, const members *c) {
    const ir_param closure = f->param[index];
    ir_inst *old = f->param_val[index];
    ir_type types[MAX_MEMBERS];
    for (unsigned k = 0; k < c->n; k++) types[k] = c->list[k].type;
    ir_split_param(f, index, c->n, types);
    for (unsigned k = 0; k < c->n; k++) {
        ir_param *p = &f->param[index + k];
        p->closure = original + 1;
        p->offset = c->list[k].offset;
        if (c->list[k].padding) p->attrs |= IR_PARAM_PADDING;
        if (!ir_is_ptr(c->list[k].type)) p->attrs |= closure.attrs & IR_PARAM_SPECIALIZED;
        p->name = name_member(f, &closure, original, p->offset);
    }
    ir_replace_uses(old, fill_variable(f, &closure, index, c));
}

/* The functions that others call, by address. */
static void find_called(const ir_module *m, ir_arena *scratch, ir_map *called) {
    foreach_func (f, m)
        if (!ir_is_declaration(f))
            foreach_block (b, f)
                foreach_inst (i, b)
                    if (i->op == IR_OP_call)
                        ir_map_set(scratch, called, (uintptr_t)i->imm.func, i->imm.func);
}

static bool lower(ir_func *f) {
    members c;
    bool changed = false;
    for (uint32_t at = 0, original = 0; at < f->nparams; original++) {
        bool closure = find_members(f->module, &f->param[at], &c);
        if (closure) split(f, at, original, &c);
        at += closure ? c.n : 1;
        changed |= closure;
    }
    return changed;
}

bool pass_closures(ir_module *m, pass_ctx *cx) {
    ir_map called = {0};
    bool changed = false;
    find_called(m, cx->scratch, &called);
    foreach_func (f, m) {
        bool is_entry = f->flags & IR_FUNC_KERNEL && !ir_is_declaration(f);
        if (is_entry && !ir_map_get(&called, (uintptr_t)f)) changed |= lower(f);
    }
    return changed;
}

/* -------------------------------------------------------------------------------------- padding */

static bool drop_padding(ir_func *f, ir_arena *scratch) {
    bool *keep = ir_new_array(scratch, bool, f->nparams);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->nparams; i++) {
        keep[i] = !(f->param[i].attrs & IR_PARAM_PADDING) || f->param_val[i]->uses;
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
