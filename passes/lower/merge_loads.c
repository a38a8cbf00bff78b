/* merge_loads.c — loads of neighbours become one load of a vector.
 *
 * Front ends load the members of a struct, and the lanes of a vector, one by one.  A GPU loads up
 * to 16 bytes by one instruction if their address is a multiple of as much.  That is known from
 * what other loads at constant distances say about their alignment, and from the parameter that is
 * the base.
 *
 * Within a block, loads of one element type at constant distances from one address form a group, up
 * to the next instruction that may write memory or orders accesses.  A window of 16, 8 or 4 bytes
 * all of whose elements are loaded, by whole loads, becomes a load at the place of the first.
 */
#include "passes/passes.h"

enum { MOST_LOADS = 16, MOST_GROUPS = 8, MOST_BYTES = 16, MOST_LANES = 4 };

typedef struct {
    ir_inst *i; /* NULL: it has been merged */
    int64_t distance;
} member;

typedef struct {
    ir_inst *base;
    ir_type element;
    unsigned flags;
    member load[MOST_LOADS]; /* in the order of the block */
    unsigned n;
    unsigned align; /* of the address at distance `aligned`, bytes */
    int64_t aligned;
} group;

typedef struct {
    ir_func *f;
    ir_builder b;
    group list[MOST_GROUPS];
    unsigned n;
    bool changed;
} merger;

/* ----------------------------------------------------------------------------------- one window */

typedef struct {
    int64_t start;
    unsigned lanes, size; /* size: of an element */
} window;

static int64_t end_of(const window *w) { return w->start + (int64_t)(w->lanes * w->size); }

static int64_t end_of_load(const window *w, const member *m) {
    return m->distance + (int64_t)(ir_lanes(m->i->type) * w->size);
}

static bool touches(const window *w, const member *m) {
    return m->i && m->distance < end_of(w) && end_of_load(w, m) > w->start;
}

static unsigned first_lane(const window *w, const member *m) {
    return (unsigned)((m->distance - w->start) / w->size);
}

/* Is each element loaded, and by loads that do not go beyond the window? */
static bool is_covered(const group *g, const window *w) {
    unsigned covered = 0, loads = 0;
    for (unsigned n = 0; n < g->n; n++) {
        const member *m = &g->load[n];
        if (!touches(w, m)) continue;
        if (m->distance < w->start || end_of_load(w, m) > end_of(w)) return false;
        if ((m->distance - w->start) % w->size) return false;
        covered |= ((1u << ir_lanes(m->i->type)) - 1) << first_lane(w, m);
        loads++;
    }
    return loads > 1 && covered == (1u << w->lanes) - 1;
}

static ir_inst *lanes_of(merger *s, ir_inst *v, unsigned first, unsigned n) {
    uint8_t mask[MOST_LANES];
    if (n == 1) return ir_build_extract(&s->b, v, first);
    for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)(first + k);
    return n == ir_lanes(v->type) ? v
                                  : ir_build_shuffle(&s->b, v, ir_undef(s->f, v->type), n, mask);
}

static void merge(merger *s, group *g, const window *w) {
    ir_inst *all = NULL;
    ir_type t = ir_vector(g->element, w->lanes);
    for (unsigned n = 0; n < g->n; n++) {
        member *m = &g->load[n];
        if (!touches(w, m)) continue;
        ir_before(&s->b, m->i);
        s->b.loc = m->i->loc;
        if (!all) {
            ir_inst *start = ir_const(s->f, ir_size_type(s->f->module), (uint64_t)w->start);
            ir_inst *address = m->distance == w->start
                                   ? ir_arg(m->i, 0)
                                   : ir_build_ptradd(&s->b, g->base, start, false);
            all = ir_build_load(&s->b, t, address, w->lanes * w->size, g->flags);
        }
        ir_replace_uses(m->i, lanes_of(s, all, first_lane(w, m), ir_lanes(m->i->type)));
        ir_remove(m->i);
        m->i = NULL;
    }
    ir_count(s->f->module->cx, merge_loads_merged, 1);
    s->changed = true;
}

/* ------------------------------------------------------------------------------------ one group */

/* The window around a load whose address is a multiple of its size. */
static bool find_window(const merger *s, const group *g, const member *m, unsigned lanes,
                        window *w) {
    unsigned size = ir_bits(s->f->module, g->element) / 8;
    int64_t bytes = (int64_t)lanes * size, beyond = (m->distance - g->aligned) % bytes;
    *w = (window){m->distance - (beyond < 0 ? beyond + bytes : beyond), lanes, size};
    return bytes <= MOST_BYTES && bytes <= g->align && is_covered(g, w);
}

static void merge_group(merger *s, group *g) {
    for (unsigned lanes = MOST_LANES; lanes > 1; lanes /= 2)
        for (unsigned n = 0; n < g->n; n++) {
            window w;
            if (g->load[n].i && find_window(s, g, &g->load[n], lanes, &w)) merge(s, g, &w);
        }
}

static void end_groups(merger *s) {
    for (unsigned n = 0; n < s->n; n++)
        if (s->list[n].n > 1) merge_group(s, &s->list[n]);
    s->n = 0;
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

static group *group_of(merger *s, ir_inst *base, const ir_inst *load) {
    for (unsigned n = 0; n < s->n; n++) {
        group *g = &s->list[n];
        if (g->base == base && g->element == ir_elem(load->type) &&
            g->flags == load->imm.mem.flags && g->n < MOST_LOADS)
            return g;
    }
    if (s->n == MOST_GROUPS) end_groups(s);
    group *g = &s->list[s->n++];
    *g = (group){.base = base,
                 .element = ir_elem(load->type),
                 .flags = load->imm.mem.flags,
                 .align = align_of(s, base)};
    return g;
}

static bool is_mergeable(const ir_inst *load) {
    ir_type t = load->type;
    bool number = !ir_is_aggregate(t) && !ir_is_ptr(ir_elem(t)) && !ir_is_bool(ir_elem(t));
    return number && !(load->imm.mem.flags & (IR_MEM_VOLATILE | IR_MEM_NONTEMPORAL)) &&
           ir_lanes(t) <= MOST_LANES && ir_lanes(t) != 3 && !ir_is_vector(ir_arg(load, 0)->type);
}

static void look_at_load(merger *s, ir_inst *load) {
    int64_t distance = 0;
    ir_inst *base = base_of(ir_arg(load, 0), &distance);
    if (distance < INT32_MIN || distance > INT32_MAX) return;
    group *g = group_of(s, base, load);
    unsigned align = 1u << load->imm.mem.align;
    if (align > g->align) {
        g->align = align;
        g->aligned = distance;
    }
    g->load[g->n++] = (member){load, distance};
}

/* Does:  merges loads of neighbours within a block into loads of vectors, up to 16 bytes.
 * Needs: neighbours as constant distances (reassociate), and what is known of alignment (align).
 * Leaves: lanes that are taken out of vectors.
 * Gives up: on volatile loads, pointers and truth values; across instructions that may write. */
bool pass_merge_loads(ir_func *f, pass_ctx *cx) {
    merger *s = ir_alloc_raw(cx->scratch, sizeof *s);
    s->f = f;
    s->n = 0;
    s->changed = false;
    ir_builder_init(&s->b, f);
    foreach_block (b, f) {
        foreach_inst (i, b)
            if (i->op == IR_OP_load && is_mergeable(i))
                look_at_load(s, i);
            else if (ir_has_flag(i, F_WRITES) || (i->op != IR_OP_load && ir_has_flag(i, F_READS)))
                end_groups(s);
        end_groups(s);
    }
    return s->changed;
}
