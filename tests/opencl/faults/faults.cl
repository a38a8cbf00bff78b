/* Kernels with one fault each, and `right` without one.  x has 16 ints with contents, y 16 ints. */

kernel void right(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i] * 2;
}

kernel void read_beyond(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i + 1];
}

kernel void write_beyond(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i * 2] = x[i];
}

kernel void write_before(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i - 1] = x[i];
}

kernel void far_beyond(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i + 1000000];
}

kernel void local_beyond(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[i + 1];
}

kernel void private_beyond(global const int *x, global int *y) {
    int i = get_global_id(0), t[4] = {1, 2, 3, 4};
    y[i] = t[x[i]];
}

kernel void local_argument(global const int *x, global int *y, local int *tile) {
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[15 - i];
}

kernel void null_pointer(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x ? x[i] : y[0];
    if (!x) y[i] = x[i];
}

kernel void write_constant(global int *x, global int *y) {
    int i = get_global_id(0);
    x[i] = i;
    y[i] = i;
}

kernel void misaligned(global const int *x, global int *y) {
    int i = get_global_id(0);
    global const char *bytes = (global const char *)x;
    y[i] = *(global const int *)(bytes + 1);
}

kernel void no_value(global const int *x, global int *y) {
    int i = get_global_id(0), t;
    if (x[i] > 4) t = x[i];
    y[i] = t;
}

kernel void no_value_copied(global const int *x, global int *y) {
    int i = get_global_id(0), t, u;
    u = t;
    int v = u + x[i];
    y[i] = v;
}

kernel void decides(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = 0;
    if (y[15 - i] + x[i] > 20) y[i] = 1;
}

kernel void local_without_value(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    if (i > 0) tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = tile[15 - i];
}

kernel void by_index_without_value(global const int *x, global int *y) {
    int i = get_global_id(0), where;
    if (x[i] > 100) where = 0;
    y[i] = x[where];
}

kernel void dangling(global const int *x, global int *y) {
    int i = get_global_id(0);
    int *p = 0;
    for (int k = 0; k < 1; k++) {
        int inner[2] = {x[i], 1};
        p = inner;
    }
    y[i] = *p;
}

kernel void race_of_groups(global const int *x, global int *y) {
    y[0] = x[get_global_id(0)];
}

kernel void race_in_group(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    tile[i] = x[i];
    y[i] = tile[(i + 1) % 4];
}

kernel void race_of_sums(global const int *x, global int *y) {
    y[1] += x[get_global_id(0)];
}

kernel void race_with_read(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = y[(i + 1) % 16] + x[i];
}

kernel void weak_fence(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    y[i] = tile[i ^ 1];
}

kernel void divergent(global const int *x, global int *y) {
    int i = get_local_id(0);
    y[i] = x[i];
    if (i < 2) barrier(CLK_GLOBAL_MEM_FENCE);
}

kernel void early_return(global const int *x, global int *y) {
    int i = get_local_id(0);
    if (i == 3) return;
    y[i] = x[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
}

kernel void divides(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = 100 / (x[i] - 5);
}

kernel void async_not_waited(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, x, 4, 0);
    y[i] = tile[i];
    wait_group_events(1, &e);
}

kernel void different_copies(global const int *x, global int *y) {
    local int tile[16];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, x + i, 4, 0);
    wait_group_events(1, &e);
    y[i] = tile[i];
}

kernel void endless(global const int *x, global int *y) {
    int i = get_global_id(0);
    while (x[i] >= 0) y[i] = x[i];
}

int helper(global const int *p, int i) {
    return p[i + 8];
}

kernel void in_function(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = helper(x, i);
}

kernel void many_groups(global const int *x, global int *y) {
    if (get_global_id(0) == 0) y[0] = x[0];
}
