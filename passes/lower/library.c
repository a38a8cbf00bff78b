/* library.c — code of the library in place of operations that are functions.
 *
 * A library function is named after the operation and the type of its first operand, "sin.f32".
 * If the target has estimates, a function "sin.f32.estimated" is preferred.
 * For a half_ or native_ function that the library does not have, the precise one is used.  Library
 * code may use operations that are functions of the library themselves.  They are replaced when it
 * is loaded, which happens once per pass.  No library function leads back to itself.
 *
 * Straight code is copied with its types made as wide as the operation.  Other code is called, and
 * the calls are replaced by bodies when all are known.  Vectors of few lanes have a call for each
 * lane, so that latencies overlap; for others there is one, in a loop over the lanes of variables.
 */
#include "passes/lower/library.h"

enum { FEW_LANES = 4 };

/* ----------------------------------------------------------------------------- which operations */

/* The fast ones may be instructions. */
static bool is_instruction(const library *l, const ir_inst *i) {
    const ir_target *t = l->cx->target;
    return t && t->has_estimates && t->takes(i, t->level);
}

static bool is_function(const library *l, const ir_inst *i) {
    if (is_instruction(l, i)) return false;
    switch (i->op) {
    case IR_OP_frem:
    case IR_OP_remainder:
    case IR_OP_remquo_q: return true;
    case IR_OP_fma:
        return ir_kind_of(i->type) == IR_F64 && !(l->cx->target && l->cx->target->has_fma);
    default: return ir_has_flag(i, F_NOFOLD) && ir_has_flag(i, F_LANEWISE);
    }
}

/* "half_sin" and "native_sin" are "sin" where nothing else is known. */
static const char *precise(const char *name) {
    if (!strncmp(name, "half_", 5)) return name + 5;
    return strncmp(name, "native_", 7) ? name : name + 7;
}

static ir_func *unpack(library *l, const char *name, ir_kind kind, const char *how) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s%s", name, kind == IR_F64 ? "f64" : "f32", how);
    return ir_unpack(&l->source, full);
}

/* The depth of the recursion is that of the library. */
static ir_func *load(library *l, ir_op op, ir_kind kind) {
    const char *name = ir_ops[op].name;
    ir_func *f =
        l->cx->target && l->cx->target->has_estimates ? unpack(l, name, kind, ".estimated") : NULL;
    ir_builder b;
    if (!f) f = unpack(l, name, kind, "");
    if (!f && precise(name) != name) f = unpack(l, precise(name), kind, "");
    if (!f) return NULL;
    *ir_push(l->cx->scratch, &l->functions) = f;
    if (l->expands) pass_expand(f, l->cx);
    ir_builder_init(&b, f);
    foreach_block (block, f)
        foreach_inst (i, block) library_replace(l, &b, i);
    library_splice(l, f);
    return f;
}

static ir_func *code_of(library *l, const ir_inst *i) {
    ir_kind kind = ir_kind_of(ir_arg(i, 0)->type);
    uint64_t key = (uint64_t)i->op << 8 | kind;
    if (kind != IR_F32 && kind != IR_F64) return NULL;
    void *known = ir_map_get(&l->loaded, key);
    if (known) return known == l ? NULL : known;
    ir_func *f = load(l, (ir_op)i->op, kind);
    ir_map_set(l->cx->scratch, &l->loaded, key, f ? (void *)f : (void *)l);
    return f;
}

/* -------------------------------------------------------------------------------- straight code */

static bool is_lane_by_lane(const ir_module *m, const ir_inst *i) {
    if (ir_is_vector(i->type)) return false;
    switch (i->op) {
    case IR_OP_select:
    case IR_OP_ret: return true;
    case IR_OP_bitcast: return ir_bits(m, i->type) == ir_bits(m, ir_arg(i, 0)->type);
    default: return ir_has_flag(i, F_PURE) && ir_has_flag(i, F_LANEWISE);
    }
}

static bool is_straight(const ir_func *f) {
    if (f->first != f->last) return false;
    foreach_inst (i, f->first)
        if (!is_lane_by_lane(f->module, i)) return false;
    return true;
}

/* Value x of library code in the caller, in as many lanes as `shape`. */
static ir_inst *copy_of(ir_func *f, ir_inst *const *copy, const ir_inst *x, ir_type shape) {
    if (copy[x->id]) return copy[x->id];
    ir_type t = ir_with_elem(shape, x->type);
    return x->op == IR_OP_const ? ir_const(f, t, x->imm.bits) : ir_undef(f, t);
}

static ir_inst *copy_inst(ir_builder *b, ir_inst *const *copy, const ir_inst *i, ir_type shape) {
    ir_inst *args[3];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = copy_of(b->f, copy, ir_arg(i, n), shape);
    return ir_build_like(b, i, ir_with_elem(shape, i->type), args);
}

static ir_inst *copy_straight(library *l, ir_builder *b, const ir_inst *at, const ir_func *code) {
    ir_inst **copy = ir_new_array(l->cx->scratch, ir_inst *, code->next_id);
    for (unsigned n = 0; n < at->nargs; n++) copy[code->param_val[n]->id] = ir_arg(at, n);
    for (const ir_inst *i = code->first->first; i != code->first->last; i = i->next)
        copy[i->id] = copy_inst(b, copy, i, at->type);
    return copy_of(b->f, copy, ir_arg(code->first->last, 0), at->type);
}

/* ----------------------------------------------------------------------------------- other code */

static ir_inst *call_lane(ir_builder *b, const ir_inst *at, ir_func *code, unsigned lane) {
    ir_inst *args[3];
    for (unsigned n = 0; n < at->nargs; n++) {
        args[n] = ir_arg(at, n);
        if (ir_is_vector(at->type)) args[n] = ir_build_extract(b, args[n], lane);
    }
    return ir_build_call(b, code, at->nargs, args);
}

static ir_inst *call_lanes(ir_builder *b, const ir_inst *at, ir_func *code) {
    ir_inst *lanes[IR_MAX_LANES];
    unsigned n = ir_lanes(at->type);
    for (unsigned lane = 0; lane < n; lane++) lanes[lane] = call_lane(b, at, code, lane);
    return n == 1 ? lanes[0] : ir_build_vec(b, at->type, lanes);
}

/* A variable with the lanes of v, or with room for such lanes. */
static ir_inst *build_lanes(ir_builder *b, ir_inst *v, ir_type t) {
    unsigned bytes = ir_lanes(t) * ir_bits(b->f->module, t) / 8;
    ir_inst *p = ir_build_alloca(b, ir_array_type(b->f->module, IR_I8, bytes), 64);
    if (v) ir_build_store(b, v, p, ir_bits(b->f->module, t) / 8, 0);
    return p;
}

static ir_inst *lane_address(ir_builder *b, ir_inst *p, ir_inst *k, ir_type t) {
    ir_inst *size = ir_const(b->f, k->type, ir_bits(b->f->module, t) / 8);
    return ir_build_ptradd(b, p, ir_build2(b, IR_OP_mul, k->type, k, size), false);
}

static ir_inst *load_lane(ir_builder *b, ir_inst *p, ir_inst *k, ir_type t) {
    unsigned bytes = ir_bits(b->f->module, t) / 8;
    return ir_build_load(b, ir_elem(t), lane_address(b, p, k, t), bytes, 0);
}

/* The function whose lanes are those of `at`, which is a function of one lane. */
static ir_func *build_loop(library *l, const ir_inst *at, ir_func *code) {
    ir_module *m = code->module;
    ir_type types[3], size = ir_size_type(m);
    ir_inst *variable[3], *args[3];
    for (unsigned n = 0; n < at->nargs; n++) types[n] = ir_arg(at, n)->type;
    ir_func *f = ir_func_new(m, "lanes", at->type, at->nargs, types);
    ir_block *entry = ir_block_new(f, NULL), *loop = ir_block_new(f, NULL);
    ir_block *done = ir_block_new(f, NULL);
    unsigned bytes = ir_bits(m, at->type) / 8;
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, entry);
    for (unsigned n = 0; n < at->nargs; n++)
        variable[n] = build_lanes(&b, f->param_val[n], types[n]);
    ir_inst *out = build_lanes(&b, NULL, at->type);
    ir_build_jmp(&b, loop);
    ir_at_end(&b, loop);
    ir_inst *k = ir_append_arg(ir_build_phi(loop, size), ir_const(f, size, 0));
    for (unsigned n = 0; n < at->nargs; n++) args[n] = load_lane(&b, variable[n], k, types[n]);
    ir_inst *r = ir_build_call(&b, code, at->nargs, args);
    ir_build_store(&b, r, lane_address(&b, out, k, at->type), bytes, 0);
    ir_inst *next = ir_build2(&b, IR_OP_add, size, k, ir_const(f, size, 1));
    ir_inst *end = ir_const(f, size, ir_lanes(at->type));
    ir_build_br(&b, ir_build2(&b, IR_OP_ult, IR_I1, next, end), loop, done);
    ir_append_arg(k, next);
    ir_at_end(&b, done);
    ir_build_ret(&b, ir_build_load(&b, at->type, out, bytes, 0));
    library_splice(l, f);
    *ir_push(l->cx->scratch, &l->functions) = f;
    return f;
}

/* Made once for each function and type. */
static ir_func *loop_of(library *l, const ir_inst *at, ir_func *code) {
    uint64_t key = UINT64_C(1) << 63 | (uint64_t)at->op << 32 | ir_arg(at, 0)->type;
    ir_func *f = ir_map_get(&l->loaded, key);
    if (!f) f = build_loop(l, at, code);
    ir_map_set(l->cx->scratch, &l->loaded, key, f);
    return f;
}

static ir_inst *call(library *l, ir_builder *b, const ir_inst *at, ir_func *code) {
    ir_inst *args[3];
    if (ir_lanes(at->type) <= FEW_LANES) return call_lanes(b, at, code);
    for (unsigned n = 0; n < at->nargs; n++) args[n] = ir_arg(at, n);
    return ir_build_call(b, loop_of(l, at, code), at->nargs, args);
}

static bool is_loaded(const library *l, const ir_func *f) {
    for (uint32_t k = 0; k < l->functions.n; k++)
        if (l->functions.data[k] == f) return true;
    return false;
}

/* Goes from the last call of a block to the first, so that no instruction moves twice. */
void library_splice(library *l, ir_func *f) {
    foreach_block (b, f)
        foreach_inst_reverse (i, b) {
            ir_inst *args[3];
            if (i->op != IR_OP_call || !is_loaded(l, i->imm.func)) continue;
            for (unsigned n = 0; n < i->nargs; n++) args[n] = ir_arg(i, n);
            ir_splice(i, i->imm.func, args);
        }
}

/* ---------------------------------------------------------------------------------- replacement */

bool library_replace(library *l, ir_builder *b, ir_inst *i) {
    ir_func *code = is_function(l, i) ? code_of(l, i) : NULL;
    if (!code || (l->branches && is_straight(code))) return false;
    ir_before(b, i);
    b->loc = i->loc;
    ir_replace_uses(i, is_straight(code) ? copy_straight(l, b, i, code) : call(l, b, i, code));
    ir_remove(i);
    ir_count(code->module->cx, builtins_calls, 1);
    return true;
}

void library_drop(library *l) {
    for (uint32_t k = 0; k < l->functions.n; k++) ir_func_remove(l->functions.data[k]);
}
