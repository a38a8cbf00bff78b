/* promote_uses.c — where the address of a buffer goes.
 *
 * Offsets and casts of the address are followed.  If all other uses are accesses, all accesses are
 * known, and the buffer can be moved.
 */
#include "passes/analysis/alias.h"
#include "passes/fusion/fuse_impl.h"

static bool refuse(pass_address_uses *u, const char *rule, const char *why) {
    u->rule = rule;
    u->why = why;
    return false;
}

static bool is_volatile(const ir_inst *i) {
    if (ir_info(i)->imm == I_MEM) return i->imm.mem.flags & IR_MEM_VOLATILE;
    return false;
}

static bool is_atomic(const ir_inst *i) {
    return ir_info(i)->rule == R_ATOMIC || ir_info(i)->rule == R_ATOMIC_STORE;
}

/* Says what i does with an address that it does not access. */
static bool refuse_use(pass_address_uses *u, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_ptrtoint: return refuse(u, "promote.integer", "makes an integer of its address");
    case IR_OP_phi:
    case IR_OP_select:
        return refuse(u, "promote.chosen", "chooses between its address and another");
    case IR_OP_ptrcast_to:
    case IR_OP_ptr_space: return refuse(u, "promote.generic", "asks where its address leads");
    case IR_OP_call: return refuse(u, "promote.call", "passes its address to a call");
    default:
        if (ir_info(i)->rule == R_CMPI)
            return refuse(u, "promote.compared", "compares its address");
        if (i->op == IR_OP_store || is_atomic(i))
            return refuse(u, "promote.stored", "stores its address in memory");
        return refuse(u, "promote.use", "uses its address for something else");
    }
}

/* False with a reason: it is no access, or one that cannot be moved. */
static bool is_access(pass_address_uses *u, const ir_inst *i, unsigned n) {
    if (!pass_is_accessed(i, n)) return refuse_use(u, i);
    if (is_atomic(i) && !u->atomics) return refuse(u, "promote.atomic", "updates it atomically");
    return !is_volatile(i) || refuse(u, "promote.volatile", "has a volatile access of it");
}

static bool follows(const ir_inst *user, unsigned n) {
    return n == 0 && (user->op == IR_OP_ptradd || user->op == IR_OP_ptrcast);
}

bool pass_find_address_uses(ir_inst *address, ir_arena *scratch, pass_address_uses *u) {
    u->addresses.n = 0;
    *ir_push(scratch, &u->addresses) = address;
    for (uint32_t k = 0; k < u->addresses.n; k++) {
        ir_inst *from = u->addresses.data[k];
        foreach_use (use, from) {
            unsigned n = (unsigned)(use - use->user->arg);
            if (follows(use->user, n))
                *ir_push(scratch, &u->addresses) = use->user;
            else if (!is_access(u, use->user, n))
                return false;
        }
    }
    return true;
}
