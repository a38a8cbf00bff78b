/* pipe_places.c — the places in buffers that kernels of a pipeline touch, as instructions. */
#include "tests/fuzz/pipe_impl.h"

static const struct {
    const char *name;
    unsigned size;
} types[] = {{"i32", 4}, {"i8", 1}, {"i64", 8}, {"v2i32", 8}, {"i16", 2}};

/* --------------------------------------------------------------------------------- instructions */

unsigned pipe_value(pipe *p, const char *type) {
    ir_putf(p->out, "  %%v%u: %s = ", p->values, type);
    return p->values++;
}

unsigned pipe_query(pipe *p, const char *what, unsigned d) {
    unsigned v = pipe_value(p, "i64");
    ir_putf(p->out, "%s %u\n", what, d);
    return v;
}

unsigned pipe_with_number(pipe *p, const char *type, const char *op, unsigned x, unsigned n) {
    unsigned v = pipe_value(p, type);
    ir_putf(p->out, "%s %%v%u, %u\n", op, x, n);
    return v;
}

unsigned pipe_number_minus(pipe *p, const char *type, unsigned n, unsigned x) {
    unsigned v = pipe_value(p, type);
    ir_putf(p->out, "sub %s %u, %%v%u\n", type, n, x);
    return v;
}

unsigned pipe_binary(pipe *p, const char *type, const char *op, unsigned x, unsigned y) {
    unsigned v = pipe_value(p, type);
    ir_putf(p->out, "%s %%v%u, %%v%u\n", op, x, y);
    return v;
}

static unsigned convert(pipe *p, const char *type, const char *op, unsigned x) {
    unsigned v = pipe_value(p, type);
    ir_putf(p->out, "%s %%v%u\n", op, x);
    return v;
}

unsigned pipe_cut(pipe *p, const char *type, unsigned x) {
    return strcmp(type, "i64") == 0 ? x : convert(p, type, "trunc", x);
}

unsigned pipe_fact(pipe *p) {
    static const char *const facts[] = {"global_size",         "global_offset", "global_id",
                                        "local_size",          "num_groups",    "group_id",
                                        "enqueued_local_size", "local_id"};
    static const char *const single[] = {"work_dim", "global_linear_id", "local_linear_id"};
    const bool local = p->now->range.local[0]; /* otherwise the device chooses one */
    unsigned v = p->values;
    if (pipe_below(p, 4) < 3) {
        pipe_query(p, facts[pipe_below(p, local ? 8 : 3)], pipe_below(p, 3));
    } else {
        pipe_value(p, "i64");
        ir_putf(p->out, "%s\n", single[pipe_below(p, local ? 3 : 2)]);
    }
    return convert(p, "i32", "trunc", v);
}

/* --------------------------------------------------------------------------------------- places */

static unsigned id(pipe *p, const char *type, const char *what, unsigned d) {
    return pipe_cut(p, type, pipe_query(p, what, d));
}

static unsigned linear_id(pipe *p, const form *f, const char *type) {
    const range *r = &p->now->range;
    if (f->variant == 0) {
        unsigned v = pipe_value(p, "i64");
        ir_put(p->out, "global_linear_id\n");
        return pipe_cut(p, type, v);
    }
    unsigned sum = id(p, type, "global_id", r->dims - 1);
    for (unsigned d = r->dims - 1; d-- > 0;) {
        sum = f->variant == 1 ? pipe_with_number(p, type, "mul", sum, r->global[d])
                              : pipe_binary(p, type, "mul", sum, id(p, type, "global_size", d));
        sum = pipe_binary(p, type, "add", sum, id(p, type, "global_id", d));
    }
    return sum;
}

static unsigned count_bits(unsigned n) {
    unsigned bits = 0;
    for (; n; n >>= 1) bits++;
    return bits;
}

/* Where a group begins and the item in it, as queries or taken from the linear id, which begins at
 * 0; two ways to write each. */
static void take_apart(pipe *p, const form *f, const char *type, unsigned part[2]) {
    unsigned local = p->now->range.local[0];
    bool power = !(local & (local - 1)), first = f->variant == 1;
    if (f->number / 3 % 2 == 0) {
        unsigned group = id(p, type, "group_id", 0);
        const bool of_launch = p->now->range.uneven || f->number & 1;
        const char *size = of_launch ? "enqueued_local_size" : "local_size";
        part[0] = first ? pipe_with_number(p, type, "mul", group, local)
                        : pipe_binary(p, type, "mul", group, id(p, type, size, 0));
        part[1] = id(p, type, "local_id", 0);
        return;
    }
    unsigned linear = linear_id(p, &(form){.variant = 0}, type);
    part[0] = power && first ? pipe_with_number(p, type, "lshr", linear, count_bits(local - 1))
                             : pipe_with_number(p, type, "udiv", linear, local);
    part[0] = pipe_with_number(p, type, "mul", part[0], local);
    part[1] = power && first ? pipe_with_number(p, type, "and", linear, local - 1)
                             : pipe_with_number(p, type, "urem", linear, local);
}

static unsigned by_group(pipe *p, const form *f, const char *type) {
    static const char *const joins[] = {"add", "or", "xor"};
    unsigned local = p->now->range.local[0], part[2];
    bool power = !(local & (local - 1));
    take_apart(p, f, type, part);
    if (f->kind == MIRRORED) part[1] = pipe_number_minus(p, type, local - 1, part[1]);
    return pipe_binary(p, type, joins[power ? f->number % 3 : 0], part[0], part[1]);
}

static unsigned turned(pipe *p, const char *type) {
    const range *r = &p->now->range;
    unsigned column = pipe_with_number(p, type, "mul", id(p, type, "global_id", 0), r->global[1]);
    return pipe_binary(p, type, "add", column, id(p, type, "global_id", 1));
}

static unsigned tilted(pipe *p, const form *f, const char *type) {
    unsigned ahead = pipe_with_number(p, type, "mul", id(p, type, "global_id", 1), f->number);
    return pipe_binary(p, type, "add", ahead, linear_id(p, f, type));
}

static unsigned items_of(const range *r) { return r->global[0] * r->global[1] * r->global[2]; }

static unsigned loaded(pipe *p, const form *f, const char *type) {
    const form own = {.variant = f->variant};
    unsigned at = linear_id(p, &own, "i64"), buffer = 0;
    while (buffer + 1 < p->now->nparams && p->now->params[buffer].written) buffer++;
    unsigned v = pipe_load(p, buffer, &own, at);
    v = pipe_with_number(p, "i32", "and", v, 255);
    return strcmp(type, "i64") == 0 ? convert(p, "i64", "zext", v) : v;
}

/* The group's number, x fastest; sometimes the next one's. */
static unsigned slot(pipe *p, const form *f, const char *type) {
    const range *r = &p->now->range;
    unsigned d = r->dims - 1, v = id(p, type, "group_id", d);
    while (d-- > 0) {
        v = pipe_with_number(p, type, "mul", v, (r->global[d] + r->local[d] - 1) / r->local[d]);
        v = pipe_binary(p, type, "add", v, id(p, type, "group_id", d));
    }
    return f->number % 16 == 15 ? pipe_with_number(p, type, "add", v, 1) : v;
}

unsigned pipe_element(pipe *p, const form *f, const char *type) {
    unsigned v;
    switch (f->kind) {
    case MIRRORED:
    case GROUPED: return by_group(p, f, type);
    case TURNED: return turned(p, type);
    case TILTED: return tilted(p, f, type);
    case LOADED: return loaded(p, f, type);
    case SLOT: return slot(p, f, type);
    case ROW: return id(p, type, "global_id", f->number % p->now->range.dims);
    case FIXED:
        v = pipe_value(p, type);
        ir_putf(p->out, "add %s %u, 0\n", type, f->number);
        return v;
    case STRIDED:
        v = pipe_with_number(p, type, "mul", linear_id(p, f, type), 2 + f->number % 3);
        return pipe_with_number(p, type, "add", v, f->number % 4);
    case REVERSED:
        return pipe_number_minus(p, type, items_of(&p->now->range) - 1, linear_id(p, f, type));
    case SHIFTED: return pipe_with_number(p, type, "add", linear_id(p, f, type), f->number);
    case CROSSED:
        return pipe_with_number(p, type, "xor", linear_id(p, f, type), 1u << f->number % 3);
    case JOINED: return pipe_with_number(p, type, "or", linear_id(p, f, type), 256);
    case FOLDED:
        return pipe_with_number(p, type, "and", linear_id(p, f, type), (2u << f->number % 5) - 1);
    default: return linear_id(p, f, type);
    }
}

/* The low bits of v, times 2^log. */
static unsigned shifted(pipe *p, const form *f, unsigned v, unsigned log) {
    v = pipe_with_number(p, "i64", "shl", v, f->up);
    return pipe_with_number(p, "i64", f->is_signed && f->up < 50 ? "ashr" : "lshr", v, f->up - log);
}

unsigned pipe_index(pipe *p, const form *f, const unsigned *k) {
    bool narrow = f->narrow && !f->up;
    unsigned v = pipe_element(p, f, narrow ? "i32" : "i64");
    if (narrow) v = convert(p, "i64", f->is_signed ? "sext" : "zext", v);
    if (f->narrow && f->up && !f->late) v = shifted(p, f, v, 0);
    if (!f->strip) return v;
    bool interleaved = f->number & 1;
    if (!interleaved) v = pipe_with_number(p, "i64", "mul", v, f->strip);
    if (!k) return v;
    unsigned step =
        interleaved ? pipe_with_number(p, "i64", "mul", *k, items_of(&p->now->range)) : *k;
    return pipe_binary(p, "i64", "add", v, step);
}

/* ------------------------------------------------------------------------------------- accesses */

static unsigned address(pipe *p, unsigned parameter, const form *f, unsigned index) {
    unsigned size = types[f->type].size, log = size == 8 ? 3 : size / 2;
    unsigned o = f->narrow && f->up && f->late ? shifted(p, f, index, log)
                                               : pipe_with_number(p, "i64", "mul", index, size);
    unsigned v = pipe_value(p, "ptr.global");
    ir_putf(p->out, "ptradd %%p%u, %%v%u\n", parameter, o);
    return v;
}

/* A part of an element, and which of its bytes is the first. */
typedef struct {
    unsigned type, at;
} part;

/* The whole, mostly.  Some parts reach over the end, into the next element. */
static part any_part(pipe *p, const form *f) {
    static const unsigned smaller[] = {1, 4, 0};
    unsigned size = types[f->type].size;
    part x = {f->type, 0};
    if (p->at == p->end || size == 1 || !pipe_chance(p, p->parts)) return x;
    x.type = smaller[pipe_below(p, size == 2 ? 1 : size == 4 ? 2 : 3)];
    unsigned step = types[x.type].size;
    x.at = pipe_chance(p, 5) ? pipe_below(p, size) : step * pipe_below(p, size / step);
    return x;
}

static unsigned part_address(pipe *p, unsigned parameter, const form *f, unsigned index, part x) {
    unsigned a = address(p, parameter, f, index);
    if (!x.at) return a;
    unsigned v = pipe_value(p, "ptr.global");
    ir_putf(p->out, "ptradd %%v%u, %u\n", a, x.at);
    return v;
}

static unsigned align_of(part x) {
    unsigned align = types[x.type].size;
    while (x.at % align) align /= 2;
    return align;
}

unsigned pipe_load(pipe *p, unsigned parameter, const form *f, unsigned index) {
    part x = any_part(p, f);
    unsigned a = part_address(p, parameter, f, index, x), v = pipe_value(p, types[x.type].name);
    ir_putf(p->out, "load %%v%u align %u\n", a, align_of(x));
    switch (x.type) {
    case 1:
    case 4: return convert(p, "i32", "sext", v);
    case 2: return convert(p, "i32", "trunc", v);
    case 3: {
        unsigned lane = pipe_value(p, "i32");
        ir_putf(p->out, "extract %%v%u, i32 1\n", v);
        return lane;
    }
    default: return v;
    }
}

static unsigned as_type(pipe *p, unsigned type, unsigned v) {
    switch (type) {
    case 1: return convert(p, "i8", "trunc", v);
    case 4: return convert(p, "i16", "trunc", v);
    case 2: return convert(p, "i64", "sext", v);
    case 3: {
        unsigned pair = pipe_value(p, "v2i32");
        ir_putf(p->out, "vec %%v%u, %%v%u\n", v, v);
        return pair;
    }
    default: return v;
    }
}

/* One lane of a pair that is read and stored as a whole. */
static void store_lane(pipe *p, unsigned parameter, const form *f, unsigned index, unsigned v) {
    unsigned a = address(p, parameter, f, index), lane = pipe_below(p, 2),
             w = pipe_value(p, "v2i32");
    ir_putf(p->out, "load %%v%u align 8\n", a);
    if (pipe_chance(p, 10)) pipe_store(p, parameter, f, index, v);
    unsigned made = pipe_below(p, 3), other = pipe_value(p, "i32");
    ir_putf(p->out, "extract %%v%u, i32 %u\n", w, made == 2 ? lane : 1 - lane);
    unsigned u = pipe_value(p, "v2i32");
    if (made)
        ir_putf(p->out, "vec %%v%u, %%v%u\n", lane ? other : v, lane ? v : other);
    else
        ir_putf(p->out, "insert %%v%u, %%v%u, i32 %u\n", w, v, lane);
    if (f->late) a = address(p, parameter, f, index);
    ir_putf(p->out, "  store %%v%u, %%v%u align 8\n", u, a);
}

/* The element is read and stored again as a number or a vector of its size, changed by a constant
 * or by v. */
static void change_in_place(pipe *p, unsigned parameter, const form *f, unsigned index,
                            unsigned v) {
    static const char *const ops[] = {"add", "sub", "and", "or", "xor", "mul"};
    static const char *const views[4][4] = {{"i8", "i8", "i8", "i8"},
                                            {"i16", "v2i8", "i16", "v2i8"},
                                            {"i32", "v2i16", "v4i8", "i32"},
                                            {"i64", "v2i32", "v4i16", "v8i8"}};
    unsigned size = types[f->type].size, log = size == 8 ? 3 : size / 2;
    const char *type = views[log][pipe_below(p, 4)], *op = ops[pipe_below(p, 6)];
    unsigned a = address(p, parameter, f, index), align = pipe_chance(p, 30) ? 1 : size, y = v;
    bool constant = pipe_chance(p, 40), same = strcmp(type, types[f->type].name) == 0;
    if (!constant) y = as_type(p, f->type, v);
    if (!constant && !same) y = convert(p, type, "bitcast", y);
    unsigned x = pipe_value(p, type);
    ir_putf(p->out, "load %%v%u align %u\n", a, align);
    unsigned r = pipe_value(p, type);
    if (constant)
        ir_putf(p->out, *type == 'v' ? "%s %%v%u, splat(%d)\n" : "%s %%v%u, %d\n", op, x,
                (int)pipe_below(p, 64) - 1);
    else
        ir_putf(p->out, "%s %%v%u, %%v%u\n", op, x, y);
    ir_putf(p->out, "  store %%v%u, %%v%u align %u\n", r, a, align);
}

/* One kind of operation for each form, so that the order of items does not matter. */
static void change_by_atomic(pipe *p, unsigned parameter, const form *f, unsigned index,
                             unsigned v) {
    static const char *const ops[ATOMICS] = {"add", "sub", "and", "or", "xor", "umax", "smin"};
    unsigned a = address(p, parameter, f, index), w = as_type(p, f->type, v);
    pipe_value(p, types[f->type].name);
    ir_putf(p->out, "atomic_%s %%v%u, %%v%u device relaxed\n", ops[f->atomic - 1], a, w);
}

void pipe_store(pipe *p, unsigned parameter, const form *f, unsigned index, unsigned v) {
    if (f->atomic) {
        change_by_atomic(p, parameter, f, index, v);
        return;
    }
    if (f->type == 3 && p->at < p->end && pipe_chance(p, 40)) {
        store_lane(p, parameter, f, index, v);
        return;
    }
    if (p->at < p->end && pipe_chance(p, 12)) {
        change_in_place(p, parameter, f, index, v);
        return;
    }
    unsigned times = p->at < p->end && pipe_chance(p, p->parts) ? 1 + pipe_below(p, 4) : 1;
    for (unsigned k = 0; k < times; k++) {
        part x = any_part(p, f);
        unsigned bits = k ? pipe_with_number(p, "i32", "add", v, 0x01020304 * k) : v;
        bits = as_type(p, x.type, bits);
        unsigned a = part_address(p, parameter, f, index, x);
        ir_putf(p->out, "  store %%v%u, %%v%u align %u\n", bits, a, align_of(x));
    }
}
