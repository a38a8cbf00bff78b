/* select_shuffle16.c — shuffles of 16 bytes with a constant mask, from one register or two.
 *
 * Tries in order of cost.  From one register: no instruction, PSHUFD, PSHUFLW or PSHUFHW, PSHUFB.
 * From two: a blend, an unpack, SHUFPS, PALIGNR; last, two PSHUFB and an OR.
 */
#include "codegen/x86_64/select.h"

static ir_inst *build(const x86_shuffle16 *s, const x86_widths forms, ir_inst *x, ir_inst *y) {
    return x86_build_regs(s->b, s->type, forms[s->form], IR_ARGS(x, y));
}

static ir_inst *build_imm(const x86_shuffle16 *s, const x86_widths forms, ir_args regs, int imm) {
    return x86_build_imm(s->b, s->type, forms[s->form], regs, imm);
}

/* The unit of `bytes` that the bytes from `at` on are; X86_NO_BYTE: any; -2: no unit. */
static int unit_at(const int8_t *from, unsigned at, unsigned bytes) {
    int unit = X86_NO_BYTE;
    for (unsigned k = 0; k < bytes; k++) {
        if (from[at + k] == X86_NO_BYTE) continue;
        int first = from[at + k] - (int)k;
        if (first < 0 || first % (int)bytes || (unit != X86_NO_BYTE && unit != first / (int)bytes))
            return -2;
        unit = first / (int)bytes;
    }
    return unit;
}

bool x86_find_units(const int8_t *from, unsigned n, unsigned bytes, int *out) {
    for (unsigned k = 0; k < n; k++) {
        out[k] = unit_at(from, k * bytes, bytes);
        if (out[k] == -2) return false;
    }
    return true;
}

static bool is_in_place(const int8_t *from, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (from[k] != X86_NO_BYTE && from[k] != (int)k) return false;
    return true;
}

int x86_order_of(const int *unit, int base) {
    int order = 0;
    for (int k = 0; k < 4; k++)
        order |= ((unit[k] == X86_NO_BYTE ? k : unit[k] - base) & 3) << 2 * k;
    return order;
}

static unsigned bytes_of(const x86_shuffle16 *s) {
    return s->form == X86_SSE ? X86_PART : (unsigned)X86_PART << (s->form - X86_VEX_128);
}

static ir_inst *bytes_constant(const x86_shuffle16 *s, const int8_t *from, int first) {
    uint64_t lane[X86_MOST];
    unsigned n = bytes_of(s);
    for (unsigned k = 0; k < n; k++) {
        int at = from[k % X86_PART];
        lane[k] = at >= first && at < first + X86_PART ? (uint64_t)(at - first) : 0x80;
    }
    return ir_const_lanes(s->b->f, ir_vector(IR_I8, n), lane);
}

ir_inst *x86_build_pshufb(const x86_shuffle16 *s, ir_inst *x, ir_inst *order) {
    static const x86_widths forms = X86_BINARY(PSHUFB);
    x86_draft d = {.row = forms[s->form], .type = s->type, .memory = true};
    x86_add_reg(s->b, &d, x);
    d.arg[d.n++] = order;
    return x86_build(s->b, &d);
}

/* Words of one half that change their order, while the other half stays. */
static ir_inst *order_words(const x86_shuffle16 *s, const int *word) {
    static const x86_widths lows = X86_UNARY_IMM(PSHUFLW), highs = X86_UNARY_IMM(PSHUFHW);
    bool low = true, high = true;
    for (int k = 0; k < 8; k++) {
        bool own = word[k] == X86_NO_BYTE || word[k] == k;
        low &= k < 4 ? word[k] < 4 : own;
        high &= k < 4 ? own : word[k] == X86_NO_BYTE || word[k] >= 4;
    }
    if (low) return build_imm(s, lows, IR_ARGS(s->x), x86_order_of(word, 0));
    return high ? build_imm(s, highs, IR_ARGS(s->x), x86_order_of(word + 4, 4)) : NULL;
}

static ir_inst *shuffle_one(const x86_shuffle16 *s) {
    static const x86_widths dwords = X86_UNARY_IMM(PSHUFD);
    int unit[8];
    if (is_in_place(s->from, X86_PART)) return s->x;
    if (x86_find_units(s->from, 4, 4, unit))
        return build_imm(s, dwords, IR_ARGS(s->x), x86_order_of(unit, 0));
    ir_inst *r = x86_find_units(s->from, 8, 2, unit) ? order_words(s, unit) : NULL;
    return r ? r : x86_build_pshufb(s, s->x, bytes_constant(s, s->from, 0));
}

/* Every byte stays where it is, in x or in y: bits are chosen by a constant. */
static ir_inst *blend_bytes(const x86_shuffle16 *s) {
    static const x86_widths forms = X86_EVEX_BINARY_IMM(VPTERNLOGD);
    enum { SECOND_WHERE_THIRD = 0xd8 };
    uint64_t lane[X86_MOST];
    for (int k = 0; k < X86_PART; k++)
        if (s->from[k] != X86_NO_BYTE && s->from[k] % X86_PART != k) return NULL;
    for (unsigned k = 0; k < bytes_of(s); k++)
        lane[k] = s->from[k % X86_PART] >= X86_PART ? 0xff : 0;
    x86_draft d = {.row = forms[s->form], .type = s->type, .memory = true};
    x86_add_reg(s->b, &d, s->x);
    x86_add_reg(s->b, &d, s->y);
    d.arg[d.n++] = ir_const_lanes(s->b->f, ir_vector(IR_I8, bytes_of(s)), lane);
    x86_add_int(s->b, &d, IR_I8, SECOND_WHERE_THIRD);
    return x86_build(s->b, &d);
}

/* Every word stays where it is.  The instruction for that takes no register above 15. */
static ir_inst *try_blend(const x86_shuffle16 *s) {
    static const x86_widths forms = {X86_PBLENDW_x_xm_imm8, X86_VPBLENDW_x_x_xm_imm8,
                                     X86_VPBLENDW_y_y_ym_imm8};
    int unit[8], second = 0;
    if (x86_has(s->b, X86_V4)) return blend_bytes(s);
    if (!x86_find_units(s->from, 8, 2, unit)) return NULL;
    for (int k = 0; k < 8; k++) {
        if (unit[k] != X86_NO_BYTE && unit[k] % 8 != k) return NULL;
        second |= (unit[k] >= 8) << k;
    }
    return build_imm(s, forms, IR_ARGS(s->x, s->y), second);
}

/* Are the units those of the lower (upper) halves of a and b in turn? */
static bool is_interleaved(const int *unit, int n, int a, int b, bool upper) {
    for (int k = 0; k < n; k++) {
        int want = (k % 2 ? b : a) * n + k / 2 + (upper ? n / 2 : 0);
        if (unit[k] != X86_NO_BYTE && unit[k] != want) return false;
    }
    return true;
}

static ir_inst *try_unpack(const x86_shuffle16 *s) {
    static const x86_widths forms[2][4] = {{X86_BINARY(PUNPCKLBW), X86_BINARY(PUNPCKLWD),
                                            X86_BINARY(PUNPCKLDQ), X86_BINARY(PUNPCKLQDQ)},
                                           {X86_BINARY(PUNPCKHBW), X86_BINARY(PUNPCKHWD),
                                            X86_BINARY(PUNPCKHDQ), X86_BINARY(PUNPCKHQDQ)}};
    int unit[X86_PART];
    for (unsigned log = 0; log < 4; log++) {
        int n = X86_PART >> log;
        if (!x86_find_units(s->from, (unsigned)n, 1u << log, unit)) continue;
        for (unsigned upper = 0; upper < 2; upper++) {
            if (is_interleaved(unit, n, 0, 1, upper))
                return build(s, forms[upper][log], s->x, s->y);
            if (is_interleaved(unit, n, 1, 0, upper))
                return build(s, forms[upper][log], s->y, s->x);
        }
    }
    return NULL;
}

/* Which of x and y two units of four come from: 0 or 1; -1: from both. */
static int side_of(const int *unit) {
    if (unit[0] == X86_NO_BYTE) return unit[1] >= 4;
    return unit[1] == X86_NO_BYTE || (unit[0] >= 4) == (unit[1] >= 4) ? unit[0] >= 4 : -1;
}

/* Two dwords of one, then two of the other. */
static ir_inst *try_shufps(const x86_shuffle16 *s) {
    static const x86_widths forms = X86_BINARY_IMM(SHUFPS);
    int unit[4];
    if (!x86_find_units(s->from, 4, 4, unit)) return NULL;
    int low = side_of(unit), high = side_of(unit + 2);
    if (low < 0 || high < 0) return NULL;
    return build_imm(s, forms, IR_ARGS(low ? s->y : s->x, high ? s->y : s->x),
                     x86_order_of(unit, 0));
}

/* Bytes that follow each other, across the border of both. */
static ir_inst *try_palignr(const x86_shuffle16 *s) {
    static const x86_widths forms = X86_BINARY_IMM(PALIGNR);
    int by = X86_NO_BYTE;
    for (int k = 0; k < X86_PART; k++) {
        if (s->from[k] == X86_NO_BYTE) continue;
        int here = (s->from[k] - k + 2 * X86_PART) % (2 * X86_PART);
        if (by != X86_NO_BYTE && by != here) return NULL;
        by = here;
    }
    bool wraps = by > X86_PART;
    return build_imm(s, forms, IR_ARGS(wraps ? s->x : s->y, wraps ? s->y : s->x),
                     wraps ? by - X86_PART : by);
}

ir_inst *x86_build_or(const x86_shuffle16 *s, ir_inst *x, ir_inst *y) {
    static const x86_widths ors = X86_BITWISE(POR);
    return build(s, ors, x, y);
}

static ir_inst *shuffle_two(const x86_shuffle16 *s) {
    ir_inst *r = try_blend(s);
    if (!r) r = try_unpack(s);
    if (!r) r = try_shufps(s);
    if (!r) r = try_palignr(s);
    if (r) return r;
    ir_inst *x = x86_build_pshufb(s, s->x, bytes_constant(s, s->from, 0));
    ir_inst *y = x86_build_pshufb(s, s->y, bytes_constant(s, s->from, X86_PART));
    return x86_build_or(s, x, y);
}

/* Which bytes are taken from y (first 16) or from x (first 0)? */
static bool takes_from(const int8_t *from, int first) {
    for (unsigned k = 0; k < X86_PART; k++)
        if (from[k] >= first && from[k] < first + X86_PART) return true;
    return false;
}

ir_inst *x86_build_shuffle16(x86_shuffle16 s) {
    int8_t only_y[X86_PART];
    if (!takes_from(s.from, X86_PART)) return shuffle_one(&s);
    if (takes_from(s.from, 0)) return shuffle_two(&s);
    for (unsigned k = 0; k < X86_PART; k++)
        only_y[k] = (int8_t)(s.from[k] == X86_NO_BYTE ? X86_NO_BYTE : s.from[k] - X86_PART);
    s.x = s.y;
    s.from = only_y;
    return shuffle_one(&s);
}
