// Random number generators: xorshift32 and xorshift128+ with state in registers, Philox 4x32-10
// counter mode with mul_hi, and a Monte Carlo estimate in integers.
kernel void xorshift32(global uint *state, global uint *out, int n) {
    size_t i = get_global_id(0);
    uint x = state[i];
    for (int k = 0; k < n; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    state[i] = out[i] = x;
}

kernel void xorshift128(global ulong2 *state, global ulong *out) {
    size_t i = get_global_id(0);
    ulong2 s = state[i];
    ulong sum = 0;
    for (int k = 0; k < 20; k++) {
        ulong a = s.x, b = s.y;
        a ^= a << 23;
        s = (ulong2)(b, a ^ b ^ a >> 17 ^ b >> 26);
        sum ^= s.x + s.y;
    }
    state[i] = s;
    out[i] = sum;
}

static uint4 philox(uint4 c, uint2 key) {
    for (int r = 0; r < 10; r++) {
        uint h0 = mul_hi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        uint h1 = mul_hi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = (uint4)(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
        key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}

kernel void philox_stream(global uint4 *out, uint2 key) {
    uint i = (uint)get_global_id(0);
    out[i] = philox((uint4)(i, 0, 0, 0), key);
}

kernel void quarter_circle(global uint *hits, int tries) {
    uint i = (uint)get_global_id(0), n = 0;
    for (uint k = 0; k < (uint)tries; k++) {
        uint4 r = philox((uint4)(i, k, 7, 9), (uint2)(1, 2)) >> 17;
        n += r.x * r.x + r.y * r.y < 1u << 30;
        n += r.z * r.z + r.w * r.w < 1u << 30;
    }
    atomic_add(hits, n);
}
