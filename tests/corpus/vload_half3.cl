// vloada_half3 and vstorea_half3: three values with a stride of four, unlike vload_half3. The lane
// between them is written last, because a store may or may not touch it.
// skip: clang22-O2 miscompiles: vloada_half3 becomes vload_halfn, which has a stride of three
kernel void strides(global const half *in, global float *out, global half *stored) {
    size_t i = get_global_id(0);
    float3 a = vloada_half3(i, in), b = vload_half3(i, in);
    vstore3(a - b, i, out);
    vstorea_half3(a + b, i, stored);
    vstorea_half3_rtz(a * 0.1f, i + 5, stored);
    vstore_half(-1.0f, 4 * i + 3, stored);
    vstore_half(-2.0f, 4 * i + 23, stored);
}
