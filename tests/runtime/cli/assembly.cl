// Kernels for assembly.sh, of (buffer, buffer, int): constants, tables with addresses, calls, barriers.
constant float powers[4] = {1, 10, 100, 1000};
constant char *constant words[3] = {"one", "two \"2\"", "three\\"};
global int calls = 5;

float twice(float x) __attribute__((noinline));
float twice(float x) {
    return x * 2 + powers[(int)x & 3];
}

kernel void math(global float *x, global float *y, int n) {
    size_t i = get_global_id(0);
    y[i] = sin(x[i]) + pow(x[i], 3.5f) + powers[(i + n) & 3] + twice(x[i]) + (float)tgamma(0.1 * x[i]);
}

kernel void integers(global uint *x, global ulong *y, int n) {
    size_t i = get_global_id(0);
    y[i] = x[i] / (n | 1u) + ((ulong)x[i] << (i & 31)) * 0x123456789abcdefUL + popcount(x[i]);
    switch (x[i] % 7) {
    case 0: y[i] ^= words[i % 3][1]; break;
    case 1: y[i] += 3; break;
    case 5: y[i] *= 5; break;
    }
}

kernel void turn(global int *x, global int *y, int n) {
    local int part[16];
    size_t k = get_local_id(0), i = get_global_id(0);
    part[k] = x[i] + n;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = part[15 - k];
    if (i == 3) calls++;
    y[64 + i] = calls > 3;
}

kernel void and(global double *x, global int4 *y, int n) {
    size_t i = get_global_id(0);
    for (int k = 0; k < (n & 15); k++) y[i] += (int4)(k, -1, (int)fma(x[i], 2.0, 0.5), isnan(x[i]));
}
