/* write.c — the entry of the PTX writer, module-scope variables, and what the head says.
 *
 * Constant memory is global memory here, as what a pointer to it leads to may be a buffer.
 * A variable comes after those whose addresses are in its initial value.
 *
 * Refused: variables in private memory, modules with pointers of 32 bits, addresses within bytes
 * that are no multiple of 8.
 */
#include "codegen/ptx/ptx.h"

/* ---------------------------------------------------------------------------------- processors */

/* The least version of the language that knows a processor, times 10. */
static const struct {
    unsigned sm, version;
} processors[] = {{70, 60}, {72, 61}, {75, 63},  {80, 70},  {86, 71},  {87, 74},  {88, 90},
                  {89, 78}, {90, 78}, {100, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};

unsigned cg_ptx_version_of(unsigned sm) {
    for (unsigned n = 0; n < sizeof processors / sizeof *processors; n++)
        if (processors[n].sm == sm) return processors[n].version;
    return 0;
}

/* -------------------------------------------------------------------------------- what it takes */

/* Fast functions, and floats of 16 bits. */
static bool takes(const ir_inst *i, unsigned sm) {
    return i->nargs && ir_is_float(ir_elem(ir_arg(i, 0)->type)) && ptx_has_row(i, sm);
}

ir_target cg_ptx_target(const cg_ptx_options *options) {
    return (ir_target){.has_fma = true,
                       .has_f16c = true,
                       .has_bf16 = options->sm >= 80,
                       .has_unsigned = true,
                       .has_estimates = true,
                       .converts_at_once = true,
                       .lacks_calls = true,
                       .private_is_far = true,
                       .has_short_ids = !options->wide,
                       .takes = takes,
                       .level = options->sm};
}

/* ------------------------------------------------------------------------------------ variables */

IR_NORETURN static void refuse_variable(ptx_writer *w, const ir_global *g, const char *why) {
    ir_error(w->cx, "@%s %s", g->name, why);
    ir_throw(w->cx, IR_ERR_REFUSED);
}

static void write_bytes(ir_text *t, const uint8_t *bytes, uint64_t n) {
    for (uint64_t k = 0; k < n; k++)
        ir_putf(t, "%s%u", k == 0 ? " = {" : k % 32 ? ", " : ",\n\t", bytes[k]);
    ir_put(t, "}");
}

static const ir_reloc *address_at(const ir_global *g, uint64_t offset) {
    for (uint32_t n = 0; n < g->nreloc; n++)
        if (g->reloc[n].offset == offset) return &g->reloc[n];
    return NULL;
}

static uint64_t word_at(const ir_global *g, uint64_t offset, uint64_t size) {
    uint64_t word = 0;
    for (unsigned k = 0; k < 8 && g->init && offset + k < size; k++)
        word |= (uint64_t)g->init[offset + k] << 8 * k;
    return word;
}

static void write_words(ptx_writer *w, const ir_global *g, uint64_t size) {
    ir_text *t = &w->variables;
    for (uint64_t at = 0; at < size; at += 8) {
        const ir_reloc *r = address_at(g, at);
        ir_put(t, at ? ", " : " = {");
        if (r)
            ir_putf(t, "%s+%lld", ptx_name(w, r->global->name), (long long)r->addend);
        else
            ir_putf(t, "%llu", (unsigned long long)word_at(g, at, size));
    }
    ir_put(t, "}");
}

static void check_addresses(ptx_writer *w, const ir_global *g) {
    for (uint32_t n = 0; n < g->nreloc; n++)
        if (g->reloc[n].offset % 8) refuse_variable(w, g, "holds an address at an odd place");
}

static bool is_zero(const ir_global *g, uint64_t size) {
    for (uint64_t k = 0; g->init && k < size; k++)
        if (g->init[k]) return false;
    return true;
}

static void write_variable(ptx_writer *w, const ir_global *g) {
    uint64_t size = ir_sizeof(w->m, g->type);
    unsigned align = g->align ? g->align : (unsigned)ir_alignof(w->m, g->type);
    const char *space = g->space == IR_LOCAL ? ".shared" : ".global";
    unsigned long long words = (size + 7) / 8;
    if (g->space == IR_LOCAL && !ir_map_get(&w->named, (uintptr_t)g)) return;
    if (g->space == IR_PRIVATE) refuse_variable(w, g, "is in private memory");
    if (g->nreloc)
        ir_putf(&w->variables, "%s .align %u .u64 %s[%llu]", space, align < 8 ? 8 : align,
                ptx_name(w, g->name), words);
    else
        ir_putf(&w->variables, "%s .align %u .b8 %s[%llu]", space, align, ptx_name(w, g->name),
                (unsigned long long)(size ? size : 1));
    check_addresses(w, g);
    if (g->nreloc)
        write_words(w, g, size);
    else if (g->space != IR_LOCAL && !is_zero(g, size))
        write_bytes(&w->variables, g->init, size);
    ir_put(&w->variables, ";\n");
}

enum { WAITS = 1, WRITTEN, MOST_DEPTH = 200 };

/* After those whose addresses it holds. */
static void write_in_order(ptx_writer *w, ir_map *state, const ir_global *g, unsigned depth) {
    uintptr_t now = (uintptr_t)ir_map_get(state, (uintptr_t)g);
    if (now == WRITTEN) return;
    if (now == WAITS || depth == MOST_DEPTH)
        refuse_variable(w, g, "holds the address of a variable that needs its own");
    ir_map_set(w->arena, state, (uintptr_t)g, (void *)(uintptr_t)WAITS);
    for (uint32_t n = 0; n < g->nreloc; n++)
        write_in_order(w, state, g->reloc[n].global, depth + 1);
    ir_map_set(w->arena, state, (uintptr_t)g, (void *)(uintptr_t)WRITTEN);
    write_variable(w, g);
}

static void write_variables(ptx_writer *w) {
    ir_map state = {0};
    foreach_global (g, w->m) write_in_order(w, &state, g, 0);
    if (w->has_group_memory)
        ir_putf(&w->variables, ".shared .align 8 .b8 $group[%d];\n", PTX_GROUP_BYTES);
    if (w->has_grid_barrier) ir_put(&w->variables, ".global .align 4 .u32 $arrived;\n");
    if (w->has_dynamic_local) ir_put(&w->variables, ".extern .shared .align 128 .b8 $local[];\n");
}

/* ------------------------------------------------------------------------------------------ all */

static void write_functions(ptx_writer *w) {
    foreach_func (f, w->m) {
        w->cx->where.func = f;
        if (f->flags & IR_FUNC_KERNEL && !ir_is_declaration(f)) ptx_write_function(w, f);
    }
    w->cx->where.func = NULL;
}

void cg_ptx_write(const ir_module *m, const cg_ptx_options *options, ir_arena *out, ir_text *text) {
    ptx_writer w = {.m = m,
                    .cx = m->cx,
                    .arena = out,
                    .options = options,
                    .version = cg_ptx_version_of(options->sm),
                    .variables = {.arena = out}};
    if (m->pointer_bits != 64) {
        ir_error(m->cx, "PTX has addresses of 64 bits, the module those of %u", m->pointer_bits);
        ir_throw(m->cx, IR_ERR_REFUSED);
    }
    ptx_index_rows(w.first_row);
    write_functions(&w);
    write_variables(&w);
    ir_putf(text, ".version %u.%u\n.target sm_%u\n.address_size 64\n\n", w.version / 10,
            w.version % 10, options->sm);
    ir_putn(text, w.variables.data, w.variables.n);
    foreach_in (const ptx_parts, p, w.functions) {
        ir_putn(text, p->head.data, p->head.n);
        ir_putn(text, p->variables.data, p->variables.n);
        ir_putn(text, p->body.data, p->body.n);
    }
}
