// Pointer arithmetic: differences, comparisons, walking with ++ and --, strided and negative
// offsets, pointers to pointers, selecting between pointers, and pointers that live in loops.
kernel void walk(global const int *begin, uint count, global int *out) {
    size_t i = get_global_id(0);
    global const int *p = begin + i, *end = begin + count;
    int sum = 0;
    while (end - p >= 3) {
        sum += *p++;
        p += 2;
    }
    out[2 * i] = sum;
    out[2 * i + 1] = (int)(p - begin);
}

kernel void backwards(global const ushort *data, int n, global int *out) {
    int i = (int)get_global_id(0);
    global const ushort *p = data + n;
    int steps = 0;
    do {
        --p;
        steps++;
    } while (p != data + i && *p > 10);
    out[i] = steps * 100 + (int)(data + n - p);
}

static global int *pick(global int *a, global int *b, int which) { return which ? a : b; }

kernel void selected(global int *a, global int *b, global const int *which) {
    int i = (int)get_global_id(0), n = (int)get_global_size(0);
    global int *p = pick(a, b, which[i]) + i;
    *p += 100;
    p[n] = (int)(p == a + i) * 10 + (p - i == b);
}

kernel void indirect(global const float *in, global float *out) {
    int i = (int)get_global_id(0);
    float x[4] = {in[0], in[1], in[2], in[3]}, y[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    float *rows[3] = {x, y + 1, x + 2};
    float **pp = rows + (i & 1);
    *(*pp + 1) += 10.0f;
    out[i] = rows[i % 3][1] + **pp + (float)(rows[2] - rows[0]);
}
