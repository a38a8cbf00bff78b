/* machine.c — x86-64 as the library sees it: levels, what passes are told, what object files say,
 * and the entries of this folder. */
#include "codegen/x86_64/levels.h"
#include "codegen/x86_64/x86.h"

#include <elf.h>

static const cg_level levels[] = {{"v2", X86_64_V2}, {"v3", X86_64_V3}, {"v4", X86_64_V4}};

static ir_target describe(unsigned level) {
    bool modern = level >= X86_64_V3, newest = level >= X86_64_V4;
    return (ir_target){.has_fma = modern,
                       .has_f16c = modern,
                       .has_unsigned = newest,
                       .vector_bytes = newest   ? 64
                                       : modern ? 32
                                                : 16,
                       .has_masks = newest,
                       .takes = x86_takes,
                       .level = level};
}

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

const cg_machine cg_machine_x86_64 = {
    .name = "x86_64",
    .title = "x86-64",
    .levels = levels,
    .nlevels = sizeof levels / sizeof *levels,
    .default_level = X86_64_V3,
    .describe = describe,
    .compile = x86_compile,
    .rule_info = x86_rule_info,
    .elf = &x86_elf,
    .add_nativecpu = x86_add_nativecpu,
#if defined(__x86_64__)
    .host = &x86_host,
#endif
};
