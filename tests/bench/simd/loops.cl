// loops.cl: each item runs an inner loop as long as that of all others.

kernel void nbody(uint n, float step, global const float4 *body, global float4 *velocity) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (uint k = 0; k < n; k++) {
        float4 other = body[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f), pull = other.w * r * r * r;
        ax += dx * pull, ay += dy * pull, az += dz * pull;
    }
    velocity[i] += step * (float4)(ax, ay, az, 0);
}

// The product of square matrices: an item computes an element, by a row and a column.
#define MATMUL(name, element, total)                                                               \
    kernel void name(uint n, global const element *a, global const element *b, global total *c) {  \
        uint x = get_global_id(0), y = get_global_id(1);                                           \
        if (x >= n || y >= n) return;                                                              \
        total sum = 0;                                                                             \
        for (uint k = 0; k < n; k++) sum += (total)a[y * n + k] * (total)b[k * n + x];             \
        c[y * n + x] = sum;                                                                        \
    }
MATMUL(matmul_f32, float, float)
MATMUL(matmul_f64, double, double)
MATMUL(matmul_i8, char, int)

kernel void nearest(uint n, uint centers, global const float2 *point, global const float2 *center,
                    global uint *which, global float *distance) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float least = FLT_MAX;
    uint best = 0;
    for (uint k = 0; k < centers; k++) {
        float2 d = point[i] - center[k];
        float square = d.x * d.x + d.y * d.y;
        if (square < least) least = square, best = k;
    }
    which[i] = best;
    distance[i] = sqrt(least);
}

// A polynomial of degree 15 by Horner's rule, with coefficients in constant memory.
kernel void horner(uint n, constant double *coefficient, global const double *x, global double *y) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    double v = x[i], sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * v + coefficient[k];
    y[i] = sum;
}

// Sums of rows of a matrix: neighbours read elements that are a row apart.
kernel void row_sums(uint rows, uint columns, global const float *x, global float *sums) {
    uint i = get_global_id(0);
    if (i >= rows) return;
    float sum = 0;
    for (uint k = 0; k < columns; k++) sum += x[i * columns + k];
    sums[i] = sum;
}
