/* layout.c — proves which bytes of a buffer belong to which work-item or work-group.
 *
 * The accesses of one buffer are compared if their offsets (affine.c) depend in the same way on ids
 * and by-value arguments.  Each of them then touches the bytes
 *
 *     base(ids) + block * stride + place,     low <= place < high
 *
 * where block and place consist of constants, loop counters and other bounded values.  Let W be
 * high - low.  Two different items have no byte in common if
 *   - their bases are at least W apart.  This holds if the smallest factor of an id is at least W,
 *     and each larger factor exceeds the reach of all smaller ones together by at least W (the ids
 *     are the digits of a mixed-radix number); and
 *   - in the case of several blocks, bases and places together stay within one stride.
 * Offsets are equal modulo the size of the address space, so no access may wrap around its end.
 *
 * The same proof with group ids in place of ids separates work-groups; local ids then belong to the
 * bounded values.  The proof with the linear id compares items of members whose ranges differ in
 * shape.
 *
 * An id may have a single value c in an access, because the range or a guard admits no other.  Then
 * it may be given any factor F, since f * id = F * id + (f - F) * c.  It gets the factor that the
 * other accesses have, and the difference is added to the constant.
 */
#include "passes/fusion/fuse_impl.h"

enum { MAX_BITS = 62 }; /* of a distance, so that sums of a few are numbers still */

/* ---------------------------------------------------------------------------------------- bases */

/* An offset over the ids of a basis. */
typedef struct {
    int64_t factor[3];
    int64_t first[3]; /* the least id */
    uint64_t size[3]; /* how many ids there are from the least to the greatest */
    pass_affine rest;
} based;

static int64_t take_term(pass_affine *f, ir_op kind, unsigned d) {
    for (uint32_t k = 0; k < f->n; k++) {
        if (f->term[k].of.kind != kind || f->term[k].of.index != d || f->term[k].of.value) continue;
        int64_t factor = f->term[k].factor;
        f->term[k] = f->term[--f->n];
        return factor;
    }
    return 0;
}

static void split_by_item(const pass_summary *s, based *b) {
    for (unsigned d = 0; d < 3; d++) {
        b->factor[d] = take_term(&b->rest, IR_OP_global_id, d);
        b->first[d] = (int64_t)pass_global_offset(s->launch.range, d);
        b->size[d] = pass_global_size(s->launch.range, d);
    }
}

/* Restricts ids to those for which guards hold. */
static void limit_ids(const pass_side *s, ir_op kind, based *b) {
    for (unsigned d = 0; d < 3; d++) {
        const pass_affine id = {.term = {{{kind, d, NULL}, 1}}, .n = 1};
        int64_t low, high;
        if (!pass_affine_bounds(&s->of->launch, &id, s->access->at->block, &low, &high)) continue;
        if (high < low) continue;
        b->first[d] = low;
        b->size[d] = (uint64_t)(high - low) + 1;
    }
}

/* Ids minus the first ones are the digits of the linear id, x fastest; false: the offset is not a
 * multiple of it. */
static bool split_by_linear_id(const pass_summary *s, based *b) {
    uint64_t stride = 1;
    int64_t factor = 0;
    bool found = false;
    split_by_item(s, b);
    for (unsigned d = 0; d < 3; d++) {
        int64_t start = ir_wrap_mul(b->factor[d], (int64_t)pass_global_offset(s->launch.range, d));
        b->rest.constant = ir_wrap_add(b->rest.constant, start);
        if (b->size[d] == 1) continue;
        if (!found) factor = b->factor[d];
        found = true;
        if ((ir_i128)b->factor[d] != (ir_i128)factor * (ir_i128)stride) return false;
        stride *= b->size[d];
    }
    int64_t linear = take_term(&b->rest, IR_OP_global_linear_id, 0);
    *b = (based){.factor = {ir_wrap_add(factor, linear)},
                 .size = {pass_range_items(s->launch.range), 1, 1},
                 .rest = b->rest};
    return true;
}

/* False: the work-groups are not known. */
static bool split_by_group(const pass_summary *s, based *b) {
    const ir_range *r = s->launch.range;
    if (!ir_has_local_size(r) || s->remapped) return false;
    for (unsigned d = 0; d < 3; d++) {
        int64_t size = (int64_t)pass_local_size(r, d), start = (int64_t)pass_global_offset(r, d);
        int64_t global = take_term(&b->rest, IR_OP_global_id, d);
        int64_t group = take_term(&b->rest, IR_OP_group_id, d);
        const pass_affine local = {.term = {{{IR_OP_local_id, d, NULL}, 1}}, .n = 1};
        b->factor[d] = ir_wrap_add(ir_wrap_mul(global, size), group);
        b->size[d] = (pass_global_size(r, d) - 1) / (uint64_t)size + 1;
        b->rest.constant = ir_wrap_add(b->rest.constant, ir_wrap_mul(global, start));
        if (global && !pass_affine_add(&b->rest, &local, global)) return false;
    }
    return true;
}

static bool split_by_basis(const pass_side *s, pass_basis basis, based *b) {
    switch (basis) {
    case PASS_BY_ITEM:
        split_by_item(s->of, b);
        limit_ids(s, IR_OP_global_id, b);
        return !s->of->remapped;
    case PASS_BY_LINEAR_ID: return split_by_linear_id(s->of, b);
    case PASS_BY_GROUP:
        if (!split_by_group(s->of, b)) return false;
        limit_ids(s, IR_OP_group_id, b);
        return true;
    }
    return false;
}

/* Ids are counted as signed numbers. */
static bool split(const pass_side *s, pass_basis basis, based *b) {
    *b = (based){.rest = s->access->offset};
    bool counted = split_by_basis(s, basis, b);
    for (unsigned d = 0; d < 3; d++)
        counted = counted && b->size[d] <= INT64_MAX / 2 && b->first[d] >= 0 &&
                  b->first[d] <= INT64_MAX / 2;
    return counted;
}

/* Takes what by-value arguments make out of f. */
static pass_affine take_arguments(pass_affine *f) {
    pass_affine taken = {0};
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].of.kind == IR_OP_param && !f->term[k].of.value)
            taken.term[taken.n++] = f->term[k];
        else
            f->term[kept++] = f->term[k];
    f->n = kept;
    return taken;
}

/* Gives an id of one value the layout's factor. */
static void change_factor(const pass_layout *l, based *b, unsigned d) {
    int64_t less = ir_wrap_add(b->factor[d], ir_wrap_mul(l->factor[d], -1));
    b->rest.constant = ir_wrap_add(b->rest.constant, ir_wrap_mul(less, b->first[d]));
    b->factor[d] = l->factor[d];
}

/* Takes the layout's ids out of the offset; false: it has other factors of them. */
static bool take_ids(const pass_layout *l, based *b) {
    for (unsigned d = 0; d < 3; d++) {
        if (b->size[d] == 1) change_factor(l, b, d);
        if (b->factor[d] != l->factor[d]) return false;
    }
    return true;
}

/* The rest of an offset over the layout's ids and arguments; false: it has others. */
static bool take_base(const pass_layout *l, const pass_side *s, pass_affine *rest) {
    based b;
    if (!split(s, l->basis, &b) || !take_ids(l, &b)) return false;
    pass_affine arguments = take_arguments(&b.rest);
    *rest = b.rest;
    return pass_is_same_form(&arguments, &l->arguments);
}

/* Makes the ids of the layout reach from the least to the greatest, including those of one more
 * access. */
static void extend_ids(pass_layout *l, int64_t first[3], const based *b, bool empty) {
    for (unsigned d = 0; d < 3; d++) {
        int64_t end = first[d] + (int64_t)l->size[d], other = b->first[d] + (int64_t)b->size[d];
        if (empty || b->first[d] < first[d]) first[d] = b->first[d];
        l->size[d] = (uint64_t)((empty || other > end ? other : end) - first[d]);
    }
}

/* Takes the factor of each id from the first access in which it has several values. */
static bool find_factors(const pass_side *sides, uint32_t n, pass_layout *l) {
    bool found[3] = {false};
    based b;
    for (uint32_t k = 0; k < n; k++) {
        if (!split(&sides[k], l->basis, &b)) return false;
        for (unsigned d = 0; d < 3; d++) {
            if (found[d] || b.size[d] == 1) continue;
            l->factor[d] = b.factor[d];
            found[d] = true;
        }
    }
    return true;
}

/* Takes arguments from the first access; ids are those of all accesses. */
static bool find_base(const pass_side *sides, uint32_t n, pass_layout *l) {
    int64_t first[3] = {0};
    if (!find_factors(sides, n, l)) return false;
    for (uint32_t k = 0; k < n; k++) {
        based b;
        if (!split(&sides[k], l->basis, &b)) return false;
        extend_ids(l, first, &b, k == 0);
        if (!take_ids(l, &b)) return false;
        pass_affine arguments = take_arguments(&b.rest);
        if (k == 0) {
            l->arguments = arguments;
            l->origin = b.rest.constant;
        } else if (!pass_is_same_form(&arguments, &l->arguments)) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------- blocks and places */

/* How far the bases of two items can be from each other. */
static ir_i128 reach_of(const pass_layout *l) {
    ir_i128 reach = 0;
    for (unsigned d = 0; d < 3; d++)
        reach += (ir_i128)pass_magnitude(l->factor[d]) * (ir_i128)(l->size[d] - 1);
    return reach;
}

/* What divides every step that is longer than bases reach; 0: there is none. */
static int64_t find_stride(const pass_side *sides, uint32_t n, const pass_layout *l) {
    ir_i128 reach = reach_of(l);
    uint64_t stride = 0;
    for (uint32_t k = 0; k < n; k++) {
        pass_affine rest;
        if (!take_base(l, &sides[k], &rest)) return 0;
        uint64_t far = pass_magnitude(ir_wrap_add(rest.constant, ir_wrap_mul(l->origin, -1)));
        if ((ir_i128)far > reach) stride = ir_common_divisor(stride, far);
        for (uint32_t t = 0; t < rest.n; t++) {
            uint64_t step = pass_magnitude(rest.term[t].factor);
            if ((ir_i128)step > reach) stride = ir_common_divisor(stride, step);
        }
    }
    return stride > INT64_MAX / 2 ? 0 : (int64_t)stride;
}

/* Counts f, a rest, in blocks of the stride and places within one. */
static void count_blocks(const pass_layout *l, const pass_affine *f, pass_affine *block,
                         pass_affine *place) {
    *block = *place = (pass_affine){0};
    int64_t constant = ir_wrap_add(f->constant, ir_wrap_mul(l->origin, -1)), rest = constant;
    if (l->stride) {
        rest %= l->stride;
        if (rest > l->stride / 2) rest -= l->stride;
        if (rest < -(l->stride / 2)) rest += l->stride;
        block->constant = (int64_t)(((ir_i128)constant - rest) / l->stride);
    }
    place->constant = rest;
    for (uint32_t k = 0; k < f->n; k++) {
        pass_term t = f->term[k];
        bool whole = l->stride && t.factor % l->stride == 0;
        if (whole) t.factor /= l->stride;
        pass_affine *to = whole ? block : place;
        to->term[to->n++] = t;
    }
}

static bool find_block_and_place(const pass_layout *l, const pass_side *s, pass_affine *block,
                                 pass_affine *place) {
    pass_affine rest;
    if (!take_base(l, s, &rest)) return false;
    count_blocks(l, &rest, block, place);
    return true;
}

uint64_t pass_access_align(const pass_access *x) {
    return ir_info(x->at)->imm == I_MEM ? UINT64_C(1) << x->at->imm.mem.align : x->size;
}

static bool include(pass_layout *l, const pass_side *s, bool first) {
    pass_affine block, place;
    int64_t low, high, from, to;
    const ir_block *at = s->access->at->block;
    if (!s->access->size || s->access->size > INT32_MAX) return false;
    if (!find_block_and_place(l, s, &block, &place)) return false;
    if (!pass_affine_bounds(&s->of->launch, &place, at, &low, &high)) return false;
    if (!pass_affine_bounds(&s->of->launch, &block, at, &from, &to)) return false;
    high += (int64_t)s->access->size;
    if (pass_access_align(s->access) > l->align) l->align = pass_access_align(s->access);
    if (first || low < l->low) l->low = low;
    if (first || high > l->high) l->high = high;
    if (first || from < l->first) l->first = from;
    if (first || to > l->last) l->last = to;
    return true;
}

/* ---------------------------------------------------------------------------------------- proof */

/* The dimension with the least factor among those not used yet; 3: none. */
static unsigned least_factor(const pass_layout *l, const bool used[3]) {
    unsigned least = 3;
    for (unsigned d = 0; d < 3; d++) {
        if (used[d] || l->size[d] < 2) continue;
        if (least == 3 || pass_magnitude(l->factor[d]) < pass_magnitude(l->factor[least]))
            least = d;
    }
    return least;
}

/* Can no two different ids be closer than the width? */
static bool are_bases_apart(const pass_layout *l, ir_i128 width) {
    bool used[3] = {false};
    ir_i128 reach = 0;
    for (unsigned d; (d = least_factor(l, used)) < 3; used[d] = true) {
        ir_i128 factor = pass_magnitude(l->factor[d]);
        if (factor < reach + width) return false;
        reach += factor * (ir_i128)(l->size[d] - 1);
    }
    return true;
}

static bool is_proved(const pass_side *sides, uint32_t n, pass_layout *l) {
    for (uint32_t k = 0; k < n; k++)
        if (!include(l, &sides[k], k == 0)) return false;
    ir_i128 width = (ir_i128)l->high - l->low, one = reach_of(l) + width;
    ir_i128 all = one + ((ir_i128)l->last - l->first) * l->stride;
    unsigned bits = sides[0].of->launch.kernel->module->pointer_bits;
    ir_i128 space = (ir_i128)1 << (bits < MAX_BITS ? bits : MAX_BITS);
    return (!l->stride || one <= l->stride) && all <= space && are_bases_apart(l, width);
}

/* Places are counted from an aligned offset. */
static bool align_places(pass_layout *l) {
    uint64_t start = (uint64_t)l->origin + (uint64_t)l->low;
    l->low -= (int64_t)(start & (l->align - 1));
    return true;
}

bool pass_find_layout(const pass_side *sides, uint32_t n, pass_basis basis, pass_layout *out) {
    *out = (pass_layout){.basis = basis};
    if (!find_base(sides, n, out)) return false;
    if (is_proved(sides, n, out)) return align_places(out);
    out->stride = find_stride(sides, n, out);
    return out->stride && is_proved(sides, n, out) && align_places(out);
}

bool pass_find_item_layout(const pass_side *sides, uint32_t n, pass_layout *out) {
    return pass_find_layout(sides, n, PASS_BY_LINEAR_ID, out) ||
           pass_find_layout(sides, n, PASS_BY_ITEM, out);
}

/* ------------------------------------------------------------------------------------ positions */

/* The bytes of a block.  If there are several, each is aligned like the first. */
static int64_t block_bytes(const pass_layout *l) {
    int64_t bytes = l->high - l->low, align = (int64_t)l->align;
    return l->stride ? (bytes + align - 1) / align * align : bytes;
}

bool pass_find_position(const pass_layout *l, const pass_side *s, pass_affine *position) {
    pass_affine block, place;
    if (!find_block_and_place(l, s, &block, &place)) return false;
    *position = place;
    int64_t start = ir_wrap_add(l->low, ir_wrap_mul(l->first, block_bytes(l)));
    position->constant = ir_wrap_add(position->constant, ir_wrap_mul(start, -1));
    return pass_affine_add(position, &block, block_bytes(l));
}

uint64_t pass_layout_bytes(const pass_layout *l) {
    return (uint64_t)(l->last - l->first + 1) * (uint64_t)block_bytes(l);
}

/* ------------------------------------------------------------------------------------- printing */

static void put_less(ir_text *out, int64_t n) {
    ir_putf(out, " %c %llu", n < 0 ? '+' : '-', (unsigned long long)pass_magnitude(n));
}

static const char *id_text(const pass_layout *l, unsigned d, char room[16]) {
    if (l->basis == PASS_BY_LINEAR_ID) return "global_linear_id";
    snprintf(room, 16, "%s.%u", l->basis == PASS_BY_GROUP ? "group_id" : "global_id", d);
    return room;
}

void pass_print_layout(ir_text *out, const pass_layout *l) {
    char room[16];
    int64_t start = ir_wrap_add(l->origin, l->low);
    ir_put(out, "offset");
    for (unsigned d = 0; d < 3; d++) {
        if (!l->factor[d] || l->size[d] < 2) continue;
        put_less(out, l->factor[d]);
        ir_putf(out, "*%s", id_text(l, d, room));
    }
    for (uint32_t k = 0; k < l->arguments.n; k++) {
        put_less(out, l->arguments.term[k].factor);
        ir_putf(out, "*argument %u", l->arguments.term[k].of.index);
    }
    if (start) put_less(out, start);
    if (l->stride)
        ir_putf(out, ", %lld blocks of %lld bytes from every %lld",
                (long long)(l->last - l->first + 1), (long long)block_bytes(l),
                (long long)l->stride);
}
