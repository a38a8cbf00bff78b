// Whole-struct assignment between global, local, private and constant memory (memory copies in
// SPIR-V), swapping of structs, and copies of arrays wrapped in structs.
typedef struct {
    uint key;
    ushort data[5];
    uchar tag[2];
} entry;

typedef struct {
    int v[24];
} block;

constant entry preset = {7u, {1, 2, 3, 4, 5}, {250, 251}};

kernel void reverse_group(global const entry *in, global entry *out) {
    local entry tile[4];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    entry mine = tile[n - 1 - l];
    mine.key ^= (uint)l;
    out[get_global_id(0)] = mine;
}

kernel void swap_entries(global entry *e, uint half_count) {
    size_t i = get_global_id(0);
    entry t = e[i];
    e[i] = e[i + half_count];
    e[i + half_count] = t;
    if (i == 1) e[0 + half_count * 2] = preset;
}

kernel void blocks(global const block *in, global block *out) {
    size_t i = get_global_id(0);
    block a = in[i], b;
    for (int k = 0; k < 24; k++) b.v[k] = a.v[23 - k] + (int)i;
    block c = i & 1 ? a : b;
    out[i] = c;
}
