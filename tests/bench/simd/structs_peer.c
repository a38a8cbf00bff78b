/* structs_peer.c — the kernels of structs.cl as loops in C, on all threads. */
#include "tests/bench/simd/peers.h"

#include <math.h>

typedef struct {
    float px, py, pz, vx, vy, vz, mass, age;
} particle;

void loop_particles(const size_t items[2], void *const *arguments) {
    const float step = *(float *)arguments[1];
    particle *restrict all = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        particle p = all[i];
        p.vy -= 9.81f * step;
        p.px += p.vx * step, p.py += p.vy * step, p.pz += p.vz * step;
        bool bounces = p.py < 0;
        p.py = bounces ? -p.py : p.py;
        p.vy = bounces ? -0.8f * p.vy : p.vy;
        p.age += step;
        all[i] = p;
    }
}

typedef struct {
    float x, y, z, radius;
} sphere;
typedef struct {
    float distance;
    uint32_t which;
} hit;

static float enter(const float *d, const sphere *s) {
    float along = d[0] * s->x + d[1] * s->y + d[2] * s->z;
    float square = s->x * s->x + s->y * s->y + s->z * s->z - s->radius * s->radius;
    float inside = along * along - square;
    return inside < 0 ? -1 : along - sqrtf(inside);
}

void loop_rays(const size_t items[2], void *const *arguments) {
    const uint32_t spheres = *(uint32_t *)arguments[1];
    const sphere *restrict all = arguments[2];
    const float *restrict direction = arguments[3];
    float *restrict distances = arguments[4];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        hit nearest[4];
        for (int k = 0; k < 4; k++) nearest[k] = (hit){1000, spheres};
        for (uint32_t s = 0; s < spheres; s++) {
            float at = enter(direction + 4 * i, &all[s]);
            if (at < 0) continue;
            unsigned place = 0;
            while (place < 4 && nearest[place].distance <= at) place++;
            if (place == 4) continue;
            for (unsigned k = 3; k > place; k--) nearest[k] = nearest[k - 1];
            nearest[place] = (hit){at, s};
        }
        for (int k = 0; k < 4; k++) distances[4 * i + k] = nearest[k].distance;
    }
}

void loop_digits(const size_t items[2], void *const *arguments) {
    const uint32_t *restrict keys = arguments[1];
    uint32_t *restrict most = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        uint32_t count[4] = {0}, best = 0;
        for (int k = 0; k < 32; k += 2) count[keys[i] >> k & 3]++;
        for (uint32_t k = 1; k < 4; k++)
            if (count[k] > count[best]) best = k;
        most[i] = best;
    }
}
