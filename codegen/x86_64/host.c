/* host.c — an x86-64 machine that this process runs on: its level, the state of floating point, and
 * other stacks.
 *
 * A level is a set of bits of CPUID.  They are read from glibc, which ran CPUID at process start
 * and clears features whose state the kernel does not save.  In a virtual machine each CPUID takes
 * some 15 us.
 */
#include "codegen/x86_64/x86.h"

#if defined(__x86_64__)
#include <sys/platform/x86.h>

/* --------------------------------------------------------------------------------------- levels */

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
    {X86_V2, CPUID_INDEX_1, ECX, BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23)},
    {X86_V2, CPUID_INDEX_80000001, ECX, BIT(0)},
    /* FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
    {X86_V3, CPUID_INDEX_1, ECX, BIT(12) | BIT(22) | BIT(28) | BIT(29)},
    {X86_V3, CPUID_INDEX_7, EBX, BIT(3) | BIT(5) | BIT(8)},
    {X86_V3, CPUID_INDEX_80000001, ECX, BIT(5)},
    /* AVX-512 F, DQ, CD, BW, VL */
    {X86_V4, CPUID_INDEX_7, EBX, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)},
    /* AVX-512 IFMA; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
    {X86_ICELAKE, CPUID_INDEX_7, EBX, BIT(21)},
    {X86_ICELAKE, CPUID_INDEX_7, ECX, BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14)},
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

static unsigned detect(void) {
    unsigned level = 0;
    for (unsigned next = X86_V2; next <= X86_ICELAKE && has_level(next); next++) level = next;
    return level;
}

/* ------------------------------------------------------------------------------- floating point */

enum { DEFAULT_MXCSR = 0x1f80 }; /* to nearest, denormals as they are, no traps */

static unsigned enter_float(void) {
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(DEFAULT_MXCSR);
    return before;
}

static void leave_float(unsigned before) { __builtin_ia32_ldmxcsr(before); }

static void relax(void) { __builtin_ia32_pause(); }

/* --------------------------------------------------------------------------------------- stacks */

/* Calls run(arg) with rsp at `top`. */
void x86_call_on_stack(void *top, void (*run)(void *arg), void *arg)
    __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".globl x86_call_on_stack\n"
        ".hidden x86_call_on_stack\n"
        ".type x86_call_on_stack, @function\n"
        "x86_call_on_stack:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdi, %rsp\n"
        "mov %rdx, %rdi\n"
        "call *%rsi\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size x86_call_on_stack, .-x86_call_on_stack\n"
        ".popsection\n");

/* The numbers that PCI has, read as decimal digits. */
static unsigned vendor(void) {
    return __builtin_cpu_is("intel") ? 8086 : __builtin_cpu_is("amd") ? 1022 : 0;
}

const cg_host x86_host = {.detect = detect,
                          .vendor = vendor,
                          .enter_float = enter_float,
                          .leave_float = leave_float,
                          .relax = relax,
                          .call_on_stack = x86_call_on_stack};
#endif
