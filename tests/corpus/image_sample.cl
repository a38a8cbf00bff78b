// Image sampling: literal samplers with normalised and unnormalised coordinates, linear filtering,
// the addressing modes, and a sampler passed as an argument. Compiled only.
kernel void zoom(read_only image2d_t in, write_only image2d_t out, sampler_t chosen, float2 scale,
                 float2 centre) {
    const sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
    const sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
    const sampler_t mirror =
        CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
    int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    float2 p = (convert_float2(at) + 0.5f) * scale - centre;
    float4 a = read_imagef(in, linear, p);
    float4 b = read_imagef(in, border, convert_float2(at) * 0.5f);
    float4 c = read_imagef(in, mirror, p * 3.0f);
    float4 d = read_imagef(in, chosen, p);
    write_imagef(out, at, 0.25f * (a + b + c + d));
}
