/* object_frame.c — .eh_frame: how to find the caller from any instruction of a function.
 *
 * The section is in the form of DWARF's call frame information, as the Linux Standard Base extends
 * it.  One CIE says what holds when a function is entered.  Each function has an FDE with three
 * changes: the frame pointer is pushed, the canonical frame address (CFA) is computed from it
 * instead of from the stack pointer, and the other registers have been saved.
 *
 * The end of a function is not described: between its last pop and its return, unwinding is off by
 * what was popped.
 */
#include "codegen/object/object.h"

enum {
    CFA_DEF_CFA = 0x0c,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_ADVANCE_LOC4 = 0x04,
    PE_ABSPTR = 0x00,
    PE_PCREL_SDATA4 = 0x1b,
    SLOT = 8 /* bytes that a push takes; registers are saved at multiples */
};

/* An entry begins with its length, which is known at its end. */
static size_t begin_entry(obj_bytes *b) {
    obj_u32(b, 0);
    return b->n;
}

static void end_entry(obj_bytes *b, size_t start) {
    obj_align(b, 8, 0); /* DW_CFA_nop */
    obj_set_u32(b, start - 4, (uint32_t)(b->n - start));
}

static void saved_at(obj_bytes *b, unsigned reg, unsigned slots) {
    obj_u8(b, CFA_OFFSET_EXTENDED);
    obj_uleb(b, reg);
    obj_uleb(b, slots);
}

static void advance(obj_bytes *b, uint32_t bytes) {
    obj_u8(b, CFA_ADVANCE_LOC4);
    obj_u32(b, bytes);
}

/* A file for a debugger may be far from the code, so it has whole addresses. */
static bool is_apart(const obj_file *f) { return f->options->address != NULL; }

static void write_cie(obj_file *f) {
    const cg_elf *m = f->elf;
    obj_bytes *b = &f->part[OBJ_FRAME].bytes;
    size_t start = begin_entry(b);
    obj_u32(b, 0);       /* this is a CIE */
    obj_u8(b, 1);        /* version */
    obj_string(b, "zR"); /* FDEs say how they write addresses */
    obj_uleb(b, 1);      /* code counts bytes */
    obj_sleb(b, -SLOT);  /* registers are saved in slots below the CFA */
    obj_u8(b, m->ra);
    obj_uleb(b, 1);
    obj_u8(b, is_apart(f) ? PE_ABSPTR : PE_PCREL_SDATA4);
    obj_u8(b, CFA_DEF_CFA);
    obj_uleb(b, m->sp);
    obj_uleb(b, m->ra_in_register ? 0 : SLOT);
    if (!m->ra_in_register) saved_at(b, m->ra, 1);
    end_entry(b, start);
}

static void write_changes(const cg_elf *m, obj_bytes *b, const cg_frame *frame) {
    enum { FP_SLOTS = 2 }; /* the return address and the caller's frame pointer */
    unsigned set = frame->before + m->push + m->move;
    assert(frame->prologue >= set);
    advance(b, frame->before + m->push);
    obj_u8(b, CFA_DEF_CFA_OFFSET);
    obj_uleb(b, FP_SLOTS * SLOT);
    saved_at(b, m->fp, FP_SLOTS);
    if (m->ra_in_register) saved_at(b, m->ra, 1);
    advance(b, m->move);
    obj_u8(b, CFA_DEF_CFA_REGISTER);
    obj_uleb(b, m->fp);
    advance(b, frame->prologue - set);
    for (uint32_t i = 0; i < frame->nsaved; i++) {
        assert(frame->saved[i].below > 0 && frame->saved[i].below % SLOT == 0);
        saved_at(b, frame->saved[i].reg, FP_SLOTS + (unsigned)frame->saved[i].below / SLOT);
    }
}

static void write_fde(obj_file *f, const cg_frame *frame) {
    obj_bytes *b = &f->part[OBJ_FRAME].bytes;
    const cg_symbol *s = &f->object->symbols.data[frame->symbol];
    size_t start = begin_entry(b);
    obj_u32(b, (uint32_t)b->n); /* distance back to the CIE, which is first */
    if (is_apart(f)) {
        obj_address(f, OBJ_FRAME, CG_TEXT, s->at);
        obj_u64(b, s->size);
    } else {
        obj_distance(f, OBJ_FRAME, CG_TEXT, s->at);
        obj_u32(b, s->size);
    }
    obj_uleb(b, 0);
    write_changes(f->elf, b, frame);
    end_entry(b, start);
}

void obj_write_frames(obj_file *f) {
    const cg_object *o = f->object;
    if (!o->frames.n) return;
    write_cie(f);
    foreach_in (const cg_frame, fr, o->frames) write_fde(f, fr);
}
