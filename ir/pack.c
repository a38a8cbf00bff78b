/* pack.c — writes functions as bytes.
 *
 *   archive   := u32 functions, u32 globals, { u32 name, u32 body }, { u32 global }, bytes
 *   name      := characters, 0                               sorted; positions count from the start
 *   global    := string, space, type, align, constant, 0 or 1 and the initializer's bytes
 *   body      := type of result, n, { type of parameter }, n, { leaf },
 *                blocks, { n, { successor } }, blocks times: n, { instruction }
 *   leaf      := 0 type lanes | 1 type | 2 global             constants, undef, addresses
 *   inst      := op * 2 + has flags, [flags], type, imm, [operands, if variadic], { value }
 *   phi       := op, type, n, { block, value }
 *   type      := word of a scalar, vector or pointer | 12 count type, of an array
 *
 * Numbers are LEB128, signed ones zigzag.  Values are numbered: parameters, leaves, instructions in
 * the order of the text.  What is in front of a block's instructions lets the reader make all edges
 * first; the arguments of a phi name their block, since the order of predecessors is the reader's.
 */
#include "ir/pack.h"

typedef struct {
    const ir_module *m;
    ir_text *out;
    const ir_func *f;
    uint32_t *number; /* by value id */
    uint32_t *block;  /* by block id */
    ir_vec(const ir_inst *) leaves;
    ir_arena *arena;
    bool failed;
} packer;

/* -------------------------------------------------------------------------------------- numbers */

static void put_byte(packer *p, unsigned byte) { ir_putn(p->out, &(char){(char)byte}, 1); }

static void put(packer *p, uint64_t n) {
    for (; n >= 128; n >>= 7) put_byte(p, (unsigned)(n & 127) | 128);
    put_byte(p, (unsigned)n);
}

static void put_signed(packer *p, int64_t n) { put(p, ((uint64_t)n << 1) ^ (uint64_t)(n >> 63)); }

static void refuse(packer *p, const char *what) {
    if (!p->failed) ir_error(p->m->cx, "@%s cannot be packed: %s", p->f ? p->f->name : "", what);
    p->failed = true;
}

static void put_type(packer *p, ir_type t) {
    for (; ir_kind_of(t) == IR_ARRAY; t = ir_type_get(p->m, t)->member[0]) {
        put(p, IR_ARRAY);
        put(p, ir_type_get(p->m, t)->count);
    }
    if (ir_is_aggregate(t)) refuse(p, "a structure");
    put(p, t);
}

/* --------------------------------------------------------------------------------------- leaves */

static uint32_t number_of_global(const ir_global *g) {
    uint32_t n = 0;
    while ((g = g->prev)) n++;
    return n;
}

/* Small integers are short; floats are all of their bits. */
static void put_lanes(packer *p, const ir_inst *c) {
    unsigned width = ir_bits(p->m, ir_elem(c->type));
    for (unsigned lane = 0; lane < ir_lanes(c->type); lane++) {
        uint64_t bits = ir_lane_bits(c, lane);
        if (!ir_is_float(c->type)) put_signed(p, ir_sext(bits, width));
        for (unsigned n = 0; ir_is_float(c->type) && n < width; n += 8)
            put_byte(p, bits >> n & 255);
    }
}

static void put_leaf(packer *p, const ir_inst *leaf) {
    bool is_address = leaf->op == IR_OP_address;
    put(p, leaf->op == IR_OP_const ? 0 : is_address ? 2 : 1);
    if (is_address) {
        put(p, number_of_global(leaf->imm.global));
        return;
    }
    put_type(p, leaf->type);
    if (leaf->op == IR_OP_const) put_lanes(p, leaf);
}

static void number_leaves(packer *p) {
    uint32_t next = p->f->nparams;
    for (uint32_t n = 0; n < next; n++) p->number[p->f->param_val[n]->id] = n;
    foreach_block (b, p->f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                const ir_inst *x = ir_arg(i, n);
                if (x->block || x->op == IR_OP_param || p->number[x->id] != UINT32_MAX) continue;
                p->number[x->id] = next++;
                *ir_push(p->arena, &p->leaves) = x;
            }
}

static void number_instructions(packer *p) {
    uint32_t next = p->f->nparams + p->leaves.n, blocks = 0;
    foreach_block (b, p->f) {
        p->block[b->id] = blocks++;
        foreach_inst (i, b) p->number[i->id] = next++;
    }
}

/* --------------------------------------------------------------------------------- instructions */

static void put_imm(packer *p, const ir_inst *i) {
    switch (ir_info(i)->imm) {
    case I_NONE: break;
    case I_ROUND: put(p, i->imm.round.mode | (unsigned)i->imm.round.sat << 2); break;
    case I_MEM: put(p, i->imm.mem.align | (unsigned)i->imm.mem.flags << 5); break;
    case I_MASK:
        for (unsigned n = 0; n < ir_lanes(i->type); n++) put_byte(p, i->imm.mask[n]);
        break;
    case I_VAR:
        put_type(p, i->imm.var->type);
        put(p, i->imm.var->align);
        break;
    default: refuse(p, ir_info(i)->name);
    }
}

static void put_phi(packer *p, const ir_inst *i) {
    put(p, i->op * 2u);
    put_type(p, i->type);
    put(p, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) {
        put(p, p->block[i->block->pred[n]->id]);
        put(p, p->number[ir_arg(i, n)->id]);
    }
}

static void put_inst(packer *p, const ir_inst *i) {
    if (i->op == IR_OP_phi) {
        put_phi(p, i);
        return;
    }
    put(p, i->op * 2u + (i->flags != 0));
    if (i->flags) put(p, i->flags);
    put_type(p, i->type);
    put_imm(p, i);
    if (ir_has_flag(i, F_VARIADIC)) put(p, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) put(p, p->number[ir_arg(i, n)->id]);
}

static unsigned count_instructions(const ir_block *b) {
    unsigned n = 0;
    foreach_inst (i, b) n++;
    return n;
}

static void put_blocks(packer *p) {
    uint32_t blocks = 0;
    foreach_block (b, p->f) blocks++;
    put(p, blocks);
    foreach_block (b, p->f) {
        put(p, b->nsucc);
        for (uint32_t n = 0; n < b->nsucc; n++) put(p, p->block[b->succ[n]->id]);
    }
    foreach_block (b, p->f) {
        put(p, count_instructions(b));
        foreach_inst (i, b) put_inst(p, i);
    }
}

static void put_function(packer *p, const ir_func *f) {
    p->f = f;
    p->leaves.n = 0;
    p->number = ir_new_array(p->arena, uint32_t, f->next_id);
    p->block = ir_new_array(p->arena, uint32_t, f->next_block);
    memset(p->number, 0xff, sizeof *p->number * f->next_id);
    number_leaves(p);
    number_instructions(p);
    put_type(p, f->ret);
    put(p, f->nparams);
    for (uint32_t n = 0; n < f->nparams; n++) put_type(p, f->param_val[n]->type);
    put(p, p->leaves.n);
    for (uint32_t n = 0; n < p->leaves.n; n++) put_leaf(p, p->leaves.data[n]);
    put_blocks(p);
}

static void put_global(packer *p, const ir_global *g) {
    if (g->nreloc) refuse(p, "addresses in an initializer");
    ir_putn(p->out, g->name, strlen(g->name) + 1);
    put(p, g->space);
    put_type(p, g->type);
    put(p, g->align);
    put(p, g->constant);
    put(p, g->init != NULL);
    if (g->init) ir_putn(p->out, (const char *)g->init, ir_sizeof(p->m, g->type));
}

/* ---------------------------------------------------------------------------------- the archive */

/* By name; there are few hundred. */
static const ir_func **sorted_functions(packer *p, uint32_t *n) {
    ir_vec(const ir_func *) all = {0};
    foreach_func (f, p->m) {
        if (ir_is_declaration(f)) continue;
        *ir_push(p->arena, &all) = f;
        for (uint32_t k = all.n - 1; k > 0; k--) {
            if (strcmp(all.data[k - 1]->name, f->name) < 0) break;
            all.data[k] = all.data[k - 1];
            all.data[k - 1] = f;
        }
    }
    *n = all.n;
    return all.data;
}

/* Writes the present position at `at`, in the table. */
static void set_position(packer *p, size_t start, size_t at) {
    for (unsigned k = 0; k < 4; k++) p->out->data[at + k] = (char)((p->out->n - start) >> 8 * k);
}

bool ir_pack_write(const ir_module *m, ir_text *out) {
    packer p = {.m = m, .out = out, .arena = out->arena};
    uint32_t functions, globals = m->last_global ? number_of_global(m->last_global) + 1 : 0;
    const ir_func **all = sorted_functions(&p, &functions);
    size_t start = out->n, at = start + 8;
    uint32_t counts[2] = {functions, globals};
    for (unsigned k = 0; k < 8; k++) put_byte(&p, counts[k / 4] >> 8 * (k % 4) & 255);
    for (uint32_t k = 0; k < 8 * functions + 4 * globals; k++) put_byte(&p, 0);
    for (uint32_t k = 0; k < functions; k++, at += 8) {
        set_position(&p, start, at);
        ir_putn(out, all[k]->name, strlen(all[k]->name) + 1);
        set_position(&p, start, at + 4);
        put_function(&p, all[k]);
    }
    p.f = NULL;
    foreach_global (g, m) {
        set_position(&p, start, at);
        put_global(&p, g);
        at += 4;
    }
    return !p.failed;
}
