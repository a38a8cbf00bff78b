/* read.c — the entry, the stream of words, and the order in which a module is read.
 *
 * The words are put into host order first; every instruction is then checked once for its shape
 * (it fits into the module, into its row of spirv.def, into its section) by fetch, after which
 * spv_decode may look at it again without checks.  Of what does not fit into its row or section, a
 * function is refused and a declaration left out (poison.c).
 */
#include "frontend/reader.h"

/* --------------------------------------------------------------------------------- instructions */

void spv_decode(reader *r, uint32_t at) {
    spv_inst *in = &r->in;
    const uint32_t *w = &r->input.words[at];
    in->at = at;
    in->opcode = w[0] & 0xffff;
    in->row = spv_row_of(in->opcode);
    in->ext = NULL;
    in->type = NULL;
    in->id = 0;
    unsigned form = in->row ? in->row->form : FORM_N;
    in->arg = w + 1 + form;
    in->n = (w[0] >> 16) - 1 - form;
    if (form != FORM_N) in->id = w[form];
    if (form == FORM_V) {
        const spv_id *e = w[1] && w[1] < r->input.bound ? spv_find(r, w[1]) : NULL;
        in->type = e && e->kind == ID_TYPE ? e->type : NULL;
    }
}

/* Why the instruction does not have the shape of its row, or NULL. */
static const char *check_shape(reader *r, const spv_row *row, uint32_t n) {
    uint32_t fixed = 1u + (row ? row->form : 0);
    if (row && n < fixed + row->min)
        return ir_sprintf(&r->scratch, "%s takes at least %u words, not %u", spv_op_name(r),
                          fixed + row->min, n);
    if (row && n - fixed > row->max)
        return ir_sprintf(&r->scratch, "%s takes at most %u words, not %u", spv_op_name(r),
                          fixed + row->max, n);
    return NULL;
}

/* Makes r->in the instruction there; returns why it cannot be decoded, or NULL. */
static const char *fetch(reader *r, uint32_t at) {
    uint32_t n = r->input.words[at] >> 16;
    r->in = (spv_inst){.at = at, .opcode = r->input.words[at] & 0xffff};
    r->in.row = spv_row_of(r->in.opcode);
    if (n == 0) spv_give_up(r, "the instruction has a length of 0 words");
    if (n > r->input.nwords - at)
        spv_give_up(r, "the instruction is cut off: it takes %u words, %u are left", n,
                    r->input.nwords - at);
    const char *why = check_shape(r, r->in.row, n);
    if (why && r->in.row->place == PLACE_SHAPE) spv_give_up(r, "%s", why);
    if (!why) spv_decode(r, at);
    return why;
}

static uint32_t length_at(const reader *r, uint32_t at) { return r->input.words[at] >> 16; }

/* ------------------------------------------------------------------------------------ the words */

static uint32_t swap_bytes(uint32_t w) {
    return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24;
}

/* Copies the input as words of this host, whichever way round it was written. */
static void take_words(reader *r, const void *bytes, size_t size) {
    uint32_t magic;
    if (size < SPV_FIRST_WORD * 4) spv_give_up(r, "too short for a SPIR-V module");
    if (size % 4) spv_give_up(r, "the size of %zu bytes is not a multiple of 4", size);
    if (size / 4 > UINT32_MAX / 8) spv_give_up(r, "modules of %zu bytes are not supported", size);
    uint32_t *words = ir_dup(&r->scratch, bytes, size), n = (uint32_t)(size / 4);
    magic = words[0];
    if (magic != SpvMagicNumber && swap_bytes(magic) != SpvMagicNumber)
        spv_give_up(r, "not a SPIR-V module: it begins with 0x%08x", magic);
    if (magic != SpvMagicNumber)
        for (uint32_t i = 0; i < n; i++) words[i] = swap_bytes(words[i]);
    r->input.words = words;
    r->input.nwords = n;
}

static void take_header(reader *r) {
    spv_input *in = &r->input;
    in->version = in->words[1];
    in->bound = in->words[3];
    if (in->version >> 16 != 1)
        spv_give_up(r, "SPIR-V version %u.%u is not supported", in->version >> 16,
                    in->version >> 8 & 0xff);
    if (in->bound == 0) spv_give_up(r, "the bound of ids is 0");
    r->ids.dense = in->bound <= in->nwords ? in->bound : 0;
    r->ids.table = ir_new_array(&r->scratch, spv_id, r->ids.dense);
    r->budget = (UINT64_C(1) << 17) + UINT64_C(4) * in->nwords;
}

/* --------------------------------------------------------------------------------- the sections */

static void read_declaration(reader *r) {
    const spv_row *row = r->in.row;
    if (row->place == r->head.place) row->read(r);
    if (r->head.place == PLACE_DECL && row->place == PLACE_BOTH) row->read(r);
    if (r->head.place == PLACE_NOTE && row->place == PLACE_LINE) spv_line(r);
}

/* From r->head.at on, until something has to be left out. */
static void read_declarations(void *arg) {
    reader *r = arg;
    for (; r->head.at < r->head.end; r->head.at += length_at(r, r->head.at)) {
        const char *why = ir_map_get(&r->head.unshaped, r->head.at);
        if (why) {
            spv_leave_out(r, why);
            continue;
        }
        spv_decode(r, r->head.at);
        if (r->in.row) read_declaration(r);
    }
}

/* Reads what precedes the first function, once for notes and once for declarations. */
static void read_head(reader *r, uint32_t end, spv_place place) {
    r->head.at = SPV_FIRST_WORD;
    r->head.end = end;
    r->head.place = place;
    for (;;) {
        const char *why = spv_attempt(r, read_declarations);
        if (!why) return;
        spv_leave_out(r, why);
        r->head.at += length_at(r, r->head.at);
    }
}

static bool is_head_place(uint8_t place) {
    return place != PLACE_BODY && place != PLACE_ACT && place != PLACE_END && place != PLACE_SHAPE;
}

/* Notes an instruction outside functions that has to be left out, if there is a reason. */
static void note_shape(reader *r, const char *why, bool fits) {
    if (!r->in.row) {
        spv_warn(r, WARN_UNKNOWN_OPCODE);
        return;
    }
    if (!why && !fits)
        why = ir_sprintf(&r->scratch, "%s is %s", spv_op_name(r),
                         r->first_function ? "after the first function" : "outside a function");
    if (!why) return;
    if (r->in.opcode == SPV_OP_MemoryModel) spv_give_up(r, "%s", why);
    spv_report_malformed(r, why);
    ir_map_set(&r->scratch, &r->head.unshaped, r->in.at, (void *)(uintptr_t)why);
    if (!r->first_function) return;
    r->head.at = r->in.at;
    r->head.place = PLACE_DECL;
    spv_leave_out(r, why);
}

/* Checks the shape of all instructions before the first function; returns where that is. */
static uint32_t scan_head(reader *r) {
    uint32_t at = SPV_FIRST_WORD;
    for (; at < r->input.nwords; at += length_at(r, at)) {
        const char *why = fetch(r, at);
        if (r->in.opcode == SPV_OP_Function) break;
        note_shape(r, why, r->in.row && is_head_place(r->in.row->place));
    }
    return at;
}

static bool is_between_place(uint8_t place) {
    return place == PLACE_SKIP || place == PLACE_LINE || place == PLACE_BOTH;
}

/* An instruction that cannot be decoded refuses its function. */
static void note_fault(reader *r, spv_function *f, const char *why) {
    if (!why) return;
    spv_report_malformed(r, why);
    f->lack = why;
}

/* Notes one function's extent and parameters; returns the word after it. */
static uint32_t scan_function(reader *r, uint32_t at, uint32_t gap) {
    spv_function *f = ir_new(&r->scratch, spv_function);
    ir_vec(uint32_t) params = {0};
    spv_new_id(r, ID_FUNCTION)->func = f;
    f->gap = gap;
    f->id = r->in.id;
    f->at = at;
    for (;;) {
        at += length_at(r, at);
        if (at >= r->input.nwords) {
            spv_decode(r, f->at);
            spv_give_up(r, "the function has no OpFunctionEnd");
        }
        note_fault(r, f, fetch(r, at));
        if (r->in.opcode == SPV_OP_FunctionEnd) break;
        if (r->in.opcode == SPV_OP_Function) spv_give_up(r, "OpFunction inside a function");
        if (r->in.opcode == SPV_OP_FunctionParameter && !f->body)
            *ir_push(&r->scratch, &params) = at;
        if (r->in.opcode == SPV_OP_Label && !f->body) f->body = at;
    }
    f->end = at;
    f->param = params.data;
    f->nparams = params.n;
    if (r->last_function)
        r->last_function->next = f;
    else
        r->first_function = f;
    r->last_function = f;
    return at + length_at(r, at);
}

static void scan_functions(reader *r, uint32_t at) {
    uint32_t gap = at;
    while (at < r->input.nwords) {
        const char *why = fetch(r, at);
        if (r->in.opcode == SPV_OP_Function) {
            gap = at = scan_function(r, at, gap);
            continue;
        }
        note_shape(r, why, r->in.row && is_between_place(r->in.row->place));
        at += length_at(r, at);
    }
}

/* ------------------------------------------------------------------------------------ the entry */

/* If several functions have one name, the first in this order keeps it: entry points, functions
 * with linkage, others. */
static int rank_of(reader *r, const spv_function *f) {
    return f->entry ? 0 : spv_has(r, f->id, D_LINKAGE) ? 1 : 2;
}

static void declare_functions(reader *r) {
    for (int rank = 0; rank < 3; rank++)
        for (spv_function *f = r->first_function; f; f = f->next)
            if (rank_of(r, f) == rank) spv_declare_function(r, f);
}

typedef struct {
    reader r;
    const void *bytes;
    size_t size;
} spv_job;

static void read_module(void *arg) {
    spv_job *job = arg;
    reader *r = &job->r;
    take_words(r, job->bytes, job->size);
    take_header(r);
    uint32_t functions = scan_head(r);
    read_head(r, functions, PLACE_NOTE);
    if (!r->facts.has_model) spv_give_up(r, "the module has no OpMemoryModel");
    scan_functions(r, functions);
    spv_mark_entries(r);
    spv_begin_fold(r);
    read_head(r, functions, PLACE_DECL);
    spv_end_fold(r);
    spv_check_specs(r);
    declare_functions(r);
    spv_set_modes(r);
    for (spv_function *f = r->first_function; f; f = f->next) spv_read_body(r, f);
    spv_refuse_callers(r);
    spv_warn_interfaces(r);
    spv_drop_builtins(r);
    spv_make_entries(r);
    if (!r->input.options->silent) spv_report_warnings(r);
}

ir_module *spv_read(ir_ctx *cx, const void *bytes, size_t size, const spv_read_options *options) {
    static const spv_read_options none = {0};
    if (!options) options = &none;
    const char *file = options->file ? options->file : "<spirv>";
    spv_job job = {{.cx = cx, .input = {.file = file, .options = options}}, bytes, size};
    reader *r = &job.r;
    ir_arena_init(&r->scratch, cx);
    bool ok = ir_try(cx, read_module, &job);
    ir_arena_free(&r->scratch);
    if (ok) return r->m;
    ir_message m = {.severity = IR_ERROR, .file = file};
    if (cx->status == IR_ERR_MEMORY) ir_report(cx, m, "out of memory");
    if (cx->status == IR_ERR_LIMIT) ir_report(cx, m, "the module is too large");
    ir_module_free(r->m);
    return NULL;
}
