/* print.c — an instruction as text, as GNU objdump prints it in Intel syntax.
 *
 * The rows hold the mnemonics of objdump, so that little is left: comparisons whose immediate is a
 * part of the mnemonic (cmpltps), sizes of memory, and the decorations of EVEX.
 */
#include "codegen/x86_64/encode.h"

/* ------------------------------------------------------------------------------------ registers */

static void put_legacy_register(ir_text *out, x86_kind kind, unsigned number) {
    static const char names[8][3] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    static const char low[8][4] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"};
    if (kind == X86_R8)
        ir_put(out, low[number]);
    else
        ir_putf(out, "%s%s", kind == X86_R64 ? "r" : kind == X86_R32 ? "e" : "", names[number]);
}

static void put_register(ir_text *out, x86_kind kind, unsigned number) {
    static const char *const classes[] = {
        [X86_R8] = "b",    [X86_R16] = "w",   [X86_R32] = "d",   [X86_R64] = "",
        [X86_XMM] = "xmm", [X86_YMM] = "ymm", [X86_ZMM] = "zmm", [X86_K] = "k",
    };
    if (kind >= X86_XMM)
        ir_putf(out, "%s%u", classes[kind], number);
    else if (number < 8)
        put_legacy_register(out, kind, number);
    else
        ir_putf(out, "r%u%s", number, classes[kind]);
}

/* --------------------------------------------------------------------------------------- memory */

static const char *size_word(unsigned bytes) {
    switch (bytes) {
    case 1: return "BYTE";
    case 2: return "WORD";
    case 4: return "DWORD";
    case 8: return "QWORD";
    case 16: return "XMMWORD";
    case 32: return "YMMWORD";
    default: return "ZMMWORD";
    }
}

/* rbp and r13 always have a displacement; from rip it is 64 bits wide. */
static void put_disp(ir_text *out, const x86_operand *m) {
    bool based = m->reg != X86_NO_REG, negative = m->disp < 0 && m->reg != X86_RIP;
    bool needed = !based || m->reg == X86_RIP || (m->reg & 7) == 5;
    if (!m->disp && !needed) return;
    int64_t size = negative ? -(int64_t)m->disp : m->disp;
    ir_putf(out, "%c0x%llx", negative ? '-' : '+', (unsigned long long)size);
}

/* A label, and what follows it. */
static void put_place(ir_text *out, const x86_operand *m) {
    ir_putf(out, "[rip+.L%u", (unsigned)m->value);
    if (m->disp) ir_putf(out, "%+d", m->disp);
    ir_put(out, "]");
}

static void put_address(ir_text *out, const x86_slot *s, const x86_operand *m) {
    bool based = m->reg != X86_NO_REG, indexed = m->index != X86_NO_REG;
    if (!based && !indexed) {
        ir_putf(out, "ds:0x%llx", (unsigned long long)(int64_t)m->disp);
        return;
    }
    ir_put(out, "[");
    if (m->reg == X86_RIP)
        ir_put(out, "rip");
    else if (based)
        put_register(out, X86_R64, m->reg);
    if (based && indexed) ir_put(out, "+");
    if (indexed) {
        put_register(out, s->index, m->index);
        ir_putf(out, "*%u", 1u << m->scale);
    }
    put_disp(out, m);
    ir_put(out, "]");
}

/* Do the forms differ in memory only, so that their registers do not tell how long vectors are? */
static bool differs_in_memory(const x86_form *a, const x86_form *b) {
    const x86_shape *x = &x86_shapes[a->shape], *y = &x86_shapes[b->shape];
    if (a->mnemonic != b->mnemonic || x->nargs != y->nargs || !b->broadcast) return false;
    for (unsigned i = 0; i < x->nargs; i++)
        if (x->slot[i].place != X86_IN_RM && x->slot[i].kind != y->slot[i].kind) return false;
    return true;
}

/* Forms of one mnemonic are together, in the order of their lengths. */
static bool is_ambiguous(const x86_form *f) {
    return differs_in_memory(f, f - 1) || differs_in_memory(f, f + 1);
}

/* Listings have the words of objdump; assemblers do not agree on those, nor on the size of what is
 * gathered, but all take these. */
static void put_size(ir_text *out, const x86_form *f, const x86_operands *o, const x86_slot *s,
                     bool assembly) {
    bool gathers = s->index != X86_R64 && s->index != X86_NONE;
    if (o->broadcast)
        ir_putf(out, "%s %s ", size_word(f->broadcast), assembly ? "PTR" : "BCST");
    else if (s->bytes != X86_ADDRESS && !(gathers && assembly))
        ir_putf(out, "%s PTR ", size_word(s->bytes));
}

static void print_memory(ir_text *out, const x86_form *f, const x86_operands *o, unsigned i,
                         uint64_t target) {
    const x86_slot *s = &x86_shapes[f->shape].slot[i];
    const x86_operand *m = &o->arg[i];
    bool assembly = target == X86_BY_LABEL;
    put_size(out, f, o, s, assembly);
    if (assembly && m->reg == X86_RIP)
        put_place(out, m);
    else
        put_address(out, s, m);
    if (o->broadcast && (assembly || is_ambiguous(f)))
        ir_putf(out, "{1to%u}", s->bytes / f->broadcast);
}

/* ------------------------------------------------------------------------------------- operands */

static unsigned operand_bytes(x86_kind kind, unsigned memory) {
    switch (kind) {
    case X86_R8: return 1;
    case X86_R16: return 2;
    case X86_R32: return 4;
    case X86_R64: return 8;
    default: return memory;
    }
}

static void print_imm(ir_text *out, const x86_shape *shape, const x86_slot *s, int64_t value) {
    const x86_slot *first = shape->slot;
    unsigned bytes = s->place == X86_IN_IMM ? s->bytes : 8;
    if (s->place == X86_IN_SIMM && first != s) bytes = operand_bytes(first->kind, first->bytes);
    uint64_t bits = (uint64_t)value << (64 - 8 * bytes) >> (64 - 8 * bytes);
    if (s->place == X86_IN_NOTHING)
        ir_putf(out, "%u", s->fixed);
    else
        ir_putf(out, "0x%llx", (unsigned long long)bits);
}

static void print_operand(ir_text *out, const x86_form *f, const x86_operands *o, unsigned i,
                          uint64_t target) {
    const x86_shape *shape = &x86_shapes[f->shape];
    const x86_slot *s = &shape->slot[i];
    const x86_operand *a = &o->arg[i];
    if (a->kind == X86_MEM)
        print_memory(out, f, o, i, target);
    else if (a->kind == X86_IMM)
        print_imm(out, shape, s, a->value);
    else if (a->kind == X86_LABEL)
        ir_putf(out, "0x%llx", (unsigned long long)target);
    else
        put_register(out, a->kind, a->reg);
}

static void put_mask(ir_text *out, const x86_operands *o) {
    if (o->mask) ir_putf(out, "{k%u}", o->mask);
    if (o->zero) ir_put(out, "{z}");
}

/* After the last register or memory. */
static void put_rounding(ir_text *out, const x86_operands *o) {
    static const char *const words[] = {"", "rn-sae", "rd-sae", "ru-sae", "rz-sae", "sae"};
    if (o->round) ir_putf(out, "{%s}", words[o->round]);
}

/* ------------------------------------------------------------------------------------- mnemonic */

static const char *const float_predicates[32] = {
    "eq",    "lt",     "le",     "unord",    "neq",    "nlt",    "nle",    "ord",
    "eq_uq", "nge",    "ngt",    "false",    "neq_oq", "ge",     "gt",     "true",
    "eq_os", "lt_oq",  "le_oq",  "unord_s",  "neq_us", "nlt_uq", "nle_uq", "ord_s",
    "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us"};
static const char *const int_predicates[8] = {"eq", "lt", "le", NULL, "neq", "nlt", "nle", NULL};

/* A comparison by immediate: the name of its predicate, which goes after the first `stem` letters
 * of the mnemonic; NULL: the immediate stays an operand. */
static const char *predicate(const x86_form *f, const x86_operands *o, size_t *stem) {
    const char *name = x86_mnemonics[f->mnemonic];
    const x86_shape *shape = &x86_shapes[f->shape];
    bool vex = f->encoding != X86_LEGACY;
    if (!shape->nargs || shape->slot[shape->nargs - 1].place != X86_IN_IMM) return NULL;
    uint64_t imm = (uint64_t)o->arg[shape->nargs - 1].value & 0xff;
    *stem = vex ? 4 : 3;
    if (strncmp(name, vex ? "vcmp" : "cmp", *stem) == 0 && f->map == 1)
        return imm < (vex ? 32 : 8) ? float_predicates[imm] : NULL;
    *stem = 5;
    return strncmp(name, "vpcmp", 5) == 0 && imm < 8 ? int_predicates[imm] : NULL;
}

void x86_print(ir_text *out, x86_row row, const x86_operands *o, uint64_t target) {
    const x86_form *f = &x86_forms[row];
    const char *name = x86_mnemonics[f->mnemonic];
    const x86_shape *shape = &x86_shapes[f->shape];
    size_t stem = 0;
    const char *compares = predicate(f, o, &stem);
    if (o->lock) ir_put(out, "lock ");
    if (compares)
        ir_putf(out, "%.*s%s%s", (int)stem, name, compares, name + stem);
    else
        ir_put(out, name);
    unsigned n = compares ? shape->nargs - 1u : shape->nargs;
    for (unsigned i = 0; i < n; i++) {
        ir_put(out, i ? "," : " ");
        print_operand(out, f, o, i, target);
        if (i == 0) put_mask(out, o);
        bool last = i + 1 == shape->nargs || shape->slot[i + 1].kind == X86_IMM;
        if (last && o->arg[i].kind != X86_IMM) put_rounding(out, o);
    }
}
