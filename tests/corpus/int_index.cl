// For fusion: one index, as kernels of different authors write it, with its type and in any order.
// Compilers make many forms of these: extensions, masks, words shifted up and down again.
#define STEP(NAME, T, INDEX)                                                                       \
    kernel void NAME(global int *y) {                                                              \
        T i = get_global_id(0);                                                                    \
        y[INDEX] = y[INDEX] * 3 + 1;                                                               \
    }
kernel void start(global int *y) {
    size_t i = get_global_id(0);
    y[3 * i + 1] = 7;
}
STEP(with_int, int, 3 * i + 1)
STEP(with_uint, uint, 3 * i + 1)
STEP(with_long, long, 1 + i * 3)
STEP(with_short, short, 3 * i + 1)
STEP(with_ushort, ushort, i + 2 * i + 1)
STEP(shifted, int, (i << 2) - i + 1)
STEP(backwards, int, 400 - 3 * (133 - i))
STEP(by_group, int, 3 * ((int)get_group_id(0) * (int)get_local_size(0) + (int)get_local_id(0)) + 1)
STEP(by_group_uint, uint, 3 * ((uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0)) + 1)
