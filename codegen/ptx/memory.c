/* memory.c — addresses, variables, loads, stores, copies and fills.
 *
 * Lanes that lie one after the other are accessed by one instruction, up to 16 bytes if the address
 * is known to be a multiple of as much.  Elements that are aligned to less than their size are
 * accessed in pieces.  What no work-item writes while the kernel runs is read past the coherent
 * cache (.nc): constant memory, and parameters that are neither written nor reached otherwise.
 */
#include "codegen/ptx/ptx.h"

/* ------------------------------------------------------------------------------------ addresses */

const char *ptx_space_name(const ptx_func *fn, ir_space s) {
    (void)fn;
    switch (s) {
    case IR_PRIVATE: return ".local";
    case IR_LOCAL: return ".shared";
    case IR_GLOBAL:
    case IR_CONST: return ".global";
    default: return "";
    }
}

const char *ptx_space_of(const ptx_func *fn, const ir_inst *address) {
    return fn->in_param[address->id] ? ".param" : ptx_space_name(fn, ir_space_of(address->type));
}

/* The address that v is a constant distance from. */
static const ir_inst *base_of(const ir_inst *v, int64_t *distance) {
    while (v->op == IR_OP_ptradd && ir_is_const(ir_arg(v, 1)) && !ir_is_vector(v->type)) {
        int64_t sum = ir_wrap_add(*distance, ir_signed_const(ir_arg(v, 1)));
        if (sum < INT32_MIN || sum > INT32_MAX) break;
        *distance = sum;
        v = ir_arg(v, 0);
    }
    return v;
}

const char *ptx_place(ptx_func *fn, const ir_inst *address, int64_t more) {
    const ir_inst *base = base_of(address, &more);
    ir_arena *a = fn->w->arena;
    const char *r = ptx_register(fn, base, 0);
    return more ? ir_sprintf(a, "[%s+%lld]", r, (long long)more) : ir_sprintf(a, "[%s]", r);
}

static void write_ptradd(ptx_func *fn, const ir_inst *i) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        const char *bytes = ptx_operand(fn, ir_arg(i, 1), lane);
        const char *base = ptx_register(fn, ir_arg(i, 0), lane);
        ptx_put(fn, "add.s64 %s, %s, %s", ptx_result(fn, i, lane), base, bytes);
    }
}

static void write_variable(ptx_func *fn, const ir_inst *i) {
    const ir_var *v = i->imm.var;
    uint64_t size = ir_sizeof(fn->w->m, v->type);
    const char *name = ir_sprintf(fn->w->arena, "$v%u", i->id);
    ir_putf(&fn->variables, "\t.local .align %u .b8 %s[%llu];\n", v->align ? v->align : 1, name,
            (unsigned long long)(size ? size : 1));
    ptx_put(fn, "mov.u64 %s, %s", ptx_result(fn, i, 0), name);
}

/* --------------------------------------------------------------------------------------- access */

typedef struct {
    ptx_func *fn;
    const ir_inst *address;
    const char *how; /* ".volatile.global", ".global.nc" … */
    ir_type element;
    unsigned size;  /* of an element, bytes */
    unsigned align; /* of the address */
} access;

enum { MOST_LOOPS = 4, MOST_PREDECESSORS = 4 }; /* that are followed */

/* The parameter or other value that an address is made from. */
const ir_inst *ptx_origin(const ir_inst *address) {
    while (address->op == IR_OP_ptradd) address = ir_arg(address, 0);
    return address;
}

/* Where a pointer that steps through a loop begins; any other value is returned as it is. */
static const ir_inst *first_of(const ir_inst *phi) {
    const ir_inst *first = NULL;
    if (phi->op != IR_OP_phi || phi->nargs > MOST_PREDECESSORS) return phi;
    for (unsigned n = 0; n < phi->nargs; n++) {
        const ir_inst *from = ptx_origin(ir_arg(phi, n));
        if (from == phi) continue;
        if (first && first != from) return phi;
        first = from;
    }
    return first ? first : phi;
}

/* A parameter in constant memory may lead to what another one writes in a fused kernel.  What other
 * kernels may write when this one has begun is not constant. */
static bool is_constant_memory(const ptx_func *fn, const ir_inst *address) {
    if (fn->w->options->dependent) return false;
    const ir_inst *origin = ptx_origin(address);
    for (unsigned n = 0; n < MOST_LOOPS; n++) origin = first_of(origin);
    if (origin->op != IR_OP_param || !(fn->f->flags & IR_FUNC_KERNEL)) return false;
    ir_space space = ir_space_of(origin->type);
    uint32_t attrs = fn->f->param[origin->imm.index].attrs;
    bool is_read = space == IR_CONST || (space == IR_GLOBAL && attrs & IR_PARAM_READONLY);
    return is_read && attrs & IR_PARAM_NOALIAS;
}

static const char *how_to_access(const ptx_func *fn, const ir_inst *i, const ir_inst *address) {
    const char *space = ptx_space_of(fn, address);
    bool is_private = ir_space_of(address->type) == IR_PRIVATE;
    bool is_volatile = i->imm.mem.flags & IR_MEM_VOLATILE && !is_private;
    if (is_volatile) return ir_sprintf(fn->w->arena, ".volatile%s", space);
    bool constant = i->op == IR_OP_load && is_constant_memory(fn, address);
    return constant ? ir_sprintf(fn->w->arena, "%s.nc", space) : space;
}

static access access_of(ptx_func *fn, const ir_inst *i, const ir_inst *address, ir_type t) {
    ir_type element = ir_elem(t);
    unsigned size = ir_is_bool(element) ? 1 : ir_bits(fn->w->m, element) / 8;
    return (access){fn,      address, how_to_access(fn, i, address),
                    element, size,    1u << (i->imm.mem.align < 7 ? i->imm.mem.align : 7)};
}

/* "b32"; of numbers below 32 bits, which registers of 32 bits hold, "u8". */
static const char *memory_type(const access *a) {
    ptx_class c = ptx_class_of(a->fn->w->m, a->element);
    if (c == PTX_PRED || (c == PTX_B32 && a->size == 1)) return "u8";
    return c == PTX_B32 && a->size == 2 ? "u16" : ptx_class_type(c);
}

/* How many elements from number `first` of n on are one access. */
static unsigned count_together(const access *a, unsigned first, unsigned n) {
    unsigned most = 4;
    while (most > 1 &&
           (most * a->size > 16 || most * a->size > a->align || first % most || first + most > n))
        most /= 2;
    return most;
}

/* How many words elements of 8 or 16 bits from number `first` of n on are, if they are more than
 * one instruction could access as elements; 0: they are not. */
static unsigned count_words(const access *a, unsigned first, unsigned n) {
    if (a->size > 2 || ir_is_bool(a->element)) return 0;
    unsigned words = 4, each = 4 / a->size;
    while (words > 4 / each &&
           (words * 4 > a->align || first % (words * each) || first + words * each > n))
        words /= 2;
    return words > 4 / each ? words : 0;
}

/* "{%r1, %r2}", or the one register. */
static const char *list_of(const access *a, const char *const *r, unsigned n) {
    if (n == 1) return *r;
    ir_text t = {.arena = a->fn->w->arena};
    for (unsigned k = 0; k < n; k++) ir_putf(&t, "%s%s", k ? ", " : "{", r[k]);
    ir_put(&t, "}");
    return t.data;
}

static const char *width_suffix(unsigned n) { return n == 4 ? ".v4" : n == 2 ? ".v2" : ""; }

/* ---------------------------------------------------------------------------------------- loads */

/* An element in pieces, as a number of 64 bits. */
static const char *load_pieces(const access *a, unsigned lane) {
    const char *sum = NULL;
    for (unsigned at = 0; at < a->size; at += a->align) {
        const char *piece = ptx_temporary(a->fn, PTX_B64);
        ptx_put(a->fn, "ld%s.u%u %s, %s", a->how, a->align * 8, piece,
                ptx_place(a->fn, a->address, (int64_t)lane * a->size + at));
        if (at) ptx_put(a->fn, "shl.b64 %s, %s, %u", piece, piece, at * 8);
        if (sum) ptx_put(a->fn, "or.b64 %s, %s, %s", piece, piece, sum);
        sum = piece;
    }
    return sum;
}

/* A number of 64 bits as a register of any class. */
static void from_long(ptx_func *fn, ptx_class c, const char *to, const char *from) {
    const char *word;
    switch (c) {
    case PTX_B64:
    case PTX_F64: ptx_put(fn, "mov.b64 %s, %s", to, from); break;
    case PTX_B32: ptx_put(fn, "cvt.u32.u64 %s, %s", to, from); break;
    case PTX_B16: ptx_put(fn, "cvt.u16.u64 %s, %s", to, from); break;
    default:
        word = ptx_temporary(fn, PTX_B32);
        ptx_put(fn, "cvt.u32.u64 %s, %s", word, from);
        ptx_put(fn, "mov.b32 %s, %s", to, word);
        break;
    }
}

/* `n` elements from number `first` on into registers. */
static void load_together(const access *a, unsigned first, unsigned n, const char *const *to) {
    ptx_put(a->fn, "ld%s%s.%s %s, %s", a->how, width_suffix(n), memory_type(a), list_of(a, to, n),
            ptx_place(a->fn, a->address, (int64_t)first * a->size));
}

static void load_bools(const access *a, const ir_inst *i) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        const char *byte = ptx_temporary(a->fn, PTX_B32);
        load_together(a, lane, 1, &byte);
        ptx_test_bit(a->fn, ptx_result(a->fn, i, lane), byte);
    }
}

/* The elements that are a word, from number `lane` on. */
static void take_word(const access *a, const ir_inst *i, unsigned lane, const char *word) {
    if (ptx_class_of(a->fn->w->m, a->element) == PTX_B16)
        ptx_put(a->fn, "mov.b32 {%s, %s}, %s", ptx_result(a->fn, i, lane),
                ptx_result(a->fn, i, lane + 1), word);
    else
        for (unsigned k = 0; k < 4 / a->size; k++)
            ptx_put(a->fn, "bfe.u32 %s, %s, %u, %u", ptx_result(a->fn, i, lane + k), word,
                    k * 8 * a->size, 8 * a->size);
}

static void load_words(const access *a, const ir_inst *i, unsigned lane, unsigned words) {
    const char *word[4];
    for (unsigned k = 0; k < words; k++) word[k] = ptx_temporary(a->fn, PTX_B32);
    ptx_put(a->fn, "ld%s%s.b32 %s, %s", a->how, width_suffix(words), list_of(a, word, words),
            ptx_place(a->fn, a->address, (int64_t)lane * a->size));
    for (unsigned k = 0; k < words; k++) take_word(a, i, lane + k * (4 / a->size), word[k]);
}

static void write_load(ptx_func *fn, const ir_inst *i) {
    access a = access_of(fn, i, ir_arg(i, 0), i->type);
    ptx_class c = ptx_class_of(fn->w->m, a.element);
    unsigned lanes = ir_lanes(i->type), n;
    if (c == PTX_PRED) {
        load_bools(&a, i);
        return;
    }
    for (unsigned lane = 0; lane < lanes; lane += n) {
        const char *to[4];
        unsigned words = count_words(&a, lane, lanes);
        if (words) {
            load_words(&a, i, lane, words);
            n = words * 4 / a.size;
            continue;
        }
        n = count_together(&a, lane, lanes);
        for (unsigned k = 0; k < n; k++) to[k] = ptx_result(fn, i, lane + k);
        if (a.align >= a.size)
            load_together(&a, lane, n, to);
        else
            from_long(fn, c, *to, load_pieces(&a, lane));
    }
}

/* --------------------------------------------------------------------------------------- stores */

static const char *as_long(ptx_func *fn, ptx_class c, const char *from) {
    const char *r = ptx_temporary(fn, PTX_B64), *word = from;
    if (c == PTX_F32) ptx_put(fn, "mov.b32 %s, %s", word = ptx_temporary(fn, PTX_B32), from);
    if (c == PTX_B64 || c == PTX_F64)
        ptx_put(fn, "mov.b64 %s, %s", r, from);
    else
        ptx_put(fn, "cvt.u64.u%u %s, %s", c == PTX_B16 ? 16 : 32, r, word);
    return r;
}

static void store_pieces(const access *a, unsigned lane, const char *number) {
    for (unsigned at = 0; at < a->size; at += a->align) {
        const char *piece = number;
        if (at) {
            piece = ptx_temporary(a->fn, PTX_B64);
            ptx_put(a->fn, "shr.u64 %s, %s, %u", piece, number, at * 8);
        }
        ptx_put(a->fn, "st%s.u%u %s, %s", a->how, a->align * 8,
                ptx_place(a->fn, a->address, (int64_t)lane * a->size + at), piece);
    }
}

static const char *stored_register(ptx_func *fn, const ir_inst *v, unsigned lane) {
    bool is_bool = ir_is_bool(ir_elem(v->type));
    const char *r = is_bool ? ptx_extended(fn, v, lane, false) : ptx_register(fn, v, lane);
    if (!is_bool || *r == '%') return r;
    const char *moved = ptx_temporary(fn, PTX_B32);
    ptx_move(fn, PTX_B32, moved, r);
    return moved;
}

static const char *pack(ptx_func *fn, const char *low, const char *high, const char *bytes) {
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "prmt.b32 %s, %s, %s, %s", r, low, high, bytes);
    return r;
}

/* A word of the elements from number `lane` on. */
static const char *packed_word(const access *a, const ir_inst *v, unsigned lane) {
    ptx_func *fn = a->fn;
    const char *x[4];
    for (unsigned k = 0; k < 4 / a->size; k++) x[k] = stored_register(fn, v, lane + k);
    if (ptx_class_of(fn->w->m, a->element) == PTX_B16) {
        const char *r = ptx_temporary(fn, PTX_B32);
        ptx_put(fn, "mov.b32 %s, {%s, %s}", r, x[0], x[1]);
        return r;
    }
    if (a->size == 2) return pack(fn, x[0], x[1], "0x5410");
    const char *low = pack(fn, x[0], x[1], "0x40"), *high = pack(fn, x[2], x[3], "0x40");
    return pack(fn, low, high, "0x5410");
}

static void store_words(const access *a, const ir_inst *v, unsigned lane, unsigned words) {
    const char *word[4];
    for (unsigned k = 0; k < words; k++) word[k] = packed_word(a, v, lane + k * (4 / a->size));
    ptx_put(a->fn, "st%s%s.b32 %s, %s", a->how, width_suffix(words),
            ptx_place(a->fn, a->address, (int64_t)lane * a->size), list_of(a, word, words));
}

static void write_store(ptx_func *fn, const ir_inst *i) {
    const ir_inst *v = ir_arg(i, 0);
    access a = access_of(fn, i, ir_arg(i, 1), v->type);
    ptx_class c = ptx_class_of(fn->w->m, a.element);
    unsigned lanes = ir_lanes(v->type), n;
    for (unsigned lane = 0; lane < lanes; lane += n) {
        const char *from[4];
        unsigned words = count_words(&a, lane, lanes);
        if (words) {
            store_words(&a, v, lane, words);
            n = words * 4 / a.size;
            continue;
        }
        n = count_together(&a, lane, lanes);
        for (unsigned k = 0; k < n; k++) from[k] = stored_register(fn, v, lane + k);
        if (a.align < a.size) {
            store_pieces(&a, lane, as_long(fn, c, *from));
            continue;
        }
        ptx_put(fn, "st%s%s.%s %s, %s", a.how, width_suffix(n), memory_type(&a),
                ptx_place(fn, a.address, (int64_t)lane * a.size), list_of(&a, from, n));
    }
}

/* ---------------------------------------------------------------------------------- many bytes */

typedef struct {
    ptx_func *fn;
    const char *to, *from; /* registers; from NULL: a fill */
    const char *to_how, *from_how;
    const char *value; /* of a fill: a number of 64 bits, all bytes equal */
    unsigned align;
} transfer;

/* `size` bytes at a distance. */
static void transfer_piece(const transfer *t, uint64_t at, unsigned size) {
    const char *value = t->value;
    unsigned long long distance = at;
    if (t->from) {
        value = ptx_temporary(t->fn, PTX_B64);
        ptx_put(t->fn, "ld%s.u%u %s, [%s+%llu]", t->from_how, size * 8, value, t->from, distance);
    }
    ptx_put(t->fn, "st%s.u%u [%s+%llu], %s", t->to_how, size * 8, t->to, distance, value);
}

enum { MOST_UNROLLED = 32 };

static void transfer_known(const transfer *t, uint64_t size) {
    unsigned step = t->align < 8 ? t->align : 8;
    uint64_t at = 0;
    while (at < size) {
        while (at + step > size) step /= 2;
        transfer_piece(t, at, step);
        at += step;
    }
}

/* A loop over bytes, or over pieces of t->align if the size is a multiple of that. */
static void transfer_loop(transfer t, const char *size, unsigned step) {
    ptx_func *fn = t.fn;
    const char *again = ptx_new_label(fn), *end = ptx_new_label(fn);
    const char *left = ptx_temporary(fn, PTX_B64), *done = ptx_temporary(fn, PTX_PRED);
    const char *to = ptx_temporary(fn, PTX_B64), *from = ptx_temporary(fn, PTX_B64);
    ptx_move(fn, PTX_B64, left, size);
    ptx_move(fn, PTX_B64, to, t.to);
    if (t.from) ptx_move(fn, PTX_B64, from, t.from);
    t.to = to;
    if (t.from) t.from = from;
    ptx_label(fn, again);
    ptx_put(fn, "setp.eq.s64 %s, %s, 0", done, left);
    ptx_put(fn, "@%s bra %s", done, end);
    transfer_piece(&t, 0, step);
    ptx_put(fn, "add.s64 %s, %s, %u", to, to, step);
    if (t.from) ptx_put(fn, "add.s64 %s, %s, %u", from, from, step);
    ptx_put(fn, "sub.s64 %s, %s, %u", left, left, step);
    ptx_put(fn, "bra %s", again);
    ptx_label(fn, end);
}

static void write_transfer(const transfer *t, const ir_inst *size) {
    ptx_func *fn = t->fn;
    unsigned step = t->align < 8 ? t->align : 8;
    uint64_t n = ir_is_const(size) ? size->imm.bits : 0;
    if (!ir_is_const(size))
        transfer_loop(*t, ptx_register(fn, size, 0), 1);
    else if (n <= (uint64_t)MOST_UNROLLED * step)
        transfer_known(t, n);
    else
        transfer_loop(*t, ptx_register(fn, size, 0), n % step ? 1 : step);
}

static unsigned align_of(const ir_inst *i) {
    return 1u << (i->imm.mem.align < 3 ? i->imm.mem.align : 3);
}

static void write_copy(ptx_func *fn, const ir_inst *i) {
    const ir_inst *to = ir_arg(i, 0), *from = ir_arg(i, 1);
    const transfer t = {.fn = fn,
                        .to = ptx_register(fn, to, 0),
                        .from = ptx_register(fn, from, 0),
                        .to_how = ptx_space_of(fn, to),
                        .from_how = ptx_space_of(fn, from),
                        .align = align_of(i)};
    write_transfer(&t, ir_arg(i, 2));
}

static void write_fill(ptx_func *fn, const ir_inst *i) {
    const char *value = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "cvt.u64.u32 %s, %s", value, ptx_extended(fn, ir_arg(i, 1), 0, false));
    ptx_put(fn, "mul.lo.u64 %s, %s, 0x0101010101010101", value, value);
    const transfer t = {.fn = fn,
                        .to = ptx_register(fn, ir_arg(i, 0), 0),
                        .to_how = ptx_space_of(fn, ir_arg(i, 0)),
                        .value = value,
                        .align = align_of(i)};
    write_transfer(&t, ir_arg(i, 2));
}

bool ptx_write_memory(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_ptradd: write_ptradd(fn, i); return true;
    case IR_OP_alloca: write_variable(fn, i); return true;
    case IR_OP_load: write_load(fn, i); return true;
    case IR_OP_store: write_store(fn, i); return true;
    case IR_OP_copy: write_copy(fn, i); return true;
    case IR_OP_fill: write_fill(fn, i); return true;
    default: return false;
    }
}
