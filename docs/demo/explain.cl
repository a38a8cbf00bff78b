kernel void square(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] * x[i];
}

kernel void scale(global const float *y, float k, global float *z) {
    size_t i = get_global_id(0);
    z[i] = k * y[i];
}

kernel void slope(global const float *y, global float *d) {
    size_t i = get_global_id(0);
    d[i] = y[i + 1] - y[i];
}
