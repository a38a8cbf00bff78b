/* phases_context.c — values, variables and local memory that later phases of a kernel need.
 *
 *   values         cheap ones are computed again; others are stored at the end of their phase, and
 *                  loaded at the start of each phase that uses them
 *   variables      a variable that only one phase uses stays; any other has memory for each item
 *   local memory   likewise, with memory for each work-group
 *
 * The memory is that of the launch: first what belongs to groups, in their linear order, then an
 * array of all work-items for each value or variable.  Arrays have a multiple of 64 elements.  An
 * element has the same address in every phase, so pointers to it may be kept.
 */
#include "passes/analysis/alias.h"
#include "passes/workgroup/phases_impl.h"

enum { MAX_REPEATED = 32 }; /* instructions, which cost less than a trip to memory */

/* A piece of memory that the kernel calls its own. */
typedef struct {
    ir_inst *address; /* a variable's, or that of a global in local memory */
    bool is_local;
    uint64_t offset, size; /* offset: bytes in front of it, for an item or a group */
    ir_inst **moved;       /* by phase; NULL: not used there */
    pass_use_list uses;
} object;

/* Builds addresses in that memory at one point of the kernel; values that several of them need are
 * built once. */
typedef struct {
    ir_builder b;
    ir_inst *base, *group; /* the end of what belongs to groups; the part of this group */
    ir_inst *items, *item; /* how many there are; the linear id */
} addresser;

typedef struct {
    pass_phasing *p;
    ir_vec(object) objects;
    ir_vec(ir_inst *) values; /* that are kept */
    uint64_t *offset;         /* by value id: bytes in front of it, plus 1; 0: not kept */
    ir_map read;              /* by phase and value: the value in that phase */
    addresser *start;         /* by phase */
    const char *refusal;
} keeper;

static uint32_t phase_of(const keeper *k, const ir_block *b) {
    return b->id < k->p->nblocks ? k->p->phase_of[b->id] : 0;
}

/* ------------------------------------------------------------------------------------ addresses */

static ir_inst *build_nowrap(addresser *s, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build(&s->b, op, x->type, ir_with_flags(IR_NSW | IR_NUW), IR_ARGS(x, y));
}

static ir_inst *number(addresser *s, uint64_t n) {
    return ir_const(s->b.f, ir_size_type(s->b.f->module), n);
}

static ir_inst *query(addresser *s, ir_op op, unsigned d) {
    return ir_build_query(&s->b, op, ir_size_type(s->b.f->module), d);
}

static ir_inst *product(addresser *s, ir_op op) {
    ir_inst *n = query(s, op, 0);
    for (unsigned d = 1; d < 3; d++) n = build_nowrap(s, IR_OP_mul, n, query(s, op, d));
    return n;
}

static ir_inst *linear_group(addresser *s) {
    ir_inst *id = query(s, IR_OP_group_id, 2);
    for (unsigned d = 2; d-- > 0;) {
        id = build_nowrap(s, IR_OP_mul, id, query(s, IR_OP_num_groups, d));
        id = build_nowrap(s, IR_OP_add, id, query(s, IR_OP_group_id, d));
    }
    return id;
}

/* The offset of the arrays of items. */
static ir_inst *begin_items(const keeper *k, addresser *s) {
    uint64_t group = k->p->out->group;
    if (!s->base && group) {
        ir_inst *bytes = build_nowrap(s, IR_OP_mul, product(s, IR_OP_num_groups), number(s, group));
        s->base = ir_build_ptradd(&s->b, k->p->kept, bytes, true);
    }
    return group ? s->base : k->p->kept;
}

/* The number of items, rounded up. */
static ir_inst *all_items(addresser *s) {
    if (s->items) return s->items;
    ir_inst *items = build_nowrap(s, IR_OP_add, product(s, IR_OP_global_size), number(s, 63));
    return s->items = ir_build2(&s->b, IR_OP_and, items->type, items, number(s, ~UINT64_C(63)));
}

/* The element of this item, of those that have `size` bytes. */
static ir_inst *element_of_item(const keeper *k, addresser *s, uint64_t before, uint64_t size) {
    ir_inst *array = begin_items(k, s);
    if (before) {
        ir_inst *bytes = build_nowrap(s, IR_OP_mul, all_items(s), number(s, before));
        array = ir_build_ptradd(&s->b, array, bytes, true);
    }
    if (!s->item) s->item = query(s, IR_OP_global_linear_id, 0);
    ir_inst *element = build_nowrap(s, IR_OP_mul, s->item, number(s, size));
    return ir_build_ptradd(&s->b, array, element, true);
}

static ir_inst *part_of_group(const keeper *k, addresser *s, uint64_t before) {
    if (!s->group) {
        ir_inst *bytes = build_nowrap(s, IR_OP_mul, linear_group(s), number(s, k->p->out->group));
        s->group = ir_build_ptradd(&s->b, k->p->kept, bytes, true);
    }
    return ir_build_ptradd(&s->b, s->group, number(s, before), true);
}

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* Reserves an array of items.  What comes before it counts 64 times. */
static uint64_t reserve(keeper *k, uint64_t size, uint64_t align) {
    uint64_t *item = &k->p->out->item;
    uint64_t at = round_up(*item, align > 64 ? align / 64 : 1);
    *item = at + size;
    return at;
}

/* ------------------------------------------------------------------------------------ variables */

/* The phase that has all uses, plus 1; 0: several have some, or not all are known. */
static uint32_t only_phase(keeper *k, object *o) {
    uint32_t only = 0;
    if (!pass_follow_address(o->address, k->p->scratch, &o->uses)) return 0;
    for (uint32_t n = 0; n < o->uses.n; n++) {
        uint32_t phase = phase_of(k, ir_use_block(o->uses.data[n]));
        if (only && only != phase) return 0;
        only = phase;
    }
    return only;
}

static void reserve_object(keeper *k, object *o) {
    const ir_module *m = k->p->kernel->module;
    const ir_inst *a = o->address;
    ir_type t = o->is_local ? a->imm.global->type : a->imm.var->type;
    uint64_t align = o->is_local ? a->imm.global->align : a->imm.var->align;
    if (!align) align = o->is_local ? ir_alignof(m, t) : 1;
    o->size = round_up(ir_sizeof(m, t), align);
    if (align > IR_LOCAL_ALIGN)
        k->refusal = "a variable asks for more alignment than launches give";
    if (o->is_local && a->imm.global->init)
        k->refusal = "several phases use local memory that has an initial value";
    if (o->is_local) {
        o->offset = round_up(k->p->out->group, align);
        k->p->out->group = o->offset + o->size;
    } else {
        o->offset = reserve(k, o->size, align);
    }
    o->moved = ir_new_array(k->p->scratch, ir_inst *, k->p->phases.n);
    *ir_push(k->p->scratch, &k->objects) = *o;
}

static void visit_object(keeper *k, ir_inst *address) {
    object o = {.address = address, .is_local = address->op == IR_OP_address};
    if (!address->uses || only_phase(k, &o)) return;
    if (address->op == IR_OP_param)
        k->refusal = "several phases use local memory whose size the launch says";
    else
        reserve_object(k, &o);
}

static bool is_local_address(const ir_inst *v) {
    if (v->op == IR_OP_address) return v->imm.global->space == IR_LOCAL;
    return v->op == IR_OP_param && ir_is_ptr(v->type) && ir_space_of(v->type) == IR_LOCAL;
}

static void find_objects(keeper *k) {
    ir_map seen = {0};
    foreach_inst (i, k->p->kernel->first)
        if (i->op == IR_OP_alloca) visit_object(k, i);
    foreach_block (b, k->p->kernel)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                ir_inst *v = ir_arg(i, n);
                if (!is_local_address(v) || ir_map_get(&seen, (uintptr_t)v)) continue;
                ir_map_set(k->p->scratch, &seen, (uintptr_t)v, v);
                visit_object(k, v);
            }
    k->p->out->group = round_up(k->p->out->group, IR_LOCAL_ALIGN);
}

/* Casts through an integer, because the space changes. */
static ir_inst *moved_to(keeper *k, object *o, uint32_t phase) {
    addresser *s = &k->start[phase];
    if (o->moved[phase]) return o->moved[phase];
    ir_inst *at =
        o->is_local ? part_of_group(k, s, o->offset) : element_of_item(k, s, o->offset, o->size);
    at = ir_build1(&s->b, IR_OP_ptrtoint, ir_size_type(k->p->kernel->module), at);
    return o->moved[phase] = ir_build1(&s->b, IR_OP_inttoptr, o->address->type, at);
}

static void move_object(keeper *k, object *o) {
    foreach_use (u, o->address) {
        uint32_t phase = phase_of(k, ir_use_block(u));
        ir_set_arg(u->user, (unsigned)(u - u->user->arg), moved_to(k, o, phase - 1));
    }
    if (!o->is_local) ir_remove(o->address);
}

/* --------------------------------------------------------------------------------------- values */

static bool is_everywhere(const keeper *k, const ir_inst *v) {
    return !v->block || !phase_of(k, v->block);
}

/* Can it be computed in any phase, from what every phase has? */
static bool is_repeatable(const keeper *k, const ir_inst *v, unsigned *left) {
    if (is_everywhere(k, v) || k->offset[v->id] || ir_info(v)->rule == R_QUERY) return true;
    if (v->op == IR_OP_phi || !ir_is_cheap(v) || !*left) return false;
    --*left;
    for (unsigned n = 0; n < v->nargs; n++)
        if (!is_repeatable(k, ir_arg(v, n), left)) return false;
    return true;
}

static ir_inst *read_in(keeper *k, ir_inst *v, uint32_t phase);

static ir_inst *copy_in(keeper *k, const ir_inst *v, uint32_t phase) {
    ir_inst *args[IR_MAX_LANES];
    for (unsigned n = 0; n < v->nargs; n++) args[n] = read_in(k, ir_arg(v, n), phase);
    return ir_build_like(&k->start[phase].b, v, v->type, args);
}

static unsigned align_of(const keeper *k, const ir_inst *v) {
    return (unsigned)ir_alignof(k->p->kernel->module, v->type);
}

static ir_inst *element_of_value(const keeper *k, addresser *s, const ir_inst *v) {
    return element_of_item(k, s, k->offset[v->id] - 1, ir_sizeof(k->p->kernel->module, v->type));
}

static void reserve_value(keeper *k, ir_inst *v) {
    if (k->offset[v->id]) return;
    k->offset[v->id] = reserve(k, ir_sizeof(k->p->kernel->module, v->type), align_of(k, v)) + 1;
    *ir_push(k->p->scratch, &k->values) = v;
}

/* v as it is when a phase begins. */
static ir_inst *read_in(keeper *k, ir_inst *v, uint32_t phase) {
    uint64_t key = (uint64_t)(phase + 1) << 32 | v->id;
    unsigned left = MAX_REPEATED;
    if (is_everywhere(k, v)) return v;
    ir_inst *known = ir_map_get(&k->read, key);
    if (known) return known;
    if (!k->offset[v->id] && is_repeatable(k, v, &left)) {
        known = copy_in(k, v, phase);
    } else {
        addresser *s = &k->start[phase];
        reserve_value(k, v);
        known = ir_build_load(&s->b, v->type, element_of_value(k, s, v), align_of(k, v), 0);
    }
    ir_map_set(k->p->scratch, &k->read, key, known);
    return known;
}

/* Is the use in a later phase than the value? */
static bool crosses(const keeper *k, const ir_use *u) {
    if (is_everywhere(k, u->val)) return false;
    return phase_of(k, u->val->block) != phase_of(k, ir_use_block(u));
}

/* Uses change when all is read: what is computed again is so from what was there. */
static void keep_values(keeper *k) {
    pass_use_list uses = {0};
    ir_vec(ir_inst *) read = {0};
    foreach_block (b, k->p->kernel)
        foreach_inst (i, b)
            for (const ir_use *u = i->arg; u < i->arg + i->nargs; u++) {
                if (!crosses(k, u)) continue;
                *ir_push(k->p->scratch, &uses) = u;
                *ir_push(k->p->scratch, &read) =
                    read_in(k, u->val, phase_of(k, ir_use_block(u)) - 1);
            }
    for (uint32_t n = 0; n < uses.n; n++) {
        const ir_use *u = uses.data[n];
        ir_set_arg(u->user, (unsigned)(u - u->user->arg), read.data[n]);
    }
}

static bool has_opaque(const keeper *k) {
    foreach_block (b, k->p->kernel)
        foreach_inst (i, b)
            for (const ir_use *u = i->uses; u && ir_is_opaque(i->type); u = u->next)
                if (crosses(k, u)) return true;
    return false;
}

static void store_values(keeper *k) {
    addresser *end = ir_new_array(k->p->scratch, addresser, k->p->phases.n);
    ir_count(k->p->kernel->module->cx, phases_kept, k->values.n);
    for (uint32_t n = 0; n < k->values.n; n++) {
        ir_inst *v = k->values.data[n];
        uint32_t phase = phase_of(k, v->block) - 1;
        addresser *s = &end[phase];
        if (!s->b.f) {
            ir_builder_init(&s->b, k->p->kernel);
            ir_before(&s->b, k->p->phases.data[phase].end->last);
        }
        ir_build_store(&s->b, v, element_of_value(k, s, v), align_of(k, v), 0);
    }
}

/* ------------------------------------------------------------------------------------ the whole */

/* An address does not tell whether it leads to a variable that has been moved. */
static bool asks_for_space(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_ptr_space || i->op == IR_OP_ptrcast_to) return true;
    return false;
}

/* Structs by value that are written to become variables. */
static void own_structs(const pass_phasing *p) {
    ir_func *f = p->kernel;
    for (uint32_t n = 0; n < f->nparams; n++) {
        ir_inst *given = f->param_val[n];
        if (!(f->param[n].attrs & IR_PARAM_BYVAL) || pass_is_only_read(given, p->scratch)) continue;
        ir_builder b;
        ir_builder_init(&b, f);
        ir_before(&b, f->first->last);
        ir_inst *own = ir_build_byval(&b, &f->param[n]);
        ir_replace_uses(given, own);
        ir_before(&b, p->phases.data[0].start->first);
        ir_build_byval_copy(&b, &f->param[n], own, given);
    }
}

/* Addresses are built in front of all that phases begin with. */
static void begin_starts(keeper *k) {
    k->start = ir_new_array(k->p->scratch, addresser, k->p->phases.n);
    for (uint32_t n = 0; n < k->p->phases.n; n++) {
        ir_inst *first = k->p->phases.data[n].start->first;
        ir_builder_init(&k->start[n].b, k->p->kernel);
        ir_before(&k->start[n].b, pass_waits_for_all(first) ? first->next : first);
    }
}

static void add_params(pass_phasing *p) {
    ir_func *f = p->kernel;
    p->kept = ir_add_param(f, ir_ptr(IR_GLOBAL), "kept");
    p->number = ir_add_param(f, IR_I32, "phase");
    f->param[p->kept->imm.index].attrs = IR_PARAM_NOALIAS;
    f->param[p->kept->imm.index].align = IR_LOCAL_ALIGN;
}

const char *pass_keep_over_phases(pass_phasing *p) {
    keeper k = {.p = p};
    own_structs(p);
    find_objects(&k);
    if (k.objects.n && asks_for_space(p->kernel))
        k.refusal = "it asks where addresses lead, and several phases use one variable";
    if (has_opaque(&k)) k.refusal = "several phases use an image or event";
    if (k.refusal) return k.refusal;
    add_params(p);
    k.offset = ir_new_array(p->scratch, uint64_t, p->kernel->next_id);
    begin_starts(&k);
    keep_values(&k);
    store_values(&k);
    begin_starts(&k);
    for (uint32_t n = 0; n < k.objects.n; n++) move_object(&k, &k.objects.data[n]);
    return NULL;
}
