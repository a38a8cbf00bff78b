/* machine.c — x86-64 as the library sees it: levels, what passes are told, and the entries of this
 * folder. */
#include "codegen/x86_64/x86.h"

static const cg_level levels[] = {
    {"v2", X86_V2}, {"v3", X86_V3}, {"v4", X86_V4}, {"icelake", X86_ICELAKE}};

static ir_target describe(unsigned level) {
    bool v3 = level >= X86_V3, v4 = level >= X86_V4;
    return (ir_target){.has_fma = v3,
                       .has_f16c = v3,
                       .has_unsigned = v4,
                       .vector_bytes = v4   ? 64
                                       : v3 ? 32
                                            : 16,
                       .vector_registers = v4 ? 32 : 16,
                       .has_masks = v4,
                       .scatters_slowly = true, /* a store for each lane, and more */
                       .gathers_slowly = true,  /* the same of loads */
                       .cache_bytes = level >= X86_ICELAKE ? 48 << 10 : 32 << 10,
                       .cache_ways = level >= X86_ICELAKE ? 12 : 8,
                       .takes = x86_takes,
                       .level = level};
}

const cg_machine cg_machine_x86_64 = {
    .name = "x86_64",
    .title = "x86-64",
    .levels = levels,
    .nlevels = sizeof levels / sizeof *levels,
    .default_level = X86_V3,
    .describe = describe,
    .compile = x86_compile,
    .rule_info = x86_rule_info,
    .elf = &x86_elf,
    .listing_begin = ".intel_syntax noprefix",
    .listing_end = ".att_syntax prefix",
    .add_nativecpu = x86_add_nativecpu,
#if defined(__x86_64__)
    .host = &x86_host,
#endif
};
