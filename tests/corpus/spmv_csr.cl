// Sparse matrix times vector in CSR form: one row for each item (divergent loop bounds, indirect
// loads), and one row for each group with a reduction in local memory.
kernel void scalar_rows(global const uint *row_start, global const uint *column,
                        global const float *value, global const float *x, global float *y,
                        uint rows) {
    uint r = (uint)get_global_id(0);
    if (r >= rows) return;
    float sum = 0.0f;
    for (uint k = row_start[r]; k < row_start[r + 1]; k++) sum += value[k] * x[column[k]];
    y[r] = sum;
}

kernel void group_rows(global const uint *row_start, global const uint *column,
                       global const float *value, global const float *x, global float *y) {
    local float partial[4];
    uint r = (uint)get_group_id(0), l = (uint)get_local_id(0);
    float sum = 0.0f;
    for (uint k = row_start[r] + l; k < row_start[r + 1]; k += 4) sum += value[k] * x[column[k]];
    partial[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) y[r] = partial[0] + partial[1] + partial[2] + partial[3];
}
