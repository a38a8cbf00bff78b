/* pack.c — writes an archive of functions.
 *
 *   archive   := u32 functions, u32 globals, { u32 name, u32 body }, { u32 global }, bytes
 *   name      := characters, 0                               sorted; positions count from the start
 *   global    := string, space, type, align, constant, 0 or 1 and the initializer's bytes
 *   body      := as in packer.h; an array has a count and a type
 */
#include "ir/packer.h"

/* ----------------------------------------------------------------------------------- the format */

static void refuse(packer *p, const char *what) {
    bool *failed = p->user;
    if (!*failed) ir_error(p->m->cx, "@%s cannot be packed: %s", p->f ? p->f->name : "", what);
    *failed = true;
}

static void pack_array(packer *p, ir_type t) {
    if (ir_kind_of(t) != IR_ARRAY) {
        refuse(p, "a structure");
        return;
    }
    pack_number(p, ir_type_get(p->m, t)->count);
    pack_type(p, ir_type_get(p->m, t)->member[0]);
}

static uint32_t number_of_global(packer *p, const ir_global *g) {
    (void)p;
    uint32_t n = 0;
    while ((g = g->prev)) n++;
    return n;
}

static void refuse_imm(packer *p, const ir_inst *i) { refuse(p, ir_info(i)->name); }

static const pack_format archive = {pack_array, number_of_global, refuse_imm};

static void pack_global(packer *p, const ir_global *g) {
    if (g->nreloc) refuse(p, "addresses in an initializer");
    ir_putn(p->out, g->name, strlen(g->name) + 1);
    pack_storage(p, g);
}

/* ---------------------------------------------------------------------------------- the archive */

/* By name; an archive has a few hundred. */
static const ir_func **sorted_functions(packer *p, uint32_t *n) {
    ir_vec(const ir_func *) all = {0};
    foreach_func (f, p->m) {
        if (ir_is_declaration(f)) continue;
        *ir_push(p->arena, &all) = f;
        for (uint32_t k = all.n - 1; k > 0; k--) {
            if (strcmp(all.data[k - 1]->name, f->name) < 0) break;
            all.data[k] = all.data[k - 1];
            all.data[k - 1] = f;
        }
    }
    *n = all.n;
    return all.data;
}

/* Writes the present position at `at`, in the table. */
static void set_position(packer *p, size_t start, size_t at) {
    for (unsigned k = 0; k < 4; k++) p->out->data[at + k] = (char)((p->out->n - start) >> 8 * k);
}

bool ir_pack_write(const ir_module *m, ir_text *out) {
    bool failed = false;
    packer p = {.format = &archive, .m = m, .out = out, .arena = out->arena, .user = &failed};
    uint32_t functions, globals = m->last_global ? number_of_global(&p, m->last_global) + 1 : 0;
    const ir_func **all = sorted_functions(&p, &functions);
    size_t start = out->n, at = start + 8;
    uint32_t counts[2] = {functions, globals};
    for (unsigned k = 0; k < 8; k++) pack_byte(&p, counts[k / 4] >> 8 * (k % 4) & 255);
    for (uint32_t k = 0; k < 8 * functions + 4 * globals; k++) pack_byte(&p, 0);
    for (uint32_t k = 0; k < functions; k++, at += 8) {
        set_position(&p, start, at);
        ir_putn(out, all[k]->name, strlen(all[k]->name) + 1);
        set_position(&p, start, at + 4);
        pack_body(&p, all[k]);
    }
    p.f = NULL;
    foreach_global (g, m) {
        set_position(&p, start, at);
        pack_global(&p, g);
        at += 4;
    }
    return !failed;
}
