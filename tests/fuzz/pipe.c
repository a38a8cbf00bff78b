/* pipe.c — bytes to a pipeline of two to eight kernels over shared buffers.
 *
 * A kernel reads some buffers wherever it likes and writes others, each at places of one form: the
 * item's own, with strides, shifts, strips, from the end, transposed, by groups; rarely at places
 * that items share.  What it writes it reads at these places only, so that it races with itself
 * only when the form does.  Some elements are changed in place, as numbers or vectors, or by atomic
 * operations, which may also go to places that items share.  A buffer may be two arguments of a
 * kernel, and in some pipelines arguments begin within buffers.  In some, parts of elements are read
 * and written, one after the other.  Between the two are guards, loops with known ends, early
 * returns, facts about the launch, and what the items of a work-group do together (pipe_meet.c).
 * Indices stay within the buffers.  All ranges of the group come from one number of items, so that
 * many pipelines can be fused; shapes, local sizes and offsets differ.  Launches outside of the
 * group mostly have smaller work-groups at the ends (pipe_plan.c).
 *
 * Text is made, not IR: a finding is a module and a plan that the command can run.
 */
#include "tests/fuzz/pipe_impl.h"

/* --------------------------------------------------------------------------------------- values */

static form any_form(pipe *p, unsigned buffer, bool written);

static bool is_changed(const param *q) { return q->written || q->shares; }

/* What a parameter holds somewhere; of a written one, where it is written, unless that is by
 * atomics. */
static unsigned some_load(pipe *p, const unsigned *k) {
    unsigned n = pipe_below(p, p->now->nparams);
    if (is_changed(&p->now->params[n]) && p->now->params[n].at.atomic) n = 0;
    const param *from = &p->now->params[n];
    form f = is_changed(from) ? from->at : any_form(p, from->buffer, false);
    if (!k || f.strip < p->rounds) return pipe_load(p, n, &f, pipe_index(p, &f, NULL));
    unsigned at = pipe_below(p, 4) == 3 ? pipe_number_minus(p, "i64", f.strip - 1, *k) : *k;
    return pipe_load(p, n, &f, pipe_index(p, &f, &at));
}

unsigned pipe_some_value(pipe *p, const unsigned *k) {
    static const char *const ops[] = {"add", "sub", "xor", "mul", "umax"};
    unsigned v = some_load(p, k);
    for (unsigned n = pipe_below(p, 3); n; n--) {
        const char *op = ops[pipe_below(p, 5)];
        v = pipe_binary(p, "i32", op, v, some_load(p, k));
    }
    if (pipe_chance(p, 60)) {
        unsigned sum = pipe_value(p, "i32");
        ir_putf(p->out, "%s %%v%u, %%n\n", ops[pipe_below(p, 5)], v);
        return sum;
    }
    if (!pipe_chance(p, 85)) v = pipe_binary(p, "i32", ops[pipe_below(p, 3)], v, pipe_fact(p));
    return pipe_with_number(p, "i32", "add", v, pipe_byte(p));
}

/* ----------------------------------------------------------------------------------- statements */

unsigned pipe_any_written(pipe *p) {
    unsigned n = pipe_below(p, p->now->nparams);
    while (!p->now->params[n].written) n = (n + 1) % p->now->nparams;
    return n;
}

/* A test that one item of a work-group passes, mostly; the others go past label n. */
static void put_test_of_leader(pipe *p, unsigned n) {
    static const char *const tests[] = {"eq", "eq", "eq", "ult", "slt", "ule", "ne"};
    const char *type = pipe_chance(p, 40) ? "i32" : "i64";
    unsigned what = pipe_below(p, 7), d = pipe_below(p, p->now->range.dims);
    unsigned local = p->now->range.local[d] ? p->now->range.local[d] : 1;
    unsigned limit = what < 3 ? pipe_chance(p, 90) ? pipe_below(p, local) : local : what < 5;
    unsigned x = pipe_cut(p, type, pipe_query(p, "local_id", d));
    unsigned c = pipe_value(p, "i1");
    if (what == 6)
        ir_putf(p->out, "ne %%v%u, %s %u\n  br %%v%u, past%u, put%u\nput%u:\n", x, type,
                pipe_below(p, local), c, n, n, n);
    else
        ir_putf(p->out, "%s %%v%u, %s %u\n  br %%v%u, put%u, past%u\nput%u:\n", tests[what], x,
                type, limit, c, n, n, n);
}

static void assign_once(pipe *p, unsigned to) {
    const form *f = &p->now->params[to].at;
    unsigned v = pipe_some_value(p, NULL), n = p->labels;
    if (f->kind != SLOT) {
        pipe_store(p, to, f, pipe_index(p, f, NULL), v);
        return;
    }
    unsigned tests = p->now->range.dims > 1 && pipe_chance(p, 85) ? p->now->range.dims : 1;
    p->labels += tests;
    for (unsigned k = 0; k < tests; k++) put_test_of_leader(p, n + k);
    pipe_store(p, to, f, pipe_index(p, f, NULL), v);
    for (unsigned k = tests; k-- > 0;) ir_putf(p->out, "  jmp past%u\npast%u:\n", n + k, n + k);
}

/* Stores an element read at the item's own place plus the number that a counter ended with. */
static void use_counter(pipe *p, unsigned to, unsigned k) {
    const form own = {.kind = OWN}, *f = &p->now->params[to].at;
    unsigned at = pipe_binary(p, "i64", "add", k, pipe_index(p, &own, NULL));
    unsigned v = pipe_load(p, 0, &own, at);
    pipe_store(p, to, f, pipe_index(p, f, NULL), v);
}

/* Of a counter, or of something read. */
static unsigned any_test(pipe *p, const unsigned *k) {
    static const char *const tests[] = {"ne", "slt", "eq"};
    unsigned what = k ? pipe_below(p, 3) : 1, x = what ? some_load(p, k) : *k,
             c = pipe_value(p, "i1");
    const char *type = what ? "i32" : "i64";
    ir_putf(p->out, "%s %%v%u, %s %u\n", tests[pipe_below(p, 3)], x, type, pipe_below(p, 4));
    return c;
}

/* The body of a loop: the store may be skipped, or be the last one. */
static void assign_in_round(pipe *p, unsigned to, unsigned n, unsigned k) {
    const form *f = &p->now->params[to].at;
    unsigned v = pipe_some_value(p, &k), what = pipe_below(p, 8);
    if (what == 6) ir_putf(p->out, "  br %%v%u, put%u, turn%u\nput%u:\n", any_test(p, &k), n, n, n);
    pipe_store(p, to, f, pipe_index(p, f, &k), v);
    if (what == 7)
        ir_putf(p->out, "  br %%v%u, turn%u, after%u\n", any_test(p, &k), n, n);
    else
        ir_putf(p->out, "  jmp turn%u\n", n);
}

/* Each element of a strip, forwards or backwards.  The test is at the end, or at the head. */
static void assign_strip(pipe *p, unsigned to) {
    unsigned n = p->labels++, k = p->values++, next = p->values++;
    unsigned strip = p->now->params[to].at.strip;
    bool at_head = pipe_chance(p, 40), back = pipe_below(p, 4) == 3;
    const char *test = back || pipe_chance(p, 50) ? "ne" : "ult";
    const char *hint = pipe_chance(p, 60) ? " no_unroll" : "";
    int first = back ? (int)strip - 1 : 0, end = back ? -1 : (int)strip;
    ir_putf(p->out, "  jmp before%u\nbefore%u:\n  jmp head%u\nhead%u:%s\n", n, n, n, n, hint);
    ir_putf(p->out, "  %%v%u: i64 = phi [before%u: %d, turn%u: %%v%u]\n", k, n, first, n, next);
    if (at_head) ir_putf(p->out, "  %%c%u: i1 = %s %%v%u, i64 %d\n", n, test, k, end);
    if (at_head) ir_putf(p->out, "  br %%c%u, body%u, after%u\nbody%u:\n", n, n, n, n);
    p->rounds = strip;
    assign_in_round(p, to, n, k);
    ir_putf(p->out, "turn%u:\n  %%v%u: i64 = add %%v%u, %d\n", n, next, k, back ? -1 : 1);
    if (at_head) ir_putf(p->out, "  jmp head%u\nafter%u:\n", n, n);
    if (!at_head) ir_putf(p->out, "  %%c%u: i1 = %s %%v%u, i64 %d\n", n, test, next, end);
    if (!at_head) ir_putf(p->out, "  br %%c%u, head%u, after%u\nafter%u:\n", n, n, n, n);
    if (!back && pipe_chance(p, 20)) use_counter(p, to, k);
}

/* An element of a strip that something read chooses, where there is such an element. */
static void assign_chosen(pipe *p, unsigned to) {
    const form *f = &p->now->params[to].at;
    unsigned n = p->labels++;
    ir_putf(p->out, "  jmp pick%u\npick%u:\n", n, n);
    unsigned x = some_load(p, NULL), v = pipe_some_value(p, NULL), wide = pipe_value(p, "i64");
    ir_putf(p->out, "%s %%v%u\n", pipe_chance(p, 50) ? "sext" : "zext", x);
    ir_putf(p->out, "  br %%v%u, side%u, join%u\n", any_test(p, NULL), n, n);
    ir_putf(p->out, "side%u:\n  jmp join%u\njoin%u:\n", n, n, n);
    unsigned k = pipe_value(p, "i64");
    ir_putf(p->out, "phi [pick%u: %%v%u, side%u: %u]\n", n, wide, n, pipe_below(p, 4));
    unsigned inside = pipe_value(p, "i1");
    ir_putf(p->out, "ult %%v%u, i64 %u\n  br %%v%u, put%u, past%u\nput%u:\n", k, f->strip, inside,
            n, n, n);
    pipe_store(p, to, f, pipe_index(p, f, &k), v);
    ir_putf(p->out, "  jmp past%u\npast%u:\n", n, n);
}

static void assign(pipe *p) {
    unsigned to = pipe_any_written(p);
    bool strip = p->now->params[to].at.strip;
    if (strip && pipe_below(p, 8) == 7)
        assign_chosen(p, to);
    else if (strip)
        assign_strip(p, to);
    else
        assign_once(p, to);
}

/* The id of the item in its group or in the range, or that of the group. */
static unsigned any_id(pipe *p, const char *type) {
    static const char *const places[] = {"local_id", "local_id", "global_id", "group_id"};
    const char *what = places[pipe_below(p, 4)];
    return pipe_cut(p, type, pipe_query(p, what, pipe_below(p, p->now->range.dims)));
}

static void guarded(pipe *p) {
    static const char *const tests[] = {"ult", "ule", "eq", "ne", "slt"};
    form f = {.kind = pipe_chance(p, 70) ? OWN : ROW};
    f.variant = pipe_below(p, 3);
    f.number = pipe_below(p, 3);
    unsigned n = p->labels++;
    const char *type = pipe_chance(p, 40) ? "i32" : "i64", *test = tests[pipe_below(p, 5)];
    unsigned x = pipe_element(p, &f, type), limit = pipe_below(p, p->items + 4);
    if (p->now->range.local[0] && !pipe_chance(p, 70)) {
        x = any_id(p, type);
        limit *= pipe_below(p, 2); /* half of the guards are about the first one */
    }
    bool known = pipe_chance(p, 20); /* the argument decides alone, or with the id */
    if (known && pipe_chance(p, 50)) {
        type = "i32";
        x = pipe_value(p, "i32");
        ir_putf(p->out, "and %%n, %u\n", (2u << pipe_below(p, 5)) - 1);
        limit = p->now->known & ((2u << pipe_below(p, 5)) - 1);
    }
    unsigned c = pipe_value(p, "i1");
    if (known && type[1] == '3' && pipe_chance(p, 50))
        ir_putf(p->out, "%s %%v%u, %%n\n", test, x);
    else
        ir_putf(p->out, "%s %%v%u, %s %u\n", test, x, type, limit);
    if (pipe_chance(p, 30))
        ir_putf(p->out, "  br %%v%u, end%u, then%u\nthen%u:\n", c, n, n, n);
    else
        ir_putf(p->out, "  br %%v%u, then%u, end%u\nthen%u:\n", c, n, n, n);
    if (pipe_below(p, 4) == 3)
        guarded(p);
    else
        assign(p);
    ir_putf(p->out, "  jmp end%u\nend%u:\n", n, n);
}

/* What follows is not for all items. */
static void return_early(pipe *p) {
    unsigned n = p->labels++, c = any_test(p, NULL);
    ir_putf(p->out, "  br %%v%u, leave%u, go%u\nleave%u:\n  ret\ngo%u:\n", c, n, n, n, n);
}

/* -------------------------------------------------------------------------------------- kernels */

/* Atomics are of numbers of 32 or 64 bits. */
static void fit_atomic(form *f) {
    if (!f->atomic) return;
    f->type = f->type == 2 ? 2 : 0;
    f->strip = 0;
}

form pipe_form(pipe *p, bool written) {
    form f = {.kind = pipe_chance(p, 40) ? OWN : (place)pipe_below(p, PLACES)};
    bool shared = f.kind >= FOLDED && f.kind != SLOT;
    if (written && !pipe_chance(p, shared ? 92 : 99)) f.atomic = 1 + pipe_below(p, ATOMICS);
    if (written && !f.atomic && shared && (f.kind == LOADED || !pipe_chance(p, 10))) f.kind = OWN;
    f.number = pipe_below(p, 32);
    f.variant = pipe_below(p, 3);
    f.narrow = pipe_chance(p, 35);
    f.is_signed = pipe_chance(p, 70);
    static const unsigned up[] = {0, 0, 0, 0, 32, 32, 48, 56, 58};
    f.up = up[pipe_below(p, 9)];
    f.late = pipe_chance(p, 50);
    f.type = pipe_chance(p, 75) ? 0 : pipe_below(p, 4);
    if (pipe_chance(p, 15)) f.strip = 2 + pipe_below(p, 3);
    if (f.kind == STRIDED || f.kind == JOINED || f.kind == SLOT || f.type >= 2) f.strip = 0;
    fit_atomic(&f);
    return f;
}

/* Makes a form another one that differs in one respect. */
static void vary(pipe *p, form *f) {
    unsigned what = pipe_below(p, 4);
    if (what == 3) f->up = f->up ? 0 : 32;
    if (what == 0) f->number++;
    if (what == 1 && f->strip) f->strip++;
    if (what == 2) f->type = pipe_below(p, f->strip ? 2 : 4);
    fit_atomic(f);
}

/* A form for the kernel that is being made. */
static form any_form(pipe *p, unsigned buffer, bool written) {
    const range *r = &p->now->range;
    form f = pipe_chance(p, p->calm) ? p->home[buffer] : pipe_form(p, written);
    f.variant = (f.variant + pipe_below(p, 3)) % 3;
    if (pipe_chance(p, 8)) vary(p, &f);
    if ((f.kind == MIRRORED || f.kind == GROUPED) && !pipe_is_line_of_groups(r)) f.kind = OWN;
    if (f.kind == SLOT && !r->local[0]) f.kind = OWN;
    if ((f.kind == TURNED || f.kind == TILTED) && r->dims != 2) f.kind = OWN;
    return f;
}

void pipe_any_buffers(pipe *p, kernel *k) {
    unsigned used = 0;
    for (unsigned n = 0; n < k->nparams; n++) {
        unsigned b = pipe_below(p, p->buffers);
        bool twice = n && !pipe_chance(p, 98);
        while (!twice && used >> b & 1) b = (b + 1) % p->buffers;
        used |= 1u << b;
        k->params[n].buffer = b;
    }
}

/* Two parameters with one buffer access it in the same form. */
static void share_form(kernel *k, param *q) {
    for (unsigned n = 0; n < k->nparams; n++) {
        param *other = &k->params[n];
        if (other == q || other->buffer != q->buffer) continue;
        other->shares = true;
        other->at = q->at;
    }
}

static void any_params(pipe *p, kernel *k) {
    k->nparams = 2 + pipe_below(p, MAX_PARAMS - 1);
    pipe_any_buffers(p, k);
    for (unsigned n = 1; n < k->nparams; n++) {
        param *q = &k->params[n];
        q->written = n + 1 == k->nparams || pipe_chance(p, 25);
        if (q->written) q->at = any_form(p, q->buffer, true);
        if (q->written) share_form(k, q);
    }
}

static void any_meetings(pipe *p, kernel *k) {
    const range *r = &k->range;
    k->has_tile = pipe_is_line_of_groups(r) && pipe_chance(p, 20);
    k->takes_tile = k->has_tile && !pipe_chance(p, 60);
    k->meets = r->local[0] && !pipe_chance(p, 85);
    k->returns_early = !k->has_tile && !k->meets && !pipe_chance(p, 85);
}

static void put_head(pipe *p, const kernel *k) {
    if (k->has_tile && !k->takes_tile)
        ir_putf(p->out, "@tile%u: local [%u x i32] align 4\n", k->number, k->range.local[0]);
    ir_putf(p->out, "kernel @k%u(", k->number);
    for (unsigned n = 0; n < k->nparams; n++)
        ir_putf(p->out, "%%p%u: ptr.global of %s, ", n, "i32");
    if (k->takes_tile) ir_put(p->out, "%tile: ptr.local of i32, ");
    ir_put(p->out, "%n: i32) {\nentry:\n");
}

void pipe_kernel(pipe *p, kernel *k) {
    p->now = k;
    any_params(p, k);
    k->known = pipe_byte(p);
    any_meetings(p, k);
    put_head(p, k);
    p->values = 0;
    for (unsigned n = 1 + pipe_below(p, 3); n; n--) {
        unsigned what = pipe_below(p, 10);
        if (what < 2 && (k->has_tile || k->meets))
            pipe_meet(p);
        else if (what == 2 && k->returns_early)
            return_early(p);
        else if (what < 5)
            guarded(p);
        else
            assign(p);
    }
    ir_put(p->out, "  ret\n}\n");
}
