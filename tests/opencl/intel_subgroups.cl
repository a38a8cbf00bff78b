// intel_subgroups.cl: each function of cl_intel_subgroups and its additions for other types, in
// sub-groups of SIZE.  Groups have two full ones, or, for what combines values, one and a part.

#if !cl_intel_subgroups || !cl_intel_subgroups_char || !cl_intel_subgroups_short
#error "an extension is missing"
#endif
#if !cl_intel_subgroups_long || !cl_intel_required_subgroup_size
#error "an extension is missing"
#endif
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define SIZED kernel __attribute__((intel_reqd_sub_group_size(SIZE))) void

// Blocks are read and written as they are, and each item shows what it has of them.
#define BLOCK(s, n, T)                                                                             \
    SIZED block##s##n(global const T *in, global T *out, global T##n *own) {                       \
        uint number = get_group_id(0) * 2 + get_sub_group_id();                                    \
        size_t at = number * SIZE * (sizeof(T##n) / sizeof(T));                                    \
        T##n v = intel_sub_group_block_read##s##n(in + at);                                        \
        own[get_global_id(0)] = v;                                                                 \
        intel_sub_group_block_write##s##n(out + at, v);                                            \
    }
#define BLOCKS(s, T) BLOCK(s, , T) BLOCK(s, 2, T) BLOCK(s, 4, T) BLOCK(s, 8, T)
BLOCKS(, uint)
BLOCKS(_ui, uint)
BLOCKS(_us, ushort)
BLOCKS(_uc, uchar)
BLOCK(_uc, 16, uchar)
BLOCKS(_ul, ulong)

// Values of other items: a line of the output for each function.
#define MOVE(T)                                                                                    \
    SIZED move_##T(global const T *in, global T *out) {                                            \
        uint i = get_global_id(0), n = get_global_size(0), lane = get_sub_group_local_id();        \
        T x = in[i], y = in[n - 1 - i];                                                            \
        out[i] = intel_sub_group_shuffle(x, (lane * 5 + 3) % SIZE);                                \
        out[n + i] = intel_sub_group_shuffle_xor(x, 3);                                            \
        out[2 * n + i] = intel_sub_group_shuffle_down(x, y, 3);                                    \
        out[3 * n + i] = intel_sub_group_shuffle_up(x, y, 3);                                      \
        out[4 * n + i] = intel_sub_group_shuffle_down(x, y, lane % 4);                             \
        out[5 * n + i] = intel_sub_group_shuffle_up(x, y, lane % 4);                               \
        out[6 * n + i] = intel_sub_group_broadcast(x, 2);                                          \
    }
#define MOVES(T) MOVE(T) MOVE(T##2) MOVE(T##3) MOVE(T##4) MOVE(T##8) MOVE(T##16)
#define MOVES_OF(T) MOVES(T)
#ifdef MOVED
MOVES_OF(MOVED)
#else
MOVE(half)
MOVE(double)
#endif

#define COMBINE(T)                                                                                 \
    SIZED combine_##T(global const T *in, global T *out) {                                         \
        uint i = get_global_id(0), n = get_global_size(0);                                         \
        T x = in[i];                                                                               \
        out[i] = intel_sub_group_reduce_add(x);                                                    \
        out[n + i] = intel_sub_group_reduce_min(x);                                                \
        out[2 * n + i] = intel_sub_group_reduce_max(x);                                            \
        out[3 * n + i] = intel_sub_group_scan_inclusive_add(x);                                    \
        out[4 * n + i] = intel_sub_group_scan_inclusive_min(x);                                    \
        out[5 * n + i] = intel_sub_group_scan_inclusive_max(x);                                    \
        out[6 * n + i] = intel_sub_group_scan_exclusive_add(x);                                    \
        out[7 * n + i] = intel_sub_group_scan_exclusive_min(x);                                    \
        out[8 * n + i] = intel_sub_group_scan_exclusive_max(x);                                    \
    }
COMBINE(char)
COMBINE(uchar)
COMBINE(short)
COMBINE(ushort)

// What version 1.2 of the language has of sub-groups by this extension.
SIZED basics(global uint *out) {
    uint lane = get_sub_group_local_id(), i = get_global_id(0);
    out[i] = get_max_sub_group_size() == SIZE && get_sub_group_size() == SIZE;
    out[i] &= get_num_sub_groups() == 2 && get_sub_group_id() == get_local_id(0) / SIZE;
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] &= sub_group_all(lane < SIZE) && !sub_group_any(lane == SIZE);
    out[i] &= sub_group_broadcast(lane, 3) == 3 && sub_group_reduce_add(1) == SIZE;
    out[i] &= sub_group_scan_exclusive_add(1u) == lane;
}
