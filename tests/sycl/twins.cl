/* twins.cl — the kernels of pipelines.cpp as OpenCL C has them: what a function object captures is
 * arguments.  Their plans are those of the function objects, without the accessors' beginnings, which
 * are 0 there. */

/* -------------------------------------------------------------------------------------- a chain */

kernel void Scale(global const float *in, global float *out, float by) {
    out[get_global_id(0)] = in[get_global_id(0)] * by;
}

kernel void Shift(global const float *in, float by, global float *out, uint n) {
    if (get_global_id(0) < n) out[get_global_id(0)] = in[get_global_id(0)] + by;
}

kernel void Square(global const float *in, global float *out) {
    size_t i = get_local_id(0) | get_group_id(0) << 7;
    out[i] = in[i] * in[i];
}

kernel void Halve(global const float *in, global float *out) {
    out[get_global_id(0)] = in[get_global_id(0)] * 0.5f;
}

/* ------------------------------------------------------------------------------------- a diamond */

kernel void Product(global const float *a, global const float *b, global float *out) {
    out[get_global_id(0)] = a[get_global_id(0)] * b[get_global_id(0)];
}

kernel void Sum(global const float *a, global const float *b, global float *out) {
    out[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];
}

/* ------------------------------------------------- the vectors of a conjugate gradient iteration */

kernel void Axpy(float a, global const float *x, global float *y) {
    y[get_global_id(0)] += a * x[get_global_id(0)];
}

kernel void Xpay(global const float *x, global float *y, float a) {
    y[get_global_id(0)] = x[get_global_id(0)] + a * y[get_global_id(0)];
}

/* -------------------------------------------------------------- a stencil that reads neighbours */

kernel void Smooth(global const float *in, global float *out, uint n) {
    size_t i = get_global_id(0), left = i ? i - 1 : 0, right = i + 1 < n ? i + 1 : i;
    out[i] = in[left] + 2 * in[i] + in[right];
}
