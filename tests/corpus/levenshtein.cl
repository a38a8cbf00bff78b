// Edit distance: each item compares one word with a pattern using a private row, and one group
// computes a single large table along anti-diagonals with a barrier for each.
kernel void distances(constant uchar *pattern, int m, global const uchar *words, int stride,
                      global int *out) {
    int i = (int)get_global_id(0);
    global const uchar *word = words + i * stride;
    int row[17];
    for (int k = 0; k <= m; k++) row[k] = k;
    int n = 0;
    for (; n < stride && word[n]; n++) {
        int diagonal = row[0];
        row[0] = n + 1;
        for (int k = 1; k <= m; k++) {
            int best = min(min(row[k], row[k - 1]) + 1, diagonal + (pattern[k - 1] != word[n]));
            diagonal = row[k];
            row[k] = best;
        }
    }
    out[i] = row[m];
}

kernel void diagonals(global const uchar *a, int n, global const uchar *b, int m, local int *rows,
                      global int *out) {
    int l = (int)get_local_id(0), w = n + 1;
    for (int d = 0; d <= n + m; d++) {
        local int *now = rows + d % 3 * w, *last = rows + (d + 2) % 3 * w,
                  *before = rows + (d + 1) % 3 * w;
        int i = l, k = d - l;
        if (i <= n && k >= 0 && k <= m) {
            if (i == 0)
                now[0] = k;
            else if (k == 0)
                now[i] = i;
            else
                now[i] = min(min(last[i], last[i - 1]) + 1, before[i - 1] + (a[i - 1] != b[k - 1]));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == n) *out = rows[(n + m) % 3 * w + n];
}
