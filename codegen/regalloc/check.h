/* check.h — what the files of the proof of register allocation share.
 *
 *   snapshot.c     the function before allocation
 *   check_code.c   the code is still complete
 *   check.c        every instruction finds its operands where it reads them
 */
#ifndef SPVFUSE_CODEGEN_RA_CHECK_H
#define SPVFUSE_CODEGEN_RA_CHECK_H

#include "codegen/regalloc/ra.h"

#define CHECK_NONE UINT32_MAX

/* An instruction, or a leaf that is an operand of one. */
typedef struct {
    uint16_t op, nargs;
    bool repeats;   /* may be repeated anywhere */
    uint32_t block; /* id; CHECK_NONE for leaves */
    ir_type type;
    ir_imm imm;
    uint32_t *arg; /* ids */
} snapshot_inst;

typedef ir_vec(uint32_t) check_ids;
typedef struct {
    check_ids code, pred, succ; /* ids of instructions in order, and of blocks */
} snapshot_block;

struct cg_snapshot {
    uint32_t nvalues, nblocks;
    snapshot_inst *inst; /* by id */
    snapshot_block *block;
};

typedef struct {
    const cg_target *t;
    const cg_snapshot *before;
    ir_func *f;
    const cg_allocation *a;
    ir_arena scratch;
    unsigned errors;
} checker;

/* Reports an error at an instruction. (check_code.c) */
void check_fail(checker *c, const ir_inst *i, const char *fmt, ...) IR_PRINTF(3, 4);

/* Is the instruction one of the snapshot? */
static inline bool check_is_old(const checker *c, const ir_inst *i) {
    return i->id < c->before->nvalues && c->before->inst[i->id].block != CHECK_NONE;
}
/* Does a new instruction compute what the old one with this id computed? (check_code.c) */
bool check_repeats(const checker *c, const ir_inst *i, uint32_t id);
/* Is the code still complete: instructions, operands without registers, edges? (check_code.c) */
void check_code(checker *c);

#endif
