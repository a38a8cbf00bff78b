// Barriers inside loops with uniform trip counts, behind uniform conditions, in nested loops, and
// values that stay alive across them; a wave front and an odd-even transposition.
kernel void doubling(global const int *in, global int *out, uint rounds) {
    local int tile[8];
    uint l = (uint)get_local_id(0);
    int mine = in[get_global_id(0)];
    tile[l] = mine;
    for (uint r = 0; r < rounds; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = tile[(l + (1u << r)) & 7];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] += other;
        mine += other & 1;
    }
    out[get_global_id(0)] = tile[l] * 10 + mine;
}

kernel void transposition(global int *data) {
    local int tile[9];
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    size_t g = get_global_id(0);
    tile[l] = data[g];
    for (int pass = 0; pass < n; pass++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % 2 == pass % 2 && l + 1 < n && tile[l] > tile[l + 1]) {
            int t = tile[l];
            tile[l] = tile[l + 1];
            tile[l + 1] = t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[g] = tile[l];
}

kernel void nested(global const int *in, global int *out, int outer, int flag) {
    local int row[6];
    int l = (int)get_local_id(0), n = (int)get_local_size(0), acc = 0;
    for (int i = 0; i < outer; i++) {
        row[l] = in[get_global_id(0)] + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < i; j++) {
            acc += row[(l + j) % n];
            if (flag) barrier(CLK_LOCAL_MEM_FENCE);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (i == 2) continue;
        acc += 100;
    }
    out[get_global_id(0)] = acc;
}
