/* assembly.c — ./assembly OWN.so ASSEMBLED.so: runs all kernels of both on the same input and
 * compares what they write, and what their tables say. */
#include "runtime/spvfuse.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 256, LOCAL = 16, BYTES = 16384 };

static _Alignas(128) char buffers[2][2][BYTES], scratch[1 << 20];
static const char nothing[BYTES];

static void fill(char (*b)[BYTES]) {
    for (unsigned i = 0; i < BYTES / 4; i++) memcpy(b[0] + 4 * i, &(float){(float)i / 16}, 4);
    memset(b[1], 0, BYTES);
}

static void launch(const spvf_native_kernel *k, char (*b)[BYTES]) {
    int n = 11;
    void *args[] = {b[0], b[1], &n};
    spvf_group_info g = {.group_end = {COUNT / LOCAL / 2, 1, 1},
                         .num_groups = {COUNT / LOCAL, 1, 1},
                         .local_size = {LOCAL, 1, 1},
                         .global_size = {COUNT, 1, 1},
                         .work_dim = 1,
                         .local = scratch,
                         .scratch = scratch + sizeof scratch / 2};
    fill(b);
    k->run_block(&g, args);
    for (g.group_id[0] = COUNT / LOCAL / 2; g.group_id[0] < COUNT / LOCAL; g.group_id[0]++)
        k->run(&g, args);
}

static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static int same_kernel(const spvf_native_kernel *a, const spvf_native_kernel *b) {
    int same = a->name && b->name && strcmp(a->name, b->name) == 0 && a->stack == b->stack &&
               a->arg_count == 3 && b->arg_count == 3;
    for (unsigned n = 0; same && n < 3; n++)
        same = same_text(a->args[n].name, b->args[n].name) && a->args[n].size == b->args[n].size;
    return same;
}

int main(int argc, char **argv) {
    const spvf_native_kernel *table[2];
    for (int k = 0; k < 2; k++) {
        void *library = argc == 3 ? dlopen(argv[k + 1], RTLD_NOW | RTLD_LOCAL) : NULL;
        table[k] = library ? dlsym(library, "spvf_kernels") : NULL;
        if (!table[k]) return fprintf(stderr, "%s\n", dlerror()), 1;
    }
    for (; table[0]->name; table[0]++, table[1]++) {
        if (!same_kernel(table[0], table[1])) return printf("%s differs\n", table[0]->name), 1;
        for (int k = 0; k < 2; k++) launch(table[k], buffers[k]);
        if (memcmp(buffers[0], buffers[1], sizeof buffers[0]) != 0 ||
            memcmp(buffers[0][1], nothing, BYTES) == 0)
            return printf("%s writes something else\n", table[0]->name), 1;
        printf("%s\n", table[0]->name);
    }
    return table[1]->name != NULL;
}
