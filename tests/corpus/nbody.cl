// N-body acceleration and leap-frog step: bodies in tiles of local memory, softened rsqrt, float4
// positions with the mass in w; momentum is conserved, which the last kernel checks.
kernel void accelerate(global const float4 *bodies, global float4 *velocity, int n, float dt,
                       float soft, local float4 *tile) {
    int i = (int)get_global_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
    float4 me = bodies[i];
    float3 a = (float3)(0.0f);
    for (int base = 0; base < n; base += size) {
        tile[l] = bodies[base + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < size; k++) {
            float3 d = tile[k].xyz - me.xyz;
            float inverse = rsqrt(dot(d, d) + soft);
            a += d * (tile[k].w * inverse * inverse * inverse);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    velocity[i].xyz += a * dt;
}

kernel void move(global float4 *bodies, global const float4 *velocity, float dt) {
    size_t i = get_global_id(0);
    bodies[i].xyz += velocity[i].xyz * dt;
}

kernel void at_rest(global const float4 *bodies, global const float4 *velocity, int n,
                    global int *out) {
    float sum = 0.0f;
    int axis = (int)get_global_id(0);
    for (int i = 0; i < n; i++) sum += ((global const float *)(velocity + i))[axis] * bodies[i].w;
    out[axis] = fabs(sum) < 1e-4f;
}
