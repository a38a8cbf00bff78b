// For fusion: a diamond of four launches, one kernel used twice. With in1 = 2i, in2 = 3i, in3 = 4i
// and in4 = 5 the result is (5i * 4i) + (5i * 5) = 20 * i * i + 25 * i.
kernel void split(global const int *in1, global const int *in2, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in1[i] + in2[i];
}

kernel void times(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] * b[i];
}

kernel void join(global const int *left, global const int *right, global int *out) {
    size_t i = get_global_id(0);
    out[i] = left[i] + right[i];
}
