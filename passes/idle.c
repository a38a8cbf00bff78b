/* idle.c — which passes have nothing to do in a function.
 *
 * A pass that has found nothing to do in a function finds nothing again before something changes
 * the function.  Lists of passes repeat many of them, and a kernel that has been optimized is
 * optimized again when it is compiled for a launch, which may know more than the module.  So each
 * function counts its changes, and remembers for each pass after which change it found nothing.
 *
 * A change is what a pass says, and whatever else moves the versions of the function on.  A change
 * that does neither costs no more than what that pass would have improved.
 *
 * Passes of the standard pipeline ask a target only what is the same for a CPU and for none, so
 * what was found without a target holds for a CPU, too.
 */
#include "passes/idle.h"

struct ir_idle {
    uint32_t changes;
    uint32_t state;  /* of the function when `changes` was right */
    uint32_t pass[]; /* the changes, + 1, after which it found nothing; 0: never */
};

uint32_t pass_state_of(const ir_func *f) { return f->cfg_version + f->ssa_version; }

bool pass_is_idle(const ir_func *f, uint32_t pass) {
    const struct ir_idle *idle = f->idle;
    return idle && idle->state == pass_state_of(f) && idle->pass[pass] == idle->changes + 1;
}

static size_t idle_bytes(void) { return sizeof(struct ir_idle) + pass_count * sizeof(uint32_t); }

void pass_note_run(ir_func *f, uint32_t pass, uint32_t before, bool changed) {
    struct ir_idle *idle = f->idle;
    if (!idle) f->idle = idle = ir_alloc(&f->module->arena, idle_bytes());
    idle->changes += changed || before != pass_state_of(f) || before != idle->state;
    idle->state = pass_state_of(f);
    if (!changed) idle->pass[pass] = idle->changes + 1;
}

void pass_forget_idle(ir_func *f) {
    if (f->idle) f->idle->changes++;
}

void pass_copy_idle(ir_func *copy, const ir_func *from) {
    if (!from->idle || from->idle->state != pass_state_of(from)) return;
    copy->idle = ir_dup(&copy->module->arena, from->idle, idle_bytes());
    copy->idle->state = pass_state_of(copy);
}
