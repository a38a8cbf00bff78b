// Constant tables: arrays of scalars, vectors, structs and strings at program scope, nested
// initialisers with gaps, a table of table offsets, and constant pointers as kernel arguments.
typedef struct {
    short code;
    float factor;
    uchar name[4];
} unit;

constant int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
constant float4 corners[3] = {
    {0.0f, 0.5f, 1.0f, 1.5f}, {-1.0f, -2.0f, -3.0f, -4.0f}, {8.0f, 8.0f, 8.0f, 8.0f}};
constant unit units[4] = {{1, 0.5f, "mm"}, {-7, 2.0f, {'c', 'm'}}, {300, -1.25f, "km"}, {0}};
constant ushort sparse[16] = {[3] = 30, [7] = 70, [15] = 65535};
constant uchar offsets[4] = {3, 0, 15, 7};
constant char text[] = "constant memory";
constant long big[2] = {-9223372036854775807, 0x123456789abcdef};

kernel void lookup(global int *out, global float4 *v) {
    size_t i = get_global_id(0);
    out[i] = primes[(i * 3) % 11] * 1000 + sparse[offsets[i & 3]] + (text[i] - 'a');
    v[i] = corners[i % 3] * units[i & 3].factor;
}

kernel void describe(global long *out) {
    size_t i = get_global_id(0);
    constant unit *u = units + (i & 3);
    long name = 0;
    for (int k = 0; k < 4 && u->name[k]; k++) name = name * 256 + u->name[k];
    out[i] = name + u->code * 1000000L + (big[i & 1] >> 32) * (long)(sizeof(text) - 15);
}

kernel void by_argument(constant short *table, constant uint4 *scale, global int *out) {
    size_t i = get_global_id(0);
    int s = 0;
    for (size_t k = 0; k <= i; k++) s += table[k] * (int)scale[k & 1].w;
    out[i] = s;
}
