/* inst.c — instructions: allocation, operands and use lists, placement, leaves.
 *
 * An operand is a use node inside its user and an element of the used value's list.  link_use and
 * unlink_use are the only functions that touch those lists.  Variadic instructions are allocated
 * with room for the next power of two of operands, so their capacity follows from nargs; when it is
 * full the instruction moves and keeps its id.
 *
 * Leaves (constants, undef, addresses of globals) are interned per function: equal leaves are one
 * instruction.  Leaves of one hash are chained through `next`, which only placed instructions use
 * otherwise.
 */
#include "ir/eval.h"

/* ------------------------------------------------------------------------------------ use lists */

static void link_use(ir_use *u) {
    u->prev = NULL;
    u->next = u->val->uses;
    if (u->next) u->next->prev = u;
    u->val->uses = u;
}

static void unlink_use(ir_use *u) {
    if (u->prev)
        u->prev->next = u->next;
    else
        u->val->uses = u->next;
    if (u->next) u->next->prev = u->prev;
    u->next = u->prev = NULL;
}

static void bump_ssa(const ir_inst *i) {
    if (i->block) i->block->func->ssa_version++;
}

void ir_set_arg(ir_inst *i, unsigned n, ir_inst *val) {
    assert_at(i, n < i->nargs && val);
    ir_use *u = &i->arg[n];
    if (u->val) unlink_use(u);
    u->val = val;
    u->user = i;
    link_use(u);
    bump_ssa(i);
}

bool ir_may_be_undef(ir_op op, unsigned n) {
    switch (op) {
    case IR_OP_phi:
    case IR_OP_vec:
    case IR_OP_shuffle:
    case IR_OP_bitcast:
    case IR_OP_call:
    case IR_OP_ret: return true;
    case IR_OP_select: return n != 0;
    case IR_OP_insert: return n != 2;
    case IR_OP_extract:
    case IR_OP_permute:
    case IR_OP_store:
    case IR_OP_masked_store:
    case IR_OP_scatter: return n == 0;
    case IR_OP_masked_load: return n == 2;
    case IR_OP_gather: return n == 3;
    default: return false;
    }
}

ir_inst *ir_settle(ir_func *f, ir_op op, unsigned n, ir_inst *v) {
    if (v->op != IR_OP_undef || ir_may_be_undef(op, n) || ir_is_opaque(v->type)) return v;
    return ir_const(f, v->type, 0);
}

static void replace_by_undef(ir_inst *old, ir_inst *undef) {
    foreach_use (u, old) {
        unsigned n = (unsigned)(u - u->user->arg);
        ir_set_arg(u->user, n, ir_settle(u->user->block->func, (ir_op)u->user->op, n, undef));
    }
}

void ir_replace_uses(ir_inst *old, ir_inst *with) {
    assert_at(old, old != with && old->type == with->type);
    if (with->op == IR_OP_undef)
        replace_by_undef(old, with);
    else
        foreach_use (u, old) ir_set_arg(u->user, (unsigned)(u - u->user->arg), with);
}

bool ir_asks_subgroup(const ir_inst *i) {
    if (ir_info(i)->imm == I_GROUP) return i->imm.group.scope == IR_SCOPE_SUBGROUP;
    switch (i->op) {
    case IR_OP_subgroup_size:
    case IR_OP_subgroup_max_size:
    case IR_OP_num_subgroups:
    case IR_OP_enqueued_num_subgroups:
    case IR_OP_subgroup_id:
    case IR_OP_subgroup_local_id:
    case IR_OP_subgroup_mask: return true;
    default: return false;
    }
}

unsigned ir_count_uses(const ir_inst *i) {
    unsigned n = 0;
    for (const ir_use *u = i->uses; u; u = u->next) n++;
    return n;
}

/* ---------------------------------------------------------------------------- variadic operands */

static unsigned capacity(unsigned nargs) {
    unsigned cap = 2;
    while (cap < nargs) cap *= 2;
    return cap;
}

ir_inst *ir_inst_new(ir_func *f, ir_op op, ir_type t, unsigned nargs) {
    bool variadic = (ir_ops[op].flags & F_VARIADIC) != 0;
    unsigned room = variadic ? capacity(nargs) : nargs;
    if (nargs > UINT16_MAX) ir_throw(f->module->cx, IR_ERR_LIMIT);
    ir_inst *i = ir_alloc(&f->module->arena, sizeof *i + room * sizeof(ir_use));
    i->op = (uint16_t)op;
    i->nargs = (uint16_t)nargs;
    i->type = t;
    i->id = f->next_id++;
    return i;
}

static void relink_neighbours(ir_inst *i) {
    if (i->prev)
        i->prev->next = i;
    else
        i->block->first = i;
    if (i->next)
        i->next->prev = i;
    else
        i->block->last = i;
}

/* A copy of i with twice the room, in the same place, with the same id and uses.  A phi may be its
 * own operand, so the list of uses is only final when all operands have moved. */
static ir_inst *move_to_larger(ir_inst *i) {
    ir_func *f = i->block->func;
    ir_inst *big = ir_alloc(&f->module->arena, sizeof *i + 2u * i->nargs * sizeof(ir_use));
    memcpy(big, i, sizeof *i);
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *val = i->arg[n].val;
        unlink_use(&i->arg[n]);
        big->arg[n] = (ir_use){.val = val, .user = big};
        link_use(&big->arg[n]);
    }
    big->uses = i->uses;
    for (ir_use *u = big->uses; u; u = u->next) u->val = big;
    relink_neighbours(big);
    i->block = NULL;
    i->uses = NULL;
    return big;
}

ir_inst *ir_append_arg(ir_inst *i, ir_inst *val) {
    assert_at(i, ir_has_flag(i, F_VARIADIC) && i->block);
    unsigned n = i->nargs;
    if (n == UINT16_MAX) ir_throw(i->block->func->module->cx, IR_ERR_LIMIT);
    if (n >= 2 && n == capacity(n)) {
        ir_inst *big = move_to_larger(i);
        if (val == i) val = big;
        i = big;
    }
    i->nargs++;
    i->arg[n] = (ir_use){.user = i};
    ir_set_arg(i, n, val);
    return i;
}

void ir_drop_arg(ir_inst *i, unsigned n) {
    unlink_use(&i->arg[n]);
    for (unsigned k = n + 1; k < i->nargs; k++) {
        ir_inst *val = i->arg[k].val;
        unlink_use(&i->arg[k]);
        i->arg[k - 1] = (ir_use){.val = val, .user = i};
        link_use(&i->arg[k - 1]);
    }
    i->nargs--;
    i->arg[i->nargs] = (ir_use){0};
    bump_ssa(i);
}

/* ------------------------------------------------------------------------------------ placement */

static void detach(ir_inst *i) {
    ir_block *b = i->block;
    if (i->prev)
        i->prev->next = i->next;
    else
        b->first = i->next;
    if (i->next)
        i->next->prev = i->prev;
    else
        b->last = i->prev;
    i->prev = i->next = NULL;
}

void ir_insert(ir_inst *i, ir_block *b, ir_inst *before) {
    i->block = b;
    i->next = before;
    i->prev = before ? before->prev : b->last;
    relink_neighbours(i);
    b->func->ssa_version++;
}

void ir_remove(ir_inst *i) {
    assert_at(i, !i->uses && i->block);
    for (unsigned n = 0; n < i->nargs; n++) unlink_use(&i->arg[n]);
    bump_ssa(i);
    detach(i);
    i->block = NULL;
    i->nargs = 0;
}

void ir_move_before(ir_inst *i, ir_inst *where) {
    detach(i);
    ir_insert(i, where->block, where);
}

void ir_move_to_end(ir_inst *i, ir_block *b) {
    detach(i);
    ir_insert(i, b, NULL);
}

bool ir_is_dead_safe(const ir_inst *i) {
    const unsigned effects = F_WRITES | F_TERMINATOR | F_CONVERGENT;
    if (ir_is_load(i)) return !(i->imm.mem.flags & IR_MEM_VOLATILE);
    if (i->op == IR_OP_call) return (i->imm.func->flags & (IR_FUNC_PURE | IR_FUNC_CONST)) != 0;
    if (ir_info(i)->imm == I_GROUP) return !(ir_info(i)->flags & F_WRITES);
    return !(ir_info(i)->flags & effects);
}

bool ir_is_cheap(const ir_inst *i) {
    if (!ir_has_flag(i, F_PURE) || ir_has_flag(i, F_TRAPS | F_NOFOLD | F_CONVERGENT)) return false;
    switch (i->op) {
    case IR_OP_fdiv:
    case IR_OP_frem:
    case IR_OP_sqrt:
    case IR_OP_remainder:
    case IR_OP_remquo_q: return false;
    default: return true;
    }
}

/* --------------------------------------------------------------------------------------- leaves */

static bool same_leaf(const ir_inst *a, ir_op op, ir_type t, const uint64_t *lanes) {
    if (a->op != op || a->type != t) return false;
    if (op == IR_OP_undef) return true;
    if (!ir_is_vector(t) || op != IR_OP_const) return a->imm.bits == lanes[0];
    return memcmp(a->imm.lanes, lanes, ir_lanes(t) * sizeof *lanes) == 0;
}

static ir_imm leaf_imm(ir_func *f, ir_op op, ir_type t, const uint64_t *lanes) {
    if (op == IR_OP_undef) return (ir_imm){0};
    if (op != IR_OP_const || !ir_is_vector(t)) return (ir_imm){.bits = lanes[0]};
    return (ir_imm){.lanes = ir_dup(&f->module->arena, lanes, ir_lanes(t) * sizeof *lanes)};
}

/* `lanes`: the constant's values, or one word that tells other leaves apart. */
static ir_inst *intern(ir_func *f, ir_op op, ir_type t, const uint64_t *lanes) {
    unsigned n = op == IR_OP_const ? ir_lanes(t) : op == IR_OP_undef ? 0 : 1;
    uint64_t hash = ir_mix(op, t);
    for (unsigned k = 0; k < n; k++) hash = ir_mix(hash, lanes[k]);
    ir_inst *first = ir_map_get(&f->leaves, hash);
    for (ir_inst *i = first; i; i = i->next)
        if (same_leaf(i, op, t, lanes)) return i;
    ir_inst *leaf = ir_inst_new(f, op, t, 0);
    leaf->imm = leaf_imm(f, op, t, lanes);
    leaf->next = first;
    ir_map_set(&f->module->arena, &f->leaves, hash, leaf);
    return leaf;
}

ir_inst *ir_const_lanes(ir_func *f, ir_type t, const uint64_t *lanes) {
    uint64_t cut[IR_MAX_LANES];
    unsigned bits = ir_bits(f->module, ir_elem(t));
    for (unsigned i = 0; i < ir_lanes(t); i++) cut[i] = ir_zext(lanes[i], bits);
    return intern(f, IR_OP_const, t, cut);
}

ir_inst *ir_const(ir_func *f, ir_type t, uint64_t bits) {
    uint64_t lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(t); i++) lanes[i] = bits;
    return ir_const_lanes(f, t, lanes);
}

ir_inst *ir_const_float(ir_func *f, ir_type t, double value) {
    return ir_const(f, t, ir_fp_from_double(ir_kind_of(ir_elem(t)), value));
}

ir_inst *ir_undef(ir_func *f, ir_type t) { return intern(f, IR_OP_undef, t, NULL); }

ir_inst *ir_address(ir_func *f, ir_global *g) {
    return intern(f, IR_OP_address, ir_ptr(g->space), &(uint64_t){(uintptr_t)g});
}

ir_inst *ir_slot(ir_func *f, uint32_t number) {
    return intern(f, IR_OP_slot, ir_ptr(IR_PRIVATE), &(uint64_t){number});
}

bool ir_is_splat(const ir_inst *c, uint64_t *bits) {
    for (unsigned i = 1; i < ir_lanes(c->type); i++)
        if (ir_lane_bits(c, i) != ir_lane_bits(c, 0)) return false;
    *bits = ir_lane_bits(c, 0);
    return true;
}
