/* abi_caller.c — a program that abi.sh builds with headers of three versions: those of the library,
 * older ones, whose structs end earlier, and (FUTURE) newer ones, whose structs have `newer` at their
 * end.  It runs with the library of now, and prints what that does wrong.
 *
 * Last members of structs are not named here: older headers lack them.
 */
#include "runtime/spvfuse_queue.h"
#include <stdio.h>
#include <string.h>

static const char ir[] = "target 64\n"
                         "kernel @twice(%p: ptr.global of i32, %n: i32) {\n"
                         "entry:\n"
                         "  %i: i64 = global_id 0\n"
                         "  %o: i64 = shl %i, 2\n"
                         "  %a: ptr.global = ptradd %p, %o\n"
                         "  %v: i32 = load %a align 4\n"
                         "  %w: i32 = mul %v, %n\n"
                         "  store %w, %a align 4\n"
                         "  ret\n"
                         "}\n";
static const char plan_text[] = "buffer x i32[64] = iota\n"
                                "fuse pair {\n"
                                "launch \"twice.ir\":twice global 64 local 16 args x, 2\n"
                                "launch \"twice.ir\":twice global 64 local 16 args x, 3\n"
                                "}\n"
                                "expect x[0..2] = 0, 6, 12\n";
static const spvf_range range = {.dims = 1, .global = {64}, .local = {16}};
static int wrong;
static char said[40];

static void on_message(void *user, const spvf_message *m) {
    (void)user;
    snprintf(said, sizeof said, "%s", m->severity == SPVF_ERROR && m->fault == NULL ? m->text : "");
}

static void check(const char *what, bool right) {
    if (right) return;
    printf("%s: %s\n", what, said);
    wrong = 1;
}

#define OK(call) check(#call, (call) == SPVF_OK)
#define CHECK(condition) check(#condition, condition)
#ifdef FUTURE
#define REFUSED(options, call)                                                                     \
    ((options).newer = 1, check(#call, (call) == SPVF_ERROR_ARGUMENT), (options).newer = 0)
#else
#define REFUSED(options, call) ((void)sizeof(call))
#endif

/* ------------------------------------------------------------------------------ what is asked for */

static void use_kernel(const spvf_module *m) {
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    CHECK(k->arg_count == 2 && k->args[0]->kind == SPVF_ARG_BUFFER);
    CHECK(k->args[1]->kind == SPVF_ARG_VALUE && k->args[1]->size == 4);
    CHECK(strcmp(k->args[0]->name, "p") == 0 && strcmp(k->args[1]->name, "n") == 0);
}

static void use_explanation(const spvf_explanation *e) {
    CHECK(e->fused && e->member_count == 2 && e->gap_count == 1);
    CHECK(strcmp(e->members[1]->kernel, "twice") == 0 && !e->gaps[0]->barrier);
    CHECK(e->buffer_count == 1 && e->buffers[0]->read && e->buffers[0]->written);
    CHECK(e->param_count == 4 && e->params[2]->use == SPVF_PARAM_SAME);
    CHECK(strcmp(e->params[3]->name, "n") == 0 && e->params[3]->member == 1);
    for (size_t k = 0; k < e->code_count; k++)
        for (size_t n = 0; n < e->codes[k]->loop_count; n++)
            CHECK(e->codes[k]->loops[n]->lanes >= 1);
}

static void use_fusion(spvf_context *c, const spvf_module *m) {
    const spvf_member members[] = {{m, "twice", range}, {m, "twice", range}};
    const spvf_identity same[] = {{0, 0, 1, 0}};
    spvf_pass_options passes = {.size = sizeof passes};
    spvf_fuse_options o = {.size = sizeof o,
                           .members = members,
                           .member_count = 2,
                           .identities = same,
                           .identity_count = 1,
                           .passes = &passes};
    spvf_fusion *f;
    spvf_explanation *e;
    REFUSED(o, spvf_fuse(c, &o, &f));
    REFUSED(o, spvf_explain(c, &o, &e));
    REFUSED(passes, spvf_fuse(c, &o, &f));
    OK(spvf_fuse(c, &o, &f));
    if (!f) return;
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    CHECK(info->arg_count == 3 && info->args[2]->member == 1 && info->param_count == 4);
    CHECK(info->params[1]->use == SPVF_PARAM_USED && info->decisions[0]->rule != NULL);
    use_explanation(spvf_fusion_explanation(f));
    spvf_fusion_destroy(f);
}

static void use_plan(spvf_context *c) {
    struct {
        spvf_run_result result;
        uint64_t guard;
    } r = {.result.size = sizeof r.result, .guard = 7};
    spvf_run_options o = {.size = sizeof o, .device = "check"};
    spvf_pass_options passes = {.size = sizeof passes};
    spvf_explain_options how = {.size = sizeof how, .code = true};
    spvf_plan *p;
    spvf_explanation *e;
    spvf_explained_part *parts;
    size_t count;
    OK(spvf_plan_load(c, NULL, plan_text, sizeof plan_text - 1, &p));
    REFUSED(o, spvf_plan_run(p, &o, NULL));
    o.passes = &passes;
    REFUSED(passes, spvf_plan_run(p, &o, NULL));
#ifdef FUTURE
    r.result.newer = 1;
#endif
    OK(spvf_plan_run(p, &o, &r.result));
    CHECK(r.result.size == sizeof r.result && r.guard == 7);
    CHECK(r.result.launches == 1 && r.result.fused_groups == 1 && r.result.expects == 1);
#ifdef FUTURE
    CHECK(r.result.newer == 0);
#endif
    REFUSED(how, spvf_plan_explain_with(p, 0, &how, &e));
    REFUSED(how, spvf_plan_divide(p, &how, &parts, &count));
    OK(spvf_plan_explain_with(p, 0, &how, &e));
    use_explanation(e);
    spvf_explanation_destroy(e);
    OK(spvf_plan_divide(p, &how, &parts, &count));
    CHECK(count == 1 && parts[0].count == 2);
    use_explanation(parts[0].explanation);
    spvf_explained_parts_destroy(parts, count);
    spvf_plan_destroy(p);
}

static void see_device(void *user, const spvf_device_info *info) {
    *(bool *)user = true;
    CHECK(strcmp(info->name, "check") == 0 && !info->can->host_memory && info->can->print);
    CHECK(info->usable && !info->missing);
}

static void use_queue(spvf_context *c, const spvf_module *m) {
    int32_t data[64], n = 2;
    spvf_device *d;
    spvf_program *p;
    spvf_buffer *b;
    spvf_queue *q;
    spvf_graph *g;
    spvf_queue_options how = {.size = sizeof how, .out_of_order = false};
    spvf_graph_options graph = {.size = sizeof graph, .strict = true};
    bool told = false;
    for (int k = 0; k < 64; k++) data[k] = k;
    OK(spvf_device_open(c, "check", &d));
    OK(spvf_device_describe(d, see_device, &told));
    CHECK(told);
    OK(spvf_program_create(d, m, &p));
    OK(spvf_buffer_create(d, sizeof data, data, SPVF_COPY_HOST, &b));
    REFUSED(how, spvf_queue_create(d, &how, &q));
    OK(spvf_queue_create(d, &how, &q));
    const spvf_argument args[] = {{.buffer = b}, {.bytes = &n, .size = sizeof n}};
    spvf_launch l = {.size = sizeof l,
                     .program = p,
                     .kernel = "twice",
                     .range = range,
                     .args = args,
                     .arg_count = 2};
    REFUSED(l, spvf_queue_launch(q, &l, NULL, NULL));
    OK(spvf_queue_launch(q, &l, NULL, NULL));
    REFUSED(graph, spvf_queue_start_fusion(q, &graph));
    REFUSED(graph, spvf_graph_create(d, &graph, &g));
    OK(spvf_graph_create(d, &graph, &g));
    REFUSED(l, spvf_graph_launch(g, &l, NULL));
    for (int k = 0; k < 2; k++) OK(spvf_graph_launch(g, &l, NULL));
    OK(spvf_graph_commit(g));
    CHECK(spvf_graph_kernel_count(g) == 1);
    use_explanation(spvf_graph_get_kernel(g, 0).explanation);
    OK(spvf_graph_run(g, q, NULL, NULL));
    OK(spvf_queue_read(q, b, 0, data, sizeof data, NULL, NULL));
    OK(spvf_queue_finish(q));
    CHECK(data[1] == 8 && data[63] == 63 * 8);
    spvf_graph_destroy(g);
    spvf_queue_destroy(q);
    spvf_buffer_destroy(b);
    spvf_program_destroy(p);
    spvf_device_destroy(d);
}

int main(void) {
    spvf_context_options how = {.size = sizeof how, .message = on_message};
    spvf_layout layout = {.size = sizeof layout};
    spvf_module_options load = {.size = sizeof load, .layout = &layout};
    spvf_pass_options passes = {.size = sizeof passes};
    spvf_context *c;
    spvf_module *m;
    REFUSED(how, spvf_context_create(&how, &c));
    OK(spvf_context_create(&how, &c));
    REFUSED(load, spvf_module_load(c, "twice.ir", ir, sizeof ir - 1, &load, &m));
    REFUSED(layout, spvf_module_load(c, "twice.ir", ir, sizeof ir - 1, &load, &m));
    OK(spvf_module_load(c, "twice.ir", ir, sizeof ir - 1, &load, &m));
    use_kernel(m);
    REFUSED(passes, spvf_module_optimize(m, &passes));
    OK(spvf_module_optimize(m, &passes));
    REFUSED(passes, spvf_context_inspect(c, &passes));
    use_fusion(c, m);
    use_plan(c);
    use_queue(c, m);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    if (!wrong) printf("right\n");
    return wrong;
}
