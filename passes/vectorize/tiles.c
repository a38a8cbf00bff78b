/* tiles.c — loads of a group (groups.c) whose lanes are apart: rows of a matrix, structures that
 * are found by an index.
 *
 * Each lane has a run of up to a register of elements, which one load takes.  The rows that these
 * are become columns, a member of all lanes each, by shuffles in registers: first within parts of
 * 16 bytes, by operations that every x86-64 machine has (punpckldq and its like), then of whole
 * parts (transpose.c).  A tile of n * n elements takes n * log n shuffles, and each line of memory
 * is visited once for a register of elements, where gathers visit it once for each.
 *
 * Nothing is read but what is between the first and the last element that the lane accesses; lanes
 * that are not active read nothing.
 */
#include "passes/vectorize/groups.h"
#include "passes/vectorize/transpose.h"

enum {
    PART = 16,
    SHARED = 4,    /* lanes of one pointer, at distances that an address can add */
    MAX_DEPTH = 8, /* of the operations of an address */
    LINE = 64,
    AHEAD = 2 * LINE,
    NEAR = 16 << 10 /* bytes that the nearest cache keeps until the next iteration */
};

typedef struct {
    simd *s;
    const simd_group *g;
    unsigned k, used; /* elements of a run, a power of two; up to the last that is accessed */
    unsigned bytes;   /* of an element */
    ir_inst *active;  /* of each lane all bits or none; NULL: all are active */
    ir_inst *step;    /* from the addresses of lanes to those of their runs: what all have */
    ir_inst *from;    /* the address whose lanes differ */
} tile;

/* ------------------------------------------------------------------------------------ addresses */

/* Is p the address q plus what all lanes have? */
static bool is_step(const simd *s, const ir_inst *p) {
    return p->op == IR_OP_ptradd && simd_shape_of(s, ir_arg(p, 0)) == SIMD_VARYING &&
           simd_shape_of(s, ir_arg(p, 1)) == SIMD_UNIFORM;
}

/* Steps that all lanes have are added to scalar pointers, which loops have from outside. */
static void find_base(tile *t, ir_inst *p) {
    simd *s = t->s;
    ir_type size = ir_size_type(s->f->module);
    t->step = ir_const(s->f, size, (uint64_t)t->g->first);
    for (; is_step(s, p); p = ir_arg(p, 0))
        t->step = ir_build2(&s->b, IR_OP_add, size, t->step, simd_base(s, ir_arg(p, 1)));
    t->from = p;
}

/* Is v farther by the same from lane to lane?  By how much is a value of the loop. */
static bool is_even(const simd *s, const ir_inst *v, const ir_block *at, unsigned depth) {
    bool wide = ir_is_ptr(v->type) || v->type == ir_size_type(s->f->module), same = false;
    if (!wide || depth == MAX_DEPTH || simd_left_loop(s, v, at)) return false;
    if (simd_shape_of(s, v) != SIMD_VARYING) return true;
    bool scales = v->op == IR_OP_mul || v->op == IR_OP_shl, adds = v->op == IR_OP_add;
    if (!scales && !adds && v->op != IR_OP_ptradd && v->op != IR_OP_ptrcast) return false;
    for (unsigned n = 0; n < v->nargs; n++) {
        if (!is_even(s, ir_arg(v, n), v->block, depth + 1)) return false;
        same |= simd_shape_of(s, ir_arg(v, n)) == SIMD_UNIFORM && (n == 1 || v->op == IR_OP_mul);
    }
    return same || !scales;
}

/* The distance of v from lane to lane, and v in the first lane. */
static ir_inst *distance_of(simd *s, ir_inst *v, ir_inst **first) {
    ir_builder *b = &s->b;
    ir_type size = ir_size_type(s->f->module);
    ir_inst *x, *y;
    if (simd_shape_of(s, v) != SIMD_VARYING) {
        bool strided = simd_shape_of(s, v) == SIMD_STRIDED;
        *first = simd_base(s, v);
        return ir_const(s->f, size, strided ? (uint64_t)s->value[v->id].stride : 0);
    }
    ir_inst *dx = distance_of(s, ir_arg(v, 0), &x);
    if (v->op == IR_OP_ptrcast) {
        *first = ir_build1(b, IR_OP_ptrcast, v->type, x);
        return dx;
    }
    ir_inst *dy = distance_of(s, ir_arg(v, 1), &y);
    *first = v->op == IR_OP_ptradd ? ir_build_ptradd(b, x, y, false)
                                   : ir_build2(b, (ir_op)v->op, size, x, y);
    if (v->op == IR_OP_shl) return ir_build2(b, IR_OP_shl, size, dx, y);
    if (v->op == IR_OP_mul) dx = ir_build2(b, IR_OP_mul, size, dx, y);
    if (v->op == IR_OP_mul) dy = ir_build2(b, IR_OP_mul, size, dy, x); /* dx or dy is 0 */
    return ir_build2(b, IR_OP_add, size, dx, dy);
}

/* A pointer for some lanes, and distances for those after each, which are operands of accesses. */
static void build_even(simd *s, ir_inst *p, ir_inst **part) {
    ir_inst *step = distance_of(s, p, &part[0]);
    ir_inst *all =
        ir_build2(&s->b, IR_OP_mul, step->type, step, ir_const(s->f, step->type, SHARED));
    for (unsigned k = 1; k < s->lanes; k++)
        if (k < SHARED)
            part[k] = ir_build2(&s->b, IR_OP_mul, step->type, step, ir_const(s->f, step->type, k));
        else
            part[k] = k % SHARED ? part[k % SHARED]
                                 : ir_build_ptradd(&s->b, part[k - SHARED], all, false);
}

/* The pointers of lanes, at the end of the block that computes their offsets.  Where lanes are
 * equally far apart, some are distances from the pointer before. */
static ir_inst **lanes_of(simd *s, ir_inst *p, const simd_node *n) {
    simd_value *v = &s->value[p->id];
    const simd_node *own = &s->node[s->node_of[p->block->id]];
    const ir_builder here = s->b;
    if (v->part) return v->part;
    v->part = ir_new_array(s->scratch, ir_inst *, s->lanes);
    if (own != n) ir_before(&s->b, own->tail->last);
    if (is_even(s, p, p->block, 0))
        build_even(s, p, v->part);
    else
        for (unsigned k = 0; k < s->lanes; k++)
            v->part[k] =
                ir_build_ptradd(&s->b, v->base, ir_build_extract(&s->b, v->offset, k), false);
    s->b.block = here.block;
    s->b.before = here.before;
    return v->part;
}

static ir_inst *address_of(const tile *t, const simd_node *n, unsigned lane) {
    simd *s = t->s;
    if (simd_shape_of(s, t->from) == SIMD_VARYING) {
        ir_inst *const *part = lanes_of(s, t->from, n), *p = part[lane];
        if (ir_is_ptr(p->type)) return ir_build_ptradd(&s->b, p, t->step, false);
        ir_inst *before = ir_build_ptradd(&s->b, part[lane - lane % SHARED], t->step, false);
        return ir_build_ptradd(&s->b, before, p, false);
    }
    int64_t bytes = ir_wrap_mul(s->value[t->from->id].stride, lane);
    return simd_step(s, simd_base(s, t->from), ir_wrap_add(bytes, t->g->first));
}

/* ------------------------------------------------------------------------------------- prefetch */

/* Bytes from the rows of all lanes to those of the next ones. */
static ir_inst *build_rows(tile *t) {
    simd *s = t->s;
    const simd_value *v = &s->value[t->from->id];
    ir_type size = ir_elem(v->offset->type);
    if (v->part && !ir_is_ptr(v->part[1]->type))
        return ir_build2(&s->b, IR_OP_mul, size, v->part[1], ir_const(s->f, size, s->lanes));
    ir_inst *first = ir_build_extract(&s->b, v->offset, 0);
    ir_inst *second = ir_build_extract(&s->b, v->offset, 1);
    ir_inst *last = ir_build_extract(&s->b, v->offset, s->lanes - 1);
    ir_inst *step = ir_build2(&s->b, IR_OP_sub, size, second, first);
    return ir_build2(&s->b, IR_OP_add, size, ir_build2(&s->b, IR_OP_sub, size, last, first), step);
}

/* Bytes from the rows of an iteration to those of the next one, if these are near, or else to what
 * comes later in a row; of lanes that are found outside of the loop. */
static ir_inst *build_ahead(tile *t, const simd_node *own) {
    simd *s = t->s;
    const ir_builder here = s->b;
    ir_before(&s->b, own->tail->last);
    ir_inst *all = build_rows(t);
    ir_type size = all->type;
    ir_inst *is_near = ir_build2(&s->b, IR_OP_ule, IR_I1, all, ir_const(s->f, size, NEAR));
    ir_inst *ahead = ir_build_select(&s->b, is_near, all, ir_const(s->f, size, AHEAD));
    s->b.block = here.block;
    s->b.before = here.before;
    return ahead;
}

/* What to add to addresses of rows; NULL: nothing is to be prefetched.  There are as many streams
 * as lanes, and each ends soon: hardware that follows streams is late. */
static ir_inst *find_ahead(tile *t, const simd_node *n) {
    simd *s = t->s;
    if (t->active || t->k * t->bytes < LINE) return NULL;
    if (simd_shape_of(s, t->from) == SIMD_VARYING) {
        const simd_node *own = &s->node[s->node_of[t->from->block->id]];
        if (own->loop == n->loop) return NULL;
        lanes_of(s, t->from, n);
        return build_ahead(t, own);
    }
    uint64_t all = (uint64_t)ir_wrap_mul(s->value[t->from->id].stride, s->lanes);
    bool is_inner = n->loop != s->scalar.loop;
    if (all > NEAR && !is_inner) return NULL;
    return ir_const(s->f, ir_size_type(s->f->module), all > NEAR ? AHEAD : all);
}

/* Lanes that are found outside of the loop share the sum of what is added to their pointers. */
static void prefetch_rows(tile *t, const simd_tile *of, const simd_node *n) {
    simd *s = t->s;
    ir_inst *ahead = find_ahead(t, n);
    tile next = *t;
    if (!ahead) return;
    bool shares = simd_shape_of(s, t->from) == SIMD_VARYING && ahead->type == t->step->type;
    if (shares) next.step = ir_build2(&s->b, IR_OP_add, ahead->type, t->step, ahead);
    for (unsigned l = 0; l < of->lanes; l++) {
        ir_inst *p = address_of(&next, n, of->first + l);
        if (!shares) p = ir_build_ptradd(&s->b, p, ahead, false);
        ir_build_raw(&s->b, IR_OP_prefetch, IR_VOID, IR_PLAIN, IR_ARGS(p));
    }
}

/* ----------------------------------------------------------------------------------------- rows */

static ir_inst *load_run(const tile *t, ir_inst *p, unsigned first, unsigned n, ir_inst *mask) {
    simd *s = t->s;
    int64_t bytes = (int64_t)first * t->bytes;
    ir_type type = ir_vector(t->g->element, n);
    ir_imm imm = simd_imm(t->g->at, t->g->first + bytes);
    p = simd_step(s, p, bytes);
    if (!mask) return ir_build_raw(&s->b, IR_OP_load, type, ir_with_imm(imm), IR_ARGS(p));
    return ir_build_raw(&s->b, IR_OP_masked_load, type, ir_with_imm(imm),
                        IR_ARGS(p, mask, ir_const(s->f, type, 0)));
}

/* The elements up to the last one, of a lane if it is active. */
static ir_inst *mask_of(const tile *t, unsigned lane) {
    simd *s = t->s;
    ir_type type = ir_vector(IR_I1, t->k);
    uint64_t in[IR_MAX_LANES];
    uint8_t from[IR_MAX_LANES];
    for (unsigned e = 0; e < t->k; e++) in[e] = e < t->used;
    for (unsigned e = 0; e < t->k; e++) from[e] = (uint8_t)lane;
    ir_inst *row = ir_const_lanes(s->f, type, in);
    if (!t->active) return row;
    ir_inst *active = ir_build_shuffle(&s->b, t->active, t->active, t->k, from);
    ir_inst *mask = ir_build2(&s->b, IR_OP_ne, type, active, ir_const(s->f, active->type, 0));
    return ir_build2(&s->b, IR_OP_and, type, mask, row);
}

/* The run of a lane.  One that does not fill a vector is two that overlap. */
static ir_inst *load_row(const tile *t, ir_inst *p, unsigned lane) {
    unsigned half = t->k / 2, over = t->k - t->used;
    bool has_masks = t->s->cx->target && t->s->cx->target->has_masks;
    uint8_t mask[IR_MAX_LANES];
    if (t->active || (over && has_masks)) return load_run(t, p, 0, t->k, mask_of(t, lane));
    if (!over) return load_run(t, p, 0, t->k, NULL);
    for (unsigned e = 0; e < t->k; e++)
        mask[e] = (uint8_t)(e < half ? e : e + over < t->k ? e + over : 255);
    ir_inst *low = load_run(t, p, 0, half, NULL);
    ir_inst *high = load_run(t, p, t->used - half, half, NULL);
    return ir_build_shuffle(&t->s->b, low, high, t->k, mask);
}

/* -------------------------------------------------------------------------------------- columns */

/* Within each part of two vectors, units of n elements in turn: those of one half of the part. */
static ir_inst *interleave(ir_builder *b, ir_inst *x, ir_inst *y, unsigned n, unsigned half) {
    unsigned lanes = ir_lanes(x->type), part = PART * 8 / ir_bits(NULL, x->type);
    uint8_t mask[IR_MAX_LANES];
    for (unsigned e = 0; e < lanes; e++) {
        unsigned at = e % part, unit = at / n;
        mask[e] =
            (uint8_t)(e - at + half * (part / 2) + unit / 2 * n + at % n + (unit % 2 ? lanes : 0));
    }
    return ir_build_shuffle(b, x, y, lanes, mask);
}

/* Transposes parts: of n vectors, n elements of each part are one column of those of x. */
static void transpose_parts(ir_builder *b, unsigned n, ir_inst *const *x, ir_inst **out) {
    ir_inst *low[PART], *high[PART];
    if (n == 1) out[0] = x[0];
    if (n == 1) return;
    transpose_parts(b, n / 2, x, low);
    transpose_parts(b, n / 2, x + n / 2, high);
    for (unsigned e = 0; e < n; e++) out[e] = interleave(b, low[e / 2], high[e / 2], n / 2, e % 2);
}

/* Of the rows of `lanes` lanes, columns, in two steps: element e of each part of a row goes into
 * vector e, in which parts are then put in order.  Rows that are shorter than a vector share one:
 * those whose places in parts are equal. */
static void transpose(const tile *t, unsigned lanes, ir_inst *const *row, ir_inst **out) {
    ir_builder *b = &t->s->b;
    unsigned part = PART / t->bytes, parts = t->k / part, shared = lanes / t->k;
    ir_inst *x[SIMD_MAX_MEMBERS], *y[SIMD_MAX_MEMBERS], *z[SIMD_MAX_MEMBERS];
    for (unsigned h = 0; h < parts; h++) {
        for (unsigned a = 0; a < part; a++) {
            ir_inst *some[IR_MAX_LANES];
            for (unsigned j = 0; j < shared; j++) some[j] = row[(h * shared + j) * part + a];
            x[a] = simd_concatenate(b, shared, some);
        }
        transpose_parts(b, part, x, y + h * part);
    }
    for (unsigned e = 0; e < part; e++) {
        for (unsigned h = 0; h < parts; h++) x[h] = y[h * part + e];
        simd_take_parts(b, parts, part, x, z);
        for (unsigned p = 0; p < parts; p++) out[p * part + e] = z[p];
    }
}

/* Few lanes, and short runs: neighbours share vectors. */
static void transpose_short(const tile *t, unsigned lanes, ir_inst *const *row, ir_inst **out) {
    ir_inst *x[SIMD_MAX_MEMBERS];
    unsigned shared = lanes / t->k;
    for (unsigned v = 0; v < t->k; v++) x[v] = simd_concatenate(&t->s->b, shared, row + v * shared);
    simd_take_apart(&t->s->b, t->k, x, t->g->wanted, out);
}

/* ------------------------------------------------------------------------------------- the tile */

unsigned simd_tile_limit(const simd *s, unsigned bytes) {
    unsigned room = (s->cx->target ? s->cx->target->vector_bytes : PART) / bytes;
    if (room > s->lanes) room = s->lanes;
    return room < SIMD_MAX_MEMBERS ? room : SIMD_MAX_MEMBERS;
}

void simd_load_tile(simd *s, const simd_group *g, const simd_tile *of, const simd_node *n,
                    ir_inst **out) {
    unsigned bytes = ir_bits(NULL, g->element) / 8;
    ir_inst *row[IR_MAX_LANES];
    tile t = {.s = s, .g = g, .k = g->k, .bytes = bytes, .active = of->active};
    t.used = 32u - (unsigned)__builtin_clz(g->wanted);
    find_base(&t, simd_address(g->at));
    prefetch_rows(&t, of, n);
    for (unsigned l = 0; l < of->lanes; l++)
        row[l] = load_row(&t, address_of(&t, n, of->first + l), of->first + l);
    if (t.k * bytes < PART)
        transpose_short(&t, of->lanes, row, out);
    else
        transpose(&t, of->lanes, row, out);
}
