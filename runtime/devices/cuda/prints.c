/* prints.c — what kernels print: records in memory of the device (passes/workgroup/prints.c), which
 * a copy after the launch brings to the host and the callback at its end makes text.
 *
 * There is room for what all items print if each printf of the kernel runs once, within bounds.
 * What finds no room is lost, and printf gives -1.  Memory is kept for the next launches.
 */
#include "ir/eval.h"
#include "runtime/devices/cuda/cuda.h"
#include "runtime/devices/printf.h"

#include <stdlib.h>

/* Bytes before the records, of the head of a record, and of an operand for which room is made. */
enum { HEAD = 16, RECORD = 8, USUAL = 32 };
static const uint64_t least = 64 << 10, most = 64 << 20; /* bytes of records */

struct cuda_printer {
    cuda_printer *next;
    const rt_program *program;
    cu_address at;
    uint8_t *host;
    uint64_t bytes; /* of records */
};

/* --------------------------------------------------------------------------------------- memory */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t room_for(const rt_launch *l) {
    const pass_print_list *prints = &l->function->program->prints;
    uint64_t bytes = 0, room = least;
    foreach_in (const pass_print, p, *prints) bytes += RECORD + (uint64_t)p->n * USUAL;
    for (unsigned k = 0; k < l->range->dims; k++)
        bytes = smaller(smaller(bytes, most) * smaller(l->range->global[k], most), most);
    while (room < bytes) room *= 2;
    return room;
}

static cuda_printer *take_kept(cuda *d, uint64_t bytes) {
    rt_lock_take(&d->lock);
    cuda_printer **at = &d->printers;
    while (*at && (*at)->bytes != bytes) at = &(*at)->next;
    cuda_printer *p = *at;
    if (p) *at = p->next;
    rt_lock_release(&d->lock);
    return p;
}

static void free_printer(const cuda *d, cuda_printer *p) {
    if (p->at) d->cu->free(p->at);
    if (p->host) d->cu->free_host(p->host);
    free(p);
}

static cuda_printer *new_printer(cuda *d, uint64_t bytes) {
    void *host;
    cuda_printer *p = calloc(1, sizeof *p);
    if (!p) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
    p->bytes = bytes;
    cu_result error = d->cu->allocate(&p->at, HEAD + bytes);
    if (!error) error = d->cu->allocate_host(&host, HEAD + bytes, 0);
    if (!error) {
        p->host = host;
        return p;
    }
    free_printer(d, p);
    cuda_must(d, "cuMemAlloc", error);
    return NULL;
}

/* Nothing is printed yet, and this fits. */
static cu_result clear(const cuda *d, const cuda_printer *p) {
    cu_result error = d->cu->set32(p->at, 0, HEAD / 4, d->stream);
    return error ? error : d->cu->set32(p->at + HEAD / 2, (uint32_t)p->bytes, 1, d->stream);
}

cu_address cuda_begin_print(cuda *d, const rt_launch *l) {
    uint64_t bytes = room_for(l);
    cuda_printer *p = take_kept(d, bytes), **end = &d->printing;
    if (!p) p = new_printer(d, bytes);
    p->program = l->function->program;
    p->next = NULL;
    while (*end) end = &(*end)->next;
    *end = p;
    cuda_must(d, "cuMemsetD32Async", clear(d, p));
    return p->at;
}

void cuda_end_print(cuda *d) {
    cuda_printer *p = d->printing;
    while (p->next) p = p->next;
    cuda_must(d, "cuMemcpyDtoHAsync", d->cu->read(p->host, p->at, HEAD + p->bytes, d->stream));
}

void cuda_keep_printers(cuda *d, cuda_printer *list) {
    rt_lock_take(&d->lock);
    while (list) {
        cuda_printer *next = list->next;
        list->next = d->printers;
        d->printers = list;
        list = next;
    }
    rt_lock_release(&d->lock);
}

void cuda_free_printers(cuda *d) {
    while (d->printers) {
        cuda_printer *p = d->printers;
        d->printers = p->next;
        free_printer(d, p);
    }
}

/* ---------------------------------------------------------------------------------- one record */

typedef struct {
    const pass_print *what;
    uint32_t next; /* operand */
    const uint8_t *at, *end;
    const char *string; /* that was taken last, of that many bytes */
    uint64_t length;
} reader;

static uint64_t read_word(const uint8_t *at, unsigned bytes) {
    uint64_t v = 0;
    memcpy(&v, at, bytes);
    return v;
}

static bool fits(const rt_conversion *c, const pass_printed *o) {
    if (c->lanes != o->lanes) return false;
    if (rt_is_float_conversion(c)) return o->kind == PASS_FLOAT;
    if (c->conversion == 's') return o->kind == PASS_STRING;
    if (c->conversion == 'p') return o->kind == PASS_POINTER || o->kind == PASS_INTEGER;
    return o->kind == PASS_INTEGER;
}

static uint64_t value_of(const pass_printed *o, uint64_t bits) {
    ir_kind kind = o->bits == 16 ? IR_F16 : o->bits == 32 ? IR_F32 : IR_F64;
    if (o->kind != PASS_FLOAT || kind == IR_F64) return bits;
    double d = ir_fp_to_double(kind, bits);
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t whole_words(uint64_t n) { return (n + 7) & ~UINT64_C(7); }

static bool take_string(reader *r, rt_print_value *out) {
    if (r->end - r->at < 8) return false;
    r->length = read_word(r->at, 8);
    r->string = (const char *)r->at + 8;
    if (r->length > (uint64_t)(r->end - r->at) - 8) return false;
    r->at += 8 + whole_words(r->length);
    *out = (rt_print_value){.lane = {0}, .width = 64};
    return true;
}

static bool take(void *user, const rt_conversion *c, rt_print_value *out) {
    reader *r = user;
    if (r->next == r->what->n) return false;
    const pass_printed *o = &r->what->operand[r->next++];
    if (!fits(c, o)) return false;
    if (o->kind == PASS_STRING) return take_string(r, out);
    unsigned bytes = o->bits / 8;
    if ((uint64_t)(r->end - r->at) < (uint64_t)bytes * o->lanes) return false;
    for (unsigned n = 0; n < o->lanes; n++)
        out->lane[n] = value_of(o, read_word(r->at + n * bytes, bytes));
    out->width = o->bits;
    r->at += whole_words((uint64_t)bytes * o->lanes);
    return true;
}

/* Addresses of strings are distances from their first bytes. */
static char read_char(void *user, uint64_t at) {
    const reader *r = user;
    return at < r->length ? r->string[at] : 0;
}

/* ----------------------------------------------------------------------------------------- text */

typedef struct {
    const cuda *d;
    const cuda_printer *printer;
    ir_arena arena;
} printing;

static const uint8_t *print_record(const printing *p, const uint8_t *at, const uint8_t *end,
                                   ir_text *text, ir_text *string) {
    const pass_print_list *prints = &p->printer->program->prints;
    uint64_t number = read_word(at, 4), size = read_word(at + 4, 4);
    if (size < RECORD || size > (uint64_t)(end - at) || number >= prints->n) return end;
    reader r = {.what = &prints->data[number], .at = at + RECORD, .end = at + size};
    rt_print(text, string, r.what->format, &(rt_print_source){take, read_char, &r});
    return at + size;
}

static void print_all(void *user) {
    printing *p = user;
    const cuda_printer *printer = p->printer;
    ir_text text = {.arena = &p->arena}, string = {.arena = &p->arena};
    uint64_t used = read_word(printer->host, 8);
    const uint8_t *at = printer->host + HEAD;
    const uint8_t *end = at + (used < printer->bytes ? used : printer->bytes);
    while (end - at >= RECORD) at = print_record(p, at, end, &text, &string);
    if (text.n) p->d->base.output(p->d->base.output_user, text.data);
}

/* Its own context: this is a thread of the driver. */
void cuda_print(cuda *d, const cuda_printer *list) {
    for (const cuda_printer *p = list; p && d->base.output; p = p->next) {
        ir_ctx cx = {0};
        printing job = {.d = d, .printer = p};
        ir_arena_init(&job.arena, &cx);
        ir_try(&cx, print_all, &job);
        ir_arena_free(&job.arena);
    }
}
