// Colour conversion on bytes: uchar4 to gray with integer weights, packed RGB triples, and gray
// back to ARGB words; rounding and saturation are exact.
kernel void rgba_to_gray(global const uchar4 *in, global uchar *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int4 c = convert_int4(in[i]);
    out[i] = (uchar)((c.x * 77 + c.y * 151 + c.z * 28 + 128) >> 8);
}

kernel void rgb_to_gray(global const uchar *in, global uchar *out, float gain) {
    size_t i = get_global_id(0);
    uchar3 c = vload3(i, in);
    float y = (float)c.x * 0.25f + (float)c.y * 0.5f + (float)c.z * 0.25f;
    out[i] = convert_uchar_sat_rte(y * gain);
}

kernel void gray_to_argb(global const uchar *in, global uint *out) {
    size_t i = get_global_id(0);
    out[i] = 0xff000000u | in[i] * 0x010101u;
}

kernel void blend(global const uchar4 *a, global const uchar4 *b, uchar alpha, global uchar4 *out) {
    size_t i = get_global_id(0);
    int4 x = convert_int4(a[i]), y = convert_int4(b[i]);
    out[i] = convert_uchar4((x * alpha + y * (255 - alpha) + 127) / 255);
}
