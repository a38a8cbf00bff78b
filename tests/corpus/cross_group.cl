// For fusion: pairs that must not become one kernel, because an item needs what another work-group
// wrote: a scan of everything, a neighbour across group borders, a reversal.
kernel void produce(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * 2 + 1;
}

kernel void scan_all(global const int *in, global int *out, int n) {
    local int carry[64];
    int l = (int)get_local_id(0), per = n / (int)get_local_size(0), sum = 0;
    for (int k = 0; k < per; k++) sum += in[l * per + k];
    carry[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = 0;
    for (int k = 0; k < l; k++) before += carry[k];
    for (int k = 0; k < per; k++) out[l * per + k] = before += in[l * per + k];
}

kernel void right_neighbour(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    out[i] = in[min(i + 1, n - 1)] - in[i];
}

kernel void reversed(global const int *in, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    out[i] = in[n - 1 - i];
}
