/* table.c — the tables of instructions, from spirv.def and opencl_std.def.
 *
 * Opcodes are sparse, so a switch (which the compiler turns into tables) leads to the row.
 */
#include "frontend/reader.h"

static const spv_row rows[SPV_ROWS] = {
#define INST(name, number, form, min, max, place, reader)                                          \
    {#name, spv_read_##reader, NULL, min, max, FORM_##form, PLACE_##place},
#define LACK(name, number, form, min, what)                                                        \
    {#name, NULL, what, min, MANY, FORM_##form, PLACE_BODY},
#include "frontend/spirv.def"
#undef INST
#undef LACK
};

const spv_row *spv_row_of(uint32_t opcode) {
    switch (opcode) {
#define INST(name, number, form, min, max, place, reader)                                          \
    case number: return &rows[ROW_##name];
#define LACK(name, number, form, min, what)                                                        \
    case number: return &rows[ROW_##name];
#include "frontend/spirv.def"
#undef INST
#undef LACK
    default: return NULL;
    }
}

unsigned spv_row_index(const spv_row *row) { return (unsigned)(row - rows); }

const char *spv_family_of(uint32_t opcode) {
    static const struct {
        uint16_t first, last;
        const char *name;
    } families[] = {
        {4445, 4479, "ray tracing"},
        {5249, 5391, "graphics"},
        {5699, 5816, "SPV_INTEL_device_side_avc_motion_estimation"},
        {5840, 5882, "SPV_INTEL_arbitrary_precision_floating_point"},
        {5923, 5933, "SPV_INTEL_arbitrary_precision_fixed_point"},
        {6016, 6032, "ray tracing"},
        {6086, 6163, "Intel extensions"},
        {6231, 6260, "SPV_INTEL_2d_block_io"},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (opcode >= families[i].first && opcode <= families[i].last) return families[i].name;
    return NULL;
}

const spv_ext_row spv_ext_rows[SPV_EXT_ROWS] = {
#define EXT(name, number, min, max, reader) {#name, spv_ext_##reader, number, min, max},
#include "frontend/opencl_std.def"
#undef EXT
};

const spv_ext_row *spv_ext_row_of(uint32_t number) {
    switch (number) {
#define EXT(name, number, min, max, reader)                                                        \
    case number: return &spv_ext_rows[EXT_##name];
#include "frontend/opencl_std.def"
#undef EXT
    default: return NULL;
    }
}
