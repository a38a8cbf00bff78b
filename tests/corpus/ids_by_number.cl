// Dimensions by a number: those that do not exist have ids 0 and sizes 1.
kernel void ids(global uint *out, int j) {
    if (get_global_id(0) != 10) return;
    for (int k = 0; k < 5; k++) {
        uint d = (uint)(j + k);
        global uint *to = out + 8 * k;
        to[0] = (uint)get_global_id(d);
        to[1] = (uint)get_local_id(d);
        to[2] = (uint)get_group_id(d);
        to[3] = (uint)get_global_offset(d);
        to[4] = (uint)get_global_size(d);
        to[5] = (uint)get_local_size(d);
        to[6] = (uint)get_num_groups(d);
    }
}

kernel void beyond(global ulong *out) {
    out[0] = get_global_id(3);
    out[1] = get_local_id(5);
    out[2] = get_group_id(3);
    out[3] = get_global_offset(7);
    out[4] = get_global_size(7);
    out[5] = get_local_size(4);
    out[6] = get_num_groups(9);
}
