// cl: -cl-std=CL2.0
// Atomic flags on global and local memory: exactly one item of those that race wins each flag,
// clearing makes it free again, and the sum of the winners' tickets is fixed.
kernel void winners(global atomic_flag *flags, global int *wins) {
    int i = (int)get_global_id(0);
    if (!atomic_flag_test_and_set_explicit(&flags[i & 3], memory_order_acq_rel,
                                           memory_scope_device))
        atomic_inc(&wins[i & 3]);
}

kernel void group_lock(global int *out) {
    local atomic_flag lock;
    local int first, again;
    int l = (int)get_local_id(0);
    if (l == 0) {
        first = again = 0;
        atomic_flag_clear(&lock);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!atomic_flag_test_and_set(&lock)) atomic_inc(&first);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) atomic_flag_clear_explicit(&lock, memory_order_release, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!atomic_flag_test_and_set_explicit(&lock, memory_order_relaxed, memory_scope_work_group))
        atomic_inc(&again);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) out[get_group_id(0)] = first * 10 + again;
}
