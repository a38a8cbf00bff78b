// Code in the shape of -O0 output: many named locals, each written once and read back, temporaries
// of all types, variables shadowed in inner scopes, and loops that keep everything in memory.
kernel void many_locals(global const float *in, global float *out, int n) {
    volatile int guard = n;
    int i = (int)get_global_id(0);
    int left = i - 1 < 0 ? 0 : i - 1;
    int right = i + 1 >= guard ? guard - 1 : i + 1;
    float a = in[left], b = in[i], c = in[right];
    float ab = a - b, bc = b - c, ca = c - a;
    double wide = (double)ab * 2.0;
    float2 pair = (float2)(bc, ca);
    float4 quad = (float4)(pair, (float)wide, a);
    char small = (char)(i * 3);
    ushort middle = (ushort)(small + 1000);
    ulong big = (ulong)middle << 20;
    bool flag = big > 1049000000ul;
    float result = 0.0f;
    for (int k = 0; k < 3; k++) {
        float a = quad.x + (float)k;
        float b = quad.y * (float)(k + 1);
        int i = (int)a + (flag ? 1 : 0);
        result += a * b + (float)i;
    }
    {
        float result = quad.w;
        quad.z += result;
    }
    out[i] = result + quad.z + (float)(big >> 20) + (float)small;
}
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void volatile_steps(global int *out) {
    volatile int x = (int)get_global_id(0);
    volatile int y = 1;
    while (x > 0) {
        y = y * 2;
        x = x - 1;
    }
    x = y;
    y = x + y;
    out[get_global_id(0)] = y;
}
