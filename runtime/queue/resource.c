/* resource.c — memory that commands use, and which of it is the same.
 *
 * Most memory belongs to one resource alone.  Memory of the user may belong to several: resources
 * that may share bytes are in a tree, by the addresses at which they begin.  Each node knows the
 * farthest end below it, so those that overlap a range are found without a look at the others (an
 * interval tree).  It is balanced by random ranks that fall from the root to the leaves (a treap:
 * Seidel and Aragon 1996), so that nothing is allocated: a resource can always be placed.
 *
 * The scheduler's lock is for the tree.
 */
#include "runtime/queue/queue.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- the tree */

static uintptr_t farthest(const rt_resource *t) { return t ? t->farthest : 0; }

static void update(rt_resource *t) {
    t->farthest = t->end;
    if (farthest(t->before) > t->farthest) t->farthest = t->before->farthest;
    if (farthest(t->after) > t->farthest) t->farthest = t->after->farthest;
}

/* Those that begin at the same address are in the order of their own addresses. */
static bool precedes(const rt_resource *a, const rt_resource *b) {
    return a->begin != b->begin ? a->begin < b->begin : (uintptr_t)a < (uintptr_t)b;
}

/* All of `a` precede all of `b`. */
static rt_resource *merge(rt_resource *a, rt_resource *b) {
    if (!a || !b) return a ? a : b;
    rt_resource *top = a->rank > b->rank ? a : b;
    if (top == a)
        a->after = merge(a->after, b);
    else
        b->before = merge(a, b->before);
    update(top);
    return top;
}

/* Divides a tree into what precedes a resource and what does not. */
static void split(rt_resource *t, const rt_resource *by, rt_resource **before,
                  rt_resource **after) {
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

static rt_resource *without(rt_resource *t, rt_resource *r) {
    if (t == r) return merge(t->before, t->after);
    rt_resource **side = precedes(r, t) ? &t->before : &t->after;
    *side = without(*side, r);
    update(t);
    return t;
}

static void visit_overlapping(rt_resource *t, const rt_resource *r, rt_visit_resource *visit,
                              void *user) {
    if (farthest(t) <= r->begin) return;
    visit_overlapping(t->before, r, visit, user);
    if (t->begin >= r->end) return;
    if (t->end > r->begin && t != r) visit(t, user);
    visit_overlapping(t->after, r, visit, user);
}

/* ------------------------------------------------------------------------------------ resources */

/* Well mixed (splitmix64). */
static uint64_t draw_rank(void) {
    static uint64_t state;
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void insert(rt_scheduler *s, rt_resource *r) {
    rt_resource *before, *after;
    r->scheduler = s;
    r->rank = draw_rank();
    update(r);
    split(s->placed, r, &before, &after);
    s->placed = merge(merge(before, r), after);
}

void rt_resource_place(rt_scheduler *s, rt_resource *r, const void *begin, size_t size) {
    if (!size) return; /* it shares nothing */
    pthread_mutex_lock(&s->lock);
    if (!r->scheduler) {
        r->begin = (uintptr_t)begin;
        r->end = r->begin + size;
        insert(s, r);
    }
    pthread_mutex_unlock(&s->lock);
}

void rt_resource_visit(rt_resource *r, rt_visit_resource *visit, void *user) {
    visit(r, user);
    if (r->scheduler) visit_overlapping(r->scheduler->placed, r, visit, user);
}

void rt_resource_free(rt_resource *r) {
    rt_scheduler *s = r->scheduler;
    if (s) {
        pthread_mutex_lock(&s->lock);
        s->placed = without(s->placed, r);
        pthread_mutex_unlock(&s->lock);
    }
    if (r->writer) rt_event_release(r->writer);
    for (uint32_t k = 0; k < r->nreaders; k++) rt_event_release(r->readers[k]);
    free(r->readers);
    *r = (rt_resource){0};
}
