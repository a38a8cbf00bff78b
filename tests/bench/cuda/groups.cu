#include "peer.cuh"

#define TILED(name, element, total)                                                                \
    KERNEL name(uint n, IN(element) a, IN(element) b, OUT(total) c) {                              \
        __shared__ element left[16][16], right[16][16];                                            \
        uint x = global_x(), y = global_y(), i = threadIdx.x, j = threadIdx.y;                     \
        total sum = 0;                                                                             \
        for (uint at = 0; at < n; at += 16) {                                                      \
            left[j][i] = y < n && at + i < n ? a[y * n + at + i] : 0;                              \
            right[j][i] = at + j < n && x < n ? b[(at + j) * n + x] : 0;                           \
            __syncthreads();                                                                       \
            for (uint k = 0; k < 16; k++) sum += (total)left[j][k] * (total)right[k][i];           \
            __syncthreads();                                                                       \
        }                                                                                          \
        if (x < n && y < n) c[y * n + x] = sum;                                                    \
    }
TILED(tiled_f32, float, float)
TILED(tiled_f64, double, double)
TILED(tiled_i8, int8_t, int)

/* The last parameter stands for the memory that its twin in OpenCL C is given. */
KERNEL reduce(uint n, IN(float) x, OUT(float) sums, uint unused) {
    extern __shared__ float part[];
    uint i = threadIdx.x;
    float sum = 0;
    for (uint at = global_x(); at < n; at += gridDim.x * blockDim.x) sum += x[at];
    part[i] = sum;
    for (uint reach = blockDim.x / 2; reach; reach /= 2) {
        __syncthreads();
        if (i < reach) part[i] += part[i + reach];
    }
    if (i == 0) sums[blockIdx.x] = part[0];
}

KERNEL scan(uint n, IN(uint) x, OUT(uint) out) {
    __shared__ uint part[2][256];
    uint g = global_x(), i = threadIdx.x, from = 0;
    part[0][i] = g < n ? x[g] : 0;
    __syncthreads();
    for (uint step = 1; step < 256; step *= 2) {
        part[1 - from][i] = part[from][i] + (i >= step ? part[from][i - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (g < n) out[g] = part[from][i];
}

KERNEL histogram(uint n, IN(uint8_t) x, OUT(uint) bins) {
    __shared__ uint part[256];
    uint i = threadIdx.x;
    part[i] = 0;
    __syncthreads();
    for (uint at = global_x(); at < n; at += gridDim.x * blockDim.x) atomicAdd(&part[x[at]], 1u);
    __syncthreads();
    if (part[i]) atomicAdd(&bins[i], part[i]);
}

static __device__ float group_sum(float x, float *part) {
    uint i = threadIdx.x;
    part[i] = x;
    for (uint reach = 32; reach; reach /= 2) {
        __syncthreads();
        if (i < reach) part[i] += part[i + reach];
    }
    __syncthreads();
    float sum = part[0];
    __syncthreads();
    return sum;
}

static __device__ float group_max(float x, float *part) {
    uint i = threadIdx.x;
    part[i] = x;
    for (uint reach = 32; reach; reach /= 2) {
        __syncthreads();
        if (i < reach) part[i] = fmaxf(part[i], part[i + reach]);
    }
    __syncthreads();
    float most = part[0];
    __syncthreads();
    return most;
}

KERNEL softmax(uint columns, IN(float) x, OUT(float) y) {
    __shared__ float part[64];
    const float *row = x + blockIdx.x * columns;
    float *to = y + blockIdx.x * columns, most = -INFINITY, sum = 0;
    for (uint k = threadIdx.x; k < columns; k += 64) most = fmaxf(most, row[k]);
    most = group_max(most, part);
    for (uint k = threadIdx.x; k < columns; k += 64) sum += to[k] = expf(row[k] - most);
    sum = group_sum(sum, part);
    for (uint k = threadIdx.x; k < columns; k += 64) to[k] /= sum;
}

KERNEL layernorm(uint columns, IN(float) x, IN(float) scale, IN(float) bias, OUT(float) y) {
    __shared__ float part[64];
    const float *row = x + blockIdx.x * columns;
    float *to = y + blockIdx.x * columns, sum = 0, squares = 0;
    for (uint k = threadIdx.x; k < columns; k += 64) sum += row[k];
    float mean = group_sum(sum, part) / columns;
    for (uint k = threadIdx.x; k < columns; k += 64)
        squares += (row[k] - mean) * (row[k] - mean);
    float by = rsqrtf(group_sum(squares, part) / columns + 1e-5f);
    for (uint k = threadIdx.x; k < columns; k += 64)
        to[k] = (row[k] - mean) * by * scale[k] + bias[k];
}

KERNEL transpose_tiled(uint width, uint height, IN(float) in, OUT(float) out) {
    __shared__ float tile[16][17];
    uint i = threadIdx.x, j = threadIdx.y, x = blockIdx.x * 16, y = blockIdx.y * 16;
    if (x + i < width && y + j < height) tile[j][i] = in[(y + j) * width + x + i];
    __syncthreads();
    if (y + i < height && x + j < width) out[(x + j) * height + y + i] = tile[i][j];
}
