// Loops with constant trip counts that a compiler unrolls, unroll hints, long loops, loops that
// carry vectors, and loops that folding of arguments makes constant.
// clang15-O2: -fno-vectorize -fno-slp-vectorize
kernel void unrolled(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) s += in[(i + k) & 15] * (k + 1);
#pragma unroll 4
    for (int k = 0; k < 10; k++) s ^= k << (in[k] & 3);
#pragma nounroll
    for (int k = 3; k > 0; k--) s = s * 3 + k;
    out[i] = s;
}

kernel void long_loop(global const uint *in, global uint *out, uint trips, uint step) {
    size_t i = get_global_id(0);
    uint4 state = (uint4)(in[i], 1, 2, 3);
    for (uint k = 0; k < trips; k += step) {
        state = state.yzwx * 1664525u + (uint4)(k, k + 1, k + 2, k + 3);
        state.x ^= state.w >> 3;
    }
    out[i] = state.x ^ state.y ^ state.z ^ state.w;
}

kernel void triangle(global int *out, int n) {
    int i = (int)get_global_id(0), s = 0;
    for (int a = 0; a < n; a++) {
        __attribute__((opencl_unroll_hint(2))) for (int b = a; b < n; b++) {
            for (int c = 0; c < 3; c++) s += (a ^ b) - (c & i);
        }
    }
    out[i] = s;
}

kernel void fibonacci(global ulong *out, uint n) {
    ulong a = 0, b = 1, i = get_global_id(0);
    for (ulong k = 0; k < n + i; k++) {
        ulong t = a;
        a = b;
        b += t;
    }
    out[i] = a;
}
