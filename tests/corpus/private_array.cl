// Private arrays indexed dynamically: a per-item histogram, a small stack, an insertion sort, a
// look-up table built at run time, and arrays that stay in memory across barriers.
// thaw: clang15-O2
kernel void median(global const int *in, int n, global int *out) {
    int v[9], i = (int)get_global_id(0);
    for (int k = 0; k < 9; k++) {
        int x = in[(i * 5 + k * k) % n], at = k;
        while (at > 0 && v[at - 1] > x) {
            v[at] = v[at - 1];
            at--;
        }
        v[at] = x;
    }
    out[i] = v[4] * 10000 + v[0] + v[8];
}

kernel void digits(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    uint counts[10] = {0};
    for (uint x = in[i]; x != 0; x /= 10) counts[x % 10]++;
    uint best = 0;
    for (uint d = 1; d < 10; d++)
        if (counts[d] > counts[best]) best = d;
    out[i] = best * 100 + counts[best];
}

kernel void polish(constant char *program, int length, global int *out) {
    int stack[8], depth = 0, i = (int)get_global_id(0);
    for (int k = 0; k < length; k++) {
        char c = program[k];
        if (c >= '0' && c <= '9')
            stack[depth++] = c - '0';
        else if (c == 'x')
            stack[depth++] = i;
        else {
            int b = stack[--depth], a = stack[--depth];
            stack[depth++] = c == '+' ? a + b : c == '-' ? a - b : a * b;
        }
    }
    out[i] = stack[0] * 10 + depth;
}

kernel void across_barrier(global const int *in, global int *out) {
    local int shared[8];
    int mine[4], l = (int)get_local_id(0), g = (int)get_global_id(0);
    for (int k = 0; k < 4; k++) mine[k] = in[g] * (k + 1);
    shared[l] = mine[l & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[shared[7 - l] & 3] += 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[7 - l] = mine[(l + 1) & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = shared[l] + mine[0] + mine[3];
}
