/* access.c — where a kernel reads and writes memory that work-items share.
 *
 * Every access gets a row: the object (a pointer parameter or a module-scope variable), the affine
 * form of the byte offset in it (affine.c), the number of bytes, and whether every item executes
 * it.  Addresses are followed through offsets and casts.  An address that comes from a phi, a
 * select, memory or an integer has no known object and may lead anywhere.
 *
 * Every item executes the blocks that dominate all exits of the kernel.  If numbers that are known
 * at launch decide a branch, accesses on the side that is never taken are left out.
 */
#include "passes/analysis/alias.h"

typedef struct {
    const pass_launch *launch;
    const ir_dom *dom;
    ir_block_list exits;
    ir_arena *a;
    pass_accesses *out;
} collector;

/* ------------------------------------------------------------------------------------ addresses */

/* The object of an address, and its offset there; NULL: unknown. */
static const ir_inst *follow(const collector *c, const ir_inst *at, ir_inst *p,
                             pass_affine *offset) {
    *offset = (pass_affine){0};
    for (;;) {
        pass_affine step;
        switch (p->op) {
        case IR_OP_param:
        case IR_OP_address:
        case IR_OP_alloca: return p;
        case IR_OP_ptrcast:
        case IR_OP_ptrcast_to: p = ir_arg(p, 0); break;
        case IR_OP_ptradd:
            pass_find_affine(c->launch, ir_arg(p, 1), at->block, &step);
            if (!pass_affine_add(offset, &step, 1)) return NULL;
            pass_join_ids(c->launch, offset);
            p = ir_arg(p, 0);
            break;
        default: return NULL;
        }
    }
}

/* Memory that nothing writes while kernels run. */
static bool is_constant(const ir_inst *p) { return ir_space_of(p->type) == IR_CONST; }

static bool gets_there(const collector *c, const ir_block *b) {
    for (uint32_t k = 0; k < c->exits.n; k++)
        if (!ir_block_dominates(c->dom, b, c->exits.data[k])) return false;
    return c->exits.n > 0;
}

static void add_access(collector *c, const ir_inst *at, unsigned arg, uint64_t size,
                       unsigned kind) {
    pass_access access = {.at = at, .arg = arg, .size = size, .kind = kind};
    ir_inst *p = ir_arg(at, arg);
    if (is_constant(p)) return;
    access.object = follow(c, at, p, &access.offset);
    if (access.object && is_constant(access.object)) return;
    if (access.object && pass_is_variable(c->launch->kernel, access.object)) return;
    access.always = gets_there(c, at->block);
    access.bounded = access.object && pass_affine_bounds(c->launch, &access.offset, at->block,
                                                         &access.low, &access.high);
    *ir_push(c->a, c->out) = access;
}

/* ----------------------------------------------------------------------------------- operations */

static uint64_t bytes_of(const collector *c, ir_type t) {
    return ir_access_size(c->launch->kernel->module, t);
}

static uint64_t constant_or_0(const ir_inst *n) { return ir_is_const(n) ? n->imm.bits : 0; }

/* Does an operation with F_READS or F_WRITES access memory?  Some have these flags for other
 * reasons. */
static bool touches_memory(ir_op op) {
    switch (op) {
    case IR_OP_alloca:
    case IR_OP_fence:
    case IR_OP_barrier:
    case IR_OP_wait_events:
    case IR_OP_printf:
    case IR_OP_assume:
    case IR_OP_prefetch: return false;
    default: return !(ir_ops[op].flags & F_TERMINATOR);
    }
}

/* Images, and other accesses of memory: which part of it they access is unknown. */
static void add_other(collector *c, const ir_inst *i) {
    unsigned kind =
        (ir_has_flag(i, F_READS) ? PASS_READS : 0u) | (ir_has_flag(i, F_WRITES) ? PASS_WRITES : 0u);
    bool image = i->nargs && ir_arg(i, 0)->op == IR_OP_param && ir_is_opaque(ir_arg(i, 0)->type);
    if (!kind || !touches_memory((ir_op)i->op)) return;
    pass_access access = {.at = i, .object = image ? ir_arg(i, 0) : NULL, .kind = kind};
    access.always = gets_there(c, i->block);
    *ir_push(c->a, c->out) = access;
}

static void collect(collector *c, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_load: add_access(c, i, 0, bytes_of(c, i->type), PASS_READS); break;
    case IR_OP_store: add_access(c, i, 1, bytes_of(c, ir_arg(i, 0)->type), PASS_WRITES); break;
    case IR_OP_copy:
        add_access(c, i, 0, constant_or_0(ir_arg(i, 2)), PASS_WRITES);
        add_access(c, i, 1, constant_or_0(ir_arg(i, 2)), PASS_READS);
        break;
    case IR_OP_fill: add_access(c, i, 0, constant_or_0(ir_arg(i, 2)), PASS_WRITES); break;
    case IR_OP_async_copy:
        add_access(c, i, 0, 0, PASS_WRITES);
        add_access(c, i, 1, 0, PASS_READS);
        break;
    case IR_OP_atomic_load:
        add_access(c, i, 0, bytes_of(c, i->type), PASS_READS | PASS_ATOMIC);
        break;
    case IR_OP_atomic_store:
        add_access(c, i, 0, bytes_of(c, ir_arg(i, 1)->type), PASS_WRITES | PASS_ATOMIC);
        break;
    default:
        if (ir_is_atomic(i))
            add_access(c, i, 0, bytes_of(c, i->type), PASS_READS | PASS_WRITES | PASS_ATOMIC);
        else
            add_other(c, i);
    }
}

/* May control take the edge, by what is known at launch? */
static bool may_take(const pass_launch *l, const ir_block *b, uint32_t edge) {
    int64_t test;
    if (b->last->op != IR_OP_br || !pass_known_number(l, ir_arg(b->last, 0), &test)) return true;
    return (edge == 0) == (test != 0);
}

/* The blocks that items may reach, by id. */
static const bool *find_reached(const pass_launch *l, ir_arena *a) {
    bool *reached = ir_new_array(a, bool, l->kernel->next_block);
    ir_vec(ir_block *) ahead = {0};
    *ir_push(a, &ahead) = l->kernel->first;
    while (ahead.n) {
        ir_block *b = ahead.data[--ahead.n];
        if (reached[b->id]) continue;
        reached[b->id] = true;
        for (uint32_t s = 0; s < b->nsucc; s++)
            if (may_take(l, b, s)) *ir_push(a, &ahead) = b->succ[s];
    }
    return reached;
}

void pass_find_accesses(const pass_launch *l, ir_arena *a, pass_accesses *out) {
    collector c = {.launch = l, .dom = ir_dominators(l->kernel), .a = a, .out = out};
    const ir_order *order = &c.dom->order;
    const bool *reached = find_reached(l, a);
    for (uint32_t k = 0; k < order->n; k++)
        if (order->rpo[k]->last->op == IR_OP_ret && reached[order->rpo[k]->id])
            *ir_push(a, &c.exits) = order->rpo[k];
    for (uint32_t k = 0; k < order->n; k++)
        for (ir_inst *i = order->rpo[k]->first; i && reached[order->rpo[k]->id]; i = i->next)
            collect(&c, i);
}

/* -------------------------------------------------------------------------------------- queries */

bool pass_argument_of(const pass_launch *l, const pass_access *x, uint32_t *arg) {
    if (!x->object || x->object->op != IR_OP_param) return false;
    *arg = l->argument ? l->argument[x->object->imm.index] : x->object->imm.index;
    return true;
}

bool pass_is_local(const pass_access *x) {
    return x->object && ir_is_ptr(x->object->type) && ir_space_of(x->object->type) == IR_LOCAL;
}

bool pass_is_local_variable(const pass_access *x) {
    return pass_is_local(x) && x->object->op == IR_OP_address;
}

bool pass_is_understood(const pass_access *x) { return x->bounded && x->size; }

/* ------------------------------------------------------------------------------------- printing */

static void print_object(ir_text *out, const ir_func *f, const ir_inst *object) {
    if (!object)
        ir_put(out, "an unknown place");
    else if (object->op == IR_OP_address)
        ir_putf(out, "@%s", object->imm.global->name);
    else if (f->param[object->imm.index].name)
        ir_putf(out, "%%%s", f->param[object->imm.index].name);
    else
        ir_putf(out, "parameter %u", object->imm.index);
}

static const char *print_place(ir_arena *a, const pass_launch *l, const pass_access *x) {
    ir_text t = {.arena = a};
    print_object(&t, l->kernel, x->object);
    if (x->object) ir_put(&t, " + ");
    if (x->object) pass_print_affine(&t, l, &x->offset);
    if (x->at->op == IR_OP_call) ir_putf(&t, " in @%s", x->at->imm.func->name);
    return t.data;
}

pass_access_info pass_describe_access(const pass_launch *l, const pass_access *x, ir_arena *a) {
    const ir_module *m = l->kernel->module;
    const ir_line *line = ir_line_of(m, x->at->loc);
    pass_access_info info = {.kind = x->kind,
                             .size = x->size,
                             .always = x->always,
                             .place = print_place(a, l, x),
                             .source = pass_write_access(l, x, a)};
    if (!line || line->file >= m->files.n) return info;
    info.file = ir_strdup(a, m->files.data[line->file]);
    info.line = line->line;
    info.column = line->column;
    return info;
}

void pass_print_access(ir_text *out, const pass_access_info *x) {
    static const char *const kinds[] = {"", "reads", "writes", "updates"};
    ir_putf(out, "%s%s ", x->kind & PASS_ATOMIC ? "atomically " : "",
            kinds[x->kind & (PASS_READS | PASS_WRITES)]);
    if (x->size)
        ir_putf(out, "%llu bytes at ", (unsigned long long)x->size);
    else
        ir_put(out, "some bytes at ");
    ir_putf(out, "%s%s", x->place, x->always ? ", always" : "");
}

void pass_print_accesses(ir_text *out, const pass_launch *l, const pass_accesses *list) {
    for (uint32_t k = 0; k < list->n; k++) {
        const pass_access_info info = pass_describe_access(l, &list->data[k], out->arena);
        pass_print_access(out, &info);
        ir_put(out, "\n");
    }
}

/* ---------------------------------------------------------------------------------- the printer */

/* Does: prints the accesses of a kernel, each in a line with the bytes that it may access, for the
 *       range of the options if there is one.
 * Needs: nothing; it finds most after `simplify`, when values are not in variables.
 * Leaves: everything as it is.
 * Gives up: never; an address that is not understood is printed as such. */
void pass_show_access(ir_func *f, pass_ctx *cx, ir_text *out) {
    const pass_launch l = {.kernel = f, .range = cx->range};
    pass_accesses list = {0};
    if (!(f->flags & IR_FUNC_KERNEL)) return;
    pass_find_accesses(&l, cx->scratch, &list);
    ir_putf(out, "; @%s", f->name);
    if (l.range) ir_put(out, " on ");
    if (l.range) pass_print_range(out, l.range);
    ir_put(out, "\n");
    for (uint32_t k = 0; k < list.n; k++) {
        ir_put(out, ";   ");
        const pass_access *x = &list.data[k];
        const pass_access_info info = pass_describe_access(&l, x, cx->scratch);
        pass_print_access(out, &info);
        if (x->bounded && x->size)
            ir_putf(out, ": bytes %lld to %lld", (long long)x->low,
                    (long long)x->high + (long long)x->size - 1);
        if (info.file) ir_putf(out, " (%s:%u)", info.file, info.line);
        ir_put(out, "\n");
    }
}
