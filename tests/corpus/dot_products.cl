// cl: -cl-std=CL3.0
// llvm-spirv: --spirv-ext=+SPV_KHR_integer_dot_product
// clang22-O2: -mllvm --spirv-ext=+SPV_KHR_integer_dot_product
// Integer dot products of vectors and of packed bytes, with and without a saturating sum.
#define PUT(call) out[n * step++ + i] = call;
kernel void dots_uint(global const uint *in, global uint *out) {
    uint i = get_global_id(0), n = get_global_size(0), step = 0;
    uint x = in[i], y = in[n - 1 - i], sum = in[(i + 1) % n];
    char4 sx = as_char4(x), sy = as_char4(y);
    uchar4 ux = as_uchar4(x), uy = as_uchar4(y);
    PUT(dot(ux, uy)) PUT(dot(sx, sy)) PUT(dot(ux, sy)) PUT(dot(sx, uy))
    PUT(dot_acc_sat(ux, uy, sum)) PUT(dot_acc_sat(sx, sy, (int)sum))
    PUT(dot_acc_sat(ux, sy, (int)sum)) PUT(dot_acc_sat(sx, uy, (int)sum))
    PUT(dot_4x8packed_uu_uint(x, y)) PUT(dot_4x8packed_ss_int(x, y))
    PUT(dot_4x8packed_us_int(x, y)) PUT(dot_4x8packed_su_int(x, y))
    PUT(dot_acc_sat_4x8packed_uu_uint(x, y, sum)) PUT(dot_acc_sat_4x8packed_ss_int(x, y, sum))
    PUT(dot_acc_sat_4x8packed_us_int(x, y, sum)) PUT(dot_acc_sat_4x8packed_su_int(x, y, sum))
}
