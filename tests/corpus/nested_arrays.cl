// Multi-dimensional arrays in private, local and constant memory, pointers to rows, arrays of
// arrays as parameters, and three levels of nesting with odd extents.
// clang15-O2: -fno-slp-vectorize
constant int weights[2][3][4] = {
    {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}},
    {{-1, -2, -3, -4}, {0, 0, 1, 1}, {2, 3, 5, 7}},
};

__attribute__((noinline)) static int row_sum(const int (*rows)[5], int r) {
    int sum = 0;
    for (int k = 0; k < 5; k++) sum += rows[r][k];
    return sum;
}

kernel void private_grid(global const int *in, global int *out) {
    int grid[3][5], i = (int)get_global_id(0);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 5; c++) grid[r][c] = in[(i + r * 5 + c) % 16] * (r + 1);
    grid[i % 3][i % 5] = 1000;
    int(*p)[5] = grid + 1;
    out[i] = row_sum(grid, i % 3) + 3 * row_sum(grid, (i + 1) % 3) + (*p)[2] - p[-1][4];
}

kernel void local_cube(global int *out) {
    local int cube[2][3][4];
    size_t x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
    cube[z][y][x] = (int)(x + 10 * y + 100 * z);
    barrier(CLK_LOCAL_MEM_FENCE);
    local int(*plane)[4] = cube[1 - z];
    size_t at = (z * 3 + y) * 4 + x;
    out[at] = plane[2 - y][3 - x] * weights[z][y][x];
}
