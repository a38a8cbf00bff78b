/* scalar_kernels.h — twelve compute kernels, two of them on vectors, that two compilers read: as
 * OpenCL C, and as C for loops over the items (scalar_peer.c).
 *
 *   KERNEL(name, parameters…) { … X, Y … }     X, Y: the global id, an int
 */

KERNEL(saxpy, GLOBAL const float *x, GLOBAL float *y, float a) { y[X] = a * x[X] + y[X]; }

KERNEL(matmul, GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[Y * n + k] * b[k * n + X];
    c[Y * n + X] = sum;
}

KERNEL(stencil, GLOBAL const float *in, GLOBAL float *out, int w, int h) {
    if (X > 0 && Y > 0 && X < w - 1 && Y < h - 1) {
        int at = Y * w + X;
        out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w]);
    }
}

KERNEL(nbody, GLOBAL const float *p, GLOBAL float *v, int n) {
    float x = p[4 * X], y = p[4 * X + 1], z = p[4 * X + 2], ax = 0, ay = 0, az = 0;
    for (int k = 0; k < n; k++) {
        float dx = p[4 * k] - x, dy = p[4 * k + 1] - y, dz = p[4 * k + 2] - z;
        float d = dx * dx + dy * dy + dz * dz + 0.01f;
        float s = p[4 * k + 3] / (d * SQRT(d));
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    v[4 * X] += ax;
    v[4 * X + 1] += ay;
    v[4 * X + 2] += az;
}

KERNEL(mandelbrot, GLOBAL int *out, int w, float step) {
    float cr = -2.0f + step * (float)X, ci = -1.0f + step * (float)Y, zr = 0, zi = 0;
    int n = 0;
    while (n < 200 && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    out[Y * w + X] = n;
}

KERNEL(spmv, GLOBAL const int *row, GLOBAL const int *column, GLOBAL const float *value,
       GLOBAL const float *x, GLOBAL float *y) {
    float sum = 0.0f;
    for (int k = row[X]; k < row[X + 1]; k++) sum += value[k] * x[column[k]];
    y[X] = sum;
}

KERNEL(hash, GLOBAL const unsigned *in, GLOBAL unsigned *out, int n) {
    unsigned h = 2166136261u;
    for (int k = 0; k < n; k++) {
        unsigned w = in[(X + k) & 1023];
        for (int s = 0; s < 32; s += 8) h = (h ^ (w >> s & 255u)) * 16777619u;
        h ^= h >> 15;
    }
    out[X] = h;
}

KERNEL(paths, GLOBAL int *d, int n, int k) {
    int through = d[Y * n + k] + d[k * n + X], straight = d[Y * n + X];
    d[Y * n + X] = through < straight ? through : straight;
}

KERNEL(nearest, GLOBAL const float *points, GLOBAL const float *centers, GLOBAL int *out, int n) {
    float best = 1e30f;
    int which = 0;
    for (int k = 0; k < n; k++) {
        float dx = points[2 * X] - centers[2 * k], dy = points[2 * X + 1] - centers[2 * k + 1];
        float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            which = k;
        }
    }
    out[X] = which;
}

KERNEL(moments, GLOBAL const double *x, GLOBAL double *out, int n) {
    double s = 0, q = 0, c = 0;
    for (int k = 0; k < n; k++) {
        double v = x[(long)X * n + k];
        s += v;
        q += v * v;
        c += v * v * v;
    }
    out[3 * X] = s;
    out[3 * X + 1] = q;
    out[3 * X + 2] = c / (double)n;
}

KERNEL(horner4, GLOBAL const float4 *x, GLOBAL float4 *out, int n) {
    float4 v = x[X], sum = v;
    for (int k = 0; k < n; k++) sum = sum * v + 0.25f;
    out[X] = sum;
}

KERNEL(fade4, GLOBAL const uchar4 *a, GLOBAL const uchar4 *b, GLOBAL uchar4 *out, float t) {
    float4 x = TO_FLOATS(a[X]), y = TO_FLOATS(b[X]);
    out[X] = TO_BYTES(x + (y - x) * t);
}
