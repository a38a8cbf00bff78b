// A 256-bin histogram: private bins of a group in local memory, merged into global memory with
// atomics; each item reads several bytes packed in 32-bit words.
kernel void histogram256(global const uint *words, uint count, global uint *bins) {
    local uint mine[256];
    uint l = (uint)get_local_id(0), size = (uint)get_local_size(0);
    for (uint b = l; b < 256; b += size) mine[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) {
        uint w = words[i];
        atomic_inc(&mine[w & 0xff]);
        atomic_inc(&mine[w >> 8 & 0xff]);
        atomic_inc(&mine[w >> 16 & 0xff]);
        atomic_inc(&mine[w >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = l; b < 256; b += size)
        if (mine[b]) atomic_add(&bins[b], mine[b]);
}
