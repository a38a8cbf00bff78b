/* parse_func.c — functions: the signature and its facts, blocks, and what is settled at the end.
 *
 * Any textual order of blocks works.  A label that is used first makes its block, which takes its
 * place in the function when it is defined.  A value that is used first leaves a fixup; operands
 * are patched when the function has been read.  Then the phis are matched with the edges: the first
 * phi of a block says the order of its predecessors, because the text shows their order
 * nowhere else, and the arguments of the others are put into that order.
 */
#include "ir/build.h"
#include "ir/text.h"

/* ---------------------------------------------------------------------------------------- names */

static bool is_numbered(const text_token *t, const char *s, size_t n) {
    if (t->kind == T_VALUE) return *s >= '0' && *s <= '9' && t->start[1] != '"';
    return t->kind == T_WORD && text_is_numbered_label(s, n);
}

static text_name *find_name(const ir_map *map, uint64_t key, const text_name *like) {
    text_name *n = ir_map_get(map, key);
    while (n && (n->n != like->n || n->numbered != like->numbered ||
                 memcmp(n->text, like->text, n->n) != 0))
        n = n->next;
    return n;
}

text_name *text_intern_name(text_parser *p, text_names *names, const text_token *t) {
    text_name like = {.place = *t, .text = t->start + (t->kind == T_VALUE)};
    like.n = (size_t)(t->end - like.text);
    if (*like.text == '"') {
        like.text = text_name_of_token(p, t);
        like.n = strlen(like.text);
    }
    like.numbered = is_numbered(t, like.text, like.n);
    uint64_t key = ir_hash(like.numbered, like.text, like.n);
    text_name *n = find_name(&names->map, key, &like);
    if (n) return n;
    like.next = ir_map_get(&names->map, key);
    n = ir_dup(&p->scratch, &like, sizeof like);
    ir_map_set(&p->scratch, &names->map, key, n);
    if (names->last)
        names->last->later = n;
    else
        names->first = n;
    return names->last = n;
}

text_name *text_define_value(text_parser *p, const text_token *t, ir_inst *i) {
    text_name *n = text_intern_name(p, &p->values, t);
    if (n->defined)
        text_fail(p, t, "value %s is already defined on line %u", text_show(p, t), n->place.line);
    n->defined = true;
    n->place = *t;
    n->what = i;
    return n;
}

ir_block *text_block_of(text_parser *p, text_name *label) {
    if (!label->what) {
        const char *name = ir_strndup(&p->scratch, label->text, label->n);
        label->what = ir_block_new(p->b.f, label->numbered ? NULL : name);
    }
    return label->what;
}

/* ----------------------------------------------------------------------------------- parameters */

typedef struct {
    ir_vec(ir_param) facts;
    ir_vec(ir_type) types;
    ir_vec(text_token) names;
} param_list;

static void parse_byval(text_parser *p, ir_param *info) {
    text_expect(p, '(', "'('");
    info->byval_size = text_expect_number(p, UINT64_MAX, "a size");
    text_expect(p, ')', "')'");
}

static void parse_member(text_parser *p, ir_param *info) {
    text_expect(p, '(', "'('");
    info->closure = 1 + (uint32_t)text_expect_number(p, UINT32_MAX - 1, "a parameter");
    text_expect(p, ',', "','");
    info->offset = text_expect_number(p, UINT64_MAX, "an offset");
    text_expect(p, ')', "')'");
}

static void parse_special(text_parser *p, ir_param *info) {
    text_expect(p, '(', "'('");
    info->special = 1 + (uint32_t)text_expect_number(p, UINT32_MAX - 1, "a special");
    text_expect(p, ',', "','");
    info->special_arg = (uint32_t)text_expect_number(p, UINT32_MAX, "a parameter");
    text_expect(p, ')', "')'");
}

static void parse_param_facts(text_parser *p, ir_param *info) {
    const text_word *w;
    while ((w = text_accept_in(p, text_param_attrs)) != NULL) {
        info->attrs |= w->bits;
        if (w->bits & (IR_PARAM_BYVAL | IR_PARAM_SPILLED)) parse_byval(p, info);
    }
    if (text_accept_word(p, "align"))
        info->align = (uint32_t)text_expect_number(p, UINT32_MAX, "an alignment");
    if (text_accept_word(p, "member")) parse_member(p, info);
    if (text_accept_word(p, "special")) parse_special(p, info);
    if (text_accept_word(p, "of")) info->pointee = text_parse_type(p);
    if (text_accept_word(p, "as"))
        info->type_name = ir_strdup(&p->m->arena, text_expect_string(p, "the name of a type"));
}

static void parse_param(text_parser *p, param_list *list) {
    text_token name = p->tok;
    ir_param info = {0};
    text_expect(p, T_VALUE, "a parameter such as %x");
    text_expect(p, ':', "':'");
    text_token at = p->tok;
    ir_type t = text_parse_type(p);
    if (t == IR_VOID || ir_is_aggregate(t))
        text_fail(p, &at, "a parameter cannot have type %s", text_show_type(p, t));
    parse_param_facts(p, &info);
    *ir_push(&p->scratch, &list->names) = name;
    *ir_push(&p->scratch, &list->types) = t;
    *ir_push(&p->scratch, &list->facts) = info;
}

static void parse_params(text_parser *p, param_list *list) {
    text_expect(p, '(', "'('");
    while (p->tok.kind != ')') {
        if (list->types.n) text_expect(p, ',', "',' or ')'");
        parse_param(p, list);
    }
    text_advance(p);
}

static void define_params(text_parser *p, ir_func *f, const param_list *list) {
    for (uint32_t i = 0; i < list->types.n; i++) {
        f->param[i] = list->facts.data[i];
        text_name *n = text_define_value(p, &list->names.data[i], f->param_val[i]);
        if (!n->numbered) f->param[i].name = ir_strndup(&p->m->arena, n->text, n->n);
    }
}

/* ----------------------------------------------------------------------------------- attributes */

static void parse_sizes(text_parser *p, uint32_t size[3]) {
    for (int i = 0; i < 3; i++) size[i] = (uint32_t)text_expect_number(p, UINT32_MAX, "a size");
}

static void parse_float_controls(text_parser *p, ir_kernel_attrs *a) {
    const text_word *w;
    int index = text_at(p, "f16") ? 0 : text_at(p, "f32") ? 1 : text_at(p, "f64") ? 2 : -1;
    if (index < 0) text_expected(p, "f16, f32 or f64");
    text_advance(p);
    while ((w = text_accept_in(p, text_float_controls)) != NULL)
        a->float_controls[index] |= (uint8_t)w->bits;
}

static bool parse_kernel_attr(text_parser *p, ir_kernel_attrs *a) {
    if (text_accept_word(p, "local_size")) {
        parse_sizes(p, a->local_size);
    } else if (text_accept_word(p, "coarsened")) {
        parse_sizes(p, a->coarsened);
    } else if (text_accept_word(p, "hint")) {
        parse_sizes(p, a->hint);
    } else if (text_accept_word(p, "vec_hint")) {
        a->vec_hint = (uint32_t)text_expect_number(p, UINT32_MAX, "a vector type hint");
        a->has_vec_hint = true;
    } else if (text_accept_word(p, "subgroup_size")) {
        a->subgroup_size = (uint32_t)text_expect_number(p, UINT32_MAX, "a sub-group size");
    } else if (text_accept_word(p, "subgroups")) {
        a->subgroups = (uint32_t)text_expect_number(p, UINT32_MAX, "a number of sub-groups");
    } else if (text_accept_word(p, "float_controls")) {
        parse_float_controls(p, a);
    } else {
        return false;
    }
    return true;
}

static bool parse_func_attr(text_parser *p, ir_func *f) {
    const text_word *w = text_accept_in(p, text_func_flags);
    if (!w && !text_accept_word(p, "level")) return parse_kernel_attr(p, &f->attrs);
    if (w) {
        f->flags |= w->bits;
        if (w->bits == IR_FUNC_REFUSED)
            f->refusal = ir_strdup(&p->m->arena, text_expect_string(p, "the reason in quotes"));
    } else {
        w = text_accept_in(p, text_levels);
        if (!w) text_expected(p, "spmd, vector, machine or allocated");
        f->level = (uint8_t)w->bits;
    }
    return true;
}

/* --------------------------------------------------------------------------------------- blocks */

static void define_label(text_parser *p, const text_token *at) {
    ir_func *f = p->b.f;
    text_name *n = text_intern_name(p, &p->labels, at);
    if (n->defined)
        text_fail(p, at, "label %s is already defined on line %u", text_show(p, at), n->place.line);
    ir_block *b = text_block_of(p, n);
    n->defined = true;
    n->place = *at;
    if (f->last != b) ir_block_move_after(b, f->last);
    ir_at_end(&p->b, b);
}

/* entry: unroll */
static void parse_label(text_parser *p, const text_token *at) {
    const text_word *w;
    define_label(p, at);
    while (text_same_line(p) && (w = text_accept_in(p, text_loop_hints)) != NULL)
        p->b.block->loop_hint |= w->bits;
}

/* A statement is a label or an instruction; both may begin with a word. */
static void parse_statement(text_parser *p) {
    text_token at = p->tok;
    if (at.kind == T_WORD || at.kind == T_STRING) {
        text_advance(p);
        if (text_accept(p, ':')) {
            parse_label(p, &at);
            return;
        }
    }
    if (!p->b.block || ir_term(p->b.block))
        text_fail(p, &at, "expected the label of a block, found %s", text_show(p, &at));
    text_parse_inst(p, &at);
    if (text_same_line(p) && p->tok.kind != '}') text_expected(p, "the end of the line");
}

/* ---------------------------------------------------------------------------- end of a function */

static void check_labels(text_parser *p) {
    for (text_name *n = p->labels.first; n; n = n->later)
        if (!n->defined)
            text_fail(p, &n->place, "label %s is not defined", text_show(p, &n->place));
}

/* A case of a switch whose selector comes later in the text. */
static ir_inst *late_case(text_parser *p, const text_fixup *u) {
    ir_type t = ir_arg(u->user, 0)->type;
    return ir_const(p->b.f, t, text_lane_of_token(p, &u->place, t));
}

static void patch_operand(text_parser *p, const text_fixup *u) {
    if (!u->value) {
        ir_set_arg(u->user, u->arg, late_case(p, u));
        return;
    }
    if (!u->value->defined)
        text_fail(p, &u->place, "value %s is not defined", text_show(p, &u->place));
    text_check_operand(p, &u->place, u->value->what, u->type);
    ir_set_arg(u->user, u->arg, u->value->what);
}

/* Positions of a list of blocks by block: chains through `next`, first position first. */
typedef struct {
    uint32_t *head, *next; /* position + 1; 0: none */
} positions;

static void collect_positions(positions *at, const text_phi *phi) {
    for (uint32_t k = phi->phi->nargs; k-- > 0;) {
        uint32_t *head = &at->head[((ir_block *)phi->from[k]->what)->id];
        at->next[k] = *head;
        *head = k + 1;
    }
}

/* The next position of a block in the list; UINT32_MAX when there is none left. */
static uint32_t take_position(positions *at, const ir_block *b) {
    uint32_t k = at->head[b->id];
    if (!k) return UINT32_MAX;
    at->head[b->id] = at->next[k - 1];
    return k - 1;
}

static const char *show_label(text_parser *p, const ir_block *b) {
    for (const text_name *n = p->labels.first; n; n = n->later)
        if (n->what == b) return ir_strndup(&p->scratch, n->text, n->n);
    return "?";
}

/* Which argument each predecessor gets; fails unless the phi names exactly the predecessors. */
static void match_edges(text_parser *p, positions *at, const text_phi *phi, uint32_t *order) {
    const ir_block *b = phi->phi->block;
    collect_positions(at, phi);
    for (uint32_t k = 0; k < b->npred; k++) {
        order[k] = take_position(at, b->pred[k]);
        if (order[k] == UINT32_MAX)
            text_fail(p, &phi->place, "the phi has no argument for predecessor '%s'",
                      show_label(p, b->pred[k]));
    }
    for (uint32_t k = 0; k < phi->phi->nargs; k++)
        if (take_position(at, phi->from[k]->what) != UINT32_MAX)
            text_fail(p, &phi->place,
                      "the phi has an argument for '%s' and no edge comes from there",
                      show_label(p, phi->from[k]->what));
}

static void order_preds(const text_phi *phi) {
    ir_block *b = phi->phi->block;
    for (uint32_t k = 0; k < b->npred; k++) b->pred[k] = phi->from[k]->what;
}

static void order_args(const text_phi *phi, const uint32_t *order, ir_inst **old) {
    ir_inst *i = phi->phi;
    for (uint32_t k = 0; k < i->nargs; k++) old[k] = ir_arg(i, k);
    for (uint32_t k = 0; k < i->nargs; k++)
        if (order[k] != k) ir_set_arg(i, k, old[order[k]]);
}

static void settle_phis(text_parser *p) {
    ir_func *f = p->b.f;
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->phis.n; i++)
        if (p->phis.data[i].phi->nargs > most) most = p->phis.data[i].phi->nargs;
    for (ir_block *b = f->first; b && p->phis.n; b = b->next)
        if (b->npred > most) most = b->npred;
    positions at = {ir_new_array(&p->scratch, uint32_t, f->next_block),
                    ir_new_array(&p->scratch, uint32_t, most)};
    uint32_t *order = ir_new_array(&p->scratch, uint32_t, most);
    ir_inst **old = ir_new_array(&p->scratch, ir_inst *, most);
    const ir_block *settled = NULL;
    for (uint32_t i = 0; i < p->phis.n; i++) {
        const text_phi *phi = &p->phis.data[i];
        match_edges(p, &at, phi, order);
        if (phi->phi->block == settled)
            order_args(phi, order, old);
        else
            order_preds(phi);
        settled = phi->phi->block;
    }
    f->cfg_version++;
}

/* ------------------------------------------------------------------------------------ functions */

static void begin_body(text_parser *p, ir_func *f) {
    ir_builder_init(&p->b, f);
    memset(&p->values, 0, sizeof p->values);
    memset(&p->labels, 0, sizeof p->labels);
    p->fixups.n = p->phis.n = 0;
    p->dummy = NULL;
}

static void parse_body(text_parser *p) {
    p->dummy = ir_undef(p->b.f, IR_VOID);
    do {
        if (p->tok.kind == T_END) text_expected(p, "'}'");
        parse_statement(p);
    } while (p->tok.kind != '}');
    check_labels(p);
    for (uint32_t i = 0; i < p->fixups.n; i++) patch_operand(p, &p->fixups.data[i]);
    settle_phis(p);
    text_advance(p);
}

uint32_t text_parse_loc(text_parser *p) {
    uint64_t loc = 0;
    bool negative;
    if (p->tok.kind == T_LOC) {
        if (!text_number(&p->tok, &loc, &negative) || loc > UINT32_MAX)
            text_fail(p, &p->tok, "a location has 32 bits");
        text_advance(p);
    }
    return (uint32_t)loc;
}

void text_parse_func(text_parser *p) {
    bool kernel = text_at(p, "kernel");
    param_list params = {0};
    text_advance(p);
    text_token at = p->tok;
    const char *name = text_expect_symbol(p, "the name of a function");
    if (ir_func_find(p->m, name) || ir_global_find(p->m, name))
        text_fail(p, &at, "%s is already defined", text_show(p, &at));
    parse_params(p, &params);
    ir_type ret = text_accept(p, ':') ? text_parse_type(p) : IR_VOID;
    ir_func *f = ir_func_new(p->m, name, ret, params.types.n, params.types.data);
    f->flags = kernel ? IR_FUNC_KERNEL : 0;
    begin_body(p, f);
    define_params(p, f, &params);
    while (parse_func_attr(p, f)) continue;
    f->loc = text_parse_loc(p);
    if (text_accept(p, '{')) parse_body(p);
}
