/* argconst.c — replaces a parameter whose argument is known by a constant.
 *
 * A scalar or vector parameter becomes a constant.  A struct passed by value is a pointer to a
 * private copy; it becomes a variable that is filled at the start of the function, leaf by leaf of
 * the struct's type, so that sroa and mem2reg can split it.  Padding is filled byte by byte, since
 * the type of a union is that of one of its members, and so is the copy if the type is not known.
 *
 * The bytes are those that a host passes to the kernel: little endian, and a vector of three has a
 * fourth, unused element.
 */
#include "passes/fusion/fuse_impl.h"

IR_PRINTF(3, 4) static bool fail(const ir_func *f, uint32_t index, const char *fmt, ...) {
    char text[256];
    const char *name = f->param[index].name;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ir_report(f->module->cx, (ir_message){.severity = IR_ERROR}, "@%s: parameter %u%s%s %s",
              f->name, index, name ? " " : "", name ? name : "", text);
    return false;
}

/* ------------------------------------------------------------------------------------ constants */

static uint64_t read_bytes(const uint8_t *bytes, uint64_t n) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < n; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static ir_inst *read_constant(ir_func *f, ir_type t, const uint8_t *bytes) {
    uint64_t lanes[IR_MAX_LANES], size = ir_sizeof(f->module, ir_elem(t));
    for (unsigned i = 0; i < ir_lanes(t); i++) lanes[i] = read_bytes(bytes + i * size, size);
    return ir_const_lanes(f, t, lanes);
}

/* ----------------------------------------------------------------------------- leaves of a type */

static bool is_value(ir_type t) { return ir_is_int(t) || ir_is_float(t); }

/* The member of a struct that covers byte *offset, which becomes an offset into it; or IR_VOID. */
static ir_type member_at(const ir_module *m, const ir_type_info *s, uint64_t *offset) {
    for (uint32_t i = s->count; i-- > 0;) {
        if (s->offset[i] > *offset || *offset - s->offset[i] >= ir_sizeof(m, s->member[i]))
            continue;
        *offset -= s->offset[i];
        return s->member[i];
    }
    return IR_VOID;
}

/* The scalar, vector or pointer that covers byte *offset, which becomes an offset into it; IR_VOID:
 * padding. */
static ir_type leaf_at(const ir_module *m, ir_type t, uint64_t *offset) {
    while (ir_is_aggregate(t)) {
        const ir_type_info *info = ir_type_get(m, t);
        if (info->kind == IR_STRUCT) {
            t = member_at(m, info, offset);
            continue;
        }
        uint64_t stride = ir_sizeof(m, info->member[0]);
        if (stride == 0 || *offset / stride >= info->count) return IR_VOID;
        *offset %= stride;
        t = info->member[0];
    }
    return t;
}

/* ------------------------------------------------------------------------------- private copies */

typedef struct {
    ir_builder b;
    ir_inst *variable;
    uint64_t align;
    const uint8_t *bytes;
} filling;

static void store_leaf(filling *q, ir_type t, uint64_t offset) {
    ir_func *f = q->b.f;
    uint64_t align = offset ? offset & (0 - offset) : q->align;
    ir_inst *at = ir_const(f, ir_size_type(f->module), offset);
    ir_inst *address = ir_build_ptradd(&q->b, q->variable, at, true);
    if (align > q->align) align = q->align;
    ir_build_store(&q->b, read_constant(f, t, q->bytes + offset), address, (unsigned)align, 0);
}

/* Pointers go byte by byte, as does padding. */
static void fill(filling *q, ir_type t, uint64_t size) {
    const ir_module *m = q->b.f->module;
    for (uint64_t offset = 0, step; offset < size; offset += step) {
        uint64_t within = offset;
        ir_type leaf = leaf_at(m, t, &within);
        bool starts = is_value(leaf) && within == 0;
        step = starts ? ir_access_size(m, leaf) : 1;
        store_leaf(q, starts ? leaf : IR_I8, offset);
    }
}

static ir_inst *make_copy(ir_func *f, const ir_param *p, const uint8_t *bytes) {
    filling q = {.bytes = bytes};
    ir_builder_init(&q.b, f);
    ir_before(&q.b, f->first->first);
    q.variable = ir_build_byval(&q.b, p);
    q.align = q.variable->imm.var->align;
    fill(&q, q.variable->imm.var->type, p->byval_size);
    return q.variable;
}

/* ---------------------------------------------------------------------------------------- entry */

bool pass_fold_argument(ir_func *f, uint32_t index, const void *bytes, size_t size) {
    const ir_param *p = &f->param[index];
    ir_inst *v = f->param_val[index];
    bool copy = (p->attrs & IR_PARAM_BYVAL) != 0;
    if (!copy && !is_value(v->type)) return fail(f, index, "is not passed by value");
    uint64_t want = copy ? p->byval_size : ir_sizeof(f->module, v->type);
    if (size != want)
        return fail(f, index, "takes %llu bytes, the constant has %zu", (unsigned long long)want,
                    size);
    if (v->uses)
        ir_replace_uses(v, copy ? make_copy(f, p, bytes) : read_constant(f, v->type, bytes));
    return true;
}
