/* rulegen_emit.c — rules to C: for each root op one function, in it one block for each rule and
 * each order of commutative operands.  A block tests, breaks out when something does not fit, and
 * returns what it has built.
 */
#include "ir/rulegen.h"

enum { MAX_SWAPS = 8, MAX_NAMES = 32 };

typedef struct {
    rule_file *file;
    FILE *out;
    unsigned temporaries;            /* of the block at hand */
    const char *declared[MAX_NAMES]; /* names that have a variable in it */
    unsigned ndeclared;
} printer;

/* --------------------------------------------------------------------------------------- orders */

static bool commutes(const node *n) {
    return n->kind == N_OP && (rulegen_ops[n->op[0]].flags & F_COMMUTES) &&
           !rulegen_is_constant(n->arg[1]);
}

static unsigned count_swaps(const node *n) {
    unsigned swaps = commutes(n);
    for (unsigned i = 0; i < n->nargs; i++) swaps += count_swaps(n->arg[i]);
    return swaps;
}

/* A copy whose k-th commutative op has its operands swapped when bit k of *order is set. */
static node *reorder(const node *n, unsigned *order) {
    node *c = rulegen_alloc(sizeof *c);
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

/* ------------------------------------------------------------------------------------- matching */

IR_PRINTF(2, 3) static void emit(printer *p, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("        ", p->out);
    vfprintf(p->out, fmt, ap);
    fputc('\n', p->out);
    va_end(ap);
}

static const char *float_text(const char *literal) {
    if (!strcmp(literal, "inf")) return "HUGE_VAL";
    return strcmp(literal, "-inf") ? literal : "-HUGE_VAL";
}

static bool is_declared(const printer *p, const char *name) {
    for (unsigned i = 0; i < p->ndeclared; i++)
        if (!strcmp(p->declared[i], name)) return true;
    return false;
}

static void declare(printer *p, const char *name) {
    if (p->ndeclared < MAX_NAMES) p->declared[p->ndeclared++] = name;
}

/* Tests one operand that is not an op, and gives it its name. */
static void match_leaf(printer *p, const rule *r, const node *n, const char *place) {
    switch (n->kind) {
    case N_INT: emit(p, "if (!matches_int(%s, %s)) break;", place, n->text); return;
    case N_FLOAT: emit(p, "if (!matches_float(%s, %s)) break;", place, float_text(n->text)); return;
    case N_BOOL: emit(p, "if (!matches_bool(%s, %s)) break;", place, n->text); return;
    case N_UNDEF: emit(p, "if (%s->op != IR_OP_undef) break;", place); return;
    default: break;
    }
    if (is_declared(p, n->text)) {
        emit(p, "if (%s != %s) break;", place, n->text);
        return;
    }
    if (rulegen_count_uses(r, n->text) > 1) {
        emit(p, "ir_inst *%s = %s;", n->text, place);
        declare(p, n->text);
        place = n->text;
    }
    if (n->kind == N_CONST) emit(p, "if (!ir_is_const(%s)) break;", place);
}

/* Matches the operands of op n, held by variable n->var: the cheap tests of a level come first. */
static void match_operands(printer *p, const rule *r, node *n) {
    if (n->open) emit(p, "if (%s->nargs < %u) break;", n->var, n->nargs);
    for (unsigned i = 0; i < n->nargs; i++) {
        node *a = n->arg[i];
        const char *place = rulegen_text("operand(%s, %u)", n->var, i);
        if (a->kind != N_OP) {
            match_leaf(p, r, a, place);
            continue;
        }
        a->var = a->text ? a->text : rulegen_text("n%u", ++p->temporaries);
        emit(p, is_declared(p, a->var) ? "if (%s != %s) break;" : "ir_inst *%s = %s;", a->var,
             place);
        declare(p, a->var);
        emit(p, "if (%s->op != IR_OP_%s) break;", a->var, rulegen_ops[a->op[0]].name);
    }
    for (unsigned i = 0; i < n->nargs; i++)
        if (n->arg[i]->kind == N_OP) match_operands(p, r, n->arg[i]);
}

static void emit_type_test(printer *p, const char *place, uint32_t types) {
    emit(p, "if (!(1u << ir_type_number(%s->type) & 0x%xu)) break;", place, types);
}

static void emit_types(printer *p, const rule *r) {
    ir_rule sort = rulegen_ops[r->pattern->op[0]].rule;
    int n = ir_typed_operand(sort);
    if (!r->from) return;
    emit_type_test(p, n < 0 ? "v" : rulegen_text("operand(v, %d)", n), r->from);
    if (ir_has_two_types(sort)) emit_type_test(p, "v", r->to);
}

static void emit_conditions(printer *p, const rule *r) {
    for (unsigned i = 0; i < r->conditions; i++) {
        const condition *c = &r->when[i];
        const char *args = "";
        for (unsigned k = 0; k < c->nargs; k++)
            args = rulegen_text("%s%s%s", args, k ? ", " : "", c->arg[k]);
        emit(p, "if (%s%s(%s)) break;", c->negated ? "" : "!", c->function, args);
    }
}

static bool carries_float_flags(ir_op op) {
    ir_rule r = rulegen_ops[op].rule;
    return r == R_FLT || r == R_CMPF || r == R_TESTF || r == R_FTOF || r == R_FLT_INT;
}

/* Do the flags of op mean for the result `to` what they mean for op? */
static bool passes_flags(ir_op op, ir_op to) {
    bool floats = carries_float_flags(to);
    return floats ? carries_float_flags(op) : rulegen_ops[op].rule == rulegen_ops[to].rule;
}

/* The flags that all matched ops with the type rule of `to` have: "v->flags & n1->flags", or
 * NULL. */
static const char *shared_flags(const node *n, ir_op to, const char *so_far) {
    if (n->kind != N_OP) return so_far;
    if (passes_flags(n->op[0], to))
        so_far = so_far ? rulegen_text("%s & %s->flags", so_far, n->var)
                        : rulegen_text("%s->flags", n->var);
    for (unsigned i = 0; i < n->nargs; i++) so_far = shared_flags(n->arg[i], to, so_far);
    return so_far;
}

static const char *flags_of(const rule *r, const node *n) {
    bool passes = carries_float_flags(n->op[0]) || n->keep;
    const char *flags = passes ? shared_flags(r->pattern, n->op[0], NULL) : NULL;
    return flags ? flags : "0";
}

static const char *imm_of(const rule *r, const node *n) {
    const ir_op_info *op = &rulegen_ops[n->op[0]];
    if (op->imm == I_ROUND && rulegen_ops[r->pattern->op[0]].imm == I_ROUND) return "v->imm";
    return op->rule == R_FTOI ? "(ir_imm){.round = {.mode = IR_RTZ}}" : "(ir_imm){0}";
}

/* The C expression for an existing value, or for a literal of `type`. */
static const char *leaf_value(const node *n, const char *type) {
    switch (n->kind) {
    case N_INT: return rulegen_text("int_literal(b, %s, %s)", type, n->text);
    case N_FLOAT: return rulegen_text("float_literal(b, %s, %s)", type, float_text(n->text));
    case N_BOOL: return rulegen_text("int_literal(b, %s, %s)", type, n->text);
    case N_UNDEF: return rulegen_text("ir_undef(b->f, %s)", type);
    default: return n->var ? n->var : n->text;
    }
}

/* Helpers run before anything is built, so nothing has to be undone if one gives up. */
static void emit_calls(printer *p, node *n) {
    for (unsigned i = 0; i < n->nargs; i++) emit_calls(p, n->arg[i]);
    if (n->kind != N_CALL) return;
    const char *args = "b";
    for (unsigned i = 0; i < n->nargs; i++) args = rulegen_text("%s, %s", args, n->arg[i]->text);
    n->var = rulegen_text("r%u", ++p->temporaries);
    emit(p, "ir_inst *%s = %s(%s);", n->var, n->text, args);
    emit(p, "if (!%s) break;", n->var);
}

/* The first operand, from `from` on, that has a type of its own. */
static const node *typed_operand(const node *n, unsigned from) {
    for (unsigned i = from; i < n->nargs; i++)
        if (!rulegen_is_literal(n->arg[i])) return n->arg[i];
    return NULL;
}

static const char *type_of_op(printer *p, const rule *r, const node *n) {
    ir_rule kind = rulegen_ops[n->op[0]].rule;
    bool like = n->type && rulegen_is_type(n->type);
    if (n->type && !like) return rulegen_text("%s->type", n->type);
    if (n == r->result) return "v->type";
    const node *a = typed_operand(n, kind == R_SELECT);
    if (!a) {
        rulegen_fail(p->file, r->line, "the type of %s is not known", rulegen_ops[n->op[0]].name);
        return "0";
    }
    if (like) return rulegen_text("%s_like(%s->type)", n->type, leaf_value(a, ""));
    if (kind == R_REDUCE) return "IR_I1";
    bool compares = kind == R_CMPI || kind == R_CMPF || kind == R_TESTF;
    return rulegen_text(compares ? "bool_like(%s->type)" : "%s->type", leaf_value(a, ""));
}

/* The type of a literal that is operand i of n. */
static const char *type_of_literal(printer *p, const rule *r, const node *n, unsigned i,
                                   const char *type) {
    switch (rulegen_ops[n->op[0]].rule) {
    case R_INT:
    case R_BITS:
    case R_FLT: return type;
    case R_SELECT: return i ? type : "IR_I1";
    case R_FLT_INT: return i ? rulegen_text("ir_with_elem(%s, IR_I32)", type) : type;
    case R_PTRADD: return i ? "ir_size_type(b->f->module)" : type;
    case R_CMPI:
    case R_CMPF:
        if (!rulegen_is_literal(n->arg[1 - i]))
            return rulegen_text("%s->type", leaf_value(n->arg[1 - i], ""));
        break;
    default: break;
    }
    rulegen_fail(p->file, r->line, "the type of \"%s\" is not known", n->arg[i]->text);
    return "0";
}

static void emit_build(printer *p, const rule *r, node *n) {
    if (n->kind != N_OP) return;
    for (unsigned i = 0; i < n->nargs; i++) emit_build(p, r, n->arg[i]);
    const char *type = type_of_op(p, r, n), *args = "";
    for (unsigned i = 0; i < n->nargs; i++) {
        const node *a = n->arg[i];
        const char *t = rulegen_is_literal(a) ? type_of_literal(p, r, n, i, type) : "";
        args = rulegen_text("%s%s%s", args, i ? ", " : "", leaf_value(a, t));
    }
    n->var = rulegen_text("r%u", ++p->temporaries);
    const char *flags = flags_of(r, n), *imm = imm_of(r, n), *name = rulegen_ops[n->op[0]].name;
    if (!strcmp(flags, "0") && !strcmp(imm, "(ir_imm){0}") && n->nargs < 3)
        emit(p, "ir_inst *%s = ir_build%u(b, IR_OP_%s, %s, %s);", n->var, n->nargs, name, type,
             args);
    else
        emit(p, "ir_inst *%s = ir_build(b, IR_OP_%s, %s, (ir_attrs){%s, %s}, IR_ARGS(%s));", n->var,
             name, type, flags, imm, args);
}

/* One order of one rule: a block that falls through when it does not match. */
static void emit_variant(printer *p, const rule *r) {
    p->temporaries = p->ndeclared = 0;
    fprintf(p->out, "    do { /* %s:%u: %s */\n", p->file->name, r->line, r->text);
    r->pattern->var = "v";
    emit_types(p, r);
    match_operands(p, r, r->pattern);
    emit_conditions(p, r);
    emit_calls(p, r->result);
    emit_build(p, r, r->result);
    emit(p, "return fire(cx, v, %u, %s);", r->number, leaf_value(r->result, "v->type"));
    fprintf(p->out, "    } while (0);\n");
}

static void emit_function(printer *p, ir_op op) {
    static rule orders[MAX_RULES];
    unsigned n = 0;
    fprintf(p->out, "\nstatic ir_inst *rewrite_%s(ir_builder *b, ir_inst *v, %s_ctx *cx) {\n",
            rulegen_ops[op].name, p->file->prefix);
    fprintf(p->out, "    (void)b;\n");
    for (const rule *r = p->file->rule; r < p->file->rule + p->file->rules; r++) {
        if (r->pattern->op[0] != op) continue;
        unsigned swaps = count_swaps(r->pattern);
        if (swaps > MAX_SWAPS) rulegen_fail(p->file, r->line, "too many commutative ops");
        for (unsigned order = 0; order < 1u << swaps && !p->file->errors; order++) {
            rule x = *r;
            x.pattern = reorder(r->pattern, &(unsigned){order});
            if (rulegen_is_covered(p->file, orders, n, &x)) continue;
            orders[n++] = x;
            emit_variant(p, &x);
        }
    }
    fprintf(p->out, "    return NULL;\n}\n");
}

static bool is_root(const printer *p, ir_op op) {
    for (const rule *r = p->file->rule; r < p->file->rule + p->file->rules; r++)
        if (r->pattern->op[0] == op) return true;
    return false;
}

static void emit_quoted(printer *p, const char *s) {
    fputc('"', p->out);
    for (; *s; s++) fprintf(p->out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('"', p->out);
}

static void emit_places(printer *p) {
    fprintf(p->out, "\nstatic const ir_rule_info rules[] = {\n");
    for (const rule *r = p->file->rule; r < p->file->rule + p->file->rules; r++) {
        if (r > p->file->rule && r[-1].number == r->number) continue;
        fprintf(p->out, "    {\"%s:%u\", ", p->file->name, r->line);
        emit_quoted(p, r->text);
        fprintf(p->out, ", 0x%x, 0x%x},\n", r->from, r->to);
    }
    const char *prefix = p->file->prefix;
    fprintf(p->out,
            "};\n\nconst ir_rule_info *%s_rule_info(unsigned rule) {\n"
            "    return rule < %u ? &rules[rule] : NULL;\n}\n",
            prefix, p->file->numbers);
}

static void emit_dispatch(printer *p) {
    fprintf(p->out,
            "\nir_inst *%s_apply_rules(ir_builder *b, ir_inst *v, %s_ctx *cx) {\n"
            "    switch (v->op) {\n",
            p->file->prefix, p->file->prefix);
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (is_root(p, (ir_op)op))
            fprintf(p->out, "    case IR_OP_%s: return rewrite_%s(b, v, cx);\n",
                    rulegen_ops[op].name, rulegen_ops[op].name);
    fprintf(p->out, "    default: return NULL;\n    }\n}\n");
}

void rulegen_emit(rule_file *f, FILE *out) {
    printer p = {.file = f, .out = out};
    fprintf(out, "/* Generated by rulegen from %s. */\n#include \"ir/rule_types.h\"\n", f->name);
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (is_root(&p, (ir_op)op)) emit_function(&p, (ir_op)op);
    emit_places(&p);
    emit_dispatch(&p);
}
