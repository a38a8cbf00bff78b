/* interp.c — runs one work-item: the main loop, control flow, calls, waiting and resuming.
 *
 * The state is a stack of frames and a stack of slots, both in the arena, so a work-item may stop
 * before any step and go on later.  The main loop evaluates the frequent one-lane operations itself
 * and leaves the others to interp_eval.c and interp_mem.c.  Budget and order of work-items are the
 * caller's; see interp.h for the contract and interp_impl.h for the decoded form.
 */
#include "ir/interp_impl.h"

#include <fenv.h>

enum { FIRST_SLOTS = 64, MAX_DEPTH = 512 };

/* ------------------------------------------------------------------------------- code and state */

ir_interp_code *ir_interp_code_new(ir_arena *a, const ir_module *m) {
    ir_interp_code *code = ir_new(a, ir_interp_code);
    code->arena = a;
    code->module = m;
    return code;
}

const ir_inst *ir_interp_site(const ir_interp_code *code, uint32_t site) {
    assert(site >= 1 && site <= code->sites.n);
    return code->sites.data[site - 1];
}

ir_interp *ir_interp_new(ir_arena *a, ir_interp_code *code, const ir_interp_host *host) {
    ir_interp *w = ir_new(a, ir_interp);
    w->arena = a;
    w->code = code;
    w->host = host;
    return w;
}

/* --------------------------------------------------------------------------------------- frames */

/* Slots for a frame: in the chunk of the caller, or in the next one that is large enough. */
static uint32_t find_chunk(ir_interp *w, uint32_t need) {
    uint32_t c = w->frames.n ? ir_top_frame(w)->chunk : 0;
    for (; c < w->chunks.n; c++)
        if (w->chunks.data[c].cap - w->chunks.data[c].used >= need) return c;
    uint32_t cap = w->chunks.n ? 2 * w->chunks.data[w->chunks.n - 1].cap : FIRST_SLOTS;
    if (cap < need) cap = need;
    *ir_push(w->arena, &w->chunks) = (ir_slots){
        .bits = ir_new_array(w->arena, uint64_t, cap),
        .undef = ir_new_array(w->arena, uint8_t, cap),
        .cap = cap,
    };
    return w->chunks.n - 1;
}

static void grow_moves(ir_interp *w, uint32_t need) {
    if (w->moving_cap >= need) return;
    w->moving_cap = 2 * need;
    w->moving = ir_new_array(w->arena, uint64_t, w->moving_cap);
    w->moving_undef = ir_new_array(w->arena, uint8_t, w->moving_cap);
}

static ir_frame *push_frame(ir_interp *w, ir_func *func) {
    const ir_code_func *code = ir_interp_decode(w->code, func);
    grow_moves(w, code->max_moves);
    uint32_t c = find_chunk(w, code->nslots);
    ir_slots *slots = &w->chunks.data[c];
    ir_frame *f = ir_push(w->arena, &w->frames);
    *f = (ir_frame){.code = code, .chunk = c};
    f->bits = slots->bits + slots->used;
    f->undef = slots->undef + slots->used;
    slots->used += code->nslots;
    if (code->ntemplate) {
        memcpy(f->bits, code->bits, code->ntemplate * sizeof *f->bits);
        memcpy(f->undef, code->undef, code->ntemplate);
    }
    for (uint32_t k = 0; k < code->addresses.n; k++) {
        const ir_inst *a = code->addresses.data[k];
        f->bits[code->first_address + k] = w->host->address(w->host->user, a->imm.global);
        f->undef[code->first_address + k] = 0;
    }
    return f;
}

static void pop_frame(ir_interp *w) {
    ir_frame *f = ir_top_frame(w);
    if (f->variables) w->host->release(w->host->user, f->variables);
    w->chunks.data[f->chunk].used -= f->code->nslots;
    w->frames.n--;
}

void ir_interp_start(ir_interp *w, ir_func *f, const ir_value *args) {
    for (uint32_t c = 0; c < w->chunks.n; c++) w->chunks.data[c].used = 0;
    w->frames.n = 0;
    w->trapped = false;
    ir_frame *frame = push_frame(w, f);
    uint32_t slot = frame->code->first_param;
    for (uint32_t p = 0; p < f->nparams; p++) {
        unsigned lanes = ir_lanes(f->param_val[p]->type);
        memcpy(frame->bits + slot, args[p].bits, lanes * sizeof *frame->bits);
        memcpy(frame->undef + slot, args[p].undef, lanes);
        slot += lanes;
    }
}

/* --------------------------------------------------------------------------------- control flow */

static void move_at_once(ir_interp *w, ir_frame *f, const ir_move *m, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        w->moving[k] = f->bits[m[k].from];
        w->moving_undef[k] = f->undef[m[k].from];
    }
    for (uint32_t k = 0; k < n; k++) {
        f->bits[m[k].to] = w->moving[k];
        f->undef[m[k].to] = w->moving_undef[k];
    }
}

static void take_edge(ir_interp *w, ir_frame *f, uint32_t edge) {
    const ir_edge *e = &f->code->edges.data[edge];
    f->pc = e->target;
    if (e->loop) {
        uint64_t *round = &f->bits[f->code->loops.data[e->loop].round];
        *round = e->again ? *round + 1 : 0;
    }
    if (e->n == 0) return;
    const ir_move *m = f->code->moves.data + e->first;
    if (e->parallel) {
        move_at_once(w, f, m, e->n);
        return;
    }
    for (uint32_t k = 0; k < e->n; k++) {
        f->bits[m[k].to] = f->bits[m[k].from];
        f->undef[m[k].to] = f->undef[m[k].from];
    }
}

static void take_branch(ir_interp *w, ir_frame *f, const ir_step *s) {
    if (f->undef[s->arg[0]]) ir_interp_check(w, f, s, 0);
    take_edge(w, f, s->extra + !(f->bits[s->arg[0]] & 1));
}

static void take_switch(ir_interp *w, ir_frame *f, const ir_step *s) {
    if (f->undef[s->arg[0]]) ir_interp_check(w, f, s, 0);
    const ir_case *cases = f->code->cases.data + s->extra;
    uint64_t value = f->bits[s->arg[0]];
    uint32_t low = 0, n = (uint32_t)s->mask, high = n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (cases[mid].value < value)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < n && cases[low].value == value;
    take_edge(w, f, found ? cases[low].edge : s->dst);
}

static void trap(ir_interp *w, ir_problem what, const ir_step *s) {
    w->host->problem(w->host->user, what, s->inst, 0);
    w->trapped = true;
}

/* The caller's pc moves on when the callee returns, so that it names the call until then. */
static void enter(ir_interp *w, const ir_step *s) {
    ir_func *callee = s->inst->imm.func;
    if (ir_is_declaration(callee)) {
        trap(w, IR_PROBLEM_NO_BODY, s);
        return;
    }
    if (w->frames.n >= MAX_DEPTH) {
        trap(w, IR_PROBLEM_DEPTH, s);
        return;
    }
    ir_frame *to = push_frame(w, callee), *from = to - 1;
    uint32_t slot = to->code->first_param;
    for (unsigned n = 0; n < s->inst->nargs; n++) {
        unsigned lanes = ir_lanes(ir_arg(s->inst, n)->type);
        uint32_t arg = ir_step_slot(from, s, n);
        memcpy(to->bits + slot, from->bits + arg, lanes * sizeof *to->bits);
        memcpy(to->undef + slot, from->undef + arg, lanes);
        slot += lanes;
    }
}

static void read_slots(const ir_frame *f, uint32_t slot, unsigned lanes, ir_value *out) {
    memcpy(out->bits, f->bits + slot, lanes * sizeof *f->bits);
    memcpy(out->undef, f->undef + slot, lanes);
}

static void leave(ir_interp *w, const ir_frame *f, const ir_step *s) {
    unsigned lanes = s->inst->nargs ? ir_lanes(ir_arg(s->inst, 0)->type) : 0;
    read_slots(f, s->arg[0], lanes, &w->result);
    pop_frame(w);
    if (w->frames.n) ir_interp_resume(w, &w->result);
}

/* ------------------------------------------------------------------------------------ main loop */

static bool is_group_step(const ir_step *s) {
    return ir_has_flag(s->inst, F_CONVERGENT) && s->code != IR_OP_call;
}

static bool is_memory_step(const ir_step *s) {
    return (s->code >= IR_OP_alloca && s->code <= IR_OP_fence) || ir_is_masked(s->inst);
}

/* Does the work-item wait for others here? */
static bool run_other(ir_interp *w, ir_frame *f, const ir_step *s) {
    switch (s->code) {
    case IR_OP_jmp: take_edge(w, f, s->extra); return false;
    case IR_OP_br: take_branch(w, f, s); return false;
    case IR_OP_switch: take_switch(w, f, s); return false;
    case IR_OP_call: enter(w, s); return false;
    case IR_OP_ret: leave(w, f, s); return false;
    case IR_OP_unreachable: trap(w, IR_PROBLEM_UNREACHABLE, s); return false;
    default: break;
    }
    if (is_group_step(s)) return true;
    if (ir_is_image_op((ir_op)s->code)) {
        trap(w, IR_PROBLEM_UNSUPPORTED, s);
        return false;
    }
    if (is_memory_step(s))
        ir_interp_memory(w, f, s);
    else
        ir_interp_value(w, f, s);
    f->pc++;
    return false;
}

static bool is_normal_f32(uint32_t bits) {
    return (bits & 0x7f800000u) - 0x00800000u < 0x7f000000u;
}

/* The host's arithmetic where it cannot differ: normal operands and result, to nearest even. */
static uint64_t float_op(const ir_step *s, uint64_t x, uint64_t y, bool nearest) {
    uint32_t a = (uint32_t)x, b = (uint32_t)y, r;
    float fa, fb, fr;
    memcpy(&fa, &a, sizeof fa);
    memcpy(&fb, &b, sizeof fb);
    fr = s->code == X_FMUL ? fa * fb : s->code == X_FADD ? fa + fb : fa - fb;
    memcpy(&r, &fr, sizeof r);
    if (nearest && is_normal_f32(a) && is_normal_f32(b) && is_normal_f32(r)) return r;
    if (s->code == X_FMUL) return ir_fp_mul(IR_F32, x, y);
    return s->code == X_FADD ? ir_fp_add(IR_F32, x, y) : ir_fp_sub(IR_F32, x, y);
}

static int64_t as_signed(uint64_t x, uint32_t unused_bits) { return (int64_t)(x << unused_bits); }

static uint64_t shift(const ir_step *s, uint64_t x, uint64_t by) {
    uint32_t width = s->extra;
    if (s->code == X_ASHR) return (uint64_t)(ir_sext(x, width) >> (by < width ? by : width - 1));
    if (by >= width) return 0;
    return s->code == X_SHL ? x << by : x >> by;
}

/* Runs steps of the top frame until the budget is used up or it needs more than one lane. */
static const ir_step *run_simple(ir_frame *f, uint64_t *budget, bool nearest) {
    const ir_step *s = f->code->step + f->pc;
    uint64_t *bits = f->bits, left = *budget;
    uint8_t *undef = f->undef;
    for (; left; left--, s++) {
        const uint64_t x = bits[s->arg[0]], y = bits[s->arg[1]];
        uint64_t r;
        switch (s->code) {
        case X_MOVE: r = x; break;
        case X_ADD: r = x + y; break;
        case X_SUB: r = x - y; break;
        case X_MUL: r = x * y; break;
        case X_AND: r = x & y; break;
        case X_OR: r = x | y; break;
        case X_XOR: r = x ^ y; break;
        case X_SHL:
        case X_LSHR:
        case X_ASHR: r = shift(s, x, y); break;
        case X_SEXT: r = (uint64_t)(as_signed(x, s->extra) >> s->extra); break;
        case X_EQ: r = x == y; break;
        case X_NE: r = x != y; break;
        case X_ULT: r = x < y; break;
        case X_ULE: r = x <= y; break;
        case X_SLT: r = as_signed(x, s->extra) < as_signed(y, s->extra); break;
        case X_SLE: r = as_signed(x, s->extra) <= as_signed(y, s->extra); break;
        case X_FADD:
        case X_FSUB:
        case X_FMUL: r = float_op(s, x, y, nearest); break;
        default: goto out;
        }
        const uint8_t u[2] = {undef[s->arg[0]], undef[s->arg[1]]};
        undef[s->dst] = u[0] | u[1] ? ir_interp_spread(s, (const uint64_t[2]){x, y}, u) : 0;
        bits[s->dst] = r & s->mask;
    }
out:
    f->pc = (uint32_t)(s - f->code->step);
    *budget = left;
    return s;
}

ir_run ir_interp_run(ir_interp *w, uint64_t *budget) {
    bool nearest = fegetround() == FE_TONEAREST;
    while (w->frames.n && !w->trapped) {
        ir_frame *f = ir_top_frame(w);
        const ir_step *s = run_simple(f, budget, nearest);
        if (*budget == 0) return IR_RUN_MORE;
        --*budget; /* before the step: its callbacks may set the budget to 0 */
        if (run_other(w, f, s)) return IR_RUN_BLOCKED;
    }
    return w->trapped ? IR_RUN_TRAPPED : IR_RUN_DONE;
}

/* ------------------------------------------------------------------------- waiting and going on */

static const ir_step *current_step(const ir_interp *w) {
    const ir_frame *f = ir_top_frame(w);
    return f->code->step + f->pc;
}

const ir_inst *ir_interp_at(const ir_interp *w) { return current_step(w)->inst; }

uint32_t ir_interp_site_at(const ir_interp *w) { return current_step(w)->site; }

void ir_interp_operand(const ir_interp *w, unsigned n, ir_value *out) {
    const ir_frame *f = ir_top_frame(w);
    const ir_step *s = current_step(w);
    read_slots(f, ir_step_slot(f, s, n), ir_lanes(ir_arg(s->inst, n)->type), out);
}

void ir_interp_resume(ir_interp *w, const ir_value *result) {
    ir_frame *f = ir_top_frame(w);
    const ir_step *s = current_step(w);
    if (s->inst->type != IR_VOID) {
        memcpy(f->bits + s->dst, result->bits, s->lanes * sizeof *f->bits);
        memcpy(f->undef + s->dst, result->undef, s->lanes);
    }
    f->pc++;
}

void ir_interp_result(const ir_interp *w, ir_value *out) { *out = w->result; }

/* By rounds of the loops that are around both, outermost loops first. */
static int compare_rounds(const ir_frame *a, const ir_frame *b) {
    const ir_code_loop *loop = a->code->loops.data;
    uint32_t x = a->code->loop_of[a->pc], y = b->code->loop_of[b->pc];
    int order = 0;
    while (x != y)
        if (loop[x].depth >= loop[y].depth)
            x = loop[x].parent;
        else
            y = loop[y].parent;
    for (; x; x = loop[x].parent) {
        uint64_t first = a->bits[loop[x].round], second = b->bits[loop[x].round];
        if (first != second) order = first < second ? -1 : 1;
    }
    return order;
}

int ir_interp_order(const ir_interp *a, const ir_interp *b) {
    for (uint32_t k = 0; k < a->frames.n && k < b->frames.n; k++) {
        uint32_t pa = a->frames.data[k].pc, pb = b->frames.data[k].pc;
        int rounds = compare_rounds(&a->frames.data[k], &b->frames.data[k]);
        if (rounds) return rounds;
        if (pa != pb) return pa < pb ? -1 : 1;
    }
    return (a->frames.n > b->frames.n) - (a->frames.n < b->frames.n);
}
