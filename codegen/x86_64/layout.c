/* layout.c — the code of a module: bytes, labels, jumps, constants.
 *
 * Instructions go into a growing buffer as they come.  What depends on places that are not known
 * yet is left out of it, or left 0, and noted as a gap: jumps to labels, nops for alignment (both
 * without bytes in the buffer), addresses relative to rip.  A label is a place in the buffer and
 * the number of gaps before it, so its final place is one addition once the gaps have sizes.
 *
 * x86_finish gives the gaps their sizes.  All jumps begin short; in each round those that do not
 * reach become long, until none does.  Jumps only grow, so this ends and is the shortest solution
 * where nothing is aligned.  A chain of jumps in which each makes the next one longer could take a
 * round per jump: after ROUNDS, every jump that would not reach if all others grew becomes long at
 * once.  Then the bytes are copied around the gaps.  The length of code that is to stay together is
 * that of the round before, so it may be cut after all if the last round made jumps longer.
 *
 * Constants go after the code, the largest first, so that each is aligned without holes.
 */
#include "codegen/x86_64/encode.h"

typedef enum { GAP_JUMP, GAP_ALIGN, GAP_TOGETHER, GAP_FIELD, GAP_END } gap_kind;

typedef struct {
    gap_kind kind;
    uint32_t at;    /* in the buffer: where its bytes go; GAP_FIELD: of the field itself */
    uint32_t start; /* bytes of the gaps before it */
    uint16_t row;   /* of a jump */
    uint8_t size;   /* now */
    uint8_t most;   /* a jump: when it is long; nops: the multiple that they lead to */
    uint8_t tail;   /* GAP_FIELD: bytes from the field to the end of the instruction */
    uint32_t label;
    int32_t disp;
} gap;

#define UNBOUND UINT32_MAX
enum { ROUNDS = 8, LARGEST = 64, FIELD = 4, LINE = 64 };

typedef struct {
    uint32_t at, gaps; /* a place in the buffer, after so many gaps; at: UNBOUND */
} place;

typedef struct {
    uint8_t bytes[LARGEST];
    uint32_t size, label;
} constant;

struct x86_code {
    ir_arena *arena;
    uint8_t *data;
    uint32_t n, cap;
    ir_vec(gap) gaps;
    ir_vec(place) labels;
    ir_vec(constant) constants;
    ir_map constant_of; /* hash of the bytes -> index of the newest such constant + 1 */
};

x86_code *x86_code_new(ir_arena *arena) {
    x86_code *c = ir_new(arena, x86_code);
    c->arena = arena;
    return c;
}

/* ----------------------------------------------------------------------------------- collecting */

static uint8_t *reserve(x86_code *c, unsigned bytes) {
    while (c->cap - c->n < bytes) c->data = ir_vec_grow(c->arena, c->data, &c->cap, c->n, 1);
    return c->data + c->n;
}

static gap *add_gap(x86_code *c, gap_kind kind, uint32_t at) {
    gap *g = ir_push(c->arena, &c->gaps);
    *g = (gap){.kind = kind, .at = at};
    return g;
}

static uint32_t label_of(const x86_code *c, const x86_operand *o) {
    assert(o->value >= 0 && o->value < c->labels.n);
    (void)c;
    return (uint32_t)o->value;
}

static void add_jump(x86_code *c, x86_row row, const x86_operands *o, unsigned length) {
    gap *g = add_gap(c, GAP_JUMP, c->n);
    const x86_form *f = &x86_forms[row];
    g->row = (uint16_t)row;
    g->most = (uint8_t)length;
    g->size = (uint8_t)(f->shorter == X86_ROWS ? length : x86_length(f->shorter, o));
    g->label = label_of(c, &o->arg[0]);
}

static void add_field(x86_code *c, const x86_operands *o, const x86_patch *patch) {
    gap *g = add_gap(c, GAP_FIELD, c->n + patch->at);
    g->tail = (uint8_t)(patch->length - patch->at);
    g->label = label_of(c, &o->arg[patch->arg]);
    g->disp = o->arg[patch->arg].disp;
}

bool x86_encode(x86_code *c, x86_row row, const x86_operands *o) {
    x86_patch patch;
    unsigned n = x86_put(reserve(c, X86_MAX_BYTES), row, o, &patch);
    if (!n) return false;
    if (patch.arg < X86_MAX_ARGS && o->arg[patch.arg].kind == X86_LABEL) {
        add_jump(c, row, o, n);
        return true;
    }
    if (patch.arg < X86_MAX_ARGS) add_field(c, o, &patch);
    c->n += n;
    return true;
}

uint32_t x86_label_new(x86_code *c) {
    *ir_push(c->arena, &c->labels) = (place){.at = UNBOUND};
    return c->labels.n - 1;
}

void x86_bind(x86_code *c, uint32_t label) {
    assert(label < c->labels.n && c->labels.data[label].at == UNBOUND);
    c->labels.data[label] = (place){c->n, c->gaps.n};
}

void x86_align(x86_code *c, unsigned bytes) {
    assert(bytes && bytes <= LARGEST && !(bytes & (bytes - 1)));
    add_gap(c, GAP_ALIGN, c->n)->most = (uint8_t)bytes;
}

void x86_keep_together(x86_code *c, uint32_t end) {
    gap *g = add_gap(c, GAP_TOGETHER, c->n);
    g->most = LINE;
    g->label = end;
}

uint32_t x86_constant(x86_code *c, const void *data, unsigned bytes) {
    assert(bytes && bytes <= LARGEST && !(bytes & (bytes - 1)));
    uint64_t key = ir_hash(bytes, data, bytes);
    uintptr_t known = (uintptr_t)ir_map_get(&c->constant_of, key);
    constant *k = known ? &c->constants.data[known - 1] : NULL;
    if (k && k->size == bytes && memcmp(k->bytes, data, bytes) == 0) return k->label;
    k = ir_push(c->arena, &c->constants);
    *k = (constant){.size = bytes, .label = x86_label_new(c)};
    memcpy(k->bytes, data, bytes);
    ir_map_set(c->arena, &c->constant_of, key, (void *)(uintptr_t)c->constants.n);
    return k->label;
}

/* -------------------------------------------------------------------------------- sizes of gaps */

static uint32_t gap_place(const gap *g) { return g->at + g->start; }

static uint32_t label_place(const x86_code *c, uint32_t label) {
    const place *p = &c->labels.data[label];
    return p->at + c->gaps.data[p->gaps].start;
}

/* From the end of the gap to its label. */
static int64_t distance(const x86_code *c, const gap *g) {
    return (int64_t)label_place(c, g->label) - (gap_place(g) + g->size);
}

/* Nops at g; what has to stay together is `length` bytes long, and may begin where it still ends in
 * the last of the lines that it needs. */
static unsigned padding(const gap *g, int64_t length) {
    unsigned mask = g->most - 1u, begins = gap_place(g) & mask, gives = (0 - begins) & mask;
    bool is_together = g->kind == GAP_TOGETHER && begins <= ((0 - (unsigned)length) & mask);
    return is_together ? 0 : gives;
}

static void place_gaps(x86_code *c) {
    uint32_t start = 0;
    foreach_in (gap, g, c->gaps) {
        int64_t length = g->kind == GAP_TOGETHER ? distance(c, g) : 0;
        g->start = start;
        if (g->kind == GAP_ALIGN || g->kind == GAP_TOGETHER) g->size = (uint8_t)padding(g, length);
        start += g->size;
    }
}

/* As if every gap were as large as it can be. */
static void place_gaps_apart(x86_code *c) {
    uint32_t start = 0;
    foreach_in (gap, g, c->gaps) {
        g->start = start;
        start += g->most;
    }
}

static bool is_bound(const x86_code *c, uint32_t label) {
    return c->labels.data[label].at != UNBOUND;
}

static bool reaches(const x86_code *c, const gap *g) {
    if (!is_bound(c, g->label)) return false;
    int64_t d = distance(c, g);
    return d >= INT8_MIN && d <= INT8_MAX;
}

static bool is_short(const gap *g) { return g->kind == GAP_JUMP && g->size < g->most; }

static bool grow_jumps(x86_code *c) {
    bool grew = false;
    foreach_in (gap, g, c->gaps) {
        if (!is_short(g) || reaches(c, g)) continue;
        g->size = g->most;
        grew = true;
    }
    return grew;
}

static void relax(x86_code *c) {
    unsigned round = 0;
    place_gaps(c); /* how long things are */
    do place_gaps(c);
    while (grow_jumps(c) && ++round < ROUNDS);
    if (round < ROUNDS) return;
    place_gaps_apart(c);
    grow_jumps(c);
    place_gaps(c);
}

/* ------------------------------------------------------------------------------------ constants */

static uint32_t largest_constant(const x86_code *c) {
    uint32_t size = 0;
    foreach_in (const constant, k, c->constants)
        if (k->size > size) size = k->size;
    return size;
}

/* Binds the labels of the constants, which begin after `at` in the image; gives where they end. */
static uint32_t place_constants(x86_code *c, uint32_t at) {
    uint32_t largest = largest_constant(c), shift = c->gaps.data[c->gaps.n - 1].start;
    if (largest) at = (at + largest - 1) & ~(largest - 1);
    for (uint32_t size = largest; size; size /= 2)
        foreach_in (const constant, k, c->constants) {
            if (k->size != size) continue;
            c->labels.data[k->label] = (place){at - shift, c->gaps.n - 1};
            at += size;
        }
    return at;
}

static void copy_constants(const x86_code *c, uint8_t *to) {
    foreach_in (const constant, k, c->constants)
        memcpy(to + label_place(c, k->label), k->bytes, k->size);
}

/* ---------------------------------------------------------------------------------------- bytes */

/* The recommended nops of one to nine bytes: 66 nop [rax+rax*1+0x0] and what is left of it. */
static void put_nops(uint8_t *to, unsigned n) {
    static const uint8_t nops[9][9] = {{0x90},
                                       {0x66, 0x90},
                                       {0x0f, 0x1f, 0x00},
                                       {0x0f, 0x1f, 0x40, 0x00},
                                       {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                       {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
                                       {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
                                       {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
                                       {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
    while (n) {
        unsigned now = n < 9 ? n : 9;
        memcpy(to, nops[now - 1], now);
        to += now;
        n -= now;
    }
}

static void put_distance(uint8_t *to, int64_t d, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (uint8_t)((uint64_t)d >> 8 * i);
}

/* The field gets the distance from the end of its instruction, `tail` bytes on, to the label, or a
 * relocation if the label is not bound.  False: the distance does not fit. */
static bool put_field(const x86_code *c, cg_image *out, const gap *g, uint32_t at, unsigned tail) {
    int64_t addend = (int64_t)g->disp - tail;
    bool bound = is_bound(c, g->label);
    if (!bound) out->relocs[out->nrelocs++] = (cg_label_reloc){at, g->label, addend};
    int64_t d = bound ? label_place(c, g->label) + addend - at : 0;
    put_distance(out->bytes + at, d, FIELD);
    return d == (int32_t)d;
}

static bool fill_jump(const x86_code *c, cg_image *out, const gap *g) {
    x86_operands o = {.arg = {x86_target(g->label)}};
    x86_patch patch;
    x86_row row = is_short(g) ? x86_forms[g->row].shorter : g->row;
    uint32_t at = gap_place(g);
    x86_put(out->bytes + at, row, &o, &patch);
    if (patch.length - patch.at == FIELD) return put_field(c, out, g, at + patch.at, FIELD);
    if (!reaches(c, g)) return false;
    put_distance(out->bytes + at + patch.at, distance(c, g), 1);
    return true;
}

static bool fill_gap(const x86_code *c, cg_image *out, const gap *g) {
    switch (g->kind) {
    case GAP_JUMP: return fill_jump(c, out, g);
    case GAP_ALIGN:
    case GAP_TOGETHER: put_nops(out->bytes + gap_place(g), g->size); break;
    case GAP_FIELD: return put_field(c, out, g, gap_place(g), g->tail);
    case GAP_END: break;
    }
    return true;
}

/* The code between the gaps; the last one is the end. */
static void copy_code(const x86_code *c, uint8_t *to) {
    uint32_t from = 0;
    foreach_in (const gap, g, c->gaps) {
        memcpy(to + from + g->start, c->data + from, g->at - from);
        from = g->at;
    }
}

static void list_labels(const x86_code *c, cg_image *out) {
    out->nlabels = c->labels.n;
    out->labels = ir_new_array(c->arena, uint32_t, c->labels.n);
    for (uint32_t i = 0; i < c->labels.n; i++)
        out->labels[i] = is_bound(c, i) ? label_place(c, i) : UNBOUND;
}

static uint32_t alignment(const x86_code *c) {
    uint32_t most = largest_constant(c);
    foreach_in (const gap, g, c->gaps)
        if ((g->kind == GAP_ALIGN || g->kind == GAP_TOGETHER) && g->most > most) most = g->most;
    return most ? most : 1;
}

bool x86_finish(x86_code *c, cg_image *out) {
    reserve(c, X86_MAX_BYTES);
    add_gap(c, GAP_END, c->n);
    relax(c);
    uint32_t code_bytes = gap_place(&c->gaps.data[c->gaps.n - 1]);
    uint32_t n = place_constants(c, code_bytes);
    *out = (cg_image){.n = n, .code_bytes = code_bytes, .alignment = alignment(c)};
    out->bytes = ir_alloc(c->arena, n + X86_MAX_BYTES);
    out->relocs = ir_new_array(c->arena, cg_label_reloc, c->gaps.n);
    copy_code(c, out->bytes);
    bool reached = true;
    foreach_in (const gap, g, c->gaps) reached &= fill_gap(c, out, g);
    copy_constants(c, out->bytes);
    list_labels(c, out);
    return reached;
}
