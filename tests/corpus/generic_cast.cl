// cl: -cl-std=CL2.0
// Casts from the generic address space: to_global, to_local, to_private, get_fence. Pointers must
// know their space at run time (implementations with one flat space answer differently).
__attribute__((noinline)) static int kind(int *p) {
    return (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0);
}

kernel void kinds(global int *in, global int *out) {
    local int shared[4];
    int i = (int)get_global_id(0), l = (int)get_local_id(0), mine = i + 500;
    shared[l] = i + 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i % 3 == 0 ? (int *)(in + i) : i % 3 == 1 ? (int *)&shared[3 - l] : &mine;
    out[3 * i] = *p * 10 + kind(p);
    global int *g = to_global(p);
    out[3 * i + 1] = g ? *g : -1;
    out[3 * i + 2] = get_fence(p) == CLK_GLOBAL_MEM_FENCE;
}
