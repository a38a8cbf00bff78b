/* images.cl — image processing, pixel by pixel: one kernel for each filter. */

kernel void unpack(global const uchar4 *rgba, global float4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = convert_float4(rgba[i]) * (1.0f / 255.0f);
}

kernel void pack(global const float4 *x, global uchar4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = convert_uchar4_sat_rte(x[i] * 255.0f);
}

kernel void white_balance(float4 gain, global const float4 *x, global float4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = x[i] * gain;
}

kernel void contrast(float gain, float bias, global const float4 *x, global float4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = clamp(gain * (x[i] - 0.5f) + 0.5f + bias, 0.0f, 1.0f);
}

kernel void saturate(float amount, global const float4 *x, global float4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float4 p = x[i];
    float y = 0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z;
    out[i] = (float4)(y + amount * (p.xyz - y), p.w);
}

kernel void luma(global const uchar4 *rgba, global float *y) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float4 p = convert_float4(rgba[i]);
    y[i] = (0.299f * p.x + 0.587f * p.y + 0.114f * p.z) / 255.0f;
}

kernel void stretch(global const float *y, float gain, float bias, global float *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = clamp(gain * (y[i] - 0.5f) + 0.5f + bias, 0.0f, 1.0f);
}

kernel void threshold(global const float *y, float level, global uchar *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = y[i] > level ? 255 : 0;
}

kernel void gamma(global const float *y, float exponent, global float *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = pow(y[i], exponent);
}

kernel void quantize(global const float *y, int levels, global uchar *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = convert_uchar_sat_rte(y[i] * (float)(levels - 1));
}

/* `over` on `under`, with 8 bits of opacity. */
kernel void blend(global const uchar4 *over, global const uchar4 *under, global uchar4 *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    ushort4 a = convert_ushort4(over[i]), b = convert_ushort4(under[i]);
    ushort w = a.w;
    out[i] = convert_uchar4((a * w + b * (ushort)(255 - w) + (ushort)128) / (ushort)255);
}
