/* peer.cuh — what the kernels in CUDA C share.  They have the names and parameters of those in
 * tests/bench/simd/, and are written as is usual in CUDA: 32-bit indices, `__restrict__`. */
#ifndef TESTS_BENCH_CUDA_PEER_CUH
#define TESTS_BENCH_CUDA_PEER_CUH

#include <float.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void
#define IN(type) const type *__restrict__
#define OUT(type) type *__restrict__

typedef unsigned int uint;
typedef unsigned long long ulong64;

static __device__ inline uint global_x() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ inline uint global_y() { return blockIdx.y * blockDim.y + threadIdx.y; }

#endif
