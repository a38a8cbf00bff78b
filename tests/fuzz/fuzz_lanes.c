/* fuzz_lanes.c — bytes as a kernel (lanes.c): vectorized, it does what device check does item by
 * item.
 *
 * Kernels of which the device has something to report prove nothing.  Of the others every byte of
 * every buffer is compared: after code of groups with vectors, by interpretation, after code of
 * threads that run one work-item or several, on the device again, and after native code of one of
 * the machine's levels with one of the numbers of lanes.  Where the target decides the last bits,
 * that code is compared with scalar native code.
 *
 * Buffers, local memory and scratch begin or end at a page that cannot be accessed.  In the end a
 * line for each counter, for each reason why a loop is not vectorized, and for each operation,
 * access and form of control flow (lanes_count.c) says how often it occurred.  LANES_TEXT=FILE adds
 * the kernels to a file, as text.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "ir/eval.h"
#include "runtime/devices/check/check.h"
#include "runtime/native/native.h"
#include "tests/fuzz/lanes.h"
#include "tests/guarded.h"
#include "tests/machines.h"
#include "tests/passes/workgroup/groups.h"
#include "tests/random.h"

#include <signal.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AREA = 1 << 20, LOCAL = LANES_BUFFERS, SCRATCH, AREAS, SECONDS = 20 };

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    const uint8_t *data;
    size_t size;
    lanes_kernel k;
    ir_func *f;
    uint8_t *at[LANES_BUFFERS], *first[LANES_BUFFERS], *want[LANES_BUFFERS];
    uint32_t n, u;
    const char *what; /* that runs */
    unsigned lanes, level;
    bool at_fault;
} job;

static job *current;
static uint8_t *areas[AREAS];

/* ---------------------------------------------------------------------------------------- notes */

enum { REASONS = 200 };
static struct {
    char text[100];
    unsigned long n;
} reasons[REASONS];
static ir_counts counts;
static struct { unsigned long kernels, at_fault, native, interpreted, coarsened; } runs;

/* "… one work-item at a time: a pointer is chosen by items (phi); 0.9 of the estimated time …", or
 * "… one iteration at a time: its iterations write memory (store)" */
static void note_reason(const char *remark) {
    static const char before[] = " at a time: ";
    const char *at = strstr(remark, before);
    unsigned k = 0;
    if (!at) return;
    at += sizeof before - 1;
    size_t n = strcspn(at, "(;");
    n -= at[n] == '(';
    while (k < REASONS && reasons[k].n &&
           (strlen(reasons[k].text) != n || memcmp(reasons[k].text, at, n)))
        k++;
    if (k == REASONS || n >= sizeof reasons[k].text) abort();
    memcpy(reasons[k].text, at, n);
    reasons[k].n++;
}

static void end(void) {
    for (unsigned k = 0; k < IR_COUNTERS; k++)
        fprintf(stderr, "%s: %llu\n", ir_counter_names[k], (unsigned long long)counts.n[k]);
    for (unsigned k = 0; k < REASONS && reasons[k].n; k++)
        fprintf(stderr, "refused: %s: %lu\n", reasons[k].text, reasons[k].n);
    lanes_show_counts();
    fprintf(stderr,
            "%lu kernels, %lu at fault, %lu runs of native code, %lu interpreted, %lu coarsened\n",
            runs.kernels, runs.at_fault, runs.native, runs.interpreted, runs.coarsened);
}

/* The kernel, and the bytes that make it. */
static void show(const job *j) {
    ir_text t = {.arena = (ir_arena *)&j->arena};
    ir_print_module(&t, j->k.module, 0);
    fprintf(stderr, "%s\nrange %s%s, n %u, u %u\ninput ", t.data,
            pass_range_text((ir_arena *)&j->arena, &j->k.range), j->k.known ? ", known" : "",
            j->k.n, j->k.u);
    for (size_t k = 0; k < j->size; k++) fprintf(stderr, "%02x", j->data[k]);
    fprintf(stderr, "\n");
}

static void fail(const job *j, const char *why) {
    fprintf(stderr, "%s, level %u, %u lanes: %s\n", j->what, j->level, j->lanes, why);
    current = NULL;
    show(j);
    abort();
}

enum { SIGNALS = 6 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
static struct sigaction before_us[SIGNALS];

/* What faults, hangs or breaks an assertion is shown, too. */
static void shows_signal(int number) {
    const job *j = current;
    current = NULL;
    for (unsigned k = 0; k < SIGNALS; k++) sigaction(signals[k], &before_us[k], NULL);
    if (j)
        fprintf(stderr, "signal %d: %s, level %u, %u lanes\n", number, j->what, j->level, j->lanes);
    if (j) show(j);
    raise(number);
}

static void begin(void) {
    struct sigaction a = {.sa_handler = shows_signal};
    for (unsigned k = 0; k < SIGNALS; k++) sigaction(signals[k], &a, &before_us[k]);
    for (unsigned k = 0; k < AREAS; k++) areas[k] = guarded_open(AREA / guarded_page());
    if (atexit(end) != 0) abort();
}

static void report(void *user, const ir_message *m) {
    (void)user;
    if (m->severity == IR_ERROR) fprintf(stderr, "%s\n", m->text);
    if (m->severity == IR_NOTE) note_reason(m->text);
}

/* --------------------------------------------------------------------------------------- memory */

/* Numbers of which many are small; of floats, sums and products of half of these are not exact. */
static void fill(const lanes_buffer *b, uint8_t *at, uint64_t seed) {
    ir_type t = ir_elem(b->elem);
    unsigned size = ir_bits(NULL, t) / 8;
    uint64_t same = seed * 2654435761u % 251 * 0x01010101;
    for (uint64_t k = 0; k + size <= b->bytes; k += size) {
        uint64_t r = splitmix64(&seed), v = r >> 8;
        if (r % 4) v = (r >> 8) % 64 - (r % 4 == 3 ? 16 : 0);
        double part = (double)(int64_t)v / (r & 16 ? 7 : 4);
        if (r % 8 && ir_is_float(t)) v = ir_fp_from_double(ir_kind_of(t), part);
        if (b->role == LANES_SAME) v = same;
        memcpy(at + k, &v, size);
    }
}

static void make_buffers(job *j) {
    for (unsigned k = 0; k < j->k.nbuffers; k++) {
        const lanes_buffer *b = &j->k.buffer[k];
        if (b->bytes > AREA) abort();
        j->at[k] = areas[k] + (b->at_end ? AREA - b->bytes : 0);
        j->first[k] = ir_alloc(&j->arena, b->bytes);
        j->want[k] = ir_alloc(&j->arena, b->bytes);
        fill(b, j->first[k], j->k.u * 8u + k);
    }
}

static void reset(job *j) {
    for (unsigned k = 0; k < j->k.nbuffers; k++)
        memcpy(j->at[k], j->first[k], j->k.buffer[k].bytes);
}

static void keep(job *j) {
    for (unsigned k = 0; k < j->k.nbuffers; k++) memcpy(j->want[k], j->at[k], j->k.buffer[k].bytes);
}

static void compare(const job *j) {
    char why[200];
    for (unsigned k = 0; k < j->k.nbuffers; k++)
        for (uint64_t n = 0; n < j->k.buffer[k].bytes; n++)
            if (j->at[k][n] != j->want[k][n]) {
                snprintf(why, sizeof why, "byte %llu of buffer %u is %02x, not %02x",
                         (unsigned long long)n, k, j->at[k][n], j->want[k][n]);
                fail(j, why);
            }
}

/* The last bytes of the area, or the first ones. */
static void *part_of(const job *j, unsigned area, uint64_t bytes) {
    if (bytes > AREA) abort();
    memset(areas[area], GROUPS_PATTERN, AREA);
    bool at_end = j->k.choice[3] & 1;
    return areas[area] + (at_end ? (AREA - bytes) / IR_LOCAL_ALIGN * IR_LOCAL_ALIGN : 0);
}

/* ------------------------------------------------------------------------------------ on check */

static void note_fault(void *user, const check_report *r) {
    job *j = user;
    j->at_fault |= r->severity != IR_NOTE;
    if (getenv("LANES_FAULTS") && r->severity != IR_NOTE) fprintf(stderr, "%s\n", r->text);
}

/* What a launch of the kernel of m leaves in buffers. */
static void run_check(job *j, ir_module *m, const ir_range *range, uint8_t *const to[]) {
    check_device *d = check_device_new(&j->cx);
    check_buffer *buffer[LANES_BUFFERS];
    check_program *p = check_program_new(d, m);
    check_arg args[LANES_BUFFERS + 5];
    const void *values[] = {&j->k.n, &j->k.u, &j->k.w, &j->k.x};
    static const uint64_t sizes[] = {4, 4, 8, 4};
    unsigned n = j->k.nbuffers;
    check_result result;
    for (unsigned k = 0; k < n; k++) {
        buffer[k] = check_buffer_new(d, j->k.buffer[k].bytes, j->first[k], 0);
        args[k] = (check_arg){.kind = IR_ARG_POINTER, .buffer = buffer[k]};
    }
    args[n] = (check_arg){.kind = IR_ARG_LOCAL, .size = j->k.local_bytes};
    for (unsigned k = 0; k < 4; k++)
        args[n + 1 + k] = (check_arg){.kind = IR_ARG_VALUE, .bytes = values[k], .size = sizes[k]};
    check_launch l = {.kernel = "k", .range = *range, .args = args, .nargs = n + 5};
    l.options = (check_options){
        .allow_non_uniform = true, .subgroup_size = j->k.subgroup, .report = note_fault, .user = j};
    if (!check_run(p, &l, &result)) fail(j, "device check refuses");
    for (unsigned k = 0; k < n; k++) {
        check_buffer_read(buffer[k], 0, j->k.buffer[k].bytes, to[k]);
        check_buffer_free(buffer[k]);
    }
    check_program_free(p);
    check_device_free(d);
}

/* ------------------------------------------------------------------------- several items a thread */

/* As many fewer threads along the axis, in groups of any size; false: that is no whole number. */
static bool coarsen_range(const uint32_t coarsened[3], ir_range *r) {
    for (unsigned d = 0; d < 3; d++) {
        if (!coarsened[d]) continue;
        if (d >= r->dims || r->global[d] % coarsened[d]) return false;
        r->global[d] /= coarsened[d];
        uint64_t local = r->local[d] && r->local[d] < r->global[d] ? r->local[d] : r->global[d];
        while (local > 1 && r->global[d] % local) local--;
        r->local[d] = local ? local : 1;
    }
    return true;
}

/* Buffers are at multiples of 16 bytes on the device. */
static void run_threads(void *user, ir_module *m) {
    job *j = user;
    ir_func *f = ir_import_func(m, j->f, "k");
    const ir_target target = {.has_fma = true, .has_short_ids = true, .private_is_far = true};
    const pass_options o = {.passes =
                                "short_ids,standard,coarsening,array_words,mem2reg,extend_indices,"
                                "simplify,gvn,step_pointers,dce,align,merge_accesses",
                            .target = &target,
                            .coarsen = j->k.choice[3] & 8 ? 2 : 4,
                            .verify_each = true,
                            .bisect = -1};
    ir_range range = j->k.range;
    for (unsigned k = 0; k < j->k.nbuffers; k++) f->param[k].align = 16;
    if (!pass_run(m, &o)) fail(j, "passes");
    const uint32_t *by = f->attrs.coarsened;
    if (!coarsen_range(by, &range)) return;
    run_check(j, m, &range, j->at);
    if (j->at_fault) fail(j, "device check reports something");
    compare(j);
    runs.coarsened += by[0] || by[1] || by[2];
}

/* --------------------------------------------------------------------------------- as groups */

static void bind(job *j, void **args, uint64_t local) {
    unsigned n = j->k.nbuffers;
    for (unsigned k = 0; k < n; k++) args[k] = j->at[k];
    args[n] = (void *)(uintptr_t)local;
    args[n + 1] = &j->k.n;
    args[n + 2] = &j->k.u;
    args[n + 3] = &j->k.w;
    args[n + 4] = &j->k.x;
}

static uint64_t align_local(uint64_t bytes) {
    return (bytes + IR_LOCAL_ALIGN - 1) / IR_LOCAL_ALIGN * IR_LOCAL_ALIGN;
}

/* Each buffer is in an area of its own. */
static pass_group_shape shape_of(const job *j) {
    pass_group_shape s = j->k.known ? pass_shape_of(&j->k.range) : (pass_group_shape){0};
    s.apart = s.streams = s.on_lines = j->k.known;
    for (unsigned k = 0; k < j->k.nbuffers; k++) s.on_lines &= (uintptr_t)j->at[k] % IR_LINE == 0;
    return s;
}

/* The code of groups, by interpretation. */
static void interpret(job *j, const pass_group_code *code) {
    groups q = {.budget = 20000000, .has_lanes = true, .forever = &j->arena};
    ir_map globals = {0};
    void *args[LANES_BUFFERS + 5];
    q.globals = &globals;
    ir_arena_init(&q.arena, &j->cx);
    bind(j, args, align_local(code->need.local));
    for (unsigned k = 0; k < j->k.nbuffers; k++)
        groups_add(&q, j->at[k], j->k.buffer[k].bytes, IR_GLOBAL);
    groups_add(&q, &j->k, sizeof j->k, IR_CONST);
    groups_run(&q, code, &j->k.range, args, j->k.nbuffers + 5,
               align_local(code->need.local) - code->need.local + j->k.local_bytes, j->k.whole);
    if (q.faults) {
        ir_text t = {.arena = &j->arena};
        if (q.fault) ir_print_inst(&t, q.fault);
        fail(j, q.fault ? t.data : "does not end");
    }
    ir_arena_free(&q.arena);
    runs.interpreted++;
}

static void run_interpreted(void *user, ir_module *m) {
    job *j = user;
    ir_func *f = ir_import_func(m, j->f, "k");
    pass_group_shape shape = shape_of(j);
    const pass_options before = {.passes = "standard,indices", .bisect = -1};
    const pass_options after = {
        .passes = "groups,vectors", .lanes = j->lanes, .verify_each = true, .bisect = -1};
    ir_arena scratch;
    pass_group_code code;
    if (!pass_run(m, &before)) fail(j, "passes");
    ir_arena_init(&scratch, &j->cx);
    shape.subgroup = pass_subgroup_needed(f, NULL);
    pass_make_group(f, &shape, &scratch, &code);
    if (code.refusal) fail(j, code.refusal);
    if (!pass_run(m, &after)) fail(j, "passes");
    reset(j);
    interpret(j, &code);
    compare(j);
    ir_arena_free(&scratch);
}

/* ---------------------------------------------------------------------------------- native code */

static void run_groups(job *j, rt_block *block, ir_group_info *info, void **args) {
    const ir_group_info all = *info;
    uint64_t n = all.num_groups[0] * all.num_groups[1] * all.num_groups[2];
    if (j->k.whole) block(info, args);
    for (uint64_t k = 0; !j->k.whole && k < n; k++) {
        info->group_id[0] = k % all.num_groups[0];
        info->group_id[1] = k / all.num_groups[0] % all.num_groups[1];
        info->group_id[2] = k / all.num_groups[0] / all.num_groups[1];
        for (unsigned d = 0; d < 3; d++) info->group_end[d] = info->group_id[d] + 1;
        block(info, args);
    }
}

static void call(job *j, const cg_object *o) {
    const cg_kernel *kernel = &o->kernels.data[0];
    const ir_range *r = &j->k.range;
    ir_group_info info = {.work_dim = r->dims};
    void *args[LANES_BUFFERS + 5], *symbol;
    uint64_t items = 1, local = align_local(kernel->need.local);
    rt_block *block;
    rt_code code;
    for (unsigned d = 0; d < 3; d++) {
        info.local_size[d] = pass_local_size(r, d);
        info.global_size[d] = pass_global_size(r, d);
        info.global_offset[d] = pass_global_offset(r, d);
        info.num_groups[d] = (info.global_size[d] + info.local_size[d] - 1) / info.local_size[d];
        info.group_end[d] = info.num_groups[d];
        items *= info.local_size[d];
    }
    items = (items + 63) / 64 * 64;
    info.local_bytes = (uint32_t)(local + j->k.local_bytes);
    info.local = part_of(j, LOCAL, info.local_bytes);
    info.scratch = part_of(j, SCRATCH, kernel->need.scratch + items * kernel->need.scratch_item);
    bind(j, args, local);
    if (rt_code_load(o, NULL, &code) != IR_OK) fail(j, "cannot be loaded");
    symbol = rt_code_symbol(&code, o, kernel->block);
    memcpy(&block, &symbol, sizeof block);
    reset(j);
    run_groups(j, block, &info, args);
    rt_code_unload(&code);
    runs.native++;
}

static void run_native(void *user, ir_module *m) {
    job *j = user;
    const rt_native_options o = {.machine = cg_host_machine(),
                                 .code = {.level = j->level, .lanes = j->lanes},
                                 .shape = shape_of(j)};
    ir_arena arena;
    cg_object object;
    ir_import_func(m, j->f, "k");
    ir_arena_init(&arena, &j->cx);
    if (!rt_native_compile(m, "k", &o, &arena, &object)) fail(j, "cannot be compiled");
    call(j, &object);
    ir_arena_free(&arena);
}

static void run_as(job *j, const char *what, rt_module_body *body) {
    j->what = what;
    rt_in_new_module(&j->cx, j->k.module, body, j);
}

/* ----------------------------------------------------------------------------------- one kernel */

static unsigned nlevels(void) {
    unsigned n = 0;
    while (test_host_level(n)) n++;
    return n;
}

static void check_native(job *j) {
    static const unsigned widths[] = {16, 8, 4, 32, 64, 2, 0, 1};
    unsigned n = nlevels();
    const uint8_t *by = j->k.choice;
    if (!n) return;
    j->level = test_host_level(by[0] % n);
    if (!j->k.exact) {
        j->lanes = 1;
        run_as(j, "scalar code", run_native);
        keep(j);
    }
    j->lanes = widths[by[1] % 8];
    run_as(j, "native code", run_native);
    compare(j);
    if (by[2] % 2) return;
    j->lanes = widths[by[2] / 2 % 8];
    if (j->k.exact) j->level = test_host_level(by[0] / 4 % n);
    run_as(j, "native code", run_native);
    compare(j);
}

/* Adds it to the file that LANES_TEXT names, under a name of its own. */
static void write_text(job *j) {
    const char *path = getenv("LANES_TEXT");
    FILE *file = path ? fopen(path, "a") : NULL;
    ir_text t = {.arena = &j->arena};
    if (!file) return;
    j->f->name = ir_sprintf(&j->arena, "k%lu", runs.kernels);
    ir_print_func(&t, j->f, 0);
    j->f->name = "k";
    if (runs.kernels == 0) fputs("target 64\n", file);
    fputs(t.data, file);
    fclose(file);
}

static void check(void *arg) {
    job *j = arg;
    static const unsigned widths[] = {4, 16, 2, 64, 8, 32, 4, 16};
    j->what = "generator";
    lanes_make(&j->cx, j->data, j->size, &j->k);
    if (!ir_verify_module(j->k.module)) fail(j, "is not well-formed");
    j->f = ir_func_find(j->k.module, "k");
    make_buffers(j);
    j->what = "device check";
    run_check(j, j->k.module, &j->k.range, j->want);
    runs.at_fault += j->at_fault;
    if (j->at_fault) return;
    lanes_count(&j->k);
    write_text(j);
    run_as(j, "threads", run_threads);
    j->lanes = widths[j->k.choice[2] / 16 % 8];
    if (j->k.exact && j->k.choice[3] / 2 % 4 == 0) run_as(j, "vectors", run_interpreted);
    check_native(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ir_inspection inspection = {.remarks = true, .verify_each = true};
    if (!areas[0]) begin();
    job *j = calloc(1, sizeof *j);
    *j = (job){.cx = {.report = report, .counts = &counts, .inspection = &inspection},
               .data = data,
               .size = size};
    current = j;
    ir_arena_init(&j->arena, &j->cx);
    alarm(SECONDS);
    if (!ir_try(&j->cx, check, j)) fail(j, "throws");
    alarm(0);
    runs.kernels++;
    current = NULL;
    ir_module_free(j->k.module);
    ir_arena_free(&j->arena);
    free(j);
    return 0;
}
