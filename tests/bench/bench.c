/* bench.c — what fusing costs, stage by stage, next to a named peer; how fast and how linearly
 * modules are read.
 *
 *   bench FOLDER LIBRARY.spv     FOLDER holds saxpy.spv, scale.spv and unary_chain.spv
 *
 * Times are medians over many runs in one process.  The peer is the way through LLVM for the same
 * two modules: `llvm-spirv-15 -r | opt-15 -O2 | llvm-spirv-15`, as processes; the ratio is its time
 * over ours.  Machines are shared, so look at ratios.
 */
#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "passes/fusion/fuse.h"
#include "tests/bench/bench.h"

enum { RUNS = 201, STAGES = 5, PEER_RUNS = 9 };

/* -------------------------------------------------------------------------------- fusing a pair */

typedef struct {
    ir_ctx cx;
    file saxpy, scale;
    double at[STAGES + 1];
    size_t words;
} pair_job;

static void fuse_pair(void *arg) {
    pair_job *j = arg;
    ir_arena out;
    ir_arena_init(&out, &j->cx);
    pass_fuse_result r = {0};
    pass_options o = {.bisect = -1};
    uint32_t *words;
    j->at[0] = now();
    ir_module *a = spv_read(&j->cx, j->saxpy.data, j->saxpy.size, NULL);
    ir_module *b = spv_read(&j->cx, j->scale.data, j->scale.size, NULL);
    j->at[1] = now();
    if (!ir_verify_module(a) || !ir_verify_module(b)) abort();
    j->at[2] = now();
    ir_range range = {.dims = 1, .global = {1048576}, .local = {64}};
    pass_fuse_member members[] = {{ir_func_find(a, "saxpy"), range},
                                  {ir_func_find(b, "scale"), range}};
    pass_identity same = {0, 3, 1, 0};
    pass_fuse_request q = {
        .name = "pair", .members = members, .nmembers = 2, .identities = &same, .nidentities = 1};
    if (!pass_fuse(&j->cx, &q, &out, &r) || !r.kernel) abort();
    j->at[3] = now();
    if (!pass_run(r.module, &o)) abort();
    pass_fuse_trim(&r);
    j->at[4] = now();
    if (!cg_spirv_write(r.module, &(cg_spirv_options){0}, &out, &words, &j->words)) abort();
    j->at[5] = now();
    ir_module_free(r.module);
    ir_module_free(a);
    ir_module_free(b);
    ir_arena_free(&out);
}

/* One run of the peer over one module, in microseconds. */
static double peer_time(const char *folder, const char *name, progress *p) {
    char command[1024];
    double v[PEER_RUNS];
    snprintf(command, sizeof command,
             "llvm-spirv-15 -r '%s/%s' -o - | opt-15 -O2 | llvm-spirv-15 -o /dev/null", folder,
             name);
    for (int i = 0; i < PEER_RUNS; i++) {
        double start = now();
        if (system(command) != 0) return 0;
        v[i] = now() - start;
        progress_step(p);
    }
    return median(v, PEER_RUNS);
}

static void bench_pair(const char *folder) {
    static const char *const stages[STAGES] = {"read", "verify", "fuse", "optimize", "write"};
    static double v[STAGES + 1][RUNS];
    pair_job j = {.cx = {.report = print_error}};
    j.saxpy = load(folder, "saxpy.spv");
    j.scale = load(folder, "scale.spv");
    for (int i = 0; i < RUNS; i++) {
        if (!ir_try(&j.cx, fuse_pair, &j)) exit(1);
        for (int s = 0; s < STAGES; s++) v[s][i] = j.at[s + 1] - j.at[s];
        v[STAGES][i] = j.at[STAGES] - j.at[0];
    }
    double total = median(v[STAGES], RUNS);
    printf("fuse saxpy + scale (%s), median of %d, microseconds\n", folder, RUNS);
    for (int s = 0; s < STAGES; s++) printf("  %-9s %8.1f\n", stages[s], median(v[s], RUNS));
    printf("  %-9s %8.1f   (%zu words of SPIR-V)\n", "total", total, j.words);
    progress p = progress_begin("runs of the peer", 2 * PEER_RUNS);
    double peer = peer_time(folder, "saxpy.spv", &p) + peer_time(folder, "scale.spv", &p);
    progress_end(&p);
    if (peer > 0)
        printf("  %-9s %8.1f   llvm-spirv-15 -r | opt-15 -O2 | llvm-spirv-15, both modules\n"
               "  ratio     %8.1f x\n",
               "peer", peer, peer / total);
    free(j.saxpy.data);
    free(j.scale.data);
}

/* -------------------------------------------------------------------------------------- reading */

typedef struct {
    ir_ctx cx;
    file library;
    double read, verify;
} read_job;

static void read_and_verify(void *arg) {
    read_job *j = arg;
    double start = now();
    ir_module *m = spv_read(&j->cx, j->library.data, j->library.size, NULL);
    double read = now();
    if (!m || !ir_verify_module(m)) abort();
    j->verify = now() - read;
    j->read = read - start;
    ir_module_free(m);
}

static double time_reading(file f, int runs, bool show) {
    double total[32], reads[32];
    read_job j = {.cx = {.report = print_error}, .library = f};
    progress p = progress_begin("readings", (size_t)runs);
    for (int i = 0; i < runs; i++) {
        if (!ir_try(&j.cx, read_and_verify, &j)) exit(1);
        reads[i] = j.read;
        total[i] = j.read + j.verify;
        progress_step(&p);
    }
    progress_end(&p);
    double t = median(total, (size_t)runs);
    if (show)
        printf("  read %.1f ms, read + verify %.1f ms: %.1f MB/s\n",
               median(reads, (size_t)runs) / 1e3, t / 1e3, (double)f.size / t);
    return t;
}

/* The words of a module with n copies of its functions, made by our own writer. */
typedef struct {
    ir_ctx cx;
    file one;
    int n;
    file copies;
} copy_job;

static void make_copies(void *arg) {
    copy_job *j = arg;
    ir_module *from = spv_read(&j->cx, j->one.data, j->one.size, NULL);
    ir_module *to = ir_module_new(&j->cx, "copies", from->pointer_bits);
    for (int i = 0; i < j->n; i++)
        foreach_func (f, from)
            if (f->flags & IR_FUNC_KERNEL) ir_import_func(to, f, f->name);
    uint32_t *words;
    size_t count;
    if (!cg_spirv_write(to, &(cg_spirv_options){0}, &to->arena, &words, &count)) abort();
    j->copies.size = count * 4;
    j->copies.data = malloc(j->copies.size);
    memcpy(j->copies.data, words, j->copies.size);
    ir_module_free(from);
    ir_module_free(to);
}

static file copies_of(file one, int n) {
    copy_job j = {.cx = {.report = print_error}, .one = one, .n = n};
    if (!ir_try(&j.cx, make_copies, &j)) exit(1);
    return j.copies;
}

static void bench_linearity(const char *folder) {
    file one = load(folder, "scale.spv");
    file few = copies_of(one, 10), many = copies_of(one, 1000);
    double a = time_reading(few, 31, false), b = time_reading(many, 15, false);
    printf(
        "reading 100 times as many functions: %zu bytes in %.0f us, %zu bytes in %.0f us: %.1f x\n",
        few.size, a, many.size, b, b / a);
    free(one.data);
    free(few.data);
    free(many.data);
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: bench FOLDER LIBRARY.spv\n"), 2;
    bench_pair(argv[1]);
    bench_chains(argv[1]);
    file library = load("", argv[2]);
    printf("%s, %zu bytes\n", argv[2], library.size);
    time_reading(library, 15, true);
    free(library.data);
    bench_linearity(argv[1]);
    return 0;
}
