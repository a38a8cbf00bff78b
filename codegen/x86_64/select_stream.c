/* select_stream.c — stores past the caches, for memory that is written and not read again soon.
 *
 * Such stores (movntps) are not in the order of others, so a function that has any ends with a
 * fence.  That is enough for what a launch has written; within a function, others may wait for what
 * an atomic operation or a fence says, or a call may.  A function with one of these stores as
 * usual.
 *
 * Only whole vector registers are stored that way, at addresses that are known to be aligned; the
 * instructions demand that.
 */
#include "codegen/x86_64/select.h"

enum { LEAST_BYTES = 16 };

bool x86_is_stream(const ir_inst *i) {
    if (i->op != IR_OP_store || !(i->imm.mem.flags & IR_MEM_NONTEMPORAL)) return false;
    ir_type t = ir_arg(i, 0)->type;
    if (!ir_is_vector(t) || ir_is_bool(t)) return false;
    return x86_bytes_of(t) >= LEAST_BYTES && 1u << i->imm.mem.align >= x86_bytes_of(t);
}

x86_row x86_stream_row(const x86_cpu *t, unsigned bytes) {
    if (t->level < X86_V3) return X86_MOVNTPS_m128_x;
    return bytes > 32   ? X86_VMOVNTPS_m512_z_e
           : bytes > 16 ? X86_VMOVNTPS_m256_y
                        : X86_VMOVNTPS_m128_x;
}

static bool may_be_waited_for(const ir_inst *i) {
    return ir_is_atomic(i) || i->op == IR_OP_fence || i->op == IR_OP_call ||
           i->op == IR_OP_host_call;
}

bool x86_begin_streams(ir_func *f) {
    bool streams = false, waits = false;
    foreach_block (b, f)
        foreach_inst (i, b) {
            streams |= x86_is_stream(i);
            waits |= may_be_waited_for(i);
        }
    if (!streams || !waits) return streams;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (x86_is_stream(i)) i->imm.mem.flags &= (uint8_t)~IR_MEM_NONTEMPORAL;
    return false;
}

void x86_end_streams(ir_func *f) {
    ir_builder b;
    ir_builder_init(&b, f);
    foreach_block (end, f) {
        if (end->last->op != IR_OP_ret) continue;
        ir_before(&b, end->last);
        x86_build(&b, &(x86_draft){.row = X86_SFENCE});
    }
}
