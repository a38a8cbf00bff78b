/* ids.c — the table of ids: what each id means, and operands by their ids.
 *
 * Ids are dense in what compilers write, so the table is an array.  A module whose bound is larger
 * than its number of words (no such module defines most of them) gets a map instead, so that memory
 * stays proportional to the input.
 */
#include "frontend/reader.h"

spv_id *spv_find_slow(reader *r, uint32_t id) {
    if (id == 0) spv_fail(r, "%s: there is no id 0", spv_op_name(r));
    if (id >= r->input.bound)
        spv_fail(r, "%s: id %u is not below the bound %u", spv_op_name(r), id, r->input.bound);
    spv_id *e = ir_map_get(&r->ids.sparse, id);
    if (!e) {
        e = ir_new(&r->scratch, spv_id);
        ir_map_set(&r->scratch, &r->ids.sparse, id, e);
    }
    return e;
}

spv_id *spv_new_id(reader *r, spv_id_kind kind) {
    if (r->in.id == 0) spv_fail(r, "%s: the result id is 0", spv_op_name(r));
    spv_id *e = spv_find(r, r->in.id);
    if (e->kind != ID_FREE) spv_fail(r, "id %%%u is defined twice", r->in.id);
    if (e->decor && e->decor->lack && kind != ID_FUNCTION) spv_refuse(r, "%s", e->decor->lack);
    e->kind = (uint8_t)kind;
    e->owner = r->f ? r->serial : 0;
    return e;
}

/* ----------------------------------------------------------------------------------------- strings
 *
 * The bytes of a string are packed into words with the first in the low bits, on every host. */

static char byte_at(const reader *r, uint32_t word, size_t n) {
    return (char)(r->input.words[word + n / 4] >> (8 * (n % 4)) & 255);
}

const char *spv_string_at(reader *r, uint32_t word) {
    size_t n = 0, room = 4 * (size_t)(r->input.nwords - word);
    while (n < room && byte_at(r, word, n)) n++;
    char *text = ir_alloc(&r->scratch, n + 1);
    for (size_t i = 0; i < n; i++) text[i] = byte_at(r, word, i);
    return text;
}

static bool has_zero_byte(uint32_t word) {
    return !(word & 0xff) || !(word & 0xff00) || !(word & 0xff0000) || !(word & 0xff000000);
}

uint32_t spv_string_words(reader *r, uint32_t k) {
    uint32_t n = k;
    while (n < r->in.n && !has_zero_byte(r->in.arg[n])) n++;
    if (n >= r->in.n) spv_fail(r, "%s: a string is not ended", spv_op_name(r));
    return n + 1 - k;
}

const char *spv_string(reader *r, uint32_t k) {
    spv_string_words(r, k);
    return spv_string_at(r, (uint32_t)(&r->in.arg[k] - r->input.words));
}

const char *spv_name(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    return e->name ? spv_string_at(r, e->name) : NULL;
}

static bool is_taken(const reader *r, const char *name) {
    return ir_func_find(r->m, name) || ir_global_find(r->m, name);
}

const char *spv_free_name(reader *r, const char *name, uint32_t id) {
    if (!is_taken(r, name)) return name;
    const char *next = ir_sprintf(&r->scratch, "%s.1", name);
    return is_taken(r, next) ? ir_sprintf(&r->scratch, "%s.%u", name, id) : next;
}

/* Equal hashes do not make equal names, so each entry of the map is a list. */
struct spv_named {
    const char *name;
    size_t length;
    const char *text;
    spv_named *next;
};

void spv_note_name(reader *r, ir_map *names, const char *name, size_t length, const char *text) {
    uint64_t hash = ir_hash(0, name, length);
    spv_named *e = ir_new(&r->scratch, spv_named);
    *e = (spv_named){name, length, text, ir_map_get(names, hash)};
    ir_map_set(&r->scratch, names, hash, e);
}

const char *spv_noted(const ir_map *names, const char *name) {
    size_t length = strlen(name);
    const spv_named *e = ir_map_get(names, ir_hash(0, name, length));
    while (e && (e->length != length || memcmp(e->name, name, length) != 0)) e = e->next;
    return e ? e->text : NULL;
}

/* --------------------------------------------------------------------------------------- values */

static const char *kind_name(const spv_id *e) {
    static const char *const names[] = {
        [ID_FREE] = "not defined", [ID_STRING] = "a string",     [ID_SET] = "an instruction set",
        [ID_TYPE] = "a type",      [ID_FUNCTION] = "a function", [ID_LABEL] = "a label",
        [ID_OTHER] = "not a value"};
    return e->kind < sizeof names / sizeof *names && names[e->kind] ? names[e->kind]
                                                                    : "not a value";
}

static bool is_value(const spv_id *e) { return e->kind >= ID_PENDING && e->kind <= ID_BUILTIN; }

/* Fails unless the id may be used as a value here. */
static void check_value(reader *r, const spv_id *e, uint32_t id) {
    if (e->kind == ID_CONST && e->konst->form == C_LACKING) spv_refuse(r, "%s", e->konst->reason);
    if (e->kind == ID_CONST || e->kind == ID_VARIABLE) return;
    if (e->kind == ID_FUNCTION) spv_refuse_inst(r, "function pointers");
    if (!is_value(e)) spv_fail(r, "%s: %%%u is %s", spv_op_name(r), id, kind_name(e));
    if (e->owner && e->owner != r->serial)
        spv_fail(r, "%s: %%%u belongs to another function", spv_op_name(r), id);
}

spv_type *spv_type_of(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    if (e->kind == ID_VALUE && e->owner == r->serial) return e->type;
    check_value(r, e, id);
    return e->type;
}

/* Constants and variables become leaves of the current function, once. */
static ir_inst *cached_leaf(reader *r, spv_id *e) {
    if (e->cached_in == r->serial) return e->cached;
    e->cached =
        e->kind == ID_CONST ? spv_const_value(r, e->konst) : spv_variable_address(r, e->var);
    e->cached_in = r->serial;
    return e->cached;
}

ir_inst *spv_value_slow(reader *r, uint32_t id) {
    spv_id *e = spv_find(r, id);
    check_value(r, e, id);
    if (e->type && (spv_is_aggregate(e->type) || e->type->form == T_VOID))
        spv_fail(r, "%s: %%%u has type %s, want a scalar or vector", spv_op_name(r), id,
                 spv_type_name(r, e->type));
    if (e->kind == ID_CONST || e->kind == ID_VARIABLE) return cached_leaf(r, e);
    if (e->kind == ID_BUILTIN) return spv_builtin_address(r, e->pointer);
    if (e->kind == ID_PENDING)
        spv_fail(r, "%s: %%%u is used where its definition does not dominate", spv_op_name(r), id);
    return e->val;
}

/* ----------------------------------------------------------------------------- checked operands */

void spv_bad_type(reader *r, uint32_t k, const char *want) {
    spv_fail(r, "%s: operand %u has type %s, want %s", spv_op_name(r), k + 1,
             spv_type_name(r, spv_arg_type(r, k)), want);
}

ir_inst *spv_arg_of(reader *r, uint32_t k, ir_type want) {
    ir_inst *v = spv_arg(r, k);
    if (v->type != want) spv_bad_type(r, k, spv_ir_type_name(r, want));
    return v;
}

ir_inst *spv_arg_pointer(reader *r, uint32_t k) {
    ir_inst *v = spv_arg(r, k);
    if (!ir_is_ptr(v->type)) spv_bad_type(r, k, "a pointer");
    return v;
}

ir_inst *spv_arg_int(reader *r, uint32_t k) {
    ir_inst *v = spv_arg(r, k);
    if (!ir_is_int(v->type) || ir_is_bool(v->type) || ir_is_vector(v->type))
        spv_bad_type(r, k, "an integer");
    return v;
}

ir_inst *spv_to_int(reader *r, ir_inst *v, ir_type t, bool is_signed) {
    unsigned have = ir_bits(r->m, ir_elem(v->type)), want = ir_bits(r->m, ir_elem(t));
    if (have == want) return v;
    return spv_op1(r, have > want ? IR_OP_trunc : is_signed ? IR_OP_sext : IR_OP_zext, t, v);
}

ir_inst *spv_arg_size(reader *r, uint32_t k) {
    return spv_to_int(r, spv_arg_int(r, k), ir_size_type(r->m), false);
}

ir_inst *spv_arg_i32(reader *r, uint32_t k) {
    return spv_to_int(r, spv_arg_int(r, k), IR_I32, false);
}

/* ------------------------------------------------------------------------------ lost truncations
 *
 * Where each bit of a result depends on operand bits of the same or lower places only, some
 * compilers drop a truncation before the operation, and pass the wider operand (clang-22 does). */

bool spv_is_wider(const spv_type *have, const spv_type *want) {
    return spv_is_integer(have->value) && spv_is_integer(want->value) && have->bits > want->bits &&
           ir_lanes(have->value) == ir_lanes(want->value);
}

bool spv_fits(reader *r, uint32_t k, const spv_type *t) {
    const spv_type *have = spv_arg_type(r, k);
    return spv_same_type(have, t) || spv_is_wider(have, t);
}

ir_inst *spv_low_value(reader *r, uint32_t id, const spv_type *t) {
    ir_inst *v = spv_value(r, id);
    if (v->type == t->value && !t->odd) return v;
    if (!spv_is_wider(spv_type_of(r, id), t)) return v;
    spv_warn(r, WARN_TRUNCATION);
    return spv_mask_odd(r, t, spv_to_int(r, v, t->value, false));
}

ir_inst *spv_arg_low(reader *r, uint32_t k, const spv_type *t) {
    ir_inst *v = spv_low_value(r, r->in.arg[k], t);
    if (v->type != t->value) spv_bad_type(r, k, spv_type_name(r, t));
    return v;
}

/* -------------------------------------------------------------------------------------- results */

void spv_define(reader *r, ir_inst *v) {
    spv_id *e = spv_find(r, r->in.id);
    assert(e->kind == ID_PENDING);
    e->kind = ID_VALUE;
    e->val = v;
    if (e->name && !ir_is_leaf(v) && !ir_name_of(r->b.f, v))
        ir_set_name(r->b.f, v, spv_string_at(r, e->name));
}

void spv_define_checked(reader *r, ir_inst *v) {
    const spv_type *t = spv_value_type(r, r->in.type);
    if (v->type != t->value)
        spv_fail(r, "%s: the result has type %s, want %s", spv_op_name(r), spv_type_name(r, t),
                 spv_ir_type_name(r, v->type));
    spv_define(r, v);
}
