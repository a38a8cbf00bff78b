/* check_calls.c — calls that make, keep and give back objects, looked at before and after they are
 * passed on: handles that are none, errors, and what the program has not given back at its end.
 */
#include "runtime/opencl/check.h"

cl_icd_dispatch ocl_plain;

/* ---------------------------------------------------------------------------------------- words */

const char *ocl_error_name(cl_int status) {
    static const struct {
        cl_int status;
        const char *name;
    } names[] = {
#define ERROR(name) {name, #name}
        ERROR(CL_DEVICE_NOT_FOUND),
        ERROR(CL_DEVICE_NOT_AVAILABLE),
        ERROR(CL_COMPILER_NOT_AVAILABLE),
        ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        ERROR(CL_OUT_OF_RESOURCES),
        ERROR(CL_OUT_OF_HOST_MEMORY),
        ERROR(CL_MEM_COPY_OVERLAP),
        ERROR(CL_BUILD_PROGRAM_FAILURE),
        ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        ERROR(CL_INVALID_VALUE),
        ERROR(CL_INVALID_PLATFORM),
        ERROR(CL_INVALID_DEVICE),
        ERROR(CL_INVALID_CONTEXT),
        ERROR(CL_INVALID_QUEUE_PROPERTIES),
        ERROR(CL_INVALID_COMMAND_QUEUE),
        ERROR(CL_INVALID_HOST_PTR),
        ERROR(CL_INVALID_MEM_OBJECT),
        ERROR(CL_INVALID_BINARY),
        ERROR(CL_INVALID_BUILD_OPTIONS),
        ERROR(CL_INVALID_PROGRAM),
        ERROR(CL_INVALID_PROGRAM_EXECUTABLE),
        ERROR(CL_INVALID_KERNEL_NAME),
        ERROR(CL_INVALID_KERNEL),
        ERROR(CL_INVALID_ARG_INDEX),
        ERROR(CL_INVALID_ARG_VALUE),
        ERROR(CL_INVALID_ARG_SIZE),
        ERROR(CL_INVALID_KERNEL_ARGS),
        ERROR(CL_INVALID_WORK_DIMENSION),
        ERROR(CL_INVALID_WORK_GROUP_SIZE),
        ERROR(CL_INVALID_WORK_ITEM_SIZE),
        ERROR(CL_INVALID_GLOBAL_OFFSET),
        ERROR(CL_INVALID_EVENT_WAIT_LIST),
        ERROR(CL_INVALID_EVENT),
        ERROR(CL_INVALID_OPERATION),
        ERROR(CL_INVALID_BUFFER_SIZE),
        ERROR(CL_INVALID_GLOBAL_WORK_SIZE),
        ERROR(CL_INVALID_PROPERTY),
#undef ERROR
    };
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
        if (names[n].status == status) return names[n].name;
    return "an error";
}

cl_int ocl_check_result(const char *call, cl_int status, const char *why) {
    if (status != CL_SUCCESS)
        ocl_say_call("call", IR_ERROR, "%s fails with %s%s%s", call, ocl_error_name(status),
                     why && *why ? ": " : "", why ? why : "");
    return status;
}

/* -------------------------------------------------------------------------------------- handles */

void ocl_check_handle(const char *call, const void *handle, ocl_kind kind) {
    const ocl_made *r = handle ? ocl_find_made(handle) : NULL;
    if (r && r->refs && r->kind == kind) return;
    if (!r) return; /* what the call says of it */
    if (r->refs)
        ocl_say_call("handle", IR_ERROR, "%s is given %s in the place of another object", call,
                     ocl_name_of(r));
    else
        ocl_say_call("released", IR_ERROR, "%s is given %s, which has been released", call,
                     ocl_name_of(r));
}

static bool is_alive(const void *handle) {
    const ocl_made *r = handle ? ocl_find_made(handle) : NULL;
    return !r || r->refs;
}

static void retain(const void *handle) {
    ocl_made *r = ocl_find_made(handle);
    if (r) r->refs++;
}

static void release(const void *handle) {
    ocl_made *r = ocl_find_made(handle);
    if (r && r->refs) r->refs--;
}

/* A handle that has been given back is not looked at by what follows. */
#define COUNTED(Name, type, KIND, INVALID)                                                         \
    static cl_int CL_API_CALL check_retain_##Name(type handle) {                                   \
        ocl_check_handle("clRetain" #Name, handle, KIND);                                          \
        if (!is_alive(handle)) return INVALID;                                                     \
        cl_int status = ocl_plain.clRetain##Name(handle);                                          \
        if (status == CL_SUCCESS) retain(handle);                                                  \
        return ocl_check_result("clRetain" #Name, status, NULL);                                   \
    }                                                                                              \
    static cl_int CL_API_CALL check_release_##Name(type handle) {                                  \
        ocl_check_handle("clRelease" #Name, handle, KIND);                                         \
        if (!is_alive(handle)) return INVALID;                                                     \
        before_release(handle, KIND);                                                              \
        cl_int status = ocl_plain.clRelease##Name(handle);                                         \
        if (status == CL_SUCCESS) release(handle);                                                 \
        return ocl_check_result("clRelease" #Name, status, NULL);                                  \
    }

static void before_release(const void *handle, ocl_kind kind) {
    const ocl_made *r = ocl_find_made(handle);
    if (kind == OCL_MEM && r && r->refs == 1 && r->maps)
        ocl_say_call("mapped", IR_WARNING, "%s is released while it is mapped", ocl_name_of(r));
}

COUNTED(Context, cl_context, OCL_CONTEXT, CL_INVALID_CONTEXT)
COUNTED(CommandQueue, cl_command_queue, OCL_QUEUE, CL_INVALID_COMMAND_QUEUE)
COUNTED(MemObject, cl_mem, OCL_MEM, CL_INVALID_MEM_OBJECT)
COUNTED(Program, cl_program, OCL_PROGRAM, CL_INVALID_PROGRAM)
COUNTED(Kernel, cl_kernel, OCL_KERNEL, CL_INVALID_KERNEL)
COUNTED(Event, cl_event, OCL_EVENT, CL_INVALID_EVENT)

/* ------------------------------------------------------------------------------------- creation */

/* What a call has made, or a fault; *error is as the program has it, or NULL. */
static ocl_made *note(const char *call, const void *handle, ocl_kind kind, cl_int status) {
    if (handle) return ocl_note_made(handle, kind, call);
    ocl_count_call(call);
    ocl_check_result(call, status, NULL);
    return NULL;
}

#define MAKES(call, KIND, INVOKE)                                                                  \
    cl_int status = CL_SUCCESS;                                                                    \
    void *made = ocl_plain.INVOKE;                                                                 \
    note(#call, made, KIND, status);                                                               \
    if (error) *error = status;                                                                    \
    return made

typedef void CL_CALLBACK context_notify(const char *info, const void *data, size_t size,
                                        void *user);

static cl_context CL_API_CALL create_context(const cl_context_properties *p, cl_uint n,
                                             const cl_device_id *d, context_notify *f, void *user,
                                             cl_int *error) {
    MAKES(clCreateContext, OCL_CONTEXT, clCreateContext(p, n, d, f, user, &status));
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *p,
                                                       cl_device_type type, context_notify *f,
                                                       void *user, cl_int *error) {
    MAKES(clCreateContextFromType, OCL_CONTEXT, clCreateContextFromType(p, type, f, user, &status));
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id d,
                                                 cl_command_queue_properties p, cl_int *error) {
    ocl_check_handle("clCreateCommandQueue", c, OCL_CONTEXT);
    MAKES(clCreateCommandQueue, OCL_QUEUE, clCreateCommandQueue(c, d, p, &status));
}

static cl_command_queue CL_API_CALL create_queue_with(cl_context c, cl_device_id d,
                                                      const cl_queue_properties *p, cl_int *error) {
    ocl_check_handle("clCreateCommandQueueWithProperties", c, OCL_CONTEXT);
    MAKES(clCreateCommandQueueWithProperties, OCL_QUEUE,
          clCreateCommandQueueWithProperties(c, d, p, &status));
}

static cl_program CL_API_CALL create_from_source(cl_context c, cl_uint n, const char **text,
                                                 const size_t *lengths, cl_int *error) {
    MAKES(clCreateProgramWithSource, OCL_PROGRAM,
          clCreateProgramWithSource(c, n, text, lengths, &status));
}

static cl_program CL_API_CALL create_from_il(cl_context c, const void *il, size_t n,
                                             cl_int *error) {
    MAKES(clCreateProgramWithIL, OCL_PROGRAM, clCreateProgramWithIL(c, il, n, &status));
}

static cl_program CL_API_CALL create_from_binary(cl_context c, cl_uint n, const cl_device_id *d,
                                                 const size_t *lengths,
                                                 const unsigned char **binaries, cl_int *each,
                                                 cl_int *error) {
    MAKES(clCreateProgramWithBinary, OCL_PROGRAM,
          clCreateProgramWithBinary(c, n, d, lengths, binaries, each, &status));
}

typedef void CL_CALLBACK program_notify(cl_program p, void *user);

static cl_program CL_API_CALL link_program(cl_context c, cl_uint n, const cl_device_id *d,
                                           const char *options, cl_uint inputs,
                                           const cl_program *list, program_notify *f, void *user,
                                           cl_int *error) {
    MAKES(clLinkProgram, OCL_PROGRAM,
          clLinkProgram(c, n, d, options, inputs, list, f, user, &status));
}

static cl_kernel CL_API_CALL create_kernel(cl_program p, const char *name, cl_int *error) {
    cl_int status = CL_SUCCESS;
    char why[200];
    ocl_check_handle("clCreateKernel", p, OCL_PROGRAM);
    cl_kernel k = ocl_plain.clCreateKernel(p, name, &status);
    snprintf(why, sizeof why, "kernel '%.100s'", name ? name : "");
    if (k)
        ocl_note_made(k, OCL_KERNEL, "clCreateKernel");
    else
        ocl_check_result("clCreateKernel", status, why);
    if (error) *error = status;
    return k;
}

static cl_int CL_API_CALL create_kernels(cl_program p, cl_uint room, cl_kernel *list,
                                         cl_uint *count) {
    cl_uint n = 0;
    cl_int status = ocl_plain.clCreateKernelsInProgram(p, room, list, &n);
    for (cl_uint k = 0; list && !status && k < n; k++)
        ocl_note_made(list[k], OCL_KERNEL, "clCreateKernelsInProgram");
    if (count) *count = n;
    return ocl_check_result("clCreateKernelsInProgram", status, NULL);
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel k, cl_int *error) {
    MAKES(clCloneKernel, OCL_KERNEL, clCloneKernel(k, &status));
}

static cl_event CL_API_CALL create_user_event(cl_context c, cl_int *error) {
    MAKES(clCreateUserEvent, OCL_EVENT, clCreateUserEvent(c, &status));
}

static cl_int CL_API_CALL build_program(cl_program p, cl_uint n, const cl_device_id *d,
                                        const char *options, program_notify *f, void *user) {
    ocl_check_handle("clBuildProgram", p, OCL_PROGRAM);
    return ocl_check_result("clBuildProgram", ocl_plain.clBuildProgram(p, n, d, options, f, user),
                            "the build log says why");
}

/* -------------------------------------------------------------------------------------- buffers */

/* From now on, what kernels do with the buffer is looked at. */
static void look_after(cl_mem m, const char *call, bool has_contents) {
    ocl_made *r = ocl_note_made(m, OCL_MEM, call);
    if (r) r->size = m->memory.size;
    m->checked = ocl_check_wrap(&(rt_check_memory){
        .host = m->memory.bytes,
        .size = m->memory.size,
        .flags = (m->flags & CL_MEM_READ_ONLY ? CHECK_BUFFER_READ_ONLY : 0u) |
                 (m->has_address ? CHECK_BUFFER_AT_HOST : 0u),
        .undefined = !has_contents,
        .origin = r ? ocl_name_of(r) : call,
    });
}

static void explain_buffer(const char *call, cl_int status, size_t size) {
    char why[80];
    ocl_count_call(call);
    snprintf(why, sizeof why, "the buffer is to have %zu bytes", size);
    ocl_check_result(call, status, why);
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host,
                                        cl_int *error) {
    cl_int status = CL_SUCCESS;
    ocl_check_handle("clCreateBuffer", c, OCL_CONTEXT);
    cl_mem m = ocl_plain.clCreateBuffer(c, flags, size, host, &status);
    if (m)
        look_after(m, "clCreateBuffer", host);
    else
        explain_buffer("clCreateBuffer", status, size);
    if (error) *error = status;
    return m;
}

static cl_mem CL_API_CALL create_buffer_with(cl_context c, const cl_mem_properties *p,
                                             cl_mem_flags flags, size_t size, void *host,
                                             cl_int *error) {
    cl_int status = CL_SUCCESS;
    cl_mem m = ocl_plain.clCreateBufferWithProperties(c, p, flags, size, host, &status);
    if (m)
        look_after(m, "clCreateBufferWithProperties", host);
    else
        explain_buffer("clCreateBufferWithProperties", status, size);
    if (error) *error = status;
    return m;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem m, cl_mem_flags flags,
                                            cl_buffer_create_type type, const void *info,
                                            cl_int *error) {
    cl_int status = CL_SUCCESS;
    ocl_check_handle("clCreateSubBuffer", m, OCL_MEM);
    cl_mem part = ocl_plain.clCreateSubBuffer(m, flags, type, info, &status);
    ocl_made *r = note("clCreateSubBuffer", part, OCL_MEM, status);
    if (r) r->size = part->memory.size;
    if (error) *error = status;
    return part;
}

/* ------------------------------------------------------------ shared memory (allocation.c asks) */

static const char *call_of(cl_unified_shared_memory_type_intel type) {
    switch (type) {
    case CL_MEM_TYPE_HOST_INTEL: return "clHostMemAllocINTEL";
    case CL_MEM_TYPE_DEVICE_INTEL: return "clDeviceMemAllocINTEL";
    case CL_MEM_TYPE_SHARED_INTEL: return "clSharedMemAllocINTEL";
    default: return "clSVMAlloc";
    }
}

/* The host may write at any time where it has access: nothing is undefined there. */
rt_memory *ocl_check_shared(ocl_area memory, cl_unified_shared_memory_type_intel type) {
    if (!ocl_is_checking()) return NULL;
    ocl_made *r = ocl_note_made(memory.bytes, OCL_NOTHING, call_of(type));
    if (r) r->size = memory.size;
    return ocl_check_wrap(&(rt_check_memory){.host = memory.bytes,
                                             .size = memory.size,
                                             .flags = CHECK_BUFFER_AT_HOST,
                                             .undefined = type == CL_MEM_TYPE_DEVICE_INTEL,
                                             .origin = r ? ocl_name_of(r) : call_of(type)});
}

void ocl_forget_shared(rt_memory *checked, const void *bytes) {
    if (!checked) return;
    release(bytes);
    rt_shared_release(&ocl_device()->shared, checked);
}

static void CL_API_CALL svm_free(cl_context c, void *p) {
    const ocl_made *r = p ? ocl_find_made(p) : NULL;
    if (r && !r->refs)
        ocl_say_call("released", IR_ERROR, "clSVMFree is given %s, which has been freed",
                     ocl_name_of(r));
    else if (p && !r)
        ocl_say_call("handle", IR_ERROR, "clSVMFree is given memory that clSVMAlloc has not made");
    ocl_plain.clSVMFree(c, p);
}

/* --------------------------------------------------------------------------------------- leaks */

static void say_if_left(ocl_made *r) {
    if (!r->refs) return;
    ocl_say_call("leak", IR_WARNING, "%s is never released%s", ocl_name_of(r),
                 r->kind == OCL_MEM && r->maps ? ", and is still mapped" : "");
}

void ocl_say_left(void) { ocl_each_made(say_if_left); }

void ocl_fill_check_calls(ocl_entries *e) {
    cl_icd_dispatch *c = &e->core;
#define BOTH(Name)                                                                                 \
    (c->clRetain##Name = check_retain_##Name, c->clRelease##Name = check_release_##Name)
    BOTH(Context);
    BOTH(CommandQueue);
    BOTH(MemObject);
    BOTH(Program);
    BOTH(Kernel);
    BOTH(Event);
    c->clCreateContext = create_context;
    c->clCreateContextFromType = create_context_from_type;
    c->clCreateCommandQueue = create_queue;
    c->clCreateCommandQueueWithProperties = create_queue_with;
    c->clCreateProgramWithSource = create_from_source;
    c->clCreateProgramWithIL = create_from_il;
    c->clCreateProgramWithBinary = create_from_binary;
    c->clLinkProgram = link_program;
    c->clBuildProgram = build_program;
    c->clCreateKernel = create_kernel;
    c->clCreateKernelsInProgram = create_kernels;
    c->clCloneKernel = clone_kernel;
    c->clCreateUserEvent = create_user_event;
    c->clCreateBuffer = create_buffer;
    c->clCreateBufferWithProperties = create_buffer_with;
    c->clCreateSubBuffer = create_sub_buffer;
    c->clSVMFree = svm_free;
}
