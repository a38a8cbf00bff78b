// vload2..vload16 and vstore2..vstore16 on unaligned element offsets in global, local, private and
// constant memory, for element sizes of 1 to 8 bytes.
kernel void bytes_unaligned(global const uchar *in, global uchar *out) {
    size_t i = get_global_id(0);
    uchar16 v = vload16(i, in + 1);
    vstore16(v.sfedcba9876543210, i, out + 3);
}

kernel void through_local(global const int *in, global int *out) {
    local int tile[67];
    size_t l = get_local_id(0);
    vstore8(vload8(l, in + 5) * 2, l, tile + 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    int3 t = vload3(l, tile + 4);
    int4 q = vload4(l, tile + 3);
    vstore3(t, l, out + 1);
    vstore4(q + (int4)(1, 0, -1, 0), l, out + 25);
}

kernel void through_private(global const float *in, global float *out) {
    float window[19];
    size_t i = get_global_id(0);
    for (int k = 0; k < 19; k++) window[k] = in[i + k];
    float2 a = vload2(3, window + 1);
    float16 b = vload16(0, window + 2);
    vstore4(b.lo.lo + b.hi.hi, 1, window + 5);
    out[i] = a.x + a.y + window[9] + window[12];
}

kernel void through_constant(constant long *table, global long *out) {
    size_t i = get_global_id(0);
    long3 t = vload3(i, table + 1);
    long2 p = vload2(i, table);
    out[i] = t.x + t.z * 100 + p.y * 10000;
}
