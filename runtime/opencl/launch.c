/* launch.c — to come */
#include "runtime/opencl/ocl.h"

void ocl_fill_launch(ocl_entries *e) { (void)e; }
