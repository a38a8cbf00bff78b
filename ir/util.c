/* util.c — leaving on errors, messages, hashing, maps and text.
 *
 * Every entry of the library runs its work through ir_try; below it, bad input and exhausted memory
 * leave through ir_throw, and only arenas are alive, so nothing leaks.  ir_try nests: the inner one
 * restores the outer one's landing place.
 *
 * A failed assertion does not know the context: it reports to the nearest ir_try of its thread, and
 * leaves there.  The variable that finds it is in memory that each thread has from its start, so
 * that looking at it cannot fail.  With SPVFUSE_ABORT in the environment the process stops instead,
 * where a debugger or a test sees it.
 */
#define _GNU_SOURCE
#include "ir/ir.h"

#include <stdlib.h>

#if defined(__GNUC__)
static _Thread_local ir_ctx *nearest __attribute__((tls_model("initial-exec")));
#else
static _Thread_local ir_ctx *nearest;
#endif

bool ir_try(ir_ctx *cx, void (*body)(void *arg), void *arg) {
    jmp_buf here;
    jmp_buf *volatile outer = cx->trap;
    ir_ctx *volatile outer_context = nearest;
    const ir_where outer_where = cx->where;
    ir_clock *volatile outer_clock = cx->clock;
    volatile bool ok = true;
    nearest = cx;
    cx->status = IR_OK;
    cx->trap = &here;
    if (setjmp(here) == 0)
        body(arg);
    else
        ok = false;
    cx->trap = outer;
    cx->where = outer_where;
    cx->clock = outer_clock;
    nearest = outer_context;
    return ok;
}

void ir_throw(ir_ctx *cx, ir_status status) {
    assert(cx->trap && "ir_throw outside ir_try");
    cx->status = status;
    cx->where.began = 0;
    longjmp(*cx->trap, 1);
}

typedef struct {
    ir_ctx *cx;
    ir_arena arena;
    const char *file, *function, *what;
    int line;
} bug;

/* " of @f, block b, at 'INSTRUCTION'", as far as it is known. */
static const char *name_place(const ir_fault *f, ir_arena *a) {
    ir_text t = {.arena = a};
    ir_put(&t, "");
    if (f->function) ir_putf(&t, " of @%s", f->function);
    if (f->block) ir_putf(&t, ", block %s", f->block);
    if (f->instruction) ir_putf(&t, ", at '%s'", f->instruction);
    return t.data;
}

static void report_bug(void *user) {
    bug *b = user;
    ir_ctx *cx = b->cx;
    const ir_func *f = cx->where.func;
    const char *module = f && f->module ? f->module->name : NULL;
    ir_fault fault = ir_find_fault(cx, &b->arena);
    const char *what =
        ir_sprintf(&b->arena, "internal error in %s%s%.400s (%s:%d): '%s' does not hold",
                   fault.stage ? fault.stage : b->function, fault.stage ? "" : "()",
                   name_place(&fault, &b->arena), b->file, b->line, b->what);
    if (cx->save && cx->where.code)
        fault.file = cx->save(cx->save_user, &fault, what, cx->where.code, &b->arena);
    ir_report(cx, (ir_message){.severity = IR_ERROR, .file = module, .fault = &fault},
              "%s; please report it%s%s", what, fault.file ? " with " : "",
              fault.file ? fault.file : "");
}

/* The function may be in any state: if its instructions cannot be printed, it is named alone. */
void ir_bug(const ir_inst *at, const char *file, int line, const char *function, const char *what) {
    ir_ctx *cx = nearest;
    if (!cx) {
        fprintf(stderr, "%s:%d: %s: '%s' does not hold\n", file, line, function, what);
        abort();
    }
    bug b = {.cx = cx, .file = file, .line = line, .function = function, .what = what};
    ir_arena_init(&b.arena, cx);
    if (at) cx->where.inst = at;
    if (!ir_try(cx, report_bug, &b)) {
        cx->where.inst = NULL;
        ir_try(cx, report_bug, &b);
    }
    ir_arena_free(&b.arena);
    if (secure_getenv("SPVFUSE_ABORT") || secure_getenv("SPVF_ABORT")) abort();
    ir_throw(cx, IR_ERR_INTERNAL);
}

void ir_vreport(ir_ctx *cx, ir_message m, const char *fmt, va_list ap) {
    char text[1024];
    if (m.severity == IR_WARNING) cx->warnings++;
    if (!cx->report) return;
    vsnprintf(text, sizeof text, fmt, ap);
    m.text = text;
    cx->report(cx->report_user, &m);
}

void ir_report(ir_ctx *cx, ir_message m, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(cx, m, fmt, ap);
    va_end(ap);
}

bool ir_error(ir_ctx *cx, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(cx, (ir_message){.severity = IR_ERROR}, fmt, ap);
    va_end(ap);
    return false;
}

/* Appends to a bounded string; `n` grows past `size` when it does not fit. */
IR_PRINTF(4, 5) static void append(char *out, size_t size, size_t *n, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int wrote = vsnprintf(*n < size ? out + *n : NULL, *n < size ? size - *n : 0, fmt, ap);
    va_end(ap);
    *n += wrote > 0 ? (size_t)wrote : 0;
}

void ir_format_message(const ir_message *m, char *out, size_t size) {
    static const char *const names[] = {"note", "warning", "error"};
    size_t n = 0;
    if (size) out[0] = 0;
    if (m->file) append(out, size, &n, "%s:", m->file);
    if (m->line) append(out, size, &n, "%u:", m->line);
    if (m->line && m->column) append(out, size, &n, "%u:", m->column);
    if (m->word) append(out, size, &n, "%sword 0x%x", n ? " " : "", m->word);
    if (m->word && m->inst) append(out, size, &n, " (%s)", m->inst);
    if (m->source)
        append(out, size, &n, "%s%s:%u", m->word ? ", " : n ? " " : "", m->source, m->source_line);
    if (m->word || m->source) append(out, size, &n, ":");
    append(out, size, &n, "%s%s: %s", n ? " " : "", names[m->severity], m->text ? m->text : "");
}

/* -------------------------------------------------------------------------------------- hashing */

uint64_t ir_hash(uint64_t seed, const void *data, size_t bytes) {
    const unsigned char *p = data;
    uint64_t h = seed ^ bytes;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = ir_mix(h, word);
    }
    uint64_t tail = 0;
    if (bytes) memcpy(&tail, p, bytes);
    return ir_mix(h, tail);
}

/* -------------------------------------------------------------------------------------------- maps
 *
 * Open addressing, linear probing, at most three quarters full.  A slot without val is free. */

static uint32_t slot_of(const ir_map *m, uint64_t key) {
    uint32_t i = (uint32_t)ir_mix(1, key) & (m->cap - 1);
    while (m->val[i] && m->key[i] != key) i = (i + 1) & (m->cap - 1);
    return i;
}

void *ir_map_get(const ir_map *m, uint64_t key) { return m->cap ? m->val[slot_of(m, key)] : NULL; }

static void grow_map(ir_arena *a, ir_map *m) {
    ir_map old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->key = ir_new_array(a, uint64_t, m->cap);
    m->val = ir_new_array(a, void *, m->cap);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (!old.val[i]) continue;
        uint32_t to = slot_of(m, old.key[i]);
        m->key[to] = old.key[i];
        m->val[to] = old.val[i];
    }
}

void ir_map_set(ir_arena *a, ir_map *m, uint64_t key, void *val) {
    assert(val);
    if (4 * (m->n + 1) > 3 * m->cap) grow_map(a, m);
    uint32_t i = slot_of(m, key);
    if (!m->val[i]) m->n++;
    m->key[i] = key;
    m->val[i] = val;
}

/* ----------------------------------------------------------------------------------------- text */

static void grow_text(ir_text *t, size_t more) {
    size_t cap = t->cap ? t->cap * 2 : 256;
    while (cap < t->n + more + 1) cap *= 2;
    char *data = ir_alloc_raw(t->arena, cap);
    if (t->n) memcpy(data, t->data, t->n);
    t->data = data;
    t->cap = cap;
}

static inline void reserve(ir_text *t, size_t more) {
    if (t->n + more + 1 > t->cap) grow_text(t, more);
}

void ir_putn(ir_text *t, const char *s, size_t n) {
    reserve(t, n);
    if (n) memcpy(t->data + t->n, s, n);
    t->n += n;
    t->data[t->n] = 0;
}

/* The first try fails only if the text does not fit. */
static void put_by_library(ir_text *t, const char *fmt, va_list ap) {
    va_list again;
    size_t room = t->cap - t->n;
    va_copy(again, ap);
    int n = vsnprintf(t->data ? t->data + t->n : NULL, room, fmt, ap);
    if (n > 0 && (size_t)n >= room) {
        reserve(t, (size_t)n);
        vsnprintf(t->data + t->n, (size_t)n + 1, fmt, again);
    }
    if (n > 0) t->n += (size_t)n;
    va_end(again);
}

static void put_number(ir_text *t, uint64_t n, bool negative) {
    size_t size = negative ? 2 : 1;
    for (uint64_t rest = n / 10; rest; rest /= 10) size++;
    reserve(t, size);
    char *p = t->data + (t->n += size);
    *p = 0;
    do *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (negative) *--p = '-';
}

/* Puts what comes before `stop` or the end, and gives its place.  Names and parts of formats are a
 * few bytes, for which functions of the C library take longer. */
static inline const char *put_until(ir_text *t, const char *s, char stop) {
    while (*s && *s != stop) {
        reserve(t, 1);
        char *to = t->data + t->n, *end = t->data + t->cap - 1;
        while (to < end && *s && *s != stop) *to++ = *s++;
        t->n = (size_t)(to - t->data);
    }
    return s;
}

/* Messages and names rarely need other conversions; those are left to vsnprintf. */
void ir_vputf(ir_text *t, const char *fmt, va_list ap) {
    while (*(fmt = put_until(t, fmt, '%'))) {
        bool wide = fmt[1] == 'l' && fmt[2] == 'l';
        const char *kind = fmt + (wide ? 3 : 1);
        if (*kind == 's' && !wide)
            put_until(t, va_arg(ap, const char *), 0);
        else if (*kind == 'c' && !wide)
            ir_putn(t, &(char){(char)va_arg(ap, int)}, 1);
        else if (*kind == 'u')
            put_number(t, wide ? va_arg(ap, unsigned long long) : va_arg(ap, unsigned), false);
        else if (*kind == 'd') {
            long long n = wide ? va_arg(ap, long long) : va_arg(ap, int);
            put_number(t, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, n < 0);
        } else {
            put_by_library(t, fmt, ap);
            return;
        }
        fmt = kind + 1;
    }
    if (t->data) t->data[t->n] = 0;
}

void ir_putf(ir_text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vputf(t, fmt, ap);
    va_end(ap);
}

char *ir_sprintf(ir_arena *a, const char *fmt, ...) {
    char start[256];
    ir_text t = {.data = start, .cap = sizeof start, .arena = a};
    va_list ap;
    va_start(ap, fmt);
    ir_vputf(&t, fmt, ap);
    va_end(ap);
    return ir_strndup(a, t.data, t.n);
}
