// For fusion: a diamond of four launches, one kernel used twice, one with a factor. With in1 = 2i,
// in2 = 3i, in3 = 4i the result is 5i * 4i + 5i * 5 = 20 * i * i + 25 * i.
kernel void sum(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] + b[i];
}

kernel void product(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i];
}

kernel void scaled(global const int *a, int factor, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] * factor;
}
