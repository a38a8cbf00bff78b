/* Two steps of a vector update, as the examples run them. */

kernel void scale(float a, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i];
}

kernel void add(global const float *x, global const float *y, global float *z) {
    size_t i = get_global_id(0);
    z[i] = x[i] + y[i];
}

/* Reads what another work-group may write, so it cannot become one kernel with `scale`. */
kernel void slope(global const float *y, global float *d) {
    size_t i = get_global_id(0);
    d[i] = y[i + 1] - y[i];
}
