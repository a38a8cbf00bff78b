/* pack_body.c — the bytes of a function, in the format that packer.h describes.
 *
 * Values get their numbers first: parameters, leaves, then instructions in the order of the text.
 * Edges precede instructions, so that a reader can make all blocks and edges at once.  The archive
 * of functions (pack.c) and the content of functions (content.c) use it with their own numbers for
 * globals, functions and types.
 */
#include "ir/packer.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------- numbers */

void pack_byte(packer *p, unsigned byte) { ir_putn(p->out, &(char){(char)byte}, 1); }

void pack_number(packer *p, uint64_t n) {
    char bytes[10];
    unsigned used = 0;
    for (; n >= 128; n >>= 7) bytes[used++] = (char)((n & 127) | 128);
    bytes[used++] = (char)n;
    ir_putn(p->out, bytes, used);
}

static void pack_signed(packer *p, int64_t n) {
    pack_number(p, ((uint64_t)n << 1) ^ (uint64_t)(n >> 63));
}

void pack_type(packer *p, ir_type t) {
    if (!ir_is_in_table(t)) {
        pack_number(p, t);
        return;
    }
    pack_number(p, ir_kind_of(t));
    p->format->type(p, t);
}

/* --------------------------------------------------------------------------------------- leaves */

/* Small integers are short; floats are all of their bits. */
static void pack_lanes(packer *p, const ir_inst *c) {
    unsigned width = ir_bits(p->m, ir_elem(c->type));
    for (unsigned lane = 0; lane < ir_lanes(c->type); lane++) {
        uint64_t bits = ir_lane_bits(c, lane);
        if (!ir_is_float(c->type)) pack_signed(p, ir_sext(bits, width));
        for (unsigned n = 0; ir_is_float(c->type) && n < width; n += 8)
            pack_byte(p, bits >> n & 255);
    }
}

static void pack_leaf(packer *p, const ir_inst *leaf) {
    bool is_address = leaf->op == IR_OP_address;
    pack_number(p, leaf->op == IR_OP_const ? 0 : is_address ? 2 : 1);
    if (is_address) {
        pack_number(p, p->format->global(p, leaf->imm.global));
        return;
    }
    pack_type(p, leaf->type);
    if (leaf->op == IR_OP_const) pack_lanes(p, leaf);
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The edges into a block with phis, in the order of the blocks that they come from. */
static void sort_edges(packer *p, const ir_block *b) {
    uint64_t *edge = p->edge[b->id] = ir_new_array(p->arena, uint64_t, b->npred);
    for (uint32_t n = 0; n < b->npred; n++) edge[n] = (uint64_t)p->block[b->pred[n]->id] << 32 | n;
    qsort(edge, b->npred, sizeof *edge, by_value);
}

static void number_blocks(packer *p) {
    uint32_t blocks = 0;
    foreach_block (b, p->f) p->block[b->id] = blocks++;
    foreach_block (b, p->f)
        if (b->first->op == IR_OP_phi) sort_edges(p, b);
}

/* Operand n, of a phi that for the edge n in order. */
static ir_inst *operand(const packer *p, const ir_inst *i, unsigned n) {
    return ir_arg(i, i->op == IR_OP_phi ? (uint32_t)p->edge[i->block->id][n] : n);
}

static void number_leaves(packer *p) {
    uint32_t next = p->f->nparams;
    for (uint32_t n = 0; n < next; n++) p->number[p->f->param_val[n]->id] = n;
    foreach_block (b, p->f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                const ir_inst *x = operand(p, i, n);
                if (x->block || x->op == IR_OP_param || p->number[x->id] != UINT32_MAX) continue;
                p->number[x->id] = next++;
                *ir_push(p->arena, &p->leaves) = x;
            }
}

static void number_instructions(packer *p) {
    uint32_t next = p->f->nparams + p->leaves.n;
    foreach_block (b, p->f)
        foreach_inst (i, b) p->number[i->id] = next++;
}

/* --------------------------------------------------------------------------------- instructions */

static void pack_imm(packer *p, const ir_inst *i) {
    switch (ir_info(i)->imm) {
    case I_NONE: break;
    case I_ROUND: pack_number(p, i->imm.round.mode | (unsigned)i->imm.round.sat << 2); break;
    case I_MEM: pack_number(p, i->imm.mem.align | (unsigned)i->imm.mem.flags << 5); break;
    case I_MASK:
        for (unsigned n = 0; n < ir_lanes(i->type); n++) pack_byte(p, i->imm.mask[n]);
        break;
    case I_VAR:
        pack_type(p, i->imm.var->type);
        pack_number(p, i->imm.var->align);
        break;
    default: p->format->imm(p, i);
    }
}

static void pack_phi(packer *p, const ir_inst *i) {
    pack_number(p, i->op * 2u);
    pack_type(p, i->type);
    pack_number(p, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) {
        pack_number(p, p->edge[i->block->id][n] >> 32);
        pack_number(p, p->number[operand(p, i, n)->id]);
    }
}

static void pack_inst(packer *p, const ir_inst *i) {
    if (i->op == IR_OP_phi) {
        pack_phi(p, i);
        return;
    }
    pack_number(p, i->op * 2u + (i->flags != 0));
    if (i->flags) pack_number(p, i->flags);
    pack_type(p, i->type);
    pack_imm(p, i);
    if (ir_has_flag(i, F_VARIADIC)) pack_number(p, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) pack_number(p, p->number[ir_arg(i, n)->id]);
}

static void pack_blocks(packer *p) {
    uint32_t blocks = 0;
    foreach_block (b, p->f) blocks++;
    pack_number(p, blocks);
    foreach_block (b, p->f) {
        pack_number(p, b->nsucc);
        for (uint32_t n = 0; n < b->nsucc; n++) pack_number(p, p->block[b->succ[n]->id]);
    }
    foreach_block (b, p->f) {
        unsigned instructions = 0;
        foreach_inst (i, b) instructions++;
        pack_number(p, instructions);
        foreach_inst (i, b) pack_inst(p, i);
    }
}

void pack_body(packer *p, const ir_func *f) {
    p->f = f;
    p->leaves.n = 0;
    p->number = ir_new_array(p->arena, uint32_t, f->next_id);
    p->block = ir_new_array(p->arena, uint32_t, f->next_block);
    p->edge = ir_new_array(p->arena, uint64_t *, f->next_block);
    memset(p->number, 0xff, sizeof *p->number * f->next_id);
    number_blocks(p);
    number_leaves(p);
    number_instructions(p);
    pack_type(p, f->ret);
    pack_number(p, f->nparams);
    for (uint32_t n = 0; n < f->nparams; n++) pack_type(p, f->param_val[n]->type);
    pack_number(p, p->leaves.n);
    for (uint32_t n = 0; n < p->leaves.n; n++) pack_leaf(p, p->leaves.data[n]);
    pack_blocks(p);
}

void pack_storage(packer *p, const ir_global *g) {
    pack_number(p, g->space);
    pack_type(p, g->type);
    pack_number(p, g->align);
    pack_number(p, g->constant);
    pack_number(p, g->init != NULL);
    if (g->init) ir_putn(p->out, (const char *)g->init, ir_sizeof(p->m, g->type));
}
