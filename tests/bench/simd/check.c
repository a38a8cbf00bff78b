/* check.c — runs a row of a theme once and compares the results with those of its reference; the
 * short form, which does so with our implementation for small and odd sizes, within `ninja test`.
 */
#include "tests/bench/simd/simd.h"

#include <stdio.h>
#include <stdlib.h>

static bool tell(const sized_row *r, const char *who, const char *what) {
    fprintf(stderr, "%s, size %zu, %s: %s\n", r->row->name, r->problem.size, who, what);
    return false;
}

bool check_launch(const launch *l, const sized_row *r, const char *who) {
    char text[200] = "the launch failed";
    host_arguments got = copy_arguments(&r->problem);
    bool ok = run_launch(l) && clFinish(l->on->queue) == CL_SUCCESS &&
              read_results(l, &r->problem, &got) &&
              compare_results(r->row, &r->problem, &got, &r->want, text);
    free_arguments(&r->problem, &got);
    return ok || tell(r, who, text);
}

bool check_loop(host_loop *loop, const sized_row *r) {
    char text[200];
    host_arguments got = copy_arguments(&r->problem);
    loop(r->problem.items, got.at);
    bool ok = compare_results(r->row, &r->problem, &got, &r->want, text);
    free_arguments(&r->problem, &got);
    return ok || tell(r, "C", text);
}

/* ------------------------------------------------------------------------------- the short form */

static bool check_size(const implementation *d, cl_program program, const benchmark *b,
                       size_t size) {
    launch l;
    sized_row r = size_row(b, size);
    bool ok =
        prepare_launch(&l, d, program, b, &r.problem) || tell(&r, "ours", "it does not build");
    ok = ok && check_launch(&l, &r, "ours");
    free_launch(&l);
    free_sized_row(&r);
    return ok;
}

bool run_short(const bench_options *o) {
    implementation ours;
    unsigned n, passed = 0, failed = 0;
    const theme *const *themes = all_themes(&n);
    if (*o->options) setenv("SPVF_CPU", o->options, 1);
    if (!open_ours(o, &ours)) return false;
    progress p = begin_rows(o);
    for (unsigned t = 0; t < n; t++) {
        cl_program program = build_theme(&ours, o, themes[t], true);
        for (unsigned k = 0; k < themes[t]->n; k++) {
            const benchmark *b = &themes[t]->rows[k];
            if (!is_chosen(o, b)) continue;
            bool small = check_size(&ours, program, b, b->small);
            bool odd = check_size(&ours, program, b, b->odd);
            passed += small && odd, failed += !(small && odd);
            progress_step(&p);
        }
        if (program) clReleaseProgram(program);
    }
    progress_end(&p);
    bool sizes = o->names || (check_local_sizes(&ours, o) && check_subgroups(&ours, o));
    printf("%u passed, %u failed\n", passed + sizes, failed + !sizes);
    return !failed && sizes;
}
