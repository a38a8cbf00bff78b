#include "peer.cuh"

static __device__ uint rotate(uint x, uint by) { return __funnelshift_l(x, x, by); }

static __device__ uint mix(uint h, uint word) {
    word = rotate(word * 0xcc9e2d51u, 15u) * 0x1b873593u;
    return rotate(h ^ word, 13u) * 5 + 0xe6546b64u;
}

KERNEL hash(uint n, IN(uint) words, OUT(uint) out) {
    uint i = global_x();
    if (i >= n) return;
    uint h = i;
    for (uint k = 0; k < 4; k++) h = mix(h, words[k * n + i]);
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = h ^ h >> 16;
}

KERNEL xorshift(uint n, OUT(ulong64) state, OUT(float) mean) {
    uint i = global_x();
    if (i >= n) return;
    ulong64 s = state[i];
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        sum += (float)(uint)(s * 0x2545f4914f6cdd1dull >> 40) * 0x1p-24f;
    }
    state[i] = s;
    mean[i] = sum / 16;
}

KERNEL bitonic(uint pairs, uint distance, uint block, IN(uint) in, OUT(uint) out) {
    uint i = global_x();
    if (i >= pairs) return;
    uint low = 2 * i - (i & (distance - 1)), high = low + distance;
    uint a = in[low], b = in[high];
    bool up = (low & block) == 0;
    out[low] = up ? min(a, b) : max(a, b);
    out[high] = up ? max(a, b) : min(a, b);
}

static __device__ float2 multiply(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
static __device__ float2 sum(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 difference(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}

KERNEL fft4(uint quarter, uint done, IN(float2) in, IN(float2) twiddle, OUT(float2) out) {
    uint i = global_x();
    if (i >= quarter) return;
    uint k = i & (done - 1), to = (i - k) * 4 + k;
    float2 a = in[i], b = multiply(in[i + quarter], twiddle[k]);
    float2 c = multiply(in[i + 2 * quarter], twiddle[done + k]);
    float2 d = multiply(in[i + 3 * quarter], twiddle[2 * done + k]);
    float2 s = sum(a, c), t = difference(a, c), u = sum(b, d), v = make_float2(b.y - d.y, d.x - b.x);
    out[to] = sum(s, u);
    out[to + done] = sum(t, v);
    out[to + 2 * done] = difference(s, u);
    out[to + 3 * done] = difference(t, v);
}
