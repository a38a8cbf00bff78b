// Conversions between integer types of all widths, scalar and vector: truncation, sign and zero
// extension, saturation (_sat), and conversions chained through narrower types.
// skip: clang22-O2 miscompiles: the source of convert_* gets the opposite signedness of the result
kernel void narrow_all(global const long *in, global char *c, global uchar *uc, global short *s,
                       global ushort *us, global int *d, global uint *u) {
    size_t i = get_global_id(0), n = get_global_size(0);
    long x = in[i];
    c[i] = convert_char(x);
    c[n + i] = convert_char_sat(x);
    uc[i] = convert_uchar(x);
    uc[n + i] = convert_uchar_sat(x);
    s[i] = convert_short(x);
    s[n + i] = convert_short_sat(x);
    us[i] = convert_ushort(x);
    us[n + i] = convert_ushort_sat(x);
    d[i] = convert_int(x);
    d[n + i] = convert_int_sat(x);
    u[i] = convert_uint(x);
    u[n + i] = convert_uint_sat(x);
}

kernel void widen_all(global const char *c, global const ushort *us, global const int *d,
                      global long *l, global ulong *u) {
    size_t i = get_global_id(0), n = get_global_size(0);
    l[i] = convert_long(c[i]);
    l[n + i] = (long)us[i] - convert_long(d[i]);
    l[2 * n + i] = convert_long_sat((ulong)d[i]);
    u[i] = convert_ulong(c[i]);
    u[n + i] = convert_ulong_sat(d[i]);
    u[2 * n + i] = (ulong)convert_uchar(us[i]) << 40 | convert_ushort_sat(d[i]);
}

kernel void convert_vectors(global const int4 *in, global uchar4 *a, global short4 *b,
                            global ulong4 *w, global ushort3 *t) {
    size_t i = get_global_id(0);
    int4 v = in[i];
    a[i] = convert_uchar4_sat(v);
    b[i] = convert_short4(v) + convert_short4_sat(v);
    w[i] = convert_ulong4(v) + convert_ulong4(convert_char4_sat(v));
    vstore3(convert_ushort3_sat(v.zyx), i, (global ushort *)t);
}
