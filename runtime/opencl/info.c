/* info.c — writes answers of clGet…Info.
 *
 * The caller gives room for the value, for its size, or for both.  If the room is too small for the
 * value, nothing is written, and the answer is CL_INVALID_VALUE.
 */
#include "runtime/opencl/ocl.h"

cl_int ocl_give(const ocl_answer *a, const void *value, size_t size) {
    if (a->to && a->room < size) return CL_INVALID_VALUE;
    if (a->to && size) memcpy(a->to, value, size);
    if (a->size) *a->size = size;
    return CL_SUCCESS;
}

cl_int ocl_give_uint(const ocl_answer *a, cl_uint n) { return ocl_give(a, &n, sizeof n); }

cl_int ocl_give_ulong(const ocl_answer *a, cl_ulong n) { return ocl_give(a, &n, sizeof n); }

cl_int ocl_give_size(const ocl_answer *a, size_t n) { return ocl_give(a, &n, sizeof n); }

cl_int ocl_give_bool(const ocl_answer *a, bool yes) { return ocl_give_uint(a, yes); }

cl_int ocl_give_pointer(const ocl_answer *a, const void *p) { return ocl_give(a, &p, sizeof p); }

cl_int ocl_give_string(const ocl_answer *a, const char *s) {
    if (!s) s = "";
    return ocl_give(a, s, strlen(s) + 1);
}

cl_int ocl_give_properties(const ocl_answer *a, const ocl_properties *p) {
    return ocl_give(a, p->value, p->n * sizeof *p->value);
}
