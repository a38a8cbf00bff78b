// For fusion: five binary kernels in a row, each of which takes the last result and one new input:
// out = (((a + b) * c - d) ^ e) | f on 32-bit integers.
#define BINARY(NAME, OP)                                                                           \
    kernel void NAME(global const int *x, global const int *y, global int *out) {                  \
        size_t i = get_global_id(0);                                                               \
        out[i] = x[i] OP y[i];                                                                     \
    }
BINARY(add, +)
BINARY(multiply, *)
BINARY(subtract, -)
BINARY(exclusive_or, ^)
BINARY(inclusive_or, |)
