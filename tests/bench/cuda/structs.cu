#include "peer.cuh"

struct particle {
    float px, py, pz, vx, vy, vz, mass, age;
};

KERNEL particles(uint n, float step, OUT(particle) all) {
    uint i = global_x();
    if (i >= n) return;
    particle p = all[i];
    p.vy -= 9.81f * step;
    p.px += p.vx * step, p.py += p.vy * step, p.pz += p.vz * step;
    if (p.py < 0) {
        p.py = -p.py;
        p.vy *= -0.8f;
    }
    p.age += step;
    all[i] = p;
}

struct sphere {
    float x, y, z, radius;
};
struct hit {
    float distance;
    uint which;
};

static __device__ float enter(float4 direction, const sphere &s) {
    float along = direction.x * s.x + direction.y * s.y + direction.z * s.z;
    float square = s.x * s.x + s.y * s.y + s.z * s.z - s.radius * s.radius;
    float inside = along * along - square;
    return inside < 0 ? -1.0f : along - sqrtf(inside);
}

static __device__ void insert(hit *nearest, uint place, hit h) {
    for (uint k = 3; k > place; k--) nearest[k] = nearest[k - 1];
    nearest[place] = h;
}

KERNEL rays(uint n, uint spheres, IN(sphere) all, IN(float4) direction, OUT(float4) distances) {
    uint i = global_x();
    if (i >= n) return;
    hit nearest[4];
    for (int k = 0; k < 4; k++) nearest[k] = hit{1000.0f, spheres};
    for (uint s = 0; s < spheres; s++) {
        float at = enter(direction[i], all[s]);
        if (at < 0) continue;
        uint place = 0;
        while (place < 4 && nearest[place].distance <= at) place++;
        if (place < 4) insert(nearest, place, hit{at, s});
    }
    distances[i] = make_float4(nearest[0].distance, nearest[1].distance, nearest[2].distance,
                               nearest[3].distance);
}

KERNEL digits(uint n, IN(uint) keys, OUT(uint) most) {
    uint i = global_x();
    if (i >= n) return;
    uint count[4] = {0, 0, 0, 0}, best = 0;
    for (uint k = 0; k < 32; k += 2) count[keys[i] >> k & 3]++;
    for (uint k = 1; k < 4; k++)
        if (count[k] > count[best]) best = k;
    most[i] = best;
}
