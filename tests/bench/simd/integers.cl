// integers.cl: integer arithmetic, and orders of elements that are computed.

uint mix(uint h, uint word) {
    word = rotate(word * 0xcc9e2d51u, 15u) * 0x1b873593u;
    return rotate(h ^ word, 13u) * 5 + 0xe6546b64u;
}

// MurmurHash3 of four words, each in an array of its own.
kernel void hash(uint n, global const uint *words, global uint *out) {
    uint i = get_global_id(0);
    if (i >= n) return;
    uint h = i;
    for (uint k = 0; k < 4; k++) h = mix(h, words[k * n + i]);
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = h ^ h >> 16;
}

// xorshift64*: 16 numbers for each item, whose state goes on.
kernel void xorshift(uint n, global ulong *state, global float *mean) {
    uint i = get_global_id(0);
    if (i >= n) return;
    ulong s = state[i];
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        sum += (float)(uint)(s * 0x2545f4914f6cdd1dul >> 40) * 0x1p-24f;
    }
    state[i] = s;
    mean[i] = sum / 16;
}

// A step of a bitonic sort: pairs at a distance, in the order of their block.
kernel void bitonic(uint pairs, uint distance, uint block, global const uint *in,
                    global uint *out) {
    uint i = get_global_id(0);
    if (i >= pairs) return;
    uint low = 2 * i - (i & (distance - 1)), high = low + distance;
    uint a = in[low], b = in[high];
    bool up = (low & block) == 0;
    out[low] = up ? min(a, b) : max(a, b);
    out[high] = up ? max(a, b) : min(a, b);
}

float2 multiply(float2 a, float2 b) {
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// A step of a Stockham transform of radix 4, after `done` points are transformed.
kernel void fft4(uint quarter, uint done, global const float2 *in, global const float2 *twiddle,
                 global float2 *out) {
    uint i = get_global_id(0);
    if (i >= quarter) return;
    uint k = i & (done - 1), to = (i - k) * 4 + k;
    float2 a = in[i], b = multiply(in[i + quarter], twiddle[k]);
    float2 c = multiply(in[i + 2 * quarter], twiddle[done + k]);
    float2 d = multiply(in[i + 3 * quarter], twiddle[2 * done + k]);
    float2 s = a + c, t = a - c, u = b + d, v = (float2)(b.y - d.y, d.x - b.x);
    out[to] = s + u;
    out[to + done] = t + v;
    out[to + 2 * done] = s - u;
    out[to + 3 * done] = t - v;
}
