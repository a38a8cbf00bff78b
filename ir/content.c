/* content.c — the content of a function, as bytes: equal functions of any modules have equal bytes.
 *
 *   content := pointer bits, { function }, { global }
 *   function := name, if it is imported; facts, parameters, 1 and its body with its loops | 0
 *   global   := name, if it is imported; facts, type, initializer, n, { place, global, addend }
 *
 * Functions are numbered in the order in which they are met, the one that was asked for first; so
 * are globals and the types that are rows of a table.  So nothing depends on ids, on names, or on
 * what else the module holds.  Sources and lines are left out.
 */
#include "ir/packer.h"

typedef struct {
    ir_map number; /* of functions, globals and types, plus 1 */
    ir_vec(const ir_func *) funcs;
    ir_global_list *globals;
    uint32_t types;
} content;

static uint32_t known(const content *c, const void *what) {
    return (uint32_t)(uintptr_t)ir_map_get(&c->number, (uintptr_t)what);
}

static void set_number(packer *p, const void *what, uint32_t number) {
    content *c = p->user;
    ir_map_set(p->arena, &c->number, (uintptr_t)what, (void *)(uintptr_t)number);
}

static void add_string(packer *p, const char *s) { ir_putn(p->out, s, strlen(s) + 1); }

static void add_words(packer *p, const uint32_t *word, unsigned n) {
    for (unsigned k = 0; k < n; k++) pack_number(p, word[k]);
}

/* -------------------------------------------------------------------------------------- numbers */

static uint32_t number_of_global(packer *p, const ir_global *g) {
    content *c = p->user;
    uint32_t number = known(c, g);
    if (number) return number - 1;
    *ir_push(p->arena, c->globals) = g;
    set_number(p, g, c->globals->n);
    return c->globals->n - 1;
}

static uint32_t number_of_func(packer *p, const ir_func *f) {
    content *c = p->user;
    uint32_t number = known(c, f);
    if (number) return number - 1;
    *ir_push(p->arena, &c->funcs) = f;
    set_number(p, f, c->funcs.n);
    return c->funcs.n - 1;
}

static void add_image(packer *p, const ir_type_info *t) {
    const uint8_t facts[] = {t->image.dim,     t->image.depth,  t->image.arrayed, t->image.ms,
                             t->image.sampled, t->image.format, t->image.access};
    for (unsigned k = 0; k < sizeof facts; k++) pack_byte(p, facts[k]);
    pack_type(p, t->image.texel);
}

/* Recursion is bounded by IR_MAX_TYPE_DEPTH. */
static void add_members(packer *p, const ir_type_info *t) {
    pack_number(p, t->packed + 2u * (t->marked != NULL));
    pack_number(p, t->count);
    uint32_t n = t->kind == IR_ARRAY ? 1 : t->count;
    for (uint32_t k = 0; k < n; k++) pack_type(p, t->member[k]);
    for (uint32_t k = 0; t->marked && k < n; k++) pack_number(p, t->marked[k]);
}

static void add_type(packer *p, ir_type t) {
    content *c = p->user;
    const ir_type_info *info = ir_type_get(p->m, t);
    uint32_t number = known(c, info);
    pack_number(p, number);
    if (number) return;
    if (ir_is_aggregate(t))
        add_members(p, info);
    else
        add_image(p, info);
    set_number(p, info, ++c->types);
}

/* --------------------------------------------------------------------------------- instructions */

static void add_sync(packer *p, const ir_inst *i) {
    pack_byte(p, i->imm.sync.exec);
    pack_byte(p, i->imm.sync.scope);
    pack_number(p, i->imm.sync.semantics);
    pack_number(p, i->imm.sync.unequal);
}

static void add_group(packer *p, const ir_inst *i) {
    pack_byte(p, i->imm.group.scope);
    pack_byte(p, i->imm.group.op);
    pack_byte(p, i->imm.group.uniform);
    pack_byte(p, i->imm.group.log_size);
}

static void add_imm(packer *p, const ir_inst *i) {
    switch (ir_info(i)->imm) {
    case I_DIM: pack_number(p, i->imm.dim); break;
    case I_SYNC: add_sync(p, i); break;
    case I_GROUP: add_group(p, i); break;
    case I_FUNC: pack_number(p, number_of_func(p, i->imm.func)); break;
    case I_STRING: add_string(p, i->imm.string); break;
    case I_IMAGE: pack_number(p, i->imm.image.operands); break;
    default: pack_number(p, i->imm.bits);
    }
}

static const pack_format format = {add_type, number_of_global, add_imm};

/* ------------------------------------------------------------------------ functions and globals */

static_assert(sizeof(ir_kernel_attrs) == 56, "a new attribute belongs in the content");
static_assert(sizeof(void *) != 8 || sizeof(ir_param) == 56, "so does a fact about parameters");
static_assert(sizeof(void *) != 8 || sizeof(ir_global) == 80, "and one about globals");

static void add_linkage(packer *p, uint32_t flags, const char *name) {
    pack_number(p, flags);
    if (flags & IR_FUNC_IMPORT) add_string(p, name);
}

static void add_attrs(packer *p, const ir_kernel_attrs *a) {
    add_words(p, a->local_size, 3);
    add_words(p, a->hint, 3);
    pack_number(p, a->vec_hint);
    pack_number(p, a->has_vec_hint);
    pack_number(p, a->subgroup_size);
    pack_number(p, a->subgroups);
    add_words(p, a->coarsened, 3);
    for (unsigned k = 0; k < 3; k++) pack_byte(p, a->float_controls[k]);
}

static void add_param(packer *p, const ir_param *a) {
    pack_type(p, a->pointee);
    pack_number(p, a->align);
    pack_number(p, a->attrs);
    pack_number(p, a->byval_size);
    pack_number(p, a->closure);
    pack_number(p, a->offset);
    pack_number(p, a->special);
    pack_number(p, a->special_arg);
}

static void add_func(packer *p, const ir_func *f) {
    add_linkage(p, f->flags, f->name);
    pack_number(p, f->level);
    add_attrs(p, &f->attrs);
    pack_number(p, f->nparams);
    for (uint32_t n = 0; n < f->nparams; n++) add_param(p, &f->param[n]);
    pack_number(p, !ir_is_declaration(f));
    if (ir_is_declaration(f)) return;
    pack_body(p, f);
    foreach_block (b, f) pack_number(p, b->loop_hint);
}

static void add_global(packer *p, const ir_global *g) {
    add_linkage(p, g->flags, g->name);
    pack_storage(p, g);
    pack_number(p, g->nreloc);
    for (uint32_t n = 0; n < g->nreloc; n++) {
        pack_number(p, g->reloc[n].offset);
        pack_number(p, number_of_global(p, g->reloc[n].global));
        pack_number(p, (uint64_t)g->reloc[n].addend);
    }
}

void ir_contents(const ir_func *const *funcs, uint32_t count, ir_text *out,
                 ir_global_list *globals) {
    const ir_module *m = funcs[0]->module;
    content c = {.globals = globals};
    packer p = {.format = &format, .m = m, .out = out, .arena = out->arena, .user = &c};
    pack_number(&p, m->pointer_bits);
    for (uint32_t n = 0; n < count; n++) number_of_func(&p, funcs[n]);
    for (uint32_t n = 0; n < c.funcs.n; n++) add_func(&p, c.funcs.data[n]);
    for (uint32_t n = 0; n < globals->n; n++) add_global(&p, globals->data[n]);
}

void ir_content(const ir_func *f, ir_text *out, ir_global_list *globals) {
    ir_contents(&f, 1, out, globals);
}
