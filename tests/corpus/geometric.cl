// Geometric built-ins: cross, dot, length, distance, normalize and the fast_ forms on 1 to 4
// components, float and double, with zero vectors and lengths that would overflow when squared.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void three_d(global const float3 *a, global const float3 *b, global float *out,
                    global float *vec) {
    size_t i = get_global_id(0);
    float3 u = a[i], v = b[i];
    vstore3(cross(u, v), 2 * i, vec);
    vstore3(normalize(u) + fast_normalize(v + 1.0f), 2 * i + 1, vec);
    out[5 * i + 0] = dot(u, v);
    out[5 * i + 1] = length(u);
    out[5 * i + 2] = distance(u, v);
    out[5 * i + 3] = fast_length(v);
    out[5 * i + 4] = fast_distance(u, v);
}

kernel void other_widths(global const float4 *a, global float *out, global double *wide) {
    size_t i = get_global_id(0);
    float4 v = a[i];
    out[6 * i + 0] = dot(v.xy, v.zw);
    out[6 * i + 1] = length(v.x) + distance(v.y, v.z);
    out[6 * i + 2] = dot(v, v.wzyx);
    out[6 * i + 3] = cross(v, (float4)(0.0f, 0.0f, 1.0f, 5.0f)).x;
    out[6 * i + 4] = length(v * 1e30f) * 1e-30f;
    out[6 * i + 5] = normalize((float2)(0.0f, v.w)).y + normalize(v).x;
    double4 d = convert_double4(v);
    wide[i] = dot(d, d) + length(d.xyz) + distance(d.xy, d.zw) + normalize(d).w;
}
