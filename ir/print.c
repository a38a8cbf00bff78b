/* print.c — the text of modules: header, globals with their initializers, functions, blocks.
 *
 * The text is exact: ir_parse gives back a module that prints as the same bytes.  It depends on the
 * module alone, so equal modules have equal text.  Order: target and facts of the module, globals,
 * functions, each list in its order.  Locations are left out unless IR_PRINT_LOC asks for them.
 *
 * Initializers print leaf by leaf as the type nests; a part of zeros is `zero`, an array of
 * characters a string, an address `&@g+n`.  An address that spans several leaves follows the
 * value, as `at OFFSET &@g+n`.  Padding is no part of the language and reads back as zeros.
 */
#include "ir/layout.h"
#include "ir/text.h"

static void put_word_and_number(ir_text *out, const char *word, uint64_t n) {
    ir_put(out, word);
    text_put_number(out, n);
}

static void put_loc(ir_text *out, uint32_t loc, unsigned flags) {
    if (loc && (flags & IR_PRINT_LOC)) put_word_and_number(out, " !", loc);
}

/* --------------------------------------------------------------------------------- initializers */

typedef struct {
    ir_text *out;
    const ir_global *g;
    uint32_t reloc;                /* the next one */
    ir_vec(const ir_reloc *) rest; /* those that no leaf can show */
} init_printer;

/* The address at this offset or after it; those before it were not shown. */
static const ir_reloc *next_reloc(init_printer *p, uint64_t offset) {
    const ir_global *g = p->g;
    for (; p->reloc < g->nreloc; p->reloc++) {
        if (g->reloc[p->reloc].offset >= offset) return &g->reloc[p->reloc];
        *ir_push(p->out->arena, &p->rest) = &g->reloc[p->reloc];
    }
    return NULL;
}

static bool is_zero(init_printer *p, uint64_t offset, uint64_t size) {
    const ir_reloc *r = next_reloc(p, offset);
    if (r && r->offset < offset + size) return false;
    for (uint64_t i = 0; i < size; i++)
        if (p->g->init[offset + i]) return false;
    return true;
}

static bool is_text(const uint8_t *s, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        bool last = i + 1 == n && s[i] == 0;
        if ((s[i] < ' ' || s[i] > '~') && s[i] != '\n' && s[i] != '\t' && !last) return false;
    }
    return n > 0;
}

static void put_address(ir_text *out, const ir_reloc *r) {
    ir_put(out, "&");
    text_put_name(out, '@', r->global->name);
    if (r->addend) ir_putf(out, "%+lld", (long long)r->addend);
}

static uint64_t read_bytes(const uint8_t *at, uint64_t size) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < size; i++) bits |= (uint64_t)at[i] << 8 * i;
    return bits;
}

static void put_leaf(init_printer *p, ir_type t, uint64_t offset) {
    const ir_module *m = p->g->module;
    const ir_reloc *r = next_reloc(p, offset);
    uint64_t size = ir_sizeof(m, ir_elem(t)), lanes[IR_MAX_LANES];
    if (r && r->offset == offset && text_holds_address(m, t)) {
        put_address(p->out, r);
        p->reloc++;
        return;
    }
    for (unsigned i = 0; i < ir_lanes(t); i++)
        lanes[i] = read_bytes(p->g->init + offset + i * size, size);
    text_print_lanes(p->out, t, lanes);
}

/* Recursion is as deep as the type nests: at most IR_MAX_TYPE_DEPTH. */
static void put_init(init_printer *p, ir_type t, uint64_t offset) {
    const ir_module *m = p->g->module;
    const ir_type_info *info = ir_is_aggregate(t) ? ir_type_get(m, t) : NULL;
    bool array = info && info->kind == IR_ARRAY;
    uint64_t step = array ? ir_sizeof(m, info->member[0]) : 0;
    if (!info) {
        put_leaf(p, t, offset);
    } else if (is_zero(p, offset, info->size)) {
        ir_put(p->out, "zero");
    } else if (array && info->member[0] == IR_I8 && is_text(p->g->init + offset, info->size)) {
        text_put_quoted(p->out, (const char *)p->g->init + offset, info->size);
    } else {
        for (uint32_t i = 0; i < info->count; i++) {
            ir_put(p->out, i ? ", " : "{");
            put_init(p, info->member[array ? 0 : i], offset + (array ? i * step : info->offset[i]));
        }
        ir_put(p->out, "}");
    }
}

static void put_initializer(ir_text *out, const ir_global *g) {
    init_printer p = {.out = out, .g = g};
    ir_put(out, " = ");
    put_init(&p, g->type, 0);
    next_reloc(&p, UINT64_MAX);
    for (uint32_t i = 0; i < p.rest.n; i++) {
        put_word_and_number(out, " at ", p.rest.data[i]->offset);
        ir_put(out, " ");
        put_address(out, p.rest.data[i]);
    }
}

static void put_global(ir_text *out, const ir_global *g) {
    text_put_name(out, '@', g->name);
    ir_put(out, ": ");
    ir_put(out, text_word_of(text_spaces, g->space));
    ir_put(out, " ");
    ir_print_type(out, g->module, g->type);
    put_word_and_number(out, " align ", g->align);
    text_put_bits(out, text_global_flags, g->flags);
    if (g->constant != (g->space == IR_CONST)) ir_put(out, g->constant ? " constant" : " mutable");
    if (g->init) put_initializer(out, g);
    ir_put(out, "\n");
}

/* -------------------------------------------------------------------------------- module header */

static void put_line_table(ir_text *out, const ir_module *m) {
    for (uint32_t i = 0; i < m->files.n; i++) {
        ir_put(out, "file ");
        text_put_quoted(out, m->files.data[i], strlen(m->files.data[i]));
        ir_put(out, "\n");
    }
    for (uint32_t i = 0; i < m->lines.n; i++) {
        const ir_line *l = &m->lines.data[i];
        ir_putf(out, "line %u %u %u %u\n", l->word, l->file, l->line, l->column);
    }
}

static void put_struct_names(ir_text *out, const ir_module *m) {
    for (uint32_t i = 0; i < m->types.n; i++) {
        const ir_type_info *t = m->types.data[i];
        if (t->kind != IR_STRUCT || !t->name) continue;
        ir_put(out, "struct ");
        text_put_quoted(out, t->name, strlen(t->name));
        ir_put(out, " = ");
        ir_print_type(out, m, (ir_type)IR_STRUCT | i << 12);
        ir_put(out, "\n");
    }
}

static void put_specs(ir_text *out, const ir_module *m) {
    for (uint32_t i = 0; i < m->specs.n; i++) {
        const ir_spec *s = &m->specs.data[i];
        put_word_and_number(out, "spec ", s->id);
        if (s->name) {
            ir_put(out, " ");
            text_put_quoted(out, s->name, strlen(s->name));
        }
        ir_put(out, ": ");
        ir_print_type(out, m, s->type);
        ir_put(out, " = ");
        text_print_lane(out, s->type, s->value);
        ir_put(out, "\n");
    }
}

void ir_print_module(ir_text *out, const ir_module *m, unsigned flags) {
    ir_putf(out, "target %u\n", m->pointer_bits);
    if (m->source_language || m->source_version)
        ir_putf(out, "source %u %u\n", m->source_language, m->source_version);
    if (flags & IR_PRINT_LOC) put_line_table(out, m);
    put_struct_names(out, m);
    put_specs(out, m);
    ir_print_layout(out, m);
    if (m->first_global) ir_put(out, "\n");
    foreach_global (g, m) put_global(out, g);
    foreach_func (f, m) {
        ir_put(out, "\n");
        ir_print_func(out, f, flags);
    }
}

/* ------------------------------------------------------------------------------------ functions */

static void put_param_facts(ir_text *out, const ir_module *m, const ir_param *p) {
    for (const text_word *w = text_param_attrs; w->word; w++) {
        if (!(p->attrs & w->bits)) continue;
        ir_put(out, " ");
        ir_put(out, w->word);
        if (w->bits & (IR_PARAM_BYVAL | IR_PARAM_SPILLED))
            ir_putf(out, "(%llu)", (unsigned long long)p->byval_size);
    }
    if (p->align) put_word_and_number(out, " align ", p->align);
    if (p->closure)
        ir_putf(out, " member(%u, %llu)", p->closure - 1, (unsigned long long)p->offset);
    if (p->special) ir_putf(out, " special(%u, %u)", p->special - 1, p->special_arg);
    if (p->pointee != IR_VOID) {
        ir_put(out, " of ");
        ir_print_type(out, m, p->pointee);
    }
    if (p->type_name) {
        ir_put(out, " as ");
        text_put_quoted(out, p->type_name, strlen(p->type_name));
    }
}

static void put_params(text_printer *p, ir_text *out, const ir_func *f) {
    ir_put(out, "(");
    for (uint32_t i = 0; i < f->nparams; i++) {
        if (i) ir_put(out, ", ");
        text_print_value_name(p, f->param_val[i]);
        ir_put(out, ": ");
        ir_print_type(out, f->module, f->param_val[i]->type);
        put_param_facts(out, f->module, &f->param[i]);
    }
    ir_put(out, ")");
}

static void put_sizes(ir_text *out, const char *word, const uint32_t size[3]) {
    if (size[0] || size[1] || size[2])
        ir_putf(out, " %s %u %u %u", word, size[0], size[1], size[2]);
}

static void put_kernel_attrs(ir_text *out, const ir_kernel_attrs *a) {
    static const char *const widths[] = {"f16", "f32", "f64"};
    put_sizes(out, "local_size", a->local_size);
    put_sizes(out, "hint", a->hint);
    if (a->has_vec_hint) put_word_and_number(out, " vec_hint ", a->vec_hint);
    if (a->subgroup_size) put_word_and_number(out, " subgroup_size ", a->subgroup_size);
    put_sizes(out, "coarsened", a->coarsened);
    if (a->subgroups) put_word_and_number(out, " subgroups ", a->subgroups);
    for (int i = 0; i < 3; i++) {
        if (!a->float_controls[i]) continue;
        ir_putf(out, " float_controls %s", widths[i]);
        text_put_bits(out, text_float_controls, a->float_controls[i]);
    }
}

static void put_func_attrs(ir_text *out, const ir_func *f) {
    text_put_bits(out, text_func_flags, f->flags & ~(uint32_t)IR_FUNC_REFUSED);
    if (f->flags & IR_FUNC_REFUSED) {
        ir_put(out, " refused ");
        text_put_quoted(out, f->refusal ? f->refusal : "", f->refusal ? strlen(f->refusal) : 0);
    }
    if (f->level != L_SPMD) {
        const char *level = text_word_of(text_levels, f->level);
        ir_put(out, " level ");
        ir_put(out, level ? level : "?");
    }
    put_kernel_attrs(out, &f->attrs);
}

/* "  ; saxpy.cl:3" */
static void put_line(ir_text *out, const ir_inst *i, unsigned flags) {
    const ir_module *m = i->block->func->module;
    const ir_line *line = flags & IR_PRINT_LINES ? ir_line_of(m, i->loc) : NULL;
    if (line && line->file < m->files.n)
        ir_putf(out, "  ; %s:%u", m->files.data[line->file], line->line);
}

void text_print_block(text_printer *p, ir_text *out, const ir_block *b, unsigned flags) {
    text_print_label(p, b);
    ir_put(out, ":");
    text_put_bits(out, text_loop_hints, b->loop_hint);
    ir_put(out, "\n");
    foreach_inst (i, b) {
        ir_put(out, "  ");
        text_print_inst(p, i);
        put_loc(out, i->loc, flags);
        put_line(out, i, flags);
        ir_put(out, "\n");
    }
}

void ir_print_func(ir_text *out, const ir_func *f, unsigned flags) {
    text_printer *p = text_printer_new(out, f);
    ir_put(out, f->flags & IR_FUNC_KERNEL ? "kernel " : "func ");
    text_put_name(out, '@', f->name);
    put_params(p, out, f);
    if (f->ret != IR_VOID) {
        ir_put(out, ": ");
        ir_print_type(out, f->module, f->ret);
    }
    put_func_attrs(out, f);
    put_loc(out, f->loc, flags);
    if (!f->first) {
        ir_put(out, "\n");
        return;
    }
    ir_put(out, " {\n");
    foreach_block (b, f) text_print_block(p, out, b, flags);
    ir_put(out, "}\n");
}
