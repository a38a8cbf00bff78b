/* interpret.c — the template machine: fetch, decode by a table, check every field, execute. */
#include "tests/codegen/template/interpret.h"

#include "ir/ir.h"

#include <math.h>
#include <stdlib.h>

enum {
    STACK = 1 << 22,
    CLEARED = 1 << 16, /* of it, before each call */
    MOST_STEPS = 1 << 22,
    CALLER = 0x7777, /* the return address that the first function is given */
    R_LR = 13,
    R_FP,
    R_SP,
    REGISTERS = 16,
    CALL_OUTSIDE = 116,
    TRAP = 120
};

typedef struct {
    const uint8_t *from;
    uint64_t bytes;
} range;

typedef struct {
    uint64_t r[REGISTERS];
    uint64_t f[REGISTERS]; /* bits */
    uint64_t pc;
    const char *fault;
    range text, memory[3]; /* text is a part of the first one */
} machine;

typedef struct {
    unsigned op, width, d, a, b, c;
    int64_t number;
} word;

/* ---------------------------------------------------------------------------------------- decode
 *
 * By opcode: the name, and a letter for each field that is used: w (the width), d, a, b, c, # (the
 * number).  A field that is not used is 0, but a width 3. */

static const struct {
    const char *name, *fields;
} table[256] = {
    [1] = {"li", "wd#"},       [2] = {"ldc", "wd#"},      [3] = {"fldc", "wd#"},
    [4] = {"la", "d#"},        [5] = {"mov", "wda"},      [6] = {"fmov", "da"},
    [7] = {"ftor", "wda"},     [8] = {"rtof", "wda"},     [16] = {"addi", "wda#"},
    [17] = {"andi", "wda#"},   [18] = {"sext", "wda#"},   [19] = {"add", "wdab"},
    [20] = {"sub", "wdab"},    [21] = {"mul", "wdab"},    [22] = {"mulhu", "wdab"},
    [23] = {"mulhs", "wdab"},  [24] = {"divu", "wdab"},   [25] = {"divs", "wdab"},
    [26] = {"remu", "wdab"},   [27] = {"rems", "wdab"},   [28] = {"and", "wdab"},
    [29] = {"or", "wdab"},     [30] = {"xor", "wdab"},    [31] = {"shl", "wdab"},
    [32] = {"shru", "wdab"},   [33] = {"shrs", "wdab"},   [34] = {"rol", "wdab"},
    [35] = {"minu", "wdab"},   [36] = {"maxu", "wdab"},   [37] = {"mins", "wdab"},
    [38] = {"maxs", "wdab"},   [39] = {"abs", "wda"},     [40] = {"count", "wda"},
    [41] = {"eq", "wdab"},     [42] = {"ne", "wdab"},     [43] = {"ltu", "wdab"},
    [44] = {"leu", "wdab"},    [45] = {"lts", "wdab"},    [46] = {"les", "wdab"},
    [47] = {"sel", "wdabc"},   [64] = {"fadd", "wdab"},   [65] = {"fsub", "wdab"},
    [66] = {"fmul", "wdab"},   [67] = {"fdiv", "wdab"},   [68] = {"fmin", "wdab"},
    [69] = {"fmax", "wdab"},   [70] = {"fsign", "wdab"},  [71] = {"fsqrt", "wda"},
    [72] = {"fneg", "wda"},    [73] = {"fabs", "wda"},    [74] = {"rint", "wda"},
    [75] = {"floor", "wda"},   [76] = {"ceil", "wda"},    [77] = {"chop", "wda"},
    [78] = {"fcmp", "wdab#"},  [79] = {"fsel", "wdabc"},  [80] = {"itof", "wda#"},
    [81] = {"ftoi", "wda#"},   [82] = {"ftof", "wda#"},   [96] = {"ld", "wda#"},
    [97] = {"st", "wab#"},     [98] = {"fld", "wda#"},    [99] = {"fst", "wab#"},
    [100] = {"xchg", "wdab#"}, [101] = {"xadd", "wdab#"}, [102] = {"cas", "wdabc#"},
    [103] = {"fence", ""},     [112] = {"jmp", "#"},      [113] = {"bt", "a#"},
    [114] = {"bf", "a#"},      [115] = {"call", "#"},     [116] = {"callr", "a"},
    [117] = {"ret", ""},       [118] = {"push", "ab"},    [119] = {"pop", "ab"},
    [120] = {"trap", ""},
};

static bool has_run[256];

const char *template_never_run(void) {
    for (unsigned op = 0; op < 256; op++)
        if (table[op].name && !has_run[op] && op != CALL_OUTSIDE && op != TRAP)
            return table[op].name;
    return NULL;
}

static void stop(machine *m, const char *fault) {
    if (!m->fault) m->fault = fault;
}

static bool is_unused(const word *w, char field, int64_t value) {
    return value == 0 || strchr(table[w->op].fields, field);
}

static word decode(machine *m) {
    word w = {0};
    uint8_t bytes[8];
    int32_t number;
    if (m->pc % 8 || m->pc - (uintptr_t)m->text.from >= m->text.bytes) {
        stop(m, "the code is left");
        return w;
    }
    memcpy(bytes, (const uint8_t *)(uintptr_t)m->pc, sizeof bytes);
    memcpy(&number, bytes + 4, sizeof number);
    w = (word){bytes[0],      bytes[1] >> 4, bytes[1] & 15, bytes[2] & 15,
               bytes[2] >> 4, bytes[3],      number};
    bool whole = table[w.op].name && w.width < 4 && is_unused(&w, 'w', w.width - 3) &&
                 is_unused(&w, 'd', w.d) && is_unused(&w, 'a', w.a) && is_unused(&w, 'b', w.b) &&
                 w.c < REGISTERS && is_unused(&w, 'c', w.c) && is_unused(&w, '#', w.number);
    if (!whole) stop(m, "this is no instruction");
    has_run[w.op] = true;
    return w;
}

/* --------------------------------------------------------------------------------------- values */

static uint64_t low(uint64_t v, unsigned bits) {
    return bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

static int64_t with_sign(uint64_t v, unsigned bits) {
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static double float_of(uint64_t bits, unsigned width) {
    float f;
    double d;
    memcpy(&f, &(uint32_t){(uint32_t)bits}, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return width == 2 ? (double)f : d;
}

/* Rounds to the width. */
static uint64_t bits_of(double d, unsigned width) {
    float f = (float)d;
    uint32_t narrow;
    uint64_t wide;
    memcpy(&narrow, &f, sizeof narrow);
    memcpy(&wide, &d, sizeof wide);
    return width == 2 ? narrow : wide;
}

/* --------------------------------------------------------------------------------------- memory */

static void *reach(machine *m, uint64_t at, unsigned bytes) {
    for (unsigned n = 0; n < 3; n++) {
        uint64_t into = at - (uintptr_t)m->memory[n].from;
        if (into < m->memory[n].bytes && bytes <= m->memory[n].bytes - into)
            return (void *)(uintptr_t)at;
    }
    stop(m, "an access to memory that is not its own");
    return NULL;
}

static uint64_t load(machine *m, uint64_t at, unsigned width) {
    uint64_t v = 0;
    const void *from = reach(m, at, 1u << width);
    if (from) memcpy(&v, from, (size_t)1 << width);
    return v;
}

static void store(machine *m, uint64_t at, unsigned width, uint64_t v) {
    void *to = reach(m, at, 1u << width);
    if (to) memcpy(to, &v, (size_t)1 << width);
}

/* Returns what was there. */
static uint64_t update(machine *m, const word *w, uint64_t at, uint64_t a, uint64_t b) {
    unsigned bits = 8u << w->width;
    uint64_t before = load(m, at, w->width);
    if (w->op == 100) store(m, at, w->width, a);
    if (w->op == 101) store(m, at, w->width, before + a);
    if (w->op == 102 && before == low(b, bits)) store(m, at, w->width, a);
    return before;
}

/* -------------------------------------------------------------------------------------- execute */

static uint64_t divide(machine *m, unsigned op, uint64_t a, uint64_t b, unsigned bits) {
    int64_t x = with_sign(a, bits), y = with_sign(b, bits);
    bool is_signed = op == 25 || op == 27;
    if (b == 0 || (is_signed && y == -1 && x == with_sign(UINT64_C(1) << (bits - 1), bits))) {
        stop(m, "a division without a result");
        return 0;
    }
    switch (op) {
    case 24: return a / b;
    case 25: return (uint64_t)(x / y);
    case 26: return a % b;
    default: return (uint64_t)(x % y);
    }
}

/* The upper half of a product. */
static uint64_t high(uint64_t a, uint64_t b) {
    const uint64_t half = UINT32_MAX, x = (a & half) * (b & half), y = (a >> 32) * (b & half);
    const uint64_t z = (a & half) * (b >> 32), middle = (x >> 32) + (y & half) + z;
    return (a >> 32) * (b >> 32) + (y >> 32) + (middle >> 32);
}

static uint64_t rotate(uint64_t v, unsigned by, unsigned bits) {
    by %= bits;
    return by ? v << by | v >> (bits - by) : v;
}

/* Of two integers without bits above their width. */
static uint64_t compute(machine *m, const word *w, uint64_t a, uint64_t b) {
    const unsigned bits = 8u << w->width, by = (unsigned)b % bits;
    const int64_t x = with_sign(a, bits), y = with_sign(b, bits);
    switch (w->op) {
    case 19: return a + b;
    case 20: return a - b;
    case 21: return a * b;
    case 22: return high(a, b);
    case 23: return high(a, b) - (x < 0 ? b : 0) - (y < 0 ? a : 0);
    case 24:
    case 25:
    case 26:
    case 27: return divide(m, w->op, a, b, bits);
    case 28: return a & b;
    case 29: return a | b;
    case 30: return a ^ b;
    case 31: return a << by;
    case 32: return a >> by;
    case 33: return (uint64_t)(x >> by);
    case 34: return rotate(a, by, bits);
    case 35: return a < b ? a : b;
    case 36: return a > b ? a : b;
    case 37: return x < y ? a : b;
    case 38: return x > y ? a : b;
    case 41: return a == b;
    case 42: return a != b;
    case 43: return a < b;
    case 44: return a <= b;
    case 45: return x < y;
    default: return x <= y;
    }
}

static double compute_float(const word *w, double x, double y) {
    switch (w->op) {
    case 64: return x + y;
    case 65: return x - y;
    case 66: return x * y;
    case 67: return x / y;
    case 68: return fmin(x, y);
    case 69: return fmax(x, y);
    case 71: return sqrt(x);
    case 74: return rint(x);
    case 75: return floor(x);
    case 76: return ceil(x);
    default: return trunc(x);
    }
}

static unsigned outcome_of(double x, double y) { return x < y ? 1 : x == y ? 2 : x > y ? 4 : 8; }

/* What does not fit gives the least number. */
static uint64_t integer_of(double x, unsigned bits) {
    double limit = ldexp(1, (int)bits - 1);
    return x >= -limit && x < limit ? (uint64_t)(int64_t)x : UINT64_C(1) << (bits - 1);
}

static void write_float(machine *m, const word *w, uint64_t bits) {
    m->f[w->d] = low(bits, 8u << w->width);
}

static void execute_float(machine *m, const word *w) {
    const unsigned bits = 8u << w->width, from = w->number == 32 ? 2 : 3;
    const uint64_t a = m->f[w->a], sign = UINT64_C(1) << (bits - 1);
    const double x = float_of(a, w->width), y = float_of(m->f[w->b], w->width);
    if (w->width < 2 || (w->op >= 80 && w->number != 32 && w->number != 64)) {
        stop(m, "a number of no such width");
        return;
    }
    switch (w->op) {
    case 70: write_float(m, w, (a & ~sign) | (m->f[w->b] & sign)); break;
    case 72: write_float(m, w, a ^ sign); break;
    case 73: write_float(m, w, a & ~sign); break;
    case 78: m->r[w->d] = (w->number & outcome_of(x, y)) != 0; break;
    case 79: write_float(m, w, m->r[w->a] ? m->f[w->b] : m->f[w->c]); break;
    case 80: {
        int64_t n = with_sign(m->r[w->a], (unsigned)w->number);
        write_float(m, w, w->width == 2 ? bits_of((double)(float)n, 2) : bits_of((double)n, 3));
        break;
    }
    case 81: m->r[w->d] = low(integer_of(float_of(a, from), bits), bits); break;
    case 82: write_float(m, w, bits_of(float_of(a, from), w->width)); break;
    default: write_float(m, w, bits_of(compute_float(w, x, y), w->width));
    }
}

static void execute_integer(machine *m, const word *w) {
    const unsigned bits = 8u << w->width;
    const uint64_t a = low(m->r[w->a], bits), b = low(m->r[w->b], bits);
    const uint64_t number = (uint64_t)w->number;
    uint64_t v;
    if (w->op == 18 && (number < 1 || number > 32)) stop(m, "a number of no such width");
    if (m->fault) return;
    switch (w->op) {
    case 1: v = number; break;
    case 2: v = load(m, m->pc + number, w->width); break;
    case 4: v = m->pc + number; break;
    case 5: v = a; break;
    case 7: v = m->f[w->a]; break;
    case 16: v = a + number; break;
    case 17: v = a & number; break;
    case 18: v = (uint64_t)with_sign(m->r[w->a], (unsigned)w->number); break;
    case 39: v = with_sign(a, bits) < 0 ? 0 - a : a; break;
    case 40: v = (uint64_t)__builtin_popcountll(a); break;
    case 47: v = m->r[w->a] ? m->r[w->b] : m->r[w->c]; break;
    case 96: v = load(m, m->r[w->a] + number, w->width); break;
    case 100:
    case 101: v = update(m, w, m->r[w->b] + number, m->r[w->a], 0); break;
    case 102: v = update(m, w, m->r[w->c] + number, m->r[w->a], m->r[w->b]); break;
    default: v = compute(m, w, a, b);
    }
    m->r[w->d] = low(v, bits);
}

uint64_t template_outside;

/* A C function gets r0 to r5.  Afterwards nothing is left in registers that a call loses. */
static void call_outside(machine *m) {
    int64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    if (!m->pc || m->pc != template_outside) {
        stop(m, "a call of what is no function");
        return;
    }
    memcpy(&function, &m->pc, sizeof function);
    int64_t result = function(m->r[0], m->r[1], m->r[2], m->r[3], m->r[4], m->r[5]);
    for (unsigned n = 0; n < 9; n++) m->r[n] = ~UINT64_C(0) / 3;
    for (unsigned n = 0; n < REGISTERS; n++) m->f[n] = ~UINT64_C(0) / 3;
    m->r[0] = (uint64_t)result;
    m->pc = m->r[R_LR];
}

static void execute_control(machine *m, const word *w, uint64_t next) {
    const uint64_t to = m->pc + (uint64_t)w->number;
    m->pc = next;
    switch (w->op) {
    case 103: break;
    case 112: m->pc = to; break;
    case 113: m->pc = m->r[w->a] ? to : next; break;
    case 114: m->pc = m->r[w->a] ? next : to; break;
    case 115:
        m->r[R_LR] = next;
        m->pc = to;
        break;
    case 116:
        m->r[R_LR] = next;
        m->pc = m->r[w->a];
        if (m->pc - (uintptr_t)m->text.from >= m->text.bytes) call_outside(m);
        break;
    case 117: m->pc = m->r[R_LR]; break;
    case 118:
        m->r[R_SP] -= 16;
        store(m, m->r[R_SP], 3, m->r[w->a]);
        store(m, m->r[R_SP] + 8, 3, m->r[w->b]);
        break;
    case 119:
        m->r[w->a] = load(m, m->r[R_SP], 3);
        m->r[w->b] = load(m, m->r[R_SP] + 8, 3);
        m->r[R_SP] += 16;
        break;
    default: stop(m, "a trap");
    }
}

static void step(machine *m) {
    const word w = decode(m);
    const uint64_t next = m->pc + 8;
    if (m->fault) return;
    switch (w.op) {
    case 3: m->f[w.d] = load(m, m->pc + (uint64_t)w.number, w.width); break;
    case 6: m->f[w.d] = m->f[w.a]; break;
    case 8: m->f[w.d] = low(m->r[w.a], 8u << w.width); break;
    case 97: store(m, m->r[w.b] + (uint64_t)w.number, w.width, m->r[w.a]); break;
    case 98: m->f[w.d] = load(m, m->r[w.a] + (uint64_t)w.number, w.width); break;
    case 99: store(m, m->r[w.b] + (uint64_t)w.number, w.width, m->f[w.a]); break;
    default:
        if (w.op >= 103) {
            execute_control(m, &w, next);
            return;
        }
        if (w.op >= 64 && w.op < 96)
            execute_float(m, &w);
        else
            execute_integer(m, &w);
    }
    m->pc = next;
}

/* ----------------------------------------------------------------------------------------- call */

static void run(machine *m, uint64_t entry, uint64_t argument) {
    machine before;
    for (unsigned n = 0; n < REGISTERS; n++) m->r[n] = m->f[n] = 0x5555555500000000 + n;
    m->r[0] = argument;
    m->r[R_LR] = CALLER;
    m->r[R_SP] = (uintptr_t)m->memory[1].from + m->memory[1].bytes - 64;
    m->pc = entry;
    before = *m;
    uint64_t steps = 0;
    for (; m->pc != CALLER && !m->fault && steps < MOST_STEPS; steps++) step(m);
    if (steps == MOST_STEPS) stop(m, "too many steps");
    if (memcmp(m->r + 9, before.r + 9, 4 * sizeof *m->r) != 0 || m->r[R_FP] != before.r[R_FP] ||
        m->r[R_SP] != before.r[R_SP])
        stop(m, "registers of the caller are lost");
}

static void relocate(const cg_object *o, const cg_reloc *r, uint8_t *const at[CG_SECTIONS]) {
    const cg_symbol *s = &o->symbols.data[r->symbol];
    uint8_t *field = at[r->section] + r->at;
    uint64_t value = (uintptr_t)at[s->section] + s->at + (uint64_t)r->addend;
    if (r->kind == CG_PC32) value -= (uintptr_t)field;
    memcpy(field, &value, r->kind == CG_PC32 ? 4 : 8);
}

/* Sections one after another in one block, each on a page of its own. */
const char *template_interpret(const cg_object *o, uint32_t symbol, void *argument, size_t bytes) {
    enum { ALIGN = 4096 };
    static _Alignas(ALIGN) uint8_t stack[STACK];
    uint8_t *at[CG_SECTIONS];
    size_t total = 0, place[CG_SECTIONS];
    for (int s = 0; s < CG_SECTIONS; s++) {
        place[s] = total;
        total += (o->size[s] + ALIGN - 1) / ALIGN * ALIGN;
    }
    memset(stack + STACK - CLEARED, 0xa5, CLEARED);
    uint8_t *image = aligned_alloc(ALIGN, total + ALIGN);
    for (int s = 0; s < CG_SECTIONS; s++) {
        at[s] = image + place[s];
        if (o->size[s]) memcpy(at[s], o->bytes[s], o->size[s]);
    }
    foreach_in (const cg_reloc, r, o->relocs) relocate(o, r, at);
    machine m = {.text = {image, o->size[CG_TEXT]},
                 .memory = {{image, total}, {stack, STACK}, {argument, bytes}}};
    run(&m, (uintptr_t)image + o->symbols.data[symbol].at, (uintptr_t)argument);
    free(image);
    return m.fault;
}
