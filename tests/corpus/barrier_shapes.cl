// Barriers in control flow of all shapes: do-while, break and continue, early return, nested
// conditions, conditions that come from memory, values of many types and private arrays kept over
// them, first and last in the kernel, in helpers, and between divergent code; 2-D and odd groups.
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

kernel void first_and_last(global int *out) {
    BARRIER;
    out[get_global_id(0)] = (int)get_local_id(0) * 3;
    BARRIER;
}

kernel void do_while(global const int *in, global int *out, int n) {
    local int tile[48];
    int l = (int)get_local_id(0), size = (int)get_local_size(0), x = in[get_global_id(0)], i = 0;
    do {
        tile[l] = x;
        BARRIER;
        x += tile[(l + 1) % size] >> i;
        BARRIER;
    } while (++i < n);
    out[get_global_id(0)] = x;
}

kernel void break_continue(global const int *in, global int *out, global const int *what) {
    local int tile[48];
    int l = (int)get_local_id(0), size = (int)get_local_size(0), x = in[get_global_id(0)];
    for (int i = 0; i < 8; i++) {
        if (what[i] == 1) continue;
        tile[l] = x + i;
        BARRIER;
        int y = tile[size - 1 - l];
        if (what[i] == 2) break;
        BARRIER;
        x = (x ^ y) + (l & 1 ? i : -i);
    }
    out[get_global_id(0)] = x;
}

kernel void early(global const int *in, global int *out, int limit) {
    local int tile[48];
    int l = (int)get_local_id(0), g = (int)get_group_id(0);
    out[get_global_id(0)] = -1;
    if (g >= limit) return;
    tile[l] = in[get_global_id(0)];
    BARRIER;
    if (l >= 7) return;
    out[get_global_id(0)] = tile[l] + tile[l + 1];
}

static int shifted(local int *tile, int l, int size, int x) {
    BARRIER;
    tile[l] = x;
    BARRIER;
    return tile[(l + 2) % size];
}

kernel void nested(global const int *in, global int *out, global const int *what) {
    local int tile[48];
    int l = (int)get_local_id(0), size = (int)get_local_size(0), x = in[get_global_id(0)];
    if (what[0] < 3) {
        x = shifted(tile, l, size, x);
        if (what[1] == 1) {
            for (int i = what[2]; i > 0; i--)
                for (int j = 0; j < i; j++) x = shifted(tile, l, size, x + j);
        } else {
            x += shifted(tile, l, size, l);
        }
        BARRIER;
        if (l % 3 == 0) x = -x;
    }
    out[get_global_id(0)] = x;
}

kernel void kinds(global const int *in, global int *out) {
    local int tile[48];
    int l = (int)get_local_id(0), x = in[get_global_id(0)], a[5];
    char c = (char)x;
    short s = (short)(x * 77);
    long w = (long)x << 33;
    float f = (float)x * 0.5f;
    bool b = x & 1;
    int3 v = (int3)(x, l, 7);
    uchar8 u = (uchar8)(uchar)x;
    local int *place = tile + l;
    for (int i = 0; i < 5; i++) a[i] = x * i;
    a[l % 5] += 100;
    BARRIER;
    *place = a[(l + 1) % 5];
    BARRIER;
    out[get_global_id(0)] = c + s + (int)(w >> 33) + (int)f + b + v.x + v.z + u.s3 + tile[l] + a[l % 5];
}

kernel void divergent(global const int *in, global int *out) {
    local int tile[48];
    int l = (int)get_local_id(0), size = (int)get_local_size(0), x = in[get_global_id(0)];
    for (int i = 0; i < (l & 3); i++) x = x * 5 + i;
    tile[l] = x;
    BARRIER;
    for (int i = l; i < size; i += 3) {
        if (tile[i] & 1) continue;
        x ^= tile[i];
        if (x > 100000) break;
    }
    BARRIER;
    if (l < 5)
        tile[l] = x;
    BARRIER;
    out[get_global_id(0)] = x + tile[l % 5];
}

kernel void plane(global const int *in, global int *out) {
    local int tile[5][7];
    int x = (int)get_local_id(0), y = (int)get_local_id(1);
    size_t g = get_global_id(1) * get_global_size(0) + get_global_id(0);
    for (int k = 0; k < 3; k++) {
        tile[y][x] = in[g] + k;
        BARRIER;
        out[g] = tile[4 - y][6 - x] * 2 + (k ? out[g] : 0);
        BARRIER;
    }
}
