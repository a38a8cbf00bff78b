/* range.c — nd-ranges: the number of work-items, and the text form, {global/local} offset, in which
 * messages, explanations and printers show them.
 */
#include "passes/passes.h"

uint64_t pass_range_items(const ir_range *r) {
    return pass_global_size(r, 0) * pass_global_size(r, 1) * pass_global_size(r, 2);
}

static void put_numbers(ir_text *out, const uint64_t *n, unsigned dims) {
    for (unsigned d = 0; d < dims; d++)
        ir_putf(out, "%s%llu", d ? "," : "", (unsigned long long)n[d]);
}

void pass_print_range(ir_text *out, const ir_range *r) {
    ir_put(out, "{");
    put_numbers(out, r->global, r->dims);
    if (ir_has_local_size(r)) ir_put(out, "/");
    if (ir_has_local_size(r)) put_numbers(out, r->local, r->dims);
    ir_put(out, "}");
    if (!pass_global_offset(r, 0) && !pass_global_offset(r, 1) && !pass_global_offset(r, 2)) return;
    ir_put(out, " offset ");
    put_numbers(out, r->offset, r->dims);
}

const char *pass_range_text(ir_arena *a, const ir_range *r) {
    ir_text t = {.arena = a};
    pass_print_range(&t, r);
    return t.data;
}
