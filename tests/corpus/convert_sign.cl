// Integer conversions that change signedness (convert_T and _sat in both directions), C casts
// between all widths, and char/short vectors widened by casts and by arithmetic with zero.
kernel void to_unsigned(global const long *in, global uchar *c, global ushort *s, global uint *u,
                        global ulong *l) {
    size_t i = get_global_id(0), n = get_global_size(0);
    long x = in[i];
    c[i] = convert_uchar_sat(x);
    s[i] = convert_ushort_sat((int)x);
    u[i] = convert_uint_sat(x);
    l[i] = convert_ulong_sat((short)x);
    c[n + i] = (uchar)(short)x;
    s[n + i] = (ushort)(char)x;
    u[n + i] = (uint)(char)x;
    l[n + i] = (ulong)(int)x;
}

kernel void to_signed(global const ulong *in, global char *c, global short *s, global int *d,
                      global long *l) {
    size_t i = get_global_id(0), n = get_global_size(0);
    ulong x = in[i];
    c[i] = convert_char_sat(x);
    s[i] = convert_short_sat((ushort)x);
    d[i] = convert_int_sat((uint)x);
    l[i] = convert_long_sat(x);
    c[n + i] = (char)x;
    s[n + i] = (short)(uchar)x;
    d[n + i] = (int)(short)x;
    l[n + i] = (long)(char)x - (long)(uint)x;
}

kernel void vectors(global const uchar4 *in, global char4 *c, global int4 *d, global ushort4 *s) {
    size_t i = get_global_id(0);
    c[i] = convert_char4_sat(in[i]);
    d[i] = convert_int4(in[i]) - 128;
    s[i] = convert_ushort4_sat(convert_int4(in[i]) * 300 - 1000);
}
