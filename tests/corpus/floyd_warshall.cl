// All shortest paths after Floyd and Warshall: one launch for each intermediate node, and a version
// for one group with the matrix in local memory and a loop of barriers.
kernel void relax(global int *d, int n, int k) {
    int j = (int)get_global_id(0), i = (int)get_global_id(1);
    int through = d[i * n + k] + d[k * n + j];
    if (i != k && j != k && through < d[i * n + j]) d[i * n + j] = through;
}

kernel void in_group(global const int *in, global int *out, local int *d) {
    int j = (int)get_local_id(0), i = (int)get_local_id(1), n = (int)get_local_size(0);
    d[i * n + j] = in[i * n + j];
    for (int k = 0; k < n; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int through = d[i * n + k] + d[k * n + j];
        if (i != k && j != k) d[i * n + j] = min(d[i * n + j], through);
    }
    out[i * n + j] = d[i * n + j];
}
