// Sparse and wide switches: 64-bit selectors, negative and large case values, 8-bit selectors, a
// switch whose value comes from a chain, and one that only chooses between constants.
kernel void wide(global const long *in, global int *out) {
    size_t i = get_global_id(0);
    switch (in[i]) {
    case 0: out[i] = 1; return;
    case 0x100000000: out[i] = 2; return;
    case -5000000000: out[i] = 3; break;
    case 9223372036854775807: out[i] = 4; break;
    case 1: out[i] = 5; break;
    default: out[i] = in[i] < 0 ? -1 : -2; return;
    }
    out[i] += 100;
}

kernel void bytes(global const uchar *in, global const char *sign, global int *out) {
    size_t i = get_global_id(0);
    int r;
    switch (in[i]) {
    case 255: r = 1; break;
    case 128: r = 2; break;
    case 3: r = 3; break;
    default: r = 0;
    }
    switch (sign[i]) {
    case -128: r += 10; break;
    case -1: r += 20; break;
    case 127: r += 30; break;
    }
    out[i] = r;
}

kernel void constants(global const int *in, global float *out) {
    size_t i = get_global_id(0);
    float f;
    switch (in[i] * 7 % 13) {
    case 0: f = 0.5f; break;
    case 1: f = 1.5f; break;
    case 2: f = -2.25f; break;
    case 3: f = 8.0f; break;
    case 4: f = 1e10f; break;
    case 5: f = -0.0f; break;
    case 6: f = 3.0f; break;
    case -7: f = 7.0f; break;
    default: f = 100.0f;
    }
    out[i] = f;
}
