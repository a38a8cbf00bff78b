// Mandelbrot iteration counts in float and double without contraction, so that every implementation
// counts the same: a divergent loop with two exits, over a two-dimensional range with an offset.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
kernel void escape_float(global uchar *out, int pitch, float left, float top, float step,
                         int limit) {
    int x = (int)(get_global_id(0) - get_global_offset(0)),
        y = (int)(get_global_id(1) - get_global_offset(1));
    float cr = left + (float)get_global_id(0) * step, ci = top + (float)get_global_id(1) * step;
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (n < limit) {
        float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0f) break;
        zi = 2.0f * zr * zi + ci;
        zr = rr - ii + cr;
        n++;
    }
    out[y * pitch + x] = (uchar)n;
}

kernel void escape_double(global int *out, double left, double top, double step, int limit) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), n = 0;
    double2 c = (double2)(left + x * step, top + y * step), z = (double2)(0.0);
    for (; n < limit && dot(z, z) <= 4.0; n++)
        z = (double2)(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    out[y * (int)get_global_size(0) + x] = n;
}
