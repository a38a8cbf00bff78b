/* add_kernel.h — a kernel for tests of whatever launches: out[i] = in[i] + k. */
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

#endif
