/* wrappers.cl — entry points that call others, with the struct that they are given. */

typedef struct {
    global const int *in;
    global int *out;
    int by;
} object;

kernel void scale(object o) {
    size_t i = get_global_id(0);
    o.out[i] = o.in[i] * o.by;
}

kernel void scale_more(object o) {
    o.by++;
    scale(o);
}

kernel void scale_most(object o) {
    o.by *= 2;
    scale_more(o);
}
