/* cpu_features.c — which of the levels of x86-64 this machine has.
 *
 * A level is a set of bits that CPUID gives.  They are the C library's, which has asked at the
 * start of the process and leaves out what the system does not save: a virtual machine takes some
 * 15 us for each CPUID.
 */
#include "runtime/devices/cpu/cpu.h"

#if defined(__x86_64__)
#include <sys/platform/x86.h>

typedef enum { EAX, EBX, ECX, EDX } cpuid_register;

typedef struct {
    unsigned level;
    unsigned leaf; /* sub-leaf 0 */
    cpuid_register in;
    uint32_t bits;
} feature_set;

#define BIT(n) (UINT32_C(1) << (n))
static const feature_set needed[] = {
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    {CG_X86_64_V2, CPUID_INDEX_1, ECX, BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23)},
    {CG_X86_64_V2, CPUID_INDEX_80000001, ECX, BIT(0)},
    /* FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
    {CG_X86_64_V3, CPUID_INDEX_1, ECX, BIT(12) | BIT(22) | BIT(28) | BIT(29)},
    {CG_X86_64_V3, CPUID_INDEX_7, EBX, BIT(3) | BIT(5) | BIT(8)},
    {CG_X86_64_V3, CPUID_INDEX_80000001, ECX, BIT(5)},
    /* AVX-512 F, DQ, CD, BW, VL */
    {CG_X86_64_V4, CPUID_INDEX_7, EBX, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)},
};

static bool has_level(unsigned level) {
    bool all = true;
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++) {
        const feature_set *f = &needed[n];
        uint32_t active = __x86_get_cpuid_feature_leaf(f->leaf)->active_array[f->in];
        all &= f->level != level || (active & f->bits) == f->bits;
    }
    return all;
}

unsigned rt_cpu_level(void) {
    unsigned level = 0;
    for (unsigned next = CG_X86_64_V2; next <= CG_X86_64_V4 && has_level(next); next++)
        level = next;
    return level;
}
#else
unsigned rt_cpu_level(void) { return 0; }
#endif
