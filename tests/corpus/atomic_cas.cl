// Compare-and-exchange loops: float add and float max through cmpxchg on global and local memory, a
// saturating counter, and an integer product modulo a prime. Every update commutes exactly.
static void add_float(volatile global float *p, float x) {
    union {
        uint u;
        float f;
    } old, sum;
    old.u = atomic_or((volatile global uint *)p, 0);
    for (;;) {
        sum.f = old.f + x;
        uint before = atomic_cmpxchg((volatile global uint *)p, old.u, sum.u);
        if (before == old.u) break;
        old.u = before;
    }
}

static void max_local(volatile local int *p, float x) {
    int seen = atomic_add(p, 0);
    while (as_float(seen) < x) {
        int before = atomic_cmpxchg(p, seen, as_int(x));
        if (before == seen) break;
        seen = before;
    }
}

kernel void sums(global const float *in, global float *total) {
    add_float(total, in[get_global_id(0)]);
}

kernel void group_max(global const float *in, global float *out) {
    local int best;
    if (get_local_id(0) == 0) best = as_int(-1e30f);
    barrier(CLK_LOCAL_MEM_FENCE);
    max_local(&best, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) out[get_group_id(0)] = as_float(best);
}

kernel void saturating(volatile global uint *counter, uint limit) {
    uint seen = atomic_add(counter, 0);
    for (;;) {
        if (seen >= limit) return;
        uint before = atomic_cmpxchg(counter, seen, seen + 1);
        if (before == seen) return;
        seen = before;
    }
}

kernel void product(volatile global uint *p, uint prime) {
    uint factor = (uint)get_global_id(0) + 2, seen = atomic_add(p, 0), before;
    while ((before = atomic_cmpxchg(p, seen, (uint)((ulong)seen * factor % prime))) != seen)
        seen = before;
}
