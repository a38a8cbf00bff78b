/* address.c — from byte offsets back to indices.
 *
 * Addresses are bytes in the IR; consumers of SPIR-V optimize access chains over typed pointers
 * better.  A byte offset is read as an affine form, a sum of value * factor and a constant
 * (sw_find_affine).  From the pointee of the base a plan descends into arrays, vectors and structs,
 * and at each level takes the terms whose factor is a multiple of the element's size.  A plan of
 * this kind is exact: it computes the same address modulo the width of a pointer.  It is marked
 * in-bounds only if the offset was, and no multiplication on the way can wrap.
 *
 * Consumers assume that an index into a row of an array of arrays stays in the row, and that a
 * chain from a member of an aggregate stays in the member.  The IR does not promise that.  So an
 * offset with a constant row and a variable column is written as an index of elements, and an
 * address that adds to one inside an aggregate is counted from the start of the aggregate.  If
 * no descent ends at the offset, the base is cast to a pointer to the wanted type, or as a last
 * resort to bytes.
 */
#include "codegen/spirv/spirv.h"

/* --------------------------------------------------------------------------------- affine forms */

enum { PENDING = 2 * SW_MAX_TERMS };

typedef struct {
    ir_inst *value;
    int64_t factor;
    bool scaled; /* below a multiplication: sums are kept whole, as one index */
} part;

typedef struct {
    const ir_module *m;
    sw_affine *form;
    part stack[PENDING];
    unsigned n;
} splitter;

static void add_term(sw_affine *a, ir_inst *value, int64_t factor) {
    for (unsigned i = 0; i < a->n; i++) {
        if (a->term[i].value != value) continue;
        a->term[i].factor = ir_wrap_add(a->term[i].factor, factor);
        return;
    }
    a->term[a->n++] = (sw_term){value, factor};
}

static void push_part(splitter *s, ir_inst *v, int64_t factor, bool scaled) {
    s->stack[s->n++] = (part){v, factor, scaled};
}

static int64_t constant_of(const splitter *s, const ir_inst *c) {
    return ir_sext(c->imm.bits, ir_bits(s->m, c->type));
}

/* A value that is extended from few bits cannot wrap when the scale fits into what is left. */
static bool cannot_wrap(const splitter *s, const ir_inst *v, int64_t scale) {
    if (v->op != IR_OP_sext && v->op != IR_OP_zext) return false;
    unsigned bits = ir_bits(s->m, v->type), used = ir_bits(s->m, ir_arg(v, 0)->type);
    int64_t most = INT64_C(1) << (bits - 1 - used);
    return scale < most && scale > -most;
}

/* The factor by which a shift or multiplication scales its first operand; 0: it does not. */
static int64_t scale_of(const splitter *s, const ir_inst *v) {
    if (v->op != IR_OP_shl && v->op != IR_OP_mul) return 0;
    if (!ir_is_const(ir_arg(v, 1))) return 0;
    int64_t c = constant_of(s, ir_arg(v, 1));
    if (v->op == IR_OP_mul) return c;
    return c >= 0 && c < 32 ? INT64_C(1) << c : 0;
}

static void split_sum(splitter *s, const ir_inst *v, const part *p) {
    int64_t second = v->op == IR_OP_sub ? ir_wrap_mul(p->factor, -1) : p->factor;
    if (!(v->flags & IR_NSW)) s->form->exact = false;
    push_part(s, ir_arg(v, 1), second, p->scaled);
    push_part(s, ir_arg(v, 0), p->factor, p->scaled);
}

static void split_part(splitter *s, part p) {
    ir_inst *v = p.value;
    int64_t scale = scale_of(s, v);
    bool has_room = s->form->n + s->n + 2 <= SW_MAX_TERMS;
    bool sum = (v->op == IR_OP_add || v->op == IR_OP_sub) && !p.scaled && has_room;
    if (ir_is_const(v)) {
        s->form->constant =
            ir_wrap_add(s->form->constant, ir_wrap_mul(constant_of(s, v), p.factor));
    } else if (sum) {
        split_sum(s, v, &p);
    } else if (scale) {
        bool exact = v->flags & IR_NSW || cannot_wrap(s, ir_arg(v, 0), scale);
        if (!exact) s->form->exact = false;
        push_part(s, ir_arg(v, 0), ir_wrap_mul(p.factor, scale), true);
    } else {
        add_term(s->form, v, p.factor);
    }
}

void sw_find_affine(const ir_module *m, ir_inst *v, sw_affine *a) {
    splitter s = {.m = m, .form = a};
    *a = (sw_affine){.exact = true};
    push_part(&s, v, 1, false);
    while (s.n) split_part(&s, s.stack[--s.n]);
}

bool sw_is_multiple(const sw_affine *a, uint64_t size) {
    if (size == 0 || size > INT64_MAX || a->constant % (int64_t)size) return false;
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].factor % (int64_t)size) return false;
    return true;
}

/* ------------------------------------------------------------------------------------- descents */

enum { MAX_DESCENT = IR_MAX_TYPE_DEPTH + 3 };

/* Steps from a type down into its parts. */
typedef struct {
    sw_writer *w;
    sw_affine rest; /* of the offset */
    sw_index index[MAX_DESCENT];
    unsigned n;
    bool fixed_row; /* a constant index chose a row of an array of arrays */
} descent;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Takes all that is a multiple of `size` out of the rest, as the next index. */
static sw_index *take_index(descent *d, uint64_t bytes) {
    int64_t size = (int64_t)bytes;
    sw_affine *rest = &d->rest;
    sw_term *term = ir_new_array(d->w->arena, sw_term, rest->n);
    sw_index *index = &d->index[d->n++];
    *index = (sw_index){.term = term, .constant = floor_div(rest->constant, size)};
    unsigned kept = 0;
    for (unsigned i = 0; i < rest->n; i++) {
        if (rest->term[i].factor % size == 0)
            term[index->n++] = (sw_term){rest->term[i].value, rest->term[i].factor / size};
        else
            rest->term[kept++] = rest->term[i];
    }
    rest->n = kept;
    rest->constant -= index->constant * size;
    return index;
}

static bool enter_elements(descent *d, ir_type *at, ir_type elem, uint64_t count) {
    uint64_t size = ir_sizeof(d->w->m, elem);
    if (size == 0) return false;
    const sw_index *index = take_index(d, size);
    bool rows = ir_is_aggregate(elem) && ir_type_get(d->w->m, elem)->kind == IR_ARRAY;
    if (index->n && d->fixed_row) return false;
    if (!index->n && (index->constant < 0 || (uint64_t)index->constant >= count)) return false;
    if (!index->n && rows && count > 1) d->fixed_row = true;
    *at = elem;
    return true;
}

static bool enter_member(descent *d, ir_type *at, const ir_type_info *t) {
    uint64_t offset = (uint64_t)d->rest.constant;
    if (d->rest.constant < 0 || offset >= t->size) return false;
    uint32_t low = 0, high = t->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->offset[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    d->index[d->n++] = (sw_index){.constant = low, .member = true};
    d->rest.constant -= (int64_t)t->offset[low];
    *at = t->member[low];
    return true;
}

/* One level down; false if the type has no parts, or the offset is outside of it. */
static bool enter(descent *d, ir_type *at) {
    if (d->n + 1 >= MAX_DESCENT) return false;
    if (ir_is_vector(*at)) return enter_elements(d, at, ir_elem(*at), ir_lanes(*at));
    if (!ir_is_aggregate(*at)) return false;
    const ir_type_info *t = ir_type_get(d->w->m, *at);
    if (t->kind == IR_ARRAY) return enter_elements(d, at, t->member[0], t->count);
    return t->count > 0 && enter_member(d, at, t);
}

/* Walks from `base` to something of type `wanted` exactly at the offset. */
static bool find_descent(descent *d, ir_type base, ir_type *wanted) {
    uint64_t size = ir_sizeof(d->w->m, base);
    ir_type at = base;
    if (size == 0 || size > INT64_MAX) return false;
    take_index(d, size);
    for (;;) {
        at = sw_memory_type(at);
        bool arrived = d->rest.n == 0 && d->rest.constant == 0;
        if (arrived && (*wanted == IR_VOID || *wanted == at)) break;
        if (!enter(d, &at)) return false;
    }
    *wanted = at;
    return true;
}

/* A plan with the indices of a descent. */
static sw_plan *new_plan(sw_writer *w, ir_type base, ir_type pointee, const descent *d) {
    sw_plan *plan = ir_new(w->arena, sw_plan);
    plan->base = base;
    plan->pointee = pointee;
    plan->n = d->n;
    plan->index = ir_dup(w->arena, d->index, d->n * sizeof *d->index);
    return plan;
}

sw_plan *sw_plan_descent(sw_writer *w, ir_type base, ir_type wanted) {
    descent d = {.w = w, .rest = {.exact = true}};
    if (!ir_is_aggregate(base) && !ir_is_vector(base)) return NULL;
    if (!find_descent(&d, base, &wanted)) return NULL;
    sw_plan *plan = new_plan(w, base, wanted, &d);
    plan->inbounds = true;
    return plan;
}

/* ---------------------------------------------------------------------------------------- plans */

/* An address to be planned: root + offset. */
typedef struct {
    ir_inst *root;
    sw_affine offset;
    bool inbounds;
} address;

static sw_plan *plan_steps(sw_writer *w, const address *at, ir_type base, ir_type wanted) {
    descent d = {.w = w, .rest = at->offset};
    return find_descent(&d, base, &wanted) ? new_plan(w, base, wanted, &d) : NULL;
}

/* The root cast to `elem`, with one index. */
static sw_plan *plan_elements(sw_writer *w, const address *at, ir_type elem) {
    descent d = {.w = w, .rest = at->offset};
    take_index(&d, ir_sizeof(w->m, elem));
    return new_plan(w, elem, elem, &d);
}

static bool add_offset(sw_affine *a, const sw_affine *more) {
    if (a->n + more->n > SW_MAX_TERMS) return false;
    for (unsigned i = 0; i < more->n; i++) add_term(a, more->term[i].value, more->term[i].factor);
    a->constant = ir_wrap_add(a->constant, more->constant);
    a->exact &= more->exact;
    return true;
}

/* If the root is an address inside an aggregate, counts the offset from the start of that:
 * consumers assume that a chain from a member does not leave it. */
static void count_from_aggregate(const sw_info *info, address *at) {
    const sw_plan *inner = at->root->op == IR_OP_ptradd ? info->typing.plan[at->root->id] : NULL;
    if (!inner || inner->n < 2 || !add_offset(&at->offset, &inner->offset)) return;
    at->root = inner->root;
    at->inbounds &= inner->inbounds;
}

/* Bytes from the root.  If the address is still base + offset, the offset is written as it is. */
static sw_plan *plan_bytes(sw_writer *w, address *at, const ir_inst *ptradd) {
    ir_inst *offset = ir_arg(ptradd, 1);
    if (at->root == ir_arg(ptradd, 0) && !ir_is_const(offset))
        at->offset = (sw_affine){.term = {{offset, 1}}, .n = 1, .exact = true};
    return plan_elements(w, at, IR_I8);
}

sw_plan *sw_plan_address(sw_writer *w, const sw_info *info, const ir_inst *ptradd, ir_type wanted) {
    address at = {.root = ir_arg(ptradd, 0), .inbounds = (ptradd->flags & IR_INBOUNDS) != 0};
    sw_find_affine(w->m, ir_arg(ptradd, 1), &at.offset);
    count_from_aggregate(info, &at);
    ir_type base = sw_pointee(info, at.root);
    if (base == IR_VOID) base = wanted != IR_VOID ? wanted : IR_I8;
    sw_plan *plan = plan_steps(w, &at, base, wanted);
    if (!plan && wanted != IR_VOID && sw_is_multiple(&at.offset, ir_sizeof(w->m, wanted)))
        plan = plan_elements(w, &at, wanted);
    if (!plan) plan = plan_bytes(w, &at, ptradd);
    plan->root = at.root;
    plan->offset = at.offset;
    plan->inbounds = at.inbounds && at.offset.exact;
    return plan;
}
