// For fusion: layers of a network as they are written, with loops inside and ints for indices.
kernel void mm(global const float *a, global const float *b, global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}

kernel void bias(global const float *c, global const float *bs, global float *o, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    o[y * n + x] = fmax(c[y * n + x] + bs[x], 0.0f);
}

kernel void rowmax(global const float *in, global float *m, int w) {
    int y = get_global_id(0); float v = in[y * w];
    for (int k = 1; k < w; k++) v = fmax(v, in[y * w + k]);
    m[y] = v;
}

kernel void expsub(global const float *in, global const float *m, global float *e, int w) {
    int y = get_global_id(0);
    for (int k = 0; k < w; k++) e[y * w + k] = exp(in[y * w + k] - m[y]);
}

kernel void rownorm(global const float *e, global float *o, int w) {
    int y = get_global_id(0); float s = 0;
    for (int k = 0; k < w; k++) s += e[y * w + k];
    for (int k = 0; k < w; k++) o[y * w + k] = e[y * w + k] / s;
}
