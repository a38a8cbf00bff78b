/* explain_json.c — an explanation as JSON; docs/EXPLAIN.md lists the keys.
 *
 * Keys are always there, in the same order; what is absent is null.  A number of 64 bits that a
 * double cannot hold is written as a string.
 */
#include "runtime/api/explain_text.h"
#include "runtime/api/json_string.h"

/* --------------------------------------------------------------------------------------- values */

typedef struct {
    FILE *f;
    bool comma; /* something precedes, on this level */
} json;

/* What follows is a member of that name, or an element when it is NULL. */
static void put_key(json *j, const char *key) {
    if (j->comma) putc(',', j->f);
    j->comma = true;
    if (!key) return;
    json_put_string(j->f, key);
    putc(':', j->f);
}

static void begin(json *j, const char *key, char bracket) {
    put_key(j, key);
    putc(bracket, j->f);
    j->comma = false;
}

static void end(json *j, char bracket) {
    putc(bracket, j->f);
    j->comma = true;
}

static void put_null(json *j, const char *key) {
    put_key(j, key);
    fputs("null", j->f);
}

static void put_text(json *j, const char *key, const char *value) {
    put_key(j, key);
    json_put_string(j->f, value);
}

static void put_bool(json *j, const char *key, bool value) {
    put_key(j, key);
    fputs(value ? "true" : "false", j->f);
}

static void put_number(json *j, const char *key, uint64_t n) {
    put_key(j, key);
    fprintf(j->f, n <= UINT64_C(1) << 53 ? "%llu" : "\"%llu\"", (unsigned long long)n);
}

static void put_ratio(json *j, const char *key, double ratio) {
    put_key(j, key);
    fprintf(j->f, "%.4f", ratio);
}

/* The index of an argument. */
static void put_argument(json *j, uint32_t n) {
    if (n == UINT32_MAX)
        put_null(j, "argument");
    else
        put_number(j, "argument", n);
}

/* --------------------------------------------------------------------------------------- ranges */

static void put_sizes(json *j, const char *key, const uint64_t *n, uint32_t count) {
    begin(j, key, '[');
    for (uint32_t d = 0; d < count; d++) put_number(j, NULL, n[d]);
    end(j, ']');
}

static void put_range(json *j, const spvf_range *r) {
    if (!r->dims) {
        put_null(j, "range");
        return;
    }
    begin(j, "range", '{');
    put_sizes(j, "global", r->global, r->dims);
    if (r->local[0])
        put_sizes(j, "local", r->local, r->dims);
    else
        put_null(j, "local");
    put_sizes(j, "offset", r->offset, r->dims);
    end(j, '}');
}

/* ---------------------------------------------------------------------------------- dependences */

static void put_access(json *j, const char *key, const spvf_access *a) {
    if (!a) {
        put_null(j, key);
        return;
    }
    begin(j, key, '{');
    put_number(j, "member", a->member);
    put_text(j, "kernel", a->kernel);
    put_bool(j, "reads", a->reads);
    put_bool(j, "writes", a->writes);
    put_bool(j, "atomic", a->atomic);
    put_bool(j, "always", a->always);
    put_number(j, "bytes", a->size);
    put_text(j, "place", a->place);
    put_text(j, "source", a->source);
    put_text(j, "file", a->source_file);
    put_number(j, "line", a->source_line);
    put_number(j, "column", a->source_column);
    end(j, '}');
}

static void put_dependence(json *j, const spvf_dependence *d) {
    static const char *const names[] = {"none", "item", "group", "unknown", "grid"};
    begin(j, "dependence", '{');
    put_text(j, "kind", names[d->kind]);
    put_access(j, "first", d->first);
    put_access(j, "second", d->second);
    end(j, '}');
}

/* ----------------------------------------------------------------------------------------- rows */

static const char *const kinds[] = {"buffer", "local", "value", "image", "sampler"};

static void put_member(json *j, const spvf_explained_member *m) {
    begin(j, NULL, '{');
    put_text(j, "kernel", m->kernel);
    put_range(j, &m->range);
    put_bool(j, "guarded", m->guarded);
    put_bool(j, "remapped", m->remapped);
    put_text(j, "ir", m->ir);
    end(j, '}');
}

static void put_gap(json *j, const spvf_explained_gap *g) {
    static const char *const memories[] = {"local and global", "local", "global", NULL};
    begin(j, NULL, '{');
    put_bool(j, "barrier", g->barrier);
    put_bool(j, "phase", g->phase);
    put_text(j, "memory", memories[g->memory]);
    put_dependence(j, &g->why);
    end(j, '}');
}

static void put_traffic(json *j, const char *key, const spvf_traffic *t) {
    begin(j, key, '{');
    put_number(j, "read", t->read);
    put_number(j, "written", t->written);
    end(j, '}');
}

static void put_buffer(json *j, const spvf_explained_buffer *b) {
    static const char *const promotions[] = {"none", "private", "local"};
    begin(j, NULL, '{');
    put_text(j, "name", b->name);
    put_text(j, "kind", kinds[b->kind]);
    put_argument(j, b->arg);
    begin(j, "parameters", '[');
    for (size_t k = 0; k < b->param_count; k++) put_number(j, NULL, b->params[k]);
    end(j, ']');
    put_bool(j, "read", b->read);
    put_bool(j, "written", b->written);
    put_dependence(j, &b->dependence);
    put_text(j, "promotion", promotions[b->promoted]);
    put_number(j, "promoted_bytes", b->promoted_bytes);
    put_text(j, "map", b->map);
    put_traffic(j, "unfused", &b->unfused);
    put_traffic(j, "fused", &b->fused);
    end(j, '}');
}

static void put_param(json *j, const spvf_param_info *p) {
    static const char *const uses[] = {"used", "same", "constant", "unused", "promoted"};
    begin(j, NULL, '{');
    put_number(j, "member", p->member);
    put_text(j, "kernel", p->kernel);
    put_number(j, "parameter", p->param);
    put_text(j, "name", p->name);
    put_text(j, "kind", kinds[p->kind]);
    put_text(j, "use", uses[p->use]);
    put_argument(j, p->arg);
    put_text(j, "value", p->value);
    end(j, '}');
}

static void put_decision(json *j, const spvf_decision *d) {
    begin(j, NULL, '{');
    put_text(j, "rule", d->rule);
    put_bool(j, "refusal", d->refusal);
    put_text(j, "text", d->text);
    put_text(j, "cure", d->cure);
    put_dependence(j, &d->why);
    end(j, '}');
}

/* ----------------------------------------------------------------------------------------- code */

static void put_place(json *j, const char *file, uint32_t line, uint32_t column) {
    put_text(j, "file", file);
    put_number(j, "line", line);
    put_number(j, "column", column);
}

static void put_lane_access(json *j, const spvf_lane_access *a) {
    static const char *const forms[] = {
        [SPVF_FORM_UNIFORM] = "uniform",   [SPVF_FORM_CONTIGUOUS] = "contiguous",
        [SPVF_FORM_REVERSED] = "reversed", [SPVF_FORM_MEMBERS] = "members",
        [SPVF_FORM_TILES] = "tiles",       [SPVF_FORM_ARRAY] = "private",
        [SPVF_FORM_APART] = "apart",       [SPVF_FORM_ATOMIC] = "atomic"};
    begin(j, NULL, '{');
    put_text(j, "memory", a->memory);
    put_argument(j, a->arg);
    put_bool(j, "reads", a->reads);
    put_bool(j, "writes", a->writes);
    put_text(j, "form", forms[a->form]);
    if (a->step)
        put_number(j, "step", a->step);
    else
        put_null(j, "step");
    put_bool(j, "masked", a->masked);
    put_number(j, "count", a->count);
    put_place(j, a->source_file, a->source_line, a->source_column);
    end(j, '}');
}

static void put_refusal(json *j, const spvf_explained_loop *l) {
    if (!l->refusal) {
        put_null(j, "refusal");
        return;
    }
    begin(j, "refusal", '{');
    put_text(j, "text", l->refusal);
    put_text(j, "operation", l->refused);
    put_place(j, l->refused_file, l->refused_line, l->refused_column);
    end(j, '}');
}

static void put_loop(json *j, const spvf_explained_loop *l) {
    begin(j, NULL, '{');
    put_place(j, l->source_file, l->source_line, l->source_column);
    put_bool(j, "iterations", l->iterations);
    put_number(j, "lanes", l->lanes);
    put_number(j, "rows", l->rows);
    put_bool(j, "components", l->components);
    put_bool(j, "inner_part", l->inner_part);
    put_bool(j, "masked_rest", l->masked_rest);
    put_refusal(j, l);
    if (l->ratio > 0)
        put_ratio(j, "ratio", l->ratio);
    else
        put_null(j, "ratio");
    begin(j, "accesses", '[');
    for (size_t k = 0; k < l->access_count; k++) put_lane_access(j, l->accesses[k]);
    end(j, ']');
    end(j, '}');
}

static void put_size(json *j, const spvf_explained_code *c) {
    begin(j, "size", '{');
    put_number(j, "code", c->code_bytes);
    put_number(j, "stack", c->stack_bytes);
    put_number(j, "general", c->general_registers);
    put_number(j, "vector", c->vector_registers);
    put_number(j, "mask", c->mask_registers);
    end(j, '}');
}

static void put_code(json *j, const spvf_explained_code *c) {
    begin(j, NULL, '{');
    put_text(j, "kernel", c->kernel);
    put_text(j, "target", c->target);
    put_range(j, &c->range);
    begin(j, "facts", '[');
    for (unsigned n = 0; n < SPVF_FACTS; n++)
        if (c->facts >> n & 1) put_text(j, NULL, spvf_fact_name((spvf_fact)n));
    end(j, ']');
    put_text(j, "failure", c->failure);
    begin(j, "loops", '[');
    for (size_t k = 0; k < c->loop_count; k++) put_loop(j, c->loops[k]);
    end(j, ']');
    put_size(j, c);
    put_text(j, "assembly", c->assembly);
    end(j, '}');
}

/* ---------------------------------------------------------------------------------------- whole */

static void put_lists(json *j, const spvf_explanation *e) {
    begin(j, "members", '[');
    for (size_t k = 0; k < e->member_count; k++) put_member(j, e->members[k]);
    end(j, ']');
    begin(j, "gaps", '[');
    for (size_t k = 0; k < e->gap_count; k++) put_gap(j, e->gaps[k]);
    end(j, ']');
    begin(j, "buffers", '[');
    for (size_t k = 0; k < e->buffer_count; k++) put_buffer(j, e->buffers[k]);
    end(j, ']');
    begin(j, "parameters", '[');
    for (size_t k = 0; k < e->param_count; k++) put_param(j, e->params[k]);
    end(j, ']');
    begin(j, "decisions", '[');
    for (size_t k = 0; k < e->decision_count; k++) put_decision(j, e->decisions[k]);
    end(j, ']');
}

static void put_bytes(json *j, const spvf_explanation *e) {
    begin(j, "bytes", '{');
    put_number(j, "unfused", e->unfused_bytes);
    put_number(j, "fused", e->fused_bytes);
    put_ratio(j, "ceiling", e->ceiling);
    put_bool(j, "exact", e->exact);
    end(j, '}');
}

static void print_json(FILE *f, const void *what) {
    const spvf_explanation *e = what;
    json j = {.f = f};
    begin(&j, NULL, '{');
    put_text(&j, "name", e->name);
    put_bool(&j, "fused", e->fused);
    put_range(&j, &e->range);
    put_lists(&j, e);
    put_bytes(&j, e);
    begin(&j, "code", '[');
    for (size_t k = 0; k < e->code_count; k++) put_code(&j, e->codes[k]);
    end(&j, ']');
    put_text(&j, "ir", e->ir);
    end(&j, '}');
}

char *spvf_explanation_json(const spvf_explanation *e) { return rt_text_of(print_json, e); }
