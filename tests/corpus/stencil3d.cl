// Seven-point stencil in three dimensions with Dirichlet borders, marching along z with the planes
// above and below in registers, against a plain version.
kernel void march(global const float *in, global float *out, int nx, int ny, int nz) {
    int x = (int)get_global_id(0) + 1, y = (int)get_global_id(1) + 1;
    if (x >= nx - 1 || y >= ny - 1) return;
    int plane = nx * ny, at = y * nx + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < nz - 1; z++) {
        at += plane;
        float above = in[at + plane];
        out[at] = below + above + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] - 6.0f * here;
        below = here;
        here = above;
    }
}

kernel void plain(global const float *in, global float *out) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), z = (int)get_global_id(2);
    int nx = (int)get_global_size(0), ny = (int)get_global_size(1), nz = (int)get_global_size(2);
    int at = (z * ny + y) * nx + x;
    float r = -1.0f;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
        r = in[at - nx * ny] + in[at + nx * ny] + in[at - 1] + in[at + 1] + in[at - nx] +
            in[at + nx] - 6.0f * in[at];
    out[at] = r;
}
