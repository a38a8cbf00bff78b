/* context.c — contexts, which have the one device, and the callbacks of destroyed objects.
 *
 * A context is counted by its user and by every object that is made in it, so it ends with the last
 * of them.  Callbacks of destruction (of contexts and of memory objects) are a list to which any
 * thread may add; they are called in the reverse order of their registration.
 */
#include "runtime/devices/cpu/cpu.h"
#include "runtime/opencl/ocl.h"
#include "runtime/source/source.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------- destructors */

cl_int ocl_push_destructor(ocl_destructor *_Atomic *list, void(CL_CALLBACK *f)(void *, void *),
                           void *user) {
    ocl_destructor *d = malloc(sizeof *d);
    if (!d) return CL_OUT_OF_HOST_MEMORY;
    *d = (ocl_destructor){f, user, atomic_load(list)};
    while (!atomic_compare_exchange_weak(list, &d->next, d)) continue;
    return CL_SUCCESS;
}

void ocl_call_destructors(ocl_destructor *list, void *object) {
    for (ocl_destructor *d = list, *next; d; d = next) {
        next = d->next;
        d->function(object, d->user);
        free(d);
    }
}

/* ------------------------------------------------------------------------------------- contexts */

void ocl_retain_context(cl_context c) { ocl_retain(&c->object); }

void ocl_release_context(cl_context c) {
    if (!ocl_release(&c->object)) return;
    ocl_call_destructors(c->destructors, c);
    ocl_free_allocations(c);
    rt_lock_free(&c->lock);
    ocl_free_object(&c->object);
}

void ocl_tell(cl_context c, const char *text) {
    if (c->notify) c->notify(text, NULL, 0, c->notify_user);
}

static cl_int check_properties(const cl_context_properties *p) {
    bool seen_platform = false, seen_sync = false;
    for (; p && *p; p += 2) {
        bool *seen = *p == CL_CONTEXT_PLATFORM            ? &seen_platform
                     : *p == CL_CONTEXT_INTEROP_USER_SYNC ? &seen_sync
                                                          : NULL;
        if (!seen || *seen) return CL_INVALID_PROPERTY;
        *seen = true;
        if (*p == CL_CONTEXT_PLATFORM && (cl_platform_id)p[1] != ocl_platform())
            return CL_INVALID_PLATFORM;
        if (*p == CL_CONTEXT_INTEROP_USER_SYNC && p[1] != CL_TRUE && p[1] != CL_FALSE)
            return CL_INVALID_PROPERTY;
    }
    return CL_SUCCESS;
}

typedef void CL_CALLBACK context_notify(const char *info, const void *data, size_t size,
                                        void *user);

static cl_int check(const cl_context_properties *properties, context_notify *notify, void *user) {
    cl_int bad = check_properties(properties);
    return bad ? bad : !notify && user ? CL_INVALID_VALUE : CL_SUCCESS;
}

bool ocl_keep_properties(ocl_properties *to, const uint64_t *from) {
    *to = (ocl_properties){.n = 0};
    if (!from) return true;
    do {
        if (to->n + 2 > OCL_MAX_PROPERTIES) return false;
        to->value[to->n++] = *from;
        if (*from) to->value[to->n++] = from[1];
    } while (*from && (from += 2));
    return true;
}

static void warn_of_extension(void *user, const char *name, size_t length) {
    spvf_context *own = user;
    ir_report(&own->cx, (ir_message){.severity = IR_WARNING},
              "SPVFUSE_WITHOUT_EXTENSIONS names '%.*s', which is no extension of this device",
              length < 100 ? (int)length : 100, name);
}

static void tell(void *user, const spvf_message *m) {
    cl_context c = user;
    ocl_tell(c, m->formatted);
}

/* The callback of the context is told. */
static void warn_of_settings(cl_context c) {
    const spvf_context_options o = {.size = sizeof o, .message = tell, .message_user = c};
    spvf_context own;
    rt_context_init(&own, &o);
    rt_warn_of_settings(&own);
    rt_cpu_warn_of_setting(&own);
    rt_clc_find_unknown(warn_of_extension, &own);
}

static cl_context new_context(const cl_context_properties *properties, context_notify *notify,
                              void *user, cl_int *error) {
    cl_context c = calloc(1, sizeof *c);
    if (!c) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    c->object = ocl_new_object(OCL_CONTEXT);
    c->notify = notify;
    c->notify_user = user;
    rt_lock_init(&c->lock, false);
    ocl_keep_properties(&c->properties, (const uint64_t *)(const void *)properties);
    warn_of_settings(c);
    ocl_succeed(error);
    return c;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices, context_notify *notify,
                                             void *user, cl_int *error) {
    cl_int bad = check(properties, notify, user);
    if (!bad && (!devices || !count)) bad = CL_INVALID_VALUE;
    if (!bad) bad = ocl_check_devices(count, devices);
    if (!bad && !ocl_device()->shared.base) bad = CL_DEVICE_NOT_AVAILABLE;
    return bad ? ocl_fail(error, bad) : new_context(properties, notify, user, error);
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties,
                                                       cl_device_type type, context_notify *notify,
                                                       void *user, cl_int *error) {
    cl_int bad = check(properties, notify, user);
    if (!bad) bad = ocl_check_device_type(type);
    return bad ? ocl_fail(error, bad) : new_context(properties, notify, user, error);
}

static cl_int CL_API_CALL retain_context(cl_context c) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    ocl_retain_context(c);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_context(cl_context c) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    ocl_release_context(c);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_context_info(cl_context c, cl_context_info what, size_t room,
                                           void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT: return ocl_give_uint(&a, rt_ref_count(&c->object.refs));
    case CL_CONTEXT_NUM_DEVICES: return ocl_give_uint(&a, 1);
    case CL_CONTEXT_DEVICES: return ocl_give_pointer(&a, ocl_device());
    case CL_CONTEXT_PROPERTIES: return ocl_give_properties(&a, &c->properties);
    default: return CL_INVALID_VALUE;
    }
}

typedef void CL_CALLBACK context_destructor(cl_context c, void *user);

static cl_int CL_API_CALL set_destructor(cl_context c, context_destructor *f, void *user) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    if (!f) return CL_INVALID_VALUE;
    return ocl_push_destructor(&c->destructors,
                               (void(CL_CALLBACK *)(void *, void *))(ocl_function)f, user);
}

void ocl_fill_context(ocl_entries *e) {
    e->core.clCreateContext = create_context;
    e->core.clCreateContextFromType = create_context_from_type;
    e->core.clRetainContext = retain_context;
    e->core.clReleaseContext = release_context;
    e->core.clGetContextInfo = get_context_info;
    e->core.clSetContextDestructorCallback = set_destructor;
}
