// subgroups.cl: items of blocks of 16 or 32 exchange values, in sub-groups that are as large, or in
// local memory if sub-groups have one item.  `block` is the size of blocks.

#define SIZED(size) kernel __attribute__((intel_reqd_sub_group_size(size))) void

// The value of another item of the block.
static uint exchange(uint v, uint other, local uint *part) {
    part[get_local_id(0)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = part[other];
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
}

// From sums within sub-groups, the sums within the block.
static uint add_before(uint sum, uint block, local uint *part) {
    uint i = get_local_id(0);
    for (uint n = get_max_sub_group_size(); n < block; n *= 2) {
        uint last = exchange(sum, (i & ~n) | (n - 1), part); // of the half before this one
        if (i & n) sum += last;
    }
    return sum;
}

// Shares of the sum of the block.
#define SHARES(width, size)                                                                        \
    SIZED(size) shares##width##_##size(uint block, global const float *x, global float *out,       \
                                       local uint *part) {                                         \
        uint g = get_global_id(0), i = get_local_id(0);                                            \
        float sum = sub_group_reduce_add(x[g]);                                                    \
        for (uint n = size; n < width; n *= 2)                                                     \
            sum += as_float(exchange(as_uint(sum), i ^ n, part));                                  \
        out[g] = x[g] / sum;                                                                       \
    }
SHARES(16, 1)
SHARES(16, 16)
SHARES(32, 1)
SHARES(32, 32)

// Sums of the elements of the block up to that of the item.
#define SCAN(width, size)                                                                          \
    SIZED(size) scan##width##_##size(uint block, global const uint *x, global uint *out,           \
                                     local uint *part) {                                           \
        uint g = get_global_id(0);                                                                 \
        out[g] = add_before(sub_group_scan_inclusive_add(x[g]), width, part);                      \
    }
SCAN(16, 1)
SCAN(16, 16)
SCAN(32, 1)
SCAN(32, 32)

// Each item mixes its number with those of items whose ids differ from its own in one bit.
#define MIX(width, size)                                                                           \
    SIZED(size) mix##width##_##size(uint block, global const uint *x, global uint *out,            \
                                    local uint *part) {                                            \
        uint g = get_global_id(0), i = get_local_id(0), v = x[g];                                  \
        for (uint bit = 1; bit < width; bit *= 2) {                                                \
            uint other = bit < size ? sub_group_shuffle_xor(v, bit) : exchange(v, i ^ bit, part);  \
            v = rotate(v, 5u) ^ (other * 0x9e3779b1u);                                             \
        }                                                                                          \
        out[g] = v;                                                                                \
    }
MIX(16, 1)
MIX(16, 16)
MIX(32, 1)
MIX(32, 32)

// Elements below a limit come first in the block, each part in its order.
#define PARTITION(width, size)                                                                     \
    SIZED(size) partition##width##_##size(uint block, global const uint *x, global uint *out,      \
                                          local uint *part) {                                      \
        uint g = get_global_id(0), i = get_local_id(0), v = x[g], lane = i % width;                \
        bool small = v < 500;                                                                      \
        uint4 bits = sub_group_ballot(small);                                                      \
        uint up_to = add_before(sub_group_ballot_inclusive_scan(bits), width, part);               \
        uint all = size == width ? sub_group_ballot_bit_count(bits)                                \
                                 : exchange(up_to, i | (width - 1), part);                         \
        out[g - lane + (small ? up_to - 1 : all + lane - up_to)] = v;                              \
    }
PARTITION(16, 1)
PARTITION(16, 16)
PARTITION(32, 1)
PARTITION(32, 32)
