/* body.c — reading one function.
 *
 * Pass one walks the text: labels and extents of blocks, result ids with their types, variables,
 * source lines.  Pass two reads the blocks that the entry reaches, in reverse post-order: every
 * definition is then read before its uses, phis excepted, whose arguments are filled in at the end.
 * Blocks that nothing reaches are left out.
 *
 * A refusal on the way (spv_refuse, spv_fail) drops the body and keeps the function as a
 * declaration.
 */
#include "frontend/reader.h"

/* ------------------------------------------------------------------------------------- pass one */

typedef struct {
    spv_function *f;
    spv_block *block; /* open, or NULL */
    spv_block *last;
    bool ended;   /* the instruction before was a terminator */
    bool at_head; /* only variables so far in the entry block */
    ir_vec(uint32_t) variables;
} scan;

static void open_block(reader *r, scan *s) {
    if (s->block) spv_fail(r, "the block %%%u before this one has no terminator", s->block->label);
    spv_block *b = ir_new(&r->scratch, spv_block);
    spv_id *e = spv_new_id(r, ID_LABEL);
    e->block = b;
    b->label = r->in.id;
    b->begin = r->in.at + (r->input.words[r->in.at] >> 16);
    b->order = r->body.nblocks++;
    if (s->last)
        s->last->next = b;
    else
        r->body.first_block = b;
    s->last = s->block = b;
}

static void note_variable(reader *r, scan *s) {
    if (!s->at_head) spv_warn(r, WARN_VARIABLE_PLACE);
    *ir_push(&r->scratch, &s->variables) = r->in.at;
}

/* Positions given by extended instructions. */
static void note_debug_line(reader *r) {
    enum { DEBUG_LINE = 103, DEBUG_NO_LINE = 104 };
    const spv_id *set = spv_find(r, r->in.arg[0]);
    if (set->kind != ID_SET || set->set != SET_SHADER_DEBUG) return;
    if (r->in.arg[1] == DEBUG_LINE) spv_debug_line(r);
    if (r->in.arg[1] == DEBUG_NO_LINE) spv_end_line(r);
}

static bool is_variable(uint32_t opcode) {
    return opcode == SPV_OP_Variable || opcode == SPV_OP_UntypedVariableKHR;
}

static bool is_ext_inst(uint32_t opcode) {
    return opcode == SPV_OP_ExtInst || opcode == SPV_OP_ExtInstWithForwardRefsKHR;
}

static void note_result(reader *r) {
    if (!r->in.id) {
        if (r->in.row->form != FORM_N) spv_fail(r, "%s: the result id is 0", spv_op_name(r));
        return;
    }
    if (r->in.row->form == FORM_V && !r->in.type)
        spv_fail(r, "%s: %%%u is not a type", spv_op_name(r), r->in.arg[-2]);
    spv_new_id(r, ID_PENDING)->type = r->in.type;
}

static void scan_inst(reader *r, scan *s) {
    const spv_row *row = r->in.row;
    if (r->in.opcode == SPV_OP_Label) {
        open_block(r, s);
        return;
    }
    if (!row) {
        s->at_head = false;
        return;
    }
    if (row->place == PLACE_NOTE || row->place == PLACE_DECL || row->place == PLACE_SHAPE)
        spv_fail(r, "%s is inside a function body", spv_op_name(r));
    if (row->place == PLACE_LINE) {
        spv_line(r);
        return;
    }
    if (!s->block && row->place != PLACE_SKIP) spv_fail(r, "%s is between blocks", spv_op_name(r));
    note_result(r);
    if (is_variable(r->in.opcode))
        note_variable(r, s);
    else if (is_ext_inst(r->in.opcode))
        note_debug_line(r);
    else if (row->place != PLACE_SKIP)
        s->at_head = false;
    if (row->place != PLACE_END) return;
    s->block->end = r->in.at;
    s->block = NULL;
    s->ended = true;
}

/* Lines before the first block, which are those of the function. */
static void scan_lines(reader *r, const spv_function *f) {
    for (uint32_t at = f->gap; at < f->body; at += r->input.words[at] >> 16) {
        if (ir_map_get(&r->head.unshaped, at)) continue;
        spv_decode(r, at);
        if (r->in.row && r->in.row->place == PLACE_LINE) spv_line(r);
    }
}

static void scan_body(reader *r, scan *s) {
    s->at_head = true;
    scan_lines(r, s->f);
    for (uint32_t at = s->f->body; at < s->f->end; at += r->input.words[at] >> 16) {
        spv_decode(r, at);
        if (s->ended) spv_end_line(r);
        s->ended = false;
        scan_inst(r, s);
    }
    spv_decode(r, s->f->end);
    spv_end_line(r);
    if (s->block) spv_fail(r, "the block %%%u has no terminator", s->block->label);
}

/* ------------------------------------------------------------------------------------- pass two */

/* May it precede the phis of a block?  So may debug information, and merges that producers
 * misplace. */
static bool is_no_code(reader *r) {
    if (r->in.opcode == SPV_OP_LoopMerge || r->in.opcode == SPV_OP_SelectionMerge) return true;
    return is_ext_inst(r->in.opcode) && spv_find(r, r->in.arg[0])->kind == ID_SET &&
           spv_find(r, r->in.arg[0])->set != SET_OPENCL;
}

/* Reads the instruction; *code: something other than phis precedes it in the block. */
static void read_inst(reader *r, bool *code) {
    const spv_row *row = r->in.row;
    const char *family = row ? NULL : spv_family_of(r->in.opcode);
    if (!row) spv_refuse_inst(r, family ? family : "unknown");
    if (row->place == PLACE_LINE) return;
    if (row->lack) spv_refuse_inst(r, row->lack);
    if (r->in.opcode == SPV_OP_Phi && *code) spv_fail(r, "OpPhi follows other instructions");
    if (r->in.opcode != SPV_OP_Phi && row->place != PLACE_SKIP && !is_no_code(r)) *code = true;
    row->read(r);
    if (row->place == PLACE_ACT || is_ext_inst(r->in.opcode)) r->body.writes++;
}

static void read_block(reader *r, spv_block *b) {
    bool code = false;
    ir_at_end(&r->b, b->ir);
    r->body.block = b;
    r->body.writes++;
    for (uint32_t at = b->begin; at <= b->end; at += r->input.words[at] >> 16) {
        spv_decode(r, at);
        r->b.loc = at;
        read_inst(r, &code);
    }
}

static void read_body(void *arg) {
    reader *r = arg;
    scan s = {.f = r->f};
    spv_declare_params(r, r->f);
    scan_body(r, &s);
    spv_order_blocks(r);
    ir_builder_init(&r->b, r->f->ir);
    ir_at_end(&r->b, r->body.order[0]->ir);
    spv_hoist_variables(r, s.variables.data, s.variables.n);
    spv_bind_params(r, r->f);
    for (uint32_t i = 0; i < r->body.nreached; i++) read_block(r, r->body.order[i]);
    spv_fill_phis(r);
    spv_check_dominance(r);
    spv_expand_clusters(r);
}

static void begin(reader *r, spv_function *f) {
    r->f = f;
    r->serial++;
    r->body.first_block = NULL;
    r->body.nblocks = r->body.nreached = 0;
    r->body.phis.n = r->body.clusters.n = 0;
    r->body.last_alloca = NULL;
    r->body.contract = f->entry ? !(f->ir->flags & IR_FUNC_CONTRACTION_OFF)
                                : r->facts.any_entry && !r->facts.contraction_off;
}

void spv_refuse_function(reader *r, spv_function *f, const char *why) {
    ir_message m = {.severity = IR_NOTE, .file = r->input.file, .word = r->in.at};
    const ir_line *line = ir_line_of(r->m, r->in.at);
    if (line) {
        m.source = r->m->files.data[line->file];
        m.source_line = line->line;
    }
    ir_report(r->cx, m, "%s cannot be used: %s", f->ir->name, why);
    ir_func_drop_body(f->ir);
    f->ir->flags |= IR_FUNC_REFUSED;
    f->ir->refusal = why;
    f->refused = true;
}

void spv_read_body(reader *r, spv_function *f) {
    if (f->refused) {
        spv_decode(r, f->at);
        spv_refuse_function(r, f, f->ir->refusal);
    }
    if (!f->body || f->refused) return;
    begin(r, f);
    const char *why = spv_attempt(r, read_body);
    r->f = NULL;
    if (why) spv_refuse_function(r, f, ir_strdup(&r->m->arena, why));
}
