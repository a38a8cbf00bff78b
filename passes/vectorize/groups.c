/* groups.c — accesses of one block that are done together, as members of one structure.
 *
 * The addresses of a group have one stride, of k elements, and constant distances less than that
 * (Nuzman, Rosen and Zaks 2006).  Memory of all items is then k vectors of W elements that follow
 * each other, and members.c goes between these and vectors of members.
 *
 * Loads are done where the first of them is, so nothing between may write what later ones read.
 * Stores are done where the last one is, so nothing between may access what earlier ones write.  An
 * access is compared with the groups that are open, and a load also with what was written since its
 * group began; both are few.
 */
#include "passes/analysis/alias.h"
#include "passes/vectorize/groups.h"

enum { MAX_OPEN = 8, MAX_WRITES = 32, WIDE = 8 };

typedef struct {
    simd *s;
    const pass_alias *alias;
    simd_group *open[MAX_OPEN]; /* the oldest first */
    unsigned nopen;
    struct {
        const ir_inst *at;
        const simd_group *group; /* of the store, or NULL */
    } write[MAX_WRITES];
    uint32_t nwrites, nlost; /* of a block; those that are not known any more */
} finder;

/* --------------------------------------------------------------------------------- one access */

static uint64_t size_of(const finder *f, const ir_inst *i) {
    return ir_access_size(f->s->f->module, simd_accessed(i));
}

static int64_t element_bytes(const simd *s, ir_type t) {
    return (int64_t)ir_sizeof(s->f->module, ir_elem(t));
}

/* The elements from an item to the next; 0: the access is in no group. */
static unsigned step_of(const simd *s, const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return 0;
    ir_type t = simd_accessed(i);
    const ir_inst *p = simd_address(i);
    if (ir_is_ptr(ir_elem(t)) || ir_is_bool(t) || simd_shape_of(s, p) != SIMD_STRIDED) return 0;
    if (s->value[p->id].array) return 0;
    int64_t stride = s->value[p->id].stride, bytes = element_bytes(s, t);
    bool fits = stride > 0 && stride % bytes == 0 && stride / bytes <= SIMD_MAX_MEMBERS;
    unsigned k = fits ? (unsigned)(stride / bytes) : 0;
    return k > 1 && ir_lanes(t) <= k ? k : 0;
}

bool simd_has_far_lanes(const simd *s, const ir_inst *i) {
    if (i->op != IR_OP_load || step_of(s, i)) return false;
    const simd_value *p = &s->value[simd_address(i)->id];
    simd_shape shape = simd_shape_of(s, simd_address(i));
    int64_t bytes = element_bytes(s, i->type);
    if (ir_is_ptr(ir_elem(i->type)) || ir_is_bool(i->type) || shape == SIMD_UNIFORM) return false;
    if (p->array || ir_lanes(i->type) > simd_tile_limit(s, (unsigned)bytes)) return false;
    bool is_near = p->stride == bytes || p->stride == -bytes;
    return shape == SIMD_VARYING || !is_near || ir_is_vector(i->type);
}

unsigned simd_shuffles_of(const simd *s, const ir_inst *i) {
    unsigned k = step_of(s, i), count = 0;
    for (unsigned reach = 1; reach < k; reach *= 2) count++;
    return count;
}

/* -------------------------------------------------------------------------------------- groups */

typedef struct {
    int64_t first, end;
} range;

/* The bytes of the elements that a group has, or would have with i at `offset`. */
static range extend(const finder *f, const simd_group *g, const ir_inst *i, int64_t offset) {
    range r = {offset, offset + (int64_t)size_of(f, i)};
    for (unsigned n = 0; n < g->n; n++) {
        int64_t from = g->offset[n], to = from + (int64_t)size_of(f, g->access[n]);
        if (from < r.first) r.first = from;
        if (to > r.end) r.end = to;
    }
    return r;
}

static bool overlaps(const finder *f, const simd_group *g, const ir_inst *i, int64_t offset) {
    bool any = false;
    for (unsigned n = 0; n < g->n; n++)
        any |= offset < g->offset[n] + (int64_t)size_of(f, g->access[n]) &&
               g->offset[n] < offset + (int64_t)size_of(f, i);
    return any;
}

static bool touches(const finder *f, const ir_inst *i, const ir_inst *access) {
    const ir_inst *p = simd_address(access);
    return pass_may_write(f->alias, i, p, size_of(f, access)) ||
           pass_may_read(f->alias, i, p, size_of(f, access));
}

/* May the load i be done before what was written since the group began? */
static bool may_go_back(const finder *f, const simd_group *g, const ir_inst *i) {
    if (g->begin < f->nlost) return false;
    for (uint32_t n = g->begin; n < f->nwrites; n++) {
        const ir_inst *w = f->write[n - f->nlost].at;
        const simd_group *own = f->write[n - f->nlost].group;
        const ir_inst *p = simd_address(i);
        if (pass_may_write(f->alias, w, p, size_of(f, i))) return false;
        for (unsigned k = 0; own && k < own->n; k++)
            if (pass_may_write(f->alias, own->access[k], p, size_of(f, i))) return false;
    }
    return true;
}

static bool may_join(const finder *f, const simd_group *g, const ir_inst *i, unsigned k,
                     int64_t *offset) {
    const ir_inst *other = g->access[0];
    int64_t bytes = element_bytes(f->s, simd_accessed(i));
    if (g->is_store != (i->op == IR_OP_store) || g->k != k || g->n == SIMD_MAX_ACCESSES)
        return false;
    if (bytes != element_bytes(f->s, g->element) || other->imm.mem.flags != i->imm.mem.flags)
        return false;
    if (!pass_find_step(f->alias, simd_address(other), simd_address(i), offset)) return false;
    range all = extend(f, g, i, *offset);
    if (*offset % bytes || all.end - all.first > (int64_t)k * bytes) return false;
    return g->is_store ? !overlaps(f, g, i, *offset) : may_go_back(f, g, i);
}

/* ---------------------------------------------------------------------------------- the choice */

/* Are a run of each lane, and shuffles, better than gathers, which take up to 8 bytes? */
static bool is_tile(const simd *s, const simd_group *g, unsigned used, bool masked) {
    uint64_t gathers = 0, bytes = used * ir_sizeof(s->f->module, g->element);
    if (masked && !(s->cx->target && s->cx->target->has_masks)) return false;
    for (unsigned n = 0; n < g->n; n++)
        gathers += (ir_access_size(s->f->module, g->access[n]->type) + 7) / 8;
    unsigned least = masked ? 4 : bytes > 8 ? 2 : 3;
    return used > 1 && 2 * used >= g->k && gathers >= least;
}

/* Are vectors of all elements better than an access for each of them? */
static bool is_worth(const simd *s, const simd_group *g) {
    unsigned used = (unsigned)__builtin_popcount(g->wanted);
    bool has_masks = s->cx->target && s->cx->target->has_masks;
    bool masked = simd_is_masked(s, g->at->block), full = used == g->k;
    if (g->is_apart) return is_tile(s, g, used, masked);
    if (masked || (g->is_store && !full)) return has_masks && 2 * used >= g->k;
    return full || g->k <= WIDE;
}

static void finish(const finder *f, simd_group *g) {
    int64_t first = extend(f, g, g->access[0], 0).first;
    int64_t bytes = element_bytes(f->s, g->element);
    for (unsigned n = 0; n < g->n; n++)
        g->wanted |= ((1u << ir_lanes(simd_accessed(g->access[n]))) - 1)
                     << (g->offset[n] - first) / bytes;
    g->at = g->access[g->is_store ? g->n - 1 : 0];
    while (g->is_apart && g->k > 2 && !(g->wanted >> g->k / 2)) g->k /= 2;
    g->first = first - g->offset[g->is_store ? g->n - 1 : 0];
    for (unsigned n = 0; n < g->n && is_worth(f->s, g); n++)
        f->s->value[g->access[n]->id].group = g;
}

static void close_group(finder *f, unsigned n) {
    finish(f, f->open[n]);
    f->nopen--;
    for (; n < f->nopen; n++) f->open[n] = f->open[n + 1];
}

static void close_all(finder *f) {
    while (f->nopen) close_group(f, 0);
}

/* --------------------------------------------------------------------------------------- blocks */

static simd_group *open_group(finder *f, const ir_inst *i, unsigned k) {
    simd_group *g = ir_new(f->s->scratch, simd_group);
    *g = (simd_group){.is_store = i->op == IR_OP_store,
                      .k = k,
                      .element = ir_elem(simd_accessed(i)),
                      .begin = f->nwrites};
    if (f->nopen == MAX_OPEN) close_group(f, 0);
    return f->open[f->nopen++] = g;
}

const pass_alias *simd_find_aliases(simd *s) {
    simd_code *c = s->code;
    if (c->alias) return c->alias;
    c->alias = ir_new(c->memory, pass_alias);
    pass_alias_begin_in(c->alias, s->f, &c->dom->order, c->memory);
    return c->alias;
}

/* The group of an access, which may be new; NULL: it is in none. */
static simd_group *add_access(finder *f, ir_inst *i) {
    unsigned k = step_of(f->s, i);
    simd_group *g = NULL;
    int64_t offset = 0;
    bool apart = simd_has_far_lanes(f->s, i);
    if (apart) k = simd_tile_limit(f->s, (unsigned)element_bytes(f->s, i->type));
    if (!k) return NULL;
    f->alias = simd_find_aliases(f->s);
    for (unsigned n = 0; n < f->nopen && !g; n++)
        if (may_join(f, f->open[n], i, k, &offset)) g = f->open[n];
    if (!g) {
        g = open_group(f, i, k);
        offset = 0;
    }
    g->is_apart = apart;
    g->access[g->n] = i;
    g->offset[g->n++] = offset;
    return g;
}

/* Stores that would be moved across i are closed before. */
static void close_touched(finder *f, const ir_inst *i, const simd_group *own) {
    for (unsigned n = f->nopen; n-- > 0;) {
        const simd_group *g = f->open[n];
        bool any = false;
        for (unsigned k = 0; g->is_store && g != own && k < g->n && !any; k++)
            any = touches(f, i, g->access[k]);
        if (any) close_group(f, n);
    }
}

static void note_write(finder *f, const ir_inst *i, const simd_group *own) {
    if (f->nwrites - f->nlost == MAX_WRITES) f->nlost = f->nwrites;
    f->write[f->nwrites - f->nlost].at = i;
    f->write[f->nwrites++ - f->nlost].group = own;
}

static void visit(finder *f, ir_inst *i) {
    bool reads = ir_is_load(i) || i->op == IR_OP_copy;
    if (!reads && !pass_writes(i)) return;
    const simd_group *own = add_access(f, i);
    close_touched(f, i, own);
    if (pass_writes(i)) note_write(f, i, own);
}

void simd_find_groups(simd *s) {
    finder f = {.s = s};
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        f.nwrites = f.nlost = 0;
        foreach_inst (i, s->node[k].block) visit(&f, i);
        close_all(&f);
    }
}
