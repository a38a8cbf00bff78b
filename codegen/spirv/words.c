/* words.c — sections of words, ids, interning, and what a module declares: capabilities,
 * extensions, names, decorations.
 *
 * An instruction is a word with its length and opcode, then its operands.  Types and constants are
 * interned: such an instruction is written at the end of its section first and then looked up.  The
 * hash table contains places in the section; two instructions are equal if all words but the id of
 * the result are.  If it was there already, the end of the section is set back.
 */
#include "codegen/spirv/spirv.h"

uint32_t sw_new_id(sw_writer *w) { return w->out.bound++; }

static void copy_words(uint32_t *to, sw_list from) {
    if (from.n) memcpy(to, from.word, from.n * sizeof *to);
}

static void reserve(sw_writer *w, sw_words *to, uint32_t n) {
    if (to->n > UINT32_MAX / 8) ir_throw(w->cx, IR_ERR_LIMIT);
    to->cap = to->cap ? to->cap * 2 : 256;
    while (to->cap < to->n + n) to->cap *= 2;
    uint32_t *data = ir_new_array(w->arena, uint32_t, to->cap);
    copy_words(data, (sw_list){to->n, to->data});
    to->data = data;
}

/* Makes room for an instruction of n words, which the caller fills in. */
static uint32_t *extend(sw_writer *w, sw_section s, uint32_t n) {
    sw_words *to = &w->out.section[s];
    if (n > SW_MAX_WORDS) sw_refuse_module(w, "an instruction would have %u words", n);
    if (to->cap - to->n < n) reserve(w, to, n);
    uint32_t *at = to->data + to->n;
    to->n += n;
    return at;
}

static uint32_t first_word(SpvOp op, uint32_t words) { return words << 16 | (uint32_t)op; }

void sw_put(sw_writer *w, sw_section s, SpvOp op, sw_list operands) {
    uint32_t *at = extend(w, s, operands.n + 1);
    at[0] = first_word(op, operands.n + 1);
    copy_words(at + 1, operands);
}

void sw_put_result(sw_writer *w, sw_section s, SpvOp op, sw_result result, sw_list operands) {
    uint32_t *at = extend(w, s, operands.n + 3);
    at[0] = first_word(op, operands.n + 3);
    at[1] = result.type;
    at[2] = result.id;
    copy_words(at + 3, operands);
}

/* -------------------------------------------------------------------------------------- strings */

static uint32_t string_words(size_t length) {
    return length / 4 < SW_MAX_WORDS ? (uint32_t)(length / 4 + 1) : SW_MAX_WORDS + 1u;
}

/* The first byte goes into the low bits of a word, whatever the host's byte order is. */
static void copy_string(uint32_t *to, const char *string, size_t length) {
    for (size_t i = 0; i <= length / 4; i++) to[i] = 0;
    for (size_t i = 0; i < length; i++)
        to[i / 4] |= (uint32_t)(unsigned char)string[i] << i % 4 * 8;
}

void sw_put_string(sw_writer *w, sw_section s, SpvOp op, sw_text x) {
    size_t length = strlen(x.string);
    uint32_t room = string_words(length), words = 1 + x.before.n + room + x.after.n;
    uint32_t *at = extend(w, s, words);
    at[0] = first_word(op, words);
    copy_words(at + 1, x.before);
    copy_string(at + 1 + x.before.n, x.string, length);
    copy_words(at + 1 + x.before.n + room, x.after);
}

/* --------------------------------------------------------------------------------------- interning
 *
 * Linear probing, at most half full; entries are places in SEC_GLOBAL plus 1. */

static uint32_t hash_words(const uint32_t *at, bool typed) {
    uint32_t n = at[0] >> 16, id = typed ? 2 : 1;
    uint64_t h = at[0];
    for (uint32_t i = 1; i < n; i++)
        if (i != id) h = ir_mix(h, at[i]);
    return (uint32_t)h;
}

static bool equal_words(const uint32_t *a, const uint32_t *b, bool typed) {
    uint32_t n = a[0] >> 16, id = typed ? 2 : 1;
    if (a[0] != b[0]) return false;
    for (uint32_t i = 1; i < n; i++)
        if (i != id && a[i] != b[i]) return false;
    return true;
}

/* Types have their result where constants have their type. */
static bool is_typed(uint32_t word) {
    SpvOp op = (SpvOp)(word & SpvOpCodeMask);
    return op < SpvOpTypeVoid || op > SpvOpTypeForwardPointer;
}

static void grow_interned(sw_writer *w) {
    uint32_t *old = w->out.interned.place, old_cap = w->out.interned.capacity;
    w->out.interned.capacity = old_cap ? old_cap * 2 : 128;
    w->out.interned.place = ir_new_array(w->arena, uint32_t, w->out.interned.capacity);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (!old[i]) continue;
        const uint32_t *at = w->out.section[SEC_GLOBAL].data + old[i] - 1;
        uint32_t slot = hash_words(at, is_typed(at[0])) & (w->out.interned.capacity - 1);
        while (w->out.interned.place[slot]) slot = (slot + 1) & (w->out.interned.capacity - 1);
        w->out.interned.place[slot] = old[i];
    }
}

uint32_t sw_intern(sw_writer *w, SpvOp op, uint32_t type, sw_list operands) {
    bool typed = type != 0;
    uint32_t id = typed ? 2 : 1, place = w->out.section[SEC_GLOBAL].n;
    if (2 * (w->out.interned.n + 1) > w->out.interned.capacity) grow_interned(w);
    uint32_t *at = extend(w, SEC_GLOBAL, operands.n + 1 + id);
    at[0] = first_word(op, operands.n + 1 + id);
    at[1] = type;
    at[id] = 0;
    copy_words(at + id + 1, operands);
    uint32_t slot = hash_words(at, typed) & (w->out.interned.capacity - 1);
    for (; w->out.interned.place[slot]; slot = (slot + 1) & (w->out.interned.capacity - 1)) {
        const uint32_t *other = w->out.section[SEC_GLOBAL].data + w->out.interned.place[slot] - 1;
        if (!equal_words(at, other, typed)) continue;
        w->out.section[SEC_GLOBAL].n = place;
        return other[id];
    }
    w->out.interned.place[slot] = place + 1;
    w->out.interned.n++;
    return at[id] = sw_new_id(w);
}

/* ------------------------------------------------------------------- what a module must declare */

bool sw_has_capability(const sw_writer *w, SpvCapability c) {
    for (uint32_t i = 0; i < w->out.capabilities.n; i++)
        if (w->out.capabilities.data[i] == (uint32_t)c) return true;
    return false;
}

void sw_capability(sw_writer *w, SpvCapability c) {
    if (!sw_has_capability(w, c)) *ir_push(w->arena, &w->out.capabilities) = (uint32_t)c;
}

void sw_extension(sw_writer *w, const char *name) {
    for (uint32_t i = 0; i < w->out.extensions.n; i++)
        if (strcmp(w->out.extensions.data[i], name) == 0) return;
    *ir_push(w->arena, &w->out.extensions) = name;
}

uint32_t sw_import_std(sw_writer *w) {
    if (!w->out.std) w->out.std = sw_new_id(w);
    return w->out.std;
}

/* ------------------------------------------------------------------------ names and decorations */

void sw_name(sw_writer *w, uint32_t id, const char *name) {
    if (name && *name && !w->options.no_names)
        sw_put_string(w, SEC_NAME, SpvOpName, (sw_text){.before = SW_LIST(id), .string = name});
}

void sw_decorate(sw_writer *w, uint32_t id, SpvDecoration d, sw_list operands) {
    uint32_t *at = extend(w, SEC_DECORATION, operands.n + 3);
    at[0] = first_word(SpvOpDecorate, operands.n + 3);
    at[1] = id;
    at[2] = (uint32_t)d;
    copy_words(at + 3, operands);
}

/* Decorations with strings are newer than those with numbers. */
static void need_strings(sw_writer *w) {
    if (w->out.version >= 0x00010400) return;
    sw_extension(w, "SPV_GOOGLE_decorate_string");
    sw_extension(w, "SPV_GOOGLE_hlsl_functionality1");
}

void sw_decorate_semantic(sw_writer *w, uint32_t id, const char *word) {
    need_strings(w);
    sw_put_string(w, SEC_DECORATION, SpvOpDecorateString,
                  (sw_text){.before = SW_LIST(id, SpvDecorationUserSemantic), .string = word});
}

void sw_decorate_member(sw_writer *w, uint32_t id, uint32_t member, const char *word) {
    need_strings(w);
    sw_put_string(
        w, SEC_DECORATION, SpvOpMemberDecorateString,
        (sw_text){.before = SW_LIST(id, member, SpvDecorationUserSemantic), .string = word});
}

void sw_decorate_linkage(sw_writer *w, uint32_t id, const char *name, bool import) {
    uint32_t type = import ? SpvLinkageTypeImport : SpvLinkageTypeExport;
    sw_capability(w, SpvCapabilityLinkage);
    sw_put_string(w, SEC_DECORATION, SpvOpDecorate,
                  (sw_text){.before = SW_LIST(id, SpvDecorationLinkageAttributes),
                            .string = name,
                            .after = SW_LIST(type)});
}

/* --------------------------------------------------------------------------------------- errors */

void sw_refuse_module(sw_writer *w, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(w->cx, (ir_message){.severity = IR_ERROR, .file = w->m->name}, fmt, ap);
    va_end(ap);
    ir_throw(w->cx, IR_ERR_INPUT);
}
