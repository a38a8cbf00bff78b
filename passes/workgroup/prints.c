/* prints.c — printf becomes a record in memory, for devices whose kernels call nothing of the host.
 *
 * The kernel gets one more parameter, the address of two numbers of 64 bits and the records:
 *
 *   how many bytes of records there are, or would be   added to by each printf
 *   how many fit
 *
 * A record is at a multiple of 8 bytes:
 *
 *   number of the printf, number of bytes of the record   32 bits each
 *   each operand, from a multiple of 8 bytes on           lane by lane
 *
 * A string is its length, 64 bits, and its bytes.  A record that does not fit is not written: if
 * there is room for its head, that is 0, and printf gives -1.  Records of an item are in the order
 * in which it printed them.
 *
 * Needs a kernel that calls nothing.
 */
#include "passes/workgroup/regions_impl.h"

enum { HEAD = 8, FIRST = 16, WORD = 8 };

typedef struct {
    ir_func *f;
    ir_builder b;
    ir_inst *memory; /* the parameter */
} printing;

static ir_inst *number(const printing *p, uint64_t n) { return ir_const(p->f, IR_I64, n); }

static ir_inst *sum(printing *p, ir_inst *x, ir_inst *y) {
    return ir_build2(&p->b, IR_OP_add, IR_I64, x, y);
}

static ir_inst *at(printing *p, ir_inst *base, ir_inst *bytes) {
    return ir_build_ptradd(&p->b, base, bytes, true);
}

/* -------------------------------------------------------------------------------------- strings */

/* A loop that counts from 0: builds its head, from the block that is being built on. */
typedef struct {
    ir_block *head, *body, *done;
    ir_inst *count;
} counting;

static counting begin_loop(printing *p, ir_inst *end) {
    counting c = {.head = ir_block_new(p->f, NULL),
                  .body = ir_block_new(p->f, NULL),
                  .done = ir_block_new(p->f, NULL)};
    ir_build_jmp(&p->b, c.head);
    c.count = ir_append_arg(ir_build_phi(c.head, IR_I64), number(p, 0));
    ir_at_end(&p->b, c.head);
    ir_inst *more = ir_build2(&p->b, IR_OP_ult, IR_I1, c.count, end);
    ir_build_br(&p->b, more, c.body, c.done);
    ir_at_end(&p->b, c.body);
    return c;
}

/* What follows goes on after the loop. */
static void end_loop(printing *p, const counting *c) {
    ir_inst *next = sum(p, c->count, number(p, 1));
    ir_build_jmp(&p->b, c->head);
    ir_append_arg(c->count, next);
    ir_at_end(&p->b, c->done);
}

/* Bytes before the 0 that ends it, at most `limit`. */
static ir_inst *measure(printing *p, ir_inst *string, uint64_t limit) {
    ir_inst *null = ir_const(p->f, string->type, 0);
    ir_inst *there = ir_build2(&p->b, IR_OP_ne, IR_I1, string, null);
    ir_inst *most = ir_build_select(&p->b, there, number(p, limit), number(p, 0));
    counting c = begin_loop(p, most);
    ir_inst *byte = ir_build_load(&p->b, IR_I8, at(p, string, c.count), 1, 0);
    ir_inst *is_end = ir_build2(&p->b, IR_OP_eq, IR_I1, byte, ir_const(p->f, IR_I8, 0));
    ir_block *rest = ir_block_new(p->f, NULL);
    ir_build_br(&p->b, is_end, c.done, rest);
    ir_at_end(&p->b, rest);
    end_loop(p, &c);
    return c.count;
}

static void copy_string(printing *p, ir_inst *to, ir_inst *string, ir_inst *length) {
    counting c = begin_loop(p, length);
    ir_inst *byte = ir_build_load(&p->b, IR_I8, at(p, string, c.count), 1, 0);
    ir_build_store(&p->b, byte, at(p, to, c.count), 1, 0);
    end_loop(p, &c);
}

static ir_inst *whole_words(printing *p, ir_inst *bytes) {
    return ir_build2(&p->b, IR_OP_and, IR_I64, sum(p, bytes, number(p, WORD - 1)),
                     number(p, ~(uint64_t)(WORD - 1)));
}

/* -------------------------------------------------------------------------------------- records */

/* A printf on its way. */
typedef struct {
    const pass_print *what;
    ir_inst *i, **length; /* by operand, of strings */
    uint32_t number;
} record;

static uint64_t bytes_of(const printing *p, const ir_inst *v) {
    return (ir_access_size(p->f->module, v->type) + WORD - 1) & ~(uint64_t)(WORD - 1);
}

static ir_inst *measure_record(printing *p, const record *r) {
    uint64_t known = HEAD;
    ir_inst *bytes = number(p, 0);
    for (uint32_t n = 0; n < r->i->nargs; n++) {
        const pass_printed *o = &r->what->operand[n];
        known += o->kind == PASS_STRING ? WORD : bytes_of(p, ir_arg(r->i, n));
        if (o->kind != PASS_STRING) continue;
        r->length[n] = measure(p, ir_arg(r->i, n), o->limit);
        bytes = sum(p, bytes, whole_words(p, r->length[n]));
    }
    return sum(p, bytes, number(p, known));
}

static void write_operands(printing *p, const record *r, ir_inst *to) {
    for (uint32_t n = 0; n < r->i->nargs; n++) {
        ir_inst *v = ir_arg(r->i, n);
        if (r->what->operand[n].kind == PASS_STRING) {
            ir_inst *text = at(p, to, number(p, WORD));
            ir_build_store(&p->b, r->length[n], to, WORD, 0);
            copy_string(p, text, v, r->length[n]);
            to = at(p, text, whole_words(p, r->length[n]));
        } else {
            ir_build_store(&p->b, v, to, WORD, 0);
            to = at(p, to, number(p, bytes_of(p, v)));
        }
    }
}

static void write_record(printing *p, const record *r, ir_inst *to, ir_inst *bytes) {
    ir_inst *size = ir_build1(&p->b, IR_OP_trunc, IR_I32, bytes);
    ir_build_store(&p->b, ir_const(p->f, IR_I32, r->number), to, WORD, 0);
    ir_build_store(&p->b, size, at(p, to, number(p, HEAD / 2)), HEAD / 2, 0);
    write_operands(p, r, at(p, to, number(p, HEAD)));
}

static ir_inst *reserve(printing *p, ir_inst *bytes) {
    const ir_imm relaxed = {.sync = {.scope = IR_SCOPE_DEVICE}};
    return ir_build_raw(&p->b, IR_OP_atomic_add, IR_I64, ir_with_imm(relaxed),
                        IR_ARGS(p->memory, bytes));
}

static void replace(printing *p, const record *r) {
    ir_func *f = p->f;
    ir_block *before = r->i->block, *after = ir_split_block(before, r->i);
    ir_block *fits = ir_block_new(f, NULL), *lost = ir_block_new(f, NULL);
    ir_block *head = ir_block_new(f, NULL);
    ir_at_end(&p->b, before);
    ir_inst *bytes = measure_record(p, r), *start = reserve(p, bytes);
    ir_inst *room = ir_build_load(&p->b, IR_I64, at(p, p->memory, number(p, WORD)), WORD, 0);
    ir_inst *to = at(p, at(p, p->memory, number(p, FIRST)), start);
    ir_build_br(&p->b, ir_build2(&p->b, IR_OP_ule, IR_I1, sum(p, start, bytes), room), fits, lost);
    ir_at_end(&p->b, fits);
    write_record(p, r, to, bytes);
    ir_build_jmp(&p->b, after);
    ir_at_end(&p->b, lost);
    ir_build_br(&p->b, ir_build2(&p->b, IR_OP_ult, IR_I1, start, room), head, after);
    ir_at_end(&p->b, head);
    ir_build_store(&p->b, number(p, 0), to, WORD, 0);
    ir_build_jmp(&p->b, after);
    ir_inst *result = ir_append_arg(ir_build_phi(after, IR_I32), ir_const(f, IR_I32, 0));
    for (int k = 0; k < 2; k++) result = ir_append_arg(result, ir_const(f, IR_I32, UINT32_MAX));
    ir_replace_uses(r->i, result);
    ir_remove(r->i);
}

/* ------------------------------------------------------------------------------------------ all */

static pass_printed describe(const ir_inst *i, uint32_t n, pass_string_limit *limit_of) {
    ir_type t = ir_arg(i, n)->type, elem = ir_elem(t);
    pass_printed o = {.kind = ir_is_ptr(t)        ? PASS_POINTER
                              : ir_is_float(elem) ? PASS_FLOAT
                                                  : PASS_INTEGER,
                      .lanes = ir_lanes(t),
                      .bits = ir_bits(i->block->func->module, elem)};
    if (ir_is_ptr(t) && limit_of(i->imm.string, n, &o.limit)) o.kind = PASS_STRING;
    return o;
}

static pass_print *add_print(const ir_inst *i, pass_string_limit *limit_of, ir_arena *out,
                             pass_print_list *list) {
    pass_print *what = ir_push(out, list);
    pass_printed *operand = ir_new_array(out, pass_printed, i->nargs + 1);
    for (uint32_t n = 0; n < i->nargs; n++) operand[n] = describe(i, n, limit_of);
    *what = (pass_print){ir_strdup(out, i->imm.string), operand, i->nargs};
    return what;
}

bool pass_record_prints(ir_func *kernel, pass_string_limit *limit_of, ir_arena *out,
                        pass_print_list *list) {
    ir_arena *own = &kernel->module->arena;
    ir_vec(ir_inst *) all = {0};
    printing p = {.f = kernel};
    foreach_block (block, kernel)
        foreach_inst (i, block)
            if (i->op == IR_OP_printf) *ir_push(own, &all) = i;
    if (!all.n) return false;
    p.memory = ir_add_param(kernel, ir_ptr(IR_GLOBAL), "records");
    ir_builder_init(&p.b, kernel);
    for (uint32_t n = 0; n < all.n; n++) {
        ir_inst *i = all.data[n];
        record r = {.i = i, .length = ir_new_array(own, ir_inst *, i->nargs + 1)};
        r.number = list->n;
        r.what = add_print(i, limit_of, out, list);
        p.b.loc = i->loc;
        replace(&p, &r);
    }
    return true;
}
