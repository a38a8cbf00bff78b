/* link.c — several binaries to one module of SPIR-V.
 *
 * Each binary is read with the values of its specialization constants, the modules are merged in
 * the IR (ir/link.c), and the result is written as SPIR-V: what is linked is a binary like any
 * other.  A library keeps its undefined names; a program must not have any.
 */
#include "runtime/opencl/build.h"

#include "ir/change.h"

typedef struct {
    rt_build *build;
    const ocl_code *inputs;
    size_t count;
    bool library;
    spvf_module **modules, *result;
    uint32_t *words;
    size_t word_count;
} linking;

static void load_inputs(linking *l) {
    ir_arena *a = &l->build->arena;
    l->modules = ir_new_array(a, spvf_module *, l->count);
    for (size_t k = 0; k < l->count; k++)
        l->modules[k] = ocl_load(l->build, ir_sprintf(a, "program %zu", k + 1), &l->inputs[k]);
}

static void link_modules(linking *l) {
    rt_build *b = l->build;
    ir_module **parts = ir_new_array(&b->arena, ir_module *, l->count);
    for (size_t k = 0; k < l->count; k++) parts[k] = l->modules[k]->ir;
    l->result = rt_module_new(b->context);
    l->result->ir = ir_module_new(&b->context->cx, "program", parts[0]->pointer_bits);
    if (!ir_link(l->result->ir, parts, l->count, !l->library) || !ir_verify_module(l->result->ir))
        ir_throw(&b->context->cx, IR_ERR_INPUT);
}

static void link_all(void *arg) {
    linking *l = arg;
    rt_build *b = l->build;
    load_inputs(l);
    link_modules(l);
    if (!cg_spirv_write(l->result->ir, NULL, &b->arena, &l->words, &l->word_count))
        ir_throw(&b->context->cx, IR_ERR_INPUT);
}

void *ocl_link(rt_build *b, const ocl_code *inputs, size_t n, bool library, size_t *size) {
    linking l = {.build = b, .inputs = inputs, .count = n, .library = library};
    bool ok = ir_try(&b->context->cx, link_all, &l);
    for (size_t k = 0; l.modules && k < n; k++) spvf_module_destroy(l.modules[k]);
    spvf_module_destroy(l.result);
    if (!ok) ir_throw(&b->context->cx, b->context->cx.status);
    *size = l.word_count * sizeof *l.words;
    return l.words;
}
