/* pick.c — the image of a kernel that is best for a target.
 *
 * Each image that holds the kernel gets a rank, and the first one of the highest rank is taken.
 * Code that is made for the target beats code that is compiled further, PTX, which beats SPIR-V; a
 * higher level or a newer generation beats a lower one.
 */
#include "runtime/container/container.h"
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

enum { UNFIT = -1, RANK_SPIRV = 0, RANK_PTX = 1 << 20, RANK_MADE = 2 << 20 };

typedef struct {
    const cg_machine *machine; /* NULL: none that code is made for here */
    unsigned level;
    unsigned sm; /* 86 of "sm_86"; 0: another target */
} target;

/* "86" of "sm_86" and of "sm_86a"; 0: it is no such name. */
static unsigned read_sm(const char *s) {
    return strncmp(s, "sm_", 3) == 0 ? (unsigned)strtoul(s + 3, NULL, 10) : 0;
}

static target read_target(const char *name) {
    cg_options code = {0};
    const char *s = name;
    const cg_machine *m = rt_take_machine(&s, &code);
    while (m && *s && rt_take_code_option(&s, m, &code)) continue;
    return (target){.machine = m, .level = code.level, .sm = read_sm(name)};
}

static target read_wanted(const char *name) {
    if (!name || strcmp(name, "cpu") == 0 || strncmp(name, "cpu:", 4) == 0)
        return (target){.machine = cg_host_machine(), .level = rt_cpu_level()};
    return read_target(name);
}

static int rank_object(const target *t, const char *of) {
    const target made = read_target(of);
    bool runs = made.machine && made.machine == t->machine && made.level <= t->level;
    return runs ? RANK_MADE + (int)made.level : UNFIT;
}

bool rt_runs_here(const char *of) {
    const target here = read_wanted(NULL);
    return rank_object(&here, of) != UNFIT;
}

/* A cubin runs on its generation, from its own number on; "sm_90a" on nothing else. */
static int rank_cuda(const target *t, rt_format format, const char *of, const char *wanted) {
    unsigned sm = read_sm(of);
    if (!t->sm || !sm || sm > t->sm) return UNFIT;
    const char *after = of + strlen("sm_") + strspn(of + strlen("sm_"), "0123456789");
    if (*after && strcmp(of, wanted) != 0) return UNFIT;
    if (format == RT_FORMAT_CUBIN && sm / 10 != t->sm / 10) return UNFIT;
    return (format == RT_FORMAT_CUBIN ? RANK_MADE : RANK_PTX) + (int)(sm & 0xffff);
}

static int rank(const target *t, const spvf_image_info *image, const char *wanted) {
    rt_format format = rt_format_of(image->format);
    switch (format) {
    case RT_FORMAT_SPIRV: return RANK_SPIRV;
    case RT_FORMAT_PTX:
    case RT_FORMAT_CUBIN: return rank_cuda(t, format, image->target, wanted ? wanted : "");
    case RT_FORMAT_OBJECT: return rank_object(t, image->target);
    case RT_FORMAT_LLVM_IR:
    case RT_FORMATS: return UNFIT;
    }
    return UNFIT;
}

typedef struct {
    spvf_container *container;
    const char *kernel, *target;
    uint32_t image;
} pick_job;

static void pick(void *arg) {
    pick_job *j = arg;
    spvf_container *c = j->container;
    const target t = read_wanted(j->target);
    size_t count, kernel = rt_container_find(c, j->kernel);
    if (kernel == SIZE_MAX)
        rt_throw(c->context, IR_ERR_ARGUMENT, "%s has no kernel '%s'", c->name, j->kernel);
    const uint32_t *images = spvf_container_providers(c, kernel, &count);
    int best = UNFIT;
    for (size_t n = 0; n < count; n++) {
        spvf_image_info info;
        if (!spvf_container_image(c, images[n], &info)) ir_throw(&c->context->cx, IR_ERR_INPUT);
        int r = rank(&t, &info, j->target);
        if (r > best) j->image = images[n];
        if (r > best) best = r;
    }
    if (best == UNFIT)
        rt_throw(c->context, IR_ERR_REFUSED, "%s: no image of kernel '%s' is for %s", c->name,
                 j->kernel, j->target ? j->target : "this machine");
}

spvf_status spvf_container_pick(spvf_container *c, const char *kernel, const char *target_name,
                                uint32_t *image) {
    if (!c || !kernel || !image)
        return rt_refuse_call(c ? c->context : NULL, __func__, "%s is NULL",
                              kernel ? "image" : "kernel");
    pick_job j = {.container = c, .kernel = kernel, .target = target_name};
    if (target_name && strncmp(target_name, "ptx:", 4) == 0) j.target += 4;
    spvf_status status = rt_guard(c->context, pick, &j);
    if (status == SPVF_OK) *image = j.image;
    return status;
}
