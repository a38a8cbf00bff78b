/* table.c — the tables of instructions, from spirv.def and opencl_std.def.
 *
 * An array leads from the number of an instruction to its row; opcodes are sparse, but 2 bytes
 * each.
 */
#include "frontend/reader.h"

const spv_row spv_rows[SPV_ROWS] = {
#define INST(name, number, form, min, max, place, reader)                                          \
    {#name, spv_read_##reader, NULL, min, max, FORM_##form, PLACE_##place},
#define LACK(name, number, form, min, what) {#name, NULL, what, min, MANY, FORM_##form, PLACE_BODY},
#include "frontend/spirv.def"
#undef INST
#undef LACK
};

const uint16_t spv_row_numbers[SPV_OPCODES] = {
#define INST(name, number, form, min, max, place, reader) [number] = ROW_##name + 1,
#define LACK(name, number, form, min, what) [number] = ROW_##name + 1,
#include "frontend/spirv.def"
#undef INST
#undef LACK
};

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

static const uint16_t ext_numbers[] = {
#define EXT(name, number, min, max, reader) [number] = EXT_##name + 1,
#include "frontend/opencl_std.def"
#undef EXT
};

const spv_ext_row *spv_ext_row_of(uint32_t number) {
    unsigned row = number < sizeof ext_numbers / sizeof *ext_numbers ? ext_numbers[number] : 0;
    return row ? &spv_ext_rows[row - 1] : NULL;
}
