// The same buffer passed for several arguments: in place updates, a buffer that is input and output
// at once, overlapping parts of one buffer, and loads that stores may change.
kernel void add_into(global int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    int x = a[i];
    a[i] = x + 1;
    out[i] = x + b[i];
    a[i] = a[i] * 2;
}

kernel void halves(global int *data, uint n) {
    uint i = (uint)get_global_id(0);
    global int *low = data, *high = data + n;
    low[i] = high[i] + 1;
    high[i] = low[i] * 3;
}

kernel void bytes_and_words(global uint *words, global uchar *bytes) {
    size_t i = get_global_id(0);
    uint before = words[i];
    bytes[4 * i + 1] = 0xff;
    uint after = words[i];
    words[i] = before + after;
}
