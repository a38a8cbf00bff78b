/* check_report.c — findings become reports: equal ones are merged, parties and places get names,
 * and the text is made.
 *
 * Two findings are equal when kind, severity, both instructions and a detail of the kind agree; the
 * first one is told, the others are counted.  The text of a report:
 *
 *   k.spv: word 0x1a3, k.cl:12: error: read of 4 bytes at x + 40 is out of bounds: x has 40 bytes
 *     work-item (10, 0, 0) of group (1, 0, 0) in kernel @k: %v: f32 = load %p align 4
 *     and work-item (3, 0, 0) of group (0, 0, 0), k.cl:9: store %v, %q align 4
 *     6 times
 */
#include "runtime/devices/check/check_impl.h"

enum { DEFAULT_REPORTS = 100 };

const char *check_kind_name(check_kind kind) {
    static const char *const names[CHECK_KINDS] = {
        [CHECK_OUT_OF_BOUNDS] = "out-of-bounds",
        [CHECK_MISALIGNED] = "misaligned",
        [CHECK_NULL] = "null",
        [CHECK_NO_OBJECT] = "no-object",
        [CHECK_ENDED] = "ended",
        [CHECK_FOREIGN_PRIVATE] = "foreign-private",
        [CHECK_READ_ONLY] = "read-only",
        [CHECK_WRONG_SPACE] = "wrong-space",
        [CHECK_UNDEFINED] = "undefined",
        [CHECK_RACE] = "race",
        [CHECK_DIVERGENCE] = "divergence",
        [CHECK_GROUP_OPERAND] = "group-operand",
        [CHECK_ASYNC] = "async",
        [CHECK_DIVISION] = "division",
        [CHECK_ASSUME] = "assume",
        [CHECK_UNREACHABLE] = "unreachable",
        [CHECK_NO_BODY] = "no-body",
        [CHECK_CALL_DEPTH] = "call-depth",
        [CHECK_STEP_LIMIT] = "step-limit",
    };
    return names[kind];
}

/* -------------------------------------------------------------------------------- parties */

check_who check_current(const check_state *l, const ir_inst *at) {
    return (check_who){
        .inst = at, .group = l->group.index, .item = l->item ? l->item->index : l->group.nitems};
}

check_who check_who_of(const check_state *l, uint64_t slice, const ir_inst *at) {
    uint32_t low = 0, high = l->clock.visits.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (l->clock.visits.data[mid].slice <= slice)
            low = mid + 1;
        else
            high = mid;
    }
    const check_visit *visit = &l->clock.visits.data[low - 1];
    uint64_t id[3], size[3], group = visit->group;
    check_group_shape(l->setup, group, id, size);
    uint64_t n = size[0] * size[1] * size[2];
    uint32_t item = (uint32_t)((slice - visit->slice) % (n + 1));
    return (check_who){.inst = at, .group = group, .item = item};
}

/* "%v", as the function prints it.  Printing a function is slow, so names are kept. */
static const char *variable_name(check_state *l, const ir_inst *i) {
    uint64_t key = (uint64_t)(uintptr_t)i;
    char *name = ir_map_get(&l->findings.variable_names, key);
    if (name) return name;
    ir_text t = {.arena = l->arena};
    ir_print_inst(&t, i);
    const char *end = t.n ? strchr(t.data, ':') : NULL;
    name = end ? ir_strndup(l->arena, t.data, (size_t)(end - t.data))
               : ir_strdup(l->arena, "a variable");
    ir_map_set(l->arena, &l->findings.variable_names, key, name);
    return name;
}

/* Without what tells that it is a global ("@k.tile", where k is the kernel) or a value ("%t"). */
static const char *plain_name(const check_state *l, const char *name) {
    const char *kernel = l->setup->kernel->name;
    size_t n = strlen(kernel);
    if (*name != '@' && *name != '%') return name;
    name++;
    return strncmp(name, kernel, n) == 0 && name[n] == '.' ? name + n + 1 : name;
}

const char *check_name(check_state *l, const check_object *o) {
    const char *name = o->name ? o->name : variable_name(l, o->variable);
    return l->device->for_people ? plain_name(l, name) : name;
}

check_place_text check_place(check_state *l, const check_object *o, uint64_t address) {
    check_place_text t;
    int64_t offset = (int64_t)(address - o->base - o->named_from);
    snprintf(t.text, sizeof t.text, "%.150s %c %lld", check_name(l, o), offset < 0 ? '-' : '+',
             (long long)(offset < 0 ? -offset : offset));
    return t;
}

static void locate_source(check_party *p, const ir_module *m) {
    const ir_line *line = p->inst ? ir_line_of(m, p->inst->loc) : NULL;
    if (!line) return;
    p->file = m->files.data[line->file];
    p->line = line->line;
    p->column = line->column;
}

static check_party party_of(check_state *l, const check_who *who) {
    check_party p = {.inst = who->inst, .function = l->setup->kernel->name, .text = ""};
    uint64_t size[3];
    check_group_shape(l->setup, who->group, p.group_id, size);
    uint64_t item = who->item;
    p.is_copy = item == size[0] * size[1] * size[2];
    for (unsigned d = 0; d < 3 && !p.is_copy; item /= size[d++])
        p.global_id[d] = l->setup->offset[d] + p.group_id[d] * l->setup->local[d] + item % size[d];
    if (!who->inst) return p;
    ir_text text = {.arena = l->arena};
    ir_print_inst(&text, who->inst);
    p.text = text.n ? text.data : "";
    if (who->inst->block) p.function = who->inst->block->func->name;
    locate_source(&p, l->setup->kernel->module);
    return p;
}

/* ----------------------------------------------------------------------------------------- text */

static void put_ids(ir_text *t, const uint64_t id[3]) {
    ir_putf(t, "(%llu, %llu, %llu)", (unsigned long long)id[0], (unsigned long long)id[1],
            (unsigned long long)id[2]);
}

static void put_worker(ir_text *t, const check_party *p) {
    if (p->is_copy) {
        ir_put(t, "an async copy");
    } else {
        ir_put(t, "work-item ");
        put_ids(t, p->global_id);
    }
    ir_put(t, " of group ");
    put_ids(t, p->group_id);
}

static void put_here(ir_text *t, const check_report *r) {
    ir_put(t, "\n  ");
    put_worker(t, &r->here);
    ir_putf(t, " in kernel @%s", r->kernel);
    if (strcmp(r->here.function, r->kernel) != 0) ir_putf(t, ", @%s", r->here.function);
    ir_putf(t, ": %s", r->here.text);
}

static void put_other(ir_text *t, const check_report *r) {
    const check_party *p = &r->other;
    ir_put(t, "\n  and ");
    put_worker(t, p);
    if (strcmp(p->function, r->here.function) != 0) ir_putf(t, " in @%s", p->function);
    if (p->file) ir_putf(t, ", %s:%u", p->file, p->line);
    ir_putf(t, ": %s", p->inst ? p->text : "has finished");
}

static const char *details_of(check_state *l, const check_report *r) {
    ir_text t = {.arena = l->arena};
    put_here(&t, r);
    if (r->has_other) put_other(&t, r);
    if (r->count > 1) ir_putf(&t, "\n  %llu times", (unsigned long long)r->count);
    return t.data;
}

static const char *text_of(check_state *l, const check_report *r) {
    char head[1024];
    const ir_inst *i = r->here.inst;
    ir_message m = {.severity = r->severity,
                    .file = l->setup->kernel->module->name,
                    .word = i ? ir_word_of(i->loc) : 0,
                    .source = r->here.file,
                    .source_line = r->here.line,
                    .text = r->headline};
    ir_format_message(&m, head, sizeof head);
    return ir_sprintf(l->arena, "%s%s", head, r->details);
}

/* -------------------------------------------------------------------------------------- merging */

static uint64_t key_of(const check_finding *f) {
    uint64_t h = ir_mix(f->kind, (uint64_t)f->severity << 32 | f->detail);
    h = ir_mix(h, (uint64_t)(uintptr_t)f->here.inst);
    h = ir_mix(h, f->has_other ? (uint64_t)(uintptr_t)f->other.inst + 1 : 0);
    return h ? h : 1;
}

static void count_severity(check_result *r, ir_severity s) {
    r->errors += s == IR_ERROR;
    r->warnings += s == IR_WARNING;
    r->notes += s == IR_NOTE;
}

static check_report *add_report(check_state *l, const check_finding *f) {
    check_report *r = ir_new(l->arena, check_report);
    *r = (check_report){.kind = f->kind,
                        .severity = f->severity,
                        .kernel = l->setup->kernel->name,
                        .has_other = f->has_other,
                        .size = f->size,
                        .count = 1};
    r->here = party_of(l, &f->here);
    if (f->has_other) r->other = party_of(l, &f->other);
    if (f->object) {
        r->object = ir_strdup(l->arena, check_name(l, f->object));
        r->origin = f->object->origin;
        r->object_size = f->object->size - f->object->named_from;
        r->offset = (int64_t)(f->address - f->object->base - f->object->named_from);
    }
    if (f->kind == CHECK_UNDEFINED && f->here.inst) r->from = check_origin_of(l, f->here.inst);
    *ir_push(l->arena, &l->findings.reports) = r;
    count_severity(l->findings.result, r->severity);
    return r;
}

void check_find(check_state *l, const check_finding *f, const char *fmt, ...) {
    uint64_t key = key_of(f);
    check_report *r = ir_map_get(&l->findings.by_key, key);
    if (r) {
        r->count++;
        return;
    }
    unsigned limit =
        l->setup->options.max_reports ? l->setup->options.max_reports : DEFAULT_REPORTS;
    if (l->findings.reports.n >= limit) {
        l->findings.result->unreported++;
        return;
    }
    char headline[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(headline, sizeof headline, fmt, ap);
    va_end(ap);
    r = add_report(l, f);
    r->headline = ir_strdup(l->arena, headline);
    ir_map_set(l->arena, &l->findings.by_key, key, r);
}

static void deliver_watched(check_state *l) {
    if (!l->setup->options.wrote || !l->findings.last_write.inst) return;
    const check_party p = party_of(l, &l->findings.last_write);
    l->setup->options.wrote(l->setup->options.user, &p);
}

void check_deliver(check_state *l) {
    deliver_watched(l);
    if (!l->setup->options.report) return;
    for (uint32_t k = 0; k < l->findings.reports.n; k++) {
        check_report *r = l->findings.reports.data[k];
        r->details = details_of(l, r);
        r->text = text_of(l, r);
        l->setup->options.report(l->setup->options.user, r);
    }
}
