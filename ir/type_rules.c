/* type_rules.c — which types an operation takes, as type_rules.def says.
 *
 * A rule has a `fit` for the result and one for each operand.  There are three kinds: a single type
 * (T_I32), a type that follows from the result or from operand 0 (T_SAME, T_ELEM_0), and a class of
 * types (T_INTS), which `type_classes` describes (type_rules.h).
 *
 * Of several errors, the first in the order result, operands is reported; a result that follows
 * from operand 0 comes last.  What depends on more than types (callees, lanes of a constant index,
 * masks) is checked by the verifier.
 */
#include "ir/type_rules.h"

/* The types of the instruction whose operand or result is checked. */
typedef struct {
    const ir_module *m;
    ir_type result, first; /* first: of operand 0 */
} types;

/* --------------------------------------------------------------------------------- single types */

static ir_type each(ir_type shape, ir_type elem) {
    return ir_is_in_table(shape) ? IR_VOID : ir_with_elem(shape, elem);
}

static ir_type ints_as_wide(const ir_module *m, ir_type t) {
    unsigned bits = ir_is_float(t) ? ir_bits(m, t) : 0;
    if (ir_is_int(t)) return t;
    return bits ? each(t, bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64) : IR_VOID;
}

/* The type that follows from the result, or IR_VOID. */
static ir_type type_from_result(const ir_module *m, ir_type result, fit f) {
    switch (f) {
    case T_SAME: return result;
    case T_ELEM: return ir_elem(result);
    case T_SIZE: return ir_size_type(m);
    case T_I32_EACH: return each(result, IR_I32);
    case T_I1_EACH: return each(result, IR_I1);
    case T_INTS_AS_WIDE: return ints_as_wide(m, result);
    default: return IR_VOID;
    }
}

/* The only type that fits; IR_VOID: the fit is a class of types. */
static ir_type single_type(const types *t, fit f) {
    switch (f) {
    case T_I1: return IR_I1;
    case T_I8: return IR_I8;
    case T_I32: return IR_I32;
    case T_PRIVATE: return ir_ptr(IR_PRIVATE);
    case T_GENERIC: return ir_ptr(IR_GENERIC);
    case T_EVENT: return IR_EVENT;
    case T_SAMPLER: return IR_SAMPLER;
    case T_BALLOT: return ir_vector(IR_I32, 4);
    case T_SAME_0: return t->first;
    case T_ELEM_0: return ir_elem(t->first);
    case T_I1_EACH_0: return each(t->first, IR_I1);
    case T_I32_EACH_0: return each(t->first, IR_I32);
    default: return type_from_result(t->m, t->result, f);
    }
}

ir_type ir_operand_type(const ir_module *m, ir_op op, ir_type result, unsigned n) {
    const uint8_t *f = type_rules[ir_ops[op].rule] + 1;
    while (n-- && f[1]) f++;
    return result != IR_VOID && !ir_is_aggregate(result) ? type_from_result(m, result, (fit)*f)
                                                         : IR_VOID;
}

/* -------------------------------------------------------------------------------------- classes */

static bool has_lanes(fit f, ir_type t) {
    unsigned lanes = ir_lanes(t);
    return type_classes[f].lanes >> (lanes < 31 ? lanes : 31) & 1;
}

static inline bool is_in_class(fit f, ir_type t) {
    if (!(type_classes[f].kinds >> ir_kind_of(t) & 1)) return false;
    return type_classes[f].lanes == ANY || has_lanes(f, t);
}

static bool is_generic(ir_type t) { return ir_is_ptr(t) && ir_space_of(t) == IR_GENERIC; }

/* Does t, a type of the class, also suit operand 0? */
static bool suits_first(const types *x, fit f, ir_type t) {
    bool same_lanes = !ir_is_in_table(x->first) && ir_lanes(t) == ir_lanes(x->first);
    unsigned bits = ir_bits(x->m, t), first = ir_bits(x->m, x->first);
    switch (f) {
    case T_NARROWER_0: return same_lanes && bits < first;
    case T_WIDER_0: return same_lanes && bits > first;
    case T_OTHER_FLOATS_0: return same_lanes && t != x->first;
    case T_AS_MANY_BITS_0: return bits * ir_lanes(t) == first * ir_lanes(x->first);
    case T_OTHER_SPACE_0: return is_generic(t) != is_generic(x->first);
    case T_LANES_OF_0: return ir_elem(t) == ir_elem(x->first);
    default: return same_lanes; /* T_INTS_LIKE_0, T_FLOATS_LIKE_0, T_OFFSETS_0 */
    }
}

/* ----------------------------------------------------------------------------------------- fits */

static bool fits_others(const types *x, fit f, ir_type t) {
    if (f == T_CONDITION) return t == IR_I1 || (ir_is_vector(t) && t == each(x->result, IR_I1));
    if (f == T_OFFSETS) return is_in_class(f, t) && t == each(x->result, ir_elem(t));
    return f < T_NARROWER_0 ? t == single_type(x, f) : is_in_class(f, t) && suits_first(x, f, t);
}

static inline bool does_fit(const types *x, fit f, ir_type t) {
    if (f == T_SAME) return t == x->result;
    return f >= T_ANY ? is_in_class(f, t) : fits_others(x, f, t);
}

/* The type of operand n of `operands`. */
typedef ir_type type_at(const void *operands, unsigned n);

static ir_type type_in_array(const void *operands, unsigned n) {
    return ((const ir_type *)operands)[n];
}

static ir_type type_of_arg(const void *operands, unsigned n) { return ir_arg(operands, n)->type; }

/* Inlined, so that no operand costs a call. */
static inline bool do_all_fit(const types *x, const uint8_t *f, unsigned n, type_at *at,
                              const void *operands) {
    if (!does_fit(x, (fit)*f++, x->result)) return false;
    for (unsigned k = 0; k < n; k++, f += f[1] != T_NONE)
        if (!does_fit(x, (fit)*f, at(operands, k))) return false;
    return true;
}

bool ir_types_fit(const ir_module *m, ir_op op, ir_type result, unsigned n,
                  const ir_type *operand) {
    const types x = {m, result, n ? operand[0] : IR_VOID};
    return do_all_fit(&x, type_rules[ir_ops[op].rule], n, type_in_array, operand);
}

bool ir_types_of_inst_fit(const ir_module *m, const ir_inst *i) {
    const types x = {m, i->type, i->nargs ? ir_arg(i, 0)->type : IR_VOID};
    return do_all_fit(&x, type_rules[ir_info(i)->rule], i->nargs, type_of_arg, i);
}

static ir_type_error error_of(const types *x, fit f, int operand, ir_type t) {
    return (ir_type_error){operand, t, single_type(x, f), type_classes[f].name};
}

ir_type_error ir_find_type_error(const ir_module *m, ir_op op, ir_type result, unsigned n,
                                 const ir_type *operand) {
    const uint8_t *rule = type_rules[ir_ops[op].rule], *f = rule + 1;
    const fit of_result = (fit)rule[0];
    const types x = {m, result, n ? operand[0] : IR_VOID};
    bool follows_first = of_result >= T_SAME_0 && of_result <= T_LANES_OF_0;
    if (!follows_first && !does_fit(&x, of_result, result))
        return error_of(&x, of_result, IR_RESULT, result);
    for (unsigned k = 0; k < n; k++, f += f[1] != T_NONE)
        if (!does_fit(&x, (fit)*f, operand[k])) return error_of(&x, (fit)*f, (int)k, operand[k]);
    return error_of(&x, of_result, IR_RESULT, result);
}
