// Bilinear resizing of a byte image with fixed-point weights (exact) and of a float image with
// fract and mix; odd sizes, borders clamped.
kernel void resize_bytes(global const uchar *in, int iw, int ih, global uchar *out, int ow,
                         int oh) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    if (x >= ow || y >= oh) return;
    int fx = max(0, ((2 * x + 1) * iw * 128) / ow - 128),
        fy = max(0, ((2 * y + 1) * ih * 128) / oh - 128);
    int x0 = min(fx >> 8, iw - 1), y0 = min(fy >> 8, ih - 1);
    int x1 = min(x0 + 1, iw - 1), y1 = min(y0 + 1, ih - 1);
    int wx = fx & 255, wy = fy & 255;
    int top = in[y0 * iw + x0] * (256 - wx) + in[y0 * iw + x1] * wx;
    int bottom = in[y1 * iw + x0] * (256 - wx) + in[y1 * iw + x1] * wx;
    out[y * ow + x] = (uchar)((top * (256 - wy) + bottom * wy + 32768) >> 16);
}

kernel void resize_float(global const float *in, int2 size, global float *out, float2 ratio) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    float2 whole, part = fract(((float2)((float)x, (float)y) + 0.5f) * ratio - 0.5f, &whole);
    int2 a = clamp(convert_int2_rtz(whole), (int2)(0), size - 1);
    int2 b = clamp(convert_int2_rtz(whole) + 1, (int2)(0), size - 1);
    float top = mix(in[a.y * size.x + a.x], in[a.y * size.x + b.x], part.x);
    float bottom = mix(in[b.y * size.x + a.x], in[b.y * size.x + b.x], part.x);
    out[y * get_global_size(0) + x] = mix(top, bottom, part.y);
}
