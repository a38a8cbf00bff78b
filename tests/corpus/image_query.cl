// Image queries (width, height, depth, dimensions, channel type and order) and other kinds of
// image: 1D, 1D buffer, 3D and 2D arrays. Compiled only.
kernel void describe(read_only image2d_t a, read_only image3d_t b, read_only image1d_t c,
                     read_only image2d_array_t d, global int *out) {
    out[0] = get_image_width(a);
    out[1] = get_image_height(a);
    out[2] = get_image_channel_data_type(a);
    out[3] = get_image_channel_order(a);
    int2 da = get_image_dim(a);
    int4 db = get_image_dim(b);
    out[4] = da.x + da.y;
    out[5] = db.x + db.y * db.z;
    out[6] = get_image_depth(b);
    out[7] = get_image_width(c);
    out[8] = (int)get_image_array_size(d);
}

kernel void gather(read_only image1d_buffer_t table, read_only image3d_t volume,
                   read_only image2d_array_t layers, global float *out) {
    const sampler_t nearest =
        CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int i = (int)get_global_id(0);
    float4 t = read_imagef(table, i);
    float4 v = read_imagef(volume, nearest, (int4)(i, i / 2, i / 4, 0));
    float4 l = read_imagef(layers, nearest, (int4)(i, 0, i & 3, 0));
    out[i] = t.x + v.y + l.z;
}
