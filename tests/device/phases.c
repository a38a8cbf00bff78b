/* phases.c — a kernel whose work-groups wait for each other, on ranges of one group up to more than
 * run at once, of one and two dimensions; launched twice in a row, next to what the host computes.
 * Then a tree of sums, in whose phases fewer and fewer items do anything. */
#include "tests/device/device.h"

enum { GROUP = 64, MOST = GROUP * 20000, TURNS = 2 };

/* Four phases: items read what other groups wrote, keep what they have read at first, and use local
 * memory in one of them.  Numbers i are linear. */
static const char text[] = "target 64\n"
                           "@t: local [64 x i32]\n"
                           "kernel @k(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
                           "entry:\n"
                           "  %i: i64 = global_linear_id\n"
                           "  %a: i64 = global_size 0\n"
                           "  %b: i64 = global_size 1\n"
                           "  %n: i64 = mul %a, %b\n"
                           "  %j: i64 = sub %n, %i\n"
                           "  %k: i64 = sub %j, 1\n"
                           "  %oi: i64 = shl %i, 2\n"
                           "  %ok: i64 = shl %k, 2\n"
                           "  %xi: ptr.global = ptradd %x, %oi\n"
                           "  %xk: ptr.global = ptradd %x, %ok\n"
                           "  %yi: ptr.global = ptradd %y, %oi\n"
                           "  %v: i32 = load %xi align 4\n"
                           "  %w: i32 = load %xk align 4\n"
                           "  %s: i32 = add %v, %w\n"
                           "  store %s, %yi align 4\n"
                           "  barrier device device seq_cst global\n"
                           "  %m: i64 = mul %i, 7\n"
                           "  %p: i64 = add %m, 13\n"
                           "  %q: i64 = urem %p, %n\n"
                           "  %oq: i64 = shl %q, 2\n"
                           "  %yq: ptr.global = ptradd %y, %oq\n"
                           "  %u: i32 = load %yq align 4\n"
                           "  %gx: i32 = group_id 0\n"
                           "  %gy: i32 = group_id 1\n"
                           "  %g: i32 = add %gx, %gy\n"
                           "  %ug: i32 = xor %u, %g\n"
                           "  store %ug, %xi align 4\n"
                           "  barrier device device seq_cst global\n"
                           "  %r: i32 = load %xk align 4\n"
                           "  %l: i64 = local_linear_id\n"
                           "  %ol: i64 = shl %l, 2\n"
                           "  %tl: ptr.local = ptradd @t, %ol\n"
                           "  store %r, %tl align 4\n"
                           "  barrier workgroup workgroup seq_cst local\n"
                           "  %c: i64 = sub 252, %ol\n"
                           "  %tc: ptr.local = ptradd @t, %c\n"
                           "  %d: i32 = load %tc align 4\n"
                           "  %e: i32 = add %d, %v\n"
                           "  store %e, %yi align 4\n"
                           "  barrier device device seq_cst global\n"
                           "  %yk: ptr.global = ptradd %y, %ok\n"
                           "  %f: i32 = load %yk align 4\n"
                           "  %h: i32 = add %f, %v\n"
                           "  store %h, %xi align 4\n"
                           "  ret\n"
                           "}\n";

typedef struct {
    int32_t x[MOST], y[MOST], z[MOST];
} numbers;

/* ------------------------------------------------------------------------------------ the host */

/* The item with local number `local` of the group of item i, and the sum of that group's ids. */
static size_t item_of_group(const spvf_range *r, size_t i, size_t local, int32_t *ids) {
    size_t width = r->global[0], lx = r->local[0], ly = r->dims > 1 ? r->local[1] : 1;
    size_t gx = i % width / lx, gy = i / width / ly;
    *ids = (int32_t)(gx + gy);
    return (gy * ly + local / lx) * width + gx * lx + local % lx;
}

static size_t local_of(const spvf_range *r, size_t i) {
    size_t width = r->global[0], ly = r->dims > 1 ? r->local[1] : 1;
    return i / width % ly * r->local[0] + i % width % r->local[0];
}

/* z: what x was. */
static void compute(numbers *h, const spvf_range *r, size_t n) {
    int32_t ids;
    memcpy(h->z, h->x, n * sizeof *h->x);
    for (size_t i = 0; i < n; i++)
        h->y[i] = (int32_t)((uint32_t)h->z[i] + (uint32_t)h->z[n - 1 - i]);
    for (size_t i = 0; i < n; i++) {
        item_of_group(r, i, 0, &ids);
        h->x[i] = h->y[(i * 7 + 13) % n] ^ ids;
    }
    for (size_t i = 0; i < n; i++) {
        size_t other = item_of_group(r, i, GROUP - 1 - local_of(r, i), &ids);
        h->y[i] = (int32_t)((uint32_t)h->x[n - 1 - other] + (uint32_t)h->z[i]);
    }
    for (size_t i = 0; i < n; i++)
        h->x[i] = (int32_t)((uint32_t)h->y[n - 1 - i] + (uint32_t)h->z[i]);
}

/* ---------------------------------------------------------------------------------- the device */

/* Adds the halves of `items` numbers until a group has the sums. */
static const char *tree_text(size_t items) {
    static char tree[1 << 13];
    size_t at = (size_t)snprintf(tree, sizeof tree,
                                 "target 64\n"
                                 "kernel @k(%%x: ptr.global of i32) {\n"
                                 "entry:\n"
                                 "  %%i: i64 = global_id 0\n"
                                 "  %%o: i64 = shl %%i, 2\n"
                                 "  %%p: ptr.global = ptradd %%x, %%o\n");
    for (size_t n = items / 2; n >= GROUP; n /= 2)
        at += (size_t)snprintf(tree + at, sizeof tree - at,
                               "  %%c%zu: i1 = ult %%i, i64 %zu\n"
                               "  br %%c%zu, in%zu, out%zu\n"
                               "in%zu:\n"
                               "  %%q%zu: ptr.global = ptradd %%p, %zu\n"
                               "  %%a%zu: i32 = load %%p align 4\n"
                               "  %%b%zu: i32 = load %%q%zu align 4\n"
                               "  %%s%zu: i32 = add %%a%zu, %%b%zu\n"
                               "  store %%s%zu, %%p align 4\n"
                               "  jmp out%zu\n"
                               "out%zu:\n"
                               "  barrier device device seq_cst global\n",
                               n, n, n, n, n, n, n, 4 * n, n, n, n, n, n, n, n, n, n);
    snprintf(tree + at, sizeof tree - at, "  ret\n}\n");
    return tree;
}

static void check_tree(device_test *t, size_t items) {
    const spvf_range r = {.dims = 1, .global = {items / 2}, .local = {GROUP}};
    uint32_t *got = malloc(2 * items * sizeof *got), *want = got + items;
    for (size_t n = 0; n < items; n++) got[n] = want[n] = (uint32_t)n * 2654435761u;
    for (size_t n = items / 2; n >= GROUP; n /= 2)
        for (size_t i = 0; i < n; i++) want[i] += want[i + n];
    dt_check(t, dt_run(t, t->name, tree_text(items), &r, &(dt_buffer){got, 4 * items, NULL}, 1),
             "phases: a tree of %zu numbers runs", items);
    dt_check(t, memcmp(got, want, 4 * items) == 0, "phases: a tree of %zu numbers", items);
    free(got);
}

typedef struct {
    spvf_device *device;
    spvf_module *module;
    spvf_program *program;
    spvf_queue *queue;
} setting;

static bool begin(setting *s, device_test *t) {
    return spvf_device_open(t->context, t->name, &s->device) == SPVF_OK &&
           spvf_module_load(t->context, "k.ir", text, strlen(text), NULL, &s->module) == SPVF_OK &&
           spvf_program_create(s->device, s->module, &s->program) == SPVF_OK &&
           spvf_queue_create(s->device, NULL, &s->queue) == SPVF_OK;
}

static void end(setting *s) {
    spvf_queue_destroy(s->queue);
    spvf_program_destroy(s->program);
    spvf_module_destroy(s->module);
    spvf_device_destroy(s->device);
}

static bool run(const setting *s, const spvf_range *r, numbers *h, size_t bytes) {
    spvf_buffer *b[2] = {NULL, NULL};
    bool ok = spvf_buffer_create(s->device, bytes, h->x, SPVF_COPY_HOST, &b[0]) == SPVF_OK &&
              spvf_buffer_create(s->device, bytes, h->y, SPVF_COPY_HOST, &b[1]) == SPVF_OK;
    const spvf_argument args[] = {{.buffer = b[0]}, {.buffer = b[1]}};
    const spvf_launch l = {.size = sizeof l,
                           .program = s->program,
                           .kernel = "k",
                           .range = *r,
                           .args = args,
                           .arg_count = 2};
    for (int k = 0; ok && k < TURNS; k++)
        ok = spvf_queue_launch(s->queue, &l, NULL, NULL) == SPVF_OK;
    ok = ok && spvf_queue_read(s->queue, b[0], 0, h->x, bytes, NULL, NULL) == SPVF_OK &&
         spvf_queue_read(s->queue, b[1], 0, h->y, bytes, NULL, NULL) == SPVF_OK &&
         spvf_queue_finish(s->queue) == SPVF_OK;
    for (int k = 0; k < 2; k++) spvf_buffer_destroy(b[k]);
    return ok;
}

static void check_range(device_test *t, const setting *s, const spvf_range *r) {
    size_t n = r->global[0] * (r->dims > 1 ? r->global[1] : 1);
    numbers *want = calloc(2, sizeof *want), *got = want + 1;
    for (size_t i = 0; i < n; i++) want->x[i] = got->x[i] = (int32_t)(i * 2654435761u);
    for (int k = 0; k < TURNS; k++) compute(want, r, n);
    bool ok = run(s, r, got, n * sizeof *got->x);
    dt_check(t, ok, "phases: %zu items run", n);
    dt_check(t, !memcmp(got->x, want->x, n * 4) && !memcmp(got->y, want->y, n * 4),
             "phases: %zu items, %u dimensions", n, r->dims);
    free(want);
}

void dt_phases(device_test *t) {
    static const spvf_range ranges[] = {{.dims = 1, .global = {GROUP}, .local = {GROUP}},
                                        {.dims = 1, .global = {3 * GROUP}, .local = {GROUP}},
                                        {.dims = 1, .global = {200 * GROUP}, .local = {GROUP}},
                                        {.dims = 2, .global = {80, 240}, .local = {16, 4}},
                                        {.dims = 1, .global = {4000 * GROUP}, .local = {GROUP}},
                                        {.dims = 2, .global = {640, 1000}, .local = {32, 2}},
                                        {.dims = 1, .global = {MOST}, .local = {GROUP}}};
    setting s = {0};
    bool ok = begin(&s, t);
    dt_check(t, ok, "phases: a program");
    if (ok && !t->can.phases) {
        static numbers h;
        dt_check(t, !run(&s, &ranges[1], &h, 4), "phases, which the device lacks, are refused");
        ok = false;
    }
    for (size_t n = 0; ok && n < sizeof ranges / sizeof *ranges; n++)
        check_range(t, &s, &ranges[n]);
    for (size_t items = 1 << 9; ok && items <= 1 << 20; items <<= 11) check_tree(t, items);
    end(&s);
}
