// Trigonometry in float: sin, cos, tan, sincos, asin, acos, atan, atan2 in all quadrants, the pi
// forms (sinpi, cospi, tanpi, asinpi, acospi, atanpi, atan2pi), and reduction of large arguments.
kernel void circular(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i], c;
    float s = sincos(x, &c);
    out[0 * n + i] = sin(x);
    out[1 * n + i] = cos(x);
    out[2 * n + i] = tan(x * 0.25f);
    out[3 * n + i] = s * s + c * c;
    out[4 * n + i] = sinpi(x);
    out[5 * n + i] = cospi(x * 0.5f);
    out[6 * n + i] = tanpi(x * 0.0625f);
}

kernel void inverse(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = asin(x);
    out[1 * n + i] = acos(x);
    out[2 * n + i] = atan(x * 10.0f);
    out[3 * n + i] = asinpi(x);
    out[4 * n + i] = acospi(x);
    out[5 * n + i] = atanpi(x);
}

kernel void quadrants(global const float *in, global float *out) {
    size_t i = get_global_id(0), j = get_global_id(1), at = j * get_global_size(0) + i;
    out[2 * at] = atan2(in[j], in[i]);
    out[2 * at + 1] = atan2pi(in[j], in[i]);
}

kernel void large(global float *out) {
    size_t i = get_global_id(0);
    float x = 1000.0f;
    for (size_t k = 0; k < i; k++) x *= 37.0f;
    out[2 * i] = sin(x);
    out[2 * i + 1] = cos(-x);
}
