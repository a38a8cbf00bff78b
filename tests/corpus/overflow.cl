// Carries: 128-bit addition from 64-bit halves in the form that compilers turn into add-with-carry,
// and multi-word multiplication in a private array.
kernel void add_128(global const ulong2 *a, global const ulong2 *b, global ulong2 *out,
                    global int *carry) {
    size_t i = get_global_id(0);
    ulong lo = a[i].x + b[i].x;
    ulong c = lo < a[i].x;
    ulong hi = a[i].y + b[i].y;
    int top = hi < a[i].y;
    hi += c;
    top |= hi < c;
    out[i] = (ulong2)(lo, hi);
    carry[i] = top;
}

kernel void multiply_words(global const uint *a, global const uint *b, global uint *out, int n) {
    size_t i = get_global_id(0);
    uint product[8];
    for (int k = 0; k < 2 * n; k++) product[k] = 0;
    for (int x = 0; x < n; x++) {
        uint carry = 0;
        for (int y = 0; y < n; y++) {
            ulong t = (ulong)a[i * n + x] * b[i * n + y] + product[x + y] + carry;
            product[x + y] = (uint)t;
            carry = (uint)(t >> 32);
        }
        product[x + n] = carry;
    }
    for (int k = 0; k < 2 * n; k++) out[i * 2 * n + k] = product[k];
}
