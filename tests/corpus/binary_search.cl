// Binary search in a sorted array: lower bound with a data-dependent loop, branch-free search with
// a fixed number of steps, and interpolation search with 64-bit products.
kernel void lower_bound(global const int *sorted, int n, global const int *keys, global int *out) {
    size_t i = get_global_id(0);
    int lo = 0, hi = n, key = keys[i];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (sorted[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    out[i] = lo;
}

kernel void branch_free(global const int *sorted, int n, global const int *keys, global int *out) {
    size_t i = get_global_id(0);
    int at = -1, key = keys[i];
    for (int step = 64; step > 0; step >>= 1) {
        int next = at + step;
        at = next < n && sorted[min(next, n - 1)] < key ? next : at;
    }
    out[i] = at + 1;
}

kernel void interpolation(global const int *sorted, int n, global const int *keys,
                          global int *out) {
    size_t i = get_global_id(0);
    int lo = 0, hi = n - 1, key = keys[i], found = -1;
    while (lo <= hi && key >= sorted[lo] && key <= sorted[hi]) {
        if (sorted[lo] == sorted[hi]) {
            found = sorted[lo] == key ? lo : -1;
            break;
        }
        int at = lo + (int)((long)(hi - lo) * ((long)key - sorted[lo]) /
                            ((long)sorted[hi] - sorted[lo]));
        if (sorted[at] == key) {
            found = at;
            break;
        }
        if (sorted[at] < key)
            lo = at + 1;
        else
            hi = at - 1;
    }
    out[i] = found;
}
