// cl: -cl-std=CL2.0
// Integer built-ins on 8- and 16-bit types, where saturation, widening and the count of leading
// zeros depend on the width; upsample from 8 to 16 and from 16 to 32 bits.
#define NARROW(S, U, W, UW)                                                                        \
    kernel void ops_##S(global const S *a, global const S *b, global S *s, global U *u,            \
                        global W *w, global UW *uw) {                                              \
        size_t i = get_global_id(0), n = get_global_size(0);                                       \
        S x = a[i], y = b[i];                                                                      \
        U p = as_##U(x), q = as_##U(y);                                                            \
        s[0 * n + i] = add_sat(x, y);                                                              \
        s[1 * n + i] = sub_sat(x, y);                                                              \
        s[2 * n + i] = hadd(x, y);                                                                 \
        s[3 * n + i] = mul_hi(x, y);                                                               \
        s[4 * n + i] = mad_sat(x, y, (S)3);                                                        \
        s[5 * n + i] = rotate(x, y);                                                               \
        s[6 * n + i] = clz(x);                                                                     \
        s[7 * n + i] = popcount(y);                                                                \
        s[8 * n + i] = max(x, y) - clamp(y, (S)-5, (S)9);                                          \
        u[0 * n + i] = abs_diff(x, y);                                                             \
        u[1 * n + i] = add_sat(p, q);                                                              \
        u[2 * n + i] = sub_sat(p, q);                                                              \
        u[3 * n + i] = rhadd(p, q);                                                                \
        u[4 * n + i] = mul_hi(p, q);                                                               \
        u[5 * n + i] = mad_sat(p, q, (U)3);                                                        \
        u[6 * n + i] = ctz(p);                                                                     \
        u[7 * n + i] = abs(y);                                                                     \
        w[i] = upsample(x, q);                                                                     \
        uw[i] = upsample(p, q);                                                                    \
    }
NARROW(char, uchar, short, ushort)
NARROW(short, ushort, int, uint)
