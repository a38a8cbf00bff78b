/* spvfuse_opencl.h — what the OpenCL implementation of spvfuse has besides the specification:
 * extension cl_spvf_command_buffer_fusion.
 *
 * The commands of a command buffer (cl_khr_command_buffer) run in the order in which they were
 * recorded.  Kernels that follow each other are fused when it is finalized, where that is legal and
 * profitable; the results are the same. */
#ifndef SPVFUSE_OPENCL_H
#define SPVFUSE_OPENCL_H

#include <CL/cl_ext.h>

/* A property of clCreateCommandBufferKHR: cl_command_buffer_fusion_spvf. */
#define CL_COMMAND_BUFFER_FUSION_SPVF 0x56500001
typedef cl_uint cl_command_buffer_fusion_spvf;
#define CL_COMMAND_BUFFER_FUSION_AUTO_SPVF 0 /* without the property */
#define CL_COMMAND_BUFFER_FUSION_NONE_SPVF 1 /* every kernel is launched by itself */

/* Of clGetCommandBufferInfoKHR.  char[]: which kernels were fused and which were not, and why; ""
 * until the command buffer is finalized. */
#define CL_COMMAND_BUFFER_FUSION_REPORT_SPVF 0x56500002
/* cl_uint: the launches that a run consists of; 0 until then. */
#define CL_COMMAND_BUFFER_LAUNCH_COUNT_SPVF 0x56500003

#endif
