// Transcendental functions on whole vectors of 2, 3, 4, 8 and 16 floats, which targets without
// vector math must split, in expressions that mix widths.
kernel void by_width(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    global const float *p = in + 16 * i;
    global float *q = out + 33 * i;
    vstore2(exp(vload2(0, p)) + atan2(vload2(1, p), vload2(0, p)), 0, q);
    vstore3(pow(vload3(0, p), vload3(1, p)), 0, q + 2);
    vstore4(log(vload4(1, p)) * sqrt(vload4(2, p)), 0, q + 5);
    vstore8(sin(vload8(0, p)) + fmod(vload8(1, p), 0.75f), 0, q + 9);
    vstore16(tanh(vload16(0, p)) * rint(vload16(0, p)) + exp2(-vload16(0, p)), 0, q + 17);
}
