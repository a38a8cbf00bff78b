/* rows.c — operations that ptx.def lists: a text for each operation and type, filled in for each
 * lane. */
#include "codegen/ptx/ptx.h"

#define bit(kind) (1u << IR_##kind)

typedef struct {
    ir_op op;
    uint32_t kinds;
    const char *text;
    uint16_t sm, version;
} row;

static const row rows[] = {
#define ROW(op, kinds, text, sm, version) {IR_OP_##op, kinds, text, sm, version},
#include "codegen/ptx/ptx.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows };

_Static_assert(ROWS < UINT8_MAX, "numbers of rows are bytes");

void ptx_index_rows(uint8_t first[IR_OP_COUNT]) {
    memset(first, ROWS, IR_OP_COUNT);
    for (unsigned n = ROWS; n--;) first[rows[n].op] = (uint8_t)n;
}

/* The first one, from a number on, that a processor has; NULL: there is none. */
static const row *find_row(const ir_inst *i, unsigned sm, unsigned from) {
    if (!i->nargs) return NULL;
    uint32_t kind = 1u << ir_kind_of(ir_elem(ir_arg(i, 0)->type));
    for (unsigned n = from; n < ROWS; n++)
        if (rows[n].op == (ir_op)i->op && rows[n].kinds & kind && rows[n].sm <= sm) return &rows[n];
    return NULL;
}

bool ptx_has_row(const ir_inst *i, unsigned sm) { return find_row(i, sm, 0) != NULL; }

/* -------------------------------------------------------------------------------- filling it in */

enum { SCRATCH = 4 };
typedef struct {
    ptx_func *fn;
    const ir_inst *i;
    unsigned lane;
    const char *word[SCRATCH], *wide[SCRATCH];
} filling;

static const char *scratch(filling *f, const char *named[SCRATCH], char digit, ptx_class c) {
    const char **r = &named[digit - '0'];
    if (!*r) *r = ptx_temporary(f->fn, c);
    return *r;
}

static bool takes_word(const char **s, const char *word) {
    size_t n = 0;
    while (word[n] && (*s)[n] == word[n]) n++;
    if (word[n]) return false;
    *s += n;
    return true;
}

/* Quotients and roots of halves are those of f32, rounded once more: these must be exact. */
static bool becomes_half(const ir_inst *i) {
    foreach_use (u, i)
        if (u->user->op != IR_OP_fpcast || ir_kind_of(ir_elem(u->user->type)) != IR_F16)
            return false;
    return i->uses != NULL;
}

static const char *rounding(const filling *f, const char **s) {
    if (takes_word(s, "rn")) return f->i->flags & (IR_CONTRACT | IR_FAST) ? "" : ".rn";
    const char *fast = takes_word(s, "approx") ? "approx" : takes_word(s, "full") ? "full" : NULL;
    bool exact = fast && (f->fn->w->options->exact || becomes_half(f->i));
    return exact ? "rn" : fast;
}

/* Do only comparisons and sums use it, which do not tell NaNs apart? */
static bool is_only_a_number(const ir_inst *i) {
    foreach_use (u, i) {
        const ir_rule rule = ir_info(u->user)->rule;
        if (rule != R_CMPF && u->user->op != IR_OP_fadd && u->user->op != IR_OP_fsub) return false;
    }
    return true;
}

/* A reciprocal errs by 1 ulp, and takes fewer steps than a quotient.  A magnitude is part of the
 * instruction that uses it. */
static const char *text_of(const ptx_func *fn, const ir_inst *i, const row *r) {
    if (i->op == IR_OP_fabs && ir_elem(i->type) == IR_F64 && is_only_a_number(i))
        return "abs.f64 %d, %a";
    const ir_inst *one = ir_arg(i, 0);
    bool recip = i->op == IR_OP_fdiv && ir_elem(i->type) == IR_F32 && ir_is_const(one) &&
                 !ir_is_vector(i->type) && one->imm.bits == 0x3f800000;
    return recip && !fn->w->options->exact && !becomes_half(i) ? "rcp.approx.f32 %d, %b" : r->text;
}

/* What stands for the text after a %, which is skipped. */
static const char *meaning(filling *f, const char **s) {
    const char *word = rounding(f, s);
    if (word) return word;
    char c = *(*s)++;
    if (c == 'd') return ptx_result(f->fn, f->i, f->lane);
    if (c >= '0' && c < '0' + SCRATCH) return scratch(f, f->word, c, PTX_B32);
    if (c == 'w') return scratch(f, f->wide, *(*s)++, PTX_B64);
    bool plain = c >= 'a' && c <= 'c';
    char letter = plain ? c : *(*s)++;
    const ir_inst *v = ir_arg(f->i, (unsigned)(letter - 'a'));
    unsigned lane = ir_is_vector(v->type) ? f->lane : 0;
    if (c == 'n') return ptx_amount(f->fn, v, lane, 64);
    return plain ? ptx_operand(f->fn, v, lane) : ptx_extended(f->fn, v, lane, c == 's');
}

enum { MOST_GAPS = 6 };

/* One instruction of a text, up to its end or a semicolon.  Operands may need instructions of their
 * own, which come before it. */
static void write_part(filling *f, const char **s) {
    const char *plain[MOST_GAPS + 1] = {*s}, *end[MOST_GAPS + 1], *filled[MOST_GAPS];
    unsigned gaps = 0;
    for (; **s && **s != ';'; plain[gaps] = *s) {
        while (**s && **s != ';' && **s != '%') ++*s;
        end[gaps] = *s;
        if (**s != '%') break;
        assert(gaps < MOST_GAPS);
        ++*s;
        filled[gaps++] = meaning(f, s);
        end[gaps] = *s;
    }
    ir_text *t = ptx_begin(f->fn);
    for (unsigned n = 0; n <= gaps; n++) {
        if (n) ir_put(t, filled[n - 1]);
        ir_putn(t, plain[n], (size_t)(end[n] - plain[n]));
    }
    ptx_end(f->fn);
}

static void write_lane(ptx_func *fn, const ir_inst *i, const row *r, unsigned lane) {
    filling f = {.fn = fn, .i = i, .lane = lane};
    for (const char *s = text_of(fn, i, r); *s;) {
        write_part(&f, &s);
        if (*s) s += strspn(s, "; ");
    }
}

bool ptx_write_row(ptx_func *fn, const ir_inst *i) {
    const row *r = find_row(i, fn->w->options->sm, fn->w->first_row[i->op]);
    if (!r) return false;
    ptx_need(fn, r->sm, r->version, ir_info(i)->name);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) write_lane(fn, i, r, lane);
    return true;
}
