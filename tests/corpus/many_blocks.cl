// One function of several hundred basic blocks: a ladder of conditions made by macros, whose
// branches change what later conditions test; the reference is a short loop.
#define RUNG(K)                                                                                    \
    if ((x ^ (K)) % 3 == 0)                                                                        \
        x += (K);                                                                                  \
    else if ((x + (K)) % 5 == 1)                                                                   \
        x = x * 3 - (K);                                                                           \
    else                                                                                           \
        x ^= (uint)(K) << 2;                                                                       \
    if (x > 1000000) x -= 999983;
#define RUNGS4(K) RUNG(K) RUNG((K) + 1) RUNG((K) + 2) RUNG((K) + 3)
#define RUNGS16(K) RUNGS4(K) RUNGS4((K) + 4) RUNGS4((K) + 8) RUNGS4((K) + 12)

kernel void ladder(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    uint x = in[i];
    RUNGS16(1)
    RUNGS16(17)
    RUNGS16(33)
    RUNGS16(49)
    out[i] = x;
}

kernel void reference(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    uint x = in[i];
    for (uint k = 1; k <= 64; k++) {
        if ((x ^ k) % 3 == 0)
            x += k;
        else if ((x + k) % 5 == 1)
            x = x * 3 - k;
        else
            x ^= k << 2;
        if (x > 1000000) x -= 999983;
    }
    out[i] = x;
}

kernel void difference(global const uint *a, global const uint *b, global int *count) {
    if (a[get_global_id(0)] != b[get_global_id(0)]) atomic_inc(count);
}
