/* structs.c — arrays of structs and private arrays: data and references of structs.cl. */
#include "tests/bench/simd/peers.h"

#include <math.h>

/* Position, velocity, mass and age. */
enum { FIELDS = 8, FULL = 1 << 18, ODD = 10007, SMALL = 1024 };

static void make_particles(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_float(p, 0.01f);
    add_floats(p, FIELDS * p->size, 0, 10);
    is_result_too(p);
}

/* Bounces turn the height around, so those that are nearly 0 are the same. */
static void want_particles(const size_t items[2], void *const *arguments) {
    const double step = *(float *)arguments[1];
    float *p = arguments[2];
    for (size_t i = 0; i < items[0]; i++, p += FIELDS) {
        double down = (double)p[4] - 9.81 * step, height = (double)p[1] + down * step;
        p[0] = (float)((double)p[0] + (double)p[3] * step);
        p[1] = (float)fabs(height);
        p[2] = (float)((double)p[2] + (double)p[5] * step);
        p[4] = (float)(height < 0 ? -0.8 * down : down);
        p[7] = (float)((double)p[7] + step);
    }
}

static void make_rays(problem *p) {
    const size_t spheres = 32;
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_int(p, spheres);
    float *sphere = add_floats(p, 4 * spheres, -10, 10);
    for (size_t s = 0; s < spheres; s++) {
        sphere[4 * s + 2] += 20;
        sphere[4 * s + 3] = 4;
    }
    float *direction = add_floats(p, 4 * p->size, -0.5, 0.5);
    for (size_t i = 0; i < p->size; i++) {
        float *d = direction + 4 * i, length = sqrtf(d[0] * d[0] + d[1] * d[1] + 1);
        d[0] /= length, d[1] /= length, d[2] = 1 / length, d[3] = 0;
    }
    add_result(p, TYPE_F32, 4 * p->size);
}

/* Below 0: it is not hit. */
static double enter(const float d[4], const float s[4]) {
    double along = 0, square = -(double)s[3] * (double)s[3];
    for (int k = 0; k < 3; k++) {
        along += (double)d[k] * (double)s[k];
        square += (double)s[k] * (double)s[k];
    }
    double inside = along * along - square;
    return inside < 0 ? -1 : along - sqrt(inside);
}

static void want_rays(const size_t items[2], void *const *arguments) {
    const uint32_t spheres = *(uint32_t *)arguments[1];
    const float *sphere = arguments[2], *direction = arguments[3];
    float *distances = arguments[4];
    for (size_t i = 0; i < items[0]; i++, direction += 4, distances += 4) {
        double last = -1;
        for (int place = 0; place < 4; place++) { /* the next one after the last */
            double next = 1000;
            for (uint32_t s = 0; s < spheres; s++) {
                double at = enter(direction, sphere + 4 * s);
                if (at > last && at >= 0 && at < next) next = at;
            }
            distances[place] = (float)next;
            last = next;
        }
    }
}

static void make_digits(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_words(p, p->size, 0);
    add_result(p, TYPE_U32, p->size);
}

static void want_digits(const size_t items[2], void *const *arguments) {
    const uint32_t *keys = arguments[1];
    uint32_t *most = arguments[2];
    for (size_t i = 0; i < items[0]; i++) {
        int best = -1;
        for (uint32_t digit = 0; digit < 4; digit++) {
            int count = 0;
            for (int k = 0; k < 32; k += 2) count += (keys[i] >> k & 3) == digit;
            if (count > best) best = count, most[i] = digit;
        }
    }
}

static const benchmark rows[] = {
    {"particles", "particles", OTHER, FULL, ODD, SMALL, make_particles, want_particles,
     loop_particles, 1e-5, 0.001},
    {"rays", "rays", DIVERGENT, FULL / 4, ODD, SMALL, make_rays, want_rays, loop_rays, 1e-3, 0.001},
    {"digits", "digits", OTHER, FULL, ODD, SMALL, make_digits, want_digits, loop_digits, 0},
};
const theme structs_theme = {"structs", rows, sizeof rows / sizeof *rows};
