/* operands.c — how the arguments of a machine instruction meet the operands of its row, and what
 * register allocation has to know of it.
 *
 * All of it is read off the row: places, roles, implied registers.  Only what is more than one
 * instruction (x86_mach_kind) needs words of its own.
 */
#include "codegen/x86_64/x86.h"

static uint8_t class_of_kind(x86_kind kind) {
    static const uint8_t class[] = {
        [X86_NONE] = CG_NO_CLASS,  [X86_R8] = CLASS_GENERAL,  [X86_R16] = CLASS_GENERAL,
        [X86_R32] = CLASS_GENERAL, [X86_R64] = CLASS_GENERAL, [X86_XMM] = CLASS_VECTOR,
        [X86_YMM] = CLASS_VECTOR,  [X86_ZMM] = CLASS_VECTOR,  [X86_K] = CLASS_MASK,
        [X86_MEM] = CG_NO_CLASS,   [X86_IMM] = CG_NO_CLASS,   [X86_LABEL] = CG_NO_CLASS};
    return class[kind];
}

/* A gather of AVX2 also writes its mask, which is no result. */
static x86_binding bind_register(const x86_slot *s, unsigned next) {
    bool writes = s->role & X86_WRITE && !(s->place == X86_IN_VVVV && s->role & X86_READ);
    if (!(s->role & X86_READ)) return (x86_binding){X86_AS_RESULT, 0};
    return (x86_binding){writes ? X86_AS_TIED : X86_AS_ARG, (uint8_t)next};
}

static x86_binding bind_slot(const ir_inst *i, const x86_slot *s, unsigned next) {
    if (x86_kind_of(i) == MACH_ZERO) return (x86_binding){X86_AS_RESULT, 0};
    bool memory = s->index != X86_NONE && x86_has_memory(i);
    if (memory || s->kind == X86_NONE) return (x86_binding){X86_AS_MEMORY, (uint8_t)next};
    if (s->kind == X86_IMM && s->place == X86_IN_NOTHING) return (x86_binding){X86_AS_FIXED, 0};
    if (s->kind == X86_IMM) return (x86_binding){X86_AS_CONSTANT, (uint8_t)next};
    return bind_register(s, next);
}

static unsigned arguments_of(const ir_inst *i, x86_binding b) {
    switch (b.as) {
    case X86_AS_MEMORY: return x86_has_index(i) ? 2 : 1;
    case X86_AS_RESULT:
    case X86_AS_FIXED: return 0;
    default: return 1;
    }
}

unsigned x86_bind_operands(const ir_inst *i, x86_binding out[X86_MAX_ARGS]) {
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    unsigned next = 0;
    for (unsigned n = 0; n < shape->nargs; n++) {
        out[n] = bind_slot(i, &shape->slot[n], next);
        next += arguments_of(i, out[n]);
    }
    return next;
}

/* ---------------------------------------------------------------------------------- constraints */

const uint8_t x86_argument_registers[] = {RDI, RSI, RDX, RCX, R8, R9};

static cg_constraint in_class(uint8_t class) { return (cg_constraint){class, CG_ANY_REG}; }

static void need_memory(const ir_inst *i, const x86_slot *s, unsigned arg, cg_constraints *out) {
    if (!cg_is_constant(ir_arg(i, arg))) out->arg[arg] = in_class(CLASS_GENERAL);
    if (x86_has_index(i)) out->arg[arg + 1] = in_class(class_of_kind((x86_kind)s->index));
}

static void need_slot(const ir_inst *i, const x86_slot *s, x86_binding b, cg_constraints *out) {
    if (b.as == X86_AS_MEMORY) need_memory(i, s, b.arg, out);
    if (b.as != X86_AS_RESULT && b.as != X86_AS_ARG && b.as != X86_AS_TIED) return;
    cg_constraint place = in_class(class_of_kind((x86_kind)s->kind));
    if (s->place == X86_IN_NOTHING) place.fixed = s->fixed;
    if (b.as == X86_AS_RESULT || b.as == X86_AS_TIED) out->result = place;
    if (b.as == X86_AS_ARG || b.as == X86_AS_TIED) out->arg[b.arg] = place;
    if (b.as == X86_AS_TIED) out->tied = (int8_t)b.arg;
}

/* Registers that the row touches without naming them.  Where several are written and no operand is,
 * x86_gives_high says which one is the result. */
static void need_implied(const ir_inst *i, unsigned next, cg_constraints *out) {
    const x86_form *f = &x86_forms[x86_row_of(i)];
    static const struct {
        uint16_t bit;
        uint8_t reg;
    } implied[] = {{1u << X86_RAX, RAX}, {1u << X86_RCX, RCX}, {1u << X86_RDX, RDX}};
    const uint16_t any = 1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX;
    if (!((f->reads | f->writes) & any)) return;
    unsigned wanted = x86_gives_high(i) ? RDX : RAX;
    for (unsigned n = 0; n < sizeof implied / sizeof *implied; n++) {
        if (f->reads & implied[n].bit)
            out->arg[next++] = (cg_constraint){CLASS_GENERAL, implied[n].reg};
        if (!(f->writes & implied[n].bit)) continue;
        if (i->type != IR_VOID && implied[n].reg == wanted)
            out->result = (cg_constraint){CLASS_GENERAL, implied[n].reg};
        else
            out->clobbers[CLASS_GENERAL] |= 1u << implied[n].reg;
    }
}

/* System V: six integers or pointers in registers, from argument `first` on; a result in rax. */
static void need_call(const ir_inst *i, unsigned first, cg_constraints *out) {
    for (unsigned n = first; n < i->nargs; n++)
        out->arg[n] = (cg_constraint){CLASS_GENERAL, x86_argument_registers[n - first]};
    if (i->type != IR_VOID) out->result = (cg_constraint){CLASS_GENERAL, RAX};
    out->clobbers[CLASS_GENERAL] = X86_CALLER_SAVED;
    out->clobbers[CLASS_VECTOR] = UINT32_MAX;
    out->clobbers[CLASS_MASK] = UINT32_MAX;
}

/* Gathers and scatters clear their mask, and a gather faults if its result is its index. */
static void need_mask(const ir_inst *i, unsigned arg, cg_constraints *out) {
    enum { CLEARED = 1 };
    out->arg[arg] = in_class(CLASS_MASK);
    if (x86_kind_of(i) == MACH_MERGED) {
        out->arg[arg + 1] = out->result;
        out->tied = (int8_t)(arg + 1);
    }
    if (!(x86_forms[x86_row_of(i)].flags & X86_MASK_NEEDED)) return;
    out->arg[arg].fixed = CLEARED;
    out->clobbers[CLASS_MASK] = 1u << CLEARED;
    out->early = out->tied >= 0;
}

/* A gather of AVX2: its mask is a vector. */
static bool is_old_gather(const ir_inst *i, const x86_shape *shape) {
    bool vex = x86_forms[x86_row_of(i)].encoding == X86_VEX;
    return vex && shape->nargs == 3 && shape->slot[1].index > X86_R64;
}

static void need_old_gather(unsigned mask, cg_constraints *out) {
    enum { CLEARED = 15 };
    out->arg[mask].fixed = CLEARED;
    out->clobbers[CLASS_VECTOR] = 1u << CLEARED;
    out->early = true;
}

void x86_describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    (void)t;
    assert_at(i, i->nargs <= CG_MAX_ARGS);
    out->nargs = (uint8_t)i->nargs;
    if (i->op == IR_OP_mach_call) {
        need_call(i, 0, out);
        return;
    }
    if (x86_kind_of(i) == MACH_CALL) {
        out->arg[0] = in_class(CLASS_GENERAL);
        need_call(i, 1, out);
        return;
    }
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    unsigned next = 0;
    for (const x86_slot *s = shape->slot; s < shape->slot + shape->nargs; s++) {
        x86_binding b = bind_slot(i, s, next);
        need_slot(i, s, b, out);
        next += arguments_of(i, b);
    }
    need_implied(i, next, out);
    if (x86_kind_of(i) == MACH_SET) out->result = in_class(CLASS_GENERAL);
    if (x86_has_mask(i)) need_mask(i, next, out);
    if (is_old_gather(i, shape)) need_old_gather(next - 1, out);
    if (x86_kind_of(i) != MACH_CMOV) return;
    out->result = out->arg[next] = out->arg[next + 1] = in_class(CLASS_GENERAL);
    out->tied = (int8_t)next;
}

/* ---------------------------------------------------------------------------------------- proof */

static bool report_bad_selection(const ir_inst *i, const char *what) {
    ir_ctx *cx = i->block->func->module->cx;
    ir_text text = {.arena = &i->block->func->module->arena};
    ir_print_inst(&text, i);
    return ir_error(cx, "internal error: selection for x86-64: %s '%s': %s",
                    x86_mnemonics[x86_forms[x86_row_of(i)].mnemonic], text.data, what);
}

static bool has_class(const cg_target *t, const ir_inst *v, cg_constraint place) {
    if (place.class >= CG_MAX_CLASSES || cg_is_constant(v)) return true;
    return v->type != IR_VOID && t->class_of(t, v->type) == place.class;
}

static bool check_inst(const x86_cpu *t, const ir_inst *i) {
    cg_constraints constraints;
    if (x86_forms[x86_row_of(i)].level > t->level)
        return report_bad_selection(i, "the level lacks it");
    cg_describe(&t->base, i, &constraints);
    for (unsigned n = 0; n < i->nargs; n++)
        if (!has_class(&t->base, ir_arg(i, n), constraints.arg[n]))
            return report_bad_selection(i, "an operand of a wrong type");
    if (!has_class(&t->base, i, constraints.result))
        return report_bad_selection(i, "a result of a wrong type");
    return true;
}

bool x86_check_rows(const x86_cpu *t, const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (x86_is_mach(i) && !check_inst(t, i)) return false;
    return true;
}

/* -------------------------------------------------------------------------------------- effects */

/* An address that is only computed is no access, and constants stay what they are. */
static bool is_access(const ir_inst *i, const x86_slot *s, x86_binding b) {
    return b.as == X86_AS_MEMORY && s->bytes != X86_ADDRESS && !ir_is_const(ir_arg(i, b.arg));
}

bool x86_has_effect(const cg_target *t, const ir_inst *i) {
    (void)t;
    x86_binding bound[X86_MAX_ARGS];
    const x86_form *f = &x86_forms[x86_row_of(i)];
    const unsigned more = 1u << X86_MEMORY | 1u << X86_MXCSR;
    if (x86_kind_of(i) == MACH_CALL || ((f->reads | f->writes) & more)) return true;
    if (!x86_has_memory(i)) return false;
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    bool accesses = false;
    x86_bind_operands(i, bound);
    for (unsigned n = 0; n < shape->nargs; n++) accesses |= is_access(i, &shape->slot[n], bound[n]);
    return accesses;
}

bool x86_writes_memory(const ir_inst *i) {
    if (i->op != IR_OP_mach) return i->op == IR_OP_mach_call;
    const x86_form *f = &x86_forms[x86_row_of(i)];
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    bool writes = x86_kind_of(i) == MACH_CALL || (f->reads | f->writes) & 1u << X86_MEMORY;
    for (unsigned n = 0; n < shape->nargs; n++)
        writes |= x86_has_memory(i) && shape->slot[n].index != X86_NONE &&
                  shape->slot[n].role & X86_WRITE;
    return writes;
}

bool x86_only_reads(const cg_target *t, const ir_inst *i) {
    (void)t;
    const x86_form *f = &x86_forms[x86_row_of(i)];
    bool plain = x86_has_memory(i) && !x86_is_ordered(i) && !x86_has_lock(i);
    return plain && !((f->reads | f->writes) & 1u << X86_MXCSR) && !x86_writes_memory(i);
}

/* -------------------------------------------------------------------------------------- reloads */

/* Does the operand take argument n from a register, and could from a slot of so many bytes? */
static bool may_be_slot(const x86_slot *s, x86_binding b, unsigned n, uint32_t bytes) {
    return b.as == X86_AS_ARG && b.arg == n && s->index != X86_NONE && s->bytes <= bytes;
}

bool x86_fold_reload(const cg_target *t, ir_inst *i, unsigned n) {
    x86_binding bound[X86_MAX_ARGS];
    if (!x86_is_mach(i) || x86_kind_of(i) == MACH_CALL) return false;
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    uint32_t bytes = t->slot_of(t, ir_arg(i, n)->type);
    bool can = false;
    x86_bind_operands(i, bound);
    for (unsigned k = 0; k < shape->nargs; k++)
        can |= may_be_slot(&shape->slot[k], bound[k], n, bytes);
    if (!can || x86_has_memory(i)) return false;
    x86_set_memory(i, true);
    return true;
}

/* ------------------------------------------------------------------------------------ constants */

/* A constant of this type would be loaded into a vector register. */
static bool is_in_vectors(ir_type t) { return ir_is_vector(t) || ir_is_float(t); }

/* The argument that i reads as a constant after the code but could have in a register; -1: none.
 * A broadcast reads an integer from memory, but has it in no general register. */
static int constant_operand(const ir_inst *i) {
    x86_binding bound[X86_MAX_ARGS];
    if (!x86_is_mach(i) || !x86_has_memory(i) || x86_disp_of(i)) return -1;
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    x86_bind_operands(i, bound);
    for (unsigned n = 0; n < shape->nargs; n++) {
        bool reads = bound[n].as == X86_AS_MEMORY && ir_is_const(ir_arg(i, bound[n].arg));
        if (reads && class_of_kind((x86_kind)shape->slot[n].kind) == CLASS_VECTOR &&
            is_in_vectors(ir_arg(i, bound[n].arg)->type))
            return bound[n].arg;
    }
    return -1;
}

ir_type x86_reads_constant(const cg_target *t, const ir_inst *i) {
    (void)t;
    int n = constant_operand(i);
    return n < 0 ? IR_VOID : ir_arg(i, (unsigned)n)->type;
}

ir_inst *x86_unfold(const cg_target *t, ir_inst *i) {
    unsigned n = (unsigned)constant_operand(i);
    ir_func *f = i->block->func;
    ir_inst *c = ir_arg(i, n), *load = ir_inst_new(f, IR_OP_mach, c->type, 1);
    x86_draft d = {.row = x86_constant_load((const x86_cpu *)t, f, &c), .memory = true};
    load->imm = x86_imm_of(&d);
    load->loc = i->loc;
    ir_set_arg(load, 0, c);
    ir_insert(load, i->block, i);
    ir_set_arg(i, n, load);
    x86_set_memory(i, false);
    return load;
}
