/* emit.c — allocated functions as instructions of the template machine.
 *
 * Frame, from high to low addresses: the return address, the caller's fp, registers of the caller
 * that are used here, then variables and slots, which are addressed from sp.  No page of the stack
 * is touched on the way down; a target whose stacks end in guard pages has to do that
 * (x86_64/emit.c).
 *
 * A jump to the next block is left out, a branch to it inverted.
 */
#include "codegen/native/emit.h"

#include "codegen/template/template.h"

enum { MOST_BYTES = 1 << 20, FIRST_KEPT = 9, LAST_KEPT = 12, PUSHED = 16 };

typedef struct {
    cg_unit *unit;
    template_code *code;
    const ir_func *f;
    const cg_allocation *a;
    cg_code_order order;
    cg_frame_places places; /* from sp */
    uint8_t kept[LAST_KEPT - FIRST_KEPT + 1];
    unsigned nkept;
} emitter;

/* -------------------------------------------------------------------------------------- putting */

static void put(emitter *e, template_word w) {
    if (e->unit->listing) template_print(e->unit->listing, &w, NULL);
    template_put(e->code, &w);
}

static void put_to(emitter *e, template_word w, uint32_t label, const char *name) {
    if (e->unit->listing) template_print(e->unit->listing, &w, name);
    template_put_to(e->code, &w, label);
}

static void put_to_block(emitter *e, template_word w, const ir_block *to) {
    char name[24];
    uint32_t label = e->order.label[to->id];
    snprintf(name, sizeof name, ".L%u", label);
    put_to(e, w, label, name);
}

static void put_label(emitter *e, uint32_t label) {
    template_bind(e->code, label);
    if (e->unit->listing) ir_putf(e->unit->listing, ".L%u:\n", label);
}

/* ---------------------------------------------------------------------------------------- frame */

/* Bytes between fp and sp. */
static uint32_t frame_bytes(const emitter *e) {
    return (e->places.bytes + 8 * e->nkept + 15) / 16 * 16;
}

static void put_kept(emitter *e, template_row row) {
    for (unsigned n = 0; n < e->nkept; n++) {
        template_word w = {row, .width = 3, .number = -8 * (int32_t)(n + 1)};
        w.result = row == TEMPLATE_LD ? e->kept[n] : 0;
        w.a = row == TEMPLATE_LD ? TEMPLATE_FP : e->kept[n];
        w.b = row == TEMPLATE_LD ? 0 : TEMPLATE_FP;
        put(e, w);
    }
}

static void put_prologue(emitter *e) {
    const unsigned fp = TEMPLATE_FP, sp = TEMPLATE_SP;
    const int32_t align = (int32_t)e->places.align;
    uint32_t from = template_here(e->code);
    put(e, (template_word){TEMPLATE_PUSH, .width = 3, .a = fp, .b = TEMPLATE_LR});
    put(e, (template_word){TEMPLATE_MOV, .width = 3, .result = fp, .a = sp});
    if (frame_bytes(e))
        put(e, (template_word){TEMPLATE_ADDI, 3, sp, sp, .number = -(int32_t)frame_bytes(e)});
    put_kept(e, TEMPLATE_ST);
    cg_open_frame *x = ir_push(e->unit->arena, &e->unit->frames);
    *x = (cg_open_frame){.func = e->f,
                         .frame = {.nsaved = e->nkept, .prologue = template_here(e->code) - from},
                         .bytes = PUSHED + frame_bytes(e) + e->places.align,
                         .calls = e->unit->calls.n};
    for (unsigned n = 0; n < e->nkept; n++) {
        x->frame.saved[n].reg = e->kept[n];
        x->frame.saved[n].below = 8 * (int32_t)(n + 1);
    }
    if (align > 16) put(e, (template_word){TEMPLATE_ANDI, 3, sp, sp, .number = -align});
}

static void put_epilogue(emitter *e) {
    const unsigned fp = TEMPLATE_FP;
    put_kept(e, TEMPLATE_LD);
    put(e, (template_word){TEMPLATE_MOV, .width = 3, .result = TEMPLATE_SP, .a = fp});
    put(e, (template_word){TEMPLATE_POP, .width = 3, .a = fp, .b = TEMPLATE_LR});
    put(e, (template_word){TEMPLATE_RET, .width = 3});
}

/* --------------------------------------------------------------------------------- instructions */

/* The register of operand x; variables are at distances from sp. */
static unsigned register_of(const emitter *e, const ir_inst *x) {
    return x->op == IR_OP_alloca ? TEMPLATE_SP : cg_reg_of(e->a, x);
}

/* What a variable adds to a distance. */
static int32_t place_in_frame(const emitter *e, const ir_inst *x) {
    return x->op == IR_OP_alloca ? (int32_t)e->places.variable[x->id] : 0;
}

static void put_constant(emitter *e, template_word w, const ir_inst *c) {
    char text[24];
    uint64_t bits = ir_is_const(c) ? c->imm.bits : 0; /* any value will do for undef */
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
    put_to(e, w, template_constant(e->code, bits), text);
}

static void put_mach(emitter *e, const ir_inst *i) {
    const template_row row = template_row_of(i);
    const char *shape = template_forms[row].shape;
    template_word w = {row, template_width_of(i), .number = template_disp_of(i)};
    unsigned *const reg[] = {&w.a, &w.b, &w.c};
    unsigned n = 0;
    if (*shape != '-') w.result = cg_reg_of(e->a, i);
    for (unsigned k = 0; shape[k + 1]; k++) {
        const ir_inst *x = ir_arg(i, k);
        switch (shape[k + 1]) {
        case 'i': w.number = ir_is_const(x) ? (int32_t)x->imm.bits : 0; break;
        case 'c': put_constant(e, w, x); return;
        case 'g': put_to(e, w, cg_label_of(e->unit, x->imm.global), x->imm.global->name); return;
        case 'm': w.number += place_in_frame(e, x); /* fallthrough */
        default: *reg[n++] = register_of(e, x);
        }
    }
    if (row == TEMPLATE_CALLR) *ir_push(e->unit->arena, &e->unit->calls) = NULL;
    put(e, w);
}

static void put_call(emitter *e, const ir_inst *i) {
    *ir_push(e->unit->arena, &e->unit->calls) = i->imm.func;
    put_to(e, (template_word){TEMPLATE_CALL, .width = 3}, cg_label_of(e->unit, i->imm.func),
           i->imm.func->name);
}

/* A value to its slot, or back. */
static void put_transfer(emitter *e, const ir_inst *v, uint32_t slot, bool back) {
    const bool floats = template_target.class_of(&template_target, v->type) == TEMPLATE_FLOAT;
    const unsigned reg = cg_reg_of(e->a, v);
    template_word w = {.width = 3, .number = (int32_t)e->places.slot[slot]};
    if (back) {
        w.row = floats ? TEMPLATE_FLD : TEMPLATE_LD;
        w.result = reg;
        w.a = TEMPLATE_SP;
    } else {
        w.row = floats ? TEMPLATE_FST : TEMPLATE_ST;
        w.a = reg;
        w.b = TEMPLATE_SP;
    }
    put(e, w);
}

/* A copy of a register to itself. */
static bool has_no_code(const cg_allocation *a, const ir_inst *i) {
    return i->op == IR_OP_move && cg_reg_of(a, i) == cg_reg_of(a, ir_arg(i, 0));
}

static void put_move(emitter *e, const ir_inst *i) {
    const bool floats = template_target.class_of(&template_target, i->type) == TEMPLATE_FLOAT;
    put(e, (template_word){.row = floats ? TEMPLATE_FMOV : TEMPLATE_MOV,
                           .width = 3,
                           .result = cg_reg_of(e->a, i),
                           .a = cg_reg_of(e->a, ir_arg(i, 0))});
}

static void put_jmp(emitter *e, const ir_block *to, const ir_block *next) {
    to = e->order.target[to->id];
    if (to != next) put_to_block(e, (template_word){TEMPLATE_JMP, .width = 3}, to);
}

static void put_branch(emitter *e, const ir_inst *i, const ir_block *next) {
    const ir_block *taken = e->order.target[i->block->succ[0]->id];
    const ir_block *other = e->order.target[i->block->succ[1]->id];
    template_word w = {template_row_of(i), .width = 3, .a = cg_reg_of(e->a, ir_arg(i, 0))};
    if (taken == next) {
        w.row = TEMPLATE_BF;
        put_to_block(e, w, other);
    } else {
        put_to_block(e, w, taken);
        put_jmp(e, other, next);
    }
}

static void put_inst(emitter *e, const ir_inst *i, const ir_block *next) {
    if (has_no_code(e->a, i)) return;
    cg_note_line(e->unit, e->f, i);
    switch (i->op) {
    case IR_OP_mach: put_mach(e, i); break;
    case IR_OP_mach_call: put_call(e, i); break;
    case IR_OP_mach_br: put_branch(e, i, next); break;
    case IR_OP_move: put_move(e, i); break;
    case IR_OP_spill: put_transfer(e, ir_arg(i, 0), cg_slot_of(i), false); break;
    case IR_OP_reload: put_transfer(e, i, cg_slot_of(i), true); break;
    case IR_OP_jmp: put_jmp(e, i->block->succ[0], next); break;
    case IR_OP_ret: put_epilogue(e); break;
    case IR_OP_unreachable: put(e, (template_word){TEMPLATE_TRAP, .width = 3}); break;
    default: assert(i->op == IR_OP_phi || i->op == IR_OP_alloca || i->op == IR_OP_reg_in);
    }
}

bool template_emit(cg_unit *u, ir_func *f, const cg_allocation *a) {
    emitter e = {.unit = u, .code = ((template_writer *)u)->code, .f = f, .a = a};
    if (!cg_place_frame(u, f, a, MOST_BYTES, &e.places)) return false;
    e.order = cg_order_blocks(u, f, a, has_no_code);
    for (uint8_t r = FIRST_KEPT; r <= LAST_KEPT; r++)
        if (a->used[TEMPLATE_GENERAL] >> r & 1) e.kept[e.nkept++] = r;
    template_bind(e.code, cg_label_of(u, f));
    if (u->listing) ir_putf(u->listing, "%s:\n", f->name);
    cg_begin_prologue(u, f, &e.order);
    put_prologue(&e);
    cg_end_prologue(u);
    for (uint32_t n = 0; n < e.order.n; n++) {
        const ir_block *b = e.order.block[n],
                       *next = n + 1 < e.order.n ? e.order.block[n + 1] : NULL;
        put_label(&e, e.order.label[b->id]);
        foreach_inst (i, b) {
            ir_look_at(f->module->cx, i);
            put_inst(&e, i, next);
        }
    }
    u->frames.data[u->frames.n - 1].end = u->calls.n;
    return true;
}
