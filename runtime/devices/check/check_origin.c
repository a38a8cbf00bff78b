/* check_origin.c — where an undefined value came from.
 *
 * Reads that give undefined bytes are noted, by instruction: which object they read, and where.
 * Writes of undefined bytes are noted by address.  When a value is reported, its operands are
 * followed back to a read that was noted, from there over the write to that address to an older
 * value, and so on.  The notes are made only for undefined bytes, so that other code costs nothing;
 * a launch keeps MOST of each kind.  What is noted is the last time, which is the right one at the
 * moment of a report, except for a value that was kept while its instruction was executed again.
 */
#include "runtime/devices/check/check_impl.h"

enum { MOST = 1 << 16, STEPS = 64, WRITES = 8 };

typedef struct {
    uint64_t address;
    check_place_text place;
    bool is_buffer;
} undefined_read;

static void put_line(ir_text *t, const check_state *l, const ir_inst *i) {
    const ir_module *m = l->setup->kernel->module;
    const ir_line *line = ir_line_of(m, i->loc);
    if (!line) return;
    const char *file = m->files.data[line->file], *slash = strrchr(file, '/');
    ir_putf(t, " (%s:%u:%u)", slash ? slash + 1 : file, line->line, line->column);
}

void check_note_undefined_read(check_state *l, const ir_access *a, const check_object *o) {
    check_origins *g = &l->origins;
    uint64_t key = (uint64_t)(uintptr_t)a->at;
    undefined_read *r = ir_map_get(&g->reads, key);
    if (!r) {
        if (g->noted[0]++ >= MOST) return;
        r = ir_new(l->arena, undefined_read);
        ir_map_set(l->arena, &g->reads, key, r);
    }
    r->address = a->address;
    r->place = check_place(l, o, a->address);
    r->is_buffer = o->space == IR_GLOBAL;
}

void check_note_undefined_write(check_state *l, const ir_access *a) {
    check_origins *g = &l->origins;
    if (!ir_map_get(&g->writes, a->address) && g->noted[1]++ >= MOST) return;
    ir_map_set(l->arena, &g->writes, a->address, (void *)(uintptr_t)a->at);
}

typedef struct {
    const ir_inst *pending[STEPS];
    unsigned n, seen;
} walk;

static void add_operands(walk *w, const ir_inst *i) {
    for (unsigned k = 0; k < i->nargs && w->n < STEPS && w->seen < STEPS; k++) {
        const ir_inst *a = ir_arg(i, k);
        if (!a->block && a->op != IR_OP_undef) continue; /* constants, parameters */
        w->pending[w->n++] = a;
        w->seen++;
    }
}

/* The nearest read of something undefined that the instruction depends on, or a value that the
 * program leaves open; NULL: neither is known. */
static const ir_inst *find_source(const check_state *l, const ir_inst *i) {
    walk w = {.n = 0};
    add_operands(&w, i);
    for (unsigned k = 0; k < w.n; k++) {
        const ir_inst *a = w.pending[k];
        if (a->op == IR_OP_undef || ir_map_get(&l->origins.reads, (uint64_t)(uintptr_t)a)) return a;
        add_operands(&w, a);
    }
    return NULL;
}

/* A variable has mostly one value. */
static void put_place(ir_text *t, const undefined_read *r) {
    static const char whole[] = " + 0";
    const char *text = r->place.text;
    size_t n = strlen(text), tail = sizeof whole - 1;
    if (!r->is_buffer && n > tail && strcmp(text + n - tail, whole) == 0) n -= tail;
    ir_putn(t, text, n);
}

const char *check_origin_of(check_state *l, const ir_inst *i) {
    ir_text t = {.arena = l->arena};
    const ir_inst *source =
        ir_map_get(&l->origins.reads, (uint64_t)(uintptr_t)i) ? i : find_source(l, i);
    for (unsigned n = 0; source && n < WRITES; n++) {
        const undefined_read *r = ir_map_get(&l->origins.reads, (uint64_t)(uintptr_t)source);
        if (!r) {
            ir_put(&t, t.n ? ", a value that the program leaves open"
                           : "the value is one that the program leaves open");
            break;
        }
        ir_put(&t, t.n ? ", which came from " : "the value came from ");
        put_place(&t, r);
        put_line(&t, l, source);
        const ir_inst *written = ir_map_get(&l->origins.writes, r->address);
        const ir_inst *older = written ? find_source(l, written) : NULL;
        if (!written) ir_put(&t, ", to which nothing has been written");
        source = older == source ? NULL : older;
    }
    return t.n ? t.data : NULL;
}
