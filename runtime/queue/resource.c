/* resource.c — memory that commands use, and which of it is the same.
 *
 * Most memory belongs to one resource alone.  Memory of the user may belong to several: resources
 * that may share bytes are among the ranges of ranges.c.
 */
#include "runtime/queue/queue.h"

#include <stdlib.h>

void rt_resource_place(rt_scheduler *s, rt_resource *r, const void *begin, size_t size) {
    rt_range_place(s, &r->range, begin, size);
}

typedef struct {
    rt_visit_resource *visit;
    void *user;
} visiting;

static void visit_resource(rt_range *r, void *user) {
    const visiting *v = user;
    rt_resource *resource = rt_resource_of(r);
    if (resource) v->visit(resource, v->user);
}

void rt_resource_visit(rt_resource *r, rt_visit_resource *visit, void *user) {
    visiting v = {visit, user};
    visit(r, user);
    rt_range_visit(&r->range, visit_resource, &v);
}

void rt_resource_free(rt_resource *r) {
    rt_range_remove(&r->range);
    if (r->writer) rt_event_release(r->writer);
    for (uint32_t k = 0; k < r->nreaders; k++) rt_event_release(r->readers[k]);
    free(r->readers);
    *r = (rt_resource){0};
}
