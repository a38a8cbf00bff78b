// cl: -cl-std=CL3.0
// Sub-group extensions for shuffles, ballots and non-uniform operations (GroupNonUniform
// instructions), in identities that hold for every sub-group size.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void shuffles(global const int *in, global int *out) {
    int i = (int)get_global_id(0), x = in[i];
    uint lane = get_sub_group_local_id(), last = get_sub_group_size() - 1;
    int ok = sub_group_shuffle(x, lane) == x;
    ok |= (sub_group_shuffle(x, last) == sub_group_broadcast(x, last)) << 1;
    ok |= (sub_group_shuffle_xor(x, 0) == x) << 2;
    ok |= (sub_group_shuffle_up(x, 0) == x && sub_group_shuffle_down(x, 0) == x) << 3;
    float f = (float)x;
    ok |= (sub_group_shuffle(f, 0) == sub_group_broadcast(f, 0)) << 4;
    out[i] = ok;
}

kernel void ballots(global const int *in, global int *out) {
    local uint odd;
    int i = (int)get_global_id(0), x = in[i];
    if (get_local_id(0) == 0) odd = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 votes = sub_group_ballot(x & 1);
    uint count = sub_group_ballot_bit_count(votes);
    if (get_sub_group_local_id() == 0) atomic_add(&odd, count);
    int sum = sub_group_non_uniform_reduce_add(x);
    barrier(CLK_LOCAL_MEM_FENCE);
    int ok = odd == get_local_size(0) / 2;
    ok |= (sub_group_inverse_ballot(votes) == (x & 1)) << 1;
    ok |= (sum == sub_group_reduce_add(x)) << 2;
    ok |= ((int)sub_group_ballot_bit_extract(votes, get_sub_group_local_id()) == (x & 1)) << 3;
    out[i] = ok;
}
