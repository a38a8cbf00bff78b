float square(float v) {
    float w = v * v;
    return w;
}

kernel void heat(global const float *x, global float *y, int n) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++) {
        sum += square(x[i] + k);
    }
    y[i] = sum;
}

kernel void neighbours(global const float *x, global float *y, int n) {
    local float tile[8];
    int i = get_local_id(0);
    tile[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float next = tile[(i + 1) % n];
    y[i] = next;
}

kernel void line(global const float *x, global float *y, int n) { y[get_global_id(0)] = x[get_global_id(0)] + n; }
