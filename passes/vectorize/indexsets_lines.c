/* indexsets_lines.c — where intervals begin whose items store past the caches.
 *
 * Such stores are of whole vectors at addresses that are known to be aligned.  An interval that
 * begins with item 1, as that of a stencil does at the edge of an image, would lose all of them,
 * since one loop runs the intervals of all rows and groups: where stores are half of what is
 * accessed, memory then carries a third more.
 *
 * So the interval begins with the next item that is at the beginning of a line, if rows are known
 * to begin at lines: addresses are multiples of a line wherever the counter is one.
 */
#include "passes/vectorize/indexsets.h"

enum { MOST_ITEMS = 16 /* that scalar code does for it */ };

static bool stores_past_caches(const sets_plan *p) {
    for (uint32_t k = 0; k < p->blocks.n; k++)
        foreach_inst (i, p->blocks.data[k])
            if (i->op == IR_OP_store && i->imm.mem.flags & IR_MEM_NONTEMPORAL) return true;
    return false;
}

/* How many items fill a line, if stores are at lines wherever the counter is a multiple of one. */
static void find_line(sets_plan *p, const pass_zeros *as_it_is, const pass_zeros *at_lines) {
    for (uint32_t k = 0; k < p->blocks.n; k++)
        foreach_inst (i, p->blocks.data[k]) {
            if (i->op != IR_OP_store || !(i->imm.mem.flags & IR_MEM_NONTEMPORAL)) continue;
            unsigned zeros = pass_zeros_of(as_it_is, ir_arg(i, 1));
            unsigned items = 1u << (PASS_MOST_ZEROS - zeros);
            bool line = pass_zeros_of(at_lines, ir_arg(i, 1)) == PASS_MOST_ZEROS;
            if (line && items <= MOST_ITEMS && items > p->line) p->line = items;
        }
}

void sets_find_lines(sets *s, sets_plan *plans, uint32_t n) {
    bool *is_line = NULL;
    for (uint32_t k = 0; k < n; k++) {
        if (!plans[k].decisions.n || !stores_past_caches(&plans[k])) continue;
        if (!is_line) is_line = ir_new_array(s->scratch, bool, s->f->next_id);
        is_line[plans[k].loop.counter->id] = true;
    }
    pass_zeros as_it_is = {0}, at_lines = {.is_line = is_line};
    if (!is_line || !pass_find_zeros(s->f, &as_it_is, s->scratch) ||
        !pass_find_zeros(s->f, &at_lines, s->scratch))
        return;
    for (uint32_t k = 0; k < n; k++)
        if (plans[k].decisions.n) find_line(&plans[k], &as_it_is, &at_lines);
}
