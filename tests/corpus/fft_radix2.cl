// Radix-2 FFT, one pass at a time as a Stockham network, forward and backward, with twiddle factors
// from sincos; the round trip gives back the input times n.
static float2 cmul(float2 a, float2 b) {
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

kernel void pass(global const float2 *in, global float2 *out, uint n, uint stride,
                 float direction) {
    uint i = (uint)get_global_id(0), half_n = n / 2;
    uint k = i & (stride - 1);
    float2 a = in[i], b = in[i + half_n];
    float c, angle = direction * M_PI_F * (float)k / (float)stride;
    float s = sincos(angle, &c);
    b = cmul(b, (float2)(c, s));
    uint to = ((i - k) << 1) + k;
    out[to] = a + b;
    out[to + stride] = a - b;
}
