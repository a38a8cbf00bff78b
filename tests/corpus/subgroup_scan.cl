// cl: -cl-std=CL3.0
// Sub-group scans on int, uint, long and float, sub_group_barrier with local memory, and a work-
// group scan built from sub-group scans. Independent of the sub-group size.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void relations(global const int *in, global int *out) {
    int i = (int)get_global_id(0), x = in[i];
    int inc = sub_group_scan_inclusive_add(x), exc = sub_group_scan_exclusive_add(x);
    uint last = get_sub_group_size() - 1;
    int ok = inc == exc + x;
    ok |= (sub_group_broadcast(inc, last) == sub_group_reduce_add(x)) << 1;
    ok |= (sub_group_broadcast(exc, 0) == 0) << 2;
    int low = sub_group_scan_inclusive_min(x), high = sub_group_scan_inclusive_max(x);
    ok |= (low <= x && x <= high) << 3;
    ok |= (sub_group_broadcast(sub_group_scan_exclusive_max(x), 0) == INT_MIN) << 4;
    uint u = (uint)x;
    ok |= (sub_group_broadcast(sub_group_scan_inclusive_max(u), last) == sub_group_reduce_max(u))
          << 5;
    long l = (long)x << 33;
    ok |= (sub_group_scan_inclusive_add(l) == (long)inc << 33) << 6;
    float f = (float)x;
    ok |= (sub_group_scan_exclusive_add(f) == (float)exc) << 7;
    out[i] = ok;
}

kernel void group_scan(global const int *in, global int *out) {
    local int sums[64];
    int i = (int)get_global_id(0), x = in[i];
    int inc = sub_group_scan_inclusive_add(x);
    if (get_sub_group_local_id() == get_sub_group_size() - 1) sums[get_sub_group_id()] = inc;
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = 0;
    for (uint k = 0; k < get_sub_group_id(); k++) before += sums[k];
    out[i] = before + inc;
}

kernel void neighbours(global const int *in, global int *out) {
    local int tile[32];
    uint lane = get_sub_group_local_id(), l = (uint)get_local_id(0);
    uint first = sub_group_broadcast(l, 0);
    tile[l] = in[get_global_id(0)];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] =
        tile[first] == sub_group_broadcast(tile[l], 0) ? tile[l] : -1 - (int)lane;
}
