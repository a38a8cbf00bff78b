/* constructs.c — kernels of which a device makes something of its own, next to device check: structs
 * by value at unknown indices, switches on which items differ, atomic operations on 16 bits, much
 * local memory, and large groups of items with many values. */
#include "tests/device/device.h"

static const char structs[] =
    "target 64\n"
    "kernel @k(%out: ptr.global, %s: ptr.private byval(64) align 4 of {[16 x i32]}) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %m: i64 = mul %i, 7\n"
    "  %n: i64 = and %m, 15\n"
    "  %a: i64 = shl %n, 2\n"
    "  %p: ptr.private = ptradd %s, %a\n"
    "  %v: i32 = load %p align 4\n"
    "  %o: i64 = shl %i, 2\n"
    "  %q: ptr.global = ptradd %out, %o\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n";

/* Neighbours take different ways; some leave the table at either end. */
static const char switches[] =
    "target 64\n"
    "kernel @k(%out: ptr.global) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %w: i32 = trunc %i\n"
    "  %h: i32 = mul %w, 40503\n"
    "  %j: i32 = lshr %h, 3\n"
    "  %c: i32 = urem %j, 11\n"
    "  %d: i32 = sub %c, 1\n"
    "  switch %d, other [0: a, 1: b, 2: c, 3: d, 4: e, 5: a, 7: g, 8: h]\n"
    "a:\n"
    "  %va: i32 = add %h, 1\n"
    "  jmp done\n"
    "b:\n"
    "  %vb: i32 = mul %h, 3\n"
    "  jmp done\n"
    "c:\n"
    "  %vc: i32 = xor %h, 255\n"
    "  jmp done\n"
    "d:\n"
    "  %vd: i32 = sub 7, %h\n"
    "  jmp done\n"
    "e:\n"
    "  %ve: i32 = lshr %h, 5\n"
    "  jmp done\n"
    "g:\n"
    "  %vg: i32 = and %h, 4095\n"
    "  jmp done\n"
    "h:\n"
    "  %vh: i32 = or %h, 1\n"
    "  jmp done\n"
    "other:\n"
    "  jmp done\n"
    "done:\n"
    "  %v: i32 = phi [a: %va, b: %vb, c: %vc, d: %vd, e: %ve, g: %vg, h: %vh, other: -1]\n"
    "  %o: i64 = shl %i, 2\n"
    "  %q: ptr.global = ptradd %out, %o\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n";

/* All items use the same words, side by side in one word of 32 bits. */
static const char words[] = "target 64\n"
                            "kernel @k(%out: ptr.global) {\n"
                            "entry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  %w: i16 = trunc %i\n"
                            "  %r0: i16 = atomic_add %out, %w device relaxed\n"
                            "  %p1: ptr.global = ptradd %out, 2\n"
                            "  %r1: i16 = atomic_add %p1, 3 device relaxed\n"
                            "  %p2: ptr.global = ptradd %out, 4\n"
                            "  %r2: i16 = atomic_umax %p2, %w device acq_rel\n"
                            "  %p3: ptr.global = ptradd %out, 6\n"
                            "  %n: i16 = sub 5, %w\n"
                            "  %r3: i16 = atomic_smin %p3, %n device relaxed\n"
                            "  %p4: ptr.global = ptradd %out, 8\n"
                            "  %r4: i16 = atomic_xor %p4, %w device relaxed\n"
                            "  ret\n"
                            "}\n";

/* Which x86-64 has no code for. */
static const char sums[] = "target 64\n"
                           "kernel @k(%out: ptr.global) {\n"
                           "entry:\n"
                           "  %r: f16 = atomic_fadd %out, 1.0 device relaxed\n"
                           "  %p: ptr.global = ptradd %out, 2\n"
                           "  %s: f16 = atomic_fmax %p, 1.0 device relaxed\n"
                           "  ret\n"
                           "}\n";

/* 64 KiB of its own, and an argument. */
static const char local[] = "target 64\n"
                            "@large: local [16384 x i32] align 4\n"
                            "kernel @k(%out: ptr.global, %l: ptr.local) {\n"
                            "entry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  %w: i32 = trunc %i\n"
                            "  %j: i64 = local_id 0\n"
                            "  %a: i64 = shl %j, 2\n"
                            "  %p: ptr.local = ptradd %l, %a\n"
                            "  store %w, %p align 4\n"
                            "  %b: i64 = shl %j, 10\n"
                            "  %q: ptr.local = ptradd @large, %b\n"
                            "  %h: i32 = mul %w, 5\n"
                            "  store %h, %q align 4\n"
                            "  barrier workgroup workgroup seq_cst local\n"
                            "  %r: i64 = xor %j, 63\n"
                            "  %c: i64 = shl %r, 2\n"
                            "  %s: ptr.local = ptradd %l, %c\n"
                            "  %x: i32 = load %s align 4\n"
                            "  %d: i64 = shl %r, 10\n"
                            "  %t: ptr.local = ptradd @large, %d\n"
                            "  %y: i32 = load %t align 4\n"
                            "  %z: i32 = sub %y, %x\n"
                            "  %o: i64 = shl %i, 2\n"
                            "  %g: ptr.global = ptradd %out, %o\n"
                            "  store %z, %g align 4\n"
                            "  ret\n"
                            "}\n";

enum { ITEMS = 2048, VALUES = 96, TEXT = 32768 };

/* VALUES numbers of each item live over a barrier, in groups of 1024. */
static const char *many_values(void) {
    static char text[TEXT];
    size_t at = (size_t)snprintf(text, TEXT,
                                 "target 64\n"
                                 "kernel @k(%%out: ptr.global) {\n"
                                 "entry:\n"
                                 "  %%i: i64 = global_id 0\n"
                                 "  %%s0: i32 = trunc %%i\n"
                                 "  %%o: i64 = shl %%i, 2\n"
                                 "  %%q: ptr.global = ptradd %%out, %%o\n");
    for (unsigned n = 0; n < VALUES; n++)
        at += (size_t)snprintf(text + at, TEXT - at,
                               "  %%n%u: i64 = xor %%i, %u\n"
                               "  %%a%u: i64 = shl %%n%u, 2\n"
                               "  %%p%u: ptr.global = ptradd %%out, %%a%u\n"
                               "  %%v%u: i32 = load %%p%u align 4\n",
                               n, 8 * n, n, n, n, n, n, n);
    at += (size_t)snprintf(text + at, TEXT - at,
                           "  barrier workgroup workgroup seq_cst local global\n");
    for (unsigned n = 0; n < VALUES; n++)
        at += (size_t)snprintf(text + at, TEXT - at,
                               "  %%m%u: i32 = mul %%s%u, 31\n"
                               "  %%s%u: i32 = add %%m%u, %%v%u\n",
                               n, n, n + 1, n, n);
    snprintf(text + at, TEXT - at, "  store %%s%d, %%q align 4\n  ret\n}\n", VALUES);
    return text;
}

/* ------------------------------------------------------------------------------------- the tests */

/* The second argument is a value or local memory, or there is none. */
static void compare(device_test *t, const char *what, const char *text, const spvf_range *r,
                    const dt_buffer *second) {
    static uint32_t got[ITEMS], want[ITEMS];
    for (unsigned n = 0; n < ITEMS; n++) got[n] = want[n] = n * 2654435761u;
    dt_buffer of[] = {{.bytes = want, .size = sizeof want}, {.size = 0}};
    if (second) of[1] = *second;
    dt_check(t, dt_run(t, "check", text, r, of, second ? 2 : 1), "%s on check", what);
    of[0].bytes = got;
    dt_check(t, dt_run(t, t->name, text, r, of, second ? 2 : 1), "%s", what);
    unsigned n = 0;
    while (n < ITEMS && got[n] == want[n]) n++;
    dt_check(t, n == ITEMS, "%s: word %u is %u, not %u", what, n, n < ITEMS ? got[n] : 0,
             n < ITEMS ? want[n] : 0);
}

void dt_constructs(device_test *t) {
    const spvf_range all = {.dims = 1, .global = {ITEMS}, .local = {64}};
    const spvf_range large = {.dims = 1, .global = {ITEMS}, .local = {1024}};
    uint32_t value[16];
    for (uint32_t n = 0; n < 16; n++) value[n] = n * n * 77777;
    compare(t, "a struct by value", structs, &all, &(dt_buffer){.value = value, .size = 64});
    compare(t, "a switch", switches, &all, NULL);
    compare(t, "atomic operations on 16 bits", words, &all, NULL);
    if (strncmp(t->name, "cuda", 4) == 0)
        compare(t, "sums of f16", sums, &(spvf_range){.dims = 1, .global = {64}, .local = {64}},
                NULL);
    compare(t, "local memory", local, &all, &(dt_buffer){.size = 256});
    compare(t, "many values", many_values(), &large, NULL);
}
