/* copies.c — variables that are copies of memory which does not change.
 *
 * Compilers copy what a function is given, such as the closure of a SYCL kernel, to a variable, and
 * read the variable.  sroa makes values of its members, unless an index is not known or there are
 * too many of them: then every work-item copies all of it.
 *
 * If the only write to a variable is a copy of its whole, at the beginning of the function, then
 * reads of the variable read what was copied, if that is the same from there on: constant memory,
 * or a struct by value that the function only reads.
 */
#include "passes/passes.h"

typedef ir_vec(ir_inst *) addresses;

typedef enum { NOT_ASKED, CHANGES, STAYS } stability;

/* What is known of the function; tables are made when the first variable asks for them. */
typedef struct {
    ir_func *f;
    ir_arena *scratch;
    uint32_t *place;   /* in the entry block, from 1, by id; 0: in no or another block */
    stability *params; /* structs by value: what they hold */
} facts;

typedef struct {
    facts *facts;
    ir_inst *variable, *copy, *from;
    addresses list; /* the variable, and sums of it, each after its base */
} candidate;

static bool is_volatile(const ir_inst *i) { return i->imm.mem.flags & IR_MEM_VOLATILE; }

/* Does the use read memory, and no more? */
static bool is_read(const ir_use *u) {
    const ir_inst *i = u->user;
    if (i->op != IR_OP_load && (i->op != IR_OP_copy || u != &i->arg[1])) return false;
    return !is_volatile(i);
}

/* Is all that is done with the memory to read it, but for `write`?  Lists its addresses. */
static bool find_addresses(ir_inst *base, const ir_inst *write, ir_arena *scratch,
                           addresses *list) {
    *ir_push(scratch, list) = base;
    for (uint32_t k = 0; k < list->n; k++)
        foreach_use (u, list->data[k]) {
            if (u->user->op == IR_OP_ptradd && !ir_is_vector(u->user->type))
                *ir_push(scratch, list) = u->user;
            else if (u->user != write && !is_read(u))
                return false;
        }
    return true;
}

/* Has it the same bytes as long as the function runs? */
static bool is_constant(const candidate *c, ir_inst *from) {
    if (from->type == ir_ptr(IR_CONST)) return true;
    while (from->op == IR_OP_ptradd) from = ir_arg(from, 0);
    if (from->op != IR_OP_param || !(c->facts->f->param[from->imm.index].attrs & IR_PARAM_BYVAL))
        return false;
    addresses list = {0};
    if (c->facts->params[from->imm.index] == NOT_ASKED)
        c->facts->params[from->imm.index] =
            find_addresses(from, NULL, c->facts->scratch, &list) ? STAYS : CHANGES;
    return c->facts->params[from->imm.index] == STAYS;
}

static void make_tables(facts *s) {
    uint32_t n = 0;
    if (s->place) return;
    s->place = ir_new_array(s->scratch, uint32_t, s->f->next_id);
    foreach_inst (i, s->f->first) s->place[i->id] = ++n;
    s->params = ir_alloc(s->scratch, (s->f->nparams + 1) * sizeof *s->params);
}

/* The copy that fills the variable, or NULL. */
static ir_inst *find_copy(const candidate *c) {
    const uint64_t size = ir_sizeof(c->facts->f->module, c->variable->imm.var->type);
    foreach_use (u, c->variable) {
        ir_inst *i = u->user;
        if (i->op != IR_OP_copy || u != &i->arg[0] || i->block != c->facts->f->first) continue;
        const bool whole = ir_is_const(ir_arg(i, 2)) && ir_arg(i, 2)->imm.bits >= size;
        return whole && !is_volatile(i) ? i : NULL;
    }
    return NULL;
}

/* Is nothing of it used before the copy? */
static bool is_filled_first(const candidate *c) {
    const uint32_t *place = c->facts->place;
    for (uint32_t k = 0; k < c->list.n; k++)
        foreach_use (u, c->list.data[k]) {
            const uint32_t at = place[u->user->id];
            if (at && at < place[c->copy->id]) return false;
        }
    return true;
}

static bool is_copy(candidate *c) {
    c->copy = find_copy(c);
    if (!c->copy) return false;
    make_tables(c->facts);
    c->from = ir_arg(c->copy, 1);
    return find_addresses(c->variable, c->copy, c->facts->scratch, &c->list) &&
           is_constant(c, c->from) && is_filled_first(c);
}

/* Reads through `old` become reads through `new`, with no more alignment than the copy has. */
static void redirect(const candidate *c, ir_inst *old, ir_inst *new) {
    const uint8_t align = c->copy->imm.mem.align;
    for (ir_use *u = old->uses, *next; u; u = next) {
        ir_inst *i = u->user;
        next = u->next;
        if (i->op == IR_OP_ptradd || i == c->copy) continue;
        ir_set_arg(i, (unsigned)(u - i->arg), new);
        if (i->imm.mem.align > align) i->imm.mem.align = align;
    }
}

static ir_inst *sum_of(const candidate *c, ir_inst *old, ir_inst *base) {
    ir_builder b;
    ir_builder_init(&b, c->facts->f);
    ir_before(&b, old);
    b.loc = old->loc;
    return ir_build_ptradd(&b, base, ir_arg(old, 1), (old->flags & IR_INBOUNDS) != 0);
}

static void replace(candidate *c) {
    ir_map made = {0};
    for (uint32_t k = 0; k < c->list.n; k++) {
        ir_inst *old = c->list.data[k], *new = c->from;
        if (k) new = sum_of(c, old, ir_map_get(&made, (uintptr_t)ir_arg(old, 0)));
        ir_map_set(c->facts->scratch, &made, (uintptr_t)old, new);
        redirect(c, old, new);
    }
    ir_remove(c->copy);
    while (c->list.n) ir_remove(c->list.data[--c->list.n]);
}

/* Does:  makes reads of variables that are copies of constant memory, or of structs by value that
 *        are only read, reads of what was copied.
 * Needs: pointers in values (mem2reg), of known spaces (spaces).
 * Leaves: other variables.
 * Gives up: if the variable is not filled as a whole in the entry block, before all else. */
bool pass_copies(ir_func *f, pass_ctx *cx) {
    facts s = {.f = f, .scratch = cx->scratch};
    bool changed = false;
    for (ir_inst *i = f->first->first, *next; i; i = next) {
        next = i->next;
        candidate c = {.facts = &s, .variable = i};
        if (i->op != IR_OP_alloca || !is_copy(&c)) continue;
        /* The next instruction may be one that goes. */
        ir_inst *before = i->prev;
        replace(&c);
        ir_count(cx->cx, copies_removed, 1);
        next = before ? before->next : f->first->first;
        changed = true;
    }
    return changed;
}
