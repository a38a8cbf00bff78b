// fma against mad and separate operations, fmin, fmax, maxmag, minmag, fabs, fdim, and the
// mathematical constants; fma must round once, which shows in the exact error of a product.
kernel void product_error(global const float *a, global const float *b, global float *out) {
#pragma OPENCL FP_CONTRACT OFF
    size_t i = get_global_id(0);
    float p = a[i] * b[i];
    out[2 * i] = p;
    out[2 * i + 1] = fma(a[i], b[i], -p);
}

kernel void pairs(global const float *in, global float *out) {
    size_t i = get_global_id(0), j = get_global_id(1), at = j * get_global_size(0) + i;
    float x = in[i], y = in[j];
    out[6 * at + 0] = fmin(x, y);
    out[6 * at + 1] = fmax(x, y);
    out[6 * at + 2] = maxmag(x, y);
    out[6 * at + 3] = minmag(x, y);
    out[6 * at + 4] = fdim(x, y) + fabs(x);
    out[6 * at + 5] = mad(x, y, 1.0f);
}

kernel void vectors(global const float4 *in, global float4 *out) {
    size_t i = get_global_id(0);
    float4 x = in[i];
    out[3 * i + 0] = fma(x, x.yzwx, (float4)(1.0f));
    out[3 * i + 1] = fmax(fmin(x, 2.0f), -1.0f) + fabs(x.wzyx);
    out[3 * i + 2] = maxmag(x, x.yxwz) - minmag(x, x.yxwz);
}

kernel void constants(global float *out) {
    out[0] = M_PI_F;
    out[1] = M_E_F;
    out[2] = M_SQRT2_F;
    out[3] = M_LOG2E_F * M_LN2_F;
    out[4] = FLT_MAX;
    out[5] = FLT_MIN;
    out[6] = FLT_EPSILON;
    out[7] = HUGE_VALF;
    out[8] = (float)(FLT_DIG + 100 * FLT_MANT_DIG + 10000 * FLT_MAX_EXP);
}
