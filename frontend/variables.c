/* variables.c — OpVariable, at module scope and in functions.
 *
 * Module scope: program-scope and local-memory variables become globals with their initializer as
 * bytes; built-in variables (the BuiltIn decoration wins over import linkage) become queries when
 * they are loaded; a sampler variable is replaced by its literal sampler.
 * Functions: variables become allocas at the head of the entry block, wherever they are declared.
 */
#include "frontend/reader.h"

/* ------------------------------------------------------------------------------------ initializers
 *
 * The graph of constants is walked depth first with a stack as deep as types may nest.  A part that
 * is shared is written each time it occurs, which spv_charge bounds. */

typedef struct {
    const spv_const *c;
    uint64_t offset;
    uint32_t next;
} init_level;

typedef struct {
    uint8_t *bytes;
    ir_vec(ir_reloc) relocs;
} init_image;

static void put_scalar(reader *r, init_image *image, const spv_const *c, uint64_t offset) {
    uint64_t size = ir_access_size(r->m, c->type->memory);
    if (c->form == C_ADDRESS) {
        *ir_push(&r->m->arena, &image->relocs) =
            (ir_reloc){.offset = offset, .global = c->global, .addend = (int64_t)c->bits};
        return;
    }
    for (uint64_t i = 0; i < size && c->form == C_BITS; i++)
        image->bytes[offset + i] = (uint8_t)(c->bits >> (8 * i));
}

static uint64_t part_offset(reader *r, const spv_const *c, uint32_t i) {
    if (c->type->form != T_VECTOR) return spv_member_offset(r, c->type, i);
    return i * ir_sizeof(r->m, c->type->elem->memory);
}

static void put_const(reader *r, init_image *image, const spv_const *c) {
    init_level stack[IR_MAX_TYPE_DEPTH + 2];
    int depth = 0;
    stack[depth++] = (init_level){.c = c};
    while (depth > 0) {
        init_level *top = &stack[depth - 1];
        if (top->c->form != C_PARTS || top->next == top->c->type->count) {
            if (top->c->form != C_PARTS) put_scalar(r, image, top->c, top->offset);
            depth--;
            continue;
        }
        uint32_t i = top->next++;
        spv_charge(r, 1);
        stack[depth++] =
            (init_level){.c = top->c->part[i], .offset = top->offset + part_offset(r, top->c, i)};
    }
}

/* The value that all bytes have, or -1. */
static int equal_bytes(const ir_global *g, uint64_t size) {
    for (uint64_t i = 1; i < size; i++)
        if (g->init[i] != g->init[0]) return -1;
    return size && !g->nreloc ? g->init[0] : -1;
}

static void initialize(reader *r, spv_variable *v) {
    ir_global *g = v->global;
    uint64_t size = ir_sizeof(r->m, g->type);
    init_image image = {0};
    v->fill = -1;
    if (v->init->form == C_UNDEF) return;
    if (size > SPV_MAX_INIT - r->init_bytes)
        spv_refuse(r, "initializers of more than %d bytes are not supported", SPV_MAX_INIT);
    r->init_bytes += size;
    image.bytes = ir_alloc(&r->m->arena, size);
    put_const(r, &image, v->init);
    g->init = image.bytes;
    g->reloc = image.relocs.data;
    g->nreloc = image.relocs.n;
    v->fill = g->constant ? equal_bytes(g, size) : -1;
}

/* ------------------------------------------------------------------------------ at module scope */

/* Entry points keep their names. */
static bool is_entry_name(reader *r, const char *name) {
    return spv_noted(&r->facts.entry_names, name) != NULL;
}

static const char *global_name(reader *r, uint32_t id) {
    const spv_decor *d = spv_decor_of(r, id);
    const char *name = d->has & D_LINKAGE ? d->link_name : spv_name(r, id);
    if (!name || !*name) return ir_sprintf(&r->scratch, "g%u", id);
    if (is_entry_name(r, name)) name = ir_sprintf(&r->scratch, "%s.var", name);
    return spv_free_name(r, name, id);
}

uint32_t spv_power_of_two(reader *r, uint32_t align) {
    if (align && !(align & (align - 1))) return align;
    spv_warn(r, WARN_ALIGNMENT);
    return align & (0u - align);
}

static uint32_t linkage_flags(const spv_decor *d) {
    if (!(d->has & D_LINKAGE)) return 0;
    switch (d->link_type) {
    case SpvLinkageTypeExport: return IR_FUNC_EXPORT;
    case SpvLinkageTypeImport: return IR_FUNC_IMPORT;
    case SpvLinkageTypeLinkOnceODR: return IR_FUNC_ODR | IR_FUNC_EXPORT;
    default: return 0;
    }
}

uint32_t spv_linkage(reader *r, uint32_t id) { return linkage_flags(spv_decor_of(r, id)); }

static void make_global(reader *r, spv_variable *v, spv_type *pointee) {
    const spv_decor *d = spv_decor_of(r, v->id);
    ir_space space = ir_space_of(v->type->value);
    ir_global *g = ir_global_new(r->m, global_name(r, v->id), space, pointee->memory);
    v->global = g;
    v->fill = -1;
    g->flags = linkage_flags(d);
    g->constant = space == IR_CONST || (d->has & D_CONSTANT);
    if (d->has & D_ALIGNMENT) {
        uint32_t align = spv_power_of_two(r, d->alignment);
        if (align > g->align) g->align = align;
    }
    if (v->init) {
        g->flags &= ~(uint32_t)IR_FUNC_IMPORT;
        initialize(r, v);
    }
    ir_map_set(&r->scratch, &r->variables, (uintptr_t)g, v);
}

/* Why a variable of this kind cannot be a global, or NULL. */
static const char *global_lack(const spv_variable *v, const spv_type *pointee) {
    if (v->init && v->init->form == C_LACKING) return v->init->reason;
    if (!pointee || pointee->form == T_VOID || pointee->form == T_FUNCTION)
        return "a variable without a type is not supported";
    if (pointee->form == T_LACKING) return pointee->reason;
    if (pointee->form == T_OPAQUE)
        return "a variable of image, sampler or event type is not supported";
    if (v->type->storage == SpvStorageClassInput)
        return "an input variable that is no built-in is not supported";
    if (v->type->storage == SpvStorageClassPrivate)
        return "a Private variable at module scope is not supported";
    if (v->type->storage == SpvStorageClassGeneric)
        return "a variable of storage class Generic is not supported";
    return NULL;
}

static bool find_builtin(reader *r, spv_variable *v) {
    const spv_decor *d = spv_decor_of(r, v->id);
    v->builtin = d->builtin;
    if (d->has & D_BUILTIN) return true;
    if (!(d->has & D_LINKAGE) || d->link_type != SpvLinkageTypeImport) return false;
    return spv_builtin_of_name(d->link_name, &v->builtin);
}

static void declare_variable(reader *r, spv_variable *v, spv_type *pointee) {
    v->reason = v->type->form == T_LACKING ? v->type->reason : NULL;
    if (v->reason) return;
    v->is_builtin = find_builtin(r, v);
    if (v->is_builtin) {
        v->reason = spv_builtin_lack(r, v->builtin, pointee);
        return;
    }
    v->reason = global_lack(v, pointee);
    if (!v->reason) make_global(r, v, pointee);
}

static void new_variable(reader *r, uint32_t storage, spv_type *pointee, uint32_t init) {
    spv_id *e = spv_new_id(r, ID_VARIABLE);
    spv_variable *v = ir_new(&r->scratch, spv_variable);
    e->type = r->in.type;
    e->var = v;
    v->id = r->in.id;
    v->type = r->in.type;
    if (storage != v->type->storage)
        spv_fail(r, "%s: storage class %s differs from its pointer's", spv_op_name(r),
                 spv_storage_name(storage));
    if (storage == SpvStorageClassFunction) spv_fail(r, "a Function variable outside functions");
    if (init) {
        v->init = spv_constant(r, init);
        if (!v->init) spv_fail(r, "the initializer %%%u is not a constant", init);
        if (pointee && v->init->form != C_LACKING && !spv_same_type(v->init->type, pointee))
            spv_fail(r, "the initializer has type %s, want %s", spv_type_name(r, v->init->type),
                     spv_type_name(r, pointee));
    }
    declare_variable(r, v, pointee);
}

static void check_pointer(reader *r) {
    const spv_type *t = r->in.type;
    if (!t || (t->form != T_POINTER && t->form != T_LACKING))
        spv_fail(r, "%s: the type is not a pointer", spv_op_name(r));
}

/* In functions variables are made before anything else is read. */
void spv_read_variable(reader *r) {
    if (r->f) return;
    check_pointer(r);
    new_variable(r, r->in.arg[0], spv_pointee(r, r->in.type), r->in.n > 1 ? r->in.arg[1] : 0);
}

void spv_read_untyped_variable(reader *r) {
    if (r->f) return;
    check_pointer(r);
    new_variable(r, r->in.arg[0], r->in.n > 1 ? spv_type_at(r, r->in.arg[1]) : NULL,
                 r->in.n > 2 ? r->in.arg[2] : 0);
}

spv_variable *spv_variable_of(reader *r, const ir_inst *p) {
    return p->op == IR_OP_address ? ir_map_get(&r->variables, (uintptr_t)p->imm.global) : NULL;
}

ir_inst *spv_variable_address(reader *r, spv_variable *v) {
    if (v->reason) spv_refuse(r, "%s", v->reason);
    if (v->is_builtin) return spv_builtin_address(r, &(spv_pointer){.var = v});
    bool listed = r->input.version < 0x00010400 || spv_find(r, v->id)->listed;
    if (!listed && r->f && !r->f->unlisted) r->f->unlisted = r->in.at;
    return ir_address(r->b.f, v->global);
}

/* --------------------------------------------------------------------------------- in functions */

/* The memory type of a function's variable, or a refusal. */
static spv_type *variable_memory(reader *r) {
    bool typed = r->in.opcode == SPV_OP_Variable;
    check_pointer(r);
    spv_value_type(r, r->in.type);
    if (r->in.arg[0] != SpvStorageClassFunction)
        spv_fail(r, "%s: storage class %s in a function", spv_op_name(r),
                 spv_storage_name(r->in.arg[0]));
    if (r->in.type->storage != SpvStorageClassFunction)
        spv_fail(r, "%s: the pointer's storage class is not Function", spv_op_name(r));
    spv_type *t = typed         ? spv_pointee(r, r->in.type)
                  : r->in.n > 1 ? spv_type_at(r, r->in.arg[1])
                                : NULL;
    if (!t || t->form == T_VOID) spv_fail(r, "%s: a variable without a type", spv_op_name(r));
    return spv_value_type(r, t);
}

static uint32_t variable_align(reader *r, const spv_type *t) {
    const spv_decor *d = spv_decor_of(r, r->in.id);
    uint32_t natural = (uint32_t)ir_alignof(r->m, t->memory);
    uint32_t align = d->has & D_ALIGNMENT ? spv_power_of_two(r, d->alignment) : 0;
    return align > natural ? align : natural;
}

static void initialize_alloca(reader *r, spv_type *t, ir_inst *p, uint32_t align) {
    uint32_t at = r->in.opcode == SPV_OP_Variable ? 1 : 2;
    if (r->in.n <= at) return;
    const spv_const *c = spv_constant(r, r->in.arg[at]);
    if (!c) spv_fail(r, "the initializer %%%u is not a constant", r->in.arg[at]);
    if (c->form != C_LACKING && !spv_same_type(c->type, t))
        spv_fail(r, "the initializer has type %s, want %s", spv_type_name(r, c->type),
                 spv_type_name(r, t));
    spv_store_const(r, c, p, (spv_access){.align = align});
}

void spv_at_head(reader *r, ir_builder *b) {
    ir_block *entry = r->b.f->first;
    ir_builder_init(b, r->b.f);
    b->block = entry;
    b->before = r->body.last_alloca ? r->body.last_alloca->next : entry->first;
}

ir_inst *spv_temporary(reader *r, const spv_type *t) {
    ir_builder b;
    spv_at_head(r, &b);
    r->body.last_alloca = ir_build_alloca(&b, t->memory, (unsigned)ir_alignof(r->m, t->memory));
    return r->body.last_alloca;
}

/* Makes the allocas of all variables first, then their initial values. */
void spv_hoist_variables(reader *r, const uint32_t *at, uint32_t n) {
    ir_inst **made = ir_new_array(&r->scratch, ir_inst *, n);
    for (uint32_t i = 0; i < n; i++) {
        spv_decode(r, at[i]);
        r->b.loc = at[i];
        spv_type *t = variable_memory(r);
        made[i] = ir_build_alloca(&r->b, t->memory, variable_align(r, t));
        r->body.last_alloca = made[i];
        spv_define(r, made[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        spv_decode(r, at[i]);
        spv_type *t = variable_memory(r);
        initialize_alloca(r, t, made[i], variable_align(r, t));
    }
}
