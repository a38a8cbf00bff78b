/* waiting_shapes.c — kernels whose barriers, and values that live over barriers, grow. */
#include "tests/scaling/shapes_impl.h"

#define BARRIER "  barrier workgroup workgroup seq_cst global\n"

void shape_barriers(FILE *out, uint32_t n) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k);
        shape_put(out, k, "  store %g, %p# align 4 volatile\n" BARRIER);
    }
    shape_end(out, "%v");
}

static void open_waiting_loop(FILE *out) {
    fputs("  jmp h\n"
          "h:\n"
          "  %i: i32 = phi [entry: 0, b: %j]\n"
          "  %c: i1 = ult %i, %m\n"
          "  br %c, b, x\n"
          "b:\n",
          out);
}

static void close_waiting_loop(FILE *out) {
    fputs("  %j: i32 = add %i, 1\n  jmp h\nx:\n", out);
    shape_end(out, "%i");
}

/* n barriers in a loop, each with a value of its own that lives over it. */
void shape_loop_barriers(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %m: i32");
    open_waiting_loop(out);
    for (uint32_t k = 0; k < n; k++) {
        shape_element(out, k, k);
        shape_put(out, k,
                  "  store %g, %p# align 4\n" BARRIER "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add $, %l#\n");
    }
    close_waiting_loop(out);
}

/* n barriers in a loop, each with a load from an address that does not change in the loop. */
void shape_loop_addresses(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %m: i32");
    open_waiting_loop(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  store %g, %q align 4\n" BARRIER "  %y#: i32 = xor %g, {}\n"
                  "  %w#: i64 = zext %y#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.global = ptradd %a, %o# inbounds\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add $, %l#\n",
                  k + 1);
    shape_put(out, n, "  store $, %q align 4 volatile\n");
    close_waiting_loop(out);
}

/* n barriers in a loop, each with an address of one family, whose base is loaded. */
void shape_loop_families(FILE *out, uint32_t n) {
    shape_begin(out, "k", ", %m: i32");
    fputs("  %base: i32 = load %q align 4 volatile\n  %wide: i64 = zext %base\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %o#: i64 = mul %wide, {}\n  %p#: ptr.global = ptradd %a, %o# inbounds\n",
                  4 * k + 4);
    open_waiting_loop(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  store %g, %q align 4\n" BARRIER "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add $, %l#\n");
    shape_put(out, n, "  store $, %q align 4 volatile\n");
    close_waiting_loop(out);
}

static void keep_values(FILE *out, uint32_t values, uint32_t barriers) {
    shape_begin(out, "k", "");
    for (uint32_t k = 0; k < values; k++) {
        shape_element(out, k, k + 7);
        shape_put(out, k, "  %l#: i32 = load %p# align 4 volatile\n");
    }
    for (uint32_t k = 0; k < barriers; k++) {
        shape_put(out, k, "  %w#: ptr.global = ptradd %a, {} inbounds\n", 4 * k);
        shape_put(out, k, "  store %g, %w# align 4 volatile\n" BARRIER);
    }
    shape_fold(out, values, "l");
    shape_end_series(out, values);
}

void shape_kept_values(FILE *out, uint32_t n) { keep_values(out, n, 16); }
/* As many barriers as values. */
void shape_kept_over_all(FILE *out, uint32_t n) { keep_values(out, n, n); }
