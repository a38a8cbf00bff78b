/* plan_shapes.c — plans that grow: launches, buffers, arguments.
 *
 * Each is a module, a line "---", and a plan with one group, whose launches take kernels from
 * "k.ir".
 */
#include "tests/scaling/shapes_impl.h"

/* Adds elements of all buffers up, and stores the sums. */
static void write_kernel(FILE *out, const char *name, uint32_t params) {
    shape_put(out, 0, "kernel @{s}(%a: ptr.global of i32", name);
    for (uint32_t k = 0; k < params; k++) shape_put(out, k, ", %p#: ptr.global of i32");
    fputs(") {\n"
          "entry:\n"
          "  %g: i64 = global_id 0\n"
          "  %o: i64 = shl %g, 2\n"
          "  %q: ptr.global = ptradd %a, %o inbounds\n"
          "  %v: i32 = load %q align 4\n",
          out);
    for (uint32_t k = 0; k < params; k++)
        shape_put(out, k,
                  "  %e#: ptr.global = ptradd %p#, %o inbounds\n"
                  "  %l#: i32 = load %e# align 4\n"
                  "  %x#: i32 = add $, %l#\n"
                  "  store %x#, %e# align 4\n");
    shape_put(out, params, "  store $, %q align 4\n  ret\n}\n");
}

static void begin_plan(FILE *out, uint32_t buffers) {
    fputs("---\nbuffer a i32[256]\n", out);
    for (uint32_t k = 0; k < buffers; k++) shape_put(out, k, "buffer buffer# i32[256]\n");
    fputs("fuse g {\n", out);
}

static void write_launch(FILE *out, const char *kernel, uint32_t first, uint32_t params) {
    shape_put(out, 0, "  launch \"k.ir\":{s} global 256 local 64 args a", kernel);
    for (uint32_t k = 0; k < params; k++) shape_put(out, first + k, ", buffer#");
    fputs("\n", out);
}

/* Declares n structures as special, each with a function of its own; all call one of n
 * instructions. */
void shape_specials(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "struct \"s#\" = {[{} x i8]}\nspecial \"s#\" init @init#\n", k + 1);
    write_kernel(out, "k", 1);
    fputs("func @common(%v: i32): i32 {\nentry:\n", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %x#: i32 = add $, #\n");
    shape_put(out, n, "  ret $\n}\n");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "func @init#(%self: ptr.private) {\n"
                  "entry:\n"
                  "  %v: i32 = call @common(i32 #)\n"
                  "  store %v, %self align 1\n"
                  "  ret\n"
                  "}\n");
    begin_plan(out, 1);
    write_launch(out, "k", 0, 1);
    write_launch(out, "k", 0, 1);
    fputs("}\n", out);
}

/* n launches of one kernel, over the same two buffers. */
void shape_launches(FILE *out, uint32_t n) {
    write_kernel(out, "k", 1);
    begin_plan(out, 1);
    for (uint32_t k = 0; k < n; k++) write_launch(out, "k", 0, 1);
    fputs("}\n", out);
}

/* n launches, each of a kernel and with a buffer of its own. */
void shape_members(FILE *out, uint32_t n) {
    char name[32];
    for (uint32_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "kernel%u", k);
        write_kernel(out, name, 1);
    }
    begin_plan(out, n);
    for (uint32_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "kernel%u", k);
        write_launch(out, name, k, 1);
    }
    fputs("}\n", out);
}

/* Two launches with n buffers, which both change. */
void shape_arguments(FILE *out, uint32_t n) {
    write_kernel(out, "k", n);
    begin_plan(out, n);
    write_launch(out, "k", 0, n);
    write_launch(out, "k", 0, n);
    fputs("}\n", out);
}

/* Two launches, and n buffers that the group does not use. */
void shape_buffers(FILE *out, uint32_t n) {
    write_kernel(out, "k", 1);
    begin_plan(out, n);
    write_launch(out, "k", 0, 1);
    write_launch(out, "k", 1, 1);
    fputs("}\n", out);
}
