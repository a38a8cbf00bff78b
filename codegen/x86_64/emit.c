/* emit.c — the last step: an allocated function as bytes.
 *
 * Frame, from high to low addresses: the return address, the caller's rbp, registers of the caller
 * that are used here, then variables and slots.  They are addressed from rsp, which does not move
 * between prologue and epilogue, so that a frame can be aligned to more than the 16 bytes that rbp
 * is known to be.  Each page of a frame is touched on the way down, so that a stack which is too
 * small ends in a fault at its guard page, and no frame skips that page.
 *
 * A jump to the next block is left out, a branch to it inverted.
 */
#include "codegen/native/emit.h"
#include "codegen/x86_64/x86.h"

typedef struct {
    x86_writer *w;
    const ir_func *f;
    const cg_allocation *a;
    cg_code_order order;
    cg_frame_places places; /* from rsp */
    uint32_t frame;         /* bytes below the saved registers */
    uint8_t saved[16];
    unsigned nsaved;
    uint32_t prologue; /* bytes of code */
    uint32_t before;   /* of them before rbp is pushed */
    bool wide;         /* registers of 32 bytes or more are used */
} emitter;

/* -------------------------------------------------------------------------------------- putting */

/* A line for assemblers, which other listings leave out. */
static void direct(emitter *e, const char *directive) {
    if (e->w->unit.assembly) ir_putf(e->w->unit.listing, "    %s\n", directive);
}

/* Prints a block label where objdump prints an address. */
static void list(emitter *e, x86_row row, const x86_operands *o) {
    ir_text *out = e->w->unit.listing;
    ir_put(out, "    ");
    if (o->arg[0].kind == X86_LABEL)
        ir_putf(out, "%s .L%u", x86_mnemonics[x86_forms[row].mnemonic], (unsigned)o->arg[0].value);
    else
        x86_print(out, row, o, e->w->unit.assembly ? X86_BY_LABEL : 0);
    ir_put(out, "\n");
}

static void put(emitter *e, x86_row row, const x86_operands *o) {
    row = x86_row_for(row, o);
    bool fits = x86_encode(e->w->code, row, o);
    assert(fits && "the operands are those of the row");
    (void)fits;
    if (e->w->unit.listing) list(e, row, o);
}

static void put_label(emitter *e, uint32_t label) {
    x86_bind(e->w->code, label);
    if (e->w->unit.listing) ir_putf(e->w->unit.listing, ".L%u:\n", label);
}

static void put1(emitter *e, x86_row row, x86_operand x) {
    put(e, row, &(x86_operands){.arg = {x}});
}
static void put2(emitter *e, x86_row row, x86_operand x, x86_operand y) {
    put(e, row, &(x86_operands){.arg = {x, y}});
}

static x86_operand r64(unsigned n) { return x86_reg(X86_R64, n); }
static x86_operand at_rsp(uint32_t offset) { return x86_mem(RSP, X86_NO_REG, 0, (int32_t)offset); }

static unsigned reg_of(const emitter *e, const ir_inst *v) { return cg_reg_of(e->a, v); }

/* ---------------------------------------------------------------------------------------- frame */

enum { PAGE = 4096, UNROLLED_PAGES = 4, LARGE_ALIGN = 64, PUSHED = 8 };

/* False after a reported error. */
static bool plan_frame(emitter *e) {
    const uint32_t callee_saved = e->a->used[CLASS_GENERAL] & ~(uint32_t)X86_CALLER_SAVED;
    if (!cg_place_frame(&e->w->unit, e->f, e->a, X86_MAX_FRAME, &e->places)) return false;
    for (uint8_t r = RAX; r <= R15; r++)
        if (callee_saved >> r & 1) e->saved[e->nsaved++] = r;
    uint32_t above = 8 * e->nsaved; /* rbp and the return address are 16 together */
    e->frame = (e->places.bytes + above + 15) / 16 * 16 - above;
    return true;
}

static uint8_t dwarf_number(uint8_t reg) {
    static const uint8_t of[] = {0, 2, 1, 3, 7, 6, 4, 5};
    return reg < 8 ? of[reg] : reg;
}

static void put_prologue_inst(emitter *e, x86_row row, x86_operand x, x86_operand y) {
    x86_operands o = {.arg = {x, y}};
    e->prologue += x86_length(row, &o);
    put(e, row, &o);
}

/* Lowers rsp and touches the byte that it points to then. */
static void put_step(emitter *e, uint32_t bytes) {
    put2(e, X86_SUB_rm64_imm32, r64(RSP), x86_imm(bytes));
    put2(e, X86_OR_rm64_imm8, at_rsp(0), x86_imm(0));
}

/* r11 holds no argument, and is not kept for the caller. */
static void put_page_loop(emitter *e, uint32_t pages) {
    uint32_t next = x86_label_new(e->w->code);
    put2(e, X86_LEA_r64_m, r64(R11), x86_mem(RSP, X86_NO_REG, 0, -(int32_t)(pages * PAGE)));
    put_label(e, next);
    put_step(e, PAGE);
    put2(e, X86_CMP_rm64_r64, r64(RSP), r64(R11));
    put1(e, X86_JNE_rel32, x86_target(next));
}

/* Lowers rsp, whose byte has been touched, by steps of a page at most.  What is touched next is
 * what a call pushes, `more` bytes further down at most. */
static void put_descent(emitter *e, uint32_t bytes, uint32_t more) {
    uint32_t pages = bytes / PAGE, rest = bytes % PAGE;
    if (pages > UNROLLED_PAGES) put_page_loop(e, pages);
    for (uint32_t n = 0; pages <= UNROLLED_PAGES && n < pages; n++) put_step(e, PAGE);
    if (rest + more > PAGE)
        put_step(e, rest);
    else if (rest)
        put2(e, X86_SUB_rm64_imm32, r64(RSP), x86_imm(rest));
}

/* Aligning lowers rsp once more; where that may be far, room for it is touched before. */
static void put_frame(emitter *e) {
    bool far = e->places.align > LARGE_ALIGN;
    uint32_t more = PUSHED + (e->places.align > 16 && !far ? e->places.align : 0);
    put_descent(e, e->frame + (far ? e->places.align : 0), more);
    if (far) put2(e, X86_ADD_rm64_imm32, r64(RSP), x86_imm(e->places.align));
    if (e->places.align > 16)
        put2(e, X86_AND_rm64_imm32, r64(RSP), x86_imm(-(int64_t)e->places.align));
}

static void put_prologue(emitter *e) {
    const x86_operand none = {0};
    bool is_entry = e->f->flags & (IR_FUNC_KERNEL | IR_FUNC_EXPORT); /* called by its address */
    if (is_entry) put_prologue_inst(e, X86_ENDBR64, none, none);
    e->before = e->prologue;
    put_prologue_inst(e, X86_PUSH_r64, r64(RBP), none);
    direct(e, ".cfi_def_cfa_offset 16");
    direct(e, ".cfi_offset 6,-16");
    put_prologue_inst(e, X86_MOV_rm64_r64, r64(RBP), r64(RSP));
    direct(e, ".cfi_def_cfa_register 6");
    for (unsigned n = 0; n < e->nsaved; n++)
        put_prologue_inst(e, X86_PUSH_r64, r64(e->saved[n]), none);
    for (unsigned n = 0; n < e->nsaved; n++) {
        unsigned below = 2 * PUSHED + PUSHED * (n + 1);
        unsigned reg = dwarf_number(e->saved[n]);
        direct(e, ir_sprintf(e->w->unit.arena, ".cfi_offset %u,-%u", reg, below));
    }
    put_frame(e);
}

static void note_frame(const emitter *e) {
    cg_open_frame *x = ir_push(e->w->unit.arena, &e->w->unit.frames);
    *x = (cg_open_frame){e->f,
                         {.before = e->before, .prologue = e->prologue, .nsaved = e->nsaved},
                         .calls = e->w->unit.calls.n};
    x->bytes = 2 * PUSHED + PUSHED * e->nsaved + e->frame + e->places.align;
    for (unsigned c = 0; c < CG_CLASSES; c++)
        x->frame.registers[c] = (uint8_t)__builtin_popcount(e->a->used[c]);
    for (unsigned n = 0; n < e->nsaved; n++) {
        x->frame.saved[n].reg = dwarf_number(e->saved[n]);
        x->frame.saved[n].below = 8 * (int32_t)(n + 1);
    }
}

static void put_epilogue(emitter *e) {
    if (e->frame || e->places.align > 16) {
        x86_operand top = x86_mem(RBP, X86_NO_REG, 0, -8 * (int32_t)e->nsaved);
        put2(e, X86_LEA_r64_m, r64(RSP), top);
    }
    for (unsigned n = e->nsaved; n-- > 0;) put1(e, X86_POP_r64, r64(e->saved[n]));
    put1(e, X86_POP_r64, r64(RBP));
    put(e, X86_RET, &(x86_operands){0});
}

/* ------------------------------------------------------------------------------------- operands */

/* A constant that repeats itself is stored once, where the row of i has broadcasts. */
static x86_operand at_constant(emitter *e, const ir_inst *i, const ir_inst *c, bool *broadcast) {
    uint8_t bytes[64] = {0};
    unsigned size = ir_bits(NULL, c->type) / 8, lanes = ir_lanes(c->type), all = size * lanes;
    unsigned element = x86_forms[x86_row_of(i)].broadcast;
    assert(all <= sizeof bytes);
    for (unsigned n = 0; n < lanes; n++) {
        uint64_t bits = ir_lane_bits(c, n);
        memcpy(bytes + n * size, &bits, size);
    }
    *broadcast = element && element < all && !memcmp(bytes, bytes + element, all - element);
    uint32_t label = x86_constant(e->w->code, bytes, *broadcast ? element : all);
    return x86_at(label, x86_disp_of(i));
}

static x86_operand memory_operand(emitter *e, const ir_inst *i, unsigned arg, bool *broadcast) {
    const ir_inst *base = ir_arg(i, arg);
    int32_t disp = x86_disp_of(i);
    if (base->op == IR_OP_slot) return at_rsp(e->places.slot[cg_slot_of(base)]);
    unsigned index = x86_has_index(i) ? reg_of(e, ir_arg(i, arg + 1)) : X86_NO_REG;
    if (base->op == IR_OP_address) return x86_at(cg_label_of(&e->w->unit, base->imm.global), disp);
    if (ir_is_const(base)) return at_constant(e, i, base, broadcast);
    bool frame = base->op == IR_OP_alloca;
    if (frame) disp += (int32_t)e->places.variable[base->id];
    return x86_mem(frame ? RSP : reg_of(e, base), index, x86_scale_of(i), disp);
}

static x86_operand operand_of(emitter *e, const ir_inst *i, const x86_slot *s, x86_binding b,
                              bool *broadcast) {
    switch (b.as) {
    case X86_AS_MEMORY: return memory_operand(e, i, b.arg, broadcast);
    case X86_AS_CONSTANT: return x86_imm((int64_t)ir_arg(i, b.arg)->imm.bits);
    case X86_AS_FIXED: return x86_imm(s->fixed);
    case X86_AS_ARG: return x86_reg((x86_kind)s->kind, reg_of(e, ir_arg(i, b.arg)));
    default: return x86_reg((x86_kind)s->kind, reg_of(e, i));
    }
}

/* Returns the number of arguments that the row has taken. */
static unsigned put_row(emitter *e, const ir_inst *i) {
    x86_binding bound[X86_MAX_ARGS];
    x86_row row = x86_row_of(i);
    const x86_shape *shape = x86_shape_of(row);
    x86_operands o = {.lock = x86_has_lock(i), .broadcast = x86_has_broadcast(i)};
    unsigned taken = x86_bind_operands(i, bound);
    for (unsigned n = 0; n < shape->nargs; n++)
        o.arg[n] = operand_of(e, i, &shape->slot[n], bound[n], &o.broadcast);
    if (x86_has_mask(i)) o.mask = (uint8_t)reg_of(e, ir_arg(i, taken));
    o.zero = x86_kind_of(i) == MACH_ZEROED;
    put(e, row, &o);
    return taken;
}

/* --------------------------------------------------------------------------------- instructions */

/* Rows by condition, in the order of x86_cc. */
#define BY_CC(PRE, POST)                                                                           \
    {                                                                                              \
        X86_##PRE##O##POST, X86_##PRE##NO##POST, X86_##PRE##B##POST, X86_##PRE##AE##POST,          \
            X86_##PRE##E##POST, X86_##PRE##NE##POST, X86_##PRE##BE##POST, X86_##PRE##A##POST,      \
            X86_##PRE##S##POST, X86_##PRE##NS##POST, X86_##PRE##P##POST, X86_##PRE##NP##POST,      \
            X86_##PRE##L##POST, X86_##PRE##GE##POST, X86_##PRE##LE##POST, X86_##PRE##G##POST       \
    }

static void put_set(emitter *e, const ir_inst *i) {
    static const uint16_t rows[] = BY_CC(SET, _rm8);
    unsigned r = reg_of(e, i);
    put_row(e, i);
    put1(e, rows[x86_cc_of(i)], x86_reg(X86_R8, r));
    put2(e, X86_MOVZX_r32_rm8, x86_reg(X86_R32, r), x86_reg(X86_R8, r));
}

static void put_cmov(emitter *e, const ir_inst *i) {
    static const uint16_t narrow[] = BY_CC(CMOV, _r32_rm32), wide[] = BY_CC(CMOV, _r64_rm64);
    unsigned bits = ir_bits(e->f->module, i->type), taken = put_row(e, i);
    x86_kind kind = bits == 64 ? X86_R64 : X86_R32;
    const uint16_t *rows = bits == 64 ? wide : narrow;
    x86_operand to = x86_reg(kind, reg_of(e, i));
    x86_operand from = x86_reg(kind, reg_of(e, ir_arg(i, taken + 1)));
    bool either = x86_cc_of(i) == CC_NE_P;
    put2(e, rows[either ? CC_NE : x86_cc_of(i)], to, from);
    if (either) put2(e, rows[CC_P], to, from);
}

/* Code without VEX is slow as long as upper halves are not clear. */
static void clear_upper_halves(emitter *e) {
    if (e->wide) put(e, X86_VZEROUPPER, &(x86_operands){0});
}

static void put_host_call(emitter *e, const ir_inst *i) {
    clear_upper_halves(e);
    *ir_push(e->w->unit.arena, &e->w->unit.calls) = NULL;
    put1(e, X86_CALL_rm64, r64(reg_of(e, ir_arg(i, 0))));
}

static void put_call(emitter *e, const ir_inst *i) {
    clear_upper_halves(e);
    *ir_push(e->w->unit.arena, &e->w->unit.calls) = i->imm.func;
    put1(e, X86_CALL_rel32, x86_target(cg_label_of(&e->w->unit, i->imm.func)));
}

/* A copy of a register to itself. */
static bool has_no_code(const cg_allocation *a, const ir_inst *i) {
    bool copy = i->op == IR_OP_move;
    if (i->op == IR_OP_mach && x86_kind_of(i) == MACH_PLAIN)
        copy = x86_row_of(i) == X86_MOV_r64_rm64 && !x86_has_memory(i);
    return copy && cg_reg_of(a, i) == cg_reg_of(a, ir_arg(i, 0));
}

static void put_mach(emitter *e, const ir_inst *i) {
    switch (x86_kind_of(i)) {
    case MACH_SET: put_set(e, i); break;
    case MACH_CMOV: put_cmov(e, i); break;
    case MACH_CALL: put_host_call(e, i); break;
    default: put_row(e, i);
    }
}

/* The kind of register that holds v: X86_R64 to X86_K. */
static x86_kind kind_of(const emitter *e, const ir_inst *v) {
    const cg_target *t = &e->w->cpu->base;
    switch (t->class_of(t, v->type)) {
    case CLASS_GENERAL: return X86_R64;
    case CLASS_MASK: return X86_K;
    default: break;
    }
    unsigned bytes = x86_bytes_of(v->type);
    return bytes > 32 ? X86_ZMM : bytes > 16 ? X86_YMM : X86_XMM;
}

/* Moves of masks of up to 16 lanes are a byte shorter. */
static bool is_short_mask(const ir_inst *v) { return ir_lanes(v->type) <= 16; }

static void put_move(emitter *e, const ir_inst *i) {
    static const uint16_t rows[] = {[X86_R64] = X86_MOV_r64_rm64,
                                    [X86_XMM] = X86_VMOVAPS_x_xm,
                                    [X86_YMM] = X86_VMOVAPS_y_ym,
                                    [X86_ZMM] = X86_VMOVAPS_z_zm_e,
                                    [X86_K] = X86_KMOVQ_k_km64};
    x86_kind kind = kind_of(e, i);
    x86_row row = rows[kind];
    if (kind == X86_XMM && e->w->cpu->level < X86_V3) row = X86_MOVAPS_x_xm;
    if (kind == X86_K && is_short_mask(i)) row = X86_KMOVW_k_km16;
    put2(e, row, x86_reg(kind, reg_of(e, i)), x86_reg(kind, reg_of(e, ir_arg(i, 0))));
}

/* The row that stores a register, or loads it. */
static x86_row transfer_row(const emitter *e, const ir_inst *v, bool load) {
    const x86_cpu *t = e->w->cpu;
    bool is_short = is_short_mask(v);
    switch (kind_of(e, v)) {
    case X86_R64: return load ? X86_MOV_r64_rm64 : X86_MOV_rm64_r64;
    case X86_K:
        if (is_short) return load ? X86_KMOVW_k_km16 : X86_KMOVW_m16_k;
        return load ? X86_KMOVQ_k_km64 : X86_KMOVQ_m64_k;
    default: break;
    }
    unsigned bytes = x86_transfer_bytes(v->type);
    return load ? x86_vector_load(t, bytes) : x86_vector_store(t, bytes);
}

/* Stores a value to its slot, or loads it from there. */
static void put_transfer(emitter *e, const ir_inst *v, uint32_t slot, bool load) {
    x86_operand memory = at_rsp(e->places.slot[slot]), reg = x86_reg(kind_of(e, v), reg_of(e, v));
    put2(e, transfer_row(e, v, load), load ? reg : memory, load ? memory : reg);
}

/* ---------------------------------------------------------------------------------------- jumps */

static void put_jump(emitter *e, x86_row row, const ir_block *to) {
    put1(e, row, x86_target(e->order.label[to->id]));
}

static void put_jmp(emitter *e, const ir_block *to, const ir_block *next) {
    to = e->order.target[to->id];
    if (to != next) put_jump(e, X86_JMP_rel32, to);
}

/* Not equal, or not ordered: two jumps to one place. */
static void put_double_branch(emitter *e, const ir_block *taken, const ir_block *other,
                              const ir_block *next) {
    put_jump(e, X86_JNE_rel32, taken);
    put_jump(e, X86_JP_rel32, taken);
    put_jmp(e, other, next);
}

static void put_branch(emitter *e, const ir_inst *i, const ir_block *next) {
    static const uint16_t rows[] = BY_CC(J, _rel32);
    const ir_block *taken = e->order.target[i->block->succ[0]->id];
    const ir_block *other = e->order.target[i->block->succ[1]->id];
    x86_cc cc = x86_cc_of(i);
    put_row(e, i);
    if (cc == CC_NE_P) {
        put_double_branch(e, taken, other, next);
    } else if (cc == CC_E_NP) {
        put_double_branch(e, other, taken, next);
    } else if (taken == next) {
        put_jump(e, rows[x86_negate(cc)], other);
    } else {
        put_jump(e, rows[cc], taken);
        put_jmp(e, other, next);
    }
}

/* ------------------------------------------------------------------------------------- function */

static void put_inst(emitter *e, const ir_inst *i, const ir_block *next) {
    if (has_no_code(e->a, i)) return;
    cg_note_line(&e->w->unit, e->f, i);
    switch (i->op) {
    case IR_OP_mach: put_mach(e, i); break;
    case IR_OP_mach_call: put_call(e, i); break;
    case IR_OP_mach_br: put_branch(e, i, next); break;
    case IR_OP_move: put_move(e, i); break;
    case IR_OP_spill: put_transfer(e, ir_arg(i, 0), cg_slot_of(i), false); break;
    case IR_OP_reload: put_transfer(e, i, cg_slot_of(i), true); break;
    case IR_OP_jmp: put_jmp(e, i->block->succ[0], next); break;
    case IR_OP_ret:
        clear_upper_halves(e);
        put_epilogue(e);
        break;
    case IR_OP_unreachable: put(e, X86_UD2, &(x86_operands){0}); break;
    default: assert_at(i, i->op == IR_OP_phi || i->op == IR_OP_alloca || i->op == IR_OP_reg_in);
    }
}

/* Is it a loop for few items, or inside of one? */
static bool is_rare(const ir_loop *l) {
    while (l && !(l->header->loop_hint & IR_LOOP_ENDS)) l = l->parent;
    return l;
}

/* A loop that has no other in it lies in as few lines as possible. */
static void place_loop(emitter *e, const ir_loops *loops, uint32_t n) {
    const ir_loop *l = loops->of[e->order.block[n]->id];
    if (!l || l->header != e->order.block[n] || l->child || is_rare(l)) return;
    while (n < e->order.n && ir_in_loop(loops, e->order.block[n], l)) n++;
    if (n < e->order.n) x86_keep_together(e->w->code, e->order.label[e->order.block[n]->id]);
}

static void put_blocks(emitter *e) {
    const ir_loops *loops = ir_loop_tree((ir_func *)e->f);
    for (uint32_t n = 0; n < e->order.n; n++) {
        const ir_block *b = e->order.block[n],
                       *next = n + 1 < e->order.n ? e->order.block[n + 1] : NULL;
        place_loop(e, loops, n);
        put_label(e, e->order.label[b->id]);
        foreach_inst (i, b) {
            ir_look_at(e->f->module->cx, i);
            put_inst(e, i, next);
        }
    }
}

/* Does an instruction write a register of 32 bytes or more? */
static bool uses_wide(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_is_vector(i->type) && x86_bytes_of(i->type) > 16) return true;
    return false;
}

static void list_name(cg_unit *u, const char *name) {
    if (!u->listing) return;
    if (u->assembly) ir_put(u->listing, "    .p2align 4\n");
    cg_put_symbol(u->listing, name);
    ir_put(u->listing, u->assembly ? ":\n    .cfi_startproc\n" : ":\n");
}

bool x86_emit(cg_unit *u, ir_func *f, const cg_allocation *a) {
    x86_writer *w = (x86_writer *)u;
    emitter e = {.w = w, .f = f, .a = a, .wide = uses_wide(f)};
    e.order = cg_order_blocks(u, f, a, has_no_code);
    if (!plan_frame(&e)) return false;
    x86_align(w->code, 16);
    x86_bind(w->code, cg_label_of(u, f));
    list_name(&w->unit, f->name);
    cg_begin_prologue(u, f, &e.order);
    put_prologue(&e);
    cg_end_prologue(u);
    note_frame(&e);
    put_blocks(&e);
    direct(&e, ".cfi_endproc");
    w->unit.frames.data[w->unit.frames.n - 1].end = w->unit.calls.n;
    return true;
}
