// Structs by value as kernel arguments: mixed fields, a struct in a struct, an array in a struct,
// together with vector, char and short arguments that need padding between them.
typedef struct {
    float scale;
    int shift;
    uchar flags;
    long base;
} settings;

typedef struct {
    int2 size;
    struct {
        float low, high;
    } range;
    int weights[3];
} window;

kernel void apply(global const float *in, settings s, global long *out) {
    size_t i = get_global_id(0);
    long v = s.base + (long)(in[i] * s.scale) + s.shift;
    if (s.flags & 2) v = -v;
    out[i] = v;
}

kernel void small_args(char a, short b, uchar3 c, float2 f, ulong d, global float *out, char last) {
    size_t i = get_global_id(0);
    out[i] =
        a * 1.0f + b * 10.0f + c.z * 100.0f + f.y * 1000.0f + (float)(d >> 32) + last * (float)i;
}

kernel void weighted(window w, global const float *in, settings s, global float *out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        int at = min(x + k, w.size.x - 1) + y * w.size.x;
        sum += in[at] * (float)w.weights[k];
    }
    out[y * w.size.x + x] = clamp(sum, w.range.low, w.range.high) + (float)s.shift;
}
