/* ranges.c — memory whose addresses programs know, found by address.
 *
 * Ranges are in a tree, by the addresses at which they begin; they may overlap.  Each node knows
 * the farthest end below it, so those that overlap a range are found without a look at the others
 * (an interval tree).  It is balanced by random ranks that fall from the root to the leaves (a
 * treap: Seidel and Aragon 1996), so that nothing is allocated: a range can always be inserted.
 *
 * The scheduler's lock is for the tree.
 */
#include "runtime/queue/queue.h"

/* ------------------------------------------------------------------------------------- the tree */

static uintptr_t farthest(const rt_range *t) { return t ? t->farthest : 0; }

static void update(rt_range *t) {
    t->farthest = t->end;
    if (farthest(t->before) > t->farthest) t->farthest = t->before->farthest;
    if (farthest(t->after) > t->farthest) t->farthest = t->after->farthest;
}

/* Those that begin at the same address are in the order of their own addresses. */
static bool precedes(const rt_range *a, const rt_range *b) {
    return a->begin != b->begin ? a->begin < b->begin : (uintptr_t)a < (uintptr_t)b;
}

/* All of `a` precede all of `b`. */
static rt_range *merge(rt_range *a, rt_range *b) {
    if (!a || !b) return a ? a : b;
    rt_range *top = a->rank > b->rank ? a : b;
    if (top == a)
        a->after = merge(a->after, b);
    else
        b->before = merge(a, b->before);
    update(top);
    return top;
}

/* Divides a tree into what precedes a range and what does not. */
static void split(rt_range *t, const rt_range *by, rt_range **before, rt_range **after) {
    if (!t) {
        *before = *after = NULL;
    } else if (precedes(t, by)) {
        split(t->after, by, &t->after, after);
        *before = t;
        update(t);
    } else {
        split(t->before, by, before, &t->before);
        *after = t;
        update(t);
    }
}

static rt_range *without(rt_range *t, rt_range *r) {
    if (t == r) return merge(t->before, t->after);
    rt_range **side = precedes(r, t) ? &t->before : &t->after;
    *side = without(*side, r);
    update(t);
    return t;
}

static void visit_overlapping(rt_range *t, const rt_range *r, rt_visit_range *visit, void *user) {
    if (farthest(t) <= r->begin) return;
    visit_overlapping(t->before, r, visit, user);
    if (t->begin >= r->end) return;
    if (t->end > r->begin && t != r) visit(t, user);
    visit_overlapping(t->after, r, visit, user);
}

/* --------------------------------------------------------------------------------------- ranges */

/* Well mixed (splitmix64). */
static uint64_t draw_rank(void) {
    static uint64_t state;
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void insert(rt_scheduler *s, rt_range *r) {
    rt_range *before, *after;
    r->scheduler = s;
    r->rank = draw_rank();
    r->before = r->after = NULL;
    update(r);
    split(s->placed, r, &before, &after);
    s->placed = merge(merge(before, r), after);
}

void rt_range_place(rt_scheduler *s, rt_range *r, const void *begin, size_t size) {
    if (!size) return; /* it has no byte to be found */
    pthread_mutex_lock(&s->lock);
    if (!r->scheduler) {
        r->begin = (uintptr_t)begin;
        r->end = r->begin + size;
        insert(s, r);
    }
    pthread_mutex_unlock(&s->lock);
}

void rt_range_remove(rt_range *r) {
    rt_scheduler *s = r->scheduler;
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->placed = without(s->placed, r);
    pthread_mutex_unlock(&s->lock);
    r->scheduler = NULL;
}

void rt_range_visit(const rt_range *r, rt_visit_range *visit, void *user) {
    if (r->scheduler) visit_overlapping(r->scheduler->placed, r, visit, user);
}

void rt_range_visit_at(rt_scheduler *s, const void *address, rt_visit_range *visit, void *user) {
    const rt_range byte = {.begin = (uintptr_t)address, .end = (uintptr_t)address + 1};
    visit_overlapping(s->placed, &byte, visit, user);
}

/* ----------------------------------------------------------------------------------- addresses */

/* A whole allocation tells more than a part of one, and a large part more than a small one. */
static void choose(rt_range *r, void *user) {
    const rt_range **best = user;
    bool whole = r->kind == RT_RANGE_ALLOCATION;
    if (*best && (*best)->kind == RT_RANGE_ALLOCATION && !whole) return;
    bool better = !*best || (whole && (*best)->kind != RT_RANGE_ALLOCATION);
    if (better || r->end > (*best)->end) *best = r;
}

bool rt_find_memory(const void *address, rt_position *to) {
    rt_scheduler *s = rt_scheduler_get();
    const rt_range *r = NULL;
    pthread_mutex_lock(&s->lock);
    rt_range_visit_at(s, address, choose, &r);
    if (r)
        *to = (rt_position){.begin = r->begin,
                            .size = r->end - r->begin,
                            .offset = (uintptr_t)address - r->begin,
                            .is_whole = r->kind == RT_RANGE_ALLOCATION};
    pthread_mutex_unlock(&s->lock);
    return r != NULL;
}
