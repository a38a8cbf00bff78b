/* read.c — the entry, the stream of words, and the order in which a module is read.
 *
 * The words are put into host order first; every instruction is then checked once for its shape
 * (it fits into the module, into its row of spirv.def, into its section) by spv_fetch, after which
 * spv_decode may look at it again without checks.
 */
#include "frontend/reader.h"

/* --------------------------------------------------------------------------------- instructions */

void spv_decode(reader *r, uint32_t at) {
    spv_inst *in = &r->in;
    const uint32_t *w = &r->words[at];
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
        const spv_id *e = spv_find(r, w[1]);
        in->type = e->kind == ID_TYPE ? e->type : NULL;
    }
}

static void fetch(reader *r, uint32_t at) {
    uint32_t n = r->words[at] >> 16;
    r->in = (spv_inst){.at = at, .opcode = r->words[at] & 0xffff};
    r->in.row = spv_row_of(r->in.opcode);
    const spv_row *row = r->in.row;
    uint32_t fixed = 1u + (row ? row->form : 0);
    if (n == 0) spv_fail(r, "the instruction has a length of 0 words");
    if (n > r->nwords - at)
        spv_fail(r, "the instruction is cut off: it takes %u words, %u are left", n,
                 r->nwords - at);
    if (row && n < fixed + row->min)
        spv_fail(r, "%s takes at least %u words, not %u", spv_op_name(r), fixed + row->min, n);
    if (row && n - fixed > row->max)
        spv_fail(r, "%s takes at most %u words, not %u", spv_op_name(r), fixed + row->max, n);
    spv_decode(r, at);
}

static uint32_t length_at(const reader *r, uint32_t at) { return r->words[at] >> 16; }

/* ------------------------------------------------------------------------------------ the words */

static uint32_t swap_bytes(uint32_t w) {
    return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24;
}

/* Copies the input as words of this host, whichever way round it was written. */
static void take_words(reader *r) {
    uint32_t magic;
    if (r->size < SPV_FIRST_WORD * 4) spv_fail(r, "too short for a SPIR-V module");
    if (r->size % 4) spv_fail(r, "the size of %zu bytes is not a multiple of 4", r->size);
    if (r->size / 4 > UINT32_MAX / 8)
        spv_fail(r, "modules of %zu bytes are not supported", r->size);
    uint32_t *words = ir_dup(&r->scratch, r->bytes, r->size);
    r->nwords = (uint32_t)(r->size / 4);
    magic = words[0];
    if (magic != SpvMagicNumber && swap_bytes(magic) != SpvMagicNumber)
        spv_fail(r, "not a SPIR-V module: it begins with 0x%08x", magic);
    if (magic != SpvMagicNumber)
        for (uint32_t i = 0; i < r->nwords; i++) words[i] = swap_bytes(words[i]);
    r->words = words;
}

static void take_header(reader *r) {
    r->version = r->words[1];
    if (r->version >> 16 != 1)
        spv_fail(r, "SPIR-V version %u.%u is not supported", r->version >> 16,
                 r->version >> 8 & 0xff);
    r->bound = r->words[3];
    if (r->bound == 0) spv_fail(r, "the bound of ids is 0");
    r->dense = r->bound <= r->nwords ? r->bound : 0;
    r->ids = ir_new_array(&r->scratch, spv_id, r->dense);
    r->budget = (UINT64_C(1) << 17) + UINT64_C(4) * r->nwords;
}

/* --------------------------------------------------------------------------------- the sections */

/* Reads what stands before the first function, once for notes and once for declarations. */
static void read_head(reader *r, uint32_t end, spv_place place) {
    for (uint32_t at = SPV_FIRST_WORD; at < end; at += length_at(r, at)) {
        spv_decode(r, at);
        if (r->in.row->place == place) r->in.row->read(r);
        if (place == PLACE_DECL && r->in.row->place == PLACE_BOTH) r->in.row->read(r);
        if (place == PLACE_NOTE && r->in.row->place == PLACE_LINE) spv_line(r);
    }
}

static void check_head_place(reader *r) {
    const spv_row *row = r->in.row;
    if (!row) spv_fail(r, "opcode %u is not known", r->in.opcode);
    if (row->place == PLACE_BODY || row->place == PLACE_ACT || row->place == PLACE_END ||
        row->place == PLACE_SHAPE)
        spv_fail(r, "%s stands outside a function", spv_op_name(r));
}

/* Checks the shape of all instructions before the first function; returns where that is. */
static uint32_t scan_head(reader *r) {
    uint32_t at = SPV_FIRST_WORD;
    for (; at < r->nwords; at += length_at(r, at)) {
        fetch(r, at);
        if (r->in.opcode == SPV_OP_Function) break;
        check_head_place(r);
    }
    return at;
}

static void check_between_functions(reader *r) {
    const spv_row *row = r->in.row;
    if (!row) spv_fail(r, "opcode %u is not known", r->in.opcode);
    if (row->place != PLACE_SKIP && row->place != PLACE_LINE && row->place != PLACE_BOTH)
        spv_fail(r, "%s stands behind the first function", spv_op_name(r));
}

/* Notes one function's extent and parameters; returns the word behind it. */
static uint32_t scan_function(reader *r, uint32_t at, uint32_t gap) {
    spv_function *f = ir_new(&r->scratch, spv_function);
    ir_vec(uint32_t) params = {0};
    spv_new_id(r, ID_FUNCTION)->func = f;
    f->gap = gap;
    f->id = r->in.id;
    f->at = at;
    for (;;) {
        at += length_at(r, at);
        if (at >= r->nwords) {
            spv_decode(r, f->at);
            spv_fail(r, "the function has no OpFunctionEnd");
        }
        fetch(r, at);
        if (r->in.opcode == SPV_OP_FunctionEnd) break;
        if (r->in.opcode == SPV_OP_Function) spv_fail(r, "OpFunction inside a function");
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
    while (at < r->nwords) {
        fetch(r, at);
        if (r->in.opcode == SPV_OP_Function) {
            gap = at = scan_function(r, at, gap);
            continue;
        }
        check_between_functions(r);
        at += length_at(r, at);
    }
}

/* ------------------------------------------------------------------------------------ the entry */

/* Who gets a name that several want: entry points, then what has linkage, then all others. */
static int rank_of(reader *r, const spv_function *f) {
    return f->entry ? 0 : spv_has(r, f->id, D_LINKAGE) ? 1 : 2;
}

static void declare_functions(reader *r) {
    for (int rank = 0; rank < 3; rank++)
        for (spv_function *f = r->first_function; f; f = f->next)
            if (rank_of(r, f) == rank) spv_declare_function(r, f);
}

static void read_module(void *arg) {
    reader *r = arg;
    take_words(r);
    take_header(r);
    uint32_t functions = scan_head(r);
    read_head(r, functions, PLACE_NOTE);
    if (!r->has_model) spv_fail(r, "the module has no OpMemoryModel");
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
    spv_report_warnings(r);
}

ir_module *spv_read(ir_ctx *cx, const void *bytes, size_t size, const spv_read_options *options) {
    static const spv_read_options none = {0};
    reader r = {.cx = cx, .bytes = bytes, .size = size, .options = options ? options : &none};
    r.file = r.options->file ? r.options->file : "<spirv>";
    ir_arena_init(&r.scratch, cx);
    bool ok = ir_try(cx, read_module, &r);
    ir_arena_free(&r.scratch);
    if (ok) return r.m;
    ir_message m = {.severity = IR_ERROR, .file = r.file};
    if (cx->status == IR_ERR_MEMORY) ir_report(cx, m, "out of memory");
    if (cx->status == IR_ERR_LIMIT) ir_report(cx, m, "the module is too large");
    ir_module_free(r.m);
    return NULL;
}
