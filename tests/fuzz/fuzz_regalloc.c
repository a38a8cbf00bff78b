/* fuzz_regalloc.c — bytes as a function of the target of shapes: each way to allocate registers must
 * succeed, be proved, and leave what the function does.  The last bytes choose the way.
 */
#include "tests/codegen/regalloc/random_mach.h"
#include "tests/codegen/regalloc/run_mach.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUNS = 2, LIMIT = 256 << 20 };

typedef struct {
    ir_ctx cx;
    mach_source src;
    cg_regalloc_options options;
    ir_module *m;
    bool done;
} job;

static void to_stderr(void *user, const ir_message *m) {
    (void)user;
    fprintf(stderr, "%s\n", m->text);
}

static void fail(const job *j, const ir_func *f, const cg_allocation *a, const char *what) {
    ir_text t = {.arena = &j->m->arena};
    cg_print_machine(&t, &shapes_target, f, a);
    fprintf(stderr, "%s\n%s", t.data, what);
    abort();
}

static void check(void *user) {
    job *j = user;
    cg_allocation a = {0};
    uint64_t want[RUNS];
    j->m = ir_module_new(&j->cx, "fuzz", 64);
    ir_func *f = random_mach(j->m, &j->src);
    uint32_t old_blocks = f->next_block;
    if (!ir_verify_func(f)) fail(j, f, &a, "generate");
    for (unsigned k = 0; k < RUNS; k++) want[k] = run_func(&j->m->arena, f, NULL, old_blocks, k);
    if (!cg_allocate(&shapes_target, f, &j->options, &j->m->arena, &a)) fail(j, f, &a, "allocate");
    if (!ir_verify_func(f)) fail(j, f, &a, "verify");
    for (unsigned k = 0; k < RUNS; k++)
        if (run_func(&j->m->arena, f, &a, old_blocks, k) != want[k]) fail(j, f, &a, "run");
}

static void allocate(const uint8_t *data, size_t size, cg_regalloc_options options) {
    job j = {.cx = {.report = to_stderr, .limit = LIMIT},
             .src = {.data = data, .n = size, .state = ir_hash(1, data, size)},
             .options = options};
    if (!ir_try(&j.cx, check, &j)) abort();
    ir_module_free(j.m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t seed = size ? data[size - 1] : 0;
    allocate(data, size, (cg_regalloc_options){CG_REGALLOC_FAST, 0, true});
    allocate(data, size, (cg_regalloc_options){CG_REGALLOC_FAST, seed, true});
    allocate(data, size, (cg_regalloc_options){CG_REGALLOC_STACK, seed, true});
    return 0;
}
