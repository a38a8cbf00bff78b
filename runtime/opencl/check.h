/* check.h — private to check_*.c: programs that run on the interpreter, and what they get wrong.
 *
 *   check_device.c    the device, its memory, the faults of kernels
 *   check_say.c       how faults are told: as text or JSON, where, and what happens then
 *   check_objects.c   what the program has made, by the call that made it
 *   check_calls.c     entries that look at a call before they pass it on: objects
 *   check_commands.c  the same for what is enqueued, and for what waits
 *   check_launch.c    the same for kernels: arguments and launches
 *
 * Everything here is in use only if SPVFUSE_DEVICE=check.  The entries take the place of others in the
 * loader's table (ocl_fill_checks), so the rest of the implementation does not know of them.
 */
#ifndef SPVFUSE_RUNTIME_OCL_CHECK_H
#define SPVFUSE_RUNTIME_OCL_CHECK_H

#include "runtime/devices/check/check_open.h"
#include "runtime/opencl/ocl.h"

/* --------------------------------------------------------------------------- check_device.c */

rt_device *ocl_open_check(spvf_context *context);
/* Memory of a buffer, or shared memory, from now on looked after; NULL: there is no memory. */
rt_memory *ocl_check_wrap(const rt_check_memory *what);
void ocl_check_written(const void *host, uint64_t size);
uint64_t ocl_check_undefined(const void *host, uint64_t size);

/* ------------------------------------------------------------------------------ check_say.c */

/* A fault of a kernel, or of a call of the program (report NULL). */
typedef struct {
    const char *kind; /* such as "race", "leak" */
    ir_severity severity;
    const char *text;
    const check_report *report;
    const char *source; /* that the kernel was built from, or NULL: only its file is known */
} ocl_fault;

void ocl_say_fault(const ocl_fault *f);
/* The same for a call. */
void ocl_say_call(const char *kind, ir_severity severity, const char *fmt, ...) IR_PRINTF(3, 4);
/* The sum; the process ends if it is to have another exit status. */
void ocl_end_faults(void);

/* -------------------------------------------------------------------------- check_objects.c */

/* Something that the program has made and should give back.  It stays known afterwards. */
typedef struct ocl_made ocl_made;
struct ocl_made {
    const void *handle;
    ocl_kind kind; /* OCL_NOTHING: shared memory */
    const char *call;
    unsigned number;       /* of the call, from 1 */
    unsigned refs;         /* of the program; 0: given back */
    uint64_t size;         /* of memory */
    unsigned maps;         /* regions mapped for writing */
    bool waited;           /* an event: its end was waited for or asked for */
    const ocl_made *queue; /* an event: where the command is; or NULL */
    ocl_made *same;        /* of the same place in the table, older */
    ocl_made *before;      /* all of them, the newest first */
};

/* These take the lock. */
ocl_made *ocl_note_made(const void *handle, ocl_kind kind, const char *call);
/* The newest object of that handle, or NULL. */
ocl_made *ocl_find_made(const void *handle);
/* The number of this call of a function, from 1. */
unsigned ocl_count_call(const char *call);
/* "buffer 2 of clCreateBuffer, 40 bytes", for ever. */
const char *ocl_name_of(const ocl_made *r);
/* In the order in which they were made. */
void ocl_each_made(void (*each)(ocl_made *r));
/* The newest first. */
void ocl_each_of_kind(ocl_kind kind, void (*each)(ocl_made *r));
/* Events of the same queue that are older were waited for, too. */
void ocl_mark_before(ocl_made *event);

/* ----------------------------------------------------------------------- the checking entries */

/* The entries that calls are passed on to. */
extern cl_icd_dispatch ocl_plain;
void ocl_fill_check_calls(ocl_entries *e);
void ocl_fill_check_launch(ocl_entries *e);
/* A fault if the handle was given back, or was never one. */
void ocl_check_handle(const char *call, const void *handle, ocl_kind kind);
/* A fault if the call has failed. */
cl_int ocl_check_result(const char *call, cl_int status, const char *why);
const char *ocl_error_name(cl_int status);
/* A call has waited for these, or a command will. */
void ocl_note_waited(cl_uint n, const cl_event *list);
/* After a call that enqueues.  `gives`: the host may not use its memory before the end of the
 * command; event: where it has put one, or NULL. */
void ocl_note_enqueued(const char *call, cl_command_queue q, bool blocks, bool gives,
                       const cl_event *event);
/* What is left at the end. */
void ocl_say_left(void);

#endif
