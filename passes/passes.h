/* passes.h — passes: the registry, pipelines, rewrite rules, and properties of nd-ranges.
 *
 * Further headers are analysis.h, the analyses that passes use, and fuse.h, fusion.  No pass
 * includes a header of another one: what two of them need is in ir/, or an analysis. */
#ifndef SPVFUSE_PASSES_H
#define SPVFUSE_PASSES_H

#include "ir/change.h"
#include "ir/pack.h"
#include "ir/rule_types.h"
#include "ir/target.h"

/* ----------------------------------------------------------------- nd-ranges (analysis/range.c) */

/* Beyond `dims`, sizes count as 1 and offsets as 0. */
static inline uint64_t pass_global_size(const ir_range *r, unsigned d) {
    return d < r->dims ? r->global[d] : 1;
}
/* The range has a local size. */
static inline uint64_t pass_local_size(const ir_range *r, unsigned d) {
    return d < r->dims ? r->local[d] : 1;
}
static inline uint64_t pass_global_offset(const ir_range *r, unsigned d) {
    return d < r->dims ? r->offset[d] : 0;
}
uint64_t pass_range_items(const ir_range *r);
/* "{64,4/16,1}", with " offset 8,0" where there is one. */
void pass_print_range(ir_text *out, const ir_range *r);
const char *pass_range_text(ir_arena *a, const ir_range *r);

/* -------------------------------------------------------------- passes (passes.def, pipeline.c) */

/* What passes share while a pipeline runs.  `scratch` is emptied between passes. */
typedef struct {
    ir_ctx *cx;
    ir_arena *scratch;
    uint32_t *rule_hits;     /* counts by rule number, or NULL */
    bool trace_rules;        /* report each rewrite as a note */
    const ir_range *range;   /* that kernels are launched on, for printers; NULL: unknown */
    const ir_target *target; /* that code is made for; NULL: the basic operations only */
    const ir_pack *library;  /* functions that pass builtins takes; NULL: none */
    bool keep_calls;         /* every function that may stay a function does */
    unsigned lanes;          /* of vectorized loops; 0: as many as pay; 1: none */
    unsigned coarsen;        /* work-items of a thread, at most; 0: one */
} pass_ctx;

/* A pass returns whether it changed anything.  Function passes run on functions with a body. */
typedef bool pass_func_fn(ir_func *f, pass_ctx *cx);
typedef bool pass_module_fn(ir_module *m, pass_ctx *cx);
/* A printer changes nothing: it writes what it finds in f, as comments of the text form. */
typedef void pass_printer_fn(ir_func *f, pass_ctx *cx, ir_text *out);

typedef struct {
    const char *name;
    const char *doc;
    pass_func_fn *on_func; /* one of the three */
    pass_module_fn *on_module;
    pass_printer_fn *print;
} pass_info;

extern const pass_info passes[];
extern const unsigned pass_count;

#define PASS(name, kind, doc) pass_##kind##_fn pass_##name;
#define PRINTER(name, doc) pass_printer_fn pass_show_##name;
#define ORDER(first, second, why)
#include "passes/passes.def"
#undef PASS
#undef PRINTER
#undef ORDER

/* A pipeline is a comma-separated list of pass names; NULL means the standard one. */
typedef struct {
    const char *passes;
    bool verify_each;       /* ir_verify after each pass; a violation names the pass */
    const char *dump_after; /* a pass, as ir_names_stage has it: text of the module into `dump` */
    bool dump_changed;      /* only when the pass changed something */
    const char *stop_after;
    bool *stopped;  /* becomes true when the pipeline ends there; may be NULL */
    bool any_stage; /* dump_after and stop_after may also name stages that are no passes */
    long bisect;    /* run only the first N pass executions; < 0: all */
    bool time;      /* report nanoseconds per pass as notes */
    void (*dump)(void *user, const char *pass, const char *text); /* also what printers write */
    void *dump_user;
    bool trace_rules;
    uint32_t *rule_hits;
    const ir_range *range;   /* that kernels are launched on, for printers; NULL: unknown */
    const ir_target *target; /* that code is made for; NULL: the basic operations only */
    const ir_pack *library;  /* functions that pass builtins takes; NULL: none */
    bool keep_calls;         /* every function that may stay a function does: for tests */
    unsigned lanes;          /* of vectorized loops; 0: as many as pay; 1: none */
    unsigned coarsen;        /* work-items of a thread, at most; 0: one */
} pass_options;

/* Lists of passes that have a name, which may be entries of a list: "standard".  Code for a
 * CPU takes all of them, with `phases` and `regions` after the second. (pipeline.c) */
extern const char pass_standard[];        /* "standard" */
extern const char pass_index_pipeline[];  /* "indices": before kernels are code of groups */
extern const char pass_group_pipeline[];  /* "groups": what pays on code of groups */
extern const char pass_vector_pipeline[]; /* "vectors": loops over items with several at once */
extern const char pass_lowering[];        /* "lowering": what a target can select */
extern const char pass_steps[];           /* "steps": in place of "standard", for debuggers */
extern const char pass_steps_lowering[];  /* "steps_lowering": in place of "lowering" */
extern const char pass_quick[];           /* "quick": in place of "standard" and "indices", for
                                             code that runs little */
extern const char pass_quick_groups[];    /* "quick_groups": in place of "groups" */
extern const char pass_quick_lowering[];  /* "quick_lowering": in place of "lowering" */
extern const char pass_coarsening[];      /* "coarsening": several work-items a thread */
extern const char
    pass_thread_lowering[];       /* "thread_lowering": what a target of threads can select */
extern const char pass_threads[]; /* "threads": all of it for a target of threads */

/* Runs a pipeline over a module.  False after a reported error (unknown pass, violation). */
bool pass_run(ir_module *m, const pass_options *options);

/* `copy`, of another module, is as `from` is: passes that found nothing to do there find nothing in
 * the copy, as long as it stays so.  For targets whose ids and private memory are like those of no
 * target. (idle.c) */
void pass_copy_idle(ir_func *copy, const ir_func *from);

/* Calls `found` for each kernel that inlining would refuse, with the chain of calls that is why.
 * Changes nothing; `why` is valid as long as scratch. (inline.c) */
typedef void pass_refusal_fn(void *user, const ir_func *kernel, const char *why);
void pass_find_refusals(ir_module *m, ir_arena *scratch, pass_refusal_fn *found, void *user);

/* Pointers that the layout of the module declares as structs by value become such parameters, as
 * pass `closures` does first; true when something has changed. (closure_pointers.c) */
bool pass_take_structs(ir_module *m, ir_arena *scratch);

/* Computes the arms of a hammock that b opens before its branch, with selects, if they are small.
 * After that, edge *edge of b may be taken always. (hammock.c) */
bool pass_select_arms(ir_builder *at, ir_block *b, unsigned *edge);

/* A fact of order: `first` must have run before `second` runs for the first time. */
typedef struct {
    const char *first, *second, *why;
} pass_order;
extern const pass_order pass_orders[];
extern const unsigned pass_order_count;

/* ------------------------------------------------------ rewrite rules (simplify.rules, rules.c) */

/* The generated rules of simplify.rules. */
ir_inst *pass_apply_rules(ir_builder *b, ir_inst *i, pass_ctx *cx);
const ir_rule_info *pass_rule_info(unsigned rule); /* NULL: there are fewer */
/* The rules for builders: keep it as long as the module's `simplifier` points to it. */
ir_simplifier pass_simplifier(pass_ctx *cx);

#endif
