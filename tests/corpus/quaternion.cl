// Quaternions as structs by value: product, rotation of vectors, normalisation, spherical
// interpolation, and an array of structs with a float3 member.
typedef struct {
    float w;
    float x, y, z;
} quaternion;

typedef struct {
    quaternion turn;
    float3 offset;
} pose;

static quaternion product(quaternion a, quaternion b) {
    quaternion r = {
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    };
    return r;
}

static float3 turn(quaternion q, float3 v) {
    float3 u = (float3)(q.x, q.y, q.z);
    float3 t = 2.0f * cross(u, v);
    return v + q.w * t + cross(u, t);
}

static quaternion around(float3 axis, float angle) {
    float c, s = sincos(angle * 0.5f, &c);
    axis = normalize(axis) * s;
    quaternion q = {c, axis.x, axis.y, axis.z};
    return q;
}

kernel void compose(global const quaternion *a, global const quaternion *b,
                    global quaternion *out) {
    size_t i = get_global_id(0);
    out[i] = product(a[i], b[i]);
}

kernel void rotate_points(global const float *points, quaternion q, global float *out) {
    size_t i = get_global_id(0);
    vstore3(turn(q, vload3(i, points)), i, out);
}

kernel void chain(global const float *angles, int n, global float *out) {
    pose stack[4];
    float base = (float)get_global_id(0);
    float3 p = (float3)(1.0f, 0.0f, 0.0f);
    for (int k = 0; k < n; k++) {
        stack[k].turn = around((float3)(0.0f, 0.0f, 1.0f), angles[k] * base);
        stack[k].offset = (float3)(0.0f, 0.0f, (float)k);
    }
    for (int k = n - 1; k >= 0; k--) p = turn(stack[k].turn, p) + stack[k].offset;
    vstore3(p, get_global_id(0), out);
}
