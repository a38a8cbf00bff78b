/* interp_eval.c — steps that only make a value: lanewise ops, vectors, casts, queries.
 *
 * Undefined bytes.  Bitwise operations and shifts work on masks widened to bits, so that a byte
 * that is masked away or filled in is defined again (bit fields of a fresh struct are the common
 * case); an undefined condition of select, an undefined index, and any undefined operand of the
 * other ops make the whole result lane undefined.  Division checks its operands first: it is the
 * one lanewise family with operands that have no result.
 */
#include "ir/interp_impl.h"

/* ------------------------------------------------------------------------------ undefined bytes */

static uint64_t bits_of_bytes(uint8_t mask) {
    uint64_t bits = 0;
    for (unsigned k = 0; k < 8; k++)
        if (mask >> k & 1) bits |= UINT64_C(0xff) << 8 * k;
    return bits;
}

static uint8_t bytes_of_bits(uint64_t bits) {
    uint8_t mask = 0;
    for (unsigned k = 0; k < 8; k++)
        if (bits >> 8 * k & 0xff) mask |= (uint8_t)(1u << k);
    return mask;
}

/* The undefined bits of what is shifted, by a number whose mask is `by`. */
static uint64_t shift_undefined(const ir_inst *i, uint64_t bits, uint64_t n, uint8_t by) {
    if (by) return UINT64_MAX;
    if (n >= ir_bits(NULL, ir_elem(i->type))) return 0;
    return i->op == IR_OP_shl ? bits << n : bits >> n;
}

uint8_t ir_interp_spread(const ir_step *s, const uint64_t x[2], const uint8_t u[2]) {
    uint64_t a = bits_of_bytes(u[0]), b = bits_of_bytes(u[1]), r = UINT64_MAX;
    switch (s->inst->op) {
    case IR_OP_and: r = (a | b) & (x[0] | a) & (x[1] | b); break;
    case IR_OP_or: r = (a | b) & (~x[0] | a) & (~x[1] | b); break;
    case IR_OP_xor: r = a | b; break;
    case IR_OP_shl:
    case IR_OP_lshr: r = shift_undefined(s->inst, a, x[1], u[1]); break;
    default:
        if (s->code == X_MOVE) r = a;
    }
    return bytes_of_bits(r & s->mask) & s->full;
}

void ir_interp_check(const ir_interp *w, const ir_frame *f, const ir_step *s, unsigned n) {
    uint32_t slot = ir_step_slot(f, s, n);
    unsigned lanes = ir_lanes(ir_arg(s->inst, n)->type);
    for (unsigned l = 0; l < lanes; l++)
        if (f->undef[slot + l]) {
            w->host->problem(w->host->user, IR_PROBLEM_UNDEFINED, s->inst, n);
            return;
        }
}

static void set_undefined(ir_frame *f, const ir_step *s) {
    memset(f->bits + s->dst, 0, s->lanes * sizeof *f->bits);
    memset(f->undef + s->dst, s->full, s->lanes);
}

/* --------------------------------------------------------------------------------- lane by lane */

static bool is_undividable(const ir_eval_env *e, const uint64_t a[4]) {
    bool is_signed = e->op == IR_OP_sdiv || e->op == IR_OP_srem;
    uint64_t minus_one = ir_zext(UINT64_MAX, e->w_arg), least = UINT64_C(1) << (e->w_arg - 1);
    return a[1] == 0 || (is_signed && a[0] == least && a[1] == minus_one);
}

static void check_division(const ir_interp *w, const ir_frame *f, const ir_step *s) {
    const ir_eval_env *e = &f->code->envs.data[s->extra];
    ir_interp_check(w, f, s, 1);
    for (unsigned l = 0; l < s->lanes; l++) {
        uint64_t a[4] = {f->bits[s->arg[0] + l], f->bits[s->arg[1] + l]};
        if (!f->undef[s->arg[1] + l] && is_undividable(e, a)) {
            w->host->problem(w->host->user, IR_PROBLEM_DIVISION, s->inst, 1);
            return;
        }
    }
}

static void step_lanewise(ir_interp *w, ir_frame *f, const ir_step *s) {
    const ir_eval_env *e = &f->code->envs.data[s->extra];
    unsigned nargs = s->inst->nargs;
    bool divides = ir_has_flag(s->inst, F_TRAPS);
    if (divides) check_division(w, f, s);
    for (unsigned l = 0; l < s->lanes; l++) {
        uint64_t a[4] = {0};
        uint8_t undef[4] = {0}, any = 0;
        for (unsigned n = 0; n < nargs; n++) {
            a[n] = f->bits[s->arg[n] + l];
            any |= undef[n] = f->undef[s->arg[n] + l];
        }
        bool skip = divides && is_undividable(e, a);
        f->bits[s->dst + l] = skip ? 0 : ir_eval_lane(e, a) & s->mask;
        f->undef[s->dst + l] = any ? ir_interp_spread(s, a, undef) : 0;
    }
}

static void step_moves(ir_frame *f, const ir_step *s) {
    for (unsigned l = 0; l < s->lanes; l++) {
        f->bits[s->dst + l] = f->bits[s->arg[0] + l] & s->mask;
        f->undef[s->dst + l] = f->undef[s->arg[0] + l] & s->full;
    }
}

static void step_select(ir_frame *f, const ir_step *s) {
    bool by_lane = ir_is_vector(ir_arg(s->inst, 0)->type);
    for (unsigned l = 0; l < s->lanes; l++) {
        uint32_t c = s->arg[0] + (by_lane ? l : 0);
        uint32_t from = (f->bits[c] & 1 ? s->arg[1] : s->arg[2]) + l;
        f->bits[s->dst + l] = f->bits[from];
        f->undef[s->dst + l] = f->undef[c] ? s->full : f->undef[from];
    }
}

/* -------------------------------------------------------------------------------------- vectors */

static void move_lanes(ir_frame *f, uint32_t to, uint32_t from, unsigned n) {
    memcpy(f->bits + to, f->bits + from, n * sizeof *f->bits);
    memcpy(f->undef + to, f->undef + from, n);
}

static void step_extract(ir_frame *f, const ir_step *s) {
    uint64_t index = f->bits[s->arg[1]];
    if (f->undef[s->arg[1]] || index >= ir_lanes(ir_arg(s->inst, 0)->type))
        set_undefined(f, s);
    else
        move_lanes(f, s->dst, s->arg[0] + (uint32_t)index, 1);
}

static void step_insert(ir_frame *f, const ir_step *s) {
    uint64_t index = f->bits[s->arg[2]];
    if (f->undef[s->arg[2]] || index >= s->lanes) {
        set_undefined(f, s);
        return;
    }
    move_lanes(f, s->dst, s->arg[0], s->lanes);
    move_lanes(f, s->dst + (uint32_t)index, s->arg[1], 1);
}

static void step_vec(ir_frame *f, const ir_step *s) {
    for (unsigned l = 0; l < s->lanes; l++) move_lanes(f, s->dst + l, ir_step_slot(f, s, l), 1);
}

static void step_shuffle(ir_frame *f, const ir_step *s) {
    unsigned n = ir_lanes(ir_arg(s->inst, 0)->type);
    for (unsigned l = 0; l < s->lanes; l++) {
        unsigned from = s->inst->imm.mask[l];
        if (from < 2 * n) {
            move_lanes(f, s->dst + l, from < n ? s->arg[0] + from : s->arg[1] + from - n, 1);
        } else {
            f->bits[s->dst + l] = 0;
            f->undef[s->dst + l] = s->full;
        }
    }
}

static void step_permute(ir_frame *f, const ir_step *s) {
    for (unsigned l = 0; l < s->lanes; l++) {
        uint64_t from = f->bits[s->arg[1] + l];
        bool known = !f->undef[s->arg[1] + l] && from < s->lanes;
        f->bits[s->dst + l] = known ? f->bits[s->arg[0] + from] : 0;
        f->undef[s->dst + l] = known ? f->undef[s->arg[0] + from] : s->full;
    }
}

/* any and all: undefined only if no defined lane determines the result. */
static void step_reduce(ir_frame *f, const ir_step *s) {
    bool is_any = s->code == IR_OP_any, settled = false, undef = false;
    for (unsigned l = 0; l < ir_lanes(ir_arg(s->inst, 0)->type); l++) {
        bool value = f->bits[s->arg[0] + l] & 1;
        undef |= f->undef[s->arg[0] + l] != 0;
        settled |= !f->undef[s->arg[0] + l] && value == is_any;
    }
    f->bits[s->dst] = settled == is_any;
    f->undef[s->dst] = undef && !settled ? s->full : 0;
}

/* Lanes of different width: one wide lane and k narrow ones hold the same bits, low ones first. */
static void step_bitcast(const ir_interp *w, ir_frame *f, const ir_step *s) {
    unsigned from = ir_bits(w->code->module, ir_arg(s->inst, 0)->type);
    unsigned to = ir_bits(w->code->module, s->inst->type), k = from > to ? from / to : to / from;
    for (unsigned l = 0; l < s->lanes; l++) {
        uint64_t bits = 0, undef = 0;
        for (unsigned j = 0; j < (from > to ? 1 : k); j++) {
            uint32_t slot = s->arg[0] + (from > to ? l / k : l * k + j);
            bits |= f->bits[slot] << j * from;
            undef |= (bits_of_bytes(f->undef[slot]) & ir_zext(UINT64_MAX, from)) << j * from;
        }
        unsigned shift = from > to ? l % k * to : 0;
        f->bits[s->dst + l] = bits >> shift & s->mask;
        f->undef[s->dst + l] = bytes_of_bits(undef >> shift & s->mask);
    }
}

/* dot, length, normalize …: one function of whole vectors. */
static void step_geometry(ir_frame *f, const ir_step *s) {
    ir_type t = ir_arg(s->inst, 0)->type;
    unsigned n = ir_lanes(t);
    uint64_t out[IR_MAX_LANES];
    bool undef = false;
    for (unsigned k = 0; k < s->inst->nargs; k++)
        for (unsigned l = 0; l < n; l++) undef |= f->undef[s->arg[k] + l] != 0;
    ir_math_vector((ir_op)s->code, t, f->bits + s->arg[0],
                   s->inst->nargs > 1 ? f->bits + s->arg[1] : NULL, out);
    memcpy(f->bits + s->dst, out, s->lanes * sizeof *out);
    memset(f->undef + s->dst, undef ? s->full : 0, s->lanes);
}

/* ------------------------------------------------------------------------------ asking the host */

static void step_query(const ir_interp *w, ir_frame *f, const ir_step *s) {
    for (unsigned l = 0; l < s->lanes; l++) {
        f->bits[s->dst + l] = w->host->query(w->host->user, s->inst, l) & s->mask;
        f->undef[s->dst + l] = 0;
    }
}

/* What OpGenericPtrMemSemantics says of a space. */
static uint64_t semantics_of_space(int space) {
    return space == IR_LOCAL ? IR_SEM_LOCAL : space == IR_GLOBAL ? IR_SEM_GLOBAL : 0;
}

static void step_space(const ir_interp *w, ir_frame *f, const ir_step *s) {
    uint64_t p = f->bits[s->arg[0]];
    int space = w->host->space_of(w->host->user, p);
    bool fits = space == (int)ir_space_of(s->inst->type);
    f->bits[s->dst] = s->code == IR_OP_ptr_space ? semantics_of_space(space) : fits ? p : 0;
    f->undef[s->dst] = f->undef[s->arg[0]] ? s->full : 0;
}

static void step_assume(const ir_interp *w, const ir_frame *f, const ir_step *s) {
    if (f->undef[s->arg[0]])
        ir_interp_check(w, f, s, 0);
    else if (!(f->bits[s->arg[0]] & 1))
        w->host->problem(w->host->user, IR_PROBLEM_ASSUME, s->inst, 0);
}

static void step_printf(const ir_interp *w, ir_frame *f, const ir_step *s) {
    int32_t result = w->host->print(w->host->user, w, s->inst);
    if (s->inst->type == IR_VOID) return;
    f->bits[s->dst] = (uint64_t)(int64_t)result & s->mask;
    f->undef[s->dst] = 0;
}

void ir_interp_value(ir_interp *w, ir_frame *f, const ir_step *s) {
    switch (s->code) {
    case X_LANEWISE: step_lanewise(w, f, s); break;
    case X_MOVES: step_moves(f, s); break;
    case X_SELECT:
    case IR_OP_select: step_select(f, s); break;
    case IR_OP_extract: step_extract(f, s); break;
    case IR_OP_insert: step_insert(f, s); break;
    case IR_OP_vec: step_vec(f, s); break;
    case IR_OP_shuffle: step_shuffle(f, s); break;
    case IR_OP_permute: step_permute(f, s); break;
    case IR_OP_any:
    case IR_OP_all: step_reduce(f, s); break;
    case IR_OP_bitcast: step_bitcast(w, f, s); break;
    case IR_OP_ptrcast_to:
    case IR_OP_ptr_space: step_space(w, f, s); break;
    case IR_OP_assume: step_assume(w, f, s); break;
    case IR_OP_prefetch: break;
    case IR_OP_host_call:
    case IR_OP_printf: step_printf(w, f, s); break;
    default:
        if (ir_info(s->inst)->rule == R_QUERY || s->code == IR_OP_subgroup_mask)
            step_query(w, f, s);
        else
            step_geometry(f, s);
    }
}
