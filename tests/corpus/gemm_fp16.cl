// Half-precision matrix product: half4 loads, float accumulation, half store; and one with half
// accumulation, whose rounding shows. Values are small integers where the result must be exact.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void gemm(global const half *a, global const half *b, global half *c, int n, int k) {
    int col = (int)get_global_id(0) * 4, row = (int)get_global_id(1);
    float4 sum = 0.0f;
    for (int i = 0; i < k; i++) {
        float x = (float)a[row * k + i];
        half4 y = vload4(0, b + i * n + col);
        sum += x * (float4)((float)y.x, (float)y.y, (float)y.z, (float)y.w);
    }
    vstore4((half4)((half)sum.x, (half)sum.y, (half)sum.z, (half)sum.w), 0, c + row * n + col);
}

kernel void gemm_half(global const half *a, global const half4 *b, global half4 *c, int k) {
#pragma OPENCL FP_CONTRACT OFF
    int col = (int)get_global_id(0), n4 = (int)get_global_size(0), row = (int)get_global_id(1);
    half4 sum = 0.0h;
    for (int i = 0; i < k; i++) sum = sum + a[row * k + i] * b[i * n4 + col];
    c[row * n4 + col] = sum;
}

kernel void count_large(global const half *c, global int *count) {
    if (c[get_global_id(0)] > (half)100.0f) atomic_inc(count);
}
