/* levels.h — the levels of x86-64, as numbers of cg_level. */
#ifndef SPVFUSE_CODEGEN_X86_64_LEVELS_H
#define SPVFUSE_CODEGEN_X86_64_LEVELS_H

enum {
    X86_64_V2 = 2, /* SSE4.2, POPCNT */
    X86_64_V3,     /* AVX2, FMA, BMI, F16C */
    X86_64_V4      /* AVX-512 F, DQ, CD, BW, VL */
};

#endif
