// cl: -cl-std=CL2.0
// Memory fences and barriers with all flags: mem_fence, read_mem_fence, write_mem_fence,
// work_group_barrier with and without a scope, and barriers for global memory inside a group.
kernel void fenced(global const int *in, global int *out, global int *scratch) {
    local int tile[8];
    int l = (int)get_local_id(0), g = (int)get_global_id(0), n = (int)get_local_size(0),
        first = g - l;
    tile[l] = in[g];
    write_mem_fence(CLK_LOCAL_MEM_FENCE);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    scratch[g] = tile[n - 1 - l] * 2;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);
    int next = scratch[first + (l + 1) % n];
    read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    scratch[g] = next + 1;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    out[g] = scratch[first] * 1000 + scratch[g];
    work_group_barrier(0);
}
