/* plan.c — the parser of the plan language: one token of look-ahead, one function per rule.
 *
 *   plan    = { statement newline }
 *   buffer  = "buffer" name elem "[" count "]" [ "=" init ] [ internal ]
 *   internal = "internal" [ ( "private" | "local" ) [ "assume" ] ]
 *   init    = values | "iota" [ "*" value ] | "random" seed | "file" string
 *   scalar  = "scalar" name elem [ "[" count "]" ] "=" values
 *   launch  = "launch" string ":" name { "global" sizes | "local" sizes | "uneven" | "offset" sizes
 *             | "spec" id "=" value | "define" name "=" name { "," name } | "layout" string | build
 *             | "args" given { "," given } }
 *   build   = "build" string         by itself: for the OpenCL C of the launches that follow
 *   given   = arg | "{" arg { "," arg } "}"
 *   sizes   = n [ [ "," ] n [ [ "," ] n ] ]
 *   fuse    = "fuse" name { option } "{" { launch | option } "}"
 *   option  = "no_barriers" | "barrier_local" | "barrier_global" | "force" | "strict" | "phases"
 *   expect  = "expect" place "=" values [ "~" tolerance ]
 *   print   = "print" place          write = "write" name string
 *   place   = name [ "[" first [ ".." last ] "]" ]
 *   arg     = name [ "at" bytes ] [ internal ] | [ "variable" | "specialized" ] value | "local" n
 *   values  = value { "," value }
 *
 * A newline is insignificant after a comma and inside braces where a statement may begin.
 * Everything that can be checked without the kernels is checked here; errors name line and column.
 */
#include "ir/eval.h"
#include "runtime/plan/plan.h"

typedef struct {
    spvf_plan *plan;
    rt_lexer lexer;
    rt_token token;
    const char *build; /* options for OpenCL C, or NULL */
} parser;

/* --------------------------------------------------------------------------------------- tokens */

static void advance(parser *p) { p->token = rt_next_token(&p->lexer); }

static bool is_word(rt_token t, const char *word) {
    return t.kind == RT_NAME && t.n == strlen(word) && memcmp(t.text, word, t.n) == 0;
}

static bool accept(parser *p, int kind) {
    if ((int)p->token.kind != kind) return false;
    advance(p);
    return true;
}

static bool accept_word(parser *p, const char *word) {
    if (!is_word(p->token, word)) return false;
    advance(p);
    return true;
}

static const char *shown(const parser *p, rt_token t) {
    if (t.kind == RT_END) return "the end of the plan";
    if (t.kind == RT_NEWLINE) return "the end of the line";
    return ir_sprintf(&p->plan->arena, "'%.*s'", (int)(t.n < 40 ? t.n : 40), t.text);
}

IR_NORETURN static void expected(parser *p, const char *what) {
    rt_plan_fail(p->plan, p->token, "expected %s, found %s", what, shown(p, p->token));
}

static rt_token take(parser *p, int kind, const char *what) {
    rt_token t = p->token;
    if ((int)t.kind != kind) expected(p, what);
    advance(p);
    return t;
}

static void skip_newlines(parser *p) {
    while (accept(p, RT_NEWLINE)) {
    }
}

static char *text_of(parser *p, rt_token t) { return ir_strndup(&p->plan->arena, t.text, t.n); }

static char *take_string(parser *p, const char *what) {
    rt_token t = take(p, RT_STRING, what);
    return ir_strndup(&p->plan->arena, t.text + 1, t.n - 2);
}

/* -------------------------------------------------------------------------------------- numbers */

static const rt_elem elems[] = {
    {IR_I8, true, "i8"},    {IR_I16, true, "i16"},  {IR_I32, true, "i32"},  {IR_I64, true, "i64"},
    {IR_I8, false, "u8"},   {IR_I16, false, "u16"}, {IR_I32, false, "u32"}, {IR_I64, false, "u64"},
    {IR_F16, false, "f16"}, {IR_F32, false, "f32"}, {IR_F64, false, "f64"}, {IR_I8, false, "bytes"},
};

static bool starts_value(const parser *p) {
    int k = (int)p->token.kind;
    return k == RT_NUMBER || k == '-' || is_word(p->token, "inf") || is_word(p->token, "nan");
}

static uint64_t take_value(parser *p, rt_elem e) {
    bool negative = accept(p, '-');
    rt_token t = p->token;
    if (negative ? t.kind != RT_NUMBER && !is_word(t, "inf") : !starts_value(p))
        expected(p, "a number");
    advance(p);
    return rt_literal(p->plan, t, negative, e);
}

static uint64_t take_count(parser *p, const char *what) {
    rt_token t = take(p, RT_NUMBER, what);
    return rt_literal(p->plan, t, false, (rt_elem){IR_I64, false, "u64"});
}

static rt_elem take_elem(parser *p) {
    for (size_t i = 0; i < sizeof elems / sizeof *elems; i++)
        if (accept_word(p, elems[i].name)) return elems[i];
    expected(p, "an element type (i8 … i64, u8 … u64, f16, f32, f64, bytes)");
}

typedef ir_vec(uint64_t) value_list;

static value_list take_values(parser *p, rt_elem e) {
    value_list v = {0};
    do {
        skip_newlines(p);
        *ir_push(&p->plan->arena, &v) = take_value(p, e);
    } while (accept(p, ','));
    return v;
}

/* --------------------------------------------------------------------------------- declarations */

static uint64_t hash_name(rt_token t) { return ir_hash(0, t.text, t.n); }

/* Names of one hash: the map has the first, and all are looked at. */
static void note_name(spvf_plan *plan, ir_map *names, rt_token t, uint32_t n) {
    if (!ir_map_get(names, hash_name(t)))
        ir_map_set(&plan->arena, names, hash_name(t), (void *)((uintptr_t)n + 1));
}

static uint32_t first_of_hash(const ir_map *names, rt_token t) {
    return (uint32_t)(uintptr_t)ir_map_get(names, hash_name(t)) - 1;
}

static int64_t find_buffer(const spvf_plan *plan, rt_token t) {
    for (uint32_t i = first_of_hash(&plan->buffer_of, t); i < plan->buffers.n; i++)
        if (is_word(t, plan->buffers.data[i].name)) return i;
    return -1;
}

static int64_t find_scalar(const spvf_plan *plan, rt_token t) {
    for (uint32_t i = first_of_hash(&plan->scalar_of, t); i < plan->scalars.n; i++)
        if (is_word(t, plan->scalars.data[i].name)) return i;
    return -1;
}

static rt_token take_new_name(parser *p) {
    rt_token t = take(p, RT_NAME, "a name");
    if (find_buffer(p->plan, t) >= 0 || find_scalar(p->plan, t) >= 0)
        rt_plan_fail(p->plan, t, "'%.*s' is already declared", (int)t.n, t.text);
    return t;
}

static uint64_t take_length(parser *p, rt_elem e) {
    take(p, '[', "'['");
    rt_token at = p->token;
    uint64_t n = take_count(p, "a number of elements");
    if (n == 0 || n > (UINT64_C(1) << 40) / rt_elem_size(e))
        rt_plan_fail(p->plan, at, "a buffer has 1 to 2^40 bytes");
    take(p, ']', "']'");
    return n;
}

static uint64_t one_of(rt_elem e) {
    return ir_is_float(e.kind) ? ir_fp_from_double(e.kind, 1.0) : 1;
}

static void parse_init(parser *p, rt_buffer_decl *b) {
    rt_elem seed = {IR_I64, false, "u64"};
    if (accept_word(p, "iota")) {
        b->init = RT_INIT_IOTA;
        b->factor = accept(p, '*') ? take_value(p, b->elem) : one_of(b->elem);
    } else if (accept_word(p, "random")) {
        b->init = RT_INIT_RANDOM;
        b->factor = take_value(p, seed);
    } else if (accept_word(p, "file")) {
        b->init = RT_INIT_FILE;
        b->path = take_string(p, "a file name in quotes");
    } else {
        rt_token at = p->token;
        value_list v = take_values(p, b->elem);
        if (v.n != 1 && v.n != b->count)
            rt_plan_fail(p->plan, at, "%u values for %llu elements of '%s'", v.n,
                         (unsigned long long)b->count, b->name);
        b->init = RT_INIT_LIST;
        b->list = v.data;
        b->list_count = v.n;
    }
}

static rt_internal parse_internal(parser *p) {
    rt_internal i = {.given = accept_word(p, "internal")};
    if (!i.given) return i;
    if (accept_word(p, "private"))
        i.kind = SPVF_PROMOTE_PRIVATE;
    else if (accept_word(p, "local"))
        i.kind = SPVF_PROMOTE_LOCAL;
    i.assume = i.kind && accept_word(p, "assume");
    return i;
}

static void parse_buffer(parser *p) {
    rt_buffer_decl b = {.at = take_new_name(p)};
    b.name = text_of(p, b.at);
    b.elem = take_elem(p);
    b.count = take_length(p, b.elem);
    if (accept(p, '=')) parse_init(p, &b);
    b.internal = parse_internal(p);
    note_name(p->plan, &p->plan->buffer_of, b.at, p->plan->buffers.n);
    *ir_push(&p->plan->arena, &p->plan->buffers) = b;
}

static void parse_scalar(parser *p) {
    rt_scalar s = {.at = take_new_name(p)};
    s.name = text_of(p, s.at);
    s.elem = take_elem(p);
    uint64_t n = p->token.kind == (rt_token_kind)'[' ? take_length(p, s.elem) : 1;
    take(p, '=', "'='");
    rt_token at = p->token;
    value_list v = take_values(p, s.elem);
    if (v.n != n)
        rt_plan_fail(p->plan, at, "%u values for %llu elements of '%s'", v.n, (unsigned long long)n,
                     s.name);
    size_t size = rt_elem_size(s.elem);
    char *bytes = ir_alloc(&p->plan->arena, v.n * size);
    for (uint32_t i = 0; i < v.n; i++) memcpy(bytes + i * size, &v.data[i], size);
    s.bytes = bytes;
    s.size = v.n * size;
    note_name(p->plan, &p->plan->scalar_of, s.at, p->plan->scalars.n);
    *ir_push(&p->plan->arena, &p->plan->scalars) = s;
}

/* ------------------------------------------------------------------------------------- launches */

static uint32_t parse_sizes(parser *p, uint64_t out[3], const char *what) {
    uint32_t n = 0;
    do {
        out[n++] = take_count(p, what);
        if (n < 3) accept(p, ',');
    } while (n < 3 && p->token.kind == RT_NUMBER);
    return n;
}

static rt_plan_arg parse_arg(parser *p) {
    rt_plan_arg a = {.at = p->token};
    if (accept_word(p, "local")) {
        a.kind = RT_PLAN_LOCAL;
        a.bytes = take_count(p, "a number of bytes");
        return a;
    }
    a.variable = accept_word(p, "variable");
    a.specialized = accept_word(p, "specialized");
    a.at = p->token;
    int64_t buffer = find_buffer(p->plan, p->token), scalar = find_scalar(p->plan, p->token);
    if (buffer >= 0 || scalar >= 0) {
        a.kind = buffer >= 0 ? RT_PLAN_BUFFER : RT_PLAN_SCALAR;
        a.index = (uint32_t)(buffer >= 0 ? buffer : scalar);
        advance(p);
        if (buffer < 0) return a;
        if (accept_word(p, "at")) a.offset = take_count(p, "a number of bytes");
        rt_check_offset(p->plan, &a);
        a.internal = parse_internal(p);
        return a;
    }
    if (p->token.kind == RT_NAME && !starts_value(p))
        rt_plan_fail(p->plan, p->token, "'%.*s' is not declared", (int)p->token.n, p->token.text);
    a.kind = RT_PLAN_LITERAL;
    a.negative = accept(p, '-');
    a.at = p->token;
    if (!starts_value(p)) expected(p, "an argument");
    advance(p);
    return a;
}

/* The members of a struct with pointers are given in braces; of one without members, nothing. */
static void parse_args(parser *p, rt_plan_launch *l) {
    uint32_t closures = 0;
    do {
        skip_newlines(p);
        const rt_plan_arg empty = {.at = p->token, .kind = RT_PLAN_EMPTY};
        const bool braces = accept(p, '{'), none = braces && accept(p, '}');
        if (none) *ir_push(&p->plan->arena, &l->args) = empty;
        if (none) continue;
        closures += braces;
        do {
            skip_newlines(p);
            rt_plan_arg a = parse_arg(p);
            a.closure = braces ? closures : 0;
            *ir_push(&p->plan->arena, &l->args) = a;
        } while (braces && accept(p, ','));
        if (braces) take(p, '}', "'}'");
    } while (accept(p, ','));
}

static void parse_spec(parser *p, rt_plan_launch *l) {
    spvf_spec_value v = {0};
    rt_token at = p->token;
    v.id = (uint32_t)rt_literal(p->plan, take(p, RT_NUMBER, "a SpecId"), false,
                                (rt_elem){IR_I32, false, "u32"});
    take(p, '=', "'='");
    *ir_push(&p->plan->arena, &l->spec_at) = p->token;
    bool negative = accept(p, '-');
    rt_token number = take(p, RT_NUMBER, "a number");
    bool is_float = memchr(number.text, '.', number.n) != NULL;
    v.value = rt_literal(p->plan, number, negative, is_float ? elems[9] : elems[negative ? 3 : 7]);
    for (uint32_t i = 0; i < l->specs.n; i++)
        if (l->specs.data[i].id == v.id) rt_plan_fail(p->plan, at, "spec %u is given twice", v.id);
    *ir_push(&p->plan->arena, &l->specs) = v;
}

/* Function names as SPIR-V has them, which may need quotes. */
static const char *take_function(parser *p, const char *what) {
    if (p->token.kind == RT_STRING) return take_string(p, what);
    return text_of(p, take(p, RT_NAME, what));
}

static void parse_definition(parser *p, rt_plan_launch *l) {
    ir_vec(const char *) calls = {0};
    const char *what = "the name of a function";
    spvf_definition d = {.name = take_function(p, what)};
    take(p, '=', "'='");
    do {
        skip_newlines(p);
        *ir_push(&p->plan->arena, &calls) = take_function(p, what);
    } while (accept(p, ','));
    d.calls = calls.data;
    d.call_count = calls.n;
    *ir_push(&p->plan->arena, &l->definitions) = d;
}

/* What a launch says once. */
static const char *take_once(parser *p, const char *before, const char *what, const char *why) {
    if (before) rt_plan_fail(p->plan, p->token, "a launch has one %s", why);
    return take_string(p, what);
}

static rt_plan_launch parse_launch(parser *p) {
    rt_plan_launch l = {.at = p->token, .usual_build = p->build};
    uint32_t n[3] = {0};
    l.path = take_string(p, "the name of a file with kernels in quotes");
    take(p, ':', "':' and a kernel name");
    l.kernel = take_function(p, "a kernel name");
    for (;;) {
        if (accept_word(p, "global"))
            n[0] = parse_sizes(p, l.range.global, "a global size");
        else if (accept_word(p, "local"))
            n[1] = parse_sizes(p, l.range.local, "a local size");
        else if (accept_word(p, "uneven"))
            l.uneven = true;
        else if (accept_word(p, "offset"))
            n[2] = parse_sizes(p, l.range.offset, "an offset");
        else if (accept_word(p, "spec"))
            parse_spec(p, &l);
        else if (accept_word(p, "define"))
            parse_definition(p, &l);
        else if (accept_word(p, "layout"))
            l.layout = take_once(p, l.layout, "the file name of a layout in quotes", "layout");
        else if (accept_word(p, "build"))
            l.build = take_once(p, l.build, "build options in quotes", "list of build options");
        else if (accept_word(p, "args"))
            parse_args(p, &l);
        else
            break;
    }
    l.range.dims = n[0];
    rt_check_range(p->plan, &l, n);
    return l;
}

static bool parse_barrier(parser *p, rt_group *g) {
    static const char *const names[] = {[SPVF_BARRIER_LOCAL] = "barrier_local",
                                        [SPVF_BARRIER_GLOBAL] = "barrier_global",
                                        [SPVF_BARRIER_NONE] = "no_barriers"};
    rt_token at = p->token;
    for (spvf_barrier b = SPVF_BARRIER_LOCAL; b <= SPVF_BARRIER_NONE; b++) {
        if (!accept_word(p, names[b])) continue;
        if (g->barrier != SPVF_BARRIER_BOTH && g->barrier != b)
            rt_plan_fail(p->plan, at, "'%s' contradicts '%s' of the same group", names[b],
                         names[g->barrier]);
        g->barrier = b;
        return true;
    }
    return false;
}

static bool parse_option(parser *p, rt_group *g) {
    if (accept_word(p, "strict"))
        g->strict = true;
    else if (accept_word(p, "phases"))
        g->phases = true;
    else if (accept_word(p, "force"))
        g->force = true;
    else
        return parse_barrier(p, g);
    return true;
}

static rt_group parse_group(parser *p) {
    rt_group g = {.at = p->token};
    g.name = text_of(p, take(p, RT_NAME, "a name for the fused kernel"));
    while (accept(p, ',') || parse_option(p, &g)) {
    }
    take(p, '{', "'{'");
    for (skip_newlines(p); !accept(p, '}'); skip_newlines(p)) {
        if (accept_word(p, "launch"))
            *ir_push(&p->plan->arena, &g.launches) = parse_launch(p);
        else if (!parse_option(p, &g))
            expected(p, "'launch', an option or '}'");
        accept(p, ',');
    }
    if (!g.launches.n) rt_plan_fail(p->plan, g.at, "fuse group '%s' has no launch", g.name);
    return g;
}

/* ----------------------------------------------------------------------------- other statements */

static rt_range_stmt parse_place(parser *p) {
    rt_range_stmt r = {.at = p->token};
    int64_t buffer = find_buffer(p->plan, p->token);
    if (buffer < 0) expected(p, "the name of a buffer");
    advance(p);
    r.buffer = (uint32_t)buffer;
    r.last = p->plan->buffers.data[buffer].count - 1;
    if (!accept(p, '[')) return r;
    r.first = r.last = take_count(p, "an index");
    if (accept(p, RT_RANGE)) r.last = take_count(p, "an index");
    take(p, ']', "']'");
    rt_check_place(p->plan, &r);
    return r;
}

static rt_range_stmt parse_expect(parser *p) {
    rt_range_stmt r = parse_place(p);
    take(p, '=', "'='");
    value_list v = take_values(p, p->plan->buffers.data[r.buffer].elem);
    r.want = v.data;
    r.want_count = v.n;
    if (v.n != 1 && v.n != r.last - r.first + 1)
        rt_plan_fail(p->plan, r.at, "%u values for %llu elements", v.n,
                     (unsigned long long)(r.last - r.first + 1));
    if (accept(p, '~'))
        r.tolerance = ir_fp_to_double(IR_F64, take_value(p, (rt_elem){IR_F64, false, "f64"}));
    return r;
}

static rt_range_stmt parse_write(parser *p) {
    rt_range_stmt r = parse_place(p);
    r.path = take_string(p, "a file name in quotes");
    return r;
}

static bool parse_declaration(parser *p) {
    if (accept_word(p, "buffer")) return parse_buffer(p), true;
    if (accept_word(p, "scalar")) return parse_scalar(p), true;
    if (!accept_word(p, "build")) return false;
    p->build = take_string(p, "build options in quotes");
    return true;
}

static void parse_statement(parser *p) {
    rt_stmt s = {0};
    ir_arena *a = &p->plan->arena;
    if (parse_declaration(p)) return;
    if (accept_word(p, "launch")) {
        s.kind = RT_LAUNCH;
        *ir_push(a, &s.group.launches) = parse_launch(p);
    } else if (accept_word(p, "fuse")) {
        s.kind = RT_GROUP;
        s.group = parse_group(p);
    } else if (accept_word(p, "expect")) {
        s.kind = RT_EXPECT;
        s.range = parse_expect(p);
    } else if (accept_word(p, "print")) {
        s.kind = RT_PRINT;
        s.range = parse_place(p);
    } else if (accept_word(p, "write")) {
        s.kind = RT_WRITE;
        s.range = parse_write(p);
    } else {
        expected(p, "buffer, scalar, build, launch, fuse, expect, print or write");
    }
    *ir_push(a, &p->plan->stmts) = s;
}

void rt_parse_plan(spvf_plan *plan, const char *text, size_t size) {
    const char *copy = ir_strndup(&plan->arena, text, size);
    parser p = {.plan = plan, .lexer = {copy, copy + size, copy, 1}};
    advance(&p);
    for (skip_newlines(&p); p.token.kind != RT_END; skip_newlines(&p)) {
        parse_statement(&p);
        if (p.token.kind != RT_END) take(&p, RT_NEWLINE, "the end of the line");
    }
}
