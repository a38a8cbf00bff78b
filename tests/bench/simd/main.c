/* main.c — the speed of kernels that vectors make faster: ours, PoCL's, and that of loops in C.
 *
 *   simd [-o OPTIONS] [-t THREADS] [-r ROUNDS] [MODE] BUILD [NAME …]
 *
 * BUILD is the folder of the build; the program runs in the root of the sources.  Only rows with
 * one of the names run, if there are names.
 *
 *   -o OPTIONS   of our device, such as simd=16 or v3,simd=8
 *   -t THREADS   for all three; by default, all processors
 *   -r ROUNDS    of measurements, 15 by default
 *   --short      only checks results of ours, at small and odd sizes
 *   --cold       processor time of building and of the first launch, scalar and with the options
 *   --sizes      bytes of code, scalar and with the options, and whether these are too many
 *   --odd        times at the size of the table and at an odd one, next to PoCL (odd.c)
 *   --local-sizes   other kernels, in work-groups of different sizes (local.c); fails if these cost
 *                too much
 *   --sub-groups other kernels, with sub-groups of different sizes (subgroups.c); fails if these
 *                gain too little
 *   --list       names, classes and sizes
 *
 * A row of the table has the time of a work-item in nanoseconds of all processors together (CPU
 * time) for ours, PoCL and the loop in C, which gcc -O3 -march=native -ffast-math -fopenmp
 * compiles.  Ratios are above 1 where ours is faster, and are medians over rounds; in a round, each
 * of the three runs once, one after the other.  All results are compared with those of code in
 * double precision, at the size that is timed and at an odd one.  The program fails if one of ours
 * is wrong, or if the whole table misses a bar (bars.c).
 */
#include "tests/bench/simd/simd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *class_name(kernel_class c) {
    static const char *const names[CLASSES] = {"streaming", "divergent", "barrier", "inner-loop",
                                               "other"};
    return names[c];
}

bool is_chosen(const bench_options *o, const benchmark *b) {
    for (unsigned k = 0; k < o->names; k++)
        if (strcmp(o->only[k], b->name) == 0) return true;
    return !o->names;
}

progress begin_rows(const bench_options *o) {
    unsigned themes, n = 0;
    const theme *const *all = all_themes(&themes);
    for (unsigned t = 0; t < themes; t++)
        for (unsigned k = 0; k < all[t]->n; k++) n += is_chosen(o, &all[t]->rows[k]);
    return progress_begin("rows", n);
}

bool open_ours(const bench_options *o, implementation *d) {
    char library[1000];
    snprintf(library, sizeof library, "%s/libspvfuse_icd.so", o->build);
    return open_implementation(d, library);
}

cl_program build_theme(const implementation *d, const bench_options *o, const theme *t,
                       bool from_spirv) {
    char path[1000];
    if (from_spirv)
        snprintf(path, sizeof path, "%s/bench/simd/%s.spv", o->build, t->name);
    else
        snprintf(path, sizeof path, "tests/bench/simd/%s.cl", t->name);
    return build_program(d, path, from_spirv);
}

static bool list_rows(void) {
    unsigned n;
    const theme *const *themes = all_themes(&n);
    printf("%-16s %-12s %-11s %10s %8s %8s\n", "name", "theme", "class", "size", "odd", "small");
    for (unsigned t = 0; t < n; t++)
        for (unsigned k = 0; k < themes[t]->n; k++) {
            const benchmark *b = &themes[t]->rows[k];
            printf("%-16s %-12s %-11s %10zu %8zu %8zu\n", b->name, themes[t]->name,
                   class_name(b->class), b->full, b->odd, b->small);
        }
    return true;
}

static bool usage(void) {
    fprintf(stderr, "usage: simd [-o OPTIONS] [-t THREADS] [-r ROUNDS] "
                    "[--short | --cold | --sizes | --odd | --local-sizes | --sub-groups | "
                    "--list] BUILD [NAME ...]\n");
    return false;
}

/* Sets what an option names; false: it is none of these. */
static bool take_mode(const char *option, bench_options *o) {
    static const struct {
        const char *option;
        bool (*run)(const bench_options *o);
    } modes[] = {{"--short", run_short},
                 {"--cold", run_cold},
                 {"--sizes", run_sizes},
                 {"--odd", run_odd},
                 {"--local-sizes", run_local_sizes},
                 {"--sub-groups", run_subgroups}};
    for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++)
        if (strcmp(option, modes[k].option) == 0) return o->run = modes[k].run, true;
    if (strcmp(option, "--list") == 0) return o->list = true;
    return false;
}

static bool read_options(char **argv, bench_options *o) {
    *o = (bench_options){.options = "", .rounds = 15};
    for (argv++; *argv && **argv == '-'; argv++) {
        if (take_mode(*argv, o)) continue;
        if (!argv[1])
            return usage();
        else if (strcmp(*argv, "-o") == 0)
            o->options = *++argv;
        else if (strcmp(*argv, "-t") == 0)
            o->threads = *++argv;
        else if (strcmp(*argv, "-r") == 0)
            o->rounds = (unsigned)atoi(*++argv);
        else
            return usage();
    }
    if (!*argv || !o->rounds || o->rounds > MOST_ROUNDS) return o->list || usage();
    o->build = *argv++;
    o->only = (const char *const *)argv;
    while (argv[o->names]) o->names++;
    return true;
}

static void set_threads(const char *n) {
    setenv("SPVF_THREADS", n, 1);
    setenv("POCL_MAX_PTHREAD_COUNT", n, 1);
    setenv("OMP_NUM_THREADS", n, 1);
}

/* OpenMP reads the environment when it is loaded, before main; so the program starts once more. */
static void begin_again(char **argv, const bench_options *o) {
    if (getenv("OMP_WAIT_POLICY")) return;
    if (o->threads) set_threads(o->threads);
    setenv("SPVFUSE_CACHE", "0", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1); /* threads that wait for work take no time */
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    bench_options o;
    (void)argc;
    if (!read_options(argv, &o)) return 2;
    if (o.list) return !list_rows();
    begin_again(argv, &o);
    return !(o.run ? o.run : run_table)(&o);
}
