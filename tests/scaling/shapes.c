/* shapes.c — modules that grow in what they declare: kernels, functions, parameters, variables and
 * globals; and the table of all shapes.
 */
#include "tests/scaling/shapes_impl.h"

static void write_kernels(FILE *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        char name[32];
        snprintf(name, sizeof name, "k%u", k);
        shape_begin(out, name, "");
        fprintf(out, "  %%x: i32 = add %%v, %u\n", k);
        shape_end(out, "%x");
    }
}

/* ------------------------------------------------------------------------------------ functions */

static void write_function(FILE *out, uint32_t k) {
    fprintf(out,
            "func @f%u(%%x: i32, %%p: ptr.global): i32 {\nentry:\n  %%l: i32 = load %%p align 4\n"
            "  %%y: i32 = xor %%x, %%l\n  %%z: i32 = mul %%y, %u\n  ret %%z\n}\n",
            k, 2 * k + 3);
}

/* Calls @f0, or @f0 to @f<n-1>, one after the other. */
static void write_calls(FILE *out, uint32_t n, bool all) {
    shape_begin(out, "k", "");
    fputs("  %x0: i32 = add %v, %g\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%x%u: i32 = call @f%u(%%x%u, %%a)\n", k + 1, all ? k : 0, k);
    fprintf(out, "  %%r: i32 = add %%x%u, 1\n", n);
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

/* Each calls the one before it. */
static void write_depth(FILE *out, uint32_t n) {
    write_function(out, 0);
    for (uint32_t k = 1; k < n; k++)
        fprintf(out,
                "func @f%u(%%x: i32, %%p: ptr.global): i32 {\nentry:\n  %%y: i32 = xor %%x, %u\n"
                "  %%c: i32 = call @f%u(%%y, %%p)\n  %%l: i32 = load %%p align 4\n"
                "  %%z: i32 = add %%c, %%l\n  ret %%z\n}\n",
                k, k, k - 1);
    shape_begin(out, "k", "");
    fprintf(out, "  %%r: i32 = call @f%u(%%v, %%a)\n", n - 1);
    shape_end(out, "%r");
}

/* Each calls the one before it twice, so that about n are left when all are inlined. */
static void write_tree(FILE *out, uint32_t n) {
    uint32_t depth = 0;
    write_function(out, 0);
    for (; n > 1; n /= 2, depth++)
        fprintf(
            out,
            "func @f%u(%%x: i32, %%p: ptr.global): i32 {\nentry:\n  %%y: i32 = xor %%x, %u\n"
            "  %%c: i32 = call @f%u(%%y, %%p)\n  %%d: i32 = call @f%u(%%c, %%p)\n  ret %%d\n}\n",
            depth + 1, depth + 5, depth, depth);
    shape_begin(out, "k", "");
    fprintf(out, "  %%r: i32 = call @f%u(%%v, %%a)\n", depth);
    shape_end(out, "%r");
}

/* ---------------------------------------------------------------------------- what is declared */

static void write_params(FILE *out, uint32_t n) {
    fputs("kernel @k(%a: ptr.global of i32", out);
    for (uint32_t k = 0; k < n; k++) fprintf(out, ", %%p%u: ptr.global of i32", k);
    fputs(") {\nentry:\n  %g: i64 = global_id 0\n  %o: i64 = shl %g, 2\n"
          "  %q: ptr.global = ptradd %a, %o inbounds\n  %x0: i32 = load %q align 4\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out,
                "  %%e%u: ptr.global = ptradd %%p%u, %%o inbounds\n"
                "  %%l%u: i32 = load %%e%u align 4\n  %%x%u: i32 = xor %%x%u, %%l%u\n",
                k, k, k, k, k + 1, k, k);
    fprintf(out, "  store %%x%u, %%q align 4\n  ret\n}\n", n);
}

/* Variables that are stored on some ways only. */
static void write_variables(FILE *out, uint32_t n) {
    fputs("kernel @k(%a: ptr.global of i32) {\nentry:\n", out);
    for (uint32_t k = 0; k < n; k++) fprintf(out, "  %%v%u: ptr.private = alloca i32 align 4\n", k);
    fputs("  %g: i64 = global_id 0\n  %o: i64 = shl %g, 2\n"
          "  %q: ptr.global = ptradd %a, %o inbounds\n  %x: i32 = load %q align 4\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%m%u: i32 = mul %%x, %u\n  store %%m%u, %%v%u align 4\n", k, 2 * k + 3, k,
                k);
    for (uint32_t b = 0; b < 4; b++) {
        fprintf(out, "  %%c%u: i1 = ult %%x, i32 %u\n  br %%c%u, t%u, j%u\nt%u:\n", b, b + 9, b, b,
                b, b);
        for (uint32_t k = b; k < n; k += 4) fprintf(out, "  store i32 %u, %%v%u align 4\n", b, k);
        fprintf(out, "  jmp j%u\nj%u:\n", b, b);
    }
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%l%u: i32 = load %%v%u align 4\n  store %%l%u, %%q align 4 volatile\n", k,
                k, k);
    fputs("  ret\n}\n", out);
}

/* The elements of an array, which can all be values, or not: its address is known at run time. */
static void write_array(FILE *out, uint32_t n, bool dynamic) {
    fprintf(out,
            "kernel @k(%%a: ptr.global of i32) {\nentry:\n"
            "  %%m: ptr.private = alloca [%u x i32] align 4\n",
            n);
    fputs("  %g: i64 = global_id 0\n  %o: i64 = shl %g, 2\n"
          "  %q: ptr.global = ptradd %a, %o inbounds\n  %x0: i32 = load %q align 4\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out,
                "  %%y%u: i32 = mul %%x0, %u\n  %%p%u: ptr.private = ptradd %%m, %u inbounds\n"
                "  store %%y%u, %%p%u align 4\n",
                k, 2 * k + 1, k, 4 * k, k, k);
    for (uint32_t k = 0; k < n && !dynamic; k++)
        fprintf(out, "  %%l%u: i32 = load %%p%u align 4\n  %%x%u: i32 = xor %%x%u, %%l%u\n", k, k,
                k + 1, k, k);
    if (dynamic)
        fprintf(out,
                "  %%d: ptr.private = ptradd %%m, %%o inbounds\n  %%x%u: i32 = load %%d align 4\n",
                n);
    fprintf(out, "  store %%x%u, %%q align 4\n  ret\n}\n", n);
}

static void write_elements(FILE *out, uint32_t n) { write_array(out, n, false); }
static void write_indexed(FILE *out, uint32_t n) { write_array(out, n, true); }

static void write_globals(FILE *out, uint32_t n, const char *space) {
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "@t%u: %s align 4%s\n", k, space, *space == 'c' ? " constant = 7" : "");
    shape_begin(out, "k", "");
    fputs("  %x0: i32 = add %v, %g\n", out);
    for (uint32_t k = 0; k < n && *space == 'l'; k++)
        fprintf(out, "  store %%v, @t%u align 4\n", k);
    fputs("  barrier workgroup workgroup seq_cst local\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%l%u: i32 = load @t%u align 4 volatile\n  %%x%u: i32 = xor %%x%u, %%l%u\n",
                k, k, k + 1, k, k);
    fprintf(out, "  %%r: i32 = add %%x%u, 1\n", n);
    shape_end(out, "%r");
}

static void write_locals(FILE *out, uint32_t n) { write_globals(out, n, "local i32"); }
static void write_tables(FILE *out, uint32_t n) { write_globals(out, n, "const i32"); }

/* ------------------------------------------------------------------------------------ the table */

const shape shapes[] = {
    {"chain", "dependent operations", shape_chain, 1000},
    {"loads", "loads from known places", shape_loads, 500},
    {"address", "blocks that use one address", shape_address, 500},
    {"stores", "stores to known places", shape_stores, 1000},
    {"alias", "loads from unknown places, with stores", shape_alias, 1000},
    {"stencil", "rounds of an unrolled stencil", shape_stencil, 250},
    {"live", "values that live at once", shape_live, 500},
    {"selects", "choices", shape_selects, 500},
    {"doubling", "sums of a value with itself", shape_doubling, 500},
    {"pointers", "choices between addresses", shape_pointers, 250},
    {"vectors", "shuffles", shape_vectors, 500},
    {"lanes", "lanes known at run time", shape_lanes, 125},
    {"math", "calls of math functions", shape_math, 16},
    {"constants", "constants", shape_constants, 1000},
    {"atomics", "atomic operations", shape_atomics, 500},
    {"diamonds", "branches with two arms", shape_diamonds, 250},
    {"meetings", "loads behind conditional stores", shape_meetings, 250},
    {"nested-ifs", "depth of branches", shape_nested_ifs, 250},
    {"exits", "checks that share an exit", shape_exits, 250},
    {"switch", "cases, and arguments of a phi", shape_switch, 250},
    {"irreducible", "blocks of cycles with two entries", shape_irreducible, 125},
    {"loops", "loops in sequence", shape_loops, 125},
    {"nest", "depth of loops", shape_nest, 16},
    {"phis", "phis of a loop", shape_phis, 250},
    {"loop-body", "accesses in a loop", shape_loop_body, 250},
    {"blocks-values", "blocks, and values that live through", shape_blocks_and_values, 250},
    {"barriers", "barriers", shape_barriers, 64},
    {"loop-barriers", "barriers in a loop", shape_loop_barriers, 32},
    {"kept-values", "values that live over barriers", shape_kept_values, 250},
    {"kernels", "kernels", write_kernels, 125},
    {"functions", "functions, each called once", write_functions, 250},
    {"callers", "calls of one function", write_callers, 250},
    {"unused", "functions that are never called", write_unused, 500},
    {"depth", "depth of calls", write_depth, 125},
    {"tree", "calls of a tree of functions", write_tree, 256},
    {"params", "parameters", write_params, 64},
    {"variables", "variables", write_variables, 250},
    {"elements", "elements of an array, as values", write_elements, 60},
    {"indexed", "elements of an array in memory", write_indexed, 1000},
    {"locals", "local variables of groups", write_locals, 250},
    {"tables", "constant globals", write_tables, 125},
};
const unsigned shape_count = sizeof shapes / sizeof *shapes;
