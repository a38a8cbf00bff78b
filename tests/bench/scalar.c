/* scalar.c — the speed of scalar code: kernels on one thread, next to the same loops in C.
 *
 *   scalar SCALAR.spv
 *
 * Both run on the same memory, one after the other, many times; a ratio is the peer's time over
 * ours in the median of these pairs, so 1 is equal and more is better.  The results must be equal
 * but for the last bits.
 */
#include "frontend/frontend.h"
#include "runtime/native/native.h"
#include "tests/bench/bench.h"
#include "tests/bench/scalar_peer.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 31, ARGS = 6, LOCAL = 64 };

/* What a kernel is run on: buffers by the number of their elements, values as such. */
typedef struct {
    const char *name;
    uint64_t items[2], local[2];
    struct {
        char kind; /* f, i, d: a buffer of floats, small ints, doubles; r: rows of a matrix;
                      c: columns of it; n: an int; s: a float */
        int size;
    } arg[ARGS];
} problem;

enum { N = 1 << 20, SIDE = 1024, MAT = 192, ROWS = 40000, EACH = 16, BODIES = 1500 };

static const problem problems[SCALAR_KERNELS] = {
    {"saxpy", {N / 8, 1}, {LOCAL, 1}, {{'f', N / 8}, {'f', N / 8}, {'s', 2}}},
    {"matmul",
     {MAT, MAT},
     {LOCAL, 1},
     {{'f', MAT *MAT}, {'f', MAT *MAT}, {'f', MAT *MAT}, {'n', MAT}}},
    {"stencil", {SIDE, SIDE}, {LOCAL, 1}, {{'f', N}, {'f', N}, {'n', SIDE}, {'n', SIDE}}},
    {"nbody", {1536, 1}, {LOCAL, 1}, {{'f', 4 * 1536}, {'f', 4 * 1536}, {'n', BODIES}}},
    {"mandelbrot", {256, 256}, {LOCAL, 1}, {{'i', 256 * 256}, {'n', 256}, {'s', 0}}},
    {"spmv",
     {ROWS, 1},
     {LOCAL, 1},
     {{'r', ROWS + 1}, {'c', ROWS *EACH}, {'f', ROWS *EACH}, {'f', ROWS}, {'f', ROWS}}},
    {"hash", {8192, 1}, {LOCAL, 1}, {{'i', 1024}, {'i', 8192}, {'n', 64}}},
    {"paths", {512, 512}, {LOCAL, 1}, {{'i', 512 * 512}, {'n', 512}, {'n', 7}}},
    {"nearest", {16384, 1}, {LOCAL, 1}, {{'f', 2 * 16384}, {'f', 2 * 64}, {'i', 16384}, {'n', 64}}},
    {"horner4", {N / 8, 1}, {LOCAL, 1}, {{'f', N / 2}, {'f', N / 2}, {'n', 16}}},
    {"fade4", {N / 2, 1}, {LOCAL, 1}, {{'i', N / 2}, {'i', N / 2}, {'i', N / 2}, {'s', 0}}},
    {"moments", {2048, 1}, {LOCAL, 1}, {{'d', 2048 * 256}, {'d', 3 * 2048}, {'n', 256}}},
};

/* --------------------------------------------------------------------------------------- memory */

typedef struct {
    void *args[ARGS], *start[ARGS];
    size_t bytes[ARGS];
    union {
        int n;
        float s;
    } value[ARGS];
} memory;

static double element(unsigned n) { return (double)(n * 2654435761u >> 12) / 1048576.0; }

static void fill(const problem *p, memory *m, unsigned k) {
    int count = p->arg[k].size;
    for (int n = 0; n < count; n++) {
        unsigned at = (unsigned)n;
        switch (p->arg[k].kind) {
        case 'f': ((float *)m->start[k])[n] = (float)element(at); break;
        case 'd': ((double *)m->start[k])[n] = element(at); break;
        case 'r': ((int *)m->start[k])[n] = n * EACH; break;
        case 'c': ((int *)m->start[k])[n] = (int)(at * 2654435761u >> 8) % ROWS; break;
        default: ((int *)m->start[k])[n] = (int)(at * 2654435761u >> 20); break;
        }
    }
}

static void make_memory(const problem *p, memory *m) {
    for (unsigned k = 0; k < ARGS && p->arg[k].kind; k++) {
        char kind = p->arg[k].kind;
        m->value[k].n = p->arg[k].size;
        if (kind == 's') m->value[k].s = p->arg[k].size ? (float)p->arg[k].size : 0.0117f;
        m->args[k] = &m->value[k];
        if (kind == 'n' || kind == 's') continue;
        m->bytes[k] = (size_t)p->arg[k].size * (kind == 'd' ? 8 : 4);
        m->args[k] = aligned_alloc(64, (m->bytes[k] + 63) / 64 * 64);
        m->start[k] = malloc(m->bytes[k]);
        fill(p, m, k);
    }
}

static void reset(memory *m) {
    for (unsigned k = 0; k < ARGS; k++)
        if (m->start[k]) memcpy(m->args[k], m->start[k], m->bytes[k]);
}

static void free_memory(memory *m) {
    for (unsigned k = 0; k < ARGS; k++) {
        if (m->start[k]) free(m->args[k]);
        free(m->start[k]);
    }
}

/* A copy of all buffers one after the other. */
static uint8_t *snapshot(const memory *m, size_t *bytes) {
    *bytes = 0;
    for (unsigned k = 0; k < ARGS; k++) *bytes += m->bytes[k];
    uint8_t *all = malloc(*bytes), *at = all;
    for (unsigned k = 0; k < ARGS; k++) {
        if (m->start[k]) memcpy(at, m->args[k], m->bytes[k]);
        at += m->bytes[k];
    }
    return all;
}

/* ------------------------------------------------------------------------------------ measuring */

typedef struct {
    ir_ctx cx;
    file module;
    const problem *problem;
    double ratio, time;
} job;

typedef void block_fn(const ir_group_info *, void *const *);

static void run_block(const problem *p, block_fn *block, const memory *m) {
    ir_group_info g = {.work_dim = 2};
    for (unsigned d = 0; d < 3; d++) {
        g.local_size[d] = d < 2 ? p->local[d] : 1;
        g.global_size[d] = d < 2 ? p->items[d] : 1;
        g.group_end[d] = g.num_groups[d] = g.global_size[d] / g.local_size[d];
    }
    block(&g, m->args);
}

static const scalar_peer *find_peer(const char *name) {
    for (unsigned n = 0; n < SCALAR_KERNELS; n++)
        if (!strcmp(scalar_peers[n].name, name)) return &scalar_peers[n];
    abort();
}

/* Sums are contracted differently; the values are between 0 and some thousands. */
static void compare(const problem *p, const uint8_t *a, const uint8_t *b, size_t bytes) {
    bool doubles = p->arg[0].kind == 'd', ints = p->arg[2].kind == 'i' || p->arg[0].kind == 'i';
    for (size_t n = 0; n + 8 <= bytes; n += doubles ? 8 : 4) {
        double x, y;
        float fx, fy;
        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        memcpy(&fx, a + n, 4);
        memcpy(&fy, b + n, 4);
        if (!doubles) x = (double)fx, y = (double)fy;
        bool same = !memcmp(a + n, b + n, doubles ? 8 : 4);
        if (!same && (ints || !(fabs(x - y) <= 1e-3 * fmax(fabs(x), fabs(y))))) {
            fprintf(stderr, "%s: results differ at byte %zu: %g, not %g\n", p->name, n, x, y);
            exit(1);
        }
    }
}

static void measure(job *j, block_fn *block) {
    const problem *p = j->problem;
    const scalar_peer *peer = find_peer(p->name);
    double ours[RUNS], ratio[RUNS];
    memory m = {0};
    size_t bytes;
    make_memory(p, &m);
    reset(&m);
    run_block(p, block, &m);
    uint8_t *one = snapshot(&m, &bytes);
    reset(&m);
    peer->run(p->items, m.args);
    uint8_t *other = snapshot(&m, &bytes);
    if (strcmp(p->name, "mandelbrot") != 0) compare(p, one, other, bytes);
    for (unsigned n = 0; n < RUNS; n++) {
        reset(&m);
        double start = now();
        run_block(p, block, &m);
        ours[n] = now() - start;
        reset(&m);
        start = now();
        peer->run(p->items, m.args);
        ratio[n] = (now() - start) / ours[n];
    }
    j->time = median(ours, RUNS);
    j->ratio = median(ratio, RUNS);
    free(one);
    free(other);
    free_memory(&m);
}

static void compile_and_measure(void *arg) {
    job *j = arg;
    const problem *p = j->problem;
    rt_native_options o = {.machine = cg_host_machine(),
                           .code = {.level = cg_host_machine()->default_level, .lanes = 1}};
    ir_arena arena;
    cg_object object;
    rt_code code;
    ir_arena_init(&arena, &j->cx);
    for (unsigned d = 0; d < 3; d++) o.shape.local[d] = d < 2 ? p->local[d] : 1;
    o.shape.whole_groups = o.shape.no_offset = o.shape.small_ids = true;
    ir_module *m = spv_read(&j->cx, j->module.data, j->module.size, NULL);
    if (!m || !rt_native_compile(m, p->name, &o, &arena, &object)) exit(1);
    if (rt_code_load(&object, NULL, &code) != IR_OK) exit(1);
    void *symbol = rt_code_symbol(&code, &object, object.kernels.data[0].block);
    block_fn *block;
    memcpy(&block, &symbol, sizeof block);
    measure(j, block);
    rt_code_unload(&code);
    ir_module_free(m);
    ir_arena_free(&arena);
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: scalar FOLDER MODULE [KERNEL]\n"), 2;
    double product = 0, least = 1e9;
    unsigned n = 0;
    printf("scalar code, v3, one thread; the peer is gcc -O2 -fno-tree-vectorize -mfma\n");
    progress p = progress_begin("kernels", argc > 3 ? 1 : SCALAR_KERNELS);
    for (unsigned k = 0; k < SCALAR_KERNELS; k++) {
        job j = {.cx = {.report = print_error}, .problem = &problems[k]};
        if (argc > 3 && strcmp(argv[3], problems[k].name) != 0) continue;
        j.module = load(argv[1], argv[2]);
        if (!ir_try(&j.cx, compile_and_measure, &j)) return 1;
        progress_clear(&p);
        printf("  %-12s %9.1f us   %5.2f of the peer's speed\n", problems[k].name, j.time, j.ratio);
        progress_step(&p);
        if (strchr(problems[k].name, '4')) continue; /* of vectors: no part of the mean */
        product += log(j.ratio);
        least = fmin(least, j.ratio);
        n++;
    }
    progress_end(&p);
    printf("  geometric mean of the scalar ones %.2f, least %.2f\n", exp(product / n), least);
    return 0;
}
