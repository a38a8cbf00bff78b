/* opcodes.c — opcodes by name, and names of versions.
 *
 * The names of instructions are strings in ir/ops.def, which does not depend on SPIR-V headers.
 * They are found by bisection in the sorted lists of opcodes.def.  The writer remembers the answer
 * for each operation (ops.c), so a module asks once for each operation that it contains.
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
#include "codegen/spirv/opcodes.def"
#undef CORE
#undef EXT
};

static const name_row ext_rows[] = {
#define CORE(name)
#define EXT(name, number) {#name, OpenCLstd_##number},
#include "codegen/spirv/opcodes.def"
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

const char *sw_version_name(uint32_t version) {
    static const char *const names[] = {"1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"};
    uint32_t minor = version >> 8 & 255;
    assert(minor < sizeof names / sizeof *names);
    return names[minor];
}
