// cl: -cl-std=CL3.0
// Votes, ballots and masks of sub-groups: once for all items, once on both sides of a branch, whose
// values differ, as some compilers would take equal calls out of it.
#define PUT(call) out[n * step++ + i] = call;
#define PUT4(call)                                                                                 \
    {                                                                                              \
        uint4 four = call;                                                                         \
        PUT(four.x) PUT(four.y) PUT(four.z) PUT(four.w)                                            \
    }
#define VOTES                                                                                      \
    PUT(sub_group_non_uniform_all(x > 10) != 0)                                                    \
    PUT(sub_group_non_uniform_any(x > 90) != 0)                                                    \
    PUT(sub_group_non_uniform_all_equal(x > 10) != 0)                                              \
    b = sub_group_ballot(x & 1);                                                                   \
    PUT4(b)                                                                                        \
    PUT(sub_group_inverse_ballot(b) != 0)                                                          \
    PUT(sub_group_ballot_bit_extract(b, size - 1 - lane) != 0)                                     \
    PUT(sub_group_ballot_bit_count(b))                                                             \
    PUT(sub_group_ballot_inclusive_scan(b))                                                        \
    PUT(sub_group_ballot_exclusive_scan(b))                                                        \
    b = sub_group_ballot(1);                                                                       \
    PUT(sub_group_ballot_find_lsb(b))                                                              \
    PUT(sub_group_ballot_find_msb(b))                                                              \
    PUT(sub_group_elect() != 0)
kernel void votes_int(global const int *in, global int *out) {
    uint i = get_global_id(0), n = get_global_size(0), step = 0;
    uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int x = in[i];
    uint4 b;
    VOTES
    if (i % 3 == 0) {
        VOTES
    } else {
        x = in[n - 1 - i];
        VOTES
    }
    PUT4(get_sub_group_eq_mask())
    PUT4(get_sub_group_ge_mask())
    PUT4(get_sub_group_gt_mask())
    PUT4(get_sub_group_le_mask())
    PUT4(get_sub_group_lt_mask())
}
