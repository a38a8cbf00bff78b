/* atomics.c — atomic operations by a million items, of each scope, next to what must come out. */
#include "tests/device/device.h"

enum { ITEMS = 1000000, LOCAL = 250, GROUPS = ITEMS / LOCAL, WORDS = 16 };

/* Of each scope, in words of 32 and of 64 bits; the last ones are a slot for each group, and a count
 * that goes through local memory. */
static const char text[] = "target 64\n"
                           "@sum: local i32\n"
                           "kernel @k(%a: ptr.global, %b: ptr.global, %g: ptr.global) {\n"
                           "entry:\n"
                           "  %i: i64 = global_id 0\n"
                           "  %w: i32 = trunc i64 %i\n"
                           "  %r0: i32 = atomic_add %a, 1 device relaxed\n"
                           "  %a1: ptr.global = ptradd %a, 4 inbounds\n"
                           "  %r1: i32 = atomic_add %a1, %w cross_device acq_rel\n"
                           "  %a2: ptr.global = ptradd %a, 8 inbounds\n"
                           "  %r2: i32 = atomic_umax %a2, %w device relaxed\n"
                           "  %a3: ptr.global = ptradd %a, 12 inbounds\n"
                           "  %r3: i32 = atomic_xor %a3, %w device seq_cst\n"
                           "  %a4: ptr.global = ptradd %a, 16 inbounds\n"
                           "  %r4: f32 = atomic_fadd %a4, 1.0 device relaxed\n"
                           "  %a5: ptr.global = ptradd %a, 20 inbounds\n"
                           "  %r5: i32 = atomic_smin %a5, %w device relaxed\n"
                           "  %r6: i64 = atomic_add %b, %i device relaxed\n"
                           "  %b1: ptr.global = ptradd %b, 8 inbounds\n"
                           "  %r7: i64 = atomic_umax %b1, %i cross_device relaxed\n"
                           "  %b2: ptr.global = ptradd %b, 16 inbounds\n"
                           "  %r8: i64 = atomic_sub %b2, 2 device acq_rel\n"
                           "  %q: i64 = group_id 0\n"
                           "  %qb: i64 = shl %q, 2\n"
                           "  %gq: ptr.global = ptradd %g, %qb inbounds\n"
                           "  %r9: i32 = atomic_add %gq, 1 workgroup relaxed\n"
                           "  %l: i64 = local_id 0\n"
                           "  %first: i1 = eq %l, i64 0\n"
                           "  br %first, clear, cleared\n"
                           "clear:\n"
                           "  store i32 0, @sum align 4\n"
                           "  jmp cleared\n"
                           "cleared:\n"
                           "  barrier workgroup workgroup acq_rel local\n"
                           "  %r10: i32 = atomic_add @sum, 3 workgroup relaxed\n"
                           "  barrier workgroup workgroup acq_rel local\n"
                           "  br %first, add, done\n"
                           "add:\n"
                           "  %s: i32 = load @sum align 4\n"
                           "  %a6: ptr.global = ptradd %a, 24 inbounds\n"
                           "  %r11: i32 = atomic_add %a6, %s device relaxed\n"
                           "  jmp done\n"
                           "done:\n"
                           "  ret\n"
                           "}\n";

static uint32_t sum_of_items(void) { return (uint32_t)((uint64_t)ITEMS * (ITEMS - 1) / 2); }

static uint32_t xor_of_items(void) {
    uint32_t x = 0;
    for (uint32_t n = 0; n < ITEMS; n++) x ^= n;
    return x;
}

void dt_atomics(device_test *t) {
    static uint32_t a[WORDS], groups[GROUPS];
    uint64_t b[WORDS] = {0};
    const spvf_range r = {.dims = 1, .global = {ITEMS}, .local = {LOCAL}};
    const dt_buffer buffers[] = {{a, sizeof a}, {b, sizeof b}, {groups, sizeof groups}};
    float sum;
    bool slots = true;
    a[5] = INT32_MAX;
    dt_check(t, dt_run(t, t->name, text, &r, buffers, 3), "atomics run");
    memcpy(&sum, &a[4], sizeof sum);
    for (unsigned n = 0; n < GROUPS; n++) slots &= groups[n] == LOCAL;
    dt_check(t, a[0] == ITEMS, "atomic_add: %u", a[0]);
    dt_check(t, a[1] == sum_of_items(), "atomic_add of all devices: %u", a[1]);
    dt_check(t, a[2] == ITEMS - 1, "atomic_umax: %u", a[2]);
    dt_check(t, a[3] == xor_of_items(), "atomic_xor: %u", a[3]);
    dt_check(t, sum == (float)ITEMS, "atomic_fadd: %f", (double)sum);
    dt_check(t, a[5] == 0, "atomic_smin: %u", a[5]);
    dt_check(t, a[6] == 3 * ITEMS, "local memory: %u", a[6]);
    dt_check(t, b[0] == (uint64_t)ITEMS * (ITEMS - 1) / 2, "64 bits: %llu",
             (unsigned long long)b[0]);
    dt_check(t, b[1] == ITEMS - 1, "64 bits, umax: %llu", (unsigned long long)b[1]);
    dt_check(t, b[2] == (uint64_t)-2 * ITEMS, "64 bits, sub: %llu", (unsigned long long)b[2]);
    dt_check(t, slots, "a slot for each group");
}
