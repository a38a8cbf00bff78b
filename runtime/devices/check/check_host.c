/* check_host.c — memory of this process that kernels use at its own addresses: shared memory.
 *
 * The objects are in a list, ascending by address, and searched by halves.  Nothing keeps them
 * apart as objects of the device are, so an access a little beyond an object is taken for one of
 * it: that is what programs get wrong.  An access further away finds no object, or another one.  An
 * object that has ended stays known until another one begins near it.
 */
#include "runtime/devices/check/check_impl.h"

enum { NEAR = 4096 };

/* The number of objects that begin at or before the address. */
static uint32_t count_before(const check_device *d, uint64_t address) {
    uint32_t low = 0, high = d->hosts.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (d->hosts.data[mid]->base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

check_object *check_host_at(const check_device *d, uint64_t address) {
    uint32_t n = count_before(d, address);
    check_object *before = n ? d->hosts.data[n - 1] : NULL;
    check_object *after = n < d->hosts.n ? d->hosts.data[n] : NULL;
    if (before && address - before->base < before->size + NEAR) return before;
    return after && after->base - address <= NEAR ? after : NULL;
}

static void take_out(check_device *d, uint32_t at) {
    check_object **list = d->hosts.data;
    memmove(list + at, list + at + 1, (--d->hosts.n - at) * sizeof *list);
}

/* The addresses of those that have ended belong to it now. */
void check_host_add(check_device *d, check_object *o) {
    for (uint32_t k = d->hosts.n; k-- > 0;) {
        const check_object *old = d->hosts.data[k];
        bool meets = old->base < o->base + o->size + NEAR && o->base < old->base + old->size + NEAR;
        if (meets && !old->alive) take_out(d, k);
    }
    uint32_t at = count_before(d, o->base);
    ir_push(&d->arena, &d->hosts);
    check_object **list = d->hosts.data;
    memmove(list + at + 1, list + at, (d->hosts.n - 1 - at) * sizeof *list);
    list[at] = o;
}
