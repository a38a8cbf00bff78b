/* plan_number.c — numbers of the plan language as bits of an element type, ranges, and places.
 *
 * A number is spelled as in C: decimal or hexadecimal, floats also with a binary exponent, with an
 * optional suffix that says nothing here: the type is that of the place of the number.
 * What does not fit is an error at the number.
 */
#include "ir/eval.h"
#include "runtime/plan/plan.h"

unsigned rt_elem_bits(rt_elem e) {
    switch (e.kind) {
    case IR_I8: return 8;
    case IR_I16:
    case IR_F16: return 16;
    case IR_I32:
    case IR_F32: return 32;
    default: return 64;
    }
}

size_t rt_elem_size(rt_elem e) { return rt_elem_bits(e) / 8; }

static bool is_hex(rt_token t) { return t.n > 2 && t.text[0] == '0' && (t.text[1] | 32) == 'x'; }

/* Length without the C suffix: f, u, l, h. */
static uint32_t digits_of(rt_token t) {
    uint32_t n = t.n;
    const char *suffix = is_hex(t) ? "uUlL" : "fFuUlLhH";
    while (n > 1 && strchr(suffix, t.text[n - 1])) n--;
    return n;
}

/* Reads an unsigned integer; false when it is none or has more than 64 bits. */
static bool read_integer(rt_token t, uint64_t *value) {
    uint32_t n = digits_of(t), base = is_hex(t) ? 16 : 10;
    *value = 0;
    for (uint32_t i = is_hex(t) ? 2 : 0; i < n; i++) {
        unsigned c = (unsigned char)t.text[i], digit = c <= '9' ? c - '0' : (c | 32u) - 'a' + 10;
        if (digit >= base || *value > (UINT64_MAX - digit) / base) return false;
        *value = *value * base + digit;
    }
    return true;
}

static uint64_t integer_literal(const spvf_plan *plan, rt_token t, bool negative, rt_elem e) {
    uint64_t v, limit = UINT64_C(1) << (rt_elem_bits(e) - 1);
    if (t.kind != RT_NUMBER || !read_integer(t, &v))
        rt_plan_fail(plan, t, "'%.*s' is not an integer that %s holds", (int)t.n, t.text, e.name);
    bool fits = e.is_signed ? v < limit || is_hex(t) : true;
    if (negative) fits = e.is_signed && v <= limit;
    if (!fits || (rt_elem_bits(e) < 64 && v >> rt_elem_bits(e)))
        rt_plan_fail(plan, t, "%s%.*s does not fit in %s", negative ? "-" : "", (int)t.n, t.text,
                     e.name);
    return ir_zext(negative ? 0 - v : v, rt_elem_bits(e));
}

static uint64_t float_literal(const spvf_plan *plan, rt_token t, bool negative, rt_elem e) {
    uint64_t bits;
    uint32_t n = t.kind == RT_NUMBER ? digits_of(t) : t.n;
    if (ir_fp_parse(e.kind, t.text, n, &bits) != n)
        rt_plan_fail(plan, t, "'%.*s' is not a number", (int)t.n, t.text);
    return negative ? bits ^ UINT64_C(1) << (rt_elem_bits(e) - 1) : bits;
}

uint64_t rt_literal(const spvf_plan *plan, rt_token t, bool negative, rt_elem e) {
    return ir_is_float(e.kind) ? float_literal(plan, t, negative, e)
                               : integer_literal(plan, t, negative, e);
}

void rt_print_element(ir_text *t, rt_elem e, uint64_t v) {
    char text[40];
    unsigned bits = rt_elem_bits(e);
    if (ir_is_float(e.kind)) {
        ir_fp_print(e.kind, v, text);
        ir_put(t, text);
    } else if (e.is_signed) {
        ir_putf(t, "%lld", (long long)ir_sext(v, bits));
    } else {
        ir_putf(t, "%llu", (unsigned long long)v);
    }
}

void rt_check_range(const spvf_plan *plan, const rt_plan_launch *l, const uint32_t n[3]) {
    if (!n[0]) rt_plan_fail(plan, l->at, "launch needs 'global' and its sizes");
    if ((n[1] && n[1] != n[0]) || (n[2] && n[2] != n[0]))
        rt_plan_fail(plan, l->at, "global, local and offset must have the same number of sizes");
    if (l->uneven && !n[1]) rt_plan_fail(plan, l->at, "'uneven' needs 'local' and its sizes");
    for (uint32_t d = 0; d < n[0]; d++) {
        if (!l->range.global[d]) rt_plan_fail(plan, l->at, "a global size is 0");
        if (n[1] && !l->range.local[d]) rt_plan_fail(plan, l->at, "a local size is 0");
        if (n[1] && !l->uneven && l->range.global[d] % l->range.local[d])
            rt_plan_fail(plan, l->at, "global size %llu is not a multiple of local size %llu",
                         (unsigned long long)l->range.global[d],
                         (unsigned long long)l->range.local[d]);
    }
}

void rt_check_offset(const spvf_plan *plan, const rt_plan_arg *a) {
    const rt_buffer_decl *b = &plan->buffers.data[a->index];
    const uint64_t size = b->count * rt_elem_size(b->elem);
    if (a->offset > size)
        rt_plan_fail(plan, a->at, "byte %llu is not in '%s', which has %llu bytes",
                     (unsigned long long)a->offset, b->name, (unsigned long long)size);
}

void rt_check_place(const spvf_plan *plan, const rt_range_stmt *r) {
    const rt_buffer_decl *b = &plan->buffers.data[r->buffer];
    if (r->first > r->last || r->last >= b->count)
        rt_plan_fail(plan, r->at, "[%llu..%llu] is not inside '%s', which has %llu elements",
                     (unsigned long long)r->first, (unsigned long long)r->last, b->name,
                     (unsigned long long)b->count);
}
