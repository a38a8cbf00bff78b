// Pointers cast between element types: words read as bytes, shorts, vectors and 64-bit integers,
// bytes written into words, structs over arrays, local memory used with two types.
typedef struct {
    ushort low;
    uchar middle, high;
} parts;

kernel void views(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    global const uchar *bytes = (global const uchar *)in;
    global const ushort2 *halves = (global const ushort2 *)in;
    global const ulong *wide = (global const ulong *)in;
    global const parts *split = (global const parts *)in;
    out[5 * i + 0] = bytes[4 * i + 3] * 256u + bytes[i];
    out[5 * i + 1] = halves[i].x + halves[i].y;
    out[5 * i + 2] = (uint)(wide[i / 2] >> 16);
    out[5 * i + 3] = split[i].low + split[i].middle * 3u + split[i].high * 5u;
    out[5 * i + 4] = ((global const uint4 *)in)[i / 4].w;
}

kernel void write_bytes(global uint *out) {
    size_t i = get_global_id(0);
    global char *c = (global char *)(out + i);
    for (int k = 0; k < 4; k++) c[k] = (char)(i * 16 + (size_t)k);
    ((global short *)c)[1] ^= 0x0f0f;
}

kernel void reused_local(global const float *in, global float *out) {
    local uint raw[16];
    size_t l = get_local_id(0), n = get_local_size(0);
    local float *f = (local float *)raw;
    f[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = f[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    local uchar *b = (local uchar *)raw;
    b[l] = (uchar)x;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = x + (float)b[(l + 1) % n] * 100.0f;
}
