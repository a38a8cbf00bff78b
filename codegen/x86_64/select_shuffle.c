/* select_shuffle.c — shuffles by known masks, in bytes.
 *
 * A result of 16 bytes comes from two parts of 16 bytes (select_shuffle16.c).  A wider shuffle is
 * one instruction if all of its 16-byte parts use the same pattern.  Otherwise AVX2 moves words or
 * bytes across parts, or makes the parts one by one; AVX-512 has an instruction that takes words of
 * 2 or 4 bytes from anywhere in two registers.
 */
#include "codegen/x86_64/select.h"

enum { SECOND = X86_MOST };

/* Where a byte of the result comes from: its place in x, SECOND and its place in y, or
 * X86_NO_BYTE. */
typedef struct {
    ir_builder *b;
    ir_type type;   /* of the result */
    ir_inst *x, *y; /* in registers, or undef */
    ir_type source; /* their type */
    int8_t from[X86_MOST];
} shuffle;

/* ------------------------------------------------------------------------------------- by parts */

static unsigned narrow_form(const ir_builder *b) {
    return x86_has(b, X86_V3) ? X86_VEX_128 : X86_SSE;
}

/* Part 0 to 3 of x, 4 to 7: of y. */
static ir_inst *part_of(const shuffle *s, int part) {
    enum { PARTS = X86_MOST / X86_PART };
    return x86_part(s->b, s->source, part < PARTS ? s->x : s->y, (unsigned)part % PARTS);
}

static ir_inst *shuffle_parts(const shuffle *s, ir_type t, const int *part, const int8_t *from) {
    x86_shuffle16 p = {s->b, t, narrow_form(s->b), NULL, NULL, from};
    p.x = part_of(s, part[0]);
    p.y = part[1] == X86_NO_BYTE ? p.x : part_of(s, part[1]);
    return x86_build_shuffle16(p);
}

/* 16 bytes of the result: from two parts, and from what two others give. */
static ir_inst *gather(const shuffle *s, ir_type t, const int8_t *from) {
    int used[4] = {X86_NO_BYTE, X86_NO_BYTE, X86_NO_BYTE, X86_NO_BYTE},
        place[2 * X86_MOST / X86_PART];
    int8_t bytes[2][X86_PART], both[X86_PART];
    int n = 0;
    memset(place, X86_NO_BYTE, sizeof place);
    for (unsigned k = 0; k < X86_PART; k++) {
        int part = from[k] == X86_NO_BYTE ? X86_NO_BYTE : from[k] / X86_PART;
        bytes[0][k] = bytes[1][k] = both[k] = X86_NO_BYTE;
        if (part == X86_NO_BYTE) continue;
        if (place[part] == X86_NO_BYTE) {
            used[n] = part;
            place[part] = n++;
        }
        bytes[place[part] / 2][k] = (int8_t)(place[part] % 2 * X86_PART + from[k] % X86_PART);
        both[k] = (int8_t)(place[part] / 2 * X86_PART + (int)k);
    }
    if (n == 0) return NULL;
    ir_inst *first = shuffle_parts(s, t, used, bytes[0]);
    if (n <= 2) return first;
    ir_inst *second = shuffle_parts(s, t, used + 2, bytes[1]);
    return x86_build_shuffle16((x86_shuffle16){s->b, t, narrow_form(s->b), first, second, both});
}

static ir_inst *shuffle_narrow(const shuffle *s) {
    ir_inst *r = gather(s, s->type, s->from);
    return r ? r : cg_in_register(s->b, ir_undef(s->b->f, s->type));
}

static ir_inst *shuffle_by_halves(const shuffle *s) {
    ir_type half = ir_vector(ir_elem(s->type), X86_PART * 8 / ir_bits(NULL, s->type));
    ir_inst *low = gather(s, half, s->from), *high = gather(s, half, s->from + X86_PART);
    if (!low) low = cg_in_register(s->b, ir_undef(s->b->f, half));
    return high ? x86_with_part(s->b, s->type, low, high, 1) : low;
}

/* -------------------------------------------------------------------------------- several parts */

static unsigned wider_bytes(const shuffle *s) {
    unsigned to = x86_bytes_of(s->type), from = x86_bytes_of(s->source);
    return to > from ? to : from;
}

/* The same within all parts of the registers: in `out` as for one. */
static bool is_alike(const shuffle *s, int8_t *out) {
    if (x86_bytes_of(s->type) != x86_bytes_of(s->source)) return false;
    for (int k = 0; k < X86_PART; k++) out[k] = X86_NO_BYTE;
    for (int k = 0; k < X86_MOST; k++) {
        int from = s->from[k];
        if (from == X86_NO_BYTE) continue;
        if (from % SECOND / X86_PART != k / X86_PART) return false;
        int8_t here = (int8_t)(from / SECOND * X86_PART + from % X86_PART);
        if (out[k % X86_PART] != X86_NO_BYTE && out[k % X86_PART] != here) return false;
        out[k % X86_PART] = here;
    }
    return true;
}

static bool takes_whole(const shuffle *s, bool second) {
    for (unsigned k = 0; k < X86_MOST; k++)
        if (s->from[k] != X86_NO_BYTE && (s->from[k] >= SECOND) == second) return true;
    return false;
}

/* Quarters of x, 32 bytes. */
static ir_inst *order_quads(const shuffle *s) {
    int quads[4];
    if (!x86_find_units(s->from, 4, 8, quads)) return NULL;
    return x86_build_imm(s->b, s->type, X86_VPERMQ_y_ym_imm8, IR_ARGS(s->x),
                         x86_order_of(quads, 0));
}

/* -------------------------------------------------------------------------- 32 bytes, with AVX2 */

static ir_inst *blend_dwords(const shuffle *s, const int *unit, ir_inst *x, ir_inst *y) {
    int second = 0;
    for (int k = 0; k < 8; k++) second |= (unit[k] >= SECOND / 4) << k;
    return x86_build_imm(s->b, s->type, X86_VPBLENDD_y_y_ym_imm8, IR_ARGS(x, y), second);
}

/* Dwords of x (y) to their places. */
static ir_inst *permute_dwords(const shuffle *s, const int *unit, bool second) {
    uint64_t lane[8];
    for (int k = 0; k < 8; k++) lane[k] = (uint64_t)(unit[k] == X86_NO_BYTE ? k : unit[k] % 8);
    ir_inst *order = ir_const_lanes(s->b->f, ir_vector(IR_I32, 8), lane);
    return x86_build_regs(s->b, s->type, X86_VPERMD_y_y_ym, IR_ARGS(order, second ? s->y : s->x));
}

static bool are_in_place(const int *unit) {
    for (int k = 0; k < 8; k++)
        if (unit[k] != X86_NO_BYTE && unit[k] % 8 != k) return false;
    return true;
}

static ir_inst *shuffle_dwords(const shuffle *s) {
    int unit[8];
    if (!x86_find_units(s->from, 8, 4, unit)) return NULL;
    if (takes_whole(s, true)) {
        if (are_in_place(unit)) return blend_dwords(s, unit, s->x, s->y);
        ir_inst *y = permute_dwords(s, unit, true);
        return blend_dwords(s, unit, permute_dwords(s, unit, false), y);
    }
    ir_inst *r = order_quads(s);
    return r ? r : permute_dwords(s, unit, false);
}

/* Every other dword of both, and what is like it: in each part dwords of x, then some of y, whose
 * inner quads are exchanged afterwards.  NULL: it is another shuffle. */
static ir_inst *shuffle_crossed(const shuffle *s) {
    enum { QUAD = 8 };
    shuffle crossed = *s;
    int8_t alike[X86_PART];
    int unit[8];
    memcpy(crossed.from + QUAD, s->from + 2 * QUAD, QUAD);
    memcpy(crossed.from + 2 * QUAD, s->from + QUAD, QUAD);
    if (!x86_find_units(s->from, 8, 4, unit) || !is_alike(&crossed, alike)) return NULL;
    for (int k = 0; k < X86_PART; k++)
        if (alike[k] != X86_NO_BYTE && (alike[k] >= X86_PART) != (k >= QUAD)) return NULL;
    const x86_shuffle16 p = {s->b, s->type, X86_VEX_256, s->x, s->y, alike};
    return x86_build_imm(s->b, s->type, X86_VPERMQ_y_ym_imm8, IR_ARGS(x86_build_shuffle16(p)),
                         0xd8);
}

static ir_inst *shuffle_wide(const shuffle *s) {
    int8_t alike[X86_PART];
    if (x86_bytes_of(s->type) <= X86_PART) return shuffle_narrow(s);
    if (x86_bytes_of(s->source) <= X86_PART) return shuffle_by_halves(s);
    if (is_alike(s, alike))
        return x86_build_shuffle16((x86_shuffle16){s->b, s->type, X86_VEX_256, s->x, s->y, alike});
    ir_inst *r = takes_whole(s, true) ? shuffle_crossed(s) : NULL;
    if (!r) r = shuffle_dwords(s);
    return r ? r : shuffle_by_halves(s);
}

/* ------------------------------------------------------------------- 32 and 64 bytes, with AVX-512
 *
 * Registers are as wide as the result or the source, whichever is wider: what is beyond is not
 * known, and not asked for. */

/* Words of 2 or 4 bytes from anywhere; NULL: the bytes are not such words. */
static ir_inst *permute_words(const shuffle *s, int size) {
    static const uint16_t rows[2][2][2] = {{{X86_VPERMW_y_y_ym_e, X86_VPERMW_z_z_zm_e},
                                            {X86_VPERMT2W_y_y_ym_e, X86_VPERMT2W_z_z_zm_e}},
                                           {{X86_VPERMD_y_y_ym_e, X86_VPERMD_z_z_zm_e},
                                            {X86_VPERMT2D_y_y_ym_e, X86_VPERMT2D_z_z_zm_e}}};
    unsigned n = wider_bytes(s) / (unsigned)size;
    int unit[X86_MOST / 2], second = SECOND / size;
    uint64_t lane[X86_MOST / 2];
    bool two = takes_whole(s, true);
    if (!x86_find_units(s->from, n, (unsigned)size, unit)) return NULL;
    for (unsigned k = 0; k < n; k++) {
        int from = unit[k] < second ? unit[k] : unit[k] - second + (int)n;
        lane[k] = unit[k] == X86_NO_BYTE ? k : (uint64_t)from;
    }
    x86_draft d = {.row = rows[size == 4][two][wider_bytes(s) == X86_MOST], .type = s->type};
    if (two) x86_add_reg(s->b, &d, s->x);
    x86_add_reg(s->b, &d, ir_const_lanes(s->b->f, ir_vector(size == 4 ? IR_I32 : IR_I16, n), lane));
    x86_add_reg(s->b, &d, two ? s->y : s->x);
    return x86_build(s->b, &d);
}

/* The bytes with odd numbers or the others, 0 between them: their words to where they belong, then
 * one of their bytes. */
static ir_inst *permute_every_other(const shuffle *s, const x86_shuffle16 *p, unsigned odd) {
    shuffle words = *s;
    uint64_t order[X86_MOST];
    for (unsigned k = 0; k < X86_MOST; k += 2) {
        int from = s->from[k + odd];
        words.from[k] = (int8_t)(from == X86_NO_BYTE ? X86_NO_BYTE : from / 2 * 2);
        words.from[k + 1] = (int8_t)(from == X86_NO_BYTE ? X86_NO_BYTE : from / 2 * 2 + 1);
        order[k + !odd] = 0x80;
        order[k + odd] = from == X86_NO_BYTE ? 0x80 : (k + (unsigned)from % 2) % X86_PART;
    }
    ir_inst *at = ir_const_lanes(s->b->f, ir_vector(IR_I8, wider_bytes(s)), order);
    return x86_build_pshufb(p, permute_words(&words, 2), at);
}

static ir_inst *permute_bytes(const shuffle *s) {
    unsigned form = wider_bytes(s) == X86_MOST ? X86_EVEX_512 : X86_VEX_256;
    x86_shuffle16 p = {.b = s->b, .type = s->type, .form = form};
    ir_inst *odd = permute_every_other(s, &p, 1);
    return x86_build_or(&p, permute_every_other(s, &p, 0), odd);
}

/* Are n bytes those from `first` on? */
static bool is_run(const int8_t *from, unsigned n, int first) {
    for (unsigned k = 0; k < n; k++)
        if (from[k] != X86_NO_BYTE && from[k] != first + (int)k) return false;
    return true;
}

/* Halves that stay together: the upper one of x, or the lower ones of both; NULL: neither. */
static ir_inst *move_halves(const shuffle *s) {
    unsigned bytes = x86_bytes_of(s->type), half = bytes / 2;
    bool upper = bytes == X86_MOST / 2 && is_run(s->from, bytes, X86_MOST / 2);
    if (upper) return x86_build_imm(s->b, s->type, X86_VEXTRACTI64X4_ym_z_imm8_e, IR_ARGS(s->x), 1);
    if (!is_run(s->from, half, 0) || !is_run(s->from + half, half, SECOND)) return NULL;
    if (half == X86_PART) return x86_with_part(s->b, s->type, s->x, s->y, 1);
    return x86_build_imm(s->b, s->type, X86_VINSERTI64X4_z_z_ym_imm8_e, IR_ARGS(s->x, s->y), 1);
}

/* Whole parts: in the lower half of the result those of x, in the upper half those of y, or of x if
 * nothing is of y.  NULL: other ones. */
static ir_inst *move_parts(const shuffle *s) {
    unsigned bytes = x86_bytes_of(s->type), n = bytes / X86_PART, imm = 0;
    bool two = takes_whole(s, true), wide = bytes == X86_MOST;
    int part[X86_MOST / X86_PART];
    if (bytes <= X86_PART || x86_bytes_of(s->source) != bytes) return NULL;
    if (!x86_find_units(s->from, n, X86_PART, part)) return NULL;
    for (unsigned k = 0; k < n; k++) {
        int in = part[k] == X86_NO_BYTE ? 0 : part[k] - (two && k >= n / 2 ? SECOND / X86_PART : 0);
        if (in < 0 || in >= (int)n) return NULL;
        imm |= (unsigned)in << k * (wide ? 2 : 1);
    }
    x86_row row = wide ? X86_VSHUFI64X2_z_z_zm_imm8_e : X86_VSHUFI64X2_y_y_ym_imm8_e;
    return x86_build_imm(s->b, s->type, row, IR_ARGS(s->x, two ? s->y : s->x), (int)imm);
}

/* How many parts of x and y are asked for? */
static unsigned count_parts(const shuffle *s) {
    unsigned parts = 0;
    for (unsigned k = 0; k < X86_MOST; k++)
        if (s->from[k] != X86_NO_BYTE) parts |= 1u << s->from[k] / X86_PART;
    return (unsigned)__builtin_popcount(parts);
}

static ir_inst *shuffle_widest(const shuffle *s) {
    int8_t alike[X86_PART];
    unsigned bytes = x86_bytes_of(s->type);
    bool one = !takes_whole(s, true);
    ir_inst *r = NULL;
    if (is_run(s->from, bytes, 0)) return cg_in_register(s->b, s->x);
    if (bytes <= X86_PART && count_parts(s) <= 2) return shuffle_narrow(s);
    if (is_alike(s, alike))
        return x86_build_shuffle16(
            (x86_shuffle16){s->b, s->type, x86_form_of(s->b, s->type), s->x, s->y, alike});
    if (bytes > X86_PART) r = move_halves(s);
    if (!r && one && wider_bytes(s) == X86_MOST / 2) r = order_quads(s);
    if (!r) r = move_parts(s);
    if (!r) r = permute_words(s, 4);
    if (!r) r = permute_words(s, 2);
    return r ? r : permute_bytes(s);
}

/* ---------------------------------------------------------------------------------------- entry */

static void find_bytes(shuffle *s, const ir_inst *v) {
    unsigned size = ir_bits(NULL, v->type) / 8, lanes = ir_lanes(s->source);
    memset(s->from, X86_NO_BYTE, sizeof s->from);
    for (unsigned k = 0; k < ir_lanes(v->type); k++) {
        unsigned lane = v->imm.mask[k];
        if (lane == 255) continue;
        bool second = lane >= lanes;
        if (ir_arg(v, second)->op == IR_OP_undef) continue;
        unsigned at = (second ? lane - lanes : lane) * size;
        for (unsigned j = 0; j < size; j++)
            s->from[k * size + j] = (int8_t)((second ? SECOND : 0) + at + j);
    }
}

/* What takes from y alone takes from x alone. */
static void prefer_first(shuffle *s) {
    if (takes_whole(s, false) || !takes_whole(s, true)) return;
    s->x = s->y;
    for (unsigned k = 0; k < X86_MOST; k++)
        if (s->from[k] != X86_NO_BYTE) s->from[k] = (int8_t)(s->from[k] - SECOND);
}

/* Lane 0 of x everywhere? */
static bool repeats_lane_0(const ir_inst *v) {
    for (unsigned k = 0; k < ir_lanes(v->type); k++)
        if (v->imm.mask[k] != 255 && v->imm.mask[k] != 0) return false;
    return v->imm.mask[ir_lanes(v->type) - 1] == 0;
}

/* x, and then y, which is in memory; NULL: v is something else. */
static ir_inst *join_loaded(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    unsigned half = x86_bytes_of(x->type), lanes = ir_lanes(v->type);
    bool parts = half == X86_PART && x86_has(b, X86_V3);
    bool halves = half == 2 * X86_PART && x86_has(b, X86_V4);
    x86_row row = parts ? X86_VINSERTI128_y_y_xm_imm8 : X86_VINSERTI64X4_z_z_ym_imm8_e;
    x86_draft d = {.row = row, .type = v->type};
    if ((!parts && !halves) || lanes != 2 * ir_lanes(x->type)) return NULL;
    for (unsigned k = 0; k < lanes; k++)
        if (v->imm.mask[k] != k) return NULL;
    if (x->op == IR_OP_undef || ir_is_const(y) || !x86_is_foldable(b, row, v, y)) return NULL;
    x86_add_reg(b, &d, x);
    x86_add_rm(b, &d, v, y);
    x86_add_int(b, &d, IR_I8, 1);
    return x86_build(b, &d);
}

ir_inst *mach_shuffle(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    shuffle s = {.b = b, .type = v->type, .source = x->type, .x = x, .y = y};
    if (!ir_is_vector(v->type) || !ir_is_vector(x->type)) return NULL;
    ir_inst *loaded = x86_load_splat(b, v);
    if (!loaded) loaded = join_loaded(b, v, x, y);
    if (loaded) return loaded;
    if (x->op != IR_OP_undef) s.x = cg_in_register(b, x);
    if (y->op != IR_OP_undef) s.y = cg_in_register(b, y);
    if (x86_has(b, X86_V3) && repeats_lane_0(v)) return x86_broadcast(b, v->type, s.x);
    find_bytes(&s, v);
    prefer_first(&s);
    if (wider_bytes(&s) <= X86_PART) return shuffle_narrow(&s);
    return x86_has(b, X86_V4) ? shuffle_widest(&s) : shuffle_wide(&s);
}
