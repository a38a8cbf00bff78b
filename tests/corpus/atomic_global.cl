// OpenCL 1.x atomics on global memory: add, sub, inc, dec, min, max, and, or, xor, xchg, cmpxchg.
// Only commutative effects are visible; returned values only where their sum is known.
kernel void counters(global int *c, global uint *u) {
    int i = (int)get_global_id(0);
    atomic_add(&c[0], i);
    atomic_sub(&c[1], 2 * i);
    atomic_inc(&c[2]);
    atomic_dec(&c[3]);
    atomic_min(&c[4], (i * 37) % 101 - 50);
    atomic_max(&c[5], (i * 37) % 101 - 50);
    atomic_and(&u[0], ~(1u << (i & 31)));
    atomic_or(&u[1], 1u << (i % 20));
    atomic_xor(&u[2], (uint)i * 2654435761u);
    atomic_min(&u[3], (uint)i - 5u);
    atomic_max(&u[4], (uint)i - 5u);
    atomic_add(&u[5], 0x80000000u + (uint)i);
}

kernel void tickets(global int *next, global int *slot_of, global int *sum) {
    int ticket = atomic_inc(next);
    atomic_add(&slot_of[ticket], 1);
    atomic_add(sum, ticket);
    int old = atomic_cmpxchg(next + 1, -1, 77);
    if (old == -1) atomic_inc(next + 2);
    int swapped = atomic_xchg(next + 3, 5);
    if (swapped != 5) atomic_add(next + 4, swapped);
}

kernel void float_exchange(global float *f, global int *count) {
    float old = atomic_xchg(f, 2.5f);
    if (old != 2.5f) atomic_inc(count);
}
