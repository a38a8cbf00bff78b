/* read_test.c — the reader as a function: options, byte order, memory, messages, tables.
 *
 * Modules are put together word by word (words.h); what single instructions mean
 * is tested by the files in read/, errors/, malformed/, lenient/ and refused/. */
#include "frontend/reader.h"
#include "tests/frontend/words.h"

#include <criterion/criterion.h>

/* ------------------------------------------------------------------------------ making a module */

enum { VOID = 1, FN, K, U32, F32, P_F32, ENTRY, FIRST_FREE = 20, BOUND = 200 };

static void begin(void) {
    nwords = 5;
    memcpy(words, (const uint32_t[]){SpvMagicNumber, 0x10400, 0, BOUND, 0}, 5 * sizeof *words);
    OP(SPV_OP_Capability, SpvCapabilityKernel);
    OP(SPV_OP_MemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    OPS("k", SPV_OP_EntryPoint, SpvExecutionModelKernel, K);
}

static void types(void) {
    OP(SPV_OP_TypeVoid, VOID);
    OP(SPV_OP_TypeInt, U32, 32, 0);
    OP(SPV_OP_TypeFloat, F32, 32);
    OP(SPV_OP_TypePointer, P_F32, SpvStorageClassCrossWorkgroup, F32);
}

/* kernel void k(float *%10, uint %11) */
static void kernel(void) {
    OP(SPV_OP_TypeFunction, FN, VOID, P_F32, U32);
    OP(SPV_OP_Function, VOID, K, 0, FN);
    OP(SPV_OP_FunctionParameter, P_F32, 10);
    OP(SPV_OP_FunctionParameter, U32, 11);
    OP(SPV_OP_Label, ENTRY);
}

static void finish(void) {
    OP(SPV_OP_Return);
    OP(SPV_OP_FunctionEnd);
}

/* @f40, which takes what the kernel takes and does nothing. */
static void second_function(void) {
    OP(SPV_OP_Function, VOID, 40, 0, FN);
    OP(SPV_OP_FunctionParameter, P_F32, 41);
    OP(SPV_OP_FunctionParameter, U32, 42);
    OP(SPV_OP_Label, 43);
    finish();
}

/* -------------------------------------------------------------------------------------- reading */

static ir_ctx cx;
static char last[512];
static int errors;

static void note(void *user, const ir_message *m) {
    (void)user;
    if (m->severity == IR_NOTE) return;
    errors += m->severity == IR_ERROR;
    ir_format_message(m, last, sizeof last);
}

static void setup(void) {
    cx = (ir_ctx){.report = note};
    errors = 0;
    begin();
}

static void teardown(void) { cr_assert_eq(cx.used, 0, "all memory is given back"); }

TestSuite(read, .init = setup, .fini = teardown);

static ir_module *read_words(void) {
    spv_read_options options = {.file = "k.spv"};
    return spv_read(&cx, words, nwords * sizeof *words, &options);
}

static ir_module *read_with(uint32_t id, uint64_t bits) {
    spv_spec_value value = {id, bits};
    spv_read_options options = {.file = "k.spv", .specs = &value, .nspecs = 1};
    return spv_read(&cx, words, nwords * sizeof *words, &options);
}

static const char *text_of(ir_module *m) {
    ir_text text = {.arena = &m->arena};
    ir_print_module(&text, m, 0);
    return text.data;
}

static void small_kernel(void) {
    types();
    kernel();
    OP(SPV_OP_InBoundsPtrAccessChain, P_F32, 20, 10, 11);
    OP(SPV_OP_Load, F32, 21, 20);
    OP(SPV_OP_FAdd, F32, 22, 21, 21);
    OP(SPV_OP_Store, 20, 22);
    finish();
}

Test(read, a_small_kernel) {
    small_kernel();
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m));
    const ir_func *k = ir_func_find(m, "k");
    cr_assert(k && (k->flags & IR_FUNC_KERNEL) && k->nparams == 2);
    cr_assert_eq(k->param[0].pointee, IR_F32);
    ir_module_free(m);
}

Test(read, the_other_byte_order_reads_the_same) {
    small_kernel();
    ir_module *straight = read_words();
    for (uint32_t i = 0; i < nwords; i++)
        words[i] =
            words[i] >> 24 | (words[i] >> 8 & 0xff00) | (words[i] << 8 & 0xff0000) | words[i] << 24;
    ir_module *swapped = read_words();
    cr_assert(straight && swapped);
    cr_assert_str_eq(text_of(straight), text_of(swapped));
    ir_module_free(straight);
    ir_module_free(swapped);
}

Test(read, bytes_need_no_alignment) {
    static char bytes[MAX_WORDS * 4 + 1];
    small_kernel();
    memcpy(bytes + 1, words, nwords * sizeof *words);
    ir_module *m = spv_read(&cx, bytes + 1, nwords * sizeof *words, NULL);
    cr_assert_not_null(m);
    ir_module_free(m);
}

/* --------------------------------------------------------------------- specialization constants */

static void spec_kernel(void) {
    OP(SPV_OP_Decorate, 15, SpvDecorationSpecId, 7);
    OP(SPV_OP_Decorate, 16, SpvDecorationSpecId, 8);
    types();
    OP(SPV_OP_TypeBool, 14);
    OP(SPV_OP_SpecConstant, U32, 15, 100);
    OP(SPV_OP_SpecConstantTrue, 14, 16);
    OP(SPV_OP_SpecConstantOp, U32, 17, SPV_OP_Select, 16, 15, 15);
    kernel();
    finish();
}

Test(read, a_spec_value_replaces_the_default) {
    spec_kernel();
    ir_module *m = read_with(7, UINT64_C(0x100000005));
    cr_assert(m && m->specs.n == 2);
    cr_assert_eq(m->specs.data[0].value, 5, "cut to the width of the constant");
    cr_assert_eq(m->specs.data[1].value, 1);
    ir_module_free(m);
    m = read_with(8, 12);
    cr_assert_eq(m->specs.data[0].value, 100);
    cr_assert_eq(m->specs.data[1].value, 1, "any value but 0 is true");
    ir_module_free(m);
}

Test(read, an_unknown_spec_id_is_an_error) {
    spec_kernel();
    cr_assert_null(read_with(9, 1));
    cr_assert_eq(cx.status, IR_ERR_INPUT);
    cr_assert_str_eq(last, "k.spv: error: the module has no specialization constant 9");
}

/* ------------------------------------------------------------------------------------- messages */

Test(read, messages_name_word_instruction_name_and_line) {
    OPS("a.cl", SPV_OP_String, 12);
    OPS("sum", SPV_OP_Name, 22);
    types();
    kernel();
    OP(SPV_OP_Line, 12, 31, 5);
    uint32_t at = nwords;
    OP(SPV_OP_FAdd, F32, 22, 11, 11);
    finish();
    char want[256];
    snprintf(want, sizeof want,
             "k.spv: word 0x%x (OpFAdd %%22 \"sum\"), a.cl:31: warning: "
             "OpFAdd: operand 1 has type i32, want f32",
             at);
    ir_module *m = read_words();
    cr_assert(m && ir_func_find(m, "k")->flags & IR_FUNC_REFUSED);
    cr_assert_eq(errors, 0);
    cr_assert_str_eq(last, want);
    ir_module_free(m);
}

Test(read, lines_hold_until_the_block_ends) {
    OPS("a.cl", SPV_OP_String, 12);
    types();
    kernel();
    uint32_t before = nwords - 2;
    OP(SPV_OP_Line, 12, 31, 5);
    uint32_t at = nwords;
    OP(SPV_OP_Branch, 30);
    OP(SPV_OP_Label, 30);
    uint32_t behind = nwords;
    OP(SPV_OP_NoLine);
    finish();
    ir_module *m = read_words();
    cr_assert_not_null(m);
    cr_assert_null(ir_line_of(m, before));
    cr_assert_null(ir_line_of(m, behind));
    const ir_line *line = ir_line_of(m, at);
    cr_assert(line && line->line == 31 && line->column == 5);
    cr_assert_str_eq(m->files.data[line->file], "a.cl");
    ir_module_free(m);
}

Test(read, lines_before_a_function_are_its_own) {
    OPS("a.cl", SPV_OP_String, 12);
    types();
    kernel();
    finish();
    OP(SPV_OP_Line, 12, 50, 1);
    uint32_t at = nwords;
    second_function();
    ir_module *m = read_words();
    cr_assert_not_null(m);
    const ir_line *line = ir_line_of(m, at);
    cr_assert(line && line->line == 50);
    cr_assert_eq(ir_func_find(m, "f40")->loc, at);
    ir_module_free(m);
}

Test(read, lines_of_debug_instructions) {
    OPS("NonSemantic.Shader.DebugInfo.100", SPV_OP_ExtInstImport, 12);
    OPS("b.cl", SPV_OP_String, 13);
    types();
    OP(SPV_OP_Constant, U32, 14, 77);
    OP(SPV_OP_ExtInst, VOID, 15, 12, 35, 13);
    kernel();
    OP(SPV_OP_ExtInst, VOID, 16, 12, 103, 15, 14, 14, 14, 14);
    uint32_t at = nwords;
    OP(SPV_OP_IAdd, U32, 17, 11, 11);
    finish();
    ir_module *m = read_words();
    cr_assert_not_null(m);
    const ir_line *line = ir_line_of(m, at);
    cr_assert(line && line->line == 77);
    cr_assert_str_eq(m->files.data[line->file], "b.cl");
    ir_module_free(m);
}

Test(read, an_unknown_instruction_refuses_its_function_only) {
    types();
    kernel();
    OP(7777, 1, 2);
    finish();
    second_function();
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m));
    const ir_func *k = ir_func_find(m, "k");
    cr_assert(k->flags & IR_FUNC_REFUSED);
    cr_assert_str_eq(k->refusal, "opcode 7777 (unknown) is not supported");
    cr_assert_not(ir_is_declaration(ir_func_find(m, "f40")));
    ir_module_free(m);
}

/* --------------------------------------------------------------------------------------- memory */

static long allocations_left;
static size_t live, peak;

typedef struct {
    size_t size;
    size_t pad;
} header;

static void *counted(void *user, size_t bytes) {
    (void)user;
    if (allocations_left-- == 0) return NULL;
    header *h = malloc(sizeof *h + bytes);
    h->size = bytes;
    live += bytes;
    if (live > peak) peak = live;
    return h + 1;
}

static void counted_release(void *user, void *block) {
    (void)user;
    header *h = (header *)block - 1;
    live -= h->size;
    free(h);
}

static void count_memory(long allocations) {
    cx.allocate = counted;
    cx.release = counted_release;
    allocations_left = allocations;
    live = peak = 0;
}

Test(read, every_allocation_may_fail) {
    ir_module *m = NULL;
    long n = 0;
    small_kernel();
    for (uint32_t i = 0; i < 3000; i++) OPS("a name to make room for", SPV_OP_Name, 10);
    nwords -= 3000 * 8; /* the names are after the functions, where they would be an error */
    for (; !m && n < 1000; n++) {
        count_memory(n);
        m = read_words();
        cr_assert(m || cx.status == IR_ERR_MEMORY);
        cr_assert(m || live == 0);
    }
    cr_assert(m && n > 1);
    ir_module_free(m);
    cr_assert_eq(live, 0);
}

Test(read, a_huge_bound_costs_nothing) {
    small_kernel();
    words[3] = UINT32_MAX;
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert_not_null(m);
    cr_assert_lt(peak, 1 << 18);
    ir_module_free(m);
}

/* %100 is {f32, f32}; each following type has two of the one before. */
static void doubling_types(uint32_t levels) {
    OP(SPV_OP_TypeStruct, 100, F32, F32);
    for (uint32_t i = 1; i < levels; i++) OP(SPV_OP_TypeStruct, 100 + i, 99 + i, 99 + i);
}

Test(read, doubling_types_are_only_names) {
    types();
    doubling_types(64);
    kernel();
    finish();
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert_not_null(m, "%s", last);
    cr_assert_lt(peak, 1 << 19);
    ir_module_free(m);
}

Test(read, values_of_doubling_types_are_refused) {
    types();
    doubling_types(30);
    OP(SPV_OP_Undef, 129, 140);
    OP(SPV_OP_Undef, 128, 141);
    kernel();
    OP(SPV_OP_CompositeInsert, 129, 142, 141, 140, 0);
    finish();
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m), "%s", last);
    cr_assert(ir_func_find(m, "k")->flags & IR_FUNC_REFUSED);
    cr_assert_lt(peak, 1 << 19);
    ir_module_free(m);
}

/* A switch may lead to one block by thousands of edges; each phi there has as many arguments. */
Test(read, phis_of_many_edges_are_bounded) {
    enum { CASES = 20000, PHIS = 1000 };
    types();
    kernel();
    uint32_t at = nwords;
    OP(SPV_OP_Switch, 11, 30);
    for (uint32_t i = 0; i < CASES; i++) {
        words[nwords++] = i;
        words[nwords++] = 30;
    }
    words[at] = SPV_OP_Switch | (nwords - at) << 16;
    OP(SPV_OP_Label, 30);
    for (uint32_t i = 0; i < PHIS; i++) OP(SPV_OP_Phi, U32, 40 + i, 11, ENTRY);
    finish();
    words[3] = 40 + PHIS;
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m), "%s", last);
    cr_assert(ir_func_find(m, "k")->flags & IR_FUNC_REFUSED);
    cr_assert_lt(peak, 32u << 20);
    ir_module_free(m);
}

Test(read, equal_names_cost_little) {
    enum { FUNCTIONS = 2000 };
    for (uint32_t i = 0; i < FUNCTIONS; i++) OPS("same", SPV_OP_Name, 100 + i);
    types();
    kernel();
    finish();
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        OP(SPV_OP_Function, VOID, 100 + i, 0, FN);
        OP(SPV_OP_FunctionParameter, P_F32, 3000 + 3 * i);
        OP(SPV_OP_FunctionParameter, U32, 3001 + 3 * i);
        OP(SPV_OP_Label, 3002 + 3 * i);
        finish();
    }
    words[3] = 10000;
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m), "%s", last);
    cr_assert_not_null(ir_func_find(m, "same.1"));
    cr_assert_not_null(ir_func_find(m, "same.2099"));
    ir_module_free(m);
}

Test(read, a_large_null_array_is_one_fill) {
    types();
    OP(SPV_OP_Constant, U32, 100, 0x7fffffff);
    OP(SPV_OP_TypeArray, 101, F32, 100);
    OP(SPV_OP_TypePointer, 102, SpvStorageClassCrossWorkgroup, 101);
    OP(SPV_OP_ConstantNull, 101, 103);
    kernel();
    OP(SPV_OP_Bitcast, 102, 104, 10);
    OP(SPV_OP_Store, 104, 103);
    OP(SPV_OP_Load, 101, 105, 104);
    OP(SPV_OP_Store, 104, 105);
    OP(SPV_OP_CompositeExtract, F32, 106, 105, 12345);
    finish();
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert(m && ir_verify_module(m), "%s", last);
    cr_assert_not_null(strstr(text_of(m), "fill %0, i8 0, i64 8589934588"));
    cr_assert_not_null(strstr(text_of(m), "copy %0, %0, i64 8589934588"));
    cr_assert_lt(peak, 1 << 18);
    ir_module_free(m);
}

/* Memory stays a small multiple of the input for what can be written in few words. */
Test(read, memory_is_proportional_to_the_input) {
    types();
    kernel();
    for (uint32_t i = 0; i < 10000; i++) OP(SPV_OP_IMul, U32, FIRST_FREE + i, 11, 11);
    finish();
    words[3] = 20000;
    count_memory(-1);
    ir_module *m = read_words();
    cr_assert_not_null(m, "%s", last);
    cr_assert_lt(peak, 20u * nwords * sizeof *words);
    ir_module_free(m);
}

/* --------------------------------------------------------------------------------------- tables */

static bool has_row(const char *name) {
    for (uint32_t opcode = 0; opcode < 7000; opcode++) {
        const spv_row *row = spv_row_of(opcode);
        if (row && !strcmp(row->name, name)) return true;
    }
    return false;
}

static bool has_ext(const char *name) {
    for (int i = 0; i < SPV_EXT_ROWS; i++)
        if (!strcmp(spv_ext_rows[i].name, name)) return true;
    return false;
}

Test(tables, every_op_that_names_an_instruction_has_a_row) {
    for (int op = 0; op < IR_OP_COUNT; op++) {
        const char *s = ir_ops[op].spirv;
        if (!s) continue;
        bool found = strncmp(s, "ext ", 4) ? has_row(s + 2) : has_ext(s + 4);
        cr_assert(found, "%s of %s", s, ir_ops[op].name);
    }
}

Test(tables, rows_have_sound_operand_counts) {
    for (uint32_t opcode = 0; opcode < 7000; opcode++) {
        const spv_row *row = spv_row_of(opcode);
        if (!row) continue;
        cr_assert_leq(row->min, row->max, "Op%s", row->name);
        cr_assert(row->read || row->lack, "Op%s", row->name);
    }
}
