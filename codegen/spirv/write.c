/* write.c — the entry of the SPIR-V writer: plans all functions, writes them, and puts the sections
 * one after the other.
 *
 * All functions are planned before the first is written, because a call needs the id of its callee
 * and the pointees of its parameters.
 *
 * Left out: kernels that the reader refused (with a warning) and imports that are not called.
 */
#include "codegen/spirv/spirv.h"

enum { MAGIC = 0x07230203, DEFAULT_VERSION = 0x00010200, HEADER_WORDS = 5 };

typedef struct {
    const ir_module *m;
    const cg_spirv_options *options;
    ir_arena *out, *scratch;
    uint32_t *words;
    size_t count;
} job;

/* ------------------------------------------------------------------------------------- planning */

static void make_info(sw_writer *w, ir_func *f) {
    sw_info *info = ir_new(w->arena, sw_info);
    info->f = f;
    info->written = !ir_is_declaration(f);
    *ir_push(w->arena, &w->functions) = info;
    ir_map_set(w->arena, &w->infos, (uintptr_t)f, info);
    if (f->refusal && f->flags & IR_FUNC_KERNEL)
        ir_report(w->cx, (ir_message){.severity = IR_WARNING, .file = w->m->name},
                  "kernel '%s' is left out: %s", f->name, f->refusal);
}

static void number_function(sw_writer *w, sw_info *info) {
    info->declared = !info->written && info->called && info->f->flags & IR_FUNC_IMPORT;
    if (!info->written && !info->declared) return;
    info->id = info->entry = sw_new_id(w);
    if (info->f->flags & IR_FUNC_KERNEL && info->called) info->entry = sw_new_id(w);
}

static void plan_functions(sw_writer *w) {
    foreach_func (f, w->m) make_info(w, f);
    for (uint32_t i = 0; i < w->functions.n; i++)
        if (w->functions.data[i]->written) sw_type_pointers(w, w->functions.data[i]);
    for (uint32_t i = 0; i < w->functions.n; i++) number_function(w, w->functions.data[i]);
}

static void write_functions(sw_writer *w) {
    for (uint32_t i = 0; i < w->functions.n; i++) {
        sw_info *info = w->functions.data[i];
        if (info->written) sw_write_function(w, info);
        if (info->declared) sw_declare_function(w, info);
    }
}

/* ------------------------------------------------------------------------------------- assembly */

static void append(job *j, const uint32_t *words, size_t n) {
    if (n) memcpy(j->words + j->count, words, n * sizeof *words);
    j->count += n;
}

/* Capabilities, extensions, the import of OpenCL.std and the memory model, which are known when all
 * else has been written. */
static void put_preamble(sw_writer *w) {
    uint32_t addressing =
        w->m->pointer_bits == 32 ? SpvAddressingModelPhysical32 : SpvAddressingModelPhysical64;
    w->out.section[SEC_HEAD].n = 0;
    if (w->types.has_halves && !sw_has_capability(w, SpvCapabilityFloat16))
        sw_capability(w, SpvCapabilityFloat16Buffer);
    for (uint32_t i = 0; i < w->out.capabilities.n; i++)
        sw_put(w, SEC_HEAD, SpvOpCapability, SW_LIST(w->out.capabilities.data[i]));
    for (uint32_t i = 0; i < w->out.extensions.n; i++)
        sw_put_string(w, SEC_HEAD, SpvOpExtension, (sw_text){.string = w->out.extensions.data[i]});
    if (w->out.std)
        sw_put_string(w, SEC_HEAD, SpvOpExtInstImport,
                      (sw_text){.before = SW_LIST(w->out.std), .string = "OpenCL.std"});
    sw_put(w, SEC_HEAD, SpvOpMemoryModel, SW_LIST(addressing, SpvMemoryModelOpenCL));
}

static void assemble(job *j, sw_writer *w) {
    put_preamble(w);
    size_t n = HEADER_WORDS + w->out.section[SEC_HEAD].n;
    for (int s = 0; s < SEC_COUNT; s++) n += w->out.section[s].n;
    j->words = ir_new_array(j->out, uint32_t, n);
    append(j, (const uint32_t[]){MAGIC, w->out.version, 0, w->out.bound, 0}, HEADER_WORDS);
    append(j, w->out.section[SEC_HEAD].data, w->out.section[SEC_HEAD].n);
    for (int s = 0; s < SEC_COUNT; s++) append(j, w->out.section[s].data, w->out.section[s].n);
}

static void prepare_writer(sw_writer *w, const job *j) {
    *w = (sw_writer){.m = j->m, .cx = j->m->cx, .arena = j->scratch, .out.bound = 1};
    if (j->options) w->options = *j->options;
    w->out.version = w->options.version ? w->options.version : DEFAULT_VERSION;
    w->opcode = ir_new_array(w->arena, uint16_t, IR_OP_COUNT);
    w->types.plain = ir_new_array(w->arena, uint32_t, SW_PLAIN_TYPES);
    w->types.table = ir_new_array(w->arena, uint32_t, j->m->types.n);
    w->stores_halves = sw_only_stores_halves(w->m);
    sw_capability(w, SpvCapabilityAddresses);
    sw_capability(w, SpvCapabilityKernel);
}

static void write_module(void *arg) {
    job *j = arg;
    sw_writer w;
    prepare_writer(&w, j);
    if (j->m->source_language)
        sw_put(&w, SEC_SOURCE, SpvOpSource, SW_LIST(j->m->source_language, j->m->source_version));
    plan_functions(&w);
    write_functions(&w);
    sw_write_exported_globals(&w);
    sw_write_entry_points(&w);
    assemble(j, &w);
}

bool cg_spirv_write(const ir_module *m, const cg_spirv_options *options, ir_arena *out,
                    uint32_t **words, size_t *count) {
    ir_arena scratch;
    ir_arena_init(&scratch, m->cx);
    job j = {.m = m, .options = options, .out = out, .scratch = &scratch};
    bool ok = ir_try(m->cx, write_module, &j);
    ir_arena_free(&scratch);
    if (!ok && m->cx->status != IR_ERR_INPUT && m->cx->trap) ir_throw(m->cx, m->cx->status);
    *words = j.words;
    *count = j.count;
    return ok;
}
