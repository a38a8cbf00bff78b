// Hyperbolic functions and the error function in float: sinh, cosh, tanh, asinh, acosh, atanh, erf,
// erfc, near zero, in the middle and where they saturate.
kernel void hyperbolic(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = sinh(x);
    out[1 * n + i] = cosh(x);
    out[2 * n + i] = tanh(x);
    out[3 * n + i] = asinh(x);
    out[4 * n + i] = acosh(1.0f + fabs(x));
    out[5 * n + i] = atanh(x / (1.0f + fabs(x)));
}

kernel void error_function(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    out[i] = erf(in[i]);
    out[n + i] = erfc(in[i]);
}
