/* kernel.c — to come */
#include "runtime/opencl/ocl.h"

void ocl_fill_kernel(ocl_entries *e) { (void)e; }
