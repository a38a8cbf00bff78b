// The math library in double precision, one group after another: exponential, trigonometric,
// hyperbolic, powers, parts, gamma and error functions, and double vectors.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void exp_trig(global const double *in, global double *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    double x = in[i], c, s = sincos(x, &c);
    out[0 * n + i] = exp(x) + exp2(x) * 0.5;
    out[1 * n + i] = exp10(x * 0.25) - expm1(x * 0.5);
    out[2 * n + i] = log(fabs(x) + 1.0) + log2(fabs(x) + 2.0);
    out[3 * n + i] = log10(fabs(x) + 0.5) + log1p(fabs(x));
    out[4 * n + i] = s * s + c * c;
    out[5 * n + i] = sin(x) + 2.0 * cos(x) + tan(x * 0.25);
    out[6 * n + i] = asin(x * 0.125) + acos(x * 0.125);
    out[7 * n + i] = atan(x) + atan2(x, -2.0);
    out[8 * n + i] = sinh(x) - cosh(x) + tanh(x);
    out[9 * n + i] = asinh(x) + acosh(fabs(x) + 1.0) + atanh(x * 0.125);
    out[10 * n + i] = sinpi(x) + cospi(x) + atanpi(x);
}

kernel void powers_parts(global const double *in, global double *out, global int *whole) {
    size_t i = get_global_id(0), n = get_global_size(0);
    double x = in[i], f, g;
    int e, q, sign;
    out[0 * n + i] = pow(fabs(x), 1.25) + pown(x, 3) + powr(fabs(x) + 1.0, 0.5);
    out[1 * n + i] = rootn(x, 3) + cbrt(x) + sqrt(fabs(x)) + rsqrt(fabs(x) + 1.0);
    out[2 * n + i] = hypot(x, 2.0) + fma(x, x, -1.0) + mad(x, 2.0, 3.0);
    out[3 * n + i] = fract(x, &f) + 10.0 * f;
    out[4 * n + i] = modf(x, &g) + 10.0 * g;
    out[5 * n + i] = ldexp(frexp(x, &e), 3) + logb(fabs(x) + 0.25) + nextafter(x, 10.0);
    out[6 * n + i] = fmod(x, 0.75) + remainder(x, 0.75) + remquo(x, 0.75, &q);
    out[7 * n + i] = erf(x) + erfc(x * 0.5);
    out[8 * n + i] = tgamma(fabs(x) + 1.0) + lgamma(fabs(x) + 3.0) + lgamma_r(fabs(x) + 0.5, &sign);
    out[9 * n + i] = fmax(x, 0.5) + fmin(x, 0.25) + fdim(x, 1.0) + maxmag(x, 1.0) + minmag(x, 1.0) +
                     copysign(3.0, x);
    whole[i] = e + 100 * ilogb(fabs(x) + 0.25) + 10000 * sign;
}

kernel void double_vectors(global const double3 *in, global double *out) {
    size_t i = get_global_id(0);
    double3 x = in[i];
    vstore3(exp(-x * x) + sqrt(fabs(x)) * floor(x) + atan2(x, x.zxy), i, out);
}
