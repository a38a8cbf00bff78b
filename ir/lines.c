/* lines.c — the line table of a module: from the loc of an instruction to a place in its source.
 *
 * A loc is the word offset of an instruction in the SPIR-V that its module was read from.  Lines
 * that come from another module, together with a copy of its code, get new locs above all
 * of these: one for each line of the other table that an instruction refers to.
 */
#include "ir/change.h"

const ir_line *ir_line_of(const ir_module *m, uint32_t word) {
    uint32_t low = 0, high = m->lines.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->lines.data[mid].word <= word)
            low = mid + 1;
        else
            high = mid;
    }
    if (word == 0 || low == 0 || m->lines.data[low - 1].line == 0) return NULL;
    return &m->lines.data[low - 1];
}

uint32_t ir_make_loc(ir_module *m, ir_line line) {
    uint32_t last = m->lines.n ? m->lines.data[m->lines.n - 1].word : 0;
    if (last == UINT32_MAX) return 0;
    line.word = last < IR_LOC_MADE ? IR_LOC_MADE : last + 1;
    *ir_push(&m->arena, &m->lines) = line;
    return line.word;
}

/* A file of the source module as a file of m. */
static uint32_t import_file(ir_importer *im, const char *name) {
    ir_module *m = im->m;
    uintptr_t known = (uintptr_t)ir_map_get(&im->done, (uintptr_t)name);
    if (known) return (uint32_t)(known - 1);
    *ir_push(&m->arena, &m->files) = ir_strdup(&m->arena, name);
    ir_map_set(&m->arena, &im->done, (uintptr_t)name, (void *)(uintptr_t)m->files.n);
    return m->files.n - 1;
}

uint32_t ir_import_loc(ir_importer *im, const ir_module *from, uint32_t loc) {
    ir_module *m = im->m;
    if (from == m) return loc;
    const ir_line *line = ir_line_of(from, loc);
    if (!line) return 0;
    uintptr_t known = (uintptr_t)ir_map_get(&im->done, (uintptr_t)line);
    if (known) return (uint32_t)known;
    ir_line copy = *line;
    copy.file = import_file(im, from->files.data[line->file]);
    uint32_t word = ir_make_loc(m, copy);
    ir_map_set(&m->arena, &im->done, (uintptr_t)line, (void *)(uintptr_t)word);
    return word;
}
