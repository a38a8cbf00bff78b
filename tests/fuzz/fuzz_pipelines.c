/* fuzz_pipelines.c — bytes as a pipeline (pipe.c): where it is fused, the fused kernel does what
 * the members do one by one.
 *
 * Pipelines of which device check has something to report when they run unfused prove nothing.  Of
 * the others every buffer is compared, bit by bit, and the fused run has nothing to report either.
 * A pipeline that is not fused says why.  Half of them go through SPIR-V.  Where native code can
 * run, it leaves the same in every buffer, fused and unfused, for one of several ways to make it.
 */
#include "runtime/spvfuse.h"
#include "tests/fuzz/pipe.h"
#include "tests/temporary.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The contents of all buffers, one after the other. */
struct buffers {
    uint8_t bytes[1 << 16];
    size_t n;
};

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    const uint8_t *data;
    size_t size;
    const char *file; /* of the kernels */
    ir_text kernels, plan;
    char messages[1 << 14];
    struct buffers unfused, fused, native;
} job;

/* Pipelines so far; of those at fault the unfused run has something to report. */
static struct { unsigned fused, promoted, refused, at_fault; } pipelines;

static void keep_message(void *user, const spvf_message *m) {
    job *j = user;
    size_t n = strlen(j->messages);
    snprintf(j->messages + n, sizeof j->messages - n, "%s\n", m->formatted);
}

static void fail(const job *j, const char *what) {
    fprintf(stderr, "%s\n%s\n%s\n%s", what, j->messages, j->plan.data, j->kernels.data);
    abort();
}

static void write_file(const job *j, const void *data, size_t size) {
    FILE *f = fopen(j->file, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) fail(j, "cannot write");
}

static void write_kernels(job *j, spvf_context *c) {
    spvf_module *m;
    spvf_blob blob = {0};
    if (spvf_module_load(c, "pipeline", j->kernels.data, j->kernels.n, NULL, &m) != SPVF_OK)
        fail(j, "the kernels are malformed");
    bool binary = j->size && j->data[j->size / 2] & 1;
    if (binary && spvf_module_emit(m, "spirv", &blob) != SPVF_OK) fail(j, "cannot write SPIR-V");
    if (binary)
        write_file(j, blob.data, blob.size);
    else
        write_file(j, j->kernels.data, j->kernels.n);
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
}

static void keep_buffer(void *user, const char *name, const char *element, const void *data,
                        size_t size) {
    struct buffers *b = user;
    (void)name, (void)element;
    if (size > sizeof b->bytes - b->n) abort();
    memcpy(b->bytes + b->n, data, size);
    b->n += size;
}

/* device NULL: check, with validation when fused */
static bool runs(job *j, spvf_plan *p, const char *device, bool fused, struct buffers *after,
                 spvf_run_result *r) {
    const spvf_run_options o = {.size = sizeof o,
                                .device = device,
                                .unfused = !fused,
                                .validate = fused && !device,
                                .buffer = keep_buffer,
                                .buffer_user = after};
    j->messages[0] = 0;
    after->n = 0;
    return spvf_plan_run(p, &o, r) == SPVF_OK;
}

static void expect_native(job *j, spvf_plan *p, const char *device, bool fused) {
    const struct buffers *want = fused ? &j->fused : &j->unfused;
    spvf_run_result r = {.size = sizeof r};
    if (!runs(j, p, device, fused, &j->native, &r)) fail(j, "native code does not run");
    for (size_t k = 0; k < want->n; k++)
        if (want->bytes[k] != j->native.bytes[k]) {
            fprintf(stderr, "%s, %s: byte %zu of the buffers is %02x, not %02x\n", device,
                    fused ? "fused" : "unfused", k, j->native.bytes[k], want->bytes[k]);
            fail(j, "native code differs");
        }
}

static void note_cpu(void *user, const spvf_device_info *info) {
    if (strcmp(info->name, "cpu") == 0) *(bool *)user = info->usable;
}

/* Every way to make code has its turn, unless SPVF_FUZZ_DEVICE names a device. */
static void check_native(job *j, spvf_plan *p, spvf_context *c) {
    static const char *const devices[] = {
        "cpu", "cpu:eager", "cpu:v2,seed=1", "cpu:v2,eager", "cpu:v2,regalloc=stack", "cpu:quick"};
    static unsigned turn;
    static bool usable;
    const char *named = getenv("SPVF_FUZZ_DEVICE");
    const char *device = named ? named : devices[turn % 6];
    if (turn++ == 0) spvf_devices(c, note_cpu, &usable);
    if (!usable && !named) return;
    expect_native(j, p, device, false);
    expect_native(j, p, device, true);
}

static bool has_promotions(spvf_plan *p) {
    spvf_fusion *f;
    bool found = false;
    if (spvf_plan_fuse(p, 0, &f) != SPVF_OK) return false;
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    for (size_t k = 0; k < info->decision_count; k++)
        found |= strcmp(info->decisions[k]->rule, "promote.private") == 0 ||
                 strcmp(info->decisions[k]->rule, "promote.local") == 0;
    spvf_fusion_destroy(f);
    return found;
}

/* A refusal is a warning with its reason. */
static void check_plan(job *j, spvf_plan *p, spvf_context *c) {
    spvf_run_result r = {.size = sizeof r};
    if (!runs(j, p, NULL, false, &j->unfused, &r)) {
        pipelines.at_fault++;
        return;
    }
    if (!runs(j, p, NULL, true, &j->fused, &r)) fail(j, "fused and unfused differ");
    pipelines.fused += r.validated != 0;
    pipelines.promoted += r.validated && has_promotions(p);
    pipelines.refused += r.validated == 0;
    if (!r.validated && (r.refused_groups != 1 || !strstr(j->messages, "not fused: ")))
        fail(j, "refused without a reason");
    check_native(j, p, c);
}

static void check(void *arg) {
    job *j = arg;
    const spvf_context_options o = {.size = sizeof o, .message = keep_message, .message_user = j};
    spvf_context *c;
    spvf_plan *p;
    j->kernels.arena = j->plan.arena = &j->arena;
    pipe_make(j->data, j->size, j->file, &j->kernels, &j->plan);
    if (spvf_context_create(&o, &c) != SPVF_OK) return;
    write_kernels(j, c);
    if (spvf_plan_load(c, "plan", j->plan.data, j->plan.n, &p) != SPVF_OK)
        fail(j, "the plan is malformed");
    check_plan(j, p, c);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

/* One file for all pipelines of the process. */
static char file[TEMPORARY_NAME];

static void end(void) {
    fprintf(stderr, "%u fused, %u of them with promotions, %u refused, %u at fault\n",
            pipelines.fused, pipelines.promoted, pipelines.refused, pipelines.at_fault);
    remove(file);
}

static void make_file(void) {
    int fd = temporary_file(file);
    if (fd < 0 || close(fd) != 0 || atexit(end) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    job *j = calloc(1, sizeof *j);
    if (!file[0]) make_file();
    *j = (job){.data = data, .size = size, .file = file};
    ir_arena_init(&j->arena, &j->cx);
    ir_try(&j->cx, check, j);
    ir_arena_free(&j->arena);
    free(j);
    return 0;
}
