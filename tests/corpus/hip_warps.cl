// cl: -cl-std=CL3.0
// What kernels of HIP do with warps of 32 threads: shuffles, votes, ballots, reductions and scans,
// memory of a block whose size the launch gives, and atomic operations.  All results are integers,
// or floats whose sums are exact.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define __global__ kernel __attribute__((intel_reqd_sub_group_size(32))) void
#define warpSize 32
#define threadIdx_x ((uint)get_local_id(0))
#define blockDim_x ((uint)get_local_size(0))
#define blockIdx_x ((uint)get_group_id(0))
#define gridDim_x ((uint)get_num_groups(0))
#define laneId() get_sub_group_local_id()
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE)
#define __shfl(v, lane) sub_group_shuffle(v, (lane) & 31)
#define __shfl_xor(v, mask) sub_group_shuffle_xor(v, mask)
#define __shfl_up(v, d) sub_group_shuffle(v, laneId() >= (d) ? laneId() - (d) : laneId())
#define __shfl_down(v, d) sub_group_shuffle(v, laneId() + (d) < 32 ? laneId() + (d) : laneId())
#define __ballot(p) sub_group_ballot(p).x
#define __activemask() sub_group_ballot(1).x
#define __any(p) sub_group_non_uniform_any(p)
#define __all(p) sub_group_non_uniform_all(p)
#define __popc(x) popcount(x)
#define __ffs(x) (32 - (int)clz((x) & -(x)))
#define __lanemask_lt() ((1u << laneId()) - 1)

// A butterfly: every thread has the sum of its warp.
int warp_sum(int x) {
    for (uint mask = warpSize / 2; mask; mask /= 2) x += __shfl_xor(x, mask);
    return x;
}

// The first thread has it.
int warp_sum_down(int x) {
    for (uint d = warpSize / 2; d; d /= 2) x += __shfl_down(x, d);
    return x;
}

int warp_scan(int x) {
    for (uint d = 1; d < warpSize; d *= 2) {
        int before = __shfl_up(x, d);
        if (laneId() >= d) x += before;
    }
    return x;
}

__global__ sums(global const int *in, global int *out) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x;
    out[i] = warp_sum(in[i]);
}

__global__ scan_of_warps(global const int *in, global int *out) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x;
    out[i] = warp_scan(in[i]);
}

// Strides over the grid, a sum in each warp, then of the warps in memory of the block, then atomic.
__global__ block_sum(global const int *in, global int *total, uint n, local int *shared) {
    int x = 0;
    for (uint i = blockIdx_x * blockDim_x + threadIdx_x; i < n; i += gridDim_x * blockDim_x)
        x += in[i];
    x = warp_sum_down(x);
    if (laneId() == 0) shared[threadIdx_x / warpSize] = x;
    __syncthreads();
    if (threadIdx_x < warpSize) {
        x = threadIdx_x < blockDim_x / warpSize ? shared[threadIdx_x] : 0;
        x = warp_sum_down(x);
        if (threadIdx_x == 0) atomic_add(total, x);
    }
}

// A scan of the block: of warps, of their sums, and both added.
__global__ block_scan(global const int *in, global int *out, local int *shared) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x, warp = threadIdx_x / warpSize;
    int x = warp_scan(in[i]);
    if (laneId() == warpSize - 1) shared[warp] = x;
    __syncthreads();
    if (warp == 0) {
        int sum = laneId() < blockDim_x / warpSize ? shared[laneId()] : 0;
        sum = warp_scan(sum);
        if (laneId() < blockDim_x / warpSize) shared[laneId()] = sum;
    }
    __syncthreads();
    out[i] = x + (warp ? shared[warp - 1] : 0);
}

__global__ votes(global const int *in, global uint *out) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x, n = gridDim_x * blockDim_x;
    int x = in[i];
    out[i] = __ballot(x & 1);
    out[n + i] = __any(x > 100) | __all(x > -100) << 1 | __any(x == x + 1) << 2;
    uint active = 0;
    if (x % 3 == 0) {
        active = __activemask();
        active ^= __ballot(x & 2) << 1;
    } else if (x % 3 == 1) {
        active = __shfl(x, __ffs(__activemask()) - 1);
    }
    out[2 * n + i] = active;
}

// Threads of a warp that have something to keep take places together, by one atomic addition.
__global__ compact(global const int *in, global int *out, global uint *counts) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x, first = i / warpSize * warpSize;
    int x = in[i];
    if (x & 4) {
        uint mask = __activemask(), place = 0;
        int leader = __ffs(mask) - 1;
        if ((int)laneId() == leader) place = atomic_add(&counts[i / warpSize], __popc(mask));
        place = __shfl(place, leader) + __popc(mask & __lanemask_lt());
        out[first + place] = x;
    }
}

// A tile of 32 rows with a column more than it needs, in memory of the block.
__global__ transpose(global const float *in, global float *out, uint pitch, local float *tile) {
    uint x = threadIdx_x, by = get_group_id(1), rows = get_local_size(1);
    for (uint y = get_local_id(1); y < 32; y += rows)
        tile[y * 33 + x] = in[(by * 32 + y) * pitch + blockIdx_x * 32 + x];
    __syncthreads();
    for (uint y = get_local_id(1); y < 32; y += rows)
        out[(blockIdx_x * 32 + y) * pitch + by * 32 + x] = tile[x * 33 + y];
}

__global__ histogram(global const int *in, global int *bins, uint count, local int *shared) {
    for (uint b = threadIdx_x; b < count; b += blockDim_x) shared[b] = 0;
    __syncthreads();
    atomic_inc(&shared[(uint)in[blockIdx_x * blockDim_x + threadIdx_x] % count]);
    __syncthreads();
    for (uint b = threadIdx_x; b < count; b += blockDim_x)
        if (shared[b]) atomic_add(&bins[b], shared[b]);
}

void atomicAddFloat(volatile global float *to, float x) {
    volatile global uint *at = (volatile global uint *)to;
    uint old = atomic_or(at, 0), seen;
    while ((seen = atomic_cmpxchg(at, old, as_uint(as_float(old) + x))) != old) old = seen;
}

__global__ dot_of_floats(global const float *a, global const float *b, global float *total) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x;
    float x = a[i] * b[i];
    for (uint mask = warpSize / 2; mask; mask /= 2) x += __shfl_xor(x, mask);
    if (laneId() == 0) atomicAddFloat(total, x);
}

// Pairs of neighbours are exchanged in steps of a bitonic sort; each warp is in order.
__global__ sort_warps(global int *data) {
    uint i = blockIdx_x * blockDim_x + threadIdx_x, lane = laneId();
    int x = data[i];
    for (uint size = 2; size <= warpSize; size *= 2)
        for (uint step = size / 2; step; step /= 2) {
            int other = __shfl_xor(x, step);
            bool up = (lane & size) == 0 || size == warpSize, low = (lane & step) == 0;
            x = up == low ? min(x, other) : max(x, other);
        }
    data[i] = x;
}
