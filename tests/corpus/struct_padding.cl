// Structs with padding, mixed field widths, nested structs and arrays in structs, read and written
// in global memory through field access only.
typedef struct {
    char tag;
    double weight;
    short pair[3];
    uchar flag;
} record;

typedef struct {
    int id;
    record items[2];
    struct {
        ushort x;
        uint y;
    } at;
    char2 tail;
} container;

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void fill(global container *c) {
    int i = (int)get_global_id(0);
    global container *p = &c[i];
    p->id = i * 100;
    for (int k = 0; k < 2; k++) {
        p->items[k].tag = (char)('a' + k);
        p->items[k].weight = i + 0.25 * k;
        for (int j = 0; j < 3; j++) p->items[k].pair[j] = (short)(i * j - k);
        p->items[k].flag = (uchar)(200 + k);
    }
    p->at.x = (ushort)(65535 - i);
    p->at.y = (uint)i << 28;
    p->tail = (char2)(-1, (char)i);
}

kernel void digest(global const container *c, global long *out, global int *offsets) {
    size_t i = get_global_id(0);
    long sum = c[i].id;
    for (int k = 0; k < 2; k++) {
        global const record *r = c[i].items + k;
        sum = sum * 31 + r->tag + (long)(r->weight * 4.0);
        sum = sum * 31 + r->pair[0] + r->pair[1] * 3 + r->pair[2] * 9 + r->flag;
    }
    sum = sum * 31 + c[i].at.x + c[i].at.y + c[i].tail.x * 5 + c[i].tail.y;
    out[i] = sum;
    if (i == 0) {
        offsets[0] = sizeof(record);
        offsets[1] = sizeof(container);
        offsets[2] = (int)((uintptr_t)&c->items[1].pair[2] - (uintptr_t)c);
        offsets[3] = (int)((uintptr_t)&c->at.y - (uintptr_t)c);
        offsets[4] = (int)((uintptr_t)&c->tail - (uintptr_t)c);
    }
}
