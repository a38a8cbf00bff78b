/* lanes_dots.c — sums of products of neighbouring bytes and words, for targets that have such sums
 * as one operation.
 *
 * The factors are parts of numbers, cut out by shifts or as lanes, or elements of memory one after
 * the other.  Each of them has a sign or none.  Sums have the products of one to three lanes, from
 * the first part or from the last, and something else.
 */
#include "tests/fuzz/lanes_impl.h"

enum { MOST_LANES = 3, LANE = 32 };

/* Where the parts of one factor come from. */
typedef struct {
    ir_inst *word[MOST_LANES];
    ir_inst *place; /* in memory, or NULL */
    ir_op extend;
    unsigned size;
} factor;

static factor choose_factor(lanes *g, ir_op extend, unsigned size, unsigned n) {
    factor x = {.extend = extend, .size = size};
    if (lanes_byte(g) & 1) x.place = lanes_input_place(g, n * LANE / 8);
    for (unsigned k = 0; k < n && !x.place; k++) x.word[k] = lanes_some(g, IR_I32);
    return x;
}

static ir_inst *load_part(lanes *g, const factor *x, unsigned k) {
    ir_inst *by = lanes_number(g, IR_I64, k * x->size / 8);
    ir_inst *p = ir_build_ptradd(&g->b, x->place, by, true);
    return ir_build_load(&g->b, x->size == 8 ? IR_I8 : IR_I16, p, 1, 0);
}

static ir_inst *part_of_word(lanes *g, const factor *x, unsigned k) {
    ir_type part = x->size == 8 ? IR_I8 : IR_I16;
    unsigned parts = LANE / x->size;
    ir_inst *word = x->word[k / parts];
    if (lanes_byte(g) & 1) {
        ir_inst *all = ir_build1(&g->b, IR_OP_bitcast, ir_vector(part, parts), word);
        return ir_build_extract(&g->b, all, k % parts);
    }
    ir_inst *by = lanes_number(g, IR_I32, k % parts * x->size);
    return ir_build1(&g->b, IR_OP_trunc, part, lanes_op(g, IR_OP_lshr, word, by));
}

/* Part k, extended. */
static ir_inst *part_of(lanes *g, const factor *x, unsigned k) {
    ir_inst *v = x->place ? load_part(g, x, k) : part_of_word(g, x, k);
    return ir_build1(&g->b, x->extend, IR_I32, v);
}

void lanes_dot_product(lanes *g) {
    unsigned draw = lanes_byte(g), more = lanes_byte(g), size = draw & 3 ? 8 : 16;
    unsigned n = draw & 8 ? 1 : 1 + draw / 16 % MOST_LANES, parts = n * LANE / size;
    unsigned signs = lanes_byte(g); /* half of the products have a factor with and one without */
    factor x = choose_factor(g, signs & 1 ? IR_OP_sext : IR_OP_zext, size, n);
    factor y = choose_factor(g, signs & 2 ? IR_OP_sext : IR_OP_zext, size, n);
    ir_inst *sum = more % 8 == 7 ? lanes_some(g, IR_I32) : NULL;
    for (unsigned k = 0; k < parts; k++) {
        unsigned at = draw & 4 ? parts - 1 - k : k;
        ir_inst *a = part_of(g, &x, at), *b = part_of(g, &y, at);
        ir_inst *product = lanes_op(g, IR_OP_mul, a, b);
        sum = sum ? lanes_op(g, IR_OP_add, sum, product) : product;
    }
    ir_op last = more / 8 % 4 == 3 ? IR_OP_add : IR_OP_saddsat;
    lanes_put(g, lanes_op(g, last, sum, lanes_some(g, IR_I32)));
}
