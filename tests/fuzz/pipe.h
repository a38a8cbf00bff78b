/* pipe.h — random pipelines for fuzzing: kernels, and a plan that fuses their launches. */
#ifndef SPVFUSE_PIPE_H
#define SPVFUSE_PIPE_H

#include "ir/ir.h"

/* Writes a module in text form, and a plan whose launches name it as `file`.  Every choice takes a
 * byte of the data, and when they are used up the pipeline ends soon.  Work-items of one kernel
 * mostly keep to elements of their own, so most pipelines are free of races kernel by kernel. */
void pipe_make(const uint8_t *data, size_t size, const char *file, ir_text *kernels, ir_text *plan);

#endif
