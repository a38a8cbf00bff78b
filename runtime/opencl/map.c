/* map.c — mapping buffers: the program gets the address of the bytes, which are there already.
 *
 * What is mapped is known per buffer with bytes of its own, so that the regions of all its
 * sub-buffers are seen together.  A region is mapped when the command is enqueued, and until its
 * unmapping is: so a program may enqueue map, unmap and map before any of them runs.
 */
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

struct ocl_mapping {
    cl_mem mem;
    ocl_area region;
    bool writes;
    ocl_mapping *next;
};

static bool overlap(const ocl_area *a, const ocl_area *b) {
    const char *x = a->bytes, *y = b->bytes;
    return x < y + b->size && y < x + a->size;
}

/* False: two regions would be mapped for writing that overlap. */
static bool add(ocl_mapping *p) {
    cl_mem root = ocl_root(p->mem);
    bool ok = true;
    rt_lock_take(&root->context->lock);
    for (const ocl_mapping *other = root->mappings; p->writes && ok && other; other = other->next)
        ok = !other->writes || !overlap(&other->region, &p->region);
    if (ok) {
        p->next = root->mappings;
        root->mappings = p;
        p->mem->maps++;
    }
    rt_lock_release(&root->context->lock);
    return ok;
}

/* Takes the last one out that gave this address; NULL: none did. */
static ocl_mapping *take(cl_mem m, const void *address) {
    cl_mem root = ocl_root(m);
    rt_lock_take(&root->context->lock);
    ocl_mapping **at = &root->mappings, *p;
    while ((p = *at) && (p->mem != m || p->region.bytes != address)) at = &p->next;
    if (p) {
        *at = p->next;
        m->maps--;
    }
    rt_lock_release(&root->context->lock);
    return p;
}

void ocl_forget_mappings(cl_mem m) {
    cl_mem root = ocl_root(m);
    rt_lock_take(&root->context->lock);
    for (ocl_mapping **at = &root->mappings, *p; (p = *at);) {
        if (p->mem == m) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
    rt_lock_release(&root->context->lock);
}

/* -------------------------------------------------------------------------------------- entries */

bool ocl_are_map_flags(cl_map_flags flags) {
    const cl_map_flags keep = CL_MAP_READ | CL_MAP_WRITE;
    return flags == CL_MAP_WRITE_INVALIDATE_REGION || !(flags & ~keep);
}

static cl_int check_map(const ocl_request *r, cl_map_flags flags, size_t offset, size_t size) {
    cl_mem m = r->mems[0];
    cl_int bad = ocl_check_buffer(r->queue, m);
    if (bad) return bad;
    if (!ocl_is_inside(m, offset, size) || !size || !ocl_are_map_flags(flags))
        return CL_INVALID_VALUE;
    bad = ocl_check_wait_list(m->context, r->wait_count, r->wait);
    return bad ? bad
               : ocl_check_host_access(m, flags & CL_MAP_READ, flags & ~(cl_map_flags)CL_MAP_READ);
}

static void *CL_API_CALL map_buffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size, cl_uint n,
                                    const cl_event *list, cl_event *out, cl_int *error) {
    const ocl_request r = {q, CL_COMMAND_MAP_BUFFER, blocking, n, list, out, &m, 1, NULL};
    cl_int bad = check_map(&r, flags, offset, size);
    if (bad) return ocl_fail(error, bad);
    const ocl_area region = {(char *)m->memory.bytes + offset, size};
    ocl_mapping *p = malloc(sizeof *p);
    if (!p) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    *p = (ocl_mapping){m, region, flags & ~(cl_map_flags)CL_MAP_READ, NULL};
    if (!add(p)) {
        free(p);
        return ocl_fail(error, CL_INVALID_OPERATION);
    }
    bad = ocl_request_nothing(&r);
    if (bad) {
        free(take(m, region.bytes));
        return ocl_fail(error, bad);
    }
    ocl_succeed(error);
    return region.bytes;
}

static cl_int CL_API_CALL unmap(cl_command_queue q, cl_mem m, void *address, cl_uint n,
                                const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_UNMAP_MEM_OBJECT, false, n, list, out, &m, 1, NULL};
    cl_int bad = ocl_check_buffer(q, m);
    if (bad) return bad;
    ocl_mapping *p = take(m, address);
    if (!p) return CL_INVALID_VALUE;
    bad = ocl_check_wait_list(q->context, n, list);
    if (!bad) bad = ocl_request_nothing(&r);
    if (!bad || !add(p)) free(p); /* it is mapped as before */
    return bad;
}

void ocl_fill_map(ocl_entries *e) {
    e->core.clEnqueueMapBuffer = map_buffer;
    e->core.clEnqueueUnmapMemObject = unmap;
}
