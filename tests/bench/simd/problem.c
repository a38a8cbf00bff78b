/* problem.c — the arguments of a benchmark: random data, copies for loops of the host, and the
 * comparison of results with those of the reference.
 */
#include "tests/bench/simd/simd.h"
#include "tests/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t element_size(element_type t) {
    static const size_t sizes[] = {1, 1, 4, 4, 8, 4, 8};
    return sizes[t];
}

void set_range(problem *p, size_t items, size_t local) { set_plane(p, items, 1, local, 1); }

void set_plane(problem *p, size_t width, size_t height, size_t local_x, size_t local_y) {
    p->items[0] = width, p->items[1] = height;
    p->local[0] = local_x, p->local[1] = local_y;
    p->work = width * height;
}

/* ------------------------------------------------------------------------------------ arguments */

/* Memory for so many bytes, aligned as vectors like it. */
static void *new_memory(size_t bytes) {
    void *data = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (!data) abort();
    return data;
}

static argument *add(problem *p, element_type type, size_t count) {
    if (p->n == MOST_ARGUMENTS) abort();
    argument *a = &p->argument[p->n++];
    *a = (argument){.type = type, .count = count};
    return a;
}

static void *add_buffer(problem *p, element_type type, size_t count) {
    argument *a = add(p, type, count);
    return a->data = new_memory(count * element_size(type));
}

void *add_zeros(problem *p, element_type type, size_t count) {
    return memset(add_buffer(p, type, count), 0, count * element_size(type));
}

void *add_result(problem *p, element_type type, size_t count) {
    void *data = add_zeros(p, type, count);
    is_result_too(p);
    return data;
}

void is_result_too(problem *p) { p->argument[p->n - 1].is_result = true; }

/* From 0 to 1. */
static double draw(problem *p) { return (double)(splitmix64(&p->random) >> 11) * 0x1p-53; }

float *add_floats(problem *p, size_t count, double low, double high) {
    float *data = add_buffer(p, TYPE_F32, count);
    for (size_t i = 0; i < count; i++) data[i] = (float)(low + draw(p) * (high - low));
    return data;
}

double *add_doubles(problem *p, size_t count, double low, double high) {
    double *data = add_buffer(p, TYPE_F64, count);
    for (size_t i = 0; i < count; i++) data[i] = low + draw(p) * (high - low);
    return data;
}

uint8_t *add_bytes(problem *p, element_type type, size_t count) {
    uint8_t *data = add_buffer(p, type, count);
    for (size_t i = 0; i < count; i++) data[i] = (uint8_t)(splitmix64(&p->random) >> 56);
    return data;
}

uint32_t *add_words(problem *p, size_t count, uint32_t below) {
    uint32_t *data = add_buffer(p, TYPE_U32, count);
    for (size_t i = 0; i < count; i++)
        data[i] = below ? draw_below(&p->random, below) : (uint32_t)splitmix64(&p->random);
    return data;
}

static void add_value(problem *p, element_type type, const void *value) {
    memcpy(add_buffer(p, type, 1), value, element_size(type));
    p->argument[p->n - 1].is_value = true;
}

void add_int(problem *p, size_t value) { add_value(p, TYPE_U32, &(uint32_t){(uint32_t)value}); }

void add_float(problem *p, float value) { add_value(p, TYPE_F32, &value); }

void add_local(problem *p, element_type type, size_t count) { add(p, type, count); }

void free_problem(problem *p) {
    for (unsigned k = 0; k < p->n; k++) free(p->argument[k].data);
    *p = (problem){0};
}

host_arguments copy_arguments(const problem *p) {
    host_arguments copy = {0};
    for (unsigned k = 0; k < p->n; k++) {
        const argument *a = &p->argument[k];
        size_t bytes = a->count * element_size(a->type);
        copy.at[k] = a->is_result ? memcpy(new_memory(bytes), a->data, bytes) : a->data;
    }
    return copy;
}

void free_arguments(const problem *p, host_arguments *a) {
    for (unsigned k = 0; k < p->n; k++)
        if (p->argument[k].is_result) free(a->at[k]);
    *a = (host_arguments){0};
}

/* ----------------------------------------------------------------------------------------- rows */

sized_row size_row(const benchmark *b, size_t size) {
    sized_row r = {.row = b, .problem = {.size = size}};
    b->make(&r.problem);
    r.want = copy_arguments(&r.problem);
    b->reference(r.problem.items, r.want.at);
    return r;
}

void free_sized_row(sized_row *r) {
    free_arguments(&r->problem, &r->want);
    free_problem(&r->problem);
}

/* ----------------------------------------------------------------------------------- comparison */

static double element_at(const void *data, element_type type, size_t n) {
    switch (type) {
    case TYPE_I8: return ((const int8_t *)data)[n];
    case TYPE_U8: return ((const uint8_t *)data)[n];
    case TYPE_I32: return ((const int32_t *)data)[n];
    case TYPE_U32: return ((const uint32_t *)data)[n];
    case TYPE_U64: return (double)((const uint64_t *)data)[n];
    case TYPE_F32: return (double)((const float *)data)[n];
    case TYPE_F64: return ((const double *)data)[n];
    }
    abort();
}

/* The mean of the magnitudes, which is what a sum with cancellation is rounded relative to. */
static double mean_of(const void *data, element_type type, size_t count) {
    double sum = 0;
    for (size_t n = 0; n < count; n++) sum += fabs(element_at(data, type, n));
    return count ? sum / (double)count : 0;
}

/* Integers of 32 and 64 bits must be equal; bytes may be rounded. */
static double tolerance_of(const benchmark *b, element_type type) {
    return type == TYPE_I32 || type == TYPE_U32 || type == TYPE_U64 ? 0 : b->tolerance;
}

static bool compare_one(const benchmark *b, const argument *a, const void *got, const void *want,
                        char text[200]) {
    size_t wrong = 0, first = 0, size = element_size(a->type);
    const double tolerance = tolerance_of(b, a->type);
    double mean = tolerance > 0 ? mean_of(want, a->type, a->count) : 0;
    for (size_t n = 0; n < a->count; n++) {
        if (!memcmp((const char *)got + n * size, (const char *)want + n * size, size)) continue;
        double x = element_at(got, a->type, n), y = element_at(want, a->type, n);
        if (tolerance > 0 && fabs(x - y) <= tolerance * (fabs(y) + mean)) continue;
        if (!wrong++) first = n;
    }
    if ((double)wrong <= b->outliers * (double)a->count) return true;
    snprintf(text, 200, "element %zu is %.9g, not %.9g; %zu of %zu are wrong", first,
             element_at(got, a->type, first), element_at(want, a->type, first), wrong, a->count);
    return false;
}

bool compare_results(const benchmark *b, const problem *p, const host_arguments *got,
                     const host_arguments *want, char text[200]) {
    for (unsigned k = 0; k < p->n; k++) {
        const argument *a = &p->argument[k];
        if (a->is_result && !compare_one(b, a, got->at[k], want->at[k], text)) return false;
    }
    return true;
}
