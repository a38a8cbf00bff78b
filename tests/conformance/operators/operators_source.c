/* operators_source.c — the table as OpenCL C: a kernel for each place and width, in which each row
 * is a statement on an element of its own.
 */
#include "tests/conformance/operators/operators.h"

#include "ir/eval.h"

#include <stdio.h>

const operator_row operator_rows[] = {
    {"L = -L", OP_NEG, false},
    {"L = ~L", OP_INVERT, true},
    {"L = T(!L)", OP_NOT, false},
    {"++L", OP_INC, false},
    {"L++", OP_INC, false},
    {"--L", OP_DEC, false},
    {"L--", OP_DEC, false},
#define BINARY(sign, op, ints)                                                                     \
    {"L = L " sign " R", op, ints}, {"L " sign "= R", op, ints}, { "L " sign "= S", op, ints }
    BINARY("+", OP_ADD, false),
    BINARY("-", OP_SUB, false),
    BINARY("*", OP_MUL, false),
    BINARY("/", OP_DIV, false),
    BINARY("%%", OP_REM, true),
    BINARY("&", OP_AND, true),
    BINARY("|", OP_OR, true),
    BINARY("^", OP_XOR, true),
    BINARY("<<", OP_SHL, true),
    BINARY(">>", OP_SHR, true),
#undef BINARY
    {"L = R - L", OP_SUB_FROM, false},
    {"L += L", OP_TWICE, false},
    {"L = j ? L : R", OP_RIGHT, false},
    {"L = T(L == R)", OP_EQ, false},
    {"L = T(L != R)", OP_NE, false},
    {"L = T(L < R)", OP_LT, false},
    {"L = T(L <= R)", OP_LE, false},
    {"L = T(L > R)", OP_GT, false},
    {"L = T(L >= R)", OP_GE, false},
    {"L = T(L && R)", OP_BOTH, false},
    {"L = T(L || R)", OP_EITHER, false},
    {"L = L < R ? L : R", OP_LEAST, false},
};
const unsigned operator_row_count = sizeof operator_rows / sizeof *operator_rows;

const lane_type lane_types[] = {
    {"char", IR_I8, true},     {"uchar", IR_I8, false},  {"short", IR_I16, true},
    {"ushort", IR_I16, false}, {"int", IR_I32, true},    {"uint", IR_I32, false},
    {"long", IR_I64, true},    {"ulong", IR_I64, false}, {"half", IR_F16, true},
    {"float", IR_F32, true},   {"double", IR_F64, true},
};
const unsigned lane_type_count = sizeof lane_types / sizeof *lane_types;

const char *const place_names[PLACES] = {"global", "local",   "private", "constant", "program",
                                         "struct", "swizzle", "array",   "volatile"};
const unsigned widths[WIDTHS] = {1, 2, 3, 4, 8, 16};

static bool has_scalar_operand(const operator_row *row) { return strchr(row->text, 'S') != NULL; }

bool has_row(const operator_row *row, const lane_type *t, unsigned lanes) {
    bool real = ir_is_float(ir_scalar(t->kind)), counts = row->op == OP_INC || row->op == OP_DEC;
    if (real && (row->ints_only || (counts && lanes > 1))) return false;
    return lanes > 1 || !has_scalar_operand(row);
}

const char *swizzle_of(unsigned lanes) {
    switch (lanes) {
    case 2: return "1";
    case 3: return "20";
    case 4: return "31";
    case 8: return "7052";
    case 16: return "f0d2b496";
    default: return "";
    }
}

/* ----------------------------------------------------------------------------------- statements */

typedef struct {
    const lane_type *type;
    place place;
    unsigned lanes; /* of an element */
} kernel;

static void put_type(const kernel *k, unsigned lanes) {
    printf(lanes > 1 ? "%s%u" : "%s", k->type->name, lanes);
}

static void put_swizzle(const kernel *k) {
    if (k->place == IN_SWIZZLE) printf(".s%s", swizzle_of(k->lanes));
}

static void put_place(const kernel *k, unsigned row) {
    switch (k->place) {
    case IN_LOCAL: printf("t[%u + i]", row * ITEMS); return;
    case IN_PRIVATE: printf("x"); return;
    case IN_ARRAY: printf("t[%u + j]", row); return;
    case IN_STRUCT: printf("a[%u + i].v", row * ITEMS); return;
    default: printf("a[%u + i]", row * ITEMS);
    }
    put_swizzle(k);
}

static void put_truth(const kernel *k) {
    unsigned lanes = k->place == IN_SWIZZLE ? (unsigned)strlen(swizzle_of(k->lanes)) : k->lanes;
    printf(lanes > 1 ? "as_" : "(");
    put_type(k, lanes);
    if (lanes == 1) printf(")");
}

static void put_statement(const kernel *k, unsigned row) {
    for (const char *s = operator_rows[row].text; *s; s++) {
        if (*s == 'L') {
            put_place(k, row);
        } else if (*s == 'R' || *s == 'S') {
            printf("b[%u + i]", row * ITEMS);
            if (*s == 'S') printf(".s0");
            if (*s == 'R') put_swizzle(k);
        } else if (*s == 'T') {
            put_truth(k);
        } else if (*s != '%' || s[1] != '%') {
            putchar(*s);
        }
    }
    printf(";");
}

static void put_row(const kernel *k, unsigned row) {
    if (!has_row(&operator_rows[row], k->type, k->lanes)) return;
    printf("    ");
    if (k->place == IN_PRIVATE) {
        printf("{ ");
        put_type(k, k->lanes);
        printf(" x = a[%u + i]; ", row * ITEMS);
    }
    put_statement(k, row);
    if (k->place == IN_PRIVATE) printf(" a[%u + i] = x; }", row * ITEMS);
    printf("\n");
}

/* -------------------------------------------------------------------------------------- kernels */

/* Between the places and an array of the work-group or item. */
static void put_copies(const kernel *k, bool back) {
    const char *t = k->place == IN_LOCAL ? "t[r * 4 + i]" : "t[r]", *a = "a[r * 4 + i]";
    printf("    #pragma unroll 1\n    for (int r = 0; r < %u; r++) %s = %s;\n", operator_row_count,
           back ? a : t, back ? t : a);
}

static void put_program_pointer(const kernel *k) {
    printf("    constant ");
    put_type(k, k->lanes);
    printf(" *b = (constant ");
    put_type(k, k->lanes);
    printf(" *)right%u;\n", k->lanes);
}

static void put_variables(const kernel *k) {
    if (k->place == FROM_PROGRAM) put_program_pointer(k);
    if (k->place != IN_LOCAL && k->place != IN_ARRAY) return;
    printf(k->place == IN_LOCAL ? "    local " : "    ");
    put_type(k, k->lanes);
    printf(" t[%u];\n", k->place == IN_LOCAL ? operator_row_count * ITEMS : operator_row_count + 1);
    put_copies(k, false);
}

static void put_kernel(const kernel *k) {
    printf("kernel void %s_%u(%sglobal ", place_names[k->place], k->lanes,
           k->place == IN_VOLATILE ? "volatile " : "");
    if (k->place == IN_STRUCT)
        printf("struct s%u", k->lanes);
    else
        put_type(k, k->lanes);
    printf(" *a, %s ", k->place == FROM_CONSTANT ? "constant" : "global const");
    put_type(k, k->lanes);
    printf(" *%s, int j) {\n    size_t i = get_global_id(0);\n",
           k->place == FROM_PROGRAM ? "unused" : "b");
    put_variables(k);
    for (unsigned row = 0; row < operator_row_count; row++) put_row(k, row);
    if (k->place == IN_LOCAL || k->place == IN_ARRAY) put_copies(k, true);
    printf("}\n");
}

/* The right operands as integers of the same size, since not every number has a literal. */
static void put_program_array(const lane_type *t, unsigned lanes) {
    unsigned bits = ir_bits(NULL, ir_scalar(t->kind));
    const lane_type same = {.name = bits == 8    ? "uchar"
                                    : bits == 16 ? "ushort"
                                    : bits == 32 ? "uint"
                                                 : "ulong"};
    const kernel k = {.type = &same, .lanes = lanes};
    printf("constant ");
    put_type(&k, lanes);
    printf(" right%u[] = {\n", lanes);
    for (unsigned n = 0; n < operator_row_count * ITEMS; n++) {
        printf("    (");
        put_type(&k, lanes);
        for (unsigned lane = 0; lane < lanes; lane++)
            printf("%s%lluUL", lane ? ", " : ")(",
                   (unsigned long long)ir_zext(program_lane(t, lanes, n, lane), bits));
        printf("),\n");
    }
    printf("};\n");
}

void write_source(const lane_type *t) {
    if (t->kind == IR_F16) printf("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    for (unsigned w = 0; w < WIDTHS; w++) {
        kernel k = {t, 0, widths[w]};
        printf("struct s%u { char before; ", k.lanes);
        put_type(&k, k.lanes);
        printf(" v; char behind; };\n");
        put_program_array(t, k.lanes);
        for (unsigned p = 0; p < PLACES; p++) {
            k.place = (place)p;
            if (k.place != IN_SWIZZLE || k.lanes > 1) put_kernel(&k);
        }
    }
}
