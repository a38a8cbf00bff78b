/* thread_shapes.c — kernels that become PTX, and grow in what passes for targets of threads look at.
 *
 * Each of these passes has a limit for a kernel, a loop or an array, so it is the number of these
 * that grows.
 */
#include "tests/scaling/shapes_impl.h"

/* Kernels of which a thread runs several work-items, with as many guards as are decided at once. */
void shape_coarsened(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        shape_put(out, k,
                  "kernel @k#(%a: ptr.global of i32, %b: ptr.global of i32, %m: i32) {\n"
                  "entry:\n"
                  "  %gl: i64 = global_id 0\n"
                  "  %g: i32 = trunc %gl\n");
        for (uint32_t guard = 0; guard < 8; guard++)
            shape_put(out, guard,
                      "  %t#: i32 = mul %g, {}\n"
                      "  %c#: i1 = ult %t#, %m\n"
                      "  br %c#, on#, out\n"
                      "on#:\n",
                      guard + 3);
        fputs("  %o: i64 = shl %gl, 2\n"
              "  %p: ptr.global = ptradd %a, %o inbounds\n"
              "  %q: ptr.global = ptradd %b, %o inbounds\n"
              "  %v: i32 = load %p align 4\n"
              "  %w: i32 = add %v, %m\n"
              "  store %w, %q align 4\n"
              "  jmp out\n"
              "out:\n"
              "  ret\n"
              "}\n",
              out);
    }
}

/* Loops whose addresses become pointers that step, with neighbours that are loaded together. */
void shape_stepping(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32, %m: i32");
    fputs("  jmp x0\nx0:\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  jmp h#\n"
                  "h#:\n"
                  "  %i#: i32 = phi [x#: 0, b#: %n#]\n"
                  "  %x#: i32 = phi [x#: $, b#: %s#]\n"
                  "  %c#: i1 = ult %i#, %m\n"
                  "  br %c#, b#, x{}\n"
                  "b#:\n"
                  "  %w#: i64 = zext %i#\n"
                  "  %o#: i64 = shl %w#, 3\n"
                  "  %p#: ptr.global = ptradd %b, %o#\n"
                  "  %q#: ptr.global = ptradd %p#, 4\n"
                  "  %l#: i32 = load %p# align 8\n"
                  "  %r#: i32 = load %q# align 4\n"
                  "  %d#: i32 = sub %l#, %r#\n"
                  "  %s#: i32 = add %x#, %d#\n"
                  "  %n#: i32 = add %i#, 1 nuw\n"
                  "  jmp h#\n"
                  "x{}:\n",
                  k + 1, k + 1);
    shape_end_series(out, n);
}

/* Private arrays with indices, which become values. */
void shape_private_arrays(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %t#: ptr.private = alloca [8 x i32] align 4\n");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  fill %t#, i8 0, i64 32 align 4\n"
                  "  %m#: i32 = and $, 7\n"
                  "  %w#: i64 = zext %m#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.private = ptradd %t#, %o#\n"
                  "  store $, %p# align 4\n"
                  "  %q#: ptr.private = ptradd %t#, 12\n"
                  "  %l#: i32 = load %q# align 4\n"
                  "  %x#: i32 = sub %l#, $\n");
    shape_end_series(out, n);
}

/* Cases of a switch that lie close together, every other one of which leads to the block after it. */
void shape_close_cases(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  switch %v, other [", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, k % 2 ? "{s}{}: join" : "{s}{}: c#", k ? ", " : "", 2 * k);
    fputs("]\n", out);
    for (uint32_t k = 0; k < n; k += 2)
        shape_put(out, k, "c#:\n  %x#: i32 = mul %g, {}\n  jmp join\n", 5 * k + 3);
    fputs("other:\n  jmp join\njoin:\n  %r: i32 = phi [other: %v", out);
    for (uint32_t k = 1; k < n; k += 2) fputs(", entry: %g", out);
    for (uint32_t k = 0; k < n; k += 2) shape_put(out, k, ", c#: %x#");
    fputs("]\n", out);
    shape_end(out, "%r");
}

/* Members of a struct by value, at indices that are not known. */
void shape_given_struct(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %s: ptr.private byval(4096) align 4");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %m#: i32 = mul $, {}\n"
                  "  %i#: i32 = and %m#, 1023\n"
                  "  %w#: i64 = zext %i#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.private = ptradd %s, %o#\n"
                  "  %x#: i32 = load %p# align 4\n",
                  2 * k + 3);
    shape_end_series(out, n);
}
