/* verify_ops.c — what one instruction must fulfil by itself: the number of its operands, their
 * types (type_rules.c), and for some operations more than a type can say.  imm and flags are
 * checked in verify_imm.c.
 *
 * The first violation of an instruction's types is reported, and then nothing else of it.  Operands
 * exist; which values they are is checked by verify.c.
 */
#include "ir/verify.h"

#include <stdlib.h>

static ir_type arg_type(const ir_inst *i, unsigned n) { return ir_arg(i, n)->type; }

/* ---------------------------------------------------------------------------------------- types */

static bool check_operand_count(verifier *v, const ir_inst *i) {
    const ir_op_info *op = ir_info(i);
    bool more = (op->flags & F_VARIADIC) != 0;
    if (i->nargs == op->nargs || (more && i->nargs >= op->nargs)) return true;
    return verify_fail(v, "%s takes %s%u operands, not %u", op->name, more ? "at least " : "",
                       op->nargs, i->nargs);
}

static void fail_type(verifier *v, const ir_inst *i) {
    ir_type *types = ir_new_array(&v->scratch, ir_type, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) types[n] = arg_type(i, n);
    ir_type_error e = ir_find_type_error(v->m, (ir_op)i->op, i->type, i->nargs, types);
    const char *have = verify_show_type(v, e.have);
    const char *want = e.want == IR_VOID ? e.name : verify_show_type(v, e.want);
    if (!want)
        verify_fail(v, "%s has no result", ir_info(i)->name);
    else if (e.operand == IR_RESULT)
        verify_fail(v, "the result has type %s, not %s", have, want);
    else
        verify_fail(v, "operand %d has type %s, not %s", e.operand, have, want);
}

/* ------------------------------------------------------------------------------ vectors, memory */

static void check_lane(verifier *v, const ir_inst *index, unsigned lanes) {
    if (ir_is_const(index) && index->imm.bits >= lanes)
        verify_fail(v, "there is no lane %llu in %u lanes", (unsigned long long)index->imm.bits,
                    lanes);
}

static void check_mask(verifier *v, const ir_inst *i) {
    unsigned lanes = 2 * ir_lanes(arg_type(i, 0));
    if (!i->imm.mask) verify_fail(v, "the mask is missing");
    for (unsigned n = 0; i->imm.mask && n < ir_lanes(i->type); n++)
        if (i->imm.mask[n] != 255 && i->imm.mask[n] >= lanes)
            verify_fail(v, "the operands have no lane %u", i->imm.mask[n]);
}

static void check_alloca(verifier *v, const ir_inst *i) {
    const ir_var *var = i->imm.var;
    if (!var || var->type == IR_VOID)
        verify_fail(v, "an alloca needs a type of memory");
    else if (!verify_is_align(var->align))
        verify_fail(v, "alignment %u is no power of 2 up to 2^31", var->align);
    if (i->block != v->f->first) verify_fail(v, "an alloca must be in the entry block");
}

/* How many operands a SPIR-V image operand mask adds. */
static unsigned image_operand_count(uint32_t mask) {
    const uint32_t grad = 0x4, none = 0x1000 | 0x2000 | 0x4000;
    unsigned n = (mask & grad) ? 1 : 0;
    for (uint32_t rest = mask & ~none; rest; rest &= rest - 1) n++;
    return n;
}

static void check_image_operands(verifier *v, const ir_inst *i) {
    unsigned want = ir_info(i)->nargs + image_operand_count(i->imm.image.operands);
    if (i->nargs != want)
        verify_fail(v, "the image operands make %u operands, not %u", want, i->nargs);
}

/* ------------------------------------------------------------------------ calls and terminators */

static void check_call(verifier *v, const ir_inst *i) {
    const ir_func *callee = i->imm.func;
    if (!callee || callee->module != v->m) {
        verify_fail(v, "the callee is no function of this module");
    } else if (i->nargs != callee->nparams) {
        verify_fail(v, "@%s takes %u operands, not %u", callee->name, callee->nparams, i->nargs);
    } else if (verify_result(v, callee->ret)) {
        for (unsigned n = 0; n < i->nargs; n++)
            if (!verify_operand(v, n, callee->param_val[n]->type)) return;
    }
}

/* Operands are in the registers or slots in which the target passes them. */
static void check_mach_call(verifier *v, const ir_inst *i) {
    if (!i->imm.func || i->imm.func->module != v->m)
        verify_fail(v, "the callee is no function of this module");
}

static int by_bits(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_distinct_cases(verifier *v, const ir_inst *i) {
    uint64_t *values = ir_new_array(&v->scratch, uint64_t, i->nargs);
    for (unsigned n = 1; n < i->nargs; n++) {
        if (!ir_is_const(ir_arg(i, n))) {
            verify_fail(v, "case %u is no constant", n);
            return;
        }
        values[n] = ir_arg(i, n)->imm.bits;
    }
    qsort(values + 1, i->nargs - 1u, sizeof *values, by_bits);
    for (unsigned n = 2; n < i->nargs; n++)
        if (values[n] == values[n - 1]) {
            verify_fail(v, "case %llu occurs twice", (unsigned long long)values[n]);
            return;
        }
}

static void check_ret(verifier *v, const ir_inst *i) {
    if (i->nargs > 1)
        verify_fail(v, "ret takes at most 1 operand, not %u", i->nargs);
    else if ((i->nargs == 1) != (v->f->ret != IR_VOID))
        verify_fail(v, i->nargs ? "a void function returns no value" : "the function returns %s",
                    verify_show_type(v, v->f->ret));
    else if (i->nargs)
        verify_operand(v, 0, v->f->ret);
}

/* --------------------------------------------------------------------------------- instructions */

/* What types do not express. */
static void check_more(verifier *v, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_extract: check_lane(v, ir_arg(i, 1), ir_lanes(arg_type(i, 0))); break;
    case IR_OP_insert: check_lane(v, ir_arg(i, 2), ir_lanes(i->type)); break;
    case IR_OP_vec:
        if (i->nargs != ir_lanes(i->type))
            verify_fail(v, "%u operands for %u lanes", i->nargs, ir_lanes(i->type));
        break;
    case IR_OP_shuffle: check_mask(v, i); break;
    case IR_OP_alloca: check_alloca(v, i); break;
    case IR_OP_image_sample:
    case IR_OP_image_read:
    case IR_OP_image_write: check_image_operands(v, i); break;
    case IR_OP_call: check_call(v, i); break;
    case IR_OP_mach_call: check_mach_call(v, i); break;
    case IR_OP_switch: check_distinct_cases(v, i); break;
    case IR_OP_ret: check_ret(v, i); break;
    default: break;
    }
}

void verify_inst(verifier *v, const ir_inst *i) {
    if (ir_is_leaf(i)) {
        verify_fail(v, "a %s belongs to no block", ir_info(i)->name);
        return;
    }
    if (!check_operand_count(v, i)) return;
    if (ir_types_of_inst_fit(v->m, i))
        check_more(v, i);
    else
        fail_type(v, i);
    verify_imm(v, i);
    if (!(ir_info(i)->levels & v->f->level))
        verify_fail(v, "%s is not legal at this level", ir_info(i)->name);
}
