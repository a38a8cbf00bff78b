// A separable blur over images with local memory: halo loads through a clamping sampler, weights in
// a constant buffer, a barrier, a bounds check. Compiled only.
constant sampler_t edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void blur_rows(read_only image2d_t in, write_only image2d_t out, constant float *weights,
                      int radius, local float4 *row) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    row[l + radius] = read_imagef(in, edge, (int2)(x, y));
    if (l < radius) {
        row[l] = read_imagef(in, edge, (int2)(x - radius, y));
        row[l + n + radius] = read_imagef(in, edge, (int2)(x + n, y));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = (float4)(0.0f);
    for (int k = -radius; k <= radius; k++) sum += row[l + radius + k] * weights[abs(k)];
    if (x < get_image_width(out) && y < get_image_height(out)) write_imagef(out, (int2)(x, y), sum);
}
