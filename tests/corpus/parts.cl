// For fusion: kernels that write some lanes or bytes of what the next one reads as a whole, and the
// other way around.  A processor waits for such a store when it has to read it from memory.
kernel void set_lanes(global const float *in, global float *xy) {
    size_t i = get_global_id(0);
    for (int k = 0; k < 4; k++) xy[4 * i + k] = in[4 * i + k] * 2.0f;
}
kernel void triple(global float4 *xy) {
    size_t i = get_global_id(0);
    xy[i] = xy[i] * 3.0f;
}
kernel void add_y(global float *xy, float by) {
    size_t i = get_global_id(0);
    xy[4 * i + 1] += by;
}
kernel void opaque(global uchar *p) {
    size_t i = get_global_id(0);
    p[4 * i + 3] = 255;
}
kernel void swizzle(global const uchar4 *p, global uchar4 *q) {
    size_t i = get_global_id(0);
    q[i] = p[i].zyxw;
}
kernel void set_high(global uint *p) {
    size_t i = get_global_id(0);
    p[2 * i + 1] = 7u + (uint)i;
}
kernel void times_three(global const ulong *p, global ulong *q) {
    size_t i = get_global_id(0);
    q[i] = p[i] * 3;
}
