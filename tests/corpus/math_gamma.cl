// Gamma functions in float: tgamma, lgamma, lgamma_r with its sign result in private and global
// memory, for factorials, halves and negative arguments between the poles.
kernel void gammas(global const float *in, global float *out, global int *signs,
                   global int *direct) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    int sign;
    out[0 * n + i] = tgamma(x);
    out[1 * n + i] = lgamma(x);
    out[2 * n + i] = lgamma_r(x, &sign);
    signs[i] = sign;
    out[3 * n + i] = lgamma_r(x * 0.5f, direct + i);
    out[4 * n + i] = sign * exp(lgamma(x)) / tgamma(x);
}
