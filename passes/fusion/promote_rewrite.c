/* promote_rewrite.c — accesses of a promoted buffer go to its new memory.
 *
 * In the body of each member the parameter becomes a pointer to private or local memory, and every
 * access gets the address
 *
 *     parameter + position        position: an affine form of loop counters, local ids and values
 *
 * which the layout gives (layout.c), or the old offset modulo the part's size where the caller
 * asserts that.  A loop whose counter is not the number of its iteration gets one that is.  Where a
 * member orders its accesses of global memory, it then orders those of local memory, too.
 */
#include "passes/fusion/fuse_impl.h"

typedef struct {
    const pass_promoted *to;
    pass_side side;
    ir_builder b; /* before the access */
    ir_func *f;
    ir_type size;
    ir_map *rounds; /* loop header -> the number of the iteration */
    ir_arena *scratch;
} rewriter;

static ir_inst *size_const(const rewriter *w, int64_t n) {
    return ir_const(w->f, w->size, (uint64_t)n);
}

/* ------------------------------------------------------------------------------------ positions */

static ir_inst *count_rounds(const rewriter *w, const pass_counter *c, ir_block *header) {
    ir_builder latch;
    ir_inst *round = ir_build_phi(header, w->size);
    ir_builder_init(&latch, w->f);
    ir_before(&latch, c->latch->last);
    unsigned flags = w->size == IR_I64 ? IR_NSW | IR_NUW : 0; /* no loop counts so far */
    ir_inst *next = ir_build_raw(&latch, IR_OP_add, w->size, ir_with_flags(flags),
                                 IR_ARGS(round, size_const(w, 1)));
    for (uint32_t p = 0; p < header->npred; p++)
        round = ir_append_arg(round, header->pred[p] == c->latch ? next : size_const(w, 0));
    return round;
}

/* The number of the iteration that a loop is in. */
static ir_inst *find_round(const rewriter *w, ir_inst *counter) {
    pass_counter c;
    uint64_t header = (uintptr_t)counter->block;
    pass_find_counter(ir_loop_tree(w->f), counter, &c);
    bool is_round = ir_is_const(c.init) && c.init->imm.bits == 0 && c.step == 1;
    if (is_round && counter->type == w->size) return counter;
    ir_inst *round = ir_map_get(w->rounds, header);
    if (!round) round = count_rounds(w, &c, counter->block);
    ir_map_set(w->scratch, w->rounds, header, round);
    return round;
}

static ir_inst *resize(rewriter *w, ir_inst *v) {
    unsigned from = ir_bits(w->f->module, v->type), to = ir_bits(w->f->module, w->size);
    if (from == to) return v;
    return ir_build1(&w->b, from < to ? IR_OP_sext : IR_OP_trunc, w->size, v);
}

static ir_inst *build_position_symbol(rewriter *w, const pass_symbol *s) {
    ir_inst *value = (ir_inst *)(uintptr_t)s->value;
    if (value) return s->kind == IR_OP_phi ? find_round(w, value) : resize(w, value);
    return ir_build_query(&w->b, s->kind, w->size, s->index);
}

/* The value of a position, and in *divisor a number with as many trailing zeros. */
static ir_inst *build_position(rewriter *w, const pass_affine *f, uint64_t *divisor) {
    ir_inst *sum = NULL;
    *divisor = pass_magnitude(f->constant);
    for (uint32_t k = 0; k < f->n; k++) {
        ir_inst *symbol = build_position_symbol(w, &f->term[k].of);
        ir_inst *term =
            ir_build2(&w->b, IR_OP_mul, w->size, symbol, size_const(w, f->term[k].factor));
        sum = sum ? ir_build2(&w->b, IR_OP_add, w->size, sum, term) : term;
        *divisor |= pass_magnitude(f->term[k].factor);
    }
    if (!sum) return size_const(w, f->constant);
    return ir_build2(&w->b, IR_OP_add, w->size, sum, size_const(w, f->constant));
}

/* The byte offset of an address in its object. */
static ir_inst *build_offset(rewriter *w, const ir_inst *p) {
    ir_inst *sum = size_const(w, 0);
    for (; p->op != IR_OP_param; p = ir_arg(p, 0)) {
        if (p->op != IR_OP_ptradd) continue;
        sum = ir_build2(&w->b, IR_OP_add, w->size, sum, resize(w, ir_arg(p, 1)));
    }
    return sum;
}

/* The position if elements count modulo those of one owner. */
static ir_inst *build_modulo(rewriter *w, uint64_t *divisor) {
    const pass_access *x = w->side.access;
    ir_inst *offset = build_offset(w, ir_arg(x->at, x->arg));
    *divisor = 1;
    return ir_build2(&w->b, IR_OP_urem, w->size, offset, size_const(w, (int64_t)w->to->bytes));
}

/* ------------------------------------------------------------------------------------- accesses */

/* The access is at a multiple of `divisor` now. */
static void limit_align(ir_inst *access, uint64_t divisor) {
    unsigned log = 0;
    if (ir_info(access)->imm != I_MEM || !divisor) return;
    while (!(divisor >> log & 1)) log++;
    if (log < access->imm.mem.align) access->imm.mem.align = (uint8_t)log;
}

static void move_access(rewriter *w) {
    const pass_access *x = w->side.access;
    ir_inst *access = (ir_inst *)(uintptr_t)x->at, *position;
    pass_affine form;
    uint64_t divisor;
    ir_builder_init(&w->b, w->f);
    ir_before(&w->b, access);
    w->b.loc = access->loc;
    if (w->to->assumed) {
        position = build_modulo(w, &divisor);
    } else {
        pass_find_position(&w->to->layout, &w->side, &form);
        position = build_position(w, &form, &divisor);
    }
    limit_align(access, divisor);
    ir_inst *memory = w->f->param_val[x->object->imm.index];
    ir_set_arg(access, x->arg, ir_build_ptradd(&w->b, memory, position, true));
}

/* --------------------------------------------------------------------------------------- bodies */

/* Only accesses that no item gets to (access.c) use the old addresses now: they are never computed,
 * and only have to lead to the same sort of memory. */
static void drop_addresses(ir_inst *param, ir_arena *scratch) {
    pass_address_uses u;
    ir_type t = param->type;
    ir_value_list *list = &u.addresses;
    pass_find_address_uses(param, true, scratch, &u);
    for (uint32_t k = list->n; k-- > 1;) {
        if (list->data[k]->type == t) continue;
        if (list->data[k]->uses)
            list->data[k]->type = t;
        else
            ir_remove(list->data[k]);
    }
}

/* The parameter of a member, and its accesses. */
static void move_param(rewriter *w, const pass_summary *s, ir_inst *param) {
    param->type = ir_ptr(w->to->space);
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        w->side = (pass_side){s, &s->accesses.data[k]};
        if (w->side.access->object == param) move_access(w);
    }
    drop_addresses(param, w->scratch);
}

/* Barriers, fences and atomics that order global memory, which the buffer was, order local memory
 * as well. */
static void order_local(ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (ir_info(i)->imm != I_SYNC) continue;
            if (i->imm.sync.semantics & IR_SEM_GLOBAL) i->imm.sync.semantics |= IR_SEM_LOCAL;
            if (i->imm.sync.unequal & IR_SEM_GLOBAL) i->imm.sync.unequal |= IR_SEM_LOCAL;
        }
}

static void move_in_body(const pass_promoted *const *by_arg, const pass_summary *s,
                         const uint32_t *arg_of, ir_arena *scratch) {
    ir_func *f = s->launch.kernel;
    ir_map rounds = {0};
    rewriter w = {.f = f, .size = ir_size_type(f->module), .rounds = &rounds, .scratch = scratch};
    for (uint32_t p = 0; p < f->nparams; p++) {
        w.to = by_arg[arg_of[p]];
        if (!w.to) continue;
        move_param(&w, s, f->param_val[p]);
        if (w.to->space == IR_LOCAL) order_local(f);
    }
}

void pass_promote_bodies(const pass_fuse_input *in, const pass_promotions *list,
                         const pass_summary *summaries, const pass_fuse_result *result) {
    const pass_promoted **by_arg = ir_new_array(in->scratch, const pass_promoted *, result->nargs);
    for (uint32_t k = 0; k < list->n; k++) by_arg[list->data[k].arg] = &list->data[k];
    for (uint32_t m = 0; m < in->request->nmembers && list->n; m++)
        move_in_body(by_arg, &summaries[m], result->arg_of[m], in->scratch);
}

/* --------------------------------------------------------------------------------------- memory */

/* An array of elements of the first access's type, or of bytes. */
static ir_type memory_type(const pass_promoted *p, ir_module *m) {
    const ir_inst *i = p->nsides ? p->sides[0].access->at : NULL;
    const ir_module *from = i ? i->block->func->module : m;
    ir_type elem = IR_I8;
    if (i && i->op == IR_OP_load) elem = ir_import_type(m, from, i->type);
    if (i && i->op == IR_OP_store) elem = ir_import_type(m, from, ir_arg(i, 0)->type);
    if (ir_elem(elem) == IR_I1 || ir_is_ptr(elem) || p->bytes % ir_sizeof(m, elem)) elem = IR_I8;
    uint64_t n = p->bytes / ir_sizeof(m, elem);
    return n == 1 ? elem : ir_array_type(m, elem, (uint32_t)n);
}

ir_inst *pass_promoted_memory(const pass_promoted *p, const char *name, ir_builder *b) {
    enum { ASSUMED_ALIGN = 16 };
    ir_module *m = b->f->module;
    ir_type t = memory_type(p, m);
    unsigned align = p->assumed ? ASSUMED_ALIGN : (unsigned)p->layout.align;
    if (align < ir_alignof(m, t)) align = (unsigned)ir_alignof(m, t);
    if (p->space == IR_PRIVATE) return ir_build_alloca(b, t, align);
    ir_global *g = ir_global_new(m, ir_strdup(&m->arena, name), IR_LOCAL, t);
    g->align = align;
    return ir_address(b->f, g);
}
