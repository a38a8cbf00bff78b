/* rulegen.c — host tool: turns a file of rewrite rules into C.    rulegen simplify.rules out.inc
 *
 *   rule      := pattern { "&&" ["!"] predicate } "=>" result
 *   pattern   := [name "@"] "(" ops { argument } ["..."] ")"
 *   argument  := pattern | name | Constant | literal
 *   ops       := op | "(" op { "|" op } ")"
 *   predicate := c_function "(" name { "," name } ")"
 *   result    := name | literal | "(" literal { "|" literal } ")"
 *              | "=" c_function "(" name { "," name } ")"
 *              | "(" ops ["!"] [":" name] { result } ")"
 *   literal   := 0 | -1 | 1.5 | -0.0 | inf | -inf | true | false | undef
 *
 * A comment goes from ";" to the end of the line.
 *
 * Lower-case names are values; the same name twice means the same value.  Names that begin with a
 * capital letter are constants, scalar or vector.  A number matches a constant of that value in the
 * type at hand: integers those of integer and pointer type, floats those of float type, true and
 * false those of i1; a vector must have it in every lane.  `v` is the instruction itself, name@( )
 * names an inner one, `b` is the builder.  `...` ends the operands of a variadic op early.
 *
 * A family (a|b|c) makes one rule per member; all families of a rule vary together.  Commutative
 * operands match in both orders; constants stand on their right, where the builder puts them.
 *
 * A result op has the type of v at the root, of its first operand inside (select: of an arm; i1 for
 * comparisons, any and all), and of `name` after a colon.  It carries the float flags that all
 * matched float ops share, and with "!" the integer flags too.  Conversions take the rounding of v
 * if it has one.  Helpers (=f) get the builder first and may return NULL: then the rule does not
 * fire.
 *
 * The first rule in the file that matches wins.  It is an error, reported as file:line, when an op
 * or a name is unknown, an operand count is wrong, or a rule can never fire because an earlier one
 * without conditions matches all that it does.
 *
 * The output is one C function per root op, to be included by the file that defines the predicates
 * and helpers, operand, matches_int, matches_float, matches_bool, int_literal, float_literal,
 * bool_like, and fire, which every rewrite goes through.
 */
#include "ir/ir.h"

#include <ctype.h>
#include <stdlib.h>

static const ir_op_info ops[IR_OP_COUNT] = {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    [IR_OP_##name] = {#name, spirv, rule, nargs, imm, levels, flags, "", doc},
#include "ir/ops.def"
#undef OP
};

enum { MAX_ARGS = 6, MAX_FAMILY = 16, MAX_CONDITIONS = 8, MAX_RULES = 2000, MAX_SWAPS = 8 };

typedef enum { N_OP, N_NAME, N_CONST, N_INT, N_FLOAT, N_BOOL, N_UNDEF, N_CALL } node_kind;

typedef struct node node;
struct node {
    node_kind kind;
    const char *text; /* name, literal, or function of a call */
    const char *literal[MAX_FAMILY];
    ir_op op[MAX_FAMILY];
    unsigned members; /* of the family, of ops or literals; 0: none */
    const char *type; /* after ':', or NULL */
    bool keep;        /* "!" */
    bool open;        /* "..." */
    const char *var;  /* C variable that holds it, once emitted */
    node *arg[MAX_ARGS];
    unsigned nargs;
};

typedef struct {
    bool negated;
    const char *function;
    const char *arg[MAX_ARGS];
    unsigned nargs;
} condition;

typedef struct {
    unsigned line, number; /* number: counted over the rules of the file */
    const char *text;
    node *pattern, *result;
    condition when[MAX_CONDITIONS];
    unsigned conditions;
} rule;

static struct {
    const char *file, *name, *at; /* the path, its last part, the place being read */
    unsigned line, errors;
    char token[64];
    rule rule[MAX_RULES]; /* families expanded */
    unsigned rules, numbers;
    FILE *out;
    unsigned temporaries;
} g;

static void fail(unsigned line, const char *fmt, ...) IR_PRINTF(2, 3);
static void fail(unsigned line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "%s:%u: error: ", g.file, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    g.errors++;
}

/* Errors after which nothing sensible can be read. */
IR_NORETURN static void stop(const char *what) {
    fail(g.line, "%s before \"%s\"", what, g.token);
    exit(1);
}

static void *allocate(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) abort();
    return p;
}

static char *copy_text(const char *s, size_t n) {
    char *p = allocate(n + 1);
    memcpy(p, s, n);
    return p;
}

/* ------------------------------------------------------------------------------------- reading */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static void skip_blanks(void) {
    for (; *g.at; g.at++) {
        if (*g.at == ';') g.at += strcspn(g.at, "\n");
        if (!isspace((unsigned char)*g.at)) return;
        g.line += *g.at == '\n';
    }
}

/* The next token into g.token: a word, a number, "&&", "=>" or one character; "" at the end. */
static void next(void) {
    skip_blanks();
    const char *s = g.at;
    size_t n = *s != 0;
    if (!strncmp(s, "&&", 2) || !strncmp(s, "=>", 2))
        n = 2;
    else if (!strncmp(s, "...", 3))
        n = 3;
    else if (is_word(*s) || (*s == '-' && is_word(s[1])))
        for (n = 1;
             is_word(s[n]) || (s[n] == '-' && s[n - 1] == 'e' && isdigit((unsigned char)*s));)
            n++;
    if (n >= sizeof g.token) n = sizeof g.token - 1;
    memcpy(g.token, s, n);
    g.token[n] = 0;
    g.at = s + n;
}

static bool is(const char *token) { return strcmp(g.token, token) == 0; }

static bool accept(const char *token) {
    if (!is(token)) return false;
    next();
    return true;
}

static void expect(const char *token) {
    if (!accept(token)) stop(!strcmp(token, "(") ? "\"(\" expected" : "a syntax error");
}

static const char *word(void) {
    if (!is_word(g.token[0]) && g.token[0] != '-') stop("a name is expected");
    const char *w = copy_text(g.token, strlen(g.token));
    next();
    return w;
}

static ir_op find_op(const char *name) {
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (!strcmp(ops[op].name, name)) return (ir_op)op;
    fail(g.line, "unknown op \"%s\"", name);
    return IR_OP_COUNT;
}

static void read_ops(node *n) {
    bool family = accept("(");
    do {
        ir_op op = find_op(word());
        if (op == IR_OP_COUNT) exit(1);
        if (n->members == MAX_FAMILY) stop("too many members");
        n->op[n->members++] = op;
    } while (family && accept("|"));
    if (family) expect(")");
}

static node_kind kind_of_word(const char *w) {
    bool number = isdigit((unsigned char)w[w[0] == '-']);
    if (!strcmp(w, "true") || !strcmp(w, "false")) return N_BOOL;
    if (!strcmp(w, "undef")) return N_UNDEF;
    if (!strcmp(w, "inf") || !strcmp(w, "-inf")) return N_FLOAT;
    if (number) return strpbrk(w, ".e") ? N_FLOAT : N_INT;
    return isupper((unsigned char)w[0]) ? N_CONST : N_NAME;
}

static node *read_leaf(void) {
    node *n = allocate(sizeof *n);
    n->text = word();
    n->kind = kind_of_word(n->text);
    return n;
}

static node *read_term(bool result);

static void add_arg(node *n, node *arg) {
    if (n->nargs == MAX_ARGS) stop("too many operands");
    n->arg[n->nargs++] = arg;
}

/* After "(". */
static node *read_op(bool result) {
    node *n = allocate(sizeof *n);
    read_ops(n);
    n->keep = result && accept("!");
    if (result && accept(":")) n->type = word();
    while (!is(")") && !is("...") && !is("")) add_arg(n, read_term(result));
    n->open = accept("...");
    expect(")");
    for (unsigned m = 0; m < n->members; m++) {
        const ir_op_info *op = &ops[n->op[m]];
        bool variadic = op->flags & F_VARIADIC;
        if (variadic ? n->nargs < op->nargs && !n->open : n->nargs != op->nargs || n->open)
            fail(g.line, "%s takes %u operands", op->name, op->nargs);
    }
    return n;
}

static node *read_call(void) {
    node *n = allocate(sizeof *n);
    n->kind = N_CALL;
    n->text = word();
    expect("(");
    while (!is(")") && !is("")) {
        add_arg(n, read_leaf());
        if (!accept(",")) break;
    }
    expect(")");
    return n;
}

static bool is_literal(const node *n) {
    return n->kind == N_INT || n->kind == N_FLOAT || n->kind == N_BOOL || n->kind == N_UNDEF;
}

/* "0|1)" of a family of literals. */
static node *read_literals(void) {
    node *n = NULL;
    do {
        node *leaf = read_leaf();
        if (!n) n = leaf;
        if (!is_literal(leaf) || leaf->kind != n->kind || n->members == MAX_FAMILY)
            stop("literals of one sort are expected");
        n->literal[n->members++] = leaf->text;
    } while (accept("|"));
    expect(")");
    return n;
}

static node *read_term(bool result) {
    if (result && accept("=")) return read_call();
    if (accept("(")) {
        bool literals = is_literal(&(node){.kind = kind_of_word(g.token)});
        return literals ? read_literals() : read_op(result);
    }
    node *leaf = read_leaf();
    if (result || !accept("@")) return leaf;
    expect("(");
    node *n = read_op(false);
    n->text = leaf->text;
    return n;
}

static void read_condition(rule *r) {
    if (r->conditions == MAX_CONDITIONS) stop("too many conditions");
    condition *c = &r->when[r->conditions++];
    c->negated = accept("!");
    c->function = word();
    expect("(");
    do {
        if (c->nargs == MAX_ARGS) stop("too many arguments");
        c->arg[c->nargs++] = word();
    } while (accept(","));
    expect(")");
}

/* The source of a rule on one line, for comments and traces. */
static const char *one_line(const char *from, const char *to) {
    char *s = allocate((size_t)(to - from) + 1), *p = s;
    for (; from < to; from++) {
        if (*from == ';') from += strcspn(from, "\n");
        if (!isspace((unsigned char)*from))
            *p++ = *from;
        else if (p > s && p[-1] != ' ')
            *p++ = ' ';
    }
    while (p > s && p[-1] == ' ') *--p = 0;
    return s;
}

/* ---------------------------------------------------------------------------- families and orders
 */

static unsigned family_size(const node *n) {
    unsigned size = n->members ? n->members : 1;
    for (unsigned i = 0; i < n->nargs; i++) {
        unsigned s = family_size(n->arg[i]);
        if (s > 1 && size > 1 && s != size) return 0;
        if (s != 1) size = s;
    }
    return size;
}

/* A copy in which every family is its member m. */
static node *member(const node *n, unsigned m) {
    node *c = allocate(sizeof *c);
    *c = *n;
    unsigned k = n->members > 1 ? m : 0;
    c->op[0] = n->op[k];
    if (n->members && is_literal(n)) c->text = n->literal[k];
    c->members = n->members ? 1 : 0;
    for (unsigned i = 0; i < n->nargs; i++) c->arg[i] = member(n->arg[i], m);
    return c;
}

static bool is_constant(const node *n) {
    return n->kind == N_CONST || n->kind == N_INT || n->kind == N_FLOAT || n->kind == N_BOOL;
}

static bool commutes(const node *n) {
    return n->kind == N_OP && (ops[n->op[0]].flags & F_COMMUTES) && !is_constant(n->arg[1]);
}

static unsigned count_swaps(const node *n) {
    unsigned swaps = commutes(n);
    for (unsigned i = 0; i < n->nargs; i++) swaps += count_swaps(n->arg[i]);
    return swaps;
}

/* A copy whose k-th commutative op has its operands swapped when bit k of *order is set. */
static node *reorder(const node *n, unsigned *order) {
    node *c = allocate(sizeof *c);
    *c = *n;
    bool swap = commutes(n) && (*order & 1);
    if (commutes(n)) *order >>= 1;
    for (unsigned i = 0; i < n->nargs; i++) c->arg[i] = reorder(n->arg[i], order);
    if (swap) {
        node *first = c->arg[0];
        c->arg[0] = c->arg[1];
        c->arg[1] = first;
    }
    return c;
}

/* --------------------------------------------------------------------------------------- checking
 */

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
    if (p->kind == N_CONST) return is_constant(q) && bind(b, p->text, q);
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

static unsigned count_uses(const rule *r, const char *name) {
    return count_name(r->pattern, name) + count_name(r->result, name) +
           count_conditions_on(r, name);
}

static bool is_reserved(const char *name) {
    static const char *const words[] = {"v", "b", "cx", "true", "false"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i])) return true;
    return false;
}

static bool is_bound(const rule *r, const char *name) {
    return is_reserved(name) || isdigit((unsigned char)name[name[0] == '-']) ||
           count_name(r->pattern, name);
}

static void check_bound(const rule *r, const char *name) {
    if (!is_bound(r, name)) fail(r->line, "\"%s\" is not bound by the pattern", name);
}

static bool is_buildable(const ir_op_info *op) {
    bool plain = op->imm == I_NONE || op->imm == I_ROUND;
    return plain && (op->flags & F_PURE) && !(op->flags & F_VARIADIC) && op->rule != R_LEAF;
}

static void check_result(const rule *r, const node *n) {
    if (n->kind == N_NAME || n->kind == N_CONST) check_bound(r, n->text);
    if (n->type) check_bound(r, n->type);
    if (n->kind == N_OP && !is_buildable(&ops[n->op[0]]))
        fail(r->line, "a rule cannot build %s; a helper can", ops[n->op[0]].name);
    for (unsigned i = 0; i < n->nargs; i++) check_result(r, n->arg[i]);
}

static void check_pattern(const rule *r, const node *n) {
    bool commutes = n->kind == N_OP && (ops[n->op[0]].flags & F_COMMUTES);
    if (commutes && is_constant(n->arg[0]) && !is_constant(n->arg[1]))
        fail(r->line, "constants stand on the right of %s", ops[n->op[0]].name);
    if (n->text && n->kind != N_BOOL && is_reserved(n->text))
        fail(r->line, "\"%s\" cannot be bound", n->text);
    for (unsigned i = 0; i < n->nargs; i++) check_pattern(r, n->arg[i]);
}

static void check_rule(const rule *r) {
    check_pattern(r, r->pattern);
    check_result(r, r->result);
    for (unsigned i = 0; i < r->conditions; i++)
        for (unsigned k = 0; k < r->when[i].nargs; k++) check_bound(r, r->when[i].arg[k]);
}

static bool has_call(const node *n) {
    bool found = n->kind == N_CALL;
    for (unsigned i = 0; i < n->nargs; i++) found |= has_call(n->arg[i]);
    return found;
}

static bool always_fires(const rule *r) { return !r->conditions && !has_call(r->result); }

/* ------------------------------------------------------------------------------------------ rules
 */

static void add_rule(const rule *r, unsigned m) {
    if (g.rules == MAX_RULES) stop("too many rules");
    rule *x = &g.rule[g.rules++];
    *x = *r;
    x->pattern = member(r->pattern, m);
    x->result = member(r->result, m);
    check_rule(x);
}

static void read_rule(void) {
    const char *start = g.at - strlen(g.token);
    rule r = {.line = g.line, .number = g.numbers++};
    expect("(");
    r.pattern = read_op(false);
    while (accept("&&")) read_condition(&r);
    expect("=>");
    r.result = read_term(true);
    r.text = one_line(start, g.at - strlen(g.token));
    unsigned p = family_size(r.pattern), q = family_size(r.result);
    if (!p || !q || (q > 1 && p != q))
        fail(r.line, "families of different sizes");
    else
        for (unsigned m = 0; m < p; m++) add_rule(&r, m);
}

/* --------------------------------------------------------------------------------------- emitting
 */

static void emit(const char *fmt, ...) IR_PRINTF(1, 2);
static void emit(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("        ", g.out);
    vfprintf(g.out, fmt, ap);
    fputc('\n', g.out);
    va_end(ap);
}

static const char *text(const char *fmt, ...) IR_PRINTF(1, 2);
static const char *text(const char *fmt, ...) {
    char line[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    return copy_text(line, strlen(line));
}

static const char *float_text(const char *literal) {
    if (!strcmp(literal, "inf")) return "HUGE_VAL";
    return strcmp(literal, "-inf") ? literal : "-HUGE_VAL";
}

typedef struct {
    const char *name[32];
    unsigned n;
} names;

static bool is_declared(const names *d, const char *name) {
    for (unsigned i = 0; i < d->n; i++)
        if (!strcmp(d->name[i], name)) return true;
    return false;
}

static void declare(names *d, const char *name) {
    if (d->n < 32) d->name[d->n++] = name;
}

/* Tests one operand that is not an op, and gives it its name. */
static void match_leaf(const rule *r, names *d, const node *n, const char *place) {
    switch (n->kind) {
    case N_INT: emit("if (!matches_int(%s, %s)) break;", place, n->text); return;
    case N_FLOAT: emit("if (!matches_float(%s, %s)) break;", place, float_text(n->text)); return;
    case N_BOOL: emit("if (!matches_bool(%s, %s)) break;", place, n->text); return;
    case N_UNDEF: emit("if (%s->op != IR_OP_undef) break;", place); return;
    default: break;
    }
    if (is_declared(d, n->text)) {
        emit("if (%s != %s) break;", place, n->text);
        return;
    }
    if (count_uses(r, n->text) > 1) {
        emit("ir_inst *%s = %s;", n->text, place);
        declare(d, n->text);
        place = n->text;
    }
    if (n->kind == N_CONST) emit("if (!ir_is_const(%s)) break;", place);
}

/* Matches the operands of op n, held by variable n->var: the cheap tests of a level come first. */
static void match_operands(const rule *r, names *d, node *n) {
    if (n->open) emit("if (%s->nargs < %u) break;", n->var, n->nargs);
    for (unsigned i = 0; i < n->nargs; i++) {
        node *a = n->arg[i];
        const char *place = text("operand(%s, %u)", n->var, i);
        if (a->kind != N_OP) {
            match_leaf(r, d, a, place);
            continue;
        }
        a->var = a->text ? a->text : text("n%u", ++g.temporaries);
        emit(is_declared(d, a->var) ? "if (%s != %s) break;" : "ir_inst *%s = %s;", a->var, place);
        declare(d, a->var);
        emit("if (%s->op != IR_OP_%s) break;", a->var, ops[a->op[0]].name);
    }
    for (unsigned i = 0; i < n->nargs; i++)
        if (n->arg[i]->kind == N_OP) match_operands(r, d, n->arg[i]);
}

static void emit_conditions(const rule *r) {
    for (unsigned i = 0; i < r->conditions; i++) {
        const condition *c = &r->when[i];
        const char *args = "";
        for (unsigned k = 0; k < c->nargs; k++)
            args = text("%s%s%s", args, k ? ", " : "", c->arg[k]);
        emit("if (%s%s(%s)) break;", c->negated ? "" : "!", c->function, args);
    }
}

static bool carries_float_flags(ir_op op) {
    ir_rule r = ops[op].rule;
    return r == R_FLT || r == R_CMPF || r == R_TESTF || r == R_FTOF || r == R_FLT_INT;
}

/* The flags that all matched ops of one sort have: "v->flags & n1->flags", or NULL. */
static const char *shared_flags(const node *n, bool floats, const char *so_far) {
    if (n->kind != N_OP) return so_far;
    if (carries_float_flags(n->op[0]) == floats)
        so_far = so_far ? text("%s & %s->flags", so_far, n->var) : text("%s->flags", n->var);
    for (unsigned i = 0; i < n->nargs; i++) so_far = shared_flags(n->arg[i], floats, so_far);
    return so_far;
}

static const char *flags_of(const rule *r, const node *n) {
    bool floats = carries_float_flags(n->op[0]);
    const char *flags = floats || n->keep ? shared_flags(r->pattern, floats, NULL) : NULL;
    return flags ? flags : "0";
}

static const char *imm_of(const rule *r, const node *n) {
    const ir_op_info *op = &ops[n->op[0]];
    if (op->imm == I_ROUND && ops[r->pattern->op[0]].imm == I_ROUND) return "v->imm";
    return op->rule == R_FTOI ? "(ir_imm){.round = {.mode = IR_RTZ}}" : "(ir_imm){0}";
}

/* The C expression for a value that is there, or for a literal of `type`. */
static const char *leaf_value(const node *n, const char *type) {
    switch (n->kind) {
    case N_INT: return text("int_literal(b, %s, %s)", type, n->text);
    case N_FLOAT: return text("float_literal(b, %s, %s)", type, float_text(n->text));
    case N_BOOL: return text("int_literal(b, %s, %s)", type, n->text);
    case N_UNDEF: return text("ir_undef(b->f, %s)", type);
    default: return n->var ? n->var : n->text;
    }
}

/* Helpers run before anything is built: one that gives up leaves nothing behind. */
static void emit_calls(node *n) {
    for (unsigned i = 0; i < n->nargs; i++) emit_calls(n->arg[i]);
    if (n->kind != N_CALL) return;
    const char *args = "b";
    for (unsigned i = 0; i < n->nargs; i++) args = text("%s, %s", args, n->arg[i]->text);
    n->var = text("r%u", ++g.temporaries);
    emit("ir_inst *%s = %s(%s);", n->var, n->text, args);
    emit("if (!%s) break;", n->var);
}

/* The first operand, from `from` on, that has a type of its own. */
static const node *typed_operand(const node *n, unsigned from) {
    for (unsigned i = from; i < n->nargs; i++)
        if (!is_literal(n->arg[i])) return n->arg[i];
    return NULL;
}

static const char *type_of_op(const rule *r, const node *n) {
    ir_rule kind = ops[n->op[0]].rule;
    if (n->type) return text("%s->type", n->type);
    if (n == r->result) return "v->type";
    const node *a = typed_operand(n, kind == R_SELECT);
    if (!a) {
        fail(r->line, "the type of %s is not known", ops[n->op[0]].name);
        return "0";
    }
    if (kind == R_REDUCE) return "IR_I1";
    bool compares = kind == R_CMPI || kind == R_CMPF || kind == R_TESTF;
    return text(compares ? "bool_like(%s->type)" : "%s->type", leaf_value(a, ""));
}

/* The type of a literal that is operand i of n. */
static const char *type_of_literal(const rule *r, const node *n, unsigned i, const char *type) {
    switch (ops[n->op[0]].rule) {
    case R_INT:
    case R_FLT: return type;
    case R_SELECT: return i ? type : "IR_I1";
    case R_FLT_INT: return i ? text("ir_with_elem(%s, IR_I32)", type) : type;
    case R_PTRADD: return i ? "ir_size_type(b->f->module)" : type;
    case R_CMPI:
    case R_CMPF:
        if (!is_literal(n->arg[1 - i])) return text("%s->type", leaf_value(n->arg[1 - i], ""));
        break;
    default: break;
    }
    fail(r->line, "the type of \"%s\" is not known", n->arg[i]->text);
    return "0";
}

static void emit_build(const rule *r, node *n) {
    if (n->kind != N_OP) return;
    for (unsigned i = 0; i < n->nargs; i++) emit_build(r, n->arg[i]);
    const char *type = type_of_op(r, n), *args = "";
    for (unsigned i = 0; i < n->nargs; i++) {
        const node *a = n->arg[i];
        const char *t = is_literal(a) ? type_of_literal(r, n, i, type) : "";
        args = text("%s%s%s", args, i ? ", " : "", leaf_value(a, t));
    }
    n->var = text("r%u", ++g.temporaries);
    const char *flags = flags_of(r, n), *imm = imm_of(r, n), *name = ops[n->op[0]].name;
    if (!strcmp(flags, "0") && !strcmp(imm, "(ir_imm){0}"))
        emit("ir_inst *%s = ir_build%u(b, IR_OP_%s, %s, %s);", n->var, n->nargs, name, type, args);
    else
        emit("ir_inst *%s = ir_build(b, IR_OP_%s, %s, %s, %s, %u, (ir_inst *[]){%s});", n->var,
             name, type, flags, imm, n->nargs, args);
}

/* One order of one rule: a block that falls through when it does not match. */
static void emit_variant(const rule *r) {
    names declared = {.n = 0};
    g.temporaries = 0;
    fprintf(g.out, "    do { /* %s:%u: %s */\n", g.name, r->line, r->text);
    r->pattern->var = "v";
    match_operands(r, &declared, r->pattern);
    emit_conditions(r);
    emit_calls(r->result);
    emit_build(r, r->result);
    emit("return fire(cx, v, %u, %s);", r->number, leaf_value(r->result, "v->type"));
    fprintf(g.out, "    } while (0);\n");
}

/* Can the conditions of r tell one order of its operands from another? */
static bool tells_orders_apart(const rule *r) {
    for (unsigned i = 0; i < r->conditions; i++)
        for (unsigned k = 0; k < r->when[i].nargs; k++)
            if (!is_reserved(r->when[i].arg[k])) return true;
    return has_call(r->result);
}

/* Is there an order of an earlier rule, or of this one, that takes all that this order of r does?
 */
static bool is_covered(const rule *before, unsigned n, const rule *r) {
    for (unsigned i = 0; i < n; i++) {
        bindings b = {.n = 0};
        bool same = before[i].number == r->number;
        if (same ? tells_orders_apart(r) : !always_fires(&before[i])) continue;
        if (!is_more_general(before[i].pattern, r->pattern, &b)) continue;
        if (!same) fail(r->line, "never fires: line %u matches all of it", before[i].line);
        return true;
    }
    return false;
}

static void emit_function(ir_op op) {
    static rule orders[MAX_RULES];
    unsigned n = 0;
    fprintf(g.out, "\nstatic ir_inst *rewrite_%s(ir_builder *b, ir_inst *v, pass_ctx *cx) {\n",
            ops[op].name);
    fprintf(g.out, "    (void)b;\n");
    for (const rule *r = g.rule; r < g.rule + g.rules; r++) {
        if (r->pattern->op[0] != op) continue;
        unsigned swaps = count_swaps(r->pattern);
        if (swaps > MAX_SWAPS) fail(r->line, "too many commutative ops");
        for (unsigned order = 0; order < 1u << swaps && !g.errors; order++) {
            rule x = *r;
            x.pattern = reorder(r->pattern, &(unsigned){order});
            if (is_covered(orders, n, &x)) continue;
            if (n == MAX_RULES) stop("too many orders");
            orders[n++] = x;
            emit_variant(&x);
        }
    }
    fprintf(g.out, "    return NULL;\n}\n");
}

static bool is_root(ir_op op) {
    for (const rule *r = g.rule; r < g.rule + g.rules; r++)
        if (r->pattern->op[0] == op) return true;
    return false;
}

static void emit_quoted(const char *s) {
    fputc('"', g.out);
    for (; *s; s++) fprintf(g.out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('"', g.out);
}

static void emit_places(void) {
    fprintf(g.out, "\nstatic const struct {\n    const char *place, *text;\n} rules[] = {\n");
    for (const rule *r = g.rule; r < g.rule + g.rules; r++) {
        if (r > g.rule && r[-1].number == r->number) continue;
        fprintf(g.out, "    {\"%s:%u\", ", g.name, r->line);
        emit_quoted(r->text);
        fprintf(g.out, "},\n");
    }
    fprintf(g.out, "};\n\nconst unsigned pass_rule_count = %u;\n", g.numbers);
    fprintf(g.out, "\nconst char *pass_rule_place(unsigned rule) {\n"
                   "    assert(rule < pass_rule_count);\n    return rules[rule].place;\n}\n");
    fprintf(g.out, "\nstatic const char *rule_text(unsigned rule) { return rules[rule].text; }\n");
}

static void emit_dispatch(void) {
    fprintf(g.out, "\nir_inst *pass_apply_rules(ir_builder *b, ir_inst *v, pass_ctx *cx) {\n"
                   "    switch (v->op) {\n");
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (is_root((ir_op)op))
            fprintf(g.out, "    case IR_OP_%s: return rewrite_%s(b, v, cx);\n", ops[op].name,
                    ops[op].name);
    fprintf(g.out, "    default: return NULL;\n    }\n}\n");
}

/* ------------------------------------------------------------------------------------------- main
 */

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    size_t n = 0, cap = 1 << 20;
    char *data = allocate(cap + 1);
    n = fread(data, 1, cap, f);
    fclose(f);
    return n < cap ? data : NULL;
}

static void read_rules(void) {
    next();
    while (!is("")) read_rule();
}

static void write_all(void) {
    fprintf(g.out, "/* Generated by rulegen from %s. */\n", g.name);
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (is_root((ir_op)op)) emit_function((ir_op)op);
    emit_places();
    emit_dispatch();
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: rulegen FILE.rules OUT.inc\n");
        return 2;
    }
    const char *slash = strrchr(argv[1], '/');
    g.file = argv[1];
    g.name = slash ? slash + 1 : argv[1];
    g.line = 1;
    g.at = read_file(argv[1]);
    if (!g.at) {
        fprintf(stderr, "rulegen: cannot read %s\n", argv[1]);
        return 1;
    }
    read_rules();
    if (g.errors) return 1;
    g.out = fopen(argv[2], "w");
    if (!g.out) {
        fprintf(stderr, "rulegen: cannot write %s\n", argv[2]);
        return 1;
    }
    write_all();
    if (fclose(g.out) != 0 || g.errors) {
        remove(argv[2]);
        return 1;
    }
    return 0;
}
