/* query.c — what a work-item asks about itself and its launch.
 *
 * A work-group is a block of threads and a sub-group is a warp.  All groups are equally large, and
 * global ids begin at 0, unless the offset is a parameter (option `offset`).  A query of 32 bits is
 * one whose answer is known to fit.
 */
#include "codegen/ptx/ptx.h"

static char axis(unsigned dim) { return "xyz"[dim < 3 ? dim : 0]; }

/* A special register, as a number of 32 bits. */
static const char *special(ptx_func *fn, const char *name, unsigned dim) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "mov.u32 %s, %%%s.%c", r, name, axis(dim));
    return r;
}

static const char *widened(ptx_func *fn, const char *word) {
    const char *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "cvt.u64.u32 %s, %s", r, word);
    return r;
}

/* a * b, and a * b + c, of 64 bits. */
static const char *product(ptx_func *fn, const char *a, const char *b) {
    const char *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "mul.wide.u32 %s, %s, %s", r, a, b);
    return r;
}

static const char *product_and_sum(ptx_func *fn, const char *a, const char *b, const char *c) {
    const char *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "mad.lo.u64 %s, %s, %s, %s", r, a, b, c);
    return r;
}

const char *ptx_special(ptx_func *fn, const char *name) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "mov.u32 %s, %%%s", r, name);
    return r;
}

/* -------------------------------------------------------------------------------------- numbers */

static const char *id_in_range(ptx_func *fn, unsigned dim) {
    const char *r = ptx_temporary(fn, PTX_B64);
    const char *local = widened(fn, special(fn, "tid", dim)), *size = special(fn, "ntid", dim);
    const char *group = special(fn, "ctaid", dim);
    ptx_put(fn, "mad.wide.u32 %s, %s, %s, %s", r, group, size, local);
    return r;
}

static const char *offset_of(ptx_func *fn, unsigned dim) {
    const char *r = ptx_temporary(fn, PTX_B64);
    if (fn->w->options->offset)
        ptx_put(fn, "ld.param.u64 %s, [%s$offset_%c]", r, ptx_name(fn->w, fn->f->name), axis(dim));
    else
        ptx_move(fn, PTX_B64, r, "0");
    return r;
}

static const char *global_id(ptx_func *fn, unsigned dim) {
    const char *id = id_in_range(fn, dim);
    if (!fn->w->options->offset) return id;
    const char *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "add.s64 %s, %s, %s", r, id, offset_of(fn, dim));
    return r;
}

static const char *global_size(ptx_func *fn, unsigned dim) {
    const char *size = special(fn, "ntid", dim), *groups = special(fn, "nctaid", dim);
    return product(fn, groups, size);
}

static const char *global_linear_id(ptx_func *fn) {
    const char *y = id_in_range(fn, 1), *height = global_size(fn, 1), *z = id_in_range(fn, 2);
    const char *line = product_and_sum(fn, z, height, y);
    const char *x = id_in_range(fn, 0), *width = global_size(fn, 0);
    return product_and_sum(fn, line, width, x);
}

/* ----------------------------------------------------------------------- numbers that are small */

static const char *short_offset(ptx_func *fn, unsigned dim) {
    const char *r = ptx_temporary(fn, PTX_B32);
    if (!fn->w->options->offset) return "0";
    ptx_put(fn, "ld.param.u32 %s, [%s$offset_%c]", r, ptx_name(fn->w, fn->f->name), axis(dim));
    return r;
}

static const char *short_id(ptx_func *fn, unsigned dim) {
    const char *first = special(fn, "tid", dim), *r = ptx_temporary(fn, PTX_B32);
    if (fn->w->options->offset) {
        const char *sum = ptx_temporary(fn, PTX_B32);
        ptx_put(fn, "add.s32 %s, %s, %s", sum, first, short_offset(fn, dim));
        first = sum;
    }
    const char *size = special(fn, "ntid", dim), *group = special(fn, "ctaid", dim);
    ptx_put(fn, "mad.lo.s32 %s, %s, %s, %s", r, group, size, first);
    return r;
}

static const char *short_size(ptx_func *fn, unsigned dim) {
    const char *r = ptx_temporary(fn, PTX_B32);
    const char *size = special(fn, "ntid", dim), *groups = special(fn, "nctaid", dim);
    ptx_put(fn, "mul.lo.s32 %s, %s, %s", r, groups, size);
    return r;
}

static const char *short_global_answer(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_global_id: return short_id(fn, i->imm.dim);
    case IR_OP_global_size: return short_size(fn, i->imm.dim);
    case IR_OP_global_offset: return short_offset(fn, i->imm.dim);
    default: return NULL;
    }
}

/* ------------------------------------------------------------------------- within a work-group */

const char *ptx_local_linear_id(ptx_func *fn) {
    const char *line = ptx_temporary(fn, PTX_B32), *r = ptx_temporary(fn, PTX_B32);
    const char *y = special(fn, "tid", 1), *height = special(fn, "ntid", 1),
               *z = special(fn, "tid", 2);
    ptx_put(fn, "mad.lo.s32 %s, %s, %s, %s", line, z, height, y);
    const char *x = special(fn, "tid", 0), *width = special(fn, "ntid", 0);
    ptx_put(fn, "mad.lo.s32 %s, %s, %s, %s", r, line, width, x);
    return r;
}

const char *ptx_group_items(ptx_func *fn) {
    const char *plane = ptx_temporary(fn, PTX_B32), *r = ptx_temporary(fn, PTX_B32);
    const char *height = special(fn, "ntid", 1), *width = special(fn, "ntid", 0);
    ptx_put(fn, "mul.lo.s32 %s, %s, %s", plane, width, height);
    ptx_put(fn, "mul.lo.s32 %s, %s, %s", r, plane, special(fn, "ntid", 2));
    return r;
}

static const char *work_dim(ptx_func *fn) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "ld.param.u32 %s, [%s$work_dim]", r, ptx_name(fn->w, fn->f->name));
    return r;
}

/* ----------------------------------------------------------------------------------- sub-groups */

/* `x op n`, an immediate. */
static const char *with(ptx_func *fn, const char *op, const char *x, unsigned n) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "%s %s, %s, %u", op, r, x, n);
    return r;
}

bool ptx_has_full_warps(const ptx_func *fn) {
    const uint32_t *size = fn->f->attrs.local_size;
    return size[0] && (uint64_t)size[0] * size[1] * size[2] % PTX_WARP == 0;
}

const char *ptx_warp_number(ptx_func *fn) {
    return with(fn, "shr.u32", ptx_local_linear_id(fn), 5);
}

const char *ptx_warps(ptx_func *fn) {
    return with(fn, "shr.u32", with(fn, "add.s32", ptx_group_items(fn), PTX_WARP - 1), 5);
}

/* The last warp may have fewer threads. */
const char *ptx_warp_size(ptx_func *fn) {
    if (ptx_has_full_warps(fn)) return "32";
    const char *left = ptx_temporary(fn, PTX_B32);
    const char *before = with(fn, "shl.b32", ptx_warp_number(fn), 5), *all = ptx_group_items(fn);
    ptx_put(fn, "sub.s32 %s, %s, %s", left, all, before);
    return with(fn, "min.u32", left, PTX_WARP);
}

/* ------------------------------------------------------------------------------------------ all */

static const char *long_answer(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_global_id: return global_id(fn, i->imm.dim);
    case IR_OP_global_size: return global_size(fn, i->imm.dim);
    case IR_OP_global_offset: return offset_of(fn, i->imm.dim);
    case IR_OP_global_linear_id: return global_linear_id(fn);
    default: return NULL;
    }
}

static const char *short_answer(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_local_id: return special(fn, "tid", i->imm.dim);
    case IR_OP_group_id: return special(fn, "ctaid", i->imm.dim);
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size: return special(fn, "ntid", i->imm.dim);
    case IR_OP_num_groups: return special(fn, "nctaid", i->imm.dim);
    case IR_OP_local_linear_id: return ptx_local_linear_id(fn);
    case IR_OP_work_dim: return work_dim(fn);
    case IR_OP_subgroup_size: return ptx_warp_size(fn);
    case IR_OP_subgroup_max_size: return "32";
    case IR_OP_num_subgroups:
    case IR_OP_enqueued_num_subgroups: return ptx_warps(fn);
    case IR_OP_subgroup_id: return ptx_warp_number(fn);
    case IR_OP_subgroup_local_id: return with(fn, "and.b32", ptx_local_linear_id(fn), PTX_WARP - 1);
    default: return NULL;
    }
}

bool ptx_write_query(ptx_func *fn, const ir_inst *i) {
    bool wide = ir_kind_of(i->type) == IR_I64;
    const char *word = short_answer(fn, i), *number = NULL;
    if (!word && !wide) word = short_global_answer(fn, i);
    if (!word) number = long_answer(fn, i);
    if (!word && !number) return false;
    const char *to = ptx_result(fn, i, 0);
    if (word && wide)
        ptx_put(fn, "cvt.u64.u32 %s, %s", to, word);
    else if (number && !wide)
        ptx_put(fn, "cvt.u32.u64 %s, %s", to, number);
    else
        ptx_move(fn, wide ? PTX_B64 : PTX_B32, to, word ? word : number);
    return true;
}
