/* lanes_count.c — what random kernels for vectorization are made of: how often each operation has
 * each type that it takes, and how often there are accesses of each space of memory and each form
 * of control flow.  Functions of the library, which have no vectors of their own before lowering,
 * are counted for any type; tests/codegen/math/ulp.c compares them for all.
 *
 * Operations and accesses are counted in the kernel itself.  Rows exist before anything is counted,
 * so what never occurs has a row of zeros.
 */
#include "tests/fuzz/defined.h"
#include "tests/fuzz/lanes.h"

#include <stdio.h>

/* Columns are scalar kinds, of single values and of lanes, and vectors. */
enum { VECTOR = IR_PTR, COLUMNS, SPACES = IR_GENERIC + 1 };

static unsigned long operations[IR_OP_COUNT][COLUMNS], all[IR_OP_COUNT],
    accesses[IR_OP_COUNT][SPACES][COLUMNS], flow[LANES_FLOW];

/* Whose type is counted: what is stored or compared, otherwise the result. */
static ir_type counted_type(const ir_inst *i) {
    const ir_rule r = ir_ops[i->op].rule;
    const bool asks = r == R_CMPI || r == R_CMPF || r == R_TESTF || r == R_STORE;
    return asks ? ir_arg(i, 0)->type : i->type;
}

static void count_as(unsigned long *columns, ir_type t) {
    if (ir_kind_of(t) < IR_PTR) columns[ir_kind_of(t)]++;
    if (ir_is_vector(t)) columns[VECTOR]++;
}

/* The operand that is the address of an access, or NULL. */
static const ir_inst *address_of(const ir_inst *i) {
    if (i->op == IR_OP_store) return ir_arg(i, 1);
    return ir_ops[i->op].flags & (F_READS | F_WRITES) && i->nargs ? ir_arg(i, 0) : NULL;
}

void lanes_count(const lanes_kernel *k) {
    const ir_func *f = ir_func_find(k->module, "k");
    foreach_block (b, f)
        foreach_inst (i, b) {
            const ir_inst *p = address_of(i);
            all[i->op]++;
            count_as(operations[i->op], counted_type(i));
            if (!p || ir_kind_of(p->type) != IR_PTR) continue;
            count_as(accesses[i->op][ir_space_of(p->type)], counted_type(i));
        }
    for (unsigned n = 0; n < LANES_FLOW; n++) flow[n] += k->flow[n] != 0;
}

/* ---------------------------------------------------------------------------------------- table */

static const ir_type columns[] = {IR_I1, IR_I8, IR_I16, IR_I32, IR_I64, IR_F16, IR_F32, IR_F64};
static const char *const column_names[] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
static const char *const flow_names[LANES_FLOW] = {
    [LANES_BRANCH] = "branches of items",
    [LANES_SWITCH] = "switches of items",
    [LANES_FALL] = "cases that go on in the next one",
    [LANES_LOOP] = "loops that items leave one by one",
    [LANES_COMMON_LOOP] = "loops with as many rounds for all items",
    [LANES_GRID] = "loops in large steps",
    [LANES_TANGLE] = "loops with several entries",
    [LANES_BREAK] = "jumps out of loops",
    [LANES_CONTINUE] = "jumps to the next round",
    [LANES_RETURN] = "early returns",
    [LANES_ARRAY_INDEX] = "private arrays with indices of items",
    [LANES_BARRIER] = "barriers",
    [LANES_MEETING] = "operations of sub-groups in control flow of items",
};

static void show(const char *what, ir_type t, unsigned long n) {
    const char *name = "vectors";
    for (unsigned k = 0; k < sizeof columns / sizeof *columns; k++)
        if (columns[k] == t) name = column_names[k];
    fprintf(stderr, "made: %s: %s: %lu\n", what, name, n);
}

static void show_operation(ir_op op) {
    const ir_op_info *o = &ir_ops[op];
    for (unsigned k = 0; k < sizeof columns / sizeof *columns; k++)
        if (defined_takes(o, columns[k])) show(o->name, columns[k], operations[op][columns[k]]);
    show(o->name, IR_VOID, operations[op][VECTOR]);
}

static void show_accesses(ir_op op, ir_space space, const char *what) {
    for (unsigned k = 1; k < sizeof columns / sizeof *columns; k++)
        show(what, columns[k], accesses[op][space][columns[k]]);
    show(what, IR_VOID, accesses[op][space][VECTOR]);
}

void lanes_show_counts(void) {
    for (ir_op op = 0; op < IR_OP_COUNT; op++) {
        const ir_op_info *o = &ir_ops[op];
        if (!(o->levels & L_SPMD)) continue;
        if (defined_is_plain(o->rule) && !(o->flags & F_NOFOLD))
            show_operation(op);
        else
            fprintf(stderr, "made: %s: any: %lu\n", o->name, all[op]);
    }
    show_accesses(IR_OP_load, IR_GLOBAL, "load global");
    show_accesses(IR_OP_store, IR_GLOBAL, "store global");
    show_accesses(IR_OP_load, IR_PRIVATE, "load private");
    show_accesses(IR_OP_store, IR_PRIVATE, "store private");
    for (unsigned n = 0; n < LANES_FLOW; n++)
        fprintf(stderr, "made: flow: %s: %lu\n", flow_names[n], flow[n]);
}
