// For fusion: eight unary kernels in a row, each with one input and one output; exact in float. The
// chain computes ((max(|(x * 2 + 1) - 50|, 3)) / 4 - 8) squared, floored and negated.
#define UNARY(NAME, EXPR)                                                                          \
    kernel void NAME(global const float *in, global float *out) {                                  \
        size_t i = get_global_id(0);                                                               \
        float x = in[i];                                                                           \
        out[i] = EXPR;                                                                             \
    }
UNARY(twice_plus_one, x * 2.0f + 1.0f)
UNARY(minus_fifty, x - 50.0f)
UNARY(absolute, fabs(x))
UNARY(at_least_three, fmax(x, 3.0f))
UNARY(quarter, x * 0.25f - 8.0f)
UNARY(square, (x)*x)
UNARY(floored, floor(x))
UNARY(negated, -x)
