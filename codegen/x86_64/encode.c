/* encode.c — one instruction to bytes.
 *
 * First the operands are looked at one by one, as the shape of the row says: each is checked and
 * goes to its field (ModRM.reg, ModRM.rm, VEX.vvvv, the opcode, the immediate).  Then the bytes are
 * put in the order of the manual: prefixes, opcode, ModRM, SIB, displacement, immediate.
 *
 * The corners of ModRM (volume 2, tables 2-2 and 2-3): rm 4 means that a SIB byte follows, so rsp
 * and r12 as base need one; rm 5 without displacement means rip, so rbp and r13 need one;
 * SIB.index 4 means none, so rsp is no index, but r12 is; no base means four bytes of displacement.
 *
 * EVEX counts displacements of one byte in units of the memory operand (disp8*N).
 */
#include "codegen/x86_64/encode.h"

enum { LEGACY_REGS = 16, EVEX_REGS = 32, SIB = 4, DISP_ONLY = 5 };

typedef struct {
    const x86_form *form;
    const x86_operands *in;
    uint8_t *out;          /* the next byte */
    const x86_operand *rm; /* the operand in ModRM.rm, or NULL */
    uint64_t imm;
    unsigned reg, vvvv, opreg; /* numbers of registers */
    unsigned unit;             /* of a displacement of one byte */
    uint8_t imm_bytes;
    uint8_t rm_arg;
    bool rex; /* spl to dil: REX even when it is empty */
} encoder;

/* ----------------------------------------------------------------------------- operands: checks */

static bool fits_signed(int64_t v, unsigned bytes) {
    unsigned free_bits = 64 - 8 * bytes;
    return (int64_t)((uint64_t)v << free_bits) >> free_bits == v;
}

static bool fits_imm(const x86_slot *s, int64_t v) {
    if (s->place == X86_IN_NOTHING) return v == s->fixed;
    return fits_signed(v, s->bytes) || (s->place == X86_IN_IMM && !((uint64_t)v >> 8 * s->bytes));
}

static unsigned register_count(const x86_form *f, x86_kind kind) {
    if (kind == X86_K) return 8;
    return f->encoding == X86_EVEX && kind >= X86_XMM ? EVEX_REGS : LEGACY_REGS;
}

static bool fits_register(const encoder *e, const x86_slot *s, unsigned number) {
    if (s->place == X86_IN_NOTHING) return number == s->fixed;
    return number < register_count(e->form, s->kind);
}

static bool fits_memory(const encoder *e, const x86_slot *s, const x86_operand *o) {
    bool vector = s->index != X86_R64, indexed = o->index != X86_NO_REG;
    if (s->index == X86_NONE || (vector && !indexed)) return false;
    if (o->scale > 3 || (o->scale && !indexed)) return false;
    if (o->reg == X86_RIP) return !indexed;
    if (o->value != X86_NO_LABEL || (o->reg != X86_NO_REG && o->reg >= LEGACY_REGS)) return false;
    if (!indexed) return true;
    return o->index < register_count(e->form, s->index) && (vector || o->index != SIB);
}

static bool fits(const encoder *e, const x86_slot *s, const x86_operand *o) {
    if (o->kind == X86_MEM) return fits_memory(e, s, o);
    if (o->kind != s->kind || o->kind == X86_NONE) return false;
    if (o->kind == X86_IMM) return fits_imm(s, o->value);
    return o->kind == X86_LABEL || fits_register(e, s, o->reg);
}

/* Masks, broadcast, rounding and lock. */
static bool fits_decorations(const encoder *e) {
    const x86_form *f = e->form;
    const x86_operands *o = e->in;
    bool memory = e->rm && e->rm->kind == X86_MEM;
    if (!o->mask && (o->zero || f->flags & X86_MASK_NEEDED)) return false;
    if (o->mask && (o->mask > 7 || !(f->flags & X86_MASKED))) return false;
    if (o->zero && (!(f->flags & X86_ZEROED) || o->arg[0].kind == X86_MEM)) return false;
    if (o->broadcast && !(memory && f->broadcast)) return false;
    if (o->lock && !(memory && f->flags & X86_LOCKED)) return false;
    if (o->round == X86_NOT_ROUNDED) return true;
    return !memory && o->round <= X86_SAE && f->rounding != X86_ROUNDS_NOT &&
           (f->rounding == X86_ROUNDS_SAE) == (o->round == X86_SAE);
}

/* A gather faults when its result is also its index or its mask. */
static bool fits_gather(const encoder *e, const x86_shape *shape) {
    const x86_slot *result = &shape->slot[0];
    bool gathers = result->place == X86_IN_REG && shape->slot[1].index > X86_R64;
    if (!gathers) return true;
    if (e->reg == e->rm->index) return false;
    return e->form->encoding == X86_EVEX || (e->vvvv != e->reg && e->vvvv != e->rm->index);
}

/* ----------------------------------------------------------------------------- operands: places */

static void put_imm(encoder *e, uint64_t value, unsigned bytes) {
    e->imm = value;
    e->imm_bytes = (uint8_t)bytes;
}

static void place_operand(encoder *e, const x86_slot *s, unsigned arg) {
    const x86_operand *o = &e->in->arg[arg];
    switch ((x86_place)s->place) {
    case X86_IN_NOTHING: break;
    case X86_IN_REG: e->reg = o->reg; break;
    case X86_IN_RM:
        e->rm = o;
        e->rm_arg = (uint8_t)arg;
        break;
    case X86_IN_VVVV: e->vvvv = o->reg; break;
    case X86_IN_OPCODE: e->opreg = o->reg; break;
    case X86_IN_IS4: put_imm(e, (uint64_t)o->reg << 4, 1); break;
    case X86_IN_DISP: put_imm(e, 0, s->bytes); break;
    case X86_IN_IMM:
    case X86_IN_SIMM: put_imm(e, (uint64_t)o->value, s->bytes); break;
    }
    e->rex |= o->kind == X86_R8 && o->reg >= 4 && o->reg <= 7;
}

/* False: the operands do not fit the row. */
static bool place_operands(encoder *e) {
    const x86_shape *shape = &x86_shapes[e->form->shape];
    bool too_many = shape->nargs < X86_MAX_ARGS && e->in->arg[shape->nargs].kind != X86_NONE;
    if (too_many) return false;
    if (e->form->flags & X86_DIGIT) e->reg = e->form->modrm;
    for (unsigned i = 0; i < shape->nargs; i++) {
        if (!fits(e, &shape->slot[i], &e->in->arg[i])) return false;
        place_operand(e, &shape->slot[i], i);
    }
    e->unit = e->in->broadcast ? e->form->broadcast : e->form->unit;
    return fits_decorations(e) && fits_gather(e, shape);
}

/* ------------------------------------------------------------------------------------- prefixes */

static void put_byte(encoder *e, unsigned byte) { *e->out++ = (uint8_t)byte; }

static void put_number(encoder *e, uint64_t value, unsigned bytes) {
    for (; bytes; bytes--, value >>= 8) put_byte(e, value & 0xff);
}

static unsigned bit(unsigned number, unsigned n) { return number >> n & 1; }

static bool has_base(const x86_operand *m) { return m->reg != X86_RIP && m->reg != X86_NO_REG; }

/* What extends ModRM.rm and SIB.base, or the register in the opcode. */
static unsigned extension_b(const encoder *e) {
    if (!e->rm) return bit(e->opreg, 3);
    return e->rm->kind != X86_MEM || has_base(e->rm) ? bit(e->rm->reg, 3) : 0;
}

static unsigned index_of(const encoder *e) {
    bool indexed = e->rm && e->rm->kind == X86_MEM && e->rm->index != X86_NO_REG;
    return indexed ? e->rm->index : 0;
}

static void put_legacy(encoder *e) {
    static const uint8_t prefixes[] = {0, 0x66, 0xf3, 0xf2};
    static const uint8_t maps[] = {0, 0, 0x38, 0x3a};
    const x86_form *f = e->form;
    if (e->in->lock) put_byte(e, 0xf0);
    if (f->flags & X86_SIZE16) put_byte(e, 0x66);
    if (f->prefix) put_byte(e, prefixes[f->prefix]);
    unsigned rex =
        (unsigned)f->w << 3 | bit(e->reg, 3) << 2 | bit(index_of(e), 3) << 1 | extension_b(e);
    if (rex || e->rex) put_byte(e, 0x40 | rex);
    if (f->map) put_byte(e, 0x0f);
    if (f->map > 1) put_byte(e, maps[f->map]);
}

/* VEX and EVEX hold the bits of registers inverted. */
static void put_vex(encoder *e) {
    const x86_form *f = e->form;
    unsigned r = bit(e->reg, 3), x = bit(index_of(e), 3), b = extension_b(e);
    unsigned last = (~e->vvvv & 15) << 3 | (unsigned)f->l << 2 | f->prefix;
    bool two = !x && !b && !f->w && f->map == 1;
    put_byte(e, two ? 0xc5 : 0xc4);
    if (!two) put_byte(e, (r << 7 | x << 6 | b << 5) ^ 0xe0u ^ f->map);
    put_byte(e, two ? (r << 7 ^ 0x80) | last : (unsigned)f->w << 7 | last);
}

/* The field L'L: the length of vectors, or the rounding. */
static unsigned length_bits(const encoder *e) {
    bool rounded = e->in->round != X86_NOT_ROUNDED && e->in->round != X86_SAE;
    return rounded ? (unsigned)e->in->round - X86_RN : e->form->l;
}

static void put_evex(encoder *e) {
    const x86_form *f = e->form;
    const x86_operands *o = e->in;
    bool memory = e->rm->kind == X86_MEM;
    unsigned x = memory ? bit(index_of(e), 3) : bit(e->rm->reg, 4);
    unsigned v4 = bit(e->vvvv, 4) | bit(index_of(e), 4); /* an index of vectors takes vvvv's bit */
    unsigned b = o->broadcast || o->round != X86_NOT_ROUNDED;
    unsigned registers = bit(e->reg, 3) << 7 | x << 6 | extension_b(e) << 5 | bit(e->reg, 4) << 4;
    put_byte(e, 0x62);
    put_byte(e, registers ^ 0xf0u ^ f->map);
    put_byte(e, (unsigned)f->w << 7 | (~e->vvvv & 15) << 3 | 4 | f->prefix);
    put_byte(e, (unsigned)o->zero << 7 | length_bits(e) << 5 | b << 4 | (v4 ^ 1) << 3 | o->mask);
}

static void put_prefixes(encoder *e) {
    switch ((x86_encoding)e->form->encoding) {
    case X86_LEGACY: put_legacy(e); break;
    case X86_VEX: put_vex(e); break;
    case X86_EVEX: put_evex(e); break;
    }
}

/* ----------------------------------------------------------------------- ModRM and what follows */

static unsigned modrm(unsigned mod, unsigned reg, unsigned rm) {
    return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

/* Can the displacement be one byte, of the operand's unit? */
static bool is_short_disp(const encoder *e, int32_t disp) {
    int32_t unit = (int32_t)e->unit;
    return disp % unit == 0 && disp / unit >= INT8_MIN && disp / unit <= INT8_MAX;
}

/* Bytes of displacement after a base: 0, 1 or 4. */
static unsigned disp_bytes(const encoder *e, const x86_operand *m) {
    if (!m->disp && (m->reg & 7) != DISP_ONLY) return 0;
    return is_short_disp(e, m->disp) ? 1 : 4;
}

static void put_sib(encoder *e, const x86_operand *m, unsigned base) {
    unsigned index = m->index == X86_NO_REG ? SIB : m->index;
    put_byte(e, modrm(m->scale, index, base));
}

static void put_based(encoder *e, const x86_operand *m) {
    unsigned bytes = disp_bytes(e, m), mod = bytes == 4 ? 2 : bytes;
    bool sib = m->index != X86_NO_REG || (m->reg & 7) == SIB;
    put_byte(e, modrm(mod, e->reg, sib ? SIB : m->reg));
    if (sib) put_sib(e, m, m->reg);
    int32_t disp = bytes == 1 ? m->disp / (int32_t)e->unit : m->disp;
    put_number(e, (uint32_t)disp, bytes);
}

static void put_memory(encoder *e, const x86_operand *m, const uint8_t *start, x86_patch *patch) {
    if (has_base(m)) {
        put_based(e, m);
        return;
    }
    if (m->reg == X86_RIP) {
        put_byte(e, modrm(0, e->reg, DISP_ONLY));
        if (m->value != X86_NO_LABEL) *patch = (x86_patch){(uint8_t)(e->out - start), 0, e->rm_arg};
    } else {
        put_byte(e, modrm(0, e->reg, SIB));
        put_sib(e, m, DISP_ONLY);
    }
    put_number(e, (uint32_t)m->disp, 4);
}

static void put_operands(encoder *e, const uint8_t *start, x86_patch *patch) {
    if (!e->rm && e->form->flags & X86_MODRM) put_byte(e, e->form->modrm);
    if (e->rm && e->rm->kind == X86_MEM)
        put_memory(e, e->rm, start, patch);
    else if (e->rm)
        put_byte(e, modrm(3, e->reg, e->rm->reg));
    if (x86_shapes[e->form->shape].slot[0].place == X86_IN_DISP)
        *patch = (x86_patch){(uint8_t)(e->out - start), 0, 0};
    put_number(e, e->imm, e->imm_bytes);
}

static unsigned put_form(uint8_t *out, const x86_form *f, const x86_operands *o, x86_patch *patch) {
    encoder e = {.form = f, .in = o, .out = out};
    if (!place_operands(&e)) return 0;
    *patch = (x86_patch){.arg = X86_MAX_ARGS};
    put_prefixes(&e);
    put_byte(&e, f->opcode | (e.opreg & 7));
    put_operands(&e, out, patch);
    patch->length = (uint8_t)(e.out - out);
    return patch->length;
}

/* --------------------------------------------------------------------------- EVEX or VEX, entry */

/* Could one byte of displacement, in units, make EVEX shorter than VEX? */
static bool may_compress(const x86_form *f, const x86_operands *o) {
    for (unsigned i = 0; i < x86_shapes[f->shape].nargs; i++)
        if (o->arg[i].kind == X86_MEM && (o->arg[i].disp < INT8_MIN || o->arg[i].disp > INT8_MAX))
            return true;
    return false;
}

unsigned x86_put(uint8_t *out, x86_row row, const x86_operands *o, x86_patch *patch) {
    const x86_form *f = &x86_forms[row];
    bool plain = !o->mask && !o->broadcast && !o->round;
    if (f->encoding != X86_EVEX || f->shorter == X86_ROWS || !plain)
        return put_form(out, f, o, patch);
    const x86_form *vex = &x86_forms[f->shorter];
    unsigned n = put_form(out, vex, o, patch);
    if (n && !may_compress(f, o)) return n;
    uint8_t other[X86_MAX_BYTES];
    x86_patch other_patch;
    unsigned m = put_form(other, f, o, &other_patch);
    if (n && n <= m) return n;
    memcpy(out, other, m);
    *patch = other_patch;
    return m;
}

unsigned x86_length(x86_row row, const x86_operands *o) {
    uint8_t bytes[X86_MAX_BYTES];
    x86_patch patch;
    return x86_put(bytes, row, o, &patch);
}

x86_row x86_row_for(x86_row row, const x86_operands *o) {
    bool above = false;
    for (const x86_operand *a = o->arg; a < o->arg + x86_shape_of(row)->nargs; a++)
        above |= a->kind >= X86_XMM && a->kind <= X86_ZMM && a->reg >= LEGACY_REGS;
    return above && x86_forms[row].upper != X86_ROWS ? (x86_row)x86_forms[row].upper : row;
}
