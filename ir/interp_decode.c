/* interp_decode.c — a function in the flat form that the interpreter runs.
 *
 * Blocks are laid out in reverse postorder with the exits of a loop after its body, so that of two
 * work-items that may still meet, the one with the smaller step runs first (ir_interp_order).  Of
 * two in different rounds of a loop, it is the one in the earlier round: rounds are counted in
 * slots of their own, except for loops of several entries.  Only blocks that the entry reaches are
 * decoded.  Each value gets slots, each instruction but phi a step, each edge the moves of its
 * phis.
 *
 * Needs: a function that verifies.  Leaves the function as it was.
 */
#include "ir/flow.h"
#include "ir/interp_impl.h"

#include <stdlib.h>

#define NO_SLOT UINT32_MAX

typedef struct {
    ir_arena *a;
    ir_interp_code *code;
    ir_code_func *out;
    ir_func *f;
    ir_block **order;
    uint32_t nblocks, nsteps;
    uint32_t *start;  /* by block id: its first step */
    uint32_t *loop;   /* by block id: the number of the innermost loop around it, or 0 */
    uint32_t *slot;   /* by value id: first slot, or NO_SLOT */
    uint32_t *writer; /* by slot: number of the move list that last wrote it */
    uint32_t lists;
    ir_vec(const ir_inst *) constants;
} decoder;

/* --------------------------------------------------------------------------------------- layout */

typedef struct {
    ir_block *block;
    uint32_t next; /* 0 … 2 * nsucc: successors outside of the block's loop, then those inside */
} visit;

/* The next successor to walk to, or NULL.  What is visited first comes last in the order. */
static ir_block *next_successor(const ir_loops *loops, visit *v) {
    const ir_loop *loop = loops->of[v->block->id];
    while (v->next < 2 * v->block->nsucc) {
        uint32_t k = v->next++;
        bool want_inside = k >= v->block->nsucc;
        ir_block *to = v->block->succ[k % v->block->nsucc];
        bool inside = loop && ir_in_loop(loops, to, loop);
        if (inside == want_inside) return to;
    }
    return NULL;
}

static void lay_out_blocks(decoder *d) {
    const ir_loops *loops = ir_loop_tree(d->f);
    uint32_t n = d->f->next_block, depth = 0, left = n;
    visit *stack = ir_new_array(d->a, visit, n);
    bool *seen = ir_new_array(d->a, bool, n);
    ir_block **order = ir_new_array(d->a, ir_block *, n);
    stack[depth++].block = d->f->first;
    seen[d->f->first->id] = true;
    while (depth) {
        ir_block *to = next_successor(loops, &stack[depth - 1]);
        if (!to)
            order[--left] = stack[--depth].block;
        else if (!seen[to->id]) {
            seen[to->id] = true;
            stack[depth++] = (visit){.block = to};
        }
    }
    d->order = order + left;
    d->nblocks = n - left;
}

/* ---------------------------------------------------------------------------------------- slots */

static void give_slots(decoder *d, const ir_inst *v) {
    if (d->slot[v->id] != NO_SLOT) return;
    d->slot[v->id] = d->out->nslots;
    d->out->nslots += ir_lanes(v->type);
}

/* The cases of a switch are decoded by value and need no slots. */
static unsigned operands_with_slots(const ir_inst *i) {
    return i->op == IR_OP_switch ? 1 : i->nargs;
}

static void give_leaf_slots(decoder *d, const ir_inst *i) {
    for (unsigned n = 0; n < operands_with_slots(i); n++) {
        const ir_inst *v = ir_arg(i, n);
        if (d->slot[v->id] != NO_SLOT) continue;
        if (v->op == IR_OP_const || v->op == IR_OP_undef) {
            give_slots(d, v);
            *ir_push(d->a, &d->constants) = v;
        } else if (v->op == IR_OP_address) {
            d->slot[v->id] = 0; /* known after all constants */
            *ir_push(d->a, &d->out->addresses) = v;
        }
    }
}

static void assign_slots(decoder *d) {
    ir_code_func *out = d->out;
    d->slot = ir_new_array(d->a, uint32_t, d->f->next_id);
    memset(d->slot, 0xff, sizeof *d->slot * d->f->next_id);
    for (uint32_t b = 0; b < d->nblocks; b++)
        foreach_inst (i, d->order[b]) give_leaf_slots(d, i);
    out->ntemplate = out->first_address = out->nslots;
    for (uint32_t k = 0; k < out->addresses.n; k++)
        d->slot[out->addresses.data[k]->id] = out->nslots++;
    out->first_param = out->nslots;
    for (uint32_t k = 0; k < d->f->nparams; k++) give_slots(d, d->f->param_val[k]);
    for (uint32_t b = 0; b < d->nblocks; b++)
        foreach_inst (i, d->order[b])
            if (i->type != IR_VOID) give_slots(d, i);
    if (out->nslots == 0) out->nslots = 1; /* steps without operands name slot 0 */
}

static uint8_t full_mask(unsigned width) {
    unsigned bytes = (width + 7) / 8;
    return (uint8_t)(bytes >= 8 ? 0xff : (1u << bytes) - 1);
}

static void fill_template(decoder *d) {
    uint64_t *bits = ir_new_array(d->a, uint64_t, d->out->ntemplate);
    uint8_t *undef = ir_new_array(d->a, uint8_t, d->out->ntemplate);
    for (uint32_t k = 0; k < d->constants.n; k++) {
        const ir_inst *c = d->constants.data[k];
        uint32_t at = d->slot[c->id];
        for (unsigned l = 0; l < ir_lanes(c->type); l++)
            if (c->op == IR_OP_undef)
                undef[at + l] = full_mask(ir_bits(d->code->module, c->type));
            else
                bits[at + l] = ir_lane_bits(c, l);
    }
    d->out->bits = bits;
    d->out->undef = undef;
}

/* ---------------------------------------------------------------------------------------- edges */

static void add_moves(decoder *d, const ir_inst *phi, const ir_inst *from) {
    for (uint32_t l = 0; l < ir_lanes(phi->type); l++)
        *ir_push(d->a, &d->out->moves) =
            (ir_move){.to = d->slot[phi->id] + l, .from = d->slot[from->id] + l};
}

/* Does a move read a slot that an earlier one of the same edge wrote? */
static bool needs_parallel(decoder *d, const ir_edge *e) {
    const ir_move *m = e->n ? d->out->moves.data + e->first : NULL;
    d->lists++;
    for (uint32_t k = 0; k < e->n; k++) {
        if (d->writer[m[k].from] == d->lists) return true;
        d->writer[m[k].to] = d->lists;
    }
    return false;
}

/* Is it the header of a loop that is counted?  Is b in that loop? */
static void find_round(decoder *d, const ir_block *b, const ir_block *to, ir_edge *out) {
    const ir_loops *loops = ir_loop_tree(d->f);
    const ir_loop *loop = loops->of[to->id];
    if (!loop || loop->header != to || loop->irreducible) return;
    out->loop = d->loop[to->id];
    out->again = ir_in_loop(loops, b, loop);
}

static uint32_t add_edge(decoder *d, const ir_block *b, uint32_t n) {
    const ir_block *to = b->succ[n];
    ir_edge e = {.target = d->start[to->id], .first = d->out->moves.n};
    if (to->first->op == IR_OP_phi) {
        unsigned pred = ir_pred_index(to, b);
        foreach_phi (i, to) add_moves(d, i, ir_arg(i, pred));
    }
    e.n = d->out->moves.n - e.first;
    find_round(d, b, to, &e);
    e.parallel = needs_parallel(d, &e);
    if (e.parallel && e.n > d->out->max_moves) d->out->max_moves = e.n;
    *ir_push(d->a, &d->out->edges) = e;
    return d->out->edges.n - 1;
}

static int compare_cases(const void *left, const void *right) {
    const ir_case *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void decode_switch(decoder *d, ir_step *s, const ir_inst *i) {
    ir_code_func *out = d->out;
    s->extra = out->cases.n;
    s->dst = add_edge(d, i->block, 0);
    s->mask = i->nargs - 1u;
    for (unsigned k = 1; k < i->nargs; k++)
        *ir_push(d->a, &out->cases) =
            (ir_case){.value = ir_lane_bits(ir_arg(i, k), 0), .edge = add_edge(d, i->block, k)};
    if (s->mask) qsort(out->cases.data + s->extra, s->mask, sizeof(ir_case), compare_cases);
}

/* ---------------------------------------------------------------------------------------- steps */

static uint16_t fast_integer(ir_op op) {
    switch (op) {
    case IR_OP_add:
    case IR_OP_ptradd: return X_ADD;
    case IR_OP_sub: return X_SUB;
    case IR_OP_mul: return X_MUL;
    case IR_OP_and: return X_AND;
    case IR_OP_or: return X_OR;
    case IR_OP_xor: return X_XOR;
    case IR_OP_shl: return X_SHL;
    case IR_OP_lshr: return X_LSHR;
    case IR_OP_ashr: return X_ASHR;
    case IR_OP_sext: return X_SEXT;
    case IR_OP_eq: return X_EQ;
    case IR_OP_ne: return X_NE;
    case IR_OP_ult: return X_ULT;
    case IR_OP_ule: return X_ULE;
    case IR_OP_slt: return X_SLT;
    case IR_OP_sle: return X_SLE;
    case IR_OP_select: return X_SELECT;
    default: return 0;
    }
}

static uint16_t fast_float(const ir_inst *i) {
    if (i->type != IR_F32) return 0;
    switch (i->op) {
    case IR_OP_fadd: return X_FADD;
    case IR_OP_fsub: return X_FSUB;
    case IR_OP_fmul: return X_FMUL;
    default: return 0;
    }
}

/* Casts that keep or cut the bits of each lane. */
static bool is_move(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_trunc:
    case IR_OP_zext:
    case IR_OP_ptrtoint:
    case IR_OP_inttoptr:
    case IR_OP_ptrcast: return true;
    case IR_OP_bitcast: return ir_lanes(i->type) == ir_lanes(ir_arg(i, 0)->type);
    default: return false;
    }
}

static uint16_t choose_code(const ir_inst *i) {
    bool scalar = !ir_is_vector(i->type);
    if (is_move(i)) return scalar ? X_MOVE : X_MOVES;
    uint16_t fast = scalar ? fast_integer((ir_op)i->op) : 0;
    if (!fast && scalar) fast = fast_float(i);
    if (fast) return fast;
    return ir_has_eval((ir_op)i->op) ? X_LANEWISE : i->op;
}

static uint32_t add_env(decoder *d, const ir_inst *i) {
    const ir_module *m = d->code->module;
    ir_type arg = i->nargs ? ir_arg(i, 0)->type : i->type;
    *ir_push(d->a, &d->out->envs) = (ir_eval_env){
        .op = (ir_op)i->op,
        .k_res = ir_kind_of(ir_elem(i->type)),
        .k_arg = ir_kind_of(ir_elem(arg)),
        .w_res = ir_bits(m, i->type),
        .w_arg = ir_bits(m, arg),
        .imm = i->imm,
    };
    return d->out->envs.n - 1;
}

/* Steps with one operand name it twice: the main loop looks at two. */
static void decode_operands(decoder *d, ir_step *s, const ir_inst *i) {
    unsigned n = operands_with_slots(i);
    s->spilled = n > 3;
    if (s->spilled) s->extra = d->out->operands.n;
    for (unsigned k = 0; k < n; k++) {
        uint32_t slot = d->slot[ir_arg(i, k)->id];
        if (k < 3) s->arg[k] = slot;
        if (s->spilled) *ir_push(d->a, &d->out->operands) = slot;
    }
    if (n == 1) s->arg[1] = s->arg[0];
}

static void decode_extra(decoder *d, ir_step *s, const ir_inst *i) {
    unsigned width = i->nargs ? ir_bits(d->code->module, ir_arg(i, 0)->type) : 0;
    switch (s->code) {
    case X_SHL:
    case X_LSHR:
    case X_ASHR: s->extra = width; break;
    case X_SEXT:
    case X_SLT:
    case X_SLE: s->extra = 64 - width; break;
    case X_LANEWISE: s->extra = add_env(d, i); break;
    case IR_OP_jmp: s->extra = add_edge(d, i->block, 0); break;
    case IR_OP_br:
        s->extra = add_edge(d, i->block, 0);
        add_edge(d, i->block, 1);
        break;
    case IR_OP_switch: decode_switch(d, s, i); break;
    default: break;
    }
}

static void decode_step(decoder *d, ir_step *s, const ir_inst *i) {
    unsigned width = ir_bits(d->code->module, i->type);
    *s = (ir_step){.code = choose_code(i), .lanes = (uint8_t)ir_lanes(i->type), .inst = i};
    s->full = full_mask(width);
    s->mask = ir_zext(UINT64_MAX, width);
    if (i->type != IR_VOID) s->dst = d->slot[i->id];
    if (ir_info(i)->flags & (F_READS | F_WRITES)) {
        *ir_push(d->a, &d->code->sites) = i;
        s->site = d->code->sites.n;
    }
    decode_operands(d, s, i);
    decode_extra(d, s, i);
}

static uint32_t outer_number(const decoder *d, const ir_loop *l) {
    do l = l->parent;
    while (l && l->irreducible);
    return l ? d->loop[l->header->id] : 0;
}

/* Headers come before the other blocks of their loops. */
static void number_loops(decoder *d) {
    const ir_loops *loops = ir_loop_tree(d->f);
    d->loop = ir_new_array(d->a, uint32_t, d->f->next_block);
    *ir_push(d->a, &d->out->loops) = (ir_code_loop){0};
    for (uint32_t b = 0; b < d->nblocks; b++) {
        const ir_loop *l = loops->of[d->order[b]->id];
        const ir_block *header = l ? l->header : NULL;
        while (l && l->irreducible) l = l->parent;
        if (!l) continue;
        if (header != d->order[b] || header != l->header) {
            d->loop[d->order[b]->id] = d->loop[l->header->id];
            continue;
        }
        uint32_t parent = outer_number(d, l);
        d->loop[header->id] = d->out->loops.n;
        *ir_push(d->a, &d->out->loops) =
            (ir_code_loop){parent, d->out->loops.data[parent].depth + 1, d->out->nslots++};
    }
}

static void number_steps(decoder *d) {
    d->start = ir_new_array(d->a, uint32_t, d->f->next_block);
    for (uint32_t b = 0; b < d->nblocks; b++) {
        d->start[d->order[b]->id] = d->nsteps;
        foreach_inst (i, d->order[b]) d->nsteps += i->op != IR_OP_phi;
    }
}

static void decode_steps(decoder *d) {
    ir_step *s = d->out->step = ir_new_array(d->a, ir_step, d->nsteps);
    uint32_t *loop_of = ir_new_array(d->a, uint32_t, d->nsteps), n = 0;
    d->out->loop_of = loop_of;
    d->writer = ir_new_array(d->a, uint32_t, d->out->nslots);
    for (uint32_t b = 0; b < d->nblocks; b++)
        foreach_inst (i, d->order[b])
            if (i->op != IR_OP_phi) {
                loop_of[n++] = d->loop[d->order[b]->id];
                decode_step(d, s++, i);
            }
}

const ir_code_func *ir_interp_decode(ir_interp_code *code, ir_func *f) {
    uint64_t key = (uint64_t)(uintptr_t)f;
    ir_code_func *known = ir_map_get(&code->funcs, key);
    if (known) return known;
    decoder d = {.a = code->arena, .code = code, .f = f};
    d.out = ir_new(d.a, ir_code_func);
    d.out->func = f;
    lay_out_blocks(&d);
    assign_slots(&d);
    fill_template(&d);
    number_loops(&d);
    number_steps(&d);
    decode_steps(&d);
    ir_map_set(code->arena, &code->funcs, key, d.out);
    return d.out;
}
