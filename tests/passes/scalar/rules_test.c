/* rules_test.c — every rule of simplify.rules fires somewhere, and keeps what functions compute.
 *
 * The functions are those of tests/passes/scalar/simplify_*.ir.  Each is run by the interpreter on edge
 * values and random ones, simplified, verified and run again: the results must be the same bit for
 * bit (any NaN being as good as another).  Where flags of a function promise something of its
 * operands ("flag" in its name), it is run on tame values only and floats may differ by rounding.
 */
#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/file.h"
#include "tests/report.h"
#include "tests/values.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>

enum { RUNS = 300, MAX_PARAMS = 4 };

typedef struct {
    ir_ctx cx;
    uint32_t *hits;
} bench;

/* --------------------------------------------------------------------------------------- values */

/* Small, positive, and not the same twice: nothing that wraps, divides by 0 or cancels. */
static uint64_t tame_value(uint64_t *state, ir_type t) {
    uint64_t r = 1 + splitmix64(state) % 97;
    if (ir_is_float(t)) return ir_fp_from_double(ir_kind_of(t), (double)r * 0.625);
    return ir_is_bool(t) ? r & 1 : r;
}

static void make_args(ir_value *args, const ir_func *f, unsigned run, bool tame) {
    uint64_t state = run * 1000003u;
    for (uint32_t p = 0; p < f->nparams; p++) {
        ir_type t = f->param_val[p]->type;
        memset(&args[p], 0, sizeof args[p]);
        for (unsigned lane = 0; lane < ir_lanes(t); lane++)
            args[p].bits[lane] = tame ? tame_value(&state, t) : some_value(&state, f->module, t);
    }
}

/* ----------------------------------------------------------------------------------- comparison */

static bool is_close(ir_kind k, uint64_t a, uint64_t b) {
    double x = ir_fp_to_double(k, a), y = ir_fp_to_double(k, b);
    return fabs(x - y) <= 1e-5 * fabs(x);
}

static bool same_lane(ir_type t, uint64_t a, uint64_t b, bool tame) {
    ir_kind k = ir_kind_of(t);
    if (a == b) return true;
    if (!ir_is_float(t)) return false;
    return (ir_fp_is_nan(k, a) && ir_fp_is_nan(k, b)) || (tame && is_close(k, a, b));
}

static bool same_result(const ir_func *f, const ir_value *before, const ir_value *after,
                        bool tame) {
    for (unsigned lane = 0; lane < ir_lanes(f->ret); lane++) {
        if (before->undef[lane]) continue;
        if (after->undef[lane]) return false;
        if (!same_lane(f->ret, before->bits[lane], after->bits[lane], tame)) return false;
    }
    return true;
}

/* Results of f on RUNS sets of arguments; ok is false where it has none (a division by 0). */
static void run_all(ir_func *f, ir_value *results, bool *ok, bool tame) {
    ir_value args[MAX_PARAMS];
    for (unsigned run = 0; run < RUNS; run++) {
        make_args(args, f, run, tame);
        ok[run] = ir_interp_call(f, args, &results[run]);
    }
}

static void check_function(bench *t, ir_func *f, ir_arena *scratch) {
    static ir_value before[RUNS], after[RUNS];
    static bool defined[RUNS], ok[RUNS];
    bool tame = strstr(f->name, "flag") != NULL;
    pass_ctx cx = {.cx = &t->cx, .scratch = scratch, .rule_hits = t->hits};
    cr_assert_leq(f->nparams, MAX_PARAMS, "@%s", f->name);
    run_all(f, before, defined, tame);
    bool keeps = !strncmp(f->name, "keep", 4);
    cr_expect(pass_simplify(f, &cx) == !keeps, "@%s changes unless its name says so", f->name);
    cr_expect(ir_verify_func(f), "@%s is well-formed", f->name);
    cr_expect(!pass_simplify(f, &cx), "@%s is simple after one pass", f->name);
    run_all(f, after, ok, tame);
    for (unsigned run = 0; run < RUNS; run++)
        if (defined[run] && !(ok[run] && same_result(f, &before[run], &after[run], tame))) {
            cr_expect(false, "@%s, run %u: %#llx, was %#llx", f->name, run,
                      (unsigned long long)after[run].bits[0],
                      (unsigned long long)before[run].bits[0]);
            break;
        }
}

/* ---------------------------------------------------------------------------------------- files */

static void check_file(bench *t, const char *name) {
    char path[512];
    size_t n;
    snprintf(path, sizeof path, "tests/passes/scalar/%s", name);
    char *text = read_file(path, &n);
    cr_assert_not_null(text, "%s", path);
    ir_module *m = ir_parse(&t->cx, name, text, n);
    free(text);
    cr_assert_not_null(m, "%s", path);
    ir_arena scratch;
    ir_arena_init(&scratch, &t->cx);
    t->cx.report = NULL; /* runs that divide by 0 report */
    foreach_func (f, m)
        if (f->first) check_function(t, f, &scratch);
    t->cx.report = print_error;
    ir_arena_free(&scratch);
    ir_module_free(m);
}

static void check_files(void *user) {
    bench *t = user;
    DIR *dir = opendir("tests/passes/scalar");
    cr_assert_not_null(dir, "runs in the root of the repository");
    for (struct dirent *e; (e = readdir(dir));)
        if (!strncmp(e->d_name, "simplify_", 9) && strstr(e->d_name, ".ir"))
            check_file(t, e->d_name);
    closedir(dir);
}

Test(rules, keep_the_meaning_and_all_fire) {
    unsigned count = 0;
    while (pass_rule_info(count)) count++;
    bench t = {.cx = {.report = print_error}, .hits = calloc(count, sizeof(uint32_t))};
    cr_assert(ir_try(&t.cx, check_files, &t));
    for (unsigned rule = 0; rule < count; rule++)
        cr_expect(t.hits[rule], "%s never fired", pass_rule_info(rule)->place);
    free(t.hits);
}
