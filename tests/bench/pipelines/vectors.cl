/* vectors.cl — linear algebra as libraries offer it: one kernel for each operation on vectors. */

kernel void axpy(float a, global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i] + y[i];
}

kernel void scale(float a, global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i];
}

kernel void add(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] + y[i];
}

kernel void subtract(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] - y[i];
}

kernel void multiply(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] * y[i];
}

/* y += a x, in place. */
kernel void accumulate(float a, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] += a * x[i];
}

kernel void axpy4(float a, global const float4 *x, global const float4 *y, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i] + y[i];
}

kernel void scale4(float4 a, global const float4 *x, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i];
}

kernel void axpy_double(double a, global const double *x, global const double *y,
                        global double *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i] + y[i];
}

kernel void multiply_complex(global const float2 *x, global const float2 *y, global float2 *out) {
    size_t i = get_global_id(0);
    float2 a = x[i], b = y[i];
    out[i] = (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

kernel void conjugate(global const float2 *x, global float2 *out) {
    size_t i = get_global_id(0);
    out[i] = (float2)(x[i].x, -x[i].y);
}

kernel void power(global const float2 *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i].x * x[i].x + x[i].y * x[i].y;
}

/* The sum of each work-group. */
kernel void reduce(global const float *x, global float *sums, local float *part) {
    size_t l = get_local_id(0);
    part[l] = x[get_global_id(0)];
    for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n) part[l] += part[l + n];
    }
    if (l == 0) sums[get_group_id(0)] = part[0];
}
