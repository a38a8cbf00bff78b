// Dynamic indexing of vectors: reads and writes of a component whose index is not constant, loops
// over components through a pointer, and vectors rotated one lane at a time.
kernel void pick(global const float4 *v, global const int *which, global float *out) {
    size_t i = get_global_id(0);
    float4 x = v[i];
    out[i] = x[which[i] & 3];
}

kernel void poke(global const int *which, global int8 *out) {
    size_t i = get_global_id(0);
    int8 x = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    x[which[i] & 7] = 100;
    x[(which[i] + 3) & 7] += 1000;
    out[i] = x;
}

kernel void lanes_by_pointer(global const ushort16 *in, global uint *out) {
    size_t i = get_global_id(0);
    ushort16 v = in[i];
    ushort *p = (ushort *)&v;
    uint sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 3 + p[k];
    p[5] = (ushort)sum;
    for (int k = 0; k < 3; k++) v = (ushort16)(v.s12345678, v.s9abc, v.sde, v.sf0);
    out[2 * i] = sum;
    out[2 * i + 1] = v.s2 + v[i];
}
