// cl: -cl-std=CL3.0
// llvm-spirv: --spirv-ext=+SPV_INTEL_subgroups
// clang22-O2: -mllvm --spirv-ext=+SPV_INTEL_subgroups
// Shuffles of cl_intel_subgroups, in sub-groups of 4 to 64 that may be partial: of one value by
// lane and by mask, and of two values beside each other, up and down.  Where an item is asked that
// is not there, its own value is left.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define CONVERGENT __attribute__((overloadable, convergent))
#define DECLARE(T)                                                                                 \
    T CONVERGENT intel_sub_group_shuffle(T, uint);                                                 \
    T CONVERGENT intel_sub_group_shuffle_xor(T, uint);                                             \
    T CONVERGENT intel_sub_group_shuffle_up(T, T, uint);                                           \
    T CONVERGENT intel_sub_group_shuffle_down(T, T, uint);
#define MOVE(T, SIZE)                                                                              \
    kernel __attribute__((intel_reqd_sub_group_size(SIZE))) void move_##T##_##SIZE(                \
        global const T *in, global T *out) {                                                       \
        uint i = get_global_id(0), n = get_global_size(0), lane = get_sub_group_local_id();        \
        uint size = get_sub_group_size(), back = size - 1 - lane, partner = lane ^ 3;              \
        T x = in[i], y = in[n - 1 - i], v;                                                         \
        out[i] = intel_sub_group_shuffle(x, back);                                                 \
        v = intel_sub_group_shuffle_xor(x, 3);                                                     \
        out[n + i] = partner < size ? v : x;                                                       \
        v = intel_sub_group_shuffle_down(x, y, 3);                                                 \
        out[2 * n + i] = size == SIZE || lane + 3 < size ? v : x;                                  \
        v = intel_sub_group_shuffle_up(x, y, 3);                                                   \
        out[3 * n + i] = size == SIZE || lane >= 3 ? v : x;                                        \
        v = intel_sub_group_shuffle(x, (lane * 5 + 1) % size);                                     \
        out[4 * n + i] = v;                                                                        \
    }
#define MOVES(T) DECLARE(T) MOVE(T, 4) MOVE(T, 8) MOVE(T, 16) MOVE(T, 32) MOVE(T, 64)
MOVES(char)
MOVES(short)
MOVES(int)
MOVES(uint)
MOVES(long)
MOVES(float)
MOVES(double)
