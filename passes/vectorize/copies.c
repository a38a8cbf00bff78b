/* copies.c — small copies in memory become loads and stores of words, before a loop is vectorized.
 *
 * They are assignments of structures, whose members are accessed as if by name then.  All words are
 * loaded before the first one is stored, since the places may be the same.
 */
#include "passes/vectorize/simd.h"

enum { MOST_WORDS = 16, MOST_LOG2 = 3 /* bytes of a word */ };

/* The words of a copy, which are as large as its size and alignment allow; 0: it stays a copy. */
static unsigned count_words(const ir_inst *i, unsigned *log2) {
    const ir_inst *size = i->op == IR_OP_copy ? ir_arg(i, 2) : NULL;
    if (!size || !ir_is_const(size) || i->imm.mem.flags & IR_MEM_VOLATILE) return 0;
    uint64_t bytes = size->imm.bits;
    *log2 = i->imm.mem.align < MOST_LOG2 ? i->imm.mem.align : MOST_LOG2;
    while (*log2 && bytes % (UINT64_C(1) << *log2)) --*log2;
    return bytes >> *log2 <= MOST_WORDS ? (unsigned)(bytes >> *log2) : 0;
}

static ir_inst *place(ir_builder *b, ir_inst *p, unsigned word, unsigned log2) {
    return word ? ir_build_ptradd(b, p, ir_const(b->f, IR_I64, (uint64_t)word << log2), true) : p;
}

static void copy_words(ir_builder *b, const ir_inst *i, unsigned n, unsigned log2) {
    static const ir_type types[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    ir_inst *word[MOST_WORDS];
    ir_imm imm = i->imm;
    imm.mem.align = (uint8_t)log2;
    for (unsigned k = 0; k < n; k++)
        word[k] = ir_build_raw(b, IR_OP_load, types[log2], ir_with_imm(imm),
                               IR_ARGS(place(b, ir_arg(i, 1), k, log2)));
    for (unsigned k = 0; k < n; k++)
        ir_build_raw(b, IR_OP_store, IR_VOID, ir_with_imm(imm),
                     IR_ARGS(word[k], place(b, ir_arg(i, 0), k, log2)));
}

bool simd_lower_copies(ir_func *f, const ir_loop *loop) {
    ir_builder b;
    bool changed = false;
    ir_builder_init(&b, f);
    for (uint32_t k = 0; k < loop->nblocks; k++)
        for (ir_inst *i = loop->block[k]->first, *next; i; i = next) {
            unsigned log2, n = count_words(i, &log2);
            next = i->next;
            if (!n) continue;
            b.loc = i->loc;
            ir_before(&b, i);
            copy_words(&b, i, n, log2);
            ir_remove(i);
            changed = true;
        }
    return changed;
}
