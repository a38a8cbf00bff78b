/* sections.c — the sections of an object: globals by what may be done to them, then the code, with
 * the symbols, relocations, frames and lines that belong to it.
 */
#include "codegen/native/unit.h"

uint32_t cg_label_of(cg_unit *u, const void *what) {
    uint64_t key = (uintptr_t)what;
    uintptr_t label = (uintptr_t)ir_map_get(&u->label_of, key);
    if (!label) {
        label = (uintptr_t)u->target->new_label(u) + 1;
        ir_map_set(u->arena, &u->label_of, key, (void *)label);
    }
    return (uint32_t)label - 1;
}

/* The object outlives the module, and its names. */
static void add_symbol(cg_unit *u, const void *what, cg_symbol s) {
    s.name = ir_strdup(u->arena, s.name);
    *ir_push(u->arena, &u->object->symbols) = s;
    uintptr_t n = u->object->symbols.n;
    ir_map_set(u->arena, &u->symbol_of, (uintptr_t)what, (void *)n);
}

static void place_global(cg_unit *u, const ir_global *g) {
    cg_object *o = u->object;
    cg_section section = g->constant || g->space == IR_CONST ? CG_RODATA : CG_DATA;
    uint64_t bytes = ir_sizeof(g->module, g->type);
    uint32_t align = g->align ? g->align : 1;
    uint32_t at = cg_next_place(o, section, bytes, align, g->module->cx);
    o->size[section] = at + (uint32_t)bytes;
    if (align > o->align[section]) o->align[section] = align;
    add_symbol(u, g, (cg_symbol){g->name, section, at, (uint32_t)bytes, false, false});
}

/* The first symbols of the object are those of the globals, in module order. */
static void fill_globals(cg_unit *u, const ir_module *m) {
    cg_object *o = u->object;
    uint32_t n = 0;
    for (int s = CG_RODATA; s <= CG_DATA; s++) o->bytes[s] = ir_alloc(u->arena, o->size[s]);
    foreach_global (g, m) {
        if (g->space == IR_LOCAL) continue;
        const cg_symbol *s = &o->symbols.data[n++];
        if (g->init) memcpy(o->bytes[s->section] + s->at, g->init, s->size);
    }
}

static void add_reloc(cg_unit *u, cg_reloc r) { *ir_push(u->arena, &u->object->relocs) = r; }

/* Addresses in the initializers of globals. */
static void place_relocs(cg_unit *u, const ir_global *g) {
    cg_symbol s = u->object->symbols.data[cg_symbol_of(u, g)];
    for (uint32_t n = 0; n < g->nreloc; n++) {
        const ir_reloc *r = &g->reloc[n];
        uint32_t to = cg_symbol_of(u, r->global);
        add_reloc(u, (cg_reloc){s.section, CG_ABS64, s.at + (uint32_t)r->offset, to, r->addend});
    }
}

/* By label: the symbol of the global that it stands for. */
static const uint32_t *list_labels(const cg_unit *u, const ir_module *m) {
    uint32_t most = 0;
    foreach_global (g, m) {
        uintptr_t label = (uintptr_t)ir_map_get(&u->label_of, (uintptr_t)g);
        if (label > most) most = (uint32_t)label;
    }
    uint32_t *symbols = ir_new_array(u->arena, uint32_t, most + 1);
    foreach_global (g, m) {
        uintptr_t label = (uintptr_t)ir_map_get(&u->label_of, (uintptr_t)g);
        if (label && g->space != IR_LOCAL) symbols[label - 1] = cg_symbol_of(u, g);
    }
    return symbols;
}

static void place_code(cg_unit *u, const ir_module *m, const cg_image *image) {
    cg_object *o = u->object;
    o->bytes[CG_TEXT] = image->bytes;
    o->size[CG_TEXT] = image->n;
    o->align[CG_TEXT] = image->alignment < 16 ? 16 : image->alignment;
    foreach_func (f, m) {
        if (ir_is_declaration(f) || f->level != L_ALLOCATED) continue;
        uint32_t at = image->labels[cg_label_of(u, f)];
        bool exported = !(f->flags & IR_FUNC_SHARED);
        add_symbol(u, f, (cg_symbol){f->name, CG_TEXT, at, 0, true, exported});
    }
    cg_measure_stacks(u);
    for (uint32_t n = 0; n < u->frames.n; n++) {
        cg_open_frame *x = &u->frames.data[n];
        x->frame.symbol = cg_symbol_of(u, x->func);
        *ir_push(u->arena, &o->frames) = x->frame;
    }
    const uint32_t *symbols = list_labels(u, m);
    for (uint32_t n = 0; n < image->nrelocs; n++) {
        const cg_label_reloc *r = &image->relocs[n];
        add_reloc(u, (cg_reloc){CG_TEXT, CG_PC32, r->at, symbols[r->label], r->addend});
    }
}

static void place_lines(cg_unit *u, const ir_module *m, const cg_image *image) {
    for (uint32_t n = 0; n < u->lines.n; n++) {
        const ir_line *from = ir_line_of(m, u->lines.data[n].loc);
        cg_line *to = ir_push(u->arena, &u->object->lines);
        *to = (cg_line){.at = image->labels[u->lines.data[n].label],
                        .prologue_end = u->lines.data[n].prologue_end};
        if (!from) continue;
        to->file = cg_number_file(u, m->files.data[from->file]);
        to->line = from->line;
        to->column = from->column;
    }
}

static void add_label(cg_unit *u, uint32_t number, cg_section section, uint32_t at) {
    *ir_push(u->arena, &u->object->labels) = (cg_label){number, section, at};
}

/* What the listing refers to by label and does not define. */
static void note_labels(cg_unit *u, const ir_module *m, const cg_image *image) {
    const cg_symbol *symbols = u->object->symbols.data;
    foreach_global (g, m) {
        if (g->space == IR_LOCAL) continue;
        const cg_symbol *s = &symbols[cg_symbol_of(u, g)];
        add_label(u, cg_label_of(u, g), s->section, s->at);
    }
    foreach_func (f, m)
        if (!ir_is_declaration(f) && f->level == L_ALLOCATED)
            add_label(u, cg_label_of(u, f), CG_TEXT, symbols[cg_symbol_of(u, f)].at);
    for (uint32_t n = 0; n < image->nlabels; n++)
        if (image->labels[n] != UINT32_MAX && image->labels[n] >= image->code_bytes)
            add_label(u, n, CG_TEXT, image->labels[n]);
}

/* A function ends where the next one begins, the last one where the constants begin.  Functions
 * have code in module order, so symbols are sorted by address. */
static void measure_functions(cg_object *o, uint32_t code_bytes) {
    uint32_t end = code_bytes;
    for (uint32_t n = o->symbols.n; n-- > 0;) {
        cg_symbol *s = &o->symbols.data[n];
        if (!s->function) continue;
        s->size = end - s->at;
        end = s->at;
    }
}

void cg_place_module(cg_unit *u, const ir_module *m, const cg_image *image) {
    foreach_global (g, m)
        if (g->space != IR_LOCAL) place_global(u, g);
    fill_globals(u, m);
    foreach_global (g, m)
        if (g->space != IR_LOCAL) place_relocs(u, g);
    place_code(u, m, image);
    place_lines(u, m, image);
    cg_place_variables(u, m);
    measure_functions(u->object, image->code_bytes);
    if (u->assembly) note_labels(u, m, image);
}
