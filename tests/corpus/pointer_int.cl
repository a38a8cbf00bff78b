// Pointers as integers: uintptr_t and intptr_t round trips, alignment checks, tagging low bits,
// pointers stored in private arrays, and addresses compared as numbers.
kernel void align_up(global uchar *base, global uint *out) {
    size_t i = get_global_id(0);
    uintptr_t address = (uintptr_t)(base + i);
    uintptr_t aligned = (address + 15) & ~(uintptr_t)15;
    global uint *p = (global uint *)aligned;
    out[2 * i] = (uint)(aligned - (uintptr_t)base);
    out[2 * i + 1] = p[0];
}

kernel void tagged(global const int *a, global const int *b, global int *out) {
    int i = (int)get_global_id(0);
    uintptr_t slots[3] = {(uintptr_t)(a + i), (uintptr_t)(b + i) | 1, (uintptr_t)(a + 1) | 2};
    uintptr_t s = slots[i % 3];
    int tag = (int)(s & 3);
    global const int *p = (global const int *)(s & ~(uintptr_t)3);
    out[i] = *p * 10 + tag + 5 * ((uintptr_t)p == (uintptr_t)(a + 1));
}

kernel void distances(global const long *a, global long *out) {
    local int tile[4];
    size_t i = get_global_id(0);
    intptr_t d = (intptr_t)(a + 3 * i) - (intptr_t)a;
    intptr_t e = (intptr_t)&tile[3] - (intptr_t)&tile[i & 1];
    tile[i] = (int)i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = d * 100 + e + *(local int *)((uintptr_t)tile + 4 * (3 - i));
}
