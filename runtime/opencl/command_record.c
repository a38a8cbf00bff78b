/* command_record.c — the entries that record commands, in the two forms that programs know.
 *
 * Version 0.9.5 of cl_khr_command_buffer put a list of properties in front of what a command is
 * given, in entries whose names stayed.  Programs that were built with older headers pass the older
 * form.  Where integers are passed in registers and slots of 64 bits, an argument has the same
 * place whatever its type: entries take slots, and look at what is in them.
 *
 *     older   buffer, queue,             own …, count, list, point, handle
 *     newer   buffer, queue, properties, own …, count, list, point, handle
 *
 *   - Copies and fills: `own` begins with buffers.  A buffer begins with the address of the table
 *     of entries, a list of properties with 0 or the number of a property.  So each call tells.
 *     What is an object in neither form is refused without a look at anything else.
 *   - Kernels: both forms are the same, since there was a list always.
 *   - Barriers: there is nothing of their own.  What previous calls for the command buffer told
 *     holds.  Otherwise each form is tried: the count says whether there is a list, it is at most
 *     the number of commands, addresses are aligned and not in the first page, and the older
 *     form's handle is NULL.  Both can be right in two cases:
 *       - All slots are zero.  Both mean the same, but for the handle, which is in a slot that
 *         older programs do not pass.  It is looked at in processes that asked for a query of newer
 *         versions.
 *       - A count is an address, or an address a count.  Command buffers with less than 4096
 *         commands have no such count.  Others are refused.
 *
 * SPVF_COMMAND_BUFFER_VERSION, when it is set, says which form it is (docs/USAGE.md).
 */
#define _GNU_SOURCE
#include "runtime/opencl/ocl.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef uintptr_t slot;

enum { FIRST_PAGE = 4096 }; /* nothing lies below */

/* ------------------------------------------------------------------------ which form a call has */

static _Atomic bool knows_newer; /* the process has asked for a query of version 0.9.6 */

void ocl_note_newer_headers(void) { knows_newer = true; }

/* "0.9.4" and "0.9.5" or newer, by the last number. */
static ocl_form read_switch(void) {
    const char *s = rt_environment("SPVF_COMMAND_BUFFER_VERSION");
    const char *dot = s ? strrchr(s, '.') : NULL;
    if (!dot) return OCL_FORM_UNKNOWN;
    return strtol(dot + 1, NULL, 10) < 5 ? OCL_FORM_OLDER : OCL_FORM_NEWER;
}

static ocl_form wanted_form;

static void set_wanted_form(void) { wanted_form = read_switch(); }

/* What is known before a call is looked at. */
static ocl_form known_form(cl_command_buffer_khr b) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_wanted_form);
    return wanted_form ? wanted_form : b->form;
}

static bool is_address(slot s, size_t align) { return s >= FIRST_PAGE && s % align == 0; }

static bool is_mapped(slot s) {
    slot page = s & ~(slot)(FIRST_PAGE - 1);
    unsigned char resident;
    return mincore((void *)page, 1, &resident) == 0;
}

/* It may be any number, and lead to less memory than an object has: eight aligned bytes are on one
 * page, but perhaps of two variables. */
__attribute__((no_sanitize("address"))) static bool is_object(slot s) {
    return is_address(s, _Alignof(ocl_object)) && is_mapped(s) &&
           ((const ocl_object *)s)->dispatch == ocl_platform()->object.dispatch;
}

/* Of a call whose own arguments begin with one or two buffers.  Unknown: some are none. */
static ocl_form form_of_buffers(cl_command_buffer_khr b, const slot *s, unsigned buffers) {
    ocl_form form = known_form(b);
    if (form) return form;
    if (is_object(s[0]))
        form = OCL_FORM_OLDER;
    else if (is_object(s[1]) && (buffers < 2 || is_object(s[2])))
        form = OCL_FORM_NEWER;
    return b->form = form;
}

/* Can these be a count and a list, and where a sync point goes? */
static bool can_be_order(cl_uint commands, const slot *s) {
    cl_uint count = (cl_uint)s[0];
    bool list = count ? count <= commands && is_address(s[1], _Alignof(cl_uint)) : !s[1];
    return list && (!s[2] || is_address(s[2], _Alignof(cl_uint)));
}

static ocl_form form_of_barrier(cl_command_buffer_khr b, const slot s[4]) {
    cl_uint commands = ocl_count_commands(b);
    bool older = can_be_order(commands, s) && !s[3];
    bool newer = can_be_order(commands, s + 1) && (!s[0] || is_address(s[0], sizeof(cl_ulong)));
    bool none = !s[0] && !s[1] && !s[2] && !s[3];
    if (none) return knows_newer ? OCL_FORM_NEWER : OCL_FORM_OLDER;
    return older && newer ? OCL_FORM_UNKNOWN : newer ? OCL_FORM_NEWER : OCL_FORM_OLDER;
}

/* ----------------------------------------------------------------------------- what a call says */

typedef struct {
    ocl_recording to;
    const slot *own; /* arguments of the command */
    cl_int bad;      /* what is wrong with those of all commands */
} call;

static cl_int check_target(cl_command_buffer_khr b, cl_command_queue q) {
    if (!ocl_is(b, OCL_COMMAND_BUFFER)) return CL_INVALID_COMMAND_BUFFER_KHR;
    return q ? CL_INVALID_COMMAND_QUEUE : CL_SUCCESS; /* it has one queue, which is not named */
}

/* Of a call in the newer form, with `count` arguments of its own. */
static call read_call(cl_command_buffer_khr b, const slot *s, unsigned count) {
    const cl_properties *p = (const cl_properties *)s[0];
    const slot *rest = s + 1 + count;
    call c = {.own = s + 1,
              .to = {.buffer = b,
                     .wait_count = (cl_uint)rest[0],
                     .wait = (const cl_sync_point_khr *)rest[1],
                     .point = (cl_sync_point_khr *)rest[2]}};
    c.bad = rest[3] || (p && *p)  ? CL_INVALID_VALUE
            : ocl_is_finalized(b) ? CL_INVALID_OPERATION
                                  : CL_SUCCESS;
    return c;
}

enum { MOST_SLOTS = 14 };

/* Of either form: the slots are those of the newer one, and one less that of the older. */
static call read_either(cl_command_buffer_khr b, ocl_form form, const slot *s, unsigned count) {
    slot newer[MOST_SLOTS] = {0};
    if (form == OCL_FORM_NEWER) return read_call(b, s, count);
    memcpy(newer + 1, s, (count + 4) * sizeof *s);
    call c = read_call(b, newer, count);
    c.own = s;
    return c;
}

/* Of a command with one or two buffers, and as many arguments in all. */
static call call_of_buffers(cl_command_buffer_khr b, cl_command_queue q, const slot *s,
                            unsigned buffers, unsigned count) {
    cl_int bad = check_target(b, q);
    if (bad) return (call){.bad = bad};
    ocl_form form = form_of_buffers(b, s, buffers);
    return form ? read_either(b, form, s, count) : (call){.bad = CL_INVALID_MEM_OBJECT};
}

static ocl_request request(const call *c, cl_command_type type, const cl_mem *mems, size_t count) {
    return (ocl_request){.queue = c->to.buffer->queue,
                         .type = type,
                         .mems = mems,
                         .mem_count = count,
                         .recording = &c->to};
}

/* -------------------------------------------------------------------------------------- entries */

static cl_int CL_API_CALL record_barrier(cl_command_buffer_khr b, cl_command_queue q, slot s0,
                                         slot s1, slot s2, slot s3, slot s4) {
    const slot s[] = {s0, s1, s2, s3, s4};
    cl_int bad = check_target(b, q);
    if (bad) return bad;
    ocl_form form = known_form(b);
    if (!form) form = form_of_barrier(b, s);
    if (!form) return CL_INVALID_VALUE;
    const call c = read_either(b, form, s, 0);
    bad = c.bad ? c.bad : ocl_check_sync_points(&c.to);
    return bad ? bad : ocl_record(&c.to, NULL);
}

/* Own: from, to, offset in both, size. */
static cl_int CL_API_CALL record_copy(cl_command_buffer_khr b, cl_command_queue q, slot s0, slot s1,
                                      slot s2, slot s3, slot s4, slot s5, slot s6, slot s7, slot s8,
                                      slot s9) {
    const slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
    const call c = call_of_buffers(b, q, s, 2, 5);
    if (c.bad) return c.bad;
    const cl_mem both[] = {(cl_mem)c.own[0], (cl_mem)c.own[1]};
    const ocl_request r = request(&c, CL_COMMAND_COPY_BUFFER, both, 2);
    return ocl_copy(&r, c.own[2], c.own[3], c.own[4]);
}

/* Own: from, to, origin in both, region, row and slice of from, row and slice of to. */
static cl_int CL_API_CALL record_copy_rect(cl_command_buffer_khr b, cl_command_queue q, slot s0,
                                           slot s1, slot s2, slot s3, slot s4, slot s5, slot s6,
                                           slot s7, slot s8, slot s9, slot s10, slot s11, slot s12,
                                           slot s13) {
    const slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13};
    const call c = call_of_buffers(b, q, s, 2, 9);
    if (c.bad) return c.bad;
    const slot *own = c.own;
    const cl_mem both[] = {(cl_mem)own[0], (cl_mem)own[1]};
    const ocl_request r = request(&c, CL_COMMAND_COPY_BUFFER_RECT, both, 2);
    return ocl_copy_rect(&r, (ocl_shape){(const size_t *)own[2], own[5], own[6]},
                         (ocl_shape){(const size_t *)own[3], own[7], own[8]},
                         (const size_t *)own[4]);
}

/* Own: buffer, pattern and its size, offset, size. */
static cl_int CL_API_CALL record_fill(cl_command_buffer_khr b, cl_command_queue q, slot s0, slot s1,
                                      slot s2, slot s3, slot s4, slot s5, slot s6, slot s7, slot s8,
                                      slot s9) {
    const slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
    const call c = call_of_buffers(b, q, s, 1, 5);
    if (c.bad) return c.bad;
    const cl_mem m = (cl_mem)c.own[0];
    const ocl_request r = request(&c, CL_COMMAND_FILL_BUFFER, &m, 1);
    return ocl_fill(&r, (const void *)c.own[1], c.own[2], c.own[3], c.own[4]);
}

static cl_int CL_API_CALL record_kernel(cl_command_buffer_khr b, cl_command_queue q,
                                        const cl_properties *p, cl_kernel k, cl_uint dims,
                                        const size_t *offset, const size_t *global,
                                        const size_t *local, cl_uint n,
                                        const cl_sync_point_khr *list, cl_sync_point_khr *point,
                                        cl_mutable_command_khr *handle) {
    const slot s[] = {(slot)p, n, (slot)list, (slot)point, (slot)handle};
    cl_int bad = check_target(b, q);
    if (bad) return bad;
    const call c = read_call(b, s, 0);
    if (c.bad) return c.bad;
    const ocl_request r = request(&c, CL_COMMAND_NDRANGE_KERNEL, NULL, 0);
    return ocl_launch_kernel(&r, k, dims, offset, global, local);
}

/* Entries that this device did not have with version 0.9.4: all programs that call them pass the
 * newer form. */
static call call_of_memory(cl_command_buffer_khr b, cl_command_queue q, const slot *s,
                           unsigned count) {
    cl_int bad = check_target(b, q);
    if (bad) return (call){.bad = bad};
    b->form = OCL_FORM_NEWER;
    return read_call(b, s, count);
}

static cl_int CL_API_CALL record_memcpy(cl_command_buffer_khr b, cl_command_queue q,
                                        const cl_properties *p, void *target, const void *source,
                                        size_t size, cl_uint n, const cl_sync_point_khr *list,
                                        cl_sync_point_khr *point, cl_mutable_command_khr *handle) {
    const slot s[] = {(slot)p, n, (slot)list, (slot)point, (slot)handle};
    const call c = call_of_memory(b, q, s, 0);
    if (c.bad) return c.bad;
    const ocl_request r = request(&c, CL_COMMAND_SVM_MEMCPY, NULL, 0);
    return ocl_copy_svm(&r, target, source, size);
}

static cl_int CL_API_CALL record_memfill(cl_command_buffer_khr b, cl_command_queue q,
                                         const cl_properties *p, void *bytes, const void *pattern,
                                         size_t pattern_size, size_t size, cl_uint n,
                                         const cl_sync_point_khr *list, cl_sync_point_khr *point,
                                         cl_mutable_command_khr *handle) {
    const slot s[] = {(slot)p, n, (slot)list, (slot)point, (slot)handle};
    const call c = call_of_memory(b, q, s, 0);
    if (c.bad) return c.bad;
    const ocl_request r = request(&c, CL_COMMAND_SVM_MEMFILL, NULL, 0);
    return ocl_fill_svm_memory(&r, (rt_memory){bytes, size}, pattern, pattern_size);
}

void ocl_fill_command_record(ocl_entries *e) {
    ocl_add_extension(e, "clCommandBarrierWithWaitListKHR", (ocl_function)record_barrier);
    ocl_add_extension(e, "clCommandCopyBufferKHR", (ocl_function)record_copy);
    ocl_add_extension(e, "clCommandCopyBufferRectKHR", (ocl_function)record_copy_rect);
    ocl_add_extension(e, "clCommandFillBufferKHR", (ocl_function)record_fill);
    ocl_add_extension(e, "clCommandNDRangeKernelKHR", (ocl_function)record_kernel);
    ocl_add_extension(e, "clCommandSVMMemcpyKHR", (ocl_function)record_memcpy);
    ocl_add_extension(e, "clCommandSVMMemFillKHR", (ocl_function)record_memfill);
}
