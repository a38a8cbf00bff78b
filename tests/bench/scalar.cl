// The kernels of scalar_kernels.h as OpenCL C.
#pragma OPENCL FP_CONTRACT ON
#define KERNEL(name, ...) kernel void name(__VA_ARGS__)
#define GLOBAL global
#define X ((int)get_global_id(0))
#define Y ((int)get_global_id(1))
#define SQRT sqrt
#include "scalar_kernels.h"
