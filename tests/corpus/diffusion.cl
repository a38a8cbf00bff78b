// Steps of a diffusion in a tile, between barriers. Neighbours at the border of the matrix are the
// element itself. What an item loads and stores after the loop is reached with and without steps.
#define SIDE 8

kernel void diffuse(global const float *in, global float *out, int width, int height, int steps) {
    local float now[SIDE][SIDE], next[SIDE][SIDE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * SIDE + x, row = get_group_id(1) * SIDE + y;
    int at = row * width + column;
    bool inside = row < height && column < width, done = false;
    if (inside) now[y][x] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    int left = x > 0 ? x - 1 : x, right = x < SIDE - 1 && column < width - 1 ? x + 1 : x;
    int up = max(y - 1, 0), down = row < height - 1 ? min(y + 1, SIDE - 1) : y;
    for (int k = 0; k < steps; k++) {
        done = inside;
        if (inside)
            next[y][x] = 0.5f * now[y][x] + 0.125f * (now[y][left] + now[y][right]) +
                         0.125f * (now[up][x] + now[down][x]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (done && k < steps - 1) now[y][x] = next[y][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside) out[at] = done ? next[y][x] : -now[y][x];
}
