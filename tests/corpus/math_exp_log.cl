// Exponentials and logarithms in float: exp, exp2, exp10, expm1, log, log2, log10, log1p, and the
// special values of exp and log at the ends of their domains.
kernel void exp_all(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = exp(x);
    out[1 * n + i] = exp2(x);
    out[2 * n + i] = exp10(x * 0.5f);
    out[3 * n + i] = expm1(x * 0.125f);
}

kernel void log_all(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = log(x);
    out[1 * n + i] = log2(x);
    out[2 * n + i] = log10(x);
    out[3 * n + i] = log1p(x);
}

kernel void ends(global const float *in, global int *out) {
    size_t i = get_global_id(0);
    float x = in[i] * (i == 0 ? INFINITY : 1.0f);
    out[i] = (exp(x) == 0.0f) | isinf(exp(x)) << 1 | isnan(log(x)) << 2 | isinf(log(x)) << 3 |
             (exp2(x) == 1.0f) << 4 | (log2(x) == 1.0f) << 5 | isinf(log1p(x)) << 6;
}
