/* plan_contents.c — what buffers of a plan hold before its first launch. */
#include "ir/eval.h"
#include "runtime/plan/plan.h"

static uint64_t iota_value(const rt_buffer_decl *b, uint64_t i) {
    ir_kind k = b->elem.kind;
    if (!ir_is_float(k)) return i * b->factor;
    return ir_fp_mul(k, ir_fp_from_int(k, i, false, IR_RTE), b->factor);
}

/* xorshift64*: small, the same everywhere.  Floats lie in [0, 1), integers use all bits. */
static uint64_t random_value(const rt_buffer_decl *b, uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    uint64_t r = *state * UINT64_C(2685821657736338717);
    ir_kind k = b->elem.kind;
    if (!ir_is_float(k)) return r >> (64 - rt_elem_bits(b->elem));
    unsigned digits = k == IR_F16 ? 11 : k == IR_F32 ? 24 : 53;
    return ir_fp_ldexp(k, ir_fp_from_int(k, r >> (64 - digits), false, IR_RTE), -(int)digits);
}

static void fill_buffer(const rt_buffer_decl *b, char *data) {
    size_t size = rt_elem_size(b->elem);
    uint64_t state = b->factor * 2 + 1;
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t v = b->init == RT_INIT_IOTA     ? iota_value(b, i)
                     : b->init == RT_INIT_RANDOM ? random_value(b, &state)
                                                 : b->list[b->list_count == 1 ? 0 : i];
        memcpy(data + i * size, &v, size);
    }
}

const void *rt_initial_bytes(spvf_plan *plan, ir_arena *scratch, const rt_buffer_decl *b) {
    uint64_t size = b->count * rt_elem_size(b->elem);
    size_t got;
    if (b->init == RT_INIT_NONE) return NULL;
    if (b->init != RT_INIT_FILE) {
        char *data = ir_alloc(scratch, size);
        fill_buffer(b, data);
        return data;
    }
    char *data = rt_read_file(plan->context, scratch, rt_plan_path(plan, scratch, b->path), &got);
    if (got < size)
        rt_plan_fail(plan, b->at, "'%s' has %zu bytes, the buffer %llu", b->path, got,
                     (unsigned long long)size);
    return data;
}
