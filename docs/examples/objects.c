/* objects.c: calls kernels that were compiled ahead of time, in an object file that is linked with
 * the program.  kernels_gen.h is the header that `spvfuse compile --header` has written beside the
 * object; the program needs no library.  Threads share the work-groups of a launch as the program
 * likes: here, each of two runs half of them. */
#include "kernels_gen.h"
#include <stdio.h>
#include <threads.h>

enum { COUNT = 4096, LOCAL = 64, GROUPS = COUNT / LOCAL, THREADS = 2 };

static float x[COUNT], y[COUNT], z[COUNT];

static int run_part(void *number) {
    const unsigned k = *(const unsigned *)number;
    spvf_group_info part = {.group_id = {k * GROUPS / THREADS, 0, 0},
                            .group_end = {(k + 1) * GROUPS / THREADS, 1, 1},
                            .num_groups = {GROUPS, 1, 1},
                            .local_size = {LOCAL, 1, 1},
                            .global_size = {COUNT, 1, 1},
                            .work_dim = 1};
    /* No group of `add` reads what another group of `scale` writes, so no thread waits. */
    spvf_run_scale(&part, 2.0f, x, z);
    spvf_run_add(&part, z, y, z);
    return 0;
}

int main(void) {
    unsigned numbers[THREADS] = {0, 1};
    thrd_t other;
    for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1;
    if (thrd_create(&other, run_part, &numbers[1]) != thrd_success) return 1;
    run_part(&numbers[0]);
    thrd_join(other, NULL);
    for (const spvf_native_kernel *kernel = spvf_kernels; kernel->name; kernel++)
        printf("%s needs %u bytes of stack\n", kernel->name, (unsigned)kernel->stack);
    printf("2 * %g + %g = %g\n", x[10], y[10], z[10]);
    return z[10] != 21 || z[COUNT - 1] != 2 * x[COUNT - 1] + 1;
}
