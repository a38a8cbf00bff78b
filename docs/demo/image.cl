// A small image pipeline as an application has it: one kernel per step, a buffer between each two.
kernel void luma(global const uchar4 *rgba, global float *y) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float4 p = convert_float4(rgba[i]);
    y[i] = (0.299f * p.x + 0.587f * p.y + 0.114f * p.z) * (1.0f / 255.0f);
}

kernel void contrast(global const float *y, float gain, float bias, global float *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = clamp(gain * (y[i] - 0.5f) + 0.5f + bias, 0.0f, 1.0f);
}

kernel void curve(global const float *y, float bend, global float *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = y[i] * (bend + (1.0f - bend) * y[i]);
}

kernel void quantize(global const float *y, int levels, global uchar *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = convert_uchar_sat_rte(y[i] * (float)(levels - 1));
}
