// The second half of the fusion example: out = factor * in for one element of each item. Fused with
// saxpy.cl by saxpy_scale.plan.
kernel void scale(global const float *in, float factor, global float *out) {
    size_t i = get_global_id(0);
    out[i] = factor * in[i];
}
