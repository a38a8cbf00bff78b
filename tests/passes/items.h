/* items.h — runs kernels on a flat memory, for tests of passes that look at whole nd-ranges.
 *
 * Groups run one after another; the items of a group take turns from barrier to barrier.  A range
 * without a local size is one group.  Buffers are byte offsets into `memory`; variables in local
 * memory are poisoned before each group.  Faults are counted: accesses outside of memory, barriers
 * that only some items of a group reach, and everything that the interpreter complains about.
 */
#ifndef SPVFUSE_TESTS_ITEMS_H
#define SPVFUSE_TESTS_ITEMS_H

#include "ir/interp.h"
#include "passes/passes.h"

enum { ITEMS_MEMORY = 1 << 18, ITEMS_LOCALS = 1 << 17, ITEMS_STACK = 3 << 16, ITEMS_MAX = 1024 };

typedef struct {
    uint8_t memory[ITEMS_MEMORY];
    uint32_t faults, barriers; /* barriers: that a whole group has passed */
    ir_map globals;            /* global -> address */
    uint64_t next_local, next_variable;
    ir_range range;
    uint64_t group[3], item[3]; /* ids of the running item */
    ir_arena arena;
} items;

static inline bool items_access(items *q, const ir_access *a) {
    bool inside = a->address < ITEMS_MEMORY && a->size <= ITEMS_MEMORY - a->address;
    if (!inside || a->address % a->align) q->faults++;
    return inside;
}

static inline bool items_read(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef) {
    items *q = user;
    if (!items_access(q, a)) return false;
    memcpy(bytes, q->memory + a->address, a->size);
    memset(undef, 0, a->size);
    return true;
}

static inline bool items_write(void *user, const ir_access *a, const uint8_t *bytes,
                               const uint8_t *undef) {
    items *q = user;
    (void)undef;
    if (!items_access(q, a)) return false;
    memcpy(q->memory + a->address, bytes, a->size);
    return true;
}

static inline uint64_t items_align(uint64_t at, uint64_t align) {
    return align ? (at + align - 1) / align * align : at;
}

static inline uint64_t items_variable(void *user, const ir_inst *alloca) {
    items *q = user;
    uint64_t at = items_align(q->next_variable, alloca->imm.var->align);
    q->next_variable = at + ir_sizeof(alloca->block->func->module, alloca->imm.var->type);
    return at;
}

static inline void items_release(void *user, uint32_t n) {
    (void)user;
    (void)n;
}

static inline uint64_t items_address(void *user, const ir_global *g) {
    items *q = user;
    uint64_t at = (uintptr_t)ir_map_get(&q->globals, (uintptr_t)g);
    if (at) return at;
    at = items_align(q->next_local, g->align);
    uint64_t size = ir_sizeof(g->module, g->type);
    if (g->init) memcpy(q->memory + at, g->init, size);
    q->next_local = at + size;
    ir_map_set(&q->arena, &q->globals, (uintptr_t)g, (void *)(uintptr_t)at);
    return at;
}

static inline int items_space(void *user, uint64_t address) {
    (void)user;
    return address < ITEMS_LOCALS ? IR_GLOBAL : address < ITEMS_STACK ? IR_LOCAL : IR_PRIVATE;
}

static inline uint64_t items_local(const ir_range *r, unsigned d) {
    return d >= r->dims ? 1 : ir_has_local_size(r) ? r->local[d] : r->global[d];
}

static inline uint64_t items_query(void *user, const ir_inst *i, unsigned lane) {
    const items *q = user;
    const ir_range *r = &q->range;
    unsigned d = i->imm.dim;
    uint64_t id[3];
    (void)lane;
    for (unsigned k = 0; k < 3; k++) id[k] = q->group[k] * items_local(r, k) + q->item[k];
    switch (i->op) {
    case IR_OP_global_id: return id[d] + pass_global_offset(r, d);
    case IR_OP_local_id: return q->item[d];
    case IR_OP_group_id: return q->group[d];
    case IR_OP_global_size: return pass_global_size(r, d);
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size: return items_local(r, d);
    case IR_OP_num_groups: return pass_global_size(r, d) / items_local(r, d);
    case IR_OP_global_offset: return pass_global_offset(r, d);
    case IR_OP_work_dim: return r->dims;
    case IR_OP_local_linear_id:
        return (q->item[2] * items_local(r, 1) + q->item[1]) * items_local(r, 0) + q->item[0];
    default: return (id[2] * pass_global_size(r, 1) + id[1]) * pass_global_size(r, 0) + id[0];
    }
}

static inline int32_t items_print(void *user, const ir_interp *w, const ir_inst *i) {
    (void)user;
    (void)w;
    (void)i;
    return 0;
}

static inline void items_fence(void *user, const ir_inst *i) {
    (void)user;
    (void)i;
}

static inline void items_problem(void *user, ir_problem what, const ir_inst *i, unsigned operand) {
    (void)what;
    (void)i;
    (void)operand;
    ((items *)user)->faults++;
}

static inline void items_split(uint64_t n, const ir_range *r, bool groups, uint64_t id[3]) {
    for (unsigned d = 0; d < 3; d++) {
        uint64_t size = items_local(r, d);
        if (groups) size = pass_global_size(r, d) / size;
        id[d] = n % size;
        n /= size;
    }
}

/* One group: from barrier to barrier until all items are done. */
static inline void items_run_group(items *q, ir_interp **item, uint64_t n) {
    for (uint64_t waiting = n; waiting;) {
        waiting = 0;
        for (uint64_t k = 0; k < n; k++) {
            uint64_t budget = 1000000;
            items_split(k, &q->range, false, q->item);
            ir_run state = ir_interp_run(item[k], &budget);
            if (state == IR_RUN_MORE || state == IR_RUN_TRAPPED) q->faults++;
            if (state == IR_RUN_BLOCKED) waiting++;
        }
        if (!waiting) return;
        if (waiting != n) {
            q->faults++; /* some wait for ever */
            return;
        }
        q->barriers++;
        for (uint64_t k = 1; k < n; k++)
            q->faults += ir_interp_at(item[k]) != ir_interp_at(item[0]);
        for (uint64_t k = 0; k < n; k++) ir_interp_resume(item[k], NULL);
    }
}

static inline ir_interp_host items_host(items *q) {
    return (ir_interp_host){.user = q,
                            .read = items_read,
                            .write = items_write,
                            .variable = items_variable,
                            .release = items_release,
                            .address = items_address,
                            .space_of = items_space,
                            .query = items_query,
                            .print = items_print,
                            .fence = items_fence,
                            .problem = items_problem};
}

/* Runs the item with these global ids alone, past all barriers. */
static inline void items_run_one(items *q, ir_func *kernel, const ir_value *args,
                                 const ir_range *range, const uint64_t id[3]) {
    const ir_interp_host host = items_host(q);
    uint64_t budget = 1000000;
    q->range = *range;
    for (unsigned d = 0; d < 3; d++) {
        q->range.local[d] = 1;
        q->group[d] = id[d];
        q->item[d] = 0;
    }
    q->next_variable = ITEMS_STACK;
    ir_interp *item =
        ir_interp_new(&q->arena, ir_interp_code_new(&q->arena, kernel->module), &host);
    ir_interp_start(item, kernel, args);
    ir_run state = ir_interp_run(item, &budget);
    for (; state == IR_RUN_BLOCKED; state = ir_interp_run(item, &budget))
        ir_interp_resume(item, NULL);
    if (state != IR_RUN_DONE) q->faults++;
}

static inline void items_run(items *q, ir_func *kernel, const ir_value *args,
                             const ir_range *range) {
    const ir_interp_host host = items_host(q);
    ir_interp *item[ITEMS_MAX];
    uint64_t n = items_local(range, 0) * items_local(range, 1) * items_local(range, 2);
    uint64_t all = pass_range_items(range);
    assert(n <= ITEMS_MAX);
    ir_interp_code *code = ir_interp_code_new(&q->arena, kernel->module);
    q->range = *range;
    for (uint64_t g = 0; g < all / n; g++) {
        items_split(g, range, true, q->group);
        memset(q->memory + ITEMS_LOCALS, 0xcd, ITEMS_STACK - ITEMS_LOCALS);
        q->next_local = ITEMS_LOCALS;
        q->next_variable = ITEMS_STACK;
        q->globals = (ir_map){0};
        for (uint64_t k = 0; k < n; k++) {
            items_split(k, range, false, q->item);
            item[k] = ir_interp_new(&q->arena, code, &host);
            ir_interp_start(item[k], kernel, args);
        }
        items_run_group(q, item, n);
    }
}

#endif
