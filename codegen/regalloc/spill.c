/* spill.c — which values are in registers at every place, so that registers suffice.
 *
 * Braun and Hack, "Register spilling and live-range splitting for SSA-form programs" (2009): go
 * through each block with the set W of values that are in registers.  An operand that is not there
 * is reloaded; when there are too many, those go whose next uses are farthest.  At the start of a
 * block W is what all predecessors have in registers, and more of what some have; at the header of
 * a loop it is what the loop uses, and of what only passes through as much as the loop leaves room
 * for.  Where the edges do not agree, reloads make them (spill_code.c).
 *
 * A value that leaves W costs nothing there: what is reloaded somewhere has been stored once,
 * after its definition.  A phi that is not in W at its place lives in memory from the start:
 * its operands are in the same slot already (webs.c).  What may be repeated is repeated instead of
 * reloaded.
 *
 * Room counts in numbers of registers (demand.c); which register is not decided here.
 */
#include "codegen/regalloc/spill.h"

/* -------------------------------------------------------------------------------------------- W */

static spill_entry *find(spill_set *w, const ir_inst *v) {
    for (unsigned k = 0; k < w->n; k++)
        if (w->e[k].v == v) return &w->e[k];
    return NULL;
}

static void add(spill_set *w, ir_inst *v, uint32_t next) {
    assert(w->n < 2 * CG_MAX_REGS);
    w->e[w->n++] = (spill_entry){v, next};
}

static void drop(spill_set *w, spill_entry *e) { *e = w->e[--w->n]; }

/* How little is lost when a value leaves W.  To repeat it costs less than to reload it, and that
 * less than to store it too. */
static uint64_t worth_leaving(const spill_state *p, const spill_entry *e, uint32_t at) {
    uint64_t distance = e->next - at;
    if (p->s->random) return 1 + ra_random(p->s, 100);
    if (ra_may_repeat(p->s->t, e->v)) return distance * 4;
    return p->stored[e->v->id] ? distance + distance / 2 : distance;
}

/* At most `max` values of a class in registers; those that are needed at `at` stay. */
static void make_room(spill_state *p, unsigned class, unsigned max, uint32_t at) {
    spill_set *w = &p->w[class];
    while (w->n > max) {
        spill_entry *best = NULL;
        uint64_t most = 0;
        for (unsigned k = 0; k < w->n; k++) {
            uint64_t worth = w->e[k].next > at ? worth_leaving(p, &w->e[k], at) : 0;
            if (worth > most) best = &w->e[k];
            if (worth > most) most = worth;
        }
        if (!best) return;
        drop(w, best);
    }
}

static unsigned room(const spill_state *p, unsigned class, unsigned pad) {
    return p->registers[class] > pad ? p->registers[class] - pad : 0;
}

/* ------------------------------------------------------------------------------ start of blocks */

/* The best `n` of a set by next use, best first. */
typedef struct {
    unsigned n, max;
    spill_entry e[CG_MAX_REGS];
} best_list;

static void offer(best_list *l, ir_inst *v, uint32_t next) {
    unsigned k = l->n < l->max ? l->n++ : l->max;
    for (; k > 0 && l->e[k - 1].next > next; k--)
        if (k < l->max) l->e[k] = l->e[k - 1];
    if (k < l->max) l->e[k] = (spill_entry){v, next};
}

static bool has(const ra_values *set, const ir_inst *v) {
    for (uint32_t k = 0; k < set->n; k++)
        if (set->data[k] == v) return true;
    return false;
}

static bool is_done(const spill_state *p, const ir_block *b, const ir_block *pred) {
    return p->order->index[pred->id] < p->order->index[b->id];
}

/* At the ends of how many predecessors that have been looked at is each value in a register? */
static uint32_t count_exits(spill_state *p, const ir_block *b) {
    uint32_t done = 0;
    p->now++;
    for (uint32_t n = 0; n < b->npred; n++) {
        const ra_values *exit = &p->exit[b->pred[n]->id];
        done += is_done(p, b, b->pred[n]);
        for (uint32_t k = 0; k < exit->n; k++) {
            uint32_t id = exit->data[k]->id;
            if (p->with_epoch[id] != p->now) p->with[id] = 0;
            p->with_epoch[id] = p->now;
            p->with[id]++;
        }
    }
    return done;
}

/* The predecessors that have been looked at and have the phi's operand in a register. */
static uint32_t count_operands(const spill_state *p, const ir_block *b, const ir_inst *phi) {
    uint32_t with = 0;
    for (uint32_t n = 0; n < b->npred; n++) {
        bool done = is_done(p, b, b->pred[n]);
        const ir_inst *x = ir_arg(phi, n);
        with += done && (ir_is_leaf(x) || has(&p->exit[b->pred[n]->id], x));
    }
    return with;
}

static uint32_t count_with(const spill_state *p, const ir_block *b, const ir_inst *v) {
    if (v->op == IR_OP_phi && v->block == b) return count_operands(p, b, v);
    return p->with_epoch[v->id] == p->now ? p->with[v->id] : 0;
}

/* What is chosen first, second, and not at all. */
typedef struct {
    spill_state *p;
    ir_block *b;
    uint32_t done; /* predecessors that have been looked at */
    bool loops;    /* not all have been: b is the header of a loop */
    best_list first[CG_MAX_CLASSES], second[CG_MAX_CLASSES];
    spill_count through; /* values that a loop does not use */
} entry_choice;

static void consider(entry_choice *c, ir_inst *v, uint32_t distance) {
    uint8_t class = ra_class(c->p->s->t, v);
    if (class == CG_NO_CLASS) return;
    uint32_t with = count_with(c->p, c->b, v);
    bool near = distance < SPILL_LOOP_EXIT, everywhere = with == c->done;
    if (v->op == IR_OP_phi && v->block == c->b)
        c->through.n[class] += !near;
    else
        c->through.n[class] -= near;
    if (c->loops ? near : everywhere)
        offer(&c->first[class], v, distance);
    else if (c->loops ? everywhere : near && with)
        offer(&c->second[class], v, distance);
}

/* What predecessors have in registers, although it is far. */
static void consider_far(entry_choice *c) {
    spill_state *p = c->p;
    const spill_near *near = &p->near[c->b->id];
    p->far = NULL; /* count_exits has begun anew */
    for (uint32_t k = 0; k < near->n; k++) spill_set_distance(p, near->e[k].v, 0);
    for (uint32_t n = 0; n < c->b->npred; n++) {
        const ra_values *exit = &p->exit[c->b->pred[n]->id];
        for (uint32_t k = 0; k < exit->n; k++) {
            ir_inst *v = exit->data[k];
            bool listed = spill_distance(p, v) != SPILL_NEVER;
            if (listed || !ir_is_live(p->live, &p->live->in[c->b->id], v)) continue;
            spill_set_distance(p, v, 0);
            consider(c, v, SPILL_FAR);
        }
    }
}

/* How many values that a loop does not use may stay in registers while it runs. */
static unsigned room_through(const entry_choice *c, unsigned class) {
    const ir_loop *l = c->p->loops->of[c->b->id];
    uint32_t used = l ? c->p->loop_pressure[l->header->id].n[class] : 0;
    uint32_t own = used > c->through.n[class] ? used - c->through.n[class] : 0;
    return room(c->p, class, own < 255 ? own : 255);
}

static void enter_list(spill_state *p, ir_block *b, spill_set *w, const best_list *l,
                       unsigned max) {
    for (unsigned k = 0; k < l->n && k < max; k++) {
        add(w, l->e[k].v, l->e[k].next);
        *ir_push(&p->s->scratch, &p->entry[b->id]) = l->e[k].v;
    }
}

static void enter_class(entry_choice *c, unsigned class) {
    spill_state *p = c->p;
    spill_set *w = &p->w[class];
    w->n = 0;
    enter_list(p, c->b, w, &c->first[class], p->registers[class]);
    unsigned rest = p->registers[class] - w->n;
    if (c->loops && room_through(c, class) < rest) rest = room_through(c, class);
    enter_list(p, c->b, w, &c->second[class], rest);
}

static void enter_block(spill_state *p, ir_block *b) {
    entry_choice c = {.p = p, .b = b, .done = count_exits(p, b)};
    c.loops = c.done < b->npred;
    const spill_near *near = &p->near[b->id];
    c.through = spill_count_live(p, &p->live->in[b->id]);
    for (unsigned k = 0; k < p->s->t->nclasses; k++)
        c.first[k].max = c.second[k].max = p->registers[k];
    foreach_phi (phi, b) consider(&c, phi, p->phi_distance[phi->id]);
    for (uint32_t k = 0; k < near->n; k++) consider(&c, near->e[k].v, near->e[k].next);
    if (near->cut) consider_far(&c);
    for (unsigned k = 0; k < p->s->t->nclasses; k++) enter_class(&c, k);
    foreach_phi (phi, b)
        if (ra_class(p->s->t, phi) != CG_NO_CLASS && !has(&p->entry[b->id], phi))
            p->in_memory[phi->id] = true;
}

/* --------------------------------------------------------------------------------- instructions */

static uint32_t pop_use(spill_state *p) { return p->uses.data[--p->uses.n]; }
static void push_use(spill_state *p, const ir_inst *v) {
    *ir_push(&p->s->scratch, &p->uses) = spill_distance(p, v);
}

/* The next use after every mention of a value in the block, last instruction first. */
static void find_uses(spill_state *p, const ir_block *b) {
    uint32_t at = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) at++;
    spill_load_distances(p, b, at);
    p->uses.n = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        at--;
        push_use(p, i);
        for (unsigned n = 0; n < i->nargs; n++) {
            push_use(p, ir_arg(i, n));
            if (!ir_is_leaf(ir_arg(i, n))) spill_set_distance(p, ir_arg(i, n), at);
        }
    }
}

typedef struct {
    ir_inst *i;
    uint32_t at;
    cg_needs needs;
    ir_inst *v[CG_MAX_NEEDS];    /* operands as they were */
    uint32_t next[CG_MAX_NEEDS]; /* after the instruction */
    bool lives_on[CG_MAX_NEEDS];
    uint32_t next_result;
} spill_inst;

static bool is_in_register(const spill_inst *x, unsigned n) {
    return n < x->needs.nargs && x->needs.arg[n].class < CG_MAX_CLASSES;
}

static void look_at(spill_state *p, spill_inst *x) {
    ra_describe(p->s->t, x->i, &x->needs);
    for (unsigned n = x->i->nargs; n > 0; n--) {
        uint32_t next = pop_use(p);
        if (!is_in_register(x, n - 1)) continue;
        x->v[n - 1] = ir_arg(x->i, n - 1);
        x->next[n - 1] = next;
    }
    x->next_result = pop_use(p);
}

/* All mentions of a value in one instruction have the same next use. */
static void settle_uses(spill_inst *x) {
    for (unsigned n = 0; n < x->needs.nargs; n++)
        for (unsigned k = 0; k < n; k++) {
            if (!is_in_register(x, n) || !is_in_register(x, k) || x->v[k] != x->v[n]) continue;
            uint32_t next = x->next[k] > x->next[n] ? x->next[k] : x->next[n];
            x->next[k] = x->next[n] = next;
        }
    for (unsigned n = 0; n < x->needs.nargs; n++) x->lives_on[n] = x->next[n] != SPILL_NEVER;
}

/* Operands into W, reloaded when they are not there. */
static void need_operands(spill_state *p, const spill_inst *x, spill_count *missing) {
    for (unsigned n = 0; n < x->needs.nargs; n++) {
        if (!is_in_register(x, n)) continue;
        spill_set *w = &p->w[x->needs.arg[n].class];
        spill_entry *e = find(w, x->v[n]);
        if (e) {
            e->next = x->at;
            continue;
        }
        add(w, x->v[n], x->at);
        missing->n[x->needs.arg[n].class]++;
        p->name[x->v[n]->id] = spill_fetch(p, x->v[n], x->i->block, x->i);
        p->named[x->v[n]->id] = x->i->block->id + 1;
    }
}

static void name_operands(spill_state *p, const spill_inst *x) {
    for (unsigned n = 0; n < x->needs.nargs; n++)
        if (is_in_register(x, n) && p->named[x->v[n]->id] == x->i->block->id + 1)
            ir_set_arg(x->i, n, p->name[x->v[n]->id]);
}

static void pass_operands(spill_state *p, const spill_inst *x) {
    for (unsigned n = 0; n < x->needs.nargs; n++) {
        if (!is_in_register(x, n)) continue;
        spill_set *w = &p->w[x->needs.arg[n].class];
        spill_entry *e = find(w, x->v[n]);
        if (e) e->next = x->next[n];
        if (e && !x->lives_on[n]) drop(w, e);
    }
}

static void pass_inst(spill_state *p, ir_inst *i, uint32_t at) {
    spill_inst x = {.i = i, .at = at};
    spill_pads pads[CG_MAX_CLASSES];
    spill_count missing = {0};
    look_at(p, &x);
    settle_uses(&x);
    spill_find_pads(p, &x.needs, x.lives_on, pads);
    need_operands(p, &x, &missing);
    name_operands(p, &x);
    unsigned n = p->s->t->nclasses;
    for (unsigned c = 0; c < n; c++) make_room(p, c, room(p, c, pads[c].before), at);
    pass_operands(p, &x);
    for (unsigned c = 0; c < n; c++) make_room(p, c, room(p, c, pads[c].across), at);
    uint8_t class = x.needs.result.class;
    if (class == CG_NO_CLASS) return;
    make_room(p, class, room(p, class, pads[class].behind + 1u), at);
    if (x.next_result != SPILL_NEVER) add(&p->w[class], i, x.next_result);
}

static void pass_block(spill_state *p, ir_block *b) {
    uint32_t at = 0;
    enter_block(p, b);
    find_uses(p, b);
    for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
        next = i->next;
        pass_inst(p, i, at++);
    }
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        for (unsigned k = 0; k < p->w[c].n; k++)
            *ir_push(&p->s->scratch, &p->exit[b->id]) = p->w[c].e[k].v;
}

/* ---------------------------------------------------------------------------------------- entry */

static void make_tables(spill_state *p) {
    uint32_t values = p->s->f->next_id, blocks = p->s->f->next_block;
    p->entry = ir_new_array(&p->s->scratch, ra_values, blocks);
    p->exit = ir_new_array(&p->s->scratch, ra_values, blocks);
    p->with = ir_new_array(&p->s->scratch, uint32_t, values);
    p->with_epoch = ir_new_array(&p->s->scratch, uint32_t, values);
    p->name = ir_new_array(&p->s->scratch, ir_inst *, values);
    p->named = ir_new_array(&p->s->scratch, uint32_t, values);
    p->in_memory = ir_new_array(&p->s->scratch, bool, values);
    p->stored = ir_new_array(&p->s->scratch, bool, values);
}

void ra_arrange(ra_state *s) {
    spill_state p = {.s = s};
    spill_look(&p);
    bool too_few = spill_find_pressure(&p);
    spill_hoist(&p);
    if (!too_few && !s->random)
        s->room = RA_ENOUGH;
    else if (spill_schedule(&p))
        s->room = RA_TOO_FEW;
}

void ra_spill_values(ra_state *s) {
    spill_state p = {.s = s};
    ir_ctx *cx = s->f->module->cx;
    if (s->room == RA_ENOUGH) return;
    ir_enter_stage(cx, "pressure");
    spill_look(&p);
    if (s->room != RA_TOO_FEW && !spill_find_pressure(&p)) return;
    ir_enter_stage(cx, "webs");
    spill_find_webs(&p);
    ir_enter_stage(cx, "pressure");
    spill_look(&p);
    spill_find_pressure(&p);
    ir_enter_stage(cx, "distances");
    spill_find_distances(&p);
    ir_enter_stage(cx, "spill");
    make_tables(&p);
    for (uint32_t k = 0; k < p.order->n; k++) pass_block(&p, p.order->rpo[k]);
    spill_write_code(&p);
}
