// Double precision: arithmetic, conversions to and from float and 64-bit integers, double vectors,
// Horner evaluation, and compensated summation that must not be reassociated.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
kernel void double_ops(global const double *x, global const double *y, global double4 *out,
                       global long *bits) {
    size_t i = get_global_id(0);
    double a = x[i], b = y[i];
    out[i] = (double4)(a + b, a * b, a - b, a / b);
    bits[i] = as_long(a + b) ^ (long)(a * 1024.0);
}

kernel void double_narrow(global const double *x, global float *f, global double *back) {
    size_t i = get_global_id(0);
    f[i] = (float)x[i];
    back[i] = (double)(float)x[i] - x[i];
}

kernel void kahan(global const float *x, int n, global double *out) {
    size_t i = get_global_id(0), m = get_global_size(0);
    float sum = 0.0f, carry = 0.0f;
    double exact = 0.0;
    for (int k = (int)i; k < n; k += (int)m) {
        float y = x[k] - carry;
        float t = sum + y;
        carry = (t - sum) - y;
        sum = t;
        exact += (double)x[k];
    }
    out[2 * i] = (double)sum;
    out[2 * i + 1] = exact;
}
