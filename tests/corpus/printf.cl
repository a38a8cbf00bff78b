// printf with constant format strings: integers of all widths, floats, vectors, strings,
// characters, percent signs, no arguments. Only item 0 prints; every item stores a result.
kernel void report(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    if (i == 0) {
        printf("plain line\n");
        printf("int %d, unsigned %u, hex %#x, padded %05d|%-6d|\n", in[1], (uint)in[2], in[3],
               in[4], in[5]);
        printf("long %ld, char %c, 100%%\n", (long)in[1] << 33, 'z');
        printf("float %.3f %e %g, string %s\n", 1.5f, 0.125f * (float)in[1], 1e10f, "text");
        printf("vector %v4hld and %v2hlf\n", (int4)(1, 2, 3, in[1]), (float2)(0.5f, -1.0f));
    }
    out[i] = printf("") + in[i] * 2;
}
