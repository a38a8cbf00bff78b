/* chunk.c — work-groups by number: a range of numbers is a few boxes.
 *
 * Groups are numbered with x fastest.  A range of numbers is the rest of a row, whole rows, whole
 * planes, again whole rows, and the start of a row: at most five boxes, whatever the range.
 */
#include "runtime/native/native.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The box at group `at` that is as large as `count` groups allow; gives how many it has. */
static uint64_t cut_box(ir_group_info *g, uint64_t at, uint64_t count) {
    const uint64_t *n = g->num_groups;
    uint64_t row = n[0], plane = row * n[1];
    uint64_t x = at % row, y = at / row % n[1], z = at / plane;
    uint64_t extent[3] = {row, n[1], count / plane};
    if (y || count < plane) {
        extent[1] = least(n[1] - y, count / row);
        extent[2] = 1;
    }
    if (x || count < row) {
        extent[0] = least(row - x, count);
        extent[1] = extent[2] = 1;
    }
    memcpy(g->group_id, (const uint64_t[3]){x, y, z}, sizeof g->group_id);
    for (int d = 0; d < 3; d++) g->group_end[d] = g->group_id[d] + extent[d];
    return extent[0] * extent[1] * extent[2];
}

void rt_run_groups(rt_block *run, ir_group_info *g, void *const *args, uint64_t at,
                   uint64_t count) {
    while (count) {
        uint64_t n = cut_box(g, at, count);
        run(g, args);
        at += n;
        count -= n;
    }
}
