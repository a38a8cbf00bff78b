// The first half of the fusion example: out = a * x + y for one element of each item. Fused with
// scale.cl by saxpy_scale.plan.
kernel void saxpy(global const float *x, global const float *y, float a, global float *out) {
    size_t i = get_global_id(0);
    out[i] = a * x[i] + y[i];
}
