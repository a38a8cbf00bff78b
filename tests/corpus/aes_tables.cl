// AES-128 encryption with an S-box computed into local memory by the first item, key expansion in a
// private array, byte look-ups and multiplication in GF(256).
static uchar times2(uchar x) { return (uchar)(x << 1 ^ (x >> 7) * 0x1b); }

// The S-box: p runs through all non-zero elements as powers of 3, q through their inverses.
static void make_box(local uchar *box) {
    uchar p = 1, q = 1;
    do {
        p ^= times2(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if (q & 0x80) q ^= 0x09;
        box[p] = q ^ rotate(q, (uchar)1) ^ rotate(q, (uchar)2) ^ rotate(q, (uchar)3) ^
                 rotate(q, (uchar)4) ^ 0x63;
    } while (p != 1);
    box[0] = 0x63;
}

kernel void encrypt(global const uchar16 *plain, uchar16 key, global uchar16 *out,
                    global uchar *box_out) {
    local uchar box[256];
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    if (l == 0) make_box(box);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < 256; k += n) box_out[k] = box[k];

    uchar round_key[16], s[16], t[16];
    vstore16(key, 0, round_key);
    vstore16(plain[get_global_id(0)] ^ key, 0, s);
    uchar rcon = 1;
    for (int round = 1; round <= 10; round++) {
        for (int k = 0; k < 4; k++) round_key[k] ^= box[round_key[12 + (k + 1) % 4]];
        round_key[0] ^= rcon;
        rcon = times2(rcon);
        for (int k = 4; k < 16; k++) round_key[k] ^= round_key[k - 4];
        for (int k = 0; k < 16; k++) t[k] = box[s[(k + 4 * (k % 4)) % 16]];
        if (round < 10)
            for (int c = 0; c < 16; c += 4) {
                uchar all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3], first = t[c];
                for (int k = 0; k < 4; k++) {
                    uchar next = k < 3 ? t[c + k + 1] : first;
                    s[c + k] = t[c + k] ^ all ^ times2(t[c + k] ^ next);
                }
            }
        else
            for (int k = 0; k < 16; k++) s[k] = t[k];
        for (int k = 0; k < 16; k++) s[k] ^= round_key[k];
    }
    out[get_global_id(0)] = vload16(0, s);
}
