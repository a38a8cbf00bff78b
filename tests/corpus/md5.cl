// MD5 of one-block messages with the round function chosen by a switch, tables in constant memory,
// and rotation amounts that vary from step to step.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
constant uchar shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

constant uchar round_of[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};

static uint table(uint i) { return (uint)(fabs(sin((double)(i + 1))) * 4294967296.0); }

kernel void make_table(global uint *t) { t[get_global_id(0)] = table((uint)get_global_id(0)); }

kernel void md5(global const uint *blocks, constant uint *t, global uint4 *digests) {
    size_t i = get_global_id(0);
    global const uint *m = blocks + 16 * i;
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (uint k = 0; k < 64; k++) {
        uint f, g;
        switch (round_of[k]) {
        case 0:
            f = (b & c) | (~b & d);
            g = k;
            break;
        case 1:
            f = (d & b) | (~d & c);
            g = 5 * k + 1;
            break;
        case 2:
            f = b ^ c ^ d;
            g = 3 * k + 5;
            break;
        default:
            f = c ^ (b | ~d);
            g = 7 * k;
            break;
        }
        f += a + t[k] + m[g & 15];
        a = d;
        d = c;
        c = b;
        b += rotate(f, (uint)shifts[k / 16 * 4 + k % 4]);
    }
    digests[i] = (uint4)(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}
