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

/* n elements of each item. */
void shape_accesses(FILE *out, uint32_t n) {
    shape_put(out, 4 * n,
              "kernel @k(%a: ptr.global of i32, %b: ptr.global of i32) {\n"
              "entry:\n"
              "  %g: i64 = global_id 0\n"
              "  %o: i64 = mul %g, #\n"
              "  %from: ptr.global = ptradd %a, %o\n"
              "  %to: ptr.global = ptradd %b, %o\n");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %from, {} inbounds\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %q#: ptr.global = ptradd %to, {} inbounds\n"
                  "  store %l#, %q# align 4\n",
                  4 * k, 4 * k);
    fputs("  ret\n}\n", out);
    shape_put(out, 64 * n,
              "---\n"
              "buffer a i32[#]\n"
              "buffer b i32[#]\n"
              "buffer c i32[#]\n"
              "fuse g force {\n"
              "  launch \"k.ir\":k global 64 local 64 args a, b\n"
              "  launch \"k.ir\":k global 64 local 64 args b, c\n"
              "}\n");
}

/* A chain of n launches: only the first and the last buffer are the program's. */
void shape_internal(FILE *out, uint32_t n) {
    write_kernel(out, "k", 1);
    fputs("---\nbuffer a i32[256]\nbuffer buffer0 i32[256]\n", out);
    for (uint32_t k = 1; k < n; k++) shape_put(out, k, "buffer buffer# i32[256] = # internal\n");
    fputs("fuse g {\n", out);
    for (uint32_t k = 0; k < n; k++) write_launch(out, "k", k, 1);
    fputs("}\n", out);
}

static void write_group(FILE *out) {
    fputs("fuse g {\n", out);
    for (int k = 0; k < 2; k++) write_launch(out, "k", 0, 1);
    fputs("}\n", out);
}

/* n launches beside a group. */
void shape_single_launches(FILE *out, uint32_t n) {
    write_kernel(out, "k", 1);
    fputs("---\nbuffer a i32[256]\nbuffer buffer0 i32[256]\n", out);
    write_group(out);
    for (uint32_t k = 0; k < n; k++) write_launch(out, "k", 0, 1);
}

static void write_list(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, k ? ", #" : "#");
    fputs("\n", out);
}

/* A buffer with n values, which are all expected. */
void shape_values(FILE *out, uint32_t n) {
    write_kernel(out, "k", 1);
    shape_put(out, n, "---\nbuffer a i32[256]\nbuffer buffer0 i32[256]\nbuffer list i32[#] = ");
    write_list(out, n);
    write_group(out);
    shape_put(out, n - 1, "expect list[0..#] = ");
    write_list(out, n);
}
