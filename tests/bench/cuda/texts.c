/* texts.c — from SPIR-V words to PTX, next to NVRTC, from CUDA C to PTX of the same kernel: medians,
 * in one process, in turn.  NVRTC's library is looked for by its name, and in the folder of CUDA.
 * Its first compilation in a process takes longer and is not counted.
 */
#include "tests/bench/cuda/host.h"

#include <dlfcn.h>
#include <string.h>

enum { TIMES = 21 };

/* ------------------------------------------------------------------------------------------ ours */

typedef struct {
    const char *name;
    const char *file[2]; /* the second one: of a fused pair */
    const char *cuda;    /* the same kernel */
    double most_ms;
} text;

static const char pair_source[] =
    "extern \"C\" __global__ void pair(const float *__restrict__ x, const float *__restrict__ y,\n"
    "                                  float a, float k, float *__restrict__ out) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    out[i] = (a * x[i] + y[i]) * k;\n"
    "}\n";

static const char tiled_source[] =
    "extern \"C\" __global__ void matmul(const float *a, const float *b, float *c) {\n"
    "    __shared__ float left[16][16], right[16][16];\n"
    "    unsigned x = threadIdx.x, y = threadIdx.y, n = gridDim.x * blockDim.x;\n"
    "    unsigned col = blockIdx.x * blockDim.x + x, row = blockIdx.y * blockDim.y + y;\n"
    "    float sum = 0.0f;\n"
    "    for (unsigned at = 0; at < n; at += 16) {\n"
    "        left[y][x] = a[row * n + at + x];\n"
    "        right[y][x] = b[(at + y) * n + col];\n"
    "        __syncthreads();\n"
    "        for (unsigned k = 0; k < 16; k++) sum += left[y][k] * right[k][x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    c[row * n + col] = sum;\n"
    "}\n";

static const text texts[] = {
    {"fused pair to PTX", {"saxpy.spv", "scale.spv"}, pair_source, 1},
    {"tiled product to PTX", {"matmul.spv", NULL}, tiled_source, 3},
};

static bool fuse_pair(spvf_context *c, spvf_module *const m[2], spvf_fusion **out) {
    const spvf_member members[] = {{m[0], "saxpy", {.dims = 1, .global = {1 << 20}}},
                                   {m[1], "scale", {.dims = 1, .global = {1 << 20}}}};
    const spvf_identity same = {0, 3, 1, 0};
    const spvf_promotion dead = {.member = 0, .param = 3};
    const spvf_fuse_options o = {.size = sizeof o,
                                 .name = "pair",
                                 .members = members,
                                 .member_count = 2,
                                 .identities = &same,
                                 .identity_count = 1,
                                 .promotions = &dead,
                                 .promotion_count = 1};
    return !spvf_fuse(c, &o, out);
}

static bool write_text(const text *t, const file words[2], spvf_context *c) {
    spvf_module *m[2] = {NULL, NULL};
    spvf_fusion *f = NULL;
    bool ok = true;
    for (int k = 0; ok && k < 2 && t->file[k]; k++)
        ok = !spvf_module_load(c, t->file[k], words[k].data, words[k].size, NULL, &m[k]);
    if (ok && m[1]) ok = fuse_pair(c, m, &f);
    char *ptx = ok ? emit_ptx(f ? spvf_fusion_module(f) : m[0], "") : NULL;
    ok = ptx != NULL;
    free(ptx);
    spvf_fusion_destroy(f);
    for (int k = 0; k < 2; k++) spvf_module_destroy(m[k]);
    return ok;
}

/* Milliseconds, with a context of its own; below 0: it fails. */
static double time_ours(const text *t, const file words[2]) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    spvf_context *c;
    double start = now();
    if (spvf_context_create(&o, &c)) return -1;
    bool ok = write_text(t, words, c);
    spvf_context_destroy(c);
    return ok ? (now() - start) / 1e3 : -1;
}

/* ----------------------------------------------------------------------------------------- NVRTC */

static struct {
    int (*create)(void **p, const char *source, const char *name, int n, const char *const *headers,
                  const char *const *names);
    int (*compile)(void *p, int n, const char *const *options);
    int (*size)(void *p, size_t *bytes);
    int (*text)(void *p, char *ptx);
    int (*destroy)(void **p);
} nvrtc;

static void *open_library(void) {
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "libnvrtc.so.11.2"};
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/",
                                          "/usr/local/cuda/targets/x86_64-linux/lib/"};
    const char *home = getenv("CUDA_HOME");
    char path[600];
    void *library = NULL;
    for (size_t f = 0; f < 3 && !library; f++)
        for (size_t n = 0; n < 4 && !library; n++) {
            snprintf(path, sizeof path, "%s%s", folders[f], names[n]);
            library = dlopen(path, RTLD_NOW);
        }
    if (!library && home) {
        snprintf(path, sizeof path, "%.500s/lib64/libnvrtc.so", home);
        library = dlopen(path, RTLD_NOW);
    }
    return library;
}

static bool find_call(void *library, const char *name, void *to) {
    void *entry = dlsym(library, name);
    memcpy(to, &entry, sizeof entry); /* ISO C has no cast */
    return entry != NULL;
}

static bool open_nvrtc(void) {
    void *library = open_library();
    return library && find_call(library, "nvrtcCreateProgram", &nvrtc.create) &&
           find_call(library, "nvrtcCompileProgram", &nvrtc.compile) &&
           find_call(library, "nvrtcGetPTXSize", &nvrtc.size) &&
           find_call(library, "nvrtcGetPTX", &nvrtc.text) &&
           find_call(library, "nvrtcDestroyProgram", &nvrtc.destroy);
}

static double time_nvrtc(const text *t) {
    char architecture[60];
    void *p;
    size_t bytes = 0;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%u", bare_sm());
    const char *const options[] = {architecture};
    double start = now();
    if (nvrtc.create(&p, t->cuda, "k.cu", 0, NULL, NULL)) return -1;
    bool ok = !nvrtc.compile(p, 1, options) && !nvrtc.size(p, &bytes);
    char *ptx = calloc(bytes + 1, 1);
    ok = ok && ptx && !nvrtc.text(p, ptx);
    nvrtc.destroy(&p);
    double ms = (now() - start) / 1e3;
    free(ptx);
    return ok ? ms : -1;
}

/* ------------------------------------------------------------------------------------------ rows */

static void show(const text *t, const char *folder, bool peer) {
    double own[TIMES], other[TIMES], ratio[TIMES];
    file words[2] = {{NULL, 0}, {NULL, 0}};
    for (int k = 0; k < 2 && t->file[k]; k++) words[k] = load(folder, t->file[k]);
    progress p = progress_begin("rounds", TIMES + 1);
    for (int k = -1; k < TIMES; k++, progress_step(&p)) {
        double ours = time_ours(t, words), theirs = peer ? time_nvrtc(t) : 0;
        if (ours < 0 || theirs < 0) {
            progress_end(&p);
            printf("%-44s fails\n", t->name);
            return;
        }
        if (k < 0) continue;
        own[k] = ours;
        other[k] = theirs;
        ratio[k] = theirs / ours;
    }
    progress_end(&p);
    printf("%-44s %7.3f ms (at most %.0f)", t->name, median(own, TIMES), t->most_ms);
    if (peer)
        printf("   NVRTC %7.2f ms, %.0f times as long", median(other, TIMES), median(ratio, TIMES));
    printf("%s\n", peer ? "" : "   there is no NVRTC");
    for (int k = 0; k < 2; k++) free(words[k].data);
}

void time_texts(const char *folder) {
    bool peer = open_nvrtc();
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) show(&texts[k], folder, peer);
}
