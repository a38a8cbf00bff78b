/* memory.h — memory for buffers, and the size of the caches (memory.c).
 *
 * Buffers of devices in this process are aligned as kernels require; large ones are given huge
 * pages where the system has them.
 */
#ifndef SPVFUSE_RUNTIME_MEMORY_H
#define SPVFUSE_RUNTIME_MEMORY_H

#include "runtime/api/runtime.h"

/* At a multiple of IR_LOCAL_ALIGN, to be given to rt_free_memory; NULL: there is no memory. */
void *rt_new_memory(size_t bytes);
/* Memory of so many bytes, or NULL. */
void rt_free_memory(void *memory, size_t bytes);
/* Bytes of the last cache before memory, as one processor sees it; 0: not known. */
uint64_t rt_cache_size(void);

/* The bytes of memory that the machine has. */
uint64_t rt_memory_of_machine(void);

#endif
