/* clone_test.c — copies of bodies and regions are isomorphic to their originals; imports. */
#include "ir/change.h"
#include "random_cfg.h"

#include <criterion/criterion.h>

enum { ROUNDS = 1500 };

/* ---------------------------------------------------------------------------------- isomorphism */

/* A correspondence between an original and its copy, by ids of the original. */
typedef struct {
    ir_inst *value[4096];
    ir_block *block[MAX_BLOCKS];
    ir_inst *const *args;
} match;

static void match_value(match *m, ir_inst *old, ir_inst *copy) {
    if (old->op == IR_OP_param && m->args)
        cr_assert_eq(copy, m->args[old->imm.index]);
    else if (ir_is_const(old))
        cr_assert(ir_is_const(copy) && copy->type == old->type && copy->imm.bits == old->imm.bits);
    else if (m->value[old->id])
        cr_assert_eq(copy, m->value[old->id]);
    else
        m->value[old->id] = copy;
}

static void match_block(match *m, ir_block *old, ir_block *copy) {
    if (m->block[old->id]) cr_assert_eq(m->block[old->id], copy);
    m->block[old->id] = copy;
}

static void match_inst(match *m, ir_inst *old, ir_inst *copy) {
    cr_assert_eq(old->op, copy->op);
    cr_assert_eq(old->type, copy->type);
    cr_assert_eq(old->flags, copy->flags);
    match_value(m, old, copy);
    if (old->op == IR_OP_phi) return;
    cr_assert_eq(old->nargs, copy->nargs);
    for (unsigned n = 0; n < old->nargs; n++) match_value(m, ir_arg(old, n), ir_arg(copy, n));
}

static void match_insts(match *m, ir_block *old, ir_block *copy) {
    ir_inst *c = copy->first;
    foreach_inst (i, old) {
        cr_assert(c);
        if (i->op == IR_OP_ret && c->op == IR_OP_jmp)
            cr_assert_eq(c->next, NULL);
        else
            match_inst(m, i, c);
        c = c->next;
    }
    cr_assert_eq(c, NULL);
}

static void match_phis(match *m, ir_block *old, ir_block *copy) {
    ir_inst *c = copy->first;
    foreach_phi (phi, old) {
        cr_assert_eq(c->nargs, copy->npred);
        for (uint32_t p = 0; p < old->npred; p++) {
            ir_block *from = m->block[old->pred[p]->id];
            if (from) match_value(m, ir_arg(phi, p), ir_arg(c, ir_pred_index(copy, from)));
        }
        c = c->next;
    }
}

static bool goes_to(const ir_block *from, const ir_block *to) {
    for (uint32_t s = 0; s < from->nsucc; s++)
        if (from->succ[s] == to) return true;
    return false;
}

/* --------------------------------------------------------------------------------------- bodies */

static void match_body(ir_func *from, ir_block *entry, ir_block *after, ir_inst *const *args) {
    const ir_order *o = &ir_dominators(from)->order;
    match m = {.args = args};
    match_block(&m, from->first, entry);
    for (uint32_t k = 0; k < o->n; k++) {
        ir_block *old = o->rpo[k], *copy = m.block[old->id];
        bool leaves = old->last->op == IR_OP_ret;
        cr_assert(copy);
        cr_assert_eq(copy->nsucc, leaves ? 1 : old->nsucc);
        if (leaves) cr_assert_eq(copy->succ[0], after);
        for (uint32_t s = 0; s < old->nsucc; s++) match_block(&m, old->succ[s], copy->succ[s]);
    }
    for (uint32_t k = 0; k < o->n; k++) match_insts(&m, o->rpo[k], m.block[o->rpo[k]->id]);
    for (uint32_t k = 0; k < o->n; k++) match_phis(&m, o->rpo[k], m.block[o->rpo[k]->id]);
}

static ir_func *make_target(ir_module *m) {
    ir_type params[] = {IR_I32, IR_I32};
    return ir_func_new(m, "target", IR_VOID, 2, params);
}

static void clone_once(graph *g, ir_module *m) {
    ir_func *to = make_target(m);
    ir_block *after, *entry;
    ir_inst *args[] = {to->param_val[1], ir_const(to, IR_I32, 1000)};
    ir_block_new(to, "entry");
    after = ir_block_new(to, "after");
    cr_assert_eq(ir_clone_body(to, g->f, args, after, &entry), NULL);
    match_body(g->f, entry, after, args);
}

Test(clone, bodies) {
    rng r = {21};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        graph_add_values(&g, &r);
        ir_module *other = ir_module_new(&g.cx, "other", 64);
        clone_once(&g, g.m);
        clone_once(&g, other);
        ir_module_free(other);
        graph_close(&g);
    }
}

/* The result: the only value returned, a phi of several, undef of none. */
Test(clone, results) {
    ir_ctx cx = {0};
    ir_module *m = ir_module_new(&cx, "m", 64);
    for (unsigned returns = 0; returns < 3; returns++) {
        ir_func *f = ir_func_new(m, "f", IR_I32, 2, (ir_type[]){IR_I1, IR_I32});
        ir_func *to = make_target(m);
        ir_block *head = ir_block_new(f, NULL), *x = ir_block_new(f, NULL),
                 *y = ir_block_new(f, NULL);
        ir_block *entry, *after = (ir_block_new(to, NULL), ir_block_new(to, NULL));
        ir_builder b;
        ir_builder_init(&b, f);
        ir_at_end(&b, head);
        ir_build_br(&b, f->param_val[0], x, y);
        ir_at_end(&b, x);
        returns > 0 ? ir_build_ret(&b, f->param_val[1]) : ir_build_unreachable(&b);
        ir_at_end(&b, y);
        returns > 1 ? ir_build_ret(&b, ir_const(f, IR_I32, 5)) : ir_build_unreachable(&b);
        ir_inst *args[] = {ir_undef(to, IR_I1), to->param_val[0]};
        ir_inst *v = ir_clone_body(to, f, args, after, &entry);
        cr_assert_eq(after->npred, returns);
        cr_assert_eq(v->type, IR_I32);
        if (returns == 0) cr_assert_eq(v->op, IR_OP_undef);
        if (returns == 1) cr_assert_eq(v, to->param_val[0]);
        if (returns == 2) cr_assert(v->op == IR_OP_phi && v->block == after && v->nargs == 2);
        cr_assert(ir_is_const(ir_arg(entry->last, 0)), "undef may not decide a branch");
    }
    ir_module_free(m);
}

/* The body moves with its parameters, constants and names; what was there before is gone. */
Test(clone, take_body) {
    graph g;
    rng r = {23};
    graph_random(&g, &r);
    graph_add_values(&g, &r);
    ir_func *to = make_target(g.m);
    ir_set_name(to, to->param_val[0], "wanted");
    ir_builder b;
    ir_builder_init(&b, to);
    ir_at_end(&b, ir_block_new(to, "old"));
    ir_build_ret(&b, NULL);
    uint32_t blocks = g.f->next_block, reachable = ir_dominators(g.f)->order.n;
    ir_block *entry = g.f->first;
    ir_take_body(to, g.f);
    cr_assert(ir_is_declaration(g.f));
    cr_assert_eq(to->first, entry);
    cr_assert_eq(to->next_block, blocks);
    cr_assert_eq(ir_dominators(to)->order.n, reachable);
    cr_assert_str_eq(ir_name_of(to, to->param_val[0]), "wanted");
    foreach_block (block, to) cr_assert_eq(block->func, to);
    cr_assert(ir_verify_func(to));
    graph_close(&g);
}

/* -------------------------------------------------------------------------------------- regions */

static void check_region(graph *g, const ir_clone_map *map, ir_block *const *set, uint32_t n) {
    match m = {0};
    for (uint32_t k = 0; k < g->n; k++) m.block[k] = map->block[k];
    for (uint32_t id = 0; id < 4096 && id < g->f->next_id; id++) m.value[id] = map->value[id];
    for (uint32_t k = 0; k < n; k++) {
        ir_block *old = set[k], *copy = map->block[old->id];
        cr_assert_eq(old->nsucc, copy->nsucc);
        for (uint32_t s = 0; s < old->nsucc; s++) {
            ir_block *inside = map->block[old->succ[s]->id];
            cr_assert_eq(copy->succ[s], inside ? inside : old->succ[s]);
        }
        match_insts(&m, old, copy);
        match_phis(&m, old, copy);
        for (uint32_t p = 0; p < copy->npred; p++) cr_assert(goes_to(copy->pred[p], copy));
    }
}

/* Phis after the region: the argument for the copy's edge is the copy of that for the original. */
static void check_behind(graph *g, const ir_clone_map *map) {
    for (uint32_t k = 0; k < g->n; k++) {
        ir_block *b = g->block[k];
        foreach_phi (phi, b) {
            cr_assert_eq(phi->nargs, b->npred);
            for (uint32_t p = 0; p < b->npred; p++) {
                ir_block *copy = b->pred[p]->id < g->n ? map->block[b->pred[p]->id] : NULL;
                if (map->block[b->id] || !copy) continue;
                ir_inst *old = ir_arg(phi, p), *now = ir_arg(phi, ir_pred_index(b, copy));
                cr_assert_eq(now, map->value[old->id] ? map->value[old->id] : old);
            }
        }
    }
}

/* Leaves stand for themselves in a region. */
static void keep_leaves(graph *g, ir_clone_map *map) {
    foreach_block (b, g->f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                ir_inst *v = ir_arg(i, n);
                if (!map->value[v->id]) map->value[v->id] = v;
            }
}

Test(clone, regions) {
    rng r = {22};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        ir_block *set[MAX_BLOCKS];
        uint32_t n = 0;
        graph_random(&g, &r);
        graph_add_values(&g, &r);
        for (uint32_t k = 1; k < g.n; k++)
            if (rng_below(&r, 2)) set[n++] = g.block[k];
        ir_clone_map map = {.value = ir_new_array(&g.m->arena, ir_inst *, 4 * g.f->next_id + 1000),
                            .block = ir_new_array(&g.m->arena, ir_block *, g.f->next_block),
                            .edge = ir_new_array(&g.m->arena, uint32_t, g.f->next_block)};
        ir_clone_region(g.f, set, n, &map);
        check_behind(&g, &map);
        keep_leaves(&g, &map);
        check_region(&g, &map, set, n);
        graph_close(&g);
    }
}

/* -------------------------------------------------------------------------------------- imports */

static ir_func *make_caller(ir_module *m, const char *name, ir_func *callee, ir_global *g) {
    ir_func *f = ir_func_new(m, name, IR_VOID, 0, NULL);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    if (g) ir_build_load(&b, IR_I32, ir_address(f, g), 4, 0);
    if (callee) ir_build_call(&b, callee, 0, NULL);
    ir_build_ret(&b, NULL);
    return f;
}

static ir_global *make_table(ir_module *m, const char *name, uint32_t first) {
    ir_global *g = ir_global_new(m, name, IR_CONST, ir_array_type(m, IR_I32, 2));
    uint32_t words[2] = {first, 7};
    g->constant = true;
    g->init = ir_dup(&m->arena, words, sizeof words);
    return g;
}

static ir_func *callee_of(const ir_func *f) {
    foreach_inst (i, f->first)
        if (i->op == IR_OP_call) return i->imm.func;
    return NULL;
}

static ir_global *global_of(const ir_func *f) { return ir_arg(f->first->first, 0)->imm.global; }

typedef struct {
    ir_ctx cx;
    ir_module *from, *to;
} modules;

static void open_modules(modules *m) {
    *m = (modules){0};
    m->from = ir_module_new(&m->cx, "from", 64);
    m->to = ir_module_new(&m->cx, "to", 64);
}

static void close_modules(modules *m) {
    ir_module_free(m->from);
    ir_module_free(m->to);
}

Test(import, shares_within_an_importer) {
    modules m;
    open_modules(&m);
    ir_global *counter = ir_global_new(m.from, "counter", IR_GLOBAL, IR_I32);
    ir_func *helper = make_caller(m.from, "helper", NULL, counter);
    ir_func *a = make_caller(m.from, "a", helper, counter),
            *b = make_caller(m.from, "b", helper, counter);
    a->flags = IR_FUNC_KERNEL;
    helper->flags = IR_FUNC_KERNEL | IR_FUNC_EXPORT;
    ir_importer im = {.m = m.to};
    ir_func *a2 = ir_importer_copy(&im, a, "a"), *b2 = ir_importer_copy(&im, b, "b");
    cr_assert_eq(a2->module, m.to);
    cr_assert_eq(callee_of(a2), callee_of(b2));
    cr_assert_eq(global_of(a2), global_of(b2));
    cr_assert_eq(global_of(callee_of(a2)), global_of(b2));
    cr_assert_eq(a2->flags, IR_FUNC_KERNEL);
    cr_assert_eq(callee_of(a2)->flags, IR_FUNC_EXPORT);
    cr_assert_neq(callee_of(a2), helper);
    ir_func *a3 = ir_importer_copy(&im, a, "a");
    cr_assert_neq(a3, a2);
    cr_assert_str_eq(a3->name, "a.1");
    cr_assert_eq(callee_of(a3), callee_of(a2));
    close_modules(&m);
}

/* One file and one line entry, however many instructions and functions have that line. */
Test(import, source_lines) {
    modules m;
    open_modules(&m);
    *ir_push(&m.from->arena, &m.from->files) = "a.cl";
    *ir_push(&m.from->arena, &m.from->lines) = (ir_line){.word = 5, .line = 12, .column = 3};
    ir_global *counter = ir_global_new(m.from, "counter", IR_GLOBAL, IR_I32);
    ir_func *f = make_caller(m.from, "f", NULL, counter);
    foreach_inst (i, f->first) i->loc = 6;
    f->first->last->loc = 4;
    ir_importer im = {.m = m.to};
    for (unsigned n = 0; n < 2; n++) {
        const ir_func *copy = ir_importer_copy(&im, f, "f");
        const ir_line *line = ir_line_of(m.to, copy->first->first->loc);
        cr_assert(line && line->line == 12 && line->column == 3);
        cr_assert_str_eq(m.to->files.data[line->file], "a.cl");
        cr_assert_eq(ir_word_of(copy->first->first->loc), 0);
        cr_assert_eq(copy->first->last->loc, 0);
    }
    cr_assert(m.to->lines.n == 1 && m.to->files.n == 1);
    close_modules(&m);
}

Test(import, fills_declarations) {
    modules m;
    open_modules(&m);
    ir_func *want = ir_func_new(m.to, "sin", IR_VOID, 0, NULL);
    want->flags = IR_FUNC_IMPORT;
    ir_func *user = make_caller(m.to, "user", want, NULL);
    ir_func *have = make_caller(m.from, "sin", NULL, NULL);
    have->flags = IR_FUNC_EXPORT;
    cr_assert_eq(ir_import_func(m.to, have, "sin"), want);
    cr_assert(!ir_is_declaration(want));
    cr_assert_eq(want->flags, IR_FUNC_EXPORT);
    cr_assert_eq(callee_of(user), want);
    close_modules(&m);
}

Test(import, never_joins_definitions) {
    modules m;
    open_modules(&m);
    ir_func *mine = make_caller(m.to, "helper", NULL, NULL);
    ir_func *theirs = make_caller(m.from, "helper", NULL, NULL);
    mine->flags = theirs->flags = IR_FUNC_EXPORT;
    ir_func *k = ir_import_func(m.to, make_caller(m.from, "k", theirs, NULL), "k");
    cr_assert_neq(callee_of(k), mine);
    cr_assert_str_eq(callee_of(k)->name, "helper.1");
    close_modules(&m);
}

Test(import, constants) {
    modules m;
    open_modules(&m);
    ir_global *same = make_table(m.to, "same", 1), *other = make_table(m.to, "other", 1);
    ir_global *s = make_table(m.from, "same", 1), *o = make_table(m.from, "other", 2);
    cr_assert_eq(ir_import_global(m.to, s), same);
    ir_global *copy = ir_import_global(m.to, o);
    cr_assert_neq(copy, other);
    cr_assert_eq(((const uint32_t *)(const void *)copy->init)[0], 2);
    cr_assert_eq(ir_type_get(m.to, copy->type)->count, 2);
    close_modules(&m);
}

/* Addresses in initializers, in a circle. */
Test(import, relocations) {
    modules m;
    open_modules(&m);
    ir_global *a = ir_global_new(m.from, "a", IR_GLOBAL, ir_ptr(IR_GLOBAL));
    ir_global *b = ir_global_new(m.from, "b", IR_GLOBAL, ir_ptr(IR_GLOBAL));
    ir_reloc to_b = {.global = b, .addend = 4}, to_a = {.global = a};
    a->init = b->init = (const uint8_t[8]){0};
    a->reloc = &to_b;
    b->reloc = &to_a;
    a->nreloc = b->nreloc = 1;
    ir_global *copy = ir_import_global(m.to, a);
    cr_assert_eq(copy->reloc[0].global->reloc[0].global, copy);
    cr_assert_eq(copy->reloc[0].addend, 4);
    cr_assert_eq(copy->reloc[0].global->module, m.to);
    close_modules(&m);
}

/* A chain of calls as long as one likes needs no stack. */
Test(import, long_call_chain, .timeout = 20) {
    modules m;
    open_modules(&m);
    ir_func *f = NULL;
    for (unsigned k = 0; k < 20000; k++)
        f = make_caller(m.from, ir_sprintf(&m.from->arena, "f%u", k), f, NULL);
    ir_func *copy = ir_import_func(m.to, f, "f");
    unsigned depth = 0;
    for (; copy; copy = callee_of(copy)) depth++;
    cr_assert_eq(depth, 20000);
    close_modules(&m);
}

Test(import, types) {
    modules m;
    open_modules(&m);
    ir_struct_type(m.to, "unrelated", false, (ir_type[]){IR_I8}, 1);
    ir_type inner = ir_struct_type(m.from, "s", true, (ir_type[]){IR_I8, IR_F32}, 2);
    ir_type outer = ir_array_type(m.from, inner, 3);
    ir_type copy = ir_import_type(m.to, m.from, outer);
    cr_assert_eq(ir_sizeof(m.to, copy), 15);
    cr_assert(ir_type_get(m.to, ir_type_get(m.to, copy)->member[0])->packed);
    cr_assert_eq(ir_import_type(m.to, m.from, outer), copy);
    ir_type marked = ir_mark_members(m.from, "m", inner, (bool[]){false, true});
    cr_assert_neq(marked, inner);
    cr_assert_eq(marked, ir_mark_members(m.from, NULL, inner, (bool[]){false, true}));
    cr_assert_eq(inner, ir_mark_members(m.from, NULL, inner, (bool[]){false, false}));
    copy = ir_import_type(m.to, m.from, marked);
    cr_assert_str_eq(ir_type_get(m.to, copy)->name, "m");
    cr_assert(!ir_type_get(m.to, copy)->marked[0] && ir_type_get(m.to, copy)->marked[1]);
    cr_assert_eq(ir_import_type(m.to, m.from, ir_vector(IR_F32, 4)), ir_vector(IR_F32, 4));
    close_modules(&m);
}
