// Half arithmetic to the bit (cl_khr_fp16) on random bits, with denormals, infinities and NaN: each
// operation, comparison and integral part, conversions from all types in all rounding modes, double
// to float in all modes, and vectors with fma.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
ushort bits(half h) { return isnan(h) ? (ushort)0x7e00 : as_ushort(h); }

uint hash(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Often near 1, sometimes denormal; each NaN is quiet.
half some(uint seed) {
    ushort b = (ushort)hash(seed);
    if (seed % 3 == 0) b = (b & 0x8fff) | 0x3000;
    if (seed % 7 == 0) b &= 0x83ff;
    if ((b & 0x7fff) > 0x7c00) b |= 0x200;
    return as_half(b);
}

// The sign of a zero may be that of either operand.
half least(half a, half b) { return fmin(a, b) + (half)0; }
half most(half a, half b) { return fmax(a, b) + (half)0; }

kernel void arith(global ushort *out) {
    uint i = (uint)get_global_id(0), n = (uint)get_global_size(0);
    half a = some(3 * i), b = some(3 * i + 1), c = some(3 * i + 2);
    out[i] = bits(a + b);
    out[n + i] = bits(a - b);
    out[2 * n + i] = bits(a * b);
    out[3 * n + i] = bits(fma(a, b, c));
    out[4 * n + i] = bits(-a);
    out[5 * n + i] = bits(fabs(a));
    out[6 * n + i] = bits(least(a, b));
    out[7 * n + i] = bits(most(a, b));
    out[8 * n + i] = bits(floor(a));
    out[9 * n + i] = bits(ceil(a));
    out[10 * n + i] = bits(trunc(a));
    out[11 * n + i] = bits(rint(a));
    out[12 * n + i] = bits(a / b);
    out[13 * n + i] = bits(sqrt(fabs(a)));
    out[14 * n + i] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 |
                      (a != b) << 5 | isunordered(a, b) << 6 | islessgreater(a, b) << 7 |
                      (c != c) << 8 | (a == c) << 9 | isordered(a, c) << 10;
}

#define ALL(at, x)                                                                                 \
    out[(at) * n + i] = bits(convert_half_rte(x));                                                 \
    out[((at) + 1) * n + i] = bits(convert_half_rtz(x));                                           \
    out[((at) + 2) * n + i] = bits(convert_half_rtp(x));                                           \
    out[((at) + 3) * n + i] = bits(convert_half_rtn(x));

// Numbers of all sizes; 2 to a power is computed without a rounding.
kernel void casts(global ushort *out) {
    uint i = (uint)get_global_id(0), n = (uint)get_global_size(0), h = hash(i), g = hash(~i);
    ulong both = ((ulong)g << 32) | h;
    int s = (int)h >> (g % 32);
    long l = (long)both >> (h % 64);
    uint u = h >> (g % 32);
    ulong v = both >> (h % 64);
    double power = as_double((ulong)(1023 - g % 40) << 52);
    double d = (double)s * (1.0 + (double)g * 0x1p-32) * power;
    float f = (float)d;
    ALL(0, s)
    ALL(4, l)
    ALL(8, u)
    ALL(12, v)
    ALL(16, d)
    ALL(20, f)
    ALL(24, (char)s)
    ALL(28, (ushort)u)
    ALL(32, (short)s)
    ALL(36, (uchar)u)
}

kernel void floats(global uint *out, global ulong *wide) {
    uint i = (uint)get_global_id(0), n = (uint)get_global_size(0), h = hash(i), g = hash(~i);
    double d = as_double(((ulong)((g & 0xbfffffff) | 0x30000000) << 32) | h);
    out[i] = as_uint(convert_float_rte(d));
    out[n + i] = as_uint(convert_float_rtz(d));
    out[2 * n + i] = as_uint(convert_float_rtp(d));
    out[3 * n + i] = as_uint(convert_float_rtn(d));
    half a = some(i);
    wide[i] = isnan(a) ? 1 : as_ulong((double)a);
}

kernel void vectors(global ushort *out) {
    uint i = (uint)get_global_id(0);
    half4 a = (half4)(some(i), some(i + 1), some(i + 2), some(i + 3));
    half4 b = (half4)(some(5 * i), some(5 * i + 1), some(5 * i + 2), some(5 * i + 3));
    half4 r = fma(a, b, a - b) * b + fmin(a, b);
    for (int k = 0; k < 4; k++) out[4 * i + k] = bits(r[k] + (half)0);
}
