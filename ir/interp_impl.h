/* interp_impl.h — private to interp.c and interp_*.c: decoded code and the state of one work-item.
 *
 * A function is decoded once.  Every value gets consecutive slots of the frame, one per lane; slots
 * of constants come first and are copied from a template when a frame is made, so an operand is
 * always just a slot.  Phis become moves on the edges.  An instruction becomes a step of 48 bytes
 * whose `code` is its op, or one of the fast forms below.
 *
 *   frame:  constants, undef | addresses of globals | parameters | results
 */
#ifndef SPVFUSE_IR_INTERP_IMPL_H
#define SPVFUSE_IR_INTERP_IMPL_H

#include "ir/eval.h"
#include "ir/interp.h"

/* Forms that the main loop evaluates itself: one lane, integers up to 64 bits and f32. */
enum {
    X_MOVE = IR_OP_COUNT, /* cut to the mask: zext, trunc, casts of pointers, bitcast */
    X_MOVES,              /* the same of vectors */
    X_ADD,
    X_SUB,
    X_MUL,
    X_AND,
    X_OR,
    X_XOR,
    X_SHL,
    X_LSHR,
    X_ASHR,
    X_SEXT,
    X_EQ,
    X_NE,
    X_ULT,
    X_ULE,
    X_SLT,
    X_SLE,
    X_FADD,
    X_FSUB,
    X_FMUL,
    X_SELECT,
    X_LANEWISE /* all others with an eval column: through ir_eval_lane */
};

/* `extra` is
 *   the width of a lane (shl, lshr, ashr), or 64 minus it (sext, slt, sle: of the operands)
 *   X_LANEWISE: index of its environment
 *   jmp, br: first edge · switch: first case; dst is the default edge, mask the number of cases
 *   more than three operands: where their slots begin in `operands` */
typedef struct {
    uint16_t code;
    uint8_t lanes;   /* of the result */
    uint8_t full;    /* undef mask of a whole result lane */
    bool spilled;    /* all operands are in `operands`, from `extra` on */
    uint32_t dst;    /* first slot of the result */
    uint32_t arg[3]; /* first slots of the first three operands */
    uint32_t extra;  /* see above */
    uint32_t site;   /* of what touches memory: its number in the code */
    uint64_t mask;   /* bits of a result lane */
    const ir_inst *inst;
} ir_step;

typedef struct {
    uint32_t to, from;
} ir_move;

/* A control-flow edge: phi moves, then the next step. */
typedef struct {
    uint32_t target;
    uint32_t first, n; /* moves */
    uint32_t loop;     /* of which the target is the header; 0: it is none */
    bool parallel;     /* some move reads what an earlier one writes */
    bool again;        /* it goes around in the loop; otherwise it enters it */
} ir_edge;

/* Of a loop that is entered at its header only. */
typedef struct {
    uint32_t parent, depth;
    uint32_t round; /* the slot that counts the rounds */
} ir_code_loop;

typedef struct {
    uint64_t value;
    uint32_t edge;
} ir_case;

typedef struct ir_code_func {
    ir_func *func;
    ir_step *step;
    ir_vec(uint32_t) operands; /* first slots, for steps with more than three operands */
    ir_vec(ir_edge) edges;
    ir_vec(ir_move) moves;
    ir_vec(ir_case) cases; /* ascending within one switch */
    ir_vec(ir_eval_env) envs;
    ir_vec(ir_code_loop) loops;        /* the first one stands for no loop, with depth 0 */
    const uint32_t *loop_of;           /* by step: the innermost one around it */
    ir_vec(const ir_inst *) addresses; /* leaves; slots from first_address on */
    const uint64_t *bits;              /* the template */
    const uint8_t *undef;
    uint32_t ntemplate;
    uint32_t first_address, first_param, nslots;
    uint32_t max_moves; /* of one parallel edge */
} ir_code_func;

struct ir_interp_code {
    ir_arena *arena;
    const ir_module *module;
    ir_map funcs; /* address of an ir_func -> ir_code_func */
    ir_vec(const ir_inst *) sites;
};

typedef struct {
    const ir_code_func *code;
    uint64_t *bits;
    uint8_t *undef;
    uint32_t pc;
    uint32_t variables; /* made by this activation */
    uint32_t chunk;     /* where the slots lie */
} ir_frame;

typedef struct {
    uint64_t *bits;
    uint8_t *undef;
    uint32_t used, cap;
} ir_slots;

struct ir_interp {
    ir_arena *arena;
    ir_interp_code *code;
    const ir_interp_host *host;
    ir_vec(ir_frame) frames;
    ir_vec(ir_slots) chunks;
    uint64_t *moving; /* room for parallel moves */
    uint8_t *moving_undef;
    uint32_t moving_cap;
    bool trapped;
    ir_value result;
};

const ir_code_func *ir_interp_decode(ir_interp_code *code, ir_func *f);

static inline ir_frame *ir_top_frame(const ir_interp *w) {
    return &w->frames.data[w->frames.n - 1];
}

/* First slot of operand n. */
static inline uint32_t ir_step_slot(const ir_frame *f, const ir_step *s, unsigned n) {
    return s->spilled ? f->code->operands.data[s->extra + n] : s->arg[n];
}

/* Steps that neither branch nor touch memory (interp_eval.c). */
void ir_interp_value(ir_interp *w, ir_frame *f, const ir_step *s);
/* Undef mask of a lane of the result, whose first operands x have masks u; not all masks of
 * operands are 0. */
uint8_t ir_interp_spread(const ir_step *s, const uint64_t x[2], const uint8_t u[2]);
/* Steps that touch memory (interp_mem.c). */
void ir_interp_memory(ir_interp *w, ir_frame *f, const ir_step *s);

/* Tells the host when operand n of s has an undefined byte. */
void ir_interp_check(const ir_interp *w, const ir_frame *f, const ir_step *s, unsigned n);

#endif
