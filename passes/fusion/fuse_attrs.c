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

typedef struct {
    ir_ctx *cx;
    const pass_fuse_request *request;
    ir_kernel_attrs *into;
} merging;

static const ir_func *kernel(const merging *q, uint32_t m) { return q->request->members[m].kernel; }

static bool is_size(const uint32_t s[3]) { return s[0] || s[1] || s[2]; }

static bool is_same_size(const uint32_t a[3], const uint32_t b[3]) {
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool merge_required_size(const merging *q, uint32_t m) {
    uint32_t *have = q->into->local_size;
    const uint32_t *size = kernel(q, m)->attrs.local_size;
    if (!is_size(size) || is_same_size(size, have)) return true;
    if (is_size(have))
        return ir_error(q->cx, "required work-group sizes differ: @%s %u,%u,%u, before it %u,%u,%u",
                        kernel(q, m)->name, size[0], size[1], size[2], have[0], have[1], have[2]);
    memcpy(have, size, sizeof q->into->local_size);
    return true;
}

static bool merge_number(const merging *q, uint32_t m, const char *what, uint32_t *have,
                         uint32_t want) {
    if (!want || want == *have) return true;
    if (*have)
        return ir_error(q->cx, "required %s differ: @%s %u, before it %u", what, kernel(q, m)->name,
                        want, *have);
    *have = want;
    return true;
}

static bool merge_float_controls(const merging *q, uint32_t m) {
    static const char *const widths[] = {"f16", "f32", "f64"};
    for (unsigned w = 0; w < 3; w++)
        if (kernel(q, m)->attrs.float_controls[w] != q->into->float_controls[w])
            return ir_error(q->cx, "float controls of %s differ: @%s, @%s", widths[w],
                            kernel(q, 0)->name, kernel(q, m)->name);
    return true;
}

/* True when two members give different hints, which are dropped then. */
static bool merge_size_hints(const merging *q) {
    uint32_t *have = q->into->hint;
    bool differ = false;
    for (uint32_t m = 0; m < q->request->nmembers; m++) {
        const uint32_t *hint = kernel(q, m)->attrs.hint;
        if (!is_size(hint)) continue;
        differ |= is_size(have) && !is_same_size(hint, have);
        memcpy(have, hint, sizeof q->into->hint);
    }
    if (differ) memset(have, 0, sizeof q->into->hint);
    return differ;
}

static void merge_vector_hints(const merging *q) {
    bool differ = false;
    ir_kernel_attrs *have = q->into;
    for (uint32_t m = 0; m < q->request->nmembers; m++) {
        const ir_kernel_attrs *a = &kernel(q, m)->attrs;
        if (!a->has_vec_hint) continue;
        differ |= have->has_vec_hint && a->vec_hint != have->vec_hint;
        have->has_vec_hint = true;
        have->vec_hint = a->vec_hint;
    }
    if (!differ) return;
    have->has_vec_hint = false;
    have->vec_hint = 0;
}

bool pass_fuse_attrs(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
                     pass_fuse_result *result, ir_kernel_attrs *into) {
    merging q = {.cx = cx, .request = request, .into = into};
    *into = (ir_kernel_attrs){0};
    memcpy(into->float_controls, kernel(&q, 0)->attrs.float_controls, sizeof into->float_controls);
    for (uint32_t m = 0; m < request->nmembers; m++) {
        const ir_kernel_attrs *a = &kernel(&q, m)->attrs;
        if (!merge_required_size(&q, m) || !merge_float_controls(&q, m) ||
            !merge_number(&q, m, "sub-group sizes", &into->subgroup_size, a->subgroup_size) ||
            !merge_number(&q, m, "numbers of sub-groups", &into->subgroups, a->subgroups))
            return false;
    }
    merge_vector_hints(&q);
    if (merge_size_hints(&q))
        *ir_push(out, &result->decisions) =
            (pass_decision){.rule = "fuse.hint", .text = "work-group size hints differ: dropped"};
    return true;
}
