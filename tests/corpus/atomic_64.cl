// 64-bit atomics: the atom_ functions of cl_khr_int64_base_atomics and
// cl_khr_int64_extended_atomics on global and local memory.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void base(global long *a, global ulong *u) {
    long i = (long)get_global_id(0);
    atom_add(&a[0], i << 33);
    atom_sub(&a[1], i);
    atom_inc(&a[2]);
    atom_dec(&a[3]);
    atom_add(&u[0], 0x8000000000000000ul + (ulong)i);
    if (atom_cmpxchg(&a[4], -1L, 1L << 40) == -1L) atom_inc(&a[5]);
    long old = atom_xchg(&a[6], 6L);
    if (old != 6L) atom_add(&a[5], old);
}

kernel void extended(global long *a, global ulong *u) {
    local ulong bits;
    long i = (long)get_global_id(0);
    if (get_local_id(0) == 0) bits = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atom_min(&a[0], (i - 7) << 35);
    atom_max(&a[1], (i - 7) << 35);
    atom_min(&u[0], (ulong)(i - 7));
    atom_max(&u[1], (ulong)(i - 7));
    atom_and(&u[2], ~(1ul << (i * 4)));
    atom_xor(&u[3], (ulong)i << 32);
    atom_or(&bits, 1ul << (i + 40));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atom_or(&u[4], bits);
}
