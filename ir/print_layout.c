/* print_layout.c — the declarations about structs that kernels take by value, as parse_layout.c
 * reads them. */
#include "ir/layout.h"
#include "ir/text.h"

static void put_string(ir_text *out, const char *s) { text_put_quoted(out, s, strlen(s)); }

static void put_functions(ir_text *out, const char *init, const char *finalize) {
    ir_put(out, " init ");
    text_put_name(out, '@', init);
    if (!finalize) return;
    ir_put(out, " finalize ");
    text_put_name(out, '@', finalize);
}

static void put_switches(ir_text *out, const ir_layout *l) {
    if (!l->values && !l->area && !l->spill && !l->drop) return;
    ir_put(out, "layout");
    if (l->values) ir_put(out, " values");
    if (l->area) ir_putf(out, " area %llu", (unsigned long long)l->area);
    if (l->spill) ir_put(out, " spill");
    if (l->drop) ir_put(out, " drop");
    ir_put(out, "\n");
}

static void put_special(ir_text *out, const ir_layout_special *s) {
    ir_put(out, "special ");
    put_string(out, s->type);
    put_functions(out, s->init, s->finalize);
    ir_put(out, "\n");
}

static void put_member(ir_text *out, const ir_module *m, const ir_layout_member *member) {
    ir_putf(out, "  %llu", (unsigned long long)member->offset);
    if (member->name) {
        ir_put(out, " ");
        put_string(out, member->name);
    }
    ir_put(out, ": ");
    if (member->kind == IR_MEMBER_VALUE) ir_print_type(out, m, member->type);
    if (member->kind == IR_MEMBER_BYTES)
        ir_putf(out, "bytes %llu", (unsigned long long)member->size);
    if (member->kind == IR_MEMBER_SPECIAL) {
        ir_putf(out, "special %llu", (unsigned long long)member->size);
        put_functions(out, member->init, member->finalize);
    }
    if (member->specialized) ir_put(out, " specialized");
    ir_put(out, "\n");
}

static void put_closure(ir_text *out, const ir_module *m, const ir_layout_closure *c) {
    ir_put(out, "closure ");
    text_put_name(out, '@', c->kernel);
    ir_putf(out, " %u size %llu {\n", c->param, (unsigned long long)c->size);
    for (uint32_t k = 0; k < c->members.n; k++) put_member(out, m, &c->members.data[k]);
    ir_put(out, "}\n");
}

void ir_print_layout(ir_text *out, const ir_module *m) {
    const ir_layout *l = m->layout;
    if (!l) return;
    put_switches(out, l);
    for (uint32_t k = 0; k < l->specials.n; k++) put_special(out, &l->specials.data[k]);
    for (uint32_t k = 0; k < l->closures.n; k++) put_closure(out, m, &l->closures.data[k]);
}
