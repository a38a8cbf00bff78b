// NaN, infinities, signed zeros and denormals through arithmetic, comparison, min/max and rounding.
// Values go in and out as bit patterns; every NaN is written as 0x7fc00000.
#pragma OPENCL FP_CONTRACT OFF
static uint bits(float x) { return isnan(x) ? 0x7fc00000u : as_uint(x); }

kernel void special_unary(global const uint *in, global uint *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = as_float(in[i]);
    out[0 * n + i] = bits(-x);
    out[1 * n + i] = bits(fabs(x));
    out[2 * n + i] = bits(floor(x));
    out[3 * n + i] = bits(trunc(x));
    out[4 * n + i] = bits(rint(x));
    out[5 * n + i] = bits(x * 0.5f);
    out[6 * n + i] = bits(x + x);
    out[7 * n + i] =
        isnan(x) | isinf(x) << 1 | (x == 0.0f) << 2 | isnormal(x) << 3 | (signbit(x) != 0) << 4;
    out[8 * n + i] = bits(1.0f * x);
}

kernel void special_pairs(global const uint *in, global uint *sum, global uint *prod,
                          global uint *big, global uint *cmp) {
    size_t i = get_global_id(0), j = get_global_id(1), at = j * get_global_size(0) + i;
    float x = as_float(in[i]), y = as_float(in[j]);
    sum[at] = bits(x + y);
    prod[at] = bits(x * y);
    big[at] = bits(x == y ? x + y : fmax(x, y) + fmin(y, 1.0f));
    cmp[at] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 |
              (x > y) << 5 | !(x < y) << 6 | (x < y || x > y) << 7 | isunordered(x, y) << 8;
}
