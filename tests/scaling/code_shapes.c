/* code_shapes.c — one kernel whose code grows: straight, branching, looping, waiting.
 *
 * Every kernel begins with its id %g, the address %q of its element of buffer %a, and what is
 * there, %v, and ends with a store to it.
 */
#include "tests/scaling/shapes.h"
#include "tests/scaling/shapes_impl.h"

/* ------------------------------------------------------------------------------------- parts */

void shape_begin(FILE *out, const char *name, const char *more_params) {
    fprintf(out,
            "kernel @%s(%%a: ptr.global of i32%s) {\nentry:\n  %%gl: i64 = global_id 0\n"
            "  %%g: i32 = trunc %%gl\n  %%go: i64 = shl %%gl, 2\n"
            "  %%q: ptr.global = ptradd %%a, %%go inbounds\n  %%v: i32 = load %%q align 4\n",
            name, more_params);
}

void shape_end(FILE *out, const char *value) {
    fprintf(out, "  store %s, %%q align 4\n  ret\n}\n", value);
}

/* The last of a series of values, "%v" when there is none. */
static void end_series(FILE *out, const char *series, uint32_t n) {
    char name[32] = "%v";
    if (n) snprintf(name, sizeof name, "%%%s%u", series, n - 1);
    shape_end(out, name);
}

/* "%x<k-1>", or "%v" at the start. */
static void print_last(FILE *out, const char *series, uint32_t k) {
    if (k)
        fprintf(out, "%%%s%u", series, k - 1);
    else
        fputs("%v", out);
}

static void arithmetic(FILE *out, const char *series, uint32_t k, const char *op,
                       const char *right) {
    fprintf(out, "  %%%s%u: i32 = %s ", series, k, op);
    print_last(out, series, k);
    fprintf(out, ", %s\n", right);
}

/* The address of element k of %a. */
static void element(FILE *out, const char *name, uint32_t k, uint32_t index) {
    fprintf(out, "  %%%s%u: ptr.global = ptradd %%a, %u inbounds\n", name, k, 4 * index);
}

static const char *const ops[] = {"add", "mul", "xor", "sub"};

/* -------------------------------------------------------------------------------- straight code */

void shape_chain(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) arithmetic(out, "x", k, ops[k % 4], k % 3 ? "%g" : "%v");
    end_series(out, "x", n);
}

void shape_loads(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        element(out, "p", k, k);
        fprintf(out, "  %%l%u: i32 = load %%p%u align 4\n", k, k);
        snprintf(right, sizeof right, "%%l%u", k);
        arithmetic(out, "x", k, "xor", right);
    }
    end_series(out, "x", n);
}

/* One address, in as many blocks as there are loads. */
void shape_address(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %n: i32");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%c%u: i1 = slt ", k);
        print_last(out, "l", k);
        fprintf(out,
                ", %%n\n  br %%c%u, t%u, e%u\nt%u:\n  store i32 %u, %%q align 4\n  jmp e%u\ne%u:\n"
                "  %%l%u: i32 = load %%q align 4\n",
                k, k, k, k, k, k, k, k);
    }
    end_series(out, "l", n);
}

void shape_stores(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k);
        fprintf(out, "  %%x%u: i32 = xor %%v, %u\n  store %%x%u, %%p%u align 4\n", k, k + 1, k, k);
    }
    end_series(out, "x", n);
}

/* Loads from an address that was loaded, stores to constant ones: everything may be everything. */
void shape_alias(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%i%u: i64 = zext ", k);
        print_last(out, "x", k);
        fprintf(out,
                "\n  %%o%u: i64 = shl %%i%u, 2\n  %%r%u: ptr.global = ptradd %%a, %%o%u inbounds\n"
                "  %%x%u: i32 = load %%r%u align 4\n",
                k, k, k, k, k, k);
        element(out, "p", k, k);
        fprintf(out, "  store %%x%u, %%p%u align 4\n", k, k);
    }
    end_series(out, "x", n);
}

/* As an unrolled stencil: three loads next to each other, and a store in between. */
void shape_stencil(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32");
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t t = 0; t < 3; t++) {
            element(out, "p", 3 * k + t, k + t);
            fprintf(out, "  %%l%u: i32 = load %%p%u align 4\n", 3 * k + t, 3 * k + t);
        }
        fprintf(out,
                "  %%s%u: i32 = add %%l%u, %%l%u\n  %%x%u: i32 = add %%s%u, %%l%u\n"
                "  %%b%u: ptr.global = ptradd %%b, %u inbounds\n  store %%x%u, %%b%u align 4\n",
                k, 3 * k, 3 * k + 1, k, k, 3 * k + 2, k, 4 * k, k, k);
    }
    end_series(out, "x", n);
}

/* n values that are all needed at the end, and stores that may change what was loaded. */
void shape_live(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%t%u: i32 = mul %%v, %u\n  store %%t%u, %%q align 4 volatile\n", k,
                2 * k + 3, k);
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        snprintf(right, sizeof right, "%%t%u", n - 1 - k);
        arithmetic(out, "x", k, k % 2 ? "xor" : "sub", right);
    }
    end_series(out, "x", n);
}

void shape_selects(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%c%u: i1 = ult ", k);
        print_last(out, "x", k);
        fprintf(out, ", %%g\n  %%t%u: i32 = add ", k);
        print_last(out, "x", k);
        fprintf(out, ", %u\n  %%e%u: i32 = xor ", k + 1, k);
        print_last(out, "x", k);
        fprintf(out, ", %u\n  %%x%u: i32 = select %%c%u, %%t%u, %%e%u\n", 3 * k + 1, k, k, k, k);
    }
    end_series(out, "x", n);
}

/* A graph of n sums whose tree has 2^n. */
void shape_doubling(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%d%u: i32 = add ", k);
        print_last(out, "x", k);
        fputs(", ", out);
        print_last(out, "x", k);
        fprintf(out, "\n  %%m%u: i32 = mul %%d%u, %%d%u\n  %%x%u: i32 = xor %%d%u, %%m%u\n", k, k,
                k, k, k, k);
    }
    end_series(out, "x", n);
}

void shape_pointers(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char last[32] = "%a";
        if (k) snprintf(last, sizeof last, "%%p%u", k - 1);
        fprintf(out,
                "  %%i%u: i32 = add %%v, %u\n  %%c%u: i1 = ult %%i%u, %%g\n"
                "  %%t%u: ptr.global = ptradd %s, 4\n  %%e%u: ptr.global = ptradd %s, 8\n"
                "  %%p%u: ptr.global = select %%c%u, %%t%u, %%e%u\n  store %%v, %%p%u align 4\n",
                k, k, k, k, k, last, k, last, k, k, k, k, k);
    }
    shape_end(out, "%v");
}

void shape_vectors(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  %w: v4i32 = insert undef, %v, i32 0\n  %x0: v4i32 = insert %w, %g, i32 2\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out,
                "  %%s%u: v4i32 = shuffle %%x%u, %%x%u [%u, %u, %u, %u]\n"
                "  %%x%u: v4i32 = add %%s%u, %%x%u\n",
                k, k, k, k % 4, (k + 5) % 8, (3 * k) % 8, (k + 2) % 8, k + 1, k, k);
    fprintf(out, "  %%e: i32 = extract %%x%u, i32 1\n", n);
    shape_end(out, "%e");
}

/* Lanes that are known at run time only. */
void shape_lanes(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  %y0: v16i32 = insert splat(7), %v, i32 3\n", out);
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%i%u: i32 = and ", k);
        print_last(out, "x", k);
        fprintf(out,
                ", 15\n  %%x%u: i32 = extract %%y%u, %%i%u\n"
                "  %%y%u: v16i32 = insert %%y%u, %%g, %%i%u\n",
                k, k, k, k + 1, k, k);
    }
    end_series(out, "x", n);
}

void shape_math(FILE *out, uint32_t n) {
    static const char *const calls[] = {"sin", "exp", "log", "atan"};
    shape_begin(out, "k", "");
    fputs("  %f0: f32 = sitofp %v\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%f%u: f32 = %s %%f%u\n", k + 1, calls[k % 4], k);
    fprintf(out, "  %%r: i32 = bitcast %%f%u\n", n);
    shape_end(out, "%r");
}

void shape_constants(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        snprintf(right, sizeof right, "%u", 0x10001 * k + 12345);
        arithmetic(out, "x", k, k % 2 ? "xor" : "mul", right);
    }
    end_series(out, "x", n);
}

void shape_atomics(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k % 64);
        fprintf(out, "  %%x%u: i32 = atomic_add %%p%u, %%v device relaxed\n", k, k);
    }
    end_series(out, "x", n);
}

/* --------------------------------------------------------------------------------- branching */

void shape_diamonds(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%c%u: i1 = ult ", k);
        print_last(out, "x", k);
        fprintf(out, ", i32 %u\n  br %%c%u, t%u, e%u\nt%u:\n", 3 * k + 1, k, k, k, k);
        element(out, "p", k, k);
        fputs("  store ", out);
        print_last(out, "x", k);
        fprintf(out, ", %%p%u align 4\n  %%t%u: i32 = add ", k, k);
        print_last(out, "x", k);
        fprintf(out, ", %%g\n  jmp j%u\ne%u:\n  %%e%u: i32 = mul ", k, k, k);
        print_last(out, "x", k);
        fprintf(out, ", %%g\n  jmp j%u\nj%u:\n  %%x%u: i32 = phi [t%u: %%t%u, e%u: %%e%u]\n", k, k,
                k, k, k, k, k);
    }
    end_series(out, "x", n);
}

/* Stores on one arm, and a load behind the meeting. */
void shape_meetings(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k % 16);
        fprintf(out, "  %%c%u: i1 = ult ", k);
        print_last(out, "x", k);
        fprintf(out, ", i32 %u\n  br %%c%u, t%u, j%u\nt%u:\n  store ", k + 1, k, k, k, k);
        print_last(out, "x", k);
        fprintf(out, ", %%p%u align 4\n  jmp j%u\nj%u:\n", k, k, k);
        fprintf(out, "  %%x%u: i32 = load %%p%u align 4\n", k, k);
    }
    end_series(out, "x", n);
}

void shape_nested_ifs(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "  %%b%u: i32 = add %%g, %u\n  %%c%u: i1 = ult %%v, %%b%u\n", k, k + 1, k, k);
        fprintf(out, "  br %%c%u, t%u, j%u\nt%u:\n", k, k, k, k);
        element(out, "p", k, k);
        fprintf(out, "  store %%v, %%p%u align 4\n", k);
    }
    for (uint32_t k = n; k-- > 0;)
        fprintf(out, "  jmp j%u\nj%u:\n  store %%g, %%q align 4 volatile\n", k, k);
    shape_end(out, "%v");
}

/* Checks that share one exit. */
void shape_exits(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k);
        fprintf(out,
                "  %%x%u: i32 = load %%p%u align 4\n  %%c%u: i1 = ult %%x%u, %%g\n"
                "  br %%c%u, n%u, out\nn%u:\n  store %%v, %%p%u align 4\n",
                k, k, k, k, k, k, k, k);
    }
    fputs("  jmp out\nout:\n", out);
    shape_end(out, "%v");
}

void shape_switch(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fputs("  switch %v, other [", out);
    for (uint32_t k = 0; k < n; k++) fprintf(out, "%s%u: c%u", k ? ", " : "", 37 * k, k);
    fputs("]\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out,
                "c%u:\n  %%x%u: i32 = mul %%g, %u\n  store %%x%u, %%a align 4 volatile\n"
                "  jmp join\n",
                k, k, 5 * k + 3, k);
    fputs("other:\n  jmp join\njoin:\n  %r: i32 = phi [other: %v", out);
    for (uint32_t k = 0; k < n; k++) fprintf(out, ", c%u: %%x%u", k, k);
    fputs("]\n", out);
    shape_end(out, "%r");
}

/* Cycles that are entered at two places. */
void shape_irreducible(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    fprintf(out, "  %%c: i1 = ult %%v, i32 5\n  br %%c, l0, l%u\n", n / 2);
    for (uint32_t k = 0; k < n; k++) {
        fprintf(out, "l%u:\n", k);
        element(out, "p", k, k);
        fprintf(out,
                "  %%x%u: i32 = load %%p%u align 4\n  %%y%u: i32 = add %%x%u, %%g\n"
                "  store %%y%u, %%p%u align 4\n  %%c%u: i1 = ult %%x%u, i32 %u\n  br %%c%u, ",
                k, k, k, k, k, k, k, k, k + 1, k);
        if (k + 1 < n)
            fprintf(out, "l%u, l%u\n", k + 1, (7 * k + 3) % n);
        else
            fprintf(out, "out, l%u\n", (7 * k + 3) % n);
    }
    fputs("out:\n", out);
    shape_end(out, "%v");
}

/* --------------------------------------------------------------------------------------- loops */

static void open_loop(FILE *out, uint32_t k, const char *from) {
    fprintf(out,
            "  jmp h%u\nh%u:\n  %%i%u: i32 = phi [%s: 0, z%u: %%n%u]\n"
            "  %%c%u: i1 = ult %%i%u, %%g\n  br %%c%u, b%u, x%u\nb%u:\n",
            k, k, k, from, k, k, k, k, k, k, k, k);
}

static void close_loop(FILE *out, uint32_t k) {
    fprintf(out, "  jmp z%u\nz%u:\n  %%n%u: i32 = add %%i%u, 1\n  jmp h%u\nx%u:\n", k, k, k, k, k,
            k);
}

/* %a[%i<k>] += %v */
static void update(FILE *out, uint32_t k) {
    fprintf(out,
            "  %%w%u: i64 = zext %%i%u\n  %%o%u: i64 = shl %%w%u, 2\n"
            "  %%p%u: ptr.global = ptradd %%a, %%o%u inbounds\n  %%l%u: i32 = load %%p%u align 4\n"
            "  %%s%u: i32 = add %%l%u, %%v\n  store %%s%u, %%p%u align 4\n",
            k, k, k, k, k, k, k, k, k, k, k, k);
}

void shape_loops(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char from[32] = "entry";
        if (k) snprintf(from, sizeof from, "x%u", k - 1);
        open_loop(out, k, from);
        update(out, k);
        close_loop(out, k);
    }
    shape_end(out, "%v");
}

void shape_nest(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        char from[32] = "entry";
        if (k) snprintf(from, sizeof from, "b%u", k - 1);
        open_loop(out, k, from);
    }
    if (n) update(out, n - 1);
    for (uint32_t k = n; k-- > 0;) close_loop(out, k);
    shape_end(out, "%v");
}

/* A loop in which n values change places. */
void shape_phis(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) fprintf(out, "  %%s%u: i32 = mul %%v, %u\n", k, 2 * k + 3);
    fputs("  jmp h\nh:\n", out);
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %%y%u: i32 = phi [entry: %%s%u, b: %%y%u]\n", k, k, (k + 1) % n);
    fputs("  %i: i32 = phi [entry: 0, b: %n]\n  %c: i1 = ult %i, %g\n  br %c, b, x\n"
          "b:\n  %n: i32 = add %i, 1\n  jmp h\nx:\n",
          out);
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        snprintf(right, sizeof right, "%%y%u", k);
        arithmetic(out, "x", k, k % 2 ? "xor" : "sub", right);
    }
    end_series(out, "x", n);
}

/* A loop with n accesses to a fixed place each. */
void shape_loop_body(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    open_loop(out, 0, "entry");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "e", k, 2 * k);
        fprintf(out,
                "  %%k%u: i32 = load %%e%u align 4\n  %%m%u: i32 = add %%k%u, %%i0\n"
                "  store %%m%u, %%e%u align 4\n",
                k, k, k, k, k, k);
    }
    close_loop(out, 0);
    shape_end(out, "%v");
}

/* n blocks, through which n values live. */
void shape_blocks_and_values(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %b: ptr.global of i32");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k + 7);
        fprintf(out, "  %%l%u: i32 = load %%p%u align 4\n", k, k);
    }
    for (uint32_t k = 0; k < n; k++)
        fprintf(out,
                "  %%c%u: i1 = ult i32 %u, %%v\n  br %%c%u, t%u, j%u\nt%u:\n"
                "  %%b%u: ptr.global = ptradd %%b, %u inbounds\n  store %%g, %%b%u align 4\n"
                "  jmp j%u\nj%u:\n",
                k, k, k, k, k, k, k, 4 * k, k, k, k);
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        snprintf(right, sizeof right, "%%l%u", k);
        arithmetic(out, "x", k, k % 2 ? "xor" : "sub", right);
    }
    end_series(out, "x", n);
}

/* ------------------------------------------------------------------------------------- barriers */

static void barrier(FILE *out) { fputs("  barrier workgroup workgroup seq_cst global\n", out); }

void shape_barriers(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k);
        fprintf(out, "  store %%g, %%p%u align 4 volatile\n", k);
        barrier(out);
    }
    shape_end(out, "%v");
}

/* n barriers in a loop, each with a value of its own that lives over it. */
void shape_loop_barriers(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %m: i32");
    fputs("  jmp h\nh:\n  %i: i32 = phi [entry: 0, b: %j]\n  %c: i1 = ult %i, %m\n"
          "  br %c, b, x\nb:\n",
          out);
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        element(out, "p", k, k);
        fprintf(out, "  store %%g, %%p%u align 4\n", k);
        barrier(out);
        fprintf(out, "  %%l%u: i32 = load %%p%u align 4\n", k, k);
        snprintf(right, sizeof right, "%%l%u", k);
        arithmetic(out, "x", k, "add", right);
    }
    fputs("  %j: i32 = add %i, 1\n  jmp h\nx:\n", out);
    shape_end(out, "%i");
}

/* n values that live over 16 barriers. */
void shape_kept_values(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        element(out, "p", k, k + 7);
        fprintf(out, "  %%l%u: i32 = load %%p%u align 4 volatile\n", k, k);
    }
    for (uint32_t k = 0; k < 16; k++) {
        fprintf(out, "  store %%g, %%p%u align 4 volatile\n", k);
        barrier(out);
    }
    for (uint32_t k = 0; k < n; k++) {
        char right[32];
        snprintf(right, sizeof right, "%%l%u", k);
        arithmetic(out, "x", k, k % 2 ? "xor" : "sub", right);
    }
    end_series(out, "x", n);
}
