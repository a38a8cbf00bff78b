// For fusion: tmp = in1 + in2, then out = tmp * in3 on 512 integers. With in1 = 2i, in2 = 3i and
// in3 = 4i the result is 20 * i * i.
kernel void add(global const int *in1, global const int *in2, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in1[i] + in2[i];
}

kernel void mul(global const int *in1, global const int *in2, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in1[i] * in2[i];
}
