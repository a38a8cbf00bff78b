/* select_lanes.c — lanes of vectors: taken out, put in, put together, and the same one everywhere.
 *
 * A float is lane 0 of the register that it is in, so it is taken out of lane 0 by looking at it.
 * Instructions that reach a lane reach those of the lower 16 bytes; other parts of 16 bytes are
 * taken out and put back.
 */
#include "codegen/x86_64/select.h"

enum { PART = 16 }; /* bytes */

static unsigned log_bytes(ir_type t) { return (unsigned)__builtin_ctz(x86_lane_bytes(t)); }
static ir_type part_of(ir_type t) { return ir_vector(ir_elem(t), PART / x86_lane_bytes(t)); }

ir_inst *x86_part(ir_builder *b, ir_type t, ir_inst *x, unsigned n) {
    bool widest = x86_bytes_of(t) > 2 * PART;
    x86_row row = widest ? X86_VEXTRACTI32X4_xm_z_imm8_e : X86_VEXTRACTI128_xm_y_imm8;
    return n ? x86_build_imm(b, part_of(t), row, IR_ARGS(x), (int)n) : cg_in_register(b, x);
}

/* A blend is faster than putting in, but takes no register above 15. */
ir_inst *x86_with_part(ir_builder *b, ir_type t, ir_inst *x, ir_inst *part, unsigned n) {
    enum { UPPER_FROM_SECOND = 0xf0 };
    bool widest = x86_bytes_of(t) > 2 * PART;
    if (n == 0 && !x86_has(b, X86_V4))
        return x86_build_imm(b, t, X86_VPBLENDD_y_y_ym_imm8, IR_ARGS(part, x), UPPER_FROM_SECOND);
    x86_row row = widest ? X86_VINSERTI32X4_z_z_xm_imm8_e : X86_VINSERTI128_y_y_xm_imm8;
    return x86_build_imm(b, t, row, IR_ARGS(x, part), (int)n);
}

/* Are lanes of a t, alone, in vector registers?  Floats of 16 bits are words. */
static bool is_float_lane(ir_type t) { return ir_is_float(t) && x86_lane_bytes(t) >= 4; }

/* ----------------------------------------------------------------------------------- taking out */

static ir_inst *take_int(ir_builder *b, ir_inst *v, ir_inst *x, unsigned lane) {
    static const uint16_t first[2][2] = {{X86_MOVD_rm32_x, X86_MOVQ_rm64_x},
                                         {X86_VMOVD_rm32_x, X86_VMOVQ_rm64_x}};
    static const uint16_t rows[2][4] = {{X86_PEXTRB_r32m8_x_imm8, X86_PEXTRW_r32_x_imm8,
                                         X86_PEXTRD_rm32_x_imm8, X86_PEXTRQ_rm64_x_imm8},
                                        {X86_VPEXTRB_r32m8_x_imm8, X86_VPEXTRW_r32_x_imm8,
                                         X86_VPEXTRD_rm32_x_imm8, X86_VPEXTRQ_rm64_x_imm8}};
    bool vex = x86_has(b, X86_V3), wide = x86_lane_bytes(v->type) == 8;
    if (lane == 0) return x86_build_regs(b, v->type, first[vex][wide], IR_ARGS(x));
    return x86_build_imm(b, v->type, rows[vex][log_bytes(v->type)], IR_ARGS(x), (int)lane);
}

static ir_inst *take_float(ir_builder *b, ir_inst *v, ir_inst *x, unsigned lane) {
    static const x86_widths shuffle = {X86_PSHUFD_x_xm_imm8, X86_VPSHUFD_x_xm_imm8, 0};
    int order = x86_lane_bytes(v->type) == 8 ? 0xee : 0xe4 + (int)lane;
    if (lane == 0) return cg_in_register(b, x);
    return x86_build_imm(b, v->type, shuffle[x86_has(b, X86_V3)], IR_ARGS(x), order);
}

ir_inst *mach_extract(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *index) {
    unsigned lane = (unsigned)index->imm.bits, lanes = PART / x86_lane_bytes(x->type);
    if (index->imm.bits >= ir_lanes(x->type)) return NULL;
    x = x86_part(b, x->type, x, lane / lanes);
    lane %= lanes;
    return is_float_lane(v->type) ? take_float(b, v, x, lane) : take_int(b, v, x, lane);
}

/* ----------------------------------------------------------------------------------- putting in */

static x86_row row_of_entry(const ir_builder *b, ir_type t) {
    static const uint16_t rows[2][2] = {{X86_MOVD_x_rm32, X86_MOVQ_x_rm64},
                                        {X86_VMOVD_x_rm32, X86_VMOVQ_x_rm64}};
    return rows[x86_has(b, X86_V3)][x86_lane_bytes(t) == 8];
}

/* As lane 0 of a vector. */
static ir_inst *enter(ir_builder *b, ir_type t, ir_inst *x) {
    if (is_float_lane(t)) return cg_in_register(b, x);
    return x86_build_regs(b, t, row_of_entry(b, t), IR_ARGS(x));
}

/* Like enter, for v; x may be a load that is folded into v. */
static ir_inst *enter_operand(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (is_float_lane(v->type)) return cg_in_register(b, x);
    x86_draft d = {.row = row_of_entry(b, v->type), .type = v->type};
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

typedef struct {
    uint16_t row;
    int imm; /* or -1: none */
} placing;

/* What puts a lane of type t into the lower 16 bytes. */
static placing placing_of(const ir_builder *b, ir_type t, unsigned lane) {
    static const uint16_t ints[2][4] = {{X86_PINSRB_x_r32m8_imm8, X86_PINSRW_x_r32m16_imm8,
                                         X86_PINSRD_x_rm32_imm8, X86_PINSRQ_x_rm64_imm8},
                                        {X86_VPINSRB_x_x_r32m8_imm8, X86_VPINSRW_x_x_r32m16_imm8,
                                         X86_VPINSRD_x_x_rm32_imm8, X86_VPINSRQ_x_x_rm64_imm8}};
    bool vex = x86_has(b, X86_V3);
    if (!is_float_lane(t)) return (placing){ints[vex][log_bytes(t)], (int)lane};
    if (x86_lane_bytes(t) == 4)
        return (placing){vex ? X86_VINSERTPS_x_x_xm_imm8 : X86_INSERTPS_x_xm_imm8, (int)lane << 4};
    if (lane) return (placing){vex ? X86_VUNPCKLPD_x_x_xm : X86_UNPCKLPD_x_xm, -1};
    return (placing){vex ? X86_VMOVSD_x_x_x : X86_MOVSD_x_x, -1};
}

static ir_inst *put_lane(ir_builder *b, ir_type t, ir_inst *into, ir_inst *x, unsigned lane) {
    placing p = placing_of(b, t, lane);
    ir_args regs = IR_ARGS(into, x);
    return p.imm < 0 ? x86_build_regs(b, t, p.row, regs) : x86_build_imm(b, t, p.row, regs, p.imm);
}

/* Like put_lane, for v; x may be a load that is folded into v.  The type of `into` says nothing
 * about lanes: a bitcast is in the register of its operand. */
static ir_inst *put_operand(ir_builder *b, ir_inst *v, ir_inst *into, ir_inst *x, unsigned lane) {
    bool whole = x86_bytes_of(v->type) <= PART;
    placing p = placing_of(b, v->type, lane);
    x86_draft d = {.row = p.row, .type = whole ? v->type : part_of(v->type)};
    x86_add_reg(b, &d, into);
    x86_add_rm(b, &d, v, x);
    if (p.imm >= 0) x86_add_int(b, &d, IR_I8, (uint64_t)p.imm);
    return x86_build(b, &d);
}

ir_inst *mach_insert(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, ir_inst *index) {
    unsigned lane = (unsigned)index->imm.bits, lanes = PART / x86_lane_bytes(v->type);
    ir_type t = v->type;
    if (index->imm.bits >= ir_lanes(t)) return NULL;
    if (x->op == IR_OP_undef && index->imm.bits == 0) return enter_operand(b, v, y);
    if (x86_bytes_of(t) <= PART) return put_operand(b, v, x, y, lane);
    x = cg_in_register(b, x);
    ir_inst *part = x86_part(b, t, x, lane / lanes);
    part = put_operand(b, v, part, y, lane % lanes);
    return x86_with_part(b, t, x, part, lane / lanes);
}

/* ----------------------------------------------------------------------------- putting together */

/* The lanes that are known, others 0; NULL: none is. */
static ir_inst *known_lanes(ir_builder *b, const ir_inst *v, unsigned first, unsigned n) {
    uint64_t lane[IR_MAX_LANES] = {0};
    bool any = false;
    for (unsigned k = 0; k < n; k++) {
        const ir_inst *x = ir_arg(v, first + k);
        if (!ir_is_const(x)) continue;
        lane[k] = x->imm.bits;
        any = true;
    }
    return any ? ir_const_lanes(b->f, ir_vector(ir_elem(v->type), n), lane) : NULL;
}

/* n lanes of the operands of v, in 16 bytes; NULL: none of them matters. */
static ir_inst *put_together(ir_builder *b, ir_inst *v, unsigned first, unsigned n) {
    ir_type t = ir_vector(ir_elem(v->type), n);
    ir_inst *sum = known_lanes(b, v, first, n);
    if (sum) sum = cg_in_register(b, sum);
    for (unsigned k = 0; k < n; k++) {
        ir_inst *x = ir_arg(v, first + k);
        if (ir_is_const(x) || x->op == IR_OP_undef) continue;
        if (!sum && k == 0)
            sum = enter(b, t, x);
        else
            sum = put_lane(b, t, sum ? sum : ir_undef(b->f, t), x, k);
    }
    return sum;
}

static bool is_repeated(const ir_inst *v) {
    for (unsigned k = 1; k < v->nargs; k++)
        if (ir_arg(v, k) != ir_arg(v, 0) && ir_arg(v, k)->op != IR_OP_undef) return false;
    return !ir_is_const(ir_arg(v, 0)) && ir_arg(v, 0)->op != IR_OP_undef;
}

ir_inst *x86_broadcast(ir_builder *b, ir_type t, ir_inst *x) {
    return x86_build_regs(b, t, x86_broadcast_row(t, x86_lane_bytes(t)), IR_ARGS(x));
}

/* Lane 0 everywhere, without AVX2. */
static ir_inst *build_old_splat(ir_builder *b, ir_type t, ir_inst *x) {
    ir_inst *zero;
    switch (x86_lane_bytes(t)) {
    case 1:
        zero = cg_in_register(b, ir_const(b->f, ir_vector(IR_I8, 16), 0));
        return x86_build_regs(b, t, X86_PSHUFB_x_xm, IR_ARGS(x, zero));
    case 2:
        x = x86_build_imm(b, t, X86_PSHUFLW_x_xm_imm8, IR_ARGS(x), 0);
        return x86_build_imm(b, t, X86_PSHUFD_x_xm_imm8, IR_ARGS(x), 0);
    case 4: return x86_build_imm(b, t, X86_PSHUFD_x_xm_imm8, IR_ARGS(x), 0);
    default: return x86_build_imm(b, t, X86_PSHUFD_x_xm_imm8, IR_ARGS(x), 0x44);
    }
}

ir_inst *x86_load_splat(ir_builder *b, ir_inst *v) {
    x86_draft d = {.row = x86_broadcast_row(v->type, x86_lane_bytes(v->type)), .type = v->type};
    return x86_has(b, X86_V3) && x86_add_splat(b, &d, v) ? x86_build(b, &d) : NULL;
}

static ir_inst *build_splat(ir_builder *b, ir_inst *v) {
    ir_inst *x = ir_arg(v, 0), *loaded = x86_load_splat(b, v);
    if (loaded) return loaded;
    if (!x86_has(b, X86_V3)) return build_old_splat(b, v->type, enter(b, v->type, x));
    if (!is_float_lane(x->type) && x86_has(b, X86_V4))
        return x86_build_regs(b, v->type, x86_general_broadcast_row(v->type), IR_ARGS(x));
    return x86_broadcast(b, v->type, enter(b, v->type, x));
}

/* v has all of its operands. */
ir_inst *mach_vec(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    unsigned lanes = ir_lanes(v->type), some = PART / x86_lane_bytes(v->type);
    if (is_repeated(v)) return build_splat(b, v);
    ir_inst *sum = put_together(b, v, 0, lanes < some ? lanes : some);
    if (!sum) sum = cg_in_register(b, ir_undef(b->f, v->type));
    for (unsigned first = some; first < lanes; first += some) {
        ir_inst *part = put_together(b, v, first, some);
        if (part) sum = x86_with_part(b, v->type, sum, part, first / some);
    }
    return sum;
}
