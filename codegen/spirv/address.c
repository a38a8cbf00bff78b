/* address.c — from byte offsets back to indices.
 *
 * Addresses are bytes in the IR; consumers of SPIR-V optimize access chains over typed pointers
 * better.  A byte offset is seen as a sum of value * factor and a constant (sw_linearize).  From
 * the pointee of the base a plan steps down into arrays, vectors and structs, and at each level
 * takes the terms whose factor is a multiple of the element's size.  A plan of this kind is exact:
 * it computes the same address modulo the width of a pointer.  It is marked in-bounds only if the
 * offset was, and no multiplication on the way can wrap.
 *
 * Consumers assume that an index into a row of an array of arrays stays in the row, and that a
 * chain from a member of an aggregate stays in the member.  The IR does not promise that.  So an
 * offset with a constant row and a variable column is written as an index of elements, and an
 * address that adds to one inside an aggregate is counted from the start of the aggregate.  If
 * there is no path, the base is cast to a pointer to the wanted type, or as a last resort to bytes.
 */
#include "codegen/spirv/spirv.h"

/* ---------------------------------------------------------------------------------- linear sums */

enum { PENDING = 2 * SW_MAX_TERMS };

typedef struct {
    ir_inst *value;
    int64_t factor;
    bool scaled; /* sums below a multiplication stay whole: they are indices */
} part;

typedef struct {
    const ir_module *m;
    sw_linear *l;
    part stack[PENDING];
    unsigned n;
} linearizer;

static void add_term(sw_linear *l, ir_inst *value, int64_t factor) {
    for (unsigned i = 0; i < l->n; i++) {
        if (l->term[i].value != value) continue;
        l->term[i].factor = ir_wrap_add(l->term[i].factor, factor);
        return;
    }
    l->term[l->n++] = (sw_term){value, factor};
}

static void push_part(linearizer *z, ir_inst *v, int64_t factor, bool scaled) {
    z->stack[z->n++] = (part){v, factor, scaled};
}

static int64_t constant_of(const linearizer *z, const ir_inst *c) {
    return ir_sext(c->imm.bits, ir_bits(z->m, c->type));
}

/* A value that is extended from few bits cannot wrap when the scale fits into what is left. */
static bool cannot_wrap(const linearizer *z, const ir_inst *v, int64_t scale) {
    if (v->op != IR_OP_sext && v->op != IR_OP_zext) return false;
    unsigned bits = ir_bits(z->m, v->type), used = ir_bits(z->m, ir_arg(v, 0)->type);
    int64_t most = INT64_C(1) << (bits - 1 - used);
    return scale < most && scale > -most;
}

/* The factor by which a shift or multiplication scales its first operand; 0: it does not. */
static int64_t scale_of(const linearizer *z, const ir_inst *v) {
    if (v->op != IR_OP_shl && v->op != IR_OP_mul) return 0;
    if (!ir_is_const(ir_arg(v, 1))) return 0;
    int64_t c = constant_of(z, ir_arg(v, 1));
    if (v->op == IR_OP_mul) return c;
    return c >= 0 && c < 32 ? INT64_C(1) << c : 0;
}

static void split_sum(linearizer *z, const ir_inst *v, const part *p) {
    int64_t second = v->op == IR_OP_sub ? ir_wrap_mul(p->factor, -1) : p->factor;
    if (!(v->flags & IR_NSW)) z->l->exact = false;
    push_part(z, ir_arg(v, 1), second, p->scaled);
    push_part(z, ir_arg(v, 0), p->factor, p->scaled);
}

static void split_part(linearizer *z, part p) {
    ir_inst *v = p.value;
    int64_t scale = scale_of(z, v);
    bool has_room = z->l->n + z->n + 2 <= SW_MAX_TERMS;
    bool sum = (v->op == IR_OP_add || v->op == IR_OP_sub) && !p.scaled && has_room;
    if (ir_is_const(v)) {
        z->l->constant = ir_wrap_add(z->l->constant, ir_wrap_mul(constant_of(z, v), p.factor));
    } else if (sum) {
        split_sum(z, v, &p);
    } else if (scale) {
        bool exact = v->flags & IR_NSW || cannot_wrap(z, ir_arg(v, 0), scale);
        if (!exact) z->l->exact = false;
        push_part(z, ir_arg(v, 0), ir_wrap_mul(p.factor, scale), true);
    } else {
        add_term(z->l, v, p.factor);
    }
}

void sw_linearize(const ir_module *m, ir_inst *v, sw_linear *l) {
    linearizer z = {.m = m, .l = l};
    *l = (sw_linear){.exact = true};
    push_part(&z, v, 1, false);
    while (z.n) split_part(&z, z.stack[--z.n]);
}

bool sw_is_multiple(const sw_linear *l, uint64_t size) {
    if (size == 0 || size > INT64_MAX || l->constant % (int64_t)size) return false;
    for (unsigned i = 0; i < l->n; i++)
        if (l->term[i].factor % (int64_t)size) return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- paths */

enum { MAX_PATH = IR_MAX_TYPE_DEPTH + 3 };

/* A path that is being built. */
typedef struct {
    sw_writer *w;
    sw_linear rest; /* of the offset */
    sw_index index[MAX_PATH];
    unsigned n;
    bool fixed_row; /* a constant index chose a row of an array of arrays */
} path;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Takes all that is a multiple of `size` out of the rest, as the next index. */
static sw_index *take_index(path *p, uint64_t bytes) {
    int64_t size = (int64_t)bytes;
    sw_linear *rest = &p->rest;
    sw_term *term = ir_new_array(p->w->arena, sw_term, rest->n);
    sw_index *index = &p->index[p->n++];
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

static bool enter_elements(path *p, ir_type *at, ir_type elem, uint64_t count) {
    uint64_t size = ir_sizeof(p->w->m, elem);
    if (size == 0) return false;
    const sw_index *index = take_index(p, size);
    bool rows = ir_is_aggregate(elem) && ir_type_get(p->w->m, elem)->kind == IR_ARRAY;
    if (index->n && p->fixed_row) return false;
    if (!index->n && (index->constant < 0 || (uint64_t)index->constant >= count)) return false;
    if (!index->n && rows && count > 1) p->fixed_row = true;
    *at = elem;
    return true;
}

static bool enter_member(path *p, ir_type *at, const ir_type_info *t) {
    uint64_t offset = (uint64_t)p->rest.constant;
    if (p->rest.constant < 0 || offset >= t->size) return false;
    uint32_t low = 0, high = t->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->offset[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    p->index[p->n++] = (sw_index){.constant = low, .member = true};
    p->rest.constant -= (int64_t)t->offset[low];
    *at = t->member[low];
    return true;
}

/* One level down; false if the type has no parts, or the offset is outside of it. */
static bool enter(path *p, ir_type *at) {
    if (p->n + 1 >= MAX_PATH) return false;
    if (ir_is_vector(*at)) return enter_elements(p, at, ir_elem(*at), ir_lanes(*at));
    if (!ir_is_aggregate(*at)) return false;
    const ir_type_info *t = ir_type_get(p->w->m, *at);
    if (t->kind == IR_ARRAY) return enter_elements(p, at, t->member[0], t->count);
    return t->count > 0 && enter_member(p, at, t);
}

/* Walks from `base` to something of type `wanted` exactly at the offset. */
static bool find_path(path *p, ir_type base, ir_type *wanted) {
    uint64_t size = ir_sizeof(p->w->m, base);
    ir_type at = base;
    if (size == 0 || size > INT64_MAX) return false;
    take_index(p, size);
    for (;;) {
        at = sw_memory_type(at);
        bool arrived = p->rest.n == 0 && p->rest.constant == 0;
        if (arrived && (*wanted == IR_VOID || *wanted == at)) break;
        if (!enter(p, &at)) return false;
    }
    *wanted = at;
    return true;
}

/* A plan with the indices of a path. */
static sw_plan *new_plan(sw_writer *w, ir_type base, ir_type pointee, const path *p) {
    sw_plan *plan = ir_new(w->arena, sw_plan);
    plan->base = base;
    plan->pointee = pointee;
    plan->n = p->n;
    plan->index = ir_dup(w->arena, p->index, p->n * sizeof *p->index);
    return plan;
}

sw_plan *sw_plan_descent(sw_writer *w, ir_type base, ir_type wanted) {
    path p = {.w = w, .rest = {.exact = true}};
    if (!ir_is_aggregate(base) && !ir_is_vector(base)) return NULL;
    if (!find_path(&p, base, &wanted)) return NULL;
    sw_plan *plan = new_plan(w, base, wanted, &p);
    plan->inbounds = true;
    return plan;
}

/* ---------------------------------------------------------------------------------------- plans */

/* An address to be planned: root + offset. */
typedef struct {
    ir_inst *root;
    sw_linear offset;
    bool inbounds;
} place;

static sw_plan *plan_path(sw_writer *w, const place *at, ir_type base, ir_type wanted) {
    path p = {.w = w, .rest = at->offset};
    return find_path(&p, base, &wanted) ? new_plan(w, base, wanted, &p) : NULL;
}

/* The root cast to `elem`, with one index. */
static sw_plan *plan_elements(sw_writer *w, const place *at, ir_type elem) {
    path p = {.w = w, .rest = at->offset};
    take_index(&p, ir_sizeof(w->m, elem));
    return new_plan(w, elem, elem, &p);
}

static bool add_offset(sw_linear *l, const sw_linear *more) {
    if (l->n + more->n > SW_MAX_TERMS) return false;
    for (unsigned i = 0; i < more->n; i++) add_term(l, more->term[i].value, more->term[i].factor);
    l->constant = ir_wrap_add(l->constant, more->constant);
    l->exact &= more->exact;
    return true;
}

/* If the root is an address inside an aggregate, counts the place from the start of that: consumers
 * assume that a chain from a member does not leave it. */
static void count_from_aggregate(const sw_info *info, place *at) {
    const sw_plan *inner = at->root->op == IR_OP_ptradd ? info->typing.plan[at->root->id] : NULL;
    if (!inner || inner->n < 2 || !add_offset(&at->offset, &inner->offset)) return;
    at->root = inner->root;
    at->inbounds &= inner->inbounds;
}

/* Bytes from the root.  If the place is still base + offset, the offset is written as it is. */
static sw_plan *plan_bytes(sw_writer *w, place *at, const ir_inst *ptradd) {
    ir_inst *offset = ir_arg(ptradd, 1);
    if (at->root == ir_arg(ptradd, 0) && !ir_is_const(offset))
        at->offset = (sw_linear){.term = {{offset, 1}}, .n = 1, .exact = true};
    return plan_elements(w, at, IR_I8);
}

sw_plan *sw_plan_address(sw_writer *w, const sw_info *info, const ir_inst *ptradd, ir_type wanted) {
    place at = {.root = ir_arg(ptradd, 0), .inbounds = (ptradd->flags & IR_INBOUNDS) != 0};
    sw_linearize(w->m, ir_arg(ptradd, 1), &at.offset);
    count_from_aggregate(info, &at);
    ir_type base = sw_pointee(info, at.root);
    if (base == IR_VOID) base = wanted != IR_VOID ? wanted : IR_I8;
    sw_plan *plan = plan_path(w, &at, base, wanted);
    if (!plan && wanted != IR_VOID && sw_is_multiple(&at.offset, ir_sizeof(w->m, wanted)))
        plan = plan_elements(w, &at, wanted);
    if (!plan) plan = plan_bytes(w, &at, ptradd);
    plan->root = at.root;
    plan->offset = at.offset;
    plan->inbounds = at.inbounds && at.offset.exact;
    return plan;
}
