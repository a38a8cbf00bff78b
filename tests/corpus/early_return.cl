// Early returns: bounds checks, returns inside loops, helpers with several returns, void helpers
// that leave early, and a return between two barriers that all items of a group take.
static int first_above(global const int *p, int n, int limit) {
    if (n <= 0) return -2;
    for (int k = 0; k < n; k++)
        if (p[k] > limit) return k;
    return -1;
}

static void store_positive(global int *p, int v) {
    if (v < 0) return;
    if (v > 1000) {
        *p = 1000;
        return;
    }
    *p = v;
}

kernel void guarded(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i >= n) return;
    int at = first_above(in + i, n - i - 1, in[i] + 2);
    if (at == -2) {
        out[i] = -200;
        return;
    }
    if (at < 0) return;
    out[i] = at * 10 + in[i];
    if (in[i] % 3) return;
    store_positive(out + i, in[i] * 400 - 1000);
}

kernel void group_return(global const int *in, global int *out) {
    local int sum;
    if (get_local_id(0) == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (sum > 20) return;
    out[get_global_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_sub(&sum, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] += sum * 100;
}
