/* clusters.c — clustered operations whose cluster size is no constant.
 *
 * SPIR-V requires a constant, and so does the IR.  But optimizers of other compilers merge calls at
 * the ends of several branches into one, whose cluster size is then a phi.  After the body has been
 * read, such an operation becomes a switch over the sizes that can occur, with an operation for
 * each: as in the source, only work-items with the same size work together.
 *
 * The sizes are those that phis and selects choose from, powers of two all of them; if they
 * involve another value, all sizes up to the largest sub-group of the language.  Other sizes are
 * undefined.
 */
#include "frontend/reader.h"

enum { MOST_LOG = 7, MOST_VALUES = 256 }; /* sub-groups have 128 work-items at most */

/* Until then the size is the last operand. */
void spv_note_cluster(reader *r, ir_inst *op) {
    spv_charge(r, 3 * (MOST_LOG + 1));
    *ir_push(&r->scratch, &r->body.clusters) = op;
}

/* ------------------------------------------------------------------------------------ the sizes */

typedef struct {
    ir_inst *seen[MOST_VALUES];
    unsigned n;
    uint32_t logs; /* bit k: 2^k occurs */
    bool unknown;
} search;

static void add_value(search *s, ir_inst *v) {
    for (unsigned k = 0; k < s->n; k++)
        if (s->seen[k] == v) return;
    if (s->n == MOST_VALUES)
        s->unknown = true;
    else
        s->seen[s->n++] = v;
}

/* Adds the size that v is, or the values that it chooses from. */
static void add_sizes(search *s, const ir_inst *v) {
    if (ir_is_const(v))
        for (unsigned log = 0; log <= IR_MAX_CLUSTER_LOG; log++)
            s->logs |= (unsigned)(ir_lane_bits(v, 0) == UINT64_C(1) << log) << log;
    else if (v->op == IR_OP_phi || v->op == IR_OP_select)
        for (unsigned n = v->op == IR_OP_select; n < v->nargs; n++) add_value(s, ir_arg(v, n));
    else if (v->op != IR_OP_undef)
        s->unknown = true;
}

/* Logarithms of the sizes that the value can have, as bits. */
static uint32_t find_logs(ir_inst *size) {
    search s = {.n = 0};
    add_value(&s, size);
    for (unsigned k = 0; k < s.n; k++) add_sizes(&s, s.seen[k]);
    if (s.unknown || !s.logs) s.logs |= (2u << MOST_LOG) - 1;
    return s.logs;
}

/* ----------------------------------------------------------------------------------- the switch */

/* The operation with the size that its imm says. */
static ir_inst *with_constant(reader *r, const ir_inst *op, unsigned log) {
    ir_inst *args[2] = {NULL};
    ir_imm imm = op->imm;
    imm.group.log_size = (uint8_t)log;
    for (unsigned n = 0; n + 1 < op->nargs; n++) args[n] = ir_arg(op, n);
    r->b.loc = op->loc;
    return ir_build_raw(&r->b, (ir_op)op->op, op->type, (ir_attrs){op->flags, imm},
                        (ir_args){op->nargs - 1, args});
}

/* Replaces the operation by a switch; an undefined size takes the first case. */
static ir_inst *make_switch(reader *r, ir_inst *op, uint32_t logs) {
    uint64_t values[IR_MAX_CLUSTER_LOG + 1];
    ir_block *cases[IR_MAX_CLUSTER_LOG + 1], *before = op->block, *last = before;
    ir_inst *results[IR_MAX_CLUSTER_LOG + 1];
    ir_block *behind = ir_split_block(before, op->next);
    unsigned n = 0;
    for (unsigned log = 0; log <= IR_MAX_CLUSTER_LOG; log++) {
        if (!(logs >> log & 1)) continue;
        ir_block *b = cases[n] = ir_block_new(r->f->ir, NULL);
        ir_block_move_after(b, last);
        ir_at_end(&r->b, b);
        results[n] = with_constant(r, op, log);
        ir_build_jmp(&r->b, behind);
        values[n++] = UINT64_C(1) << log;
        last = b;
    }
    ir_at_end(&r->b, before);
    ir_build_switch(&r->b, ir_arg(op, op->nargs - 1), cases[0],
                    (ir_cases){n - 1, values + 1, cases + 1});
    ir_before(&r->b, behind->first);
    return ir_build_raw(&r->b, IR_OP_phi, op->type, IR_PLAIN, (ir_args){n, results});
}

static ir_inst *make_alone(reader *r, ir_inst *op, uint32_t logs) {
    unsigned log = 0;
    while (logs >> log > 1) log++;
    ir_before(&r->b, op);
    return with_constant(r, op, log);
}

void spv_expand_clusters(reader *r) {
    for (uint32_t k = 0; k < r->body.clusters.n; k++) {
        ir_inst *op = r->body.clusters.data[k];
        uint32_t logs = find_logs(ir_arg(op, op->nargs - 1));
        ir_replace_uses(op, logs & (logs - 1) ? make_switch(r, op, logs) : make_alone(r, op, logs));
        ir_remove(op);
    }
}
