/* select_operands.c — builds operands during selection: immediates, addressing modes, loads that
 * are folded into their users.
 *
 * A load or an address that a user has folded in loses that use, and is not selected if it has no
 * other one (codegen/native/select.h).
 */
#include "codegen/x86_64/select.h"
#include "ir/eval.h"

enum { ADDRESS_STEPS = 16 /* additions that are folded into one address */ };

/* --------------------------------------------------------------------------------- sizes, casts */

unsigned x86_size_of(const ir_inst *x) {
    switch (ir_kind_of(x->type)) {
    case IR_I8: return 0;
    case IR_I16:
    case IR_F16:
    case IR_BF16: return 1;
    case IR_I64:
    case IR_F64:
    case IR_PTR: return 3;
    default: return 2;
    }
}

unsigned x86_word_of(const ir_inst *x) { return x86_size_of(x) == 3 ? 3 : 2; }

static bool is_general(const ir_inst *x) {
    return !ir_is_vector(x->type) && (ir_is_int(x->type) || ir_is_ptr(x->type));
}

/* The same register under another type. */
static bool is_cast(const ir_inst *x) {
    switch (x->op) {
    case IR_OP_ptrtoint:
    case IR_OP_inttoptr:
    case IR_OP_ptrcast: return x86_size_of(x) == x86_size_of(ir_arg(x, 0));
    case IR_OP_bitcast: return ir_is_vector(x->type) && ir_is_vector(ir_arg(x, 0)->type);
    default: return false;
    }
}

ir_inst *x86_strip(ir_inst *x) {
    while (is_cast(x)) x = ir_arg(x, 0);
    return x;
}

bool x86_is_imm32(const ir_inst *x, int64_t *value) {
    if (!ir_is_const(x) || !is_general(x)) return false;
    unsigned size = x86_size_of(x);
    *value = ir_sext(x->imm.bits, size == 3 ? 64 : 8u << size);
    if (ir_is_bool(x->type)) *value = x->imm.bits & 1;
    return *value == (int32_t)*value;
}

bool x86_is_number(const ir_inst *x) {
    if (!ir_is_const(x)) return false;
    for (unsigned k = 0; k < ir_lanes(x->type); k++)
        if (ir_fp_is_nan(ir_kind_of(x->type), ir_lane_bits(x, k))) return false;
    return true;
}

bool x86_lives_on(const ir_builder *b, const ir_inst *v, const ir_inst *x) {
    const ir_loops *loops = cg_selection_of(b)->loops;
    if (!x->block) return false;
    return x->uses->next || loops->of[x->block->id] != loops->of[v->block->id];
}

/* ------------------------------------------------------------------------------------ relations */

bool x86_find_relation(const ir_builder *b, ir_op op, int *relation, bool *swap) {
    *swap = op == IR_OP_fult || op == IR_OP_fule;
    switch (op) {
    case IR_OP_foeq: *relation = X86_CMP_EQ; return true;
    case IR_OP_folt: *relation = X86_CMP_LT; return true;
    case IR_OP_fole: *relation = X86_CMP_LE; return true;
    case IR_OP_funo: *relation = X86_CMP_UNORD; return true;
    case IR_OP_fune: *relation = X86_CMP_NEQ; return true;
    case IR_OP_fult: *relation = X86_CMP_NLE; return true;
    case IR_OP_fule: *relation = X86_CMP_NLT; return true;
    case IR_OP_ford: *relation = X86_CMP_ORD; return true;
    case IR_OP_fueq: *relation = X86_CMP_EQ_UNORD; return x86_has(b, X86_V3);
    case IR_OP_fone: *relation = X86_CMP_NEQ_ORD; return x86_has(b, X86_V3);
    default: return false;
    }
}

/* ------------------------------------------------------------------------------------- building */

ir_inst *x86_build(ir_builder *b, const x86_draft *d) {
    return ir_build_raw(b, IR_OP_mach, d->type, ir_with_imm(x86_imm_of(d)),
                        (ir_args){d->n, d->arg});
}

void x86_add_int(ir_builder *b, x86_draft *d, ir_type t, uint64_t bits) {
    d->arg[d->n++] = ir_const(b->f, t, bits);
}

static x86_row zero_row(const x86_cpu *t, ir_type type) {
    switch (t->base.class_of(&t->base, type)) {
    case CLASS_GENERAL: return X86_XOR_r32_rm32;
    case CLASS_MASK: return X86_KXORQ_k_k_k;
    default: return t->level >= X86_V3 ? X86_VXORPS_x_x_xm : X86_XORPS_x_xm;
    }
}

static ir_inst *build_zero(ir_builder *b, ir_type t) {
    x86_draft d = {.row = zero_row(x86_cpu_for(b), t), .kind = MACH_ZERO, .type = t};
    return x86_build(b, &d);
}

static ir_inst *build_int(ir_builder *b, ir_inst *c) {
    uint64_t bits = c->imm.bits;
    x86_draft d = {.type = c->type};
    if (bits <= UINT32_MAX)
        d.row = X86_MOV_r32_imm32;
    else
        d.row = (int64_t)bits == (int32_t)bits ? X86_MOV_rm64_imm32 : X86_MOVABS_r64_imm64;
    x86_add_int(b, &d, IR_I64, bits);
    return x86_build(b, &d);
}

/* A float or vector, a constant after the code. */
static ir_inst *build_float(ir_builder *b, ir_inst *c) {
    x86_draft d = {.type = c->type, .memory = true};
    d.row = x86_constant_load(x86_cpu_for(b), b->f, &c);
    d.arg[d.n++] = c;
    return x86_build(b, &d);
}

static ir_inst *build_address(ir_builder *b, ir_inst *what) {
    x86_draft d = {.row = X86_LEA_r64_m, .type = what->type, .memory = true};
    d.arg[d.n++] = what;
    return x86_build(b, &d);
}

/* A mask, a constant after the code, too: so it is one instruction, which may be repeated. */
static ir_inst *build_mask_constant(ir_builder *b, ir_inst *c) {
    uint64_t bits = 0;
    for (unsigned k = 0; k < ir_lanes(c->type); k++) bits |= ir_lane_bits(c, k) << k;
    bool is_short = ir_lanes(c->type) <= 16;
    x86_row row = is_short ? X86_KMOVW_k_km16 : X86_KMOVQ_k_km64;
    x86_draft d = {.row = row, .type = c->type, .memory = true};
    d.arg[d.n++] = ir_const(b->f, is_short ? IR_I16 : IR_I64, bits);
    return x86_build(b, &d);
}

ir_inst *x86_build_leaf(ir_builder *b, ir_inst *x) {
    if (x->op == IR_OP_address || x->op == IR_OP_alloca) return build_address(b, x);
    uint64_t bits;
    if (x->op == IR_OP_undef || (ir_is_splat(x, &bits) && bits == 0)) return build_zero(b, x->type);
    if (ir_is_vector(x->type) && ir_is_bool(x->type)) return build_mask_constant(b, x);
    bool general = is_general(x) || (!ir_is_vector(x->type) && x86_size_of(x) == 1);
    return general ? build_int(b, x) : build_float(b, x);
}

void x86_add_reg(ir_builder *b, x86_draft *d, ir_inst *x) { d->arg[d->n++] = cg_in_register(b, x); }

ir_inst *x86_build_regs(ir_builder *b, ir_type t, x86_row row, ir_args regs) {
    x86_draft d = {.row = row, .type = t};
    for (unsigned k = 0; k < regs.n; k++) x86_add_reg(b, &d, regs.val[k]);
    return x86_build(b, &d);
}

ir_inst *x86_build_imm(ir_builder *b, ir_type t, x86_row row, ir_args regs, int imm) {
    x86_draft d = {.row = row, .type = t};
    for (unsigned k = 0; k < regs.n; k++) x86_add_reg(b, &d, regs.val[k]);
    x86_add_int(b, &d, IR_I8, (uint64_t)imm);
    return x86_build(b, &d);
}

/* ------------------------------------------------------------------------------------ addresses */

typedef struct {
    ir_inst *base, *index;
    unsigned scale;
    int64_t disp;
} address;

static bool add_disp(address *a, int64_t by, unsigned scale) {
    int64_t sum;
    if (by != (int32_t)by || __builtin_add_overflow(a->disp, by * (1 << scale), &sum)) return false;
    if (sum != (int32_t)sum) return false;
    a->disp = sum;
    return true;
}

/* Takes constants and a factor off the index, as far as an address can hold them. */
static void peel_index(address *a) {
    for (unsigned step = 0; step < ADDRESS_STEPS; step++) {
        ir_inst *x = a->index;
        int64_t n;
        if (x->nargs != 2 || !x86_is_imm32(ir_arg(x, 1), &n)) return;
        if (x->op == IR_OP_add) {
            if (!add_disp(a, n, a->scale)) return;
        } else if (x->op == IR_OP_shl && n >= 0 && a->scale + (uint64_t)n <= 3) {
            a->scale += (unsigned)n;
        } else {
            return;
        }
        a->index = x86_strip(ir_arg(x, 0));
    }
}

/* Is it worth to do the addition p in each access instead of once? */
static bool may_take_in(const ir_inst *user, const ir_inst *p) {
    return p->block == user->block || (p->uses && !p->uses->next);
}

/* A constant that is too large for a displacement is an index only of the addition itself. */
static bool take_offset(address *a, const ir_inst *user, ir_inst *p) {
    ir_inst *offset = x86_strip(ir_arg(p, 1));
    int64_t n;
    if (x86_is_imm32(offset, &n)) return add_disp(a, n, 0);
    if (a->index || (ir_is_leaf(offset) && user != p) || !may_take_in(user, p)) return false;
    a->index = offset;
    a->scale = 0;
    peel_index(a);
    return true;
}

static address find_address(const ir_inst *user, ir_inst *p, unsigned disp) {
    address a = {.base = x86_strip(p), .disp = disp};
    for (unsigned step = 0; step < ADDRESS_STEPS && a.base->op == IR_OP_ptradd; step++) {
        if (!take_offset(&a, user, a.base)) break;
        a.base = x86_strip(ir_arg(a.base, 0));
    }
    return a;
}

/* Does the base need no register?  That is so for a variable of the frame, whose place is added to
 * the displacement later, and for a global without an index, since rip-relative addresses have
 * none. */
static bool is_place(const address *a) {
    if (a->base->op == IR_OP_alloca) return a->disp <= INT32_MAX - X86_MAX_FRAME;
    return a->base->op == IR_OP_address && !a->index;
}

/* The memory so many bytes after address p. */
static void add_memory_after(ir_builder *b, x86_draft *d, const ir_inst *user, ir_inst *p,
                             unsigned bytes) {
    address a = find_address(user, p, bytes);
    d->arg[d->n++] = is_place(&a) ? a.base : cg_in_register(b, a.base);
    d->memory = true;
    d->disp = (int32_t)a.disp;
    if (!a.index) return;
    d->arg[d->n++] = cg_in_register(b, a.index);
    d->index = true;
    d->scale = a.scale;
}

void x86_add_memory(ir_builder *b, x86_draft *d, const ir_inst *user, ir_inst *p) {
    add_memory_after(b, d, user, p, 0);
}

x86_lanes x86_find_lanes(ir_inst *offsets) {
    x86_lanes l = {.index = offsets};
    if (ir_kind_of(offsets->type) != IR_I64) return l;
    address a = {.disp = 0};
    for (unsigned step = 0; step < ADDRESS_STEPS && l.index->nargs == 2; step++) {
        const ir_inst *c = ir_arg(l.index, 1);
        uint64_t n;
        if (!ir_is_const(c) || !ir_is_splat(c, &n)) break;
        bool shift = l.index->op == IR_OP_shl && n + l.scale <= 3;
        if (!shift && (l.index->op != IR_OP_add || !add_disp(&a, (int64_t)n, l.scale))) break;
        if (shift) l.scale += (unsigned)n;
        l.index = ir_arg(l.index, 0);
    }
    l.disp = (int32_t)a.disp;
    bool narrow = l.index->op == IR_OP_sext && ir_kind_of(ir_arg(l.index, 0)->type) == IR_I32;
    if (narrow) l.index = ir_arg(l.index, 0);
    return l;
}

void x86_add_lanes_memory(ir_builder *b, x86_draft *d, ir_inst *p, x86_lanes l) {
    address a = {.base = x86_strip(p), .disp = l.disp};
    int64_t n;
    while (a.base->op == IR_OP_ptradd && x86_is_imm32(x86_strip(ir_arg(a.base, 1)), &n)) {
        if (!add_disp(&a, n, 0)) break;
        a.base = x86_strip(ir_arg(a.base, 0));
    }
    d->arg[d->n++] = a.base->op == IR_OP_alloca ? a.base : cg_in_register(b, a.base);
    d->memory = d->index = true;
    d->scale = l.scale;
    d->disp = (int32_t)a.disp;
    x86_add_reg(b, d, l.index);
}

/* ---------------------------------------------------------------------------- loads in operands */

/* Bytes that the row reads when its operand is memory; 0: none can be. */
static unsigned bytes_read(x86_row row) {
    const x86_shape *shape = x86_shape_of(row);
    for (unsigned n = 0; n < shape->nargs; n++)
        if (shape->slot[n].index != X86_NONE) return shape->slot[n].bytes;
    return 0;
}

/* Does v alone use x: once, or as all lanes of a vector? */
static bool is_for(const ir_inst *v, const ir_inst *x) {
    bool once = x->uses && !x->uses->next;
    if (once || v->op != IR_OP_vec) return once && x->uses->user == v;
    foreach_use (u, x)
        if (u->user != v) return false;
    return x->uses != NULL;
}

/* SSE reads 16 bytes from places that are aligned to them only. */
static bool is_aligned_for(x86_row row, const ir_inst *load) {
    bool demands = x86_forms[row].encoding == X86_LEGACY && bytes_read(row) == 16;
    return !demands || load->imm.mem.align >= 4;
}

bool x86_can_read_later(const ir_inst *v, const ir_inst *x) {
    if (x->block != v->block || (x->imm.mem.flags & IR_MEM_VOLATILE)) return false;
    return x->mark && x->mark == v->mark;
}

void x86_number_writes(ir_func *f) {
    foreach_block (b, f) {
        uint32_t n = 1;
        foreach_inst (i, b) {
            i->mark = n;
            n += ir_has_flag(i, F_WRITES);
        }
    }
}

/* Where memory has an operand. */
typedef struct {
    ir_inst *load; /* NULL: nowhere */
    unsigned offset;
} place;

static place read_at(const ir_inst *v, ir_inst *x, unsigned offset) {
    bool readable = x->op == IR_OP_load && !ir_is_bool(x->type) && x86_can_read_later(v, x);
    return readable ? (place){x, offset} : (place){0};
}

/* Lane n of x. */
static place find_lane(const ir_inst *v, ir_inst *x, uint64_t n) {
    bool exists = n < ir_lanes(x->type);
    return exists ? read_at(v, x, (unsigned)n * x86_lane_bytes(x->type)) : (place){0};
}

/* The place of x, an operand of `user`, if v can read it from there: x is loaded, for `user` alone,
 * or it is a lane of a vector that is loaded. */
static place find_place(const ir_inst *v, const ir_inst *user, ir_inst *x) {
    if (!is_for(user, x)) return (place){0};
    if (x->op != IR_OP_extract || !ir_is_const(ir_arg(x, 1))) return read_at(v, x, 0);
    return find_lane(v, ir_arg(x, 0), ir_arg(x, 1)->imm.bits);
}

/* The place of what is in all lanes of x, v itself or an operand of it. */
static place find_splat(const ir_inst *v, const ir_inst *x) {
    bool shuffles = x->op == IR_OP_shuffle;
    if (!shuffles && x->op != IR_OP_vec) return (place){0};
    for (unsigned k = 1; k < ir_lanes(x->type); k++)
        if (shuffles ? x->imm.mask[k] != x->imm.mask[0] : ir_arg(x, k) != ir_arg(x, 0))
            return (place){0};
    if (!shuffles) return find_place(v, x, ir_arg(x, 0));
    unsigned n = ir_lanes(ir_arg(x, 0)->type), lane = x->imm.mask[0];
    return find_lane(v, ir_arg(x, lane >= n), lane >= n ? lane - n : lane);
}

bool x86_add_splat(ir_builder *b, x86_draft *d, const ir_inst *v) {
    place p = find_splat(v, v);
    if (p.load) add_memory_after(b, d, p.load, ir_arg(p.load, 0), p.offset);
    return p.load != NULL;
}

/* The row of the same instruction that may read one element for all lanes of x. */
static x86_row broadcasting_row(x86_row row, const ir_inst *x) {
    unsigned evex = x86_forms[row].encoding == X86_VEX ? x86_forms[row].upper : row;
    bool fits = evex != X86_ROWS && x86_forms[evex].broadcast == x86_lane_bytes(x->type) &&
                bytes_read((x86_row)evex) == x86_bytes_of(x->type);
    return fits ? (x86_row)evex : X86_ROWS;
}

/* The place of the element that is in all lanes of x, if the row has a form that reads it at v. */
static place find_element(const ir_builder *b, x86_row row, const ir_inst *v, ir_inst *x) {
    if (!ir_is_vector(x->type) || !x86_has(b, X86_V4) || !is_for(v, x)) return (place){0};
    return broadcasting_row(row, x) != X86_ROWS ? find_splat(v, x) : (place){0};
}

bool x86_is_foldable(const ir_builder *b, x86_row row, const ir_inst *v, ir_inst *x) {
    unsigned bytes = bytes_read(row);
    bool far = ir_is_float(x->type) || ir_is_vector(x->type);
    if (ir_is_const(x) && far) return bytes == ir_access_size(NULL, x->type);
    if (find_element(b, row, v, x).load) return true;
    if (bytes != ir_access_size(b->f->module, x->type)) return false;
    place p = find_place(v, v, x);
    return p.load && is_aligned_for(row, p.load);
}

void x86_add_rm(ir_builder *b, x86_draft *d, const ir_inst *v, ir_inst *x) {
    place element = find_element(b, d->row, v, x), p = element;
    if (element.load) {
        d->row = broadcasting_row(d->row, x);
        d->broadcast = true;
    } else if (!x86_is_foldable(b, d->row, v, x)) {
        x86_add_reg(b, d, x);
        return;
    } else if (ir_is_const(x)) {
        d->memory = true;
        d->arg[d->n++] = x;
        return;
    } else {
        p = find_place(v, v, x);
    }
    add_memory_after(b, d, p.load, ir_arg(p.load, 0), p.offset);
}
