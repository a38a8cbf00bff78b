// cl: -cl-std=CL2.0
// OpenCL 2.0 work-item queries: get_global_linear_id, get_local_linear_id, get_enqueued_local_size,
// in one to three dimensions, with offsets that the linear id does not contain.
kernel void linear(global uint *order, global uint *local_order, global uint *sizes) {
    size_t g = get_global_linear_id(), l = get_local_linear_id();
    order[g] = (uint)(get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2));
    local_order[g] = (uint)l;
    if (g == 0) {
        for (uint d = 0; d < 3; d++) sizes[d] = (uint)get_enqueued_local_size(d);
        sizes[3] = get_work_dim();
    }
}
