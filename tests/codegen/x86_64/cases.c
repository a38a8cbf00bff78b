/* cases.c — operands to try a row of encodings.def with; see cases.h. */
#include "tests/codegen/x86_64/cases.h"
#include "tests/random.h"

typedef ir_vec(x86_operand) operand_list;

static bool is_register(const x86_slot *s) { return s->kind >= X86_R8 && s->kind <= X86_K; }
static bool is_vector(unsigned kind) { return kind >= X86_XMM && kind <= X86_ZMM; }

static unsigned count_of(const x86_form *f, unsigned kind) {
    if (kind == X86_K) return 8;
    return is_vector(kind) && f->encoding == X86_EVEX ? 32 : 16;
}

/* ----------------------------------------------------------------------- what an operand can be */

static void list_registers(ir_arena *a, const x86_form *f, const x86_slot *s, operand_list *out) {
    for (unsigned n = 0; n < count_of(f, s->kind); n++) *ir_push(a, out) = x86_reg(s->kind, n);
}

static void push_memory(ir_arena *a, const x86_slot *s, operand_list *out, unsigned base,
                        unsigned index, unsigned scale, int32_t disp) {
    if (s->index != X86_R64 && index == X86_NO_REG) index = 5;
    *ir_push(a, out) = x86_mem(base, index, scale, disp);
}

static void list_memory(ir_arena *a, const x86_form *f, const x86_slot *s, operand_list *out) {
    static const uint8_t special[] = {0, 4, 5, 12, 13};
    int32_t n = f->unit, e = f->broadcast ? f->broadcast : 1;
    const int32_t disps[] = {1,        -1,      127,      -128,    128,      -129,      127 * n,
                             -128 * n, 128 * n, -129 * n, 127 * e, -128 * e, INT32_MAX, INT32_MIN};
    for (unsigned b = 0; b < 16; b++) push_memory(a, s, out, b, X86_NO_REG, 0, 0);
    for (unsigned b = 0; b < sizeof special; b++) {
        for (unsigned d = 0; d < sizeof disps / sizeof *disps; d++)
            if (b == 0 || d == 1 || d == 4 || d == 6)
                push_memory(a, s, out, special[b], X86_NO_REG, 0, disps[d]);
        push_memory(a, s, out, special[b], 9, 3, 0);
        push_memory(a, s, out, special[b], 9, 1, 16);
    }
    for (unsigned i = 0; i < count_of(f, s->index); i++)
        if (s->index != X86_R64 || i != 4) push_memory(a, s, out, 3, i, 2, 0);
    push_memory(a, s, out, X86_NO_REG, 12, 2, 0x1234);
    push_memory(a, s, out, X86_NO_REG, 5, 0, 0);
    if (s->index != X86_R64) return;
    push_memory(a, s, out, X86_NO_REG, X86_NO_REG, 0, 0x1234);
    push_memory(a, s, out, X86_NO_REG, X86_NO_REG, 0, -16);
    push_memory(a, s, out, X86_RIP, X86_NO_REG, 0, 0);
    push_memory(a, s, out, X86_RIP, X86_NO_REG, 0, -0x123456);
}

static void list_immediates(ir_arena *a, const x86_slot *s, operand_list *out) {
    unsigned bits = 8 * s->bytes;
    int64_t least = -1 - (int64_t)(UINT64_MAX >> (65 - bits)), most = -1 - least;
    for (int64_t v = 0; v < 8; v++) *ir_push(a, out) = x86_imm(v);
    const int64_t more[] = {-1, 15, 16, 31, 32, 100, least, most};
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++) *ir_push(a, out) = x86_imm(more[i]);
    if (s->place == X86_IN_IMM && bits < 64) *ir_push(a, out) = x86_imm(((int64_t)1 << bits) - 1);
}

static void list_operands(ir_arena *a, const x86_form *f, const x86_slot *s, operand_list *out) {
    if (s->place == X86_IN_NOTHING) {
        *ir_push(a, out) = s->kind == X86_IMM ? x86_imm(s->fixed) : x86_reg(s->kind, s->fixed);
        return;
    }
    if (is_register(s)) list_registers(a, f, s, out);
    if (s->kind != X86_IMM && s->bytes && s->place == X86_IN_RM) list_memory(a, f, s, out);
    if (s->kind == X86_IMM) list_immediates(a, s, out);
    if (s->kind == X86_LABEL) *ir_push(a, out) = x86_target(0);
}

/* ----------------------------------------------------------------------------- cases of one row */

/* Different registers where the row has registers, a plain address where it has memory only. */
static x86_operands first_operands(const x86_form *f) {
    x86_operands o = {.mask = f->flags & X86_MASK_NEEDED ? 1 : 0};
    const x86_shape *shape = &x86_shapes[f->shape];
    for (unsigned i = 0; i < shape->nargs; i++) {
        const x86_slot *s = &shape->slot[i];
        if (s->place == X86_IN_NOTHING)
            o.arg[i] = s->kind == X86_IMM ? x86_imm(s->fixed) : x86_reg(s->kind, s->fixed);
        else if (is_register(s))
            o.arg[i] = x86_reg(s->kind, i + 1);
        else if (s->kind == X86_IMM)
            o.arg[i] = x86_imm(17);
        else if (s->kind == X86_LABEL)
            o.arg[i] = x86_target(0);
        else
            o.arg[i] = x86_mem(0, s->index == X86_R64 ? X86_NO_REG : 6, 0, 0);
    }
    return o;
}

/* Only what the encoder takes is a case: gathers refuse some registers. */
static void push_case(ir_arena *a, x86_row row, const x86_operands *o, x86_cases *out) {
    if (x86_length(row, o)) *ir_push(a, out) = (x86_case){row, *o};
}

static int memory_arg(const x86_shape *shape) {
    for (unsigned i = 0; i < shape->nargs; i++)
        if (shape->slot[i].place == X86_IN_RM && shape->slot[i].bytes) return (int)i;
    return -1;
}

static void push_masks(ir_arena *a, x86_row row, x86_operands o, x86_cases *out) {
    for (o.mask = 1; o.mask < 8; o.mask++) {
        o.zero = false;
        push_case(a, row, &o, out);
        o.zero = true;
        push_case(a, row, &o, out);
    }
}

static void push_broadcasts(ir_arena *a, x86_row row, x86_operands o, unsigned arg,
                            x86_cases *out) {
    const x86_form *f = &x86_forms[row];
    operand_list memory = {0};
    list_memory(a, f, &x86_shapes[f->shape].slot[arg], &memory);
    o.broadcast = true;
    for (uint32_t i = 0; i < memory.n; i++) {
        o.arg[arg] = memory.data[i];
        push_case(a, row, &o, out);
    }
    o.mask = 3;
    push_case(a, row, &o, out);
}

static void push_decorated(ir_arena *a, x86_row row, x86_operands o, x86_cases *out) {
    int memory = memory_arg(x86_shape_of(row));
    for (unsigned r = X86_RN; r <= X86_SAE; r++) {
        o.round = (uint8_t)r;
        push_case(a, row, &o, out);
    }
    o.round = X86_NOT_ROUNDED;
    push_masks(a, row, o, out);
    if (memory < 0) return;
    o.arg[memory] =
        x86_mem(1, x86_shape_of(row)->slot[memory].index == X86_R64 ? X86_NO_REG : 7, 0, 64);
    push_masks(a, row, o, out);
    o.lock = true;
    push_case(a, row, &o, out);
    o.lock = false;
    if (x86_forms[row].broadcast) push_broadcasts(a, row, o, (unsigned)memory, out);
}

void cases_of_row(ir_arena *a, x86_row row, x86_cases *out) {
    const x86_form *f = &x86_forms[row];
    const x86_shape *shape = x86_shape_of(row);
    const x86_operands first = first_operands(f);
    push_case(a, row, &first, out);
    for (unsigned i = 0; i < shape->nargs; i++) {
        operand_list list = {0};
        list_operands(a, f, &shape->slot[i], &list);
        x86_operands o = first;
        for (uint32_t k = 0; k < list.n; k++) {
            o.arg[i] = list.data[k];
            push_case(a, row, &o, out);
        }
    }
    push_decorated(a, row, first, out);
}

void cases_of_kinds(ir_arena *a, x86_row row, x86_cases *out) {
    x86_operands o = first_operands(&x86_forms[row]);
    int memory = memory_arg(x86_shape_of(row));
    push_case(a, row, &o, out);
    if (memory < 0 || o.arg[memory].kind == X86_MEM) return;
    o.arg[memory] = x86_mem(11, X86_NO_REG, 0, 0);
    push_case(a, row, &o, out);
}

static x86_operands random_operands(const x86_form *f, const operand_list *lists, uint64_t *seed) {
    x86_operands o = {0};
    for (unsigned i = 0; i < x86_shapes[f->shape].nargs; i++)
        o.arg[i] = lists[i].data[splitmix64(seed) % lists[i].n];
    uint64_t bits = splitmix64(seed);
    o.mask = f->flags & (X86_MASKED | X86_MASK_NEEDED) ? (uint8_t)(bits % 7 + 1) : 0;
    o.zero = f->flags & X86_ZEROED && bits & 16;
    o.broadcast = f->broadcast && bits & 32;
    return o;
}

static void change_operand(x86_operand *o, uint64_t bits) {
    switch (bits >> 8 & 7) {
    case 0: o->kind = bits >> 16 & 15; break;
    case 1: o->reg = bits >> 16 & 63; break;
    case 2: o->index = bits >> 16 & 63; break;
    case 3: o->scale = bits >> 16 & 7; break;
    case 4: o->disp = (int32_t)(bits >> 32); break;
    case 5: o->disp = (int16_t)(bits >> 32) / 16; break;
    default:
        if (o->kind == X86_IMM) o->value = (int64_t)bits >> (bits >> 16 & 63);
    }
}

static void change_one_thing(x86_operands *o, uint64_t bits) {
    switch (bits & 15) {
    case 0: o->mask = bits >> 16 & 15; break;
    case 1: o->zero = !o->zero; break;
    case 2: o->broadcast = !o->broadcast; break;
    case 3: o->round = bits >> 16 & 7; break;
    case 4: o->lock = !o->lock; break;
    default: change_operand(&o->arg[bits & 3], bits);
    }
}

static void list_all_operands(ir_arena *a, x86_row row, operand_list lists[X86_MAX_ARGS]) {
    const x86_shape *shape = x86_shape_of(row);
    for (unsigned i = 0; i < shape->nargs; i++)
        list_operands(a, &x86_forms[row], &shape->slot[i], &lists[i]);
}

void cases_at_random(ir_arena *a, x86_row row, unsigned n, uint64_t *seed, x86_cases *out) {
    operand_list lists[X86_MAX_ARGS] = {0};
    list_all_operands(a, row, lists);
    while (n--) {
        x86_operands o = random_operands(&x86_forms[row], lists, seed);
        push_case(a, row, &o, out);
    }
}

void cases_changed(ir_arena *a, x86_row row, unsigned n, uint64_t *seed, x86_cases *out) {
    operand_list lists[X86_MAX_ARGS] = {0};
    list_all_operands(a, row, lists);
    while (n--) {
        x86_operands o = random_operands(&x86_forms[row], lists, seed);
        change_one_thing(&o, splitmix64(seed));
        push_case(a, row, &o, out);
    }
}
