/* learning.cl — steps of machine learning as frameworks launch them, one for each operator. */

kernel void first_moment(float beta, global const float *g, global float *m) {
    size_t i = get_global_id(0);
    m[i] = beta * m[i] + (1.0f - beta) * g[i];
}

kernel void second_moment(float beta, global const float *g, global float *v) {
    size_t i = get_global_id(0);
    v[i] = beta * v[i] + (1.0f - beta) * g[i] * g[i];
}

kernel void adam_step(float rate, float epsilon, global const float *m, global const float *v,
                      global float *w) {
    size_t i = get_global_id(0);
    w[i] -= rate * m[i] / (sqrt(v[i]) + epsilon);
}

kernel void weight_decay(float decay, global const float *w, global const float *g,
                         global float *out) {
    size_t i = get_global_id(0);
    out[i] = g[i] + decay * w[i];
}

kernel void momentum(float mu, global const float *g, global float *v) {
    size_t i = get_global_id(0);
    v[i] = mu * v[i] + g[i];
}

kernel void descend(float rate, global const float *v, global float *w) {
    size_t i = get_global_id(0);
    w[i] -= rate * v[i];
}

kernel void add_bias(global const float *x, global const float *bias, uint channels,
                     global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] + bias[i % channels];
}

kernel void normalize(global const float *x, global const float *mean, global const float *scale,
                      uint channels, global float *out) {
    size_t i = get_global_id(0);
    out[i] = (x[i] - mean[i % channels]) * scale[i % channels];
}

kernel void relu(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = fmax(x[i], 0.0f);
}

kernel void add_residual(global const float *x, global const float *skip, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] + skip[i];
}

kernel void quantize(float scale, global const float *x, global char *out) {
    size_t i = get_global_id(0);
    out[i] = convert_char_sat_rte(x[i] * scale);
}

kernel void dequantize(float scale, global const char *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = (float)x[i] * scale;
}

/* One work-group has one row: its mean, and the inverse of its standard deviation. */
kernel void row_moments(global const float *x, global float *mean, global float *scale,
                        local float *sum, local float *squares) {
    size_t l = get_local_id(0), n = get_local_size(0);
    float v = x[get_global_id(0)];
    sum[l] = v;
    squares[l] = v * v;
    for (size_t half_n = n / 2; half_n > 0; half_n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_n) {
            sum[l] += sum[l + half_n];
            squares[l] += squares[l + half_n];
        }
    }
    if (l == 0) {
        float m = sum[0] / (float)n;
        mean[get_group_id(0)] = m;
        scale[get_group_id(0)] = 1.0f / sqrt(squares[0] / (float)n - m * m + 1e-5f);
    }
}

kernel void row_normalize(global const float *x, global const float *mean,
                          global const float *scale, global float *out) {
    size_t i = get_global_id(0), row = get_group_id(0);
    out[i] = (x[i] - mean[row]) * scale[row];
}

kernel void affine(global const float *x, float gamma, float beta, global float *out) {
    size_t i = get_global_id(0);
    out[i] = gamma * x[i] + beta;
}

kernel void exponential(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = exp(x[i]);
}

kernel void row_divide(global const float *x, global const float *sum, global float *out) {
    size_t i = get_global_id(0);
    out[i] = x[i] / sum[get_group_id(0)];
}

kernel void gelu(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    float v = x[i];
    out[i] = 0.5f * v * (1.0f + tanh(0.7978846f * (v + 0.044715f * v * v * v)));
}

kernel void unscale(float inverse, global const float *g, global float *out) {
    size_t i = get_global_id(0);
    out[i] = g[i] * inverse;
}

kernel void clip(float limit, global const float *g, global float *out) {
    size_t i = get_global_id(0);
    out[i] = clamp(g[i], -limit, limit);
}
