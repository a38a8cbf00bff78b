/* poison_test.c — a declaration that cannot be read costs the functions that need it, no other.
 *
 * Each row is a declaration of %BAD and a way to use it.  A module with it has a kernel that uses
 * it, one that calls a function which does, and one that does not: only the last is left. */
#include "frontend/reader.h"
#include "tests/frontend/words.h"

#include <criterion/criterion.h>

enum { VOID = 1, FN, U32, U64, F32, BOOL, P_F32, P_LOCAL, PRIVATE, ONE, HALF, MINUS, F_ONE, V2 };
enum { BAD = 50, USES = 60, CALLS, HELPS, GOOD, FIRST_FREE = 70, BOUND = 200 };
static uint32_t next_id;

/* ------------------------------------------------------------------------------------- the rows */

typedef enum { USE_TYPE, USE_VALUE, USE_POINTER, USE_SET, USE_SIGNATURE } use_kind;

typedef struct {
    const char *name;
    use_kind use;
    void (*note)(void); /* before the types, or NULL */
    void (*declare)(void);
} row;

static void variable(void) { OP(SPV_OP_Variable, P_LOCAL, BAD, SpvStorageClassWorkgroup); }
static void constant(void) { OP(SPV_OP_Constant, U32, BAD, 7); }
static void nothing(void) {}

static void int_of_0(void) { OP(SPV_OP_TypeInt, BAD, 0, 0); }
static void int_of_3_signs(void) { OP(SPV_OP_TypeInt, BAD, 32, 3); }
static void int_of_128(void) { OP(SPV_OP_TypeInt, BAD, 128, 0); }
static void int_too_short(void) { OP(SPV_OP_TypeInt, BAD, 32); }
static void int_too_long(void) { OP(SPV_OP_TypeInt, BAD, 32, 0, 0); }
static void float_of_80(void) { OP(SPV_OP_TypeFloat, BAD, 80); }
static void vector_of_void(void) { OP(SPV_OP_TypeVector, BAD, VOID, 4); }
static void vector_of_0(void) { OP(SPV_OP_TypeVector, BAD, F32, 0); }
static void vector_of_99(void) { OP(SPV_OP_TypeVector, BAD, F32, 99); }
static void vector_of_unknown(void) { OP(SPV_OP_TypeVector, BAD, 199, 4); }
static void array_of_void(void) { OP(SPV_OP_TypeArray, BAD, VOID, ONE); }
static void array_of_minus(void) { OP(SPV_OP_TypeArray, BAD, F32, MINUS); }
static void array_of_float(void) { OP(SPV_OP_TypeArray, BAD, F32, F_ONE); }
static void array_of_bad(void) {
    OP(SPV_OP_TypeInt, 51, 0, 0);
    OP(SPV_OP_TypeArray, BAD, 51, ONE);
}
static void struct_of_void(void) { OP(SPV_OP_TypeStruct, BAD, U32, VOID); }
static void struct_of_unknown(void) { OP(SPV_OP_TypeStruct, BAD, U32, 199); }
static void struct_of_bad(void) {
    OP(SPV_OP_TypeInt, 51, 0, 0);
    OP(SPV_OP_TypeStruct, BAD, U32, 51);
}
static void bad_offset(void) { OP(SPV_OP_MemberDecorate, BAD, 9, SpvDecorationOffset, 0); }
static void short_offset(void) { OP(SPV_OP_MemberDecorate, BAD, 0, SpvDecorationOffset); }
static void pair(void) { OP(SPV_OP_TypeStruct, BAD, U32, U32); }
static void storage_77(void) { OP(SPV_OP_TypePointer, BAD, 77, F32); }
static void image_of_pointer(void) { OP(SPV_OP_TypeImage, BAD, P_F32, 1, 0, 0, 0, 0, 0); }
static void image_out_of_range(void) { OP(SPV_OP_TypeImage, BAD, VOID, 999, 0, 0, 0, 0, 0); }
static void sampled_float(void) { OP(SPV_OP_TypeSampledImage, BAD, F32); }
static void pipe_type(void) { OP(SPV_OP_TypePipe, BAD, 0); }
static void unknown_type(void) { OP(7777, BAD, 1, 2); }
static void type_twice(void) {
    OP(SPV_OP_TypeInt, BAD, 16, 0);
    OP(SPV_OP_TypeFloat, BAD, 16);
}
static void takes_void(void) { OP(SPV_OP_TypeFunction, BAD, VOID, VOID); }
static void returns_unknown(void) { OP(SPV_OP_TypeFunction, BAD, 199); }
static void takes_bad(void) {
    OP(SPV_OP_TypeInt, 51, 0, 0);
    OP(SPV_OP_TypeFunction, BAD, VOID, 51);
}

static void constant_of_bool(void) { OP(SPV_OP_Constant, BOOL, BAD, 7); }
static void constant_of_bad(void) {
    OP(SPV_OP_TypeInt, 51, 0, 0);
    OP(SPV_OP_Constant, 51, BAD, 7);
}
static void constant_of_value(void) { OP(SPV_OP_Constant, ONE, BAD, 7); }
static void constant_of_2_words(void) { OP(SPV_OP_Constant, U32, BAD, 7, 7); }
static void constant_of_0_words(void) { OP(SPV_OP_Constant, U32, BAD); }
static void true_of_int(void) { OP(SPV_OP_ConstantTrue, U32, BAD); }
static void null_of_void(void) { OP(SPV_OP_ConstantNull, VOID, BAD); }
static void undef_of_void(void) { OP(SPV_OP_Undef, VOID, BAD); }
static void constant_twice(void) {
    constant();
    constant();
}
static void short_composite(void) { OP(SPV_OP_ConstantComposite, V2, BAD, F_ONE); }
static void mixed_composite(void) { OP(SPV_OP_ConstantComposite, V2, BAD, F_ONE, ONE); }
static void composite_of_type(void) { OP(SPV_OP_ConstantComposite, V2, BAD, F_ONE, F32); }
static void composite_of_bad(void) {
    OP(SPV_OP_Constant, F32, 51, 1, 2);
    OP(SPV_OP_ConstantComposite, V2, BAD, F_ONE, 51);
}
static void no_sampler(void) { OP(SPV_OP_ConstantSampler, U32, BAD, 0, 0, 0); }
static void sampler_of_9(void) {
    OP(SPV_OP_TypeSampler, 51);
    OP(SPV_OP_ConstantSampler, 51, BAD, 9, 0, 0);
}
static void unknown_fold(void) { OP(SPV_OP_SpecConstantOp, U32, BAD, 7777, ONE); }
static void store_fold(void) { OP(SPV_OP_SpecConstantOp, U32, BAD, SPV_OP_Store, ONE, ONE); }
static void mixed_fold(void) { OP(SPV_OP_SpecConstantOp, U32, BAD, SPV_OP_IAdd, ONE, F_ONE); }
static void short_fold(void) { OP(SPV_OP_SpecConstantOp, U32, BAD, SPV_OP_IAdd, ONE); }
static void fold_of_bad(void) {
    OP(SPV_OP_Constant, U32, 51, 1, 2);
    OP(SPV_OP_SpecConstantOp, U32, BAD, SPV_OP_IAdd, ONE, 51);
}
static void code_outside(void) { OP(SPV_OP_IAdd, U32, BAD, ONE, ONE); }

static void variable_of_float(void) { OP(SPV_OP_Variable, F32, BAD, SpvStorageClassWorkgroup); }
static void other_storage(void) {
    OP(SPV_OP_Variable, P_LOCAL, BAD, SpvStorageClassCrossWorkgroup);
}
static void function_storage(void) { OP(SPV_OP_Variable, PRIVATE, BAD, SpvStorageClassFunction); }
static void other_initial(void) {
    OP(SPV_OP_Variable, P_LOCAL, BAD, SpvStorageClassWorkgroup, ONE);
}
static void initial_type(void) { OP(SPV_OP_Variable, P_LOCAL, BAD, SpvStorageClassWorkgroup, F32); }
static void bad_initial(void) {
    OP(SPV_OP_Constant, F32, 51, 1, 2);
    OP(SPV_OP_Variable, P_LOCAL, BAD, SpvStorageClassWorkgroup, 51);
}
static void short_variable(void) { OP(SPV_OP_Variable, P_LOCAL, BAD); }
static void linkage_of_9(void) {
    OP(SPV_OP_Decorate, BAD, SpvDecorationLinkageAttributes, 0x61, 9);
}
static void open_linkage(void) {
    OP(SPV_OP_Decorate, BAD, SpvDecorationLinkageAttributes, 0x61616161);
}
static void short_alignment(void) { OP(SPV_OP_Decorate, BAD, SpvDecorationAlignment); }
static void short_group(void) {
    OP(SPV_OP_Decorate, 51, SpvDecorationAlignment);
    OP(SPV_OP_DecorationGroup, 51);
    OP(SPV_OP_GroupDecorate, 51, BAD);
}
static void short_spec_id(void) { OP(SPV_OP_Decorate, BAD, SpvDecorationSpecId); }
static void spec_constant(void) { OP(SPV_OP_SpecConstant, U32, BAD, 7); }
static void other_set(void) { OPS("GLSL.std.450", SPV_OP_ExtInstImport, BAD); }
static void open_set(void) { OP(SPV_OP_ExtInstImport, BAD, 0x61616161); }

static const row rows[] = {
    {"integer of 0 bits", USE_TYPE, NULL, int_of_0},
    {"integer of sign 3", USE_TYPE, NULL, int_of_3_signs},
    {"integer of 128 bits", USE_TYPE, NULL, int_of_128},
    {"OpTypeInt too short", USE_TYPE, NULL, int_too_short},
    {"OpTypeInt too long", USE_TYPE, NULL, int_too_long},
    {"float of 80 bits", USE_TYPE, NULL, float_of_80},
    {"vector of void", USE_TYPE, NULL, vector_of_void},
    {"vector of 0", USE_TYPE, NULL, vector_of_0},
    {"vector of 99", USE_TYPE, NULL, vector_of_99},
    {"vector of what is not defined", USE_TYPE, NULL, vector_of_unknown},
    {"array of void", USE_TYPE, NULL, array_of_void},
    {"array of negative length", USE_TYPE, NULL, array_of_minus},
    {"array of float length", USE_TYPE, NULL, array_of_float},
    {"array of what is malformed", USE_TYPE, NULL, array_of_bad},
    {"struct of void", USE_TYPE, NULL, struct_of_void},
    {"struct of what is not defined", USE_TYPE, NULL, struct_of_unknown},
    {"struct of what is malformed", USE_TYPE, NULL, struct_of_bad},
    {"offset of no member", USE_TYPE, bad_offset, pair},
    {"offset without number", USE_TYPE, short_offset, pair},
    {"storage class 77", USE_TYPE, NULL, storage_77},
    {"image of pointers", USE_TYPE, NULL, image_of_pointer},
    {"image out of range", USE_TYPE, NULL, image_out_of_range},
    {"sampled float", USE_TYPE, NULL, sampled_float},
    {"pipe", USE_TYPE, NULL, pipe_type},
    {"unknown type", USE_TYPE, NULL, unknown_type},
    {"type twice", USE_TYPE, NULL, type_twice},
    {"nothing where a type is wanted", USE_TYPE, NULL, nothing},
    {"void parameter", USE_SIGNATURE, NULL, takes_void},
    {"unknown result", USE_SIGNATURE, NULL, returns_unknown},
    {"malformed parameter", USE_SIGNATURE, NULL, takes_bad},
    {"signature that is an integer", USE_SIGNATURE, NULL, constant},
    {"constant of bool", USE_VALUE, NULL, constant_of_bool},
    {"constant of what is malformed", USE_VALUE, NULL, constant_of_bad},
    {"constant of what is no type", USE_VALUE, NULL, constant_of_value},
    {"constant of 2 words", USE_VALUE, NULL, constant_of_2_words},
    {"constant of 0 words", USE_VALUE, NULL, constant_of_0_words},
    {"true integer", USE_VALUE, NULL, true_of_int},
    {"null void", USE_VALUE, NULL, null_of_void},
    {"undef void", USE_VALUE, NULL, undef_of_void},
    {"constant twice", USE_VALUE, NULL, constant_twice},
    {"composite too short", USE_VALUE, NULL, short_composite},
    {"composite of mixed parts", USE_VALUE, NULL, mixed_composite},
    {"composite of a type", USE_VALUE, NULL, composite_of_type},
    {"composite of what is malformed", USE_VALUE, NULL, composite_of_bad},
    {"sampler that is an integer", USE_VALUE, NULL, no_sampler},
    {"sampler out of range", USE_VALUE, NULL, sampler_of_9},
    {"expression of unknown opcode", USE_VALUE, NULL, unknown_fold},
    {"expression that stores", USE_VALUE, NULL, store_fold},
    {"expression of mixed types", USE_VALUE, NULL, mixed_fold},
    {"expression too short", USE_VALUE, NULL, short_fold},
    {"expression of what is malformed", USE_VALUE, NULL, fold_of_bad},
    {"code outside functions", USE_VALUE, NULL, code_outside},
    {"nothing where a value is wanted", USE_VALUE, NULL, nothing},
    {"specialization id without number", USE_VALUE, short_spec_id, spec_constant},
    {"variable that is no pointer", USE_POINTER, NULL, variable_of_float},
    {"variable of another storage class", USE_POINTER, NULL, other_storage},
    {"Function variable outside functions", USE_POINTER, NULL, function_storage},
    {"initial value of another type", USE_POINTER, NULL, other_initial},
    {"initial value that is a type", USE_POINTER, NULL, initial_type},
    {"initial value that is malformed", USE_POINTER, NULL, bad_initial},
    {"variable too short", USE_POINTER, NULL, short_variable},
    {"linkage of unknown type", USE_POINTER, linkage_of_9, variable},
    {"linkage without end", USE_POINTER, open_linkage, variable},
    {"alignment without number", USE_POINTER, short_alignment, variable},
    {"group that is malformed", USE_POINTER, short_group, variable},
    {"another instruction set", USE_SET, other_set, nothing},
    {"instruction set without end", USE_SET, open_set, nothing},
};

/* ----------------------------------------------------------------------------------- the module */

static void use(const row *r) {
    switch (r->use) {
    case USE_TYPE:
        OP(SPV_OP_Undef, BAD, next_id++);
        OP(SPV_OP_CopyObject, BAD, next_id, next_id - 1);
        next_id++;
        break;
    case USE_VALUE: OP(SPV_OP_CopyObject, U32, next_id++, BAD); break;
    case USE_POINTER: OP(SPV_OP_Load, F32, next_id++, BAD); break;
    case USE_SET: OP(SPV_OP_ExtInst, F32, next_id++, BAD, 31, F_ONE); break;
    case USE_SIGNATURE: break;
    }
}

static void function(uint32_t id, const row *r, uint32_t callee) {
    OP(SPV_OP_Function, VOID, id, 0, r && r->use == USE_SIGNATURE ? BAD : FN);
    OP(SPV_OP_Label, next_id++);
    if (r) use(r);
    if (callee) OP(SPV_OP_FunctionCall, VOID, next_id++, callee);
    OP(SPV_OP_Return);
    OP(SPV_OP_FunctionEnd);
}

static void build(const row *r) {
    nwords = 5;
    next_id = FIRST_FREE;
    memcpy(words, (const uint32_t[]){SpvMagicNumber, 0x10400, 0, BOUND, 0}, 5 * sizeof *words);
    OP(SPV_OP_MemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    OPS("uses", SPV_OP_EntryPoint, SpvExecutionModelKernel, USES);
    OPS("calls", SPV_OP_EntryPoint, SpvExecutionModelKernel, CALLS);
    OPS("good", SPV_OP_EntryPoint, SpvExecutionModelKernel, GOOD);
    if (r->note) r->note();
    OP(SPV_OP_TypeVoid, VOID);
    OP(SPV_OP_TypeBool, BOOL);
    OP(SPV_OP_TypeInt, U32, 32, 0);
    OP(SPV_OP_TypeFloat, F32, 32);
    OP(SPV_OP_TypeVector, V2, F32, 2);
    OP(SPV_OP_TypePointer, P_F32, SpvStorageClassCrossWorkgroup, F32);
    OP(SPV_OP_TypePointer, P_LOCAL, SpvStorageClassWorkgroup, F32);
    OP(SPV_OP_TypePointer, PRIVATE, SpvStorageClassFunction, F32);
    OP(SPV_OP_TypeFunction, FN, VOID);
    OP(SPV_OP_Constant, U32, ONE, 1);
    OP(SPV_OP_Constant, U32, MINUS, UINT32_MAX);
    OP(SPV_OP_Constant, F32, F_ONE, 0x3f800000);
    r->declare();
    function(GOOD, NULL, 0);
    function(USES, r, 0);
    function(HELPS, r, 0);
    function(CALLS, NULL, HELPS);
}

/* -------------------------------------------------------------------------------------- reading */

static char said[512];

static void note(void *user, const ir_message *m) {
    (void)user;
    if (m->severity == IR_ERROR) ir_format_message(m, said, sizeof said);
}

static bool is_refused(const ir_module *m, const char *name) {
    const ir_func *f = ir_func_find(m, name);
    return f && (f->flags & IR_FUNC_REFUSED) && f->refusal && *f->refusal && !f->first;
}

static bool ends_twice(const char *text) {
    const char *end = strstr(text, "is not supported");
    return end && strstr(end + 1, "is not supported");
}

Test(poison, costs_only_what_needs_it) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ir_ctx cx = {.report = note};
        build(&rows[k]);
        ir_module *m = spv_read(&cx, words, nwords * sizeof *words, NULL);
        cr_expect(m, "%s: %s", rows[k].name, said);
        if (!m) continue;
        cr_expect(ir_verify_module(m), "%s: %s", rows[k].name, said);
        cr_expect(is_refused(m, "uses"), "%s", rows[k].name);
        cr_expect(is_refused(m, "calls"), "%s", rows[k].name);
        cr_expect(ir_func_find(m, "good")->first, "%s", rows[k].name);
        const char *why = ir_func_find(m, "uses")->refusal;
        cr_expect(!why || !ends_twice(why), "%s: %s", rows[k].name, why);
        ir_module_free(m);
        cr_expect_eq(cx.used, 0);
    }
}
