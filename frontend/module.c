/* module.c — what a module says about itself before its types: memory model, capabilities, names,
 * strings, instruction sets, entry points.
 *
 * Capabilities and extensions decide nothing: each use of a feature is checked where it is read, so
 * a declared feature that nothing uses never refuses a module.
 */
#include "frontend/reader.h"

void spv_read_skip(reader *r) {
    if (r->in.id && r->f) spv_find(r, r->in.id)->kind = ID_OTHER;
}

void spv_read_memory_model(reader *r) {
    uint32_t addressing = r->in.arg[0], memory = r->in.arg[1];
    if (r->facts.has_model) spv_fail(r, "a second OpMemoryModel; ignored");
    if (addressing == SpvAddressingModelLogical)
        spv_give_up(r, "Logical addressing is not supported: this is no OpenCL kernel module");
    if (addressing != SpvAddressingModelPhysical32 && addressing != SpvAddressingModelPhysical64)
        spv_give_up(r, "addressing model %u is not supported", addressing);
    if (memory != SpvMemoryModelOpenCL)
        spv_give_up(r, "memory model %u is not supported, only OpenCL is", memory);
    r->facts.has_model = true;
    r->m =
        ir_module_new(r->cx, r->input.file, addressing == SpvAddressingModelPhysical32 ? 32 : 64);
}

void spv_read_capability(reader *r) {
    switch (r->in.arg[0]) {
    case SpvCapabilityInt64: r->facts.cap_int64 = true; break;
    case SpvCapabilityInt16: r->facts.cap_int16 = true; break;
    case SpvCapabilityInt8: r->facts.cap_int8 = true; break;
    case SpvCapabilityFloat16:
    case SpvCapabilityFloat16Buffer: r->facts.cap_half = true; break;
    case SpvCapabilityFloat64: r->facts.cap_double = true; break;
    case SpvCapabilityArbitraryPrecisionIntegersINTEL: r->facts.cap_odd = true; break;
    default: break;
    }
}

void spv_read_source(reader *r) {
    if (!r->m) return;
    r->m->source_language = r->in.arg[0];
    r->m->source_version = r->in.arg[1];
}

void spv_read_name(reader *r) {
    spv_string_words(r, 1);
    if (r->in.arg[1] & 0xff)
        spv_find(r, r->in.arg[0])->name = (uint32_t)(r->in.arg + 1 - r->input.words);
}

void spv_read_string(reader *r) {
    spv_id *e = spv_new_id(r, ID_STRING);
    e->text = spv_string(r, 0);
    spv_note_arg_string(r, e->text);
}

void spv_read_ext_inst_import(reader *r) {
    spv_id *e = spv_new_id(r, ID_SET);
    e->text = spv_string(r, 0);
    e->set = SET_LACKING;
    if (!strcmp(e->text, "OpenCL.std")) e->set = SET_OPENCL;
    if (!strncmp(e->text, "OpenCL.DebugInfo", 16) || !strncmp(e->text, "NonSemantic.", 12) ||
        !strcmp(e->text, "SPIRV.debug") || !strcmp(e->text, "DebugInfo"))
        e->set = SET_DEBUG;
    if (!strncmp(e->text, "NonSemantic.Shader.DebugInfo", 28)) e->set = SET_SHADER_DEBUG;
}

/* --------------------------------------------------------------------------------- entry points */

void spv_read_entry_point(reader *r) {
    uint32_t words = spv_string_words(r, 2);
    const char *name = spv_string(r, 2);
    spv_note_name(r, &r->facts.entry_names, name, strlen(name), name);
    *ir_push(&r->scratch, &r->facts.entries) = r->in.at;
    r->facts.any_entry = true;
    for (uint32_t i = 2 + words; i < r->in.n; i++) spv_find(r, r->in.arg[i])->listed = true;
}

void spv_read_execution_mode(reader *r) { *ir_push(&r->scratch, &r->facts.modes) = r->in.at; }

/* Entry points that name no function are left out. */
void spv_mark_entries(reader *r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->facts.entries.n; i++) {
        spv_decode(r, r->facts.entries.data[i]);
        uint32_t id = r->in.arg[1];
        const spv_id *e = id && id < r->input.bound ? spv_find(r, id) : NULL;
        if (!e || e->kind != ID_FUNCTION) {
            spv_report_malformed(r, ir_sprintf(&r->scratch, "%%%u is not a function", id));
            continue;
        }
        r->facts.entries.data[kept++] = r->in.at;
        if (!e->func->entry) e->func->entry = r->in.at;
        if (!e->func->lack && r->in.arg[0] != SpvExecutionModelKernel)
            e->func->lack = ir_sprintf(
                &r->scratch, "execution model %u is not supported, only Kernel is", r->in.arg[0]);
    }
    r->facts.entries.n = kept;
}
