/* main.c — the speed of kernels on an NVIDIA GPU: ours, nvcc's, and those of NVIDIA's OpenCL.
 *
 *   cuda [-r ROUNDS] [-j FILE] BUILD [NAME …]
 *
 * BUILD is the folder of the build; the program runs in the root of the sources, after cuda.sh has
 * compiled the peers.  A row has microseconds of a launch for each side, and the speed of ours
 * relative to each peer (above 1: ours is faster), as medians over rounds, in which each side runs
 * once, one after the other.  Launches take turns with buffers that are together larger than the
 * L2 cache.  Results are compared with those of code in double precision at an odd size, and with
 * nvcc's at the size that is timed.  Kernels that cannot tell their groups, and have groups of 64
 * on a CPU, have 256 here.  FILE gets the raw figures as JSON.
 *
 *   plain        ours for any launch: PTX from SPIR-V, through the driver's compiler
 *   ours         as the launch allows it: with the options `disjoint` and `coarsen`
 *   nvcc         -O3 -prec-div=false -prec-sqrt=false, which is as accurate as OpenCL asks for
 *   nvcc exact   -O3
 *   OpenCL       NVIDIA's, from the same OpenCL C; "-" if its library is not there
 */
#include "tests/bench/bench.h"
#include "tests/bench/cuda/cuda.h"
#include "tests/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const side_names[SIDES] = {"plain", "ours", "nvcc", "exact", "OpenCL"};
static const double SAMPLE_US = 1500;

const theme *const *all_themes(unsigned *n) {
    static const theme *const themes[] = {
        &elementwise_theme, &math_theme,   &integers_theme,  &loops_theme,
        &groups_theme,      &images_theme, &divergent_theme, &structs_theme,
    };
    *n = sizeof themes / sizeof *themes;
    return themes;
}

/* Sizes that keep a GPU busy.  What is not listed is the same kernel as another row. */
static const struct {
    const char *name;
    size_t size;
} gpu_sizes[] = {
    {"add", 1 << 25},
    {"saxpy", 1 << 25},
    {"triad-f64", 1 << 23},
    {"blend-u8", 1 << 24},
    {"chain-of-8", 1 << 24},
    {"black-scholes", 1 << 22},
    {"gelu", 1 << 24},
    {"sigmoid", 1 << 24},
    {"pow-f64", 1 << 20},
    {"sin-f64", 1 << 21},
    {"sincos-f32", 1 << 22},
    {"hash", 1 << 22},
    {"xorshift", 1 << 22},
    {"bitonic-step", 1 << 23},
    {"fft-radix-4", 1 << 21},
    {"nbody", 1 << 15},
    {"matmul-f32", 1024},
    {"matmul-f64", 1024},
    {"matmul-i8", 1024},
    {"nearest", 1 << 18},
    {"horner-f64", 1 << 22},
    {"row-sums", 1 << 14},
    {"tiled-f32", 1024},
    {"tiled-f64", 1024},
    {"tiled-i8", 1024},
    {"reduction", 1 << 24},
    {"scan", 1 << 23},
    {"histogram", 1 << 24},
    {"softmax", 1 << 14},
    {"layernorm", 1 << 14},
    {"transpose-tiled", 4096},
    {"stencil5", 4096},
    {"convolve-rows", 2048},
    {"convolve-columns", 2048},
    {"rgba", 2048},
    {"transpose", 4096},
    {"downscale", 4096},
    {"mandelbrot", 2048},
    {"spmv", 1 << 20},
    {"relax-pull", 1 << 20},
    {"relax-push", 1 << 20},
    {"switch-return", 1 << 22},
    {"collatz", 1 << 22},
    {"newton-f64", 1 << 20},
    {"particles", 1 << 22},
    {"rays", 1 << 19},
    {"digits", 1 << 23},
};

static size_t gpu_size(const benchmark *b) {
    for (unsigned k = 0; k < sizeof gpu_sizes / sizeof *gpu_sizes; k++)
        if (strcmp(gpu_sizes[k].name, b->name) == 0) return gpu_sizes[k].size;
    return 0;
}

/* ------------------------------------------------------------------------------------------ a theme */

/* Kinds of our code, best first: the first one that suits a launch is taken. */
enum { KINDS = 3 };
static const char *const kinds[KINDS] = {",disjoint,coarsen=4", ",disjoint,coarsen=2", ",disjoint"};

typedef struct {
    const char *build;
    const theme *of;
    our_code plain, ours[KINDS];
    gpu_module *nvcc[2];
    opencl_peer opencl;
    cl_program program;
} code;

static gpu_module *load_cubin(const code *c, const char *kind) {
    char path[1000];
    snprintf(path, sizeof path, "%s/bench/cuda/%s.%s.cubin", c->build, c->of->name, kind);
    char *image = read_file(path, NULL);
    gpu_module *m = image ? gpu_load(image) : NULL;
    free(image);
    return m;
}

static void load_theme(code *c, const theme *t) {
    char path[1000];
    c->of = t;
    snprintf(path, sizeof path, "tests/bench/simd/%s.cl", t->name);
    c->plain = write_theme(c->build, t, "");
    for (unsigned k = 0; k < KINDS; k++) c->ours[k] = write_theme(c->build, t, kinds[k]);
    c->nvcc[0] = load_cubin(c, "fast");
    c->nvcc[1] = load_cubin(c, "exact");
    c->program = c->opencl.exists ? build_program(&c->opencl.device, path, false) : NULL;
}

static void unload_theme(code *c) {
    free_code(&c->plain);
    for (unsigned k = 0; k < KINDS; k++) free_code(&c->ours[k]);
    for (unsigned k = 0; k < 2; k++) gpu_unload(c->nvcc[k]);
    if (c->program) clReleaseProgram(c->program);
}

/* ------------------------------------------------------------------------------------------- a row */

typedef struct {
    const benchmark *of;
    bool runs[SIDES], is_wrong[SIDES];
    unsigned repeats;
    double us[SIDES][MOST_ROUNDS];
    int registers[SIDES], spilled[SIDES];
    unsigned coarsened;
    double bytes;
} row;

typedef struct {
    gpu_buffers buffers;
    our_code fused[1 + KINDS];
    unsigned nfused;
    gpu_side side[NVIDIA_OPENCL];
    opencl_side opencl;
} sides;

/* A chain has code of its own, for its size. */
static our_code *write_fused(sides *s, const code *c, const benchmark *b, const char *options) {
    our_code *to = &s->fused[s->nfused++];
    return *to = write_chain(c->build, c->of, b, s->buffers.of->items[0], options), to;
}

static bool begin_ours(sides *s, const code *c, const benchmark *b) {
    bool ok = false;
    for (unsigned k = 0; k < KINDS && !ok; k++) {
        const our_code *from = b->steps ? write_fused(s, c, b, kinds[k]) : &c->ours[k];
        ok = prepare_ours(&s->side[OURS], from, b->kernel, &s->buffers);
    }
    return ok;
}

static bool begin_side(sides *s, const code *c, const benchmark *b, unsigned k) {
    gpu_side *side = &s->side[k < NVIDIA_OPENCL ? k : 0];
    bool ok;
    switch (k) {
    case NVIDIA_OPENCL:
        return c->program && prepare_opencl(&s->opencl, &c->opencl, c->program, b, &s->buffers);
    case OURS: ok = begin_ours(s, c, b); break;
    case OURS_PLAIN:
        ok = prepare_ours(side, b->steps ? write_fused(s, c, b, "") : &c->plain, b->kernel,
                          &s->buffers);
        break;
    default: ok = prepare_gpu_side(side, c->nvcc[k - NVCC], b->kernel, &s->buffers);
    }
    side->is_fused = b->steps;
    return ok;
}

static void end_sides(sides *s) {
    for (unsigned k = 0; k < s->nfused; k++) free_code(&s->fused[k]);
    free_opencl(&s->opencl);
    free_gpu_buffers(&s->buffers);
}

static bool run_once(sides *s, unsigned k, const problem *p, host_arguments *to) {
    if (k == NVIDIA_OPENCL)
        return run_launch(&s->opencl.launch[0]) && read_results(&s->opencl.launch[0], p, to);
    s->side[k].turn = 0;
    return reset_gpu_buffers(&s->buffers) && run_gpu_side(&s->side[k]) && gpu_wait() &&
           read_gpu_results(&s->buffers, to);
}

/* A side whose results differ from `want` is marked, with a message. */
static void check(row *r, sides *s, const problem *p, unsigned k, const host_arguments *want) {
    char text[200] = "the launch failed";
    host_arguments got = copy_arguments(p);
    bool ok = run_once(s, k, p, &got) && compare_results(r->of, p, &got, want, text);
    if (!ok) fprintf(stderr, "%s, size %zu, %s: %s\n", r->of->name, p->size, side_names[k], text);
    r->is_wrong[k] |= !ok;
    free_arguments(p, &got);
}

static void check_odd(row *r, const code *c) {
    static sides s;
    s = (sides){0};
    sized_row odd = size_row(r->of, r->of->odd);
    bool ok = make_gpu_buffers(&s.buffers, &odd.problem, false);
    for (unsigned k = 0; k < SIDES && ok; k++)
        if (begin_side(&s, c, r->of, k)) check(r, &s, &odd.problem, k, &odd.want);
    end_sides(&s);
    free_sized_row(&odd);
}

static double time_side(sides *s, unsigned k, unsigned times) {
    if (k == NVIDIA_OPENCL) return time_opencl(&s->opencl, times) / times;
    gpu_begin_time();
    for (unsigned n = 0; n < times; n++)
        if (!run_gpu_side(&s->side[k])) return 0;
    return gpu_end_time() / times;
}

/* Each side comes after each other one as often: what one leaves in the caches, or to the clock of the
 * GPU, concerns the next. */
static void shuffle(unsigned order[SIDES], uint64_t *random) {
    for (unsigned n = 0; n < SIDES; n++) {
        unsigned at = draw_below(random, n + 1);
        order[n] = order[at];
        order[at] = n;
    }
}

static void measure(row *r, sides *s, unsigned rounds) {
    uint64_t random = 1;
    double once = 0;
    for (unsigned k = 0; k < SIDES; k++)
        if (r->runs[k]) once = time_side(s, k, 3);
    r->repeats = once > 0 && once < SAMPLE_US ? (unsigned)(SAMPLE_US / once) + 1 : 1;
    if (r->repeats > 200) r->repeats = 200;
    for (unsigned k = 0; k < SIDES; k++)
        if (r->runs[k]) time_side(s, k, r->repeats);
    for (unsigned n = 0; n < rounds; n++) {
        unsigned order[SIDES];
        shuffle(order, &random);
        for (unsigned turn = 0; turn < SIDES; turn++) {
            unsigned k = order[turn];
            if (r->runs[k]) r->us[k][n] = time_side(s, k, r->repeats);
        }
    }
}

static void run_full(row *r, const code *c, unsigned rounds) {
    static sides s;
    s = (sides){0};
    problem p = {.size = gpu_size(r->of)};
    r->of->make(&p);
    if (r->of->class != BARRIER && p.local[0] * p.local[1] < USUAL_GROUP)
        p.local[0] = USUAL_GROUP / p.local[1];
    bool ok = make_gpu_buffers(&s.buffers, &p, true);
    r->bytes = (double)s.buffers.bytes;
    for (unsigned k = 0; k < SIDES && ok; k++) {
        r->runs[k] = begin_side(&s, c, r->of, k);
        r->registers[k] = k < NVIDIA_OPENCL ? s.side[k].registers : 0;
        r->spilled[k] = k < NVIDIA_OPENCL ? s.side[k].spilled : 0;
    }
    r->coarsened = s.side[OURS].coarsened[0] * s.side[OURS].coarsened[1];
    host_arguments want = copy_arguments(&p);
    if (r->runs[NVCC_EXACT] && run_once(&s, NVCC_EXACT, &p, &want))
        for (unsigned k = 0; k < SIDES; k++)
            if (r->runs[k]) check(r, &s, &p, k, &want);
    if (ok) measure(r, &s, rounds);
    free_arguments(&p, &want);
    end_sides(&s);
    free_problem(&p);
}

/* ----------------------------------------------------------------------------------------- printing */

typedef struct {
    double logs, least;
    unsigned n;
    const char *where;
} mean;

static double ratio_of(const row *r, unsigned peer, unsigned ours, unsigned rounds) {
    double v[MOST_ROUNDS];
    if (!r->runs[peer] || !r->runs[ours]) return 0;
    for (unsigned n = 0; n < rounds; n++) v[n] = r->us[peer][n] / r->us[ours][n];
    return median(v, rounds);
}

static void count(mean *m, const row *r, double ratio) {
    if (!ratio) return;
    m->logs += log(ratio);
    if (!m->n++ || ratio < m->least) m->least = ratio, m->where = r->of->name;
}

static void print_row(const row *r, unsigned rounds) {
    double copy[MOST_ROUNDS];
    printf("%-17s", r->of->name);
    for (unsigned k = 0; k < SIDES; k++) {
        memcpy(copy, r->us[k], sizeof copy);
        printf(r->runs[k] ? " %9.1f" : "         -", median(copy, rounds));
    }
    printf(" |");
    for (unsigned k = NVCC; k < SIDES; k++) printf(" %6.2f", ratio_of(r, k, OURS, rounds));
    printf(" | %3d %3d %3d | %d %d |", r->registers[OURS_PLAIN], r->registers[OURS],
           r->registers[NVCC], r->spilled[OURS], r->spilled[NVCC]);
    for (unsigned k = 0; k < SIDES; k++)
        if (r->is_wrong[k]) printf(" %s is WRONG", side_names[k]);
    putchar('\n');
    fflush(stdout);
}

static void print_json(FILE *f, const row *r, unsigned rounds) {
    fprintf(f, "{\"name\": \"%s\", \"bytes\": %.0f", r->of->name, r->bytes);
    for (unsigned k = 0; k < SIDES; k++) {
        if (!r->runs[k]) continue;
        fprintf(f, ", \"%s\": [", side_names[k]);
        for (unsigned n = 0; n < rounds; n++) fprintf(f, "%s%.3f", n ? ", " : "", r->us[k][n]);
        fprintf(f, "]");
    }
    fprintf(f, "}\n");
}

/* ---------------------------------------------------------------------------------------------- all */

typedef struct {
    const char *build;
    char **only;
    unsigned rounds;
    FILE *json;
} options;

static bool is_asked_for(const options *o, const benchmark *b) {
    if (!gpu_size(b)) return false;
    for (char **name = o->only; *name; name++)
        if (strcmp(*name, b->name) == 0) return true;
    return !*o->only;
}

static void run_row(const options *o, const code *c, const benchmark *b, mean means[SIDES],
                    unsigned *wrong) {
    static row r;
    r = (row){.of = b};
    check_odd(&r, c);
    run_full(&r, c, o->rounds);
    print_row(&r, o->rounds);
    if (o->json) print_json(o->json, &r, o->rounds);
    *wrong += r.is_wrong[OURS_PLAIN] || r.is_wrong[OURS] || !r.runs[OURS];
    for (unsigned k = 0; k < SIDES; k++) count(&means[k], &r, ratio_of(&r, k, OURS, o->rounds));
}

/* What a copy within the GPU's memory moves, reads and writes together. */
static double copy_speed(void) {
    enum { BYTES = 1 << 28, TIMES = 20 };
    gpu_address a = gpu_allocate(BYTES), b = gpu_allocate(BYTES);
    gpu_copy(a, b, BYTES);
    gpu_begin_time();
    for (int n = 0; n < TIMES; n++) gpu_copy(a, b, BYTES);
    double us = gpu_end_time() / TIMES;
    gpu_release(a);
    gpu_release(b);
    return 2.0 * BYTES / us / 1e3;
}

static unsigned run_all(const options *o) {
    mean means[SIDES] = {0};
    unsigned n, wrong = 0;
    const theme *const *themes = all_themes(&n);
    code c = {.build = o->build};
    open_opencl(&c.opencl);
    printf("%s, sm_%u, copies move %.0f GB/s\n", gpu_name(), gpu_sm(), copy_speed());
    printf("%-17s %49s | %20s | %11s | spilled\n", "", "microseconds of a launch",
           "speed of ours by", "registers");
    printf("%-17s %9s %9s %9s %9s %9s | nvcc  exact OpenCL |\n", "kernel", "plain", "ours", "nvcc",
           "exact", "OpenCL");
    for (unsigned t = 0; t < n; t++) {
        bool loaded = false;
        for (unsigned k = 0; k < themes[t]->n; k++) {
            if (!is_asked_for(o, &themes[t]->rows[k])) continue;
            if (!loaded) load_theme(&c, themes[t]);
            loaded = true;
            run_row(o, &c, &themes[t]->rows[k], means, &wrong);
        }
        if (loaded) unload_theme(&c);
    }
    for (unsigned k = 0; k < SIDES; k++)
        if (means[k].n && k != OURS)
            printf("speed of ours by %-7s geometric mean %5.2f of %u rows, least %5.2f (%s)\n",
                   side_names[k], exp(means[k].logs / means[k].n), means[k].n, means[k].least,
                   means[k].where);
    return wrong;
}

int main(int argc, char **argv) {
    options o = {.rounds = 11};
    for (argv++; argc > 2 && argv[0] && argv[1] && **argv == '-'; argv += 2)
        if (strcmp(*argv, "-r") == 0)
            o.rounds = (unsigned)atoi(argv[1]);
        else if (strcmp(*argv, "-j") == 0)
            o.json = fopen(argv[1], "w");
    if (!*argv || !o.rounds || o.rounds > MOST_ROUNDS)
        return fprintf(stderr, "usage: cuda [-r ROUNDS] [-j FILE] BUILD [NAME ...]\n"), 2;
    o.build = *argv++;
    o.only = argv;
    if (!gpu_open()) return 2;
    unsigned wrong = run_all(&o);
    if (o.json) fclose(o.json);
    return wrong != 0;
}
