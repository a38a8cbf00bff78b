// Stream compaction that keeps the order: flags, a Hillis-Steele scan in local memory with two
// buffers, group offsets from a serial scan, and a scatter.
kernel void flag_and_scan(global const int *in, int limit, global int *position, global int *totals,
                          local int *buffers) {
    int l = (int)get_local_id(0), n = (int)get_local_size(0), at = 0;
    size_t g = get_global_id(0);
    buffers[l] = in[g] > limit;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < n; d *= 2) {
        int next = n - at;
        buffers[next + l] = buffers[at + l] + (l >= d ? buffers[at + l - d] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        at = next;
    }
    position[g] = buffers[at + l];
    if (l == n - 1) totals[get_group_id(0)] = buffers[at + l];
}

kernel void scan_serial(global int *totals, int n, global int *count) {
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int t = totals[k];
        totals[k] = sum;
        sum += t;
    }
    *count = sum;
}

kernel void scatter(global const int *in, int limit, global const int *position,
                    global const int *totals, global int *out) {
    size_t g = get_global_id(0);
    if (in[g] > limit) out[totals[get_group_id(0)] + position[g] - 1] = in[g];
}
