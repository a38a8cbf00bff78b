/* run_eval.c — eval lines of the golden runner: literals, a call on the interpreter, the
 * comparison.
 *
 * A literal is read by the parser of the text form, as the value that a function of its type
 * returns; so it is written here as it is written there.  What the interpreter says is said again
 * by machine code, where a function can be called as such.
 */
#include "ir/eval.h"
#include "ir/interp.h"
#include "tests/native_call.h"
#include "tests/run.h"

static line trim(line l) {
    while (l.n && *l.s == ' ') l = (line){l.s + 1, l.n - 1};
    while (l.n && l.s[l.n - 1] == ' ') l.n--;
    return l;
}

static const char *type_text(runner *r, const ir_module *m, ir_type t) {
    ir_text out = {.arena = &r->arena};
    ir_print_type(&out, m, t);
    return out.data;
}

/* A function that returns the literal; NULL after messages. */
static ir_module *parse_value(runner *r, const ir_module *m, ir_type t, line literal) {
    ir_text text = {.arena = &r->arena};
    const char *type = type_text(r, m, t);
    ir_putf(&text, "target %u\nfunc @value(): %s {\nentry:\nret %s %.*s\n}\n", m->pointer_bits,
            type, type, (int)literal.n, literal.s);
    return ir_parse(&r->cx, "eval", text.data, text.n);
}

/* False after messages. */
static bool read_value(runner *r, const ir_module *m, ir_type t, line literal, ir_value *out) {
    ir_module *from = parse_value(r, m, t, literal);
    if (!from) return false;
    const ir_inst *v = ir_arg(from->first_func->first->last, 0);
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        out->bits[i] = ir_is_const(v) ? ir_lane_bits(v, i) : 0;
        out->undef[i] = ir_is_const(v) ? 0 : 255;
    }
    ir_module_free(from);
    return true;
}

/* Up to the comma or parenthesis that ends an argument. */
static line take_argument(line *l) {
    size_t n = 0, depth = 0;
    for (; n < l->n; n++) {
        char c = l->s[n];
        if (depth == 0 && (c == ',' || c == ')')) break;
        depth += c == '(' || c == '<';
        depth -= c == ')' || c == '>';
    }
    line argument = {l->s, n};
    *l = (line){l->s + n, l->n - n};
    return trim(argument);
}

static bool take(line *l, char c) {
    *l = trim(*l);
    if (!l->n || *l->s != c) return false;
    *l = (line){l->s + 1, l->n - 1};
    return true;
}

static bool is_nan(ir_type t, uint64_t bits) {
    return ir_is_float(t) && ir_fp_is_nan(ir_kind_of(t), bits);
}

static bool same_value(ir_type t, const ir_value *want, const ir_value *got) {
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        if (want->undef[i]) continue;
        bool nan = is_nan(t, want->bits[i]) && is_nan(t, got->bits[i]);
        if (got->undef[i] || (want->bits[i] != got->bits[i] && !nan)) return false;
    }
    return true;
}

static const char *show_value(runner *r, ir_func *f, const ir_value *v) {
    ir_text out = {.arena = &r->arena};
    for (unsigned i = 0; i < ir_lanes(f->ret); i++)
        if (v->undef[i]) return "undefined lanes";
    ir_print_inst(&out, ir_const_lanes(f, f->ret, v->bits));
    return out.data;
}

static ir_func *find_callee(runner *r, const ir_module *m, line *l) {
    size_t n = 0;
    if (!take(l, '@')) return NULL;
    while (n < l->n && l->s[n] != '(') n++;
    const char *name = ir_strndup(&r->arena, l->s, n);
    *l = (line){l->s + n, l->n - n};
    return ir_func_find(m, name);
}

enum { LIBRARY_ULPS = 16, ESTIMATE_ULPS = 8192 };

/* By how much results may differ, in units of the last place, if a function of the module asks for
 * what libraries or estimates of the machine answer. */
static unsigned find_tolerance(const ir_module *m) {
    unsigned most = 0;
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_inst (i, b) {
                unsigned ulps = i->op == IR_OP_native_rsqrt ? ESTIMATE_ULPS
                                : ir_has_flag(i, F_NOFOLD)  ? LIBRARY_ULPS
                                                            : 0;
                most = ulps > most ? ulps : most;
            }
    return most;
}

static bool is_near(ir_type t, const ir_value *want, const ir_value *got, unsigned ulps) {
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        uint64_t a = want->bits[i], b = got->bits[i];
        if (!ir_is_float(t)) return false;
        bool nan = ir_fp_is_nan(ir_kind_of(t), a) && ir_fp_is_nan(ir_kind_of(t), b);
        if (!nan && (a > b ? a - b : b - a) > ulps) return false;
    }
    return true;
}

/* The same as machine code, by one way. */
static const char *run_one_way(runner *r, ir_func *f, const native_way *way, const ir_value *args,
                               const ir_value *want) {
    ir_value got = {0};
    native_outcome outcome = native_call(f, way, args, &got);
    if (outcome == NATIVE_CANNOT) return NULL;
    if (outcome == NATIVE_FAILED) return "no machine code";
    if (same_value(f->ret, want, &got)) return NULL;
    unsigned ulps = find_tolerance(f->module);
    if (ulps && is_near(f->ret, want, &got, ulps)) return NULL;
    const cg_machine *m = way->on->machine;
    return ir_sprintf(&r->arena, "machine code (%s:%s, %s%s) gives %s", m->name,
                      cg_level_name(m, way->code.level),
                      way->code.regalloc.how == CG_REGALLOC_STACK ? "stack" : "fast",
                      way->is_called ? ", called" : "", show_value(r, f, &got));
}

/* By every way to allocate registers, or by the next one. */
static const char *run_level(runner *r, ir_func *f, native_way way, const ir_value *args,
                             const ir_value *want) {
    enum { WAYS = 3 };
    const char *why = NULL;
    const unsigned first = r->turns ? (r->taken + way.code.level) % WAYS : 0;
    const unsigned end = r->turns ? first + 1 : WAYS;
    for (unsigned k = first; k < end && !why; k++) {
        way.code.regalloc.how = k == 0 ? CG_REGALLOC_STACK : CG_REGALLOC_FAST;
        way.is_called = k == 2;
        why = run_one_way(r, f, &way, args, want);
    }
    return why;
}

/* On every level of every machine. */
static const char *run_native(runner *r, ir_func *f, bool is_plain, const ir_value *args,
                              const ir_value *want) {
    const char *why = NULL;
    const test_machine *on;
    r->taken++;
    for (unsigned n = 0; (on = test_machine_at(n)) && !why; n++)
        for (unsigned k = 0; k < on->machine->nlevels && !why; k++) {
            const native_way way = {.code = {.level = on->machine->levels[k].number,
                                             .regalloc.check = true,
                                             .rule_hits = r->isel_hits ? r->isel_hits[n] : NULL},
                                    .is_plain = is_plain,
                                    .on = on};
            why = run_level(r, f, way, args, want);
        }
    return why;
}

const char *run_as_is(runner *r, ir_func *f, const ir_value *args) {
    ir_value want = {0};
    if (!ir_interp_call(f, args, &want)) return "it does not end well";
    return run_native(r, f, true, args, &want);
}

const char *run_eval(runner *r, ir_module *m, line l) {
    ir_func *f = find_callee(r, m, &l);
    ir_value want = {0}, got = {0};
    if (!f) return "there is no such function";
    if (!take(&l, '(')) return "expected '('";
    ir_value *args = ir_new_array(&r->arena, ir_value, f->nparams);
    for (uint32_t i = 0; i < f->nparams; i++) {
        if (i && !take(&l, ',')) return "expected ','";
        if (!read_value(r, m, f->param_val[i]->type, take_argument(&l), &args[i]))
            return "argument";
    }
    if (!take(&l, ')')) return "expected ')'";
    bool compare = take(&l, '=') && take(&l, '=');
    if (compare && f->ret == IR_VOID) return "the function returns nothing";
    if (compare && !read_value(r, m, f->ret, trim(l), &want)) return "expected value";
    if (!ir_interp_call(f, args, &got)) return "it does not end well";
    if (!compare) return NULL;
    if (same_value(f->ret, &want, &got)) return run_native(r, f, false, args, &want);
    return ir_sprintf(&r->arena, "got %s", show_value(r, f, &got));
}
