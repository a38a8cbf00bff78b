/* transfer.c — reading, writing, copying and filling buffers; commands that move bytes, or none.
 *
 * Whatever is moved is a box of bytes: a row of them, rows that make a slice, slices (rect.c); what
 * has no corners is one row.
 */
#include "runtime/opencl/ocl.h"

/* Commands that move bytes, or none; the buffers are kept until the command is gone. */
typedef struct {
    ocl_command command; /* the first member */
    size_t mem_count;
    unsigned char pattern[RT_MAX_PATTERN];
    cl_mem mems[];
} transfer;

static void drop(cl_event e) {
    transfer *t = (transfer *)(void *)e;
    for (size_t n = 0; n < t->mem_count; n++) ocl_release_mem(t->mems[n]);
}

static cl_int request(const ocl_request *r, rt_run *run, const rt_command *command) {
    transfer *t;
    const size_t size = sizeof *t + r->mem_count * sizeof *t->mems;
    t = (transfer *)(void *)ocl_new_command(r->queue, r->type, size, run, drop);
    if (!t) return CL_OUT_OF_HOST_MEMORY;
    for (size_t n = 0; n < r->mem_count; n++) ocl_retain_mem(t->mems[n] = r->mems[n]);
    t->mem_count = r->mem_count;
    if (command) t->command.command = *command;
    if (command && command->kind == RT_COMMAND_FILL) {
        rt_fill *fill = &t->command.command.fill;
        fill->pattern = memcpy(t->pattern, fill->pattern, fill->pattern_size);
    }
    return ocl_submit(r, &t->command.event);
}

cl_int ocl_request_nothing(const ocl_request *r) { return request(r, NULL, NULL); }

/* ---------------------------------------------------------------------------------------- boxes */

cl_int ocl_request_copy(const ocl_request *r, const rt_box *to, const rt_box *from,
                        const size_t region[3]) {
    const rt_command command = {.kind = RT_COMMAND_COPY,
                                .copy = {*to, *from, {region[0], region[1], region[2]}}};
    return request(r, ocl_run_on_device, &command);
}

static const char *row_at(const rt_box *b, const size_t region[3], size_t row) {
    return b->bytes + row / region[1] * b->slice + row % region[1] * b->row;
}

/* The rows of each are sorted by address: the first of two that are apart meets no row of the other
 * any more. */
bool ocl_overlap(const rt_box *a, const rt_box *b, const size_t region[3]) {
    const size_t rows = region[1] * region[2];
    for (size_t i = 0, k = 0; i < rows && k < rows;) {
        const uintptr_t x = (uintptr_t)row_at(a, region, i), y = (uintptr_t)row_at(b, region, k);
        if ((x < y ? y - x : x - y) < region[0]) return true;
        *(x < y ? &i : &k) += 1;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------- fills */

cl_int ocl_request_fill(const ocl_request *r, ocl_area to, const void *pattern,
                        size_t pattern_size) {
    const rt_fill fill = {.to = {.bytes = to.bytes},
                          .size = to.size,
                          .pattern = pattern,
                          .pattern_size = pattern_size};
    return request(r, ocl_run_on_device, &(rt_command){.kind = RT_COMMAND_FILL, .fill = fill});
}

cl_int ocl_check_pattern(const void *pattern, size_t pattern_size, size_t offset, size_t size) {
    if (!pattern || !pattern_size || pattern_size > RT_MAX_PATTERN ||
        pattern_size & (pattern_size - 1))
        return CL_INVALID_VALUE;
    return offset % pattern_size || size % pattern_size ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* --------------------------------------------------------------------------------------- checks */

cl_int ocl_check_buffer(cl_command_queue q, cl_mem m) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!ocl_is(m, OCL_MEM)) return CL_INVALID_MEM_OBJECT;
    return m->context == q->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int ocl_check_host_access(cl_mem m, bool reads, bool writes) {
    bool may_read = !(m->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS));
    bool may_write = !(m->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
    return (reads && !may_read) || (writes && !may_write) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

/* -------------------------------------------------------------------------------------- entries */

static rt_box bytes_of(cl_mem m, size_t offset) {
    return (rt_box){.bytes = (char *)m->memory.bytes + offset};
}

static cl_int check_transfer(const ocl_request *r, size_t offset, size_t size, const void *host) {
    cl_mem m = r->mems[0];
    cl_int bad = ocl_check_buffer(r->queue, m);
    if (bad) return bad;
    if (!ocl_is_inside(m, offset, size) || !host) return CL_INVALID_VALUE;
    bad = ocl_check_wait_list(m->context, r->wait_count, r->wait);
    bool reads = r->type == CL_COMMAND_READ_BUFFER;
    return bad ? bad : ocl_check_host_access(m, reads, !reads);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
                                      size_t size, void *host, cl_uint n, const cl_event *list,
                                      cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_READ_BUFFER, blocking, n, list, out, &m, 1, NULL};
    cl_int bad = check_transfer(&r, offset, size, host);
    if (bad) return bad;
    const rt_box from = bytes_of(m, offset), to = {.bytes = host};
    return ocl_request_copy(&r, &to, &from, (size_t[]){size, 1, 1});
}

static cl_int CL_API_CALL write_buffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                       size_t offset, size_t size, const void *host, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_WRITE_BUFFER, blocking, n, list, out, &m, 1, NULL};
    cl_int bad = check_transfer(&r, offset, size, host);
    if (bad) return bad;
    const rt_box from = {.bytes = (char *)host}, to = bytes_of(m, offset);
    return ocl_request_copy(&r, &to, &from, (size_t[]){size, 1, 1});
}

cl_int ocl_copy(const ocl_request *r, size_t source_offset, size_t target_offset, size_t size) {
    cl_mem source = r->mems[0], target = r->mems[1];
    cl_int bad = ocl_check_buffer(r->queue, source);
    if (!bad) bad = ocl_check_buffer(r->queue, target);
    if (bad) return bad;
    if (!ocl_is_inside(source, source_offset, size) || !ocl_is_inside(target, target_offset, size))
        return CL_INVALID_VALUE;
    bad = ocl_check_order(r);
    if (bad) return bad;
    const rt_box from = bytes_of(source, source_offset), to = bytes_of(target, target_offset);
    const size_t region[3] = {size, 1, 1};
    if (ocl_root(source) == ocl_root(target) && ocl_overlap(&from, &to, region))
        return CL_MEM_COPY_OVERLAP;
    return ocl_request_copy(r, &to, &from, region);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue q, cl_mem source, cl_mem target,
                                      size_t source_offset, size_t target_offset, size_t size,
                                      cl_uint n, const cl_event *list, cl_event *out) {
    const cl_mem both[] = {source, target};
    const ocl_request r = {q, CL_COMMAND_COPY_BUFFER, false, n, list, out, both, 2, NULL};
    return ocl_copy(&r, source_offset, target_offset, size);
}

cl_int ocl_fill(const ocl_request *r, const void *pattern, size_t pattern_size, size_t offset,
                size_t size) {
    cl_mem m = r->mems[0];
    cl_int bad = ocl_check_buffer(r->queue, m);
    if (bad) return bad;
    if (!ocl_is_inside(m, offset, size)) return CL_INVALID_VALUE;
    bad = ocl_check_pattern(pattern, pattern_size, offset, size);
    if (!bad) bad = ocl_check_order(r);
    if (bad) return bad;
    return ocl_request_fill(r, (ocl_area){bytes_of(m, offset).bytes, size}, pattern, pattern_size);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue q, cl_mem m, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size, cl_uint n,
                                      const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_FILL_BUFFER, false, n, list, out, &m, 1, NULL};
    return ocl_fill(&r, pattern, pattern_size, offset, size);
}

bool ocl_are_migration_flags(cl_mem_migration_flags flags) {
    const cl_mem_migration_flags known =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    return !(flags & ~known);
}

/* All memory is at one place. */
static cl_int CL_API_CALL migrate(cl_command_queue q, cl_uint count, const cl_mem *mems,
                                  cl_mem_migration_flags flags, cl_uint n, const cl_event *list,
                                  cl_event *out) {
    const ocl_request r = {q,   CL_COMMAND_MIGRATE_MEM_OBJECTS, false, n, list, out, mems, count,
                           NULL};
    cl_int bad = ocl_is(q, OCL_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
    for (cl_uint k = 0; !bad && mems && k < count; k++) bad = ocl_check_buffer(q, mems[k]);
    if (bad) return bad;
    if (!count || !mems || !ocl_are_migration_flags(flags)) return CL_INVALID_VALUE;
    bad = ocl_check_wait_list(q->context, n, list);
    return bad ? bad : ocl_request_nothing(&r);
}

void ocl_fill_transfer(ocl_entries *e) {
    e->core.clEnqueueReadBuffer = read_buffer;
    e->core.clEnqueueWriteBuffer = write_buffer;
    e->core.clEnqueueCopyBuffer = copy_buffer;
    e->core.clEnqueueFillBuffer = fill_buffer;
    e->core.clEnqueueMigrateMemObjects = migrate;
}
