// thaw: clang15-O2
/* An id as a sum of group and local id, as bits of both, and from a quotient and a remainder: the
 * kernels can be fused, and the buffers between them become registers, only if all are one id. */

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void by_bits(global const int *in, global int *out) {
    size_t i = get_local_id(0) | get_group_id(0) << 7;
    out[i] = in[i] * 3;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void by_bits_of_int(global const int *in, global int *out) {
    uint i = (uint)get_local_id(0) ^ (uint)get_group_id(0) << 7;
    out[i] = in[i] + 5;
}

kernel void by_parts(global const int *in, global int *out) {
    size_t i = get_global_id(0), row = i >> 7, column = i & 127;
    out[row << 7 | column] = in[row * 128 + column] * 7;
}

kernel void by_size(global const int *in, global int *out) {
    size_t i = get_global_id(0), n = get_local_size(0), row = i / n, column = i % n;
    out[row * n + column] = in[i] - 1;
}
