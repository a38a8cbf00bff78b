/* add_kernel.h — kernels for tests of whatever launches: out[i] = in[i] + k, and one with local
 * memory. */
#ifndef TESTS_RUNTIME_ADD_KERNEL_H
#define TESTS_RUNTIME_ADD_KERNEL_H

#define ADD_KERNEL                                                                                 \
    "kernel @add(%out: ptr.global of i32, %in: ptr.global const of i32, %k: i32) {\n"              \
    "entry:\n"                                                                                     \
    "  %x: i64 = global_id 0\n"                                                                    \
    "  %b: i64 = shl %x, 2\n"                                                                      \
    "  %p: ptr.global = ptradd %in, %b inbounds\n"                                                 \
    "  %q: ptr.global = ptradd %out, %b inbounds\n"                                                \
    "  %v: i32 = load %p align 4\n"                                                                \
    "  %s: i32 = add %v, %k\n"                                                                     \
    "  store %s, %q align 4\n"                                                                     \
    "  ret\n"                                                                                      \
    "}\n"

/* out[i] of each group is the number that item n - 1 - i has left in local memory: its own. */
#define LAST_KERNEL                                                                                \
    "kernel @last(%out: ptr.global of i32, %l: ptr.local of i32) {\n"                              \
    "entry:\n"                                                                                     \
    "  %x: i64 = local_id 0\n"                                                                     \
    "  %n: i64 = local_size 0\n"                                                                   \
    "  %b: i64 = shl %x, 2\n"                                                                      \
    "  %p: ptr.local = ptradd %l, %b inbounds\n"                                                   \
    "  %w: i32 = trunc %x\n"                                                                       \
    "  store %w, %p align 4\n"                                                                     \
    "  barrier workgroup workgroup acq_rel local\n"                                                \
    "  %m: i64 = sub %n, 1\n"                                                                      \
    "  %d: i64 = sub %m, %x\n"                                                                     \
    "  %c: i64 = shl %d, 2\n"                                                                      \
    "  %r: ptr.local = ptradd %l, %c inbounds\n"                                                   \
    "  %v: i32 = load %r align 4\n"                                                                \
    "  %q: ptr.global = ptradd %out, %b inbounds\n"                                                \
    "  store %v, %q align 4\n"                                                                     \
    "  ret\n"                                                                                      \
    "}\n"

#endif
