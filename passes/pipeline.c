/* pipeline.c — the registry of passes, the standard pipeline, and the one function that runs any of
 * them.
 *
 * passes.def is the registry: its rows become the table `passes` and the facts of order
 * `pass_orders`.  A pipeline is a list of names; the standard one is listed below with a reason for
 * each entry, and a test holds it against the facts of order.
 *
 * An entry of the list is a stage of the context (ir/stage.c): switches name it, clocks measure it,
 * counters tell what it has done, and a failed assertion says that it was running.
 *
 * One *execution* is one pass over one function, or over the module for a module pass.  Executions
 * are numbered from 1 in the order in which they run, which depends on the input alone; `bisect`
 * stops after the Nth, so that the first N that still shows a fault names pass and function.
 *
 * Everything that a pass needs for itself comes from a scratch arena, which is emptied after each
 * execution.  Lack of memory leaves the pass through ir_throw and ends here as `false`; such a
 * module can only be freed.
 */
#include "passes/idle.h"
#include "passes/passes.h"

const pass_info passes[] = {
#define PASS(pass, kind, text) {.name = #pass, .doc = text, .on_##kind = pass_##pass},
#define PRINTER(pass, text) {.name = #pass, .doc = text, .print = pass_show_##pass},
#define ORDER(before, after, reason)
#include "passes/passes.def"
#undef PASS
#undef PRINTER
#undef ORDER
};
const unsigned pass_count = sizeof passes / sizeof *passes;

const pass_order pass_orders[] = {
#define PASS(pass, kind, text)
#define PRINTER(pass, text)
#define ORDER(before, after, reason) {#before, #after, reason},
#include "passes/passes.def"
#undef PASS
#undef PRINTER
#undef ORDER
};
const unsigned pass_order_count = sizeof pass_orders / sizeof *pass_orders;

const char pass_standard[] =
    "inline,"      /* one function per kernel: everything below works on one function */
    "sroa,"        /* arrays and structs on the stack become scalars */
    "mem2reg,"     /* scalars on the stack become values, which all other passes work on */
    "spaces,"      /* generic pointers get their space: rules and aliasing know more about others */
    "copies,"      /* of variables that only copy constant memory: reads go to that memory */
    "simplify,"    /* canonical forms, so that equal values have equal expressions */
    "sccp,"        /* branches on constants, also around loops; unreachable code disappears */
    "simplifycfg," /* straight-line code again, larger blocks, fewer phis */
    "unroll,"      /* loops with a known number of rounds; their counters become constants */
    "simplify,"    /* what those constants and merged blocks have uncovered */
    "sroa,"        /* arrays whose indices have become constants become values now */
    "ptrvars,"     /* addresses in loops: a base that is known, and a count */
    "indvars,"     /* one counter per loop, as wide as its uses */
    "gvn,"         /* equal values become one */
    "simplifycfg," /* equal guards are one value now: bodies under one guard become one block */
    "licm,"        /* what does not change in a loop is computed before it */
    "reassociate," /* what is the same for a loop is added first; neighbours differ by a constant */
    "memopt,"      /* what one body stored, the next need not load */
    "dse,"         /* what one body stored only for the next need not be in memory */
    "simplify,"    /* x - x, x & x … exist only once values are merged */
    "gvn,"         /* what blocks that were joined compute twice */
    "licm,"        /* the loads that memopt has left, before their loops */
    "dce,"         /* what merging and folding left unused, unread stores, dead phi cycles */
    "simplifycfg," /* blocks that became empty */
    "sink";        /* what only one side of a branch needs is computed on that side */

const char pass_index_pipeline[] =
    "calls,"   /* functions that stay get ids from their callers, so only kernels query them */
    "no_wrap," /* indices of elements, where rows and columns are few */
    "extend_indices," /* while ids are queries: small ones are not cut and extended again */
    "indvars,"        /* counters of loops, too, which now have no other 32-bit uses */
    "gvn,"            /* parts of several indices are one */
    "dce";            /* the sums that they were */

const char pass_group_pipeline[] =
    "simplify,"       /* what ids and sizes are now */
    "simplifycfg,"    /* blocks that only led to a barrier */
    "gvn,"            /* fields of info and ids, read for several reasons */
    "dots,"           /* before lanes are taken apart, and loads of bytes are gathered */
    "extend_indices," /* ids are 64 bits wide: indices, too, where nothing wraps */
    "licm,"        /* what is the same for a row, a group or a launch is computed before its loop */
    "reassociate," /* addresses become sums of what is the same and of what changes */
    "gvn,"         /* sums that are one now */
    "licm,"        /* those of them that are the same for a row, a group or a launch */
    "strength,"    /* products of counters with what is computed before loops now */
    "simplify,"    /* phis of values that have left the loop they were in */
    "dce,"         /* counters and values without uses */
    "simplifycfg"; /* loops that do nothing */

const char pass_vector_pipeline[] =
    "components,"    /* lanes of source vectors that never meet are items, also for what follows */
    "functions,"     /* code with branches, which vectorize can see */
    "rows,"          /* loads that rows share, before each row has loops of its own */
    "indexsets,"     /* conditions and clamps are decided for most items */
    "vectorize,"     /* several items at once */
    "mem2reg,"       /* elements of small private arrays */
    "unroll_items,"  /* groups of few vectors: places in local memory become constants */
    "simplify,"      /* masks, and the ends of loops whose number of items is known */
    "simplifycfg,"   /* loops for items that are left, where none are */
    "gvn,"           /* lanes of what is uniform */
    "forward_items," /* what items exchange in local memory stays in registers */
    "licm,"          /* before the loop */
    "dce";           /* scalars that have become vectors, masks that nothing asks for */

/* From here on rules are not applied any more: they would undo expansions. */
const char pass_lowering[] =
    "align,"            /* pieces of vectors are aligned if the whole is */
    "expand,"           /* only operations that the target has, and functions, are left */
    "builtins,"         /* functions become code of a library */
    "simplifycfg,"      /* the edges of that code */
    "legalize_vectors," /* vectors as wide as the target has them */
    "gvn,"              /* what the pieces of a vector share */
    "licm,"             /* constants that expansions use, before loops */
    "dce";              /* what expansion and legalization left unused */

/* Without what would move, merge or remove steps of the source and its variables. */
const char pass_steps[] =
    "inline," /* functions that work-items can run alone stay */
    "spaces"; /* generic pointers get their space, by which code finds memory */

const char pass_steps_lowering[] = "align,"            /* as above */
                                   "expand,"           /* as above */
                                   "builtins,"         /* as above */
                                   "simplifycfg,"      /* the edges of library code */
                                   "legalize_vectors"; /* as above */

/* Code that runs little: what the standard pipeline and `indices` would gain, too, takes longer to
 * find than it saves.  A module that has been optimized has nothing left for most of these. */
const char pass_quick[] =
    "inline,"      /* as in the standard pipeline, and so are the next ones */
    "sroa,"        /* accesses to stack variables cost time everywhere */
    "mem2reg,"     /* likewise */
    "spaces,"      /* generic pointers get their space, by which code finds memory */
    "copies,"      /* as in the standard pipeline */
    "simplify,"    /* what the launch knows: sizes, values */
    "sccp,"        /* branches on that */
    "simplifycfg," /* fewer blocks */
    "gvn,"         /* fewer values */
    "dce,"         /* those without uses */
    "calls";       /* functions that stay get ids from their callers */

const char pass_quick_groups[] = "simplify," /* what ids and sizes are now */
                                 "gvn,"      /* fields of info and ids, read for several reasons */
                                 "licm,"     /* what is the same for all items, before their loop */
                                 "dce";      /* what is left without uses */

const char pass_quick_lowering[] = "expand,"           /* as in `lowering` */
                                   "builtins,"         /* likewise */
                                   "simplifycfg,"      /* the edges of that code */
                                   "legalize_vectors," /* vectors as wide as the target has them */
                                   "dce";              /* what expansions left unused */

const char pass_coarsening[] = "coarsen,"     /* several work-items at once */
                               "simplify,"    /* what is constant for some of them */
                               "gvn,"         /* what they share */
                               "dce,"         /* ids that nothing asks for */
                               "simplifycfg"; /* guards that are decided at once */

const char pass_thread_lowering[] =
    "array_words,"      /* private arrays that are left, with indices */
    "mem2reg,"          /* the words of these are values */
    "extend_indices,"   /* neighbours at constant distances, where guards keep indices */
    "simplify,"         /* what is chosen by constants */
    "gvn,"              /* comparisons of one index */
    "step_pointers,"    /* addresses are a register and a constant */
    "dce,"              /* counters that only addresses had */
    "align,"            /* accesses of neighbours become one */
    "merge_accesses,"   /* if the address of all is aligned as it must be */
    "expand,"           /* only operations that the target has, and functions, are left */
    "builtins,"         /* functions become code of a library */
    "simplifycfg,"      /* the edges of that code */
    "gvn,"              /* what expansions compute twice */
    "licm,"             /* constants that expansions use, before loops */
    "dce,"              /* what expansion left unused */
    "uniform_branches"; /* of the final branches */

const char pass_threads[] =
    "short_ids,"       /* before rules, which take extensions out of comparisons and indices */
    "standard,"        /* what fused kernels have in common is found now */
    "coarsening,"      /* functions are single operations, and nothing is expanded yet */
    "thread_lowering"; /* what a target can select */

/* ----------------------------------------------------------------------------------- a pipeline */

typedef struct {
    ir_module *m;
    const pass_options *options;
    ir_arena scratch;
    ir_arena before; /* has the code that the entry was given, if the context saves it */
    pass_ctx cx;
    long executions;
    bool failed, stopped;
    ir_status why; /* of failed */
} pipeline;

IR_PRINTF(3, 4)
static void say(const pipeline *p, ir_severity severity, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(p->m->cx, (ir_message){.severity = severity, .file = p->m->name}, fmt, ap);
    va_end(ap);
}

/* Most names differ in the first two characters. */
static bool is_name(const char *name, const char *s, size_t n) {
    return name[0] == s[0] && name[1] == s[1] && strncmp(name, s, n) == 0 && !name[n];
}

static const pass_info *find_pass(const char *s, size_t n) {
    for (unsigned i = 0; i < pass_count; i++)
        if (is_name(passes[i].name, s, n)) return &passes[i];
    return NULL;
}

static void refuse_name(pipeline *p, const char *s, size_t n) {
    ir_text known = {.arena = &p->scratch};
    for (unsigned i = 0; i < pass_count; i++)
        ir_putf(&known, "%s %s", i ? "," : "", passes[i].name);
    say(p, IR_ERROR, "there is no pass '%.*s'; the passes are%s", (int)n, s, known.data);
    p->failed = true;
    p->why = IR_ERR_ARGUMENT;
}

/* -------------------------------------------------------------------------------- one execution */

/* Counts an execution; false when the bisection ends before it. */
static bool may_run(pipeline *p, const pass_info *pass, const ir_func *f) {
    long limit = p->options->bisect;
    if (limit >= 0 && p->executions >= limit) {
        p->stopped = true;
        return false;
    }
    if (++p->executions == limit)
        say(p, IR_NOTE, "bisect: execution %ld, the last, is %s on %s%s", limit, pass->name,
            f ? "@" : "the module", f ? f->name : "");
    return true;
}

static bool run_on_module(pipeline *p, const pass_info *pass) {
    bool changed = pass->on_module(p->m, &p->cx);
    foreach_func (f, p->m)
        if (changed) pass_forget_idle(f);
    return changed;
}

static bool run_on_func(pipeline *p, const pass_info *pass, ir_func *f) {
    uint32_t number = (uint32_t)(pass - passes);
    if (pass_is_idle(f, number)) return false;
    uint32_t before = pass_state_of(f);
    bool changed = pass->on_func(f, &p->cx);
    pass_note_run(f, number, before, changed);
    return changed;
}

static bool run_pass(pipeline *p, const pass_info *pass, ir_func *f) {
    const pass_options *o = p->options;
    ir_text text = {.arena = &p->scratch};
    if (pass->on_module) return run_on_module(p, pass);
    if (pass->on_func) return run_on_func(p, pass, f);
    pass->print(f, &p->cx, &text);
    if (text.n && o->dump) o->dump(o->dump_user, pass->name, text.data);
    return false;
}

/* After a pass that left f, or the module, in a state that the verifier has refused. */
static void report_broken(pipeline *p, const pass_info *pass, const ir_func *f) {
    const ir_fault fault = ir_find_fault(p->m->cx, &p->scratch);
    ir_report(p->m->cx, (ir_message){.severity = IR_ERROR, .file = p->m->name, .fault = &fault},
              "pass %s broke %s%s", pass->name, f ? "@" : "the module", f ? f->name : "");
    p->failed = true;
    p->why = IR_ERR_INTERNAL;
}

/* Runs a pass on f, or on the module when f is NULL. */
static bool execute(pipeline *p, const pass_info *pass, ir_func *f) {
    if (p->failed || p->stopped || !may_run(p, pass, f)) return false;
    p->m->cx->where.func = f;
    p->m->cx->where.inst = NULL;
    bool changed = run_pass(p, pass, f);
    bool valid = !p->options->verify_each || (f ? ir_verify_func(f) : ir_verify_module(p->m));
    if (!valid) report_broken(p, pass, f);
    ir_arena_free(&p->scratch);
    return changed;
}

static bool run_everywhere(pipeline *p, const pass_info *pass) {
    if (pass->on_module) return execute(p, pass, NULL);
    bool changed = false;
    foreach_func (f, p->m)
        if (!ir_is_declaration(f)) changed |= execute(p, pass, f);
    return changed;
}

/* ------------------------------------------------------------------------ one entry of the list */

static void dump(pipeline *p, const pass_info *pass, bool changed) {
    const pass_options *o = p->options;
    bool wanted = ir_names_stage(p->m->cx, o->dump_after);
    if (o->dump_changed) wanted = changed && (wanted || !o->dump_after);
    if (!wanted || !o->dump) return;
    ir_text text = {.arena = &p->scratch};
    ir_print_module(&text, p->m, 0);
    o->dump(o->dump_user, pass->name, text.data ? text.data : "");
    ir_arena_free(&p->scratch);
}

static bool run_counted(pipeline *p, const pass_info *pass) {
    ir_ctx *cx = p->m->cx;
    const ir_measure before = {*cx->counts, ir_count_all_instructions(p->m)};
    bool changed = run_everywhere(p, pass);
    cx->where.func = NULL;
    ir_report_counts(p->m, &before, ir_count_all_instructions(p->m), &p->scratch);
    return changed;
}

/* For the report of a failed assertion in the entry that begins. */
static void keep_code(pipeline *p) {
    ir_text text = {.arena = &p->before};
    ir_arena_free(&p->before);
    ir_print_module(&text, p->m, 0);
    p->m->cx->where.code = text.data;
}

static void run_entry(pipeline *p, const pass_info *pass) {
    int64_t start = p->options->time ? ir_nanoseconds() : 0;
    ir_begin_stage(p->m->cx, pass->name, NULL);
    if (p->m->cx->save) keep_code(p);
    bool changed = p->m->cx->counts ? run_counted(p, pass) : run_everywhere(p, pass);
    if (p->options->time)
        say(p, IR_NOTE, "%s: %lld ns%s", pass->name, (long long)(ir_nanoseconds() - start),
            changed ? "" : ", nothing to do");
    dump(p, pass, changed);
    bool stops = ir_names_stage(p->m->cx, p->options->stop_after);
    if (stops && p->options->stopped) *p->options->stopped = true;
    p->stopped |= stops;
    ir_end_stage(p->m->cx);
}

/* ------------------------------------------------------------------------------------- the list */

/* A list of this file that has a name, or NULL. */
static const char *find_list(const char *s, size_t n) {
    static const struct {
        const char *name, *list;
    } lists[] = {{"standard", pass_standard},
                 {"indices", pass_index_pipeline},
                 {"groups", pass_group_pipeline},
                 {"vectors", pass_vector_pipeline},
                 {"lowering", pass_lowering},
                 {"quick", pass_quick},
                 {"quick_groups", pass_quick_groups},
                 {"quick_lowering", pass_quick_lowering},
                 {"coarsening", pass_coarsening},
                 {"thread_lowering", pass_thread_lowering},
                 {"threads", pass_threads}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (is_name(lists[k].name, s, n)) return lists[k].list;
    return NULL;
}

typedef void visit_fn(pipeline *p, const char *s, size_t n);

static bool is_separator(char c) { return c == ',' || c == ' '; }

/* Calls visit for each name of a comma-separated list; spaces around names do not count. */
static void foreach_name(pipeline *p, const char *list, visit_fn *visit) {
    for (const char *end; *list; list = end) {
        while (is_separator(*list)) list++;
        for (end = list; *end && !is_separator(*end);) end++;
        if (end > list) visit(p, list, (size_t)(end - list));
    }
}

static void check_name(pipeline *p, const char *s, size_t n) {
    if (!p->failed && !find_pass(s, n) && !find_list(s, n)) refuse_name(p, s, n);
}

/* A switch names a pass by its name or number, and one that prints may name all. */
static void check_switch(pipeline *p, const char *s, bool prints) {
    size_t n = s ? strlen(s) : 0;
    bool is_number = n && strspn(s, "0123456789") == n;
    if (p->failed || !s || p->options->any_stage || find_pass(s, n) || is_number ||
        (prints && strcmp(s, "*") == 0))
        return;
    refuse_name(p, s, n);
}

static void run_name(pipeline *p, const char *s, size_t n) {
    if (p->failed || p->stopped) return;
    const pass_info *pass = find_pass(s, n);
    if (pass)
        run_entry(p, pass);
    else
        foreach_name(p, find_list(s, n), run_name); /* names of lists are not those of passes */
}

static void run_list(void *user) {
    pipeline *p = user;
    const pass_options *o = p->options;
    const char *list = o->passes ? o->passes : pass_standard;
    if (o->passes) foreach_name(p, list, check_name);
    check_switch(p, o->dump_after, true);
    check_switch(p, o->stop_after, false);
    foreach_name(p, list, run_name);
}

bool pass_run(ir_module *m, const pass_options *options) {
    const pass_options all = {.bisect = -1};
    pipeline p = {.m = m, .options = options ? options : &all};
    ir_arena_init(&p.scratch, m->cx);
    ir_arena_init(&p.before, m->cx);
    p.cx = (pass_ctx){.cx = m->cx,
                      .scratch = &p.scratch,
                      .rule_hits = p.options->rule_hits,
                      .trace_rules = p.options->trace_rules,
                      .range = p.options->range,
                      .target = p.options->target,
                      .library = p.options->library,
                      .keep_calls = p.options->keep_calls,
                      .lanes = p.options->lanes,
                      .coarsen = p.options->coarsen};
    bool finished = ir_try(m->cx, run_list, &p);
    ir_arena_free(&p.scratch);
    ir_arena_free(&p.before);
    if (finished && p.failed) m->cx->status = p.why;
    return finished && !p.failed;
}
