/* objects.c: calls a kernel that was compiled ahead of time, in an object file that is linked with
 * the program.  kernels_gen.h is the header that `spvfuse compile --header` has written beside the
 * object; the program needs no library. */
#include "kernels_gen.h"
#include <stdio.h>

enum { COUNT = 4096, LOCAL = 64 };

int main(void) {
    static float x[COUNT], y[COUNT], z[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1;
    spvf_group_info all = {.group_end = {COUNT / LOCAL, 1, 1},
                           .num_groups = {COUNT / LOCAL, 1, 1},
                           .local_size = {LOCAL, 1, 1},
                           .global_size = {COUNT, 1, 1},
                           .work_dim = 1};
    spvf_run_scale(&all, 2.0f, x, z);
    spvf_run_add(&all, z, y, z);
    for (const spvf_native_kernel *kernel = spvf_kernels; kernel->name; kernel++)
        printf("%s needs %u bytes of stack\n", kernel->name, (unsigned)kernel->stack);
    printf("2 * %g + %g = %g\n", x[10], y[10], z[10]);
    return z[10] != 21;
}
