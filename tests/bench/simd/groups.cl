// groups.cl: work-groups whose items exchange values in local memory, between barriers.

// The product of square matrices by tiles of 16 by 16 elements; zeros beyond the edges.
#define TILED(name, element, total)                                                                \
    kernel void name(uint n, global const element *a, global const element *b, global total *c) {  \
        local element left[16][16], right[16][16];                                                 \
        uint x = get_global_id(0), y = get_global_id(1);                                           \
        uint i = get_local_id(0), j = get_local_id(1);                                             \
        total sum = 0;                                                                             \
        for (uint at = 0; at < n; at += 16) {                                                      \
            left[j][i] = y < n && at + i < n ? a[y * n + at + i] : 0;                              \
            right[j][i] = at + j < n && x < n ? b[(at + j) * n + x] : 0;                           \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
            for (uint k = 0; k < 16; k++) sum += (total)left[j][k] * (total)right[k][i];           \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        if (x < n && y < n) c[y * n + x] = sum;                                                    \
    }
TILED(tiled_f32, float, float)
TILED(tiled_f64, double, double)
TILED(tiled_i8, char, int)

// Sums of the group: each item adds elements that are a range apart, then a tree.
kernel void reduce(uint n, global const float *x, global float *sums, local float *part) {
    uint i = get_local_id(0);
    float sum = 0;
    for (uint at = get_global_id(0); at < n; at += get_global_size(0)) sum += x[at];
    part[i] = sum;
    for (uint reach = get_local_size(0) / 2; reach; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < reach) part[i] += part[i + reach];
    }
    if (i == 0) sums[get_group_id(0)] = part[0];
}

// Sums of all elements of the group up to that of the item (Hillis and Steele).
kernel void scan(uint n, global const uint *x, global uint *out) {
    local uint part[2][256];
    uint g = get_global_id(0), i = get_local_id(0), from = 0;
    part[0][i] = g < n ? x[g] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step *= 2) {
        part[1 - from][i] = part[from][i] + (i >= step ? part[from][i - step] : 0);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (g < n) out[g] = part[from][i];
}

// Bins of the group in local memory, then of all.
kernel void histogram(uint n, global const uchar *x, global uint *bins) {
    local uint part[256];
    uint i = get_local_id(0);
    part[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = get_global_id(0); at < n; at += get_global_size(0)) atomic_inc(&part[x[at]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part[i]) atomic_add(&bins[i], part[i]);
}

float group_sum(float x, local float *part) {
    uint i = get_local_id(0);
    part[i] = x;
    for (uint reach = 32; reach; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < reach) part[i] += part[i + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

float group_max(float x, local float *part) {
    uint i = get_local_id(0);
    part[i] = x;
    for (uint reach = 32; reach; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < reach) part[i] = fmax(part[i], part[i + reach]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

// A group of 64 items for each row.
kernel void softmax(uint columns, global const float *x, global float *y) {
    local float part[64];
    global const float *row = x + get_group_id(0) * columns;
    global float *to = y + get_group_id(0) * columns;
    float most = -INFINITY, sum = 0;
    for (uint k = get_local_id(0); k < columns; k += 64) most = fmax(most, row[k]);
    most = group_max(most, part);
    for (uint k = get_local_id(0); k < columns; k += 64) sum += to[k] = exp(row[k] - most);
    sum = group_sum(sum, part);
    for (uint k = get_local_id(0); k < columns; k += 64) to[k] /= sum;
}

kernel void layernorm(uint columns, global const float *x, global const float *scale,
                      global const float *bias, global float *y) {
    local float part[64];
    global const float *row = x + get_group_id(0) * columns;
    global float *to = y + get_group_id(0) * columns;
    float sum = 0, squares = 0;
    for (uint k = get_local_id(0); k < columns; k += 64) sum += row[k];
    float mean = group_sum(sum, part) / columns;
    for (uint k = get_local_id(0); k < columns; k += 64)
        squares += (row[k] - mean) * (row[k] - mean);
    float by = rsqrt(group_sum(squares, part) / columns + 1e-5f);
    for (uint k = get_local_id(0); k < columns; k += 64)
        to[k] = (row[k] - mean) * by * scale[k] + bias[k];
}

// A tile is read row by row and written column by column.
kernel void transpose_tiled(uint width, uint height, global const float *in, global float *out) {
    local float tile[16][17];
    uint i = get_local_id(0), j = get_local_id(1);
    uint x = get_group_id(0) * 16, y = get_group_id(1) * 16;
    if (x + i < width && y + j < height) tile[j][i] = in[(y + j) * width + x + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (y + i < height && x + j < width) out[(x + j) * height + y + i] = tile[i][j];
}
