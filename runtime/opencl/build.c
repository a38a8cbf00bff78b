/* build.c — to come */
#include "runtime/opencl/ocl.h"

bool ocl_has_compiler(void) { return false; }

void ocl_fill_build(ocl_entries *e) { (void)e; }
