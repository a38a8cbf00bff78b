/* places.c — which arguments of a chain are the same memory, and which overlap.
 *
 * Two arguments with one address are one argument of the fused kernel.  Two others are different
 * memory if what the members access around them, as far as it can be reached, is apart.  One sweep
 * over places in the order of their first bytes finds that.
 */
#include "runtime/queue/places.h"

#include <stdlib.h>

/* The part of what can be reached that is accessed.  Bounds that go beyond the ends of the address
 * space say nothing. */
static void narrow(chain_place *p, const pass_reach *r) {
    const uintptr_t at = p->arg->address, low = at + (uintptr_t)r->low,
                    high = at + (uintptr_t)r->high;
    if (low > high || (r->low < 0) != (low < at)) return;
    if (low > p->low) p->low = low;
    if (high < p->high) p->high = high;
}

static void add_place(chain_places *to, chain_place p, const rt_chain_arg *a,
                      const pass_reach *reach) {
    p.arg = a;
    p.begin = p.low = a->begin;
    p.end = p.high = a->end;
    p.internal = a->internal;
    if (reach && reach->known) narrow(&p, reach);
    *ir_push(to->arena, &to->list) = p;
}

void chain_add_places(chain_places *to, const rt_chain_link *l, const spvf_kernel_info *kernel,
                      uint32_t member, const pass_reach *reach) {
    for (uint32_t n = 0; n < kernel->arg_count; n++) {
        const chain_place p = {.member = member, .param = n, .writes = !kernel->args[n]->read_only};
        if (l->args[n].memory) add_place(to, p, &l->args[n], reach ? &reach[n] : NULL);
    }
}

static int compare(uintptr_t a, uintptr_t b) { return (a > b) - (a < b); }

static int compare_addresses(const void *x, const void *y) {
    const chain_place *a = x, *b = y;
    int by = compare((uintptr_t)a->arg->memory, (uintptr_t)b->arg->memory);
    if (!by) by = compare(a->arg->address, b->arg->address);
    if (!by) by = compare(a->member, b->member);
    return by ? by : compare(a->param, b->param);
}

static int compare_first_bytes(const void *x, const void *y) {
    const chain_place *a = x, *b = y;
    int by = compare((uintptr_t)a->arg->memory, (uintptr_t)b->arg->memory);
    if (!by) by = compare(a->low, b->low);
    return by ? by : compare_addresses(x, y);
}

static bool is_same_place(const chain_place *a, const chain_place *b) {
    return a->arg->memory == b->arg->memory && a->arg->address == b->arg->address;
}

static spvf_identity pair(const chain_place *a, const chain_place *b) {
    return (spvf_identity){a->member, a->param, b->member, b->param};
}

static bool is_accessed(const chain_place *p) { return p->low < p->high; }

/* Merges p into `to`, which has the same address. */
static void join(chain_place *to, const chain_place *p) {
    if (p->begin < to->begin) to->begin = p->begin;
    if (p->end > to->end) to->end = p->end;
    const bool first = !is_accessed(to);
    if (is_accessed(p) && (first || p->low < to->low)) to->low = p->low;
    if (is_accessed(p) && (first || p->high > to->high)) to->high = p->high;
    to->internal &= p->internal;
    if (!p->writes || to->writes) return;
    to->member = p->member;
    to->param = p->param;
    to->writes = true;
}

static void join_places(chain_places *p) {
    uint32_t n = 0;
    if (p->list.n) qsort(p->list.data, p->list.n, sizeof(chain_place), compare_addresses);
    for (uint32_t k = 0; k < p->list.n; k++) {
        const chain_place next = p->list.data[k];
        chain_place *last = &p->list.data[n ? n - 1 : 0];
        if (!n || !is_same_place(last, &next)) {
            p->list.data[n++] = next;
            continue;
        }
        *ir_push(p->arena, &p->identities) = pair(last, &next);
        join(last, &next);
    }
    p->list.n = n;
}

static const chain_place *farther(const chain_place *a, const chain_place *b) {
    return !a || a->arg->memory != b->arg->memory || b->high > a->high ? b : a;
}

static bool reaches(const chain_place *a, const chain_place *b) {
    return a && a->arg->memory == b->arg->memory && a->high > b->low;
}

/* A place overlaps an earlier one exactly if it overlaps the one that ends last. */
static void find_overlaps(chain_places *p) {
    const chain_place *any = NULL, *writer = NULL;
    if (p->list.n) qsort(p->list.data, p->list.n, sizeof(chain_place), compare_first_bytes);
    for (uint32_t k = 0; k < p->list.n; k++) {
        const chain_place *next = &p->list.data[k], *before = next->writes ? any : writer;
        if (!is_accessed(next)) continue;
        if (reaches(before, next)) *ir_push(p->arena, &p->overlaps) = pair(before, next);
        any = farther(any, next);
        if (next->writes) writer = farther(writer, next);
    }
}

void chain_compare_places(chain_places *p) {
    join_places(p);
    find_overlaps(p);
}
