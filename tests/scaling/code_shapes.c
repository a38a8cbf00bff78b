/* code_shapes.c — one kernel whose code grows: straight, branching, looping.
 *
 * Every kernel begins with its id %g, the address %q of its element of buffer %a, and what is
 * there, %v, and ends with a store to it.  Most make a series of values %x0, %x1 and so on, each
 * from the one before it, and store the last one.
 */
#include "tests/scaling/shapes_impl.h"

/* -------------------------------------------------------------------------------- straight code */

void shape_chain(FILE *out, uint32_t n) {
    static const char *const ops[] = {"add", "mul", "xor", "sub"};
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %x#: i32 = {s} $, {s}\n", ops[k % 4], k % 3 ? "%g" : "%v");
    shape_end_series(out, n);
}

void shape_loads(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k);
        shape_put(out, k, "  %l#: i32 = load %p# align 4\n  %x#: i32 = xor $, %l#\n");
    }
    shape_end_series(out, n);
}

/* One address, in as many blocks as there are loads. */
void shape_address(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %n: i32");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %c#: i1 = slt $, %n\n"
                  "  br %c#, t#, e#\n"
                  "t#:\n"
                  "  store i32 #, %q align 4\n"
                  "  jmp e#\n"
                  "e#:\n"
                  "  %x#: i32 = load %q align 4\n");
    shape_end_series(out, n);
}

void shape_stores(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k);
        shape_put(out, k, "  %x#: i32 = xor %v, {}\n  store %x#, %p# align 4\n", k + 1);
    }
    shape_end_series(out, n);
}

/* Loads from an address that was loaded, stores to constant ones: everything may be everything. */
void shape_alias(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_put(out, k,
                  "  %i#: i64 = zext $\n"
                  "  %o#: i64 = shl %i#, 2\n"
                  "  %r#: ptr.global = ptradd %a, %o# inbounds\n"
                  "  %x#: i32 = load %r# align 4\n");
        shape_element(out, k, k);
        shape_put(out, k, "  store %x#, %p# align 4\n");
    }
    shape_end_series(out, n);
}

/* As an unrolled stencil: three loads next to each other, and a store in between. */
void shape_stencil(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32");
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t t = 3 * k; t < 3 * k + 3; t++) {
            shape_element(out, t, t - 2 * k);
            shape_put(out, t, "  %l#: i32 = load %p# align 4\n");
        }
        shape_put(out, k,
                  "  %s#: i32 = add %l{}, %l{}\n"
                  "  %x#: i32 = add %s#, %l{}\n"
                  "  %b#: ptr.global = ptradd %b, {} inbounds\n"
                  "  store %x#, %b# align 4\n",
                  3 * k, 3 * k + 1, 3 * k + 2, 4 * k);
    }
    shape_end_series(out, n);
}

/* n values that are all needed at the end, and stores that may change what was loaded. */
void shape_live(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %t#: i32 = mul %v, {}\n  store %t#, %q align 4 volatile\n", 2 * k + 3);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %x#: i32 = {s} $, %t{}\n", k % 2 ? "xor" : "sub", n - 1 - k);
    shape_end_series(out, n);
}

void shape_selects(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %c#: i1 = ult $, %g\n"
                  "  %t#: i32 = add $, {}\n"
                  "  %e#: i32 = xor $, {}\n"
                  "  %x#: i32 = select %c#, %t#, %e#\n",
                  k + 1, 3 * k + 1);
    shape_end_series(out, n);
}

/* A graph of n sums whose tree has 2^n. */
void shape_doubling(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %d#: i32 = add $, $\n"
                  "  %m#: i32 = mul %d#, %d#\n"
                  "  %x#: i32 = xor %d#, %m#\n");
    shape_end_series(out, n);
}

void shape_pointers(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char last[32] = "%a";
        if (k) snprintf(last, sizeof last, "%%p%u", k - 1);
        shape_put(out, k,
                  "  %i#: i32 = add %v, #\n"
                  "  %c#: i1 = ult %i#, %g\n"
                  "  %t#: ptr.global = ptradd {s}, 4\n"
                  "  %e#: ptr.global = ptradd {s}, 8\n"
                  "  %p#: ptr.global = select %c#, %t#, %e#\n"
                  "  store %v, %p# align 4\n",
                  last, last);
    }
    shape_end(out, "%v");
}

void shape_vectors(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  %w: v4i32 = insert undef, %v, i32 0\n  %x0: v4i32 = insert %w, %g, i32 2\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %s#: v4i32 = shuffle %x#, %x# [{}, {}, {}, {}]\n"
                  "  %x{}: v4i32 = add %s#, %x#\n",
                  k % 4, (k + 5) % 8, (3 * k) % 8, (k + 2) % 8, k + 1);
    shape_put(out, n, "  %e: i32 = extract %x#, i32 1\n");
    shape_end(out, "%e");
}

/* Lanes that are known at run time only. */
void shape_lanes(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  %y0: v16i32 = insert splat(7), %v, i32 3\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %i#: i32 = and $, 15\n"
                  "  %x#: i32 = extract %y#, %i#\n"
                  "  %y{}: v16i32 = insert %y#, %g, %i#\n",
                  k + 1);
    shape_end_series(out, n);
}

void shape_math(FILE *out, uint32_t n) {
    static const char *const calls[] = {"sin", "exp", "log", "atan"};
    shape_begin(out, "k", "");
    fputs("  %f0: f32 = sitofp %v\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %f{}: f32 = {s} %f#\n", k + 1, calls[k % 4]);
    shape_put(out, n, "  %r: i32 = bitcast %f#\n");
    shape_end(out, "%r");
}

void shape_constants(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %x#: i32 = {s} $, {}\n", k % 2 ? "xor" : "mul", 0x10001 * k + 12345);
    shape_end_series(out, n);
}

void shape_atomics(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k % 64);
        shape_put(out, k, "  %x#: i32 = atomic_add %p#, %v device relaxed\n");
    }
    shape_end_series(out, n);
}

/* ------------------------------------------------------------------------------------ branching */

void shape_diamonds(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_put(out, k, "  %c#: i1 = ult $, i32 {}\n  br %c#, t#, e#\nt#:\n", 3 * k + 1);
        shape_element(out, k, k);
        shape_put(out, k,
                  "  store $, %p# align 4\n"
                  "  %t#: i32 = add $, %g\n"
                  "  jmp j#\n"
                  "e#:\n"
                  "  %e#: i32 = mul $, %g\n"
                  "  jmp j#\n"
                  "j#:\n"
                  "  %x#: i32 = phi [t#: %t#, e#: %e#]\n");
    }
    shape_end_series(out, n);
}

/* A store on one arm, and a load after the arms have met. */
void shape_meetings(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k % 16);
        shape_put(out, k,
                  "  %c#: i1 = ult $, i32 {}\n"
                  "  br %c#, t#, j#\n"
                  "t#:\n"
                  "  store $, %p# align 4\n"
                  "  jmp j#\n"
                  "j#:\n"
                  "  %x#: i32 = load %p# align 4\n",
                  k + 1);
    }
    shape_end_series(out, n);
}

void shape_nested_ifs(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_put(out, k,
                  "  %b#: i32 = add %g, {}\n"
                  "  %c#: i1 = ult %v, %b#\n"
                  "  br %c#, t#, j#\n"
                  "t#:\n",
                  k + 1);
        shape_element(out, k, k);
        shape_put(out, k, "  store %v, %p# align 4\n");
    }
    for (uint32_t k = n; k-- > 0;)
        shape_put(out, k, "  jmp j#\nj#:\n  store %g, %q align 4 volatile\n");
    shape_end(out, "%v");
}

/* Checks that share one exit. */
void shape_exits(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k);
        shape_put(out, k,
                  "  %x#: i32 = load %p# align 4\n"
                  "  %c#: i1 = ult %x#, %g\n"
                  "  br %c#, n#, out\n"
                  "n#:\n"
                  "  store %v, %p# align 4\n");
    }
    fputs("  jmp out\nout:\n", out);
    shape_end(out, "%v");
}

void shape_switch(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  switch %v, other [", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "{s}{}: c#", k ? ", " : "", 37 * k);
    fputs("]\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "c#:\n"
                  "  %x#: i32 = mul %g, {}\n"
                  "  store %x#, %a align 4 volatile\n"
                  "  jmp join\n",
                  5 * k + 3);
    fputs("other:\n  jmp join\njoin:\n  %r: i32 = phi [other: %v", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, ", c#: %x#");
    fputs("]\n", out);
    shape_end(out, "%r");
}

/* Cycles that are entered at two places. */
void shape_irreducible(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    shape_put(out, 0, "  %c: i1 = ult %v, i32 5\n  br %c, l0, l{}\n", n / 2);
    for (uint32_t k = 0; k < n; k++) {
        char next[32] = "out";
        if (k + 1 < n) snprintf(next, sizeof next, "l%u", k + 1);
        shape_put(out, k, "l#:\n");
        shape_element(out, k, k);
        shape_put(out, k,
                  "  %x#: i32 = load %p# align 4\n"
                  "  %y#: i32 = add %x#, %g\n"
                  "  store %y#, %p# align 4\n"
                  "  %c#: i1 = ult %x#, i32 {}\n"
                  "  br %c#, {s}, l{}\n",
                  k + 1, next, (7 * k + 3) % n);
    }
    fputs("out:\n", out);
    shape_end(out, "%v");
}

/* ---------------------------------------------------------------------------------------- loops */

/* A loop that is entered from block <letter><k-1>, or from the entry. */
static void open_loop(FILE *out, uint32_t k, char letter) {
    char from[32] = "entry";
    if (k) snprintf(from, sizeof from, "%c%u", letter, k - 1);
    shape_put(out, k,
              "  jmp h#\n"
              "h#:\n"
              "  %i#: i32 = phi [{s}: 0, z#: %n#]\n"
              "  %c#: i1 = ult %i#, %g\n"
              "  br %c#, b#, x#\n"
              "b#:\n",
              from);
}

static void close_loop(FILE *out, uint32_t k) {
    shape_put(out, k,
              "  jmp z#\n"
              "z#:\n"
              "  %n#: i32 = add %i#, 1\n"
              "  jmp h#\n"
              "x#:\n");
}

/* %a[%i<k>] += %v */
static void update(FILE *out, uint32_t k) {
    shape_put(out, k,
              "  %w#: i64 = zext %i#\n"
              "  %o#: i64 = shl %w#, 2\n"
              "  %p#: ptr.global = ptradd %a, %o# inbounds\n"
              "  %l#: i32 = load %p# align 4\n"
              "  %s#: i32 = add %l#, %v\n"
              "  store %s#, %p# align 4\n");
}

void shape_loops(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        open_loop(out, k, 'x');
        update(out, k);
        close_loop(out, k);
    }
    shape_end(out, "%v");
}

void shape_nest(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) open_loop(out, k, 'b');
    if (n) update(out, n - 1);
    for (uint32_t k = n; k-- > 0;) close_loop(out, k);
    shape_end(out, "%v");
}

/* A loop in which n values change places. */
void shape_phis(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %s#: i32 = mul %v, {}\n", 2 * k + 3);
    fputs("  jmp h\nh:\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %y#: i32 = phi [entry: %s#, b: %y{}]\n", (k + 1) % n);
    fputs("  %i: i32 = phi [entry: 0, b: %n]\n"
          "  %c: i1 = ult %i, %g\n"
          "  br %c, b, x\n"
          "b:\n"
          "  %n: i32 = add %i, 1\n"
          "  jmp h\n"
          "x:\n",
          out);
    shape_fold(out, n, "y");
    shape_end_series(out, n);
}

/* A loop with n accesses to a fixed place each. */
void shape_loop_body(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    open_loop(out, 0, 'x');
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, 2 * k);
        shape_put(out, k,
                  "  %k#: i32 = load %p# align 4\n"
                  "  %m#: i32 = add %k#, %i0\n"
                  "  store %m#, %p# align 4\n");
    }
    close_loop(out, 0);
    shape_end(out, "%v");
}

/* n blocks, through which n values live. */
void shape_blocks_and_values(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k + 7);
        shape_put(out, k, "  %l#: i32 = load %p# align 4\n");
    }
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %c#: i1 = ult i32 #, %v\n"
                  "  br %c#, t#, j#\n"
                  "t#:\n"
                  "  %b#: ptr.global = ptradd %b, {} inbounds\n"
                  "  store %g, %b# align 4\n"
                  "  jmp j#\n"
                  "j#:\n",
                  4 * k);
    shape_fold(out, n, "l");
    shape_end_series(out, n);
}
