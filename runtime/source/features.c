/* features.c — what the library can do on this machine.
 *
 * A feature is looked for when it is asked for, as some are programs that have to be tried, and the
 * answer is kept for the life of the process.  Threads that ask at the same time all look; the
 * first answer is kept, the others are freed.
 */
#include "runtime/source/source.h"
#include "runtime/system/process.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *find_spirv(ir_arena *a) {
    (void)a;
    return "1.0 1.1 1.2 1.3 1.4";
}

static const char *find_machines(ir_arena *a) {
    ir_text t = {.arena = a};
    for (unsigned k = 0; k < cg_machine_count; k++)
        for (unsigned n = 0; n < cg_machines[k]->nlevels; n++)
            ir_putf(&t, "%s%s:%s", t.n ? " " : "", cg_machines[k]->name,
                    cg_machines[k]->levels[n].name);
    return t.data;
}

static const char *find_native(ir_arena *a) { return rt_default_target(a); }

static const char *find_devices(ir_arena *a) {
    (void)a;
#define DEVICE(name) " " #name
    static const char all[] =
#include "runtime/devices/devices.def"
        ;
#undef DEVICE
    return all + 1;
}

static const char *find_compiler(ir_arena *a) {
    (void)a;
    const rt_clc_toolchain *tools = rt_clc_find_toolchain();
    return tools ? tools->clang : NULL;
}

typedef struct {
    const char *name, *description;
    const char *(*find)(ir_arena *a); /* NULL: there is none */
} feature;

static const feature features[] = {
    {"spirv", "versions of SPIR-V that are written", find_spirv},
    {"code", "levels of processors that code is made for", find_machines},
    {"native", "the level of this processor, with the options of SPVFUSE_CPU", find_native},
    {"devices", "kinds of devices, whether this machine has one or not", find_devices},
    {"opencl-c", "the compiler of OpenCL C", find_compiler},
    {"ptxas", "the assembler of PTX", rt_find_ptxas},
};
enum { COUNT = sizeof features / sizeof *features };

static char absent[1];
static char *_Atomic found[COUNT]; /* NULL: not looked for yet */

typedef struct {
    ir_arena arena;
    const feature *of;
    char *text; /* NULL: no memory */
} lookup;

static void look(void *arg) {
    lookup *l = arg;
    const char *text = l->of->find(&l->arena);
    l->text = text ? strdup(text) : absent;
}

const char *spvf_feature_name(size_t index, const char **description) {
    if (index >= COUNT) return NULL;
    if (description) *description = features[index].description;
    return features[index].name;
}

static const char *find_feature(size_t index) {
    char *first = NULL;
    spvf_context c;
    rt_context_init(&c, NULL);
    lookup l = {.of = &features[index]};
    ir_arena_init(&l.arena, &c.cx);
    spvf_status status = rt_guard(&c, look, &l);
    ir_arena_free(&l.arena);
    if (status != SPVF_OK || !l.text) return NULL;
    if (atomic_compare_exchange_strong(&found[index], &first, l.text)) return l.text;
    if (l.text != absent) free(l.text);
    return first;
}

const char *spvf_feature(const char *name) {
    size_t index = 0;
    while (index < COUNT && (!name || strcmp(features[index].name, name) != 0)) index++;
    if (index == COUNT) return NULL;
    const char *text = atomic_load(&found[index]);
    if (!text) text = find_feature(index);
    return text == absent ? NULL : text;
}
