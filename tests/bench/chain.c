/* chain.c — what fusing a chain of element-wise kernels costs, all buffers between them promoted,
 * and how that grows with the chain.
 */
#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "passes/fusion/fuse.h"
#include "tests/bench/bench.h"

enum { RUNS = 101, STAGES = 3, KERNELS = 8, LONGEST = 64 };

static const char *const kernels[KERNELS] = {"twice_plus_one", "minus_fifty", "absolute",
                                             "at_least_three", "quarter",     "square",
                                             "floored",        "negated"};

typedef struct {
    ir_ctx cx;
    const ir_module *from;
    uint32_t n;
    double at[STAGES + 1];
    size_t words;
} chain_job;

static void fuse_chain(void *arg) {
    chain_job *j = arg;
    const ir_range range = {.dims = 1, .global = {1048576}};
    pass_fuse_member members[LONGEST];
    pass_identity same[LONGEST];
    pass_promotion dead[LONGEST];
    pass_fuse_result r;
    ir_arena out;
    uint32_t *words;
    ir_arena_init(&out, &j->cx);
    for (uint32_t m = 0; m < j->n; m++) {
        members[m] = (pass_fuse_member){ir_func_find(j->from, kernels[m % KERNELS]), range};
        same[m] = (pass_identity){m, 1, m + 1, 0};
        dead[m] = (pass_promotion){.member = m, .param = 1};
    }
    const pass_fuse_request q = {.name = "chain",
                                 .members = members,
                                 .nmembers = j->n,
                                 .identities = same,
                                 .nidentities = j->n - 1,
                                 .promotions = dead,
                                 .npromotions = j->n - 1};
    const pass_options o = {.bisect = -1};
    j->at[0] = now();
    if (!pass_fuse(&j->cx, &q, &out, &r) || !r.kernel) abort();
    j->at[1] = now();
    if (!pass_run(r.module, &o)) abort();
    pass_fuse_trim(&r);
    j->at[2] = now();
    if (!cg_spirv_write(r.module, &(cg_spirv_options){0}, &out, &words, &j->words)) abort();
    j->at[3] = now();
    ir_module_free(r.module);
    ir_arena_free(&out);
}

/* The median of the whole, in microseconds. */
static double time_chain(const ir_module *from, uint32_t n) {
    static const char *const stages[STAGES] = {"fuse", "optimize", "write"};
    static double v[STAGES + 1][RUNS];
    chain_job j = {.cx = {.report = print_error, .keep = IR_SPARE_BYTES}, .from = from, .n = n};
    progress p = progress_begin("chains", RUNS);
    for (int i = 0; i < RUNS; i++) {
        if (!ir_try(&j.cx, fuse_chain, &j)) exit(1);
        for (int s = 0; s < STAGES; s++) v[s][i] = j.at[s + 1] - j.at[s];
        v[STAGES][i] = j.at[STAGES] - j.at[0];
        progress_step(&p);
    }
    progress_end(&p);
    printf("chain of %2u kernels, promoted, microseconds:", n);
    for (int s = 0; s < STAGES; s++) printf("  %s %.1f", stages[s], median(v[s], RUNS));
    double total = median(v[STAGES], RUNS);
    printf("  total %.1f   (%zu words)\n", total, j.words);
    return total;
}

static void time_chains(void *arg) {
    const file *f = arg;
    ir_ctx cx = {.report = print_error};
    ir_module *m = spv_read(&cx, f->data, f->size, NULL);
    if (!m) exit(1);
    double few = time_chain(m, KERNELS), many = time_chain(m, LONGEST);
    printf("8 times as many kernels: %.1f times the time\n", many / few);
    ir_module_free(m);
}

void bench_chains(const char *folder) {
    ir_ctx cx = {.report = print_error};
    file f = load(folder, "unary_chain.spv");
    if (!ir_try(&cx, time_chains, &f)) exit(1);
    free(f.data);
}
