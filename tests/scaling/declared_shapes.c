/* declared_shapes.c — modules that grow in what they declare beside code, and in operations that become
 * calls or code of their own: printf, operations of groups, copies.
 */
#include "tests/scaling/shapes_impl.h"

/* What a kernel with a table @g of elements of 2^log bytes reads first: the address %p of an
 * element that is known at run time. */
static void begin_lookup(FILE *out, uint32_t log) {
    shape_begin(out, "k", "");
    shape_put(out, 0,
              "  %m: i32 = and %g, 7\n"
              "  %mw: i64 = zext %m\n"
              "  %mo: i64 = shl %mw, {}\n"
              "  %p: ptr.const = ptradd @g, %mo\n",
              log);
}

void shape_specs(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "spec # \"N#\": i32 = #\n");
    shape_begin(out, "k", "");
    shape_end(out, "%v");
}

void shape_table(FILE *out, uint32_t n) {
    shape_put(out, n, "@g: const [# x i32] align 4 constant = {7");
    for (uint32_t k = 1; k < n; k++) shape_put(out, k, ", #");
    fputs("}\n", out);
    begin_lookup(out, 2);
    fputs("  %l: i32 = load %p align 4\n", out);
    shape_end(out, "%l");
}

/* Each is the address of a global of its own. */
void shape_table_of_addresses(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "@t#: const i32 align 4 constant = #\n");
    shape_put(out, n, "@g: const [# x ptr.const] align 8 constant = {&@t0");
    for (uint32_t k = 1; k < n; k++) shape_put(out, k, ", &@t#");
    fputs("}\n", out);
    begin_lookup(out, 3);
    fputs("  %to: ptr.const = load %p align 8\n  %l: i32 = load %to align 4\n", out);
    shape_end(out, "%l");
}

void shape_exports(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "func @f#(%x: i32): i32 export {\n"
                  "entry:\n"
                  "  %y: i32 = xor %x, #\n"
                  "  ret %y\n"
                  "}\n");
    shape_begin(out, "k", "");
    shape_end(out, "%v");
}

/* A struct with n pointers more, which becomes parameters. */
void shape_closure(FILE *out, uint32_t n) {
    shape_put(out, n, "kernel @k(%s: ptr.private byval({}) align 8 of {ptr.global", 8 * n + 8);
    for (uint32_t k = 0; k < n; k++) fputs(", ptr.global", out);
    fputs("}) {\n"
          "entry:\n"
          "  %a: ptr.global = load %s align 8\n"
          "  %g: i64 = global_id 0\n"
          "  %o: i64 = shl %g, 2\n"
          "  %q: ptr.global = ptradd %a, %o inbounds\n"
          "  %v: i32 = load %q align 4\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %s#: ptr.private = ptradd %s, {} inbounds\n"
                  "  %p#: ptr.global = load %s# align 8\n"
                  "  %e#: ptr.global = ptradd %p#, %o inbounds\n"
                  "  %l#: i32 = load %e# align 4\n"
                  "  %x#: i32 = add $, %l#\n",
                  8 * k + 8);
    shape_end_series(out, n);
}

void shape_prints(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %r#: i32 = printf \"text # %d\\n\", %v\n");
    shape_end(out, "%v");
}

static void write_group_operations(FILE *out, uint32_t n, const char *which) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %s#: i32 = group_add $ {s}\n  %x#: i32 = xor %s#, #\n", which);
    shape_end_series(out, n);
}

void shape_subgroup_sums(FILE *out, uint32_t n) {
    write_group_operations(out, n, "subgroup reduce");
}

void shape_scans(FILE *out, uint32_t n) { write_group_operations(out, n, "workgroup inclusive"); }

void shape_copies(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %a, {} inbounds\n"
                  "  %q#: ptr.global = ptradd %b, {} inbounds\n"
                  "  copy %p#, %q#, i64 48 align 4\n",
                  64 * k, 64 * k);
    shape_end(out, "%v");
}
