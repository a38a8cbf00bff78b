/* media_ops.c — the functions of cl_amd_media_ops and cl_amd_media_ops2, as OpenCL C.
 *
 * Programs ask for the extensions by name and have slower code otherwise.  The functions are those
 * of the extensions' texts, for scalars and vectors of 2, 3, 4, 8 and 16; they are inlined, and
 * what is not used makes no code.  Headers of some versions of clang declare them without a body,
 * so each has another name here, and a macro with its own.
 *
 * They use operators only: clang takes long to look up its built-in functions.
 */
#include "runtime/source/source.h"

static const char *const names[] = {
    "pack", "unpack0", "unpack1", "unpack2", "unpack3", "bitalign", "bytealign",
    "lerp", "sad",     "sad4",    "sadhi",   "sadw",    "sadd",     "msad",
    "qsad", "mqsad",   "bfm",     "bfe",     "min3",    "max3",     "median3"};

/* BYTE k of x, and how far those of two values are apart. */
static const char helpers[] =
    "#define SPVF_FUNCTION static inline __attribute__((overloadable, always_inline))\n"
    "#define SPVF_BYTE(x, k) ((x) >> 8 * (k) & 255)\n"
    "#define SPVF_LOW(x, y) ((x) < (y) ? (x) : (y))\n"
    "#define SPVF_HIGH(x, y) ((x) > (y) ? (x) : (y))\n"
    "#define SPVF_APART(x, y) (SPVF_HIGH(x, y) - SPVF_LOW(x, y))\n"
    "#define SPVF_BYTES_APART(x, y, k) SPVF_APART(SPVF_BYTE(x, k), SPVF_BYTE(y, k))\n"
    "#define SPVF_CAST(x, type) (type)(x)\n"
    "#define SPVF_CONVERT(x, type) __builtin_convertvector(x, type)\n"
    "#define SPVF_UNPACK(n, to, k) \\\n"
    "SPVF_FUNCTION float##n amd_unpack##k(uint##n a) { return to(SPVF_BYTE(a, k), float##n); }\n"
    "#define SPVF_ORDER(type) \\\n"
    "SPVF_FUNCTION type amd_min3(type a, type b, type c) { \\\n"
    "    type d = SPVF_LOW(a, b); return SPVF_LOW(d, c); } \\\n"
    "SPVF_FUNCTION type amd_max3(type a, type b, type c) { \\\n"
    "    type d = SPVF_HIGH(a, b); return SPVF_HIGH(d, c); } \\\n"
    "SPVF_FUNCTION type amd_median3(type a, type b, type c) { \\\n"
    "    type d = SPVF_LOW(a, b), e = SPVF_HIGH(a, b), f = SPVF_LOW(e, c); \\\n"
    "    return SPVF_HIGH(d, f); }\n"
    "#define SPVF_FOUR(name, one, n, to) \\\n"
    "SPVF_FUNCTION ulong##n name(ulong##n a, uint##n b, ulong##n c) { \\\n"
    "    ulong##n sums = 0; \\\n"
    "    for (int k = 0; k < 4; k++) { \\\n"
    "        uint##n from = to(a >> 8 * k & 0xffffffff, uint##n); \\\n"
    "        uint##n add = to(c >> 16 * k & 65535, uint##n); \\\n"
    "        sums |= to(one(from, b, add) & 65535, ulong##n) << 16 * k; \\\n"
    "    } \\\n"
    "    return sums; }\n";

static const char functions[] =
    "#define SPVF_MEDIA(n, to) \\\n"
    "SPVF_UNPACK(n, to, 0) SPVF_UNPACK(n, to, 1) SPVF_UNPACK(n, to, 2) SPVF_UNPACK(n, to, 3) \\\n"
    "SPVF_FUNCTION uint##n amd_bitalign(uint##n a, uint##n b, uint##n c) { \\\n"
    "    c &= 31; return a << (31 - c) << 1 | b >> c; } \\\n"
    "SPVF_FUNCTION uint##n amd_bytealign(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return amd_bitalign(a, b, (c & 3) * 8); } \\\n"
    "SPVF_FUNCTION uint##n amd_lerp(uint##n a, uint##n b, uint##n c) { \\\n"
    "    uint##n d = a ^ b; return (a & b) + (d >> 1 & 0x7f7f7f7f) + (d & c & 0x01010101); } \\\n"
    "SPVF_FUNCTION uint##n amd_sad(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return c + SPVF_BYTES_APART(a, b, 0) + SPVF_BYTES_APART(a, b, 1) \\\n"
    "             + SPVF_BYTES_APART(a, b, 2) + SPVF_BYTES_APART(a, b, 3); } \\\n"
    "SPVF_FUNCTION uint##n amd_sadhi(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return c + (amd_sad(a, b, (uint##n)0) << 16); } \\\n"
    "SPVF_FUNCTION uint##n amd_sadw(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return c + SPVF_APART(a & 65535, b & 65535) + SPVF_APART(a >> 16, b >> 16); } \\\n"
    "SPVF_FUNCTION uint##n amd_sadd(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return c + SPVF_APART(a, b); } \\\n"
    "SPVF_FUNCTION uint##n amd_msad(uint##n a, uint##n b, uint##n c) { \\\n"
    "    for (int k = 0; k < 4; k++) \\\n"
    "        c += SPVF_BYTE(b, k) != 0 ? SPVF_BYTES_APART(a, b, k) : (uint##n)0; \\\n"
    "    return c; } \\\n"
    "SPVF_FOUR(amd_qsad, amd_sad, n, to) SPVF_FOUR(amd_mqsad, amd_msad, n, to) \\\n"
    "SPVF_FUNCTION uint##n amd_bfm(uint##n a, uint##n b) { \\\n"
    "    return (((uint##n)1 << (a & 31)) - 1) << (b & 31); } \\\n"
    "SPVF_FUNCTION uint##n amd_bfe(uint##n a, uint##n b, uint##n c) { \\\n"
    "    return a >> (b & 31) & (((uint##n)1 << (c & 31)) - 1); } \\\n"
    "SPVF_FUNCTION int##n amd_bfe(int##n a, uint##n b, uint##n c) { \\\n"
    "    uint##n rest = 31 - (c & 31); \\\n"
    "    return as_int##n(as_uint##n(a >> (b & 31)) << rest << 1) >> 1 >> rest; } \\\n"
    "SPVF_ORDER(int##n) SPVF_ORDER(uint##n) SPVF_ORDER(float##n)\n"
    "SPVF_MEDIA(, SPVF_CAST) SPVF_MEDIA(2, SPVF_CONVERT) SPVF_MEDIA(3, SPVF_CONVERT)\n"
    "SPVF_MEDIA(4, SPVF_CONVERT) SPVF_MEDIA(8, SPVF_CONVERT) SPVF_MEDIA(16, SPVF_CONVERT)\n"
    "SPVF_FUNCTION uint amd_sad4(uint4 a, uint4 b, uint c) {\n"
    "    uint4 s = amd_sad(a, b, (uint4)0); return c + s.x + s.y + s.z + s.w; }\n"
    "SPVF_FUNCTION uint amd_pack(float4 a) {\n"
    "    uint4 u = SPVF_CONVERT(a, uint4) & 255; return u.x | u.y << 8 | u.z << 16 | u.w << 24; "
    "}\n";

void rt_clc_put_media_ops(ir_text *to) {
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        ir_putf(to, "#define amd_%s spvf_amd_%s\n", names[k], names[k]);
    ir_put(to, helpers);
    ir_put(to, functions);
}
