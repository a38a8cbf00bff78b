/* forms.cl — a kernel for each form of vector code; forms.sh says which instructions it has. */
kernel void contiguous(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = 2 * x[i] + 1;
}

kernel void backwards(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[get_global_size(0) - 1 - i];
}

kernel void one_for_all(global const float *x, global float *y, uint n) {
    size_t i = get_global_id(0);
    float sum = i;
    for (uint k = 0; k < n; k++)
        sum = sum * x[k] + 1;
    y[i] = sum;
}

kernel void every_second(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[2 * i] - x[2 * i + 1];
}

kernel void pairs(global const float2 *x, global float2 *y) {
    size_t i = get_global_id(0);
    float2 v = x[i];
    y[i] = (float2)(v.x * v.x - v.y * v.y, 2 * v.x * v.y);
}

kernel void triples(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
    y[3 * i] = b * c;
    y[3 * i + 1] = a * c;
    y[3 * i + 2] = a * b;
}

kernel void quads(global const float4 *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = dot(x[i], x[i]);
}

kernel void components(global const uchar4 *x, global uchar4 *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] ^ (uchar)0x80;
}

kernel void apart(global const uint *at, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[at[i]];
}

kernel void far_apart(global const uint *at, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[at[i] * 5];
}

kernel void scattered(global const uint *at, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[at[i]] = x[i];
}

kernel void masked(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    if (x[i] > 0)
        y[i] = x[i];
}

kernel void clamped(global const float *x, global float *y) {
    int i = get_global_id(0), n = get_global_size(0);
    y[i] = x[max(i - 1, 0)] + x[min(i + 1, n - 1)];
}

kernel void product(global const float *a, global const float *b, global float *c, uint n) {
    size_t x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum = fma(a[n * y + k], b[width * k + x], sum);
    c[width * y + x] = sum;
}

kernel void privately(global const uint *x, global uint *y) {
    size_t i = get_global_id(0);
    uint v[64];
    for (uint k = 0; k < 64; k++)
        v[k] = x[k] + i;
    uint sum = 0;
    for (uint k = 0; k < 64; k++)
        sum = sum * 5 + v[63 - k];
    y[i] = sum;
}

kernel void counted(global const uint *x, global uint *n) {
    size_t i = get_global_id(0);
    if (x[i] > 7)
        atomic_inc(n);
}
