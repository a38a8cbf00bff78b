/* packer.h — private to pack*.c and content.c: functions as bytes.
 *
 *   body      := type of result, n, { type of parameter }, n, { leaf },
 *                blocks, { n, { successor } }, blocks times: n, { instruction }
 *   leaf      := 0 type lanes | 1 type | 2 global             constants, undef, addresses
 *   inst      := op * 2 + has flags, [flags], type, imm, [operands, if variadic], { value }
 *   phi       := op, type, n, { block, value }
 *   type      := word of a scalar, vector or pointer | kind, and what the format says of others
 *
 * Numbers are LEB128, signed ones zigzag.  Values are numbered: parameters, leaves, instructions in
 * the order of the text.  What is in front of a block's instructions lets a reader make all edges
 * first; the arguments of a phi name their block, since the order of predecessors is the reader's,
 * and are in the order of blocks: that of predecessors says how the function came to be, not what
 * it does.
 */
#ifndef SPVFUSE_IR_PACKER_H
#define SPVFUSE_IR_PACKER_H

#include "ir/pack.h"

typedef struct packer packer;

/* Where formats differ. */
typedef struct {
    void (*type)(packer *p, ir_type t);                /* after the kind of one in the table */
    uint32_t (*global)(packer *p, const ir_global *g); /* its number */
    void (*imm)(packer *p, const ir_inst *i); /* of other kinds than arithmetic and memory */
} pack_format;

struct packer {
    const pack_format *format;
    const ir_module *m;
    ir_text *out;
    const ir_func *f;
    uint32_t *number; /* by value id */
    uint32_t *block;  /* by block id */
    uint64_t **edge;  /* by block id, where there are phis: number of the predecessor, its place */
    ir_vec(const ir_inst *) leaves;
    ir_arena *arena;
    void *user; /* of the format */
};

void pack_byte(packer *p, unsigned byte);
void pack_number(packer *p, uint64_t n);
void pack_type(packer *p, ir_type t);
/* The body of a function that has one. */
void pack_body(packer *p, const ir_func *f);
/* Space, type, and the bytes of the initializer if there is one; neither name nor relocations. */
void pack_storage(packer *p, const ir_global *g);

#endif
