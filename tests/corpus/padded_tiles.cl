// For fusion: an image that does not fill its range, so that rows are shorter than the ids are many;
// every kernel guards itself, each in its way.
kernel void fill(global const float *a, global float *t, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) t[y * w + x] = a[y * w + x] * 2;
}

kernel void add(global const float *t, global float *o, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    o[y * w + x] = t[y * w + x] + 1;
}
