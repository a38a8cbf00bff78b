/* type_rules.h — the types that the rows of type_rules.def name, for type_rules.c and rulegen. */
#ifndef SPVFUSE_TYPE_RULES_H
#define SPVFUSE_TYPE_RULES_H

#include "ir/ir.h"

typedef enum {
    T_NONE,
    /* single types */
    T_I1,
    T_I8,
    T_I32,
    T_PRIVATE, /* ptr.private */
    T_GENERIC, /* ptr.generic */
    T_EVENT,
    T_SAMPLER,
    T_BALLOT, /* v4i32 */
    T_SIZE,   /* an integer as wide as a pointer */
    /* from the result */
    T_SAME,
    T_ELEM,
    T_I32_EACH,     /* i32 for each lane */
    T_I1_EACH,      /* i1 for each lane */
    T_CONDITION,    /* i1, or i1 for each lane */
    T_OFFSETS,      /* i32 or i64 for each lane */
    T_INTS_AS_WIDE, /* integers as wide as the numbers of the result */
    /* from operand 0 */
    T_SAME_0,
    T_ELEM_0,
    T_I1_EACH_0,
    T_I32_EACH_0,
    /* classes of types, from operand 0 */
    T_NARROWER_0,
    T_WIDER_0,
    T_INTS_LIKE_0,
    T_FLOATS_LIKE_0,
    T_OTHER_FLOATS_0,
    T_AS_MANY_BITS_0,
    T_OTHER_SPACE_0,
    T_OFFSETS_0,
    T_LANES_OF_0,
    /* classes of types */
    T_ANY,
    T_VOID,
    T_VALUE,
    T_VALUE_OR_VOID,
    T_INT,
    T_FLOAT,
    T_POINTER,
    T_INT_OR_POINTER,
    T_SCALAR,
    T_INTS,
    T_INTS_OR_I1,
    T_FLOATS,
    T_FLOATS_3_OR_4,
    T_NUMBERS,
    T_COMPARABLE,
    T_VECTOR,
    T_VECTOR_OF_I1,
    T_NUMBERS_EACH, /* a vector of integers or floats */
    T_I32_OR_I64,
    T_LOCAL_ID,
    T_IMAGE,
    T_SAMPLED_IMAGE,
    T_COORDINATE,
    T_TEXEL,
    T_SIZES
} fit;

/* Sets of kinds. */
#define BIT(kind) (UINT32_C(1) << IR_##kind)
#define INTS (BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define FLOATS (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define OFFSETS (BIT(I32) | BIT(I64))
#define VALUES (~(BIT(VOID) | BIT(STRUCT) | BIT(ARRAY)))

/* Sets of numbers of lanes; bit 31 stands for 31 and more. */
#define ANY 0
#define LANES(n) (UINT32_C(1) << (n))
#define VECTORS (~(LANES(0) | LANES(1)))
#define UP_TO_4 (LANES(1) | LANES(2) | LANES(3) | LANES(4))

/* The types that fit.  T_SAME, T_ELEM, T_SAME_0 and T_ELEM_0 have no row: they depend on another
 * type alone. */
static const struct {
    uint32_t kinds, lanes;
    const char *name; /* in messages; NULL: a single type, or no value */
} type_classes[] = {
    [T_I1] = {BIT(I1), LANES(1), NULL},
    [T_I8] = {BIT(I8), LANES(1), NULL},
    [T_I32] = {BIT(I32), LANES(1), NULL},
    [T_PRIVATE] = {BIT(PTR), LANES(1), NULL},
    [T_GENERIC] = {BIT(PTR), LANES(1), NULL},
    [T_EVENT] = {BIT(EVENT), LANES(1), NULL},
    [T_SAMPLER] = {BIT(SAMPLER), LANES(1), NULL},
    [T_BALLOT] = {BIT(I32), LANES(4), NULL},
    [T_SIZE] = {BIT(I32) | BIT(I64), LANES(1), NULL},
    [T_I32_EACH] = {BIT(I32), ANY, NULL},
    [T_INTS_AS_WIDE] = {INTS, ANY, NULL},
    [T_I1_EACH] = {BIT(I1), ANY, NULL},
    [T_I1_EACH_0] = {BIT(I1), ANY, NULL},
    [T_I32_EACH_0] = {BIT(I32), ANY, NULL},
    [T_CONDITION] = {BIT(I1), ANY, "i1, or i1 for each lane of the result"},
    [T_OFFSETS] = {OFFSETS, ANY, "i32 or i64 for each lane of the result"},
    [T_NARROWER_0] = {INTS | BIT(I1), ANY, "a narrower integer type with the lanes of operand 0"},
    [T_WIDER_0] = {INTS | BIT(I1), ANY, "a wider integer type with the lanes of operand 0"},
    [T_INTS_LIKE_0] = {INTS | BIT(I1), ANY, "an integer type with the lanes of operand 0"},
    [T_FLOATS_LIKE_0] = {FLOATS, ANY, "a float type with the lanes of operand 0"},
    [T_OTHER_FLOATS_0] = {FLOATS, ANY, "another float type with the lanes of operand 0"},
    [T_AS_MANY_BITS_0] = {INTS | BIT(I1) | FLOATS, ANY,
                          "an integer or float type with as many bits as operand 0"},
    [T_OTHER_SPACE_0] = {BIT(PTR), ANY,
                         "a pointer to another space, where one of the two is generic"},
    [T_OFFSETS_0] = {OFFSETS, ANY, "i32 or i64 for each lane of operand 0"},
    [T_LANES_OF_0] = {VALUES, ANY, "of the element type of operand 0"},
    [T_ANY] = {UINT32_MAX, ANY, "any type"},
    [T_VOID] = {BIT(VOID), ANY, NULL},
    [T_VALUE] = {VALUES, ANY, "a value type"},
    [T_VALUE_OR_VOID] = {VALUES | BIT(VOID), ANY, "a value type or void"},
    [T_INT] = {INTS, LANES(1), "an integer"},
    [T_FLOAT] = {FLOATS, LANES(1), "a float"},
    [T_POINTER] = {BIT(PTR), ANY, "a pointer"},
    [T_INT_OR_POINTER] = {INTS | BIT(PTR), LANES(1), "an integer or a pointer"},
    [T_SCALAR] = {INTS | FLOATS | BIT(PTR), LANES(1), "an integer, a float or a pointer"},
    [T_INTS] = {INTS, ANY, "an integer type other than i1"},
    [T_INTS_OR_I1] = {INTS | BIT(I1), ANY, "an integer type"},
    [T_FLOATS] = {FLOATS, ANY, "a float type"},
    [T_FLOATS_3_OR_4] = {FLOATS, LANES(3) | LANES(4), "a float type with 3 or 4 lanes"},
    [T_NUMBERS] = {INTS | BIT(I1) | FLOATS, ANY, "an integer or float type"},
    [T_COMPARABLE] = {INTS | BIT(I1) | BIT(PTR), ANY, "an integer type or a pointer"},
    [T_VECTOR] = {INTS | BIT(I1) | FLOATS, VECTORS, "a vector"},
    [T_VECTOR_OF_I1] = {BIT(I1), VECTORS, "a vector of i1"},
    [T_NUMBERS_EACH] = {INTS | FLOATS, VECTORS, "a vector of integers or floats"},
    [T_I32_OR_I64] = {OFFSETS, LANES(1), "i32 or i64"},
    [T_LOCAL_ID] = {INTS, LANES(1) | LANES(2) | LANES(3), "an integer, or a vector of 2 or 3"},
    [T_IMAGE] = {BIT(IMAGE), ANY, "an image"},
    [T_SAMPLED_IMAGE] = {BIT(SAMPLED_IMAGE), ANY, "a sampled image"},
    [T_COORDINATE] = {INTS | FLOATS, UP_TO_4, "a coordinate"},
    [T_TEXEL] = {INTS | FLOATS, LANES(1) | LANES(4), "a texel"},
    [T_SIZES] = {INTS, UP_TO_4, "integers"},
};

enum { MAX_FITS = 7 }; /* of a rule: the result and six operands */

/* By ir_rule: the fit of the result, then those of the operands. */
static const uint8_t type_rules[][MAX_FITS + 1] = {
#define RULE(name, doc, ...) [R_##name] = {__VA_ARGS__},
#include "ir/type_rules.def"
#undef RULE
};

#endif
