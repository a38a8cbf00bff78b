/* promote_test.c — which buffers become private or local memory, where their bytes are then, and
 * why others stay.
 *
 * Each row has what the first kernel does with the buffer %x, and what the second does, as lines of
 * IR; %g is the global id, %l the local id, %y another buffer.
 */
#include "tests/passes/world.h"

typedef struct {
    const char *what;
    pass_promote kind;
    const char *first, *second;
    const char *range[2];
    const char *rule;                /* of the decision about the buffer */
    const char *text;                /* what it says */
    uint64_t elements, element_size; /* 0: not said */
    bool assume;
} row;

#define AT(name, index, size)                                                                      \
    " %" name "o: i64 = mul " index ", " size "\n %" name ": ptr.global = ptradd %x, %" name "o\n"
#define WRITE_OWN AT("p", "%g", "4") " store i32 7, %p align 4\n"
#define READ_OWN AT("p", "%g", "4") " %t: i32 = load %p align 4\n" USE("%t")
#define USE(v) " %zo: i64 = mul %g, 4\n %z: ptr.global = ptradd %y, %zo\n store " v ", %z align 4\n"
#define LINE                                                                                       \
    { "64/16", "64/16" }

/* The lanes of a vector, turned by one 4 and 16 times. */
#define TURN(from, to) " %" to ": v4i32 = shuffle %" from ", %" from " [1, 2, 3, 0]\n"
#define TURN4(from, to)                                                                            \
    TURN(from, to "a") TURN(to "a", to "b") TURN(to "b", to "c") TURN(to "c", to)
#define TURN16(from, to)                                                                           \
    TURN4(from, to "i") TURN4(to "i", to "j") TURN4(to "j", to "k") TURN4(to "k", to)

static const row rows[] = {
    {"a lane that comes a long way", PASS_PROMOTE_PRIVATE,
     AT("p", "%g", "16") " store i32 7, %p align 4\n",
     AT("p", "%g", "16") " %v: v4i32 = load %p align 4\n" TURN16("v", "w") TURN16("w", "r")
         TURN4("r", "u") " %t: i32 = extract %u, i32 1\n" USE("%t"),
     LINE, "promote.unassigned", NULL, 0, 0, false},
    {"the lane that is written comes a long way", PASS_PROMOTE_PRIVATE,
     AT("p", "%g", "16") " store i32 7, %p align 4\n",
     AT("p", "%g", "16") " %v: v4i32 = load %p align 4\n" TURN16("v", "w") TURN16("w", "r")
         TURN4("r", "u") " %t: i32 = extract %u, i32 0\n" USE("%t"),
     LINE, "promote.private", NULL, 0, 0, false},
    {"an element of each item", PASS_PROMOTE_AUTO, WRITE_OWN, READ_OWN, LINE, "promote.private",
     "write_x is private memory: 4 bytes in each work-item, at offset - 4*global_linear_id", 0, 0,
     false},
    {"an element of each item, no local size",
     PASS_PROMOTE_PRIVATE,
     WRITE_OWN,
     READ_OWN,
     {"60", "60"},
     "promote.private",
     NULL,
     0,
     0,
     false},
    {"asked for as local memory", PASS_PROMOTE_LOCAL, WRITE_OWN, READ_OWN, LINE, "promote.local",
     "write_x is local memory: 64 bytes in each work-group, at offset - 64*group_id.0", 64, 4,
     false},
    {"two elements in a row", PASS_PROMOTE_AUTO,
     AT("p", "%g", "8") " store i32 1, %p align 4\n %q: ptr.global = ptradd %p, 4\n"
                        " store i32 2, %q align 4\n",
     AT("p", "%g", "8") " %q: ptr.global = ptradd %p, 4\n %t: i32 = load %q align 4\n" USE("%t"),
     LINE, "promote.private",
     "write_x is private memory: 8 bytes in each work-item, at offset - 8*global_linear_id", 128, 4,
     false},
    {"two elements, a range apart", PASS_PROMOTE_AUTO,
     WRITE_OWN " %q: ptr.global = ptradd %p, 256\n store i32 2, %q align 4\n",
     READ_OWN " %q: ptr.global = ptradd %p, 256\n %s: i32 = load %q align 4\n store %s, %z align "
              "4\n",
     LINE, "promote.private",
     "write_x is private memory: 8 bytes in each work-item, at offset - 4*global_linear_id, 2 "
     "blocks of 4 bytes from every 256",
     0, 0, false},
    {"less than a range apart", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %q: ptr.global = ptradd %p, 128\n store i32 2, %q align 4\n", READ_OWN, LINE,
     "promote.shared",
     "write_x cannot be private memory: another work-item may use the same bytes: @write writes 4 "
     "bytes at %x + 4*global_id.0, always; @write writes 4 bytes at %x + 4*global_id.0 + 128, "
     "always",
     0, 0, false},
    {"a byte of a word", PASS_PROMOTE_AUTO, WRITE_OWN,
     AT("p", "%g", "4") " %q: ptr.global = ptradd %p, 2\n %b: i8 = load %q align 1\n"
                        " %t: i32 = zext %b\n" USE("%t"),
     LINE, "promote.private", NULL, 0, 0, false},
    {"the next element", PASS_PROMOTE_AUTO, WRITE_OWN,
     AT("p", "%g", "4") " %q: ptr.global = ptradd %p, 4\n %t: i32 = load %q align 4\n" USE("%t"),
     LINE, "promote.shared",
     "write_x stays in global memory: another work-item may use the same bytes: @write writes 4 "
     "bytes at %x + 4*global_id.0, always; @read reads 4 bytes at %x + 4*global_id.0 + 4, always",
     0, 0, false},
    {"the other end of the group", PASS_PROMOTE_LOCAL, WRITE_OWN,
     " %w: i64 = sub %g, %l\n %e: i64 = add %w, 15\n %i: i64 = sub %e, %l\n" AT(
         "p", "%i", "4") " %t: i32 = load %p align 4\n" USE("%t"),
     LINE, "promote.local",
     "write_x is local memory: 64 bytes in each work-group, at offset - 64*group_id.0", 64, 4,
     false},
    {"the other end of the group, private", PASS_PROMOTE_PRIVATE, WRITE_OWN,
     " %w: i64 = sub %g, %l\n %e: i64 = add %w, 15\n %i: i64 = sub %e, %l\n" AT(
         "p", "%i", "4") " %t: i32 = load %p align 4\n" USE("%t"),
     LINE, "promote.shared", NULL, 64, 4, false},
    {"local memory without a local size",
     PASS_PROMOTE_LOCAL,
     WRITE_OWN,
     READ_OWN,
     {"64", "64"},
     "promote.work-group",
     "write_x cannot be local memory: the size of work-groups is not specified",
     0,
     0,
     false},
    {"local memory of a remapped member",
     PASS_PROMOTE_LOCAL,
     WRITE_OWN,
     READ_OWN,
     {"64/16", "8,8"},
     "promote.remap",
     NULL,
     0,
     0,
     false},
    {"one shape read as another",
     PASS_PROMOTE_AUTO,
     WRITE_OWN,
     " %h: i64 = global_id 1\n %hh: i64 = mul %h, 8\n %i: i64 = add %hh, %g\n" AT(
         "p", "%i", "4") " %t: i32 = load %p align 4\n"
                         " %zo: i64 = mul %i, 4\n %z: ptr.global = ptradd %y, %zo\n"
                         " store %t, %z align 4\n",
     {"64", "8,8"},
     "promote.private",
     NULL,
     0,
     0,
     false},
    {"a smaller writer",
     PASS_PROMOTE_PRIVATE,
     WRITE_OWN,
     READ_OWN,
     {"32/16", "64/16"},
     "promote.unassigned",
     "write_x cannot be private memory: @read reads 4 bytes at %x + 4*global_id.0, always, and "
     "not all of it is known to be written",
     0,
     0,
     false},
    {"a smaller reader",
     PASS_PROMOTE_PRIVATE,
     WRITE_OWN,
     READ_OWN,
     {"64/16", "32/16"},
     "promote.private",
     NULL,
     0,
     0,
     false},
    {"no item writes", PASS_PROMOTE_PRIVATE, READ_OWN, READ_OWN, LINE, "promote.unassigned", NULL,
     0, 0, false},
    {"half of it is written", PASS_PROMOTE_PRIVATE, AT("p", "%g", "4") " store i16 7, %p align 4\n",
     READ_OWN, LINE, "promote.unassigned", NULL, 0, 0, false},
    {"written in halves", PASS_PROMOTE_AUTO,
     AT("p", "%g", "4") " store i16 7, %p align 4\n %q: ptr.global = ptradd %p, 2\n"
                        " store i16 8, %q align 2\n",
     READ_OWN, LINE, "promote.private", NULL, 0, 0, false},
    {"written under a guard that holds for all items", PASS_PROMOTE_AUTO,
     " %c: i1 = ult %g, i64 64\n br %c, then, done\nthen:\n" WRITE_OWN " jmp done\ndone:\n",
     READ_OWN, LINE, "promote.private", NULL, 0, 0, false},
    {"written under a guard that holds for some items", PASS_PROMOTE_PRIVATE,
     " %c: i1 = ult %g, i64 63\n br %c, then, done\nthen:\n" WRITE_OWN " jmp done\ndone:\n",
     READ_OWN, LINE, "promote.unassigned", NULL, 0, 0, false},
    {"read under the same guard", PASS_PROMOTE_PRIVATE,
     " %c: i1 = ult %g, %n\n br %c, then, done\nthen:\n" WRITE_OWN " jmp done\ndone:\n",
     " %c: i1 = ult %g, %n\n br %c, then, done\nthen:\n" READ_OWN " jmp done\ndone:\n", LINE,
     "promote.private", NULL, 0, 0, false},
    {"read under the opposite guard", PASS_PROMOTE_PRIVATE,
     " %c: i1 = ult %g, %n\n br %c, then, done\nthen:\n" WRITE_OWN " jmp done\ndone:\n",
     " %c: i1 = ult %g, %n\n br %c, done, then\nthen:\n" READ_OWN " jmp done\ndone:\n", LINE,
     "promote.unassigned", NULL, 0, 0, false},
    {"written unless two bits are set, read where they are equal", PASS_PROMOTE_PRIVATE,
     " %a: i1 = trunc %g\n %b: i1 = trunc %n\n %c: i1 = and %a, %b\n br %c, done, "
     "then\nthen:\n" WRITE_OWN " jmp done\ndone:\n",
     " %a: i1 = trunc %g\n %b: i1 = trunc %n\n %c: i1 = xor %a, %b\n br %c, done, "
     "then\nthen:\n" READ_OWN " jmp done\ndone:\n",
     LINE, "promote.unassigned", NULL, 0, 0, false},
    {"written by one of the group", PASS_PROMOTE_LOCAL,
     " %c: i1 = eq %l, i64 0\n br %c, then, done\nthen:\n" WRITE_OWN " jmp done\ndone:\n", READ_OWN,
     LINE, "promote.unassigned", NULL, 0, 0, false},
    {"a loop fills eight, a loop reads them", PASS_PROMOTE_PRIVATE,
     " %s: i64 = mul %g, 32\n jmp loop\nloop:\n %k: i64 = phi [e: 0, loop: %k1]\n"
     " %j: i64 = mul %k, 4\n %i: i64 = add %s, %j\n" AT(
         "p", "%i",
         "1") " store i32 7, %p align 4\n"
              " %k1: i64 = add %k, 1\n %c: i1 = ne %k1, i64 8\n br %c, loop, done\ndone:\n",
     " %s: i64 = mul %g, 32\n jmp loop\nloop:\n %k: i64 = phi [e: 0, body: %k1]\n"
     " %c: i1 = ult %k, i64 8\n br %c, body, done\nbody:\n %j: i64 = mul %k, 4\n"
     " %i: i64 = add %s, %j\n" AT("p", "%i", "1") " %t: i32 = load %p align 4\n" USE(
         "%t") " %k1: i64 = add %k, 1\n jmp loop\ndone:\n",
     LINE, "promote.private",
     "write_x is private memory: 32 bytes in each work-item, at offset - 32*global_linear_id", 512,
     4, false},
    {"a loop fills seven of eight", PASS_PROMOTE_PRIVATE,
     " %s: i64 = mul %g, 32\n jmp loop\nloop:\n %k: i64 = phi [e: 0, loop: %k1]\n"
     " %j: i64 = mul %k, 4\n %i: i64 = add %s, %j\n" AT(
         "p", "%i",
         "1") " store i32 7, %p align 4\n"
              " %k1: i64 = add %k, 1\n %c: i1 = ne %k1, i64 7\n br %c, loop, done\ndone:\n",
     AT("p", "%g", "32") " %q: ptr.global = ptradd %p, 28\n %t: i32 = load %q align 4\n" USE("%t"),
     LINE, "promote.unassigned", NULL, 0, 0, false},
    {"a stride of the range in a loop", PASS_PROMOTE_PRIVATE,
     " jmp loop\nloop:\n %k: i64 = phi [e: 0, loop: %k1]\n %j: i64 = mul %k, 64\n"
     " %i: i64 = add %g, %j\n" AT(
         "p", "%i",
         "4") " store i32 7, %p align 4\n"
              " %k1: i64 = add %k, 1\n %c: i1 = ne %k1, i64 4\n br %c, loop, done\ndone:\n",
     READ_OWN, LINE, "promote.private",
     "write_x is private memory: 16 bytes in each work-item, at offset - 4*global_linear_id, 4 "
     "blocks of 4 bytes from every 256",
     256, 4, false},
    {"a loop that may end early", PASS_PROMOTE_PRIVATE,
     " jmp loop\nloop:\n %k: i64 = phi [e: 0, next: %k1]\n %j: i64 = mul %k, 64\n"
     " %i: i64 = add %g, %j\n" AT(
         "p", "%i",
         "4") " store i32 7, %p align 4\n"
              " %b: i1 = eq %g, %n\n br %b, done, next\nnext:\n"
              " %k1: i64 = add %k, 1\n %c: i1 = ne %k1, i64 4\n br %c, loop, done\ndone:\n",
     AT("p", "%g", "4") " %q: ptr.global = ptradd %p, 256\n %t: i32 = load %q align 4\n" USE("%t"),
     LINE, "promote.unassigned", NULL, 256, 4, false},
    {"read in the loop that writes, before it is over", PASS_PROMOTE_PRIVATE,
     " %s: i64 = mul %g, 32\n jmp loop\nloop:\n %k: i64 = phi [e: 0, loop: %k1]\n"
     " %j: i64 = mul %k, 4\n %i: i64 = add %s, %j\n" AT(
         "p", "%i", "1") " store i32 7, %p align 4\n %d: i64 = sub i64 28, %j\n %l1: i64 = add %s, "
                         "%d\n" AT("q", "%l1", "1") " %t: i32 = load %q align 4\n" USE(
                             "%t") " %k1: i64 = add %k, "
                                   "1\n"
                                   " %c: i1 = ne %k1, i64 "
                                   "8\n br %c, loop, "
                                   "done\ndone:\n",
     " %s: i64 = mul %g, 32\n" AT("p", "%s", "1") " store i32 7, %p align 4\n", LINE,
     "promote.unassigned", NULL, 512, 4, false},
    {"read in the loop that writes, where it has just written", PASS_PROMOTE_PRIVATE,
     " %s: i64 = mul %g, 32\n jmp loop\nloop:\n %k: i64 = phi [e: 0, loop: %k1]\n"
     " %j: i64 = mul %k, 4\n %i: i64 = add %s, %j\n" AT(
         "p", "%i",
         "1") " store i32 7, %p align 4\n %t: i32 = load %p align 4\n" USE("%t") ""
                                                                                 " %k1: i64 = add "
                                                                                 "%k, 1\n %c: i1 = "
                                                                                 "ne %k1, i64 8\n "
                                                                                 "br %c, loop, "
                                                                                 "done\ndone:\n",
     " %s: i64 = mul %g, 32\n" AT("p", "%s", "1") " %t: i32 = load %p align 4\n" USE("%t"), LINE,
     "promote.private", NULL, 512, 4, false},
    {"an index that is loaded", PASS_PROMOTE_PRIVATE, WRITE_OWN,
     " %yo: i64 = mul %g, 8\n %yp: ptr.global = ptradd %y, %yo\n %i: i64 = load %yp align 8\n" AT(
         "p", "%i", "4") " %t: i32 = load %p align 4\n" USE("%t"),
     LINE, "promote.unknown", NULL, 0, 0, false},
    {"an index that is loaded, asserted", PASS_PROMOTE_PRIVATE, WRITE_OWN,
     " %yo: i64 = mul %g, 8\n %yp: ptr.global = ptradd %y, %yo\n %i: i64 = load %yp align 8\n" AT(
         "p", "%i", "4") " %t: i32 = load %p align 4\n store %t, %yp align 4\n",
     LINE, "promote.private",
     "write_x is private memory: 4 bytes in each work-item, at element modulo 1", 64, 4, true},
    {"asserted without numbers", PASS_PROMOTE_PRIVATE, WRITE_OWN, READ_OWN, LINE,
     "promote.elements", NULL, 0, 0, true},
    {"elements that cannot be divided", PASS_PROMOTE_PRIVATE, WRITE_OWN, READ_OWN, LINE,
     "promote.elements",
     "write_x cannot be private memory: its 100 elements cannot be divided among 64 work-items",
     100, 4, false},
    {"fewer elements than items", PASS_PROMOTE_PRIVATE, WRITE_OWN, READ_OWN, LINE,
     "promote.elements", NULL, 32, 4, false},
    {"the address is stored", PASS_PROMOTE_PRIVATE, WRITE_OWN " store %p, %y align 8\n", READ_OWN,
     LINE, "promote.stored",
     "write_x cannot be private memory: @write stores its address in memory", 0, 0, false},
    {"the address is a number", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %n1: i64 = ptrtoint %p\n store %n1, %y align 8\n", READ_OWN, LINE,
     "promote.integer", NULL, 0, 0, false},
    {"the address is compared", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %c: i1 = eq %p, %y\n %n1: i32 = zext %c\n store %n1, %y align 8\n", READ_OWN, LINE,
     "promote.compared", NULL, 0, 0, false},
    {"the address is chosen", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %c: i1 = eq %g, i64 5\n %q: ptr.global = select %c, %p, %y\n"
               " store i32 1, %q align 4\n",
     READ_OWN, LINE, "promote.chosen", NULL, 0, 0, false},
    {"a generic address", PASS_PROMOTE_PRIVATE,
     AT("p", "%g", "4") " %q: ptr.generic = ptrcast %p\n store i32 7, %q align 4\n", READ_OWN, LINE,
     "promote.private", NULL, 0, 0, false},
    {"a generic address that is asked where it leads", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %q: ptr.generic = ptrcast %p\n %n1: i32 = ptr_space %q\n store %n1, %y align 4\n",
     READ_OWN, LINE, "promote.generic",
     "write_x cannot be private memory: @write queries the space of its address", 0, 0, false},
    {"atomics on private memory", PASS_PROMOTE_PRIVATE,
     WRITE_OWN " %a: i32 = atomic_add %p, 1 device relaxed\n", READ_OWN, LINE, "promote.atomic",
     NULL, 0, 0, false},
    {"atomics on local memory", PASS_PROMOTE_LOCAL,
     WRITE_OWN " %a: i32 = atomic_add %p, 1 device relaxed\n", READ_OWN, LINE, "promote.local",
     NULL, 0, 0, false},
    {"volatile", PASS_PROMOTE_PRIVATE, AT("p", "%g", "4") " store i32 7, %p align 4 volatile\n",
     READ_OWN, LINE, "promote.volatile", NULL, 0, 0, false},
    {"too much for an item", PASS_PROMOTE_PRIVATE,
     AT("p", "%g", "32768") " fill %p, i8 1, i64 32768 align 4\n",
     AT("p", "%g", "32768") " %t: i32 = load %p align 4\n" USE("%t"), LINE, "promote.size",
     "write_x cannot be private memory: each work-item would need 32768 bytes, more than 16384", 0,
     0, false},
    {"written twice, never read", PASS_PROMOTE_AUTO, WRITE_OWN, WRITE_OWN, LINE, "promote.private",
     NULL, 0, 0, false},
    {"more bytes than 64 bits can count", PASS_PROMOTE_PRIVATE, WRITE_OWN, READ_OWN, LINE,
     "promote.size",
     "write_x cannot be private memory: each work-item would need 18446744073709551615 bytes, more "
     "than 16384",
     UINT64_C(1) << 63, 128, true},
};

/* -------------------------------------------------------------------------------------- helpers */

typedef struct {
    world w;
    const row *row;
    const pass_promotion *promotions; /* NULL: what the row says */
    uint32_t n;
} trial;

static void fuse(void *user) {
    trial *t = user;
    const row *r = t->row;
    static const char signature[] = "(%x: ptr.global, %y: ptr.global, %n: i64) {\ne:\n"
                                    " %g: i64 = global_id 0\n %l: i64 = local_id 0\n";
    world_parse(&t->w, r->what,
                ir_sprintf(&t->w.arena, "kernel @write%s%s ret\n}\nkernel @read%s%s ret\n}\n",
                           signature, r->first, signature, r->second));
    static const pass_identity same[] = {{0, 0, 1, 0}, {0, 2, 1, 2}};
    const pass_promotion promotion = {.kind = r->kind,
                                      .elements = r->elements,
                                      .element_size = (uint32_t)r->element_size,
                                      .assume = r->assume};
    const pass_fuse_request q = {.identities = same,
                                 .nidentities = 2,
                                 .promotions = t->promotions ? t->promotions : &promotion,
                                 .npromotions = t->promotions ? t->n : 1};
    world_fuse(&t->w, r->what, r->range, q);
}

static const pass_decision *find_decision(const pass_fuse_result *r) {
    for (uint32_t n = 0; n < r->decisions.n; n++)
        if (strncmp(r->decisions.data[n].rule, "promote.", 8) == 0) return &r->decisions.data[n];
    return NULL;
}

/* Nothing is left of the parameter. */
static void expect_gone(const char *what, const pass_fuse_result *r) {
    const pass_fuse_arg *x = &r->args[r->arg_of[0][0]];
    cr_expect_eq(x->state, PASS_ARG_PROMOTED, "%s", what);
    cr_expect_eq(x->index, PASS_NO_PARAM, "%s", what);
}

static void check(const row *r) {
    trial t = {.row = r};
    const pass_fuse_result *fused = &t.w.fused;
    world_begin(&t.w);
    cr_assert(ir_try(&t.w.cx, fuse, &t), "%s", r->what);
    const pass_decision *d = find_decision(fused);
    cr_assert(d, "%s", r->what);
    cr_expect_str_eq(d->rule, r->rule, "%s: %s: %s", r->what, d->rule, d->text);
    if (r->text) cr_expect_str_eq(d->text, r->text, "%s: %s", r->what, d->text);
    bool done = strcmp(r->rule, "promote.private") == 0 || strcmp(r->rule, "promote.local") == 0;
    cr_expect_eq(d->refusal, !done && r->kind != PASS_PROMOTE_AUTO, "%s", r->what);
    if (d->refusal) cr_expect_not(fused->kernel, "%s", r->what);
    if (done && fused->kernel) expect_gone(r->what, fused);
    if (done) cr_expect(fused->kernel, "%s", r->what);
    world_end(&t.w);
}

/* The decision about a request with these promotions of kernels that write and read own
 * elements. */
static void expect_decision(const pass_promotion *promotions, uint32_t n, const char *rule,
                            const char *text) {
    const row own = {
        .what = text ? text : "nothing", .first = WRITE_OWN, .second = READ_OWN, .range = LINE};
    trial t = {.row = &own, .promotions = promotions, .n = n};
    world_begin(&t.w);
    cr_assert(ir_try(&t.w.cx, fuse, &t), "%s", own.what);
    const pass_decision *d = find_decision(&t.w.fused);
    cr_expect_eq(d != NULL, rule != NULL, "%s", own.what);
    if (d && rule) cr_expect_str_eq(d->rule, rule, "%s", d->text);
    if (d && rule) cr_expect_str_eq(d->text, text);
    world_end(&t.w);
}

Test(promote, a_number_is_no_buffer) {
    const pass_promotion number = {.param = 2, .kind = PASS_PROMOTE_PRIVATE};
    expect_decision(&number, 1, "promote.no-buffer",
                    "write_n cannot be private memory: it is no buffer");
}

Test(promote, properties_of_one_parameter_count_once) {
    const pass_promotion first = {.kind = PASS_PROMOTE_PRIVATE, .accessor = true};
    const pass_promotion second = {.member = 1, .kind = PASS_PROMOTE_PRIVATE, .accessor = true};
    expect_decision((const pass_promotion[]){first, first}, 2, NULL, NULL);
    expect_decision(
        (const pass_promotion[]){first, second}, 2, "promote.private",
        "write_x is private memory: 4 bytes in each work-item, at offset - 4*global_linear_id");
}

static void fuse_and_optimize(void *user) {
    trial *t = user;
    fuse(t);
    cr_assert(pass_run(t->w.fused.module, &(pass_options){.bisect = -1, .verify_each = true}));
    pass_fuse_trim(&t->w.fused);
}

/* What an item reads it has written itself. */
Test(promote, local_memory_that_is_never_read_goes) {
    const row own = {
        .kind = PASS_PROMOTE_LOCAL, .first = WRITE_OWN, .second = READ_OWN, .range = LINE};
    trial t = {.row = &own};
    world_begin(&t.w);
    cr_assert(ir_try(&t.w.cx, fuse_and_optimize, &t));
    cr_assert(t.w.fused.kernel && !t.w.fused.module->first_global);
    world_end(&t.w);
}

Test(promote, rows) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) check(&rows[k]);
}
