// Half vectors of 2, 3, 8 and 16 components (cl_khr_fp16): arithmetic, swizzles, comparisons,
// conversion to float vectors and back, and vloadn/vstoren on half pointers.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
kernel void widths(global const half *in, global half *out) {
    size_t i = get_global_id(0);
    global const half *p = in + 16 * i;
    global half *q = out + 29 * i;
    half2 a = (half2)(p[0], p[1]) * (half)2.0f;
    half3 b = (half3)(p[2], a);
    half8 c = (half8)(b.zyx, p[3], p[4], p[5], p[6], p[7]) + (half)1.0f;
    half16 d = (half16)(c, c.hi, c.lo) - (half16)(p[8]);
    q[0] = a.x;
    q[1] = a.y;
    for (int k = 0; k < 3; k++) q[2 + k] = ((half *)&b)[k];
    for (int k = 0; k < 8; k++) q[5 + k] = ((half *)&c)[k];
    for (int k = 0; k < 16; k++) q[13 + k] = ((half *)&d)[k];
}

kernel void compared(global const half8 *in, global half8 *out, global short8 *masks) {
    size_t i = get_global_id(0);
    half8 v = in[i], w = v.s76543210;
    short8 m = v < w;
    masks[i] = m | (v == w);
    out[i] = m ? v * v : w;
}
