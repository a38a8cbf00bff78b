// Debug information from every producer: source lines, inlined helpers, local variables, struct
// members and lexical blocks. It may be skipped, but the results must not change.
// clang15-O0: -g
// clang15-O2: -g
// clang22-O2: -g -mllvm --spv-emit-nonsemantic-debug-info
// clang22-O2: -mllvm --spirv-ext=+SPV_KHR_non_semantic_info
typedef struct {
    int lower, upper;
} interval;

static interval widen(interval v, int by) {
    interval r = v;
    r.lower -= by;
    r.upper += by;
    return r;
}

__attribute__((noinline)) static int length_of(interval v) { return v.upper - v.lower; }

kernel void measure(global const int2 *in, global int *out, int rounds) {
    local int longest;
    size_t i = get_global_id(0);
    if (get_local_id(0) == 0) longest = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    interval v = {in[i].x, in[i].y};
    for (int k = 0; k < rounds; k++) {
        int by = k & 1 ? 2 : 1;
        v = widen(v, by);
    }
    int length = length_of(v);
    atomic_max(&longest, length);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = length * 100 + longest;
}
