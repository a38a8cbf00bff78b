/* compile.c — functions of work-groups to an object: the stages of native code in order, for any
 * target.
 */
#include "codegen/native/unit.h"

uint32_t cg_label_of(cg_unit *u, const void *what) {
    uint64_t key = (uintptr_t)what;
    uintptr_t label = (uintptr_t)ir_map_get(&u->label_of, key);
    if (!label) {
        label = (uintptr_t)u->target->new_label(u) + 1;
        ir_map_set(u->arena, &u->label_of, key, (void *)label);
    }
    return (uint32_t)label - 1;
}

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

/* ------------------------------------------------------------------------------------ functions */

typedef struct {
    cg_unit *unit;
    const cg_options *options;
    ir_func *f;
    ir_arena scratch;
    bool ok;
} func_job;

static void run_stages(void *arg) {
    func_job *j = arg;
    const cg_native *n = j->unit->target;
    ir_ctx *cx = j->f->module->cx;
    cg_allocation a = {0};
    cx->func = j->f->name;
    ir_enter_stage(cx, "legalize");
    cg_legalize(j->f, n->lacks_count, &j->scratch);
    ir_enter_stage(cx, "select");
    j->ok = n->select(n->registers, j->f, j->options, &j->scratch) &&
            cg_allocate(n->registers, j->f, &j->options->regalloc, &j->scratch, &a);
    ir_enter_stage(cx, "encode");
    j->ok = j->ok && n->emit(j->unit, j->f, &a);
    ir_enter_stage(cx, NULL);
}

/* False after a reported error; what has no memory throws, with its scratch freed. */
static bool compile_func(func_job j, ir_func *f) {
    ir_ctx *cx = f->module->cx;
    j.f = f;
    ir_arena_init(&j.scratch, cx);
    bool finished = ir_try(cx, run_stages, &j);
    ir_arena_free(&j.scratch);
    if (!finished || (!j.ok && cx->status == IR_ERR_MEMORY)) ir_throw(cx, cx->status);
    return j.ok;
}

bool cg_compile_unit(cg_unit *u, ir_module *m, const cg_options *options) {
    const func_job job = {.unit = u, .options = options};
    cg_image image;
    foreach_func (f, m)
        if (!ir_is_declaration(f) && f->level == L_GROUP && !compile_func(job, f)) return false;
    ir_enter_stage(m->cx, "object");
    if (!u->target->finish(u, &image)) return ir_error(m->cx, "the code is too large");
    cg_place_module(u, m, &image);
    ir_enter_stage(m->cx, NULL);
    return true;
}
