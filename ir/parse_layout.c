/* parse_layout.c — reads declarations about structs that kernels take by value (layout.h).
 *
 *   layout values area 1024 spill drop
 *   special "class.accessor" init @accessor_init finalize @accessor_end
 *   closure @kernel 0 size 56 {
 *     0 "i": i32 specialized
 *     4: bytes 8
 *     16 "acc": special 40 init @accessor_init
 *   }
 *
 * They are part of the text of a module, or a text of their own.  What they say of functions and
 * types is not checked here: these may be further down.
 */
#include "ir/layout.h"
#include "ir/text.h"

ir_layout *ir_layout_of(ir_module *m) {
    if (!m->layout) m->layout = ir_new(&m->arena, ir_layout);
    return m->layout;
}

static const char *keep(text_parser *p, const char *s) { return ir_strdup(&p->m->arena, s); }

static void parse_functions(text_parser *p, const char **init, const char **finalize) {
    if (!text_accept_word(p, "init")) text_expected(p, "'init'");
    *init = keep(p, text_expect_symbol(p, "a function such as @init"));
    if (text_accept_word(p, "finalize"))
        *finalize = keep(p, text_expect_symbol(p, "a function such as @finalize"));
}

static void parse_switches(text_parser *p) {
    ir_layout *l = ir_layout_of(p->m);
    for (bool more = true; more;) {
        if (text_accept_word(p, "values"))
            l->values = true;
        else if (text_accept_word(p, "spill"))
            l->spill = true;
        else if (text_accept_word(p, "drop"))
            l->drop = true;
        else if (text_accept_word(p, "area"))
            l->area = text_expect_number(p, UINT32_MAX, "a number of bytes");
        else
            more = false;
    }
}

static void parse_special(text_parser *p) {
    ir_layout_special s = {.type = keep(p, text_expect_string(p, "the name of a structure"))};
    parse_functions(p, &s.init, &s.finalize);
    *ir_push(&p->m->arena, &ir_layout_of(p->m)->specials) = s;
}

static void parse_layout_member(text_parser *p, ir_layout_closure *c) {
    ir_layout_member member = {.offset = text_expect_number(p, UINT32_MAX, "an offset")};
    if (p->tok.kind == T_STRING) member.name = keep(p, text_expect_string(p, "a name"));
    text_expect(p, ':', "':'");
    if (text_accept_word(p, "bytes")) {
        member.kind = IR_MEMBER_BYTES;
        member.size = text_expect_number(p, UINT32_MAX, "a number of bytes");
    } else if (text_accept_word(p, "special")) {
        member.kind = IR_MEMBER_SPECIAL;
        member.size = text_expect_number(p, UINT32_MAX, "a number of bytes");
        parse_functions(p, &member.init, &member.finalize);
    } else {
        member.type = text_parse_memory_type(p);
    }
    member.specialized = text_accept_word(p, "specialized");
    *ir_push(&p->m->arena, &c->members) = member;
}

static void parse_closure(text_parser *p) {
    ir_layout_closure c = {.kernel = keep(p, text_expect_symbol(p, "a kernel such as @k"))};
    c.param = (uint32_t)text_expect_number(p, UINT32_MAX - 1, "a parameter");
    if (!text_accept_word(p, "size")) text_expected(p, "'size'");
    c.size = text_expect_number(p, UINT32_MAX, "a number of bytes");
    text_expect(p, '{', "'{'");
    while (p->tok.kind != '}') parse_layout_member(p, &c);
    text_advance(p);
    *ir_push(&p->m->arena, &ir_layout_of(p->m)->closures) = c;
}

bool text_accept_layout(text_parser *p) {
    if (text_accept_word(p, "layout"))
        parse_switches(p);
    else if (text_accept_word(p, "special"))
        parse_special(p);
    else if (text_accept_word(p, "closure"))
        parse_closure(p);
    else
        return false;
    return true;
}
