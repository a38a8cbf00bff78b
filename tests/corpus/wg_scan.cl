// cl: -cl-std=CL2.0
// Work-group scans: inclusive and exclusive, add, min, max, in one and two dimensions, used to
// compact the odd values of each group.
kernel void scans(global const int *in, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    int x = in[i];
    out[0 * n + i] = work_group_scan_inclusive_add(x);
    out[1 * n + i] = work_group_scan_exclusive_add(x);
    out[2 * n + i] = work_group_scan_inclusive_min(x);
    out[3 * n + i] = work_group_scan_exclusive_min(x);
    out[4 * n + i] = work_group_scan_inclusive_max(x);
    out[5 * n + i] = work_group_scan_exclusive_max(x);
}

kernel void scans_2d(global const uint *in, global uint *out, global float *f) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[at] = work_group_scan_inclusive_add(in[at]) + work_group_scan_exclusive_max(in[at]);
    f[at] = work_group_scan_inclusive_max((float)in[at] * 0.5f) +
            work_group_scan_exclusive_add((float)in[at]);
}

kernel void compact(global const int *in, global int *out, global int *counts) {
    size_t g = get_global_id(0), first = get_group_id(0) * get_local_size(0);
    int keep = in[g] & 1;
    int at = work_group_scan_exclusive_add(keep);
    int total = work_group_reduce_add(keep);
    out[first + (size_t)(keep ? at : total + (int)get_local_id(0) - at)] = in[g];
    if (get_local_id(0) == 0) counts[get_group_id(0)] = total;
}
