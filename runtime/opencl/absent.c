/* absent.c — entries for what this device does not have: images, samplers, pipes.  The device says
 * so (CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_MAX_PIPE_ARGS), and each entry says CL_INVALID_OPERATION.
 */
#include "runtime/opencl/ocl.h"

static cl_mem absent_object(cl_context c, cl_int *error) {
    return ocl_fail(error, ocl_is(c, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
}

static cl_int absent_command(cl_command_queue q) {
    return ocl_is(q, OCL_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

/* -------------------------------------------------------------------------------------- objects */

static cl_mem CL_API_CALL create_image(cl_context c, cl_mem_flags flags, const cl_image_format *f,
                                       const cl_image_desc *d, void *host, cl_int *error) {
    (void)flags, (void)f, (void)d, (void)host;
    return absent_object(c, error);
}

static cl_mem CL_API_CALL create_image_with_properties(cl_context c, const cl_mem_properties *p,
                                                       cl_mem_flags flags, const cl_image_format *f,
                                                       const cl_image_desc *d, void *host,
                                                       cl_int *error) {
    (void)p, (void)flags, (void)f, (void)d, (void)host;
    return absent_object(c, error);
}

static cl_mem CL_API_CALL create_image_2d(cl_context c, cl_mem_flags flags,
                                          const cl_image_format *f, size_t x, size_t y, size_t row,
                                          void *host, cl_int *error) {
    (void)flags, (void)f, (void)x, (void)y, (void)row, (void)host;
    return absent_object(c, error);
}

static cl_mem CL_API_CALL create_image_3d(cl_context c, cl_mem_flags flags,
                                          const cl_image_format *f, size_t x, size_t y, size_t z,
                                          size_t row, size_t slice, void *host, cl_int *error) {
    (void)flags, (void)f, (void)x, (void)y, (void)z, (void)row, (void)slice, (void)host;
    return absent_object(c, error);
}

static cl_mem CL_API_CALL create_pipe(cl_context c, cl_mem_flags flags, cl_uint packet, cl_uint n,
                                      const cl_pipe_properties *p, cl_int *error) {
    (void)flags, (void)packet, (void)n, (void)p;
    return absent_object(c, error);
}

static cl_sampler CL_API_CALL create_sampler(cl_context c, cl_bool normalized,
                                             cl_addressing_mode addressing, cl_filter_mode filter,
                                             cl_int *error) {
    (void)normalized, (void)addressing, (void)filter;
    return (cl_sampler)(void *)absent_object(c, error);
}

static cl_sampler CL_API_CALL create_sampler_with_properties(cl_context c,
                                                             const cl_sampler_properties *p,
                                                             cl_int *error) {
    (void)p;
    return (cl_sampler)(void *)absent_object(c, error);
}

static cl_int CL_API_CALL get_image_formats(cl_context c, cl_mem_flags flags,
                                            cl_mem_object_type type, cl_uint room,
                                            cl_image_format *formats, cl_uint *count) {
    (void)flags, (void)type;
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    if (!room && formats) return CL_INVALID_VALUE;
    if (count) *count = 0;
    return CL_SUCCESS;
}

/* No handle of a kind that does not exist is right. */
static cl_int CL_API_CALL get_image_info(cl_mem m, cl_image_info what, size_t room, void *to,
                                         size_t *size) {
    (void)m, (void)what, (void)room, (void)to, (void)size;
    return CL_INVALID_MEM_OBJECT;
}

static cl_int CL_API_CALL get_pipe_info(cl_mem m, cl_pipe_info what, size_t room, void *to,
                                        size_t *size) {
    (void)m, (void)what, (void)room, (void)to, (void)size;
    return CL_INVALID_MEM_OBJECT;
}

static cl_int CL_API_CALL retain_sampler(cl_sampler s) {
    (void)s;
    return CL_INVALID_SAMPLER;
}

static cl_int CL_API_CALL get_sampler_info(cl_sampler s, cl_sampler_info what, size_t room,
                                           void *to, size_t *size) {
    (void)s, (void)what, (void)room, (void)to, (void)size;
    return CL_INVALID_SAMPLER;
}

/* ------------------------------------------------------------------------------------- commands */

static cl_int CL_API_CALL read_image(cl_command_queue q, cl_mem m, cl_bool blocking,
                                     const size_t *origin, const size_t *region, size_t row,
                                     size_t slice, void *to, cl_uint n, const cl_event *list,
                                     cl_event *out) {
    (void)m, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)to;
    (void)n, (void)list, (void)out;
    return absent_command(q);
}

static cl_int CL_API_CALL write_image(cl_command_queue q, cl_mem m, cl_bool blocking,
                                      const size_t *origin, const size_t *region, size_t row,
                                      size_t slice, const void *from, cl_uint n,
                                      const cl_event *list, cl_event *out) {
    (void)m, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)from;
    (void)n, (void)list, (void)out;
    return absent_command(q);
}

static cl_int CL_API_CALL copy_image(cl_command_queue q, cl_mem from, cl_mem to,
                                     const size_t *origin, const size_t *target,
                                     const size_t *region, cl_uint n, const cl_event *list,
                                     cl_event *out) {
    (void)from, (void)to, (void)origin, (void)target, (void)region, (void)n, (void)list, (void)out;
    return absent_command(q);
}

static cl_int CL_API_CALL copy_image_to_buffer(cl_command_queue q, cl_mem from, cl_mem to,
                                               const size_t *origin, const size_t *region,
                                               size_t offset, cl_uint n, const cl_event *list,
                                               cl_event *out) {
    (void)from, (void)to, (void)origin, (void)region, (void)offset, (void)n, (void)list, (void)out;
    return absent_command(q);
}

static cl_int CL_API_CALL copy_buffer_to_image(cl_command_queue q, cl_mem from, cl_mem to,
                                               size_t offset, const size_t *origin,
                                               const size_t *region, cl_uint n,
                                               const cl_event *list, cl_event *out) {
    (void)from, (void)to, (void)offset, (void)origin, (void)region, (void)n, (void)list, (void)out;
    return absent_command(q);
}

static cl_int CL_API_CALL fill_image(cl_command_queue q, cl_mem m, const void *color,
                                     const size_t *origin, const size_t *region, cl_uint n,
                                     const cl_event *list, cl_event *out) {
    (void)m, (void)color, (void)origin, (void)region, (void)n, (void)list, (void)out;
    return absent_command(q);
}

static void *CL_API_CALL map_image(cl_command_queue q, cl_mem m, cl_bool blocking,
                                   cl_map_flags flags, const size_t *origin, const size_t *region,
                                   size_t *row, size_t *slice, cl_uint n, const cl_event *list,
                                   cl_event *out, cl_int *error) {
    (void)m, (void)blocking, (void)flags, (void)origin, (void)region, (void)row, (void)slice;
    (void)n, (void)list, (void)out;
    return ocl_fail(error, absent_command(q));
}

static cl_int absent_recording(cl_command_buffer_khr b) {
    return ocl_is(b, OCL_COMMAND_BUFFER) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_BUFFER_KHR;
}

static cl_int CL_API_CALL record_copy_image(cl_command_buffer_khr b, cl_command_queue q,
                                            cl_mem from, cl_mem to, const size_t *origin,
                                            const size_t *target, const size_t *region, cl_uint n,
                                            const cl_sync_point_khr *list, cl_sync_point_khr *point,
                                            cl_mutable_command_khr *handle) {
    (void)q, (void)from, (void)to, (void)origin, (void)target, (void)region;
    (void)n, (void)list, (void)point, (void)handle;
    return absent_recording(b);
}

static cl_int CL_API_CALL record_copy_buffer_to_image(cl_command_buffer_khr b, cl_command_queue q,
                                                      cl_mem from, cl_mem to, size_t offset,
                                                      const size_t *origin, const size_t *region,
                                                      cl_uint n, const cl_sync_point_khr *list,
                                                      cl_sync_point_khr *point,
                                                      cl_mutable_command_khr *handle) {
    (void)q, (void)from, (void)to, (void)offset, (void)origin, (void)region;
    (void)n, (void)list, (void)point, (void)handle;
    return absent_recording(b);
}

static cl_int CL_API_CALL record_copy_image_to_buffer(cl_command_buffer_khr b, cl_command_queue q,
                                                      cl_mem from, cl_mem to, const size_t *origin,
                                                      const size_t *region, size_t offset,
                                                      cl_uint n, const cl_sync_point_khr *list,
                                                      cl_sync_point_khr *point,
                                                      cl_mutable_command_khr *handle) {
    (void)q, (void)from, (void)to, (void)origin, (void)region, (void)offset;
    (void)n, (void)list, (void)point, (void)handle;
    return absent_recording(b);
}

static cl_int CL_API_CALL record_fill_image(cl_command_buffer_khr b, cl_command_queue q, cl_mem m,
                                            const void *color, const size_t *origin,
                                            const size_t *region, cl_uint n,
                                            const cl_sync_point_khr *list, cl_sync_point_khr *point,
                                            cl_mutable_command_khr *handle) {
    (void)q, (void)m, (void)color, (void)origin, (void)region;
    (void)n, (void)list, (void)point, (void)handle;
    return absent_recording(b);
}

void ocl_fill_absent(ocl_entries *e) {
    e->core.clCreateImage = create_image;
    e->core.clCreateImageWithProperties = create_image_with_properties;
    e->core.clCreateImage2D = create_image_2d;
    e->core.clCreateImage3D = create_image_3d;
    e->core.clCreatePipe = create_pipe;
    e->core.clCreateSampler = create_sampler;
    e->core.clCreateSamplerWithProperties = create_sampler_with_properties;
    e->core.clGetSupportedImageFormats = get_image_formats;
    e->core.clGetImageInfo = get_image_info;
    e->core.clGetPipeInfo = get_pipe_info;
    e->core.clRetainSampler = retain_sampler;
    e->core.clReleaseSampler = retain_sampler;
    e->core.clGetSamplerInfo = get_sampler_info;
    e->core.clEnqueueReadImage = read_image;
    e->core.clEnqueueWriteImage = write_image;
    e->core.clEnqueueCopyImage = copy_image;
    e->core.clEnqueueCopyImageToBuffer = copy_image_to_buffer;
    e->core.clEnqueueCopyBufferToImage = copy_buffer_to_image;
    e->core.clEnqueueFillImage = fill_image;
    e->core.clEnqueueMapImage = map_image;
    ocl_add_extension(e, "clCommandCopyImageKHR", (ocl_function)record_copy_image);
    ocl_add_extension(e, "clCommandCopyBufferToImageKHR",
                      (ocl_function)record_copy_buffer_to_image);
    ocl_add_extension(e, "clCommandCopyImageToBufferKHR",
                      (ocl_function)record_copy_image_to_buffer);
    ocl_add_extension(e, "clCommandFillImageKHR", (ocl_function)record_fill_image);
}
