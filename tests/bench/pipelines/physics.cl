/* physics.cl — simulations, finance and hashes: one kernel for each step of a model. */

kernel void gravity(float dt, global const float4 *p, global float4 *v) {
    size_t i = get_global_id(0);
    v[i] += dt * (float4)(-0.1f * p[i].x, -9.81f, -0.1f * p[i].z, 0.0f);
}

kernel void drag(float k, global float4 *v) {
    size_t i = get_global_id(0);
    v[i] *= 1.0f - k;
}

kernel void integrate(float dt, global const float4 *v, global float4 *p) {
    size_t i = get_global_id(0);
    p[i] += dt * v[i];
}

kernel void bounce(float floor_y, global float4 *p, global float4 *v) {
    size_t i = get_global_id(0);
    if (p[i].y < floor_y) {
        p[i].y = 2.0f * floor_y - p[i].y;
        v[i].y = -0.8f * v[i].y;
    }
}

/* A lattice gas of three speeds in one dimension. */
kernel void density(global const float *a, global const float *b, global const float *c,
                    global float *rho) {
    size_t i = get_global_id(0);
    rho[i] = a[i] + b[i] + c[i];
}

kernel void velocity(global const float *a, global const float *c, global const float *rho,
                     global float *u) {
    size_t i = get_global_id(0);
    u[i] = (c[i] - a[i]) / rho[i];
}

kernel void collide(float w, float e, float weight, global const float *rho,
                    global const float *u, global float *f) {
    size_t i = get_global_id(0);
    float eu = e * u[i];
    float equilibrium = weight * rho[i] * (1.0f + 3.0f * eu + 4.5f * eu * eu - 1.5f * u[i] * u[i]);
    f[i] += w * (equilibrium - f[i]);
}

kernel void next_random(global uint *state) {
    size_t i = get_global_id(0);
    uint s = state[i];
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    state[i] = s;
}

kernel void to_uniform(global const uint *state, global float *u) {
    size_t i = get_global_id(0);
    u[i] = (float)(state[i] >> 8) * 0x1p-24f;
}

kernel void count_inside(global const float *x, global const float *y, global uint *count) {
    size_t i = get_global_id(0);
    count[i] += x[i] * x[i] + y[i] * y[i] < 1.0f ? 1 : 0;
}

kernel void to_normal(global const float *u1, global const float *u2, global float *z) {
    size_t i = get_global_id(0);
    z[i] = sqrt(-2.0f * log(u1[i] + 1e-7f)) * cos(6.2831853f * u2[i]);
}

kernel void price(float s0, float drift, float sigma, global const float *z, global float *s) {
    size_t i = get_global_id(0);
    s[i] = s0 * exp(drift + sigma * z[i]);
}

kernel void payoff(float strike, float discount, global const float *s, global float *out) {
    size_t i = get_global_id(0);
    out[i] = discount * fmax(s[i] - strike, 0.0f);
}

kernel void mix_high(global const uint *x, uint k, global uint *out) {
    size_t i = get_global_id(0);
    uint h = x[i];
    h ^= h >> 16;
    out[i] = h * k;
}

kernel void mix_low(global const uint *x, uint k, global uint *out) {
    size_t i = get_global_id(0);
    uint h = x[i];
    h ^= h >> 13;
    out[i] = rotate(h * k, 5u);
}

kernel void to_bucket(global const uint *x, uint mask, global ushort *out) {
    size_t i = get_global_id(0);
    out[i] = convert_ushort_sat(x[i] & mask);
}
