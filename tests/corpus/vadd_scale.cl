// For fusion: vector addition, then scaling by an integer argument, with vectors of four and a
// scalar variant; the two kernels agree on which item touches which element.
kernel void vadd(global const int *a, global const int *b, global int *sum) {
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
}

kernel void scale_by(global const int *in, int factor, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}

kernel void vadd4(global const float4 *a, global const float4 *b, global float4 *sum) {
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
}

kernel void scale4(global const float4 *in, float4 factor, global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}
