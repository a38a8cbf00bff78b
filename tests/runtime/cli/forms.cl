/* forms.cl — a kernel for each form of access, and for reasons not to vectorize; explain.sh compares
 * what `spvfuse explain` says of them. */
kernel void contiguous(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = 2 * x[i];
}

kernel void reversed(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[1023 - i];
}

kernel void uniform(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    float sum = i;
    for (size_t k = 0; k < get_global_size(0); k++)
        sum = sum * x[k] + 1;
    y[i] = sum;
}

typedef struct {
    float place, speed, weight;
} particle;

kernel void members(global particle *p) {
    size_t i = get_global_id(0);
    p[i].place += p[i].speed;
}

kernel void apart(global const uint *to, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[to[i]] = x[to[i]];
}

kernel void masked(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    if (x[i] > 0)
        y[i] = x[i];
}

kernel void counting(global const uint *x, global uint *bins) {
    size_t i = get_global_id(0);
    atomic_inc(&bins[x[i]]);
}

kernel void private_array(global const uint *x, global uint *y) {
    size_t i = get_global_id(0);
    uint count[4];
    for (uint k = 0; k < 4; k++)
        count[k] = k;
    for (uint k = 0; k < 8; k++)
        count[x[i] >> 2 * k & 3]++;
    y[i] = count[x[i] & 3];
}

kernel void pixels(global const uchar4 *x, global uchar4 *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] / (uchar)2;
}

kernel void product(global const float *a, global const float *b, global float *c) {
    size_t x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    float sum = 0;
    for (size_t k = 0; k < 64; k++)
        sum += a[64 * y + k] * b[width * k + x];
    c[width * y + x] = sum;
}

kernel void clamped(global const float *x, global float *y) {
    int i = get_global_id(0), n = get_global_size(0);
    y[i] = x[max(i - 1, 0)] + x[min(i + 1, n - 1)];
}

kernel void waiting(global const float *x, global float *y) {
    local float all[64];
    size_t i = get_local_id(0);
    float own = x[get_global_id(0)];
    all[i] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = own * all[63 - i];
}

kernel void refused(global float *x) {
    size_t i = get_global_id(0);
    *(volatile global float *)&x[i] = 1;
}

kernel void slower(global const uint *from, global const uint *column, global const float *x,
                   global float *y) {
    size_t i = get_global_id(0);
    float sum = 0;
    for (uint k = from[i]; k < from[i + 1]; k++)
        sum += x[column[k]];
    y[i] = sum;
}
