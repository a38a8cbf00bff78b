// Row-wise softmax: a group for each row, maximum and sum by trees in local memory, then
// normalisation; rows longer than the group, and a masked tail.
kernel void softmax_rows(global const float *in, global float *out, int columns,
                         local float *tile) {
    int row = (int)get_group_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
    global const float *p = in + row * columns;
    float best = -FLT_MAX;
    for (int c = l; c < columns; c += size) best = fmax(best, p[c]);
    tile[l] = best;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = size / 2; s; s /= 2) {
        if (l < s) tile[l] = fmax(tile[l], tile[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    best = tile[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int c = l; c < columns; c += size) sum += exp(p[c] - best);
    tile[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = size / 2; s; s /= 2) {
        if (l < s) tile[l] += tile[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = 1.0f / tile[0];
    for (int c = l; c < columns; c += size) out[row * columns + c] = exp(p[c] - best) * scale;
}
