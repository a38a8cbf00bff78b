/* blake2b.c — the hash function BLAKE2b (RFC 7693), with a result of 256 bits and without a key.
 *
 * Bytes are collected into blocks of 128, each of which is mixed into a state of 8 words in 12
 * rounds.  The last block is only mixed at the end, since it is marked as the last one.
 */
#include "runtime/cache/cache.h"

static const uint64_t initial[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
                                    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
                                    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
                                    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

/* Which words of the block the steps of a round take; rounds 10 and 11 are 0 and 1 again. */
static const uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t rotate(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

/* Mixes two words into column n of v, seen as four rows of four, or into the diagonal that begins
 * there: each row is turned by `turn` more than the one above. */
static inline void mix(uint64_t v[16], unsigned n, unsigned turn, const uint64_t *word,
                       const uint8_t *from) {
    uint64_t *a = &v[n], *b = &v[4 + (n + turn) % 4], *c = &v[8 + (n + 2 * turn) % 4],
             *d = &v[12 + (n + 3 * turn) % 4];
    *a += *b + word[from[0]];
    *d = rotate(*d ^ *a, 32);
    *c += *d;
    *b = rotate(*b ^ *c, 24);
    *a += *b + word[from[1]];
    *d = rotate(*d ^ *a, 16);
    *c += *d;
    *b = rotate(*b ^ *c, 63);
}

/* Columns, then diagonals. */
static void mix_round(uint64_t v[16], const uint64_t word[16], const uint8_t *from) {
    mix(v, 0, 0, word, from);
    mix(v, 1, 0, word, from + 2);
    mix(v, 2, 0, word, from + 4);
    mix(v, 3, 0, word, from + 6);
    mix(v, 0, 1, word, from + 8);
    mix(v, 1, 1, word, from + 10);
    mix(v, 2, 1, word, from + 12);
    mix(v, 3, 1, word, from + 14);
}

static uint64_t read_word(const uint8_t *p) {
    uint64_t x = 0;
    for (unsigned n = 0; n < 8; n++) x |= (uint64_t)p[n] << 8 * n;
    return x;
}

static void mix_block(rt_hash *h, const uint8_t *block, bool last) {
    uint64_t v[16], word[16];
    for (unsigned n = 0; n < 16; n++) word[n] = read_word(block + 8 * n);
    for (unsigned n = 0; n < 8; n++) {
        v[n] = h->state[n];
        v[n + 8] = initial[n];
    }
    v[12] ^= h->bytes;
    if (last) v[14] = ~v[14];
    for (unsigned n = 0; n < 12; n++) mix_round(v, word, order[n % 10]);
    for (unsigned n = 0; n < 8; n++) h->state[n] ^= v[n] ^ v[n + 8];
}

void rt_hash_begin(rt_hash *h) {
    *h = (rt_hash){.n = 0};
    memcpy(h->state, initial, sizeof initial);
    h->state[0] ^= 0x01010000 ^ RT_HASH_BYTES;
}

/* The last block is mixed by rt_hash_end, a full one too. */
void rt_hash_add(rt_hash *h, const void *data, size_t n) {
    for (const uint8_t *p = data; n;) {
        if (h->n == RT_HASH_BLOCK) {
            h->bytes += RT_HASH_BLOCK;
            mix_block(h, h->block, false);
            h->n = 0;
        }
        size_t part = RT_HASH_BLOCK - h->n < n ? RT_HASH_BLOCK - h->n : n;
        memcpy(h->block + h->n, p, part);
        h->n += part;
        p += part;
        n -= part;
    }
}

void rt_hash_number(rt_hash *h, uint64_t n) { rt_hash_add(h, &n, sizeof n); }

void rt_hash_bytes(rt_hash *h, const void *data, size_t n) {
    rt_hash_number(h, n);
    rt_hash_add(h, data, n);
}

void rt_hash_end(rt_hash *h, uint8_t out[RT_HASH_BYTES]) {
    memset(h->block + h->n, 0, RT_HASH_BLOCK - h->n);
    h->bytes += h->n;
    mix_block(h, h->block, true);
    for (unsigned n = 0; n < RT_HASH_BYTES; n++) out[n] = (uint8_t)(h->state[n / 8] >> n % 8 * 8);
}
