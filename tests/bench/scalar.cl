// The kernels of scalar_kernels.h as OpenCL C.
#pragma OPENCL FP_CONTRACT ON
#define KERNEL(name, ...) kernel void name(__VA_ARGS__)
#define GLOBAL global
#define X ((int)get_global_id(0))
#define Y ((int)get_global_id(1))
#define SQRT sqrt
#define TO_FLOATS(x) convert_float4(x)
#define TO_BYTES(x) convert_uchar4(convert_int4(x))
#include "scalar_kernels.h"
