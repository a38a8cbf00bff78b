// Activation functions of neural networks: GELU exact and with tanh, SiLU, softplus, leaky ReLU,
// and the chosen one of them by a uniform switch; float and float4.
static float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

kernel void gelu(global const float *in, global float *exact, global float *approximate) {
    size_t i = get_global_id(0);
    float x = in[i];
    exact[i] = 0.5f * x * (1.0f + erf(x * M_SQRT1_2_F));
    approximate[i] = 0.5f * x * (1.0f + tanh(0.7978846f * (x + 0.044715f * x * x * x)));
}

kernel void chosen(global const float *in, global float *out, int which, float slope) {
    size_t i = get_global_id(0);
    float x = in[i];
    switch (which) {
    case 0: x = fmax(x, 0.0f); break;
    case 1: x = x > 0.0f ? x : x * slope; break;
    case 2: x = x * sigmoid(x); break;
    case 3: x = log1p(exp(x)); break;
    default: x = tanh(x);
    }
    out[i] = x;
}

kernel void relu4(global const float4 *in, global float4 *out, float4 cap) {
    size_t i = get_global_id(0);
    out[i] = clamp(in[i], (float4)(0.0f), cap);
}
