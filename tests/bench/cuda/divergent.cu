#include "peer.cuh"

KERNEL mandelbrot(uint width, uint height, OUT(uint) out) {
    uint x = global_x(), y = global_y();
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

KERNEL spmv(uint rows, IN(uint) begin, IN(uint) column, IN(float) value, IN(float) x,
            OUT(float) y) {
    uint i = global_x();
    if (i >= rows) return;
    float sum = 0;
    for (uint k = begin[i]; k < begin[i + 1]; k++) sum += value[k] * x[column[k]];
    y[i] = sum;
}

KERNEL relax_pull(uint nodes, IN(uint) begin, IN(uint) before, IN(uint) length, IN(uint) frontier,
                  IN(uint) distance, OUT(uint) to) {
    uint i = global_x();
    if (i >= nodes) return;
    uint least = distance[i];
    for (uint k = begin[i]; k < begin[i + 1]; k++)
        if (frontier[before[k]]) least = min(least, distance[before[k]] + length[k]);
    to[i] = least;
}

KERNEL relax_push(uint nodes, IN(uint) begin, IN(uint) after, IN(uint) length, IN(uint) frontier,
                  IN(uint) distance, OUT(uint) to) {
    uint i = global_x();
    if (i >= nodes || !frontier[i]) return;
    for (uint k = begin[i]; k < begin[i + 1]; k++) atomicMin(&to[after[k]], distance[i] + length[k]);
}

KERNEL switch_return(uint n, IN(uint) kind, IN(float) x, OUT(float) y) {
    uint i = global_x();
    if (i >= n) return;
    float v = x[i];
    switch (kind[i]) {
    case 0: return;
    case 1: y[i] = v * v; return;
    case 2: v = sqrtf(fabsf(v)); break;
    case 3: v = 1.0f / (1.0f + v * v); break;
    case 4: y[i] = -v; return;
    default: v = fminf(v, 0.5f);
    }
    for (int k = 0; k < 4; k++) v = v * 0.75f + 0.125f;
    y[i] = v;
}

KERNEL collatz(uint n, OUT(uint) steps) {
    uint i = global_x();
    if (i >= n) return;
    uint v = i + 1, k = 0;
    for (; v != 1 && k < 200; k++) v = v & 1 ? 3 * v + 1 : v / 2;
    steps[i] = k;
}

KERNEL newton(uint n, IN(double) x, OUT(double) root) {
    uint i = global_x();
    if (i >= n) return;
    double a = x[i], r = a, change = 1;
    for (int k = 0; k < 60 && fabs(change) > 1e-12 * r; k++) {
        change = (r * r * r - a) / (3 * r * r);
        r -= change;
    }
    root[i] = r;
}
