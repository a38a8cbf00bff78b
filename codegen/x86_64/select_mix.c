/* select_mix.c — parts of 16 bytes out of one register or two, by known bytes.
 *
 * The cheapest instruction is looked for: none, one with its order as an immediate, one that mixes
 * both, a byte shuffle by a constant, at last two of these and an `or`.
 */
#include "codegen/x86_64/select.h"

static ir_inst *build(const x86_mix *m, const x86_widths forms, ir_inst *x, ir_inst *y, int imm) {
    return x86_build_regs(m->b, m->type, forms[m->form], x, y, imm);
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

static unsigned bytes_of(const x86_mix *m) {
    return m->form == X86_SSE ? X86_PART : (unsigned)X86_PART << (m->form - X86_VEX_128);
}

static ir_inst *bytes_constant(const x86_mix *m, const int8_t *from, int first) {
    uint64_t lane[X86_MOST];
    unsigned n = bytes_of(m);
    for (unsigned k = 0; k < n; k++) {
        int at = from[k % X86_PART];
        lane[k] = at >= first && at < first + X86_PART ? (uint64_t)(at - first) : 0x80;
    }
    return ir_const_lanes(m->b->f, ir_vector(IR_I8, n), lane);
}

ir_inst *x86_mix_order(const x86_mix *m, ir_inst *x, ir_inst *order) {
    static const x86_widths forms = X86_BINARY(PSHUFB);
    x86_draft d = {.row = forms[m->form], .type = m->type, .memory = true};
    x86_add_reg(m->b, &d, x);
    d.arg[d.n++] = order;
    return x86_build(m->b, &d);
}

/* Words of one half that change their order, while the other half stays. */
static ir_inst *order_words(const x86_mix *m, const int *word) {
    static const x86_widths lows = X86_UNARY_IMM(PSHUFLW), highs = X86_UNARY_IMM(PSHUFHW);
    bool low = true, high = true;
    for (int k = 0; k < 8; k++) {
        bool own = word[k] == X86_NO_BYTE || word[k] == k;
        low &= k < 4 ? word[k] < 4 : own;
        high &= k < 4 ? own : word[k] == X86_NO_BYTE || word[k] >= 4;
    }
    if (low) return build(m, lows, m->x, NULL, x86_order_of(word, 0));
    return high ? build(m, highs, m->x, NULL, x86_order_of(word + 4, 4)) : NULL;
}

static ir_inst *mix_one(const x86_mix *m) {
    static const x86_widths dwords = X86_UNARY_IMM(PSHUFD);
    int unit[8];
    if (is_in_place(m->from, X86_PART)) return m->x;
    if (x86_find_units(m->from, 4, 4, unit))
        return build(m, dwords, m->x, NULL, x86_order_of(unit, 0));
    ir_inst *r = x86_find_units(m->from, 8, 2, unit) ? order_words(m, unit) : NULL;
    return r ? r : x86_mix_order(m, m->x, bytes_constant(m, m->from, 0));
}

/* Every byte stays where it is, in x or in y: bits are chosen by a constant. */
static ir_inst *choose_bytes(const x86_mix *m) {
    static const x86_widths forms = X86_NEWEST_IMM(VPTERNLOGD);
    enum { SECOND_WHERE_THIRD = 0xd8 };
    uint64_t lane[X86_MOST];
    for (int k = 0; k < X86_PART; k++)
        if (m->from[k] != X86_NO_BYTE && m->from[k] % X86_PART != k) return NULL;
    for (unsigned k = 0; k < bytes_of(m); k++)
        lane[k] = m->from[k % X86_PART] >= X86_PART ? 0xff : 0;
    x86_draft d = {.row = forms[m->form], .type = m->type, .memory = true};
    x86_add_reg(m->b, &d, m->x);
    x86_add_reg(m->b, &d, m->y);
    d.arg[d.n++] = ir_const_lanes(m->b->f, ir_vector(IR_I8, bytes_of(m)), lane);
    x86_add_int(m->b, &d, IR_I8, SECOND_WHERE_THIRD);
    return x86_build(m->b, &d);
}

/* Every word stays where it is.  The instruction for that takes no register above 15. */
static ir_inst *mix_in_place(const x86_mix *m) {
    static const x86_widths forms = {X86_PBLENDW_x_xm_imm8, X86_VPBLENDW_x_x_xm_imm8,
                                     X86_VPBLENDW_y_y_ym_imm8};
    int unit[8], second = 0;
    if (x86_has(m->b, X86_V4)) return choose_bytes(m);
    if (!x86_find_units(m->from, 8, 2, unit)) return NULL;
    for (int k = 0; k < 8; k++) {
        if (unit[k] != X86_NO_BYTE && unit[k] % 8 != k) return NULL;
        second |= (unit[k] >= 8) << k;
    }
    return build(m, forms, m->x, m->y, second);
}

/* Are the units those of the lower (upper) halves of a and b in turn? */
static bool is_interleaved(const int *unit, int n, int a, int b, bool upper) {
    for (int k = 0; k < n; k++) {
        int want = (k % 2 ? b : a) * n + k / 2 + (upper ? n / 2 : 0);
        if (unit[k] != X86_NO_BYTE && unit[k] != want) return false;
    }
    return true;
}

static ir_inst *mix_interleaved(const x86_mix *m) {
    static const x86_widths forms[2][4] = {{X86_BINARY(PUNPCKLBW), X86_BINARY(PUNPCKLWD),
                                            X86_BINARY(PUNPCKLDQ), X86_BINARY(PUNPCKLQDQ)},
                                           {X86_BINARY(PUNPCKHBW), X86_BINARY(PUNPCKHWD),
                                            X86_BINARY(PUNPCKHDQ), X86_BINARY(PUNPCKHQDQ)}};
    int unit[X86_PART];
    for (unsigned log = 0; log < 4; log++) {
        int n = X86_PART >> log;
        if (!x86_find_units(m->from, (unsigned)n, 1u << log, unit)) continue;
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
    if (unit[0] == X86_NO_BYTE) return unit[1] >= 4;
    return unit[1] == X86_NO_BYTE || (unit[0] >= 4) == (unit[1] >= 4) ? unit[0] >= 4 : -1;
}

/* Two dwords of one, then two of the other. */
static ir_inst *mix_pairs(const x86_mix *m) {
    static const x86_widths forms = X86_BINARY_IMM(SHUFPS);
    int unit[4];
    if (!x86_find_units(m->from, 4, 4, unit)) return NULL;
    int low = side_of(unit), high = side_of(unit + 2);
    if (low < 0 || high < 0) return NULL;
    return build(m, forms, low ? m->y : m->x, high ? m->y : m->x, x86_order_of(unit, 0));
}

/* Bytes that follow each other, across the border of both. */
static ir_inst *mix_shifted(const x86_mix *m) {
    static const x86_widths forms = X86_BINARY_IMM(PALIGNR);
    int by = X86_NO_BYTE;
    for (int k = 0; k < X86_PART; k++) {
        if (m->from[k] == X86_NO_BYTE) continue;
        int here = (m->from[k] - k + 2 * X86_PART) % (2 * X86_PART);
        if (by != X86_NO_BYTE && by != here) return NULL;
        by = here;
    }
    bool wraps = by > X86_PART;
    return build(m, forms, wraps ? m->x : m->y, wraps ? m->y : m->x, wraps ? by - X86_PART : by);
}

ir_inst *x86_mix_either(const x86_mix *m, ir_inst *x, ir_inst *y) {
    static const x86_widths ors = X86_BITWISE(POR);
    return build(m, ors, x, y, -1);
}

static ir_inst *mix_two(const x86_mix *m) {
    ir_inst *r = mix_in_place(m);
    if (!r) r = mix_interleaved(m);
    if (!r) r = mix_pairs(m);
    if (!r) r = mix_shifted(m);
    if (r) return r;
    ir_inst *x = x86_mix_order(m, m->x, bytes_constant(m, m->from, 0));
    ir_inst *y = x86_mix_order(m, m->y, bytes_constant(m, m->from, X86_PART));
    return x86_mix_either(m, x, y);
}

/* Which bytes are taken from y (first 16) or from x (first 0)? */
static bool takes_from(const int8_t *from, int first) {
    for (unsigned k = 0; k < X86_PART; k++)
        if (from[k] >= first && from[k] < first + X86_PART) return true;
    return false;
}

ir_inst *x86_mix_bytes(x86_mix m) {
    int8_t only_y[X86_PART];
    if (!takes_from(m.from, X86_PART)) return mix_one(&m);
    if (takes_from(m.from, 0)) return mix_two(&m);
    for (unsigned k = 0; k < X86_PART; k++)
        only_y[k] = (int8_t)(m.from[k] == X86_NO_BYTE ? X86_NO_BYTE : m.from[k] - X86_PART);
    m.x = m.y;
    m.from = only_y;
    return mix_one(&m);
}
