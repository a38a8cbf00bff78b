/* memory.c — buffers: their bytes are the host's, so none is ever copied to a device.
 *
 * A sub-buffer shows a part of its parent, which lives as long.  The bytes of a buffer that uses
 * memory of the program lie where the program has them, at any address.
 */
#include "runtime/opencl/allocation.h"
#include "runtime/system/memory.h"

#include <stdlib.h>

static const cl_mem_flags ACCESS = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
static const cl_mem_flags HOST_ACCESS =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
static const cl_mem_flags PLACE =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/* ---------------------------------------------------------------------------------------- flags */

static bool at_most_one(cl_mem_flags flags) { return !(flags & (flags - 1)); }

bool ocl_are_access_flags(cl_mem_flags flags) { return !(flags & ~ACCESS) && at_most_one(flags); }

static bool are_flags(cl_mem_flags flags) {
    return !(flags & ~(ACCESS | HOST_ACCESS | PLACE)) && at_most_one(flags & ACCESS) &&
           at_most_one(flags & HOST_ACCESS) &&
           (!(flags & CL_MEM_USE_HOST_PTR) ||
            !(flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)));
}

/* Does a sub-buffer want no more than its parent may do? */
static bool are_sub_flags(cl_mem_flags parent, cl_mem_flags flags) {
    static const struct {
        cl_mem_flags parent, forbidden;
    } rules[] = {
        {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY},
        {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY},
        {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
        {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
        {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY},
    };
    if (!are_flags(flags) || flags & PLACE) return false;
    for (unsigned n = 0; n < sizeof rules / sizeof *rules; n++)
        if (parent & rules[n].parent && flags & rules[n].forbidden) return false;
    return true;
}

/* The flags of a sub-buffer: what it does not say it has from its parent. */
static cl_mem_flags inherit(cl_mem_flags parent, cl_mem_flags flags) {
    if (!(flags & ACCESS)) flags |= parent & ACCESS;
    if (!(flags & HOST_ACCESS)) flags |= parent & HOST_ACCESS;
    return flags | (parent & PLACE);
}

/* -------------------------------------------------------------------------------------- objects */

static cl_mem new_mem(cl_context c, cl_mem_flags flags, ocl_area memory) {
    cl_mem m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->object = ocl_new_object(OCL_MEM);
    m->context = c;
    m->flags = flags;
    m->memory = memory;
    rt_refs_init(&m->observers);
    ocl_retain_context(c);
    return m;
}

void ocl_retain_mem(cl_mem m) { ocl_retain(&m->object); }

void ocl_observe_mem(cl_mem m) { rt_retain(&m->observers); }

void ocl_forget_mem(cl_mem m) {
    if (rt_release(&m->observers)) ocl_free_object(&m->object);
}

bool ocl_revive_mem(cl_mem m) { return rt_retain_found(&m->object.refs); }

/* The handle is invalid from here on; the memory of the object stays while it is observed. */
static void free_mem(cl_mem m) {
    ocl_forget_mappings(m);
    ocl_call_destructors(m->destructors, m);
    rt_range_remove(&m->range);
    rt_shared_release(&ocl_device()->shared, m->checked);
    if (m->owned) rt_free_memory(m->memory.bytes, m->memory.size);
    ocl_release_context(m->context);
    m->object.kind = OCL_NOTHING;
    ocl_forget_mem(m);
}

/* A sub-buffer has no sub-buffers. */
void ocl_release_mem(cl_mem m) {
    if (!ocl_release(&m->object)) return;
    cl_mem parent = m->parent;
    free_mem(m);
    if (parent && ocl_release(&parent->object)) free_mem(parent);
}

/* ------------------------------------------------------------------------------------- creation */

/* CL_INVALID_BUFFER_SIZE also when there is less shared memory than is asked for. */
static cl_int check_host_pointer(cl_context c, cl_mem_flags flags, size_t size, const char *host) {
    bool wanted = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if (wanted != (host != NULL)) return CL_INVALID_HOST_PTR;
    if (!(flags & CL_MEM_USE_HOST_PTR)) return CL_SUCCESS;
    const ocl_area shared = ocl_find_shared(c, host).memory;
    return shared.bytes && size > shared.size - (size_t)(host - (char *)shared.bytes)
               ? CL_INVALID_BUFFER_SIZE
               : CL_SUCCESS;
}

static cl_mem use_memory(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *error) {
    cl_mem m = new_mem(c, flags, (ocl_area){host, size});
    if (!m) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    m->host = host;
    ocl_succeed(error);
    return m;
}

static cl_mem allocate_memory(cl_context c, cl_mem_flags flags, size_t size, const void *host,
                              cl_int *error) {
    void *bytes = rt_new_memory(size);
    if (!bytes) return ocl_fail(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    cl_mem m = new_mem(c, flags, (ocl_area){bytes, size});
    if (!m) {
        rt_free_memory(bytes, size);
        return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    }
    m->owned = true;
    if (host) memcpy(bytes, host, size);
    ocl_succeed(error);
    return m;
}

/* False: they are not right. */
static bool read_properties(const cl_mem_properties *p, bool *address) {
    bool seen = false;
    *address = false;
    for (; p && *p; p += 2) {
        if (*p != CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT || seen || p[1] > CL_TRUE) return false;
        seen = true;
        *address = p[1];
    }
    return true;
}

/* Memory of the program is more than the part of it that the buffer shows. */
static void give_address(cl_mem m) {
    m->has_address = true;
    m->range = (rt_range){.kind = RT_RANGE_ALLOCATION, .owner = m};
    if (m->owned) rt_range_place(rt_scheduler_get(), &m->range, m->memory.bytes, m->memory.size);
}

static cl_mem CL_API_CALL create_buffer_with_properties(cl_context c, const cl_mem_properties *p,
                                                        cl_mem_flags flags, size_t size, void *host,
                                                        cl_int *error) {
    bool address;
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!read_properties(p, &address)) return ocl_fail(error, CL_INVALID_PROPERTY);
    if (!are_flags(flags)) return ocl_fail(error, CL_INVALID_VALUE);
    if (!size || size > ocl_max_allocation()) return ocl_fail(error, CL_INVALID_BUFFER_SIZE);
    cl_int bad = check_host_pointer(c, flags, size, host);
    if (bad) return ocl_fail(error, bad);
    cl_mem m = flags & CL_MEM_USE_HOST_PTR ? use_memory(c, flags, size, host, error)
                                           : allocate_memory(c, flags, size, host, error);
    if (m) ocl_keep_properties(&m->properties, p);
    if (m && address) give_address(m);
    return m;
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host,
                                        cl_int *error) {
    return create_buffer_with_properties(c, NULL, flags, size, host, error);
}

static cl_int check_region(cl_mem parent, const cl_buffer_region *r) {
    if (!r || !ocl_is_inside(parent, r->origin, r->size)) return CL_INVALID_VALUE;
    if (!r->size) return CL_INVALID_BUFFER_SIZE;
    return r->origin % IR_LOCAL_ALIGN ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS;
}

static cl_mem new_sub_buffer(cl_mem parent, cl_mem_flags flags, const cl_buffer_region *r,
                             cl_int *error) {
    const ocl_area part = {(char *)parent->memory.bytes + r->origin, r->size};
    cl_mem m = new_mem(parent->context, inherit(parent->flags, flags), part);
    if (!m) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    m->host = parent->host ? part.bytes : NULL;
    m->origin = r->origin;
    m->has_address = parent->has_address;
    m->parent = parent;
    ocl_retain_mem(parent);
    ocl_succeed(error);
    return m;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags,
                                            cl_buffer_create_type type, const void *info,
                                            cl_int *error) {
    if (!ocl_is(parent, OCL_MEM) || parent->parent) return ocl_fail(error, CL_INVALID_MEM_OBJECT);
    if (!are_sub_flags(parent->flags, flags) || type != CL_BUFFER_CREATE_TYPE_REGION)
        return ocl_fail(error, CL_INVALID_VALUE);
    cl_int bad = check_region(parent, info);
    return bad ? ocl_fail(error, bad) : new_sub_buffer(parent, flags, info, error);
}

/* ----------------------------------------------------------------------------------- the others */

static cl_int CL_API_CALL retain_mem(cl_mem m) {
    if (!ocl_is(m, OCL_MEM)) return CL_INVALID_MEM_OBJECT;
    ocl_retain_mem(m);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_mem(cl_mem m) {
    if (!ocl_is(m, OCL_MEM)) return CL_INVALID_MEM_OBJECT;
    ocl_release_mem(m);
    return CL_SUCCESS;
}

static bool uses_svm(cl_mem m) {
    if (!m->host) return false;
    const ocl_shared s = ocl_find_shared(m->context, m->host);
    return ocl_is_svm(&s);
}

static cl_int give_address_of(const ocl_answer *a, cl_mem m) {
    if (!m->has_address) return CL_INVALID_OPERATION;
    return ocl_give_ulong(a, (cl_mem_device_address_ext)(uintptr_t)m->memory.bytes);
}

static cl_int CL_API_CALL get_mem_info(cl_mem m, cl_mem_info what, size_t room, void *to,
                                       size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(m, OCL_MEM)) return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE: return ocl_give_uint(&a, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS: return ocl_give_ulong(&a, m->flags);
    case CL_MEM_SIZE: return ocl_give_size(&a, m->memory.size);
    case CL_MEM_HOST_PTR: return ocl_give_pointer(&a, m->host);
    case CL_MEM_MAP_COUNT: return ocl_give_uint(&a, m->maps);
    case CL_MEM_REFERENCE_COUNT: return ocl_give_uint(&a, rt_ref_count(&m->object.refs));
    case CL_MEM_CONTEXT: return ocl_give_pointer(&a, m->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return ocl_give_pointer(&a, m->parent);
    case CL_MEM_OFFSET: return ocl_give_size(&a, m->origin);
    case CL_MEM_USES_SVM_POINTER: return ocl_give_bool(&a, uses_svm(m));
    case CL_MEM_DEVICE_ADDRESS_EXT: return give_address_of(&a, m);
    case CL_MEM_PROPERTIES: return ocl_give_properties(&a, &m->properties);
    default: return CL_INVALID_VALUE;
    }
}

typedef void CL_CALLBACK mem_destructor(cl_mem m, void *user);

static cl_int CL_API_CALL set_destructor(cl_mem m, mem_destructor *f, void *user) {
    if (!ocl_is(m, OCL_MEM)) return CL_INVALID_MEM_OBJECT;
    if (!f) return CL_INVALID_VALUE;
    return ocl_push_destructor(&m->destructors,
                               (void(CL_CALLBACK *)(void *, void *))(ocl_function)f, user);
}

void ocl_fill_memory(ocl_entries *e) {
    e->core.clCreateBuffer = create_buffer;
    e->core.clCreateBufferWithProperties = create_buffer_with_properties;
    e->core.clCreateSubBuffer = create_sub_buffer;
    e->core.clRetainMemObject = retain_mem;
    e->core.clReleaseMemObject = release_mem;
    e->core.clGetMemObjectInfo = get_mem_info;
    e->core.clSetMemObjectDestructorCallback = set_destructor;
}
