/* ranges.c — ranges of one to three dimensions, with groups that are smaller at the ends, next to
 * device cpu: what items ask about themselves, and that each runs once. */
#include "tests/device/device.h"

enum { ANSWERS = 16, MOST_ITEMS = 1 << 18 };

static const char *const queries[] = {
    "global_id 0",   "global_id 1",   "global_id 2",          "global_size 0",
    "global_size 1", "global_size 2", "global_offset 0",      "global_linear_id",
    "group_id 0",    "group_id 1",    "group_id 2",           "num_groups 0",
    "local_id 0",    "local_size 0",  "enqueued_local_size 0"};
enum { QUERIES = sizeof queries / sizeof *queries };

/* The first `n` of them, so that the kernel observes its groups or does not; the last word counts. */
static const char *kernel_text(unsigned n) {
    static char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "target 64\n"
                                 "kernel @k(%%out: ptr.global of i64) {\n"
                                 "entry:\n"
                                 "  %%l: i64 = global_linear_id\n"
                                 "  %%o: i64 = shl %%l, 7\n"
                                 "  %%at: ptr.global = ptradd %%out, %%o inbounds\n"
                                 "  %%pc: ptr.global = ptradd %%at, 120 inbounds\n"
                                 "  %%c: i64 = load %%pc align 8\n"
                                 "  %%d: i64 = add %%c, 1\n"
                                 "  store %%d, %%pc align 8\n");
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "  %%a%u: i64 = %s\n"
                               "  %%p%u: ptr.global = ptradd %%at, %u inbounds\n"
                               "  store %%a%u, %%p%u align 8\n",
                               k, queries[k], k, 8 * k, k, k);
    snprintf(text + at, sizeof text - at, "  ret\n}\n");
    return text;
}

typedef struct {
    device_test *test;
    const char *device;
    const spvf_range *range;
    unsigned queries;
    uint64_t *answers, bytes;
    spvf_module *module;
} asking;

static void ask(void *arg) {
    const asking *a = arg;
    rt_device *d = rt_device_open(a->test->context, a->device);
    rt_program *p = d->driver->build(d, a->module->ir);
    rt_memory *m = d->driver->allocate(d, "out", a->bytes, a->answers);
    const rt_arg out = rt_memory_arg(m, 0);
    rt_device_launch(d, &(rt_launch){.function = d->driver->find(d, p, "k"),
                                     .range = a->range,
                                     .args = &out,
                                     .count = 1,
                                     .uneven = true});
    rt_device_read(d, m, 0, a->answers, a->bytes);
    rt_device_close(d);
}

static bool get_answers(device_test *t, const char *device, const spvf_range *r, unsigned n,
                        uint64_t *out, uint64_t bytes) {
    asking a = {t, device, r, n, out, bytes, NULL};
    const char *text = kernel_text(n);
    memset(out, 0, bytes);
    if (spvf_module_load(t->context, "k.ir", text, strlen(text), NULL, &a.module) != SPVF_OK)
        return false;
    bool ok = ir_try(&t->context->cx, ask, &a);
    spvf_module_destroy(a.module);
    return ok;
}

static void check_range(device_test *t, const spvf_range *r, unsigned n) {
    static uint64_t got[MOST_ITEMS * ANSWERS], wanted[MOST_ITEMS * ANSWERS];
    uint64_t items = 1;
    for (unsigned k = 0; k < r->dims; k++) items *= r->global[k];
    uint64_t bytes = items * ANSWERS * 8, at = 0;
    bool ok =
        get_answers(t, t->name, r, n, got, bytes) && get_answers(t, "cpu", r, n, wanted, bytes);
    dt_check(t, ok, "a range with %llu items runs", (unsigned long long)items);
    if (!ok) return;
    while (at < items * ANSWERS && got[at] == wanted[at]) at++;
    dt_check(t, at == items * ANSWERS,
             "%llu %llu %llu / %llu %llu %llu: item %llu, answer %llu: %llu, not %llu",
             (unsigned long long)r->global[0], (unsigned long long)r->global[1],
             (unsigned long long)r->global[2], (unsigned long long)r->local[0],
             (unsigned long long)r->local[1], (unsigned long long)r->local[2],
             (unsigned long long)at / ANSWERS, (unsigned long long)at % ANSWERS,
             (unsigned long long)got[at], (unsigned long long)wanted[at]);
}

void dt_ranges(device_test *t) {
    static const spvf_range ranges[] = {
        {.dims = 1, .global = {1}, .local = {1}},
        {.dims = 1, .global = {1024}, .local = {64}},
        {.dims = 1, .global = {1000}, .local = {64}},
        {.dims = 1, .global = {37}, .local = {64}},
        {.dims = 1, .global = {1000}, .local = {64}, .offset = {5}},
        {.dims = 2, .global = {64, 32}, .local = {8, 4}},
        {.dims = 2, .global = {33, 17}, .local = {8, 4}},
        {.dims = 2, .global = {32, 17}, .local = {8, 4}, .offset = {3, 1000}},
        {.dims = 2, .global = {2, 70001}, .local = {1, 1}},
        {.dims = 2, .global = {1, 131073}, .local = {1, 2}},
        {.dims = 3, .global = {16, 8, 4}, .local = {8, 4, 2}},
        {.dims = 3, .global = {17, 9, 5}, .local = {8, 4, 2}},
        {.dims = 3, .global = {17, 9, 5}, .local = {8, 4, 2}, .offset = {1, 2, 3}},
        {.dims = 3, .global = {1, 2, 70001}, .local = {1, 2, 1}},
        {.dims = 3, .global = {3, 9, 70}, .local = {2, 2, 64}},
    };
    static const spvf_range open = {.dims = 1, .global = {10007}};
    for (size_t n = 0; n < sizeof ranges / sizeof *ranges; n++) {
        check_range(t, &ranges[n], 8);
        check_range(t, &ranges[n], QUERIES);
    }
    check_range(t, &open, 8);
}
