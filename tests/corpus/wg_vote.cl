// cl: -cl-std=CL2.0
// Work-group broadcast from one-, two- and three-dimensional positions, work_group_any and
// work_group_all, and a loop that the whole group leaves together.
kernel void votes(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i];
    int r = work_group_any(x > 10) ? 1 : 0;
    r += work_group_all(x >= 0) ? 10 : 0;
    r += work_group_broadcast(x, get_local_size(0) - 1) * 100;
    r += work_group_broadcast(x * 2, get_group_id(0) % get_local_size(0)) * 10000;
    out[i] = r;
}

kernel void broadcast_2d(global const float *in, global float *out) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[at] = work_group_broadcast(in[at], 1, get_local_size(1) - 1);
}

kernel void broadcast_3d(global const long *in, global long *out) {
    size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) +
                get_global_id(0);
    out[at] = in[at] * 1000 + work_group_broadcast(in[at], 1, 0, 1);
}

kernel void settle(global const int *in, global int *out) {
    int x = in[get_global_id(0)], rounds = 0;
    while (work_group_any(x > 1)) {
        if (x > 1) x = x & 1 ? x - 1 : x / 2;
        rounds++;
    }
    out[get_global_id(0)] = rounds;
}
