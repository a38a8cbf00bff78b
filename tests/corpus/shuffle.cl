// shuffle and shuffle2 with constant and run-time masks, widening and narrowing, masks with bits
// above the range that are ignored; integer and float elements of several widths.
kernel void shuffle_one(global const int4 *in, global const uint4 *mask, global int4 *out,
                        global int8 *wide) {
    size_t i = get_global_id(0);
    out[i] = shuffle(in[i], mask[i]);
    wide[i] = shuffle(in[i], (uint8)(0, 0, 3, 3, 1, 2, 2, 1));
}

kernel void shuffle_two(global const float2 *a, global const float2 *b, global const uint4 *mask,
                        global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = shuffle2(a[i], b[i], mask[i]) + shuffle2(a[i], b[i], (uint4)(3, 2, 1, 0));
}

kernel void shuffle_bytes(global const uchar16 *a, global const uchar16 *mask, global uchar16 *out,
                          global ushort2 *narrow) {
    size_t i = get_global_id(0);
    out[i] = shuffle(a[i], mask[i]);
    ushort8 w = (ushort8)(10, 11, 12, 13, 14, 15, 16, 17);
    narrow[i] = shuffle(w, convert_ushort2(mask[i].s3c));
}

kernel void shuffle_long(global const uchar16 *a, global const uchar16 *mask, global uchar16 *out) {
    size_t i = get_global_id(0);
    out[i] = shuffle2(a[i], a[i] + (uchar)100, mask[i]);
}
