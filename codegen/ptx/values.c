/* values.c — registers and literals.
 *
 * A value has a register for each lane, numbered one after the other.  Constants are literals where
 * an instruction takes one, and are moved into a register elsewhere.
 */
#include "codegen/ptx/ptx.h"

#include <ctype.h>

/* ----------------------------------------------------------------------------------------- text */

ir_text *ptx_begin(ptx_func *fn) {
    ir_put(&fn->body, "\t");
    return &fn->body;
}

void ptx_end(ptx_func *fn) { ir_put(&fn->body, ";\n"); }

void ptx_put(ptx_func *fn, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vputf(ptx_begin(fn), fmt, ap);
    va_end(ap);
    ptx_end(fn);
}

void ptx_label(ptx_func *fn, const char *name) { ir_putf(&fn->body, "%s:\n", name); }

const char *ptx_new_label(ptx_func *fn) { return ir_sprintf(fn->w->arena, "$E%u", fn->labels++); }

void ptx_refuse(const ptx_func *fn, const char *fmt, ...) {
    char why[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    const ir_inst *i = fn->inst;
    const ir_line *line = i ? ir_line_of(fn->w->m, i->loc) : NULL;
    ir_message m = {.severity = IR_ERROR,
                    .file = fn->w->m->name,
                    .word = i ? ir_word_of(i->loc) : 0,
                    .source = line && line->line ? fn->w->m->files.data[line->file] : NULL,
                    .source_line = line ? line->line : 0};
    ir_report(fn->w->cx, m, "%s '%s': %s", fn->f->flags & IR_FUNC_KERNEL ? "kernel" : "function",
              fn->f->name, why);
    ir_throw(fn->w->cx, IR_ERR_REFUSED);
}

void ptx_need(ptx_func *fn, unsigned sm, unsigned version, const char *what) {
    if (fn->w->options->sm < sm)
        ptx_refuse(fn, "%s needs sm_%u, the target is sm_%u", what, sm, fn->w->options->sm);
    if (fn->w->version < version) fn->w->version = version;
}

const char *cg_ptx_name(ir_arena *out, const char *name) {
    ir_text t = {.arena = out};
    if (!isalpha((unsigned char)*name)) ir_put(&t, "$_");
    for (; *name; name++)
        if (isalnum((unsigned char)*name) || *name == '_')
            ir_putn(&t, name, 1);
        else
            ir_putf(&t, "$%02x", (unsigned char)*name);
    return t.data;
}

const char *ptx_name(ptx_writer *w, const char *name) { return cg_ptx_name(w->arena, name); }

/* ------------------------------------------------------------------------------------ registers */

static const struct {
    const char *prefix, *type;
} classes[PTX_CLASSES] = {
    [PTX_PRED] = {"%p", "pred"}, [PTX_B16] = {"%h", "b16"}, [PTX_B32] = {"%r", "b32"},
    [PTX_B64] = {"%rd", "b64"},  [PTX_F32] = {"%f", "f32"}, [PTX_F64] = {"%fd", "f64"},
};

const char *ptx_class_type(ptx_class c) { return classes[c].type; }

const char *ptx_class_prefix(ptx_class c) { return classes[c].prefix; }

ptx_class ptx_class_of(const ir_module *m, ir_type t) {
    switch (ir_kind_of(t)) {
    case IR_I1: return PTX_PRED;
    case IR_F16:
    case IR_BF16: return PTX_B16;
    case IR_F32: return PTX_F32;
    case IR_F64: return PTX_F64;
    default: return ir_bits(m, t) == 64 ? PTX_B64 : PTX_B32;
    }
}

/* As "%s%u" would put it, in a quarter of the time. */
static const char *make_name(ir_arena *a, const char *prefix, uint32_t n) {
    enum { LONGEST = 16 };
    char *name = ir_alloc_raw(a, LONGEST), *to = name;
    unsigned digits = 1;
    while (*prefix) *to++ = *prefix++;
    for (uint32_t rest = n / 10; rest; rest /= 10) digits++;
    to[digits] = 0;
    do to[--digits] = (char)('0' + n % 10);
    while (n /= 10);
    return name;
}

/* Made when it is first asked for. */
static const char *register_name(ptx_func *fn, ptx_class c, uint32_t n) {
    ptx_names *names = &fn->names[c];
    while (names->n <= n) *ir_push(fn->w->arena, names) = NULL;
    if (!names->data[n]) names->data[n] = make_name(fn->w->arena, classes[c].prefix, n);
    return names->data[n];
}

const char *ptx_temporary(ptx_func *fn, ptx_class c) {
    return register_name(fn, c, fn->count[c]++);
}

const char *ptx_result(ptx_func *fn, const ir_inst *i, unsigned lane) {
    ptx_class c = ptx_class_of(fn->w->m, ir_elem(i->type));
    if (!fn->first[i->id]) {
        fn->first[i->id] = fn->count[c] + 1;
        fn->count[c] += ir_lanes(i->type);
    }
    return register_name(fn, c, fn->first[i->id] - 1 + lane);
}

void ptx_move(ptx_func *fn, ptx_class c, const char *to, const char *from) {
    ptx_put(fn, "mov.%s %s, %s", classes[c].type, to, from);
}

void ptx_test_bit(ptx_func *fn, const char *to, const char *word) {
    const char *low = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "and.b32 %s, %s, 1", low, word);
    ptx_put(fn, "setp.ne.s32 %s, %s, 0", to, low);
}

/* ------------------------------------------------------------------------------------- literals */

static bool is_literal(const ir_inst *v) { return ir_is_const(v) || v->op == IR_OP_undef; }

static uint64_t literal_bits(const ir_inst *v, unsigned lane) {
    return ir_is_const(v) ? ir_lane_bits(v, lane) : 0;
}

const char *ptx_literal(ptx_func *fn, ptx_class c, uint64_t bits) {
    ir_arena *a = fn->w->arena;
    switch (c) {
    case PTX_F32: return ir_sprintf(a, "0f%08X", (unsigned)bits);
    case PTX_F64: return ir_sprintf(a, "0d%016llX", (unsigned long long)bits);
    case PTX_B16: return ir_sprintf(a, "0x%04X", (unsigned)bits & 0xffff);
    case PTX_B32:
        return bits < 1u << 31 ? ir_sprintf(a, "%u", (unsigned)bits)
                               : ir_sprintf(a, "0x%X", (unsigned)bits);
    default:
        return bits < UINT64_C(1) << 63 ? ir_sprintf(a, "%llu", (unsigned long long)bits)
                                        : ir_sprintf(a, "0x%llX", (unsigned long long)bits);
    }
}

/* Where registers are wanted, and no literal is taken. */
static const char *literal_in_register(ptx_func *fn, ptx_class c, uint64_t bits) {
    const char *r = ptx_temporary(fn, c);
    if (c == PTX_PRED)
        ptx_put(fn, "setp.ne.s32 %s, %u, 0", r, (unsigned)bits & 1);
    else
        ptx_move(fn, c, r, ptx_literal(fn, c, bits));
    return r;
}

/* Of a variable in the dynamic part of local memory. */
static const char *dynamic_address(ptx_func *fn, const ir_global *g) {
    const char *start = ptx_temporary(fn, PTX_B64), *r = ptx_temporary(fn, PTX_B64);
    const uint64_t at = (uintptr_t)ir_map_get(&fn->places, (uintptr_t)g) - 1;
    fn->w->has_dynamic_local = true;
    ptx_put(fn, "mov.u64 %s, $local", start);
    ptx_put(fn, "add.s64 %s, %s, %llu", r, start, (unsigned long long)at);
    return r;
}

static const char *address_of(ptx_func *fn, const ir_global *g) {
    if (g->space == IR_LOCAL && fn->hidden.variables) return dynamic_address(fn, g);
    const char *r = ptx_temporary(fn, PTX_B64);
    if (g->space == IR_LOCAL) ir_map_set(fn->w->arena, &fn->w->named, (uintptr_t)g, fn->w);
    ptx_put(fn, "mov.u64 %s, %s", r, ptx_name(fn->w, g->name));
    return r;
}

const char *ptx_register(ptx_func *fn, const ir_inst *v, unsigned lane) {
    if (v->op == IR_OP_address) return address_of(fn, v->imm.global);
    if (!is_literal(v)) return ptx_result(fn, v, lane);
    return literal_in_register(fn, ptx_class_of(fn->w->m, ir_elem(v->type)), literal_bits(v, lane));
}

const char *ptx_operand(ptx_func *fn, const ir_inst *v, unsigned lane) {
    ptx_class c = ptx_class_of(fn->w->m, ir_elem(v->type));
    if (!is_literal(v) || c == PTX_PRED || c == PTX_B16) return ptx_register(fn, v, lane);
    return ptx_literal(fn, c, literal_bits(v, lane));
}

/* ------------------------------------------------------------------------------------ extension */

static const char *extended_literal(ptx_func *fn, uint64_t bits, unsigned width, bool is_signed) {
    uint64_t wide = is_signed ? (uint64_t)ir_sext(bits, width) : ir_zext(bits, width);
    if (width == 64) return ptx_literal(fn, PTX_B64, wide);
    return ptx_literal(fn, PTX_B32, wide & UINT32_MAX);
}

const char *ptx_extended(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed) {
    unsigned width = ir_bits(fn->w->m, ir_elem(v->type));
    if (is_literal(v)) return extended_literal(fn, literal_bits(v, lane), width, is_signed);
    const char *r = ptx_register(fn, v, lane);
    if (width >= 32) return r;
    const char *wide = ptx_temporary(fn, PTX_B32), *s = is_signed ? "s" : "u";
    if (width == 1)
        ptx_put(fn, "selp.%s32 %s, %d, 0, %s", s, wide, is_signed ? -1 : 1, r);
    else
        ptx_put(fn, "cvt.%s32.%s%u %s, %s", s, s, width, wide, r);
    return wide;
}

const char *ptx_amount(ptx_func *fn, const ir_inst *v, unsigned lane, unsigned most) {
    unsigned width = ir_bits(fn->w->m, ir_elem(v->type));
    if (is_literal(v)) {
        uint64_t n = ir_zext(literal_bits(v, lane), width);
        return ptx_literal(fn, PTX_B32, n < most ? n : most);
    }
    if (width < 64) return ptx_extended(fn, v, lane, false);
    const char *least = ptx_temporary(fn, PTX_B64), *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "min.u64 %s, %s, %u", least, ptx_register(fn, v, lane), most);
    ptx_put(fn, "cvt.u32.u64 %s, %s", r, least);
    return r;
}
