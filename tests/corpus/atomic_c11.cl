// cl: -cl-std=CL2.0
// C11 atomics with explicit memory orders and scopes: load, store, exchange, fetch ops, strong and
// weak compare-exchange and fences, on global and local objects.
kernel void fetch_ops(global atomic_int *a, global atomic_uint *u, global int *old_sum) {
    int i = (int)get_global_id(0);
    int t = atomic_fetch_add_explicit(&a[0], 1, memory_order_relaxed, memory_scope_device);
    atomic_fetch_sub_explicit(&a[1], i, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_min_explicit(&a[2], 3 - i, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(&a[3], i * i, memory_order_release, memory_scope_device);
    atomic_fetch_or_explicit(&u[0], 1u << (i & 15), memory_order_acquire, memory_scope_device);
    atomic_fetch_xor_explicit(&u[1], (uint)i, memory_order_seq_cst, memory_scope_device);
    atomic_fetch_and_explicit(&u[2], ~(1u << (i & 7)), memory_order_relaxed, memory_scope_device);
    atomic_fetch_add(&u[3], 2u);
    atomic_add((volatile global int *)old_sum, t);
}

kernel void group_sum(global const int *in, global int *out) {
    local atomic_int total;
    local int rounds;
    int l = (int)get_local_id(0);
    if (l == 0) {
        atomic_init(&total, 100);
        rounds = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&total, in[get_global_id(0)], memory_order_relaxed,
                              memory_scope_work_group);
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        int seen = atomic_load_explicit(&total, memory_order_acquire, memory_scope_work_group);
        atomic_store_explicit(&total, seen * 2, memory_order_release, memory_scope_work_group);
        out[get_group_id(0)] =
            atomic_exchange_explicit(&total, 0, memory_order_acq_rel, memory_scope_work_group);
    }
}

kernel void compare_exchange(global atomic_int *a, global int *out) {
    int i = (int)get_global_id(0), expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&a[0], &expected, expected + i,
                                                  memory_order_acq_rel, memory_order_relaxed,
                                                  memory_scope_device)) {
    }
    int want = -1;
    bool first = atomic_compare_exchange_strong_explicit(&a[1], &want, 50, memory_order_seq_cst,
                                                         memory_order_acquire, memory_scope_device);
    if (first) atomic_fetch_add(&a[2], 1);
    out[i] = first ? 50 : want;
}

kernel void orders(global atomic_uint *a, global uint *out) {
    uint i = (uint)get_global_id(0);
    atomic_store(&a[i], i * 3);
    out[i] = atomic_load(&a[i]) + atomic_exchange(&a[i], 9u);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst,
                           memory_scope_device);
    out[i] += atomic_load_explicit(&a[i], memory_order_relaxed, memory_scope_work_item);
}
