/* mutable.h — cl_khr_command_buffer_mutable_dispatch, version 0.9.5, which headers of Debian 12 have
 * in an older version: structs of names of our own, and the functions (find_mutable). */
#ifndef SPVFUSE_TESTS_MUTABLE_H
#define SPVFUSE_TESTS_MUTABLE_H

#include "tests/opencl/loader.h"

#include <CL/cl_ext.h>

#include "runtime/opencl/newer.h"

typedef struct {
    cl_uint index;
    size_t size;
    const void *value;
} mutable_arg;

typedef struct {
    cl_uint what;
    size_t size;
    const void *value;
} mutable_info;

typedef struct {
    cl_mutable_command_khr command;
    cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
    const mutable_arg *arg_list, *arg_svm_list;
    const mutable_info *exec_info_list;
    const size_t *global_work_offset, *global_work_size, *local_work_size;
} mutable_config;

static struct {
    cl_int(CL_API_CALL *update)(cl_command_buffer_khr b, cl_uint n, const cl_uint *types,
                                const void **configs);
    clUpdateMutableCommandsKHR_fn older; /* the same entry, of version 0.9.0 */
    clGetMutableCommandInfoKHR_fn info;
} changing;

/* False: a function is missing. */
static inline bool find_mutable(cl_platform_id platform) {
    load_entry(platform, "clUpdateMutableCommandsKHR", &changing.update);
    load_entry(platform, "clUpdateMutableCommandsKHR", &changing.older);
    load_entry(platform, "clGetMutableCommandInfoKHR", &changing.info);
    return changing.update && changing.info;
}

static inline cl_int update_one(cl_command_buffer_khr b, const mutable_config *c) {
    const cl_uint type = 0;
    const void *list[] = {c};
    return changing.update(b, 1, &type, list);
}

#endif
