/* machine.h — the processors that OpenCL's device is, or would be if it were not the interpreter
 * (device.c). */
#ifndef SPVFUSE_RUNTIME_OCL_MACHINE_H
#define SPVFUSE_RUNTIME_OCL_MACHINE_H

#include "runtime/devices/cpu/cpu.h"
#include "runtime/opencl/ocl.h"

/* The level is known.  These may be asked for if there is a device. */
const rt_cpu_options *ocl_cpu_options(void);
/* Where results of compilers are kept. */
const rt_cache *ocl_cache(void);

#endif
