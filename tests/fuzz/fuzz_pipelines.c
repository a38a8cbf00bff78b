/* fuzz_pipelines.c — bytes as a pipeline (pipe.c): where it is fused, the fused kernel does what
 * the members do one by one.
 *
 * Pipelines of which device check has something to report when they run unfused prove nothing.  Of
 * the others every buffer is compared, bit by bit, and the fused run has nothing to report either.
 * A pipeline that is not fused says why.  Half of them go through SPIR-V.
 */
#include "runtime/spvfuse.h"
#include "tests/fuzz/pipe.h"
#include "tests/temporary.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    const uint8_t *data;
    size_t size;
    const char *file; /* of the kernels */
    ir_text kernels, plan;
    char messages[1 << 14];
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

static bool runs(job *j, spvf_plan *p, bool fused, spvf_run_result *r) {
    const spvf_run_options o = {.size = sizeof o, .unfused = !fused, .validate = fused};
    j->messages[0] = 0;
    return spvf_plan_run(p, &o, r) == SPVF_OK;
}

static bool has_promotions(spvf_plan *p) {
    spvf_fusion *f;
    bool found = false;
    if (spvf_plan_fuse(p, 0, &f) != SPVF_OK) return false;
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    for (size_t k = 0; k < info->decision_count; k++)
        found |= strcmp(info->decisions[k].rule, "promote.private") == 0 ||
                 strcmp(info->decisions[k].rule, "promote.local") == 0;
    spvf_fusion_destroy(f);
    return found;
}

/* A refusal is a warning with its reason. */
static void check_plan(job *j, spvf_plan *p) {
    spvf_run_result r;
    if (!runs(j, p, false, &r)) {
        pipelines.at_fault++;
        return;
    }
    if (!runs(j, p, true, &r)) fail(j, "fused and unfused differ");
    pipelines.fused += r.validated != 0;
    pipelines.promoted += r.validated && has_promotions(p);
    pipelines.refused += r.validated == 0;
    if (!r.validated && (r.refused_groups != 1 || !strstr(j->messages, "not fused: ")))
        fail(j, "refused without a reason");
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
    check_plan(j, p);
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
