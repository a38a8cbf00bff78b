// divergent.cl: neighbours take different branches, or run a loop a different number of times.

kernel void mandelbrot(uint width, uint height, global uint *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float cr = -2.0f + 3.0f / width * x, ci = -1.0f + 2.0f / height * y, zr = 0, zi = 0;
    uint n = 0;
    while (n < 256 && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        n++;
    }
    out[y * width + x] = n;
}

// A sparse matrix, by compressed rows, times a vector.
kernel void spmv(uint rows, global const uint *begin, global const uint *column,
                 global const float *value, global const float *x, global float *y) {
    uint i = get_global_id(0);
    if (i >= rows) return;
    float sum = 0;
    for (uint k = begin[i]; k < begin[i + 1]; k++) sum += value[k] * x[column[k]];
    y[i] = sum;
}

// A step of shortest paths: what the frontier reaches, each node looking at those before it.
kernel void relax_pull(uint nodes, global const uint *begin, global const uint *before,
                       global const uint *length, global const uint *frontier,
                       global const uint *distance, global uint *to) {
    uint i = get_global_id(0);
    if (i >= nodes) return;
    uint least = distance[i];
    for (uint k = begin[i]; k < begin[i + 1]; k++)
        if (frontier[before[k]]) least = min(least, distance[before[k]] + length[k]);
    to[i] = least;
}

// The same, each node of the frontier telling those after it.
kernel void relax_push(uint nodes, global const uint *begin, global const uint *after,
                       global const uint *length, global const uint *frontier,
                       global const uint *distance, global uint *to) {
    uint i = get_global_id(0);
    if (i >= nodes || !frontier[i]) return;
    for (uint k = begin[i]; k < begin[i + 1]; k++)
        atomic_min(&to[after[k]], distance[i] + length[k]);
}

// A switch whose cases return; some of the work comes after it.
kernel void switch_return(uint n, global const uint *kind, global const float *x, global float *y) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float v = x[i];
    switch (kind[i]) {
    case 0: return;
    case 1: y[i] = v * v; return;
    case 2: v = sqrt(fabs(v)); break;
    case 3: v = 1.0f / (1.0f + v * v); break;
    case 4: y[i] = -v; return;
    default: v = fmin(v, 0.5f);
    }
    for (int k = 0; k < 4; k++) v = v * 0.75f + 0.125f;
    y[i] = v;
}

// Integers: steps until 1 (Collatz), at most 200.
kernel void collatz(uint n, global uint *steps) {
    uint i = get_global_id(0);
    if (i >= n) return;
    uint v = i + 1, k = 0;
    for (; v != 1 && k < 200; k++) v = v & 1 ? 3 * v + 1 : v / 2;
    steps[i] = k;
}

// Newton's method, until it has converged.
kernel void newton(uint n, global const double *x, global double *root) {
    uint i = get_global_id(0);
    if (i >= n) return;
    double a = x[i], r = a, change = 1;
    for (int k = 0; k < 60 && fabs(change) > 1e-12 * r; k++) {
        change = (r * r * r - a) / (3 * r * r);
        r -= change;
    }
    root[i] = r;
}
