/* explain_test.c — explanations: their structure for groups that fuse and groups that do not,
 * source lines, and predicted bytes. */
#include "tests/runtime/bench.h"

#include "passes/fusion/fuse.h"

#define ADDRESS(p, of) "  %" p ": ptr.global = ptradd %" of ", %o inbounds\n"
#define BINARY(name, op)                                                                           \
    "kernel @" name "(%a: ptr.global of i32, %b: ptr.global of i32, %out: ptr.global of i32) {\n"  \
    "entry:\n  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n" ADDRESS("p", "a") ADDRESS("q", "b") \
        ADDRESS("r", "out") "  %x: i32 = load %p align 4 !10\n  %y: i32 = load %q align 4 !10\n"   \
                            "  %z: i32 = " op " %x, %y\n  store %z, %r align 4 !11\n  ret\n}\n"

static const char kernels[] =
    "target 64\nfile \"k.cl\"\nline 10 0 3 9\nline 11 0 4 5\n" BINARY("add", "add") BINARY(
        "mul",
        "mul") "kernel @scale(%a: ptr.global of i32, %k: i32, %out: ptr.global of i32) {\n"
               "entry:\n  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n" ADDRESS("p", "a") ADDRESS(
                   "r",
                   "out") "  %x: i32 = load %p align 4\n  %z: i32 = mul %x, %k\n  store %z, %r "
                          "align 4\n  ret\n}\n"
                          "kernel @next(%a: ptr.global of i32, %out: ptr.global of i32) {\n"
                          "entry:\n  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n" ADDRESS("p",
                                                                                             "a")
                              ADDRESS(
                                  "r",
                                  "out") "  %n: ptr.global = ptradd %p, 4 inbounds\n  %x: i32 = "
                                         "load %n align 4\n"
                                         "  store %x, %r align 4\n  ret\n}\n"
                                         "func @fetch(%p: ptr.global): i32 {\nentry:\n  %n: "
                                         "ptr.global = ptradd %p, 4\n"
                                         "  %x: i32 = load %n align 4 !11\n  ret %x\n}\n"
                                         "kernel @calls(%a: ptr.global of i32, %out: ptr.global of "
                                         "i32) {\n"
                                         "entry:\n  %i: i64 = global_id 0\n  %o: i64 = shl %i, "
                                         "2\n" ADDRESS("p", "a") ADDRESS(
                                             "r",
                                             "out") "  %x: i32 = call @fetch(%p)\n  store %x, %r "
                                                    "align 4\n  ret\n}\n"
                                                    "kernel @turned(%a: ptr.global of i32, %out: "
                                                    "ptr.global of i32) {\n"
                                                    "entry:\n  %w: i64 = group_id 0\n  %s: i64 = "
                                                    "mul %w, 64\n  %e: i64 = add %s, 60\n"
                                                    "  %l: i64 = local_id 0\n  %m: i64 = shl %l, "
                                                    "2\n  %at: i64 = sub %e, %m\n"
                                                    "  %i: i64 = global_id 0\n  %o: i64 = shl %i, "
                                                    "2\n" ADDRESS(
                                                        "r",
                                                        "out") "  %n: ptr.global = ptradd %a, %at "
                                                               "inbounds\n  %x: i32 = load %n "
                                                               "align 4\n"
                                                               "  store %x, %r align 4\n  ret\n}\n"
                                                               "kernel @values(%out: ptr.global of "
                                                               "i32, %f: f32, %v: v2i32, %b: i1,\n"
                                                               "               %s: ptr.private "
                                                               "byval(4) align 4 of {i32}) {\n"
                                                               "entry:\n  ret\n}\n";

/* Each item adds four elements in a row. */
static const char rows[] =
    "target 64\nkernel @rows(%a: ptr.global of i32, %out: ptr.global of i32) {\n"
    "entry:\n  %i: i64 = global_id 0\n  %o: i64 = shl %i, 4\n  jmp loop\n"
    "loop:\n  %k: i64 = phi [entry: 0, loop: %n]\n  %sum: i32 = phi [entry: 0, loop: %s]\n"
    "  %p: ptr.global = ptradd %a, %o\n  %w: i64 = shl %k, 2\n  %q: ptr.global = ptradd %p, %w\n"
    "  %x: i32 = load %q align 4\n  %s: i32 = add %sum, %x\n  %n: i64 = add %k, 1\n"
    "  %more: i1 = ult %n, i64 4\n  br %more, loop, done\n"
    "done:\n  %at: i64 = shl %i, 2\n  %r: ptr.global = ptradd %out, %at\n"
    "  store %s, %r align 4\n  ret\n}\n";

enum { N = 512 };

static spvf_context *c;
static spvf_module *m;
static spvf_member members[6];
static spvf_identity same[8];
static spvf_fuse_options request;
static spvf_explanation *report;

static void set_up_with(const char *text) {
    c = new_context();
    m = load_text(c, text);
    request = (spvf_fuse_options){
        .size = sizeof request, .name = "f", .members = members, .identities = same};
    report = NULL;
}

static void set_up(void) { set_up_with(kernels); }

static void tear_down(void) {
    spvf_explanation_destroy(report);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(bytes_held, 0);
}

TestSuite(explain, .init = set_up, .fini = tear_down);

static void add_member(const char *kernel) {
    spvf_range range = {.dims = 1, .global = {N}, .local = {16}};
    members[request.member_count++] = (spvf_member){m, kernel, range};
}

static void add_identity(uint32_t a, uint32_t p, uint32_t b, uint32_t q) {
    same[request.identity_count++] = (spvf_identity){a, p, b, q};
}

/* add writes what the second member reads. */
static void follow_add(const char *kernel) {
    add_member("add");
    add_member(kernel);
    add_identity(0, 2, 1, 0);
}

static void explain(bool fused) {
    cr_assert_eq(spvf_explain(c, &request, &report), SPVF_OK, "%s", messages);
    cr_assert_eq(report->fused, fused);
    cr_assert_eq(!report->refusal, fused);
    cr_assert_str_eq(messages, "");
}

/* Neither of the two is written by its member, but the first one is what `add` writes. */
Test(explain, overlaps_with_what_another_member_writes) {
    const spvf_identity overlap = {1, 0, 1, 1};
    follow_add("add");
    request.overlaps = &overlap;
    request.overlap_count = 1;
    explain(false);
    cr_expect_str_eq(report->refusal->rule, "fuse.overlap");
    spvf_explanation_destroy(report);
    request.identity_count = 0;
    explain(true); /* both are read only */
}

static bool has_rule(const char *id) {
    for (size_t k = 0; k < report->decision_count; k++)
        if (strcmp(report->decisions[k]->rule, id) == 0) return true;
    return false;
}

/* ----------------------------------------------------------------------------------- what fuses */

Test(explain, what_fuses) {
    follow_add("mul");
    explain(true);
    cr_assert_str_eq(report->name, "f");
    cr_assert(report->range.dims == 1 && report->range.global[0] == N);
    cr_assert(report->member_count == 2 && report->gap_count == 1 && report->buffer_count == 5);
    cr_assert_str_eq(report->members[1]->kernel, "mul");
    cr_assert(!report->members[1]->guarded && !report->members[1]->remapped);
    cr_assert(!report->gaps[0]->barrier && report->gaps[0]->memory == SPVF_BARRIER_NONE);
    cr_assert_eq(report->gaps[0]->why.kind, SPVF_DEPENDENCE_ITEM);
    const spvf_explained_buffer *b = report->buffers[2];
    cr_assert_str_eq(b->name, "add_out");
    cr_assert(b->read && b->written && b->arg == 2 && b->promoted == SPVF_PROMOTED_NOT);
    cr_assert_eq(b->dependence.kind, SPVF_DEPENDENCE_ITEM);
    cr_assert(b->param_count == 2 && b->params[0] == 2 && b->params[1] == 3);
    cr_assert(!report->buffers[0]->written && report->buffers[0]->read);
    cr_assert_eq(report->buffers[0]->dependence.kind, SPVF_DEPENDENCE_NONE);
    cr_assert_eq(report->params[3]->use, SPVF_PARAM_SAME);
    cr_assert(has_rule("fuse.range") && has_rule("fuse.no-barrier"));
}

Test(explain, a_barrier_and_what_it_is_for) {
    follow_add("turned");
    explain(true);
    const spvf_explained_gap *g = report->gaps[0];
    cr_assert(g->barrier && g->memory == SPVF_BARRIER_BOTH);
    cr_assert_eq(g->why.kind, SPVF_DEPENDENCE_GROUP);
    cr_assert(g->why.first->member == 0 && g->why.first->writes && !g->why.first->reads);
    cr_assert(g->why.second->member == 1 && g->why.second->reads && g->why.second->always);
    cr_assert_eq(g->why.second->size, 4);
}

Test(explain, guards_and_computed_ids) {
    follow_add("mul");
    request.identity_count = 0;
    members[1].range = (spvf_range){.dims = 2, .global = {8, 8}};
    members[0].range.local[0] = 0;
    explain(true);
    cr_assert(report->members[1]->guarded && report->members[1]->remapped);
    cr_assert(!report->members[0]->guarded && !report->members[0]->remapped);
}

Test(explain, values_of_constants) {
    float f = -2.5f;
    int32_t v[2] = {-1, 7};
    uint8_t yes = 1, bytes[4] = {1, 2, 0xab, 0};
    spvf_constant constants[] = {{0, 1, &f, 4}, {0, 2, v, 8}, {0, 3, &yes, 1}, {0, 4, bytes, 4}};
    static const char *const want[] = {NULL, "-2.5", "-1, 7", "true", "0x0102ab00"};
    add_member("values");
    request.constants = constants;
    request.constant_count = 4;
    explain(true);
    for (unsigned p = 1; p < 5; p++) {
        cr_expect_eq(report->params[p]->use, SPVF_PARAM_CONSTANT);
        cr_expect_eq(report->params[p]->kind, SPVF_ARG_VALUE);
        cr_expect_str_eq(report->params[p]->value, want[p]);
    }
    cr_assert_eq(report->params[0]->use, SPVF_PARAM_UNUSED);
    cr_assert_eq(report->params[0]->kind, SPVF_ARG_BUFFER);
    cr_assert_eq(report->params[0]->arg, UINT32_MAX);
}

Test(explain, a_fusion_has_one) {
    spvf_fusion *f;
    follow_add("mul");
    cr_assert_eq(spvf_fuse(c, &request, &f), SPVF_OK);
    cr_assert(spvf_fusion_explanation(f)->fused);
    cr_assert_eq(spvf_fusion_explanation(f)->params, spvf_fusion_get_info(f)->params);
    spvf_fusion_destroy(f);
}

static void ask_for_promotion(spvf_promote kind) {
    static spvf_promotion promotion;
    promotion = (spvf_promotion){.member = 0, .param = 2, .kind = kind};
    request.promotions = &promotion;
    request.promotion_count = 1;
}

Test(explain, promotion) {
    follow_add("mul");
    ask_for_promotion(SPVF_PROMOTE_LOCAL);
    explain(true);
    const spvf_explained_buffer *b = report->buffers[2];
    cr_assert(b->promoted == SPVF_PROMOTED_LOCAL && b->promoted_bytes == 64);
    cr_assert_str_eq(b->map, "offset - 64*group_id.0");
    cr_assert_eq(b->arg, UINT32_MAX);
    cr_assert(report->params[2]->use == SPVF_PARAM_PROMOTED);
    cr_assert(report->params[3]->use == SPVF_PARAM_PROMOTED && report->params[5]->arg == 3);
    cr_assert(has_rule("promote.local"));
}

/* ------------------------------------------------------------------------------ what is refused */

Test(explain, promotion_that_is_refused) {
    follow_add("next");
    ask_for_promotion(SPVF_PROMOTE_PRIVATE);
    explain(false);
    cr_assert_str_eq(report->refusal->rule, "promote.shared");
    cr_assert_not_null(report->refusal->cure);
    cr_assert_str_eq(report->refusal->why.first->source_file, "k.cl");
    cr_assert_str_eq(report->refusal->why.second->place, "%a + 4*global_id.0 + 4");
    cr_assert_eq(report->buffers[2]->promoted, SPVF_PROMOTED_NOT);
    cr_assert_eq(report->buffers[2]->dependence.kind, SPVF_DEPENDENCE_GRID);
}

/* Where it may be promoted but need not, that is told. */
Test(explain, promotion_that_is_not_possible) {
    follow_add("turned");
    ask_for_promotion(SPVF_PROMOTE_AUTO);
    explain(true);
    cr_assert(has_rule("promote.shared"));
    cr_assert_eq(report->params[2]->use, SPVF_PARAM_USED);
}

static void expect_lines(const char *kernel) {
    follow_add(kernel);
    request.no_optimize = true;
    explain(false);
    cr_assert_str_eq(report->refusal->rule, "fuse.grid");
    cr_assert_not_null(report->refusal->cure);
    const spvf_dependence *d = &report->refusal->why;
    cr_assert_eq(d->kind, SPVF_DEPENDENCE_GRID);
    cr_assert_str_eq(d->first->kernel, "add");
    cr_assert_str_eq(d->first->place, "%out + 4*global_id.0");
    cr_assert_str_eq(d->first->source_file, "k.cl");
    cr_assert(d->first->source_line == 4 && d->first->source_column == 5);
    cr_assert_eq(report->buffers[2]->dependence.kind, SPVF_DEPENDENCE_GRID);
}

Test(explain, accesses_of_a_refusal) {
    expect_lines("next");
    cr_assert_str_eq(report->refusal->text,
                     "work-groups depend on each other: @add (k.cl:4) writes 4 bytes at %out + "
                     "4*global_id.0, always; @next reads 4 bytes at %a + 4*global_id.0 + 4, "
                     "always");
    cr_assert_null(report->refusal->why.second->source_file);
}

/* Bodies with calls are looked at in copies. */
Test(explain, lines_of_what_is_called) {
    expect_lines("calls");
    cr_assert_str_eq(report->refusal->why.second->source_file, "k.cl");
    cr_assert_eq(report->refusal->why.second->source_line, 4);
}

/* The dependences after the first refusal are known, too. */
Test(explain, all_buffers_of_a_refused_group) {
    follow_add("next");
    add_member("turned");
    add_identity(1, 1, 2, 0);
    explain(false);
    cr_assert_eq(report->buffers[2]->dependence.kind, SPVF_DEPENDENCE_GRID);
    cr_assert_eq(report->buffers[3]->dependence.kind, SPVF_DEPENDENCE_GROUP);
    cr_assert_eq(report->params[3]->use, SPVF_PARAM_SAME);
}

Test(explain, kernels_that_are_not_supported) {
    spvf_module *broken = load_text(c, "target 64\nfunc @far() import\nkernel @k() {\nentry:\n"
                                       "  call @far()\n  ret\n}\n");
    cr_assert_eq(spvf_module_optimize(broken, NULL), SPVF_OK);
    messages[0] = 0;
    follow_add("k");
    request.identity_count = 0;
    members[1].module = broken;
    explain(false);
    cr_assert_str_eq(report->refusal->rule, "fuse.kernel");
    cr_assert(strncmp(report->refusal->text, "kernel 'k': ", 12) == 0);
    cr_assert(report->member_count == 2 && report->param_count == 0 && !report->exact);
    spvf_explanation_destroy(report);
    members[1].kernel = NULL;
    request.name = NULL;
    cr_assert_eq(spvf_explain(c, &request, &report), SPVF_ERROR_ARGUMENT);
    cr_assert_null(report);
    spvf_module_destroy(broken);
}

Test(explain, contradictions) {
    follow_add("mul");
    members[1].range.local[0] = 32;
    explain(false);
    cr_assert_str_eq(report->refusal->rule, "fuse.request");
    cr_assert_str_eq(report->refusal->text, "different local sizes: @add {512/16}, @mul {512/32}");
    cr_assert(report->range.dims == 0 && report->buffer_count == 0 && report->member_count == 2);
}

static const spvf_explanation *attached;

static void keep_attached(void *user, const spvf_message *message) {
    keep_message(user, message);
    attached = message->explanation;
    if (attached) cr_assert_str_eq(attached->refusal->rule, "fuse.grid");
}

static void expect_message(bool strict, const char *start) {
    spvf_fusion *f;
    request.strict = strict;
    attached = NULL;
    messages[0] = 0;
    cr_assert_eq(spvf_fuse(c, &request, &f), SPVF_ERROR_REFUSED);
    cr_assert_null(f);
    cr_assert(attached && strncmp(messages, start, strlen(start)) == 0, "%s", messages);
}

Test(explain, messages_of_refusals) {
    spvf_context_options o = {
        .size = sizeof o, .allocate = hold, .release = let_go, .message = keep_attached};
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(spvf_context_create(&o, &c), SPVF_OK);
    m = load_text(c, kernels);
    follow_add("next");
    expect_message(false, "warning: not fused: work-groups depend on each other");
    expect_message(true, "error: not fused: work-groups depend on each other");
    cr_assert_eq(spvf_explain(c, &request, &report), SPVF_ERROR_REFUSED);
    cr_assert(report && !report->fused);
    members[0].kernel = "nothing";
    spvf_explanation_destroy(report);
    cr_assert_eq(spvf_explain(c, &request, &report), SPVF_ERROR_ARGUMENT);
    cr_assert(!report && !attached);
}

Test(explain, groups_of_plans) {
    static const char text[] = "buffer a i32[65] = iota\nbuffer b i32[65] = 0\nbuffer d i32[65]\n"
                               "fuse one {\n  launch \"k.ir\":scale global 64 args a, 3, b\n"
                               "  launch \"k.ir\":scale global 64 args b, 4, d\n}\n"
                               "fuse two strict {\n  launch \"k.ir\":scale global 64 args a, 3, b\n"
                               "  launch \"k.ir\":next global 64 args b, d\n}\n";
    in_folder_with(kernels);
    spvf_plan *p = load_plan(c, text);
    cr_assert_eq(spvf_plan_explain(p, 0, &report), SPVF_OK);
    cr_assert(report->fused);
    cr_assert_str_eq(report->params[1]->value, "3");
    spvf_explanation_destroy(report);
    cr_assert_eq(spvf_plan_explain(p, 1, &report), SPVF_ERROR_REFUSED);
    cr_assert(report && !report->fused);
    cr_assert(strncmp(messages, "p:8:6: error: not fused: ", 25) == 0, "%s", messages);
    spvf_explanation_destroy(report);
    cr_assert_eq(spvf_plan_explain(p, 2, &report), SPVF_ERROR_ARGUMENT);
    cr_assert_null(report);
    spvf_plan_destroy(p);
    leave_folder();
}

/* ---------------------------------------------------------------------------------------- bytes */

/* The bytes of all buffers are those of the group; what is promoted moves nothing. */
static void expect_sums(void) {
    uint64_t unfused = 0, fused = 0;
    for (size_t k = 0; k < report->buffer_count; k++) {
        const spvf_explained_buffer *b = report->buffers[k];
        unfused += b->unfused.read + b->unfused.written;
        fused += b->fused.read + b->fused.written;
        if (b->promoted != SPVF_PROMOTED_NOT) cr_expect(!b->fused.read && !b->fused.written);
    }
    cr_expect_eq(unfused, report->unfused_bytes);
    cr_expect_eq(fused, report->fused_bytes);
}

/* In units of what one buffer has: the members one by one, and fused. */
static void expect_traffic(uint64_t unfused, uint64_t fused) {
    explain(true);
    cr_expect(report->exact);
    cr_expect_eq(report->unfused_bytes, unfused * 4 * N);
    cr_expect_eq(report->fused_bytes, fused * 4 * N);
    cr_expect_float_eq(report->ceiling, (double)unfused / (double)fused, 1e-9);
    expect_sums();
}

/* What lies between the members is not needed. */
static void promote_all(void) {
    static spvf_promotion promotions[8];
    request.promotions = promotions;
    for (size_t k = 0; k < report->buffer_count; k++) {
        const spvf_explained_buffer *b = report->buffers[k];
        const spvf_param_info *p = report->params[b->params[0]];
        if (b->param_count > 1 && b->written)
            promotions[request.promotion_count++] =
                (spvf_promotion){.member = p->member, .param = p->param};
    }
}

/* `promoted`: fused, when the buffers between the members are private memory. */
static void expect_bytes(uint64_t unfused, uint64_t fused, uint64_t promoted) {
    expect_traffic(unfused, fused);
    promote_all();
    spvf_explanation_destroy(report);
    expect_traffic(unfused, promoted);
}

/* 6 / 4 = 1.5 */
Test(bytes, add_mul, .init = set_up, .fini = tear_down) {
    follow_add("mul");
    expect_bytes(6, 5, 4);
}

/* 11 / 4 = 2.75: tmp1 = in1 + in2; tmp2 = tmp1 * in3; tmp3 = tmp1 * 5; out = tmp2 + tmp3 */
Test(bytes, diamond, .init = set_up, .fini = tear_down) {
    follow_add("mul");
    add_member("scale");
    add_member("add");
    add_identity(0, 2, 2, 0);
    add_identity(1, 2, 3, 0);
    add_identity(2, 2, 3, 1);
    expect_bytes(11, 7, 4);
}

/* 10 / 2 = 5 */
Test(bytes, unary_chain, .init = set_up, .fini = tear_down) {
    for (uint32_t k = 0; k < 5; k++) {
        add_member("scale");
        if (k) add_identity(k - 1, 2, k, 0);
    }
    expect_bytes(10, 6, 2);
}

/* 15 / 7 = 2.14 */
Test(bytes, binary_chain, .init = set_up, .fini = tear_down) {
    for (uint32_t k = 0; k < 5; k++) {
        add_member(k % 2 ? "mul" : "add");
        if (k) add_identity(k - 1, 2, k, 0);
    }
    expect_bytes(15, 11, 7);
}

/* 4 / 3 = 1.33: two kernels that share an input */
Test(bytes, horizontal, .init = set_up, .fini = tear_down) {
    add_member("scale");
    add_member("scale");
    add_identity(0, 0, 1, 0);
    expect_bytes(4, 3, 3);
}

/* The loops of both read the same four elements. */
Test(bytes, same_elements_in_loops, .fini = tear_down) {
    set_up_with(rows);
    add_member("rows");
    add_member("rows");
    add_identity(0, 0, 1, 0);
    expect_traffic(10, 6);
}

/* All work-groups wait between the members: the next ones read and write memory anew. */
Test(bytes, phases, .init = set_up, .fini = tear_down) {
    for (uint32_t k = 0; k < 4; k++) {
        add_member(k % 2 ? "next" : "scale");
        if (k) add_identity(k - 1, k % 2 ? 2 : 1, k, 0);
        if (k) add_identity(k - 1, 0, k, k % 2 ? 1 : 2);
    }
    request.phases = true;
    explain(true);
    cr_expect(has_rule("fuse.phase"));
    cr_expect_eq(report->fused_bytes, report->unfused_bytes);
    expect_sums();
}

/* The second reads another element of the group: nothing is saved. */
Test(bytes, other_elements, .init = set_up, .fini = tear_down) {
    follow_add("turned");
    expect_traffic(5, 5);
}

/* ---------------------------------------------------------------------------------------- rules */

Test(explain, rules_have_cures) {
    for (unsigned k = 0; k < pass_fuse_rule_count; k++) {
        const pass_fuse_rule *r = &pass_fuse_rules[k];
        cr_expect_eq(pass_find_fuse_rule(r->id), r, "%s is listed once", r->id);
        cr_expect(!r->refuses || r->cure, "%s has a cure", r->id);
    }
    cr_assert_null(pass_find_fuse_rule("fuse.nothing"));
}
