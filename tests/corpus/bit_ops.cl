// Bit manipulation by hand: reversal, bit-field insert and extract with run-time positions, parity,
// next power of two, Morton codes, Gray codes, and byte swaps that compilers recognise.
// clang22-O2: -mllvm --spirv-ext=+SPV_KHR_bit_instructions
static uint reverse_bits(uint x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

static uint insert(uint base, uint bits, uint at, uint width) {
    uint mask = (width < 32 ? (1u << width) - 1 : ~0u) << at;
    return (base & ~mask) | (bits << at & mask);
}

static int extract(int x, uint at, uint width) {
    return (int)((uint)x << (32 - at - width)) >> (32 - width);
}

kernel void words(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    uint x = in[i];
    global uint *r = out + 7 * i;
    r[0] = reverse_bits(x);
    r[1] = insert(x, 0x5au, (uint)i * 3, 7);
    r[2] = (uint)extract((int)x, (uint)i * 2, 9);
    r[3] = popcount(x) & 1;
    r[4] = x < 2 ? 1 : 1u << (32 - clz(x - 1)) % 32;
    r[5] = x ^ x >> 1;
    r[6] = x >> 24 | (x >> 8 & 0xff00u) | (x & 0xff00u) << 8 | x << 24;
}

static ulong spread(ulong x) {
    x = (x | x << 16) & 0x0000ffff0000fffful;
    x = (x | x << 8) & 0x00ff00ff00ff00fful;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0ful;
    x = (x | x << 2) & 0x3333333333333333ul;
    return (x | x << 1) & 0x5555555555555555ul;
}

kernel void morton(global ulong *out, uint step) {
    uint x = (uint)get_global_id(0) * step, y = (uint)get_global_id(1) * step;
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = spread(x) | spread(y) << 1;
}
