/* program.c — programs: what they are made from, and what can be asked about them.
 *
 * A program comes from source, from SPIR-V, from binaries, or from a link; built-in kernels do not
 * exist.  A container is taken as SPIR-V and as a binary.  What a program comes from is copied and
 * never changes.  What builds add (build.c) is protected by the lock of the program.
 */
#include "runtime/opencl/build.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------- objects */

void ocl_retain_program(cl_program p) { ocl_retain(&p->object); }

void ocl_release_program(cl_program p) {
    if (!ocl_release(&p->object)) return;
    if (p->built) ocl_release_built(p->built);
    rt_lock_free(&p->lock);
    ocl_release_context(p->context);
    free(p->source);
    free(p->il);
    free(p->specs);
    free(p->binary);
    free(p->options);
    free(p->log);
    ocl_free_object(&p->object);
}

cl_program ocl_new_program(cl_context c, ocl_origin origin) {
    cl_program p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->object = ocl_new_object(OCL_PROGRAM);
    p->context = c;
    p->origin = origin;
    p->status = CL_BUILD_NONE;
    rt_lock_init(&p->lock, false);
    ocl_retain_context(c);
    return p;
}

/* Hands a program out when it has what it comes from. */
static cl_program finish(cl_program p, const void *contents, cl_int *error) {
    if (contents) {
        ocl_succeed(error);
        return p;
    }
    if (p) ocl_release_program(p);
    return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
}

/* --------------------------------------------------------------------------------------- source */

/* A length of 0 means that the string ends with a zero byte; so does a length beyond its end. */
static size_t length_of(const char *s, const size_t *lengths, cl_uint k) {
    return lengths && lengths[k] ? strnlen(s, lengths[k]) : strlen(s);
}

static char *join(cl_uint count, const char **strings, const size_t *lengths) {
    size_t n = 0;
    for (cl_uint k = 0; k < count; k++) n += length_of(strings[k], lengths, k);
    char *text = malloc(n + 1), *to = text;
    if (!text) return NULL;
    for (cl_uint k = 0; k < count; k++) {
        size_t m = length_of(strings[k], lengths, k);
        memcpy(to, strings[k], m);
        to += m;
    }
    *to = 0;
    return text;
}

static cl_program CL_API_CALL create_with_source(cl_context c, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!count || !strings) return ocl_fail(error, CL_INVALID_VALUE);
    for (cl_uint k = 0; k < count; k++)
        if (!strings[k]) return ocl_fail(error, CL_INVALID_VALUE);
    cl_program p = ocl_new_program(c, OCL_FROM_SOURCE);
    if (p) p->source = join(count, strings, lengths);
    return finish(p, p ? p->source : NULL, error);
}

/* ------------------------------------------------------------------------------------------- IL */

enum { SPIRV_HEADER = 20, SPIRV_MAGIC = 0x07230203, SWAPPED_MAGIC = 0x03022307 };

static bool is_spirv(const void *il, size_t size) {
    uint32_t first;
    if (size < SPIRV_HEADER || size % sizeof first) return false;
    memcpy(&first, il, sizeof first);
    return first == SPIRV_MAGIC || first == SWAPPED_MAGIC;
}

/* SPIR-V, or a container of it. */
static bool is_il(const void *il, size_t size) {
    const rt_source source = {.bytes = il, .size = size};
    return is_spirv(il, size) || rt_is_container_source(&source);
}

static cl_program CL_API_CALL create_with_il(cl_context c, const void *il, size_t size,
                                             cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!il || !is_il(il, size)) return ocl_fail(error, CL_INVALID_VALUE);
    cl_program p = ocl_new_program(c, OCL_FROM_IL);
    if (p) {
        p->il = ocl_copy_binary(il, size).bytes;
        p->il_size = size;
    }
    return finish(p, p ? p->il : NULL, error);
}

/* ------------------------------------------------------------------------------------- binaries */

/* The first error; *status has each one's. */
static cl_int check_binaries(cl_uint count, const size_t *sizes, const unsigned char **binaries,
                             cl_int *status) {
    cl_int first = CL_SUCCESS;
    ocl_code code;
    for (cl_uint k = 0; k < count; k++) {
        cl_int bad = CL_SUCCESS;
        if (!sizes[k] || !binaries[k])
            bad = CL_INVALID_VALUE;
        else if (!ocl_decode(binaries[k], sizes[k], &code))
            bad = CL_INVALID_BINARY;
        if (status) status[k] = bad;
        if (!first) first = bad;
    }
    return first;
}

static const void *keep_binary(cl_program p, const unsigned char *bytes, size_t size) {
    ocl_code code;
    p->binary = ocl_copy_binary(bytes, size).bytes;
    p->binary_size = size;
    if (p->binary && ocl_decode(p->binary, size, &code)) p->binary_type = code.type;
    return p->binary;
}

static cl_program CL_API_CALL create_with_binary(cl_context c, cl_uint count,
                                                 const cl_device_id *devices, const size_t *sizes,
                                                 const unsigned char **binaries, cl_int *status,
                                                 cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!count || !devices || !sizes || !binaries) return ocl_fail(error, CL_INVALID_VALUE);
    cl_int bad = ocl_check_devices(count, devices);
    if (!bad) bad = check_binaries(count, sizes, binaries, status);
    if (bad) return ocl_fail(error, bad);
    cl_program p = ocl_new_program(c, OCL_FROM_BINARY);
    return finish(p, p ? keep_binary(p, binaries[0], sizes[0]) : NULL, error);
}

/* There are none. */
static cl_program CL_API_CALL create_with_built_in(cl_context c, cl_uint count,
                                                   const cl_device_id *devices, const char *names,
                                                   cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!count || !devices || !names) return ocl_fail(error, CL_INVALID_VALUE);
    cl_int bad = ocl_check_devices(count, devices);
    return ocl_fail(error, bad ? bad : CL_INVALID_VALUE);
}

/* -------------------------------------------------------------------------------------- answers */

/* With the program's lock held.  Names are separated by ';'. */
static cl_int give_kernel_names(const ocl_answer *a, const ocl_built *b) {
    size_t n = spvf_module_kernel_count(b->module), size = 1;
    for (size_t k = 0; k < n; k++) size += strlen(spvf_module_kernel(b->module, k)->name) + 1;
    char *names = malloc(size), *to = names;
    if (!names) return CL_OUT_OF_HOST_MEMORY;
    *names = 0;
    for (size_t k = 0; k < n; k++) {
        const char *name = spvf_module_kernel(b->module, k)->name;
        to += snprintf(to, size - (size_t)(to - names), "%s%s", k ? ";" : "", name);
    }
    cl_int result = ocl_give_string(a, names);
    free(names);
    return result;
}

/* The caller has brought room for the bytes, or NULL. */
static cl_int give_binaries(const ocl_answer *a, const struct _cl_program *p) {
    unsigned char *to;
    if (a->to && a->room >= sizeof to) {
        memcpy(&to, a->to, sizeof to);
        if (to && p->binary) memcpy(to, p->binary, p->binary_size);
        if (a->size) *a->size = sizeof to;
        return CL_SUCCESS;
    }
    return a->to ? CL_INVALID_VALUE : ocl_give_pointer(a, NULL);
}

/* With the program's lock held. */
static cl_int give_built(const ocl_answer *a, const ocl_built *b, cl_program_info what) {
    if (!b) return CL_INVALID_PROGRAM_EXECUTABLE;
    return what == CL_PROGRAM_KERNEL_NAMES ? give_kernel_names(a, b)
                                           : ocl_give_size(a, spvf_module_kernel_count(b->module));
}

static cl_int give_info(const ocl_answer *a, cl_program p, cl_program_info what) {
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return ocl_give_uint(a, rt_ref_count(&p->object.refs));
    case CL_PROGRAM_CONTEXT: return ocl_give_pointer(a, p->context);
    case CL_PROGRAM_NUM_DEVICES: return ocl_give_uint(a, 1);
    case CL_PROGRAM_DEVICES: return ocl_give_pointer(a, ocl_device());
    case CL_PROGRAM_SOURCE: return ocl_give_string(a, p->source);
    case CL_PROGRAM_IL: return ocl_give(a, p->il, p->il_size);
    case CL_PROGRAM_BINARY_SIZES: return ocl_give_size(a, p->binary_size);
    case CL_PROGRAM_BINARIES: return give_binaries(a, p);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES: return give_built(a, p->built, what);
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return ocl_give_bool(a, false);
    default: return CL_INVALID_VALUE;
    }
}

/* -------------------------------------------------------------------------------------- entries */

static cl_int CL_API_CALL retain_program(cl_program p) {
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    ocl_retain_program(p);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_program(cl_program p) {
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    ocl_release_program(p);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_program_info(cl_program p, cl_program_info what, size_t room,
                                           void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    rt_lock_take(&p->lock);
    cl_int result = give_info(&a, p, what);
    rt_lock_release(&p->lock);
    return result;
}

typedef void CL_CALLBACK program_notify(cl_program p, void *user);

/* What it would wait for are destructors of program-scope variables, which do not exist here. */
static cl_int CL_API_CALL set_release_callback(cl_program p, program_notify *notify, void *user) {
    (void)user;
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    return notify ? CL_INVALID_OPERATION : CL_INVALID_VALUE;
}

void ocl_fill_program(ocl_entries *e) {
    e->core.clCreateProgramWithSource = create_with_source;
    e->core.clCreateProgramWithIL = create_with_il;
    e->core.clCreateProgramWithBinary = create_with_binary;
    e->core.clCreateProgramWithBuiltInKernels = create_with_built_in;
    e->core.clRetainProgram = retain_program;
    e->core.clReleaseProgram = release_program;
    e->core.clGetProgramInfo = get_program_info;
    e->core.clSetProgramReleaseCallback = set_release_callback;
    e->core.clSetProgramSpecializationConstant = ocl_set_spec;
    ocl_add_extension(e, "clCreateProgramWithILKHR", (ocl_function)create_with_il);
}
