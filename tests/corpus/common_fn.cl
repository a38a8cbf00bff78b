// Common built-ins: clamp, degrees, radians, max, min, mix, step, smoothstep, sign, for float,
// float vectors (with scalar operands where allowed) and double.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void scalars(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    float x = in[i];
    global float *r = out + 9 * i;
    r[0] = clamp(x, -1.0f, 2.0f);
    r[1] = degrees(x);
    r[2] = radians(x * 90.0f);
    r[3] = max(x, 0.25f);
    r[4] = min(x, 0.25f);
    r[5] = mix(10.0f, 20.0f, x);
    r[6] = step(0.5f, x);
    r[7] = smoothstep(0.0f, 2.0f, x);
    r[8] = sign(x);
}

kernel void vectors(global const float4 *in, global float4 *out, global double2 *wide) {
    size_t i = get_global_id(0);
    float4 x = in[i];
    out[4 * i + 0] = clamp(x, 0.0f, 1.0f) + step(1.0f, x);
    out[4 * i + 1] = mix(x, x.wzyx, 0.25f);
    out[4 * i + 2] = smoothstep((float4)(-1.0f), (float4)(1.0f, 2.0f, 3.0f, 4.0f), x) - sign(x);
    out[4 * i + 3] = max(x, 0.5f) * min(x, (float4)(1.0f, -1.0f, 2.0f, 0.0f));
    double2 d = convert_double2(x.xy);
    wide[i] =
        clamp(d, -0.5, 0.5) + mix(d, d.yx, (double2)(0.5)) + sign(d) + smoothstep(0.0, 1.0, d);
}
