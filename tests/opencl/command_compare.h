/* command_compare.h — a test that runs random programs in several ways, and tells which way leaves
 * other bytes behind than the last one.
 *
 *     TEST [-n PROGRAMS] [-s SEED] FILE
 *
 * Of a program that fails the commands that matter are printed. */
#ifndef SPVFUSE_TESTS_COMMAND_COMPARE_H
#define SPVFUSE_TESTS_COMMAND_COMPARE_H

#include "tests/opencl/command_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_WAYS = 8 };

typedef struct {
    const char *title;
    void (*begin)(const char *file); /* with the kernels */
    void (*end)(void);
    void (*adapt)(program *p); /* to what can be run; or NULL */
    /* Leaves the bytes of all blocks that are not let go, and zeros; may tell what was done. */
    void (*execute)(const program *p, unsigned way, bool tell, unsigned char got[BLOCKS][BYTES]);
    unsigned count;
    const char *ways[MOST_WAYS];
} comparison;

/* The way that leaves something else behind than the last one; `count`: none does. */
static inline unsigned find_wrong(const comparison *c, const program *p) {
    static unsigned char got[BLOCKS][BYTES], want[BLOCKS][BYTES];
    unsigned way = c->count - 1;
    c->execute(p, way, false, want);
    while (way-- > 0) {
        c->execute(p, way, false, got);
        if (memcmp(got, want, sizeof got)) return way;
    }
    return c->count;
}

/* Without one command after the other, as long as it fails. */
static inline void reduce_program(const comparison *c, program *p) {
    for (unsigned n = 0; n < p->count; n++) {
        if (p->commands[n].left_out) continue;
        p->commands[n].left_out = true;
        p->commands[n].left_out = find_wrong(c, p) < c->count;
    }
}

static inline void print_place(const program *p, unsigned n) {
    static const char *const kinds[] = {"buffer", "host", "shared"};
    const place *at = &p->places[n];
    const block *b = &p->blocks[at->block];
    printf(" %s%u", kinds[b->kind], at->block);
    if (at->kind != WHOLE) printf("%s+%u", at->kind == ADDRESS ? "*" : "", at->at);
    if (b->let_go) printf("(let go)");
}

static inline void print_command(const program *p, const command *c) {
    static const char *const kinds[] = {"launch", "copy", "fill", "barrier"};
    const char *args = c->kind == LAUNCH ? kernels[c->kernel].args : c->kind == WAIT ? "" : "ii";
    if (c->left_out) return;
    printf("  %s", c->kind == LAUNCH ? kernels[c->kernel].name : kinds[c->kind]);
    for (unsigned n = 0; *args; n++)
        if (is_memory(next_parameter(&args))) print_place(p, c->places[n]);
    printf(" value %d at %zu size %zu", c->value, c->at, c->size);
    for (unsigned d = 0; d < c->dims; d++)
        printf(" | %zu + %zu / %zu", c->offset[d], c->global[d], c->local[d]);
    printf("\n");
}

static inline void print_program(const comparison *c, const program *p, uint64_t seed) {
    static unsigned char got[BLOCKS][BYTES];
    const unsigned way = find_wrong(c, p);
    printf("-n 1 -s %llu: %s commands give something else:\n", (unsigned long long)seed,
           way < c->count ? c->ways[way] : "this time no");
    for (unsigned n = 0; n < p->count; n++) print_command(p, &p->commands[n]);
    if (way < c->count) c->execute(p, way, true, got);
}

static inline bool try_program(const comparison *c, uint64_t seed) {
    uint64_t random = seed;
    program p;
    draw_program(&p, &random);
    if (c->adapt) c->adapt(&p);
    if (find_wrong(c, &p) == c->count) return true;
    reduce_program(c, &p);
    print_program(c, &p, seed);
    return false;
}

static inline int compare_programs(const comparison *c, int argc, char **argv) {
    unsigned long long count = 200, seed = 1, wrong = 0;
    for (int opt; (opt = getopt(argc, argv, "n:s:")) != -1;)
        *(opt == 'n' ? &count : &seed) = strtoull(optarg, NULL, 10);
    if (optind >= argc) {
        printf("%s: which kernels?\n", argv[0]);
        return 2;
    }
    c->begin(argv[optind]);
    for (unsigned long long n = 0; n < count; n++) wrong += !try_program(c, seed + n);
    c->end();
    printf("%s: %llu passed, %llu failed\n", c->title, count - wrong, wrong);
    return wrong != 0;
}

/* The same bytes for every way; floating-point numbers are between 1 and 2. */
static inline void fill_block(unsigned char *to, unsigned b, char type) {
    uint64_t state = b;
    for (size_t n = 0; n < BYTES; n += width(type)) {
        const cl_uint bits = (cl_uint)splitmix64(&state);
        const cl_float f = 1 + (cl_float)(bits >> 9) / (1 << 23);
        const cl_double d = f;
        memcpy(to + n,
               type == 'd'   ? (const void *)&d
               : type == 'f' ? (const void *)&f
                             : &bits,
               width(type));
    }
}

#endif
