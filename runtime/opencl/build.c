/* build.c — the entries that build, compile and link.
 *
 * A build reads its options, claims the program, makes a binary and an executable from that, and
 * puts the results in.  It has ended when the entry returns; a callback is called before that.  The
 * program is not locked while the build is at work, but no other build of it can begin then.
 */
#include "runtime/devices/check/check_open.h"
#include "runtime/opencl/build.h"
#include "runtime/opencl/machine.h"
#include "runtime/system/process.h"

#include <stdlib.h>

typedef void CL_CALLBACK build_notify(cl_program p, void *user);

typedef struct {
    rt_build build;
    cl_program program;
    rt_clc_use use;
    cl_program_binary_type type; /* to be made */
    const char *text;            /* the options, and read */
    rt_clc_options options;
    const rt_clc_header *headers;
    size_t header_count;
    spvf_spec_value *specs;
    size_t spec_count;
    ocl_binary *inputs; /* of a link */
    ocl_code *codes;
    size_t input_count;
    ocl_binary binary;
    ocl_built *built;
} job;

/* ---------------------------------------------------------------------------------------- steps */

cl_int ocl_step(rt_build *b, void (*step)(void *arg), void *arg, cl_int failure) {
    spvf_status status = rt_guard(b->context, step, arg);
    return status == SPVF_OK             ? CL_SUCCESS
           : status == SPVF_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY
                                         : failure;
}

static void read_options(void *arg) {
    job *j = arg;
    if (!rt_clc_read_options(&j->build.arena, j->text, j->use, &j->options))
        ir_throw(&j->build.context->cx, IR_ERR_ARGUMENT);
    j->build.silent = j->options.silent;
    j->build.remarks = j->options.remarks;
    j->build.layout = j->options.layout;
    j->build.has_il = j->program->origin == OCL_FROM_IL;
    j->type = j->use == RT_CLC_FOR_BUILD     ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE
              : j->use == RT_CLC_FOR_COMPILE ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
              : j->options.library           ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                             : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

bool ocl_keeps_source(void) { return ocl_is_checking() || rt_setting_has(RT_ENV_JIT, "step"); }

/* Faults are those of the source, and in its lines; debuggers follow it, and profiles show it. */
static void compile_source(job *j, ocl_code *code) {
    const char *path = ocl_keep_source(&j->build.arena, j->program->source);
    code->steps = !j->options.optimize;
    if (ocl_keeps_source()) j->options.optimize = false;
    if (ocl_keeps_source() || path)
        *ir_push(&j->build.arena, &j->options.words) = ir_strdup(&j->build.arena, "-g");
    const rt_clc_source s = {.source = j->program->source,
                             .headers = j->headers,
                             .header_count = j->header_count,
                             .options = &j->options,
                             .name = path ? path : "program.cl",
                             .cache = path ? &rt_no_cache : ocl_cache(),
                             .seconds = rt_program_seconds()};
    code->il = rt_clc_compile(&j->build, rt_clc_find_toolchain(), &s, &code->il_size);
    if (ocl_keeps_source() || path) code->source = j->program->source;
    code->uniform |= j->options.is_c1; /* which has no groups that are smaller at the ends */
    code->arg_info = j->options.arg_info;
}

static void link_inputs(job *j, ocl_code *code) {
    bool library = j->type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
    code->il = ocl_link(&j->build, j->codes, j->input_count, library, &code->il_size);
    for (size_t k = 0; k < j->input_count; k++) {
        code->uniform |= j->codes[k].uniform;
        code->steps |= j->codes[k].steps;
        code->arg_info |= j->codes[k].arg_info;
    }
}

static void get_code(job *j, ocl_code *code) {
    const struct _cl_program *p = j->program;
    *code = (ocl_code){.il = NULL};
    switch (p->origin) {
    case OCL_FROM_SOURCE: compile_source(j, code); break;
    case OCL_FROM_LINK: link_inputs(j, code); break;
    case OCL_FROM_BINARY:
        ocl_decode(p->binary, p->binary_size, code);
        if (code->source) code->path = ocl_keep_source(&j->build.arena, code->source);
        break;
    case OCL_FROM_IL:
        code->il = p->il;
        code->il_size = p->il_size;
        code->specs = j->specs;
        code->spec_count = j->spec_count;
        code->arg_info = true;
        break;
    }
    code->type = j->type;
    code->uniform |= j->options.uniform;
}

/* What is not used now is read nevertheless: its mistakes come to light. */
static void make_all(void *arg) {
    job *j = arg;
    ocl_code code;
    get_code(j, &code);
    j->binary = ocl_encode(&code);
    if (!j->binary.bytes) ir_throw(&j->build.context->cx, IR_ERR_MEMORY);
    if (j->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        j->built = ocl_make_built(&j->build, &code);
    else
        spvf_module_destroy(ocl_load(&j->build, "program", &code));
    if (ocl_is_checking() && j->built && code.source)
        rt_check_set_source(j->built->native, code.source);
}

/* -------------------------------------------------------------------------------- begin and end */

static void replace(char **text, char *by) {
    free(*text);
    *text = by;
}

/* Before anything was built; a log, when there is one, is that of the program. */
static cl_int end(job *j, cl_int status) {
    char *log;
    rt_build_end(&j->build, false, &log);
    if (!log) return status;
    rt_lock_take(&j->program->lock);
    replace(&j->program->log, log);
    rt_lock_release(&j->program->lock);
    return status;
}

/* No other build of the program begins until it is given back; CL_INVALID_OPERATION. */
static cl_int claim(job *j) {
    cl_program p = j->program;
    cl_int status = CL_SUCCESS;
    rt_lock_take(&p->lock);
    j->specs = calloc(p->spec_count + 1, sizeof *j->specs);
    if (p->kernels || p->status == CL_BUILD_IN_PROGRESS)
        status = CL_INVALID_OPERATION;
    else if (!j->specs)
        status = CL_OUT_OF_HOST_MEMORY;
    else
        p->status = CL_BUILD_IN_PROGRESS;
    if (j->specs) j->spec_count = ocl_list_specs(p, j->specs);
    rt_lock_release(&p->lock);
    if (status) free(j->specs);
    return status;
}

/* What the program was made from stays, whatever happens. */
static void put_binary(job *j, bool ok) {
    cl_program p = j->program;
    if (!ok && p->origin == OCL_FROM_BINARY) return;
    free(p->binary);
    p->binary = j->binary.bytes;
    p->binary_size = j->binary.size;
    p->binary_type = ok ? j->type : CL_PROGRAM_BINARY_TYPE_NONE;
}

static void put_results(job *j, bool ok, char *log) {
    cl_program p = j->program;
    rt_lock_take(&p->lock);
    if (p->built) ocl_release_built(p->built);
    p->built = j->built;
    p->status = ok ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    replace(&p->options, j->text ? strdup(j->text) : NULL);
    replace(&p->log, log);
    put_binary(j, ok);
    rt_lock_release(&p->lock);
}

static cl_int build(job *j, cl_int failure) {
    char *log;
    cl_int status = ocl_step(&j->build, make_all, j, failure);
    if (status) {
        free(j->binary.bytes);
        j->binary = (ocl_binary){0};
    }
    rt_build_end(&j->build, j->built, &log);
    put_results(j, !status, log);
    free(j->specs);
    return status;
}

/* Options, what they are needed for, and the build. */
static cl_int run(job *j, cl_int bad_options, cl_int failure) {
    if (!rt_build_begin(&j->build)) return CL_OUT_OF_HOST_MEMORY;
    cl_int status = ocl_step(&j->build, read_options, j, bad_options);
    if (!status && j->program->origin == OCL_FROM_SOURCE && !ocl_has_compiler()) {
        rt_build_say(&j->build, rt_clc_log_of_search());
        status = CL_COMPILER_NOT_AVAILABLE;
    }
    if (!status) status = claim(j);
    return status ? end(j, status) : build(j, failure);
}

/* ---------------------------------------------------------------------------- build and compile */

bool ocl_has_compiler(void) { return rt_clc_find_toolchain() != NULL; }

static cl_int check(cl_program p, cl_uint count, const cl_device_id *devices, build_notify *notify,
                    const void *user) {
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    if (!notify && user) return CL_INVALID_VALUE;
    return ocl_check_devices(count, devices);
}

static cl_int CL_API_CALL build_program(cl_program p, cl_uint count, const cl_device_id *devices,
                                        const char *options, build_notify *notify, void *user) {
    job j = {.program = p, .use = RT_CLC_FOR_BUILD, .text = options};
    cl_int status = check(p, count, devices, notify, user);
    if (status) return status;
    if (p->origin == OCL_FROM_LINK) return CL_INVALID_OPERATION;
    status = run(&j, CL_INVALID_BUILD_OPTIONS, CL_BUILD_PROGRAM_FAILURE);
    if (notify && (!status || status == CL_BUILD_PROGRAM_FAILURE)) notify(p, user);
    return status;
}

static cl_int check_headers(cl_uint n, const cl_program *headers, const char **names) {
    if (!n != !headers || !n != !names) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < n; k++) {
        if (!ocl_is(headers[k], OCL_PROGRAM)) return CL_INVALID_PROGRAM;
        if (headers[k]->origin != OCL_FROM_SOURCE) return CL_INVALID_PROGRAM;
        if (!names[k] || !*names[k]) return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

static rt_clc_header *list_headers(cl_uint n, const cl_program *headers, const char **names) {
    rt_clc_header *list = calloc((size_t)n + 1, sizeof *list);
    for (cl_uint k = 0; list && k < n; k++) list[k] = (rt_clc_header){names[k], headers[k]->source};
    return list;
}

static cl_int CL_API_CALL compile_program(cl_program p, cl_uint count, const cl_device_id *devices,
                                          const char *options, cl_uint header_count,
                                          const cl_program *headers, const char **names,
                                          build_notify *notify, void *user) {
    job j = {
        .program = p, .use = RT_CLC_FOR_COMPILE, .text = options, .header_count = header_count};
    cl_int status = check(p, count, devices, notify, user);
    if (!status) status = check_headers(header_count, headers, names);
    if (status) return status;
    if (p->origin != OCL_FROM_SOURCE && p->origin != OCL_FROM_IL) return CL_INVALID_OPERATION;
    rt_clc_header *list = list_headers(header_count, headers, names);
    if (!list) return CL_OUT_OF_HOST_MEMORY;
    j.headers = list;
    status = run(&j, CL_INVALID_COMPILER_OPTIONS, CL_COMPILE_PROGRAM_FAILURE);
    free(list);
    if (notify && (!status || status == CL_COMPILE_PROGRAM_FAILURE)) notify(p, user);
    return status;
}

/* ----------------------------------------------------------------------------------------- link */

/* A copy of what an input has now. */
static cl_int take_input(job *j, cl_program p) {
    cl_int status = CL_SUCCESS;
    ocl_binary *to = &j->inputs[j->input_count];
    rt_lock_take(&p->lock);
    if (p->status == CL_BUILD_IN_PROGRESS ||
        !(p->binary_type &
          (CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT | CL_PROGRAM_BINARY_TYPE_LIBRARY)))
        status = CL_INVALID_OPERATION;
    else
        *to = ocl_copy_binary(p->binary, p->binary_size);
    rt_lock_release(&p->lock);
    if (!status && !to->bytes) status = CL_OUT_OF_HOST_MEMORY;
    if (!status) ocl_decode(to->bytes, to->size, &j->codes[j->input_count++]);
    return status;
}

static cl_int take_inputs(job *j, cl_uint n, const cl_program *programs) {
    cl_int status = CL_SUCCESS;
    j->inputs = calloc(n, sizeof *j->inputs);
    j->codes = calloc(n, sizeof *j->codes);
    if (!j->inputs || !j->codes) return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint k = 0; k < n && !status; k++) status = take_input(j, programs[k]);
    return status;
}

static void drop_inputs(job *j) {
    for (size_t k = 0; k < j->input_count; k++) free(j->inputs[k].bytes);
    free(j->inputs);
    free(j->codes);
}

static cl_int check_inputs(cl_context c, cl_uint n, const cl_program *programs) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    if (!n || !programs) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < n; k++)
        if (!ocl_is(programs[k], OCL_PROGRAM) || programs[k]->context != c)
            return CL_INVALID_PROGRAM;
    return CL_SUCCESS;
}

/* Once the link has begun there is a program, even when it fails. */
static cl_program CL_API_CALL link_program(cl_context c, cl_uint count, const cl_device_id *devices,
                                           const char *options, cl_uint n,
                                           const cl_program *programs, build_notify *notify,
                                           void *user, cl_int *error) {
    job j = {.use = RT_CLC_FOR_LINK, .text = options};
    cl_int status = check_inputs(c, n, programs);
    if (!status && !notify && user) status = CL_INVALID_VALUE;
    if (!status) status = ocl_check_devices(count, devices);
    if (status) return ocl_fail(error, status);
    j.program = ocl_new_program(c, OCL_FROM_LINK);
    status = j.program ? take_inputs(&j, n, programs) : CL_OUT_OF_HOST_MEMORY;
    if (!status) status = run(&j, CL_INVALID_LINKER_OPTIONS, CL_LINK_PROGRAM_FAILURE);
    drop_inputs(&j);
    if (status && status != CL_LINK_PROGRAM_FAILURE) {
        if (j.program) ocl_release_program(j.program);
        return ocl_fail(error, status);
    }
    if (error) *error = notify ? CL_SUCCESS : status;
    if (notify) notify(j.program, user);
    return j.program;
}

/* -------------------------------------------------------------------------------------- answers */

/* With the program's lock held. */
static size_t global_bytes(const ocl_built *b) {
    size_t bytes = 0;
    if (!b) return 0;
    foreach_global (g, b->module->ir)
        if (g->space == IR_GLOBAL) bytes += ir_sizeof(b->module->ir, g->type);
    return bytes;
}

static cl_int give_build_info(const ocl_answer *a, const struct _cl_program *p,
                              cl_program_build_info what) {
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return ocl_give(a, &p->status, sizeof p->status);
    case CL_PROGRAM_BUILD_OPTIONS: return ocl_give_string(a, p->options);
    case CL_PROGRAM_BUILD_LOG: return ocl_give_string(a, p->log);
    case CL_PROGRAM_BINARY_TYPE: return ocl_give_uint(a, p->binary_type);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        return ocl_give_size(a, global_bytes(p->built));
    default: return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_build_info(cl_program p, cl_device_id d, cl_program_build_info what,
                                         size_t room, void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    if (!ocl_is_device(d)) return CL_INVALID_DEVICE;
    rt_lock_take(&p->lock);
    cl_int result = give_build_info(&a, p, what);
    rt_lock_release(&p->lock);
    return result;
}

/* A compiler is a program that ends when it has compiled. */
static cl_int CL_API_CALL unload_compiler(void) { return CL_SUCCESS; }

static cl_int CL_API_CALL unload_platform_compiler(cl_platform_id p) {
    return p == ocl_platform() ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

void ocl_fill_build(ocl_entries *e) {
    e->core.clBuildProgram = build_program;
    e->core.clCompileProgram = compile_program;
    e->core.clLinkProgram = link_program;
    e->core.clGetProgramBuildInfo = get_build_info;
    e->core.clUnloadCompiler = unload_compiler;
    e->core.clUnloadPlatformCompiler = unload_platform_compiler;
}
