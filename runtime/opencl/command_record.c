/* command_record.c — the entries that record commands in a command buffer.
 *
 * Each entry checks what all of them are given, then calls the function that also enqueues such a
 * command.  That function gets a request that says where to record; its command becomes a part of
 * the command buffer then, instead of a queue (event.c).
 *
 * Entries that programs call in two forms take their arguments as slots (command_form.c).
 */
#include "runtime/opencl/ocl.h"

/* ----------------------------------------------------------------------------- what a call says */

typedef struct {
    ocl_recording to;
    const ocl_slot *own; /* arguments that only this command has */
} call;

static cl_int check_target(cl_command_buffer_khr b, cl_command_queue q) {
    if (!ocl_is(b, OCL_COMMAND_BUFFER)) return CL_INVALID_COMMAND_BUFFER_KHR;
    return q ? CL_INVALID_COMMAND_QUEUE : CL_SUCCESS; /* it has one queue, which is not named */
}

/* Slots of a call with so many arguments of its own. */
static cl_int read_slots(cl_command_buffer_khr b, ocl_form form, const ocl_slot *s, unsigned own,
                         call *out) {
    const cl_properties *properties = NULL;
    if (form == OCL_FORM_NEWER) properties = (const cl_properties *)*s++;
    const ocl_slot *rest = s + own; /* count, list, point, handle */
    *out = (call){.to = {.buffer = b,
                         .wait_count = (cl_uint)rest[0],
                         .wait = (const cl_sync_point_khr *)rest[1],
                         .point = (cl_sync_point_khr *)rest[2]},
                  .own = s};
    if (rest[3] || (properties && *properties)) return CL_INVALID_VALUE;
    return ocl_is_finalized(b) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

/* A call whose own arguments have told its form. */
static cl_int read_told(cl_command_buffer_khr b, ocl_form form, const ocl_slot *s, unsigned own,
                        call *out) {
    cl_int bad = read_slots(b, form, s, own, out);
    out->to.form = form;
    return bad;
}

/* A call whose own arguments begin with one or two buffers.  The target has been checked. */
static cl_int read_buffers(cl_command_buffer_khr b, const ocl_slot *s, unsigned buffers,
                           unsigned own, call *out) {
    ocl_form form = ocl_form_of_buffers(b, s, buffers);
    return form ? read_told(b, form, s, own, out) : CL_INVALID_MEM_OBJECT;
}

/* A call whose own arguments begin with two addresses and a size. */
static cl_int read_memory(cl_command_buffer_khr b, cl_command_queue q, const ocl_slot *s,
                          unsigned own, call *out) {
    cl_int bad = check_target(b, q);
    if (bad) return bad;
    ocl_form form = ocl_form_of_memory(b, s, own);
    return form ? read_told(b, form, s, own, out) : CL_INVALID_VALUE;
}

static ocl_request request(const call *c, cl_command_type type, const cl_mem *mems, size_t count) {
    return (ocl_request){.queue = c->to.buffer->queue,
                         .type = type,
                         .mems = mems,
                         .mem_count = count,
                         .recording = &c->to};
}

/* ------------------------------------------------------------------------- entries of two forms */

static cl_int CL_API_CALL record_barrier(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                         ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4};
    call c;
    cl_int bad = check_target(b, q);
    if (bad) return bad;
    ocl_form form = ocl_form_of_barrier(b, s);
    bad = form ? read_slots(b, form, s, 0, &c) : CL_INVALID_VALUE;
    if (!bad) bad = ocl_check_sync_points(&c.to);
    return bad ? bad : ocl_record(&c.to, NULL);
}

/* Own: from, to, offset in from, offset in to, size. */
static cl_int CL_API_CALL record_copy(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                      ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4,
                                      ocl_slot s5, ocl_slot s6, ocl_slot s7, ocl_slot s8,
                                      ocl_slot s9) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
    call c;
    cl_int bad = check_target(b, q);
    if (!bad) bad = read_buffers(b, s, 2, 5, &c);
    if (bad) return bad;
    const cl_mem both[] = {(cl_mem)c.own[0], (cl_mem)c.own[1]};
    const ocl_request r = request(&c, CL_COMMAND_COPY_BUFFER, both, 2);
    return ocl_copy(&r, c.own[2], c.own[3], c.own[4]);
}

/* Own: from, to, origin in from, origin in to, region, row and slice of from, row and slice of
 * to. */
static cl_int CL_API_CALL record_copy_rect(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                           ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4,
                                           ocl_slot s5, ocl_slot s6, ocl_slot s7, ocl_slot s8,
                                           ocl_slot s9, ocl_slot s10, ocl_slot s11, ocl_slot s12,
                                           ocl_slot s13) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13};
    call c;
    cl_int bad = check_target(b, q);
    if (!bad) bad = read_buffers(b, s, 2, 9, &c);
    if (bad) return bad;
    const ocl_slot *own = c.own;
    const cl_mem both[] = {(cl_mem)own[0], (cl_mem)own[1]};
    const ocl_shape from = {(const size_t *)own[2], own[5], own[6]};
    const ocl_shape to = {(const size_t *)own[3], own[7], own[8]};
    const ocl_request r = request(&c, CL_COMMAND_COPY_BUFFER_RECT, both, 2);
    return ocl_copy_rect(&r, from, to, (const size_t *)own[4]);
}

/* Own: buffer, pattern, size of the pattern, offset, size. */
static cl_int CL_API_CALL record_fill(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                      ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4,
                                      ocl_slot s5, ocl_slot s6, ocl_slot s7, ocl_slot s8,
                                      ocl_slot s9) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9};
    call c;
    cl_int bad = check_target(b, q);
    if (!bad) bad = read_buffers(b, s, 1, 5, &c);
    if (bad) return bad;
    const cl_mem m = (cl_mem)c.own[0];
    const ocl_request r = request(&c, CL_COMMAND_FILL_BUFFER, &m, 1);
    return ocl_fill(&r, (const void *)c.own[1], c.own[2], c.own[3], c.own[4]);
}

/* Own: target, source, size. */
static cl_int CL_API_CALL record_memcpy(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                        ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4,
                                        ocl_slot s5, ocl_slot s6, ocl_slot s7) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7};
    call c;
    cl_int bad = read_memory(b, q, s, 3, &c);
    if (bad) return bad;
    const ocl_request r = request(&c, CL_COMMAND_SVM_MEMCPY, NULL, 0);
    return ocl_copy_svm(&r, (void *)c.own[0], (const void *)c.own[1], c.own[2]);
}

/* Own: target, pattern, size of the pattern, size. */
static cl_int CL_API_CALL record_memfill(cl_command_buffer_khr b, cl_command_queue q, ocl_slot s0,
                                         ocl_slot s1, ocl_slot s2, ocl_slot s3, ocl_slot s4,
                                         ocl_slot s5, ocl_slot s6, ocl_slot s7, ocl_slot s8) {
    const ocl_slot s[] = {s0, s1, s2, s3, s4, s5, s6, s7, s8};
    call c;
    cl_int bad = read_memory(b, q, s, 4, &c);
    if (bad) return bad;
    const ocl_area to = {(void *)c.own[0], c.own[3]};
    const ocl_request r = request(&c, CL_COMMAND_SVM_MEMFILL, NULL, 0);
    return ocl_fill_svm_memory(&r, to, (const void *)c.own[1], c.own[2]);
}

/* ------------------------------------------------------------------------ the entry of one form */

/* Older headers have the list of properties, too. */
static cl_int CL_API_CALL record_kernel(cl_command_buffer_khr b, cl_command_queue q,
                                        const cl_properties *p, cl_kernel k, cl_uint dims,
                                        const size_t *offset, const size_t *global,
                                        const size_t *local, cl_uint n,
                                        const cl_sync_point_khr *list, cl_sync_point_khr *point,
                                        cl_mutable_command_khr *handle) {
    ocl_recording to = {.buffer = b, .wait_count = n, .wait = list, .point = point};
    cl_int bad = check_target(b, q);
    if (bad) return bad;
    if (ocl_is_finalized(b)) return CL_INVALID_OPERATION;
    return ocl_record_kernel(&to, p, k, (ocl_ndrange){dims, offset, global, local}, handle);
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
