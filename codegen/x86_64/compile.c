/* compile.c — x86-64 as the stages of native code see it (codegen/native/unit.h), and what object
 * files say of it. */
#include "codegen/x86_64/x86.h"

#include <elf.h>

const cg_elf x86_elf = {.machine = EM_X86_64,
                        .pc32 = R_X86_64_PC32,
                        .abs32 = R_X86_64_32,
                        .abs64 = R_X86_64_64,
                        .unwind = SHT_X86_64_UNWIND,
                        .sp = 7,
                        .fp = 6,
                        .ra = 16,
                        .push = 1,  /* push rbp */
                        .move = 3}; /* mov rbp, rsp */

static uint32_t new_label(cg_unit *u) { return x86_label_new(((x86_writer *)u)->code); }

static void bind(cg_unit *u, uint32_t label) { x86_bind(((x86_writer *)u)->code, label); }

static bool finish(cg_unit *u, cg_image *out) { return x86_finish(((x86_writer *)u)->code, out); }

bool x86_compile(ir_module *m, const cg_options *options, ir_arena *arena, cg_object *out) {
    const x86_cpu *cpu = x86_cpu_of((x86_level)options->level);
    const cg_native target = {.registers = &cpu->base,
                              .lacks_count = cpu->level < X86_V3,
                              .select = x86_select,
                              .emit = x86_emit,
                              .new_label = new_label,
                              .bind = bind,
                              .finish = finish};
    x86_writer w = {
        .unit = {.target = &target, .object = out, .arena = arena, .want_lines = options->lines},
        .cpu = cpu,
        .code = x86_code_new(arena)};
    *out = (cg_object){.align = {16, 1, 1}};
    return cg_compile_unit(&w.unit, m, options);
}
