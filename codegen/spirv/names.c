/* names.c — from the spirv column of the op table to numbers.
 *
 * The names of SPIR-V instructions are strings in ir/ops.def, which knows no SPIR-V headers; here
 * they are found by bisection in the sorted lists of names.def.  The writer remembers the answer
 * for each op, so a module asks once for each op that it contains.
 */
#include "codegen/spirv/spirv.h"

#include <stdlib.h>

typedef struct {
    const char *name;
    int number;
} name_row;

static const name_row core_rows[] = {
#define CORE(name) {"Op" #name, SpvOp##name},
#define EXT(name, number)
#include "codegen/spirv/names.def"
#undef CORE
#undef EXT
};

static const name_row ext_rows[] = {
#define CORE(name)
#define EXT(name, number) {#name, OpenCLstd_##number},
#include "codegen/spirv/names.def"
#undef CORE
#undef EXT
};

static int compare_rows(const void *a, const void *b) {
    return strcmp(((const name_row *)a)->name, ((const name_row *)b)->name);
}

static int find_row(const name_row *rows, size_t n, const char *name) {
    const name_row key = {name, 0};
    const name_row *row = bsearch(&key, rows, n, sizeof *rows, compare_rows);
    return row ? row->number : -1;
}

int sw_opcode_of(const char *spirv) {
    static const char prefix[] = "ext ";
    size_t skip = sizeof prefix - 1;
    if (strncmp(spirv, prefix, skip) == 0)
        return find_row(ext_rows, sizeof ext_rows / sizeof *ext_rows, spirv + skip);
    return find_row(core_rows, sizeof core_rows / sizeof *core_rows, spirv);
}
