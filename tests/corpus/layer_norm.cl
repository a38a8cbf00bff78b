// Layer normalisation with scale and bias: mean and variance of each row by one item with float4
// loads and a scalar tail, and by a group in local memory.
kernel void norm_item(global const float *in, global const float *gain, global const float *bias,
                      global float *out, int n, float epsilon) {
    int row = (int)get_global_id(0);
    global const float *x = in + row * n;
    float4 sum4 = 0.0f, square4 = 0.0f;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        float4 v = vload4(0, x + i);
        sum4 += v;
        square4 = fma(v, v, square4);
    }
    float sum = dot(sum4, (float4)(1.0f)), square = dot(square4, (float4)(1.0f));
    for (; i < n; i++) {
        sum += x[i];
        square += x[i] * x[i];
    }
    float mean = sum / (float)n, scale = rsqrt(square / (float)n - mean * mean + epsilon);
    for (i = 0; i < n; i++) out[row * n + i] = (x[i] - mean) * scale * gain[i] + bias[i];
}

kernel void norm_group(global const float *in, global const float *gain, global const float *bias,
                       global float *out, int n, float epsilon) {
    local float2 tile[8];
    int row = (int)get_group_id(0), l = (int)get_local_id(0);
    float2 part = (float2)(0.0f);
    for (int i = l; i < n; i += 8)
        part += (float2)(in[row * n + i], in[row * n + i] * in[row * n + i]);
    tile[l] = part;
    for (int s = 4; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) tile[l] += tile[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float mean = tile[0].x / (float)n, scale = rsqrt(tile[0].y / (float)n - mean * mean + epsilon);
    for (int i = l; i < n; i += 8)
        out[row * n + i] = (in[row * n + i] - mean) * scale * gain[i] + bias[i];
}
