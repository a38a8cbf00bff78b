#include "peer.cuh"

KERNEL nbody(uint n, float step, IN(float4) body, OUT(float4) velocity) {
    uint i = global_x();
    if (i >= n) return;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (uint k = 0; k < n; k++) {
        float4 other = body[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), pull = other.w * r * r * r;
        ax += dx * pull, ay += dy * pull, az += dz * pull;
    }
    float4 v = velocity[i];
    velocity[i] = make_float4(v.x + step * ax, v.y + step * ay, v.z + step * az, v.w);
}

#define MATMUL(name, element, total)                                                               \
    KERNEL name(uint n, IN(element) a, IN(element) b, OUT(total) c) {                              \
        uint x = global_x(), y = global_y();                                                       \
        if (x >= n || y >= n) return;                                                              \
        total sum = 0;                                                                             \
        for (uint k = 0; k < n; k++) sum += (total)a[y * n + k] * (total)b[k * n + x];             \
        c[y * n + x] = sum;                                                                        \
    }
MATMUL(matmul_f32, float, float)
MATMUL(matmul_f64, double, double)
MATMUL(matmul_i8, int8_t, int)

KERNEL nearest(uint n, uint centers, IN(float2) point, IN(float2) center, OUT(uint) which,
               OUT(float) distance) {
    uint i = global_x();
    if (i >= n) return;
    float2 p = point[i];
    float least = FLT_MAX;
    uint best = 0;
    for (uint k = 0; k < centers; k++) {
        float2 c = center[k];
        float dx = p.x - c.x, dy = p.y - c.y, square = dx * dx + dy * dy;
        if (square < least) least = square, best = k;
    }
    which[i] = best;
    distance[i] = sqrtf(least);
}

KERNEL horner(uint n, IN(double) coefficient, IN(double) x, OUT(double) y) {
    uint i = global_x();
    if (i >= n) return;
    double v = x[i], sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * v + coefficient[k];
    y[i] = sum;
}

KERNEL row_sums(uint rows, uint columns, IN(float) x, OUT(float) sums) {
    uint i = global_x();
    if (i >= rows) return;
    float sum = 0;
    for (uint k = 0; k < columns; k++) sum += x[i * columns + k];
    sums[i] = sum;
}
