/* svm_test.c */
#include "tests/opencl/opencl.h"

TestSuite(svm, .init = begin_opencl, .fini = end_opencl);

Test(svm, context) { cr_expect(has_one_reference(ocl.context) == false); }
