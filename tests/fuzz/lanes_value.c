/* lanes_value.c — values of random kernels: variables of many types, and operations on them.
 *
 * Variables are memory of the item, which the passes turn into values, so control flow may be of
 * any shape.
 */
#include "tests/fuzz/lanes_impl.h"

static const ir_type types[] = {IR_I1,
                                IR_I32,
                                IR_F32,
                                IR_I64,
                                IR_I8,
                                IR_I16,
                                IR_F64,
                                IR_F16,
                                IR_BF16,
                                IR_F16 | 2u << 5,
                                IR_F16 | 8u << 5,
                                IR_F32 | 2u << 5,
                                IR_I32 | 3u << 5,
                                IR_F32 | 4u << 5,
                                IR_I8 | 4u << 5,
                                IR_I16 | 8u << 5,
                                IR_I8 | 16u << 5,
                                IR_F64 | 2u << 5,
                                IR_I64 | 2u << 5};
enum { TYPES = sizeof types / sizeof *types, ALWAYS = 4 };

/* ------------------------------------------------------------------------------------ variables */

static ir_inst *new_variable(lanes *g, ir_type t) {
    return ir_build_alloca(&g->b, t, (unsigned)ir_alignof(g->f->module, t));
}

ir_type lanes_any_type(lanes *g) {
    return g->variable[lanes_below(g, g->nvariables)]->imm.var->type;
}

ir_inst *lanes_get(lanes *g, ir_inst *v) {
    return ir_build_load(&g->b, v->imm.var->type, v, v->imm.var->align, 0);
}

void lanes_set(lanes *g, ir_inst *variable, ir_inst *v) {
    ir_build_store(&g->b, v, variable, variable->imm.var->align, 0);
}

void lanes_put(lanes *g, ir_inst *v) {
    unsigned at = lanes_below(g, g->nvariables);
    for (unsigned k = 0; k < g->nvariables; k++, at = (at + 1) % g->nvariables)
        if (g->variable[at]->imm.var->type == v->type) {
            lanes_set(g, g->variable[at], v);
            return;
        }
}

static uint64_t special_bits(lanes *g, ir_type t) {
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e30, -1e-30};
    unsigned bits = ir_bits(NULL, ir_elem(t)), c = lanes_byte(g);
    if (ir_is_float(t)) {
        ir_kind k = ir_kind_of(ir_elem(t));
        if (c >= 248) return c & 1 ? ir_fp_nan(k) : ir_fp_inf(k, c & 2);
        return ir_fp_from_double(k, c < 128 ? (double)c / 4 : floats[c % 8]);
    }
    if (c < 128) return ir_zext(c, bits);
    switch (c % 4) {
    case 0: return ir_zext(UINT64_MAX, bits);
    case 1: return UINT64_C(1) << (bits - 1);
    case 2: return UINT64_C(1) << (c % bits);
    default: return ir_zext(c * UINT64_C(0x0101010101010101), bits);
    }
}

static ir_inst *constant(lanes *g, ir_type t) {
    uint64_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < ir_lanes(t); k++) lane[k] = special_bits(g, t);
    return ir_const_lanes(g->f, t, lane);
}

/* What all items have, as an i32, or what tells them apart. */
static ir_inst *query(lanes *g) {
    static const ir_op ops[] = {IR_OP_global_id,    IR_OP_local_id,    IR_OP_group_id,
                                IR_OP_local_size,   IR_OP_global_size, IR_OP_num_groups,
                                IR_OP_global_offset};
    static const bool asks_group[] = {[1] = true, [2] = true, [3] = true, [5] = true, [6] = false};
    enum { OPS = sizeof ops / sizeof *ops };
    unsigned k = lanes_below(g, OPS + 5);
    if (g->calm && (k == OPS + 1 || (k < OPS && asks_group[k]))) k = OPS + 3;
    if (k == OPS) return ir_build_query(&g->b, IR_OP_global_linear_id, IR_I32, 0);
    if (k == OPS + 1) return ir_build_query(&g->b, IR_OP_local_linear_id, IR_I32, 0);
    if (k == OPS + 2) return ir_build_query(&g->b, IR_OP_work_dim, IR_I32, 0);
    if (k == OPS + 3) return g->u;
    if (k == OPS + 4) return g->loops ? g->counter[lanes_below(g, g->loops)] : g->n;
    return ir_build_query(&g->b, ops[k], IR_I32, lanes_below(g, 4) % 3);
}

static ir_inst *of_all(lanes *g, ir_type t) {
    if (t == IR_I64) return g->w;
    if (t == IR_F32) return g->x;
    if (t == IR_I32) return query(g);
    return NULL;
}

ir_inst *lanes_some(lanes *g, ir_type t) {
    unsigned draw = lanes_byte(g), at = lanes_below(g, g->nvariables);
    ir_inst *v = draw % 8 == 7 ? of_all(g, t) : NULL;
    if (v) return v;
    for (unsigned k = 0; draw % 8 != 6 && k < g->nvariables; k++, at = (at + 1) % g->nvariables)
        if (g->variable[at]->imm.var->type == t) return lanes_get(g, g->variable[at]);
    return constant(g, t);
}

static ir_inst *first_value(lanes *g, ir_type t, ir_inst *id) {
    ir_inst *v = constant(g, t);
    if (lanes_below(g, 4) == 3 || t == IR_I1) return v;
    ir_inst *x = lanes_as(g, id, ir_elem(t));
    if (ir_is_vector(t)) return ir_build_insert(&g->b, v, x, lanes_below(g, ir_lanes(t)));
    return x;
}

/* All elements have a value, so that any may be read. */
static void make_array(lanes *g) {
    static const ir_type cells[] = {IR_I32, IR_F32,           IR_I8,           IR_I16, IR_I64,
                                    IR_F64, IR_F32 | 2u << 5, IR_I32 | 4u << 5};
    g->cell = cells[lanes_below(g, 8)];
    g->array = new_variable(g, ir_array_type(g->f->module, g->cell, LANES_ARRAY));
    uint64_t size = ir_sizeof(g->f->module, g->cell);
    for (unsigned k = 0; k < LANES_ARRAY; k++) {
        ir_inst *at = ir_build_ptradd(&g->b, g->array, ir_const(g->f, IR_I64, size * k), true);
        ir_build_store(&g->b, lanes_some(g, g->cell), at,
                       (unsigned)ir_alignof(g->f->module, g->cell), 0);
    }
}

void lanes_make_variables(lanes *g) {
    ir_inst *id = ir_build_query(&g->b, IR_OP_global_linear_id, IR_I32, 0);
    g->nvariables = ALWAYS + 1 + lanes_below(g, LANES_VARIABLES - ALWAYS);
    for (unsigned k = 0; k < g->nvariables; k++)
        g->variable[k] = new_variable(g, types[k < ALWAYS ? k : lanes_below(g, TYPES)]);
    g->pointer = new_variable(g, ir_ptr(IR_GLOBAL));
    g->fuel = new_variable(g, IR_I32);
    for (unsigned k = 0; k < g->nvariables; k++)
        lanes_set(g, g->variable[k], first_value(g, g->variable[k]->imm.var->type, id));
    make_array(g);
}

/* ---------------------------------------------------------------------------------- conversions */

/* Floats that fit into any integer but i1. */
static ir_inst *in_bounds(lanes *g, ir_inst *x, bool is_signed) {
    ir_inst *low = ir_const_float(g->f, x->type, is_signed ? -100 : 0);
    ir_inst *high = ir_const_float(g->f, x->type, 100);
    x = ir_build2(&g->b, IR_OP_fmax, x->type, x, low);
    return ir_build2(&g->b, IR_OP_fmin, x->type, x, high);
}

/* The lanes of x as elements of another type, or x. */
static ir_inst *convert(lanes *g, ir_inst *x, ir_type elem) {
    unsigned how = lanes_byte(g);
    bool is_signed = how & 1, to_int = ir_is_float(x->type) && ir_is_int(elem);
    ir_op op = defined_conversion(x->type, elem, is_signed);
    ir_imm imm = {0};
    if (op == IR_OP_COUNT) return x;
    if (ir_ops[op].imm == I_ROUND) imm.round.mode = (uint8_t)(to_int ? IR_RTZ : how >> 2 & 3);
    if (to_int) imm.round.sat = how >> 1 & 1;
    if (to_int && !imm.round.sat) x = in_bounds(g, x, is_signed);
    return ir_build(&g->b, op, ir_with_elem(x->type, elem), ir_with_imm(imm), IR_ARGS(x));
}

ir_inst *lanes_as(lanes *g, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    if (ir_is_vector(v->type)) v = ir_build_extract(&g->b, v, lanes_below(g, ir_lanes(v->type)));
    if (v->type == IR_I1 && ir_is_float(t)) v = ir_build1(&g->b, IR_OP_zext, IR_I32, v);
    if (t == IR_I1 && ir_is_float(v->type))
        return ir_build2(&g->b, IR_OP_folt, IR_I1, v, ir_const_float(g->f, v->type, 1.5));
    v = convert(g, v, t);
    /* The same width, of the other kind. */
    if (v->type != t) v = ir_build1(&g->b, IR_OP_bitcast, t, defined_nan(&g->b, v));
    return v;
}

static void conversion(lanes *g) {
    ir_type from = lanes_any_type(g), to = lanes_any_type(g);
    ir_inst *x = lanes_some(g, from);
    if (ir_lanes(from) == ir_lanes(to) && ir_is_vector(from) && !ir_is_bool(to)) {
        lanes_put(g, convert(g, x, ir_elem(to)));
        return;
    }
    ir_inst *lane = lanes_as(g, x, ir_elem(to));
    if (ir_is_vector(to)) {
        ir_inst *v = lanes_some(g, to);
        lane = ir_build_insert(&g->b, v, lane, lanes_below(g, ir_lanes(to)));
    }
    lanes_put(g, lane);
}

static void bit_cast(lanes *g) {
    static const ir_type pairs[][2] = {{IR_I32, IR_F32},
                                       {IR_F64, IR_I64},
                                       {IR_I16, IR_F16},
                                       {IR_I8 | 4u << 5, IR_I32},
                                       {IR_I64, IR_F32 | 2u << 5},
                                       {IR_I16 | 8u << 5, IR_F64 | 2u << 5},
                                       {IR_I8 | 16u << 5, IR_F32 | 4u << 5}};
    unsigned p = lanes_below(g, 7), way = lanes_byte(g) & 1;
    ir_inst *x = defined_nan(&g->b, lanes_some(g, pairs[p][way]));
    lanes_put(g, ir_build1(&g->b, IR_OP_bitcast, pairs[p][!way], x));
}

/* ----------------------------------------------------------------------------------- operations */

/* Takes values of one float type and of i32 with as many lanes, or gives the latter. */
static bool is_mixed(ir_rule r) { return r == R_FLT_INT || r == R_FLT_TO_I; }

/* Kernels whose bytes must be those of device check have no operation whose last bits the target
 * decides. */
static bool is_allowed(const lanes *g, ir_op op, ir_type t) {
    const ir_op_info *o = &ir_ops[op];
    bool is_known = o->levels & L_SPMD && (defined_is_plain(o->rule) || is_mixed(o->rule));
    bool is_exact = !(o->flags & F_NOFOLD || op == IR_OP_mad);
    return is_known && defined_takes(o, t) && (!g->k->exact || is_exact);
}

/* The nth of the operations that take the type, counted in a circle. */
static ir_op nth_op(const lanes *g, ir_type t, unsigned n) {
    ir_op fit[IR_OP_COUNT];
    unsigned count = 0;
    for (ir_op op = 0; op < IR_OP_COUNT; op++)
        if (is_allowed(g, op, t)) fit[count++] = op;
    return fit[n % count];
}

static ir_op usual_op(ir_type t, unsigned k) {
    static const ir_op ints[] = {IR_OP_add,  IR_OP_sub,  IR_OP_mul, IR_OP_and,
                                 IR_OP_or,   IR_OP_xor,  IR_OP_shl, IR_OP_lshr,
                                 IR_OP_umin, IR_OP_smax, IR_OP_slt, IR_OP_eq};
    static const ir_op floats[] = {IR_OP_fadd, IR_OP_fsub, IR_OP_fmul, IR_OP_fmin,
                                   IR_OP_fabs, IR_OP_folt, IR_OP_fneg, IR_OP_fdiv};
    static const ir_op bits[] = {IR_OP_and, IR_OP_or, IR_OP_xor};
    if (ir_is_bool(t)) return bits[k % 3];
    return ir_is_float(t) ? floats[k % 8] : ints[k % 12];
}

/* On values of type `from`, and as one of that type if the result has type t. */
static void apply(lanes *g, ir_op op, ir_type t, ir_type from) {
    const ir_op_info *o = &ir_ops[op];
    ir_inst *args[3];
    for (unsigned i = 0; i < o->nargs; i++) {
        args[i] = lanes_some(g, from);
        if (from != t) args[i] = lanes_as(g, args[i], t);
    }
    if (o->flags & F_TRAPS) args[1] = defined_divisor(&g->b, args[1]);
    if (op == IR_OP_signbit) args[0] = defined_nan(&g->b, args[0]);
    if (op == IR_OP_copysign) args[1] = defined_nan(&g->b, args[1]);
    if (o->rule == R_FLT_INT) args[1] = lanes_some(g, ir_with_elem(t, IR_I32));
    bool same = o->rule == R_INT || o->rule == R_BITS || o->rule == R_FLT || o->rule == R_FLT_INT;
    ir_type to = same ? t : ir_with_elem(t, is_mixed(o->rule) ? IR_I32 : IR_I1);
    ir_inst *r = ir_build(&g->b, op, to, IR_PLAIN, (ir_args){o->nargs, args});
    r = defined_zero(&g->b, r);
    if (ir_is_bool(r->type) && !same && ir_is_vector(t))
        r = ir_build1(&g->b, lanes_byte(g) & 1 ? IR_OP_any : IR_OP_all, IR_I1, r);
    lanes_put(g, r->type == t ? lanes_as(g, r, from) : r);
}

/* One of those that programs have most, or some of all; these on floats of any width. */
static void operation(lanes *g) {
    static const ir_type floats[] = {IR_F16, IR_F32, IR_F64};
    ir_type t = lanes_any_type(g), from = t;
    unsigned draw = lanes_byte(g), k = lanes_byte(g);
    bool any = draw % 8 >= (g->k->exact ? 4 : 1);
    if (!any) apply(g, usual_op(t, k), t, t);
    for (unsigned n = 0; any && n < (g->k->exact ? 6 : 8); n++) {
        if (ir_is_float(from) && !ir_is_vector(from)) t = floats[(draw / 8 + n) % 3];
        apply(g, nth_op(g, t, k + n), t, from);
    }
}

/* A division by what may be 0, where it is not. */
static void guarded_division(lanes *g) {
    static const ir_op ops[] = {IR_OP_udiv, IR_OP_urem, IR_OP_sdiv, IR_OP_srem};
    ir_type t = lanes_any_type(g);
    if (!ir_is_int(t) || ir_is_bool(t) || ir_is_vector(t)) t = IR_I32;
    ir_block *yes = lanes_block(g), *next = lanes_block(g);
    ir_inst *x = lanes_some(g, t), *y = lanes_some(g, t);
    y = lanes_op(g, IR_OP_and, y, lanes_number(g, t, lanes_below(g, 8)));
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ne, IR_I1, y, lanes_number(g, t, 0)), yes, next);
    ir_at_end(&g->b, yes);
    lanes_put(g, lanes_op(g, ops[lanes_below(g, 4)], x, y));
    ir_build_jmp(&g->b, next);
    ir_at_end(&g->b, next);
}

static void selection(lanes *g) {
    ir_type t = lanes_any_type(g);
    ir_inst *c = lanes_test(g), *x = lanes_some(g, t), *y = lanes_some(g, t);
    lanes_put(g, ir_build_select(&g->b, c, x, y));
}

/* A component whose number is a value. */
static ir_inst *any_component(lanes *g, ir_inst *v) {
    unsigned n = ir_lanes(v->type) == 3 ? 2 : ir_lanes(v->type);
    ir_inst *k = lanes_op(g, IR_OP_and, lanes_some(g, IR_I32), lanes_number(g, IR_I32, n - 1));
    return ir_build2(&g->b, IR_OP_extract, ir_elem(v->type), v, k);
}

static void components(lanes *g) {
    ir_type t = lanes_any_type(g);
    if (!ir_is_vector(t)) {
        selection(g);
        return;
    }
    unsigned n = ir_lanes(t);
    ir_inst *v = lanes_some(g, t), *args[IR_MAX_LANES];
    uint8_t mask[IR_MAX_LANES];
    switch (lanes_below(g, 5)) {
    case 0: lanes_put(g, ir_build_extract(&g->b, v, lanes_below(g, n))); break;
    case 1:
        for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)lanes_below(g, 2 * n);
        lanes_put(g, ir_build_shuffle(&g->b, v, lanes_some(g, t), n, mask));
        break;
    case 2:
        for (unsigned k = 0; k < n; k++) args[k] = lanes_some(g, ir_elem(t));
        lanes_put(g, ir_build_vec(&g->b, t, args));
        break;
    case 3: lanes_put(g, any_component(g, v)); break;
    default:
        v = ir_build_insert(&g->b, v, lanes_some(g, ir_elem(t)), lanes_below(g, n));
        lanes_put(g, v);
    }
}

ir_inst *lanes_test(lanes *g) {
    ir_type t = lanes_below(g, 4) == 3 ? IR_F32 : IR_I32;
    unsigned how = lanes_below(g, 6);
    if (how == 5) return lanes_get(g, g->variable[0]);
    ir_inst *x = lanes_some(g, t), *y = lanes_some(g, t);
    if (t == IR_F32) return ir_build2(&g->b, IR_OP_folt, IR_I1, x, y);
    if (how == 4) return ir_build2(&g->b, IR_OP_slt, IR_I1, x, g->n);
    if (how < 2)
        return ir_build1(&g->b, IR_OP_trunc, IR_I1,
                         lanes_op(g, IR_OP_lshr, x, lanes_number(g, IR_I32, lanes_below(g, 4))));
    return ir_build2(&g->b, how == 2 ? IR_OP_ult : IR_OP_sle, IR_I1, x, y);
}

ir_inst *lanes_common_test(lanes *g) {
    ir_inst *x = g->loops && lanes_byte(g) & 1 ? g->counter[g->loops - 1] : g->u;
    if (g->loops && !g->alike) x = g->u;
    x = lanes_op(g, IR_OP_lshr, x, lanes_number(g, IR_I32, lanes_below(g, 8)));
    return ir_build1(&g->b, IR_OP_trunc, IR_I1, x);
}

/* Of two vectors of floats, if there is a variable that has some. */
static void float_dot_product(lanes *g) {
    unsigned at = lanes_below(g, g->nvariables);
    for (unsigned k = 0; k < g->nvariables; k++, at = (at + 1) % g->nvariables) {
        ir_type t = g->variable[at]->imm.var->type;
        if (!ir_is_vector(t) || !ir_is_float(t)) continue;
        ir_inst *x = lanes_get(g, g->variable[at]);
        lanes_put(g, ir_build2(&g->b, IR_OP_dot, ir_elem(t), x, lanes_some(g, t)));
        return;
    }
}

static void selection_or_product(lanes *g) {
    unsigned draw = lanes_byte(g);
    if (draw & 1)
        selection(g);
    else if (draw & 2 && !g->k->exact)
        float_dot_product(g);
    else
        lanes_dot_product(g);
}

void lanes_compute(lanes *g) {
    unsigned what = lanes_below(g, 16);
    if (what < 9)
        operation(g);
    else if (what < 11)
        conversion(g);
    else if (what < 12)
        bit_cast(g);
    else if (what < 13)
        guarded_division(g);
    else if (what < 14)
        selection_or_product(g);
    else
        components(g);
}
