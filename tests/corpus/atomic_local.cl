// Atomics on local memory, as in-kernel arrays and as arguments: a group histogram, group minimum
// and maximum, bit sets, and a ticket lock-free queue whose order does not show.
kernel void histogram(global const uchar *in, global uint *out) {
    local uint bins[16];
    size_t l = get_local_id(0), g = get_group_id(0);
    bins[l & 15] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++) atomic_inc(&bins[in[get_global_id(0) * 4 + k] >> 4]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) out[g * 16 + l] = bins[l];
}

kernel void summary(global const int *in, global int *out, local int *box) {
    size_t l = get_local_id(0);
    if (l == 0) {
        box[0] = INT_MAX;
        box[1] = INT_MIN;
        box[2] = 0;
        box[3] = -1;
        box[4] = 0;
        box[5] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = in[get_global_id(0)];
    atomic_min(box + 0, x);
    atomic_max(box + 1, x);
    atomic_xor(box + 2, x);
    atomic_and(box + 3, x | 0xff00);
    atomic_or((local uint *)box + 4, 1u << (x & 31));
    if (atomic_cmpxchg(box + 5, 0, 1) == 0) atomic_add(box + 2, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 6) out[get_group_id(0) * 6 + l] = box[l];
}

kernel void queue(global const int *in, global int *sums) {
    local int items[16], head;
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    if (l == 0) head = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = in[get_global_id(0)];
    if (x % 3 == 0) items[atomic_inc(&head)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int k = l; k < head; k += n) s += items[k] * items[k];
    atomic_add(&sums[get_group_id(0)], s);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) atomic_add(&sums[2], atomic_xchg(&head, 0));
}
