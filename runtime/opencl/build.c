/* build.c — to come */
#include "runtime/opencl/ocl.h"

void ocl_fill_build(ocl_entries *e) { (void)e; }
