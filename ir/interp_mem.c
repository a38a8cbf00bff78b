/* interp_mem.c — steps that touch memory: loads, stores, copy, fill, atomics, variables.
 *
 * Memory is little-endian bytes that the host reads and writes, each byte with its undefined
 * flag.  An undefined address is reported and then used with the bits it happens to have.  Work-
 * items are never interrupted inside a step, so an atomic is a read and a write marked as such.
 */
#include "ir/interp_impl.h"

/* What one access moves: the largest vector, or a piece of a copy or fill. */
enum { PIECE = IR_MAX_LANES * 8 };
typedef struct {
    uint8_t bytes[PIECE], undef[PIECE];
} piece;

static bool host_read(const ir_interp *w, const ir_access *a, piece *p) {
    if (w->host->read(w->host->user, a, p->bytes, p->undef)) return true;
    memset(p->bytes, 0, a->size);
    memset(p->undef, 1, a->size);
    return false;
}

static bool host_write(const ir_interp *w, const ir_access *a, const piece *p) {
    return w->host->write(w->host->user, a, p->bytes, p->undef);
}

/* The access of step s through its operand n, which is reported when undefined. */
static ir_access access_through(const ir_interp *w, const ir_frame *f, const ir_step *s, unsigned n,
                                uint32_t kind) {
    uint32_t slot = ir_step_slot(f, s, n);
    if (f->undef[slot]) ir_interp_check(w, f, s, n);
    return (ir_access){
        .at = s->inst,
        .site = s->site,
        .address = f->bits[slot],
        .align = 1,
        .space = ir_space_of(ir_arg(s->inst, n)->type),
        .kind = kind,
    };
}

/* ------------------------------------------------------------------------------ lanes and bytes */

static void get_lanes(uint64_t *bits, uint8_t *undef, const piece *p, unsigned lanes,
                      unsigned size) {
    for (unsigned l = 0; l < lanes; l++) {
        uint64_t value = 0;
        uint8_t mask = 0;
        for (unsigned k = 0; k < size; k++) {
            value |= (uint64_t)p->bytes[l * size + k] << 8 * k;
            mask |= (uint8_t)(p->undef[l * size + k] << k);
        }
        bits[l] = value;
        undef[l] = mask;
    }
}

static void write_lanes(piece *p, const uint64_t *bits, const uint8_t *undef, unsigned lanes,
                        unsigned size) {
    for (unsigned l = 0; l < lanes; l++)
        for (unsigned k = 0; k < size; k++) {
            p->bytes[l * size + k] = (uint8_t)(bits[l] >> 8 * k);
            p->undef[l * size + k] = undef[l] >> k & 1;
        }
}

static uint32_t alignment(const ir_step *s) { return UINT32_C(1) << s->inst->imm.mem.align; }

static void load(ir_interp *w, ir_frame *f, const ir_step *s) {
    piece p;
    ir_access a = access_through(w, f, s, 0, IR_ACCESS_READ);
    a.size = (uint32_t)ir_access_size(w->code->module, s->inst->type);
    a.align = alignment(s);
    host_read(w, &a, &p);
    get_lanes(f->bits + s->dst, f->undef + s->dst, &p, s->lanes, a.size / s->lanes);
    for (unsigned l = 0; l < s->lanes; l++) f->bits[s->dst + l] &= s->mask;
}

static void store(ir_interp *w, ir_frame *f, const ir_step *s) {
    piece p;
    ir_type t = ir_arg(s->inst, 0)->type;
    unsigned lanes = ir_lanes(t);
    ir_access a = access_through(w, f, s, 1, IR_ACCESS_WRITE);
    a.size = (uint32_t)ir_access_size(w->code->module, t);
    a.align = alignment(s);
    write_lanes(&p, f->bits + s->arg[0], f->undef + s->arg[0], lanes, a.size / lanes);
    host_write(w, &a, &p);
}

/* ------------------------------------------------------------------------------ lanes by a mask */

/* Where the lanes of a vector are in memory: one after the other, or at offsets. */
typedef struct {
    ir_access access; /* of one lane */
    uint64_t base;
    const ir_inst *offsets; /* NULL: consecutive */
    uint32_t offset, mask;  /* slots of lane 0 */
    unsigned lanes;
} lane_places;

/* `base` is the number of the operand; the mask is operand `mask`, the offsets precede it. */
static lane_places find_places(const ir_interp *w, const ir_frame *f, const ir_step *s,
                               unsigned base, unsigned mask) {
    const ir_module *m = w->code->module;
    ir_type t = s->inst->type == IR_VOID ? ir_arg(s->inst, 0)->type : s->inst->type;
    bool stores = s->inst->type == IR_VOID, apart = mask == base + 2;
    lane_places p = {.lanes = ir_lanes(t), .mask = ir_step_slot(f, s, mask)};
    bool any = false;
    ir_interp_check(w, f, s, mask);
    for (unsigned l = 0; l < p.lanes; l++) any |= f->bits[p.mask + l] & 1;
    if (!any) p.lanes = 0;
    if (!any) return p;
    p.access = access_through(w, f, s, base, stores ? IR_ACCESS_WRITE : IR_ACCESS_READ);
    p.access.size = ir_bits(m, t) / 8;
    p.base = p.access.address;
    if (!apart) return p;
    p.offsets = ir_arg(s->inst, base + 1);
    p.offset = ir_step_slot(f, s, base + 1);
    return p;
}

/* Sets the address of lane l, and the alignment, which follows from that of lane 0 if lanes lie
 * side by side; false: the lane is not active. */
static bool find_lane(const ir_interp *w, const ir_frame *f, const ir_step *s, lane_places *p,
                      unsigned l) {
    const ir_module *m = w->code->module;
    uint64_t by = (uint64_t)l * p->access.size, aligned = by | alignment(s);
    if (!(f->bits[p->mask + l] & 1)) return false;
    p->access.align = (uint32_t)(p->offsets ? alignment(s) : aligned & -aligned);
    if (p->offsets) {
        by = (uint64_t)ir_sext(f->bits[p->offset + l], ir_bits(m, p->offsets->type));
        if (f->undef[p->offset + l])
            w->host->problem(w->host->user, IR_PROBLEM_UNDEFINED, s->inst,
                             s->inst->type == IR_VOID ? 2 : 1);
    }
    p->access.address = ir_zext(p->base + by, m->pointer_bits);
    return true;
}

static void load_by_mask(ir_interp *w, ir_frame *f, const ir_step *s, bool apart) {
    piece p;
    lane_places at = find_places(w, f, s, 0, apart ? 2 : 1);
    uint32_t other = ir_step_slot(f, s, apart ? 3 : 2);
    for (unsigned l = 0; l < s->lanes; l++) {
        bool active = l < at.lanes && find_lane(w, f, s, &at, l);
        if (active) host_read(w, &at.access, &p);
        if (active)
            get_lanes(f->bits + s->dst + l, f->undef + s->dst + l, &p, 1, at.access.size);
        else {
            f->bits[s->dst + l] = f->bits[other + l];
            f->undef[s->dst + l] = f->undef[other + l];
        }
    }
}

static void store_by_mask(ir_interp *w, ir_frame *f, const ir_step *s, bool apart) {
    piece p;
    lane_places at = find_places(w, f, s, 1, apart ? 3 : 2);
    uint32_t v = ir_step_slot(f, s, 0);
    for (unsigned l = 0; l < at.lanes; l++) {
        if (!find_lane(w, f, s, &at, l)) continue;
        write_lanes(&p, f->bits + v + l, f->undef + v + l, 1, at.access.size);
        host_write(w, &at.access, &p);
    }
}

/* ------------------------------------------------------------------------------ ranges of bytes */

static uint32_t piece_of(uint64_t left) { return left < PIECE ? (uint32_t)left : PIECE; }

/* Stops at the first piece that fails; the alignment is looked at once. */
static void copy(ir_interp *w, ir_frame *f, const ir_step *s) {
    piece p;
    ir_access to = access_through(w, f, s, 0, IR_ACCESS_WRITE);
    ir_access from = access_through(w, f, s, 1, IR_ACCESS_READ);
    ir_interp_check(w, f, s, 2);
    to.align = from.align = alignment(s);
    for (uint64_t left = f->bits[s->arg[2]]; left; left -= to.size) {
        to.size = from.size = piece_of(left);
        if (!host_read(w, &from, &p) || !host_write(w, &to, &p)) return;
        to.address += to.size;
        from.address += to.size;
        to.align = from.align = 1;
    }
}

static void fill_bytes(ir_interp *w, ir_frame *f, const ir_step *s) {
    piece p;
    ir_access to = access_through(w, f, s, 0, IR_ACCESS_WRITE);
    ir_interp_check(w, f, s, 2);
    to.align = alignment(s);
    memset(p.bytes, (int)(f->bits[s->arg[1]] & 0xff), sizeof p.bytes);
    memset(p.undef, f->undef[s->arg[1]] & 1, sizeof p.undef);
    for (uint64_t left = f->bits[s->arg[2]]; left; left -= to.size) {
        to.size = piece_of(left);
        if (!host_write(w, &to, &p)) return;
        to.address += to.size;
        to.align = 1;
    }
}

/* -------------------------------------------------------------------------------------- atomics */

ir_op ir_combining_op(ir_op op) {
    switch (op) {
    case IR_OP_atomic_add:
    case IR_OP_group_add: return IR_OP_add;
    case IR_OP_atomic_sub: return IR_OP_sub;
    case IR_OP_group_mul: return IR_OP_mul;
    case IR_OP_atomic_and:
    case IR_OP_group_and: return IR_OP_and;
    case IR_OP_atomic_or:
    case IR_OP_group_or: return IR_OP_or;
    case IR_OP_atomic_xor:
    case IR_OP_group_xor: return IR_OP_xor;
    case IR_OP_atomic_umin:
    case IR_OP_group_umin: return IR_OP_umin;
    case IR_OP_atomic_umax:
    case IR_OP_group_umax: return IR_OP_umax;
    case IR_OP_atomic_smin:
    case IR_OP_group_smin: return IR_OP_smin;
    case IR_OP_atomic_smax:
    case IR_OP_group_smax: return IR_OP_smax;
    case IR_OP_atomic_fadd:
    case IR_OP_group_fadd: return IR_OP_fadd;
    case IR_OP_group_fmul: return IR_OP_fmul;
    case IR_OP_atomic_fmin:
    case IR_OP_group_fmin: return IR_OP_fmin;
    case IR_OP_atomic_fmax:
    case IR_OP_group_fmax: return IR_OP_fmax;
    default: return IR_OP_const;
    }
}

static uint64_t combine(const ir_interp *w, ir_op op, ir_type t, uint64_t old, uint64_t operand) {
    ir_kind k = ir_kind_of(t);
    unsigned width = ir_bits(w->code->module, t);
    ir_eval_env e = {.op = op, .k_res = k, .k_arg = k, .w_res = width, .w_arg = width};
    return ir_eval_lane(&e, (uint64_t[4]){old, operand}) & ir_zext(UINT64_MAX, width);
}

static bool read_lane(const ir_interp *w, ir_access *a, uint64_t *bits, uint8_t *undef) {
    piece p;
    a->kind = IR_ACCESS_READ | IR_ACCESS_ATOMIC;
    bool ok = host_read(w, a, &p);
    get_lanes(bits, undef, &p, 1, a->size);
    return ok;
}

static void write_lane(const ir_interp *w, ir_access *a, uint64_t bits, uint8_t undef) {
    piece p;
    a->kind = IR_ACCESS_WRITE | IR_ACCESS_ATOMIC;
    write_lanes(&p, &bits, &undef, 1, a->size);
    host_write(w, a, &p);
}

/* Gives the old value; writes the new one unless the access or a comparison failed. */
static void exchange(ir_interp *w, ir_frame *f, const ir_step *s, ir_access *a) {
    uint64_t old, operand = f->bits[s->arg[1]];
    uint8_t undef, operand_undef = f->undef[s->arg[1]];
    ir_op op = ir_combining_op((ir_op)s->code);
    bool ok = read_lane(w, a, &old, &undef);
    f->bits[s->dst] = old;
    f->undef[s->dst] = undef;
    if (!ok) return;
    if (s->code != IR_OP_atomic_xchg) {
        for (unsigned n = 1; n < s->inst->nargs; n++) ir_interp_check(w, f, s, n);
        if (undef)
            w->host->problem(w->host->user, IR_PROBLEM_UNDEFINED, s->inst, IR_OPERAND_MEMORY);
    }
    if (s->code == IR_OP_atomic_cmpxchg && old != f->bits[s->arg[2]]) return;
    if (op == IR_OP_const)
        write_lane(w, a, operand, operand_undef);
    else
        write_lane(w, a, combine(w, op, s->inst->type, old, operand),
                   undef | operand_undef ? s->full : 0);
}

static void atomic(ir_interp *w, ir_frame *f, const ir_step *s) {
    bool stores = s->code == IR_OP_atomic_store;
    ir_access a = access_through(w, f, s, 0, IR_ACCESS_READ);
    ir_type t = stores ? ir_arg(s->inst, 1)->type : s->inst->type;
    a.size = a.align = (uint32_t)ir_access_size(w->code->module, t);
    if (stores)
        write_lane(w, &a, f->bits[s->arg[1]], f->undef[s->arg[1]]);
    else if (s->code == IR_OP_atomic_load)
        read_lane(w, &a, f->bits + s->dst, f->undef + s->dst);
    else
        exchange(w, f, s, &a);
}

void ir_interp_memory(ir_interp *w, ir_frame *f, const ir_step *s) {
    switch (s->code) {
    case IR_OP_load: load(w, f, s); break;
    case IR_OP_store: store(w, f, s); break;
    case IR_OP_masked_load: load_by_mask(w, f, s, false); break;
    case IR_OP_masked_store: store_by_mask(w, f, s, false); break;
    case IR_OP_gather: load_by_mask(w, f, s, true); break;
    case IR_OP_scatter: store_by_mask(w, f, s, true); break;
    case IR_OP_copy: copy(w, f, s); break;
    case IR_OP_fill: fill_bytes(w, f, s); break;
    case IR_OP_fence: w->host->fence(w->host->user, s->inst); break;
    case IR_OP_alloca:
        f->bits[s->dst] = w->host->variable(w->host->user, s->inst) & s->mask;
        f->undef[s->dst] = 0;
        f->variables++;
        break;
    default: atomic(w, f, s);
    }
}
