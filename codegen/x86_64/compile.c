/* compile.c — functions of work-groups to an object: the stages of the x86-64 target in order, and
 * the sections that come out.
 *
 * All functions of a module share one piece of code and its constants, so that they reach each
 * other by distances.  Globals lie in sections of their own, which the code refers to by symbols.
 */
#include "codegen/x86_64/x86.h"

uint32_t x86_symbol_label(x86_writer *w, const void *what) {
    uint64_t key = (uintptr_t)what;
    uintptr_t label = (uintptr_t)ir_map_get(&w->label_of, key);
    if (!label) {
        label = (uintptr_t)x86_label_new(w->code) + 1;
        ir_map_set(w->arena, &w->label_of, key, (void *)label);
    }
    return (uint32_t)label - 1;
}

/* ------------------------------------------------------------------------------------- refusals */

/* Variables mostly have no line of their own, but what uses them has. */
static const ir_line *find_line(const ir_module *m, const ir_inst *variable) {
    const ir_line *line = ir_line_of(m, variable->loc);
    foreach_use (u, variable) {
        const ir_line *at = ir_line_of(m, u->user->loc);
        if (!line || (at && at->file == line->file && at->line < line->line)) line = at;
    }
    return line;
}

static const ir_inst *find_largest(const ir_func *f) {
    const ir_inst *largest = NULL;
    uint64_t most = 0;
    foreach_inst (i, f->first) {
        if (i->op != IR_OP_alloca || ir_sizeof(f->module, i->imm.var->type) <= most) continue;
        most = ir_sizeof(f->module, i->imm.var->type);
        largest = i;
    }
    return largest;
}

/* A kernel's function for blocks of work-groups has its name, and ".block" after it. */
static int length_of_name(const ir_func *f) {
    const char *end = strrchr(f->name, '.');
    return (int)(end && strcmp(end, ".block") == 0 ? (size_t)(end - f->name) : strlen(f->name));
}

void x86_refuse_frame(const ir_func *f, uint32_t most) {
    const ir_module *m = f->module;
    const ir_inst *largest = find_largest(f);
    const ir_line *line = largest ? find_line(m, largest) : NULL;
    ir_text t = {.arena = &f->module->arena};
    ir_putf(&t, "%s '%.*s': private memory has more than %u bytes",
            f->flags & IR_FUNC_SHARED ? "function" : "kernel", length_of_name(f), f->name, most);
    if (largest)
        ir_putf(&t, ": one variable has %llu",
                (unsigned long long)ir_sizeof(m, largest->imm.var->type));
    if (line) ir_putf(&t, " (%s:%u)", m->files.data[line->file], line->line);
    ir_error(m->cx, "%s", t.data);
}

/* ------------------------------------------------------------------------------------ functions */

typedef struct {
    x86_writer *w;
    ir_func *f;
    const cg_options *options;
    ir_arena scratch;
    bool ok;
} func_job;

static void run_stages(void *arg) {
    func_job *j = arg;
    const cg_target *t = &j->w->target->base;
    ir_ctx *cx = j->f->module->cx;
    cg_allocation a = {0};
    cx->func = j->f->name;
    ir_enter_stage(cx, "legalize");
    cg_legalize(j->f, j->w->target->level < X86_V3, &j->scratch);
    ir_enter_stage(cx, "select");
    j->ok = x86_select(j->w->target, j->f, j->options, &j->scratch) &&
            cg_allocate(t, j->f, &j->options->regalloc, &j->scratch, &a);
    ir_enter_stage(cx, "encode");
    j->ok = j->ok && x86_emit(j->w, j->f, &a);
    ir_enter_stage(cx, NULL);
}

/* False after a reported error; what has no memory throws, with its scratch freed. */
static bool compile_func(x86_writer *w, ir_func *f, const cg_options *o) {
    ir_ctx *cx = f->module->cx;
    func_job j = {.w = w, .f = f, .options = o};
    ir_arena_init(&j.scratch, cx);
    bool finished = ir_try(cx, run_stages, &j);
    ir_arena_free(&j.scratch);
    if (!finished || (!j.ok && cx->status == IR_ERR_MEMORY)) ir_throw(cx, cx->status);
    return j.ok;
}

/* ------------------------------------------------------------------------------------- sections */

/* The object outlives the module, and its names. */
static void add_symbol(x86_writer *w, const void *what, cg_symbol s) {
    s.name = ir_strdup(w->arena, s.name);
    *ir_push(w->arena, &w->object->symbols) = s;
    uintptr_t n = w->object->symbols.n;
    ir_map_set(w->arena, &w->symbol_of, (uintptr_t)what, (void *)n);
}

static uint32_t symbol_of(const x86_writer *w, const void *what) {
    uintptr_t n = (uintptr_t)ir_map_get(&w->symbol_of, (uintptr_t)what);
    assert(n && "every function and global has a symbol");
    return (uint32_t)n - 1;
}

static void place_global(x86_writer *w, const ir_global *g) {
    cg_object *o = w->object;
    cg_section section = g->constant || g->space == IR_CONST ? CG_RODATA : CG_DATA;
    uint64_t bytes = ir_sizeof(g->module, g->type);
    uint32_t align = g->align ? g->align : 1, at = (o->size[section] + align - 1) / align * align;
    if (at > INT32_MAX || bytes > INT32_MAX - at) ir_throw(g->module->cx, IR_ERR_LIMIT);
    o->size[section] = at + (uint32_t)bytes;
    if (align > o->align[section]) o->align[section] = align;
    add_symbol(w, g, (cg_symbol){g->name, section, at, (uint32_t)bytes, false, false});
}

/* Globals have symbols, in their order, before anything else does. */
static void fill_globals(x86_writer *w, const ir_module *m) {
    cg_object *o = w->object;
    uint32_t n = 0;
    for (int s = CG_RODATA; s <= CG_DATA; s++) o->bytes[s] = ir_alloc(w->arena, o->size[s]);
    foreach_global (g, m) {
        if (g->space == IR_LOCAL) continue;
        const cg_symbol *s = &o->symbols.data[n++];
        if (g->init) memcpy(o->bytes[s->section] + s->at, g->init, s->size);
    }
}

static void add_reloc(x86_writer *w, cg_reloc r) { *ir_push(w->arena, &w->object->relocs) = r; }

/* Addresses in the initializers of globals. */
static void place_relocs(x86_writer *w, const ir_global *g) {
    cg_symbol s = w->object->symbols.data[symbol_of(w, g)];
    for (uint32_t n = 0; n < g->nreloc; n++) {
        const ir_reloc *r = &g->reloc[n];
        uint32_t to = symbol_of(w, r->global);
        add_reloc(w, (cg_reloc){s.section, CG_ABS64, s.at + (uint32_t)r->offset, to, r->addend});
    }
}

/* By label: the symbol of the global that it stands for. */
static const uint32_t *list_labels(const x86_writer *w, const ir_module *m) {
    uint32_t most = 0;
    foreach_global (g, m) {
        uintptr_t label = (uintptr_t)ir_map_get(&w->label_of, (uintptr_t)g);
        if (label > most) most = (uint32_t)label;
    }
    uint32_t *symbols = ir_new_array(w->arena, uint32_t, most + 1);
    foreach_global (g, m) {
        uintptr_t label = (uintptr_t)ir_map_get(&w->label_of, (uintptr_t)g);
        if (label && g->space != IR_LOCAL) symbols[label - 1] = symbol_of(w, g);
    }
    return symbols;
}

static void place_code(x86_writer *w, const ir_module *m, const x86_image *image) {
    cg_object *o = w->object;
    o->bytes[CG_TEXT] = image->bytes;
    o->size[CG_TEXT] = image->n;
    o->align[CG_TEXT] = image->alignment < 16 ? 16 : image->alignment;
    foreach_func (f, m) {
        if (ir_is_declaration(f) || f->level != L_ALLOCATED) continue;
        uint32_t at = image->labels[x86_symbol_label(w, f)];
        bool exported = !(f->flags & IR_FUNC_SHARED);
        add_symbol(w, f, (cg_symbol){f->name, CG_TEXT, at, 0, true, exported});
    }
    x86_measure_stacks(w);
    for (uint32_t n = 0; n < w->frames.n; n++) {
        x86_frame *x = &w->frames.data[n];
        x->frame.symbol = symbol_of(w, x->func);
        *ir_push(w->arena, &o->frames) = x->frame;
    }
    const uint32_t *symbols = list_labels(w, m);
    for (uint32_t n = 0; n < image->nrelocs; n++) {
        const x86_reloc *r = &image->relocs[n];
        add_reloc(w, (cg_reloc){CG_TEXT, CG_PC32, r->at, symbols[r->label], r->addend});
    }
}

/* Files get numbers as they are met. */
static uint32_t number_file(x86_writer *w, ir_map *numbers, const char *name) {
    cg_object *o = w->object;
    uintptr_t known = (uintptr_t)ir_map_get(numbers, (uintptr_t)name);
    if (known) return (uint32_t)known - 1;
    *ir_push(w->arena, &o->files) = ir_strdup(w->arena, name);
    ir_map_set(w->arena, numbers, (uintptr_t)name, (void *)(uintptr_t)o->files.n);
    return o->files.n - 1;
}

static void place_lines(x86_writer *w, const ir_module *m, const x86_image *image) {
    ir_map numbers = {0};
    for (uint32_t n = 0; n < w->lines.n; n++) {
        const ir_line *from = ir_line_of(m, w->lines.data[n].loc);
        cg_line *to = ir_push(w->arena, &w->object->lines);
        *to = (cg_line){.at = image->labels[w->lines.data[n].label]};
        if (!from) continue;
        to->file = number_file(w, &numbers, m->files.data[from->file]);
        to->line = from->line;
        to->column = from->column;
    }
}

/* A function ends where the next one begins, or the constants do. */
static void measure_functions(cg_object *o, uint32_t code_bytes) {
    uint32_t end = code_bytes;
    for (uint32_t n = o->symbols.n; n-- > 0;) {
        cg_symbol *s = &o->symbols.data[n];
        if (!s->function) continue;
        s->size = end - s->at;
        end = s->at;
    }
}

static void number_functions(x86_writer *w, ir_module *m) {
    foreach_func (f, m) {
        f->number = w->functions.n;
        *ir_push(w->arena, &w->functions) = f;
    }
}

bool x86_compile(ir_module *m, const cg_options *options, ir_arena *arena, cg_object *out) {
    x86_image image;
    x86_writer w = {.target = x86_cpu_of((x86_level)options->level),
                    .code = x86_code_new(arena),
                    .object = out,
                    .arena = arena,
                    .notes_lines = options->lines,
                    .listing = options->listing};
    *out = (cg_object){.align = {16, 1, 1}};
    number_functions(&w, m);
    foreach_func (f, m)
        if (!ir_is_declaration(f) && f->level == L_GROUP && !compile_func(&w, f, options))
            return false;
    ir_enter_stage(m->cx, "object");
    if (!x86_finish(w.code, &image)) return ir_error(m->cx, "the code is too large");
    foreach_global (g, m)
        if (g->space != IR_LOCAL) place_global(&w, g);
    fill_globals(&w, m);
    foreach_global (g, m)
        if (g->space != IR_LOCAL) place_relocs(&w, g);
    place_code(&w, m, &image);
    place_lines(&w, m, &image);
    measure_functions(out, image.code_bytes);
    ir_enter_stage(m->cx, NULL);
    return true;
}
