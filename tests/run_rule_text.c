/* run_rule_text.c — a rule of isel.rules as a function in text form, for given types.
 *
 * Names become parameters, constants one of several numbers, the addresses of loads and stores a
 * variable of the frame, which is written first and, if the rule writes it, read at the end.  What
 * a pattern does not say (the lanes of a shuffle, flags, roundings) is chosen so that the rule fits
 * and results are exact.
 */
#include "tests/run_rules.h"

#include <ctype.h>

typedef struct {
    const char *name;
    ir_type type;
} parameter;

typedef struct {
    const rule_program *p;
    const char *at; /* in the text of the rule */
    ir_text params, body;
    parameter known[IR_MAX_LANES];
    unsigned nknown, temporaries;
    bool has_place, written; /* a variable of the frame; the root writes it */
    ir_type place;
} writer;

static void skip_blanks(writer *w) {
    while (*w->at == ' ') w->at++;
}

static bool accept(writer *w, const char *token) {
    size_t n = strlen(token);
    skip_blanks(w);
    if (strncmp(w->at, token, n) != 0) return false;
    w->at += n;
    return true;
}

static const char *word(writer *w) {
    skip_blanks(w);
    const char *from = w->at;
    if (*w->at == '-') w->at++;
    while (isalnum((unsigned char)*w->at) || *w->at == '_') w->at++;
    return ir_strndup(w->body.arena, from, (size_t)(w->at - from));
}

static const char *type_text(writer *w, ir_type t) {
    ir_text out = {.arena = w->body.arena};
    ir_print_type(&out, NULL, t);
    return out.data;
}

/* --------------------------------------------------------------------------------------- leaves */

/* Truth values of vectors are made of numbers, since they cannot be passed. */
static void add_mask(writer *w, const char *name, ir_type t) {
    const char *number = type_text(w, ir_vector(IR_I8, ir_lanes(t)));
    ir_putf(&w->params, "%s%%%s.n: %s", w->params.n ? ", " : "", name, number);
    ir_putf(&w->body, "  %%%s: %s = slt %%%s.n, %s splat(0)\n", name, type_text(w, t), name,
            number);
}

static const char *parameter_of(writer *w, const char *name, ir_type t) {
    const char *value = ir_sprintf(w->body.arena, "%%%s", name);
    for (unsigned n = 0; n < w->nknown; n++)
        if (strcmp(w->known[n].name, name) == 0) return value;
    w->known[w->nknown++] = (parameter){name, t};
    if (ir_is_vector(t) && ir_is_bool(t))
        add_mask(w, name, t);
    else
        ir_putf(&w->params, "%s%%%s: %s", w->params.n ? ", " : "", name, type_text(w, t));
    return value;
}

static const char *literal(writer *w, ir_type t, const char *number) {
    ir_arena *a = w->body.arena;
    const char *type = type_text(w, t), *text = ir_is_float(t) ? "1.0" : number;
    if (ir_is_bool(t)) text = strcmp(number, "0") ? "true" : "false";
    return ir_sprintf(a, ir_is_vector(t) ? "%s splat(%s)" : "%s %s", type, text);
}

/* The variable of the frame that an access of type t goes to. */
static const char *place_of(writer *w, ir_type t) {
    if (!w->has_place) {
        w->has_place = true;
        w->place = t;
        const char *first = parameter_of(w, "first", t);
        ir_putf(&w->body, "  %%p: ptr.private = alloca %s align 64\n  store %s, %%p align 1\n",
                type_text(w, t), first);
        ir_put(&w->body, "  %g: ptr.generic = ptrcast %p\n");
    }
    return "%p";
}

static const char *term(writer *w, ir_type t);

static const char *index_term(writer *w, ir_type vector) {
    word(w);
    return ir_sprintf(w->body.arena, "i32 %u", w->p->attempt * 5 % ir_lanes(vector));
}

/* ----------------------------------------------------------------------------------- operations */

static ir_op find_op(const char *name) {
    unsigned op = 0;
    while (strcmp(ir_ops[op].name, name) != 0) op++;
    return (ir_op)op;
}

/* "add", or the member of "(add|sub)" whose turn it is. */
static ir_op read_op(writer *w) {
    bool family = accept(w, "(");
    ir_op op = find_op(word(w));
    for (unsigned n = 1; family && accept(w, "|"); n++) {
        ir_op next = find_op(word(w));
        if (n == w->p->member) op = next;
    }
    if (family) accept(w, ")");
    return op;
}

/* What a comparison within the pattern compares: floats as what is chosen, masks as wide. */
static ir_type inner_subject(const writer *w, ir_rule rule) {
    static const ir_kind ints[] = {
        [1] = IR_I8, [8] = IR_I8, [16] = IR_I16, [32] = IR_I32, [64] = IR_I64};
    ir_type to = w->p->to;
    return rule == R_CMPF ? to : ir_with_elem(w->p->from, ints[ir_bits(NULL, ir_elem(to))]);
}

static bool is_lanes_mask(ir_op op, unsigned n) {
    if (op == IR_OP_masked_load) return n == 1;
    return op == IR_OP_scatter ? n == 3
                               : (op == IR_OP_masked_store || op == IR_OP_gather) && n == 2;
}

static bool is_offsets(ir_op op, unsigned n) {
    return (op == IR_OP_gather && n == 1) || (op == IR_OP_scatter && n == 2);
}

static ir_type operand_type(const writer *w, ir_op op, unsigned n, ir_type t, bool root) {
    ir_rule rule = ir_ops[op].rule;
    ir_type from = root ? w->p->from : ir_with_elem(t, IR_I1);
    if (is_lanes_mask(op, n)) return ir_with_elem(t, IR_I1);
    if (is_offsets(op, n)) return ir_with_elem(t, w->p->keeps ? IR_I64 : IR_I32);
    if (op == IR_OP_permute && n == 1) return ir_operand_type(NULL, op, t, n);
    switch (rule) {
    case R_CMPI:
    case R_CMPF: return root ? w->p->from : inner_subject(w, rule);
    case R_SELECT: return n == 0 ? from : t;
    case R_VEC:
    case R_INSERT: return n == 1 || rule == R_VEC ? ir_elem(t) : t;
    case R_EXTRACT:
    case R_REDUCE:
    case R_STORE:
    case R_MASKED_STORE:
    case R_SCATTER: return w->p->from;
    default: return ir_has_two_types(rule) ? from : t;
    }
}

static bool is_index(ir_op op, unsigned n) {
    return (op == IR_OP_extract && n == 1) || (op == IR_OP_insert && n == 2);
}

static bool is_address(ir_op op, unsigned n) {
    ir_rule rule = ir_ops[op].rule;
    bool loads = op == IR_OP_load || op == IR_OP_masked_load || op == IR_OP_gather;
    bool stores = op == IR_OP_store || op == IR_OP_masked_store || op == IR_OP_scatter;
    return (loads && n == 0) || (stores && n == 1) ||
           (rule >= R_ATOMIC_INT && rule <= R_ATOMIC_STORE && n == 0);
}

static const char *operand(writer *w, ir_op op, unsigned n, ir_type t, bool root) {
    ir_type own = operand_type(w, op, n, t, root);
    if (is_index(op, n)) return index_term(w, op == IR_OP_extract ? own : t);
    if (!is_address(op, n) && !is_offsets(op, n)) return term(w, own);
    word(w);
    if (is_offsets(op, n)) return literal(w, own, "0");
    place_of(w, t);
    return ir_ops[op].imm == I_SYNC ? "%g" : "%p";
}

/* The other operands of a vector of scalars: all the same, or each another one. */
static void put_lanes(writer *w, ir_text *args, ir_type t) {
    for (unsigned k = 1; k < ir_lanes(t); k++) {
        const char *name = w->p->attempt ? ir_sprintf(args->arena, "x%u", k % 5) : "x";
        ir_putf(args, ", %s", parameter_of(w, name, ir_elem(t)));
    }
}

static void put_mask(const writer *w, ir_text *out, ir_type t) {
    unsigned lanes = ir_lanes(t);
    ir_put(out, " [");
    for (unsigned k = 0; k < lanes; k++) {
        unsigned from = w->p->attempt == 0 ? k / 2 + k % 2 * lanes : k * 7 + w->p->attempt * 3;
        if (ir_is_bool(t)) from = k;
        ir_putf(out, "%s%u", k ? ", " : "", from % (2 * lanes));
    }
    ir_put(out, "]");
}

/* What follows the operands: the lanes of a shuffle, rounding, flags, order. */
static void put_rest(const writer *w, ir_text *out, ir_op op, ir_type t) {
    if (op == IR_OP_shuffle) put_mask(w, out, t);
    if (op == IR_OP_fptoui) ir_put(out, " sat");
    if (ir_ops[op].rule == R_FLT && op != IR_OP_fma && op != IR_OP_mad) ir_put(out, " contract");
    if (ir_ops[op].imm == I_MEM) ir_put(out, " align 1");
    if (ir_ops[op].imm != I_SYNC) return;
    ir_put(out, op == IR_OP_fence ? " device seq_cst global" : " device relaxed");
    if (op == IR_OP_atomic_cmpxchg) ir_put(out, " unequal relaxed");
}

/* Behind "(": builds the operation; t: what it gives, or what it writes. */
static const char *operation(writer *w, const char *name, ir_type t, bool root) {
    ir_text args = {.arena = w->body.arena};
    ir_op op = read_op(w);
    ir_put(&args, "");
    for (unsigned n = 0; !accept(w, ")"); n++) {
        if (accept(w, "..."))
            put_lanes(w, &args, t);
        else
            ir_putf(&args, "%s%s", n ? ", " : "", operand(w, op, n, t, root));
    }
    put_rest(w, &args, op, t);
    bool effect = ir_ops[op].rule == R_STORE || ir_ops[op].rule == R_ATOMIC_STORE ||
                  ir_ops[op].rule == R_SYNC || op == IR_OP_masked_store || op == IR_OP_scatter;
    w->written |= effect;
    if (effect)
        ir_putf(&w->body, "  %s %s\n", ir_ops[op].name, args.data);
    else
        ir_putf(&w->body, "  %%%s: %s = %s %s\n", name, type_text(w, t), ir_ops[op].name,
                args.data);
    return ir_sprintf(w->body.arena, "%%%s", name);
}

/* Masks and amounts of shifts, cut to the type. */
static const char *constant(const writer *w, ir_type t) {
    static const uint32_t numbers[] = {1, 255, 65535, UINT32_MAX, 31, 63, 24, 16, 56, 48, 32};
    uint64_t n = numbers[w->p->attempt % (sizeof numbers / sizeof *numbers)];
    if (ir_is_int(t)) n &= UINT64_MAX >> (64 - ir_bits(NULL, ir_elem(t)));
    return ir_sprintf(w->body.arena, "%llu", (unsigned long long)n);
}

static const char *term(writer *w, ir_type t) {
    const char *name = ir_sprintf(w->body.arena, "t%u", w->temporaries++);
    if (accept(w, "(")) return operation(w, name, t, false);
    name = word(w);
    if (accept(w, "@(")) return operation(w, name, t, false);
    if (isupper((unsigned char)name[0])) return literal(w, t, constant(w, t));
    if (isdigit((unsigned char)name[name[0] == '-'])) return literal(w, t, name);
    return parameter_of(w, name, t);
}

/* ------------------------------------------------------------------------------------- function */

static void keep_parameters(writer *w) {
    for (unsigned n = 0; n < w->nknown; n++) {
        const parameter *x = &w->known[n];
        if (ir_is_vector(x->type) && ir_is_bool(x->type)) continue;
        ir_putf(&w->body, "  %%k%u: ptr.private = alloca %s align 64\n", n, type_text(w, x->type));
        ir_putf(&w->body, "  store %%%s, %%k%u align 1 volatile\n", x->name, n);
    }
}

/* Casts are seen through where they are used, but not by phis. */
static void put_phi(writer *w, ir_type t) {
    const char *other = parameter_of(w, "other", t);
    const char *way = parameter_of(w, "way", IR_I1);
    ir_putf(&w->body,
            "  %%q: ptr.private = alloca i32 align 4\n  br %s, aside, done\n"
            "aside:\n  store i32 1, %%q align 4 volatile\n  jmp done\n"
            "done:\n  %%r: %s = phi [entry: %%v, aside: %s]\n",
            way, type_text(w, t), other);
}

/* A mask is returned as numbers. */
static ir_type put_result(writer *w, ir_type t) {
    if (!ir_is_vector(t) || !ir_is_bool(t)) return t;
    ir_type number = ir_vector(IR_I8, ir_lanes(t));
    const char *type = type_text(w, number);
    ir_putf(&w->body, "  %%out: %s = select %%v, %s splat(1), %s splat(0)\n", type, type, type);
    return number;
}

/* Has the rule an operation that kernels do not have? */
static bool is_of_groups(const rule_program *p) {
    bool dots = strstr(p->text, "bytedot") || strstr(p->text, "worddot");
    return dots || !(ir_ops[p->op].levels & L_SPMD);
}

const char *run_rule_text(const rule_program *p, ir_arena *a) {
    writer w = {.p = p, .at = p->text, .params.arena = a, .body.arena = a};
    ir_text out = {.arena = a};
    ir_put(&w.params, "");
    ir_put(&w.body, "");
    accept(&w, "(");
    operation(&w, "v", p->to, true);
    ir_type result = w.written ? w.place : p->to;
    if (w.written && !w.has_place) result = IR_VOID;
    if (w.written && w.has_place)
        ir_putf(&w.body, "  %%v: %s = load %%p align 1\n", type_text(&w, result));
    if (p->keeps) keep_parameters(&w);
    bool casts = p->op == IR_OP_bitcast;
    if (casts) put_phi(&w, result);
    ir_type shown = put_result(&w, result);
    ir_putf(&out, "target 64\nfunc @f(%s): %s%s {\nentry:\n%s", w.params.data, type_text(&w, shown),
            is_of_groups(p) ? " level group" : "", w.body.data);
    ir_putf(&out, "  ret%s\n}\n",
            shown == IR_VOID  ? ""
            : casts           ? " %r"
            : shown == result ? " %v"
                              : " %out");
    return out.data;
}
