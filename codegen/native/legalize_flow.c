/* legalize_flow.c — instructions that become control flow: switches, updates of shared memory
 * (legalize_updates.c), copies and fills of many bytes.
 *
 * A switch becomes a search: halves by "less than", then one comparison for each case.
 */
#include "codegen/native/legalize.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- switches */

typedef struct {
    uint64_t value;
    ir_inst *constant;
    ir_block *to;
} switch_case;

enum { CHAIN = 4 }; /* so many cases are compared one after another */

static int by_value(const void *a, const void *b) {
    uint64_t x = ((const switch_case *)a)->value, y = ((const switch_case *)b)->value;
    return x < y ? -1 : x > y;
}

typedef struct {
    ir_inst *on;
    ir_block *other; /* for values without a case */
} search;

/* Ends block b with a search in n cases, ascending. */
static void build_search(cg_legalizer *l, const search *s, ir_block *b, const switch_case *c,
                         uint32_t n) {
    while (n > CHAIN) {
        uint32_t half = n / 2;
        ir_block *low = ir_block_new(l->f, NULL), *high = ir_block_new(l->f, NULL);
        ir_at_end(&l->b, b);
        ir_inst *less = ir_build2(&l->b, IR_OP_ult, IR_I1, s->on, c[half].constant);
        ir_build_br(&l->b, less, low, high);
        build_search(l, s, low, c, half); /* depth: log2 of the number of cases */
        c += half;
        n -= half;
        b = high;
    }
    for (uint32_t k = 0; k < n; k++) {
        ir_block *next = k + 1 < n ? ir_block_new(l->f, NULL) : s->other;
        ir_at_end(&l->b, b);
        ir_build_br(&l->b, ir_build2(&l->b, IR_OP_eq, IR_I1, s->on, c[k].constant), c[k].to, next);
        b = next;
    }
}

/* Splits every edge first, so that phis of the targets keep their predecessors. */
static void lower_switch(cg_legalizer *l, ir_inst *sw) {
    ir_block *b = sw->block;
    ir_inst *on = ir_arg(sw, 0);
    uint32_t n = b->nsucc - 1;
    for (unsigned k = 0; k < b->nsucc; k++) ir_split_edge(b, k);
    ir_block *other = b->succ[0];
    switch_case *cases = ir_new_array(l->scratch, switch_case, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        ir_inst *c = ir_arg(sw, k + 1);
        cases[k] = (switch_case){c->imm.bits, c, b->succ[k + 1]};
    }
    qsort(cases, n, sizeof *cases, by_value);
    if (!n) {
        ir_make_jmp(b, 0);
        return;
    }
    const search s = {on, other};
    ir_make_unreachable(b);
    ir_remove(b->last);
    build_search(l, &s, b, cases, n);
}

/* -------------------------------------------------------------------------------- copies, fills */

enum { UNROLLED = 128 }; /* bytes that are copied without a loop */

typedef struct {
    ir_inst *to, *from; /* addresses; from: NULL for a fill */
    ir_inst *byte;      /* what a fill writes, as i8 */
    unsigned flags;
} transfer;

static ir_inst *offset(cg_legalizer *l, ir_inst *p, ir_inst *n) {
    return ir_build_ptradd(&l->b, p, n, false);
}

/* The byte in all bytes of an integer. */
static ir_inst *spread(cg_legalizer *l, ir_inst *byte, ir_type t) {
    if (t == IR_I8) return byte;
    ir_inst *wide = ir_build1(&l->b, IR_OP_zext, t, byte);
    return ir_build2(&l->b, IR_OP_mul, t, wide, ir_const(l->f, t, UINT64_C(0x0101010101010101)));
}

static void transfer_one(cg_legalizer *l, const transfer *t, ir_inst *at, ir_type type) {
    ir_inst *x = t->from ? ir_build_load(&l->b, type, offset(l, t->from, at), 1, t->flags)
                         : spread(l, t->byte, type);
    ir_build_store(&l->b, x, offset(l, t->to, at), 1, t->flags);
}

static void transfer_unrolled(cg_legalizer *l, const transfer *t, uint64_t bytes) {
    static const ir_kind kinds[] = {IR_I64, IR_I32, IR_I16, IR_I8};
    ir_type size = ir_size_type(l->f->module);
    uint64_t at = 0;
    for (unsigned k = 0, step = 8; k < 4; k++, step /= 2)
        for (; bytes - at >= step; at += step)
            transfer_one(l, t, ir_const(l->f, size, at), ir_scalar(kinds[k]));
}

typedef struct {
    ir_inst *from, *end; /* offsets */
    ir_type type;        /* of what is moved at once */
} span;

/* for (at = s.from; at < s.end; at += sizeof type), which leads to `after`; gives the last value of
 * at. */
static ir_inst *transfer_loop(cg_legalizer *l, const transfer *t, span s, ir_block *after) {
    ir_block *head = ir_block_new(l->f, NULL), *body = ir_block_new(l->f, NULL);
    ir_type size = s.end->type;
    ir_build_jmp(&l->b, head);
    ir_inst *at = ir_build_phi(head, size);
    ir_at_end(&l->b, body);
    transfer_one(l, t, at, s.type);
    ir_inst *step = ir_const(l->f, size, ir_sizeof(l->f->module, s.type));
    ir_inst *next = ir_build2(&l->b, IR_OP_add, size, at, step);
    ir_build_jmp(&l->b, head);
    at = ir_append_arg(at, s.from);
    at = ir_append_arg(at, next);
    ir_at_end(&l->b, head);
    ir_build_br(&l->b, ir_build2(&l->b, IR_OP_ult, IR_I1, at, s.end), body, after);
    return at;
}

static void lower_transfer(cg_legalizer *l, ir_inst *i) {
    transfer t = {.to = ir_arg(i, 0), .flags = i->imm.mem.flags};
    if (i->op == IR_OP_copy)
        t.from = ir_arg(i, 1);
    else
        t.byte = ir_arg(i, 1);
    ir_inst *bytes = ir_arg(i, 2);
    if (ir_is_const(bytes) && bytes->imm.bits <= UNROLLED) {
        ir_before(&l->b, i);
        transfer_unrolled(l, &t, bytes->imm.bits);
        ir_remove(i);
        return;
    }
    ir_block *before = i->block, *after = ir_split_block(before, i);
    ir_block *rest = ir_block_new(l->f, NULL);
    ir_at_end(&l->b, before);
    ir_inst *zero = ir_const(l->f, bytes->type, 0);
    ir_inst *words =
        ir_build2(&l->b, IR_OP_and, bytes->type, bytes, ir_const(l->f, bytes->type, ~UINT64_C(7)));
    ir_inst *at = transfer_loop(l, &t, (span){zero, words, IR_I64}, rest);
    ir_at_end(&l->b, rest);
    transfer_loop(l, &t, (span){at, bytes, IR_I8}, after);
    ir_remove(i);
}

/* ----------------------------------------------------------------------------------------- walk */

static void lower(cg_legalizer *l, ir_inst *i) {
    l->b.loc = i->loc;
    if (i->op == IR_OP_switch)
        lower_switch(l, i);
    else if (i->op == IR_OP_copy || i->op == IR_OP_fill)
        lower_transfer(l, i);
    else if (i->op == IR_OP_atomic_store && (i->imm.sync.semantics & IR_SEM_SEQ_CST))
        cg_store_in_order(l, i);
    else if (cg_is_update(i))
        cg_lower_update(l, i);
}

/* Collects first: lowering splits blocks, and adds nothing that needs lowering. */
void cg_legalize_flow(cg_legalizer *l) {
    ir_vec(ir_inst *) found = {0};
    foreach_block (b, l->f) {
        foreach_inst (i, b) {
            bool must_lower = ir_is_atomic(i) || i->op == IR_OP_switch || i->op == IR_OP_copy ||
                              i->op == IR_OP_fill;
            if (must_lower) *ir_push(l->scratch, &found) = i;
        }
    }
    for (uint32_t n = 0; n < found.n; n++) lower(l, found.data[n]);
}
