/* group_kernels.h — kernels in which the items of a group synchronize, of all shapes: their names and
 * bodies.
 *
 * A body follows HEAD, which gives each item its number in the launch %g and in the group %l,
 * the number of items %items, a number of its own %v, places %po in %out (96 bytes) and %pt in
 * %tile (4 bytes; %pn is the next item's), the parameter %n below 2^31, %m = %n & 7, and a number
 * %u that is the same for all items, which no analysis finds.  `B` is a barrier.
 */
#ifndef SPVFUSE_TESTS_GROUP_KERNELS_H
#define SPVFUSE_TESTS_GROUP_KERNELS_H

#define HEAD                                                                                       \
    "@own: local [1024 x i32] align 4\n@one: local i32 align 4\n"                                  \
    "kernel @k(%out: ptr.global, %same: ptr.global, %tile: ptr.local, %n: i32) {\n"                \
    "entry:\n %g: i64 = global_linear_id\n %l: i64 = local_linear_id\n"                            \
    "%n0: i64 = local_size 0\n %n1: i64 = local_size 1\n %n2: i64 = local_size 2\n"                \
    "%n01: i64 = mul %n0, %n1\n %items: i64 = mul %n01, %n2\n %go: i64 = mul %g, 96\n"             \
    "%po: ptr.global = ptradd %out, %go\n %lo: i64 = shl %l, 2\n"                                  \
    "%pt: ptr.local = ptradd %tile, %lo\n %l1: i64 = add %l, 1\n %ln: i64 = urem %l1, %items\n"    \
    "%lno: i64 = shl %ln, 2\n %pn: ptr.local = ptradd %tile, %lno\n %gi: i32 = trunc %g\n"         \
    "%li: i32 = trunc %l\n %v: i32 = mul %gi, 2654435\n %m: i32 = and %n, 7\n"                     \
    "%so: i64 = shl %g, 2\n %ps: ptr.global = ptradd %same, %so\n %u: i32 = load %ps align 4\n"
#define B "barrier workgroup workgroup seq_cst local\n"
#define PUT(value) "store " value ", %po align 4\n"
#define GIVE(value) "store " value ", %pt align 4\n" B
#define TAKE(name) name ": i32 = load %pn align 4\n" B
#define SWAP(name, value) GIVE(value) TAKE(name)
#define AT(name, offset) name ": ptr.global = ptradd %po, " offset "\n"

typedef struct {
    const char *name, *body;
} group_kernel;

/* clang-format off */
static const group_kernel group_kernels[] = {
    {"barrier first and last",
     B PUT("%v") B "ret\n"},
    {"nothing but a barrier",
     B "ret\n"},
    {"two barriers in a row",
     GIVE("%v") B "%a: i32 = load %pn align 4\n" PUT("%a") "ret\n"},
    {"several in a block",
     SWAP("%a", "%v") "%b: i32 = add %a, %li\n" SWAP("%c", "%b") PUT("%c") "ret\n"},
    {"tree of sums: guards by a value that is halved, kept once",
     GIVE("%v") "%half: i64 = lshr %items, 1\n%s0: i32 = trunc %half\njmp loop\nloop:\n"
     "%s: i32 = phi [entry: %s0, next: %s2]\n%c: i1 = ult i32 0, %s\nbr %c, body, done\nbody:\n"
     "%in: i1 = ult %li, %s\nbr %in, add, next\nadd:\n%at: i32 = add %li, %s\n"
     "%w: i64 = zext %at\n%wo: i64 = shl %w, 2\n%pw: ptr.local = ptradd %tile, %wo\n"
     "%a: i32 = load %pw align 4\n%b: i32 = load %pt align 4\n%ab: i32 = add %a, %b\n"
     "store %ab, %pt align 4\njmp next\nnext:\n%s2: i32 = sdiv %s, 2\n" B "jmp loop\ndone:\n"
     TAKE("%r") PUT("%r") "ret\n"},
    {"a family of addresses, whose base is loaded by each item",
     GIVE("%v") "%w: i32 = load %pn align 4\n%wm: i32 = and %w, 3\n%wz: i64 = zext %wm\n"
     "%wo: i64 = shl %wz, 2\n%pw: ptr.global = ptradd %po, %wo\n"
     "%q0: ptr.global = ptradd %pw, 4\n%q1: ptr.global = ptradd %pw, 16\n"
     "%q2: ptr.global = ptradd %pw, 28\n%q3: ptr.global = ptradd %pw, 40\n" B
     "store i32 1, %q0 align 4\nstore i32 2, %q1 align 4\n" B
     "store %v, %q2 align 4\nstore %u, %q3 align 4\nret\n"},
    {"values computed from one that is the same for the group, but not cheap",
     "%t: i32 = or %m, 8\n%q: i32 = udiv %n, %t\n%q0: i32 = mul %q, 3\n%q1: i32 = add %q0, %li\n"
     "%q2: i32 = xor %q0, 77\n%q3: i32 = sub %q2, %li\n" GIVE("%q1")
     "%a: i32 = add %q1, %q3\n" PUT("%a") B "%b: i32 = add %q3, %q2\n"
     AT("%p4", "4") "store %b, %p4 align 4\nret\n"},
    {"a value is computed again from one of an inner loop that only the other exit needs",
     GIVE("%v") "jmp loop\nloop:\n%s: i32 = phi [entry: 0, next: %s1]\n"
     "%t: i32 = add %s, 3\n%q: i32 = udiv %n, %t\n%w: i32 = add %q, %li\n%c: i1 = ult %m, %s\n"
     "br %c, one, next\nnext:\n%s1: i32 = add %s, 1\n%d: i1 = ult %s1, i32 4\n"
     "br %d, loop, other\none:\n" B PUT("%w") "ret\nother:\n" B
     "%x: i32 = mul %q, %w\n" PUT("%x") "ret\n"},
    {"the same, of a value that each item has",
     GIVE("%v") "jmp loop\nloop:\n%s: i32 = phi [entry: 0, next: %s1]\n"
     "%q: i32 = load %pt align 4\n%w: i32 = add %q, %s\n%c: i1 = ult %m, %s\n"
     "br %c, one, next\nnext:\n%s1: i32 = add %s, 1\n%d: i1 = ult %s1, i32 4\n"
     "br %d, loop, other\none:\n" B PUT("%w") "ret\nother:\n" B
     "%x: i32 = mul %q, %w\n" PUT("%x") "ret\n"},
    {"an index that is computed again from a value whose place a phi could take",
     "%x1: i32 = mul %li, 3\n%x2: i32 = xor %x1, 5\n%x3: i32 = add %x2, %m\n"
     "%x4: i32 = and %x3, 63\n%f1: f32 = uitofp %x4\n%i1: i32 = fptosi %f1\n" B
     "%k1: i1 = ult i32 1, %u\nbr %k1, other, join\nother:\n%f2: f32 = fadd %f1, 9.0\n" B
     "jmp join\njoin:\n%f3: f32 = phi [entry: %f1, other: %f2]\n%i3: i32 = fptosi %f3\n"
     "%i4: i32 = mul %i1, 1000\n%r1: i32 = add %i3, %i4\n" PUT("%r1") "ret\n"},
    {"the same as a do while, by an unknown number of items, perhaps none",
     GIVE("%v") "%u0: i32 = and %u, 7\njmp loop\nloop:\n"
     "%s: i32 = phi [entry: %u0, next: %s2]\n%x: i32 = phi [entry: %v, next: %y]\n" B
     "%in: i1 = slt %li, %s\nbr %in, add, next\nadd:\n"
     "store %x, %pt align 4\njmp next\nnext:\n%y: i32 = add %x, %s\n%s2: i32 = lshr %s, 1\n" B
     "%c: i1 = ne %s, i32 0\nbr %c, loop, done\ndone:\n"
     TAKE("%r") "%z: i32 = add %r, %y\n" PUT("%z") "ret\n"},
    {"guards by a value that is doubled: from there on",
     GIVE("%v") "jmp loop\nloop:\n%s: i32 = phi [entry: 1, next: %s2]\n"
     "%in: i1 = ule %s, %li\nbr %in, take, next\ntake:\n%t: i32 = load %pt align 4\n"
     "%t2: i32 = add %t, %s\nstore %t2, %pt align 4\njmp next\nnext:\n"
     "%s2: i32 = shl %s, 1\n" B "%c: i1 = ult %s2, %m\nbr %c, loop, done\ndone:\n"
     TAKE("%r") PUT("%r") "ret\n"},
    {"a value kept once that only some items could store",
     GIVE("%v") "jmp loop\nloop:\n%s: i32 = phi [entry: %m, next: %s2]\n"
     "%in: i1 = ult %li, %s\nbr %in, yes, next\nyes:\nstore %s, %pt align 4\njmp next\nnext:\n"
     "%s2: i32 = phi [loop: 0, yes: 0]\n" B "%c: i1 = ult i32 0, %s2\nbr %c, loop, done\ndone:\n"
     TAKE("%r") PUT("%r") "ret\n"},
    {"counted loop",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, body: %i2]\n%x: i32 = phi [entry: %v, body: %y]\n"
     "%c: i1 = ult %i, %m\nbr %c, body, done\nbody:\n" SWAP("%t", "%x") "%y: i32 = add %t, %i\n"
     "%i2: i32 = add %i, 1\njmp loop\ndone:\n" PUT("%x") "ret\n"},
    {"do while",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, loop: %i2]\n%x: i32 = phi [entry: %v, loop: %y]\n"
     SWAP("%t", "%x") "%y: i32 = xor %t, %i\n%i2: i32 = add %i, 1\n%c: i1 = ult %i2, %m\n"
     "br %c, loop, done\ndone:\n" PUT("%y") "ret\n"},
    {"while, on an unknown uniform value",
     "%u7: i32 = and %u, 7\njmp loop\nloop:\n%i: i32 = phi [entry: %u7, body: %i2]\n"
     "%x: i32 = phi [entry: %v, body: %y]\n%c: i1 = ult i32 0, %i\nbr %c, body, done\nbody:\n"
     SWAP("%y", "%x") "%i2: i32 = sub %i, 1\njmp loop\ndone:\n" PUT("%x") "ret\n"},
    {"loop in a loop, both with barriers",
     "jmp outer\nouter:\n%i: i32 = phi [entry: 0, next: %i2]\n"
     "%x: i32 = phi [entry: %v, next: %z]\n%c: i1 = ult %i, i32 3\nbr %c, start, done\nstart:\n"
     SWAP("%s", "%x") "jmp inner\ninner:\n%j: i32 = phi [start: 0, body: %j2]\n"
     "%y: i32 = phi [start: %s, body: %t]\n%d: i1 = ult %j, %i\nbr %d, body, next\nbody:\n"
     SWAP("%t", "%y") "%j2: i32 = add %j, 1\njmp inner\nnext:\n%z: i32 = add %y, 5\n"
     "%i2: i32 = add %i, 1\njmp outer\ndone:\n" PUT("%x") "ret\n"},
    {"loop in a loop, for an unknown number of iterations",
     "%u3: i32 = and %u, 3\n%u4: i32 = or %u3, 1\njmp outer\nouter:\n"
     "%i: i32 = phi [entry: %u4, next: %i2]\n%x: i32 = phi [entry: %v, next: %y]\n"
     "%c: i1 = eq %i, i32 0\nbr %c, done, inner\ninner:\n%j: i32 = phi [outer: %u3, body: %j2]\n"
     "%y: i32 = phi [outer: %x, body: %t]\n%d: i1 = eq %j, i32 0\nbr %d, next, body\nbody:\n"
     SWAP("%t", "%y") "%j2: i32 = sub %j, 1\njmp inner\nnext:\n%i2: i32 = sub %i, 1\njmp outer\n"
     "done:\n" PUT("%x") "ret\n"},
    {"loop after the last barrier of a loop",
     "jmp outer\nouter:\n%i: i32 = phi [entry: 0, next: %i2]\n"
     "%x: i32 = phi [entry: %v, next: %y]\nstore %x, %pt align 4\n" B
     "%t: i32 = load %pn align 4\njmp inner\ninner:\n%j: i32 = phi [outer: 0, inner: %j2]\n"
     "%y: i32 = phi [outer: %t, inner: %y2]\n%y2: i32 = mul %y, 3\n%j2: i32 = add %j, 1\n"
     "%d: i1 = ult %j2, %m\nbr %d, inner, wait\nwait:\n" B "jmp next\nnext:\n"
     "%i2: i32 = add %i, 1\n%c: i1 = ult %i2, i32 4\nbr %c, outer, done\ndone:\n" PUT("%y2")
     "ret\n"},
    {"continue",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, next: %i2]\n%x: i32 = phi [entry: %v, next: %y]\n"
     "%c: i1 = ult %i, i32 7\nbr %c, body, done\nbody:\n%o: i1 = trunc %i\nbr %o, next, some\n"
     "some:\n" SWAP("%t", "%x") "jmp next\nnext:\n%y: i32 = phi [body: %x, some: %t]\n"
     "%i2: i32 = add %i, 1\njmp loop\ndone:\n" PUT("%x") "ret\n"},
    {"continue, on an unknown uniform value",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, next: %i2]\n%x: i32 = phi [entry: %v, next: %y]\n"
     "%c: i1 = ult %i, i32 7\nbr %c, body, done\nbody:\n%ub: i32 = lshr %u, %i\n"
     "%o: i1 = trunc %ub\nbr %o, next, some\nsome:\n" SWAP("%t", "%x") "jmp next\nnext:\n"
     "%y: i32 = phi [body: %x, some: %t]\n%i2: i32 = add %i, 1\njmp loop\ndone:\n" PUT("%x")
     "ret\n"},
    {"break",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, rest: %i2]\n%x: i32 = phi [entry: %v, rest: %s]\n"
     SWAP("%t", "%x") "%c: i1 = eq %i, %m\nbr %c, done, rest\nrest:\n" SWAP("%s", "%t")
     "%i2: i32 = add %i, 1\n%d: i1 = ult %i2, i32 5\nbr %d, loop, done\ndone:\n"
     "%r: i32 = phi [loop: %t, rest: %s]\n" PUT("%r") "ret\n"},
    {"return at once",
     "%c: i1 = ult %m, i32 4\nbr %c, out, on\nout:\n" PUT("%v") "ret\non:\n" SWAP("%t", "%v")
     PUT("%t") "ret\n"},
    {"return out of a loop",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, on: %i2]\n%x: i32 = phi [entry: %v, on: %t]\n"
     SWAP("%t", "%x") "%ub: i32 = lshr %u, %i\n%c: i1 = trunc %ub\nbr %c, out, on\nout:\n"
     PUT("%t") "ret\non:\n%i2: i32 = add %i, 1\n%d: i1 = ult %i2, i32 6\nbr %d, loop, done\n"
     "done:\n" PUT("%i2") "ret\n"},
    {"each item leaves in its own iteration, and none returns",
     "%r: i32 = and %v, 3\njmp loop\nloop:\n%i: i32 = phi [entry: 0, latch: %i2]\n"
     "%c: i1 = eq %i, %r\nbr %c, out, on\non:\n%d: i1 = eq %u, i32 123456\nbr %d, end, latch\n"
     "latch:\n%i2: i32 = add %i, 1\njmp loop\nend:\nret\nout:\n" SWAP("%t", "%i") PUT("%t")
     "ret\n"},
    {"leaving two ways, which come together",
     "%r: i32 = and %v, 3\njmp loop\nloop:\n%i: i32 = phi [entry: 0, latch: %i2]\n"
     "%c: i1 = eq %i, %r\nbr %c, out, on\non:\n%d: i1 = ult %m, %i\nbr %d, other, latch\nlatch:\n"
     "%i2: i32 = add %i, 1\njmp loop\nother:\njmp out\nout:\n%x: i32 = phi [loop: %i, other: 7]\n"
     SWAP("%t", "%x") PUT("%t") "ret\n"},
    {"a barrier in a branch in a loop, on an unknown uniform value",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, next: %i2]\n%x: i32 = phi [entry: %v, next: %y]\n"
     "%ub: i32 = lshr %u, %i\n%c: i1 = trunc %ub\nbr %c, yes, next\nyes:\n" SWAP("%t", "%x")
     "jmp next\nnext:\n%y: i32 = phi [loop: %x, yes: %t]\n%i2: i32 = add %i, 1\n"
     "%d: i1 = ult %i2, i32 6\nbr %d, loop, done\ndone:\n" PUT("%y") "ret\n"},
    {"barrier in one arm",
     "%c: i1 = trunc %n\nbr %c, yes, join\nyes:\n" SWAP("%t", "%v") "jmp join\njoin:\n"
     "%r: i32 = phi [entry: %v, yes: %t]\n" PUT("%r") "ret\n"},
    {"barriers in both arms, on an unknown uniform value",
     "%c: i1 = trunc %u\nbr %c, yes, no\nyes:\n" SWAP("%t", "%v") "jmp join\nno:\n"
     SWAP("%s", "%li") "jmp join\njoin:\n%r: i32 = phi [no: %s, yes: %t]\n" PUT("%r") "ret\n"},
    {"conditions in conditions",
     "%c: i1 = trunc %m\n%d: i1 = ult %m, i32 4\nbr %c, a, join\na:\n" SWAP("%t", "%v")
     "br %d, b, inner\nb:\n" SWAP("%s", "%t") "jmp inner\ninner:\n%y: i32 = phi [a: %t, b: %s]\n"
     SWAP("%z", "%y") "jmp join\njoin:\n%r: i32 = phi [entry: %v, inner: %z]\n" PUT("%r") "ret\n"},
    {"switch",
     "%k: i32 = and %n, 3\nswitch %k, other [0: a, 1: b, 2: other]\na:\n" SWAP("%t", "%v")
     "jmp join\nb:\n" SWAP("%s", "%li") B "jmp join\nother:\njmp join\njoin:\n"
     "%r: i32 = phi [a: %t, b: %s, other: 5]\n" PUT("%r") "ret\n"},
    {"switch that falls through",
     "%k: i32 = and %u, 3\nswitch %k, c [0: a, 1: b]\na:\n" SWAP("%t", "%v") "jmp b\nb:\n"
     "%x: i32 = phi [entry: %v, a: %t]\n" SWAP("%s", "%x") "jmp c\nc:\n"
     "%y: i32 = phi [entry: 1, b: %s]\n" SWAP("%z", "%y") PUT("%z") "ret\n"},
    {"branches between barriers",
     SWAP("%t", "%v") "%c: i1 = trunc %t\nbr %c, yes, no\nyes:\n%a: i32 = mul %t, 3\njmp join\n"
     "no:\n%b: i32 = add %t, 7\njmp join\njoin:\n%x: i32 = phi [yes: %a, no: %b]\n"
     SWAP("%s", "%x") PUT("%s") "ret\n"},
    {"loops between barriers, each item as often as it likes",
     "%r: i32 = and %v, 3\njmp loop\nloop:\n%i: i32 = phi [entry: 0, body: %i2]\n"
     "%x: i32 = phi [entry: 1, body: %x2]\n%c: i1 = ult %i, %r\nbr %c, body, done\nbody:\n"
     "%x2: i32 = mul %x, 5\n%i2: i32 = add %i, 1\njmp loop\ndone:\n" SWAP("%t", "%x")
     "%z: i32 = add %i, %t\n" PUT("%z") "ret\n"},
    {"a value that is uniform in iterations differs after the loop",
     "%r: i32 = and %v, 3\njmp loop\nloop:\n%i: i32 = phi [entry: 0, loop: %i2]\n"
     "%sq: i32 = mul %i, %i\n%i2: i32 = add %i, 1\n%c: i1 = ult %i, %r\nbr %c, loop, done\n"
     "done:\n" B "%z: i32 = add %sq, %i2\n" PUT("%z") "ret\n"},
    {"the same for all, made in a branch",
     "%c: i1 = trunc %v\nbr %c, yes, join\nyes:\n%a: i32 = mul %m, 3\njmp join\njoin:\n"
     "%x: i32 = phi [entry: 9, yes: %a]\n" B PUT("%x") "ret\n"},
    {"all types",
     "%a: i1 = trunc %v\n%b: i8 = trunc %v\n%c: i16 = trunc %v\n%d: i64 = mul %g, 987654321\n"
     "%e: f16 = uitofp %b\n%f: f32 = uitofp %v\n%h: f64 = uitofp %v\n%i: bf16 = uitofp %b\n"
     "%j: v2i16 = vec %c, 7\n%k: v3i32 = vec %v, 1, %li\n%o: v4f32 = vec %f, 1.0, %f, 2.0\n"
     "%q: v2i1 = vec %a, true\n%p: ptr.global = ptradd %po, 4\n" B "%a1: i32 = zext %a\n"
     "%b1: i32 = zext %b\n%c1: i32 = sext %c\nstore %d, %po align 8\n" AT("%p1", "8")
     "store %e, %p1 align 2\n" AT("%p2", "12") "store %f, %p2 align 4\n" AT("%p3", "16")
     "store %h, %p3 align 8\n" AT("%p4", "24") "store %i, %p4 align 2\n" AT("%p5", "28")
     "store %j, %p5 align 4\n" AT("%p6", "32") "store %k, %p6 align 4\n" AT("%p7", "48")
     "store %o, %p7 align 4\n%q1: v2i32 = zext %q\n" AT("%p8", "64") "store %q1, %p8 align 4\n"
     AT("%p9", "72") "%s: i32 = add %a1, %b1\n%s2: i32 = add %s, %c1\nstore %s2, %p9 align 4\n"
     "%pp: ptr.global = ptradd %p, 76\nstore i32 3, %pp align 4\nret\n"},
    {"wide vectors",
     "%w: v8i32 = insert undef, %v, i32 0\n%x: v8i32 = shuffle %w, %w [0, 0, 0, 0, 0, 0, 0, 0]\n"
     "%y: v8i32 = add %x, <0, 1, 2, 3, 4, 5, 6, 7>\n" B "store %y, %po align 4\n"
     "%z: v16i8 = bitcast v4i32 <1, 2, 3, 4>\n" AT("%p", "32") "store %z, %p align 1\nret\n"},
    {"values aligned to 128 bytes",
     "%a: ptr.private = alloca v16i64 align 128\n%w: v16i64 = insert splat(3), %g, i32 5\n"
     "%b: i1 = trunc %v\nstore %w, %a align 128\n" B "%x: v16i64 = load %a align 128\n"
     "%y: v16i64 = add %x, %w\n%z: i64 = extract %y, i32 5\n%b8: i64 = zext %b\n"
     "%r: i64 = add %z, %b8\nstore %r, %po align 8\nstore %w, %a align 128\nret\n"},
    {"an array",
     "%a: ptr.private = alloca [4 x i32] align 4\n%k: i32 = and %v, 3\n%kz: i64 = zext %k\n"
     "%ko: i64 = shl %kz, 2\n%p: ptr.private = ptradd %a, %ko\nfill %a, i8 1, i64 16 align 4\n"
     "store %v, %p align 4\n" SWAP("%t", "%v") "%t3: i32 = and %t, 3\n%tz: i64 = zext %t3\n"
     "%to: i64 = shl %tz, 2\n%q: ptr.private = ptradd %a, %to\n%x: i32 = load %q align 4\n"
     "%y: i32 = load %p align 4\n%z: i32 = add %x, %y\n" PUT("%z") "ret\n"},
    {"one of two arrays",
     "%a: ptr.private = alloca [2 x i32] align 4\n%b: ptr.private = alloca i32 align 4\n"
     "store %v, %a align 4\nstore %li, %b align 4\n%c: i1 = trunc %v\n"
     "%p: ptr.private = select %c, %a, %b\n" B "%x: i32 = load %p align 4\n" PUT("%x")
     "store i32 1, %p align 4\n" B "%y: i32 = load %a align 4\n%z: i32 = load %b align 4\n"
     AT("%p1", "4") "store %y, %p1 align 4\n" AT("%p2", "8") "store %z, %p2 align 4\nret\n"},
    {"an array in a loop",
     "%a: ptr.private = alloca [8 x i32] align 4\nfill %a, i8 0, i64 32 align 4\njmp loop\n"
     "loop:\n%i: i32 = phi [entry: 0, loop: %i2]\n%x: i32 = phi [entry: %v, loop: %t]\n"
     "%iz: i64 = zext %i\n%io: i64 = shl %iz, 2\n%p: ptr.private = ptradd %a, %io\n"
     "store %x, %p align 4\n" SWAP("%t", "%x") "%i2: i32 = add %i, 1\n%c: i1 = ult %i2, i32 8\n"
     "br %c, loop, done\ndone:\n%b: ptr.private = ptradd %a, 12\n%r: i32 = load %b align 4\n"
     PUT("%r") "ret\n"},
    {"a variable of one region, come to again",
     "%a: ptr.private = alloca i32 align 4\njmp loop\nloop:\n"
     "%i: i32 = phi [entry: 0, next: %i2]\n" B "%z: i1 = eq %i, i32 0\nbr %z, first, on\nfirst:\n"
     "store %v, %a align 4\njmp next\non:\n%x: i32 = load %a align 4\n%y: i32 = add %x, 1\n"
     "store %y, %a align 4\n" PUT("%y") "jmp next\nnext:\n%i2: i32 = add %i, 1\n"
     "%c: i1 = ult %i2, i32 4\nbr %c, loop, done\ndone:\nret\n"},
    {"sum by a tree",
     "store %v, %pt align 4\n%h0: i64 = lshr %items, 1\n%hu: i64 = add %items, 1\n"
     "%h1: i64 = lshr %hu, 1\njmp loop\nloop:\n%s: i64 = phi [entry: %items, next: %half]\n"
     "%c: i1 = ult i64 1, %s\nbr %c, body, done\nbody:\n" B "%up: i64 = add %s, 1\n"
     "%half: i64 = lshr %up, 1\n%rest: i64 = sub %s, %half\n%d: i1 = ult %l, %rest\n"
     "br %d, add, next\nadd:\n%o: i64 = add %l, %half\n%oo: i64 = shl %o, 2\n"
     "%q: ptr.local = ptradd %tile, %oo\n%x: i32 = load %pt align 4\n%y: i32 = load %q align 4\n"
     "%z: i32 = add %x, %y\nstore %z, %pt align 4\njmp next\nnext:\njmp loop\ndone:\n" B
     "%r: i32 = load %tile align 4\n" PUT("%r") "ret\n"},
    {"scan by doubling",
     "store %v, %pt align 4\n" B "jmp loop\nloop:\n%s: i64 = phi [entry: 1, next: %s2]\n"
     "%x: i32 = phi [entry: %v, next: %y]\n%c: i1 = ult %s, %items\nbr %c, body, done\nbody:\n"
     "%has: i1 = ule %s, %l\nbr %has, take, wait\ntake:\n%f: i64 = sub %l, %s\n"
     "%fo: i64 = shl %f, 2\n%q: ptr.local = ptradd %tile, %fo\n%t: i32 = load %q align 4\n"
     "%xt: i32 = add %x, %t\njmp wait\nwait:\n%y: i32 = phi [body: %x, take: %xt]\n" B
     "store %y, %pt align 4\n" B "jmp next\nnext:\n%s2: i64 = shl %s, 1\njmp loop\ndone:\n"
     PUT("%x") "ret\n"},
    {"counting in local memory",
     "store i32 0, %pt align 4\n" B "%k: i32 = and %v, 3\n%kz: i64 = zext %k\n"
     "%kr: i64 = urem %kz, %items\n%ko: i64 = shl %kr, 2\n%q: ptr.local = ptradd %tile, %ko\n"
     "%old: i32 = atomic_add %q, 1 workgroup relaxed\n" B "%r: i32 = load %pt align 4\n"
     PUT("%r") "ret\n"},
    {"variables in local memory",
     "%p: ptr.local = ptradd @own, %lo\nstore %v, %p align 4\n%z: i1 = eq %l, i64 0\n"
     "br %z, first, on\nfirst:\nstore %v, @one align 4\njmp on\non:\n" B
     "%q: ptr.local = ptradd @own, %lno\n%a: i32 = load %q align 4\n%b: i32 = load @one align 4\n"
     "%c: i32 = add %a, %b\n" PUT("%c") "ret\n"},
    {"a loop with two ways in",
     "%c: i1 = trunc %u\nbr %c, a, b\na:\n%x: i32 = phi [entry: %v, b: %y]\n"
     "%i: i32 = phi [entry: 0, b: %j2]\n" SWAP("%t", "%x") "%i2: i32 = add %i, 1\n"
     "%d: i1 = ult %i2, i32 5\nbr %d, b, done\nb:\n%y: i32 = phi [entry: %li, a: %t]\n"
     "%j: i32 = phi [entry: 2, a: %i2]\n%j2: i32 = add %j, 1\n%e: i1 = ult %j2, i32 6\n"
     "br %e, a, done\ndone:\n%r: i32 = phi [a: %t, b: %y]\n" PUT("%r") "ret\n"},
    {"a machine of states",
     "%u3: i32 = and %u, 3\njmp loop\nloop:\n%s: i32 = phi [entry: %u3, next: %s2]\n"
     "%x: i32 = phi [entry: %v, next: %y]\n%i: i32 = phi [entry: 0, next: %i2]\n"
     "switch %s, c [0: a, 1: b]\na:\n" SWAP("%t", "%x") "jmp next\nb:\n%w: i32 = mul %x, 3\n"
     "jmp next\nc:\n" SWAP("%z", "%li") B "jmp next\nnext:\n%y: i32 = phi [a: %t, b: %w, c: %z]\n"
     "%s1: i32 = add %s, 1\n%s2: i32 = urem %s1, 3\n%i2: i32 = add %i, 1\n"
     "%e: i1 = ult %i2, i32 6\nbr %e, loop, done\ndone:\n" PUT("%y") "ret\n"},
    {"a barrier that nothing reaches",
     PUT("%v") "ret\nnever:\n" B "jmp never\n"},
    {"loops without end that are not taken",
     SWAP("%t", "%v") "%c: i1 = eq %n, i32 123456789\nbr %c, forever, on\nforever:\njmp forever\n"
     "on:\n%d: i1 = eq %v, i32 123456789\nbr %d, bad, good\nbad:\nunreachable\ngood:\n"
     SWAP("%s", "%t") PUT("%s") "ret\n"},
    {"phis that change places",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, loop: %i2]\n%a: i32 = phi [entry: %v, loop: %b]\n"
     "%b: i32 = phi [entry: %li, loop: %a]\n%c: i32 = phi [entry: 3, loop: %d]\n"
     "%d: i32 = phi [entry: 4, loop: %c]\n" B "%i2: i32 = add %i, 1\n%e: i1 = ult %i2, %m\n"
     "br %e, loop, done\ndone:\n%r: i32 = sub %a, %b\n%s: i32 = sub %c, %d\n"
     "%t: i32 = mul %r, %s\n" PUT("%t") "ret\n"},
    {"a guard",
     "%z: i64 = zext %n\n%c: i1 = ult %g, %z\nbr %c, yes, done\nyes:\n" PUT("%v") "jmp done\n"
     "done:\nret\n"},
    {"guards of several sorts",
     "%x: i64 = global_id 0\n%y: i64 = global_id 1\n%xi: i32 = trunc %x\n%a: i1 = sle %xi, %m\n"
     "br %a, in, done\nin:\n%b: i1 = ult i64 2, %y\nbr %b, done, yes\nyes:\n" PUT("%v")
     "jmp done\ndone:\nret\n"},
    {"guards joined",
     "%x: i64 = global_id 0\n%y: i64 = local_id 1\n%z: i64 = global_offset 0\n"
     "%lim: i64 = add %z, 5\n%a: i1 = slt %x, %lim\n%b: i1 = ule %y, i64 1\n%c: i1 = and %a, %b\n"
     "%d: i1 = trunc %v\n%e: i1 = and %c, %d\nbr %e, yes, done\nyes:\n" PUT("%v") "jmp done\n"
     "done:\nret\n"},
    {"guards against too much",
     "%x: i64 = global_id 0\n%w: i64 = sext %n\n%a: i1 = sle %w, %x\nbr %a, done, yes\nyes:\n"
     PUT("%v") "jmp done\ndone:\nret\n"},
    {"guards in regions",
     GIVE("%v") "%x: i64 = local_id 0\n%h: i64 = zext %m\n%a: i1 = ult %x, %h\nbr %a, yes, on\n"
     "yes:\n%t: i32 = load %pt align 4\n" PUT("%t") "jmp on\non:\n" B "%z: i1 = eq %x, i64 0\n"
     "br %z, first, done\nfirst:\n%s: i32 = load %pn align 4\n" AT("%p", "4")
     "store %s, %p align 4\njmp done\ndone:\nret\n"},
    {"sums and products",
     "%a: i32 = group_add %v workgroup reduce\n%w: i64 = zext %v\n"
     "%b: i64 = group_add %w workgroup inclusive\n%c: i32 = group_mul %li workgroup exclusive\n"
     "%f: f32 = uitofp %v\n%d: f32 = group_fadd %f workgroup inclusive\n"
     "%e: f32 = group_fadd %f workgroup exclusive\n%h: f64 = uitofp %li\n"
     "%i: f64 = group_fmul %h workgroup reduce\n" PUT("%a") AT("%p1", "8")
     "store %b, %p1 align 8\n" AT("%p2", "16") "store %c, %p2 align 4\n" AT("%p3", "20")
     "store %d, %p3 align 4\n" AT("%p4", "24") "store %e, %p4 align 4\n" AT("%" "p" "5", "3" "2")
     "store %i, %p5 align 8\nret\n"},
    {"least and greatest",
     "%a: i32 = group_umin %v workgroup reduce\n%b: i32 = group_smin %v workgroup inclusive\n"
     "%c: i32 = group_umax %v workgroup exclusive\n%d: i32 = group_smax %v workgroup exclusive\n"
     "%f: f32 = sitofp %v\n%e: f32 = group_fmin %f workgroup exclusive\n"
     "%h: f32 = group_fmax %f workgroup reduce\n%i: i32 = group_and %v workgroup inclusive\n"
     "%j: i32 = group_xor %v workgroup reduce\n%k: i32 = group_umin %v workgroup exclusive\n"
     PUT("%a") AT("%p1", "4") "store %b, %p1 align 4\n" AT("%p2", "8") "store %c, %p2 align 4\n"
     AT("%p3", "12") "store %d, %p3 align 4\n" AT("%p4", "16") "store %e, %p4 align 4\n"
     AT("%p5", "20") "store %h, %p5 align 4\n" AT("%p" "6", "2" "4") "store %i, %p6 align 4\n"
     AT("%p7", "28") "store %j, %p7 align 4\n" AT("%p8", "32") "store %k, %p8 align 4\nret\n"},
    {"votes and broadcasts",
     "%a: i1 = trunc %v\n%b: i1 = group_any %a workgroup\n%c: i1 = group_all %a workgroup\n"
     "%s: i32 = group_broadcast %v, i32 0 workgroup\n%k: v3i64 = vec 0, 0, 0\n"
     "%t: i32 = group_broadcast %li, %k workgroup\n%b1: i32 = zext %b\n%c1: i32 = zext %c\n"
     PUT("%b1") AT("%p1", "4") "store %c1, %p1 align 4\n" AT("%p2", "8") "store %s, %p2 align 4\n"
     AT("%p3", "12") "store %t, %p3 align 4\nret\n"},
    {"a sum in a loop",
     "jmp loop\nloop:\n%i: i32 = phi [entry: 0, loop: %i2]\n%x: i32 = phi [entry: %v, loop: %t]\n"
     "%s: i32 = group_add %x workgroup inclusive\n%t: i32 = xor %s, %i\n%i2: i32 = add %i, 1\n"
     "%c: i1 = ult %i2, %m\nbr %c, loop, done\ndone:\n" PUT("%t") "ret\n"},
    {"while some item wants to",
     "%r: i32 = and %v, 3\njmp loop\nloop:\n%i: i32 = phi [entry: 0, body: %i2]\n"
     "%w: i1 = ult %i, %r\n%c: i1 = group_any %w workgroup\nbr %c, body, done\nbody:\n"
     "%i2: i32 = add %i, 1\njmp loop\ndone:\n" PUT("%i") "ret\n"},
    {"sub-groups of any size",
     "%a: i32 = subgroup_size\n%b: i32 = subgroup_max_size\n%c: i1 = ule %a, %b\n"
     "%e: i1 = group_all %c subgroup\n%d: i32 = zext %e\n" PUT("%d")
     "barrier subgroup subgroup seq_cst local\nret\n"},
    {"a barrier of sub-groups only, and fences",
     "fence workgroup seq_cst local\n" SWAP("%t", "%v") "fence device acq_rel global\n" PUT("%t")
     "ret\n"},
    {"a copy by the group",
     "%n4: i64 = shl %items, 2\nstore %v, %pt align 4\n" B
     "%e: event = async_copy @own, %same, %items, i64 1, event null, i64 4 workgroup\n"
     "%ev: ptr.private = alloca event align 8\nstore %e, %ev align 8\n"
     "wait_events i32 1, %ev workgroup\n%q: ptr.local = ptradd @own, %lno\n"
     "%x: i32 = load %q align 4\n" PUT("%x") "ret\n"},
    {"ids from one number to another",
     "%x: i64 = global_id 0\n%y: i64 = global_id 1\n%w: i64 = zext %m\n%w2: i64 = add %w, 30\n"
     "%a: i1 = ult %w, %x\n%b: i1 = ule %x, %w2\n%ab: i1 = and %a, %b\n%c: i1 = ule i64 1, %y\n"
     "%d: i1 = ult %y, i64 4\n%cd: i1 = and %c, %d\n%e: i1 = and %ab, %cd\n"
     "br %e, body, done\nbody:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"signed ids from one number to another, one test after the other",
     "%x: i64 = global_id 0\n%i: i32 = trunc %x\n%f: i32 = sub %m, 2\n%a: i1 = slt %i, i32 1\n"
     "br %a, done, more\nmore:\n%b: i1 = sle %f, %i\n%w: i32 = add %m, 20\n"
     "%c: i1 = slt %w, %i\n%nc: i1 = xor %c, true\n%bc: i1 = and %b, %nc\nbr %bc, body, done\n"
     "body:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"a test of the whole group, between two barriers",
     SWAP("%t", "%v") "%a: i1 = slt %n, i32 99\n%b: i1 = slt i32 2, %li\n"
     "%c: i1 = or %a, %b\nbr %c, next, body\nbody:\n" PUT("%t") "jmp next\nnext:\n" B
     "%d: i1 = ne %m, i32 2\nbr %d, last, done\nlast:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"a bound, and then a test for the first item",
     "%gx: i64 = global_id 0\n%lx: i64 = local_id 0\n%in: i1 = ult %gx, i64 6\n"
     "br %in, next, done\nnext:\n%is: i1 = eq %lx, i64 0\nbr %is, put, done\nput:\n"
     PUT("%v") "jmp done\ndone:\nret\n"},
    {"the same in one test, with a value for the bound",
     "%gx: i64 = global_id 0\n%lx: i64 = local_id 0\n%mz: i64 = zext %m\n"
     "%in: i1 = ule %gx, %mz\n%is: i1 = eq %lx, i64 0\n%c: i1 = and %is, %in\n"
     "br %c, put, done\nput:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"a test for the first item, and then bounds",
     "%gx: i64 = global_id 0\n%lx: i64 = local_id 0\n%is: i1 = eq %lx, i64 0\n"
     "br %is, next, done\nnext:\n%in: i1 = slt %gx, i64 6\nbr %in, more, done\nmore:\n"
     "%up: i1 = ult i64 1, %gx\nbr %up, put, done\nput:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"items after a number, of which only the first one may be one",
     "%lx: i64 = local_id 0\n%up: i1 = ult i64 2, %lx\nbr %up, next, done\nnext:\n"
     "%in: i1 = sle %lx, i64 0\nbr %in, put, done\nput:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"the same with a number that is a value",
     "%lx: i32 = local_id 0\n%up: i1 = ule %m, %lx\nbr %up, next, done\nnext:\n"
     "%in: i1 = ult %lx, i32 1\nbr %in, put, done\nput:\n" PUT("%v") "jmp done\ndone:\nret\n"},
    {"the first item, which is not there",
     "%x: i64 = local_id 0\n%a: i1 = eq %x, i64 0\n%w: i64 = zext %m\n%b: i1 = ule %w, %x\n"
     "%c: i1 = and %b, %a\nbr %c, body, done\nbody:\n" PUT("%v") "jmp done\ndone:\n" B
     "br %a, again, next\nagain:\nbr %b, some, next\nsome:\n" PUT("%li") "jmp next\nnext:\nret\n"},
    {"a counter that items of a sub-group increase after loops of different lengths",
     "%in: i32 = and %li, 3\njmp loop\nloop:\n%p: i32 = phi [entry: 0, next: %q]\n"
     "%i: i32 = phi [entry: 0, next: %i2]\n%x: i32 = phi [entry: 0, next: %x2]\n"
     "%c: i1 = ult %i, %m\nbr %c, body, done\nbody:\n%x2: i32 = add %x, 7\njmp inner\ninner:\n"
     "%q: i32 = phi [body: %p, again: %s]\n%k: i32 = phi [body: 0, again: %k2]\n"
     "%d: i1 = ult %k, %in\nbr %d, again, next\nagain:\n"
     "%e: i1 = group_all %d subgroup nonuniform\n%s: i32 = zext %e\n"
     "%k2: i32 = add %k, 1\njmp inner\nnext:\n"
     "%i2: i32 = add %i, 1\njmp loop\ndone:\n%y: i32 = mul %p, 31\n%z: i32 = add %x, %y\n"
     PUT("%z") "ret\n"},
    {"iterations that items of a sub-group end in two places",
     "%in: i32 = and %li, 3\n%a: i1 = eq %in, i32 1\njmp loop\nloop:\n"
     "%i: i32 = phi [entry: 0, one: %i1, two: %i2]\n%x: i32 = phi [entry: 0, one: %y, two: %z]\n"
     "%c: i1 = ult %i, %m\nbr %c, body, done\nbody:\nbr %a, one, two\none:\n"
     "%e: i1 = group_all %a subgroup nonuniform\n%s: i32 = zext %e\n%y: i32 = add %x, %s\n"
     "%i1: i32 = add %i, 1\njmp loop\ntwo:\n"
     "%f: i1 = group_all %c subgroup nonuniform\n%t: i32 = zext %f\n"
     "%w: i32 = mul %x, 3\n"
     "%z: i32 = add %w, %t\n%i2: i32 = add %i, 1\njmp loop\ndone:\n" PUT("%x") "ret\n"},
    {"a product of each iteration, of which items of a sub-group keep the one they leave with",
     "%in: i32 = and %li, 3\n%h: i32 = lshr %li, 2\n%a: i1 = trunc %h\njmp loop\nloop:\n"
     "%i: i32 = phi [entry: 0, next: %i2]\n%x: i32 = phi [entry: %n, next: %y]\n"
     "%y: i32 = mul %x, 3\nbr %a, done, next\nnext:\n"
     "%o: i32 = or %li, 8\n%t: i1 = ult %m, %o\n%e: i1 = group_all %t subgroup nonuniform\n"
     "%i2: i32 = add %i, 1\n%c: i1 = ult %i2, %in\nbr %c, loop, done\ndone:\n"
     "%s: i1 = phi [loop: false, next: %e]\n%z: i32 = zext %s\n%w: i32 = add %y, %z\n"
     PUT("%w") "ret\n"},
};
/* clang-format on */

#endif
