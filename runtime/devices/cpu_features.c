/* cpu_features.c — which of the levels of x86-64 this machine has.
 *
 * A level is a set of bits that CPUID gives; registers of 256 and 512 bits also need a system that
 * saves them, which XGETBV tells.
 */
#include "runtime/devices/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>

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
    {CG_X86_64_V2, 1, ECX, BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23)},
    {CG_X86_64_V2, 0x80000001, ECX, BIT(0)},
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
    {CG_X86_64_V3, 1, ECX, BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29)},
    {CG_X86_64_V3, 7, EBX, BIT(3) | BIT(5) | BIT(8)},
    {CG_X86_64_V3, 0x80000001, ECX, BIT(5)},
    /* AVX-512 F, DQ, CD, BW, VL */
    {CG_X86_64_V4, 7, EBX, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)},
};

/* States that the system saves: of XMM and YMM, and of masks and ZMM. */
enum { SAVES_V3 = 0x06, SAVES_V4 = 0xe6 };

static bool has(const feature_set *f) {
    unsigned r[4];
    return __get_cpuid_count(f->leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
           (r[f->in] & f->bits) == f->bits;
}

static unsigned saved_states(void) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_level(unsigned level) {
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].level == level && !has(&needed[i])) return false;
    unsigned saves = level == CG_X86_64_V4 ? SAVES_V4 : level == CG_X86_64_V3 ? SAVES_V3 : 0;
    return !saves || (saved_states() & saves) == saves;
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
