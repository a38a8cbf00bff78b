/* transfer.c — to come */
#include "runtime/opencl/ocl.h"

void ocl_fill_transfer(ocl_entries *e) { (void)e; }
