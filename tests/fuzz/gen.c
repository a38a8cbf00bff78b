/* gen.c — bytes to a valid, terminating function without undefined behaviour.
 *
 * The generator keeps the values that may be used at the place where it builds (those of the blocks
 * that dominate it) and picks operands by type from the newest ones.  Statements are operations
 * from the op table, chosen by type rule; loads, stores, also of parts, copies, and changes in place
 * of stack variables of scalars and vectors, which were initialised at entry; branches with phis; loops
 * with a counter; switches.  Division gets divisors that are positive, indices are cut to the array,
 * so a run is always defined and two runs must agree bit by bit, whatever passes and writers did.
 * No expression takes bytes twice, so that they give the same program with every compiler.
 */
#include "tests/fuzz/defined.h"
#include "tests/fuzz/gen.h"
#include "tests/random.h"

enum { MAX_VALUES = 400, MAX_DEPTH = 4, MAX_STATEMENTS = 60, VARIABLES = 10, SLOTS = 8 };

typedef struct {
    const uint8_t *at, *end;
    bool exact; /* gen_is_exact */
    ir_func *f;
    ir_builder b;
    ir_inst *value[MAX_VALUES];
    unsigned n;
    unsigned statements;
    ir_inst *variable[VARIABLES]; /* each an array of SLOTS elements */
} gen;

static const ir_type types[] = {
    IR_I1,
    IR_I8,
    IR_I16,
    IR_I32,
    IR_I64,
    IR_F16,
    IR_F32,
    IR_F64,
    IR_I32 | 4u << 5,
    IR_F32 | 3u << 5,
    IR_I8 | 2u << 5,
    IR_I64 | 2u << 5,
    IR_I1 | 4u << 5,
    IR_F64 | 2u << 5,
    IR_I16 | 8u << 5,
};
enum { TYPES = sizeof types / sizeof *types };
static const ir_type slot_types[VARIABLES] = {IR_I32,          IR_F64,           IR_I8,
                                              IR_I64,          IR_I16,           IR_I32 | 4u << 5,
                                              IR_I8 | 8u << 5, IR_I64 | 2u << 5, IR_I16 | 8u << 5,
                                              IR_F32 | 4u << 5};

static unsigned byte(gen *g) { return g->at < g->end ? *g->at++ : 0; }
static unsigned below(gen *g, unsigned n) { return byte(g) % n; }
static ir_type any_type(gen *g) { return types[below(g, TYPES)]; }

/* ------------------------------------------------------------------------------------- operands */

static uint64_t special_bits(gen *g, ir_type t) {
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e30, -1e-30};
    unsigned bits = ir_bits(g->f->module, ir_elem(t)), c = byte(g);
    if (ir_is_float(t)) {
        ir_kind k = ir_kind_of(t);
        if (c < 16) return c < 8 ? ir_fp_nan(k) : ir_fp_inf(k, c & 1);
        return ir_fp_from_double(k, floats[c % 8]);
    }
    switch (c % 6) {
    case 0: return c >> 3;
    case 1: return UINT64_MAX;
    case 2: return UINT64_C(1) << (bits - 1);
    case 3: return (UINT64_C(1) << (bits - 1)) - 1;
    case 4: return UINT64_C(1) << (c % bits);
    default: return c * UINT64_C(0x0101010101010101);
    }
}

static ir_inst *constant(gen *g, ir_type t) {
    uint64_t lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(t); i++) lanes[i] = special_bits(g, t);
    return ir_const_lanes(g->f, t, lanes);
}

/* A value of type t: one of the newest, or a constant. */
static ir_inst *operand(gen *g, ir_type t) {
    unsigned skip = below(g, 8);
    if (skip == 7) return constant(g, t);
    ir_inst *found = NULL;
    for (unsigned i = g->n; i-- > 0;) {
        if (g->value[i]->type != t) continue;
        found = g->value[i];
        if (skip-- == 0) break;
    }
    return found ? found : constant(g, t);
}

static ir_inst *keep(gen *g, ir_inst *v) {
    if (g->n < MAX_VALUES) g->value[g->n++] = v;
    return v;
}

static ir_inst *build(gen *g, ir_op op, ir_type t, ir_imm imm, unsigned n, ir_inst **args) {
    /* Some are folded and numbered while building, some are left for the passes. */
    return byte(g) & 1 ? ir_build(&g->b, op, t, ir_with_imm(imm), (ir_args){n, args})
                       : ir_build_raw(&g->b, op, t, ir_with_imm(imm), (ir_args){n, args});
}

/* ----------------------------------------------------------------------------------- operations */

static void plain_operation(gen *g) {
    ir_type t = any_type(g);
    unsigned draw = byte(g);
    ir_op op = (ir_op)((draw + byte(g)) % IR_OP_COUNT);
    const ir_op_info *o = &ir_ops[op];
    if (!defined_is_plain(o->rule) || !defined_takes(o, t) || !(o->levels & L_SPMD)) return;
    if (g->exact && o->flags & F_NOFOLD) return;
    ir_inst *args[3];
    for (unsigned i = 0; i < o->nargs; i++) args[i] = operand(g, t);
    if (o->flags & F_TRAPS) args[1] = defined_divisor(&g->b, operand(g, t));
    if (op == IR_OP_signbit) args[0] = defined_nan(&g->b, args[0]);
    if (op == IR_OP_copysign) args[1] = defined_nan(&g->b, args[1]);
    bool same = o->rule == R_INT || o->rule == R_BITS || o->rule == R_FLT;
    ir_type to = same ? t : ir_with_elem(t, IR_I1);
    keep(g, defined_zero(&g->b, build(g, op, to, (ir_imm){0}, o->nargs, args)));
}

static void conversion(gen *g) {
    ir_type from = any_type(g), to = ir_with_elem(from, ir_elem(any_type(g)));
    ir_op op = defined_conversion(from, to, byte(g) & 1);
    if (op == IR_OP_COUNT) return;
    ir_imm imm = {0};
    if (ir_ops[op].imm == I_ROUND) {
        imm.round.mode = (uint8_t)(op == IR_OP_fptoui || op == IR_OP_fptosi ? IR_RTZ : below(g, 4));
        imm.round.sat = (op == IR_OP_fptoui || op == IR_OP_fptosi) && byte(g) & 1;
    }
    ir_inst *x = operand(g, from);
    keep(g, build(g, op, to, imm, 1, &x));
}

static void bit_cast(gen *g) {
    static const ir_type pairs[][2] = {
        {IR_I32, IR_F32},
        {IR_F64, IR_I64},
        {IR_I16, IR_F16},
        {IR_I16, IR_I8 | 2u << 5},
        {IR_I64 | 2u << 5, IR_I32 | 4u << 5},
        {IR_I16 | 8u << 5, IR_F64 | 2u << 5},
    };
    unsigned p = below(g, 6), way = byte(g) & 1;
    ir_inst *x = defined_nan(&g->b, operand(g, pairs[p][way]));
    keep(g, build(g, IR_OP_bitcast, pairs[p][!way], (ir_imm){0}, 1, &x));
}

static void selection(gen *g) {
    ir_type t = any_type(g), c = byte(g) & 1 ? ir_with_elem(t, IR_I1) : IR_I1;
    ir_inst *args[3];
    args[0] = operand(g, c);
    for (unsigned i = 1; i < 3; i++) args[i] = operand(g, t);
    keep(g, build(g, IR_OP_select, t, (ir_imm){0}, 3, args));
}

static void vector_operation(gen *g) {
    ir_type t = types[8 + below(g, TYPES - 8)];
    unsigned lanes = ir_lanes(t), what = below(g, 4);
    ir_inst *lane = ir_const(g->f, IR_I32, below(g, lanes)), *v = operand(g, t);
    if (what == 0) {
        keep(g, ir_build2(&g->b, IR_OP_extract, ir_elem(t), v, lane));
    } else if (what == 1) {
        keep(g,
             ir_build(&g->b, IR_OP_insert, t, IR_PLAIN, IR_ARGS(v, operand(g, ir_elem(t)), lane)));
    } else if (what == 2) {
        uint8_t mask[IR_MAX_LANES];
        for (unsigned i = 0; i < lanes; i++) mask[i] = (uint8_t)below(g, 2 * lanes);
        keep(g, ir_build_shuffle(&g->b, v, operand(g, t), lanes, mask));
    } else {
        ir_inst *args[IR_MAX_LANES];
        for (unsigned i = 0; i < lanes; i++) args[i] = operand(g, ir_elem(t));
        keep(g, build(g, IR_OP_vec, t, (ir_imm){0}, lanes, args));
    }
}

/* --------------------------------------------------------------------------------------- memory */

/* The address of a slot of a variable: a constant one, or one picked by a value. */
static ir_inst *slot(gen *g, unsigned v) {
    uint64_t size = ir_sizeof(g->f->module, slot_types[v]);
    ir_inst *index = ir_const(g->f, IR_I64, below(g, SLOTS));
    if (byte(g) & 1)
        index = ir_build2(&g->b, IR_OP_and, IR_I64, operand(g, IR_I64),
                          ir_const(g->f, IR_I64, SLOTS - 1));
    ir_inst *bytes = ir_build2(&g->b, IR_OP_mul, IR_I64, index, ir_const(g->f, IR_I64, size));
    return ir_build_ptradd(&g->b, g->variable[v], bytes, true);
}

static void memory_operation(gen *g) {
    unsigned v = below(g, VARIABLES);
    ir_type t = slot_types[v];
    unsigned align = (unsigned)ir_sizeof(g->f->module, t);
    ir_inst *place = slot(g, v);
    if (byte(g) & 1)
        keep(g, ir_build_load(&g->b, t, place, align, 0));
    else
        ir_build_store(&g->b, operand(g, t), place, align, 0);
}

/* An atomic operation on a place of integers. */
static void change_atomically(gen *g, ir_type t, ir_inst *place) {
    static const ir_op ops[] = {IR_OP_atomic_add, IR_OP_atomic_xchg, IR_OP_atomic_xor,
                                IR_OP_atomic_smax};
    ir_type generic = ir_ptr(IR_GENERIC);
    ir_inst *p = ir_build_raw(&g->b, IR_OP_ptrcast, generic, IR_PLAIN, IR_ARGS(place));
    ir_imm order = {.sync = {.scope = IR_SCOPE_DEVICE}};
    ir_op op = ops[below(g, 4)];
    ir_inst *args[] = {p, operand(g, t)};
    ir_inst *old = ir_build_raw(&g->b, op, t, ir_with_imm(order), (ir_args){2, args});
    if (byte(g) & 1) keep(g, old);
}

/* What a place holds is loaded, changed and stored there again.  Between the two there may be
 * another access, and others may use what was loaded. */
static void change_in_place(gen *g) {
    static const ir_op ints[] = {IR_OP_add, IR_OP_sub, IR_OP_and, IR_OP_or,
                                 IR_OP_xor, IR_OP_mul, IR_OP_shl, IR_OP_umax};
    static const ir_op floats[] = {IR_OP_fadd, IR_OP_fsub, IR_OP_fmul, IR_OP_fmax};
    unsigned v = below(g, VARIABLES), how = byte(g);
    ir_type t = slot_types[v];
    ir_inst *place = slot(g, v), *y = operand(g, t);
    unsigned align = how & 1 ? 1 : (unsigned)ir_sizeof(g->f->module, ir_elem(t));
    unsigned flags = how % 16 == 15 ? IR_MEM_VOLATILE : 0;
    ir_inst *x = ir_build_load(&g->b, t, place, align, flags);
    if (how >> 1 & 1) keep(g, x);
    ir_op op = ir_is_float(t) ? floats[below(g, 4)] : ints[below(g, 8)];
    bool swap = byte(g) & 1;
    ir_inst *args[] = {swap ? y : x, swap ? x : y};
    ir_inst *r = defined_zero(&g->b, build(g, op, t, (ir_imm){0}, 2, args));
    bool atomic = t == IR_I32 || t == IR_I64;
    if (how >> 2 & 1 && atomic) change_atomically(g, t, how >> 3 & 1 ? place : slot(g, v));
    ir_build_store(&g->b, r, place, align, flags);
    if (how >> 4 & 1 && atomic) change_atomically(g, t, place);
}

/* Copies a place of a variable, or some of its bytes, to another one of the same variable. */
static void copy_place(gen *g) {
    unsigned v = below(g, VARIABLES);
    uint64_t size = ir_sizeof(g->f->module, slot_types[v]);
    ir_inst *to = slot(g, v), *from = slot(g, v);
    bool whole = byte(g) & 1;
    ir_inst *bytes = ir_const(g->f, IR_I64, whole ? size : 1 + below(g, (unsigned)size));
    ir_inst *args[] = {to, from, bytes};
    ir_build_raw(&g->b, IR_OP_copy, IR_VOID, ir_with_imm(ir_mem_imm(1, 0)), (ir_args){3, args});
}

static void make_variables(gen *g) {
    for (unsigned v = 0; v < VARIABLES; v++) {
        ir_type array = ir_array_type(g->f->module, slot_types[v], SLOTS);
        g->variable[v] = ir_build_alloca(&g->b, array, 16);
    }
    for (unsigned v = 0; v < VARIABLES; v++) {
        uint64_t size = SLOTS * ir_sizeof(g->f->module, slot_types[v]);
        ir_inst *args[] = {g->variable[v], ir_const(g->f, IR_I8, byte(g)),
                           ir_const(g->f, IR_I64, size)};
        ir_imm imm = {.mem = {.align = 4}};
        ir_build_raw(&g->b, IR_OP_fill, IR_VOID, ir_with_imm(imm), (ir_args){3, args});
    }
}

/* --------------------------------------------------------------------------------- control flow */

static void statements(gen *g, unsigned depth);

/* Builds statements at the end of `block`, then forgets the values of the arm; gives what a phi
 * takes from it. */
static ir_inst *arm(gen *g, ir_block *block, ir_block *next, ir_type t, unsigned depth) {
    unsigned n = g->n;
    ir_at_end(&g->b, block);
    statements(g, depth + 1);
    ir_inst *result = operand(g, t);
    ir_build_jmp(&g->b, next);
    g->n = n;
    return result;
}

static void branch(gen *g, unsigned depth) {
    ir_type t = any_type(g);
    ir_block *yes = ir_block_new(g->f, NULL), *no = ir_block_new(g->f, NULL);
    ir_block *next = ir_block_new(g->f, NULL);
    ir_build_br(&g->b, operand(g, IR_I1), yes, no);
    ir_inst *a = arm(g, yes, next, t, depth);
    ir_inst *b = arm(g, no, next, t, depth);
    ir_inst *phi = ir_append_arg(ir_build_phi(next, t), a);
    keep(g, ir_append_arg(phi, b));
    ir_at_end(&g->b, next);
}

enum { CASES = 6 };

/* Numbers of a type, one after the other or with gaps, from 0, the ends of the type, or anything. */
static void case_values(gen *g, ir_type t, uint64_t values[CASES]) {
    unsigned bits = ir_bits(g->f->module, t);
    const uint64_t half = UINT64_C(1) << (bits - 1),
                   firsts[] = {0, 0, 0, half - 3, UINT64_MAX - 2, byte(g)};
    uint64_t first = firsts[below(g, 6)], step = 1 + below(g, 3) * below(g, 8);
    for (unsigned k = 0; k < CASES; k++) values[k] = ir_zext(first + k * step, bits);
}

static void switch_over(gen *g, unsigned depth) {
    static const ir_type of[] = {IR_I32, IR_I32, IR_I8, IR_I16, IR_I64};
    ir_type t = any_type(g), on = of[below(g, 5)];
    ir_block *cases[CASES], *other = ir_block_new(g->f, NULL), *next = ir_block_new(g->f, NULL);
    uint64_t values[CASES];
    unsigned n = byte(g) % 4 ? 3 : CASES;
    case_values(g, on, values);
    for (unsigned k = 0; k < n; k++) cases[k] = ir_block_new(g->f, NULL);
    ir_build_switch(&g->b, operand(g, on), other, (ir_cases){n, values, cases});
    ir_inst *args[CASES + 1] = {arm(g, other, next, t, depth)};
    for (unsigned k = 0; k < n; k++) args[k + 1] = arm(g, cases[k], next, t, depth);
    ir_inst *phi = ir_build_phi(next, t);
    for (unsigned k = 0; k <= n; k++) phi = ir_append_arg(phi, args[k]);
    keep(g, phi);
    ir_at_end(&g->b, next);
}

/* head: counter and a carried value; the body may leave early to the exit. */
static void loop(gen *g, unsigned depth) {
    ir_type t = any_type(g);
    ir_block *head = ir_block_new(g->f, NULL), *body = ir_block_new(g->f, NULL);
    ir_block *latch = ir_block_new(g->f, NULL), *next = ir_block_new(g->f, NULL);
    ir_inst *start = operand(g, t), *count = ir_const(g->f, IR_I32, below(g, 5));
    ir_build_jmp(&g->b, head);
    ir_inst *carried = ir_append_arg(ir_build_phi(head, t), start);
    ir_inst *counter = ir_append_arg(ir_build_phi(head, IR_I32), ir_const(g->f, IR_I32, 0));
    unsigned n = g->n;
    keep(g, carried);
    keep(g, counter);
    ir_at_end(&g->b, head);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, counter, count), body, next);
    ir_at_end(&g->b, body);
    statements(g, depth + 1);
    ir_inst *again = operand(g, t);
    ir_inst *stay = operand(g, IR_I1);
    ir_build_br(&g->b, stay, latch, byte(g) & 1 ? latch : next);
    ir_at_end(&g->b, latch);
    ir_inst *one = ir_const(g->f, IR_I32, 1);
    ir_inst *up = ir_build2(&g->b, IR_OP_add, IR_I32, counter, one);
    ir_build_jmp(&g->b, head);
    g->n = n;
    keep(g, ir_append_arg(carried, again));
    keep(g, ir_append_arg(counter, up));
    ir_at_end(&g->b, next);
}

/* Stores the bytes of a place, 4 at least, in parts of one size, sometimes all but one. */
static void store_parts(gen *g, ir_inst *place, uint64_t bytes) {
    static const ir_type ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    unsigned log = below(g, bytes > 4 ? 4 : 3);
    unsigned n = (unsigned)(bytes >> log), at = below(g, n), some = n - (byte(g) % 8 == 0);
    for (; some--; at = (at + 1) % n) {
        ir_inst *part = operand(g, ints[log]),
                *offset = ir_const(g->f, IR_I64, (uint64_t)at << log);
        ir_build_store(&g->b, part, ir_build_ptradd(&g->b, place, offset, true), 1, 0);
    }
}

/* A place is written in the arms of a branch, as a whole or in parts, and then read. */
static void parts_of_place(gen *g) {
    static const uint8_t of_integers[] = {0, 3, 5, 6, 7, 8};
    unsigned v = of_integers[below(g, sizeof of_integers)];
    ir_type t = slot_types[v];
    ir_inst *place = slot(g, v);
    ir_block *arms[2] = {ir_block_new(g->f, NULL), ir_block_new(g->f, NULL)};
    ir_block *next = ir_block_new(g->f, NULL);
    ir_build_br(&g->b, operand(g, IR_I1), arms[0], arms[1]);
    for (int k = 0; k < 2; k++) {
        ir_at_end(&g->b, arms[k]);
        if (byte(g) % 4 == 0)
            ir_build_store(&g->b, operand(g, t), place, 1, 0);
        else
            store_parts(g, place, ir_sizeof(g->f->module, t));
        ir_build_jmp(&g->b, next);
    }
    ir_at_end(&g->b, next);
    keep(g, ir_build_load(&g->b, t, place, 1, 0));
}

/* ----------------------------------------------------------------------------------- statements */

static void statement(gen *g, unsigned depth) {
    unsigned what = below(g, 28);
    if (depth < MAX_DEPTH && what == 0) {
        branch(g, depth);
    } else if (depth < MAX_DEPTH && what == 1) {
        loop(g, depth);
    } else if (depth < MAX_DEPTH && what == 2) {
        switch_over(g, depth);
    } else if (what < 5) {
        memory_operation(g);
    } else if (what < 7) {
        change_in_place(g);
    } else if (what < 10) {
        conversion(g);
    } else if (what < 11) {
        bit_cast(g);
    } else if (what < 13) {
        selection(g);
    } else if (what < 16) {
        vector_operation(g);
    } else if (what == 26) {
        parts_of_place(g);
    } else if (what == 27) {
        copy_place(g);
    } else {
        plain_operation(g);
    }
}

static void statements(gen *g, unsigned depth) {
    unsigned n = 1 + below(g, depth ? 8 : MAX_STATEMENTS);
    while (n-- && g->at < g->end && g->statements < 600) {
        g->statements++;
        statement(g, depth);
    }
}

/* ------------------------------------------------------------------------------------- function */

/* Everything that was computed goes into the result. */
static ir_inst *digest(gen *g) {
    ir_inst *sum = ir_const(g->f, IR_I64, 0);
    for (unsigned i = 0; i < g->n; i++) sum = defined_digest(&g->b, sum, g->value[i]);
    return sum;
}

bool gen_is_exact(const uint8_t *data, size_t size) { return size && data[size / 2] & 1; }

ir_module *gen_module(ir_ctx *cx, const uint8_t *data, size_t size) {
    ir_module *m = ir_module_new(cx, "gen", 64);
    gen g = {.at = data, .end = data + size, .exact = gen_is_exact(data, size)};
    g.f = ir_func_new(m, "f", IR_I64, TYPES, types);
    g.f->flags |= IR_FUNC_EXPORT;
    ir_builder_init(&g.b, g.f);
    ir_at_end(&g.b, ir_block_new(g.f, NULL));
    for (unsigned i = 0; i < TYPES; i++) keep(&g, g.f->param_val[i]);
    make_variables(&g);
    statements(&g, 0);
    ir_build_ret(&g.b, digest(&g));
    return m;
}

void gen_arguments(const ir_func *f, uint64_t seed, ir_value *args) {
    uint64_t state = seed;
    for (uint32_t p = 0; p < f->nparams; p++) {
        ir_type t = f->param_val[p]->type;
        unsigned bits = ir_bits(f->module, ir_elem(t));
        memset(&args[p], 0, sizeof args[p]);
        for (unsigned lane = 0; lane < ir_lanes(t); lane++) {
            uint64_t r = splitmix64(&state), v = r >> 8;
            if (r % 4 == 0) v = (r >> 8) % 3 - 1;
            if (r % 4 == 1) v = UINT64_C(1) << (r >> 8) % bits;
            if (r % 4 == 2 && ir_is_float(t))
                v = ir_fp_from_int(ir_kind_of(ir_elem(t)), (r >> 8) % 100, true, IR_RTE);
            args[p].bits[lane] = ir_zext(v, bits);
        }
    }
}
