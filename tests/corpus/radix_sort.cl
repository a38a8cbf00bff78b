// Least-significant-digit radix sort, four bits for each pass: digit counts of each group, a scan
// of the counts by one item, and a stable scatter with ranks inside the group.
#define DIGITS 16
kernel void count(global const uint *keys, global uint *counts, uint shift) {
    local uint bins[DIGITS];
    uint l = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    if (l < DIGITS) bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[keys[get_global_id(0)] >> shift & (DIGITS - 1)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < DIGITS) counts[l * groups + get_group_id(0)] = bins[l];
}

kernel void scan(global uint *counts, uint n) {
    uint sum = 0;
    for (uint k = 0; k < n; k++) {
        uint c = counts[k];
        counts[k] = sum;
        sum += c;
    }
}

kernel void scatter(global const uint *keys, global uint *out, global const uint *offsets,
                    uint shift) {
    local uint digits[16];
    uint l = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
    uint key = keys[get_global_id(0)], digit = key >> shift & (DIGITS - 1), rank = 0;
    digits[l] = digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < l; k++) rank += digits[k] == digit;
    out[offsets[digit * groups + get_group_id(0)] + rank] = key;
}

kernel void check(global const uint *sorted, global const uint *original, global int *bad,
                  global uint *sums) {
    size_t i = get_global_id(0);
    if (i > 0 && sorted[i - 1] > sorted[i]) atomic_inc(bad);
    atomic_add(&sums[0], sorted[i]);
    atomic_sub(&sums[0], original[i]);
}
