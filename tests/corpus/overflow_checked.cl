// Checked 32-bit arithmetic in the forms that compilers turn into overflow intrinsics: sums and
// products tested by widening, by comparison and by mul_hi.
// skip: clang22-O2 cannot select G_SADDO (llvm.sadd.with.overflow)
kernel void checked(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    long sum = (long)a[i] + b[i], product = (long)a[i] * b[i];
    int flags = (sum != (int)sum) | (product != (int)product) << 1;
    uint x = (uint)a[i], y = (uint)b[i];
    flags |= (x + y < x) << 2 | (x < y) << 3 | (mul_hi(x, y) != 0) << 4;
    out[i] = flags;
}
