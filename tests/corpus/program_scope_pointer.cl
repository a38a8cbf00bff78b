// cl: -cl-std=CL2.0
// Program-scope pointers: one that starts at an element of an array and moves, one to a struct
// member, and a table of pointers, all with constant initialisers.
// skip: clang22-O2 miscompiles: byte offsets are array indices in constant access chains
typedef struct {
    short head;
    int items[3];
} holder;

global int values[5] = {10, 20, 30, 40, 50};
global holder box = {7, {70, 80, 90}};
global int *global cursor = &values[2];
global int *global member = &box.items[1];
global int *global table[3] = {&values[4], &box.items[2], values};

kernel void follow(global int *out) {
    int i = (int)get_global_id(0);
    out[i] = *table[i] * 100 + cursor[i - 1] + *member;
}

kernel void advance(int by) {
    cursor += by;
    *member += 1;
    table[1] = cursor;
}
