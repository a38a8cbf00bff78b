// cl: -cl-std=CL2.0
// Sub-groups (cl_khr_subgroups): sizes, counts and ids that must be consistent, reduce, any, all
// and broadcast. Every result is the same for any sub-group size.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void identities(global uint *flags, global uint *totals) {
    local uint items, leaders;
    uint size = get_sub_group_size(), lane = get_sub_group_local_id();
    if (get_local_linear_id() == 0) items = leaders = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        atomic_add(&items, size);
        atomic_inc(&leaders);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint ok = size >= 1 && size <= get_max_sub_group_size();
    ok |= (lane < size) << 1;
    ok |= (get_sub_group_id() < get_num_sub_groups()) << 2;
    ok |= (leaders == get_num_sub_groups()) << 3;
    ok |= (get_enqueued_num_sub_groups() == get_num_sub_groups()) << 4;
    ok |= (sub_group_broadcast(get_sub_group_id(), 0) == get_sub_group_id()) << 5;
    flags[get_global_linear_id()] = ok;
    if (get_local_linear_id() == 0)
        totals[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = items;
}

kernel void reductions(global const int *in, global int *out) {
    local int sum, low, high, bits;
    int x = in[get_global_id(0)];
    if (get_local_id(0) == 0) {
        sum = bits = 0;
        low = INT_MAX;
        high = INT_MIN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = sub_group_reduce_add(x), a = sub_group_reduce_min(x), b = sub_group_reduce_max(x);
    int any = sub_group_any(x > 90), all = sub_group_all(x > -100);
    if (get_sub_group_local_id() == 0) {
        atomic_add(&sum, s);
        atomic_min(&low, a);
        atomic_max(&high, b);
        atomic_or(&bits, (any != 0) | (all == 0) << 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global int *r = out + 4 * get_group_id(0);
    if (get_local_id(0) == 0) r[0] = sum, r[1] = low, r[2] = high, r[3] = bits;
}
