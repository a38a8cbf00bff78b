// Storage-only half: vload_half, vloada_half and vstore_half with the default and all four rounding
// modes, 1 to 16 components (vloada_half3 has its own file), from float and double.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void store_rounded(global const float *in, global half *out) {
    size_t i = get_global_id(0);
    vstore_half(in[i], 5 * i, out);
    vstore_half_rte(in[i], 5 * i + 1, out);
    vstore_half_rtz(in[i], 5 * i + 2, out);
    vstore_half_rtp(in[i], 5 * i + 3, out);
    vstore_half_rtn(in[i], 5 * i + 4, out);
}

kernel void load_widths(global const half *in, global float *out) {
    size_t i = get_global_id(0);
    float s = vload_half(i, in);
    float2 a = vload_half2(i, in + 1);
    float3 b = vload_half3(i, in);
    float4 c = vloada_half4(i, in);
    float8 d = vload_half8(0, in + i);
    float16 e = vloada_half16(0, in);
    out[8 * i + 0] = s;
    out[8 * i + 1] = a.x + 2.0f * a.y;
    out[8 * i + 2] = b.x + b.y - b.z;
    out[8 * i + 3] = c.x * c.w;
    out[8 * i + 4] = d.s0 + d.s7;
    out[8 * i + 5] = e.s3 + e.sf;
    out[8 * i + 6] = e.s6;
    out[8 * i + 7] = i == 0 ? e.sa : 0.0f;
}

kernel void store_widths(global const float *in, global half *out, global half *aligned) {
    size_t i = get_global_id(0);
    float4 v = vload4(i, in);
    vstore_half4_rtz(v, i, out + 1);
    vstorea_half4(v * 2.0f, i, aligned);
    if (i == 0) {
        vstore_half3(v.zyx, 3, out + 1);
        vstore_half2_rtp(v.xy, 7, out);
        vstore_half((double)v.w + 1.0 / 1024.0, 16, out);
        vstorea_half2_rtn(convert_double2(v.xy), 6, aligned);
    }
}
