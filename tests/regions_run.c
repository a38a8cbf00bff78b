/* regions_run.c — the corpus as code of work-groups: what passes/workgroup/regions.c makes of every kernel
 * gives the same bytes as the work-items of the kernel do.
 *
 *   regions_run PLANS MODULES [--shard I/N] [--simd LANES] [NAME…]
 *
 * Each launch of each plan runs on `check`, and as code of groups by interpretation: once for what
 * is known of the launch, all groups in one call; once for any launch, group by group.  Kernels
 * that are refused are listed, and counted.
 *
 * With --simd, loops over items run so many of them as lanes of vectors.  These must have the bits
 * of scalar code.  `check` rounds a dot product once, and native code of targets with vectors has
 * the products and sums of `expand_dot_by_halves`; both sides of the comparison then have these.
 */
#include "ir/eval.h"
#include "passes/lower/expand.h"
#include "runtime/devices/printf.h"
#include "runtime/plan/plan.h"
#include "tests/file.h"
#include "tests/passes/workgroup/groups.h"
#include "tests/progress.h"
#include "tests/random.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *const producers[] = {"clang15-O0", "clang15-O2", "clang22-O2"};
enum { PRODUCERS = sizeof producers / sizeof *producers, MAX_NAMES = 1000 };

static const char *plans, *modules;
static unsigned lanes = 1; /* of vectorized loops */
static int passed, failed, refused;
static char why[1000];

typedef struct {
    spvf_context *context;
    const char *name, *producer;
    spvf_plan *plan;
    ir_arena arena;
    rt_library library, reference; /* what becomes code of groups, and what `check` runs */
    rt_device *device;
    rt_memory **memory; /* by buffer, on the device */
    uint8_t **start;    /* by buffer: the contents before a launch */
    uint64_t *size;
    ir_map globals[2];       /* program-scope variables, by way of running */
    ir_text printed, string; /* by the device, or by code */
    bool failed, refused;
} job;

static void fail(job *j, const char *kernel, const char *what) {
    printf("FAIL %s %s @%s: %s\n", j->name, j->producer, kernel, what);
    j->failed = true;
}

/* -------------------------------------------------------------------------------------- buffers */

static void make_buffer(job *j, uint32_t n) {
    const rt_buffer_decl *b = &j->plan->buffers.data[n];
    size_t size = rt_elem_size(b->elem);
    uint64_t bytes = b->count * size, state = b->factor * 2 + 1;
    uint8_t *data = ir_alloc(&j->arena, bytes + sizeof state);
    for (uint64_t k = 0; k < b->count; k++) {
        uint64_t v = splitmix64(&state) >> 40;
        if (b->init == RT_INIT_LIST) v = b->list[b->list_count == 1 ? 0 : k];
        if (b->init == RT_INIT_IOTA) v = k * b->factor;
        if (b->init != RT_INIT_LIST && ir_is_float(b->elem.kind))
            v = ir_fp_from_double(b->elem.kind,
                                  b->init == RT_INIT_IOTA
                                      ? (double)k * ir_fp_to_double(b->elem.kind, b->factor)
                                      : (double)(v & 0xffff) / 65536);
        memcpy(data + k * size, &v, size);
    }
    j->size[n] = bytes;
    j->start[n] = data;
    j->memory[n] = j->device->driver->allocate(j->device, b->name, bytes,
                                               b->init == RT_INIT_NONE ? NULL : data);
}

static void read_buffers(job *j) {
    for (uint32_t n = 0; n < j->plan->buffers.n; n++)
        rt_device_read(j->device, j->memory[n], 0, j->start[n], j->size[n]);
}

/* Bytes that were never written may be anything. */
static bool is_same(job *j, uint32_t n, const uint8_t *got) {
    const uint8_t *want = j->start[n];
    if (memcmp(got, want, j->size[n]) == 0) return true;
    for (uint64_t k = 0; k < j->size[n]; k++) {
        if (got[k] == want[k] || j->device->driver->undefined(j->device, j->memory[n], k, 1))
            continue;
        snprintf(why, sizeof why, "%s differs at byte %llu: %02x, not %02x",
                 j->plan->buffers.data[n].name, (unsigned long long)k, got[k], want[k]);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------- launches */

static uint64_t choose_local(uint64_t size, uint64_t most) {
    while (most > 1 && size % most) most--;
    return most ? most : 1;
}

static spvf_range choose_range(const rt_bound_launch *b) {
    spvf_range r = b->launch->range;
    static const uint64_t most[3] = {12, 3, 2};
    if (r.local[0]) return r;
    for (unsigned d = 0; d < r.dims; d++)
        r.local[d] = b->kernel->attrs.local_size[0] ? b->kernel->attrs.local_size[d]
                                                    : choose_local(r.global[d], most[d]);
    return r;
}

static bool take_argument(void *user, const rt_conversion *c, rt_print_value *out) {
    const uint8_t **at = user;
    bool real = rt_is_float_conversion(c);
    unsigned bits =
        c->conversion == 's' || c->conversion == 'p' || (real && c->lanes == 1) ? 64 : c->bits;
    for (unsigned n = 0; n < c->lanes; n++) {
        out->lane[n] = 0;
        memcpy(&out->lane[n], *at + n * bits / 8, bits / 8);
        double d = real && bits == 32 ? ir_fp_to_double(IR_F32, out->lane[n]) : 0;
        if (real && bits == 32) memcpy(&out->lane[n], &d, sizeof d);
    }
    out->width = bits;
    *at += (c->lanes * bits / 8 + 7) / 8 * 8;
    return true;
}

static char read_char(void *user, uint64_t address) {
    (void)user;
    return *(const char *)(uintptr_t)address;
}

static int32_t print(void *user, const char *format, const uint8_t *arguments) {
    job *j = user;
    const rt_print_source source = {take_argument, read_char, &arguments};
    return rt_print(&j->printed, &j->string, format, &source) ? 0 : -1;
}

static void keep_output(void *user, const char *text) { ir_put(&((job *)user)->printed, text); }

typedef struct {
    job *j;
    const rt_bound_launch *launch;
    ir_range range;
    uint8_t **after;
    const char *printed;
    bool known;
} attempt;

static uint64_t bind(const attempt *t, groups *q, const pass_group_code *code, void **args) {
    const rt_bound_launch *l = t->launch;
    uint64_t local = code->need.local, before = local;
    for (uint32_t k = 0; k < l->launch->args.n; k++) {
        const rt_bound_arg *a = &l->args[k];
        if (a->arg->kind == RT_PLAN_BUFFER) {
            args[k] = t->after[a->arg->index];
            groups_add(q, args[k], t->j->size[a->arg->index], IR_GLOBAL);
        } else if (a->bytes) {
            void *copy = groups_alloc(q, a->size, 128);
            args[k] = memcpy(copy, a->bytes, a->size);
            groups_add(q, copy, a->size, IR_CONST);
        } else {
            local = (local + IR_LOCAL_ALIGN - 1) / IR_LOCAL_ALIGN * IR_LOCAL_ALIGN;
            args[k] = (void *)(uintptr_t)local;
            local += a->size;
        }
    }
    return local - before;
}

static void run_code(const attempt *t, groups *q, const pass_group_code *code) {
    uint32_t n = t->launch->launch->args.n;
    void **args = ir_new_array(&q->arena, void *, n + 1);
    q->budget = 2000000000;
    q->print = print;
    q->print_user = t->j;
    uint64_t local = bind(t, q, code, args);
    groups_run(q, code, &t->range, args, n, local, t->known);
    if (!q->faults) return;
    ir_text at = {.arena = &q->arena};
    ir_put(&at, "");
    if (q->fault) ir_print_inst(&at, q->fault);
    snprintf(why, sizeof why, "%u faults, at %s", q->faults, at.data);
    fail(t->j, t->launch->kernel->name, why);
}

static void compare(const attempt *t) {
    job *j = t->j;
    if (strcmp(t->printed, j->printed.data) != 0)
        fail(j, t->launch->kernel->name, "prints something else");
    for (uint32_t n = 0; n < j->plan->buffers.n; n++)
        if (!is_same(j, n, t->after[n])) {
            char text[1100];
            snprintf(text, sizeof text, "%s: %s", t->known ? "known shape" : "any shape", why);
            fail(j, t->launch->kernel->name, text);
            return;
        }
}

static void split_dots(ir_module *m) {
    foreach_func (f, m) {
        ir_builder b;
        ir_builder_init(&b, f);
        foreach_block (block, f)
            for (ir_inst *i = block->first, *next; i; i = next) {
                next = i->next;
                if (i->op != IR_OP_dot) continue;
                ir_before(&b, i);
                ir_replace_uses(i, expand_dot_by_halves(&b, ir_arg(i, 0), ir_arg(i, 1)));
                ir_remove(i);
            }
    }
}

static void try_code(attempt *t) {
    ir_ctx *cx = &t->j->context->cx;
    groups q = {
        .globals = &t->j->globals[t->known], .forever = &t->j->arena, .has_lanes = lanes > 1};
    pass_group_code code;
    ir_arena scratch;
    ir_module *m = ir_module_new(cx, "groups", t->launch->kernel->module->pointer_bits);
    ir_func *kernel = ir_import_func(m, t->launch->kernel, t->launch->kernel->name);
    pass_group_shape shape = {0};
    if (t->known) shape = pass_shape_of(&t->range);
    ir_arena_init(&q.arena, cx);
    ir_arena_init(&scratch, cx);
    pass_make_group(kernel, &shape, &scratch, &code);
    if (code.refusal && !t->j->refused)
        printf("refused %s %s @%s: %s\n", t->j->name, t->j->producer, kernel->name, code.refusal);
    t->j->refused |= code.refusal != NULL;
    bool fine = !code.refusal && ir_verify_module(m);
    const pass_options options = {.passes = lanes > 1 ? "groups,vectors" : pass_group_pipeline,
                                  .lanes = lanes,
                                  .verify_each = true,
                                  .bisect = -1};
    if (fine && (t->known || lanes > 1)) fine = pass_run(m, &options);
    if (fine && lanes > 1) split_dots(m);
    if (fine) run_code(t, &q, &code);
    if (!fine && !code.refusal) fail(t->j, t->launch->kernel->name, "is not well-formed");
    ir_module_free(m);
    ir_arena_free(&q.arena);
    ir_arena_free(&scratch);
}

static rt_function *find_reference(job *j, const rt_plan_launch *l) {
    rt_bound_launch b = rt_bind(&j->reference, l);
    if (!b.loaded->program) {
        if (lanes > 1) split_dots(b.loaded->module->ir);
        b.loaded->program = j->device->driver->build(j->device, b.loaded->module->ir);
    }
    return j->device->driver->find(j->device, b.loaded->program, l->kernel);
}

static void launch(job *j, const rt_plan_launch *l) {
    rt_bound_launch b = rt_bind(&j->library, l);
    attempt t[2] = {{.j = j, .launch = &b, .known = true}, {.j = j, .launch = &b}};
    rt_arg *args = ir_new_array(&j->arena, rt_arg, l->args.n);
    spvf_range range = choose_range(&b);
    for (uint32_t k = 0; k < l->args.n; k++) {
        const rt_plan_arg *a = b.args[k].arg;
        args[k] = rt_device_arg(&b.args[k], a->kind == RT_PLAN_BUFFER ? j->memory[a->index] : NULL);
    }
    read_buffers(j);
    for (unsigned k = 0; k < 2; k++) {
        t[k].range = rt_inner_range(&range);
        t[k].after = ir_new_array(&j->arena, uint8_t *, j->plan->buffers.n);
        for (uint32_t n = 0; n < j->plan->buffers.n; n++) {
            uintptr_t at = (uintptr_t)ir_alloc(&j->arena, j->size[n] + 256);
            t[k].after[n] = (uint8_t *)((at + 127) / 128 * 128);
            memcpy(t[k].after[n], j->start[n], j->size[n]);
        }
        j->printed.n = 0;
        ir_put(&j->printed, "");
        try_code(&t[k]);
        t[k].printed = ir_strdup(&j->arena, j->printed.data);
    }
    j->printed.n = 0;
    ir_put(&j->printed, "");
    rt_function *f = find_reference(j, l);
    rt_device_launch(j->device, &(rt_launch){f, &range, args, l->args.n, .uneven = false});
    read_buffers(j);
    for (unsigned k = 0; k < 2 && !j->refused && !j->failed; k++) compare(&t[k]);
}

static void run_statements(void *user) {
    job *j = user;
    uint32_t n = j->plan->buffers.n;
    j->device = rt_device_open(j->context, "check");
    j->device->output = keep_output;
    j->device->output_user = j;
    j->printed.arena = j->string.arena = &j->arena;
    j->memory = ir_new_array(&j->arena, rt_memory *, n);
    j->start = ir_new_array(&j->arena, uint8_t *, n);
    j->size = ir_new_array(&j->arena, uint64_t, n);
    for (uint32_t k = 0; k < n; k++) make_buffer(j, k);
    for (uint32_t s = 0; s < j->plan->stmts.n; s++) {
        const rt_stmt *stmt = &j->plan->stmts.data[s];
        if (stmt->kind != RT_LAUNCH && stmt->kind != RT_GROUP) continue;
        for (uint32_t l = 0; l < stmt->group.launches.n; l++)
            launch(j, &stmt->group.launches.data[l]);
    }
}

/* ---------------------------------------------------------------------------------------- plans */

static void keep_message(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) printf("%s\n", m->formatted);
}

static void run_plan(const char *name, const char *producer, const char *text) {
    char file[1024];
    job j = {.name = name, .producer = producer};
    spvf_context_options o = {.size = sizeof o, .message = keep_message};
    spvf_context_create(&o, &j.context);
    snprintf(file, sizeof file, "%s/%s/%s.plan", modules, producer, name);
    ir_arena_init(&j.arena, &j.context->cx);
    bool ok = spvf_plan_load(j.context, file, text, strlen(text), &j.plan) == SPVF_OK;
    j.library = j.reference = (rt_library){.plan = j.plan, .arena = &j.arena};
    ok = ok && rt_guard(j.context, run_statements, &j) == SPVF_OK;
    if (!ok) fail(&j, "", "the plan does not run");
    failed += j.failed;
    refused += !j.failed && j.refused;
    passed += !j.failed && !j.refused;
    rt_device_close(j.device);
    rt_library_free(&j.library);
    rt_library_free(&j.reference);
    ir_arena_free(&j.arena);
    spvf_plan_destroy(j.plan);
    spvf_context_destroy(j.context);
}

static bool has_modules(const char *text, const char *producer) {
    for (const char *s = text; (s = strstr(s, "launch \"")) != NULL;) {
        char path[1024];
        struct stat st;
        s += 8;
        snprintf(path, sizeof path, "%s/%s/%.*s", modules, producer, (int)strcspn(s, "\""), s);
        if (stat(path, &st) != 0) return false;
    }
    return true;
}

static void run_name(const char *name, progress *p) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.plan", plans, name);
    char *text = read_file(path, NULL);
    for (unsigned k = 0; text && k < PRODUCERS; k++)
        if (has_modules(text, producers[k])) run_plan(name, producers[k], text);
    free(text);
    progress_step(p);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_plans(char **out) {
    DIR *d = opendir(plans);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL && n < MAX_NAMES;) {
        char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".plan") != 0) continue;
        *end = 0;
        out[n++] = strdup(e->d_name);
    }
    if (d) closedir(d);
    qsort(out, (size_t)n, sizeof *out, by_name);
    return n;
}

static const char usage[] =
    "usage: regions_run PLANS MODULES [--shard K/N] [--simd LANES] [NAME…]\n";

int main(int argc, char **argv) {
    static char *list[MAX_NAMES];
    int shard = 0, shards = 1, first = 3;
    if (argc < 3) return fputs(usage, stderr), 2;
    plans = argv[1];
    modules = argv[2];
    if (argc > 4 && strcmp(argv[3], "--shard") == 0) {
        sscanf(argv[4], "%d/%d", &shard, &shards);
        first = 5;
    }
    if (argc > first + 1 && strcmp(argv[first], "--simd") == 0) {
        lanes = (unsigned)atoi(argv[first + 1]);
        first += 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int n = list_plans(list);
    progress p =
        progress_begin("plans", first < argc ? (size_t)(argc - first)
                                             : (size_t)((n - shard + shards - 1) / shards));
    for (int k = 0; k < n; k++) {
        if (first == argc && k % shards == shard) run_name(list[k], &p);
        free(list[k]);
    }
    for (int k = first; k < argc; k++) run_name(argv[k], &p);
    progress_end(&p);
    printf("%d refused\n%d passed, %d failed\n", refused, passed, failed);
    return failed != 0;
}
