/* ra_check.h — what a function said before it was allocated (ra_snapshot.c), and where the proof of
 * the allocation is right (ra_check.c).
 */
#ifndef SPVFUSE_CODEGEN_RA_CHECK_H
#define SPVFUSE_CODEGEN_RA_CHECK_H

#include "codegen/regalloc/ra.h"

enum { CHECK_MAX_ERRORS = 20 };
#define CHECK_NOWHERE UINT32_MAX

/* An instruction, or a leaf that is an operand of one. */
typedef struct {
    uint16_t op, nargs;
    bool repeats;   /* may be made again anywhere */
    uint32_t block; /* id; CHECK_NOWHERE for leaves */
    ir_type type;
    ir_imm imm;
    uint32_t *arg; /* ids */
} saved_inst;

typedef ir_vec(uint32_t) check_ids;
typedef struct {
    check_ids code, pred, succ; /* ids of instructions in order, and of blocks */
} saved_block;

struct cg_snapshot {
    uint32_t nvalues, nblocks;
    saved_inst *inst; /* by id */
    saved_block *block;
};

/* Just before the instruction at position `at` of block b, which may be after its last one, a
 * place holds a value, because `reader` needs it. */
typedef struct {
    const ir_block *b;
    const ir_inst *reader;
    uint32_t at, place, value;
} check_demand;

typedef struct {
    const cg_target *t;
    const cg_snapshot *before;
    ir_func *f;
    const cg_allocation *a;
    ir_arena scratch;
    ir_vec(const ir_inst *) code; /* of all blocks, in order: positions */
    uint32_t *at;                 /* by value id: position, or CHECK_NOWHERE */
    uint32_t *begin, *end;        /* by block id: positions */
    check_ids *writes;            /* by place: positions, ascending */
    uint32_t writable[CG_MAX_CLASSES];
    ir_vec(check_demand) demands;
    ir_map pairs,
        passed; /* places with values, by number; of these, which block they have passed */
    uint32_t npairs;
    unsigned errors;
} checker;

/* Reports an error at an instruction, or NULL. */
void check_complain(checker *c, const ir_inst *i, const char *fmt, ...) IR_PRINTF(3, 4);
static inline bool check_is_old(const checker *c, const ir_inst *i) {
    return i->id < c->before->nvalues && c->before->inst[i->id].block != CHECK_NOWHERE;
}
/* Does a new instruction compute what the old one with this id did? */
bool check_repeats(const checker *c, const ir_inst *i, uint32_t id);
/* Is the code still there: instructions, operands without registers, edges? */
void check_code(checker *c);

#endif
