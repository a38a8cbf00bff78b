// k-means: nearest centre for each point with struct-of-arrays data, then new centres as integer
// sums with atomics and a division, repeated by the plan.
kernel void assign(global const int *px, global const int *py, global const int *centres, int k,
                   global int *label) {
    size_t i = get_global_id(0);
    int best = 0, best_d = INT_MAX;
    for (int c = 0; c < k; c++) {
        int dx = px[i] - centres[2 * c], dy = py[i] - centres[2 * c + 1];
        int d = dx * dx + dy * dy;
        if (d < best_d) {
            best_d = d;
            best = c;
        }
    }
    label[i] = best;
}

kernel void clear(global int *sums) { sums[get_global_id(0)] = 0; }

kernel void accumulate(global const int *px, global const int *py, global const int *label,
                       global int *sums) {
    size_t i = get_global_id(0);
    global int *s = sums + 3 * label[i];
    atomic_add(s, px[i]);
    atomic_add(s + 1, py[i]);
    atomic_inc(s + 2);
}

kernel void centre(global const int *sums, global int *centres) {
    size_t c = get_global_id(0);
    int n = sums[3 * c + 2];
    if (n == 0) return;
    centres[2 * c] = sums[3 * c] / n;
    centres[2 * c + 1] = sums[3 * c + 1] / n;
}
