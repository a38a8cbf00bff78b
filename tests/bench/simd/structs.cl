// structs.cl: arrays of structs, private arrays, and helper functions that pass both.

typedef struct {
    float px, py, pz, vx, vy, vz, mass, age;
} particle;

// Particles fall, and bounce at the ground.
kernel void particles(uint n, float step, global particle *all) {
    uint i = get_global_id(0);
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

typedef struct {
    float x, y, z, radius;
} sphere;
typedef struct {
    float distance;
    uint which;
} hit;

// Where a ray from the origin enters a sphere; below 0: nowhere.
float enter(float3 direction, constant sphere *s) {
    float along = direction.x * s->x + direction.y * s->y + direction.z * s->z;
    float square = s->x * s->x + s->y * s->y + s->z * s->z - s->radius * s->radius;
    float inside = along * along - square;
    return inside < 0 ? -1.0f : along - sqrt(inside);
}

// The hit becomes the one at `place`; those from there on move up.
void insert(hit *nearest, uint place, hit h) {
    for (uint k = 3; k > place; k--) nearest[k] = nearest[k - 1];
    nearest[place] = h;
}

// The four nearest of some spheres that a ray hits, in a private array of structs.
kernel void rays(uint n, uint spheres, constant sphere *all, global const float4 *direction,
                 global float4 *distances) {
    uint i = get_global_id(0);
    if (i >= n) return;
    hit nearest[4];
    for (int k = 0; k < 4; k++) nearest[k] = (hit){1000.0f, spheres};
    for (uint s = 0; s < spheres; s++) {
        float at = enter(direction[i].xyz, &all[s]);
        if (at < 0) continue;
        uint place = 0;
        while (place < 4 && nearest[place].distance <= at) place++;
        if (place < 4) insert(nearest, place, (hit){at, s});
    }
    distances[i] = (float4)(nearest[0].distance, nearest[1].distance, nearest[2].distance,
                            nearest[3].distance);
}

// Keys of eight bytes: counts of each digit in a private array, then the most frequent one.
kernel void digits(uint n, global const uint *keys, global uint *most) {
    uint i = get_global_id(0);
    if (i >= n) return;
    uint count[4] = {0, 0, 0, 0}, best = 0;
    for (uint k = 0; k < 32; k += 2) count[keys[i] >> k & 3]++;
    for (uint k = 1; k < 4; k++)
        if (count[k] > count[best]) best = k;
    most[i] = best;
}
