/* select_shuffle.c — shuffles by known masks, in bytes.
 *
 * A result of 16 bytes comes from two registers, for which the cheapest instruction is looked for:
 * none, one with its order as an immediate, one that mixes both, a byte shuffle by a constant, at
 * last two of these and an `or`.  32 bytes are two times the same within halves, words or bytes
 * moved across them, or halves that are made one by one.
 */
#include "codegen/x86_64/select.h"

enum { HALF = 16, NONE = -1 };

/* Where a byte of the result comes from: 16 times the number of the half, and the byte in it; or
 * NONE.  Halves are those of x, then those of y. */
typedef struct {
    ir_builder *b;
    ir_type type;   /* of the result */
    ir_inst *x, *y; /* in registers, or undef */
    ir_type source; /* their type */
    int8_t from[2 * HALF];
} shuffle;

/* ---------------------------------------------------------------------------------------- 16 bytes
 *
 * Here a byte counts 0 to 15 in x and 16 to 31 in y.  With form X86_VEX_256 both halves of the
 * registers are shuffled alike. */

typedef struct {
    ir_builder *b;
    ir_type type;
    unsigned form;
    ir_inst *x, *y;
    const int8_t *from;
} mix;

static ir_inst *build(const mix *m, const x86_widths forms, ir_inst *x, ir_inst *y, int imm) {
    return x86_build_regs(m->b, m->type, (x86_row)forms[m->form], x, y, imm);
}

/* The unit of `bytes` that the bytes from `at` on are; NONE: any; -2: no unit. */
static int unit_at(const int8_t *from, unsigned at, unsigned bytes) {
    int unit = NONE;
    for (unsigned k = 0; k < bytes; k++) {
        if (from[at + k] == NONE) continue;
        int first = from[at + k] - (int)k;
        if (first < 0 || first % (int)bytes || (unit != NONE && unit != first / (int)bytes))
            return -2;
        unit = first / (int)bytes;
    }
    return unit;
}

/* The units of which the bytes first … are; false: they are none. */
static bool find_units(const int8_t *from, unsigned n, unsigned bytes, int *out) {
    for (unsigned k = 0; k < n; k++) {
        out[k] = unit_at(from, k * bytes, bytes);
        if (out[k] == -2) return false;
    }
    return true;
}

static bool is_in_place(const int8_t *from, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (from[k] != NONE && from[k] != (int)k) return false;
    return true;
}

/* Two bits for each of four units, counted from `base`; those that do not matter stay. */
static int order_of(const int *unit, int base) {
    int order = 0;
    for (int k = 0; k < 4; k++) order |= ((unit[k] == NONE ? k : unit[k] - base) & 3) << 2 * k;
    return order;
}

static ir_inst *bytes_constant(const mix *m, const int8_t *from, int first) {
    uint64_t lane[2 * HALF];
    unsigned n = m->form == X86_VEX_256 ? 2 * HALF : HALF;
    for (unsigned k = 0; k < n; k++) {
        int at = from[k % HALF];
        lane[k] = at >= first && at < first + HALF ? (uint64_t)(at - first) : 0x80;
    }
    return ir_const_lanes(m->b->f, ir_vector(IR_I8, n), lane);
}

static ir_inst *shuffle_bytes(const mix *m, ir_inst *x, ir_inst *order) {
    static const x86_widths forms = {X86_PSHUFB_x_xm, X86_VPSHUFB_x_x_xm, X86_VPSHUFB_y_y_ym};
    x86_draft d = {.row = forms[m->form], .type = m->type, .mode = MACH_MEMORY};
    x86_add_reg(m->b, &d, x);
    d.arg[d.n++] = order;
    return x86_build(m->b, &d);
}

/* Words of one half that change their order, while the other half stays. */
static ir_inst *order_words(const mix *m, const int *word) {
    static const x86_widths lows = {X86_PSHUFLW_x_xm_imm8, X86_VPSHUFLW_x_xm_imm8,
                                    X86_VPSHUFLW_y_ym_imm8};
    static const x86_widths highs = {X86_PSHUFHW_x_xm_imm8, X86_VPSHUFHW_x_xm_imm8,
                                     X86_VPSHUFHW_y_ym_imm8};
    bool low = true, high = true;
    for (int k = 0; k < 8; k++) {
        bool own = word[k] == NONE || word[k] == k;
        low &= k < 4 ? word[k] < 4 : own;
        high &= k < 4 ? own : word[k] == NONE || word[k] >= 4;
    }
    if (low) return build(m, lows, m->x, NULL, order_of(word, 0));
    return high ? build(m, highs, m->x, NULL, order_of(word + 4, 4)) : NULL;
}

static ir_inst *mix_one(const mix *m) {
    static const x86_widths dwords = {X86_PSHUFD_x_xm_imm8, X86_VPSHUFD_x_xm_imm8,
                                      X86_VPSHUFD_y_ym_imm8};
    int unit[8];
    if (is_in_place(m->from, HALF)) return m->x;
    if (find_units(m->from, 4, 4, unit)) return build(m, dwords, m->x, NULL, order_of(unit, 0));
    ir_inst *r = find_units(m->from, 8, 2, unit) ? order_words(m, unit) : NULL;
    return r ? r : shuffle_bytes(m, m->x, bytes_constant(m, m->from, 0));
}

/* Every word stays where it is, in x or in y. */
static ir_inst *mix_in_place(const mix *m) {
    static const x86_widths forms = {X86_PBLENDW_x_xm_imm8, X86_VPBLENDW_x_x_xm_imm8,
                                     X86_VPBLENDW_y_y_ym_imm8};
    int unit[8], second = 0;
    if (!find_units(m->from, 8, 2, unit)) return NULL;
    for (int k = 0; k < 8; k++) {
        if (unit[k] != NONE && unit[k] % 8 != k) return NULL;
        second |= (unit[k] >= 8) << k;
    }
    return build(m, forms, m->x, m->y, second);
}

/* Are the units those of the lower (upper) halves of a and b in turn? */
static bool is_interleaved(const int *unit, int n, int a, int b, bool upper) {
    for (int k = 0; k < n; k++) {
        int want = (k % 2 ? b : a) * n + k / 2 + (upper ? n / 2 : 0);
        if (unit[k] != NONE && unit[k] != want) return false;
    }
    return true;
}

static ir_inst *mix_interleaved(const mix *m) {
    static const x86_widths forms[2][4] = {
        {{X86_PUNPCKLBW_x_xm, X86_VPUNPCKLBW_x_x_xm, X86_VPUNPCKLBW_y_y_ym},
         {X86_PUNPCKLWD_x_xm, X86_VPUNPCKLWD_x_x_xm, X86_VPUNPCKLWD_y_y_ym},
         {X86_PUNPCKLDQ_x_xm, X86_VPUNPCKLDQ_x_x_xm, X86_VPUNPCKLDQ_y_y_ym},
         {X86_PUNPCKLQDQ_x_xm, X86_VPUNPCKLQDQ_x_x_xm, X86_VPUNPCKLQDQ_y_y_ym}},
        {{X86_PUNPCKHBW_x_xm, X86_VPUNPCKHBW_x_x_xm, X86_VPUNPCKHBW_y_y_ym},
         {X86_PUNPCKHWD_x_xm, X86_VPUNPCKHWD_x_x_xm, X86_VPUNPCKHWD_y_y_ym},
         {X86_PUNPCKHDQ_x_xm, X86_VPUNPCKHDQ_x_x_xm, X86_VPUNPCKHDQ_y_y_ym},
         {X86_PUNPCKHQDQ_x_xm, X86_VPUNPCKHQDQ_x_x_xm, X86_VPUNPCKHQDQ_y_y_ym}}};
    int unit[HALF];
    for (unsigned log = 0; log < 4; log++) {
        int n = HALF >> log;
        if (!find_units(m->from, (unsigned)n, 1u << log, unit)) continue;
        for (unsigned upper = 0; upper < 2; upper++) {
            if (is_interleaved(unit, n, 0, 1, upper))
                return build(m, forms[upper][log], m->x, m->y, -1);
            if (is_interleaved(unit, n, 1, 0, upper))
                return build(m, forms[upper][log], m->y, m->x, -1);
        }
    }
    return NULL;
}

/* Which of x and y two units of four come from: 0 or 1; -1: from both. */
static int side_of(const int *unit) {
    if (unit[0] == NONE) return unit[1] >= 4;
    return unit[1] == NONE || (unit[0] >= 4) == (unit[1] >= 4) ? unit[0] >= 4 : -1;
}

/* Two dwords of one, then two of the other. */
static ir_inst *mix_pairs(const mix *m) {
    static const x86_widths forms = {X86_SHUFPS_x_xm_imm8, X86_VSHUFPS_x_x_xm_imm8,
                                     X86_VSHUFPS_y_y_ym_imm8};
    int unit[4];
    if (!find_units(m->from, 4, 4, unit)) return NULL;
    int low = side_of(unit), high = side_of(unit + 2);
    if (low < 0 || high < 0) return NULL;
    return build(m, forms, low ? m->y : m->x, high ? m->y : m->x, order_of(unit, 0));
}

/* Bytes that follow each other, across the border of both. */
static ir_inst *mix_shifted(const mix *m) {
    static const x86_widths forms = {X86_PALIGNR_x_xm_imm8, X86_VPALIGNR_x_x_xm_imm8,
                                     X86_VPALIGNR_y_y_ym_imm8};
    int by = NONE;
    for (int k = 0; k < HALF; k++) {
        if (m->from[k] == NONE) continue;
        int here = (m->from[k] - k + 2 * HALF) % (2 * HALF);
        if (by != NONE && by != here) return NULL;
        by = here;
    }
    bool wraps = by > HALF;
    return build(m, forms, wraps ? m->x : m->y, wraps ? m->y : m->x, wraps ? by - HALF : by);
}

static ir_inst *mix_two(const mix *m) {
    static const x86_widths ors = {X86_POR_x_xm, X86_VPOR_x_x_xm, X86_VPOR_y_y_ym};
    ir_inst *r = mix_in_place(m);
    if (!r) r = mix_interleaved(m);
    if (!r) r = mix_pairs(m);
    if (!r) r = mix_shifted(m);
    if (r) return r;
    ir_inst *x = shuffle_bytes(m, m->x, bytes_constant(m, m->from, 0));
    ir_inst *y = shuffle_bytes(m, m->y, bytes_constant(m, m->from, HALF));
    return build(m, ors, x, y, -1);
}

/* Which bytes are taken from y (first 16) or from x (first 0)? */
static bool takes_from(const int8_t *from, int first) {
    for (unsigned k = 0; k < HALF; k++)
        if (from[k] >= first && from[k] < first + HALF) return true;
    return false;
}

static ir_inst *mix_bytes(mix m) {
    int8_t only_y[HALF];
    if (!takes_from(m.from, HALF)) return mix_one(&m);
    if (takes_from(m.from, 0)) return mix_two(&m);
    for (unsigned k = 0; k < HALF; k++)
        only_y[k] = (int8_t)(m.from[k] == NONE ? NONE : m.from[k] - HALF);
    m.x = m.y;
    m.from = only_y;
    return mix_one(&m);
}

/* ------------------------------------------------------------------------------------ by halves */

static unsigned narrow_form(const ir_builder *b) {
    return x86_has(b, X86_V3) ? X86_VEX_128 : X86_SSE;
}

static ir_inst *half_of(const shuffle *s, int half) {
    ir_inst *whole = half < 2 ? s->x : s->y;
    return half % 2 ? x86_upper_half(s->b, s->source, whole) : whole;
}

static ir_inst *mix_halves(const shuffle *s, ir_type t, const int *half, const int8_t *from) {
    mix m = {s->b, t, narrow_form(s->b), NULL, NULL, from};
    m.x = half_of(s, half[0]);
    m.y = half[1] == NONE ? m.x : half_of(s, half[1]);
    return mix_bytes(m);
}

/* 16 bytes of the result: from two halves, and from what two others give. */
static ir_inst *gather(const shuffle *s, ir_type t, const int8_t *from) {
    int used[4] = {NONE, NONE, NONE, NONE}, place[4] = {NONE, NONE, NONE, NONE};
    int8_t part[2][HALF], both[HALF];
    int n = 0;
    for (unsigned k = 0; k < HALF; k++) {
        int half = from[k] == NONE ? NONE : from[k] / HALF;
        part[0][k] = part[1][k] = both[k] = NONE;
        if (half == NONE) continue;
        if (place[half] == NONE) {
            used[n] = half;
            place[half] = n++;
        }
        part[place[half] / 2][k] = (int8_t)(place[half] % 2 * HALF + from[k] % HALF);
        both[k] = (int8_t)(place[half] / 2 * HALF + (int)k);
    }
    if (n == 0) return NULL;
    ir_inst *first = mix_halves(s, t, used, part[0]);
    if (n <= 2) return first;
    ir_inst *second = mix_halves(s, t, used + 2, part[1]);
    return mix_bytes((mix){s->b, t, narrow_form(s->b), first, second, both});
}

static ir_inst *shuffle_by_halves(const shuffle *s) {
    ir_type half = ir_vector(ir_elem(s->type), HALF * 8 / ir_bits(NULL, s->type));
    ir_inst *low = gather(s, half, s->from), *high = gather(s, half, s->from + HALF);
    if (!low) low = x86_in_register(s->b, ir_undef(s->b->f, half));
    return high ? x86_both_halves(s->b, s->type, low, high) : low;
}

/* ------------------------------------------------------------------------------------- 32 bytes */

/* The same within both halves of the registers: in `out` as for one. */
static bool is_alike(const shuffle *s, int8_t *out) {
    for (int k = 0; k < HALF; k++) out[k] = NONE;
    for (int k = 0; k < 2 * HALF; k++) {
        int from = s->from[k], half = from / HALF;
        if (from == NONE) continue;
        if (half % 2 != k / HALF) return false;
        int8_t here = (int8_t)(half / 2 * HALF + from % HALF);
        if (out[k % HALF] != NONE && out[k % HALF] != here) return false;
        out[k % HALF] = here;
    }
    return true;
}

static bool takes_whole(const shuffle *s, bool second) {
    for (unsigned k = 0; k < 2 * HALF; k++)
        if (s->from[k] != NONE && (s->from[k] >= 2 * HALF) == second) return true;
    return false;
}

static ir_inst *blend_dwords(const shuffle *s, const int *unit, ir_inst *x, ir_inst *y) {
    int second = 0;
    for (int k = 0; k < 8; k++) second |= (unit[k] >= 8) << k;
    return x86_build_regs(s->b, s->type, X86_VPBLENDD_y_y_ym_imm8, x, y, second);
}

/* Dwords of x (y) to their places. */
static ir_inst *permute_dwords(const shuffle *s, const int *unit, bool second) {
    uint64_t lane[8];
    for (int k = 0; k < 8; k++) lane[k] = (uint64_t)(unit[k] == NONE ? k : unit[k] % 8);
    ir_inst *order = ir_const_lanes(s->b->f, ir_vector(IR_I32, 8), lane);
    return x86_build_regs(s->b, s->type, X86_VPERMD_y_y_ym, order, second ? s->y : s->x, -1);
}

static bool are_in_place(const int *unit) {
    for (int k = 0; k < 8; k++)
        if (unit[k] != NONE && unit[k] % 8 != k) return false;
    return true;
}

static ir_inst *shuffle_dwords(const shuffle *s) {
    int unit[8], quads[4];
    bool x = takes_whole(s, false), y = takes_whole(s, true);
    if (!find_units(s->from, 8, 4, unit)) return NULL;
    if (x && y) {
        if (are_in_place(unit)) return blend_dwords(s, unit, s->x, s->y);
        return blend_dwords(s, unit, permute_dwords(s, unit, false), permute_dwords(s, unit, true));
    }
    if (find_units(s->from, 4, 8, quads))
        return x86_build_regs(s->b, s->type, X86_VPERMQ_y_ym_imm8, y ? s->y : s->x, NULL,
                              order_of(quads, y ? 4 : 0));
    return permute_dwords(s, unit, y);
}

static ir_inst *shuffle_wide(const shuffle *s) {
    int8_t alike[HALF];
    if (is_alike(s, alike)) return mix_bytes((mix){s->b, s->type, X86_VEX_256, s->x, s->y, alike});
    ir_inst *r = shuffle_dwords(s);
    return r ? r : shuffle_by_halves(s);
}

/* ---------------------------------------------------------------------------------------- entry */

static void find_bytes(shuffle *s, const ir_inst *v) {
    unsigned size = ir_bits(NULL, v->type) / 8, lanes = ir_lanes(s->source);
    memset(s->from, NONE, sizeof s->from);
    for (unsigned k = 0; k < ir_lanes(v->type); k++) {
        unsigned lane = v->imm.mask[k];
        if (lane == 255) continue;
        bool second = lane >= lanes;
        if (ir_arg(v, second)->op == IR_OP_undef) continue;
        unsigned at = (second ? lane - lanes : lane) * size;
        for (unsigned j = 0; j < size; j++)
            s->from[k * size + j] = (int8_t)((second ? 2 * HALF : 0) + at + j);
    }
}

/* Lane 0 of x everywhere? */
static bool is_splat(const ir_inst *v) {
    for (unsigned k = 0; k < ir_lanes(v->type); k++)
        if (v->imm.mask[k] != 255 && v->imm.mask[k] != 0) return false;
    return v->imm.mask[ir_lanes(v->type) - 1] == 0;
}

ir_inst *mach_shuffle(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    shuffle s = {.b = b, .type = v->type, .source = x->type, .x = x, .y = y};
    if (!ir_is_vector(v->type) || !ir_is_vector(x->type)) return NULL;
    if (x->op != IR_OP_undef) s.x = x86_in_register(b, x);
    if (y->op != IR_OP_undef) s.y = x86_in_register(b, y);
    if (x86_has(b, X86_V3) && is_splat(v)) return x86_broadcast(b, v->type, s.x);
    find_bytes(&s, v);
    bool wide = x86_bytes_of(v->type) > HALF, both = wide && x86_bytes_of(s.source) > HALF;
    if (both) return shuffle_wide(&s);
    if (wide) return shuffle_by_halves(&s);
    ir_inst *r = gather(&s, v->type, s.from);
    return r ? r : x86_in_register(b, ir_undef(b->f, v->type));
}
