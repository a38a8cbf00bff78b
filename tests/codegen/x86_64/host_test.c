/* host_test.c — the level that x86-64 finds on this machine is the one that the compiler finds. */
#include "codegen/codegen.h"
#include "codegen/x86_64/encode.h"

#include <criterion/criterion.h>

extern const cg_machine cg_machine_x86_64;

Test(host, level) {
#if defined(__x86_64__)
    unsigned level = cg_machine_x86_64.host->detect();
    bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("fma");
    bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    cr_expect_eq(level >= X86_V2, v2);
    cr_expect_eq(level >= X86_V3, v3);
    cr_expect_eq(level >= X86_V4, v4);
    bool counts = __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi2");
    cr_expect_eq(level >= X86_ICELAKE, counts);
#else
    cr_expect_null(cg_machine_x86_64.host);
#endif
}
