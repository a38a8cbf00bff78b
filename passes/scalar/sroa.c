/* sroa.c — scalar replacement: splits stack variables into the pieces in which they are used.
 *
 * A variable qualifies if all its uses are loads, stores, copies and fills at constant offsets that
 * are not volatile.  Every start and end of an access is a *cut*, and pieces lie between cuts.
 *   - A vector with a cut is cut at each of its lanes.
 *   - A copy between two variables gives each of them the cuts and types of the other.
 *   - A piece that no load or store accesses as a whole is cut until it is an integer of 1 to 8
 *     bytes that the copies of the variable can move aligned.
 * This is repeated until no cut is added.  Then each piece becomes a variable.  An access of one
 * piece goes to that variable.  An access of several pieces becomes a vector with lanes as small as
 * its smallest piece requires, and copies and fills become loads and stores of pieces.  A variable
 * remains if an access would need a vector of a size that does not exist, and so do both variables
 * of a copy or fill of more than MAX_PIECES pieces.
 *
 * Afterwards pieces are promoted to values (ir/promote.c).  Unoptimized code keeps pointers in
 * variables, too.  Once these are values, further variables qualify, so both steps alternate until
 * nothing changes.
 *
 * Variables are not split if an offset is not constant or their address escapes.
 */
#include "passes/passes.h"

enum { MAX_BYTES = 4096, MAX_PIECES = 64, MAX_PIECE = 8, MAX_LANES = 16 };

/* A variable that may be split.  The tables are by byte, with one entry more than the size. */
typedef struct {
    ir_inst *alloca;
    uint32_t size;
    bool stays;     /* in memory */
    bool parts;     /* something makes splitting worthwhile: a part, a copy, a fill */
    uint32_t grain; /* greatest piece that copies and fills can move aligned */
    ir_var_uses uses;
    bool *cut;
    ir_type *type;   /* of the piece that starts here; IR_VOID: not settled */
    ir_inst **piece; /* the new variable */
} split_var;

/* One side of a copy, fill, load or store; var is NULL for other memory. */
typedef struct {
    split_var *var;
    uint32_t offset;
} place;

/* A copy (or, with only one place, a fill) that has a side in a variable. */
typedef struct {
    ir_inst *inst;
    place side[2]; /* by operand */
    uint32_t size;
} transfer;

typedef struct {
    ir_func *f;
    const ir_module *m;
    ir_arena *scratch;
    ir_builder b;
    ir_vec(split_var) vars;
    ir_vec(transfer) transfers;
    bool changed; /* by the current round of cutting */
} splitter;

/* ------------------------------------------------------------------------------------ selection */

static unsigned align_of(const ir_inst *i) { return 1u << i->imm.mem.align; }

static bool is_transfer(const ir_inst *i) { return i->op == IR_OP_copy || i->op == IR_OP_fill; }

static ir_type access_type(const ir_inst *i) {
    return i->op == IR_OP_load ? i->type : ir_arg(i, 0)->type;
}

/* Bytes that the instruction accesses; UINT64_MAX when that is not known. */
static uint64_t access_bytes(const splitter *s, const ir_inst *i) {
    if (!is_transfer(i)) return ir_access_size(s->m, access_type(i));
    return ir_is_const(ir_arg(i, 2)) ? ir_arg(i, 2)->imm.bits : UINT64_MAX;
}

static bool may_split_use(const splitter *s, const split_var *v, const ir_var_use *u) {
    uint64_t bytes = access_bytes(s, u->inst), offset = (uint64_t)u->offset;
    if (u->inst->imm.mem.flags & IR_MEM_VOLATILE) return false;
    if (!is_transfer(u->inst) && ir_is_opaque(access_type(u->inst))) return false;
    return offset <= v->size && bytes <= v->size - offset;
}

static void add_var(splitter *s, ir_inst *alloca) {
    uint64_t size = ir_sizeof(s->m, alloca->imm.var->type);
    split_var v = {.alloca = alloca, .size = (uint32_t)size, .grain = MAX_PIECE};
    if (size > MAX_BYTES || !ir_find_var_uses(alloca, s->scratch, &v.uses) || !v.uses.n) return;
    for (uint32_t k = 0; k < v.uses.n; k++) {
        const ir_var_use *u = &v.uses.data[k], *first = &v.uses.data[0];
        if (!may_split_use(s, &v, u)) return;
        v.parts |= is_transfer(u->inst) || u->offset != first->offset;
        v.parts |= access_bytes(s, u->inst) != access_bytes(s, first->inst);
    }
    if (!v.parts && v.uses.data[0].offset == 0) return;
    v.cut = ir_new_array(s->scratch, bool, size + 1);
    v.type = ir_new_array(s->scratch, ir_type, size + 1);
    v.piece = ir_new_array(s->scratch, ir_inst *, size + 1);
    v.cut[0] = v.cut[size] = true;
    *ir_push(s->scratch, &s->vars) = v;
}

/* The record of a copy or fill, created with its first side; `mark` is its number. */
static transfer *transfer_of(splitter *s, ir_inst *i) {
    if (i->mark < s->transfers.n && s->transfers.data[i->mark].inst == i)
        return &s->transfers.data[i->mark];
    i->mark = s->transfers.n;
    transfer *t = ir_push(s->scratch, &s->transfers);
    *t = (transfer){.inst = i, .size = (uint32_t)access_bytes(s, i)};
    return t;
}

static void add_transfers(splitter *s, split_var *v) {
    for (uint32_t k = 0; k < v->uses.n; k++) {
        const ir_var_use *u = &v->uses.data[k];
        if (!is_transfer(u->inst)) continue;
        if (align_of(u->inst) < v->grain) v->grain = align_of(u->inst);
        transfer_of(s, u->inst)->side[u->arg] = (place){v, (uint32_t)u->offset};
    }
}

/* ----------------------------------------------------------------------------------------- cuts */

static void cut_at(splitter *s, split_var *v, uint32_t at) {
    if (v->cut[at]) return;
    v->cut[at] = true;
    s->changed = true;
}

static uint32_t piece_end(const split_var *v, uint32_t start) {
    uint32_t end = start + 1;
    while (!v->cut[end]) end++;
    return end;
}

static unsigned count_pieces(const split_var *v, uint32_t from, uint32_t size) {
    unsigned n = 0;
    for (uint32_t at = from; at < from + size; at = piece_end(v, at)) n++;
    return n;
}

static void keep_var(splitter *s, split_var *v) {
    if (!v || v->stays) return;
    v->stays = s->changed = true;
}

static bool is_split(const split_var *v) { return v && !v->stays; }

static bool has_type(const splitter *s, const split_var *v, uint32_t at) {
    return v->type[at] != IR_VOID && ir_access_size(s->m, v->type[at]) == piece_end(v, at) - at;
}

/* The greatest number of bytes that divides all pieces of the range and the lanes of t. */
static uint32_t common_lane(const splitter *s, const split_var *v, uint32_t from, ir_type t) {
    uint32_t lane = (uint32_t)ir_access_size(s->m, ir_elem(t));
    uint32_t end = from + (uint32_t)ir_access_size(s->m, t);
    for (uint32_t at = from; at < end; at = piece_end(v, at))
        while ((piece_end(v, at) - at) % lane) lane /= 2;
    return lane;
}

/* Lanes of a vector with the bytes of a t: a fourth lane follows vectors of three, so that
 * there is a type of that size. */
static uint32_t padded_lanes(const splitter *s, ir_type t, uint32_t lane) {
    uint32_t bytes = (uint32_t)ir_access_size(s->m, t);
    bool pads = ir_lanes(t) == 3 && bytes / 3 != lane;
    return (pads ? bytes / 3 * 4 : bytes) / lane;
}

/* Does an access of type t, made of pieces, need no vectors but those that all consumers have? */
static bool may_take_apart(const splitter *s, const split_var *v, uint32_t from, ir_type t) {
    uint32_t lane = common_lane(s, v, from, t), end = from + (uint32_t)ir_access_size(s->m, t);
    uint32_t most = padded_lanes(s, t, lane);
    for (uint32_t at = from; at < end; at = piece_end(v, at)) {
        bool typed = has_type(s, v, at);
        uint32_t n = typed ? padded_lanes(s, v->type[at], lane) : (piece_end(v, at) - at) / lane;
        if (n > most) most = n;
    }
    return most <= MAX_LANES;
}

static void cut_lanes(splitter *s, split_var *v, uint32_t from, ir_type t) {
    uint32_t lane = (uint32_t)ir_access_size(s->m, ir_elem(t));
    for (unsigned k = 1; k < ir_lanes(t); k++) cut_at(s, v, from + k * lane);
}

/* A piece that an access takes whole has its type, booleans and pieces of pointers as plain bits.
 */
static void settle_type(splitter *s, split_var *v, uint32_t at, ir_type t) {
    if (ir_is_bool(t)) t = ir_with_elem(t, IR_I8);
    if (!has_type(s, v, at)) v->type[at] = t;
}

static void cut_access(splitter *s, split_var *v, const ir_var_use *u) {
    uint32_t from = (uint32_t)u->offset, size = (uint32_t)access_bytes(s, u->inst);
    cut_at(s, v, from);
    cut_at(s, v, from + size);
    if (is_transfer(u->inst)) return;
    ir_type t = access_type(u->inst);
    if (count_pieces(v, from, size) == 1) {
        settle_type(s, v, from, t);
        return;
    }
    cut_lanes(s, v, from, t);
    uint32_t lane = (uint32_t)ir_access_size(s->m, ir_elem(t));
    for (uint32_t at = from; at < from + size; at += lane)
        if (ir_is_vector(t) && piece_end(v, at) == at + lane) settle_type(s, v, at, ir_elem(t));
    if (!may_take_apart(s, v, from, t)) keep_var(s, v);
}

static ir_type int_of_bytes(uint32_t bytes) {
    return bytes == 1 ? IR_I8 : bytes == 2 ? IR_I16 : bytes == 4 ? IR_I32 : IR_I64;
}

/* Pieces without a type become integers. */
static void cut_rest(splitter *s, split_var *v) {
    for (uint32_t at = 0, end; at < v->size; at = end) {
        end = piece_end(v, at);
        if (has_type(s, v, at)) continue;
        uint32_t size = v->grain;
        while (size > end - at || at % size) size /= 2;
        cut_at(s, v, at + size);
        end = at + size;
        v->type[at] = int_of_bytes(size);
    }
}

/* The piece at one side without a type takes that of the other side. */
static void share_type(splitter *s, place a, place b) {
    if (!has_type(s, a.var, a.offset) || has_type(s, b.var, b.offset)) return;
    uint32_t size = piece_end(a.var, a.offset) - a.offset;
    if (piece_end(b.var, b.offset) - b.offset != size) return;
    b.var->type[b.offset] = a.var->type[a.offset];
    s->changed = true;
}

static void share_cuts(splitter *s, const transfer *t) {
    place to = t->side[0], from = t->side[1];
    if (!is_split(to.var) || !is_split(from.var)) return;
    for (uint32_t k = 0; k <= t->size; k++, to.offset++, from.offset++) {
        if (to.var->cut[to.offset]) cut_at(s, from.var, from.offset);
        if (from.var->cut[from.offset]) cut_at(s, to.var, to.offset);
        if (k == t->size || !to.var->cut[to.offset]) continue;
        share_type(s, to, from);
        share_type(s, from, to);
    }
}

static void limit_transfer(splitter *s, const transfer *t) {
    const place *p = is_split(t->side[0].var) ? &t->side[0] : &t->side[1];
    if (!is_split(p->var) || count_pieces(p->var, p->offset, t->size) <= MAX_PIECES) return;
    keep_var(s, t->side[0].var);
    keep_var(s, t->side[1].var);
}

/* Accesses cut first, so that what is left without a type is not cut by accident of order. */
static void find_cuts(splitter *s) {
    do {
        s->changed = false;
        for (uint32_t k = 0; k < s->vars.n; k++) {
            split_var *v = &s->vars.data[k];
            for (uint32_t n = 0; n < v->uses.n && !v->stays; n++)
                cut_access(s, v, &v->uses.data[n]);
        }
        for (uint32_t k = 0; k < s->transfers.n; k++) share_cuts(s, &s->transfers.data[k]);
        for (uint32_t k = s->transfers.n; k-- > 0;) share_cuts(s, &s->transfers.data[k]);
        for (uint32_t k = 0; k < s->vars.n && !s->changed; k++) cut_rest(s, &s->vars.data[k]);
        for (uint32_t k = 0; k < s->transfers.n; k++) limit_transfer(s, &s->transfers.data[k]);
    } while (s->changed);
}

/* --------------------------------------------------------------------------------------- pieces */

static unsigned known_align(unsigned align, uint64_t offset) {
    while (align > 1 && offset % align) align /= 2;
    return align;
}

static void make_pieces(splitter *s, split_var *v) {
    const char *name = ir_name_of(s->f, v->alloca);
    const ir_var *var = v->alloca->imm.var;
    ir_before(&s->b, v->alloca);
    s->b.loc = v->alloca->loc;
    for (uint32_t at = 0; at < v->size; at = piece_end(v, at)) {
        v->piece[at] = ir_build_alloca(&s->b, v->type[at], known_align(var->align, at));
        if (name) ir_set_name(s->f, v->piece[at], ir_sprintf(s->scratch, "%s.%u", name, at));
    }
}

/* The type in which an access of several pieces has its bytes as lanes. */
static ir_type lane_type(const splitter *s, ir_type t, uint32_t lane) {
    ir_type elem = ir_elem(t);
    bool whole = !ir_is_ptr(elem) && !ir_is_bool(elem) && ir_access_size(s->m, elem) == lane;
    return whole ? elem : int_of_bytes(lane);
}

static ir_inst *load_piece(splitter *s, const split_var *v, uint32_t at) {
    unsigned align = v->piece[at]->imm.var->align;
    return ir_build_load(&s->b, v->type[at], v->piece[at], align, 0);
}

static void store_piece(splitter *s, const split_var *v, uint32_t at, ir_inst *value) {
    unsigned align = v->piece[at]->imm.var->align;
    value = ir_build_reinterpret(&s->b, value, v->type[at]);
    ir_build_store(&s->b, value, v->piece[at], align, 0);
}

static ir_inst *resize(splitter *s, ir_inst *v, unsigned lanes) {
    const uint8_t mask[] = {0, 1, 2, 3};
    if (ir_lanes(v->type) == lanes) return v;
    return ir_build_shuffle(&s->b, v, ir_undef(s->f, v->type), lanes, mask);
}

/* v as a vector of elem; see padded_lanes. */
static ir_inst *to_lanes(splitter *s, ir_inst *v, ir_type elem) {
    uint32_t n = padded_lanes(s, v->type, (uint32_t)ir_access_size(s->m, elem));
    if (n * ir_access_size(s->m, elem) != ir_access_size(s->m, v->type)) v = resize(s, v, 4);
    return ir_build_reinterpret(&s->b, v, ir_vector(elem, n));
}

/* The n values in lanes, which have room for MAX_LANES, as a t. */
static ir_inst *from_lanes(splitter *s, ir_inst **lanes, uint32_t n, ir_type t) {
    ir_type elem = lanes[0]->type;
    uint32_t all = padded_lanes(s, t, (uint32_t)ir_access_size(s->m, elem));
    ir_type whole = all == n ? t : ir_vector(ir_elem(t), 4);
    while (n < all) lanes[n++] = ir_undef(s->f, elem);
    ir_inst *v = lanes[0];
    if (n > 1) v = ir_build_vec(&s->b, ir_vector(elem, n), lanes);
    return resize(s, ir_build_reinterpret(&s->b, v, whole), ir_lanes(t));
}

static ir_inst *nth_lane(splitter *s, ir_inst *v, unsigned n) {
    return ir_is_vector(v->type) ? ir_build_extract(&s->b, v, n) : v;
}

static void split_load(splitter *s, const split_var *v, const ir_var_use *u) {
    ir_inst *load = u->inst, *lanes[MAX_LANES];
    uint32_t from = (uint32_t)u->offset, size = (uint32_t)access_bytes(s, load);
    uint32_t lane = common_lane(s, v, from, load->type), n = 0;
    ir_type elem = lane_type(s, load->type, lane);
    for (uint32_t at = from, end; at < from + size; at = end) {
        end = piece_end(v, at);
        ir_inst *part = to_lanes(s, load_piece(s, v, at), elem);
        for (unsigned k = 0; k < (end - at) / lane; k++) lanes[n++] = nth_lane(s, part, k);
    }
    ir_replace_uses(load, from_lanes(s, lanes, n, load->type));
}

static void split_store(splitter *s, const split_var *v, const ir_var_use *u) {
    ir_inst *value = ir_arg(u->inst, 0), *lanes[MAX_LANES];
    uint32_t from = (uint32_t)u->offset, size = (uint32_t)access_bytes(s, u->inst);
    uint32_t lane = common_lane(s, v, from, value->type), done = 0;
    value = to_lanes(s, value, lane_type(s, value->type, lane));
    for (uint32_t at = from, end; at < from + size; at = end) {
        end = piece_end(v, at);
        unsigned count = (end - at) / lane;
        for (unsigned k = 0; k < count; k++) lanes[k] = nth_lane(s, value, done++);
        store_piece(s, v, at, from_lanes(s, lanes, count, v->type[at]));
    }
}

/* ----------------------------------------------------------------------------- copies and fills */

/* The address of byte `at` of an operand that points to memory which is not split. */
static ir_inst *address_at(splitter *s, ir_inst *p, uint32_t at) {
    ir_inst *offset = ir_const(s->f, ir_size_type(s->m), at);
    return ir_build_ptradd(&s->b, p, offset, true);
}

static ir_inst *read_part(splitter *s, const transfer *t, uint32_t at, ir_type other) {
    const place *from = &t->side[1];
    if (is_split(from->var)) return load_piece(s, from->var, from->offset + at);
    unsigned flags = t->inst->imm.mem.flags, align = known_align(align_of(t->inst), at);
    return ir_build_load(&s->b, other, address_at(s, ir_arg(t->inst, 1), at), align, flags);
}

static void write_part(splitter *s, const transfer *t, uint32_t at, ir_inst *value) {
    const place *to = &t->side[0];
    if (is_split(to->var)) {
        store_piece(s, to->var, to->offset + at, value);
        return;
    }
    unsigned flags = t->inst->imm.mem.flags, align = known_align(align_of(t->inst), at);
    ir_build_store(&s->b, value, address_at(s, ir_arg(t->inst, 0), at), align, flags);
}

/* Reads everything before it writes: both sides may be the same memory. */
static void split_copy(splitter *s, const transfer *t) {
    const place *p = is_split(t->side[0].var) ? &t->side[0] : &t->side[1];
    ir_inst *part[MAX_PIECES];
    unsigned n = 0;
    for (uint32_t at = 0; at < t->size; at = piece_end(p->var, p->offset + at) - p->offset)
        part[n++] = read_part(s, t, at, p->var->type[p->offset + at]);
    n = 0;
    for (uint32_t at = 0; at < t->size; at = piece_end(p->var, p->offset + at) - p->offset)
        write_part(s, t, at, part[n++]);
}

/* A value of type t whose bytes are all `byte`. */
static ir_inst *repeat_byte(splitter *s, ir_inst *byte, ir_type t) {
    if (byte->op == IR_OP_undef) return ir_undef(s->f, t);
    if (ir_is_const(byte)) return ir_const(s->f, t, byte->imm.bits * UINT64_C(0x0101010101010101));
    unsigned size = (unsigned)ir_access_size(s->m, ir_elem(t));
    ir_inst *elem = ir_build_reinterpret(&s->b, ir_build_splat(&s->b, byte, size), ir_elem(t));
    return ir_build_splat(&s->b, elem, ir_lanes(t));
}

static void split_fill(splitter *s, const transfer *t) {
    const place *p = &t->side[0];
    ir_inst *byte = ir_arg(t->inst, 1);
    for (uint32_t at = p->offset; at < p->offset + t->size; at = piece_end(p->var, at))
        store_piece(s, p->var, at, repeat_byte(s, byte, p->var->type[at]));
}

/* ------------------------------------------------------------------------------------ rewriting */

static void start_at(splitter *s, ir_inst *i) {
    ir_before(&s->b, i);
    s->b.loc = i->loc;
}

static void split_transfer(splitter *s, const transfer *t) {
    start_at(s, t->inst);
    if (t->inst->op == IR_OP_fill)
        split_fill(s, t);
    else
        split_copy(s, t);
    ir_remove(t->inst);
}

static void split_access(splitter *s, const split_var *v, const ir_var_use *u) {
    uint32_t from = (uint32_t)u->offset;
    if (count_pieces(v, from, (uint32_t)access_bytes(s, u->inst)) == 1) {
        ir_set_arg(u->inst, u->arg, v->piece[from]);
        return;
    }
    start_at(s, u->inst);
    if (u->inst->op == IR_OP_load)
        split_load(s, v, u);
    else
        split_store(s, v, u);
    ir_remove(u->inst);
}

static bool split_variables(splitter *s) {
    bool any = false;
    for (uint32_t k = 0; k < s->vars.n; k++)
        if (is_split(&s->vars.data[k])) make_pieces(s, &s->vars.data[k]);
    for (uint32_t k = 0; k < s->transfers.n; k++) {
        const transfer *t = &s->transfers.data[k];
        if (is_split(t->side[0].var) || is_split(t->side[1].var)) split_transfer(s, t);
    }
    for (uint32_t k = 0; k < s->vars.n; k++) {
        const split_var *v = &s->vars.data[k];
        if (!is_split(v)) continue;
        for (uint32_t n = 0; n < v->uses.n; n++)
            if (!is_transfer(v->uses.data[n].inst)) split_access(s, v, &v->uses.data[n]);
        ir_remove_var(v->alloca, s->scratch);
        any = true;
    }
    return any;
}

static bool split_vars(ir_func *f, ir_arena *scratch) {
    splitter s = {.f = f, .m = f->module, .scratch = scratch};
    ir_builder_init(&s.b, f);
    foreach_inst (i, f->first)
        if (i->op == IR_OP_alloca) add_var(&s, i);
    if (!s.vars.n) return false;
    for (uint32_t k = 0; k < s.vars.n; k++) add_transfers(&s, &s.vars.data[k]);
    find_cuts(&s);
    return split_variables(&s);
}

/* Does: splits variables into pieces and turns the pieces into values.
 * Needs: allocas in the entry block.
 * Leaves: variables that are indexed, whose address escapes, or that are volatile or large.
 * Gives up: on a variable, never on the function. */
bool pass_sroa(ir_func *f, pass_ctx *cx) {
    bool changed = ir_promote_vars(f, cx->scratch);
    while (split_vars(f, cx->scratch)) {
        changed = true;
        ir_promote_vars(f, cx->scratch);
    }
    return changed;
}
