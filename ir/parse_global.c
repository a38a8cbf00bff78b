/* parse_global.c — globals and their initializers.
 *
 * An initializer is written leaf by leaf into the bytes of the global, as its type nests; the
 * recursion is as deep as the type.  Addresses become relocations; the globals that they name may
 * come later, so they are looked up at the end of the module.  Zeros cost no text, so the bytes of
 * all initializers together are limited.
 */
#include "ir/text.h"

#include <stdlib.h>

enum { MAX_INIT_BYTES = 64 << 20 };

typedef struct {
    text_parser *p;
    ir_global *g;
    uint8_t *bytes;
} init_parser;

/* &@g+8 at byte `offset` */
static void parse_address(init_parser *i, uint64_t offset) {
    text_parser *p = i->p;
    text_expect(p, '&', "'&'");
    text_reloc r = {.g = i->g, .reloc.offset = offset, .place = p->tok};
    r.symbol = text_expect_symbol(p, "the name of a global");
    text_token addend = p->tok;
    uint64_t v = 0;
    bool negative = false;
    if (addend.kind == T_INT && (*addend.start == '+' || *addend.start == '-')) {
        if (!text_number(&addend, &v, &negative) || v > INT64_MAX)
            text_fail(p, &addend, "%s does not fit i64", text_show(p, &addend));
        text_advance(p);
    }
    r.reloc.addend = negative ? -(int64_t)v : (int64_t)v;
    *ir_push(&p->scratch, &p->relocs) = r;
}

static void parse_leaf(init_parser *i, ir_type t, uint64_t offset) {
    const ir_module *m = i->p->m;
    uint64_t size = ir_sizeof(m, ir_elem(t)), lanes[IR_MAX_LANES];
    if (i->p->tok.kind == '&' && text_holds_address(m, t)) {
        parse_address(i, offset);
    } else if (!text_accept_word(i->p, "undef") && !text_accept_word(i->p, "zero")) {
        text_parse_lanes(i->p, t, lanes);
        for (uint64_t n = 0; n < ir_lanes(t) * size; n++)
            i->bytes[offset + n] = (uint8_t)(lanes[n / size] >> n % size * 8);
    }
}

static void parse_characters(init_parser *i, const ir_type_info *array, uint64_t offset) {
    text_token t = i->p->tok;
    size_t n;
    char *s = text_unquote(i->p, &t, &n);
    if (n != array->count)
        text_fail(i->p, &t, "a string of %zu bytes for an array of %u", n, array->count);
    memcpy(i->bytes + offset, s, n);
    text_advance(i->p);
}

static void parse_init(init_parser *i, ir_type t, uint64_t offset) {
    text_parser *p = i->p;
    const ir_type_info *info = ir_is_aggregate(t) ? ir_type_get(p->m, t) : NULL;
    bool array = info && info->kind == IR_ARRAY;
    if (!info) {
        parse_leaf(i, t, offset);
        return;
    }
    if (text_accept_word(p, "zero") || text_accept_word(p, "undef")) return;
    if (p->tok.kind == T_STRING && array && info->member[0] == IR_I8) {
        parse_characters(i, info, offset);
        return;
    }
    uint64_t step = array ? ir_sizeof(p->m, info->member[0]) : 0;
    text_expect(p, '{', "'{', 'zero' or 'undef'");
    for (uint32_t n = 0; n < info->count; n++) {
        if (n) text_expect(p, ',', "','");
        parse_init(i, info->member[array ? 0 : n], offset + (array ? n * step : info->offset[n]));
    }
    text_expect(p, '}', "'}'");
}

static void parse_initializer(text_parser *p, ir_global *g) {
    init_parser i = {.p = p, .g = g};
    uint64_t size = ir_sizeof(p->m, g->type);
    if (text_accept_word(p, "undef")) return;
    if (size > MAX_INIT_BYTES - p->init_bytes)
        text_fail(p, &p->tok, "the initializers of a module may have %u MiB", MAX_INIT_BYTES >> 20);
    p->init_bytes += size;
    g->init = i.bytes = ir_alloc(&p->m->arena, size);
    parse_init(&i, g->type, 0);
    while (text_accept_word(p, "at"))
        parse_address(&i, text_expect_number(p, UINT64_MAX, "the offset of an address"));
}

static void parse_attrs(text_parser *p, ir_global *g) {
    const text_word *w;
    for (;;) {
        if (text_accept_word(p, "align"))
            g->align = (uint32_t)text_expect_number(p, UINT32_MAX, "an alignment");
        else if (text_accept_word(p, "constant"))
            g->constant = true;
        else if (text_accept_word(p, "mutable"))
            g->constant = false;
        else if ((w = text_accept_in(p, text_global_flags)) != NULL)
            g->flags |= w->bits;
        else
            return;
    }
}

void text_parse_global(text_parser *p) {
    text_token at = p->tok;
    const char *name = text_expect_symbol(p, "the name of a global");
    if (ir_global_find(p->m, name) || ir_func_find(p->m, name))
        text_fail(p, &at, "%s is already defined", text_show(p, &at));
    text_expect(p, ':', "':'");
    const text_word *space = text_accept_in(p, text_spaces);
    if (!space) text_expected(p, "an address space");
    ir_type type = text_parse_memory_type(p);
    ir_global *g = ir_global_new(p->m, name, (ir_space)space->bits, type);
    g->constant = space->bits == IR_CONST;
    parse_attrs(p, g);
    if (text_accept(p, '=')) parse_initializer(p, g);
}

/* ------------------------------------------------------------------------------------ addresses */

static int by_offset(const void *a, const void *b) {
    const ir_reloc *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static ir_global *find_global(text_parser *p, const text_reloc *r) {
    ir_global *g = ir_global_find(p->m, r->symbol);
    if (!g) text_fail(p, &r->place, "no global is called %s", text_show(p, &r->place));
    return g;
}

/* The relocations of one global, which begin at `first`; returns how many there are. */
static uint32_t settle_relocs(text_parser *p, uint32_t first) {
    const text_reloc *r = &p->relocs.data[first];
    uint32_t n = 0;
    while (first + n < p->relocs.n && r[n].g == r->g) n++;
    ir_reloc *out = ir_new_array(&p->m->arena, ir_reloc, n);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = r[i].reloc;
        out[i].global = find_global(p, &r[i]);
    }
    qsort(out, n, sizeof *out, by_offset);
    r->g->reloc = out;
    r->g->nreloc = n;
    return n;
}

void text_resolve_relocs(text_parser *p) {
    for (uint32_t i = 0; i < p->relocs.n;) i += settle_relocs(p, i);
}
