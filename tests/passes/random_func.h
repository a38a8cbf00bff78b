/* random_func.h — small random functions for property tests of passes.
 *
 *   random_make(m, seed) -> func @f(%a: i32, %b: i64, %c: f32): i64
 *   random_make_vectors(m, seed), the same with vectors of one to three widths, bitcasts, and lanes
 *   that are not known
 *
 * The control flow is arbitrary: every block may go to every other one by jmp, br or switch, so
 * loops with several entries and double edges occur.  Each block has phis for one value of every
 * type, and a counter of visits that ends the function.  Bodies are made from the op table (pure
 * ops with a meaning, on scalars and vectors), from repeated instructions, and from loads, stores
 * and copies of two variables.  The result mixes the bits of all values.  No undef, no trap: every
 * function has one answer.  The same seed gives the same function.
 */
#ifndef SPVFUSE_TESTS_RANDOM_FUNC_H
#define SPVFUSE_TESTS_RANDOM_FUNC_H

#include "ir/eval.h"
#include "tests/random.h"

enum {
    RANDOM_BLOCKS = 8,
    RANDOM_TYPES = 12,
    RANDOM_POOL = 24,
    RANDOM_BYTES = 48,
    RANDOM_ADDRESSES = 6
};

typedef struct {
    ir_inst *value[RANDOM_POOL];
    unsigned n;
} random_pool;

typedef struct {
    uint64_t state;
    ir_func *f;
    ir_builder b;
    ir_type type[RANDOM_TYPES];
    random_pool pool[RANDOM_TYPES]; /* what may be used here, by type */
    ir_inst *variable[2];
    ir_inst *made[RANDOM_POOL]; /* pure instructions that may be used here */
    unsigned nmade;
    ir_inst *address[RANDOM_ADDRESSES]; /* into variables, the same */
    unsigned naddress;
    bool is_memory_heavy, is_vector_heavy;
    unsigned nblocks;
    ir_block *block[RANDOM_BLOCKS], *leave;
    ir_inst *phi[RANDOM_BLOCKS + 1][RANDOM_TYPES + 1]; /* the last one counts visits */
    ir_inst *end[RANDOM_BLOCKS][RANDOM_TYPES + 1];     /* values at the end of a block */
} random_maker;

static inline uint32_t random_below(random_maker *r, uint32_t n) {
    return draw_below(&r->state, n);
}

static inline unsigned random_type_index(const random_maker *r, ir_type t) {
    unsigned k = 0;
    while (k < RANDOM_TYPES && r->type[k] != t) k++;
    return k;
}

/* Small numbers, and the bits of interesting floats. */
static inline ir_inst *random_constant(random_maker *r, ir_type t) {
    static const double numbers[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e30, -2.5};
    uint64_t lanes[IR_MAX_LANES];
    ir_kind k = ir_kind_of(ir_elem(t));
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        lanes[i] = (uint64_t)random_below(r, 5) - 1;
        if (ir_is_float(t)) lanes[i] = ir_fp_from_double(k, numbers[random_below(r, 8)]);
        if (ir_is_float(t) && random_below(r, 12) == 0) lanes[i] = ir_fp_nan(k);
    }
    return ir_const_lanes(r->f, t, lanes);
}

static inline ir_inst *random_operand(random_maker *r, ir_type t) {
    const random_pool *p = &r->pool[random_type_index(r, t)];
    if (p->n == 0 || random_below(r, 6) == 0) return random_constant(r, t);
    return p->value[random_below(r, p->n)];
}

static inline void random_offer(random_maker *r, ir_inst *i) {
    random_pool *p = &r->pool[random_type_index(r, i->type)];
    p->value[p->n < RANDOM_POOL ? p->n++ : random_below(r, RANDOM_POOL)] = i;
}

static inline ir_inst *random_build(random_maker *r, ir_op op, ir_type t, ir_imm imm, unsigned n,
                                    ir_inst *const *args) {
    return ir_build_raw(&r->b, op, t, ir_with_imm(imm), (ir_args){n, args});
}

/* --------------------------------------------------------------------------------- instructions */

static inline bool random_is_usable(ir_op op) {
    const ir_op_info *o = &ir_ops[op];
    return o->levels & L_SPMD && o->flags & F_PURE && !(o->flags & (F_NOFOLD | F_TRAPS)) &&
           o->nargs > 0 && strcmp(o->eval, "NONE") != 0 && o->rule != R_PTOI && o->rule != R_ITOP &&
           o->rule != R_PTOP;
}

/* Operand and result types that the rule of an op allows, one of them at random. */
static inline bool random_types(random_maker *r, ir_op op, ir_type *arg, ir_type *result) {
    ir_type t = r->type[random_below(r, RANDOM_TYPES)], u = r->type[random_below(r, RANDOM_TYPES)];
    bool same_lanes = ir_lanes(t) == ir_lanes(u), number = ir_is_int(t) && !ir_is_bool(t);
    unsigned wt = ir_bits(r->f->module, t), wu = ir_bits(r->f->module, u);
    *arg = *result = t;
    switch (ir_ops[op].rule) {
    case R_INT: return number;
    case R_BITS: return ir_is_int(t);
    case R_FLT: return ir_is_float(t);
    case R_CMPI: *result = ir_with_elem(t, IR_I1); return number;
    case R_CMPF:
    case R_TESTF: *result = ir_with_elem(t, IR_I1); return ir_is_float(t);
    case R_TRUNC: *result = u; return number && ir_is_int(u) && same_lanes && wt > wu;
    case R_EXT: *result = u; return ir_is_int(t) && ir_is_int(u) && same_lanes && wt < wu;
    case R_FTOI: *result = u; return ir_is_float(t) && ir_is_int(u) && !ir_is_bool(u) && same_lanes;
    case R_ITOF: *result = u; return number && ir_is_float(u) && same_lanes;
    case R_FTOF: *result = u; return ir_is_float(t) && ir_is_float(u) && same_lanes && wt != wu;
    case R_FLT_INT: return ir_is_float(t);
    case R_FLT_TO_I: *result = ir_with_elem(t, IR_I32); return ir_is_float(t);
    default: return false;
    }
}

static inline ir_inst *random_lanewise(random_maker *r) {
    for (;;) {
        ir_op op = (ir_op)random_below(r, IR_OP_COUNT);
        ir_type arg, result;
        ir_inst *args[4];
        if (!random_is_usable(op) || !random_types(r, op, &arg, &result)) continue;
        if (random_type_index(r, result) == RANDOM_TYPES) continue;
        unsigned n = ir_ops[op].nargs;
        for (unsigned k = 0; k < n; k++) args[k] = random_operand(r, arg);
        if (ir_ops[op].rule == R_FLT_INT) args[1] = random_operand(r, ir_with_elem(arg, IR_I32));
        return random_build(r, op, result, (ir_imm){0}, n, args);
    }
}

static inline ir_inst *random_division(random_maker *r) {
    ir_op op = random_below(r, 2) ? IR_OP_udiv : IR_OP_urem;
    ir_inst *one = ir_const(r->f, IR_I32, 1);
    ir_inst *by[] = {random_operand(r, IR_I32), one};
    ir_inst *args[] = {random_operand(r, IR_I32),
                       random_build(r, IR_OP_or, IR_I32, (ir_imm){0}, 2, by)};
    return random_build(r, op, IR_I32, (ir_imm){0}, 2, args);
}

static inline ir_inst *random_select(random_maker *r) {
    ir_type t = r->type[random_below(r, RANDOM_TYPES)];
    ir_inst *args[] = {random_operand(r, IR_I1), random_operand(r, t), random_operand(r, t)};
    return random_build(r, IR_OP_select, t, (ir_imm){0}, 3, args);
}

/* extract, insert, vec or shuffle of the vector types */
static inline ir_inst *random_lanes(random_maker *r) {
    ir_type t;
    do t = r->type[random_below(r, RANDOM_TYPES)];
    while (!ir_is_vector(t) || random_type_index(r, ir_elem(t)) == RANDOM_TYPES);
    unsigned n = ir_lanes(t);
    ir_inst *index = ir_const(r->f, IR_I32, random_below(r, n)), *args[IR_MAX_LANES];
    uint8_t mask[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) {
        args[k] = random_operand(r, ir_elem(t));
        mask[k] = (uint8_t)random_below(r, 2 * n);
    }
    ir_inst *x = random_operand(r, t), *y = random_operand(r, t);
    switch (random_below(r, 4)) {
    case 0:
        return random_build(r, IR_OP_extract, ir_elem(t), (ir_imm){0}, 2, (ir_inst *[]){x, index});
    case 1:
        return random_build(r, IR_OP_insert, t, (ir_imm){0}, 3, (ir_inst *[]){x, args[0], index});
    case 2: return random_build(r, IR_OP_vec, t, (ir_imm){0}, n, args);
    default:
        return random_build(r, IR_OP_shuffle, t,
                            (ir_imm){.mask = ir_dup(&r->f->module->arena, mask, n)}, 2,
                            (ir_inst *[]){x, y});
    }
}

/* A type whose values have as many bits, or whose lanes are of the same type. */
static inline ir_type random_like(random_maker *r, ir_type t, bool bits) {
    for (;;) {
        ir_type u = r->type[random_below(r, RANDOM_TYPES)];
        unsigned from = ir_bits(r->f->module, t) * ir_lanes(t);
        if (bits ? from == ir_bits(r->f->module, u) * ir_lanes(u) : ir_elem(t) == ir_elem(u))
            if (bits || ir_is_vector(u)) return u;
    }
}

/* Bitcasts, shuffles that change the width, choices lane by lane, lanes that are not known. */
static inline ir_inst *random_regroup(random_maker *r) {
    ir_type t, u;
    do t = r->type[random_below(r, RANDOM_TYPES)];
    while (!ir_is_vector(t));
    unsigned n = ir_lanes(t);
    uint8_t mask[IR_MAX_LANES];
    ir_inst *x = random_operand(r, t), *y = random_operand(r, t);
    ir_inst *cut[] = {random_operand(r, IR_I32), ir_const(r->f, IR_I32, n - 1)};
    switch (random_below(r, 5)) {
    case 0:
        if (ir_is_bool(t)) break;
        return random_build(r, IR_OP_bitcast, random_like(r, t, true), (ir_imm){0}, 1, &x);
    case 1:
        u = random_like(r, t, false);
        for (unsigned k = 0; k < ir_lanes(u); k++) mask[k] = (uint8_t)random_below(r, 2 * n);
        return random_build(r, IR_OP_shuffle, u,
                            (ir_imm){.mask = ir_dup(&r->f->module->arena, mask, IR_MAX_LANES)}, 2,
                            (ir_inst *[]){x, y});
    case 2: {
        ir_inst *c = random_operand(r, ir_with_elem(t, IR_I1));
        if (random_type_index(r, ir_with_elem(t, IR_I1)) == RANDOM_TYPES) break;
        return random_build(r, IR_OP_select, t, (ir_imm){0}, 3, (ir_inst *[]){c, x, y});
    }
    case 3:
        if (!ir_is_bool(t)) break;
        return random_build(r, random_below(r, 2) ? IR_OP_any : IR_OP_all, IR_I1, (ir_imm){0}, 1,
                            &x);
    default: break;
    }
    ir_inst *index = random_build(r, IR_OP_umin, IR_I32, (ir_imm){0}, 2, cut);
    if (random_type_index(r, ir_elem(t)) == RANDOM_TYPES) return index;
    return random_build(r, IR_OP_extract, ir_elem(t), (ir_imm){0}, 2, (ir_inst *[]){x, index});
}

/* At most 16: a constant, or a value that is cut. */
static inline ir_inst *random_offset(random_maker *r) {
    if (random_below(r, 3) == 0) return ir_const(r->f, IR_I64, 8 * random_below(r, 3));
    ir_inst *cut[] = {random_operand(r, IR_I64),
                      ir_const(r->f, IR_I64, 8 + 8 * random_below(r, 2))};
    return random_build(r, IR_OP_and, IR_I64, (ir_imm){0}, 2, cut);
}

/* An address that is there already, one that is new, or either moved on by a constant. */
static inline ir_inst *random_address(random_maker *r) {
    ir_inst *p = r->naddress ? r->address[random_below(r, r->naddress)] : NULL;
    if (!p || random_below(r, 3) == 0) {
        ir_inst *args[] = {r->variable[random_below(r, 2)], random_offset(r)};
        p = random_build(r, IR_OP_ptradd, ir_ptr(IR_PRIVATE), (ir_imm){0}, 2, args);
        if (r->naddress < RANDOM_ADDRESSES) r->address[r->naddress++] = p;
    }
    ir_inst *moved[] = {p, ir_const(r->f, IR_I64, 4 * random_below(r, 5))};
    if (random_below(r, 2)) return p;
    return random_build(r, IR_OP_ptradd, ir_ptr(IR_PRIVATE), (ir_imm){0}, 2, moved);
}

static inline ir_type random_memory_type(random_maker *r) {
    for (;;) {
        ir_type t = r->type[random_below(r, RANDOM_TYPES)];
        if (!ir_is_bool(t) && ir_access_size(r->f->module, t) <= 16) return t;
    }
}

static inline void random_memory(random_maker *r) {
    ir_type t = random_memory_type(r);
    ir_inst *p = random_address(r);
    switch (random_below(r, 4)) {
    case 0:
    case 1: random_offer(r, ir_build_load(&r->b, t, p, 1, 0)); return;
    case 2: ir_build_store(&r->b, random_operand(r, t), p, 1, 0); return;
    default: {
        ir_inst *n = ir_const(r->f, IR_I64, RANDOM_BYTES);
        random_build(r, IR_OP_copy, IR_VOID, (ir_imm){0}, 3,
                     (ir_inst *[]){r->variable[0], r->variable[1], n});
    }
    }
}

/* The same once more: something for value numbering. */
static inline ir_inst *random_repeat(random_maker *r) {
    if (!r->nmade) return random_lanewise(r);
    const ir_inst *i = r->made[random_below(r, r->nmade)];
    ir_inst *args[IR_MAX_LANES];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = ir_arg(i, n);
    if (ir_has_flag(i, F_COMMUTES) && random_below(r, 2)) {
        args[0] = ir_arg(i, 1);
        args[1] = ir_arg(i, 0);
    }
    return random_build(r, (ir_op)i->op, i->type, i->imm, i->nargs, args);
}

static inline void random_instruction(random_maker *r) {
    ir_inst *i;
    if (r->is_memory_heavy && random_below(r, 2)) {
        random_memory(r);
        return;
    }
    if (r->is_vector_heavy && random_below(r, 2)) {
        random_offer(r, random_regroup(r));
        return;
    }
    switch (random_below(r, 8)) {
    case 0: i = random_division(r); break;
    case 1: i = random_select(r); break;
    case 2: i = random_lanes(r); break;
    case 3: i = random_repeat(r); break;
    case 4: random_memory(r); return;
    default: i = random_lanewise(r);
    }
    random_offer(r, i);
    r->made[r->nmade < RANDOM_POOL ? r->nmade++ : random_below(r, RANDOM_POOL)] = i;
}

/* --------------------------------------------------------------------------------------- blocks */

static inline void random_init_types(random_maker *r) {
    const ir_type types[RANDOM_TYPES] = {IR_I1,
                                         IR_I8,
                                         IR_I16,
                                         IR_I32,
                                         IR_I64,
                                         IR_F16,
                                         IR_F32,
                                         IR_F64,
                                         ir_vector(IR_I32, 3),
                                         ir_vector(IR_F32, 4),
                                         ir_vector(IR_I1, 4),
                                         ir_vector(IR_I64, 2)};
    memcpy(r->type, types, sizeof types);
}

/* Vectors of two elements with the same number of lanes, of one of them with twice as many. */
static inline void random_vector_types(random_maker *r) {
    static const ir_kind ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    static const uint8_t lanes[] = {2, 3, 4, 4, 8, 8, 16, 5, 32};
    unsigned n = lanes[random_below(r, sizeof lanes)], first = random_below(r, 4);
    ir_type a = ir_scalar(ints[first]), b = ir_scalar(ints[(first + 1 + random_below(r, 3)) % 4]);
    static const ir_kind floats[] = {IR_F32, IR_F32, IR_F64, IR_F16};
    ir_type f = ir_scalar(floats[random_below(r, 4)]);
    const ir_type types[RANDOM_TYPES] = {
        IR_I1,           IR_I8,
        IR_I16,          IR_I32,
        IR_I64,          IR_F32,
        IR_F64,          ir_vector(IR_I1, n),
        ir_vector(a, n), ir_vector(b, n),
        ir_vector(f, n), ir_vector(random_below(r, 2) ? a : f, 2 * n)};
    memcpy(r->type, types, sizeof types);
}

/* What a block leaves for the phis of the next. */
static inline void random_finish_block(random_maker *r, unsigned b, ir_inst *visits) {
    for (unsigned t = 0; t < RANDOM_TYPES; t++) {
        bool keep = b && random_below(r, 2);
        r->end[b][t] = keep ? r->phi[b][t] : random_operand(r, r->type[t]);
    }
    r->end[b][RANDOM_TYPES] = visits;
}

static inline void random_entry(random_maker *r) {
    ir_inst *zero = ir_const(r->f, IR_I8, 0), *size = ir_const(r->f, IR_I64, RANDOM_BYTES);
    ir_type bytes = ir_array_type(r->f->module, IR_I8, RANDOM_BYTES);
    ir_at_end(&r->b, r->block[0]);
    for (unsigned v = 0; v < 2; v++) r->variable[v] = ir_build_alloca(&r->b, bytes, 16);
    for (unsigned v = 0; v < 2; v++)
        random_build(r, IR_OP_fill, IR_VOID, (ir_imm){0}, 3,
                     (ir_inst *[]){r->variable[v], zero, size});
    for (uint32_t p = 0; p < r->f->nparams; p++) random_offer(r, r->f->param_val[p]);
    for (unsigned k = 0; k < 6; k++) random_instruction(r);
    random_finish_block(r, 0, ir_const(r->f, IR_I32, 1 + random_below(r, 40)));
}

/* Phis with an argument per edge of `b`, which are filled in when all blocks are there. */
static inline void random_phis(random_maker *r, unsigned b, ir_block *block, unsigned edges) {
    ir_inst *none[4 * RANDOM_BLOCKS];
    ir_at_end(&r->b, block);
    for (unsigned t = 0; t <= RANDOM_TYPES; t++) {
        ir_type type = t < RANDOM_TYPES ? r->type[t] : IR_I32;
        for (unsigned e = 0; e < edges; e++) none[e] = ir_const(r->f, type, 0);
        r->phi[b][t] = random_build(r, IR_OP_phi, type, (ir_imm){0}, edges, none);
    }
}

/* Values of the entry can be used everywhere, those of another block only there. */
static inline void random_body(random_maker *r, unsigned b) {
    random_pool saved[RANDOM_TYPES];
    unsigned nmade = r->nmade, naddress = r->naddress;
    memcpy(saved, r->pool, sizeof saved);
    ir_inst *made[RANDOM_POOL];
    memcpy(made, r->made, sizeof made);
    for (unsigned t = 0; t < RANDOM_TYPES; t++) random_offer(r, r->phi[b][t]);
    for (unsigned k = random_below(r, 10); k > 0; k--) random_instruction(r);
    ir_inst *visits[] = {r->phi[b][RANDOM_TYPES], ir_const(r->f, IR_I32, 1)};
    random_finish_block(r, b, random_build(r, IR_OP_sub, IR_I32, (ir_imm){0}, 2, visits));
    memcpy(r->pool, saved, sizeof saved);
    memcpy(r->made, made, sizeof made);
    r->nmade = nmade;
    r->naddress = naddress;
}

/* --------------------------------------------------------------------------------- control flow */

/* block b -> (visits used up) leave, or go on to one to three blocks */

typedef struct {
    unsigned n, to[3];
} random_exit;

static inline void random_branch(random_maker *r, unsigned b, const random_exit *e) {
    ir_block *to[3];
    for (unsigned k = 0; k < e->n; k++) to[k] = r->block[e->to[k]];
    ir_inst *cond = r->end[b][random_type_index(r, IR_I1)];
    ir_inst *on = r->end[b][random_type_index(r, IR_I8)];
    if (e->n == 1) ir_build_jmp(&r->b, to[0]);
    if (e->n == 2) ir_build_br(&r->b, cond, to[0], to[1]);
    if (e->n == 3) ir_build_switch(&r->b, on, to[0], (ir_cases){2, (uint64_t[]){0, 2}, to + 1});
}

static inline void random_terminate(random_maker *r, unsigned b, const random_exit *e) {
    ir_at_end(&r->b, r->block[b]);
    if (b) {
        ir_block *go_on = ir_block_new(r->f, NULL);
        ir_inst *args[] = {r->end[b][RANDOM_TYPES], ir_const(r->f, IR_I32, 0)};
        ir_inst *stop = random_build(r, IR_OP_eq, IR_I1, (ir_imm){0}, 2, args);
        ir_build_br(&r->b, stop, r->leave, go_on);
        ir_at_end(&r->b, go_on);
    }
    random_branch(r, b, e);
}

static inline unsigned random_block_number(const random_maker *r, const ir_block *pred) {
    unsigned b = 0;
    while (b < r->nblocks && r->block[b] != pred) b++;
    return b < r->nblocks ? b : random_block_number(r, pred->pred[0]);
}

static inline void random_fill_phis(random_maker *r, unsigned b, const ir_block *block) {
    for (unsigned e = 0; e < block->npred; e++) {
        unsigned from = random_block_number(r, block->pred[e]);
        for (unsigned t = 0; t <= RANDOM_TYPES; t++) ir_set_arg(r->phi[b][t], e, r->end[from][t]);
    }
}

/* ----------------------------------------------------------------------------------- the result */

static inline ir_inst *random_mix(random_maker *r, ir_inst *sum, ir_inst *x) {
    ir_kind ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    unsigned bits = ir_bits(r->f->module, x->type);
    for (unsigned k = 0; k < 4; k++)
        if (ir_is_float(x->type) && ir_bits(r->f->module, ints[k]) == bits)
            x = random_build(r, IR_OP_bitcast, ints[k], (ir_imm){0}, 1, &x);
    if (bits < 64) x = random_build(r, IR_OP_zext, IR_I64, (ir_imm){0}, 1, &x);
    ir_inst *factor[] = {sum, ir_const(r->f, IR_I64, 1000003)};
    ir_inst *both[] = {random_build(r, IR_OP_mul, IR_I64, (ir_imm){0}, 2, factor), x};
    return random_build(r, IR_OP_add, IR_I64, (ir_imm){0}, 2, both);
}

static inline void random_result(random_maker *r) {
    ir_inst *sum = ir_const(r->f, IR_I64, 1);
    for (unsigned t = 0; t < RANDOM_TYPES; t++) {
        ir_inst *x = r->phi[r->nblocks][t];
        for (unsigned lane = 0; lane < ir_lanes(x->type); lane++) {
            ir_inst *args[] = {x, ir_const(r->f, IR_I32, lane)};
            bool whole = ir_lanes(x->type) == 1;
            sum = random_mix(
                r, sum,
                whole ? x : random_build(r, IR_OP_extract, ir_elem(x->type), (ir_imm){0}, 2, args));
        }
    }
    ir_build_ret(&r->b, sum);
}

static inline ir_func *random_make_of(ir_module *m, uint64_t seed, bool vectors) {
    random_maker r = {
        .state = seed * 2 + 1, .is_memory_heavy = seed % 3 == 0, .is_vector_heavy = vectors};
    random_exit exits[RANDOM_BLOCKS];
    unsigned edges[RANDOM_BLOCKS] = {0};
    r.f = ir_func_new(m, "f", IR_I64, 3, (ir_type[]){IR_I32, IR_I64, IR_F32});
    r.f->flags = IR_FUNC_EXPORT;
    ir_builder_init(&r.b, r.f);
    if (vectors)
        random_vector_types(&r);
    else
        random_init_types(&r);
    r.nblocks = 2 + random_below(&r, RANDOM_BLOCKS - 1);
    for (unsigned b = 0; b < r.nblocks; b++) {
        r.block[b] = ir_block_new(r.f, NULL);
        exits[b].n = 1 + random_below(&r, 3);
        for (unsigned k = 0; k < exits[b].n; k++) {
            exits[b].to[k] = 1 + random_below(&r, r.nblocks - 1);
            edges[exits[b].to[k]]++;
        }
    }
    r.leave = ir_block_new(r.f, NULL);
    random_entry(&r);
    for (unsigned b = 1; b < r.nblocks; b++) random_phis(&r, b, r.block[b], edges[b]);
    random_phis(&r, r.nblocks, r.leave, r.nblocks - 1);
    for (unsigned b = 1; b < r.nblocks; b++) {
        ir_at_end(&r.b, r.block[b]);
        random_body(&r, b);
    }
    for (unsigned b = 0; b < r.nblocks; b++) random_terminate(&r, b, &exits[b]);
    for (unsigned b = 1; b < r.nblocks; b++) random_fill_phis(&r, b, r.block[b]);
    random_fill_phis(&r, r.nblocks, r.leave);
    ir_at_end(&r.b, r.leave);
    random_result(&r);
    return r.f;
}

static inline ir_func *random_make(ir_module *m, uint64_t seed) {
    return random_make_of(m, seed, false);
}
static inline ir_func *random_make_vectors(ir_module *m, uint64_t seed) {
    return random_make_of(m, seed, true);
}

#endif
