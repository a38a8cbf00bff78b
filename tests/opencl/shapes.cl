/* shapes.cl — kernels of shapes.c: each form of access, of control flow and of meeting that
 * vectorization over work-items tells apart.
 *
 * A kernel gets what each item reads and writes, the number of items, and local memory of 4 bytes
 * for each item of a group.  Its arithmetic has one result.  `in` holds any bytes.
 */
#pragma OPENCL FP_CONTRACT OFF

#define KERNEL(name, from, to)                                                                     \
    kernel void name(global const from *in, global to *out, uint n, local uint *tile)

static ulong item(void) { return get_global_linear_id(); }
static uint local_item(void) { return (uint)get_local_linear_id(); }
static uint local_items(void) {
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

/* -------------------------------------------------------------------------------------- accesses */

KERNEL(along, uint, uint) {
    ulong i = item();
    out[i] = in[i] * 3 + (uint)((float)(in[i] & 255) * 0.5f);
}

/* An index of 32 bits. */
KERNEL(narrow, uint, uint) {
    int i = (int)item();
    out[i] = in[i] ^ 0x5555;
}

KERNEL(from_end, uint, uint) {
    ulong i = item();
    out[n - 1 - i] = in[n - 1 - i] ^ (uint)i;
}

KERNEL(bytes, uchar, short) {
    ulong i = item();
    out[i] = (short)(add_sat(in[i], (uchar)100) - (in[i] >> 1));
}

KERNEL(doubles, uchar, double) {
    ulong i = item();
    out[i] = (in[i] & 1 ? (double)in[i] : -0.5) * 0.75 + (double)(char)in[i];
}

KERNEL(longs, ulong, ulong) {
    ulong i = item();
    ulong v = in[i];
    out[i] = v * 0x9e3779b97f4a7c15UL ^ v >> (v & 63);
}

typedef struct {
    uint a, b;
} two;
typedef struct {
    ushort a, b, c;
} three;
typedef struct {
    float a, b, c, d;
} four;
typedef struct {
    uint a, b, c, d, e;
} five;

KERNEL(pairs, two, two) {
    ulong i = item();
    two v = in[i];
    out[i].a = v.b + 1;
    out[i].b = v.a - v.b;
}

KERNEL(triples, three, three) {
    ulong i = item();
    out[i].c = in[i].a;
    out[i].a = in[i].b ^ in[i].c;
    out[i].b = 7;
}

KERNEL(quads, four, four) {
    ulong i = item();
    four v = in[i];
    out[i].a = fabs(v.d);
    out[i].b = -v.c;
    out[i].c = v.b;
    out[i].d = (float)(as_uint(v.a) & 1023);
}

/* The last member is not touched, and of the last item it is not there. */
KERNEL(members, five, five) {
    ulong i = item();
    out[i].b = in[i].d;
    out[i].d = in[i].a + in[i].b;
}

/* The first member is not touched. */
KERNEL(vectors, uchar, uchar) {
    ulong i = item();
    vstore3(vload3(i, in + 1).zxy, i, out + 1);
}

KERNEL(gathered, uint, uint) {
    ulong i = item();
    out[i] = in[in[i] % n] + in[(i * 5 + 2) % n];
}

KERNEL(scattered, uint, uint) {
    ulong i = item(), to = i + 5 % n;
    out[to < n ? to : to - n] = in[i] + 1;
}

/* -------------------------------------------------------------------------------- control flow */

KERNEL(masked, uint, uint) {
    ulong i = item();
    if (in[i] & 1) out[i] = in[i] * 2 + out[i];
}

/* What other items would read is outside. */
KERNEL(shifted, uint, uint) {
    ulong i = item();
    out[i] = in[i] >> 3;
    if (i + 3 < n) out[i] += in[i + 3] & 15;
}

KERNEL(stencil, uint, uint) {
    ulong i = item();
    uint left = i > 0 ? in[i - 1] : 0, right = in[min(i + 1, (ulong)n - 1)];
    out[i] = (left >> 2) + (in[i] >> 1) + (right >> 2);
}

/* Neighbours in both directions of a plane. */
KERNEL(plane, uint, uint) {
    int x = (int)(get_global_id(0) - get_global_offset(0)), y = (int)get_global_id(1);
    int w = (int)get_global_size(0), h = (int)get_global_size(1);
    ulong i = item(), first = i - (ulong)(y * w + x);
    int up = max(y - 1, 0), right = min(x + 1, w - 1);
    out[i] = in[first + (ulong)(up * w + x)] + in[first + (ulong)(y * w + right)] * 2;
}

KERNEL(product, uint, uint) {
    ulong i = item(), x = get_global_id(0) - get_global_offset(0), w = get_global_size(0);
    uint sum = 0;
    for (uint k = 0; k < 9; k++) sum += in[(i - x + k) % n] * in[(k * w + x) % n];
    out[i] = sum;
}

KERNEL(rounds, uint, uint) {
    ulong i = item();
    uint v = in[i], sum = 0;
    for (uint k = 0; k < (v & 15); k++) {
        if ((v >> k & 5) == 5) continue;
        sum += in[(i + k) % n] >> k;
        if (sum > 0xf0000000u) break;
    }
    out[i] = sum;
}

KERNEL(returns, uint, uint) {
    ulong i = item();
    uint v = in[i];
    out[i] = v;
    if (v % 3 == 0) return;
    out[i] = v / (v % 3);
    if (v % 5 == 0) return;
    out[i] = (uint)((int)v / (int)(v % 5)) ^ (uint)i;
}

KERNEL(cases, uint, uint) {
    ulong i = item();
    uint v = in[i];
    switch (v & 0x80000007) {
    case 0: v = v * v; break;
    case 1: v += (uint)i; /* and on */
    case 2: v = rotate(v, 5u); break;
    case 5: v = popcount(v); break;
    default: v = ~v;
    }
    out[i] = v;
}

KERNEL(privately, uint, uint) {
    ulong i = item();
    uint v = in[i], own[8];
    for (uint k = 0; k < 8; k++) own[k] = v >> k;
    for (uint k = 0; k < 5; k++) own[own[k] & 7] += k;
    out[i] = own[v & 7] + own[3];
}

/* From the item's own place on, in steps of a group. */
KERNEL(strides, uint, uint) {
    uint sum = 0;
    for (uint k = local_item(); k < n; k += local_items()) sum = sum * 3 + in[k];
    out[item()] = sum;
}

/* ------------------------------------------------------------------------------------ meetings */

KERNEL(turned, uint, uint) {
    ulong i = item();
    uint l = local_item();
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[local_items() - 1 - l] + (uint)i;
}

KERNEL(halved, uint, uint) {
    ulong i = item();
    uint l = local_item();
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = local_items() / 2; s > 0; s /= 2) {
        if (l < s) tile[l] += tile[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = tile[0] + l;
}

KERNEL(scanned, uint, uint) {
    ulong i = item();
    uint l = local_item(), items = local_items();
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < items; s *= 2) {
        uint add = l >= s ? tile[l - s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = tile[l];
}

/* Values of several types and an array live over barriers. */
KERNEL(kept, uint, uint) {
    ulong i = item();
    uint l = local_item(), items = local_items(), own[4] = {1, 2, in[i], 4};
    uchar small = (uchar)in[i];
    double big = (double)(in[i] & 1023) * 0.25;
    bool odd = in[i] & 1;
    for (uint k = 0; k < 3; k++) {
        tile[l] = own[(in[i] + k) & 3] + small;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint other = tile[(l + k) % items];
        own[other & 3] ^= other;
        small = (uchar)(small + (odd ? other : 3));
        big += (double)(other & 7);
        odd ^= other > (uint)i;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = own[0] + own[1] + own[2] + own[3] + small + (uint)(big * 4) + odd;
}

KERNEL(counted, uint, uint) {
    ulong i = item();
    uint l = local_item();
    local uint counts[16];
    for (uint k = l; k < 16; k += local_items()) counts[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[in[i] & 15], in[i] >> 28);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = counts[l & 15];
}

KERNEL(collected, uint, uint) {
    ulong i = item();
    uint v = in[i] & 0xffff;
    uint sum = work_group_reduce_add(v), most = work_group_scan_inclusive_max(v);
    uint before = work_group_scan_exclusive_add(v);
    out[i] = sum + most * 3 + before * 5 + (uint)work_group_any(v == 77) +
             work_group_broadcast(v, 0, 0, 0);
}
