/* rulegen_read.c — the syntax of rules: text to trees, and families to their members.
 *
 * One token of lookahead.  Errors of syntax end the program, because what follows would only
 * confuse; errors of meaning are counted, so that one run shows them all.  A rule with a family is
 * stored once per member, under one number and line.
 */
#include "ir/rulegen.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct {
    rule_file *file;
    const char *at; /* what has not been read */
    unsigned line;
    char token[64];
} reader;

/* Errors after which nothing sensible can be read. */
IR_NORETURN static void stop(const reader *in, const char *what) {
    rulegen_fail(in->file, in->line, "%s before \"%s\"", what, in->token);
    exit(1);
}

/* --------------------------------------------------------------------------------------- tokens */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static void skip_blanks(reader *in) {
    for (; *in->at; in->at++) {
        if (*in->at == ';') in->at += strcspn(in->at, "\n");
        if (!isspace((unsigned char)*in->at)) return;
        in->line += *in->at == '\n';
    }
}

/* A word, a number, "&&", "=>", "->", "..." or one character. */
static size_t token_length(const char *s) {
    if (!strncmp(s, "&&", 2) || !strncmp(s, "=>", 2) || !strncmp(s, "->", 2)) return 2;
    if (!strncmp(s, "...", 3)) return 3;
    if (!is_word(*s) && !(*s == '-' && is_word(s[1]))) return *s != 0;
    size_t n = 1;
    while (is_word(s[n]) || (s[n] == '-' && s[n - 1] == 'e' && isdigit((unsigned char)*s))) n++;
    return n;
}

/* The next token into in->token; "" at the end. */
static void next(reader *in) {
    skip_blanks(in);
    size_t n = token_length(in->at), kept = n < sizeof in->token ? n : sizeof in->token - 1;
    memcpy(in->token, in->at, kept);
    in->token[kept] = 0;
    in->at += n;
}

static bool is(const reader *in, const char *token) { return strcmp(in->token, token) == 0; }

static bool accept(reader *in, const char *token) {
    if (!is(in, token)) return false;
    next(in);
    return true;
}

static void expect(reader *in, const char *token) {
    if (!accept(in, token)) stop(in, !strcmp(token, "(") ? "\"(\" expected" : "a syntax error");
}

static const char *word(reader *in) {
    if (!is_word(in->token[0]) && in->token[0] != '-') stop(in, "a name is expected");
    const char *w = rulegen_text("%s", in->token);
    next(in);
    return w;
}

static ir_op find_op(reader *in, const char *name) {
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (!strcmp(rulegen_ops[op].name, name)) return (ir_op)op;
    rulegen_fail(in->file, in->line, "unknown op \"%s\"", name);
    exit(1);
}

static void read_ops(reader *in, node *n) {
    bool family = accept(in, "(");
    do {
        ir_op op = find_op(in, word(in));
        if (n->members == MAX_FAMILY) stop(in, "too many members");
        n->op[n->members++] = op;
    } while (family && accept(in, "|"));
    if (family) expect(in, ")");
}

static node_kind kind_of_word(const char *w) {
    bool number = isdigit((unsigned char)w[w[0] == '-']);
    if (!strcmp(w, "true") || !strcmp(w, "false")) return N_BOOL;
    if (!strcmp(w, "undef")) return N_UNDEF;
    if (!strcmp(w, "inf") || !strcmp(w, "-inf")) return N_FLOAT;
    if (number) return strpbrk(w, ".e") ? N_FLOAT : N_INT;
    return isupper((unsigned char)w[0]) ? N_CONST : N_NAME;
}

static node *read_leaf(reader *in) {
    node *n = rulegen_alloc(sizeof *n);
    n->text = word(in);
    n->kind = kind_of_word(n->text);
    return n;
}

static node *read_term(reader *in, bool result);

static void add_arg(reader *in, node *n, node *arg) {
    if (n->nargs == MAX_ARGS) stop(in, "too many operands");
    n->arg[n->nargs++] = arg;
}

/* After "(". */
static node *read_op(reader *in, bool result) {
    node *n = rulegen_alloc(sizeof *n);
    read_ops(in, n);
    n->keep = result && accept(in, "!");
    if (result && accept(in, ":")) n->type = word(in);
    while (!is(in, ")") && !is(in, "...") && !is(in, "")) add_arg(in, n, read_term(in, result));
    n->open = accept(in, "...");
    expect(in, ")");
    for (unsigned m = 0; m < n->members; m++) {
        const ir_op_info *op = &rulegen_ops[n->op[m]];
        bool variadic = op->flags & F_VARIADIC;
        if (variadic ? n->nargs < op->nargs && !n->open : n->nargs != op->nargs || n->open)
            rulegen_fail(in->file, in->line, "%s takes %u operands", op->name, op->nargs);
    }
    return n;
}

static node *read_call(reader *in) {
    node *n = rulegen_alloc(sizeof *n);
    n->kind = N_CALL;
    n->text = word(in);
    expect(in, "(");
    while (!is(in, ")") && !is(in, "")) {
        add_arg(in, n, read_leaf(in));
        if (!accept(in, ",")) break;
    }
    expect(in, ")");
    return n;
}

/* "0|1)" of a family of literals. */
static node *read_literals(reader *in) {
    node *n = NULL;
    do {
        node *leaf = read_leaf(in);
        if (!n) n = leaf;
        if (!rulegen_is_literal(leaf) || leaf->kind != n->kind || n->members == MAX_FAMILY)
            stop(in, "literals of one sort are expected");
        n->literal[n->members++] = leaf->text;
    } while (accept(in, "|"));
    expect(in, ")");
    return n;
}

static node *read_term(reader *in, bool result) {
    if (result && accept(in, "=")) return read_call(in);
    if (accept(in, "(")) {
        bool literals = rulegen_is_literal(&(node){.kind = kind_of_word(in->token)});
        return literals ? read_literals(in) : read_op(in, result);
    }
    node *leaf = read_leaf(in);
    if (result || !accept(in, "@")) return leaf;
    expect(in, "(");
    node *n = read_op(in, false);
    n->text = leaf->text;
    return n;
}

static void read_condition(reader *in, rule *r) {
    if (r->conditions == MAX_CONDITIONS) stop(in, "too many conditions");
    condition *c = &r->when[r->conditions++];
    c->negated = accept(in, "!");
    c->function = word(in);
    expect(in, "(");
    do {
        if (c->nargs == MAX_ARGS) stop(in, "too many arguments");
        c->arg[c->nargs++] = word(in);
    } while (accept(in, ","));
    expect(in, ")");
}

static uint32_t read_types(reader *in) {
    uint32_t types = 0;
    do {
        uint32_t t = rulegen_types_of(in->file, in->token);
        if (!t) stop(in, "a type is expected");
        types |= t;
        next(in);
    } while (accept(in, "|"));
    return types;
}

/* After "types". */
static void read_set(reader *in) {
    if (in->file->sets == MAX_SETS) stop(in, "too many sets of types");
    const char *name = word(in);
    expect(in, "=");
    type_set set = {name, read_types(in)};
    in->file->set[in->file->sets++] = set;
}

/* The source of a rule on one line, for comments and traces. */
static const char *one_line(const char *from, const char *to) {
    char *s = rulegen_alloc((size_t)(to - from) + 1), *p = s;
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

/* ------------------------------------------------------------------------------ families, rules */

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
    node *c = rulegen_alloc(sizeof *c);
    *c = *n;
    unsigned k = n->members > 1 ? m : 0;
    c->op[0] = n->op[k];
    if (n->members && rulegen_is_literal(n)) c->text = n->literal[k];
    c->members = n->members ? 1 : 0;
    for (unsigned i = 0; i < n->nargs; i++) c->arg[i] = member(n->arg[i], m);
    return c;
}

static void add_rule(reader *in, const rule *r, unsigned m) {
    if (in->file->rules == MAX_RULES) stop(in, "too many rules");
    rule *x = &in->file->rule[in->file->rules++];
    *x = *r;
    x->pattern = member(r->pattern, m);
    x->result = member(r->result, m);
    rulegen_check_rule(in->file, x);
}

static void read_rule(reader *in) {
    const char *start = in->at - strlen(in->token);
    rule r = {.line = in->line, .number = in->file->numbers++};
    expect(in, "(");
    r.pattern = read_op(in, false);
    if (accept(in, ":")) r.from = r.to = read_types(in);
    r.has_arrow = accept(in, "->");
    if (r.has_arrow) r.to = read_types(in);
    while (accept(in, "&&")) read_condition(in, &r);
    expect(in, "=>");
    r.result = read_term(in, true);
    r.text = one_line(start, in->at - strlen(in->token));
    unsigned p = family_size(r.pattern), q = family_size(r.result);
    if (!p || !q || (q > 1 && p != q))
        rulegen_fail(in->file, r.line, "families of different sizes");
    else
        for (unsigned m = 0; m < p; m++) add_rule(in, &r, m);
}

void rulegen_read(rule_file *f, const char *text) {
    reader in = {.file = f, .at = text, .line = 1};
    next(&in);
    while (!is(&in, ""))
        if (accept(&in, "types"))
            read_set(&in);
        else
            read_rule(&in);
}
