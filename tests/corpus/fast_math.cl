// cl: -cl-fast-relaxed-math
// Compiled with -cl-fast-relaxed-math: fast-math flags on arithmetic, reassociation and
// contraction, perhaps native built-ins. Results are held to a few digits.
// clang15-O2: -fno-slp-vectorize
kernel void series(global const float *in, global float *out, int terms) {
    size_t i = get_global_id(0);
    float x = in[i], sum = 0.0f, power = 1.0f;
    for (int k = 1; k <= terms; k++) {
        power *= x;
        sum += power / (float)k;
    }
    out[i] = sum;
}

kernel void mixed(global const float4 *in, global float *out) {
    size_t i = get_global_id(0);
    float4 v = in[i];
    float a = (v.x + v.y + v.z + v.w) * 0.25f;
    float b = sqrt(dot(v, v)) / (1.0f + exp(-a));
    out[i] = a > b ? sin(a) * b : cos(b) / (1.5f + fabs(a)) + pow(fabs(v.x) + 1.0f, 1.5f);
}
