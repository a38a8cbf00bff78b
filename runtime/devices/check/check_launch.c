/* check_launch.c — runs an nd-range: groups one after another, the work-items of a group in rounds.
 *
 * In a round every work-item that can run does so until it waits, ends, or has used up its turn; a
 * turn is long, and exists so that a work-item which spins on an atomic lets the others run.  After
 * the round those that wait may meet.  An interpreter is only held by a work-item between its first
 * step and its last, so a kernel without barriers needs one for all.
 */
#include "runtime/devices/check/check_impl.h"

enum { TURN = 1 << 16 };
/* About two seconds.  Counted by group, so that an endless kernel is found as soon with a thousand
 * work-items as with one. */
static const uint64_t STEP_LIMIT = 150u * 1000 * 1000;

/* ---------------------------------------------------------------------------------------- shape */

void check_group_shape(const check_setup *s, uint64_t index, uint64_t id[3], uint64_t size[3]) {
    for (unsigned d = 0; d < 3; index /= s->groups[d++]) {
        id[d] = index % s->groups[d];
        uint64_t left = s->global[d] - id[d] * s->local[d];
        size[d] = left < s->local[d] ? left : s->local[d];
    }
}

static uint32_t subgroups_of(const check_setup *s, uint64_t items) {
    uint32_t size = s->options.subgroup_size;
    return (uint32_t)((items + size - 1) / size);
}

/* The work-items of a group that is not cut off at the end of the range. */
static uint64_t full_group(const check_setup *s) { return s->local[0] * s->local[1] * s->local[2]; }

/* -------------------------------------------------------------------------------------- queries */

static uint64_t linear_global_id(const check_state *l) {
    const check_setup *s = l->setup;
    const uint64_t *id = l->item->global_id, *o = s->offset;
    return ((id[2] - o[2]) * s->global[1] + id[1] - o[1]) * s->global[0] + id[0] - o[0];
}

static uint64_t query_dim(const check_state *l, ir_op op, unsigned d) {
    const check_setup *s = l->setup;
    bool there = d < 3;
    switch (op) {
    case IR_OP_global_id: return there ? l->item->global_id[d] : 0;
    case IR_OP_local_id: return there ? l->item->local_id[d] : 0;
    case IR_OP_group_id: return there ? l->group.id[d] : 0;
    case IR_OP_global_size: return there ? s->global[d] : 1;
    case IR_OP_local_size: return there ? l->group.size[d] : 1;
    case IR_OP_enqueued_local_size: return there ? s->local[d] : 1;
    case IR_OP_num_groups: return there ? s->groups[d] : 1;
    default: return there ? s->offset[d] : 0; /* global_offset */
    }
}

static uint64_t query(void *user, const ir_inst *i, unsigned lane) {
    const check_state *l = user;
    const check_setup *s = l->setup;
    uint32_t item = l->item->index;
    switch (i->op) {
    case IR_OP_work_dim: return s->info->range.dims;
    case IR_OP_global_linear_id: return linear_global_id(l);
    case IR_OP_local_linear_id: return item;
    case IR_OP_subgroup_size: return check_subgroup_count(l, item);
    case IR_OP_subgroup_max_size: return s->options.subgroup_size;
    case IR_OP_num_subgroups: return l->group.nsubgroups;
    case IR_OP_enqueued_num_subgroups: return subgroups_of(s, full_group(s));
    case IR_OP_subgroup_id: return item / s->options.subgroup_size;
    case IR_OP_subgroup_local_id: return item % s->options.subgroup_size;
    case IR_OP_subgroup_mask: return check_subgroup_mask(l, i, lane);
    default: return query_dim(l, (ir_op)i->op, i->imm.dim);
    }
}

/* ------------------------------------------------------------------------ variables and globals */

static uint64_t align_of(uint32_t align) { return align ? align : 1; }

static check_object *make_private(check_state *l, uint64_t size, uint64_t align) {
    check_object *o = check_make(l, IR_PRIVATE, size, align);
    o->owner = l->item->index;
    *ir_push(l->arena, &l->item->variables) = o;
    return o;
}

static uint64_t make_variable(void *user, const ir_inst *alloca) {
    check_state *l = user;
    const ir_var *v = alloca->imm.var;
    uint64_t size = ir_sizeof(l->setup->kernel->module, v->type);
    check_object *o = make_private(l, size, align_of(v->align));
    o->variable = alloca;
    return o->base;
}

static void end_variables(void *user, uint32_t n) {
    check_state *l = user;
    while (n--) check_end(l, l->item->variables.data[--l->item->variables.n]);
}

static check_object *make_global(check_state *l, const check_global *g) {
    uint64_t size = ir_sizeof(l->setup->kernel->module, g->global->type);
    check_object *o = check_make(l, g->global->space, size, align_of(g->global->align));
    o->name = g->name;
    if (l->item) o->owner = l->item->index;
    if (g->global->init) {
        memcpy(o->store->bytes, g->global->init, size);
        memset(o->store->undef, 0, size);
    }
    return o;
}

static check_object *private_global(check_state *l, const check_global *g) {
    check_item *i = l->item;
    if (!i->private_globals)
        i->private_globals = ir_new_array(l->arena, check_object *, l->setup->program->globals.n);
    if (!i->private_globals[g->index]) i->private_globals[g->index] = make_global(l, g);
    return i->private_globals[g->index];
}

static check_object *local_global(check_state *l, const check_global *g) {
    check_object **o = &l->group.locals[g->index];
    if (!*o) *o = make_global(l, g);
    return *o;
}

static uint64_t address_of(void *user, const ir_global *global) {
    check_state *l = user;
    const check_global *g = ir_map_get(&l->setup->program->global_of, (uint64_t)(uintptr_t)global);
    if (g->object) return g->object->base;
    return (global->space == IR_LOCAL ? local_global(l, g) : private_global(l, g))->base;
}

static int space_of(void *user, uint64_t address) {
    const check_object *o = check_object_at(user, address);
    return o && o->alive ? (int)o->space : -1;
}

/* ------------------------------------------------------------------------------------- problems */

static void report_undefined(check_state *l, check_finding *f, unsigned operand) {
    const ir_inst *i = f->here.inst;
    f->kind = CHECK_UNDEFINED;
    f->detail = operand;
    if (operand == IR_OPERAND_MEMORY)
        check_find(l, f, "%s reads an undefined value from memory", ir_info(i)->name);
    else if (i->op == IR_OP_br || i->op == IR_OP_switch)
        check_find(l, f, "an undefined value decides where to go");
    else if (ir_is_ptr(ir_arg(i, operand)->type) && i->op != IR_OP_printf)
        check_find(l, f, "%s through an undefined pointer", ir_info(i)->name);
    else if (ir_has_flag(i, F_TRAPS))
        check_find(l, f, "division by an undefined value");
    else
        check_find(l, f, "operand %u of %s is undefined", operand, ir_info(i)->name);
}

static void report_no_body(check_state *l, check_finding *f) {
    const ir_func *callee = f->here.inst->imm.func;
    f->kind = CHECK_NO_BODY;
    check_find(l, f, "call of @%s, which has no body%s%s", callee->name,
               callee->refusal ? ": " : "", callee->refusal ? callee->refusal : "");
}

static void problem(void *user, ir_problem what, const ir_inst *i, unsigned operand) {
    check_state *l = user;
    check_finding f = {.severity = IR_ERROR, .here = check_current(l, i)};
    switch (what) {
    case IR_PROBLEM_UNDEFINED: report_undefined(l, &f, operand); break;
    case IR_PROBLEM_NO_BODY: report_no_body(l, &f); break;
    case IR_PROBLEM_DIVISION:
        f.kind = CHECK_DIVISION;
        f.severity = IR_WARNING;
        check_find(l, &f, "division by zero, or its quotient overflows");
        break;
    case IR_PROBLEM_ASSUME:
        f.kind = CHECK_ASSUME;
        f.severity = IR_WARNING;
        check_find(l, &f, "an assumption is false");
        break;
    case IR_PROBLEM_UNREACHABLE:
        f.kind = CHECK_UNREACHABLE;
        check_find(l, &f, "reached a place that control never comes to");
        break;
    case IR_PROBLEM_DEPTH:
        f.kind = CHECK_CALL_DEPTH;
        check_find(l, &f, "calls are nested too deeply");
        break;
    case IR_PROBLEM_UNSUPPORTED: /* refused before the launch */ assert(false); break;
    }
}

/* ----------------------------------------------------------------------------------- work-items */

/* A by-value struct: memory of the work-item's own, with the bytes of the argument. */
static uint64_t copy_by_value(check_state *l, uint32_t p, const check_arg *arg) {
    const ir_param *param = &l->setup->kernel->param[p];
    check_object *o = make_private(l, arg->size, align_of(param->align ? param->align : 16));
    o->name = l->setup->arg_names[p];
    memcpy(o->store->bytes, arg->bytes, arg->size);
    memset(o->store->undef, 0, arg->size);
    return o->base;
}

static void start_item(check_state *l) {
    check_item *i = l->item;
    const ir_func *f = l->setup->kernel;
    for (uint32_t p = 0; p < f->nparams; p++) {
        if (f->param[p].attrs & IR_PARAM_BYVAL)
            l->scratch.args[p].bits[0] = copy_by_value(l, p, &l->setup->info->args[p]);
        else if (l->setup->info->args[p].kind == IR_ARG_LOCAL)
            l->scratch.args[p].bits[0] = l->group.locals[l->setup->program->globals.n + p]->base;
    }
    i->run = l->scratch.idle.n ? l->scratch.idle.data[--l->scratch.idle.n]
                               : ir_interp_new(l->arena, l->setup->program->code, &l->host);
    ir_interp_start(i->run, l->setup->kernel, l->scratch.args);
}

static void end_item(check_state *l, check_item_state state) {
    check_item *i = l->item;
    i->state = state;
    if (state == CHECK_TRAPPED) l->findings.result->ended_early = true;
    end_variables(l, i->variables.n);
    for (uint32_t g = 0; i->private_globals && g < l->setup->program->globals.n; g++) {
        if (i->private_globals[g]) check_end(l, i->private_globals[g]);
        i->private_globals[g] = NULL;
    }
    *ir_push(l->arena, &l->scratch.idle) = i->run;
    i->run = NULL;
}

static void stop_endless(check_state *l, const char *why) {
    check_finding f = {.kind = CHECK_STEP_LIMIT, .severity = IR_ERROR};
    f.here = check_current(l, ir_interp_at(l->item->run));
    check_find(l, &f, "%s; the launch stops here", why);
    end_item(l, CHECK_TRAPPED);
    l->stop = true;
}

static void stop_at_limit(check_state *l, uint64_t limit) {
    stop_endless(l, ir_sprintf(l->arena, "no end after %llu instructions of the work-group",
                               (unsigned long long)limit));
}

/* Asked by all instructions of the launch, since a work-item may be short and the groups many. */
static bool is_late(check_state *l) {
    const check_options *o = &l->setup->options;
    uint64_t now = l->findings.result->instructions;
    if (!o->expired || now < l->clock.ask) return false;
    l->clock.ask = now + TURN;
    return o->expired(o->user);
}

static void stop_late(check_state *l) {
    uint64_t n = l->findings.result->instructions;
    stop_endless(l, ir_sprintf(l->arena, "its time is over after %llu instructions of the launch",
                               (unsigned long long)n));
}

/* One turn of one work-item. */
static void run_item(check_state *l, check_item *i) {
    uint64_t limit = l->setup->options.step_limit ? l->setup->options.step_limit : STEP_LIMIT;
    uint64_t rest = limit - l->group.steps, turn = rest < TURN ? rest : TURN, left = turn;
    l->item = i;
    l->clock.slice = l->group.round_slice + i->index;
    if (!i->run) start_item(l);
    if (is_late(l)) {
        stop_late(l);
        return;
    }
    ir_run state = ir_interp_run(i->run, &left);
    l->group.steps += turn - left;
    l->findings.result->instructions += turn - left;
    switch (state) {
    case IR_RUN_DONE: end_item(l, CHECK_DONE); break;
    case IR_RUN_TRAPPED: end_item(l, CHECK_TRAPPED); break;
    case IR_RUN_BLOCKED: i->state = CHECK_WAITING; break;
    case IR_RUN_MORE:
        if (l->group.steps >= limit) stop_at_limit(l, limit);
        break;
    }
}

/* --------------------------------------------------------------------------------------- groups */

static void place_items(check_state *l) {
    const check_group *g = &l->group;
    for (uint32_t k = 0; k < g->nitems; k++) {
        check_item *i = &l->items[k];
        check_object **globals = i->private_globals;
        *i = (check_item){.index = k, .variables = i->variables, .private_globals = globals};
        i->local_id[0] = k % g->size[0];
        i->local_id[1] = k / g->size[0] % g->size[1];
        i->local_id[2] = k / g->size[0] / g->size[1];
        for (unsigned d = 0; d < 3; d++)
            i->global_id[d] = l->setup->offset[d] + g->id[d] * l->setup->local[d] + i->local_id[d];
    }
}

static void make_local_args(check_state *l) {
    for (uint32_t p = 0; p < l->setup->kernel->nparams; p++) {
        const check_arg *arg = &l->setup->info->args[p];
        if (arg->kind != IR_ARG_LOCAL) continue;
        uint64_t align = align_of(l->setup->kernel->param[p].align);
        if (align < CHECK_BUFFER_ALIGN) align = CHECK_BUFFER_ALIGN;
        check_object *o = check_make(l, IR_LOCAL, arg->size, align);
        o->name = l->setup->arg_names[p];
        l->group.locals[l->setup->program->globals.n + p] = o;
    }
}

static void begin_group(check_state *l, uint64_t index) {
    check_group *g = &l->group;
    g->index = index;
    g->steps = 0;
    check_group_shape(l->setup, index, g->id, g->size);
    g->nitems = (uint32_t)(g->size[0] * g->size[1] * g->size[2]);
    g->nsubgroups = subgroups_of(l->setup, g->nitems);
    g->first_slice = l->clock.next;
    *ir_push(l->arena, &l->clock.visits) = (check_visit){g->first_slice, index};
    g->fence[0] = g->fence[1] = 0;
    memset(g->sub_fence, 0, g->nsubgroups * sizeof *g->sub_fence);
    l->item = NULL;
    make_local_args(l);
    place_items(l);
}

/* What an abandoned launch left running ends too. */
void check_end_group(check_state *l) {
    for (uint32_t k = 0; k < l->group.nitems; k++) {
        l->item = &l->items[k];
        if (l->item->run) end_item(l, CHECK_TRAPPED);
    }
    if (!l->stop) check_async_end(l);
    l->group.copies.n = 0;
    for (uint32_t k = 0; k < l->setup->program->globals.n + l->setup->kernel->nparams; k++) {
        if (l->group.locals[k]) check_end(l, l->group.locals[k]);
        l->group.locals[k] = NULL;
    }
}

static void run_round(check_state *l) {
    l->group.round_slice = l->clock.next;
    l->clock.next += l->group.nitems + 1;
    for (uint32_t k = 0; k < l->group.nitems && !l->stop; k++)
        if (l->items[k].state == CHECK_READY) run_item(l, &l->items[k]);
}

void check_make_items(check_state *l) {
    uint64_t room = full_group(l->setup);
    l->items = ir_new_array(l->arena, check_item, room);
    l->group = (check_group){0};
    l->group.sub_fence =
        ir_alloc(l->arena, subgroups_of(l->setup, room) * sizeof *l->group.sub_fence);
    l->group.locals = ir_new_array(l->arena, check_object *,
                                   l->setup->program->globals.n + l->setup->kernel->nparams);
}

static void set_up(check_state *l) {
    uint64_t room = full_group(l->setup);
    l->host = (ir_interp_host){.user = l,
                               .read = check_read,
                               .write = check_write,
                               .variable = make_variable,
                               .release = end_variables,
                               .address = address_of,
                               .space_of = space_of,
                               .query = query,
                               .print = check_print,
                               .fence = check_fence,
                               .problem = problem};
    l->scratch.members = ir_new_array(l->arena, check_item *, room);
    uint32_t nargs = l->setup->kernel->nparams;
    l->scratch.args = ir_new_array(l->arena, ir_value, nargs);
    for (uint32_t p = 0; p < nargs; p++) l->scratch.args[p] = l->setup->args[p];
    l->clock.next = 1;
    check_make_items(l);
}

void check_run_group(check_state *l) {
    do run_round(l);
    while (!l->stop && check_meet(l));
}

void check_run_groups(check_state *l) {
    set_up(l);
    const check_options *o = &l->setup->options;
    uint64_t n = l->setup->groups[0] * l->setup->groups[1] * l->setup->groups[2];
    for (uint64_t g = 0; g < n && !l->stop; g++) {
        begin_group(l, g);
        check_run_group(l);
        if (!check_park(l)) check_end_group(l);
        if (o->progress) o->progress(o->user, g + 1, n);
    }
    while (l->parked.n) check_go_on(l);
    if (l->stop) l->findings.result->ended_early = true;
}
