/* extensions.c — the extensions of the device and the features of its OpenCL C, as queries give
 * them. */
#include "runtime/opencl/ocl.h"
#include "runtime/source/source.h"

enum { MOST = 128, ROOM = MOST * CL_NAME_VERSION_MAX_NAME_SIZE };

static cl_int give_list(const ocl_answer *a, const rt_clc_name *names, size_t n) {
    cl_name_version list[MOST] = {0};
    for (size_t k = 0; k < n; k++) {
        list[k].version = names[k].version;
        snprintf(list[k].name, sizeof list[k].name, "%s", names[k].name);
    }
    return ocl_give(a, list, n * sizeof *list);
}

/* With a space after each. */
static cl_int give_names(const ocl_answer *a, const rt_clc_name *names, size_t n) {
    char text[ROOM] = "";
    size_t used = 0;
    for (size_t k = 0; k < n; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s ", names[k].name);
    return ocl_give_string(a, text);
}

cl_int ocl_give_extensions(const ocl_answer *a, bool versions) {
    size_t n;
    const rt_clc_name *names = rt_clc_extensions(&n);
    return versions ? give_list(a, names, n) : give_names(a, names, n);
}

cl_int ocl_give_features(const ocl_answer *a) {
    size_t n;
    const rt_clc_name *names = rt_clc_features(&n);
    return give_list(a, names, n);
}
