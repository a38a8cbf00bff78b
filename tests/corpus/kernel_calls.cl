// Kernels that call kernels, many small entry points in one module, an empty kernel, a kernel
// without arguments' use, and one function shared by all of them.
static int twist(int x) { return (x << 3 | (int)((uint)x >> 29)) ^ 0x5a5a; }

kernel void nothing(global int *unused) {}

kernel void add_one(global int *p) { p[get_global_id(0)] += 1; }

kernel void add_two(global int *p) {
    add_one(p);
    add_one(p);
}

kernel void twist_all(global int *p, int times) {
    size_t i = get_global_id(0);
    for (int k = 0; k < times; k++) p[i] = twist(p[i]);
}

kernel void all_of_them(global int *p, global int *q, int times) {
    twist_all(p, times);
    add_two(q);
    q[get_global_id(0)] += twist(p[get_global_id(0)]) & 1;
}

#define SMALL(N)                                                                                   \
    kernel void small_##N(global int *p) { p[get_global_id(0)] = p[get_global_id(0)] * N + N; }
SMALL(1) SMALL(2) SMALL(3) SMALL(4) SMALL(5) SMALL(6) SMALL(7) SMALL(8)
