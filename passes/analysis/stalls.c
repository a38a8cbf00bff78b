/* stalls.c — loads for which a processor waits until a store has reached its cache.
 *
 * A load takes its bytes from a store that has not reached the cache if that store has written all
 * of them (store-to-load forwarding).  If it has written only some, the load waits.  A load counts
 * when the last version of memory that may have changed its bytes (versions.c) is such a store, a
 * known number of bytes away.
 */
#include "passes/analysis/versions.h"

enum { MAX_STEPS = 100 };

static bool is_stalled(pass_versions *m, const ir_inst *load, pass_version *now) {
    const ir_module *module = m->f->module;
    uint64_t size = ir_access_size(module, load->type);
    pass_bytes q = pass_begin_search(m, ir_arg(load, 0), size, MAX_STEPS);
    const ir_inst *store = pass_last_writer(m, &q, now)->by;
    int64_t step;
    if (!q.steps || !pass_is_store_near(m, store, q.address, &step)) return false;
    int64_t stored = (int64_t)ir_access_size(module, ir_arg(store, 0)->type);
    return step < 0 || step + (int64_t)size > stored;
}

uint32_t pass_count_stalls(ir_func *f, ir_arena *scratch) {
    uint32_t n = 0;
    pass_versions m;
    pass_find_versions(&m, f, scratch);
    for (uint32_t k = 0; k < m.dom->order.n; k++) {
        pass_version *now = m.head[m.dom->order.rpo[k]->id];
        foreach_inst (i, m.dom->order.rpo[k]) {
            if (pass_writes(i)) now = m.made[i->id];
            n += i->op == IR_OP_load && is_stalled(&m, i, now);
        }
    }
    return n;
}
