/* driver.c — the driver's library: opened once per process and never closed; what its errors are
 * called, and which of them end a device.
 *
 * An error of a kernel, as an access to memory that is not there, makes the driver's context
 * useless for the rest of the process: each later call gives the same error.  The device notes what
 * was first, and says it whenever it is asked for something.
 */
#include "runtime/devices/cuda/cuda.h"

#include <dlfcn.h>

/* -------------------------------------------------------------------------------------- opening */

static struct {
    pthread_once_t once;
    char why_not[200]; /* "": it is there */
    cu_calls calls;
} driver = {.once = PTHREAD_ONCE_INIT};

void cuda_describe(const cu_calls *cu, cu_result error, char *out, size_t size) {
    const char *name = NULL, *text = NULL;
    if (cu->error_name(error, &name) || !name) name = "an unknown error";
    if (cu->error_text(error, &text) || !text) text = "";
    snprintf(out, size, "%s (%d%s%s)", name, error, *text ? ": " : "", text);
}

/* The first function that it lacks, or NULL. */
static const char *find_calls(void *library) {
    const char *missing = NULL;
    /* ISO C has no cast from object to function pointers; POSIX says that this is how. */
#define X(name, symbol, parameters)                                                                \
    *(void **)(void *)&driver.calls.name = dlsym(library, symbol);                                 \
    if (!driver.calls.name && !missing) missing = symbol;
    CU_CALLS(X)
#undef X
#define X(name, symbol, parameters) *(void **)(void *)&driver.calls.name = dlsym(library, symbol);
    CU_NEWER_CALLS(X)
#undef X
    return missing;
}

static void open_driver(void) {
    char *why = driver.why_not, text[150];
    const size_t size = sizeof driver.why_not;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, size, "there is no driver (libcuda.so.1)");
        return;
    }
    const char *missing = find_calls(library);
    if (missing) {
        snprintf(why, size, "the driver is too old: it has no %s", missing);
        return;
    }
    cu_result error = driver.calls.init(0);
    if (!error) return;
    cuda_describe(&driver.calls, error, text, sizeof text);
    snprintf(why, size, "the driver does not start: %s", text);
}

const cu_calls *cuda_driver(const char **why) {
    pthread_once(&driver.once, open_driver);
    if (why) *why = driver.why_not;
    return *driver.why_not ? NULL : &driver.calls;
}

/* --------------------------------------------------------------------------------------- errors */

/* Errors after which the context is useless. */
static const struct {
    cu_result error;
    const char *name;
} fatal[] = {{214, "an uncorrectable error of memory (CUDA_ERROR_ECC_UNCORRECTABLE)"},
             {220, "an uncorrectable error of NVLink (CUDA_ERROR_NVLINK_UNCORRECTABLE)"},
             {700, "an access to memory that is not there (CUDA_ERROR_ILLEGAL_ADDRESS)"},
             {702, "a kernel that took too long (CUDA_ERROR_LAUNCH_TIMEOUT)"},
             {709, "the end of its context (CUDA_ERROR_CONTEXT_IS_DESTROYED)"},
             {710, "an assertion (CUDA_ERROR_ASSERT)"},
             {714, "an error of the stack (CUDA_ERROR_HARDWARE_STACK_ERROR)"},
             {715, "an instruction that is none (CUDA_ERROR_ILLEGAL_INSTRUCTION)"},
             {716, "an address that is not aligned (CUDA_ERROR_MISALIGNED_ADDRESS)"},
             {717, "an address of another kind of memory (CUDA_ERROR_INVALID_ADDRESS_SPACE)"},
             {718, "a jump to what is no code (CUDA_ERROR_INVALID_PC)"},
             {719, "a kernel that failed (CUDA_ERROR_LAUNCH_FAILED)"}};

static const char *fatal_name(cu_result error) {
    for (size_t n = 0; n < sizeof fatal / sizeof *fatal; n++)
        if (fatal[n].error == error) return fatal[n].name;
    return NULL;
}

/* Unless it is there already. */
static size_t add_kernel(const rt_function *f, char *out, size_t n, size_t size) {
    char name[100];
    snprintf(name, sizeof name, "'%.90s'", f->name);
    if (n < size && !strstr(out, name))
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name);
    return n;
}

/* With the lock held. */
static size_t add_kernels(const cuda_pending *p, char *out, size_t n, size_t size) {
    const rt_submission *s = p->submission;
    for (size_t k = 0; k < s->count; k++)
        if (s->commands[k].kind == RT_COMMAND_LAUNCH)
            n = add_kernel(s->commands[k].launch.function, out, n, size);
    for (unsigned k = 0; k < p->more_count; k++) n = add_kernel(p->more[k], out, n, size);
    return n;
}

static void list_kernels(const cuda *d, char *out, size_t size) {
    size_t n = 0;
    *out = 0;
    for (const cuda_pending *p = d->first; p && n < size; p = p->next)
        n = add_kernels(p, out, n, size);
}

void cuda_list_kernels(cuda *d, char *out, size_t size) {
    rt_lock_take(&d->lock);
    list_kernels(d, out, size);
    rt_lock_release(&d->lock);
}

bool cuda_note_end(cuda *d, cu_result error) {
    const char *what = fatal_name(error);
    char kernels[200];
    rt_lock_take(&d->lock);
    if (what && !*d->lost) {
        list_kernels(d, kernels, sizeof kernels);
        snprintf(d->lost, sizeof d->lost, "it was lost by %s%s%s", what, *kernels ? ", in " : "",
                 kernels);
        d->is_lost = true;
    }
    bool lost = *d->lost;
    rt_lock_release(&d->lock);
    return lost;
}

IR_NORETURN static void give_up(cuda *d, const char *call, cu_result error) {
    char text[150], kernel[200] = "";
    if (d->kernel) snprintf(kernel, sizeof kernel, "kernel '%.150s': ", d->kernel);
    if (cuda_note_end(d, error))
        rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: %sthe device cannot be used any more: %s",
                 kernel, d->lost);
    cuda_describe(d->cu, error, text, sizeof text);
    rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: %s%s failed: %s", kernel, call, text);
}

void cuda_must(cuda *d, const char *call, cu_result error) {
    if (error) give_up(d, call, error);
}

void cuda_enter(cuda *d) {
    if (d->is_lost) give_up(d, "", 0);
    cuda_must(d, "cuCtxSetCurrent", d->cu->set_current(d->context));
}
