/* regions_streams.c — stores of kernels that go past the caches.
 *
 * A store of a part of a line makes the processor read the line first.  If a launch accesses more
 * memory than the caches hold, that and the way of the line through them is for nothing where
 * nothing reads what is stored: on a Zen 4, a copy of 64 MiB takes 0.74 of the time with stores
 * that go past the caches.  Such stores are marked here (nontemporal), while the code is that of
 * an item; what makes lanes of items keeps the mark, and the target decides what it can do with
 * it, since only whole vectors at aligned addresses are worth it.
 *
 * Marked are stores to arguments that no instruction reads, and that no other argument overlaps.
 * A store in a loop may come back to its line soon, so it stays as it is, and so do all in kernels
 * that write more arguments than processors have buffers for.
 */
#include "passes/analysis/alias.h"
#include "passes/workgroup/regions_impl.h"

enum { MOST_STREAMS = 4 };

typedef struct {
    pass_alias alias;
    const ir_inst *param[MOST_STREAMS + 1]; /* that are only written */
    unsigned n;
} streams;

static const ir_inst *written_param(const streams *s, const ir_inst *i) {
    if (i->op != IR_OP_store || i->imm.mem.flags & IR_MEM_VOLATILE) return NULL;
    const ir_inst *object = pass_object_of(&s->alias, ir_arg(i, 1));
    bool param = object->op == IR_OP_param && ir_space_of(object->type) == IR_GLOBAL;
    return param ? object : NULL;
}

static void note_param(streams *s, const ir_inst *param) {
    for (unsigned k = 0; k < s->n; k++)
        if (s->param[k] == param) return;
    if (s->n <= MOST_STREAMS) s->param[s->n++] = param;
}

/* Does i, which is no store to a parameter, access its memory? */
static bool is_met(const streams *s, const ir_inst *i, const ir_inst *param) {
    if (!ir_has_flag(i, F_READS) && !ir_has_flag(i, F_WRITES) && !ir_has_flag(i, F_CONVERGENT))
        return false;
    return pass_may_read(&s->alias, i, param, UINT64_MAX) ||
           pass_may_write(&s->alias, i, param, UINT64_MAX);
}

static void drop_met(streams *s, const ir_inst *i) {
    unsigned n = 0;
    for (unsigned k = 0; k < s->n; k++)
        if (!is_met(s, i, s->param[k])) s->param[n++] = s->param[k];
    s->n = n;
}

void pass_mark_streams(ir_func *kernel, ir_arena *scratch) {
    streams s = {.n = 0};
    pass_alias_begin(&s.alias, kernel, scratch);
    const ir_loops *loops = ir_loop_tree(kernel);
    foreach_block (b, kernel)
        foreach_inst (i, b)
            if (written_param(&s, i)) note_param(&s, written_param(&s, i));
    if (s.n > MOST_STREAMS) return;
    foreach_block (b, kernel)
        foreach_inst (i, b)
            if (!written_param(&s, i)) drop_met(&s, i);
    foreach_block (b, kernel)
        foreach_inst (i, b)
            for (unsigned k = 0; k < s.n && !loops->of[b->id]; k++)
                if (written_param(&s, i) == s.param[k]) i->imm.mem.flags |= IR_MEM_NONTEMPORAL;
}
