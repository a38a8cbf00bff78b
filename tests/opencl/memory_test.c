/* memory_test.c — buffers: what creates them, what is refused, what they say of themselves. */
#include "tests/opencl/opencl.h"

TestSuite(memory, .init = begin_opencl, .fini = end_opencl);

Test(memory, context) { cr_expect(has_one_reference(ocl.context) == false); }
