/* convert.c — numbers as numbers of other types, addresses as integers, and the same bits as
 * another type.
 *
 * Bits are taken apart into words of 32 bits and put together again, unless one register becomes
 * one of the same width.
 */
#include "codegen/ptx/ptx.h"

static unsigned width_of(const ptx_func *fn, const ir_inst *v) {
    return ir_bits(fn->w->m, ir_elem(v->type));
}

/* ------------------------------------------------------------------------------------- integers */

/* An integer of any width in `to`, a register of the class of the result. */
static void cut(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    const char *to = ptx_result(fn, i, lane);
    bool wide = width_of(fn, x) == 64;
    if (ir_is_bool(ir_elem(i->type))) {
        const char *low = ptx_temporary(fn, wide ? PTX_B64 : PTX_B32);
        ptx_put(fn, "and.b%u %s, %s, 1", wide ? 64 : 32, low, ptx_register(fn, x, lane));
        ptx_put(fn, "setp.ne.s%u %s, %s, 0", wide ? 64 : 32, to, low);
    } else if (wide) {
        ptx_put(fn, "cvt.u32.u64 %s, %s", to, ptx_register(fn, x, lane));
    } else {
        ptx_move(fn, PTX_B32, to, ptx_operand(fn, x, lane));
    }
}

static void extend(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    bool is_signed = i->op == IR_OP_sext;
    const char *to = ptx_result(fn, i, lane), *word = ptx_extended(fn, x, lane, is_signed);
    if (width_of(fn, i) == 64)
        ptx_put(fn, "cvt.%s.%s %s, %s", is_signed ? "s64" : "u64", is_signed ? "s32" : "u32", to,
                word);
    else
        ptx_move(fn, PTX_B32, to, word);
}

/* --------------------------------------------------------------------------------------- floats */

static const char *float_name(ir_type t) {
    switch (ir_kind_of(t)) {
    case IR_F16: return "f16";
    case IR_BF16: return "bf16";
    case IR_F32: return "f32";
    default: return "f64";
    }
}

/* Of conversions to floats; with "i", to integers. */
static const char *rounding_name(unsigned mode) {
    static const char *const names[] = {
        [IR_RTE] = "rn", [IR_RTZ] = "rz", [IR_RTP] = "rp", [IR_RTN] = "rm"};
    return names[mode];
}

/* cvt saturates; but NaN becomes the highest bit where one of the types has 64 bits. */
static void to_integer(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    const char *to = ptx_result(fn, i, lane), *from = ptx_register(fn, x, lane);
    const char *type = float_name(x->type);
    unsigned width = width_of(fn, i);
    ptx_put(fn, "cvt.%si.%s%u.%s %s, %s", rounding_name(i->imm.round.mode),
            i->op == IR_OP_fptosi ? "s" : "u", width, type, to, from);
    if (!i->imm.round.sat || (width < 64 && width_of(fn, x) < 64)) return;
    const char *number = ptx_temporary(fn, PTX_PRED);
    ptx_put(fn, "setp.num.%s %s, %s, %s", type, number, from, from);
    ptx_put(fn, "selp.b%u %s, %s, 0, %s", width < 32 ? 32 : width, to, to, number);
}

static void to_float(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    unsigned width = width_of(fn, x);
    const char *from = ptx_register(fn, x, lane);
    ptx_put(fn, "cvt.%s.%s.%s%u %s, %s", rounding_name(i->imm.round.mode), float_name(i->type),
            i->op == IR_OP_sitofp ? "s" : "u", width, ptx_result(fn, i, lane), from);
}

static void to_other_float(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    bool narrower = width_of(fn, i) < width_of(fn, x);
    if (ir_elem(i->type) == IR_BF16) ptx_need(fn, 80, 70, "a conversion to bf16");
    const char *from = ptx_operand(fn, x, lane);
    ptx_put(fn, "cvt%s%s.%s.%s %s, %s", narrower ? "." : "",
            narrower ? rounding_name(i->imm.round.mode) : "", float_name(i->type),
            float_name(x->type), ptx_result(fn, i, lane), from);
}

/* ------------------------------------------------------------------------------------ addresses */

static void to_number(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    if (width_of(fn, i) != 64) {
        cut(fn, i, x, lane);
        return;
    }
    const char *from = ptx_operand(fn, x, lane);
    ptx_move(fn, PTX_B64, ptx_result(fn, i, lane), from);
}

static void to_address(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    const char *to = ptx_result(fn, i, lane);
    if (width_of(fn, x) == 64)
        ptx_move(fn, PTX_B64, to, ptx_operand(fn, x, lane));
    else
        ptx_put(fn, "cvt.u64.u32 %s, %s", to, ptx_extended(fn, x, lane, false));
}

/* Variables and arguments in local memory may be at address 0, which is no null then. */
static bool is_object(const ptx_func *fn, const ir_inst *address) {
    const ir_inst *v = ptx_origin(address);
    bool argument = v->op == IR_OP_param && fn->f->flags & IR_FUNC_KERNEL;
    return v->op == IR_OP_alloca || v->op == IR_OP_address ||
           (argument && ir_space_of(v->type) == IR_LOCAL);
}

/* Null is 0 in every space, which cvta does not know. */
static void to_space(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    ir_space from = ir_space_of(x->type), to = ir_space_of(i->type);
    const char *result = ptx_result(fn, i, lane), *address = ptx_register(fn, x, lane);
    bool generic = to == IR_GENERIC;
    const char *space = ptx_space_name(fn, generic ? from : to);
    if (from == to || !*space) {
        ptx_move(fn, PTX_B64, result, address);
        return;
    }
    if (generic && is_object(fn, x)) {
        ptx_put(fn, "cvta%s.u64 %s, %s", space, result, address);
        return;
    }
    const char *null = ptx_temporary(fn, PTX_PRED), *moved = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "setp.eq.s64 %s, %s, 0", null, address);
    ptx_put(fn, "cvta%s%s.u64 %s, %s", generic ? "" : ".to", space, moved, address);
    ptx_put(fn, "selp.b64 %s, 0, %s, %s", result, moved, null);
}

/* Does a generic address lead to memory of this space? */
static const char *leads_to(ptx_func *fn, const char *address, const char *space) {
    const char *p = ptx_temporary(fn, PTX_PRED);
    ptx_put(fn, "isspacep%s %s, %s", space, p, address);
    return p;
}

static void to_tested_space(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    const char *address = ptx_register(fn, x, lane), *moved = ptx_temporary(fn, PTX_B64);
    const char *space = ptx_space_name(fn, ir_space_of(i->type));
    const char *is = leads_to(fn, address, space);
    ptx_put(fn, "cvta.to%s.u64 %s, %s", space, moved, address);
    ptx_put(fn, "selp.b64 %s, %s, 0, %s", ptx_result(fn, i, lane), moved, is);
}

static void to_semantics(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane) {
    const char *address = ptx_register(fn, x, lane), *to = ptx_result(fn, i, lane);
    ptx_put(fn, "selp.b32 %s, %u, 0, %s", to, IR_SEM_GLOBAL, leads_to(fn, address, ".global"));
    ptx_put(fn, "selp.b32 %s, %u, %s, %s", to, IR_SEM_LOCAL, to, leads_to(fn, address, ".shared"));
}

/* -------------------------------------------------------------------------------- the same bits */

enum { MOST_WORDS = IR_MAX_LANES * 2 };
typedef struct {
    const char *word[MOST_WORDS]; /* NULL: 0 */
} words;

static const char *half_as_word(ptx_func *fn, const char *h) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "cvt.u32.u16 %s, %s", r, h);
    return r;
}

/* Adds `width` bits, which are zero-extended in `part`, at bit `at`. */
static void place_bits(ptx_func *fn, words *to, const char *part, unsigned at) {
    const char **word = &to->word[at / 32];
    const char *moved = part;
    if (at % 32) {
        moved = ptx_temporary(fn, PTX_B32);
        ptx_put(fn, "shl.b32 %s, %s, %u", moved, part, at % 32);
    }
    if (*word) {
        const char *both = ptx_temporary(fn, PTX_B32);
        ptx_put(fn, "or.b32 %s, %s, %s", both, *word, moved);
        moved = both;
    }
    *word = moved;
}

static void take_apart(ptx_func *fn, const ir_inst *v, words *to) {
    unsigned width = width_of(fn, v);
    ptx_class c = ptx_class_of(fn->w->m, ir_elem(v->type));
    for (unsigned lane = 0; lane < ir_lanes(v->type); lane++) {
        const char *r = ptx_register(fn, v, lane);
        if (c == PTX_B64 || c == PTX_F64) {
            const char *low = ptx_temporary(fn, PTX_B32), *high = ptx_temporary(fn, PTX_B32);
            ptx_put(fn, "mov.b64 {%s, %s}, %s", low, high, r);
            to->word[2 * lane] = low;
            to->word[2 * lane + 1] = high;
            continue;
        }
        const char *part = r;
        if (c == PTX_F32) ptx_put(fn, "mov.b32 %s, %s", part = ptx_temporary(fn, PTX_B32), r);
        if (c == PTX_B16) part = half_as_word(fn, r);
        if (width < 32 && c != PTX_B16) part = ptx_extended(fn, v, lane, false);
        place_bits(fn, to, part, lane * width);
    }
}

static const char *word_at(const words *w, unsigned n) { return w->word[n] ? w->word[n] : "0"; }

/* The bits of a lane, in the low bits of a word. */
static const char *bits_at(ptx_func *fn, const words *w, unsigned at) {
    if (at % 32 == 0) return word_at(w, at / 32);
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "shr.u32 %s, %s, %u", r, word_at(w, at / 32), at % 32);
    return r;
}

static void put_together(ptx_func *fn, const ir_inst *i, const words *w) {
    unsigned width = width_of(fn, i);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        const char *to = ptx_result(fn, i, lane);
        switch (ptx_class_of(fn->w->m, ir_elem(i->type))) {
        case PTX_B64:
        case PTX_F64:
            ptx_put(fn, "mov.b64 %s, {%s, %s}", to, word_at(w, 2 * lane), word_at(w, 2 * lane + 1));
            break;
        case PTX_B16: ptx_put(fn, "cvt.u16.u32 %s, %s", to, bits_at(fn, w, lane * width)); break;
        case PTX_PRED: ptx_test_bit(fn, to, bits_at(fn, w, lane)); break;
        default: ptx_put(fn, "mov.b32 %s, %s", to, bits_at(fn, w, lane * width)); break;
        }
    }
}

static void write_bitcast(ptx_func *fn, const ir_inst *i) {
    const ir_inst *x = ir_arg(i, 0);
    unsigned width = width_of(fn, i);
    words w = {{0}};
    if (width == width_of(fn, x) && width >= 32) {
        for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
            const char *from = ptx_register(fn, x, lane);
            ptx_put(fn, "mov.b%u %s, %s", width, ptx_result(fn, i, lane), from);
        }
        return;
    }
    take_apart(fn, x, &w);
    put_together(fn, i, &w);
}

/* ------------------------------------------------------------------------------------------ all */

typedef void write_lane_fn(ptx_func *fn, const ir_inst *i, const ir_inst *x, unsigned lane);

static write_lane_fn *conversion_of(ir_op op) {
    switch (op) {
    case IR_OP_trunc: return cut;
    case IR_OP_zext:
    case IR_OP_sext: return extend;
    case IR_OP_fptosi:
    case IR_OP_fptoui: return to_integer;
    case IR_OP_sitofp:
    case IR_OP_uitofp: return to_float;
    case IR_OP_fpcast: return to_other_float;
    case IR_OP_ptrtoint: return to_number;
    case IR_OP_inttoptr: return to_address;
    case IR_OP_ptrcast: return to_space;
    case IR_OP_ptrcast_to: return to_tested_space;
    case IR_OP_ptr_space: return to_semantics;
    default: return NULL;
    }
}

bool ptx_write_conversion(ptx_func *fn, const ir_inst *i) {
    write_lane_fn *write = conversion_of(i->op);
    if (i->op == IR_OP_bitcast) write_bitcast(fn, i);
    if (!write) return i->op == IR_OP_bitcast;
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) write(fn, i, ir_arg(i, 0), lane);
    return true;
}
