// SHA-256 of one-block messages: message schedule in a private array, 64 unrolled rounds, a
// constant table, rotate, and byte-order swaps.
constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint swap_bytes(uint x) {
    return (rotate(x, 8u) & 0x00ff00ffu) | (rotate(x, 24u) & 0xff00ff00u);
}

// Each message is 55 bytes at most and is in a slot of 56 bytes with its length in the last
// byte.
kernel void sha256(global const uchar *messages, global uint *digests) {
    size_t i = get_global_id(0);
    global const uchar *m = messages + 56 * i;
    uint length = m[55], w[64];
    for (uint k = 0; k < 16; k++) {
        uint word = 0;
        for (uint b = 0; b < 4; b++) {
            uint at = 4 * k + b;
            uint byte = at < length ? m[at] : at == length ? 0x80u : 0u;
            word |= byte << 8 * b;
        }
        w[k] = swap_bytes(word);
    }
    w[15] = length * 8;
    for (uint k = 16; k < 64; k++) {
        uint s0 = rotate(w[k - 15], 25u) ^ rotate(w[k - 15], 14u) ^ w[k - 15] >> 3;
        uint s1 = rotate(w[k - 2], 15u) ^ rotate(w[k - 2], 13u) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    uint8 h = (uint8)(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                      0x1f83d9ab, 0x5be0cd19);
    uint8 v = h;
#pragma unroll
    for (uint k = 0; k < 64; k++) {
        uint s1 = rotate(v.s4, 26u) ^ rotate(v.s4, 21u) ^ rotate(v.s4, 7u);
        uint t1 = v.s7 + s1 + bitselect(v.s6, v.s5, v.s4) + K[k] + w[k];
        uint s0 = rotate(v.s0, 30u) ^ rotate(v.s0, 19u) ^ rotate(v.s0, 10u);
        uint t2 = s0 + bitselect(v.s0, v.s1, v.s2 ^ v.s0);
        v = (uint8)(t1 + t2, v.s012, v.s3 + t1, v.s456);
    }
    vstore8(h + v, i, digests);
}
