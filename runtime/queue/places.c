/* places.c — which arguments of a chain are the same memory, and which overlap.
 *
 * Two arguments with one address are one argument of the fused kernel.  Two others are different
 * memory if what can be reached from them, or what the members access around them, is apart.  One
 * sweep over places in the order of their first bytes finds that.
 */
#include "runtime/queue/places.h"

#include <stdlib.h>

/* Wraps around where a form does. */
static void narrow(chain_place *p, const pass_reach *r) {
    const uintptr_t at = p->arg->address, low = at + (uintptr_t)r->low,
                    high = at + (uintptr_t)r->high;
    if (low > high || (r->low < 0) != (low < at)) return;
    p->low = low;
    p->high = high;
}

void chain_add_place(chain_places *to, const rt_chain_link *l, uint32_t member, uint32_t param,
                     const pass_reach *reach) {
    const rt_chain_arg *a = &l->args[param];
    chain_place p = {.arg = a,
                     .member = member,
                     .param = param,
                     .begin = a->begin,
                     .end = a->end,
                     .low = a->begin,
                     .high = a->end,
                     .writes = !l->kernel->args[param].read_only,
                     .internal = a->internal};
    if (reach && reach->known) narrow(&p, reach);
    *ir_push(to->arena, &to->list) = p;
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
