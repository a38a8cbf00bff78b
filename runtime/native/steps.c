/* steps.c — code that a debugger can follow: variables and ids stay readable in the frame.
 *
 * Passes that move, merge or remove what the source does are left out (pass_steps), so variables of
 * the source are still in memory.  Where that memory lies depends on the work-item once a kernel is
 * code of work-groups.  So each function writes down, for debuggers only, what the names of its
 * variables mean: the address of the variable, or the ids themselves.  That is done where the
 * function begins and again after each barrier, since another work-item may go on there.
 */
#include "runtime/native/native.h"

typedef struct {
    ir_func *f;
    ir_builder entry;
    ir_vec(ir_inst *) what, where; /* values and addresses by what is shown */
} showing;

/* ---------------------------------------------------------------------------------------- types */

/* What is read or written through a pointer that is kept in a variable; IR_VOID: not known. */
static ir_type accessed_through(const ir_inst *pointer, unsigned depth) {
    foreach_use (u, pointer) {
        const ir_inst *i = u->user;
        if (i->op == IR_OP_load && ir_arg(i, 0) == pointer) return i->type;
        if (i->op == IR_OP_store && ir_arg(i, 1) == pointer) return ir_arg(i, 0)->type;
        bool is_address = ir_is_ptr(i->type) && i->op != IR_OP_load && i->op != IR_OP_phi;
        ir_type t = is_address && depth ? accessed_through(i, depth - 1) : IR_VOID;
        if (t != IR_VOID) return t;
    }
    return IR_VOID;
}

static ir_type pointee_of(const ir_inst *variable) {
    enum { DEPTH = 4 };
    if (!ir_is_ptr(variable->imm.var->type)) return IR_VOID;
    foreach_use (u, variable) {
        ir_type t = u->user->op == IR_OP_load ? accessed_through(u->user, DEPTH) : IR_VOID;
        if (t != IR_VOID) return t;
    }
    return IR_VOID;
}

/* -------------------------------------------------------------------------------------- showing */

/* A place in the frame with that meaning. */
static ir_inst *add_place(showing *s, ir_type type, const ir_shown *shown) {
    ir_arena *a = &s->f->module->arena;
    ir_inst *place = ir_build_alloca(&s->entry, type, 8);
    ir_var *var = ir_dup(a, place->imm.var, sizeof *var);
    var->shown = ir_dup(a, shown, sizeof *shown);
    place->imm.var = var;
    return place;
}

/* clang keeps a parameter x in a variable x.addr. */
static const char *source_name(ir_arena *a, const char *name, bool *parameter) {
    size_t n = strlen(name);
    *parameter = n > 5 && strcmp(name + n - 5, ".addr") == 0;
    return *parameter ? ir_strndup(a, name, n - 5) : name;
}

static void show(showing *s, ir_inst *address, const ir_shown *shown) {
    ir_arena *a = &s->f->module->arena;
    *ir_push(a, &s->what) = address;
    *ir_push(a, &s->where) = add_place(s, address->type, shown);
}

static void show_variable(showing *s, ir_inst *variable) {
    const char *name = ir_name_of(s->f, variable);
    if (!name) return;
    ir_shown shown = {.type = variable->imm.var->type, .is_address = true};
    shown.name = source_name(&s->f->module->arena, name, &shown.parameter);
    shown.pointee = pointee_of(variable);
    show(s, variable, &shown);
}

/* Local memory "heat.tile" of kernel heat. */
static void show_local(showing *s, ir_global *g) {
    const char *dot = strrchr(g->name, '.');
    ir_shown shown = {.name = dot ? dot + 1 : g->name, .type = g->type, .is_address = true};
    show(s, ir_address(s->f, g), &shown);
}

static bool uses(const ir_func *f, const ir_global *g) {
    foreach_block (b, f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++)
                if (ir_arg(i, n)->op == IR_OP_address && ir_arg(i, n)->imm.global == g) return true;
    return false;
}

static const struct {
    const char *name;
    ir_op op;
} ids[] = {
    {"global_id", IR_OP_global_id}, {"local_id", IR_OP_local_id}, {"group_id", IR_OP_group_id}};
enum { IDS = sizeof ids / sizeof *ids };

static void write_ids(ir_builder *b, ir_inst *const place[IDS]) {
    for (unsigned n = 0; n < IDS; n++)
        for (unsigned d = 0; d < 3; d++) {
            ir_inst *id = ir_build_query(b, ids[n].op, IR_I64, d);
            ir_inst *at = ir_build_ptradd(b, place[n], ir_const(b->f, IR_I64, 8 * d), true);
            ir_build_store(b, id, at, 8, IR_MEM_VOLATILE);
        }
}

static void write_all(const showing *s, ir_builder *b, ir_inst *const place[IDS]) {
    for (uint32_t n = 0; n < s->what.n; n++)
        ir_build_store(b, s->what.data[n], s->where.data[n], 8, IR_MEM_VOLATILE);
    write_ids(b, place);
}

static void write_after_barriers(const showing *s, ir_inst *const place[IDS]) {
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            if (i->op != IR_OP_barrier) continue;
            ir_builder after;
            ir_builder_init(&after, s->f);
            ir_before(&after, i->next);
            write_all(s, &after, place);
        }
}

static ir_inst *after_variables(const ir_func *f) {
    ir_inst *i = f->first->first;
    while (i->op == IR_OP_alloca) i = i->next;
    return i;
}

static bool makes_variable(const ir_inst *i) {
    return i->op == IR_OP_store && ir_arg(i, 0)->op == IR_OP_param;
}

/* Where the first of those is written, otherwise the first instruction; NULL: not known. */
static const ir_line *find_head(const ir_func *f) {
    const ir_line *first = NULL;
    foreach_inst (i, f->first) {
        const ir_line *line = ir_line_of(f->module, i->loc);
        if (line && makes_variable(i)) return line;
        if (!first) first = line;
    }
    return first;
}

/* What makes parameters variables, and writes down what names mean, is part of the prologue, after
 * which debuggers stop: it has the loc of the function, which nothing else has. */
static void join_prologue(ir_func *f) {
    const ir_line *head = find_head(f);
    f->loc = head ? ir_make_loc(f->module, *head) : 0;
    foreach_inst (i, f->first)
        if (makes_variable(i)) i->loc = f->loc;
}

static void show_function(ir_func *f) {
    join_prologue(f);
    showing s = {.f = f};
    ir_inst *place[IDS], *first = after_variables(f);
    ir_builder_init(&s.entry, f);
    ir_before(&s.entry, first);
    s.entry.loc = f->loc;
    for (ir_inst *i = f->first->first, *next; i != first; i = next) {
        next = i->next;
        if (!i->imm.var->shown) show_variable(&s, i);
    }
    foreach_global (g, f->module)
        if (g->space == IR_LOCAL && uses(f, g)) show_local(&s, g);
    ir_type three = ir_array_type(f->module, IR_I64, 3);
    for (unsigned n = 0; n < IDS; n++)
        place[n] = add_place(&s, three, &(ir_shown){.name = ids[n].name, .type = three});
    write_all(&s, &s.entry, place);
    write_after_barriers(&s, place);
}

void rt_show_variables(ir_module *m) {
    foreach_func (f, m)
        if (!ir_is_declaration(f)) show_function(f);
}
