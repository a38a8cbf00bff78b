/* ours.c — kernels as PTX, by the library; whether threads of a launch should run several work-items. */
#include "tests/bench/bench.h"
#include "tests/bench/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    spvf_context *context;
    spvf_module *module;
} source;

static bool read_theme(source *s, const char *build, const theme *t) {
    char path[1000];
    const spvf_context_options options = {.size = sizeof options, .message = show_message};
    size_t size;
    snprintf(path, sizeof path, "%s/bench/simd/%s.spv", build, t->name);
    char *words = read_file(path, &size);
    *s = (source){0};
    bool ok = words && !spvf_context_create(&options, &s->context) &&
              !spvf_module_load(s->context, path, words, size, NULL, &s->module);
    free(words);
    return ok;
}

static void end(source *s) {
    spvf_module_destroy(s->module);
    spvf_context_destroy(s->context);
}

static char *emit(const spvf_module *m, const char *options) {
    char target[100];
    spvf_blob blob;
    snprintf(target, sizeof target, "ptx:sm_%u%s", gpu_sm(), options);
    if (spvf_module_emit(m, target, &blob)) return NULL;
    char *text = calloc(blob.size + 1, 1);
    if (text) memcpy(text, blob.data, blob.size);
    spvf_blob_destroy(&blob);
    return text;
}

static our_code load_code(char *text) { return (our_code){text, text ? gpu_load(text) : NULL}; }

void free_code(our_code *c) {
    gpu_unload(c->module);
    free(c->text);
    *c = (our_code){0};
}

our_code write_theme(const char *build, const theme *t, const char *options) {
    source s;
    char *text = read_theme(&s, build, t) ? emit(s.module, options) : NULL;
    end(&s);
    return load_code(text);
}

/* What a step writes is what the next one reads, and nothing else does. */
static bool fuse_steps(const source *s, const benchmark *b, size_t size, spvf_fusion **out) {
    char name[MOST_STEPS][100];
    spvf_member member[MOST_STEPS];
    spvf_identity same[MOST_STEPS];
    spvf_promotion dead[MOST_STEPS];
    for (unsigned k = 0; k < b->steps; k++) {
        snprintf(name[k], sizeof name[k], "%s%u", b->kernel, k);
        member[k] = (spvf_member){s->module, name[k], {.dims = 1, .global = {size}}};
        same[k] = (spvf_identity){k, 1, k + 1, 0};
        dead[k] = (spvf_promotion){.member = k, .param = 1};
    }
    const spvf_fuse_options what = {.size = sizeof what,
                                    .name = b->kernel,
                                    .members = member,
                                    .member_count = b->steps,
                                    .identities = same,
                                    .identity_count = b->steps - 1,
                                    .promotions = dead,
                                    .promotion_count = b->steps - 1};
    return !spvf_fuse(s->context, &what, out);
}

our_code write_chain(const char *build, const theme *t, const benchmark *b, size_t size,
                     const char *options) {
    source s;
    spvf_fusion *fused = NULL;
    char *text = NULL;
    if (read_theme(&s, build, t) && fuse_steps(&s, b, size, &fused))
        text = emit(spvf_fusion_module(fused), options);
    spvf_fusion_destroy(fused);
    end(&s);
    return load_code(text);
}

/* ------------------------------------------------------------------------------------- coarsening */

/* What the comment before a kernel says. */
static void read_coarsening(const char *text, const char *kernel, unsigned items[2]) {
    char entry[200];
    snprintf(entry, sizeof entry, ".visible .entry %s(", kernel);
    const char *at = strstr(text, entry), *line = at;
    items[0] = items[1] = 1;
    if (!at || at - text < 2) return;
    for (line = at - 1; line > text && line[-1] != '\n';) line--;
    sscanf(line, "// A thread runs %u work-items along x, %u along y", &items[0], &items[1]);
}

/* Enough threads are left, and each has as many work-items. */
static bool suits(const problem *p, const unsigned items[2]) {
    enum { BUSY = 256 }; /* threads of a multiprocessor */
    unsigned grid[2], block[2], product = items[0] * items[1];
    shape_launch(p, grid, block);
    double threads = (double)grid[0] * grid[1] * block[0] * block[1] / product;
    return product == 1 || (grid[0] % items[0] == 0 && grid[1] % items[1] == 0 &&
                            threads >= (double)BUSY * gpu_processors());
}

bool prepare_ours(gpu_side *s, const our_code *c, const char *kernel, const gpu_buffers *b) {
    unsigned items[2];
    if (!c->module) return false;
    read_coarsening(c->text, kernel, items);
    if (!suits(b->of, items) || !prepare_gpu_side(s, c->module, kernel, b)) return false;
    memcpy(s->coarsened, items, sizeof items);
    return true;
}
