// cl: -cl-std=CL2.0
// Work-group collectives: reduce add, min, max on int, uint, long, float and double; the result is
// uniform and reaches every item. One- and two-dimensional groups with odd sizes.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void reduce_ints(global const int *in, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    int x = in[i];
    out[0 * n + i] = work_group_reduce_add(x);
    out[1 * n + i] = work_group_reduce_min(x);
    out[2 * n + i] = work_group_reduce_max(x);
    out[3 * n + i] = (int)work_group_reduce_max((uint)x);
}

kernel void reduce_wide(global const int *in, global long *out, global double *d) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    size_t n = get_global_size(0) * get_global_size(1);
    int x = in[at];
    out[0 * n + at] = work_group_reduce_add((long)x << 30);
    out[1 * n + at] = work_group_reduce_min((long)x - 5000000000L);
    out[2 * n + at] = (long)work_group_reduce_min((ulong)x);
    d[at] = work_group_reduce_add((double)x * 0.5) + work_group_reduce_max((float)x);
}

kernel void in_loop(global const int *in, global int *out, int rounds) {
    int x = in[get_global_id(0)], total = 0;
    for (int r = 0; r < rounds; r++) {
        int sum = work_group_reduce_add(x);
        if (sum > 100) break;
        total += sum;
        x += 1;
    }
    out[get_global_id(0)] = total;
}
