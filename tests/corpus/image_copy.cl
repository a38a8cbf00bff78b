// Images: sampler-less and sampled reads of 2D float, int and uint images, writes, and image
// arguments with access qualifiers. Compiled only.
constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void flip(read_only image2d_t in, write_only image2d_t out, int width) {
    int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    float4 pixel = read_imagef(in, nearest, (int2)(width - 1 - at.x, at.y));
    write_imagef(out, at, pixel.zyxw);
}

kernel void invert(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    uint4 pixel = read_imageui(in, at);
    write_imageui(out, at, (uint4)(255u - pixel.xyz, pixel.w));
}

kernel void to_buffer(read_only image2d_t in, global int4 *out, int pitch) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    out[y * pitch + x] = read_imagei(in, (int2)(x, y));
}
