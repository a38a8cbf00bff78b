/* run_rules.c — every rule of isel.rules with every type that it says it takes.
 *
 * The pattern of each rule becomes a function for each type, with vectors of all widths
 * (run_rule_text.c), which is interpreted and run as machine code of all levels.  Afterwards each
 * rule must have been used, by these functions or by eval lines of the golden files, for each of
 * its types: for conversions and choices, each pair of them.  Which rule a function meets is not
 * asked: an earlier one may take it.
 */
#include "tests/run_rules.h"

#include "ir/eval.h"
#include "tests/machines.h"
#include "tests/random.h"
#include "tests/run.h"

#include <stdlib.h>

enum { BIT = 1, ATTEMPTS = 11, RUNS = 2 };

static bool has(uint32_t types, unsigned n) { return types >> n & BIT; }

static bool is_vector(unsigned n) { return n >= IR_NUMBER_OF_VECTORS; }
static ir_kind kind_of(unsigned n) { return (ir_kind)(n % IR_NUMBER_OF_VECTORS); }
static bool is_number(unsigned n) { return kind_of(n) >= IR_I1 && kind_of(n) <= IR_F64; }
static unsigned bits_of(unsigned n) { return ir_bits(NULL, ir_scalar(kind_of(n))); }

static ir_op op_named(const char *name) {
    size_t n = strcspn(name, " |)");
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (strlen(ir_ops[op].name) == n && memcmp(ir_ops[op].name, name, n) == 0) return (ir_op)op;
    return IR_OP_COUNT;
}

/* The members of the root of a rule; gives how many there are. */
static unsigned read_members(const char *text, ir_op *out) {
    unsigned n = 0;
    text += text[1] == '(' ? 2 : 1;
    for (;; text++) {
        out[n++] = op_named(text);
        text += strcspn(text, " |)");
        if (*text != '|') return n;
    }
}

/* ---------------------------------------------------------------------------- types that there are
 *
 * Both types are numbers of ir/rule_types.h. */

static bool is_bitcast(unsigned from, unsigned to) {
    unsigned a = bits_of(from), b = bits_of(to);
    if (is_vector(from) && is_vector(to)) return from != to;
    if (is_vector(from)) return b >= 2 * a;
    if (is_vector(to)) return a >= 2 * b;
    return a == b && from != to;
}

/* Does an operation of this sort lead from one type to the other? */
static bool is_pair(ir_rule rule, unsigned from, unsigned to) {
    if (!ir_has_two_types(rule)) return from == to;
    if (rule == R_BITCAST) return is_bitcast(from, to);
    if (is_vector(from) != is_vector(to)) return false;
    if (kind_of(from) == IR_PTR || kind_of(to) == IR_PTR) return true;
    if (rule == R_TRUNC) return bits_of(from) > bits_of(to);
    if (rule == R_EXT) return bits_of(from) < bits_of(to);
    return rule != R_FTOF || from != to;
}

/* ---------------------------------------------------------------------------------- one program */

/* Small numbers, so that floats are exact and nothing is undefined. */
static uint64_t some_lane(uint64_t *state, ir_type t, bool positive) {
    uint64_t r = splitmix64(state);
    int64_t n = positive ? (int64_t)(r % 7) + 1 : (int64_t)(r % 31) - 15;
    if (ir_is_bool(t)) return r & 1;
    if (ir_is_float(t)) return ir_fp_from_double(ir_kind_of(t), (double)n * 0.5);
    if (!positive && r >> 40 & 1) n = (int64_t)splitmix64(state);
    return ir_zext((uint64_t)n, ir_bits(NULL, ir_elem(t)));
}

static void fill(const ir_func *f, uint64_t *state, bool positive, ir_value *args) {
    memset(args, 0, f->nparams * sizeof *args);
    for (uint32_t n = 0; n < f->nparams; n++)
        for (unsigned k = 0; k < ir_lanes(f->param_val[n]->type); k++)
            args[n].bits[k] = some_lane(state, f->param_val[n]->type, positive);
}

static void complain(runner *r, const char *text, const char *source, const char *problem) {
    r->failed++;
    printf("FAIL %s\n%s  %s\n", text, source, problem);
}

static void run_program(runner *r, const rule_program *p, uint64_t *state) {
    static ir_value args[IR_MAX_LANES];
    const char *source = run_rule_text(p, &r->arena), *problem = NULL;
    ir_module *m = ir_parse(&r->cx, "rule", source, strlen(source));
    bool positive = (ir_ops[p->op].flags & F_TRAPS) != 0;
    if (!m || !ir_verify_module(m)) {
        complain(r, p->text, source, "it is no function");
        return;
    }
    for (unsigned run = 0; run < RUNS && !problem; run++) {
        fill(m->first_func, state, positive, args);
        problem = run_as_is(r, m->first_func, args);
    }
    ir_module_free(m);
    if (problem) complain(r, p->text, source, problem);
    r->passed += !problem;
}

/* --------------------------------------------------------------------------------- all programs */

static ir_type result_of(ir_op op, ir_type from, ir_type to) {
    switch (ir_ops[op].rule) {
    case R_CMPI:
    case R_CMPF: return ir_with_elem(from, IR_I1);
    case R_REDUCE: return IR_I1;
    case R_EXTRACT: return ir_elem(from);
    default: return ir_has_two_types(ir_ops[op].rule) ? to : from;
    }
}

static ir_type type_of(unsigned n, unsigned lanes) {
    return is_vector(n) ? ir_vector(ir_scalar(kind_of(n)), lanes) : ir_scalar(kind_of(n));
}

static unsigned attempts_of(ir_op op, const char *text) {
    if (strstr(text, " C")) return ATTEMPTS;
    return op == IR_OP_shuffle || op == IR_OP_vec ? 3 : 1;
}

static void run_attempts(runner *r, rule_program p, uint64_t *state) {
    unsigned n = attempts_of(p.op, p.text);
    for (p.attempt = 0; p.attempt < n; p.attempt++)
        for (int keeps = 0; keeps < 2; keeps++) {
            p.keeps = keeps;
            run_program(r, &p, state);
        }
}

/* In registers of all widths: the wider type fills one. */
static void run_pair(runner *r, rule_program p, unsigned from, unsigned to, uint64_t *state) {
    if (!is_number(from) || !is_number(to)) return;
    unsigned a = bits_of(from), b = bits_of(to), wide = a > b ? a : b;
    bool cast = ir_ops[p.op].rule == R_BITCAST, vectors = is_vector(from) || is_vector(to);
    unsigned first = vectors ? 64 : wide, most = vectors ? 512 : wide;
    if (cast && is_vector(from) != is_vector(to)) first = most = wide;
    for (unsigned bits = first; bits <= most; bits *= 2) {
        unsigned lanes = bits / (wide == 1 ? 8 : wide);
        p.from = type_of(from, cast ? bits / a : lanes);
        p.to = result_of(p.op, p.from, type_of(to, cast ? bits / b : lanes));
        if (!vectors || lanes > 1 || cast) run_attempts(r, p, state);
    }
}

static void run_rule(runner *r, const ir_rule_info *info, uint64_t *state) {
    ir_op ops[16];
    unsigned n = read_members(info->text, ops);
    for (unsigned from = 0; from < IR_TYPE_NUMBERS; from++)
        for (unsigned to = 0; to < IR_TYPE_NUMBERS; to++)
            for (unsigned k = 0; k < n; k++) {
                bool there = has(info->from, from) && has(info->to, to);
                rule_program p = {.text = info->text, .op = ops[k], .member = k};
                if (there && is_pair(ir_ops[ops[k]].rule, from, to))
                    run_pair(r, p, from, to, state);
            }
}

/* ------------------------------------------------------------------------------------- coverage */

static const char *name_of(unsigned n, char out[16]) {
    static const char *const names[] = {
        [IR_VOID] = "none", [IR_I1] = "i1",   [IR_I8] = "i8",   [IR_I16] = "i16",
        [IR_I32] = "i32",   [IR_I64] = "i64", [IR_F16] = "f16", [IR_BF16] = "bf16",
        [IR_F32] = "f32",   [IR_F64] = "f64", [IR_PTR] = "ptr"};
    snprintf(out, 16, "%s%s", is_vector(n) ? "v" : "", names[kind_of(n)]);
    return out;
}

static void expect_pair(runner *r, const ir_rule_info *info, uint32_t used, unsigned from,
                        unsigned to) {
    char a[16], b[16];
    r->passed += has(used, to);
    r->failed += !has(used, to);
    if (!has(used, to))
        printf("%s: this rule is never used for %s -> %s\n", info->place, name_of(from, a),
               name_of(to, b));
}

static void expect_types(runner *r, const ir_rule_info *info,
                         const uint32_t used[IR_TYPE_NUMBERS]) {
    ir_op ops[16];
    read_members(info->text, ops);
    for (unsigned from = 0; from < IR_TYPE_NUMBERS; from++)
        for (unsigned to = 0; to < IR_TYPE_NUMBERS; to++)
            if (has(info->from, from) && has(info->to, to) &&
                is_pair(ir_ops[ops[0]].rule, from, to))
                expect_pair(r, info, used[from], from, to);
}

/* --------------------------------------------------------------------------------- all machines */

static unsigned count_rules(const cg_machine *m) {
    unsigned n = 0;
    while (m->rule_info(n)) n++;
    return n;
}

void run_count_rules(runner *r) {
    unsigned n = 0;
    while (test_machine_at(n)) n++;
    r->isel_hits = calloc(n, sizeof *r->isel_hits);
    while (n-- > 0)
        r->isel_hits[n] = calloc(count_rules(test_machine_at(n)->machine), sizeof **r->isel_hits);
}

static void run_all(void *arg) {
    runner *r = arg;
    uint64_t state = 1;
    const test_machine *t;
    for (unsigned n = 0; (t = test_machine_at(n)); n++)
        for (unsigned rule = 0; t->machine->rule_info(rule); rule++)
            run_rule(r, t->machine->rule_info(rule), &state);
}

static void print_message(void *user, const ir_message *m) {
    char text[500];
    (void)user;
    ir_format_message(m, text, sizeof text);
    printf("  %s\n", text);
}

void run_rules(runner *r) {
    r->cx.report = print_message;
    ir_arena_init(&r->arena, &r->cx);
    if (!ir_try(&r->cx, run_all, r)) {
        printf("FAIL programs of rules: out of memory\n");
        r->failed++;
    }
    ir_arena_free(&r->arena);
    const test_machine *t;
    for (unsigned n = 0; (t = test_machine_at(n)); n++) {
        const cg_machine *m = t->machine;
        bool all = t->most >= m->levels[m->nlevels - 1].number;
        const char *missed = t->never_run ? t->never_run() : NULL;
        if (missed) printf("%s: instruction %s is never run\n", m->name, missed);
        r->failed += missed != NULL;
        for (unsigned rule = 0; all && m->rule_info(rule); rule++)
            expect_types(r, m->rule_info(rule), r->isel_hits[n][rule]);
        free(r->isel_hits[n]);
    }
    free(r->isel_hits);
}
