/* transfer_test.c */
#include "tests/opencl/opencl.h"

TestSuite(transfer, .init = begin_opencl, .fini = end_opencl);

Test(transfer, context) { cr_expect(has_one_reference(ocl.context) == false); }
