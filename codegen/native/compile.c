/* compile.c — functions of work-groups to an object, for any target.
 *
 * The driver walks the table of stages (stages.def) for each function.  It tells the context which
 * stage runs, for timings and for internal errors, and shows the function after a stage if a switch
 * names it.  The bytes of all functions become an object together.
 */
#include "codegen/native/unit.h"

/* ------------------------------------------------------------------------------------- refusals */

/* Variables mostly have no line of their own, but what uses them has. */
static const ir_line *find_line(const ir_module *m, const ir_inst *variable) {
    const ir_line *line = ir_line_of(m, variable->loc);
    foreach_use (u, variable) {
        const ir_line *at = ir_line_of(m, u->user->loc);
        if (!line || (at && at->file == line->file && at->line < line->line)) line = at;
    }
    return line;
}

static const ir_inst *find_largest(const ir_func *f) {
    const ir_inst *largest = NULL;
    uint64_t most = 0;
    foreach_inst (i, f->first) {
        if (i->op != IR_OP_alloca || ir_sizeof(f->module, i->imm.var->type) <= most) continue;
        most = ir_sizeof(f->module, i->imm.var->type);
        largest = i;
    }
    return largest;
}

/* A kernel's function for blocks of work-groups has its name, and ".block" after it. */
static int length_of_name(const ir_func *f) {
    const char *end = strrchr(f->name, '.');
    return (int)(end && strcmp(end, ".block") == 0 ? (size_t)(end - f->name) : strlen(f->name));
}

void cg_refuse_frame(const ir_func *f, uint32_t most) {
    const ir_module *m = f->module;
    const ir_inst *largest = find_largest(f);
    const ir_line *line = largest ? find_line(m, largest) : NULL;
    ir_text t = {.arena = &f->module->arena};
    ir_putf(&t, "%s '%.*s': private memory has more than %u bytes",
            f->flags & IR_FUNC_SHARED ? "function" : "kernel", length_of_name(f), f->name, most);
    if (largest)
        ir_putf(&t, ": one variable has %llu",
                (unsigned long long)ir_sizeof(m, largest->imm.var->type));
    if (line) ir_putf(&t, " (%s:%u)", m->files.data[line->file], line->line);
    ir_error(m->cx, "%s", t.data);
}

/* --------------------------------------------------------------------------------------- stages */

struct cg_func_job {
    cg_unit *unit;
    const cg_options *options;
    ir_func *f;
    ir_arena scratch;
    cg_allocator *allocator; /* from schedule to assign, otherwise NULL */
    cg_allocation allocation;
    ir_text listing; /* what emit has encoded, if that is wanted */
    bool ok, stopped;
};

static bool run_legalize(cg_func_job *j) {
    cg_legalize(j->f, j->unit->target->lacks_count, &j->scratch);
    return true;
}

static bool run_select(cg_func_job *j) {
    const cg_native *n = j->unit->target;
    return n->select(n->registers, j->f, j->options, &j->scratch);
}

/* Where passes are verified, so is the allocation. */
static bool run_schedule(cg_func_job *j) {
    const ir_inspection *i = j->f->module->cx->inspection;
    cg_regalloc_options o = j->options->regalloc;
    if (i && i->verify_each) o.check = true;
    j->allocator =
        cg_begin_allocation(j->unit->target->registers, j->f, &o, &j->scratch, &j->allocation);
    cg_schedule(j->allocator);
    return true;
}

static bool run_spill(cg_func_job *j) {
    cg_spill(j->allocator);
    return true;
}

static void end_allocation(cg_func_job *j) {
    if (j->allocator) cg_end_allocation(j->allocator);
    j->allocator = NULL;
}

static bool run_assign(cg_func_job *j) {
    bool assigned = cg_assign(j->allocator);
    end_allocation(j);
    return assigned;
}

static bool run_emit(cg_func_job *j) {
    bool listed = j->options->listing || j->f->module->cx->inspection;
    j->unit->listing = listed ? &j->listing : NULL;
    return j->unit->target->emit(j->unit, j->f, &j->allocation);
}

const cg_stage cg_stages[] = {
#define STAGE(name, doc) {#name, doc, run_##name},
#include "codegen/native/stages.def"
#undef STAGE
};
const unsigned cg_stage_count = sizeof cg_stages / sizeof *cg_stages;

/* -------------------------------------------------------------------------------------- showing */

/* The function as the stage that runs has left it. */
static void print_func(const cg_func_job *j, ir_text *out) {
    const cg_target *t = j->unit->target->registers;
    if (j->listing.n)
        ir_put(out, j->listing.data);
    else if (j->f->level < L_MACHINE)
        ir_print_func(out, j->f, 0);
    else
        cg_print_machine(out, t, j->f, j->f->level == L_ALLOCATED ? &j->allocation : NULL);
}

static void show_stage(cg_func_job *j) {
    const ir_ctx *cx = j->f->module->cx;
    bool dumped = ir_is_inspected(cx);
    j->stopped = ir_names_stage(cx, j->options->stop_after);
    if (!dumped && !j->stopped) return;
    ir_text t = {.arena = &j->scratch};
    print_func(j, &t);
    if (dumped) cx->inspection->dump(cx->inspection->dump_user, cx->where.stage, t.data);
    if (j->stopped) ir_putf(j->options->listing, "%s\n", t.data);
}

/* ------------------------------------------------------------------------------------ functions */

/* For the report of a failed assertion in the stage that begins. */
static void keep_code(cg_func_job *j) {
    ir_text text = {.arena = &j->scratch};
    print_func(j, &text);
    j->f->module->cx->where.code = text.data;
}

static bool run_counted(cg_func_job *j, const cg_stage *stage) {
    ir_ctx *cx = j->f->module->cx;
    const ir_measure before = {*cx->counts, ir_count_instructions(j->f)};
    bool ok = stage->run(j);
    ir_report_counts(j->f->module, &before, ir_count_instructions(j->f), &j->scratch);
    return ok;
}

static void run_stages(void *arg) {
    cg_func_job *j = arg;
    ir_ctx *cx = j->f->module->cx;
    bool ok = true;
    for (unsigned k = 0; ok && !j->stopped && k < cg_stage_count; k++) {
        ir_begin_stage(cx, cg_stages[k].name, j->f);
        if (cx->save) keep_code(j);
        ok = cx->counts ? run_counted(j, &cg_stages[k]) : cg_stages[k].run(j);
        if (ok) show_stage(j);
    }
    ir_end_stage(cx);
    j->ok = ok;
    j->unit->object->stopped |= j->stopped;
    if (j->listing.n && j->options->listing && !j->options->stop_after)
        ir_put(j->options->listing, j->listing.data);
}

/* False after a reported error.  Whatever a stage throws is thrown on, after the scratch memory is
 * freed. */
static bool compile_func(cg_unit *u, ir_func *f, const cg_options *options) {
    ir_ctx *cx = f->module->cx;
    cg_func_job j = {.unit = u, .options = options, .f = f};
    ir_arena_init(&j.scratch, cx);
    j.listing.arena = &j.scratch;
    bool finished = ir_try(cx, run_stages, &j);
    end_allocation(&j);
    ir_arena_free(&j.scratch);
    if (!finished || (!j.ok && cx->status == IR_ERR_MEMORY)) ir_throw(cx, cx->status);
    return j.ok;
}

bool cg_compile_unit(cg_unit *u, ir_module *m, const cg_options *options) {
    cg_image image;
    u->module = m;
    u->assembly = options->assembly;
    foreach_func (f, m)
        if (!ir_is_declaration(f) && f->level == L_GROUP && !compile_func(u, f, options))
            return false;
    if (u->object->stopped) return true;
    ir_begin_stage(m->cx, "object", NULL);
    bool fits = u->target->finish(u, &image);
    if (fits) cg_place_module(u, m, &image);
    ir_end_stage(m->cx);
    return fits || ir_error(m->cx, "the code is too large");
}
