/* promote_uses.c — escape analysis: what a body uses the address of a buffer for.
 *
 * Offsets and casts of the address are followed.  If all other uses are accesses, then the accesses
 * of the buffer are known, and it can be moved.  Every other use has a rule and a reason, which the
 * report of promote.c shows.
 */
#include "passes/analysis/alias.h"
#include "passes/fusion/fuse_impl.h"

static bool reject(pass_address_uses *u, const char *rule, const char *why) {
    u->rule = rule;
    u->why = why;
    return false;
}

/* Gives the reason against a use that is no access. */
static bool reject_use(pass_address_uses *u, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_ptrtoint: return reject(u, "promote.integer", "converts its address to an integer");
    case IR_OP_phi:
    case IR_OP_select:
        return reject(u, "promote.chosen", "selects between its address and another one");
    case IR_OP_ptrcast_to:
    case IR_OP_ptr_space: return reject(u, "promote.generic", "queries the space of its address");
    case IR_OP_call: return reject(u, "promote.call", "passes its address to a call");
    default:
        if (ir_info(i)->rule == R_CMPI)
            return reject(u, "promote.compared", "compares its address");
        if (i->op == IR_OP_store || ir_is_atomic(i))
            return reject(u, "promote.stored", "stores its address in memory");
        return reject(u, "promote.use", "uses its address for something other than accesses");
    }
}

/* False with a reason: it is no access, or one that cannot be moved. */
static bool is_movable_access(pass_address_uses *u, const ir_inst *i, unsigned n,
                              bool allow_atomics) {
    if (!pass_is_accessed(i, n)) return reject_use(u, i);
    if (ir_is_atomic(i) && !allow_atomics)
        return reject(u, "promote.atomic", "updates it atomically");
    if (ir_info(i)->imm == I_MEM && i->imm.mem.flags & IR_MEM_VOLATILE)
        return reject(u, "promote.volatile", "has a volatile access of it");
    return true;
}

bool pass_find_address_uses(ir_inst *address, bool allow_atomics, ir_arena *scratch,
                            pass_address_uses *u) {
    *u = (pass_address_uses){0};
    *ir_push(scratch, &u->addresses) = address;
    for (uint32_t k = 0; k < u->addresses.n; k++) {
        ir_inst *from = u->addresses.data[k];
        foreach_use (use, from) {
            ir_inst *user = use->user;
            unsigned n = (unsigned)(use - user->arg);
            if (n == 0 && (user->op == IR_OP_ptradd || user->op == IR_OP_ptrcast))
                *ir_push(scratch, &u->addresses) = user;
            else if (!is_movable_access(u, user, n, allow_atomics))
                return false;
        }
    }
    return true;
}
