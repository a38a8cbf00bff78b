// Transposition through a local tile with one column of padding against bank conflicts, several
// rows for each item, on a matrix whose sides are not multiples of the tile.
#define TILE 8
#define ROWS 2
kernel void transpose(global const uint *in, global uint *out, int width, int height) {
    local uint tile[TILE][TILE + 1];
    int bx = (int)get_group_id(0) * TILE, by = (int)get_group_id(1) * TILE;
    int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    for (int r = 0; r < TILE; r += ROWS)
        if (bx + lx < width && by + ly + r < height)
            tile[ly + r][lx] = in[(by + ly + r) * width + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < TILE; r += ROWS)
        if (by + lx < height && bx + ly + r < width)
            out[(bx + ly + r) * height + by + lx] = tile[lx][ly + r];
}
