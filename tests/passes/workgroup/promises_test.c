/* promises_test.c — what code of a group knows of arguments, and which stores go past the caches:
 * kernels with the numbers of loads and stores that are marked.
 */
#include "passes/workgroup/regions.h"

#include <criterion/criterion.h>

/* Arguments %p, %q, %r; items x; %a, %b and %c are their elements. */
#define HEAD                                                                                       \
    "target 64\nkernel @k(%p: ptr.global, %q: ptr.global, %r: ptr.global, %n: i64) {\nentry:\n"    \
    "%x: i64 = global_id 0\n%x4: i64 = shl %x, 2\n"                                                \
    "%a: ptr.global = ptradd %p, %x4\n%b: ptr.global = ptradd %q, %x4\n"                           \
    "%c: ptr.global = ptradd %r, %x4\n"
#define COPY "%v: f32 = load %a align 4\nstore %v, %b align 4\n"

enum { LAUNCH_APART = 1, LAUNCH_ON_LINES = 2, LAUNCH_STREAMS = 4, EVERYTHING = 7 };

static const struct {
    const char *name, *text;
    unsigned launch;
    unsigned noalias, line, streams; /* how many have the flag */
} kernels[] = {
    {"nothing is known", HEAD COPY "ret\n}\n", 0, 0, 0, 0},
    {"apart", HEAD COPY "ret\n}\n", LAUNCH_APART, 3, 0, 0},
    {"on lines", HEAD COPY "ret\n}\n", LAUNCH_ON_LINES, 0, 3, 0},
    {"a copy", HEAD COPY "ret\n}\n", EVERYTHING, 3, 3, 1},
    {"streams that may overlap with what is read", HEAD COPY "ret\n}\n",
     LAUNCH_ON_LINES | LAUNCH_STREAMS, 0, 3, 0},
    {"two outputs", HEAD COPY "store %v, %c align 4\nret\n}\n", EVERYTHING, 3, 3, 2},
    {"read as well", HEAD COPY "%w: f32 = load %b align 4\nstore %w, %c align 4\nret\n}\n",
     EVERYTHING, 3, 3, 1},
    {"an update in place",
     HEAD "%v: f32 = load %a align 4\n%w: f32 = fadd %v, %v\nstore %w, %a align 4\nret\n}\n",
     EVERYTHING, 3, 3, 0},
    {"an atomic operation", HEAD COPY "%o: i32 = atomic_add %c, i32 1 device relaxed\nret\n}\n",
     EVERYTHING, 3, 3, 0},
    {"a copy of bytes reads", HEAD COPY "copy %c, %q, i64 16 align 4\nret\n}\n", EVERYTHING, 3, 3,
     0},
    {"volatile", HEAD "store f32 1.0, %a align 4 volatile\nret\n}\n", EVERYTHING, 3, 3, 0},
    {"a loop comes back to the line",
     HEAD "jmp l\nl:\n%i: i64 = phi [entry: 0, l: %j]\nstore %i, %a align 4\n%j: i64 = add %i, 1\n"
          "%d: i1 = ult %j, %n\nbr %d, l, e\ne:\nstore f32 2.0, %b align 4\nret\n}\n",
     EVERYTHING, 3, 3, 1},
    {"an address from memory",
     HEAD "%m: ptr.global = load %c align 8\n%v: f32 = load %m align 4\nstore %v, %a align 4\n"
          "ret\n}\n",
     EVERYTHING, 0, 3, 0},
    {"an address of an integer",
     HEAD "%m: ptr.global = inttoptr %n\n%v: f32 = load %m align 4\nstore %v, %a align 4\nret\n}\n",
     EVERYTHING, 0, 3, 0},
    {"an address that is chosen",
     HEAD "%t: i1 = ult %x, %n\n%m: ptr.global = select %t, %a, %b\nstore f32 1.0, %m align 4\n"
          "store f32 2.0, %c align 4\nret\n}\n",
     EVERYTHING, 3, 3, 1},
    {"restrict",
     "target 64\nkernel @k(%p: ptr.global noalias, %q: ptr.global align 64) {\nentry:\n"
     "%v: f32 = load %p align 4\nstore %v, %q align 4\nret\n}\n",
     0, 1, 1, 0},
    {"items may meet although each has restrict",
     "target 64\nkernel @k(%p: ptr.global noalias, %q: ptr.global noalias) {\nentry:\n"
     "%v: f32 = load %p align 4\nbarrier workgroup workgroup acq_rel global\n"
     "store %v, %q align 4\nret\n}\n",
     0, 0, 0, 0},
    {"launches know better",
     "target 64\nkernel @k(%p: ptr.global noalias, %q: ptr.global noalias) {\nentry:\n"
     "%v: f32 = load %p align 4\nbarrier workgroup workgroup acq_rel global\n"
     "store %v, %q align 4\nret\n}\n",
     LAUNCH_APART, 2, 0, 0},
    {"local memory and values promise nothing",
     "target 64\nkernel @k(%p: ptr.local, %n: i32) {\nentry:\nstore %n, %p align 4\nret\n}\n",
     EVERYTHING, 0, 0, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct {
    ir_ctx cx;
    unsigned n;
} job;

static unsigned count(const ir_func *f, unsigned flag) {
    unsigned n = 0;
    foreach_block (b, f)
        foreach_inst (i, b)
            n += (i->op == IR_OP_load || i->op == IR_OP_store) && i->imm.mem.flags & flag;
    return n;
}

static void check(void *arg) {
    job *j = arg;
    const unsigned launch = kernels[j->n].launch;
    const char *name = kernels[j->n].name, *text = kernels[j->n].text;
    ir_arena scratch;
    pass_group_code code;
    ir_module *m = ir_parse(&j->cx, name, text, strlen(text));
    cr_assert_not_null(m, "%s", name);
    ir_arena_init(&scratch, &j->cx);
    const pass_group_shape shape = {.local = {64, 1, 1},
                                    .no_offset = true,
                                    .dims = 1,
                                    .apart = launch & LAUNCH_APART,
                                    .on_lines = launch & LAUNCH_ON_LINES,
                                    .streams = launch & LAUNCH_STREAMS};
    pass_make_group(ir_func_find(m, "k"), &shape, &scratch, &code);
    cr_assert_null(code.refusal);
    cr_expect(ir_verify_module(m), "%s", name);
    cr_expect_eq(count(code.block, IR_MEM_NOALIAS), kernels[j->n].noalias, "%s: noalias", name);
    cr_expect_eq(count(code.block, IR_MEM_LINE), kernels[j->n].line, "%s: line", name);
    cr_expect_eq(count(code.block, IR_MEM_NONTEMPORAL), kernels[j->n].streams, "%s: streams", name);
    ir_arena_free(&scratch);
    ir_module_free(m);
}

Test(promises, of_launches) {
    for (unsigned n = 0; n < KERNELS; n++) {
        job j = {.n = n};
        cr_assert(ir_try(&j.cx, check, &j), "%s", kernels[n].name);
    }
}
