// CRC-32 with a table built by one kernel, of strings of different lengths in a constant buffer;
// and a table-free version that checks it bit by bit.
// clang15-O2: -fno-vectorize -fno-slp-vectorize
kernel void make_table(global uint *table) {
    uint c = (uint)get_global_id(0);
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[get_global_id(0)] = c;
}

kernel void crc_table(global const uint *table, constant uchar *text, global const int *begin,
                      global uint *out) {
    size_t i = get_global_id(0);
    uint c = ~0u;
    for (int k = begin[i]; k < begin[i + 1]; k++) c = table[(c ^ text[k]) & 255] ^ c >> 8;
    out[i] = ~c;
}

kernel void crc_bits(constant uchar *text, global const int *begin, global uint *out) {
    size_t i = get_global_id(0);
    uint c = ~0u;
    for (int k = begin[i]; k < begin[i + 1]; k++) {
        c ^= text[k];
        for (int b = 0; b < 8; b++) c = c >> 1 ^ (0xedb88320u & -(c & 1));
    }
    out[i] = ~c;
}
