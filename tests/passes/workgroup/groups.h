/* groups.h — runs code of work-groups (ir/launch.h) by interpretation, on memory of this process.
 *
 * Accesses must lie in one of the areas that the test names, in the function's variables, or in
 * what the launch itself brings.  Local memory and scratch are filled with a pattern first, so that
 * what is not written shows.
 */
#ifndef SPVFUSE_TESTS_GROUPS_H
#define SPVFUSE_TESTS_GROUPS_H

#include "ir/interp.h"
#include "ir/launch.h"
#include "passes/workgroup/regions.h"

#include <stdlib.h>

enum { GROUPS_AREAS = 256, GROUPS_PATTERN = 0xa5 };

typedef struct {
    uint8_t *at;
    uint64_t size;
    ir_space space;
} groups_area;

typedef struct {
    ir_arena arena;
    groups_area area[GROUPS_AREAS], variable[GROUPS_AREAS];
    unsigned nareas, nvariables;
    ir_map *globals;   /* by name; they outlive launches */
    ir_arena *forever; /* memory of the globals */
    uint64_t budget;
    int32_t (*print)(void *user, const char *format, const uint8_t *arguments); /* or NULL */
    void *print_user;
    bool has_lanes; /* vector code: lanes that are not active may be undefined, also in branches */
    unsigned faults;
    const ir_inst *fault; /* the first one */
} groups;

static inline void groups_fault(groups *q, const ir_inst *i) {
    if (!q->faults++) q->fault = i;
}

static inline void groups_add(groups *q, const void *at, uint64_t size, ir_space space) {
    if (q->nareas < GROUPS_AREAS && size)
        q->area[q->nareas++] = (groups_area){(uint8_t *)(uintptr_t)at, size, space};
}

static inline bool groups_is_in(const groups_area *area, unsigned n, const ir_access *a) {
    for (unsigned k = 0; k < n; k++) {
        uint64_t offset = a->address - (uintptr_t)area[k].at;
        if (offset < area[k].size && a->size <= area[k].size - offset) return true;
    }
    return false;
}

static inline bool groups_access(groups *q, const ir_access *a) {
    bool ok = groups_is_in(q->area, q->nareas, a) || groups_is_in(q->variable, q->nvariables, a);
    if (!ok || (a->align && a->address % a->align)) groups_fault(q, a->at);
    return ok;
}

static inline bool groups_read(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef) {
    if (!groups_access(user, a)) return false;
    memcpy(bytes, (const void *)(uintptr_t)a->address, a->size);
    memset(undef, 0, a->size);
    return true;
}

static inline bool groups_write(void *user, const ir_access *a, const uint8_t *bytes,
                                const uint8_t *undef) {
    (void)undef;
    if (!groups_access(user, a)) return false;
    memcpy((void *)(uintptr_t)a->address, bytes, a->size);
    return true;
}

static inline void *groups_alloc(groups *q, uint64_t size, uint64_t align) {
    uintptr_t at = (uintptr_t)ir_alloc(&q->arena, size + align + 1);
    at = (at + align - 1) / align * align;
    memset((void *)at, GROUPS_PATTERN, size);
    return (void *)at;
}

static inline bool groups_is_known(const groups *q, const groups_area *a) {
    for (unsigned k = 0; k < q->nareas; k++)
        if (q->area[k].at == a->at) return true;
    return false;
}

static inline groups_area *groups_new_global(groups *q, const ir_global *g) {
    groups_area *a = ir_new(q->forever, groups_area);
    uint64_t align = g->align ? g->align : 16;
    uintptr_t at =
        (uintptr_t)ir_alloc(q->forever, (a->size = ir_sizeof(g->module, g->type)) + align);
    a->at = (uint8_t *)((at + align - 1) / align * align);
    a->space = g->space;
    if (g->init) memcpy(a->at, g->init, a->size);
    return a;
}

static inline uint64_t groups_variable(void *user, const ir_inst *alloca) {
    groups *q = user;
    const ir_var *v = alloca->imm.var;
    uint64_t size = ir_sizeof(alloca->block->func->module, v->type);
    void *at = groups_alloc(q, size, v->align ? v->align : 16);
    if (q->nvariables < GROUPS_AREAS)
        q->variable[q->nvariables++] = (groups_area){at, size, IR_PRIVATE};
    return (uintptr_t)at;
}

static inline void groups_release(void *user, uint32_t n) { ((groups *)user)->nvariables -= n; }

static inline uint64_t groups_address(void *user, const ir_global *g) {
    groups *q = user;
    uint64_t key = ir_hash(0, g->name, strlen(g->name));
    groups_area *a = ir_map_get(q->globals, key);
    if (a && groups_is_known(q, a)) return (uintptr_t)a->at;
    bool made = !a;
    if (made) ir_map_set(q->forever, q->globals, key, a = groups_new_global(q, g));
    groups_add(q, a->at, a->size, a->space);
    for (uint32_t k = 0; k < g->nreloc; k++) {
        const ir_reloc *r = &g->reloc[k];
        uint64_t to = groups_address(user, r->global) + (uint64_t)r->addend;
        if (made) memcpy(a->at + r->offset, &to, sizeof to);
    }
    return (uintptr_t)a->at;
}

static inline int groups_space(void *user, uint64_t address) {
    const groups *q = user;
    for (unsigned k = 0; k < q->nareas; k++)
        if (address - (uintptr_t)q->area[k].at < q->area[k].size) return (int)q->area[k].space;
    return IR_PRIVATE;
}

static inline uint64_t groups_query(void *user, const ir_inst *i, unsigned lane) {
    (void)lane;
    groups_fault(user, i);
    return 0;
}

static inline int32_t groups_print(void *user, const ir_interp *w, const ir_inst *i) {
    groups *q = user;
    ir_value format, arguments;
    if (i->op != IR_OP_host_call || !q->print) {
        groups_fault(q, i);
        return -1;
    }
    ir_interp_operand(w, 2, &format);
    ir_interp_operand(w, 3, &arguments);
    return q->print(q->print_user, (const char *)(uintptr_t)format.bits[0],
                    (const uint8_t *)(uintptr_t)arguments.bits[0]);
}

/* Never called: it is a member of info. */
static inline int32_t groups_printer(void *user, const char *format, const void *arguments,
                                     uint64_t bytes) {
    (void)user;
    (void)format;
    (void)arguments;
    (void)bytes;
    return -1;
}

static inline void groups_fence(void *user, const ir_inst *i) {
    (void)user;
    (void)i;
}

static inline void groups_problem(void *user, ir_problem what, const ir_inst *i, unsigned operand) {
    (void)operand;
    const groups *q = user;
    bool counts = what != IR_PROBLEM_UNDEFINED || !q->has_lanes;
    if (what != IR_PROBLEM_DIVISION && counts) groups_fault(user, i);
}

static inline void groups_call(groups *q, ir_func *f, const ir_group_info *info,
                               void *const *args) {
    const ir_interp_host host = {.user = q,
                                 .read = groups_read,
                                 .write = groups_write,
                                 .variable = groups_variable,
                                 .release = groups_release,
                                 .address = groups_address,
                                 .space_of = groups_space,
                                 .query = groups_query,
                                 .print = groups_print,
                                 .fence = groups_fence,
                                 .problem = groups_problem};
    ir_interp *w = ir_interp_new(&q->arena, ir_interp_code_new(&q->arena, f->module), &host);
    const ir_value values[2] = {{.bits = {(uintptr_t)info}}, {.bits = {(uintptr_t)args}}};
    q->nvariables = 0;
    ir_interp_start(w, f, values);
    if (ir_interp_run(w, &q->budget) != IR_RUN_DONE) groups_fault(q, NULL);
}

/* A launch in one go, or one group after another; `local` are the bytes that parameters ask for.
 * The args are areas already, by-value ones and what they lead to. */
static inline void groups_run(groups *q, const pass_group_code *code, const ir_range *r,
                              void *const *args, unsigned nargs, uint64_t local, bool whole) {
    ir_group_info info = {.work_dim = r->dims, .print = q->print ? groups_printer : NULL};
    uint64_t items = 1, groups_in[3];
    for (unsigned d = 0; d < 3; d++) {
        info.local_size[d] = pass_local_size(r, d);
        info.global_size[d] = pass_global_size(r, d);
        info.global_offset[d] = pass_global_offset(r, d);
        groups_in[d] = (info.global_size[d] + info.local_size[d] - 1) / info.local_size[d];
        info.num_groups[d] = info.group_end[d] = groups_in[d];
        items *= info.local_size[d];
    }
    items = (items + 63) / 64 * 64;
    uint64_t scratch = code->need.scratch + items * code->need.scratch_item;
    info.local = groups_alloc(q, local + code->need.local, IR_LOCAL_ALIGN);
    info.scratch = groups_alloc(q, scratch, IR_LOCAL_ALIGN);
    info.local_bytes = (uint32_t)(local + code->need.local);
    groups_add(q, info.local, local + code->need.local, IR_LOCAL);
    groups_add(q, info.scratch, scratch, IR_PRIVATE);
    groups_add(q, &info, sizeof info, IR_CONST);
    groups_add(q, args, nargs * sizeof *args, IR_CONST);
    if (whole) groups_call(q, code->block, &info, args);
    for (uint64_t n = 0; !whole && n < groups_in[0] * groups_in[1] * groups_in[2]; n++) {
        info.group_id[0] = n % groups_in[0];
        info.group_id[1] = n / groups_in[0] % groups_in[1];
        info.group_id[2] = n / groups_in[0] / groups_in[1];
        memset(info.local, GROUPS_PATTERN, local + code->need.local);
        memset(info.scratch, GROUPS_PATTERN, scratch);
        groups_call(q, code->one, &info, args);
    }
}

#endif
