// cl: -cl-std=CL3.0
// llvm-spirv: --spirv-ext=+SPV_KHR_subgroup_rotate
// clang22-O2: -mllvm --spirv-ext=+SPV_KHR_subgroup_rotate
// Shuffles, rotations and broadcasts of sub-groups, for every type; where there is no other item,
// its own value.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ROTATIONS(T)                                                                               \
    T __attribute__((overloadable, convergent)) sub_group_rotate(T, int);                          \
    T __attribute__((overloadable, convergent)) sub_group_clustered_rotate(T, int, uint);
ROTATIONS(char)
ROTATIONS(uchar)
ROTATIONS(short)
ROTATIONS(ushort)
ROTATIONS(int)
ROTATIONS(uint)
ROTATIONS(long)
ROTATIONS(ulong)
ROTATIONS(half)
ROTATIONS(float)
ROTATIONS(double)

#define PUT(call) out[n * step++ + i] = call;
#define FROM(source, call)                                                                         \
    v = call;                                                                                      \
    PUT((source) < size ? v : x)
#define VECTOR(T, N, last)                                                                         \
    {                                                                                              \
        T##N a = sub_group_broadcast(vload##N(0, in + i), size - 1);                               \
        PUT(a.s0) PUT(a.s##last)                                                                   \
        a = sub_group_non_uniform_broadcast(vload##N(0, in + i), 0);                               \
        PUT(a.s0) PUT(a.s##last)                                                                   \
    }
#define MOVES(T)                                                                                   \
    kernel void moves_##T(global const T *in, global T *out) {                                     \
        uint i = get_global_id(0), n = get_global_size(0), step = 0;                               \
        uint lane = get_sub_group_local_id(), size = get_sub_group_size();                         \
        T v, x = in[i];                                                                            \
        PUT(sub_group_broadcast(x, size - 1))                                                      \
        PUT(sub_group_non_uniform_broadcast(x, 0))                                                 \
        PUT(sub_group_shuffle(x, size - 1 - lane))                                                 \
        FROM(lane ^ 1, sub_group_shuffle_xor(x, 1))                                                \
        FROM(lane - 1, sub_group_shuffle_up(x, 1))                                                 \
        FROM(lane + 2, sub_group_shuffle_down(x, 2))                                               \
        FROM((lane + 1) % get_max_sub_group_size(), sub_group_rotate(x, 1))                        \
        FROM((lane & ~3u) | ((lane + 3) & 3), sub_group_clustered_rotate(x, 3, 4))                 \
        PUT(sub_group_non_uniform_all_equal(x))                                                    \
        PUT(sub_group_non_uniform_all_equal((T)lane > (T)127))                                     \
        PUT(sub_group_broadcast_first(x))                                                          \
        if (i % 3 == 0) {                                                                          \
            PUT(sub_group_broadcast_first(x))                                                      \
        } else {                                                                                   \
            x = in[n - 1 - i];                                                                     \
            PUT(sub_group_broadcast_first(x))                                                      \
        }                                                                                          \
        VECTOR(T, 2, 1) VECTOR(T, 3, 2) VECTOR(T, 4, 3) VECTOR(T, 8, 7) VECTOR(T, 16, f)           \
    }
MOVES(char)
MOVES(uchar)
MOVES(short)
MOVES(ushort)
MOVES(int)
MOVES(uint)
MOVES(long)
MOVES(ulong)
MOVES(half)
MOVES(float)
MOVES(double)
