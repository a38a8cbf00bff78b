/* parse.c — reads the text form: errors, tokens, the header of a module, the entry.
 *
 * A recursive descent over a grammar that one token of look-ahead decides (docs/IR.md).  Only types
 * and initializers nest, and their depth is bounded.  The input is not trusted: time and memory are
 * proportional to its size, apart from initializers, which are limited.
 *
 * The parser checks what the text says, not what the IR must fulfil: names are defined once and
 * exist, literals fit, a phi names the predecessors of its block.  Types and the rest are the
 * verifier's.  Instructions are built raw, so what is read is what was written.
 *
 * An error ends the declaration it is in; reading goes on at the next one, until TEXT_MAX_ERRORS.
 * parse_type.c reads types and literals; parse_global.c, parse_func.c and parse_inst.c the rest.
 */
#include "ir/layout.h"
#include "ir/text.h"

/* --------------------------------------------------------------------------------------- errors */

static void report(text_parser *p, const text_token *at, const char *fmt, va_list ap) {
    ir_message m = {.severity = IR_ERROR, .file = p->file, .line = at->line, .column = at->column};
    ir_vreport(p->cx, m, fmt, ap);
    p->errors++;
}

/* The library has refused something: a type too large, too many operands. */
static void report_limit(text_parser *p) {
    ir_message m = {.severity = IR_ERROR, .file = p->file};
    m.line = p->tok.line;
    m.column = p->tok.column;
    ir_report(p->cx, m, "this is larger than the compiler allows");
    p->errors++;
}

void text_fail(text_parser *p, const text_token *at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(p, at, fmt, ap);
    va_end(ap);
    ir_throw(p->cx, IR_ERR_INPUT);
}

const char *text_show(text_parser *p, const text_token *t) {
    enum { SHOWN = 32 };
    size_t n = (size_t)(t->end - t->start);
    if (t->kind == T_END) return "the end of the file";
    char *shown = ir_strndup(&p->scratch, t->start, n < SHOWN ? n : SHOWN);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?'; /* terminals obey such bytes */
    return ir_sprintf(&p->scratch, "'%s'%s", shown, n > SHOWN ? "…" : "");
}

/* In an instruction, a token of the next line is not the one in the wrong place. */
void text_expected(text_parser *p, const char *what) {
    bool ended = p->in_inst && p->tok.first;
    text_fail(p, ended ? &p->behind : &p->tok, "expected %s, found %s", what,
              ended ? "the end of the line" : text_show(p, &p->tok));
}

static void reject_token(text_parser *p, const text_token *t) {
    unsigned char c = (unsigned char)*t->start;
    if (t->kind == T_BAD_NUMBER) text_fail(p, t, "malformed number %s", text_show(p, t));
    if (t->kind == T_BAD_STRING) text_fail(p, t, "this string does not end on its line");
    if (c > ' ' && c <= '~') text_fail(p, t, "unexpected character '%c'", c);
    text_fail(p, t, "unexpected byte 0x%02x", c);
}

/* --------------------------------------------------------------------------------------- tokens */

void text_advance(text_parser *p) {
    p->behind = p->tok;
    p->behind.column += (uint32_t)(p->tok.end - p->tok.start);
    text_lex(&p->lex, &p->tok);
    if (p->tok.kind == T_END && p->behind.line) {
        /* Errors at the end are reported after the last token, not after empty lines. */
        p->tok.line = p->behind.line;
        p->tok.column = p->behind.column;
    }
    if (p->tok.kind >= T_BAD_NUMBER) reject_token(p, &p->tok);
}

bool text_at(const text_parser *p, const char *word) {
    size_t n = (size_t)(p->tok.end - p->tok.start);
    return p->tok.kind == T_WORD && strlen(word) == n && memcmp(word, p->tok.start, n) == 0;
}

bool text_accept(text_parser *p, int kind) {
    if (p->tok.kind != kind) return false;
    text_advance(p);
    return true;
}

bool text_accept_word(text_parser *p, const char *word) {
    if (!text_at(p, word)) return false;
    text_advance(p);
    return true;
}

void text_expect(text_parser *p, int kind, const char *what) {
    if (!text_accept(p, kind)) text_expected(p, what);
}

const text_word *text_accept_in(text_parser *p, const text_word *table) {
    if (p->tok.kind != T_WORD) return NULL;
    const text_word *w = text_find_word(table, p->tok.start, (size_t)(p->tok.end - p->tok.start));
    if (w) text_advance(p);
    return w;
}

bool text_same_line(const text_parser *p) { return !p->tok.first && p->tok.kind != T_END; }

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool text_number(const text_token *t, uint64_t *magnitude, bool *negative) {
    const char *s = t->start;
    *negative = *s == '-';
    if (*s == '-' || *s == '+' || *s == '!') s++;
    unsigned base = t->end - s > 2 && s[1] == 'x' ? 16 : 10;
    uint64_t v = 0;
    for (s += base == 16 ? 2 : 0; s < t->end; s++) {
        unsigned digit = (unsigned)hex_value(*s);
        if (v > (UINT64_MAX - digit) / base) return false;
        v = v * base + digit;
    }
    *magnitude = v;
    return true;
}

uint64_t text_expect_number(text_parser *p, uint64_t max, const char *what) {
    text_token t = p->tok;
    uint64_t v;
    bool negative;
    if (t.kind != T_INT) text_expected(p, what);
    if (!text_number(&t, &v, &negative) || negative || v > max)
        text_fail(p, &t, "%s must be from 0 to %llu, not %s", what, (unsigned long long)max,
                  text_show(p, &t));
    text_advance(p);
    return v;
}

/* The byte that an escape stands for; *s moves after it. */
static char unescape(text_parser *p, const text_token *t, const char **s) {
    char c = *(*s)++;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == '"' || c == '\\') return c;
    int high = hex_value((*s)[0]), low = hex_value((*s)[1]); /* the closing quote is no digit */
    if (c != 'x' || high > 15 || low > 15)
        text_fail(p, t, "unknown escape '\\%c' in %s", c, text_show(p, t));
    *s += 2;
    return (char)(high * 16 + low);
}

char *text_unquote(text_parser *p, const text_token *t, size_t *n) {
    const char *s = t->start, *end = t->end - 1;
    while (*s != '"') s++; /* the sigil of a name */
    char *out = ir_alloc(&p->scratch, (size_t)(end - s)), *to = out;
    for (s++; s < end;) {
        char c = *s++;
        *to++ = c == '\\' ? unescape(p, t, &s) : c;
    }
    *to = 0;
    *n = (size_t)(to - out);
    return out;
}

static char *unquote_name(text_parser *p, const text_token *t) {
    size_t n;
    char *s = text_unquote(p, t, &n);
    if (strlen(s) != n) text_fail(p, t, "%s must not contain a zero byte", text_show(p, t));
    return s;
}

char *text_expect_string(text_parser *p, const char *what) {
    text_token t = p->tok;
    text_expect(p, T_STRING, what);
    return unquote_name(p, &t);
}

char *text_name_of_token(text_parser *p, const text_token *t) {
    const char *s = t->start + (t->kind == T_VALUE || t->kind == T_SYMBOL);
    if (*s == '"') return unquote_name(p, t);
    return ir_strndup(&p->scratch, s, (size_t)(t->end - s));
}

char *text_expect_symbol(text_parser *p, const char *what) {
    text_token t = p->tok;
    text_expect(p, T_SYMBOL, what);
    return text_name_of_token(p, &t);
}

/* -------------------------------------------------------------------------------- module header */

static void parse_target(text_parser *p, const text_token *at) {
    if (at->start != p->first) text_fail(p, at, "'target' must come first");
    text_token size = p->tok;
    uint64_t bits = text_expect_number(p, 64, "a pointer size");
    if (bits != 32 && bits != 64) text_fail(p, &size, "pointers have 32 or 64 bits");
    p->m->pointer_bits = (unsigned)bits;
}

static void parse_source(text_parser *p) {
    p->m->source_language = (uint32_t)text_expect_number(p, UINT32_MAX, "a language");
    p->m->source_version = (uint32_t)text_expect_number(p, UINT32_MAX, "a version");
}

static void parse_file(text_parser *p) {
    const char *name = text_expect_string(p, "the name of a file");
    *ir_push(&p->m->arena, &p->m->files) = ir_strdup(&p->m->arena, name);
}

static void parse_line(text_parser *p) {
    text_token at = p->tok;
    ir_line l;
    l.word = (uint32_t)text_expect_number(p, UINT32_MAX, "a word offset");
    l.file = (uint32_t)text_expect_number(p, UINT32_MAX, "the number of a file");
    l.line = (uint32_t)text_expect_number(p, UINT32_MAX, "a line");
    l.column = (uint32_t)text_expect_number(p, UINT32_MAX, "a column");
    if (l.file >= p->m->files.n && l.line)
        text_fail(p, &at, "there is no file %u before this line", l.file);
    if (p->m->lines.n && p->m->lines.data[p->m->lines.n - 1].word > l.word)
        text_fail(p, &at, "the word offsets of lines must ascend");
    *ir_push(&p->m->arena, &p->m->lines) = l;
}

static void parse_struct_name(text_parser *p) {
    const char *name = text_expect_string(p, "the name of a structure");
    text_expect(p, '=', "'='");
    if (p->tok.kind != '{' && p->tok.kind != '<') text_expected(p, "a structure type");
    text_parse_struct(p, name);
}

static void parse_spec(text_parser *p) {
    ir_spec s = {.id = (uint32_t)text_expect_number(p, UINT32_MAX, "a specialization id")};
    if (p->tok.kind == T_STRING) s.name = ir_strdup(&p->m->arena, text_expect_string(p, "a name"));
    text_expect(p, ':', "':'");
    text_token at = p->tok;
    s.type = text_parse_type(p);
    if (s.type < IR_I1 || s.type > IR_F64)
        text_fail(p, &at, "a specialization constant is a number");
    text_expect(p, '=', "'='");
    s.value = text_parse_lane(p, s.type);
    *ir_push(&p->m->arena, &p->m->specs) = s;
}

/* ---------------------------------------------------------------------------------------- entry */

static void parse_declaration(void *arg) {
    text_parser *p = arg;
    text_token at = p->tok;
    p->in_inst = false;
    if (at.kind == T_SYMBOL)
        text_parse_global(p);
    else if (text_at(p, "func") || text_at(p, "kernel"))
        text_parse_func(p);
    else if (text_accept_word(p, "target"))
        parse_target(p, &at);
    else if (text_accept_word(p, "source"))
        parse_source(p);
    else if (text_accept_word(p, "file"))
        parse_file(p);
    else if (text_accept_word(p, "line"))
        parse_line(p);
    else if (text_accept_word(p, "struct"))
        parse_struct_name(p);
    else if (text_accept_word(p, "spec"))
        parse_spec(p);
    else if (!text_accept_layout(p))
        text_expected(p, "a declaration");
}

static bool begins_declaration(const text_parser *p) {
    return p->tok.first && (p->tok.kind == T_SYMBOL || text_at(p, "func") || text_at(p, "kernel"));
}

/* After an error: to the next line that begins a function or a global. */
static void skip_declaration(text_parser *p, const char *begin) {
    if (p->cx->status == IR_ERR_LIMIT)
        report_limit(p);
    else if (p->cx->status != IR_ERR_INPUT)
        ir_throw(p->cx, p->cx->status);
    if (p->errors >= TEXT_MAX_ERRORS) ir_throw(p->cx, IR_ERR_INPUT);
    while (p->tok.kind != T_END && (p->tok.start == begin || !begins_declaration(p)))
        text_lex(&p->lex, &p->tok);
}

static void begin(text_parser *p, const char *text, size_t n) {
    char *copy = ir_alloc(&p->scratch, n + 1);
    if (n) memcpy(copy, text, n);
    p->lex.cursor = p->lex.line_start = (const unsigned char *)copy;
    p->lex.limit = p->lex.cursor + n;
    p->lex.line = 1;
    text_hash_ops(p);
}

typedef struct {
    text_parser p;
    const char *text;
    size_t n;
    ir_type type;
} parse_job;

static void parse_first_token(void *arg) {
    text_parser *p = arg;
    text_advance(p);
    p->first = p->tok.start;
}

static void parse_text(void *arg) {
    parse_job *job = arg;
    text_parser *p = &job->p;
    p->m = ir_module_new(p->cx, p->file, 64);
    begin(p, job->text, job->n);
    if (!ir_try(p->cx, parse_first_token, p)) skip_declaration(p, NULL);
    while (p->tok.kind != T_END) {
        const char *start = p->tok.start;
        if (!ir_try(p->cx, parse_declaration, p)) skip_declaration(p, start);
    }
    if (!p->errors) text_resolve_symbols(p);
    if (p->errors) ir_throw(p->cx, IR_ERR_INPUT);
}

ir_module *ir_parse(ir_ctx *cx, const char *file, const char *text, size_t n) {
    parse_job job = {.p = {.cx = cx, .file = file ? file : "<text>"}, .text = text, .n = n};
    ir_arena_init(&job.p.scratch, cx);
    bool ok = ir_try(cx, parse_text, &job);
    ir_arena_free(&job.p.scratch);
    if (ok) return job.p.m;
    ir_module_free(job.p.m);
    return NULL;
}

/* ----------------------------------------------------------------------------- texts of layouts */

static void parse_layout_text(void *arg) {
    parse_job *job = arg;
    text_parser *p = &job->p;
    begin(p, job->text, job->n);
    text_advance(p);
    while (p->tok.kind != T_END)
        if (!text_accept_layout(p)) text_expected(p, "'layout', 'special' or 'closure'");
}

static void parse_member_type(void *arg) {
    parse_job *job = arg;
    text_parser *p = &job->p;
    begin(p, job->text, job->n);
    text_advance(p);
    job->type = text_parse_memory_type(p);
    if (p->tok.kind != T_END) text_expected(p, "the end of the type");
}

static bool parse_into(ir_module *m, parse_job *job, void (*parse)(void *arg)) {
    job->p.cx = m->cx;
    job->p.m = m;
    ir_arena_init(&job->p.scratch, m->cx);
    bool ok = ir_try(m->cx, parse, job);
    ir_arena_free(&job->p.scratch);
    return ok;
}

bool ir_parse_layout(ir_module *m, const char *file, const char *text, size_t n) {
    parse_job job = {.p = {.file = file}, .text = text, .n = n};
    return parse_into(m, &job, parse_layout_text);
}

ir_type ir_parse_member_type(ir_module *m, const char *text) {
    parse_job job = {.p = {.file = "<type>"}, .text = text, .n = strlen(text)};
    return parse_into(m, &job, parse_member_type) ? job.type : IR_VOID;
}
