// Single precision without contraction: the four operations, remainder by hand, compound
// expressions, and all comparisons. Two-dimensional range over every pair of inputs.
#pragma OPENCL FP_CONTRACT OFF
kernel void float_pairs(global const float *x, global const float *y, global float4 *out,
                        global uint *cmp) {
    size_t i = get_global_id(0), j = get_global_id(1);
    size_t at = j * get_global_size(0) + i;
    float a = x[i], b = y[j];
    out[at] = (float4)(a + b, a - b, a * b, a / b);
    cmp[at] =
        (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= b) << 4 | (a > b) << 5;
}

kernel void float_expr(global const float *x, float scale, global float *out) {
    size_t i = get_global_id(0);
    float a = x[i];
    float poly = ((a * 0.5f + 1.0f) * a - 2.0f) * a + scale;
    float q = a / (1.0f + a * a);
    int whole = (int)q;
    out[3 * i + 0] = poly;
    out[3 * i + 1] = q - (float)whole;
    out[3 * i + 2] = -a + +a * -1.0f;
}
