/* shapes.c — modules that grow in what they declare: kernels, functions, parameters, variables and
 * globals; and the table of all shapes.
 */
#include "tests/scaling/shapes_impl.h"

static void write_kernels(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        char name[32];
        snprintf(name, sizeof name, "k%u", k);
        shape_begin(out, name, "");
        shape_put(out, k, "  %x: i32 = add %v, #\n");
        shape_end(out, "%x");
    }
}

/* ------------------------------------------------------------------------------------ functions */

static void write_function(FILE *out, uint32_t k) {
    shape_put(out, k,
              "func @f#(%x: i32, %p: ptr.global): i32 {\n"
              "entry:\n"
              "  %l: i32 = load %p align 4\n"
              "  %y: i32 = xor %x, %l\n"
              "  %z: i32 = mul %y, {}\n"
              "  ret %z\n"
              "}\n",
              2 * k + 3);
}

/* Calls @f0, or @f0 to @f<n-1>, one after the other. */
static void write_calls(FILE *out, uint32_t n, bool all) {
    shape_begin(out, "k", "");
    fputs("  %x0: i32 = add %v, %g\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %x{}: i32 = call @f{}(%x#, %a)\n", k + 1, all ? k : 0);
    shape_put(out, n, "  %r: i32 = add %x#, 1\n");
    shape_end(out, "%r");
}

static void write_functions(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) write_function(out, k);
    write_calls(out, n, true);
}

static void write_callers(FILE *out, uint32_t n) {
    write_function(out, 0);
    write_calls(out, n, false);
}

static void write_unused(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) write_function(out, k);
    write_calls(out, 1, false);
}

/* A kernel that calls function @f<k>. */
static void write_caller(FILE *out, uint32_t k) {
    shape_begin(out, "k", "");
    shape_put(out, k, "  %r: i32 = call @f#(%v, %a)\n");
    shape_end(out, "%r");
}

/* Each calls the one before it. */
static void write_depth(FILE *out, uint32_t n) {
    write_function(out, 0);
    for (uint32_t k = 1; k < n; k++)
        shape_put(out, k,
                  "func @f#(%x: i32, %p: ptr.global): i32 {\n"
                  "entry:\n"
                  "  %y: i32 = xor %x, #\n"
                  "  %c: i32 = call @f{}(%y, %p)\n"
                  "  %l: i32 = load %p align 4\n"
                  "  %z: i32 = add %c, %l\n"
                  "  ret %z\n"
                  "}\n",
                  k - 1);
    write_caller(out, n - 1);
}

/* Each calls the one before it twice, so that about n are left when all are inlined. */
static void write_tree(FILE *out, uint32_t n) {
    uint32_t depth = 0;
    write_function(out, 0);
    for (; n > 1; n /= 2, depth++)
        shape_put(out, depth,
                  "func @f{}(%x: i32, %p: ptr.global): i32 {\n"
                  "entry:\n"
                  "  %y: i32 = xor %x, {}\n"
                  "  %c: i32 = call @f#(%y, %p)\n"
                  "  %d: i32 = call @f#(%c, %p)\n"
                  "  ret %d\n"
                  "}\n",
                  depth + 1, depth + 5);
    write_caller(out, depth);
}

/* ----------------------------------------------------------------------------- what is declared */

/* The address %q of the item's element of %a, at offset %o, and what is there, %x0. */
#define OWN_ELEMENT                                                                                \
    "  %g: i64 = global_id 0\n"                                                                    \
    "  %o: i64 = shl %g, 2\n"                                                                      \
    "  %q: ptr.global = ptradd %a, %o inbounds\n"                                                  \
    "  %x0: i32 = load %q align 4\n"

static void write_params(FILE *out, uint32_t n) {
    fputs("kernel @k(%a: ptr.global of i32", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, ", %p#: ptr.global of i32");
    fputs(") {\nentry:\n" OWN_ELEMENT, out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %e#: ptr.global = ptradd %p#, %o inbounds\n"
                  "  %l#: i32 = load %e# align 4\n"
                  "  %x{}: i32 = xor %x#, %l#\n",
                  k + 1);
    shape_put(out, n, "  store %x#, %q align 4\n  ret\n}\n");
}

/* Variables that are stored on some paths only. */
static void write_variables(FILE *out, uint32_t n) {
    fputs("kernel @k(%a: ptr.global of i32) {\nentry:\n", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %v#: ptr.private = alloca i32 align 4\n");
    fputs(OWN_ELEMENT, out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %m#: i32 = mul %x0, {}\n  store %m#, %v# align 4\n", 2 * k + 3);
    for (uint32_t b = 0; b < 4; b++) {
        shape_put(out, b, "  %c#: i1 = ult %x0, i32 {}\n  br %c#, t#, j#\nt#:\n", b + 9);
        for (uint32_t k = b; k < n; k += 4) shape_put(out, k, "  store i32 {}, %v# align 4\n", b);
        shape_put(out, b, "  jmp j#\nj#:\n");
    }
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %l#: i32 = load %v# align 4\n  store %l#, %q align 4 volatile\n");
    fputs("  ret\n}\n", out);
}

/* The elements of an array, which can all be values, or not: its address is known at run time. */
static void write_array(FILE *out, uint32_t n, bool dynamic) {
    shape_put(out, n,
              "kernel @k(%a: ptr.global of i32) {\n"
              "entry:\n"
              "  %m: ptr.private = alloca [# x i32] align 4\n" OWN_ELEMENT);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %y#: i32 = mul %x0, {}\n"
                  "  %p#: ptr.private = ptradd %m, {} inbounds\n"
                  "  store %y#, %p# align 4\n",
                  2 * k + 1, 4 * k);
    for (uint32_t k = 0; k < n && !dynamic; k++)
        shape_put(out, k, "  %l#: i32 = load %p# align 4\n  %x{}: i32 = xor %x#, %l#\n", k + 1);
    if (dynamic)
        shape_put(out, n,
                  "  %d: ptr.private = ptradd %m, %o inbounds\n  %x#: i32 = load %d align 4\n");
    shape_put(out, n, "  store %x#, %q align 4\n  ret\n}\n");
}

/* A struct in a buffer, with n members, all changed. */
static void write_struct(FILE *out, uint32_t n) {
    fputs("kernel @k(%a: ptr.global of i32, %b: ptr.global of {", out);
    for (uint32_t k = 0; k < n; k++) fputs(k ? ", i32" : "i32", out);
    fputs("}) {\n"
          "entry:\n"
          "  %v: i32 = load %a align 4\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %b, {} inbounds\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add $, %l#\n"
                  "  store %x#, %p# align 4\n",
                  4 * k);
    shape_put(out, n, "  store $, %a align 4\n  ret\n}\n");
}

static void write_elements(FILE *out, uint32_t n) { write_array(out, n, false); }
static void write_indexed(FILE *out, uint32_t n) { write_array(out, n, true); }

static void write_globals(FILE *out, uint32_t n, bool local) {
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "@t#: {s}\n",
                  local ? "local i32 align 4" : "const i32 align 4 constant = 7");
    shape_begin(out, "k", "");
    fputs("  %x0: i32 = add %v, %g\n", out);
    for (uint32_t k = 0; k < n && local; k++) shape_put(out, k, "  store %v, @t# align 4\n");
    fputs("  barrier workgroup workgroup seq_cst local\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %l#: i32 = load @t# align 4 volatile\n  %x{}: i32 = xor %x#, %l#\n",
                  k + 1);
    shape_put(out, n, "  %r: i32 = add %x#, 1\n");
    shape_end(out, "%r");
}

static void write_locals(FILE *out, uint32_t n) { write_globals(out, n, true); }
static void write_tables(FILE *out, uint32_t n) { write_globals(out, n, false); }

/* ------------------------------------------------------------------------------------ the table */

const shape shapes[] = {
    {"chain", "dependent operations", shape_chain, 1000, INLINED},
    {"loads", "loads from known places", shape_loads, 500, INLINED},
    {"address", "blocks that use one address", shape_address, 500, INLINED},
    {"stores", "stores to known places", shape_stores, 1000, INLINED},
    {"alias", "loads from unknown places, with stores", shape_alias, 1000, INLINED},
    {"stencil", "rounds of an unrolled stencil", shape_stencil, 250, INLINED},
    {"live", "values that live at once", shape_live, 500, INLINED},
    {"selects", "choices", shape_selects, 500, INLINED},
    {"doubling", "sums of a value with itself", shape_doubling, 500, INLINED},
    {"pointers", "choices between addresses", shape_pointers, 250, INLINED},
    {"vectors", "shuffles", shape_vectors, 500, INLINED},
    {"lanes", "lanes known at run time", shape_lanes, 125, INLINED},
    {"math", "calls of math functions", shape_math, 16, INLINED},
    {"constants", "constants", shape_constants, 1000, INLINED},
    {"atomics", "atomic operations", shape_atomics, 500, INLINED},
    {"diamonds", "branches with two arms", shape_diamonds, 250, INLINED},
    {"meetings", "loads behind conditional stores", shape_meetings, 250, INLINED},
    {"nested-ifs", "depth of branches", shape_nested_ifs, 250, INLINED},
    {"exits", "checks that share an exit", shape_exits, 250, INLINED},
    {"switch", "cases, and arguments of a phi", shape_switch, 250, INLINED},
    {"irreducible", "blocks of cycles with two entries", shape_irreducible, 125, INLINED},
    {"loops", "loops in sequence", shape_loops, 125, INLINED},
    {"nest", "depth of loops", shape_nest, 16, INLINED},
    {"phis", "phis of a loop", shape_phis, 250, INLINED},
    {"loop-body", "accesses in a loop", shape_loop_body, 250, INLINED},
    {"blocks-values", "blocks, and values that live through", shape_blocks_and_values, 125,
     INLINED},
    {"barriers", "barriers", shape_barriers, 64, INLINED},
    {"loop-barriers", "barriers in a loop", shape_loop_barriers, 32, INLINED},
    {"loop-addresses", "barriers in a loop, and addresses", shape_loop_addresses, 125, INLINED},
    {"loop-families", "barriers in a loop, and addresses of a family", shape_loop_families, 125,
     INLINED},
    {"kept-values", "values that live over barriers", shape_kept_values, 250, INLINED},
    {"kept-over-all", "barriers, and values that live over all", shape_kept_over_all, 64, INLINED},
    {"kernels", "kernels", write_kernels, 125, INLINED},
    {"functions", "functions, each called once", write_functions, 250, INLINED},
    {"callers", "calls of one function", write_callers, 250, INLINED},
    {"unused", "functions that are never called", write_unused, 500, INLINED},
    {"depth", "depth of calls", write_depth, 125, INLINED},
    {"kept", "functions that stay, each called once", write_functions, 1000, CALLED},
    {"kept-depth", "depth of calls that stay", write_depth, 500, CALLED},
    {"kept-callers", "calls of a function that stays", write_callers, 250, CALLED},
    {"tree", "calls of a tree of functions", write_tree, 256, INLINED},
    {"launches", "launches of a kernel, fused", shape_launches, 16, FUSED},
    {"members", "fused kernels with buffers of their own", shape_members, 8, STEPPED},
    {"arguments", "arguments of two fused launches", shape_arguments, 4, FUSED},
    {"buffers", "buffers of a plan", shape_buffers, 500, FUSED},
    {"specials", "structures that are special", shape_specials, 500, FUSED},
    {"accesses", "accesses of a buffer, in two fused kernels", shape_accesses, 64, STEPPED},
    {"internal", "internal buffers between fused launches", shape_internal, 8, FUSED},
    {"single-launches", "launches of a plan", shape_single_launches, 500, FUSED},
    {"values", "values of a list in a plan", shape_values, 2000, FUSED},
    {"specs", "specialization constants", shape_specs, 1000, INLINED},
    {"table", "elements of a constant array", shape_table, 1000, INLINED},
    {"addresses", "addresses in a constant array", shape_table_of_addresses, 500, INLINED},
    {"exports", "exported functions", shape_exports, 500, INLINED},
    {"closure", "pointers in a struct by value", shape_closure, 64, INLINED},
    {"prints", "calls of printf", shape_prints, 125, INLINED},
    {"scans", "scans of groups", shape_scans, 32, INLINED},
    {"copies", "copies of 48 bytes", shape_copies, 64, INLINED},
    {"struct", "members of a struct", write_struct, 64, INLINED},
    {"params", "parameters", write_params, 64, INLINED},
    {"variables", "variables", write_variables, 250, INLINED},
    {"elements", "elements of an array, as values", write_elements, 60, INLINED},
    {"indexed", "elements of an array in memory", write_indexed, 1000, INLINED},
    {"locals", "local variables of groups", write_locals, 250, INLINED},
    {"tables", "constant globals", write_tables, 125, INLINED},
    {"item-loops", "loops over items", shape_item_loops, 16, LANES},
    {"index-sets", "clamps of an index", shape_index_sets, 32, LANES},
    {"rows", "accesses that rows of items share", shape_rows, 64, LANES},
    {"contiguous", "contiguous accesses of lanes", shape_contiguous, 125, LANES},
    {"item-members", "members of a struct of each item", shape_members_of_items, 64, LANES},
    {"groups", "structs of items, interleaved", shape_groups, 125, LANES},
    {"gathers", "gathers", shape_gathers, 125, LANES},
    {"strips", "loops that are cut into strips", shape_strips, 8, LANES},
    {"left-loops", "loops that lanes leave one by one", shape_left_loops, 32, LANES},
    {"lane-phis", "phis of lanes", shape_lane_phis, 64, LANES},
    {"lane-nest", "depth of loops of all lanes", shape_lane_nest, 16, LANES},
    {"left-nest", "depth of loops that lanes leave", shape_left_nest, 8, LANES},
    {"masks", "blocks under masks", shape_masks, 64, LANES},
    {"nested-masks", "depth of blocks under masks", shape_nested_masks, 32, LANES},
    {"lane-arrays", "accesses of an array of each lane", shape_lane_arrays, 64, LANES},
    {"lane-prints", "calls of printf", shape_prints, 64, LANES},
    {"lane-sums", "sums of sub-groups", shape_subgroup_sums, 64, LANES},
    {"thread-sums", "sums of sub-groups", shape_subgroup_sums, 250, THREADS},
    {"thread-chain", "dependent operations", shape_chain, 1000, THREADS},
    {"thread-loops", "loops in sequence", shape_loops, 250, THREADS},
    {"thread-nest", "depth of loops", shape_nest, 16, THREADS},
    {"thread-phis", "phis of a loop", shape_phis, 250, THREADS},
    {"thread-switch", "cases, and arguments of a phi", shape_switch, 250, THREADS},
    {"close-cases", "cases that lie close together", shape_close_cases, 250, THREADS},
    {"given-struct", "members of a struct by value", shape_given_struct, 250, THREADS},
    {"coarsened", "kernels whose threads run several items", shape_coarsened, 32, THREADS},
    {"stepping", "loops whose addresses step", shape_stepping, 125, THREADS},
    {"private-arrays", "private arrays with indices", shape_private_arrays, 32, THREADS},
};
const unsigned shape_count = sizeof shapes / sizeof *shapes;
