/* latency.c — the cost of one operation, by its class in latency.def.
 *
 * The estimates of fusion (delay.c, split.c) and of vectorization (price.c) add these costs up.
 * They are those of a current x86-64 core, whatever the target.  The class depends on the operation
 * and on whether it works on floats, not on widths.
 */
#include "passes/analysis/analysis.h"

typedef enum {
#define LATENCY(class, instructions, cycles, quarters, what) CLASS_##class,
#include "passes/analysis/latency.def"
#undef LATENCY
} latency_class;

static const struct {
    pass_cost cost;
    unsigned quarters;
} costs[] = {
#define LATENCY(class, instructions, cycles, quarters, what) {{instructions, cycles}, quarters},
#include "passes/analysis/latency.def"
#undef LATENCY
};

static latency_class class_of_function(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_pow:
    case IR_OP_powr:
    case IR_OP_tgamma: return CLASS_POWER;
    case IR_OP_rsqrt: return CLASS_RSQRT;
    default: break;
    }
    return i->op >= IR_OP_half_cos && i->op <= IR_OP_native_tan ? CLASS_RELAXED : CLASS_FUNCTION;
}

/* Local memory belongs to the thread that runs the group. */
static latency_class class_of_atomic(const ir_inst *i) {
    if (i->op == IR_OP_atomic_load) return CLASS_LOAD;
    if (i->op == IR_OP_atomic_store) return CLASS_STORE;
    return ir_space_of(ir_arg(i, 0)->type) == IR_LOCAL ? CLASS_UPDATE : CLASS_LOCKED;
}

static latency_class class_of(const ir_inst *i) {
    if (ir_has_flag(i, F_NOFOLD)) return class_of_function(i);
    if (ir_has_flag(i, F_TERMINATOR)) return CLASS_CONTROL;
    if (ir_info(i)->rule == R_QUERY) return CLASS_QUERY;
    if (ir_is_atomic(i)) return class_of_atomic(i);
    switch (i->op) {
    case IR_OP_phi:
    case IR_OP_ptradd: return CLASS_NOTHING;
    case IR_OP_load:
    case IR_OP_masked_load:
    case IR_OP_gather:
    case IR_OP_prefetch: return CLASS_LOAD;
    case IR_OP_store:
    case IR_OP_masked_store:
    case IR_OP_scatter: return CLASS_STORE;
    case IR_OP_vec:
    case IR_OP_extract:
    case IR_OP_insert:
    case IR_OP_shuffle:
    case IR_OP_permute: return CLASS_SHUFFLE;
    case IR_OP_mul:
    case IR_OP_bytedot:
    case IR_OP_bytedotsat:
    case IR_OP_worddot: return CLASS_PRODUCT;
    case IR_OP_fdiv:
    case IR_OP_sqrt:
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_urem:
    case IR_OP_srem: return CLASS_DIVISION;
    case IR_OP_fptosi:
    case IR_OP_fptoui: return CLASS_TO_INTEGER;
    default: break;
    }
    bool is_float = ir_is_float(i->type) || (i->nargs && ir_is_float(ir_arg(i, 0)->type));
    return is_float ? CLASS_FLOAT : CLASS_INTEGER;
}

pass_cost pass_cost_of(const ir_inst *i) { return costs[class_of(i)].cost; }

unsigned pass_quarters_of(const ir_inst *i) { return costs[class_of(i)].quarters; }
