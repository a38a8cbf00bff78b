/* rect.c — boxes of bytes in buffers: reading, writing and copying them.
 *
 * A pitch of 0 means that nothing lies between.  Rows of a box never overlap: of reads and writes
 * the specification lets a slice be shorter than its rows together, if it is a multiple of one;
 * here none is.
 */
#include "runtime/opencl/ocl.h"

/* sum += a * b; false: that is no size. */
static bool add_product(size_t *sum, size_t a, size_t b) {
    size_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/* Finds the box that begins somewhere in an area and ends in it; false: it is wrong. */
static bool find_box(ocl_area area, ocl_shape s, const size_t region[3], rt_box *box) {
    size_t begin = s.origin[0], size = region[0], slice = 0;
    *box = (rt_box){.row = s.row ? s.row : region[0]};
    if (box->row < region[0] || !add_product(&slice, box->row, region[1])) return false;
    box->slice = s.slice ? s.slice : slice;
    if (box->slice < slice) return false;
    if (!add_product(&begin, s.origin[1], box->row) ||
        !add_product(&begin, s.origin[2], box->slice) ||
        !add_product(&size, region[1] - 1, box->row) ||
        !add_product(&size, region[2] - 1, box->slice))
        return false;
    if (begin > area.size || size > area.size - begin) return false;
    box->bytes = (char *)area.bytes + begin;
    return true;
}

static bool is_region(const size_t *region) {
    return region && region[0] && region[1] && region[2];
}

/* ----------------------------------------------------------------------------- reads and writes */

typedef struct {
    rt_box buffer, host;
} boxes;

/* shape: of the buffer; of the host, whose area goes to the end of all memory. */
static cl_int find_boxes(const ocl_request *r, const size_t *region, const ocl_shape shape[2],
                         const void *bytes, boxes *out) {
    const ocl_shape buffer = shape[0], host = shape[1];
    cl_mem m = r->mems[0];
    cl_int bad = ocl_check_buffer(r->queue, m);
    if (bad) return bad;
    const ocl_area host_area = {(void *)bytes, UINTPTR_MAX - (uintptr_t)bytes};
    if (!bytes || !is_region(region) || !buffer.origin || !host.origin ||
        !find_box(m->memory, buffer, region, &out->buffer) ||
        !find_box(host_area, host, region, &out->host))
        return CL_INVALID_VALUE;
    bad = ocl_check_wait_list(m->context, r->wait_count, r->wait);
    bool reads = r->type == CL_COMMAND_READ_BUFFER_RECT;
    return bad ? bad : ocl_check_host_access(m, reads, !reads);
}

static cl_int CL_API_CALL read_rect(cl_command_queue q, cl_mem m, cl_bool blocking,
                                    const size_t *buffer_origin, const size_t *host_origin,
                                    const size_t *region, size_t buffer_row, size_t buffer_slice,
                                    size_t host_row, size_t host_slice, void *host, cl_uint n,
                                    const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_READ_BUFFER_RECT, blocking, n, list, out, &m, 1, NULL};
    boxes b;
    const ocl_shape shape[] = {{buffer_origin, buffer_row, buffer_slice},
                               {host_origin, host_row, host_slice}};
    cl_int bad = find_boxes(&r, region, shape, host, &b);
    return bad ? bad : ocl_request_copy(&r, &b.host, &b.buffer, region);
}

static cl_int CL_API_CALL write_rect(cl_command_queue q, cl_mem m, cl_bool blocking,
                                     const size_t *buffer_origin, const size_t *host_origin,
                                     const size_t *region, size_t buffer_row, size_t buffer_slice,
                                     size_t host_row, size_t host_slice, const void *host,
                                     cl_uint n, const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_WRITE_BUFFER_RECT, blocking, n, list, out, &m, 1, NULL};
    boxes b;
    const ocl_shape shape[] = {{buffer_origin, buffer_row, buffer_slice},
                               {host_origin, host_row, host_slice}};
    cl_int bad = find_boxes(&r, region, shape, host, &b);
    return bad ? bad : ocl_request_copy(&r, &b.buffer, &b.host, region);
}

/* --------------------------------------------------------------------------------------- copies */

/* Like find_box; false, too, when a slice is no whole number of rows. */
static bool find_even_box(cl_mem m, ocl_shape s, const size_t region[3], rt_box *box) {
    return s.origin && find_box(m->memory, s, region, box) && box->slice % box->row == 0;
}

cl_int ocl_copy_rect(const ocl_request *r, ocl_shape source, ocl_shape target,
                     const size_t *region) {
    rt_box from, to;
    cl_int bad = ocl_check_buffer(r->queue, r->mems[0]);
    if (!bad) bad = ocl_check_buffer(r->queue, r->mems[1]);
    if (bad) return bad;
    if (!is_region(region) || !find_even_box(r->mems[0], source, region, &from) ||
        !find_even_box(r->mems[1], target, region, &to))
        return CL_INVALID_VALUE;
    if (r->mems[0] == r->mems[1] && from.slice != to.slice && from.row != to.row)
        return CL_INVALID_VALUE;
    bad = ocl_check_order(r);
    if (bad) return bad;
    if (ocl_root(r->mems[0]) == ocl_root(r->mems[1]) && ocl_overlap(&from, &to, region))
        return CL_MEM_COPY_OVERLAP;
    return ocl_request_copy(r, &to, &from, region);
}

static cl_int CL_API_CALL copy_rect(cl_command_queue q, cl_mem source, cl_mem target,
                                    const size_t *source_origin, const size_t *target_origin,
                                    const size_t *region, size_t source_row, size_t source_slice,
                                    size_t target_row, size_t target_slice, cl_uint n,
                                    const cl_event *list, cl_event *out) {
    const cl_mem both[] = {source, target};
    const ocl_request r = {q, CL_COMMAND_COPY_BUFFER_RECT, false, n, list, out, both, 2, NULL};
    return ocl_copy_rect(&r, (ocl_shape){source_origin, source_row, source_slice},
                         (ocl_shape){target_origin, target_row, target_slice}, region);
}

void ocl_fill_rect(ocl_entries *e) {
    e->core.clEnqueueReadBufferRect = read_rect;
    e->core.clEnqueueWriteBufferRect = write_rect;
    e->core.clEnqueueCopyBufferRect = copy_rect;
}
