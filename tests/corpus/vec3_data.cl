// vec3 as stored data: arrays of float3 and int3 with 16-byte stride, structs that hold them,
// packed triples through vload3/vstore3 with odd offsets, and 3-component arguments and locals.
typedef struct {
    float3 position;
    float mass;
    int3 cell;
} particle;

kernel void make_particles(global const float *xyz, float3 shift, global particle *out) {
    size_t i = get_global_id(0);
    particle p;
    p.position = vload3(i, xyz) + shift;
    p.mass = (float)i * 0.5f;
    p.cell = convert_int3_rtn(p.position);
    out[i] = p;
}

kernel void read_particles(global const particle *in, global float *xyz, global int *cells,
                           global int *sizes) {
    size_t i = get_global_id(0);
    float3 weighted = in[i].position.zyx * in[i].mass;
    vstore3(weighted, i, xyz + 1);
    int3 c = in[i].cell;
    cells[i] = c.x + 10 * c.y + 100 * c.z;
    if (i == 0) {
        sizes[0] = sizeof(particle);
        sizes[1] = sizeof(float3);
        sizes[2] = sizeof(char3);
        sizes[3] = sizeof(long3);
    }
}

kernel void triples(global const uchar *rgb, global uchar3 *wide, global short *sums) {
    size_t i = get_global_id(0);
    local short3 tile[4];
    uchar3 v = vload3(i, rgb + 1);
    tile[get_local_id(0)] = convert_short3(v) * (short)2;
    barrier(CLK_LOCAL_MEM_FENCE);
    short3 t = tile[3 - get_local_id(0)];
    wide[i] = v.zxy;
    sums[i] = t.x + t.y - t.z;
}

// Padding bytes are undefined after the kernels above: clear them, so that whole buffers compare
// equal.
kernel void clear_padding(global uint *particles, global uchar *wide, uint count) {
    size_t i = get_global_id(0);
    if (i < count) {
        particles[12 * i + 3] = particles[12 * i + 11] = 0;
        for (int k = 5; k < 8; k++) particles[12 * i + k] = 0;
    }
    wide[4 * i + 3] = 0;
}
