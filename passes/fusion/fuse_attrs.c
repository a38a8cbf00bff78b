/* fuse_attrs.c — the attributes of a fused kernel.
 *
 *   required work-group size, sub-group size, number of sub-groups: the one that is given; an error
 *     when two differ
 *   float controls: the same in all members, none in all of them included; otherwise an error
 *   work-group size hint, vector type hint: the one that is given; none when two differ
 *
 * Whether operations may be contracted is a flag of each operation and needs no merging here.
 */
#include "passes/fusion/fuse_impl.h"

static const ir_func *kernel_of(const pass_fuse_input *in, uint32_t m) {
    return in->request->members[m].kernel;
}

static bool is_size(const uint32_t s[3]) { return s[0] || s[1] || s[2]; }

static bool is_same_size(const uint32_t a[3], const uint32_t b[3]) {
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool merge_required_size(const pass_fuse_input *in, uint32_t m, uint32_t have[3]) {
    const uint32_t *size = kernel_of(in, m)->attrs.local_size;
    if (!is_size(size) || is_same_size(size, have)) return true;
    if (is_size(have))
        return ir_error(
            in->cx, "required work-group sizes differ: @%s %u,%u,%u, before it %u,%u,%u",
            kernel_of(in, m)->name, size[0], size[1], size[2], have[0], have[1], have[2]);
    memcpy(have, size, 3 * sizeof *have);
    return true;
}

/* Merges a required number, of which 0 means none; `what` names it in the message. */
static bool merge_number(const pass_fuse_input *in, uint32_t m, const char *what, uint32_t want,
                         uint32_t *have) {
    if (!want || want == *have) return true;
    if (*have)
        return ir_error(in->cx, "required %s differ: @%s %u, before it %u", what,
                        kernel_of(in, m)->name, want, *have);
    *have = want;
    return true;
}

static bool have_equal_float_controls(const pass_fuse_input *in, uint32_t m) {
    static const char *const widths[] = {"f16", "f32", "f64"};
    const ir_func *first = kernel_of(in, 0), *k = kernel_of(in, m);
    for (unsigned w = 0; w < 3; w++)
        if (k->attrs.float_controls[w] != first->attrs.float_controls[w])
            return ir_error(in->cx, "float controls of %s differ: @%s, @%s", widths[w], first->name,
                            k->name);
    return true;
}

/* True when two members give different hints, which are dropped then. */
static bool merge_size_hints(const pass_fuse_input *in, uint32_t have[3]) {
    bool differ = false;
    for (uint32_t m = 0; m < in->request->nmembers; m++) {
        const uint32_t *hint = kernel_of(in, m)->attrs.hint;
        if (!is_size(hint)) continue;
        differ |= is_size(have) && !is_same_size(hint, have);
        memcpy(have, hint, 3 * sizeof *have);
    }
    if (differ) memset(have, 0, 3 * sizeof *have);
    return differ;
}

static void merge_vector_hints(const pass_fuse_input *in, ir_kernel_attrs *have) {
    bool differ = false;
    for (uint32_t m = 0; m < in->request->nmembers; m++) {
        const ir_kernel_attrs *a = &kernel_of(in, m)->attrs;
        if (!a->has_vec_hint) continue;
        differ |= have->has_vec_hint && a->vec_hint != have->vec_hint;
        have->has_vec_hint = true;
        have->vec_hint = a->vec_hint;
    }
    if (!differ) return;
    have->has_vec_hint = false;
    have->vec_hint = 0;
}

bool pass_fuse_attrs(const pass_fuse_input *in, pass_fuse_result *result, ir_kernel_attrs *into) {
    *into = (ir_kernel_attrs){0};
    memcpy(into->float_controls, kernel_of(in, 0)->attrs.float_controls,
           sizeof into->float_controls);
    for (uint32_t m = 0; m < in->request->nmembers; m++) {
        const ir_kernel_attrs *a = &kernel_of(in, m)->attrs;
        if (!merge_required_size(in, m, into->local_size) || !have_equal_float_controls(in, m) ||
            !merge_number(in, m, "sub-group sizes", a->subgroup_size, &into->subgroup_size) ||
            !merge_number(in, m, "numbers of sub-groups", a->subgroups, &into->subgroups))
            return false;
    }
    merge_vector_hints(in, into);
    if (merge_size_hints(in, into->hint))
        pass_decide(in, result, "fuse.hint", "work-group size hints differ: dropped");
    return true;
}
