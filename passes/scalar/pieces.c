/* pieces.c — assembles a value from bytes of other values, as they lie in memory, the lowest first.
 *
 * The value is built lane by lane.  If the bytes of a lane are a lane of another value, seen with
 * lanes of that size, it is extracted.  Any other lane is a sum of bit fields: each run of bytes
 * that come from one lane of one value is shifted down to bit 0, masked, and shifted up to its
 * place.  If most lanes keep their places in one value, the others are inserted into that value.
 * If all lanes are lanes of few vectors, the value is a shuffle of these.
 *
 * Bytes mean the same in every type, so floats pass through integers unchanged, including the
 * payload of a NaN.
 */
#include "passes/scalar/pieces.h"

enum {
    MAX_FIELDS = 32, /* of a value: what costs no more than to wait for the memory */
    MAX_SOURCES = 4  /* of a shuffle */
};

uint64_t pass_add_piece(pass_pieces *p, ir_inst *v, uint64_t at, uint64_t to, uint64_t size) {
    uint64_t added = 0;
    for (uint64_t k = 0; k < size; k++) {
        if (p->from[to + k]) continue;
        p->from[to + k] = v;
        p->at[to + k] = (uint8_t)(at + k);
        added++;
    }
    return added;
}

/* --------------------------------------------------------------------------------------- fields */

static uint64_t lane_size(const ir_module *m, ir_type t) {
    return ir_access_size(m, t) / ir_lanes(t);
}

static bool is_plain(const ir_module *m, ir_type t) {
    bool number = ir_is_int(t) || ir_is_float(t);
    return number && !ir_is_bool(t) && lane_size(m, t) <= 8 &&
           ir_access_size(m, t) <= PASS_MAX_BYTES;
}

static ir_type int_of(uint64_t bytes) {
    return bytes == 1 ? IR_I8 : bytes == 2 ? IR_I16 : bytes == 4 ? IR_I32 : IR_I64;
}

/* How many bytes from `start` on, before `end`, follow each other in one lane of one value. */
static uint64_t run_length(const ir_module *m, const pass_pieces *p, uint64_t start, uint64_t end) {
    const ir_inst *v = p->from[start];
    uint64_t lane = lane_size(m, v->type), n = 1;
    while (start + n < end && p->from[start + n] == v && p->at[start + n] == p->at[start] + n &&
           p->at[start + n] / lane == p->at[start] / lane)
        n++;
    return n;
}

/* The type of v with lanes of `size` bytes where one begins at byte `at`; IR_VOID: none, or bit
 * fields of a scalar are cheaper. */
static ir_type type_with_lane(const ir_module *m, const ir_inst *v, uint64_t at, uint64_t size) {
    uint64_t whole = ir_access_size(m, v->type), n = whole / size;
    bool lanes = n == 1 || n == 2 || n == 3 || n == 4 || n == 8 || n == 16;
    if (lane_size(m, v->type) == size && at % size == 0) return v->type;
    if (ir_lanes(v->type) == 1 && n != 1) return IR_VOID;
    return whole % size || at % size || !lanes ? IR_VOID : ir_vector(int_of(size), (unsigned)n);
}

/* The type of a value in which the bytes are one lane, in order, or IR_VOID. */
static ir_type type_of_lane(const ir_module *m, const pass_pieces *p, uint64_t start,
                            uint64_t size) {
    for (uint64_t k = 1; k < size; k++)
        if (p->from[start + k] != p->from[start] || p->at[start + k] != p->at[start] + k)
            return IR_VOID;
    return type_with_lane(m, p->from[start], p->at[start], size);
}

static unsigned count_fields(const ir_module *m, const pass_pieces *p, uint64_t start,
                             uint64_t size) {
    unsigned n = 0;
    if (type_of_lane(m, p, start, size)) return 1;
    for (uint64_t at = start; at < start + size; n++) at += run_length(m, p, at, start + size);
    return n;
}

/* Vectors of one type of element, and which of their lanes the lanes of a value are. */
typedef struct {
    ir_inst *source[MAX_SOURCES];
    unsigned n;
    uint8_t from[IR_MAX_LANES], lane[IR_MAX_LANES];
} picking;

static bool pick(picking *k, const ir_module *m, ir_inst *v, unsigned lane, uint64_t at) {
    unsigned n = 0;
    k->from[lane] = k->lane[lane] = 255;
    if (v->op == IR_OP_undef) return true;
    while (n < k->n && k->source[n] != v) n++;
    if (n == MAX_SOURCES ||
        ir_elem(k->source[0] ? k->source[0]->type : v->type) != ir_elem(v->type))
        return false;
    k->source[n] = v;
    if (n == k->n) k->n++;
    k->from[lane] = (uint8_t)n;
    k->lane[lane] = (uint8_t)(at / lane_size(m, v->type));
    return true;
}

/* Does a value of type t consist of lanes of a few vectors? */
static bool is_shuffle(const ir_module *m, const pass_pieces *p, ir_type t, picking *out) {
    uint64_t size = lane_size(m, t);
    *out = (picking){0};
    if (ir_lanes(t) == 1) return false;
    for (unsigned k = 0; k < ir_lanes(t); k++) {
        ir_inst *v = p->from[k * size];
        bool lane = v && ir_is_vector(v->type) && type_of_lane(m, p, k * size, size) == v->type;
        if (!lane || !is_plain(m, v->type) || !pick(out, m, v, k, p->at[k * size])) return false;
    }
    return out->n != 0;
}

bool pass_can_join(const ir_module *m, const pass_pieces *p, ir_type t) {
    unsigned fields = 0;
    picking lanes;
    if (!is_plain(m, t)) return false;
    if (is_shuffle(m, p, t, &lanes)) return true;
    uint64_t size = ir_access_size(m, t), lane = lane_size(m, t);
    for (uint64_t k = 0; k < size; k++)
        if (!p->from[k] || !is_plain(m, p->from[k]->type)) return false;
    for (uint64_t at = 0; at < size; at += lane) fields += count_fields(m, p, at, lane);
    return fields <= MAX_FIELDS;
}

/* ------------------------------------------------------------------------------------- building */

static ir_inst *extract_lane(ir_builder *b, ir_inst *v, unsigned lane) {
    return ir_lanes(v->type) == 1 ? v : ir_build_extract(b, v, lane);
}

static ir_inst *int_const(ir_builder *b, ir_type t, uint64_t n) { return ir_const(b->f, t, n); }

static ir_inst *shifted(ir_builder *b, ir_op op, ir_inst *x, uint64_t by) {
    return by ? ir_build2(b, op, x->type, x, int_const(b, x->type, by)) : x;
}

/* n bytes of v from `at` on, which are in one lane, as bits above `shift` bits of 0. */
typedef struct {
    ir_inst *v;
    uint64_t at, n, shift;
} field;

static ir_inst *build_field(ir_builder *b, const field *f, ir_type t) {
    const ir_module *m = b->f->module;
    ir_inst *v = f->v;
    uint64_t at = f->at, n = f->n, shift = f->shift;
    uint64_t lane = lane_size(m, v->type), down = 8 * (at % lane), width = lane_size(m, t);
    uint64_t ones = n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
    ir_type from = int_of(lane);
    ir_inst *x = ir_build_reinterpret(b, extract_lane(b, v, (unsigned)(at / lane)), from);
    if (lane == width && down == shift && n < width) /* it stays where it is */
        return ir_build2(b, IR_OP_and, t, x, int_const(b, t, ones << shift));
    x = shifted(b, IR_OP_lshr, x, down);
    if (lane != width) x = ir_build1(b, lane < width ? IR_OP_zext : IR_OP_trunc, t, x);
    bool cut = n < width && at % lane + n < lane && shift + 8 * n < 8 * width;
    if (cut) x = ir_build2(b, IR_OP_and, t, x, int_const(b, t, ones));
    return shifted(b, IR_OP_shl, x, shift);
}

static ir_inst *build_fields(ir_builder *b, const pass_pieces *p, uint64_t start, uint64_t size) {
    ir_type t = int_of(size);
    ir_inst *all = NULL;
    for (uint64_t at = start, n; at < start + size; at += n) {
        n = run_length(b->f->module, p, at, start + size);
        const field f = {p->from[at], p->at[at], n, 8 * (at - start)};
        ir_inst *bits = build_field(b, &f, t);
        all = all ? ir_build2(b, IR_OP_or, t, all, bits) : bits;
    }
    return all;
}

/* The lane of type t whose bytes begin at `start`. */
static ir_inst *build_lane(ir_builder *b, const pass_pieces *p, uint64_t start, ir_type t) {
    const ir_module *m = b->f->module;
    uint64_t size = ir_access_size(m, t);
    ir_type seen = type_of_lane(m, p, start, size);
    ir_inst *x = NULL;
    if (seen == IR_VOID)
        x = build_fields(b, p, start, size);
    else
        x = extract_lane(b, ir_build_reinterpret(b, p->from[start], seen),
                         (unsigned)(p->at[start] / size));
    return ir_build_reinterpret(b, x, t);
}

/* Does the lane lie where it does in v, which is as large as all the lanes? */
static bool stays_in(const pass_pieces *p, const ir_inst *v, uint64_t start, uint64_t size) {
    for (uint64_t k = start; k < start + size; k++)
        if (p->from[k] != v || p->at[k] != k) return false;
    return true;
}

/* The value that has a lane where it is in the whole; NULL: none. */
static ir_inst *find_base(const ir_module *m, const pass_pieces *p, ir_type t) {
    uint64_t size = ir_access_size(m, t), lane = lane_size(m, t);
    for (uint64_t at = 0; at < size; at += lane) {
        ir_inst *v = p->from[at];
        if (ir_access_size(m, v->type) == size && stays_in(p, v, at, lane)) return v;
    }
    return NULL;
}

static ir_inst *insert_lanes(ir_builder *b, const pass_pieces *p, ir_type t, ir_inst *base) {
    ir_inst *all = ir_build_reinterpret(b, base, t);
    uint64_t lane = lane_size(b->f->module, t);
    for (unsigned k = 0; k < ir_lanes(t); k++) {
        if (stays_in(p, base, k * lane, lane)) continue;
        all = ir_build_insert(b, all, build_lane(b, p, k * lane, ir_elem(t)), k);
    }
    return all;
}

/* The same lanes first, of n. */
static ir_inst *widen(ir_builder *b, ir_inst *v, unsigned n) {
    uint8_t lane[IR_MAX_LANES];
    if (ir_lanes(v->type) == n) return v;
    for (unsigned k = 0; k < n; k++) lane[k] = (uint8_t)(k < ir_lanes(v->type) ? k : 255);
    return ir_build_shuffle(b, v, ir_undef(b->f, v->type), n, lane);
}

/* Lanes of the first two vectors, then those of one more each time. */
static ir_inst *build_shuffle(ir_builder *b, const picking *p, ir_type t) {
    unsigned n = ir_lanes(t), wide = p->n > 2 ? n : 0;
    uint8_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < p->n; k++)
        if (ir_lanes(p->source[k]->type) > wide) wide = ir_lanes(p->source[k]->type);
    ir_inst *all = widen(b, p->source[0], wide);
    for (unsigned k = 0; k < n; k++) lane[k] = p->from[k] ? 255 : p->lane[k];
    for (unsigned s = 1; s < p->n; s++) {
        for (unsigned k = 0; k < n; k++)
            if (p->from[k] == s) lane[k] = (uint8_t)(wide + p->lane[k]);
        for (unsigned k = n; k < wide; k++) lane[k] = 255;
        all = ir_build_shuffle(b, all, widen(b, p->source[s], wide), s + 1 < p->n ? wide : n, lane);
        for (unsigned k = 0; k < n; k++) lane[k] = (uint8_t)(p->from[k] <= s ? k : 255);
    }
    if (p->n == 1) all = ir_build_shuffle(b, all, ir_undef(b->f, all->type), n, lane);
    return ir_build_reinterpret(b, all, t);
}

ir_inst *pass_join(ir_builder *b, const pass_pieces *p, ir_type t) {
    const ir_module *m = b->f->module;
    ir_inst *lanes[IR_MAX_LANES], *base = find_base(m, p, t);
    unsigned n = ir_lanes(t);
    picking picked;
    if (base && stays_in(p, base, 0, ir_access_size(m, t))) return ir_build_reinterpret(b, base, t);
    if (n == 1) return build_lane(b, p, 0, t);
    if (is_shuffle(m, p, t, &picked)) return build_shuffle(b, &picked, t);
    if (base) return insert_lanes(b, p, t, base);
    for (unsigned k = 0; k < n; k++) lanes[k] = build_lane(b, p, k * lane_size(m, t), ir_elem(t));
    return ir_build_vec(b, t, lanes);
}
