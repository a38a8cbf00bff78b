/* pipe_meet.c — what the work-items of a group of a pipeline's kernel do together: through memory of
 * the group behind barriers, once or in rounds, and operations of the group.
 */
#include "tests/fuzz/pipe_impl.h"

static unsigned tile_address(pipe *p, unsigned offset) {
    unsigned a = pipe_value(p, "ptr.local");
    if (p->now->takes_tile)
        ir_putf(p->out, "ptradd %%tile, %%v%u\n", offset);
    else
        ir_putf(p->out, "ptradd @tile%u, %%v%u\n", p->now->number, offset);
    return a;
}

static void wait_for_all(pipe *p) {
    ir_put(p->out, "  barrier workgroup workgroup seq_cst local\n");
}

/* The offset of the item at the other end of the group. */
static unsigned other_end(pipe *p, unsigned offset) {
    if (!p->now->range.uneven)
        return pipe_number_minus(p, "i64", 4 * (p->now->range.local[0] - 1), offset);
    unsigned size = pipe_query(p, "local_size", 0);
    size = pipe_with_number(p, "i64", "mul", size, 4);
    return pipe_binary(p, "i64", "sub", pipe_with_number(p, "i64", "sub", size, 4), offset);
}

/* What the item at the other end of the group has. */
static unsigned exchange(pipe *p, unsigned v, unsigned offset) {
    unsigned a = tile_address(p, offset);
    ir_putf(p->out, "  store %%v%u, %%v%u align 4\n", v, a);
    wait_for_all(p);
    a = tile_address(p, other_end(p, offset));
    v = pipe_value(p, "i32");
    ir_putf(p->out, "load %%v%u align 4\n", a);
    wait_for_all(p);
    return v;
}

/* Each time with what the last time gave; a value that is used after it is kept meanwhile. */
static unsigned exchange_in_rounds(pipe *p, unsigned v, unsigned offset) {
    unsigned n = p->labels++, k = p->values++, next = p->values++, x = p->values++, y = p->values++;
    unsigned kept = pipe_some_value(p, NULL);
    ir_putf(p->out, "  jmp before%u\nbefore%u:\n  jmp head%u\nhead%u:\n", n, n, n, n);
    ir_putf(p->out, "  %%v%u: i32 = phi [before%u: 0, turn%u: %%v%u]\n", k, n, n, next);
    ir_putf(p->out, "  %%v%u: i32 = phi [before%u: %%v%u, turn%u: %%v%u]\n", x, n, v, n, y);
    unsigned got = exchange(p, x, offset);
    ir_putf(p->out, "  jmp turn%u\nturn%u:\n  %%v%u: i32 = add %%v%u, %%v%u\n", n, n, y, got, k);
    ir_putf(p->out, "  %%v%u: i32 = add %%v%u, 1\n", next, k);
    unsigned more = pipe_value(p, "i1");
    ir_putf(p->out, "ult %%v%u, i32 %u\n  br %%v%u, head%u, after%u\nafter%u:\n", next,
            1 + pipe_below(p, 3), more, n, n, n);
    return pipe_binary(p, "i32", "xor", y, kept);
}

static unsigned through_tile(pipe *p) {
    unsigned v = pipe_some_value(p, NULL), l = pipe_query(p, "local_id", 0);
    unsigned offset = pipe_with_number(p, "i64", "mul", l, 4);
    return pipe_chance(p, 70) ? exchange(p, v, offset) : exchange_in_rounds(p, v, offset);
}

/* A sum, or something like it, of all items of the group, or of those before the item. */
static unsigned combine(pipe *p) {
    static const char *const ops[] = {"add", "umax", "smin", "and", "or", "xor", "mul"};
    static const char *const ways[] = {"reduce", "inclusive", "exclusive"};
    unsigned v = pipe_some_value(p, NULL), r = pipe_value(p, "i32");
    const char *op = ops[pipe_below(p, 7)];
    ir_putf(p->out, "group_%s %%v%u workgroup %s\n", op, v, ways[pipe_below(p, 3)]);
    return r;
}

void pipe_meet(pipe *p) {
    const bool tile = p->now->has_tile && (!p->now->meets || pipe_chance(p, 50));
    unsigned v = tile ? through_tile(p) : combine(p), to = pipe_any_written(p);
    const form *f = &p->now->params[to].at;
    if (!f->strip) pipe_store(p, to, f, pipe_index(p, f, NULL), v);
}
