/* operators.h — the table of operators: what each row writes in OpenCL C, and what it computes. */
#ifndef SPVFUSE_TESTS_OPERATORS_H
#define SPVFUSE_TESTS_OPERATORS_H

#include "ir/ir.h"

typedef enum {
    OP_NEG,
    OP_INVERT,
    OP_NOT,
    OP_INC,
    OP_DEC,
    OP_ADD,
    OP_SUB,
    OP_SUB_FROM, /* right - left */
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHL,
    OP_SHR,
    OP_TWICE, /* left + left */
    OP_RIGHT, /* right */
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_BOTH,
    OP_EITHER,
    OP_LEAST /* left < right ? left : right */
} operation;

/* L: the place; R: the right operand, S: lane 0 of it; T(…): a truth value as what L
 * is; j: 0, which the compiler does not know. */
typedef struct {
    const char *text;
    operation op;
    bool ints_only;
} operator_row;

extern const operator_row operator_rows[];
extern const unsigned operator_row_count;

typedef struct {
    const char *name; /* in OpenCL C */
    ir_kind kind;
    bool is_signed;
} lane_type;

extern const lane_type lane_types[];
extern const unsigned lane_type_count;

/* Where L is.  All kernels take (places, right operands, 0), one element for each row and item. */
typedef enum {
    IN_GLOBAL,
    IN_LOCAL,
    IN_PRIVATE,
    FROM_CONSTANT, /* global, with the right operand in constant memory */
    FROM_PROGRAM,  /* the same, in a constant array of the program */
    IN_STRUCT,
    IN_SWIZZLE,
    IN_ARRAY, /* of the work-item, with an index that varies */
    IN_VOLATILE,
    PLACES
} place;

extern const char *const place_names[PLACES];

enum { ITEMS = 4, MAX_LANES = 16, WIDTHS = 6 };
extern const unsigned widths[WIDTHS]; /* 1, 2, 3, 4, 8, 16 */

/* Does the row work on the type, for elements of so many lanes? */
bool has_row(const operator_row *row, const lane_type *t, unsigned lanes);
/* The lanes that a swizzle of an element takes, as digits: "20"; "" where there is none. */
const char *swizzle_of(unsigned lanes);

/* The kernels of all places and widths for a type. (operators_source.c) */
void write_source(const lane_type *t);
/* A lane of the result; `scalar`: the element has one lane. (operators_lane.c) */
uint64_t compute_lane(const lane_type *t, operation op, bool scalar, uint64_t x, uint64_t y);
/* A random lane.  Divisors are small and positive. */
uint64_t some_lane(uint64_t *state, const lane_type *t, bool divides);
bool has_divisor(const operator_row *row);
/* A lane of the n-th right operand in the program's array for so many lanes. */
uint64_t program_lane(const lane_type *t, unsigned lanes, unsigned n, unsigned lane);

#endif
