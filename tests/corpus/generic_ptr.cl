// cl: -cl-std=CL2.0
// Generic address space: helpers with unqualified pointers called with global, local and private
// memory, a pointer whose space is chosen at run time, and a linked list through generic pointers.
__attribute__((noinline)) static int sum(const int *p, int n) {
    int s = 0;
    for (int k = 0; k < n; k++) s += p[k];
    return s;
}

__attribute__((noinline)) static void exchange(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

kernel void three_spaces(global const int *in, global int *out) {
    local int shared[4];
    int mine[4], i = (int)get_global_id(0), l = (int)get_local_id(0);
    for (int k = 0; k < 4; k++) mine[k] = i * k;
    shared[l] = in[i] * 10;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = sum(in + i, 3) * 10000 + sum(shared, 4) + sum(mine, 4);
    barrier(CLK_LOCAL_MEM_FENCE);
    exchange(&shared[l], &mine[2]);
    out[i] += shared[l] - mine[2];
}

kernel void chosen(global int *in, global int *out) {
    local int shared[4];
    int i = (int)get_global_id(0), l = (int)get_local_id(0);
    int mine = i + 500;
    shared[l] = i + 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i % 3 == 0 ? (int *)(in + i) : i % 3 == 1 ? (int *)&shared[3 - l] : &mine;
    *p += 1;
    out[i] = *p * 10 + mine;
}

typedef struct node {
    int value;
    struct node *next;
} node;

kernel void list(global const int *in, global int *out) {
    node nodes[5];
    int i = (int)get_global_id(0);
    for (int k = 0; k < 5; k++) {
        nodes[k].value = in[(i + k) % 8];
        nodes[k].next = k < 4 ? &nodes[(k * 2 + 2) % 5] : 0;
    }
    int s = 0, weight = 1;
    for (node *n = nodes; n && weight < 64; n = n->next) s += n->value * weight, weight *= 2;
    out[i] = s;
}
