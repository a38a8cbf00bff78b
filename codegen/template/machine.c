/* machine.c — the template machine as the library sees it (cg_machine), and as the stages of native
 * code do (cg_native).
 *
 * It has one level.  It has no vectors, no fma, no halves and no conversions of unsigned numbers:
 * the passes replace all of that, and legalization the counting of leading and trailing zeros.
 */
#include "codegen/template/template.h"

#include <elf.h>

static bool takes(const ir_inst *i, unsigned level) {
    (void)i;
    (void)level;
    return false;
}

static ir_target describe(unsigned level) { return (ir_target){.takes = takes, .level = level}; }

static template_code *code_of(cg_unit *u) { return ((template_writer *)u)->code; }

static uint32_t new_label(cg_unit *u) { return template_label_new(code_of(u)); }

static void bind(cg_unit *u, uint32_t label) { template_bind(code_of(u), label); }

static bool finish(cg_unit *u, cg_image *out) { return template_finish(code_of(u), out); }

static const cg_native native = {.registers = &template_target,
                                 .lacks_count = true,
                                 .select = template_select,
                                 .emit = template_emit,
                                 .new_label = new_label,
                                 .bind = bind,
                                 .finish = finish};

static bool compile(ir_module *m, const cg_options *options, ir_arena *arena, cg_object *out) {
    template_writer w = {
        .unit = {.target = &native, .object = out, .arena = arena, .want_lines = options->lines},
        .code = template_code_new(arena)};
    *out = (cg_object){.align = {16, 1, 1}};
    return cg_compile_unit(&w.unit, m, options);
}

/* The numbers of relocations are the target's own. */
static const cg_elf elf = {.machine = EM_NONE,
                           .pc32 = 1,
                           .abs32 = 2,
                           .abs64 = 3,
                           .unwind = SHT_PROGBITS,
                           .sp = TEMPLATE_SP,
                           .fp = TEMPLATE_FP,
                           .ra = TEMPLATE_LR,
                           .ra_in_register = true,
                           .push = TEMPLATE_BYTES,
                           .move = TEMPLATE_BYTES};

static const cg_level levels[] = {{"v1", 1}};

const cg_machine cg_machine_template = {.name = "template",
                                        .title = "the template machine",
                                        .levels = levels,
                                        .nlevels = sizeof levels / sizeof *levels,
                                        .default_level = 1,
                                        .describe = describe,
                                        .compile = compile,
                                        .rule_info = template_rule_info,
                                        .elf = &elf};
