/* cpu_range.c — the local size of a launch that says none, and the groups that a launch has if its
 * kernel cannot observe them.
 *
 * The local size is what the kernel requires, as a size or as a number of sub-groups: for a number,
 * a shape of the items of so many full ones that divides the range, if there is one.
 * Otherwise some 256 items, fewer where that would leave less than 64 groups, and not below 16.
 * Dimension x takes as many as it has, what it leaves goes to y, then to z.  A kernel that cannot
 * observe its groups may have smaller groups at the ends; any other gets a divisor of the global
 * size.  The number of threads plays no part: the same launch has the same groups everywhere.
 *
 * Groups that no kernel observes have more items, so that a launch has few loops to begin and to
 * end, as long as there are several groups for each thread.
 */
#include "runtime/devices/cpu/cpu.h"

enum { MOST_ITEMS = 256, LEAST_ITEMS = 16, GROUPS = 64 };
/* Of groups that no kernel observes: items, and, of ranges with rows, items of a row and rows. */
enum { OWN_MOST = 2048, OWN_ROW = 256, OWN_ROWS = 8, CROSSED_ROW = 32, CROSSED_ROWS = 64 };

/* ---------------------------------------------------------------------------------------- sizes */

static uint64_t largest_divisor(uint64_t n, uint64_t limit) {
    uint64_t d = n < limit ? n : limit;
    while (d > 1 && n % d != 0) d--;
    return d ? d : 1;
}

static uint64_t items_of(const spvf_range *r) {
    uint64_t items = 1;
    for (unsigned d = 0; d < r->dims; d++) {
        if (r->global[d] > UINT64_MAX / (items ? items : 1)) return UINT64_MAX;
        items *= r->global[d];
    }
    return items;
}

static uint64_t items_of_group(const spvf_range *r) {
    uint64_t room = MOST_ITEMS, items = items_of(r);
    while (room > LEAST_ITEMS && items / room < GROUPS) room /= 2;
    return room;
}

void rt_cpu_groups_of(uint64_t items, const spvf_range *range, uint64_t local[3]) {
    uint64_t left = items;
    for (unsigned d = 0; d < 3; d++) {
        local[d] = d < range->dims ? ir_common_divisor(left, range->global[d]) : 1;
        left /= local[d];
    }
    if (left == 1) return;
    local[0] = items;
    local[1] = local[2] = 1;
}

unsigned rt_cpu_subgroup_size(const rt_cpu_options *o, const ir_func *kernel) {
    const ir_target target = cg_host_machine()->describe(o->code.level);
    return pass_subgroup_size(kernel, &target);
}

void rt_cpu_local_size(const ir_func *kernel, unsigned subgroup, const spvf_range *range,
                       uint64_t local[3], ir_arena *scratch) {
    const uint32_t *required = kernel->attrs.local_size;
    if (kernel->attrs.subgroups && !required[0]) {
        rt_cpu_groups_of((uint64_t)kernel->attrs.subgroups * subgroup, range, local);
        return;
    }
    uint64_t room = items_of_group(range);
    bool divides = pass_observes_groups(kernel, scratch);
    for (unsigned d = 0; d < 3; d++) {
        uint64_t global = d < range->dims && range->global[d] ? range->global[d] : 1;
        local[d] = required[0]     ? required[d]
                   : divides       ? largest_divisor(global, room)
                   : global < room ? global
                                   : room;
        room /= local[d] < room ? local[d] : room;
    }
}

/* ------------------------------------------------------------------------ groups of our own */

static uint64_t power_above(uint64_t n) {
    uint64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* As many items in dimension d as it has, rounded up to a power of two, up to `most`. */
static void take_items(const spvf_range *r, unsigned d, uint64_t most, uint64_t local[3]) {
    uint64_t global = d < r->dims && r->global[d] ? r->global[d] : 1;
    local[d] = global < most ? power_above(global) : most;
}

void rt_cpu_own_groups(const spvf_range *range, unsigned inner, bool crosses, unsigned threads,
                       uint64_t local[3]) {
    const uint64_t row = crosses ? CROSSED_ROW : OWN_ROW, rows = crosses ? CROSSED_ROWS : OWN_ROWS;
    unsigned d[3]; /* along a row, from row to row, and the other one */
    pass_order_loops(inner, d);
    uint64_t room = OWN_MOST, items = items_of(range), groups = threads > 1 ? 4 * threads : 1;
    while (room > LEAST_ITEMS && items / room + (items % room != 0) < groups) room /= 2;
    take_items(range, d[0], room < row ? room : row, local);
    take_items(range, d[1], room / local[d[0]] < rows ? room / local[d[0]] : rows, local);
    take_items(range, d[0], room / local[d[1]], local);
    take_items(range, d[1], room / local[d[0]], local);
    take_items(range, d[2], room / local[d[0]] / local[d[1]], local);
}
