/* variables.c — variables of frames as debuggers know them: names, places, types.
 *
 * The types of an object are a table of its own, since it outlives the module.  SPIR-V does not say
 * which integers are signed: all are, here.
 */
#include "codegen/native/unit.h"

typedef struct {
    cg_unit *u;
    const ir_module *m;
    ir_map known; /* by type and pointee: number + 1 */
} table;

static uint32_t number_of(table *t, ir_type type, ir_type pointee);

static cg_type number_type(const table *t, ir_type type) {
    static const char *const ints[] = {"bool", "char", "short", "int", "long"};
    static const char *const floats[] = {"half", "float", "double"};
    ir_kind kind = ir_kind_of(type);
    bool is_float = ir_is_float(type);
    return (cg_type){.kind = is_float ? CG_TYPE_FLOAT : CG_TYPE_INT,
                     .name = is_float ? floats[kind - IR_F16] : ints[kind - IR_I1],
                     .size = ir_sizeof(t->m, type)};
}

static cg_type list_members(table *t, const ir_type_info *info) {
    cg_object *o = t->u->object;
    cg_member *list = ir_new_array(t->u->arena, cg_member, info->count + 1);
    for (uint32_t k = 0; k < info->count; k++)
        list[k] = (cg_member){number_of(t, info->member[k], IR_VOID), info->offset[k]};
    uint32_t first = o->members.n;
    for (uint32_t k = 0; k < info->count; k++) *ir_push(t->u->arena, &o->members) = list[k];
    const char *name = info->name ? ir_strdup(t->u->arena, info->name) : NULL;
    return (cg_type){CG_TYPE_STRUCT, name, info->size, first, info->count};
}

static cg_type describe(table *t, ir_type type, ir_type pointee) {
    uint64_t size = ir_sizeof(t->m, type);
    if (ir_is_ptr(type) || ir_is_opaque(type)) {
        uint32_t to = pointee == IR_VOID ? 0 : number_of(t, pointee, IR_VOID) + 1;
        return (cg_type){CG_TYPE_POINTER, NULL, size, to, 0};
    }
    if (ir_is_vector(type))
        return (cg_type){CG_TYPE_VECTOR, NULL, size, number_of(t, ir_elem(type), IR_VOID),
                         ir_lanes(type)};
    if (!ir_is_aggregate(type)) return number_type(t, type);
    const ir_type_info *info = ir_type_get(t->m, type);
    if (ir_kind_of(type) == IR_STRUCT) return list_members(t, info);
    return (cg_type){CG_TYPE_ARRAY, NULL, size, number_of(t, info->member[0], IR_VOID),
                     info->count};
}

/* What a type is made of comes before it. */
static uint32_t number_of(table *t, ir_type type, ir_type pointee) {
    uint64_t key = (uint64_t)type << 32 | pointee;
    uintptr_t known = (uintptr_t)ir_map_get(&t->known, key + 1);
    if (known) return (uint32_t)known - 1;
    cg_type made = describe(t, type, pointee);
    *ir_push(t->u->arena, &t->u->object->types) = made;
    uintptr_t n = t->u->object->types.n;
    ir_map_set(t->u->arena, &t->known, key + 1, (void *)n);
    return (uint32_t)n - 1;
}

void cg_place_variables(cg_unit *u, const ir_module *m) {
    table t = {.u = u, .m = m};
    for (uint32_t n = 0; n < u->variables.n; n++) {
        const cg_open_variable *v = &u->variables.data[n];
        const ir_shown *s = v->shown;
        *ir_push(u->arena, &u->object->variables) =
            (cg_variable){.symbol = cg_symbol_of(u, v->func),
                          .name = ir_strdup(u->arena, s->name),
                          .type = number_of(&t, s->type, s->pointee),
                          .at = v->at,
                          .is_address = s->is_address,
                          .parameter = s->parameter};
    }
}
