// 8- and 16-bit integers: promotion to int, truncation on store, sign extension, unsigned wrap-
// around, compound assignment, and loops with a narrow counter.
kernel void narrow8(global const char *a, global const uchar *b, global char *s, global uchar *u) {
    size_t i = get_global_id(0), n = get_global_size(0);
    char x = a[i];
    uchar y = b[i];
    s[i] = (char)(x * y);
    s[n + i] = (char)(x / 3 + x % 5);
    s[2 * n + i] = (char)(x >> 2);
    u[i] = (uchar)(x + y);
    u[n + i] = y << 3;
    uchar acc = 1;
    for (uchar c = 0; c < 10; c++) acc = acc * 3 + y;
    u[2 * n + i] = acc;
    y += 200;
    u[3 * n + i] = y > 100 ? y : x;
}

kernel void narrow16(global const short *a, global const ushort *b, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    short x = a[i];
    ushort y = b[i];
    out[i] = x * (short)(y & 0x7fff);
    out[n + i] = (ushort)(x * y & 0xffff);
    out[2 * n + i] = (short)(y + 1);
    out[3 * n + i] = x < y;
    short z = x;
    z -= 1;
    z = z << 4 >> 4;
    out[4 * n + i] = z;
}
