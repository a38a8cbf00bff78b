/* verify.c — checks that functions are what ir.h says they are.
 *
 * Each of these phases relies on the ones before it.  If lists or edges are broken, the later
 * phases are skipped.
 *   lists   blocks and instructions are linked both ways, belong to each other, have their own ids
 *   edges   phis first, one terminator last, as many successors as it takes; predecessors mirror
 *           successors; phis have an argument for each, equal ones for an edge that occurs twice
 *   uses    operands are values of the function, undef only where it is allowed; each operand is in
 *           the use list of its value once, and nothing else is
 *   types   verify_ops.c and verify_imm.c
 *   order   definitions dominate uses, in code that can be reached
 * All phases are linear in the size of the function; `order` also computes dominators.
 *
 * Each violation is one error that names function, block and instruction; at most
 * VERIFY_MAX_ERRORS are reported.
 */
#include "ir/flow.h"
#include "ir/verify.h"

/* -------------------------------------------------------------------------------------- reports */

/* "@f, block body, '%r: f32 = …': " */
static const char *show_place(verifier *v) {
    enum { SHOWN = 160 };
    ir_text out = {.arena = &v->scratch};
    if (!v->f) return "";
    text_put_name(&out, '@', v->f->name);
    text_printer *names = v->block || v->inst ? text_printer_new(&out, v->f) : NULL;
    if (v->block) {
        ir_put(&out, ", block ");
        text_print_label(names, v->block);
    }
    if (v->inst) {
        ir_put(&out, ", '");
        size_t start = out.n;
        text_print_inst(names, v->inst);
        bool cut = out.n > start + SHOWN;
        if (cut) out.n = start + SHOWN;
        ir_put(&out, cut ? "…'" : "'");
    }
    ir_put(&out, ": ");
    return out.data;
}

static void vreport(verifier *v, const char *fmt, va_list ap) {
    char text[512];
    vsnprintf(text, sizeof text, fmt, ap);
    uint32_t loc = v->inst ? v->inst->loc : v->f ? v->f->loc : 0;
    ir_message m = {.severity = IR_ERROR, .file = v->m->name, .word = ir_word_of(loc)};
    const ir_line *line = ir_line_of(v->m, loc);
    if (line && line->file < v->m->files.n) {
        m.source = v->m->files.data[line->file];
        m.source_line = line->line;
    }
    ir_report(v->m->cx, m, "%s%s", show_place(v), text);
}

bool verify_fail(verifier *v, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (v->errors++ < VERIFY_MAX_ERRORS) vreport(v, fmt, ap);
    va_end(ap);
    return false;
}

/* ------------------------------------------------------------------------------- parts of rules */

const char *verify_show_type(verifier *v, ir_type t) {
    ir_text out = {.arena = &v->scratch};
    ir_print_type(&out, v->m, t);
    return out.data;
}

bool verify_operand(verifier *v, unsigned n, ir_type want) {
    ir_type t = ir_arg(v->inst, n)->type;
    if (t == want) return true;
    return verify_fail(v, "operand %u has type %s, not %s", n, verify_show_type(v, t),
                       verify_show_type(v, want));
}

bool verify_result(verifier *v, ir_type want) {
    ir_type t = v->inst->type;
    if (t == want) return true;
    if (want == IR_VOID) return verify_fail(v, "%s has no result", ir_info(v->inst)->name);
    return verify_fail(v, "the result has type %s, not %s", verify_show_type(v, t),
                       verify_show_type(v, want));
}

bool verify_is_value(ir_type t) { return t != IR_VOID && !ir_is_aggregate(t); }

bool verify_is_align(uint64_t align) {
    return align && !(align & (align - 1)) && align <= UINT64_C(1) << 31;
}

/* ---------------------------------------------------------------------------------------- lists */

static bool enter_value(verifier *v, const ir_inst *i) {
    if (i->id >= v->f->next_id) return verify_fail(v, "value id %u was never given out", i->id);
    if (v->values[i->id]) return verify_fail(v, "two values have id %u", i->id);
    v->values[i->id] = i;
    return true;
}

static bool check_inst_list(verifier *v, const ir_block *b) {
    const ir_inst *prev = NULL;
    uint32_t place = 0;
    for (const ir_inst *i = b->first; i; prev = i, i = i->next) {
        if (i->op >= IR_OP_COUNT) return verify_fail(v, "there is no operation %u", i->op);
        if (i->prev != prev || i->block != b)
            return verify_fail(v, "the links of a %s are broken", ir_info(i)->name);
        if (!enter_value(v, i)) return false;
        v->place[i->id] = place++;
        for (unsigned n = 0; n < i->nargs; n++)
            if (!i->arg[n].val)
                return verify_fail(v, "operand %u of a %s is missing", n, ir_info(i)->name);
    }
    return b->last == prev || verify_fail(v, "the last instruction of a block is not its last");
}

static bool check_block_list(verifier *v) {
    const ir_func *f = v->f;
    const ir_block *prev = NULL;
    for (const ir_block *b = f->first; b; prev = b, b = b->next) {
        if (b->prev != prev || b->func != f)
            return verify_fail(v, "the links of block #%u are broken", b->id);
        if (b->id >= f->next_block || v->blocks[b->id])
            return verify_fail(v, "block id %u was never given out or is taken", b->id);
        v->blocks[b->id] = b;
        if (!check_inst_list(v, b)) return false;
    }
    return f->last == prev || verify_fail(v, "the last block of the function is not its last");
}

/* Parameters and interned leaves; leaves of one hash are chained. */
static bool enter_leaves(verifier *v) {
    const ir_func *f = v->f;
    for (uint32_t n = 0; n < f->nparams; n++) {
        const ir_inst *p = f->param_val[n];
        if (p->op != IR_OP_param || p->imm.index != n)
            return verify_fail(v, "parameter %u has index %u", n, p->imm.index);
        if (!enter_value(v, p)) return false;
    }
    for (uint32_t n = 0; n < f->leaves.cap; n++)
        for (const ir_inst *i = f->leaves.val[n]; i; i = i->next)
            if (!enter_value(v, i)) return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- edges */

static void check_shape(verifier *v, const ir_block *b) {
    bool body = false;
    for (const ir_inst *i = b->first; i; i = i->next) {
        verify_at(v, b, i);
        if (i->op == IR_OP_phi && body) verify_fail(v, "a phi follows another instruction");
        if (ir_is_terminator(i) && i->next) verify_fail(v, "a terminator inside a block");
        body |= i->op != IR_OP_phi;
    }
    verify_at(v, b, NULL);
    if (!b->last)
        verify_fail(v, "the block is empty");
    else if (!ir_is_terminator(b->last))
        verify_fail(v, "the block does not end with a terminator");
}

static unsigned successors_of(const ir_inst *term) {
    switch (term->op) {
    case IR_OP_jmp: return 1;
    case IR_OP_br:
    case IR_OP_mach_br: return 2;
    case IR_OP_switch: return term->nargs;
    default: return 0;
    }
}

static void check_successors(verifier *v, const ir_block *b) {
    const ir_inst *term = ir_term(b);
    if (term && b->nsucc != successors_of(term)) {
        verify_at(v, b, term);
        verify_fail(v, "%u successors, not %u", b->nsucc, successors_of(term));
        verify_at(v, b, NULL);
    }
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *s = b->succ[n];
        if (!s || s->id >= v->f->next_block || v->blocks[s->id] != s)
            verify_fail(v, "successor %u is no block of this function", n);
    }
    if (b == v->f->first && b->npred) verify_fail(v, "the entry block has a predecessor");
}

/* Edges by target: chains of sources. */
typedef struct {
    uint32_t *head, *next; /* edge + 1; 0: none */
    const ir_block **source;
} edge_table;

static edge_table collect_edges(verifier *v) {
    uint32_t n = 0, edge = 0;
    foreach_block (b, v->f) n += b->nsucc;
    edge_table t = {.head = ir_new_array(&v->scratch, uint32_t, v->f->next_block),
                    .next = ir_new_array(&v->scratch, uint32_t, n),
                    .source = ir_new_array(&v->scratch, const ir_block *, n)};
    foreach_block (b, v->f) {
        for (uint32_t s = 0; s < b->nsucc; s++, edge++) {
            uint32_t *head = &t.head[b->succ[s]->id];
            t.source[edge] = b;
            t.next[edge] = *head;
            *head = edge + 1;
        }
    }
    return t;
}

/* `count` is zero for all blocks, and is left so. */
static void check_preds(verifier *v, const ir_block *b, const edge_table *edges, int32_t *count) {
    bool same = true;
    for (uint32_t e = edges->head[b->id]; e; e = edges->next[e - 1])
        count[edges->source[e - 1]->id]++;
    for (uint32_t n = 0; n < b->npred; n++) {
        const ir_block *p = b->pred[n];
        bool known = p && p->id < v->f->next_block && v->blocks[p->id] == p;
        same &= known && --count[p->id] >= 0;
    }
    for (uint32_t e = edges->head[b->id]; e; e = edges->next[e - 1]) {
        same &= count[edges->source[e - 1]->id] <= 0;
        count[edges->source[e - 1]->id] = 0;
    }
    for (uint32_t n = 0; n < b->npred; n++)
        if (b->pred[n] && b->pred[n]->id < v->f->next_block) count[b->pred[n]->id] = 0;
    if (!same) verify_fail(v, "the predecessors are not the blocks whose successor this is");
}

static void check_edges(verifier *v) {
    unsigned errors = v->errors;
    foreach_block (b, v->f) {
        check_shape(v, b);
        check_successors(v, b);
    }
    if (v->errors == errors) {
        edge_table edges = collect_edges(v);
        int32_t *count = ir_new_array(&v->scratch, int32_t, v->f->next_block);
        foreach_block (b, v->f) {
            verify_at(v, b, NULL);
            check_preds(v, b, &edges, count);
        }
    }
    verify_at(v, NULL, NULL);
}

/* An edge that occurs twice carries one value.  `first` is zero for all blocks, and is left so. */
static void check_phi_edges(verifier *v, const ir_inst *phi, uint32_t *first) {
    const ir_block *b = phi->block;
    verify_at(v, b, phi);
    if (phi->nargs != b->npred) {
        verify_fail(v, "%u arguments for %u predecessors", phi->nargs, b->npred);
        return;
    }
    for (uint32_t n = 0; n < b->npred; n++) {
        uint32_t *at = &first[b->pred[n]->id];
        if (*at && ir_arg(phi, *at - 1) != ir_arg(phi, n))
            verify_fail(v, "arguments %u and %u differ and come from one block", *at - 1, n);
        if (!*at) *at = n + 1;
    }
    for (uint32_t n = 0; n < b->npred; n++) first[b->pred[n]->id] = 0;
}

static void check_phis(verifier *v) {
    uint32_t *first = ir_new_array(&v->scratch, uint32_t, v->f->next_block);
    foreach_block (b, v->f)
        foreach_phi (phi, b) check_phi_edges(v, phi, first);
    verify_at(v, NULL, NULL);
}

/* ----------------------------------------------------------------------------------------- uses */

static bool is_of_function(const verifier *v, const ir_inst *i) {
    return i->id < v->f->next_id && v->values[i->id] == i;
}

static void check_operands(verifier *v, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *val = ir_arg(i, n);
        const bool known = is_of_function(v, val);
        if (!known)
            verify_fail(v, "operand %u is no value of this function", n);
        else if (val->type == IR_VOID)
            verify_fail(v, "operand %u has no result", n);
        else if (!(ir_info(val)->levels & v->f->level) && ir_is_leaf(val))
            verify_fail(v, "operand %u is not legal at this level", n);
        else if (i->arg[n].user != i)
            verify_fail(v, "operand %u names another user", n);
        else if (val->op == IR_OP_undef && !ir_may_be_undef((ir_op)i->op, n) &&
                 !ir_is_opaque(val->type))
            verify_fail(v, "operand %u must not be undef", n);
        if (known) v->uses[val->id]++;
    }
}

/* Is u an operand of an instruction of this function that names `value`? */
static bool is_operand(const verifier *v, const ir_use *u, const ir_inst *value) {
    const ir_inst *user = u->user;
    if (u->val != value || !user || !is_of_function(v, user) || !user->block) return false;
    uintptr_t at = (uintptr_t)u, from = (uintptr_t)user->arg;
    return at >= from && (at - from) / sizeof *u < user->nargs && (at - from) % sizeof *u == 0;
}

static void check_use_list(verifier *v, const ir_inst *value) {
    uint32_t n = 0;
    const ir_use *prev = NULL;
    verify_at(v, value->block, value);
    for (const ir_use *u = value->uses; u; prev = u, u = u->next, n++)
        if (u->prev != prev || !is_operand(v, u, value)) {
            verify_fail(v, "entry %u of its use list is no operand that names it", n);
            return;
        }
    if (n != v->uses[value->id])
        verify_fail(v, "its use list has %u entries for %u uses", n, v->uses[value->id]);
}

static void check_uses(verifier *v) {
    foreach_block (b, v->f)
        foreach_inst (i, b) {
            verify_at(v, b, i);
            check_operands(v, i);
        }
    for (uint32_t id = 0; id < v->f->next_id; id++)
        if (v->values[id]) check_use_list(v, v->values[id]);
    verify_at(v, NULL, NULL);
}

/* ------------------------------------------------------------------------------ types and order */

static void check_types(verifier *v) {
    foreach_block (b, v->f)
        foreach_inst (i, b) {
            verify_at(v, b, i);
            verify_inst(v, i);
        }
    verify_at(v, NULL, NULL);
}

static bool is_reachable(const ir_dom *d, const ir_block *b) {
    return d->order.index[b->id] != UINT32_MAX;
}

/* Is `val` there at the end of block b?  In code that is never reached, everything is. */
static bool reaches_end(const ir_dom *d, const ir_inst *val, const ir_block *b) {
    if (!val->block || !is_reachable(d, b)) return true;
    return is_reachable(d, val->block) && ir_block_dominates(d, val->block, b);
}

static bool reaches(const verifier *v, const ir_dom *d, const ir_inst *user, unsigned n) {
    const ir_inst *val = ir_arg(user, n);
    if (user->op == IR_OP_phi) return reaches_end(d, val, user->block->pred[n]);
    if (val->block == user->block) return v->place[val->id] < v->place[user->id];
    return reaches_end(d, val, user->block);
}

static void check_order(verifier *v) {
    const ir_dom *d = ir_dominators(v->f);
    foreach_block (b, v->f) {
        if (!is_reachable(d, b)) continue;
        foreach_inst (i, b) {
            verify_at(v, b, i);
            for (unsigned n = 0; n < i->nargs; n++)
                if (!reaches(v, d, i, n))
                    verify_fail(v, "operand %u is not defined on every way to this place", n);
        }
    }
    verify_at(v, NULL, NULL);
}

void verify_body(verifier *v) {
    uint32_t n = v->f->next_id;
    v->values = ir_new_array(&v->scratch, const ir_inst *, n);
    v->uses = ir_new_array(&v->scratch, uint32_t, n);
    v->place = ir_new_array(&v->scratch, uint32_t, n);
    v->blocks = ir_new_array(&v->scratch, const ir_block *, v->f->next_block);
    unsigned errors = v->errors;
    if (!check_block_list(v) || !enter_leaves(v)) return;
    check_edges(v);
    if (v->errors != errors) return;
    check_phis(v);
    check_uses(v);
    bool sound = v->errors == errors;
    check_types(v);
    if (sound && v->f->first) check_order(v);
}
