/* svm.c — to come */
#include "runtime/opencl/ocl.h"

void ocl_fill_svm(ocl_entries *e) { (void)e; }
