/* code.c — instructions of the template machine as bytes and as text; labels; constants, which
 * follow the code.
 */
#include "codegen/template/template.h"

#define UNBOUND UINT32_MAX
enum { FIELD = 4 /* where an instruction has its number */ };

#define PURE false
#define EFFECT true
const template_form template_forms[TEMPLATE_ROWS] = {
#define INST(name, mnemonic, opcode, shape, effect) {mnemonic, shape, opcode, effect},
#include "codegen/template/instructions.def"
#undef INST
};

/* A number that leads from its instruction to a label, `addend` bytes further. */
typedef struct {
    uint32_t at, label; /* the instruction's place */
    int32_t addend;
} distance;

typedef struct {
    uint64_t bits;
    uint32_t label;
} constant;

struct template_code {
    ir_arena *arena;
    ir_vec(uint64_t) words;
    ir_vec(uint32_t) labels; /* by label: its place, or UNBOUND */
    ir_vec(distance) distances;
    ir_vec(constant) constants;
    ir_map known; /* bits of a constant: its label + 1 */
};

template_code *template_code_new(ir_arena *arena) {
    template_code *c = ir_new(arena, template_code);
    c->arena = arena;
    return c;
}

uint32_t template_here(const template_code *c) { return c->words.n * TEMPLATE_BYTES; }

uint32_t template_label_new(template_code *c) {
    *ir_push(c->arena, &c->labels) = UNBOUND;
    return c->labels.n - 1;
}

void template_bind(template_code *c, uint32_t label) { c->labels.data[label] = template_here(c); }

uint32_t template_constant(template_code *c, uint64_t bits) {
    uintptr_t label = (uintptr_t)ir_map_get(&c->known, bits);
    if (label) return (uint32_t)label - 1;
    label = template_label_new(c) + 1;
    ir_map_set(c->arena, &c->known, bits, (void *)label);
    *ir_push(c->arena, &c->constants) = (constant){bits, (uint32_t)label - 1};
    return (uint32_t)label - 1;
}

/* ---------------------------------------------------------------------------------------- bytes */

void template_put(template_code *c, const template_word *w) {
    const uint64_t fields[] = {template_forms[w->row].opcode, w->width << 4 | w->result,
                               w->b << 4 | w->a, w->c};
    uint64_t word = (uint64_t)(uint32_t)w->number << 8 * FIELD;
    for (unsigned n = 0; n < FIELD; n++) word |= fields[n] << 8 * n;
    *ir_push(c->arena, &c->words) = word;
}

void template_put_to(template_code *c, const template_word *w, uint32_t label) {
    *ir_push(c->arena, &c->distances) = (distance){template_here(c), label, w->number};
    template_put(c, w);
}

static void store(uint8_t *to, uint64_t v, unsigned bytes) {
    for (unsigned n = 0; n < bytes; n++) to[n] = (uint8_t)(v >> 8 * n);
}

/* Labels of other sections are for relocations, which count from the field. */
static void fill_distances(const template_code *c, cg_image *out) {
    out->relocs = ir_new_array(c->arena, cg_label_reloc, c->distances.n + 1);
    foreach_in (const distance, d, c->distances) {
        uint32_t to = c->labels.data[d->label], field = d->at + FIELD;
        if (to == UNBOUND)
            out->relocs[out->nrelocs++] = (cg_label_reloc){field, d->label, d->addend + FIELD};
        else
            store(out->bytes + field, to - d->at + (uint64_t)(int64_t)d->addend, FIELD);
    }
}

bool template_finish(template_code *c, cg_image *out) {
    uint64_t bytes = ((uint64_t)c->words.n + c->constants.n) * TEMPLATE_BYTES;
    if (bytes > INT32_MAX) return false;
    *out = (cg_image){
        .n = (uint32_t)bytes, .code_bytes = template_here(c), .alignment = TEMPLATE_BYTES};
    out->bytes = ir_alloc(c->arena, bytes + 1);
    uint8_t *to = out->bytes;
    foreach_in (const uint64_t, word, c->words) store(to, *word, 8), to += 8;
    foreach_in (const constant, k, c->constants) {
        c->labels.data[k->label] = (uint32_t)(to - out->bytes);
        store(to, k->bits, 8);
        to += 8;
    }
    out->labels = c->labels.data;
    fill_distances(c, out);
    return true;
}

/* ----------------------------------------------------------------------------------------- text */

static const char *name_of(unsigned r, char out[8]) {
    static const char *const names[] = {"lr", "fp", "sp"};
    if (r >= TEMPLATE_LR) return names[r - TEMPLATE_LR];
    snprintf(out, 8, "r%u", r);
    return out;
}

/* add.32 r1, r2, r3 */
void template_print(ir_text *out, const template_word *w, const char *to) {
    const template_form *form = &template_forms[w->row];
    const unsigned operands[] = {w->a, w->b, w->c};
    const char *between = " ";
    char name[8];
    unsigned n = 0;
    ir_putf(out, "    %s.%u", form->mnemonic, 8u << w->width);
    for (const char *s = form->shape; *s; s++) {
        if (*s == '-') continue;
        unsigned reg = s == form->shape ? w->result : operands[n];
        ir_put(out, between);
        if (*s == 'f') ir_putf(out, "f%u", reg);
        if (*s == 'r') ir_put(out, name_of(reg, name));
        if (*s == 'm')
            ir_putf(out, form->has_effect ? "[%s%+d]" : "%s, %d", name_of(reg, name), w->number);
        if (*s == 'i') ir_putf(out, "%d", w->number);
        if (*s == 'g' || *s == 'c' || *s == 'l') ir_put(out, to);
        n += s != form->shape && strchr("frm", *s);
        between = ", ";
    }
    ir_put(out, "\n");
}
