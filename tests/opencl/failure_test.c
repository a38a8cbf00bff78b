/* failure_test.c — every allocation of memory fails in turn: entries say so, and have done nothing.
 */
#define CL_ENABLE_BETA_EXTENSIONS
#include "tests/opencl/buffers.h"
#include "tests/opencl/module.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/usm.h"
#include "tests/short_memory.h"
#include "tests/temporary.h"

#include <dirent.h>
#include <sys/stat.h>

TestSuite(failure, .init = begin_buffers, .fini = end_buffers);

/* Gives CL_SUCCESS and has undone what it did, or what went wrong. */
typedef cl_int operation(void *user);

/* Until nothing has failed. */
static int fail_one_by_one(operation *o, void *user, cl_uint maps) {
    cl_int status;
    int n = 0;
    do {
        has_failed = false;
        left = n++;
        status = o(user);
        left = -1;
        cr_expect(status == CL_SUCCESS || status == CL_OUT_OF_HOST_MEMORY ||
                  status == CL_MEM_OBJECT_ALLOCATION_FAILURE);
        TELLS(cl_uint, maps, clGetMemObjectInfo, buffer, CL_MEM_MAP_COUNT);
    } while (has_failed && n < 10000);
    cr_expect_eq(status, CL_SUCCESS);
    return n;
}

/* The operation with every allocation failing from the nth on, then with only the nth failing. */
static void fail_each(operation *o, void *user, cl_uint maps) {
    fails_once = false;
    cr_expect_eq(fail_one_by_one(o, user, maps) > 1, CAN_FAIL);
    fails_once = true;
    fail_one_by_one(o, user, maps);
}

/* Ends an operation that enqueues: the queue gives everything back when it is empty. */
static cl_int finish(cl_int status) {
    clFinish(ocl.queue);
    return status;
}

static cl_int create(void *user) {
    cl_mem m = clCreateBuffer(ocl.context, user ? CL_MEM_USE_HOST_PTR : 0, 16, user, &error);
    if (m) clReleaseMemObject(m);
    return error;
}

static cl_int create_part(void *user) {
    const cl_buffer_region r = {128, 16};
    cl_mem m = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error);
    (void)user;
    if (m) clReleaseMemObject(m);
    return error;
}

static void CL_CALLBACK nothing(cl_mem m, void *user) { (void)m, (void)user; }

static cl_int set_destructor(void *user) {
    return clSetMemObjectDestructorCallback(buffer, nothing, user);
}

Test(failure, objects) {
    char host[16];
    fail_each(create, NULL, 0);
    fail_each(create, host, 0);
    fail_each(create_part, NULL, 0);
    fail_each(set_destructor, NULL, 0);
}

static cl_int read_some(void *user) {
    return finish(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 16, user, 0, NULL, NULL));
}

static cl_int copy(void *user) {
    (void)user;
    return finish(clEnqueueCopyBuffer(ocl.queue, buffer, buffer, 0, 64, 16, 0, NULL, NULL));
}

static cl_int fill(void *user) {
    return finish(clEnqueueFillBuffer(ocl.queue, buffer, user, 1, 0, 16, 0, NULL, NULL));
}

static cl_int migrate(void *user) {
    (void)user;
    return finish(clEnqueueMigrateMemObjects(ocl.queue, 1, &buffer, 0, 0, NULL, NULL));
}

Test(failure, transfers) {
    char host[16] = "";
    fail_each(read_some, host, 0);
    fail_each(copy, NULL, 0);
    fail_each(fill, host, 0);
    fail_each(migrate, NULL, 0);
}

static cl_int map(void *user) {
    *(void **)user = clEnqueueMapBuffer(ocl.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 0, NULL,
                                        NULL, &error);
    if (error) return error;
    left = -1;
    return clEnqueueUnmapMemObject(ocl.queue, buffer, *(void **)user, 0, NULL, NULL);
}

/* Mapped again as long as it fails. */
static cl_int unmap(void *user) {
    cl_int status = clEnqueueUnmapMemObject(ocl.queue, buffer, *(void **)user, 0, NULL, NULL);
    left = -1;
    if (!status)
        clEnqueueMapBuffer(ocl.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 0, NULL, NULL,
                           &error);
    return status;
}

Test(failure, mappings) {
    void *p;
    fail_each(map, &p, 0);
    p = MAKE(clEnqueueMapBuffer(ocl.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 0, NULL, NULL,
                                &error));
    fail_each(unmap, &p, 1);
    SUCCEEDS(clEnqueueUnmapMemObject(ocl.queue, buffer, p, 0, NULL, NULL));
}

static cl_int allocate_shared(void *user) {
    void *p = clSVMAlloc(ocl.context, 0, 16, 0);
    (void)user;
    clSVMFree(ocl.context, p);
    return p ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int copy_shared(void *user) {
    char from[16] = "";
    return finish(clEnqueueSVMMemcpy(ocl.queue, CL_TRUE, user, from, 16, 0, NULL, NULL));
}

static cl_int free_shared(void *user) {
    return finish(clEnqueueSVMFree(ocl.queue, 1, &user, NULL, NULL, 0, NULL, NULL));
}

Test(failure, shared_memory) {
    fail_each(allocate_shared, NULL, 0);
    void *p = clSVMAlloc(ocl.context, 0, 16, 0);
    fail_each(copy_shared, p, 0);
    fail_each(free_shared, p, 0);
}

static cl_int allocate_unified(void *user) {
    void *p = usm.shared_alloc(ocl.context, user, NULL, 16, 1024, &error);
    if (p) cr_expect_eq(usm.free(ocl.context, p), CL_SUCCESS);
    return error;
}

/* What could not be freed is there still. */
static cl_int free_unified(void *user) {
    cl_int status = usm.blocking_free(ocl.context, *(void **)user);
    left = -1;
    if (!status) *(void **)user = usm.host_alloc(ocl.context, NULL, 16, 0, NULL);
    return status;
}

static cl_int allocate_host(void *user) {
    void *p = usm.host_alloc(ocl.context, user, 16, 0, &error);
    if (p) cr_expect_eq(usm.free(ocl.context, p), CL_SUCCESS);
    return error;
}

static cl_int allocate_device(void *user) {
    void *p = usm.device_alloc(ocl.context, ocl.device, user, 16, 0, &error);
    if (p) cr_expect_eq(usm.free(ocl.context, p), CL_SUCCESS);
    return error;
}

static cl_int set_unified(void *user) {
    return finish(usm.set(ocl.queue, *(void **)user, 1, 16, 0, NULL, NULL));
}

static cl_int fill_unified(void *user) {
    return finish(usm.fill(ocl.queue, *(void **)user, "ab", 2, 16, 0, NULL, NULL));
}

static cl_int copy_unified(void *user) {
    char *p = *(char **)user;
    return finish(usm.copy(ocl.queue, CL_FALSE, p, p + 8, 8, 0, NULL, NULL));
}

static cl_int migrate_unified(void *user) {
    return finish(usm.migrate(ocl.queue, *(void **)user, 16, 0, 0, NULL, NULL));
}

static cl_int advise_unified(void *user) {
    return finish(usm.advise(ocl.queue, *(void **)user, 16, 0, 0, NULL, NULL));
}

Test(failure, unified_memory) {
    cr_assert(find_usm(ocl.platform));
    fail_each(allocate_unified, NULL, 0);
    fail_each(allocate_host, NULL, 0);
    fail_each(allocate_device, NULL, 0);
    void *p = MAKE(usm.host_alloc(ocl.context, NULL, 16, 0, &error));
    fail_each(set_unified, &p, 0);
    fail_each(fill_unified, &p, 0);
    fail_each(copy_unified, &p, 0);
    fail_each(migrate_unified, &p, 0);
    fail_each(advise_unified, &p, 0);
    fail_each(free_unified, &p, 0);
    SUCCEEDS(usm.free(ocl.context, p));
}

static cl_int create_context(void *user) {
    cl_context c = clCreateContext(user, 1, &ocl.device, NULL, NULL, &error);
    if (c) clReleaseContext(c);
    return error;
}

static cl_int create_queue(void *user) {
    cl_command_queue q = clCreateCommandQueueWithProperties(ocl.context, ocl.device, user, &error);
    if (q) clReleaseCommandQueue(q);
    return error;
}

static void CL_CALLBACK context_nothing(cl_context c, void *user) { (void)c, (void)user; }

static cl_int set_context_destructor(void *user) {
    return clSetContextDestructorCallback(ocl.context, context_nothing, user);
}

Test(failure, contexts_and_queues) {
    fail_each(create_context, NULL, 0);
    fail_each(set_context_destructor, NULL, 0);
    fail_each(create_queue, NULL, 0);
}

/* --------------------------------------------------------------------------------------- events */

static cl_int create_event(void *user) {
    cl_event e = clCreateUserEvent(ocl.context, &error);
    (void)user;
    if (e) clReleaseEvent(e);
    return error;
}

static _Atomic unsigned calls;

static void CL_CALLBACK count_call(cl_event e, cl_int status, void *user) {
    (void)e, (void)status, (void)user;
    calls++;
}

static cl_int set_callback(void *user) {
    return clSetEventCallback(user, CL_COMPLETE, count_call, NULL);
}

static cl_int mark(void *user) {
    return finish(clEnqueueMarkerWithWaitList(ocl.queue, user ? 20 : 0, user, NULL));
}

Test(failure, events) {
    cl_event e = user_event(), list[20];
    for (int k = 0; k < 20; k++) list[k] = e;
    fail_each(create_event, NULL, 0);
    fail_each(set_callback, e, 0);
    SUCCEEDS(clSetUserEventStatus(e, CL_COMPLETE));
    cr_expect_eq(calls, 2);
    fail_each(set_callback, e, 0);
    cr_expect_eq(calls, 4);
    fail_each(mark, NULL, 0);
    fail_each(mark, list, 0);
    SUCCEEDS(clReleaseEvent(e));
}

/* ------------------------------------------------------------------------------------- programs */

static cl_program made_of(cl_program p) {
    if (p) clReleaseProgram(p);
    return p;
}

static cl_int create_program(void *user) {
    const char *source = user;
    made_of(clCreateProgramWithSource(ocl.context, 1, &source, NULL, &error));
    return error;
}

static cl_int create_il(void *user) {
    (void)user;
    made_of(clCreateProgramWithIL(ocl.context, words, nwords * 4, &error));
    return error;
}

static cl_int set_spec(void *user) {
    const cl_int value = 30;
    return clSetProgramSpecializationConstant(user, 7, sizeof value, &value);
}

static cl_int build_it(void *user) { return clBuildProgram(user, 0, NULL, "-w", NULL, NULL); }

static cl_int compile_it(void *user) {
    return clCompileProgram(user, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL);
}

static cl_int link_it(void *user) {
    cl_program p = user;
    made_of(clLinkProgram(ocl.context, 0, NULL, NULL, 1, &p, NULL, NULL, &error));
    return error;
}

Test(failure, programs) {
    char source[] = "kernel void k() {}";
    cl_program p = make_il();
    fail_each(create_program, source, 0);
    fail_each(create_il, NULL, 0);
    fail_each(set_spec, p, 0);
    fail_each(build_it, p, 0);
    cr_expect_eq(result_of(p, "k"), 30);
    fail_each(compile_it, p, 0);
    fail_each(link_it, p, 0);
    SUCCEEDS(clReleaseProgram(p));
}

/* What a program was made from is still there when a build has failed. */
Test(failure, binaries) {
    cl_program p = make_il();
    build(p, NULL);
    p = through_binary(p);
    fail_each(build_it, p, 0);
    cr_expect_eq(result_of(p, "k"), 5);
    SUCCEEDS(clReleaseProgram(p));
}

/* A compiler that gives the same module for every source. */
static char folder[TEMPORARY_NAME];

static void begin_compiler(void) {
    char name[TEMPORARY_NAME + 20], text[2 * TEMPORARY_NAME];
    cr_assert(temporary_folder(folder));
    snprintf(name, sizeof name, "%s/module", folder);
    write_module();
    FILE *f = fopen(name, "w");
    cr_assert(f && fwrite(words, 4, nwords, f) == nwords && fclose(f) == 0);
    snprintf(text, sizeof text, "#!/bin/sh\nexec cat %s\n", name);
    snprintf(name, sizeof name, "%s/compiler", folder);
    f = fopen(name, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(name, 0700) == 0);
    setenv("SPVF_CLANG", name, 1);
}

static void begin_without_cache(void) {
    begin_compiler();
    setenv("SPVFUSE_CACHE", "0", 1);
    begin_buffers();
}

static void end_compiler(void) {
    char name[TEMPORARY_NAME + 300];
    const struct dirent *e;
    end_buffers();
    DIR *d = opendir(folder);
    while ((e = readdir(d))) {
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') unlink(name);
    }
    closedir(d);
    rmdir(folder);
}

static cl_int build_with_headers(void *user) {
    const char *names[] = {"a.h", "b \".h"};
    cl_program headers[] = {user, user};
    return clCompileProgram(user, 0, NULL, "-DX", 2, headers, names, NULL, NULL);
}

static void build_sources(void) {
    cl_program p = make_program("kernel void k(global int *out) {}");
    build(p, "-w"); /* the compiler is found */
    fail_each(build_it, p, 0);
    cr_expect_eq(result_of(p, "k"), 5);
    fail_each(build_with_headers, p, 0);
    SUCCEEDS(clReleaseProgram(p));
}

Test(failure_of_compilers, sources, .init = begin_without_cache, .fini = end_compiler) {
    build_sources();
}

static void begin_cache(void) {
    begin_compiler();
    unsetenv("SPVFUSE_CACHE");
    setenv("SPVFUSE_CACHE_DIR", folder, 1);
    begin_buffers();
}

Test(failure_of_compilers, sources_in_the_cache, .init = begin_cache, .fini = end_compiler) {
    build_sources();
}

/* ---------------------------------------------------------------------------- kernels, launches */

static cl_int create_kernel(void *user) {
    cl_kernel k = clCreateKernel(user, "k", &error);
    if (k) clReleaseKernel(k);
    return error;
}

static cl_int create_kernels(void *user) {
    cl_kernel k = NULL;
    cl_int status = clCreateKernelsInProgram(user, 1, &k, NULL);
    if (k) clReleaseKernel(k);
    return status;
}

static cl_int clone_kernel(void *user) {
    cl_kernel k = clCloneKernel(user, &error);
    if (k) clReleaseKernel(k);
    return error;
}

/* How the command ended counts too. */
static cl_int ended(cl_int status, const cl_event *done) {
    if (status) return status;
    if (clWaitForEvents(1, done)) status = event_status(*done);
    clReleaseEvent(*done);
    return status;
}

static cl_int launch(void *user) {
    const size_t one = 1;
    cl_event done;
    return ended(clEnqueueNDRangeKernel(ocl.queue, user, 1, NULL, &one, NULL, 0, NULL, &done),
                 &done);
}

static void CL_CALLBACK count_args(void *args) { calls += **(char **)args == (char)byte_at(0); }

static cl_int call(void *user) {
    const void *where[] = {user};
    cl_event done;
    return ended(clEnqueueNativeKernel(ocl.queue, count_args, user, sizeof(void *), 1, &buffer,
                                       where, 0, NULL, &done),
                 &done);
}

static cl_int suggest(void *user) {
    clGetKernelSuggestedLocalWorkSizeKHR_fn f;
    const size_t many = 1000;
    size_t size;
    find_entry("clGetKernelSuggestedLocalWorkSizeKHR", &f);
    return f(ocl.queue, user, 1, NULL, &many, &size);
}

/* The kernel is compiled by the first launch for which there is enough memory. */
Test(failure, launches) {
    cl_int got;
    void *args[1];
    cl_program p = make_il();
    cl_mem out = new_buffer(0);
    build(p, NULL);
    fail_each(create_kernel, p, 0);
    fail_each(create_kernels, p, 0);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    fail_each(clone_kernel, k, 0);
    fail_each(suggest, k, 0);
    fail_each(launch, k, 0);
    fail_each(call, args, 0);
    cr_expect_eq(calls, 2);
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    cr_expect_eq(got, 5);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------------ command buffers */

static cl_int record_and_run(void *user) {
    clCreateCommandBufferKHR_fn create_commands;
    clCommandNDRangeKernelKHR_fn record;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
    const size_t one = 1;
    find_entry("clCreateCommandBufferKHR", &create_commands);
    find_entry("clCommandNDRangeKernelKHR", &record);
    find_entry("clFinalizeCommandBufferKHR", &finalize);
    find_entry("clEnqueueCommandBufferKHR", &enqueue);
    find_entry("clReleaseCommandBufferKHR", &release);
    cl_command_buffer_khr b = create_commands(1, &ocl.queue, NULL, &error);
    if (!b) return error;
    cl_int status = CL_SUCCESS;
    for (int n = 0; n < 20 && !status; n++)
        status = record(b, NULL, NULL, user, 1, NULL, &one, NULL, 0, NULL, NULL, NULL);
    if (!status) status = finalize(b);
    if (!status) status = finish(enqueue(0, NULL, b, 0, NULL, NULL));
    release(b);
    return status;
}

Test(failure, command_buffers) {
    cl_program p = make_il();
    build(p, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof buffer, &buffer));
    fail_each(record_and_run, k, 0);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* ---------------------------------------------------------------------------------------- updates */

typedef struct {
    cl_command_buffer_khr commands;
    cl_kernel kernel;
    cl_mutable_command_khr handle;
    cl_mem out;
} update;

/* Its only argument is set anew. */
static cl_int change_argument(void *user) {
    update *u = user;
    const mutable_arg arg = {0, sizeof u->out, &u->out};
    return update_one(u->commands,
                      &(mutable_config){.command = u->handle, .num_args = 1, .arg_list = &arg});
}

static cl_int record_handle(void *user) {
    clCommandNDRangeKernelKHR_fn record;
    update *u = user;
    const size_t one = 1;
    find_entry("clCommandNDRangeKernelKHR", &record);
    return record(u->commands, NULL, NULL, u->kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
                  &u->handle);
}

/* After an update that failed the launch is what it was. */
Test(failure, updates) {
    clCreateCommandBufferKHR_fn create_commands;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
    const cl_command_buffer_properties_khr wanted[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                       CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
    cl_int got;
    cr_assert(find_mutable(ocl.platform));
    find_entry("clCreateCommandBufferKHR", &create_commands);
    find_entry("clFinalizeCommandBufferKHR", &finalize);
    find_entry("clEnqueueCommandBufferKHR", &enqueue);
    find_entry("clReleaseCommandBufferKHR", &release);
    cl_program p = make_il();
    build(p, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    update u = {.kernel = k,
                .out = new_buffer(0),
                .commands = MAKE(create_commands(1, &ocl.queue, wanted, &error))};
    SUCCEEDS(clSetKernelArg(k, 0, sizeof u.out, &u.out));
    fail_each(record_handle, &u, 0);
    SUCCEEDS(finalize(u.commands));
    fail_each(change_argument, &u, 0);
    SUCCEEDS(finish(enqueue(0, NULL, u.commands, 0, NULL, NULL)));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, u.out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    cr_expect_eq(got, 5);
    SUCCEEDS(release(u.commands));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(u.out));
    SUCCEEDS(clReleaseProgram(p));
}
