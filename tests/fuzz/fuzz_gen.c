/* fuzz_gen.c — bytes as a program (gen.c): what it computes may not change through the passes, the
 * text form, SPIR-V, or, if it is exact, as code of any machine and level with registers by chance.  The
 * interpreter is the judge.
 */
#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "passes/passes.h"
#include "tests/fuzz/gen.h"
#include "tests/native_call.h"
#include "tests/report.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUNS = 3, PARAMS = 32 };

typedef struct {
    ir_ctx cx;
    const uint8_t *data;
    size_t size;
    ir_module *made, *other;
    uint64_t want[RUNS];
    bool runs[RUNS];
} job;

static bool evaluate(ir_func *f, unsigned run, uint64_t *out) {
    static ir_value args[PARAMS], result;
    gen_arguments(f, run, args);
    memset(&result, 0, sizeof result);
    bool ok = ir_interp_call(f, args, &result);
    *out = result.bits[0];
    return ok && !result.undef[0];
}

static void fail(const job *j, const char *step, unsigned run, uint64_t got) {
    ir_text t = {.arena = &j->made->arena};
    fprintf(stderr, "%s: run %u gives 0x%llx, want 0x%llx\n", step, run, (unsigned long long)got,
            (unsigned long long)j->want[run]);
    ir_print_module(&t, j->made, 0);
    fputs(t.data, stderr);
    abort();
}

static void expect_same(job *j, ir_module *m, const char *step) {
    ir_func *f = ir_func_find(m, "f");
    if (!ir_verify_module(m)) fail(j, step, 0, 0);
    for (unsigned run = 0; run < RUNS; run++) {
        uint64_t got;
        if (j->runs[run] && (!evaluate(f, run, &got) || got != j->want[run]))
            fail(j, step, run, got);
    }
}

static void check_text(job *j) {
    ir_text t = {.arena = &j->made->arena};
    ir_print_module(&t, j->made, 0);
    j->other = ir_parse(&j->cx, "printed", t.data, t.n);
    if (!j->other) fail(j, "parse", 0, 0);
    expect_same(j, j->other, "text");
    ir_module_free(j->other);
    j->other = NULL;
}

static void check_spirv(job *j, const char *step) {
    uint32_t *words;
    size_t count;
    cg_spirv_options o = {0};
    if (!cg_spirv_write(j->made, &o, &j->made->arena, &words, &count)) fail(j, "write", 0, 0);
    j->other = spv_read(&j->cx, words, count * 4, NULL);
    if (!j->other) fail(j, "read", 0, 0);
    expect_same(j, j->other, step);
    ir_module_free(j->other);
    j->other = NULL;
}

/* A level for each run; every eighth program has its values in memory, every other one is called.
 */
static void check_machine(job *j, const test_machine *on) {
    static ir_value args[PARAMS], result;
    ir_func *f = ir_func_find(j->made, "f");
    uint64_t seed = 1;
    bool exact = gen_is_exact(j->data, j->size);
    for (size_t i = 0; i < j->size; i++) seed = (seed ^ j->data[i]) * UINT64_C(0x100000001b3);
    for (unsigned run = 0; run < RUNS; run++) {
        bool stack = seed % 8 == 0;
        native_way way = {
            {.level = on->machine->levels[run % on->machine->nlevels].number,
             .regalloc = {stack ? CG_REGALLOC_STACK : CG_REGALLOC_FAST, seed | 1, true}},
            .is_called = seed / 8 % 2,
            .on = on};
        if (!j->runs[run]) continue;
        gen_arguments(f, run, args);
        memset(&result, 0, sizeof result);
        native_outcome outcome = native_call(f, &way, args, &result);
        if (outcome == NATIVE_FAILED) fail(j, "native code cannot be made", run, 0);
        if (outcome == NATIVE_DONE && exact && result.bits[0] != j->want[run])
            fail(j, "native code", run, result.bits[0]);
    }
}

static void check_native(job *j) {
    const test_machine *on;
    for (unsigned n = 0; (on = test_machine_at(n)); n++) check_machine(j, on);
}

static void check(void *arg) {
    job *j = arg;
    j->made = gen_module(&j->cx, j->data, j->size);
    if (!ir_verify_module(j->made)) fail(j, "generate", 0, 0);
    for (unsigned run = 0; run < RUNS; run++)
        j->runs[run] = evaluate(ir_func_find(j->made, "f"), run, &j->want[run]);
    check_native(j);
    check_text(j);
    check_spirv(j, "spirv");
    pass_options o = {.verify_each = true, .bisect = -1};
    if (!pass_run(j->made, &o)) fail(j, "passes", 0, 0);
    expect_same(j, j->made, "passes");
    check_spirv(j, "spirv after passes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    job j = {.cx = {.report = print_message, .limit = 256u << 20}, .data = data, .size = size};
    ir_try(&j.cx, check, &j);
    ir_module_free(j.other);
    ir_module_free(j.made);
    return 0;
}
