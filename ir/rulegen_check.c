/* rulegen_check.c — errors in rules: names that nothing binds, ops that a rule cannot build, types
 * that an op does not have, and rules that can never fire because of an earlier one.
 *
 * One pattern is more general than another when its names can be bound so that it becomes the other
 * (one-sided unification, on terms instead of values).
 */
#include "ir/rulegen.h"
#include "ir/type_rules.h"

#include <ctype.h>

bool rulegen_is_literal(const node *n) {
    return n->kind == N_INT || n->kind == N_FLOAT || n->kind == N_BOOL || n->kind == N_UNDEF;
}

bool rulegen_is_constant(const node *n) {
    return n->kind == N_CONST || n->kind == N_INT || n->kind == N_FLOAT || n->kind == N_BOOL;
}

/* ----------------------------------------------------------------------------------- generality */

static bool same_term(const node *a, const node *b) {
    if (a->kind != b->kind || a->nargs != b->nargs) return false;
    if (a->kind != N_OP) return !strcmp(a->text, b->text);
    if (a->op[0] != b->op[0]) return false;
    for (unsigned i = 0; i < a->nargs; i++)
        if (!same_term(a->arg[i], b->arg[i])) return false;
    return true;
}

/* What the names of the more general pattern stand for. */
typedef struct {
    const char *name[32];
    const node *term[32];
    unsigned n;
} bindings;

static bool bind(bindings *b, const char *name, const node *term) {
    for (unsigned i = 0; i < b->n; i++)
        if (!strcmp(b->name[i], name)) return same_term(b->term[i], term);
    if (b->n == 32) return false;
    b->name[b->n] = name;
    b->term[b->n++] = term;
    return true;
}

/* Does p match all that q matches? */
static bool is_more_general(const node *p, const node *q, bindings *b) {
    if (p->kind == N_NAME) return bind(b, p->text, q);
    if (p->kind == N_CONST) return rulegen_is_constant(q) && bind(b, p->text, q);
    if (p->kind != q->kind) return false;
    if (p->kind != N_OP) return !strcmp(p->text, q->text);
    if (p->op[0] != q->op[0] || p->nargs > q->nargs || (q->open && !p->open)) return false;
    for (unsigned i = 0; i < p->nargs; i++)
        if (!is_more_general(p->arg[i], q->arg[i], b)) return false;
    return true;
}

static unsigned count_name(const node *n, const char *name) {
    unsigned count = n->kind != N_CALL && n->text && !strcmp(n->text, name);
    if (n->type && !strcmp(n->type, name)) count++;
    for (unsigned i = 0; i < n->nargs; i++) count += count_name(n->arg[i], name);
    return count;
}

static unsigned count_conditions_on(const rule *r, const char *name) {
    unsigned count = 0;
    for (unsigned i = 0; i < r->conditions; i++)
        for (unsigned k = 0; k < r->when[i].nargs; k++) count += !strcmp(r->when[i].arg[k], name);
    return count;
}

unsigned rulegen_count_uses(const rule *r, const char *name) {
    return count_name(r->pattern, name) + count_name(r->result, name) +
           count_conditions_on(r, name);
}

bool rulegen_is_reserved(const char *name) {
    static const char *const words[] = {"v", "b", "cx", "true", "false"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return true;
    return false;
}

bool rulegen_is_type(const char *name) {
    static const char *const words[] = {"i32", "i64", "int", "float"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return true;
    return false;
}

static bool is_bound(const rule *r, const char *name) {
    return rulegen_is_reserved(name) || isdigit((unsigned char)name[name[0] == '-']) ||
           count_name(r->pattern, name);
}

static void check_bound(rule_file *f, const rule *r, const char *name) {
    if (!is_bound(r, name)) rulegen_fail(f, r->line, "\"%s\" is not bound by the pattern", name);
}

static bool is_buildable(const ir_op_info *op) {
    bool plain = op->imm == I_NONE || op->imm == I_ROUND;
    return plain && (op->flags & F_PURE) && !(op->flags & F_VARIADIC) && op->rule != R_LEAF;
}

static void check_result(rule_file *f, const rule *r, const node *n) {
    if (n->kind == N_NAME || n->kind == N_CONST) check_bound(f, r, n->text);
    if (n->type && !rulegen_is_type(n->type)) check_bound(f, r, n->type);
    if (n->kind == N_OP && !is_buildable(&rulegen_ops[n->op[0]]))
        rulegen_fail(f, r->line, "a rule cannot build %s; a helper can",
                     rulegen_ops[n->op[0]].name);
    for (unsigned i = 0; i < n->nargs; i++) check_result(f, r, n->arg[i]);
}

static void check_pattern(rule_file *f, const rule *r, const node *n) {
    bool commutes = n->kind == N_OP && (rulegen_ops[n->op[0]].flags & F_COMMUTES);
    if (commutes && rulegen_is_constant(n->arg[0]) && !rulegen_is_constant(n->arg[1]))
        rulegen_fail(f, r->line, "constants belong on the right of %s", rulegen_ops[n->op[0]].name);
    if (n->text && n->kind != N_BOOL && rulegen_is_reserved(n->text))
        rulegen_fail(f, r->line, "\"%s\" cannot be bound", n->text);
    for (unsigned i = 0; i < n->nargs; i++) check_pattern(f, r, n->arg[i]);
}

/* ---------------------------------------------------------------------------------------- types */

static const char *const kind_names[] = {
    [IR_VOID] = "none", [IR_I1] = "i1",   [IR_I8] = "i8",   [IR_I16] = "i16",
    [IR_I32] = "i32",   [IR_I64] = "i64", [IR_F16] = "f16", [IR_BF16] = "bf16",
    [IR_F32] = "f32",   [IR_F64] = "f64", [IR_PTR] = "ptr",
};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

uint32_t rulegen_types_of(const rule_file *f, const char *name) {
    bool vector = name[0] == 'v';
    for (unsigned k = 0; k < f->sets; k++)
        if (!strcmp(f->set[k].name, name)) return f->set[k].types;
    for (unsigned k = 0; k < KINDS; k++)
        if (!strcmp(kind_names[k], name + vector))
            return UINT32_C(1) << (k + (vector ? IR_NUMBER_OF_VECTORS : 0));
    return 0;
}

/* The types that an operand (or the result: IR_TYPE_OF_RESULT) of an op of this sort can have. */
static uint32_t possible_types(ir_rule sort, int operand) {
    const uint8_t *fits = type_rules[sort];
    fit f = (fit)fits[operand + 1];
    if (f == T_SAME || f == T_ELEM) f = (fit)fits[0];
    if (f == T_SAME_0 || f == T_ELEM_0) f = (fit)fits[1];
    const uint32_t kinds = type_classes[f].kinds & ((UINT32_C(1) << IR_NUMBER_OF_VECTORS) - 1);
    const uint32_t lanes = type_classes[f].lanes;
    uint32_t types = lanes == ANY || (lanes & LANES(1)) ? kinds : 0;
    if (lanes != LANES(1)) types |= (kinds & ~BIT(VOID)) << IR_NUMBER_OF_VECTORS;
    return types;
}

static void check_rule_types(rule_file *f, const rule *r) {
    const ir_op_info *op = &rulegen_ops[r->pattern->op[0]];
    if (!r->from) {
        if (f->sets) rulegen_fail(f, r->line, "the rule does not say which types it takes");
        return;
    }
    bool two = ir_has_two_types(op->rule);
    uint32_t from = possible_types(op->rule, ir_typed_operand(op->rule));
    uint32_t to = two ? possible_types(op->rule, IR_TYPE_OF_RESULT) : from;
    if (r->from & ~from || r->to & ~to)
        rulegen_fail(f, r->line, "%s does not work on all of these types", op->name);
    if (two != r->has_arrow)
        rulegen_fail(f, r->line, "%s works on %s", op->name, two ? "two types" : "one type");
}

void rulegen_check_rule(rule_file *f, const rule *r) {
    check_rule_types(f, r);
    check_pattern(f, r, r->pattern);
    check_result(f, r, r->result);
    for (unsigned i = 0; i < r->conditions; i++)
        for (unsigned k = 0; k < r->when[i].nargs; k++) check_bound(f, r, r->when[i].arg[k]);
}

static bool has_call(const node *n) {
    bool found = n->kind == N_CALL;
    for (unsigned i = 0; i < n->nargs; i++) found |= has_call(n->arg[i]);
    return found;
}

static bool always_fires(const rule *r) { return !r->conditions && !has_call(r->result); }

/* Can the conditions of r tell one order of its operands from another? */
static bool tells_orders_apart(const rule *r) {
    for (unsigned i = 0; i < r->conditions; i++)
        for (unsigned k = 0; k < r->when[i].nargs; k++)
            if (!rulegen_is_reserved(r->when[i].arg[k])) return true;
    return has_call(r->result);
}

/* Does an earlier order, of this rule or another one, take all that this order of r does? */
bool rulegen_is_covered(rule_file *f, const rule *before, unsigned n, const rule *r) {
    for (unsigned i = 0; i < n; i++) {
        bindings b = {.n = 0};
        bool same = before[i].number == r->number;
        if (same ? tells_orders_apart(r) : !always_fires(&before[i])) continue;
        bool rest = (r->from & ~before[i].from) || (r->to & ~before[i].to);
        if ((before[i].from && rest) || !is_more_general(before[i].pattern, r->pattern, &b))
            continue;
        if (!same)
            rulegen_fail(f, r->line, "never fires: line %u matches all of it", before[i].line);
        return true;
    }
    return false;
}
