/* opencl_std_test.c — every instruction of OpenCL.std, for every scalar and vector type that it
 * takes, is read, runs in the interpreter, and runs after what native code is made with (expand,
 * builtins).
 *
 * A module of one function per instruction and type is put together word by word: its parameters
 * are the operands, operands that are pointers are variables.  What the results are is tested
 * elsewhere; here both ways must agree, bit for bit where results are exact.
 */
#include "codegen/codegen.h"
#include "frontend/reader.h"
#include "ir/eval.h"
#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/frontend/words.h"
#include "tests/report.h"

#include <criterion/criterion.h>
#include <math.h>

/* ------------------------------------------------------------------------------ making a module */

enum { LANE_COUNTS = 6, KINDS = 8, MAX_ARGS = 4 };
static const unsigned lane_counts[LANE_COUNTS] = {1, 2, 3, 4, 8, 16};
static const ir_kind kinds[KINDS] = {IR_I8, IR_I16, IR_I32, IR_I64, IR_F16, IR_F32, IR_F64};

enum {
    SET = 1,
    VOID,
    FN_TYPE,
    FN,
    LABEL,
    RESULT,
    FIRST_PARAM = 10,
    FIRST_VARIABLE = 20,
    NUMBER,
    SIZE,
    CAST
};
enum { FIRST_TYPE = 100, FIRST_POINTER = 200, BOUND = 300 };

static unsigned lane_index(ir_type t) {
    unsigned k = 0;
    while (lane_counts[k] != ir_lanes(t)) k++;
    return k;
}

/* Numbers of types follow from kind and lanes. */
static uint32_t type_id(ir_type t) {
    return t == IR_VOID ? VOID : FIRST_TYPE + ir_kind_of(t) * LANE_COUNTS + lane_index(t);
}

static uint32_t pointer_id(ir_type t) { return type_id(t) + FIRST_POINTER - FIRST_TYPE; }

static void put_types(void) {
    for (unsigned k = 0; kinds[k]; k++) {
        unsigned bits = ir_bits(NULL, kinds[k]);
        if (ir_is_float(kinds[k]))
            OP(SpvOpTypeFloat, type_id(kinds[k]), bits);
        else
            OP(SpvOpTypeInt, type_id(kinds[k]), bits, 0);
        for (unsigned n = 1; n < LANE_COUNTS; n++)
            OP(SpvOpTypeVector, type_id(ir_vector(kinds[k], lane_counts[n])), type_id(kinds[k]),
               lane_counts[n]);
        for (unsigned n = 0; n < LANE_COUNTS; n++)
            OP(SpvOpTypePointer, pointer_id(ir_vector(kinds[k], lane_counts[n])),
               SpvStorageClassFunction, type_id(ir_vector(kinds[k], lane_counts[n])));
    }
}

/* What an instruction takes. */
typedef struct {
    uint32_t number;
    ir_type result, arg[MAX_ARGS]; /* IR_VOID: a pointer to `pointee`, a literal, or no operand */
    enum {
        VALUE,
        POINTER,
        ELEMENT,
        ZERO,
        LITERAL
    } how[MAX_ARGS]; /* ELEMENT: pointer to one of it */
    ir_type pointee;
    uint32_t literal;
    unsigned nargs;
} form;

static void put_header(void) {
    nwords = 5;
    memcpy(words, (const uint32_t[]){SpvMagicNumber, 0x10200, 0, BOUND, 0}, 5 * sizeof *words);
    static const uint32_t capabilities[] = {
        SpvCapabilityKernel,   SpvCapabilityAddresses, SpvCapabilityLinkage,
        SpvCapabilityVector16, SpvCapabilityInt8,      SpvCapabilityInt16,
        SpvCapabilityInt64,    SpvCapabilityFloat16,   SpvCapabilityFloat64};
    for (unsigned k = 0; k < sizeof capabilities / sizeof *capabilities; k++)
        OP(SpvOpCapability, capabilities[k]);
    OPS("OpenCL.std", SpvOpExtInstImport, SET);
    OP(SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    OP(SpvOpDecorate, FN, SpvDecorationLinkageAttributes, 'f', SpvLinkageTypeExport);
}

static void put_signature(const form *f) {
    uint32_t inst[MAX_ARGS + 4] = {SpvOpTypeFunction, FN_TYPE, type_id(f->result)}, n = 3;
    for (unsigned k = 0; k < f->nargs; k++)
        if (f->how[k] == VALUE) inst[n++] = type_id(f->arg[k]);
    inst[n] = END;
    put(inst);
}

static void put_function(const form *f) {
    OP(SpvOpFunction, type_id(f->result), FN, 0, FN_TYPE);
    uint32_t inst[MAX_ARGS + 6] = {SpvOpExtInst, type_id(f->result), RESULT, SET, f->number}, n = 5;
    for (unsigned k = 0; k < f->nargs; k++) {
        const uint32_t ids[] = {FIRST_PARAM + k, FIRST_VARIABLE, CAST, SIZE, f->literal};
        inst[n++] = ids[f->how[k]];
        if (f->how[k] == VALUE) OP(SpvOpFunctionParameter, type_id(f->arg[k]), FIRST_PARAM + k);
    }
    inst[n] = END;
    OP(SpvOpLabel, LABEL);
    if (f->pointee)
        OP(SpvOpVariable, pointer_id(f->pointee), FIRST_VARIABLE, SpvStorageClassFunction, NUMBER);
    if (f->pointee) OP(SpvOpBitcast, pointer_id(ir_elem(f->pointee)), CAST, FIRST_VARIABLE);
    put(inst);
    if (f->result == IR_VOID)
        OP(SpvOpReturn);
    else
        OP(SpvOpReturnValue, RESULT);
    OP(SpvOpFunctionEnd);
}

static void make_module(const form *f) {
    put_header();
    OP(SpvOpTypeVoid, VOID);
    put_types();
    put_signature(f);
    if (f->pointee) OP(SpvOpConstantNull, type_id(f->pointee), NUMBER);
    OP(SpvOpConstantNull, type_id(IR_I64), SIZE);
    put_function(f);
}

/* ----------------------------------------------------------------------------------- running it */

typedef struct {
    ir_ctx cx;
    const char *name;
    unsigned checked;
} bench;

static void fill(ir_value *v, ir_type t, unsigned n) {
    memset(v, 0, sizeof *v);
    for (unsigned lane = 0; lane < ir_lanes(t); lane++) {
        double number = 1.25 + 0.5 * lane - 0.375 * n;
        v->bits[lane] =
            ir_is_float(t) ? ir_fp_from_double(ir_kind_of(t), number) : lane + 2 * n + 1;
    }
}

static bool is_exact(uint32_t number) {
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        const char *spirv = ir_ops[op].spirv;
        const spv_ext_row *row = spv_ext_row_of(number);
        if (spirv && !strncmp(spirv, "ext ", 4) && !strcmp(spirv + 4, row->name))
            return !(ir_ops[op].flags & F_NOFOLD) && op != IR_OP_mad;
    }
    return number != SPV_STD_sincos && number != SPV_STD_lgamma_r;
}

/* Functions that libm decides agree within an ulp or two of the narrowest format. */
static bool agree(const form *f, uint64_t a, uint64_t b) {
    ir_kind k = ir_kind_of(f->result);
    if (a == b || !ir_is_float(f->result)) return a == b;
    double x = ir_fp_to_double(k, a), y = ir_fp_to_double(k, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return !is_exact(f->number) && fabs(x - y) <= 0.003 * fabs(x);
}

static void expect_same(const bench *t, const form *f, const ir_value *a, const ir_value *b) {
    for (unsigned lane = 0; lane < ir_lanes(f->result); lane++)
        cr_assert(agree(f, a->bits[lane], b->bits[lane]), "%s, lane %u of %u: %#llx, lowered %#llx",
                  t->name, lane, ir_lanes(f->result), (unsigned long long)a->bits[lane],
                  (unsigned long long)b->bits[lane]);
}

static void check(bench *t, const form *f) {
    ir_value args[MAX_ARGS], direct = {{0}}, lowered = {{0}};
    unsigned n = 0;
    make_module(f);
    ir_module *m =
        spv_read(&t->cx, words, nwords * sizeof *words, &(spv_read_options){.file = t->name});
    cr_assert(m, "%s is read", t->name);
    ir_func *g = m->first_func;
    cr_assert(g && !ir_is_declaration(g), "%s: %s", t->name, g && g->refusal ? g->refusal : "");
    for (unsigned k = 0; k < f->nargs; k++)
        if (f->how[k] == VALUE) fill(&args[n], f->arg[k], n), n++;
    cr_assert(ir_interp_call(g, args, &direct), "%s runs", t->name);
    pass_options o = {.passes = "sroa,mem2reg,expand,builtins,simplifycfg,gvn,dce",
                      .bisect = -1,
                      .verify_each = true,
                      .library = &cg_math_library};
    cr_assert(pass_run(m, &o), "%s is lowered", t->name);
    cr_assert(ir_interp_call(g, args, &lowered), "%s runs lowered", t->name);
    expect_same(t, f, &direct, &lowered);
    t->checked++;
    ir_module_free(m);
}

/* ------------------------------------------------------------------------ forms of instructions */

static ir_type int_of_width(ir_type t) {
    unsigned bits = ir_bits(NULL, ir_elem(t));
    return ir_with_elem(t, bits == 8 ? IR_I8 : bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64);
}

static form same(uint32_t number, unsigned nargs, ir_type t) {
    form f = {.number = number, .result = t, .nargs = nargs};
    for (unsigned k = 0; k < nargs; k++) f.arg[k] = t;
    return f;
}

static form pointer_last(form f, ir_type pointee) {
    f.how[f.nargs - 1] = POINTER;
    f.pointee = pointee;
    return f;
}

static void check_op(bench *t, uint32_t number, ir_op op, ir_type v) {
    form f = same(number, ir_ops[op].nargs, v);
    bool floats = ir_is_float(v);
    switch (ir_ops[op].rule) {
    case R_INT:
        if (!floats) check(t, &f);
        return;
    case R_INT_TO_F: f.arg[0] = int_of_width(v); break;
    case R_FLT_INT: f.arg[1] = ir_with_elem(v, IR_I32); break;
    case R_FLT_TO_I: f.result = ir_with_elem(v, IR_I32); break;
    case R_FVEC1: f.result = ir_elem(v); break;
    default: break;
    }
    if (floats && (op != IR_OP_cross || ir_lanes(v) == 3 || ir_lanes(v) == 4)) check(t, &f);
}

static void check_memory(bench *t, const spv_ext_row *row, ir_type v) {
    bool vector = ir_is_vector(v),
         half = row->number >= SPV_STD_vload_half && row->number <= SPV_STD_vstorea_halfn_r;
    bool store = row->number == SPV_STD_vstoren ||
                 (row->number >= SPV_STD_vstore_half && row->number <= SPV_STD_vstore_halfn_r) ||
                 row->number >= SPV_STD_vstorea_halfn;
    bool many = row->number != SPV_STD_vload_half && row->number != SPV_STD_vstore_half &&
                row->number != SPV_STD_vstore_half_r;
    form f = {
        .number = row->number, .nargs = row->max, .pointee = half ? ir_with_elem(v, IR_F16) : v};
    unsigned at = store;
    if (vector != many || (half && ir_kind_of(v) != IR_F32 && !(store && ir_kind_of(v) == IR_F64)))
        return;
    f.result = store ? IR_VOID : v;
    f.arg[0] = v;
    f.how[at] = ZERO;
    f.how[at + 1] = ELEMENT;
    for (unsigned k = at + 2; k < f.nargs; k++) f.how[k] = LITERAL;
    f.literal = store ? 0 : ir_lanes(v);
    check(t, &f);
}

static void check_shuffle(bench *t, const spv_ext_row *row, ir_type v) {
    if (!ir_is_vector(v) || ir_lanes(v) == 3) return;
    for (unsigned n = 1; n < LANE_COUNTS; n++) {
        if (lane_counts[n] == 3) continue;
        form f = same(row->number, row->max, v);
        f.result = ir_vector(ir_elem(v), lane_counts[n]);
        f.arg[row->max - 1] = ir_with_elem(f.result, int_of_width(ir_elem(v)));
        check(t, &f);
    }
}

/* Instructions that are not one operation. */
static void check_other(bench *t, const spv_ext_row *row, ir_type v) {
    bool floats = ir_is_float(v);
    form f = same(row->number, row->max, v);
    switch (row->number) {
    case SPV_STD_fmod:
    case SPV_STD_fmax_common:
    case SPV_STD_fmin_common:
        if (floats) check(t, &f);
        return;
    case SPV_STD_fract:
    case SPV_STD_modf:
    case SPV_STD_sincos:
        f = pointer_last(f, v);
        if (floats) check(t, &f);
        return;
    case SPV_STD_frexp:
    case SPV_STD_lgamma_r:
    case SPV_STD_remquo:
        f = pointer_last(f, ir_with_elem(v, IR_I32));
        if (floats) check(t, &f);
        return;
    case SPV_STD_s_mad24:
    case SPV_STD_u_mad24:
    case SPV_STD_s_mul24:
    case SPV_STD_u_mul24:
        if (ir_kind_of(v) == IR_I32) check(t, &f);
        return;
    case SPV_STD_u_upsample:
    case SPV_STD_s_upsample:
        if (floats || ir_kind_of(v) == IR_I64) return;
        f.result = ir_with_elem(v, ir_kind_of(v) + 1);
        check(t, &f);
        return;
    case SPV_STD_select: f.arg[2] = int_of_width(v); break;
    case SPV_STD_bitselect: break;
    case SPV_STD_shuffle:
    case SPV_STD_shuffle2: check_shuffle(t, row, v); return;
    case SPV_STD_prefetch: return;
    default:
        if (row->number >= SPV_STD_vloadn && row->number <= SPV_STD_vstorea_halfn_r) {
            check_memory(t, row, v);
            return;
        }
        if (floats) return;
    }
    check(t, &f);
}

static ir_op op_of(const char *name) {
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        const char *spirv = ir_ops[op].spirv;
        if (spirv && !strncmp(spirv, "ext ", 4) && !strcmp(spirv + 4, name)) return (ir_op)op;
    }
    return IR_OP_COUNT;
}

static void check_all(void *user) {
    bench *t = user;
    for (uint32_t number = 0; number < 256; number++) {
        const spv_ext_row *row = spv_ext_row_of(number);
        if (!row || row->max > MAX_ARGS) continue; /* printf */
        ir_op op = op_of(row->name);
        t->name = row->name;
        for (unsigned k = 0; kinds[k]; k++)
            for (unsigned n = 0; n < LANE_COUNTS; n++) {
                ir_type v = ir_vector(kinds[k], lane_counts[n]);
                if (op != IR_OP_COUNT)
                    check_op(t, number, op, v);
                else
                    check_other(t, row, v);
            }
    }
}

Test(opencl_std, every_instruction_for_every_type) {
    bench t = {.cx = {.report = print_message}};
    cr_assert(ir_try(&t.cx, check_all, &t));
    cr_expect_eq(t.checked, 3151, "%u", t.checked);
}
