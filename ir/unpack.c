/* unpack.c — reads functions from the bytes that pack.c writes; pack.c describes the format.
 *
 * Names are found by bisection, and nothing is read but the function that is asked for and the
 * globals that it names.  Edges come first, then instructions without operands, then operands,
 * which may come later in the text than their use.
 */
#include "ir/build.h"
#include "ir/pack.h"

typedef struct {
    ir_unpacker *u;
    const uint8_t *at, *end;
    ir_func *f;
    ir_inst **value; /* by number */
    ir_block **block;
    ir_vec(uint32_t) operands; /* of all instructions */
    ir_arena *scratch;
} reader;

static uint32_t word_at(const ir_pack *p, size_t at) {
    assert(at + 4 <= p->size);
    const uint8_t *d = p->data + at;
    return d[0] | (uint32_t)d[1] << 8 | (uint32_t)d[2] << 16 | (uint32_t)d[3] << 24;
}

unsigned ir_pack_count(const ir_pack *p) { return word_at(p, 0); }

const char *ir_pack_name(const ir_pack *p, unsigned n) {
    return (const char *)p->data + word_at(p, 8 + 8 * (size_t)n);
}

/* The number of a function, or the count. */
static unsigned find_entry(const ir_pack *p, const char *name) {
    unsigned low = 0, high = ir_pack_count(p);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        int order = strcmp(ir_pack_name(p, middle), name);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return ir_pack_count(p);
}

bool ir_pack_has(const ir_pack *p, const char *name) {
    return find_entry(p, name) < ir_pack_count(p);
}

/* -------------------------------------------------------------------------------------- numbers */

static unsigned take_byte(reader *r) {
    assert(r->at < r->end);
    return *r->at++;
}

static uint64_t take_number(reader *r) {
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned byte = take_byte(r);
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return n;
    }
}

static uint64_t take_signed(reader *r) {
    uint64_t n = take_number(r);
    return n >> 1 ^ (0 - (n & 1));
}

static ir_type take_type(reader *r) {
    enum { DEPTH = IR_MAX_TYPE_DEPTH };
    uint32_t count[DEPTH], depth = 0;
    ir_type t;
    while ((t = (ir_type)take_number(r)) == IR_ARRAY) {
        assert(depth < DEPTH);
        count[depth++] = (uint32_t)take_number(r);
    }
    while (depth) t = ir_array_type(r->u->m, t, count[--depth]);
    return t;
}

/* --------------------------------------------------------------------------------------- leaves */

static ir_global *take_global(reader *r) {
    const char *name = (const char *)r->at;
    r->at += strlen(name) + 1;
    ir_space space = (ir_space)take_number(r);
    ir_global *g = ir_global_new(r->u->m, name, space, take_type(r));
    uint64_t bytes = ir_sizeof(r->u->m, g->type);
    g->align = (uint32_t)take_number(r);
    g->constant = take_number(r);
    if (take_number(r)) g->init = ir_dup(&r->u->m->arena, r->at, bytes);
    return g;
}

static ir_global *global(ir_unpacker *u, uint32_t n) {
    const ir_pack *p = u->pack;
    if (!u->globals) u->globals = ir_new_array(&u->m->arena, ir_global *, word_at(p, 4));
    if (u->globals[n]) return u->globals[n];
    size_t at = word_at(p, 8 + 8 * (size_t)ir_pack_count(p) + 4 * (size_t)n);
    reader r = {.u = u, .at = p->data + at, .end = p->data + p->size};
    return u->globals[n] = take_global(&r);
}

static ir_inst *take_const(reader *r, ir_type t) {
    uint64_t lanes[IR_MAX_LANES] = {0};
    unsigned width = ir_bits(r->u->m, ir_elem(t));
    for (unsigned lane = 0; lane < ir_lanes(t); lane++) {
        if (!ir_is_float(t)) lanes[lane] = take_signed(r);
        for (unsigned n = 0; ir_is_float(t) && n < width; n += 8)
            lanes[lane] |= (uint64_t)take_byte(r) << n;
    }
    return ir_const_lanes(r->f, t, lanes);
}

static ir_inst *take_leaf(reader *r) {
    switch (take_number(r)) {
    case 0: return take_const(r, take_type(r));
    case 1: return ir_undef(r->f, take_type(r));
    default: return ir_address(r->f, global(r->u, (uint32_t)take_number(r)));
    }
}

/* --------------------------------------------------------------------------------- instructions */

static ir_imm take_imm(reader *r, ir_imm_kind kind, ir_type t) {
    ir_imm imm = {0};
    uint64_t n = kind == I_ROUND || kind == I_MEM ? take_number(r) : 0;
    switch (kind) {
    case I_ROUND:
        imm.round.mode = n & 3;
        imm.round.sat = n >> 2;
        break;
    case I_MEM:
        imm.mem.align = n & 31;
        imm.mem.flags = (uint8_t)(n >> 5);
        break;
    case I_MASK:
        imm.mask = ir_dup(&r->u->m->arena, r->at, ir_lanes(t));
        r->at += ir_lanes(t);
        break;
    case I_VAR: {
        ir_var *var = ir_new(&r->u->m->arena, ir_var);
        var->type = take_type(r);
        var->align = (uint32_t)take_number(r);
        imm.var = var;
        break;
    }
    default: break;
    }
    return imm;
}

static void push_operand(reader *r) {
    *ir_push(r->scratch, &r->operands) = (uint32_t)take_number(r);
}

static ir_inst *take_inst(reader *r, ir_block *b) {
    uint64_t code = take_number(r);
    ir_op op = (ir_op)(code >> 1);
    uint32_t flags = code & 1 ? (uint32_t)take_number(r) : 0;
    ir_type t = take_type(r);
    ir_imm imm = take_imm(r, ir_ops[op].imm, t);
    unsigned nargs = ir_ops[op].flags & F_VARIADIC ? (unsigned)take_number(r) : ir_ops[op].nargs;
    ir_inst *i = ir_inst_new(r->f, op, t, nargs);
    i->flags = flags;
    i->imm = imm;
    for (unsigned n = 0; n < nargs; n++) {
        if (op == IR_OP_phi) push_operand(r);
        push_operand(r);
    }
    ir_insert(i, b, NULL);
    return i;
}

static void set_phi_operands(const reader *r, ir_inst *phi, const uint32_t *pair) {
    for (unsigned n = 0; n < phi->nargs; n++, pair += 2)
        for (unsigned k = 0; k < phi->block->npred; k++)
            if (phi->block->pred[k] == r->block[pair[0]] && !phi->arg[k].val)
                ir_set_arg(phi, k, r->value[pair[1]]);
}

/* Packed code has pointers of 64 bits; offsets are as wide as those of the module. */
static void fit_offset(ir_inst *add) {
    ir_builder b;
    ir_func *f = add->block->func;
    ir_type size = ir_size_type(f->module);
    if (ir_arg(add, 1)->type == size) return;
    ir_builder_init(&b, f);
    ir_before(&b, add);
    ir_set_arg(add, 1, ir_build1(&b, IR_OP_trunc, size, ir_arg(add, 1)));
}

static void set_operands(const reader *r) {
    const uint32_t *next = r->operands.data;
    foreach_block (b, r->f)
        foreach_inst (i, b) {
            if (i->op == IR_OP_phi) {
                set_phi_operands(r, i, next);
                next += 2 * i->nargs;
                continue;
            }
            for (unsigned n = 0; n < i->nargs; n++) ir_set_arg(i, n, r->value[*next++]);
            if (i->op == IR_OP_ptradd) fit_offset(i);
        }
}

/* --------------------------------------------------------------------------------------- bodies */

static void take_edges(reader *r, uint32_t blocks) {
    r->block = ir_new_array(r->scratch, ir_block *, blocks);
    for (uint32_t k = 0; k < blocks; k++) r->block[k] = ir_block_new(r->f, NULL);
    for (uint32_t k = 0; k < blocks; k++) {
        unsigned n = (unsigned)take_number(r);
        ir_block **succ = ir_new_array(r->scratch, ir_block *, n);
        for (unsigned s = 0; s < n; s++) succ[s] = r->block[take_number(r)];
        if (n) ir_set_succs(r->block[k], n, succ);
    }
}

static void take_body(reader *r) {
    ir_vec(ir_inst *) values = {0};
    for (uint32_t k = 0; k < r->f->nparams; k++) *ir_push(r->scratch, &values) = r->f->param_val[k];
    for (uint64_t left = take_number(r); left > 0; left--)
        *ir_push(r->scratch, &values) = take_leaf(r);
    uint32_t blocks = (uint32_t)take_number(r);
    take_edges(r, blocks);
    for (uint32_t k = 0; k < blocks; k++)
        for (uint64_t left = take_number(r); left > 0; left--)
            *ir_push(r->scratch, &values) = take_inst(r, r->block[k]);
    r->value = values.data;
    set_operands(r);
}

static ir_func *take_function(reader *r, const char *name) {
    ir_type ret = take_type(r);
    uint32_t nparams = (uint32_t)take_number(r);
    ir_type *types = ir_new_array(r->scratch, ir_type, nparams);
    for (uint32_t k = 0; k < nparams; k++) types[k] = take_type(r);
    r->f = ir_func_new(r->u->m, name, ret, nparams, types);
    take_body(r);
    return r->f;
}

ir_func *ir_unpack(ir_unpacker *u, const char *name) {
    const ir_pack *p = u->pack;
    unsigned n = find_entry(p, name);
    if (n == ir_pack_count(p)) return NULL;
    reader r = {.u = u, .scratch = u->scratch, .end = p->data + p->size};
    r.at = p->data + word_at(p, 8 + 8 * (size_t)n + 4);
    return take_function(&r, name);
}
