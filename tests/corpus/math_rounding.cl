// Rounding functions: ceil, floor, rint, round, trunc on float, double and vectors, around halves,
// at large values without fraction, and the remainder family fmod, remainder, remquo, fdim.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void rounded(global const float *in, global float *out, global double *wide) {
    size_t i = get_global_id(0);
    float x = in[i];
    out[5 * i + 0] = ceil(x);
    out[5 * i + 1] = floor(x);
    out[5 * i + 2] = rint(x);
    out[5 * i + 3] = round(x);
    out[5 * i + 4] = trunc(x);
    double d = x;
    wide[i] = ceil(d) + 10.0 * floor(d) + 100.0 * rint(d) + 1000.0 * round(d) + 10000.0 * trunc(d);
}

kernel void remainders(global const float *a, global const float *b, global float *out,
                       global int *quotient) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    int q;
    out[0 * n + i] = fmod(x, y);
    out[1 * n + i] = remainder(x, y);
    out[2 * n + i] = remquo(x, y, &q);
    out[3 * n + i] = fdim(x, y);
    quotient[i] = (q < 0 ? -1 : 1) * (abs(q) & 7);
}

kernel void vectors(global const float3 *in, global float *out) {
    size_t i = get_global_id(0);
    float3 x = in[i];
    int3 q;
    vstore3(floor(x) + ceil(x) * 100.0f, 2 * i, out);
    vstore3(remquo(x, (float3)(2.0f), &q) + fmod(x, (float3)(1.5f)), 2 * i + 1, out);
}
