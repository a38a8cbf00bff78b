// Game of Life on a torus: one cell for each item, and a bit-parallel version with one 32-bit word
// of cells for each item; several generations alternate buffers.
// clang15-O2: -fno-vectorize -fno-slp-vectorize
kernel void step_cells(global const uchar *in, global uchar *out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int w = (int)get_global_size(0), h = (int)get_global_size(1), alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = alive == 3 || (alive == 2 && in[y * w + x]);
}

static void add_bit(uint3 *count, uint bit) {
    uint carry = count->x & bit;
    count->x ^= bit;
    count->z |= count->y & carry;
    count->y ^= carry;
}

// Rows of exactly 32 cells; the counter keeps two bits and an overflow that says "four or more".
kernel void step_rows(global const uint *in, global uint *out) {
    int y = (int)get_global_id(0), h = (int)get_global_size(0);
    uint up = in[(y + h - 1) % h], here = in[y], down = in[(y + 1) % h];
    uint3 count = (uint3)(0);
    add_bit(&count, rotate(up, 1u));
    add_bit(&count, up);
    add_bit(&count, rotate(up, 31u));
    add_bit(&count, rotate(here, 1u));
    add_bit(&count, rotate(here, 31u));
    add_bit(&count, rotate(down, 1u));
    add_bit(&count, down);
    add_bit(&count, rotate(down, 31u));
    out[y] = count.y & ~count.z & (count.x | here);
}

kernel void pack(global const uchar *cells, global uint *rows) {
    uint y = (uint)get_global_id(0), r = 0;
    for (uint x = 0; x < 32; x++) r |= (uint)cells[y * 32 + x] << x;
    rows[y] = r;
}
