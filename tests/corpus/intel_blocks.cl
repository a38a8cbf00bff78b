// cl: -cl-std=CL3.0
// llvm-spirv: --spirv-ext=+SPV_INTEL_subgroups
// clang22-O2: -mllvm --spirv-ext=+SPV_INTEL_subgroups
// Blocks of a buffer that a sub-group of 4 to 64 reads and writes: chars, shorts, ints and longs, and
// vectors of them.  A block is written where it was read, and each item shows what it has of it.  A
// sub-group that is a part leaves out what items have that are not there.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define CONVERGENT __attribute__((overloadable, convergent))
#define DECLARE(s, T, N)                                                                           \
    T##N CONVERGENT intel_sub_group_block_read##s##N(const global T *);                            \
    void CONVERGENT intel_sub_group_block_write##s##N(global T *, T##N);
#define DECLARE_ALL(s, T)                                                                          \
    DECLARE(s, T, ) DECLARE(s, T, 2) DECLARE(s, T, 4) DECLARE(s, T, 8)
DECLARE_ALL(_uc, uchar)
DECLARE_ALL(_us, ushort)
DECLARE_ALL(, uint)
DECLARE_ALL(_ul, ulong)
#define ONE(s, T, N, SIZE)                                                                         \
    {                                                                                              \
        uint at = (get_group_id(0) * get_num_sub_groups() + get_sub_group_id()) * SIZE * N;        \
        T##N v = intel_sub_group_block_read##s##N(in + at);                                        \
        vstore##N(v, i, own);                                                                      \
        own += n * N;                                                                              \
        intel_sub_group_block_write##s##N(out + at, v);                                            \
        out += all * N;                                                                              \
    }
#define BEGIN(s, T, SIZE)                                                                          \
    kernel __attribute__((intel_reqd_sub_group_size(SIZE))) void block##s##_##SIZE(                \
        global const T *in, global T *out, global T *own) {                                        \
        uint i = get_global_id(0), n = get_global_size(0),                                         \
             all = get_num_groups(0) * get_num_sub_groups() * SIZE,                                \
             at = (get_group_id(0) * get_num_sub_groups() + get_sub_group_id()) * SIZE;            \
        T v = intel_sub_group_block_read##s(in + at);                                              \
        own[i] = v;                                                                                \
        own += n;                                                                                  \
        intel_sub_group_block_write##s(out + at, v);                                               \
        out += all;                                                                                  \
        ONE(s, T, 2, SIZE)
#define BLOCKS(s, T, SIZE) BEGIN(s, T, SIZE) ONE(s, T, 4, SIZE) ONE(s, T, 8, SIZE) }
#define LONGS(SIZE) BEGIN(_ul, ulong, SIZE) }
#define ALL(SIZE)                                                                                  \
    BLOCKS(_uc, uchar, SIZE) BLOCKS(_us, ushort, SIZE) BLOCKS(, uint, SIZE) LONGS(SIZE)
ALL(4)
ALL(8)
ALL(16)
ALL(32)
ALL(64)
