/* parse_inst.c — one instruction: result, operation, operands, what imm holds, flags.
 *
 * The op table says what to read: the number of operands and the layout of imm.  Only alloca, phi,
 * call, printf and the terminators have a form of their own.  A literal without a type takes the
 * type that ir_operand_type derives from the op and its result.
 *
 * An operand that is not known yet is a dummy in the instruction and a fixup in a list: values are
 * settled at the end of the function, globals and functions at the end of the module.
 */
#include "ir/build.h"
#include "ir/text.h"

/* ------------------------------------------------------------------------------ operation names */

enum { OP_SLOTS = 1024 };
_Static_assert(IR_OP_COUNT < OP_SLOTS / 2, "the table of operations stays half empty");

static uint32_t op_slot(const char *s, size_t n) { return (uint32_t)ir_hash(1, s, n) % OP_SLOTS; }

void text_hash_ops(text_parser *p) {
    p->ops = ir_new_array(&p->scratch, uint16_t, OP_SLOTS);
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        uint32_t slot = op_slot(ir_ops[op].name, strlen(ir_ops[op].name));
        while (p->ops[slot]) slot = (slot + 1) % OP_SLOTS;
        p->ops[slot] = (uint16_t)(op + 1);
    }
}

static ir_op op_of_token(text_parser *p, const text_token *t) {
    size_t n = (size_t)(t->end - t->start);
    for (uint32_t slot = op_slot(t->start, n); p->ops[slot]; slot = (slot + 1) % OP_SLOTS) {
        ir_op op = (ir_op)(p->ops[slot] - 1);
        const char *name = ir_ops[op].name;
        if (strncmp(name, t->start, n) == 0 && name[n] == 0 && ir_ops[op].rule != R_LEAF) return op;
    }
    text_fail(p, t, "unknown operation %s", text_show(p, t));
}

/* ------------------------------------------------------------------------------------- operands */

void text_check_operand(text_parser *p, const text_token *at, const ir_inst *v, ir_type written) {
    if (written != IR_VOID && written != v->type)
        text_fail(p, at, "%s has type %s, not %s", text_show(p, at), text_show_type(p, v->type),
                  text_show_type(p, written));
}

/* Notes that the operand being read is settled later. */
static ir_inst *later(text_parser *p, text_fixup u) {
    u.arg = p->args.n;
    *ir_push(&p->scratch, &p->open) = u;
    return p->dummy;
}

static ir_inst *parse_value(text_parser *p, ir_type written) {
    text_token at = p->tok;
    text_advance(p);
    text_name *n = text_intern_name(p, &p->values, &at);
    if (!n->defined) return later(p, (text_fixup){.place = at, .value = n, .type = written});
    text_check_operand(p, &at, n->what, written);
    return n->what;
}

static ir_inst *parse_global_address(text_parser *p) {
    text_token at = p->tok;
    const char *name = text_expect_symbol(p, "the name of a global");
    ir_global *g = ir_global_find(p->m, name);
    return g ? ir_address(p->b.f, g) : later(p, (text_fixup){.place = at, .symbol = name});
}

static ir_inst *parse_literal(text_parser *p, ir_type t) {
    uint64_t lanes[IR_MAX_LANES];
    if (text_accept_word(p, "undef")) return ir_undef(p->b.f, t);
    text_parse_lanes(p, t, lanes);
    return ir_const_lanes(p->b.f, t, lanes);
}

/* `known`: the type of a literal that has none written; IR_VOID: it must be written. */
static ir_inst *parse_operand(text_parser *p, ir_type known) {
    ir_type written = IR_VOID;
    text_token at = p->tok;
    if (at.kind == T_VALUE) return parse_value(p, IR_VOID);
    if (at.kind == T_SYMBOL) return parse_global_address(p);
    if (text_accept_word(p, "slot"))
        return ir_slot(p->b.f, (uint32_t)text_expect_number(p, UINT32_MAX, "a slot"));
    if (!text_at_literal(p)) {
        if (at.kind != T_WORD || (at.first && p->args.n == 0)) text_expected(p, "an operand");
        known = written = text_parse_type(p);
        if (written == IR_VOID) text_fail(p, &at, "an operand cannot be void");
    }
    if (written != IR_VOID && p->tok.kind == T_VALUE) return parse_value(p, written);
    if (known == IR_VOID)
        text_fail(p, &at, "the type of a literal must come before it here, as in 'i32 0'");
    return parse_literal(p, known);
}

static void push_arg(text_parser *p, ir_inst *v) {
    if (p->args.n >= TEXT_MAX_ARGS) text_fail(p, &p->tok, "too many operands");
    *ir_push(&p->scratch, &p->args) = v;
}

static void parse_next_operand(text_parser *p, ir_op op, ir_type result) {
    push_arg(p, parse_operand(p, ir_operand_type(p->m, op, result, p->args.n)));
}

static void check_count(text_parser *p, const text_token *at, ir_op op) {
    unsigned want = ir_ops[op].nargs;
    bool more = (ir_ops[op].flags & F_VARIADIC) != 0;
    if (p->args.n < want || (p->args.n > want && !more))
        text_fail(p, at, "%s takes %s%u operand%s, not %u", ir_ops[op].name,
                  more ? "at least " : "", want, want == 1 ? "" : "s", p->args.n);
}

static void parse_operands(text_parser *p, ir_op op, ir_type result) {
    bool some = ir_ops[op].nargs || (ir_ops[op].flags & F_VARIADIC && p->tok.kind != T_INT);
    if (!some) return;
    do parse_next_operand(p, op, result);
    while (text_accept(p, ','));
}

/* --------------------------------------------------------------------------- forms of their own */

/* What is read of an instruction besides its operands. */
typedef struct {
    ir_op op;
    ir_type type;
    uint32_t flags;
    ir_imm imm;
    text_token at;      /* of the operation */
    const char *callee; /* call */
    text_token callee_at;
    ir_vec(text_name *) labels; /* of successors, or of the edges of a phi */
} statement;

static text_name *parse_target(text_parser *p) {
    text_token at = p->tok;
    if (at.kind != T_WORD && at.kind != T_STRING) text_expected(p, "a label");
    text_advance(p);
    return text_intern_name(p, &p->labels, &at);
}

static void push_label(text_parser *p, statement *s) {
    *ir_push(&p->scratch, &s->labels) = parse_target(p);
}

static void parse_phi(text_parser *p, statement *s) {
    text_expect(p, '[', "'['");
    while (p->tok.kind != ']') {
        if (p->args.n) text_expect(p, ',', "',' or ']'");
        push_label(p, s);
        text_expect(p, ':', "':'");
        parse_next_operand(p, s->op, s->type);
    }
    text_advance(p);
}

static void parse_case(text_parser *p, statement *s) {
    text_token at = p->tok;
    ir_type t = p->args.data[0]->type;
    if (p->args.data[0] == p->dummy) {
        text_advance(p);
        push_arg(p, later(p, (text_fixup){.place = at}));
    } else {
        push_arg(p, ir_const(p->b.f, t, text_parse_lane(p, t)));
    }
    text_expect(p, ':', "':'");
    push_label(p, s);
}

static void parse_switch(text_parser *p, statement *s) {
    push_arg(p, parse_operand(p, IR_VOID));
    text_expect(p, ',', "','");
    push_label(p, s);
    text_expect(p, '[', "'['");
    while (p->tok.kind != ']') {
        if (p->args.n > 1) text_expect(p, ',', "',' or ']'");
        parse_case(p, s);
    }
    text_advance(p);
}

static void parse_br(text_parser *p, statement *s) {
    push_arg(p, parse_operand(p, IR_VOID));
    for (int i = 0; i < 2; i++) {
        text_expect(p, ',', "','");
        push_label(p, s);
    }
}

static void parse_mach_br(text_parser *p, statement *s) {
    push_label(p, s);
    text_expect(p, ',', "','");
    push_label(p, s);
    while (text_accept(p, ',')) push_arg(p, parse_operand(p, IR_VOID));
}

static void parse_ret(text_parser *p) {
    if (text_same_line(p) && p->tok.kind != '}' && p->tok.kind != T_LOC)
        push_arg(p, parse_operand(p, IR_VOID));
}

static void parse_call(text_parser *p, statement *s) {
    s->callee_at = p->tok;
    s->callee = text_expect_symbol(p, "the name of a function");
    text_expect(p, '(', "'('");
    while (p->tok.kind != ')') {
        if (p->args.n) text_expect(p, ',', "',' or ')'");
        parse_next_operand(p, s->op, s->type);
    }
    text_advance(p);
}

static void parse_printf(text_parser *p, statement *s) {
    s->imm.string = ir_strdup(&p->m->arena, text_expect_string(p, "the format in quotes"));
    while (text_accept(p, ',')) parse_next_operand(p, s->op, s->type);
}

static void parse_alloca(text_parser *p, statement *s) {
    ir_var *var = ir_new(&p->m->arena, ir_var);
    var->type = text_parse_memory_type(p);
    var->align = (uint32_t)ir_alignof(p->m, var->type);
    if (text_same_line(p) && text_accept_word(p, "align"))
        var->align = (uint32_t)text_expect_number(p, UINT32_MAX, "an alignment");
    s->imm.var = var;
}

static void parse_form(text_parser *p, statement *s) {
    switch (s->op) {
    case IR_OP_alloca: parse_alloca(p, s); break;
    case IR_OP_phi: parse_phi(p, s); break;
    case IR_OP_call:
    case IR_OP_mach_call: parse_call(p, s); break;
    case IR_OP_printf: parse_printf(p, s); break;
    case IR_OP_jmp: push_label(p, s); break;
    case IR_OP_br: parse_br(p, s); break;
    case IR_OP_mach_br: parse_mach_br(p, s); break;
    case IR_OP_switch: parse_switch(p, s); break;
    case IR_OP_ret: parse_ret(p); break;
    default: parse_operands(p, s->op, s->type); check_count(p, &s->at, s->op);
    }
}

/* --------------------------------------------------------------------------- what follows operands
 *
 * Words go on as long as the line does. */

static const text_word *next_word(text_parser *p, const text_word *table) {
    return text_same_line(p) ? text_accept_in(p, table) : NULL;
}

static uint32_t parse_bits(text_parser *p, const text_word *table, uint32_t max) {
    const text_word *w;
    uint32_t bits = 0;
    while ((w = next_word(p, table)) != NULL) bits |= w->bits;
    if (max && text_same_line(p) && p->tok.kind == T_INT)
        bits |= (uint32_t)text_expect_number(p, max, "a set of bits");
    return bits;
}

/* One of the words of an enumeration, or its number when it has no word. */
static uint8_t parse_choice(text_parser *p, const text_word *table, const char *what) {
    const text_word *w = next_word(p, table);
    if (w) return (uint8_t)w->bits;
    if (!text_same_line(p) || p->tok.kind != T_INT) text_expected(p, what);
    return (uint8_t)text_expect_number(p, 255, what);
}

static uint8_t parse_log2(text_parser *p, uint64_t max, const char *what) {
    text_token at = p->tok;
    uint64_t n = text_expect_number(p, max, what);
    if (n == 0 || (n & (n - 1))) text_fail(p, &at, "%s must be a power of 2", what);
    uint8_t log = 0;
    while (n >>= 1) log++;
    return log;
}

static void parse_mem(text_parser *p, statement *s) {
    if (!text_same_line(p) || !text_accept_word(p, "align")) text_expected(p, "'align'");
    s->imm.mem.align = parse_log2(p, UINT64_C(1) << 31, "an alignment");
    s->imm.mem.flags = (uint8_t)parse_bits(p, text_mem_flags, 0);
}

static void parse_mask(text_parser *p, statement *s) {
    uint8_t mask[128] = {0}; /* as many as a type word can hold */
    unsigned lanes = ir_lanes(s->type);
    text_expect(p, '[', "'['");
    for (unsigned i = 0; i < lanes; i++) {
        if (i) text_expect(p, ',', "','");
        if (text_accept_word(p, "_"))
            mask[i] = 255;
        else
            mask[i] = (uint8_t)text_expect_number(p, 254, "a lane");
    }
    text_expect(p, ']', "']'");
    s->imm.mask = ir_dup(&p->m->arena, mask, lanes);
}

static void parse_round(text_parser *p, statement *s) {
    const text_word *w = next_word(p, text_rounds);
    s->imm.round.mode = (uint8_t)(w ? w->bits : (uint32_t)text_default_round(s->op));
    s->imm.round.sat = text_same_line(p) && text_accept_word(p, "sat");
}

static void parse_sync(text_parser *p, statement *s) {
    if (s->op == IR_OP_barrier) s->imm.sync.exec = parse_choice(p, text_scopes, "a scope");
    s->imm.sync.scope = parse_choice(p, text_scopes, "a scope");
    s->imm.sync.semantics = (uint16_t)parse_bits(p, text_semantics, UINT16_MAX);
    if (s->op != IR_OP_atomic_cmpxchg) return;
    if (!text_same_line(p) || !text_accept_word(p, "unequal")) text_expected(p, "'unequal'");
    s->imm.sync.unequal = (uint16_t)parse_bits(p, text_semantics, UINT16_MAX);
}

static void parse_group(text_parser *p, statement *s) {
    static const text_word modes[] = {
        {"reduce", IR_GROUP_REDUCE},
        {"inclusive", IR_GROUP_INCLUSIVE},
        {"exclusive", IR_GROUP_EXCLUSIVE},
        {"clustered", IR_GROUP_CLUSTERED},
        {NULL, 0},
    };
    s->imm.group.scope = parse_choice(p, text_scopes, "a scope");
    const text_word *mode = next_word(p, modes);
    if (!mode && text_is_scan(s->op)) text_expected(p, "reduce, inclusive, exclusive or clustered");
    s->imm.group.op = (uint8_t)(mode ? mode->bits : IR_GROUP_REDUCE);
    if (s->imm.group.op == IR_GROUP_CLUSTERED)
        s->imm.group.log_size =
            parse_log2(p, UINT64_C(1) << IR_MAX_CLUSTER_LOG, "the size of a cluster");
    s->imm.group.uniform = 1;
    if (text_same_line(p) && text_accept_word(p, "nonuniform"))
        s->imm.group.uniform = 0;
    else if (text_same_line(p))
        text_accept_word(p, "uniform");
}

static void parse_imm(text_parser *p, statement *s) {
    switch (ir_ops[s->op].imm) {
    case I_DIM: s->imm.dim = (uint32_t)text_expect_number(p, UINT32_MAX, "a dimension"); break;
    case I_MEM: parse_mem(p, s); break;
    case I_MASK: parse_mask(p, s); break;
    case I_ROUND: parse_round(p, s); break;
    case I_SYNC: parse_sync(p, s); break;
    case I_GROUP: parse_group(p, s); break;
    case I_IMAGE: s->imm.image.operands = parse_bits(p, text_image_operands, UINT32_MAX); break;
    case I_WORD: s->imm.bits = text_expect_number(p, UINT64_MAX, "a number"); break;
    default: break; /* read with the operands */
    }
}

/* --------------------------------------------------------------------------------- instructions */

/* Instructions do not move after this: nothing appends to them while parsing. */
static ir_inst *build(text_parser *p, const statement *s) {
    ir_inst *i = ir_build_raw(&p->b, s->op, s->type, (ir_attrs){s->flags, s->imm},
                              (ir_args){p->args.n, p->args.data});
    for (uint32_t n = 0; n < p->open.n; n++) {
        text_fixup *u = &p->open.data[n];
        u->user = i;
        if (u->symbol)
            *ir_push(&p->scratch, &p->symbols) = *u;
        else
            *ir_push(&p->scratch, &p->fixups) = *u;
    }
    if (s->callee)
        *ir_push(&p->scratch, &p->symbols) =
            (text_fixup){.user = i, .place = s->callee_at, .symbol = s->callee, .callee = true};
    return i;
}

static void add_edges(text_parser *p, const statement *s, ir_inst *i) {
    if (s->op == IR_OP_phi) {
        *ir_push(&p->scratch, &p->phis) = (text_phi){i, s->at, s->labels.data};
    } else if (s->labels.n) {
        ir_block **succ = ir_new_array(&p->scratch, ir_block *, s->labels.n);
        for (uint32_t n = 0; n < s->labels.n; n++) succ[n] = text_block_of(p, s->labels.data[n]);
        ir_set_succs(p->b.block, s->labels.n, succ);
    }
}

static ir_type parse_result_type(text_parser *p) {
    text_expect(p, ':', "':'");
    text_token at = p->tok;
    ir_type t = text_parse_type(p);
    if (t == IR_VOID) text_fail(p, &at, "a result cannot be void");
    text_expect(p, '=', "'='");
    return t;
}

void text_parse_inst(text_parser *p, const text_token *first) {
    statement s = {.type = IR_VOID, .at = *first};
    text_token at = *first;
    p->in_inst = true;
    if (at.kind == T_VALUE) {
        text_advance(p);
        s.type = parse_result_type(p);
        s.at = p->tok;
        text_expect(p, T_WORD, "an operation");
    } else if (at.kind != T_WORD) {
        text_fail(p, &at, "expected an instruction, found %s", text_show(p, &at));
    }
    s.op = op_of_token(p, &s.at);
    p->args.n = p->open.n = 0;
    parse_form(p, &s);
    parse_imm(p, &s);
    if (!(ir_ops[s.op].flags & F_TERMINATOR) || text_same_line(p)) /* a label may come next */
        s.flags = parse_bits(p, text_inst_flags, 0);
    p->b.loc = text_same_line(p) ? text_parse_loc(p) : 0;
    p->in_inst = false;
    ir_inst *i = build(p, &s);
    add_edges(p, &s, i);
    if (at.kind != T_VALUE) return;
    text_name *n = text_define_value(p, &at, i);
    if (!n->numbered) ir_set_name(p->b.f, i, ir_strndup(&p->scratch, n->text, n->n));
}

/* ---------------------------------------------------------------------------- end of the module */

static void resolve_callee(text_parser *p, const text_fixup *u) {
    u->user->imm.func = ir_func_find(p->m, u->symbol);
    if (!u->user->imm.func)
        text_fail(p, &u->place, "no function is called %s", text_show(p, &u->place));
}

void text_resolve_symbols(text_parser *p) {
    for (uint32_t n = 0; n < p->symbols.n; n++) {
        const text_fixup *u = &p->symbols.data[n];
        if (u->callee) {
            resolve_callee(p, u);
            continue;
        }
        ir_global *g = ir_global_find(p->m, u->symbol);
        if (!g) text_fail(p, &u->place, "no global is called %s", text_show(p, &u->place));
        ir_set_arg(u->user, u->arg, ir_address(u->user->block->func, g));
    }
    text_resolve_relocs(p);
}
