// Quantised dot products: char4 times uchar4 into 32-bit sums, zero points, requantisation with a
// fixed- point multiplier, and packed bytes in words unpacked by shifts.
// clang15-O2: -fno-vectorize -fno-slp-vectorize
static int dot4(char4 a, uchar4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

kernel void quantised(global const char4 *weights, global const uchar4 *in, global char *out,
                      int n4, int zero, int multiplier, int shift) {
    int row = (int)get_global_id(0), sum = 0;
    for (int i = 0; i < n4; i++) sum += dot4(weights[row * n4 + i], in[i]);
    for (int i = 0; i < n4; i++) {
        char4 w = weights[row * n4 + i];
        sum -= zero * (w.x + w.y + w.z + w.w);
    }
    long wide = (long)sum * multiplier;
    int scaled = (int)((wide + (1L << (shift - 1))) >> shift);
    out[row] = (char)clamp(scaled, -128, 127);
}

kernel void packed(global const uint *a, global const uint *b, global int *out, int n) {
    int i = (int)get_global_id(0), sum = 0;
    for (int k = 0; k < n; k++) {
        uint x = a[i * n + k], y = b[k];
        for (int s = 0; s < 32; s += 8) sum += (int)(char)(x >> s) * (int)(char)(y >> s);
    }
    out[i] = sum;
}
