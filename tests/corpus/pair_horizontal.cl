// For fusion: two independent kernels that read the same input and write different outputs, and a
// third that shares only a by-value argument with them.
kernel void wave(global const float *in, float k, global float *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * in[i] * k + 1.0f;
}

kernel void ramp(global const float *in, float k, global float *out) {
    size_t i = get_global_id(0);
    out[i] = clamp(in[i] - k, 0.0f, 100.0f);
}

kernel void index_of(float k, global int *out) {
    size_t i = get_global_id(0);
    out[i] = (int)((float)i * k);
}
