/* specialized_test.c — arguments that the options of a module mark as specialized, by name and by
 * number, and those that cannot be; definitions without names.
 */
#include "tests/runtime/bench.h"

static const char kernels[] = "target 64\n"
                              "kernel @a(%p: ptr.global, %n: i32, %m: v4f32) {\nentry:\n  ret\n}\n"
                              "kernel @b(%n: i64, %l: ptr.local) {\nentry:\n  ret\n}\n"
                              "kernel @c(%s: ptr.private byval(16) of {ptr.global, i32}) {\n"
                              "entry:\n  ret\n}\n";

/* The module with these arguments marked; NULL: it was refused. */
static spvf_module *load(spvf_context *c, const spvf_marked_arg *list, size_t count) {
    const spvf_module_options o = {
        .size = sizeof o, .closures = true, .specialized = list, .specialized_count = count};
    spvf_module *m;
    messages[0] = 0;
    spvf_status status = spvf_module_load(c, "k.ir", kernels, sizeof kernels - 1, &o, &m);
    cr_expect_eq(status, m ? SPVF_OK : SPVF_ERROR_ARGUMENT);
    return m;
}

/* Kernel and number of each marked argument: "a1 b0". */
static const char *marked(const spvf_module *m) {
    static char text[80];
    size_t n = 0;
    text[0] = 0;
    for (size_t k = 0; k < spvf_module_kernel_count(m); k++) {
        const spvf_kernel_info *info = spvf_module_kernel(m, k);
        for (size_t i = 0; i < info->arg_count; i++)
            if (info->args[i]->specialized)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%zu", n ? " " : "",
                                      info->name, i);
    }
    return text;
}

static void expect_marks(const spvf_marked_arg *list, size_t count, const char *want) {
    spvf_context *c = new_context();
    spvf_module *m = load(c, list, count);
    cr_expect_str_eq(m ? marked(m) : messages, want);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}

#define EXPECT(want, ...)                                                                          \
    expect_marks((const spvf_marked_arg[]){__VA_ARGS__},                                           \
                 sizeof((const spvf_marked_arg[]){__VA_ARGS__}) / sizeof(spvf_marked_arg), want)

Test(specialized, by_name_and_by_number) {
    expect_marks(NULL, 0, "");
    EXPECT("a1", {"a", "n", 0});
    EXPECT("a1 b0", {NULL, "n", 0});
    EXPECT("a1 a2", {"a", NULL, 1}, {"a", "m", 0});
    EXPECT("c1", {"c", "s.8", 0});
    EXPECT("c1", {"c", NULL, 1});
}

Test(specialized, what_is_no_value_or_absent) {
    EXPECT("error: argument 0 of kernel 'a' cannot be specialized: it is no value\n",
           {"a", "p", 0});
    EXPECT("error: argument 1 of kernel 'b' cannot be specialized: it is no value\n",
           {"b", NULL, 1});
    EXPECT("error: argument 0 of kernel 'c' cannot be specialized: it is no value\n",
           {"c", NULL, 0});
    EXPECT("error: there is no kernel 'x' with arguments to be specialized\n", {"x", "n", 0});
    EXPECT("error: kernel 'a' has no argument 'x' to be specialized\n", {"a", "x", 0});
    EXPECT("error: kernel 'a' has no argument 9 to be specialized\n", {"a", NULL, 9});
    EXPECT("error: no kernel has an argument 'x' to be specialized\n", {NULL, "x", 0});
}

Test(specialized, options_that_make_no_sense) {
    spvf_context *c = new_context();
    cr_expect_null(load(c, NULL, 2));
    cr_expect_str_eq(messages, "error: spvf_module_load: 2 specialized arguments at NULL\n");
    spvf_context_destroy(c);
}

Test(specialized, definitions_that_make_no_sense) {
    static const char *const calls[] = {NULL};
    const spvf_definition list[] = {{NULL, NULL, 0}, {"f", NULL, 1}, {"f", calls, 1}};
    static const char *const want[] = {"error: definition: the name is NULL\n",
                                       "error: definition: 1 calls at NULL\n",
                                       "error: definition: call 0 is NULL\n"};
    spvf_context *c = new_context();
    for (size_t k = 0; k < 3; k++) {
        const spvf_module_options o = {
            .size = sizeof o, .definitions = &list[k], .definition_count = 1};
        spvf_module *m;
        messages[0] = 0;
        cr_expect_eq(spvf_module_load(c, "k.ir", kernels, sizeof kernels - 1, &o, &m),
                     SPVF_ERROR_ARGUMENT);
        cr_expect_str_eq(messages, want[k]);
    }
    spvf_context_destroy(c);
}
