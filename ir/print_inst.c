/* print_inst.c — the text of one instruction: names, operands, literals, what imm holds, flags.
 *
 * Names.  A first walk over the function gives every value that needs one its printed name: the
 * first value of a name keeps it, later ones get the first free "name.N"; unnamed values are
 * numbered in the order in which they print.  Blocks likewise, in a name space of their own.
 *
 * Literals have no type where ir_operand_type knows it.  Constants print so that they
 * read back to the same bits; equal lanes print as splat(x).
 */
#include "ir/eval.h"
#include "ir/text.h"

typedef struct {
    const char *name; /* or NULL: numbered */
    uint32_t number;
} printed_name;

struct text_printer {
    ir_text *out;
    const ir_func *f; /* NULL: an instruction that nothing ties to a function */
    const ir_module *m;
    printed_name *values; /* by id */
    printed_name *blocks; /* by id */
    uint32_t nvalues, nblocks;
};

/* --------------------------------------------------------------------------------------- naming */

/* A taken name; names of one hash are chained. */
typedef struct taken taken;
struct taken {
    const char *name;
    uint32_t suffix; /* the last one tried */
    taken *next;
};

static taken *find_taken(const ir_map *map, uint64_t key, const char *name) {
    taken *t = ir_map_get(map, key);
    while (t && strcmp(t->name, name) != 0) t = t->next;
    return t;
}

/* True when the name was free; it is not any more. */
static bool take_name(ir_arena *a, ir_map *map, const char *name, taken **entry) {
    uint64_t key = ir_hash(0, name, strlen(name));
    *entry = find_taken(map, key, name);
    if (*entry) return false;
    taken *t = ir_new(a, taken);
    *t = (taken){.name = name, .next = ir_map_get(map, key)};
    ir_map_set(a, map, key, t);
    *entry = t;
    return true;
}

static const char *unique_name(ir_arena *a, ir_map *map, const char *name) {
    taken *base, *other;
    if (take_name(a, map, name, &base)) return name;
    const char *candidate;
    do candidate = ir_sprintf(a, "%s.%u", name, ++base->suffix);
    while (!take_name(a, map, candidate, &other));
    return candidate;
}

static printed_name name_value(text_printer *p, ir_map *map, const ir_inst *i, uint32_t *unnamed) {
    const char *name = ir_name_of(p->f, i);
    if (i->op == IR_OP_param && p->f->param[i->imm.index].name)
        name = p->f->param[i->imm.index].name;
    if (!name) return (printed_name){.number = (*unnamed)++};
    return (printed_name){.name = unique_name(p->out->arena, map, name)};
}

static void name_values(text_printer *p) {
    const ir_func *f = p->f;
    ir_map map = {0};
    uint32_t unnamed = 0;
    for (uint32_t i = 0; i < f->nparams; i++)
        p->values[f->param_val[i]->id] = name_value(p, &map, f->param_val[i], &unnamed);
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (i->type != IR_VOID && i->id < p->nvalues)
                p->values[i->id] = name_value(p, &map, i, &unnamed);
        }
}

static void name_blocks(text_printer *p) {
    ir_map map = {0};
    uint32_t unnamed = 0;
    foreach_block (b, p->f) {
        if (b->id >= p->nblocks) continue;
        if (b->name)
            p->blocks[b->id].name = unique_name(p->out->arena, &map, b->name);
        else
            p->blocks[b->id].number = unnamed++;
    }
}

text_printer *text_printer_new(ir_text *out, const ir_func *f) {
    text_printer *p = ir_new(out->arena, text_printer);
    *p = (text_printer){.out = out, .f = f};
    if (!f) return p;
    p->m = f->module;
    p->nvalues = f->next_id;
    p->nblocks = f->next_block;
    p->values = ir_new_array(out->arena, printed_name, p->nvalues);
    p->blocks = ir_new_array(out->arena, printed_name, p->nblocks);
    name_values(p);
    name_blocks(p);
    return p;
}

static void put_numbered(ir_text *out, const char *sigil, uint32_t number) {
    ir_put(out, sigil);
    text_put_number(out, number);
}

void text_print_value_name(text_printer *p, const ir_inst *i) {
    if (i->id >= p->nvalues)
        ir_put(p->out, "%?"); /* not made by this function */
    else if (p->values[i->id].name)
        text_put_name(p->out, '%', p->values[i->id].name);
    else
        put_numbered(p->out, "%", p->values[i->id].number);
}

void text_print_label(text_printer *p, const ir_block *b) {
    if (b->id >= p->nblocks)
        ir_put(p->out, "?");
    else if (p->blocks[b->id].name)
        text_put_name(p->out, 0, p->blocks[b->id].name);
    else
        put_numbered(p->out, "b", p->blocks[b->id].number);
}

/* ------------------------------------------------------------------------------------- literals */

static void put_signed(ir_text *out, int64_t v) {
    if (v < 0) ir_put(out, "-");
    text_put_number(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void text_print_lane(ir_text *out, ir_type elem, uint64_t bits) {
    ir_kind k = ir_kind_of(elem);
    char number[40];
    if (k == IR_I1)
        ir_put(out, bits ? "true" : "false");
    else if (ir_is_int(elem))
        put_signed(out, ir_sext(bits, ir_bits(NULL, elem)));
    else if (ir_is_float(elem))
        ir_putn(out, number, ir_fp_print(k, bits, number));
    else if (bits == 0)
        ir_put(out, "null");
    else
        ir_putf(out, "0x%llx", (unsigned long long)bits);
}

void text_print_lanes(ir_text *out, ir_type t, const uint64_t *lanes) {
    unsigned n = ir_lanes(t), same = 1;
    while (same < n && lanes[same] == lanes[0]) same++;
    unsigned shown = same == n ? 1 : n;
    if (n > 1) ir_put(out, same == n ? "splat(" : "<");
    for (unsigned i = 0; i < shown; i++) {
        if (i) ir_put(out, ", ");
        text_print_lane(out, ir_elem(t), lanes[i]);
    }
    if (n > 1) ir_put(out, same == n ? ")" : ">");
}

/* ------------------------------------------------------------------------------------- operands */

static void put_type(text_printer *p, ir_type t) {
    if (p->m || (!ir_is_aggregate(t) && !ir_is_opaque(t)))
        ir_print_type(p->out, p->m, t);
    else
        ir_put(p->out, "?");
}

/* `known`: the type that a reader expects here. */
static void put_operand(text_printer *p, const ir_inst *v, ir_type known) {
    if (!v) {
        ir_put(p->out, "?"); /* only in messages about broken functions */
        return;
    }
    bool literal = ir_is_const(v) || v->op == IR_OP_undef;
    if (literal && v->type != known) {
        put_type(p, v->type);
        ir_put(p->out, " ");
    }
    if (ir_is_const(v))
        text_print_lanes(p->out, v->type, ir_is_vector(v->type) ? v->imm.lanes : &v->imm.bits);
    else if (v->op == IR_OP_undef)
        ir_put(p->out, "undef");
    else if (v->op == IR_OP_address)
        text_put_name(p->out, '@', v->imm.global->name);
    else if (v->op == IR_OP_slot)
        ir_putf(p->out, "slot %u", (unsigned)v->imm.bits);
    else
        text_print_value_name(p, v);
}

static void put_operands(text_printer *p, const ir_inst *i, const char *separator) {
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_type known = p->m ? ir_operand_type(p->m, (ir_op)i->op, i->type, n) : IR_VOID;
        ir_put(p->out, n ? ", " : separator);
        put_operand(p, ir_arg(i, n), known);
    }
}

static void put_label(text_printer *p, const char *before, const ir_block *b) {
    ir_put(p->out, before);
    text_print_label(p, b);
}

static void put_phi(text_printer *p, const ir_inst *i) {
    ir_put(p->out, " [");
    for (unsigned n = 0; n < i->nargs; n++) {
        if (n) ir_put(p->out, ", ");
        if (i->block && n < i->block->npred) put_label(p, "", i->block->pred[n]);
        ir_put(p->out, ": ");
        put_operand(p, ir_arg(i, n), i->type);
    }
    ir_put(p->out, "]");
}

static void put_switch(text_printer *p, const ir_inst *i) {
    ir_block *const *succ = i->block ? i->block->succ : NULL;
    unsigned nsucc = i->block ? i->block->nsucc : 0;
    ir_put(p->out, " ");
    put_operand(p, ir_arg(i, 0), IR_VOID);
    if (nsucc) put_label(p, ", ", succ[0]);
    ir_put(p->out, " [");
    for (unsigned n = 1; n < i->nargs; n++) {
        if (n > 1) ir_put(p->out, ", ");
        put_operand(p, ir_arg(i, n), ir_arg(i, 0)->type);
        if (n < nsucc) put_label(p, ": ", succ[n]);
    }
    ir_put(p->out, "]");
}

static void put_call(text_printer *p, const ir_inst *i) {
    ir_put(p->out, " ");
    text_put_name(p->out, '@', i->imm.func ? i->imm.func->name : "?");
    put_operands(p, i, "(");
    ir_put(p->out, i->nargs ? ")" : "()");
}

static void put_string_and_operands(text_printer *p, const ir_inst *i) {
    const char *s = i->imm.string ? i->imm.string : "";
    ir_put(p->out, " ");
    text_put_quoted(p->out, s, strlen(s));
    put_operands(p, i, ", ");
}

/* ------------------------------------------------------------------------ what follows operands */

static void put_word(ir_text *out, const text_word *table, uint32_t value) {
    const char *word = text_word_of(table, value);
    if (word)
        ir_putf(out, " %s", word);
    else
        ir_putf(out, " %u", value);
}

/* Bits that have no word print as one number. */
static void put_bits_and_rest(ir_text *out, const text_word *table, uint32_t bits) {
    uint32_t known = 0;
    for (const text_word *w = table; w->word; w++) known |= w->bits;
    text_put_bits(out, table, bits);
    if (bits & ~known) ir_putf(out, " 0x%x", bits & ~known);
}

static void put_semantics(ir_text *out, uint32_t semantics) {
    const uint32_t order = IR_SEM_ACQUIRE | IR_SEM_RELEASE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST;
    if (!(semantics & order)) ir_put(out, " relaxed");
    put_bits_and_rest(out, text_semantics, semantics);
}

static void put_sync(ir_text *out, const ir_inst *i) {
    if (i->op == IR_OP_barrier) put_word(out, text_scopes, i->imm.sync.exec);
    put_word(out, text_scopes, i->imm.sync.scope);
    put_semantics(out, i->imm.sync.semantics);
    if (i->op != IR_OP_atomic_cmpxchg) return;
    ir_put(out, " unequal");
    put_semantics(out, i->imm.sync.unequal);
}

static void put_group(ir_text *out, const ir_inst *i) {
    static const char *const words[] = {" reduce", " inclusive", " exclusive", " clustered "};
    put_word(out, text_scopes, i->imm.group.scope);
    unsigned op = i->imm.group.op;
    if ((op || text_is_scan((ir_op)i->op)) && op <= IR_GROUP_CLUSTERED) ir_put(out, words[op]);
    if (op == IR_GROUP_CLUSTERED) text_put_number(out, UINT64_C(1) << (i->imm.group.log_size & 63));
    if (!i->imm.group.uniform) ir_put(out, " nonuniform");
}

static void put_mask(ir_text *out, const ir_inst *i) {
    ir_put(out, " [");
    for (unsigned n = 0; i->imm.mask && n < ir_lanes(i->type); n++) {
        if (n) ir_put(out, ", ");
        if (i->imm.mask[n] == 255)
            ir_put(out, "_");
        else
            text_put_number(out, i->imm.mask[n]);
    }
    ir_put(out, "]");
}

static void put_mem(ir_text *out, const ir_inst *i) {
    ir_put(out, " align ");
    text_put_number(out, UINT64_C(1) << (i->imm.mem.align & 63));
    text_put_bits(out, text_mem_flags, i->imm.mem.flags);
}

static void put_var(text_printer *p, const ir_inst *i) {
    ir_put(p->out, " ");
    put_type(p, i->imm.var ? i->imm.var->type : IR_VOID);
    ir_put(p->out, " align ");
    text_put_number(p->out, i->imm.var ? i->imm.var->align : 0);
}

static void put_round(ir_text *out, const ir_inst *i) {
    if (i->imm.round.mode != text_default_round((ir_op)i->op))
        put_word(out, text_rounds, i->imm.round.mode);
    if (i->imm.round.sat) ir_put(out, " sat");
}

static void put_imm(text_printer *p, const ir_inst *i) {
    switch (ir_info(i)->imm) {
    case I_DIM: put_numbered(p->out, " ", i->imm.dim); break;
    case I_MEM: put_mem(p->out, i); break;
    case I_VAR: put_var(p, i); break;
    case I_MASK: put_mask(p->out, i); break;
    case I_ROUND: put_round(p->out, i); break;
    case I_SYNC: put_sync(p->out, i); break;
    case I_GROUP: put_group(p->out, i); break;
    case I_IMAGE: put_bits_and_rest(p->out, text_image_operands, i->imm.image.operands); break;
    case I_WORD:
        ir_put(p->out, " ");
        text_put_number(p->out, i->imm.bits);
        break;
    default: break; /* printed with the operands */
    }
}

/* --------------------------------------------------------------------------------- instructions */

static void put_labels(text_printer *p, const ir_block *b, const char *before) {
    for (unsigned n = 0; b && n < b->nsucc; n++) put_label(p, n ? ", " : before, b->succ[n]);
}

static void put_body(text_printer *p, const ir_inst *i) {
    const ir_block *b = i->block;
    switch (i->op) {
    case IR_OP_phi: put_phi(p, i); return;
    case IR_OP_switch: put_switch(p, i); return;
    case IR_OP_call:
    case IR_OP_mach_call: put_call(p, i); return;
    case IR_OP_printf: put_string_and_operands(p, i); return;
    case IR_OP_mach_br:
        put_labels(p, b, " ");
        put_operands(p, i, ", ");
        return;
    default: put_operands(p, i, " ");
    }
    if (i->op == IR_OP_jmp || i->op == IR_OP_br) put_labels(p, b, i->nargs ? ", " : " ");
}

/* A leaf has no line of its own; in messages it shows as an operand does. */
void text_print_inst(text_printer *p, const ir_inst *i) {
    if (ir_is_leaf(i)) {
        put_operand(p, i, IR_VOID);
        return;
    }
    if (i->type != IR_VOID) {
        text_print_value_name(p, i);
        ir_put(p->out, ": ");
        put_type(p, i->type);
        ir_put(p->out, " = ");
    }
    ir_put(p->out, ir_info(i)->name);
    put_body(p, i);
    put_imm(p, i);
    text_put_bits(p->out, text_inst_flags, i->flags);
}

/* The function that an instruction belongs to; one that is in no block is tied by its operands and
 * users. */
static const ir_func *func_of(const ir_inst *i) {
    if (i->block) return i->block->func;
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->block) return ir_arg(i, n)->block->func;
    for (const ir_use *u = i->uses; u; u = u->next)
        if (u->user->block) return u->user->block->func;
    return NULL;
}

void ir_print_inst(ir_text *out, const ir_inst *i) {
    text_print_inst(text_printer_new(out, func_of(i)), i);
}
