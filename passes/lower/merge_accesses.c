/* merge_accesses.c — accesses of neighbours become one access of a vector.
 *
 * Front ends load and store the members of a struct, and the lanes of a vector, one by one, and so
 * do loops over elements that have been unrolled.  A GPU accesses up to 16 bytes by one instruction
 * if their address is a multiple of as much.  That is known from what other accesses at constant
 * distances say about their alignment, and from the parameter that is the base.
 *
 * Within a block, loads of elements of one size at constant distances from one address form a
 * group, and so do stores.  A window of 16, 8, 4 or 2 bytes all of whose elements are accessed, by
 * accesses that do not go beyond it, becomes one access.  Its lanes are integers if the elements
 * have several types.
 *
 * A load is made at the place of the first one, so the later ones move up; a store at the place of
 * the last one, so the earlier ones move down.  Neither crosses an access that may be of the same
 * bytes, if one of the two writes, nor what orders accesses.  Loads are merged first, and stores
 * are compared with the code that this leaves: otherwise a store and a load could pass each other,
 * each of them compared with others only.
 */
#include "passes/analysis/alias.h"

enum { MOST_MEMBERS = 32, MOST_GROUPS = 8, MOST_BYTES = 16, MOST_WRITES = 16 };

typedef struct {
    ir_inst *i; /* NULL: it has been merged */
    ir_type type;
    int64_t distance;
    unsigned bytes;
} member;

typedef struct {
    ir_inst *base;
    unsigned size; /* of an element */
    unsigned flags;
    member list[MOST_MEMBERS]; /* in the order of the block */
    unsigned n;
    unsigned writes; /* of the merger, when the group began */
    unsigned align;  /* of the address at distance `aligned`, bytes */
    int64_t aligned;
} group;

typedef struct {
    ir_func *f;
    ir_builder b;
    ir_arena *scratch;
    pass_alias alias;
    bool has_alias; /* that of the code in which accesses of `op` are merged */
    ir_op op;       /* of accesses that are merged */
    group list[MOST_GROUPS];
    unsigned n;
    const ir_inst *write[MOST_WRITES]; /* since the first load of all groups */
    unsigned writes;
    bool changed;
} merger;

/* ----------------------------------------------------------------------------------- one window */

typedef struct {
    int64_t start;
    unsigned bytes;
    ir_type lane;
} window;

static ir_inst *address_of(const ir_inst *i) { return ir_arg(i, i->op == IR_OP_store); }

static bool touches(const window *w, const member *m) {
    return m->i && m->distance < w->start + w->bytes && m->distance + m->bytes > w->start;
}

static unsigned first_lane(const group *g, const window *w, const member *m) {
    return (unsigned)(m->distance - w->start) / g->size;
}

/* Is each element accessed, and by accesses that do not go beyond the window?  Finds the type of
 * its lanes. */
static bool is_covered(const group *g, window *w) {
    const ir_type integer = ir_scalar((ir_kind)(IR_I8 + __builtin_ctz(g->size)));
    unsigned covered = 0, accesses = 0;
    for (unsigned n = 0; n < g->n; n++) {
        const member *m = &g->list[n];
        if (!touches(w, m)) continue;
        int64_t from = m->distance - w->start;
        if (from < 0 || from + m->bytes > w->bytes || from % g->size) return false;
        covered |= ((1u << ir_lanes(m->type)) - 1) << first_lane(g, w, m);
        w->lane = accesses && w->lane != ir_elem(m->type) ? integer : ir_elem(m->type);
        accesses++;
    }
    return accesses > 1 && covered == (1u << w->bytes / g->size) - 1;
}

static ir_type type_of(const group *g, const window *w) {
    return ir_vector(w->lane, w->bytes / g->size);
}

static ir_inst *with_elements(merger *s, ir_inst *v, ir_type elem) {
    return ir_elem(v->type) == elem
               ? v
               : ir_build1(&s->b, IR_OP_bitcast, ir_with_elem(v->type, elem), v);
}

static ir_inst *lanes_of(merger *s, ir_inst *v, unsigned first, unsigned n) {
    uint8_t mask[MOST_BYTES];
    if (n == 1) return ir_build_extract(&s->b, v, first);
    for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)(first + k);
    return n == ir_lanes(v->type) ? v
                                  : ir_build_shuffle(&s->b, v, ir_undef(s->f, v->type), n, mask);
}

static void begin_code(merger *s, ir_inst *before) {
    ir_before(&s->b, before);
    s->b.loc = before->loc;
}

static void merge_loads(merger *s, group *g, const window *w) {
    ir_inst *all = NULL;
    for (unsigned n = 0; n < g->n; n++) {
        member *m = &g->list[n];
        if (!touches(w, m)) continue;
        begin_code(s, m->i);
        if (!all) {
            ir_inst *start = ir_const(s->f, ir_size_type(s->f->module), (uint64_t)w->start);
            ir_inst *address = m->distance == w->start
                                   ? address_of(m->i)
                                   : ir_build_ptradd(&s->b, g->base, start, false);
            all = ir_build_load(&s->b, type_of(g, w), address, w->bytes, g->flags);
        }
        ir_inst *lanes = lanes_of(s, all, first_lane(g, w, m), ir_lanes(m->type));
        ir_replace_uses(m->i, with_elements(s, lanes, ir_elem(m->type)));
        ir_remove(m->i);
        m->i = NULL;
    }
    ir_count(s->f->module->cx, merge_accesses_loads, 1);
}

static void merge_stores(merger *s, group *g, const window *w) {
    ir_inst *lane[MOST_BYTES], *address = NULL;
    const member *last = NULL;
    for (unsigned n = 0; n < g->n; n++)
        if (touches(w, &g->list[n])) last = &g->list[n];
    begin_code(s, last->i);
    for (unsigned n = 0; n < g->n; n++) {
        const member *m = &g->list[n];
        if (!touches(w, m)) continue;
        if (m->distance == w->start) address = address_of(m->i);
        ir_inst *v = with_elements(s, ir_arg(m->i, 0), w->lane);
        for (unsigned k = 0; k < ir_lanes(m->type); k++)
            lane[first_lane(g, w, m) + k] =
                ir_is_vector(v->type) ? ir_build_extract(&s->b, v, k) : v;
    }
    ir_build_store(&s->b, ir_build_vec(&s->b, type_of(g, w), lane), address, w->bytes, g->flags);
    for (unsigned n = 0; n < g->n; n++) {
        member *m = &g->list[n];
        if (!touches(w, m)) continue;
        ir_remove(m->i);
        m->i = NULL;
    }
    ir_count(s->f->module->cx, merge_accesses_stores, 1);
}

/* ------------------------------------------------------------------------------------ one group */

/* The window around an access whose address is a multiple of its size. */
static bool find_window(const group *g, const member *m, unsigned bytes, window *w) {
    int64_t beyond = (m->distance - g->aligned) % bytes;
    *w = (window){.start = m->distance - (beyond < 0 ? beyond + bytes : beyond), .bytes = bytes};
    return bytes <= g->align && is_covered(g, w);
}

static void merge_group(merger *s, group *g) {
    for (unsigned bytes = MOST_BYTES; bytes > g->size; bytes /= 2)
        for (unsigned n = 0; n < g->n; n++) {
            window w;
            if (!g->list[n].i || !find_window(g, &g->list[n], bytes, &w)) continue;
            if (s->op == IR_OP_load)
                merge_loads(s, g, &w);
            else
                merge_stores(s, g, &w);
            s->changed = true;
        }
}

static void end_group(merger *s, group *g) {
    if (g->n > 1) merge_group(s, g);
    *g = s->list[--s->n];
}

static void end_groups(merger *s) {
    while (s->n) end_group(s, &s->list[s->n - 1]);
    s->writes = 0;
}

/* ----------------------------------------------------------------------------------- the groups */

static ir_inst *base_of(ir_inst *address, int64_t *distance) {
    for (; address->op == IR_OP_ptradd && ir_is_const(ir_arg(address, 1));
         address = ir_arg(address, 0))
        *distance = ir_wrap_add(*distance, ir_signed_const(ir_arg(address, 1)));
    return address;
}

/* What is known of the base. */
static unsigned align_of(const merger *s, const ir_inst *base) {
    bool param = base->op == IR_OP_param && s->f->flags & IR_FUNC_KERNEL;
    unsigned align = param ? s->f->param[base->imm.index].align : 0;
    return align ? align : 1;
}

/* Most code asks nothing. */
static const pass_alias *alias_of(merger *s) {
    if (!s->has_alias) pass_alias_begin(&s->alias, s->f, s->scratch);
    s->has_alias = true;
    return &s->alias;
}

/* May the load m move up to the place where the group began? */
static bool may_join(merger *s, const group *g, const member *m) {
    for (unsigned n = g->writes; n < s->writes; n++)
        if (pass_may_write(alias_of(s), s->write[n], address_of(m->i), m->bytes)) return false;
    return true;
}

static group *group_of(merger *s, ir_inst *base, const member *m, unsigned size) {
    for (unsigned n = 0; n < s->n; n++) {
        group *g = &s->list[n];
        if (g->base != base || g->size != size || g->flags != m->i->imm.mem.flags) continue;
        if (g->n < MOST_MEMBERS && may_join(s, g, m)) return g;
        end_group(s, g);
        break;
    }
    if (s->n == MOST_GROUPS) end_groups(s);
    group *g = &s->list[s->n++];
    g->base = base;
    g->size = size;
    g->flags = m->i->imm.mem.flags;
    g->n = 0;
    g->writes = s->writes;
    g->align = align_of(s, base);
    g->aligned = 0;
    return g;
}

static ir_type accessed_type(const ir_inst *i) {
    return i->op == IR_OP_load ? i->type : ir_arg(i, 0)->type;
}

static bool is_mergeable(const merger *s, const ir_inst *i) {
    if (i->op != s->op || i->imm.mem.flags & IR_MEM_NONTEMPORAL) return false;
    ir_type t = accessed_type(i);
    bool number = !ir_is_aggregate(t) && !ir_is_ptr(ir_elem(t)) && !ir_is_bool(ir_elem(t));
    return number && ir_access_size(s->f->module, t) <= MOST_BYTES &&
           !ir_is_vector(address_of(i)->type);
}

static void add_access(merger *s, ir_inst *i) {
    member m = {.i = i, .type = accessed_type(i)};
    ir_inst *base = base_of(address_of(i), &m.distance);
    if (m.distance < INT32_MIN || m.distance > INT32_MAX) return;
    unsigned size = ir_bits(s->f->module, ir_elem(m.type)) / 8, align = 1u << i->imm.mem.align;
    m.bytes = size * ir_lanes(m.type);
    group *g = group_of(s, base, &m, size);
    if (align > g->align) {
        g->align = align;
        g->aligned = m.distance;
    }
    g->list[g->n++] = m;
}

/* ------------------------------------------------------------------------------ what is crossed */

/* It accesses memory and orders nothing. */
static bool is_plain(const ir_inst *i) {
    bool known =
        i->op == IR_OP_load || i->op == IR_OP_store || i->op == IR_OP_copy || i->op == IR_OP_fill;
    return known && !(i->imm.mem.flags & IR_MEM_VOLATILE);
}

/* Must stores of the group stay above i? */
static bool conflicts(merger *s, const group *g, const ir_inst *i) {
    for (unsigned n = 0; n < g->n; n++) {
        const ir_inst *to = address_of(g->list[n].i);
        if (pass_may_read(alias_of(s), i, to, g->list[n].bytes) ||
            pass_may_write(alias_of(s), i, to, g->list[n].bytes))
            return true;
    }
    return false;
}

static bool is_apart(merger *s, const group *g, const ir_inst *i) {
    bool simple = i->op == IR_OP_load || i->op == IR_OP_store;
    return simple && pass_relate(alias_of(s), g->base, address_of(i)).how == PASS_APART;
}

static void cross(merger *s, const ir_inst *i) {
    if (s->op == IR_OP_store) {
        for (unsigned n = s->n; n-- > 0;)
            if (!is_apart(s, &s->list[n], i) && conflicts(s, &s->list[n], i))
                end_group(s, &s->list[n]);
    } else if (i->op != IR_OP_load && s->n) {
        if (s->writes == MOST_WRITES) end_groups(s);
        s->write[s->writes++] = i;
    }
}

static void look_at(merger *s, ir_inst *i) {
    if (is_plain(i)) {
        cross(s, i);
        if (is_mergeable(s, i)) add_access(s, i);
    } else if (ir_has_flag(i, F_READS) || pass_writes(i)) {
        end_groups(s);
    }
}

static void merge_all(merger *s, ir_op op) {
    s->op = op;
    s->has_alias = false;
    foreach_block (b, s->f) {
        foreach_inst (i, b) look_at(s, i);
        end_groups(s);
    }
}

/* Does:  merges loads of neighbours within a block into loads of vectors, up to 16 bytes, and
 *        stores of neighbours into stores of vectors.
 * Needs: neighbours as constant distances (reassociate), and what is known of alignment (align).
 * Leaves: lanes that are taken out of vectors.
 * Gives up: on volatile accesses, pointers and truth values; across what may access the same bytes
 *        or orders accesses. */
bool pass_merge_accesses(ir_func *f, pass_ctx *cx) {
    merger *s = ir_alloc_raw(cx->scratch, sizeof *s);
    s->f = f;
    s->scratch = cx->scratch;
    s->n = 0;
    s->writes = 0;
    s->changed = false;
    ir_builder_init(&s->b, f);
    merge_all(s, IR_OP_load);
    merge_all(s, IR_OP_store);
    return s->changed;
}
