/* lane_shapes.c — kernels that become vector code, and grow in what the vectorizer looks at.
 *
 * They have the parts that those of code_shapes.c have, and read %b, of which each form of access
 * has its own addresses.
 */
#include "tests/scaling/shapes_impl.h"

#define MORE_PARAMS ", %b: ptr.global of i32, %m: i32"

static void begin(FILE *out) { shape_begin(out, "k", MORE_PARAMS); }

static void end(FILE *out, uint32_t n) { shape_put(out, n, "  store $, %q align 4\n  ret\n}\n"); }

/* ------------------------------------------------------------------------------ loops over items */

/* Two barriers each, with a value of another item: twice as many loops over items. */
void shape_item_loops(FILE *out, uint32_t n) {
    fputs("@part: local [1024 x i32] align 4\n", out);
    begin(out);
    fputs("  %h: i64 = local_id 0\n"
          "  %f: i64 = shl %h, 2\n"
          "  %s: ptr.local = ptradd @part, %f\n"
          "  %e: i64 = xor %f, 512\n"
          "  %t: ptr.local = ptradd @part, %e\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  barrier workgroup workgroup seq_cst local\n"
                  "  store $, %s align 4\n"
                  "  barrier workgroup workgroup seq_cst local\n"
                  "  %l#: i32 = load %t align 4\n"
                  "  %x#: i32 = mul %l#, $\n");
    end(out, n);
}

/* Conditions and clamps of ids, each of which holds in an interval. */
void shape_index_sets(FILE *out, uint32_t n) {
    begin(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %t#: i32 = add %g, {}\n"
                  "  %u#: i32 = smin %t#, %m\n"
                  "  %w#: i64 = sext %u#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.global = ptradd %b, %o#\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = sub %l#, $\n",
                  k + 1);
    end(out, n);
}

/* Rows of items that share what does not depend on y. */
void shape_rows(FILE *out, uint32_t n) {
    begin(out);
    fputs("  %y: i64 = global_id 1\n"
          "  %yo: i64 = shl %y, 2\n"
          "  %r: ptr.global = ptradd %b, %go\n"
          "  %s: ptr.global = ptradd %b, %yo\n",
          out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %r, {}\n"
                  "  %e#: ptr.global = ptradd %s, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %f#: i32 = load %e# align 4\n"
                  "  %t#: i32 = mul %l#, %f#\n"
                  "  %x#: i32 = add %t#, $\n",
                  4096 * k, 8192 * k);
    shape_put(out, n,
              "  %z: i64 = shl %y, 12\n"
              "  %w: ptr.global = ptradd %q, %z\n"
              "  store $, %w align 4\n  ret\n}\n");
}

/* ------------------------------------------------------------------------------------- accesses */

void shape_contiguous(FILE *out, uint32_t n) {
    begin(out);
    fputs("  %r: ptr.global = ptradd %b, %go\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %r, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = xor %l#, $\n"
                  "  store %x#, %p# align 4\n",
                  4096 * k);
    end(out, n);
}

/* Members of a structure with one member for each load: lanes are apart. */
void shape_members_of_items(FILE *out, uint32_t n) {
    begin(out);
    shape_put(out, 0, "  %w: i64 = mul %gl, {}\n  %r: ptr.global = ptradd %b, %w\n", 4 * n);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %r, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = mul %l#, $\n"
                  "  store %x#, %p# align 4\n",
                  4 * k);
    end(out, n);
}

/* Structures of four members, interleaved with those of other items. */
void shape_groups(FILE *out, uint32_t n) {
    begin(out);
    fputs("  %w: i64 = shl %gl, 4\n  %r: ptr.global = ptradd %b, %w\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %p#: ptr.global = ptradd %r, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = mul %l#, $\n",
                  4096 * (k / 4) + 4 * (k % 4));
    end(out, n);
}

void shape_gathers(FILE *out, uint32_t n) {
    begin(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %m#: i32 = and $, 1023\n"
                  "  %w#: i64 = zext %m#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.global = ptradd %b, %o#\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = mul %l#, {}\n",
                  2 * k + 3);
    end(out, n);
}

/* --------------------------------------------------------------------------------- inner loops */

/* Loop k goes from block e<k> to e<k+1>, with rounds %i<k> up to a bound. */
static void begin_loops(FILE *out) { fputs("  jmp e0\ne0:\n", out); }

/* Each sums a row of its own, and is cut into strips. */
void shape_strips(FILE *out, uint32_t n) {
    begin(out);
    fputs("  %ml: i64 = sext %m\n"
          "  %w: i64 = mul %gl, %ml\n"
          "  %wo: i64 = shl %w, 2\n"
          "  %r: ptr.global = ptradd %b, %wo\n",
          out);
    begin_loops(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %r#: ptr.global = ptradd %r, {}\n"
                  "  jmp h#\n"
                  "h#:\n"
                  "  %i#: i64 = phi [e#: 0, h#: %n#]\n"
                  "  %s#: i32 = phi [e#: $, h#: %x#]\n"
                  "  %o#: i64 = shl %i#, 2\n"
                  "  %p#: ptr.global = ptradd %r#, %o#\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add %l#, %s#\n"
                  "  %n#: i64 = add %i#, 1 nsw nuw\n"
                  "  %c#: i1 = ult %n#, %ml\n"
                  "  br %c#, h#, e{}\n"
                  "e{}:\n",
                  k << 16, k + 1, k + 1);
    end(out, n);
}

/* Lanes leave each loop one by one. */
void shape_left_loops(FILE *out, uint32_t n) {
    begin(out);
    begin_loops(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  jmp h#\n"
                  "h#:\n"
                  "  %s#: i32 = phi [e#: $, h#: %x#]\n"
                  "  %t#: i32 = mul %s#, {}\n"
                  "  %x#: i32 = lshr %t#, 1\n"
                  "  %c#: i1 = ult %m, %x#\n"
                  "  br %c#, h#, e{}\n"
                  "e{}:\n",
                  2 * k + 3, k + 1, k + 1);
    end(out, n);
}

/* Values of lanes that change places in each round. */
void shape_lane_phis(FILE *out, uint32_t n) {
    begin(out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %s#: i32 = mul %v, {}\n", 2 * k + 3);
    fputs("  jmp h\nh:\n", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %y#: i32 = phi [entry: %s#, h: %z#]\n");
    fputs("  %i: i32 = phi [entry: 0, h: %n]\n", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %z#: i32 = add %y{}, #\n", (k + 1) % n);
    fputs("  %n: i32 = add %i, 1\n  %c: i1 = ult %n, %m\n  br %c, h, x\nx:\n", out);
    for (uint32_t k = 0; k < n; k++) shape_put(out, k, "  %x#: i32 = xor $, %z#\n");
    end(out, n);
}

/* Loops in each other, with a load in each; all items do the same rounds, or leave one by one. */
static void write_nest(FILE *out, uint32_t n, const char *bound) {
    begin(out);
    begin_loops(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  jmp h#\n"
                  "h#:\n"
                  "  %i#: i32 = phi [e#: 0, z#: %n#]\n"
                  "  %f#: ptr.global = ptradd %q, {}\n"
                  "  %l#: i32 = load %f# align 4\n"
                  "  %x#: i32 = mul %l#, $\n"
                  "  jmp e{}\n"
                  "e{}:\n",
                  4096 * k + 4096, k + 1, k + 1);
    shape_put(out, n, "  store $, %q align 4\n  jmp z{}\n", n - 1);
    for (uint32_t k = n; k-- > 0;)
        shape_put(out, k,
                  "z#:\n"
                  "  %n#: i32 = add %i#, 1 nsw\n"
                  "  %c#: i1 = slt %n#, {s}\n"
                  "  br %c#, h#, {s}{}\n",
                  bound, k ? "z" : "y", k ? k - 1 : 0);
    fputs("y0:\n  ret\n}\n", out);
}

void shape_lane_nest(FILE *out, uint32_t n) { write_nest(out, n, "%m"); }
void shape_left_nest(FILE *out, uint32_t n) { write_nest(out, n, "%v"); }

/* --------------------------------------------------------------------------------------- masks */

/* Blocks with memory, under masks of their own, one after the other. */
void shape_masks(FILE *out, uint32_t n) {
    begin(out);
    begin_loops(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %c#: i1 = slt $, i32 {}\n"
                  "  br %c#, t#, j#\n"
                  "t#:\n"
                  "  %p#: ptr.global = ptradd %q, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  jmp j#\n"
                  "j#:\n"
                  "  %y#: i32 = phi [e#: $, t#: %l#]\n"
                  "  %x#: i32 = mul %y#, 3\n"
                  "  jmp e{}\n"
                  "e{}:\n",
                  k + 1, 4096 * k + 4096, k + 1, k + 1);
    end(out, n);
}

/* The same within each other: items of each block are some of the one around it. */
void shape_nested_masks(FILE *out, uint32_t n) {
    begin(out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %c#: i1 = slt $, i32 {}\n"
                  "  br %c#, t#, j#\n"
                  "t#:\n"
                  "  %p#: ptr.global = ptradd %q, {}\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = mul %l#, $\n",
                  k + 1, 4096 * k + 4096);
    shape_put(out, n, "  store $, %q align 4\n");
    for (uint32_t k = n; k-- > 0;) shape_put(out, k, "  jmp j#\nj#:\n");
    fputs("  ret\n}\n", out);
}

/* Elements of an array of each item, which are chosen by the item. */
void shape_lane_arrays(FILE *out, uint32_t n) {
    begin(out);
    fputs("  %t: ptr.private = alloca [64 x i32] align 4\n  fill %t, i8 0, i64 256 align 4\n", out);
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k,
                  "  %m#: i32 = and $, 63\n"
                  "  %w#: i64 = zext %m#\n"
                  "  %o#: i64 = shl %w#, 2\n"
                  "  %p#: ptr.private = ptradd %t, %o#\n"
                  "  %l#: i32 = load %p# align 4\n"
                  "  %x#: i32 = add %l#, {}\n"
                  "  store %x#, %p# align 4\n",
                  2 * k + 3);
    end(out, n);
}
