/* counters.c — the names of the counters of counters.def, and what stages have counted.
 *
 * Counters belong to a context, so nothing is shared between threads, and a context that does not
 * count pays one comparison for each event.
 */
#include "ir/ir.h"

const char *const ir_counter_names[IR_COUNTERS] = {
#define COUNTER(where, name, doc) #where "." #name,
#include "ir/counters.def"
#undef COUNTER
};

const char *const ir_counter_docs[IR_COUNTERS] = {
#define COUNTER(where, name, doc) doc,
#include "ir/counters.def"
#undef COUNTER
};

uint64_t ir_count_instructions(const ir_func *f) {
    uint64_t n = 0;
    foreach_block (b, f)
        foreach_inst (i, b) n += i != NULL;
    return n;
}

uint64_t ir_count_all_instructions(const ir_module *m) {
    uint64_t n = 0;
    foreach_func (f, m) n += ir_count_instructions(f);
    return n;
}

static void put_changes(ir_text *out, const ir_counts *before, const ir_counts *now) {
    for (unsigned k = 0; k < IR_COUNTERS; k++)
        if (now->n[k] != before->n[k])
            ir_putf(out, ", %s %llu", ir_counter_names[k],
                    (unsigned long long)(now->n[k] - before->n[k]));
}

void ir_report_counts(const ir_module *m, const ir_measure *before, uint64_t after,
                      ir_arena *scratch) {
    ir_ctx *cx = m->cx;
    ir_text changes = {.arena = scratch};
    const ir_func *f = cx->where.func;
    ir_put(&changes, "");
    put_changes(&changes, &before->counts, cx->counts);
    if (changes.n || before->instructions != after)
        ir_report(cx, (ir_message){.severity = IR_NOTE, .file = m->name},
                  "%s%s%s: %llu -> %llu instructions%s", cx->where.stage, f ? " of @" : "",
                  f ? f->name : "", (unsigned long long)before->instructions,
                  (unsigned long long)after, changes.data);
}
