/* pipeline_test.c — the registry, the facts of order, and every switch of pass_run. */
#include "ir/clone.h"
#include "passes/idle.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ir_ctx cx;
static ir_module *m;
static char errors[4096], notes[4096], dumped[4096];

static void collect(void *user, const ir_message *msg) {
    (void)user;
    char *to = msg->severity == IR_ERROR ? errors : notes;
    snprintf(to + strlen(to), 4096 - strlen(to), "%s\n", msg->text);
}

static void dump(void *user, const char *pass, const char *text) {
    (void)user;
    cr_assert(strstr(text, "func @"), "the text of the module");
    snprintf(dumped + strlen(dumped), sizeof dumped - strlen(dumped), "%s ", pass);
}

static const char source[] = "func @first(%x: i32): i32 export {\n"
                             "entry:\n"
                             "  %a: i32 = add %x, 1\n"
                             "  %b: i32 = add %x, 1\n"
                             "  %c: i1 = eq i32 3, i32 4\n"
                             "  br %c, yes, no\n"
                             "yes:\n"
                             "  ret %a\n"
                             "no:\n"
                             "  ret %b\n"
                             "}\n"
                             "func @second(%x: i32): i32 export {\n"
                             "entry:\n"
                             "  %u: i32 = mul %x, %x\n"
                             "  ret %x\n"
                             "}\n";

static void parse_source(void *unused) {
    (void)unused;
    m = ir_parse(&cx, "test.ir", source, sizeof source - 1);
}

static void setup(void) {
    cx = (ir_ctx){.report = collect};
    errors[0] = notes[0] = dumped[0] = 0;
    cr_assert(ir_try(&cx, parse_source, NULL) && m, "%s", errors);
}

static void teardown(void) {
    ir_module_free(m);
    cr_assert_eq(cx.used, 0);
}

TestSuite(pipeline, .init = setup, .fini = teardown);

static bool run(pass_options options) {
    options.dump = dump;
    return pass_run(m, &options);
}

static unsigned count_instructions(const char *name) {
    unsigned n = 0;
    foreach_block (b, ir_func_find(m, name))
        foreach_inst (i, b) n += i != NULL;
    return n;
}

/* --------------------------------------------------------------------------- registry and order */

/* The first index of `name` in a list; -1: none. */
static long place_of(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *s = list; (s = strstr(s, name)) != NULL; s += n)
        if ((s == list || s[-1] == ',') && (s[n] == ',' || s[n] == 0)) return s - list;
    return -1;
}

static bool is_pass(const char *name) {
    for (unsigned n = 0; n < pass_count; n++)
        if (strcmp(passes[n].name, name) == 0) return true;
    return false;
}

Test(pipeline, registry) {
    for (unsigned n = 0; n < pass_count; n++) {
        int kinds = !passes[n].on_func + !passes[n].on_module + !passes[n].print;
        cr_assert_eq(kinds, 2, "%s is one of the three", passes[n].name);
        cr_assert(strlen(passes[n].doc) > 8);
        for (unsigned k = 0; k < n; k++) cr_assert_str_neq(passes[k].name, passes[n].name);
    }
}

static unsigned count_orders(const char *first, const char *second) {
    unsigned count = 0;
    for (unsigned n = 0; n < pass_order_count; n++)
        count +=
            strcmp(pass_orders[n].first, first) == 0 && strcmp(pass_orders[n].second, second) == 0;
    return count;
}

Test(pipeline, standard_keeps_the_facts_of_order) {
    for (unsigned n = 0; n < pass_order_count; n++) {
        const pass_order *o = &pass_orders[n];
        cr_assert(is_pass(o->first) && is_pass(o->second), "%s, %s", o->first, o->second);
        cr_assert_eq(count_orders(o->first, o->second), 1, "%s, %s", o->first, o->second);
        cr_assert_eq(count_orders(o->second, o->first), 0, "%s, %s", o->first, o->second);
        cr_assert(strlen(o->why) > 8);
        long first = place_of(pass_standard, o->first), second = place_of(pass_standard, o->second);
        cr_assert(second < 0 || (first >= 0 && first < second), "%s before %s: %s", o->first,
                  o->second, o->why);
    }
}

/* The lists that make code for a CPU, and those that do so quickly, in order: a place counts after
 * those in front. */
enum { LISTS = 7 };
static const char *const native[LISTS] = {pass_standard, pass_index_pipeline, "phases",
                                          "regions",     pass_group_pipeline, pass_vector_pipeline,
                                          pass_lowering};
static const char *const quick[LISTS] = {pass_quick, "phases", "regions", pass_quick_groups,
                                         pass_quick_lowering};

static long place_in(const char *const lists[LISTS], const char *name) {
    long before = 0;
    for (unsigned n = 0; n < LISTS && lists[n]; n++) {
        long place = place_of(lists[n], name);
        if (place >= 0) return before + place;
        before += (long)strlen(lists[n]) + 1;
    }
    return -1;
}

Test(pipeline, native_keeps_the_facts_of_order) {
    for (unsigned n = 0; n < pass_order_count; n++) {
        const pass_order *o = &pass_orders[n];
        long first = place_in(native, o->first), second = place_in(native, o->second);
        cr_assert(second < 0 || (first >= 0 && first < second), "%s before %s: %s", o->first,
                  o->second, o->why);
        first = place_in(quick, o->first), second = place_in(quick, o->second);
        cr_assert(second < 0 || first < second, "quick: %s before %s: %s", o->first, o->second,
                  o->why);
    }
}

/* `scalarize` is `legalize_vectors` for a target that has none, and `closures` runs when a module
 * is loaded.  `resident` is for phases of device cuda. */
Test(pipeline, every_pass_is_used) {
    for (unsigned n = 0; n < pass_count; n++)
        cr_assert(passes[n].print || !strcmp(passes[n].name, "scalarize") ||
                      !strcmp(passes[n].name, "closures") || !strcmp(passes[n].name, "padding") ||
                      !strcmp(passes[n].name, "resident") ||
                      place_in(native, passes[n].name) >= 0 ||
                      place_of(pass_threads, passes[n].name) >= 0 ||
                      place_of(pass_coarsening, passes[n].name) >= 0 ||
                      place_of(pass_thread_lowering, passes[n].name) >= 0,
                  "%s", passes[n].name);
}

/* ------------------------------------------------------------------------------------- switches */

Test(pipeline, runs_a_list) {
    cr_assert(run((pass_options){.passes = " gvn, sccp ,dce,", .bisect = -1, .verify_each = true}));
    cr_assert_eq(count_instructions("first"), 3, "add, jmp, ret");
    cr_assert_eq(count_instructions("second"), 1);
    cr_assert(run((pass_options){.passes = "", .bisect = -1}), "an empty list does nothing");
}

Test(pipeline, standard_is_the_default) {
    cr_assert(pass_run(m, NULL), "%s", errors);
    cr_assert_eq(count_instructions("second"), 1);
}

Test(pipeline, unknown_names) {
    cr_assert_not(run((pass_options){.passes = "gvn,gvm,dce", .bisect = -1}));
    cr_assert(strstr(errors, "there is no pass 'gvm'; the passes are inline, "), "%s", errors);
    cr_assert_eq(count_instructions("first"), 6, "nothing has run");
    cr_assert_not(run((pass_options){.stop_after = "gvnn", .bisect = -1}));
    cr_assert_not(run((pass_options){.dump_after = "*x", .bisect = -1}));
}

/* gvn @first, gvn @second, dce @first, dce @second */
Test(pipeline, bisect) {
    cr_assert(run((pass_options){.passes = "gvn,dce", .bisect = 0}));
    cr_assert_eq(count_instructions("first"), 6);
    cr_assert(run((pass_options){.passes = "gvn,dce", .bisect = 1}));
    cr_assert_eq(count_instructions("first"), 5, "merged");
    cr_assert_eq(count_instructions("second"), 2);
    cr_assert(strstr(notes, "execution 1, the last, is gvn on @first"), "%s", notes);
    cr_assert(run((pass_options){.passes = "gvn,dce", .bisect = 3}));
    cr_assert(strstr(notes, "execution 3, the last, is dce on @first"), "%s", notes);
    cr_assert_eq(count_instructions("second"), 2);
    cr_assert(run((pass_options){.passes = "gvn,dce", .bisect = 4}));
    cr_assert_eq(count_instructions("second"), 1);
}

static bool is_idle(const char *func, const char *pass) {
    uint32_t n = 0;
    while (strcmp(passes[n].name, pass) != 0) n++;
    return pass_is_idle(ir_func_find(m, func), n);
}

/* What has found nothing to do finds nothing until the function changes. */
Test(pipeline, idle_passes) {
    cr_assert(run((pass_options){.passes = "dce", .bisect = -1}));
    cr_assert(is_idle("first", "dce") && !is_idle("second", "dce"));
    cr_assert(run((pass_options){.passes = "dce", .bisect = -1}));
    cr_assert(is_idle("first", "dce") && is_idle("second", "dce") && !is_idle("first", "gvn"));
    cr_assert(run((pass_options){.passes = "gvn", .bisect = -1}));
    cr_assert(!is_idle("first", "dce") && is_idle("second", "dce") && is_idle("second", "gvn"));
    ir_func *f = ir_func_find(m, "second");
    ir_set_arg(f->first->last, 0, ir_const(f, IR_I32, 7));
    cr_assert_not(is_idle("second", "dce"), "it was changed by hand");
}

static void copy_second(void *to) {
    ir_importer im = {.m = to};
    const ir_func *f = ir_func_find(m, "second");
    pass_copy_idle(ir_importer_copy(&im, f, "second"), f);
}

Test(pipeline, idle_passes_of_copies) {
    cr_assert(run((pass_options){.passes = "dce,gvn,dce", .bisect = -1}));
    ir_module *from = m, *to = ir_module_new(&cx, "copy", 64);
    cr_assert(ir_try(&cx, copy_second, to));
    m = to;
    cr_expect(is_idle("second", "gvn") && is_idle("second", "dce") && !is_idle("second", "licm"));
    ir_func *f = ir_func_find(m, "second");
    ir_replace_uses(f->param_val[0], ir_const(f, IR_I32, 7));
    cr_expect_not(is_idle("second", "gvn"), "it is no copy any more");
    ir_module_free(to);
    m = from;
    ir_func *old = ir_func_find(m, "second");
    ir_set_arg(old->first->last, 0, ir_const(old, IR_I32, 7));
    to = ir_module_new(&cx, "copy", 64);
    cr_assert(ir_try(&cx, copy_second, to));
    cr_expect_null(ir_func_find(to, "second")->idle, "nothing is known of what was changed");
    ir_module_free(to);
}

Test(pipeline, stop_after) {
    cr_assert(run((pass_options){.passes = "gvn,sccp,dce", .stop_after = "sccp", .bisect = -1}));
    cr_assert_eq(count_instructions("second"), 2, "dce has not run");
}

Test(pipeline, dump) {
    cr_assert(run((pass_options){.passes = "gvn,dce,gvn", .dump_after = "*", .bisect = -1}));
    cr_assert_str_eq(dumped, "gvn dce gvn ");
    dumped[0] = 0;
    cr_assert(run((pass_options){.passes = "gvn,sccp", .dump_after = "gvn", .bisect = -1}));
    cr_assert_str_eq(dumped, "gvn ");
}

Test(pipeline, dump_changed) {
    pass_options o = {.passes = "gvn,gvn,sccp,dce", .dump_changed = true, .bisect = -1};
    cr_assert(run(o));
    cr_assert_str_eq(dumped, "gvn sccp dce ");
    dumped[0] = 0;
    o.dump_after = "*";
    cr_assert(run(o));
    cr_assert_str_eq(dumped, "", "nothing is left to do");
}

Test(pipeline, time) {
    cr_assert(run((pass_options){.passes = "gvn,gvn", .time = true, .bisect = -1}));
    cr_assert(strstr(notes, "gvn: ") && strstr(notes, " ns\n"), "%s", notes);
    cr_assert(strstr(notes, "nothing to do"), "%s", notes);
}

/* A body that some pass has left broken: the next one that is checked is named. */
Test(pipeline, verify_each_names_the_pass) {
    ir_func *f = ir_func_find(m, "second");
    ir_remove(ir_term(f->first));
    cr_assert_not(run((pass_options){.passes = "sccp", .verify_each = true, .bisect = -1}));
    cr_assert(strstr(errors, "pass sccp broke @second"), "%s", errors);
}

Test(pipeline, lack_of_memory_is_false) {
    size_t before = cx.used;
    cx.limit = before + 1;
    cr_assert_not(run((pass_options){.passes = "gvn", .bisect = -1}));
    cr_assert_eq(cx.status, IR_ERR_MEMORY);
    cr_assert_eq(cx.used, before, "the scratch arena is given back");
}
