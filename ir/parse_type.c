/* parse_type.c — types and literals of the text form.
 *
 * Types nest at most IR_MAX_TYPE_DEPTH deep, and so does the recursion here.  A literal is read for
 * a type that is already known; integers may be written signed or unsigned, in decimal or
 * hexadecimal, and must fit; floats go through ir_fp_parse, which rounds correctly.
 */
#include "ir/eval.h"
#include "ir/text.h"

/* ---------------------------------------------------------------------------------------- types */

static ir_type parse_type(text_parser *p, unsigned depth);

static bool is_lane_kind(ir_type t) { return t >= IR_I1 && t <= IR_F64; }

/* v4f32; IR_VOID when the word is something else. */
static ir_type vector_of_word(text_parser *p, const text_token *t) {
    const char *s = t->start + 1;
    unsigned lanes = 0;
    if (*t->start != 'v' || *s < '0' || *s > '9') return IR_VOID;
    for (; s < t->end && *s >= '0' && *s <= '9' && lanes <= IR_MAX_LANES; s++)
        lanes = lanes * 10 + (unsigned)(*s - '0');
    const text_word *elem = text_find_word(text_kinds, s, (size_t)(t->end - s));
    if (!elem || !is_lane_kind(elem->bits)) return IR_VOID;
    if (lanes < 2 || lanes > IR_MAX_LANES)
        text_fail(p, t, "a vector has from 2 to %u lanes", IR_MAX_LANES);
    return ir_vector(elem->bits, lanes);
}

static ir_type parse_image(text_parser *p, ir_kind kind) {
    ir_type_info info = {.kind = kind};
    uint8_t *const fields[] = {&info.image.dim,   &info.image.depth,   &info.image.arrayed,
                               &info.image.ms,    &info.image.sampled, &info.image.format,
                               &info.image.access};
    text_advance(p);
    text_expect(p, '(', "'('");
    const text_word *texel = text_accept_in(p, text_kinds);
    if (!texel || texel->bits > IR_F64) text_expected(p, "the type of a texel's component");
    info.image.texel = texel->bits;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        text_expect(p, ',', "','");
        *fields[i] = (uint8_t)text_expect_number(p, 255, "an operand of an image type");
    }
    text_expect(p, ')', "')'");
    return ir_image_type(p->m, &info);
}

static ir_type type_of_word(text_parser *p, const text_token *t) {
    size_t n = (size_t)(t->end - t->start);
    const text_word *w = text_find_word(text_kinds, t->start, n);
    if (w) return w->bits;
    if (n > 4 && memcmp(t->start, "ptr.", 4) == 0) {
        w = text_find_word(text_spaces, t->start + 4, n - 4);
        return w ? ir_ptr((ir_space)w->bits) : IR_VOID;
    }
    return vector_of_word(p, t);
}

static ir_type parse_word_type(text_parser *p) {
    if (text_at(p, "image")) return parse_image(p, IR_IMAGE);
    if (text_at(p, "sampled_image")) return parse_image(p, IR_SAMPLED_IMAGE);
    ir_type t = type_of_word(p, &p->tok);
    if (t == IR_VOID && !text_at(p, "void")) text_expected(p, "a type");
    text_advance(p);
    return t;
}

static ir_type parse_member(text_parser *p, unsigned depth) {
    text_token at = p->tok;
    if (depth >= IR_MAX_TYPE_DEPTH)
        text_fail(p, &at, "types nest more than %u deep", IR_MAX_TYPE_DEPTH);
    ir_type t = parse_type(p, depth + 1);
    if (t == IR_VOID) text_fail(p, &at, "memory cannot hold void");
    return t;
}

static ir_type parse_array(text_parser *p, unsigned depth) {
    text_expect(p, '[', "'['");
    uint32_t n = (uint32_t)text_expect_number(p, UINT32_MAX, "a number of elements");
    if (!text_accept_word(p, "x")) text_expected(p, "'x'");
    ir_type elem = parse_member(p, depth);
    text_expect(p, ']', "']'");
    return ir_array_type(p->m, elem, n);
}

static ir_type parse_struct(text_parser *p, const char *name, unsigned depth) {
    ir_vec(ir_type) members = {0};
    ir_vec(bool) marked = {0};
    bool packed = text_accept(p, '<'), any = false;
    text_expect(p, '{', "'{'");
    while (p->tok.kind != '}') {
        if (members.n) text_expect(p, ',', "',' or '}'");
        *ir_push(&p->scratch, &members) = parse_member(p, depth);
        *ir_push(&p->scratch, &marked) = text_accept_word(p, "specialized");
        any |= marked.data[marked.n - 1];
    }
    text_advance(p);
    if (packed) text_expect(p, '>', "'>'");
    const ir_type plain = ir_struct_type(p->m, any ? NULL : name, packed, members.data, members.n);
    return any ? ir_mark_members(p->m, name, plain, marked.data) : plain;
}

static ir_type parse_type(text_parser *p, unsigned depth) {
    switch (p->tok.kind) {
    case T_WORD: return parse_word_type(p);
    case '[': return parse_array(p, depth);
    case '{':
    case '<': return parse_struct(p, NULL, depth);
    default: text_expected(p, "a type");
    }
}

ir_type text_parse_type(text_parser *p) { return parse_type(p, 0); }

ir_type text_parse_struct(text_parser *p, const char *name) { return parse_struct(p, name, 0); }

ir_type text_parse_memory_type(text_parser *p) { return parse_member(p, 0); }

/* ------------------------------------------------------------------------------------- literals */

static const text_word literal_words[] = {
    {"true", 1}, {"false", 0}, {"null", 0},  {"inf", 0},
    {"nan", 0},  {"undef", 0}, {"splat", 0}, {NULL, 0},
};

bool text_at_literal(const text_parser *p) {
    const text_token *t = &p->tok;
    if (t->kind == T_INT || t->kind == T_FLOAT || t->kind == '<') return true;
    return t->kind == T_WORD &&
           text_find_word(literal_words, t->start, (size_t)(t->end - t->start));
}

const char *text_show_type(text_parser *p, ir_type t) {
    ir_text out = {.arena = &p->scratch};
    ir_print_type(&out, p->m, t);
    return out.data;
}

static uint64_t int_of_token(text_parser *p, const text_token *t, ir_type elem) {
    unsigned bits = ir_bits(p->m, elem);
    uint64_t v, most = ir_zext(UINT64_MAX, bits);
    bool negative;
    if (t->kind != T_INT)
        text_fail(p, t, "expected a literal of type %s, found %s", text_show_type(p, elem),
                  text_show(p, t));
    if (!text_number(t, &v, &negative) || v > (negative ? most / 2 + 1 : most))
        text_fail(p, t, "%s does not fit %s", text_show(p, t), text_show_type(p, elem));
    return ir_zext(negative ? 0 - v : v, bits);
}

static uint64_t float_of_token(text_parser *p, const text_token *t, ir_type elem) {
    size_t n = (size_t)(t->end - t->start);
    uint64_t bits;
    bool number = t->kind == T_INT || t->kind == T_FLOAT || t->kind == T_WORD;
    if (!number || ir_fp_parse(ir_kind_of(elem), t->start, n, &bits) != n)
        text_fail(p, t, "expected a literal of type %s, found %s", text_show_type(p, elem),
                  text_show(p, t));
    return bits;
}

uint64_t text_lane_of_token(text_parser *p, const text_token *t, ir_type elem) {
    size_t n = (size_t)(t->end - t->start);
    const text_word *w = t->kind == T_WORD ? text_find_word(literal_words, t->start, n) : NULL;
    ir_kind k = ir_kind_of(elem);
    if (ir_is_aggregate(elem) || k == IR_VOID || k == IR_IMAGE || k == IR_SAMPLED_IMAGE)
        text_fail(p, t, "there are no literals of type %s", text_show_type(p, elem));
    if (ir_is_float(elem)) return float_of_token(p, t, elem);
    if (ir_is_bool(elem) && w && (*w->word == 't' || *w->word == 'f')) return w->bits;
    if (!ir_is_int(elem) && w && strcmp(w->word, "null") == 0) return 0;
    return int_of_token(p, t, elem);
}

uint64_t text_parse_lane(text_parser *p, ir_type elem) {
    uint64_t bits = text_lane_of_token(p, &p->tok, elem);
    text_advance(p);
    return bits;
}

static void parse_splat(text_parser *p, ir_type t, uint64_t *lanes) {
    text_advance(p);
    text_expect(p, '(', "'('");
    lanes[0] = text_parse_lane(p, ir_elem(t));
    for (unsigned i = 1; i < ir_lanes(t); i++) lanes[i] = lanes[0];
    text_expect(p, ')', "')'");
}

void text_parse_lanes(text_parser *p, ir_type t, uint64_t *lanes) {
    if (!ir_is_vector(t)) {
        lanes[0] = text_parse_lane(p, t);
    } else if (text_at(p, "splat")) {
        parse_splat(p, t, lanes);
    } else {
        if (!text_accept(p, '<'))
            text_fail(p, &p->tok, "expected '<' or 'splat' for a literal of type %s, found %s",
                      text_show_type(p, t), text_show(p, &p->tok));
        for (unsigned i = 0; i < ir_lanes(t); i++) {
            if (i) text_expect(p, ',', "','");
            lanes[i] = text_parse_lane(p, ir_elem(t));
        }
        text_expect(p, '>', "'>'");
    }
}
