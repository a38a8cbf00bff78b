/* launch.c — arguments and launches. */
#include "runtime/devices/cuda/cuda.h"

enum { USUAL_SHARED = 48 << 10, LOCAL_ALIGN = 128 };

IR_NORETURN static void refuse(cuda *d, const char *why) {
    rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: kernel '%s': %s", d->kernel, why);
}

static bool is_empty(const spvf_range *r) {
    for (unsigned k = 0; k < r->dims; k++)
        if (!r->global[k]) return true;
    return false;
}

/* ------------------------------------------------------------------------------------ arguments */

enum { HIDDEN = 4, PHASES = 2 };

/* Most launches need no memory for lists. */
enum { FEW = 32 };

/* What the driver gets: where each argument is, and those that are not in memory already. */
typedef struct {
    void **at, *few_at[FEW];
    size_t *size, few_sizes[FEW];
    uint64_t *value, few_values[FEW];
    size_t n;
    uint64_t shared;          /* bytes of local arguments */
    uint64_t *parts, *offset; /* those that differ between parts of a range, */
    uint64_t *phase;          /* and between phases */
} parameters;

static uint64_t round_up(uint64_t bytes) {
    return (bytes + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
}

uint64_t cuda_local_bytes(const rt_launch *l) {
    uint64_t bytes = 0;
    for (size_t n = 0; n < l->count; n++)
        if (l->args[n].kind == RT_ARG_LOCAL) bytes += round_up(l->args[n].size);
    return bytes;
}

static void add_argument(parameters *p, const rt_arg *a) {
    uint64_t *value = &p->value[p->n];
    uint32_t place = (uint32_t)p->shared;
    *value = 0;
    switch (a->kind) {
    case RT_ARG_MEMORY: *value = a->memory ? a->memory->at + a->offset : 0; break;
    case RT_ARG_ADDRESS: *value = (uintptr_t)a->address; break;
    case RT_ARG_LOCAL:
        memcpy(value, &place, sizeof place);
        p->shared += round_up(a->size);
        break;
    case RT_ARG_VALUE: break;
    }
    p->size[p->n] = a->kind == RT_ARG_VALUE ? (size_t)a->size : sizeof *value;
    p->at[p->n++] = a->kind == RT_ARG_VALUE ? (void *)(uintptr_t)a->bytes : value;
}

static uint64_t *add_number(parameters *p, uint64_t value) {
    uint64_t *at = &p->value[p->n];
    *at = value;
    p->size[p->n] = sizeof *at;
    p->at[p->n++] = at;
    return at;
}

static void check_local(cuda *d, const rt_launch *l) {
    for (size_t n = 0; n < l->count; n++)
        if (l->args[n].kind == RT_ARG_LOCAL && l->args[n].size > d->shared)
            refuse(d, "its work-groups need more local memory");
}

/* What pass_make_parts has added; little-endian numbers of 32 bits begin where those of 64 do. */
static void add_parts(parameters *p, pass_parts parts, const cuda_grid *g) {
    p->parts = &p->value[p->n];
    for (unsigned k = 0; k < 3 && parts == PASS_GUARDED; k++)
        add_number(p, g->offset[k] + g->global[k]);
    for (unsigned k = 0; k < 3 && parts == PASS_GUARDED; k++) add_number(p, g->offset[k]);
    if (parts != PASS_BOXES) return;
    for (unsigned k = 0; k < 3; k++) add_number(p, 0); /* the first group of a part */
    for (unsigned k = 0; k < 3; k++) add_number(p, (g->global[k] + g->local[k] - 1) / g->local[k]);
    for (unsigned k = 0; k < 3; k++) add_number(p, g->local[k]);
    for (unsigned k = 0; k < 3; k++) add_number(p, g->global[k]);
}

static void make_room(parameters *p, size_t n, ir_arena *scratch) {
    bool few = n <= FEW;
    p->at = few ? p->few_at : ir_new_array(scratch, void *, n);
    p->size = few ? p->few_sizes : ir_new_array(scratch, size_t, n);
    p->value = few ? p->few_values : ir_new_array(scratch, uint64_t, n);
    p->n = 0;
    p->shared = 0;
}

static void list_parameters(cuda *d, const rt_launch *l, const cuda_grid *g, parameters *p) {
    p->shared = l->function->hidden.variables; /* a multiple of LOCAL_ALIGN */
    for (size_t n = 0; n < l->count; n++) add_argument(p, &l->args[n]);
    if (l->function->phases.n) {
        add_number(p, cuda_keep(d, l->function, g));
        p->phase = add_number(p, 0); /* of 32 bits */
    }
    add_parts(p, l->function->parts, g);
    if (l->function->prints) add_number(p, cuda_begin_print(d, l));
    p->offset = &p->value[p->n];
    for (unsigned k = 0; l->function->hidden.offset && k < 3; k++) add_number(p, g->offset[k]);
    if (l->function->hidden.work_dim) add_number(p, l->range->dims);
}

/* ------------------------------------------------------------------------------------- launches */

void cuda_allow_shared(cuda *d, rt_function *f, uint64_t bytes) {
    if (f->shared + bytes > d->shared) refuse(d, "its work-groups need more local memory");
    if (bytes <= f->dynamic_shared || f->shared + bytes <= USUAL_SHARED) return;
    cuda_must(d, "cuFuncSetAttribute",
              d->cu->set_attribute(f->function, CU_DYNAMIC_SHARED, (int)bytes));
    f->dynamic_shared = (unsigned)bytes;
}

typedef struct {
    cuda *d;
    rt_function *f;
    const cuda_grid *grid;
    const cuda_choice *chosen;
    const parameters *p;
    uint64_t resident; /* blocks, if the function is resident */
    bool refused;      /* the driver does not run all groups at once */
} launching;

static bool waits_in_launch(const rt_function *f) {
    return f->waits && (!f->phases.n || f->resident);
}

static void launch_blocks(launching *a, const cuda_part *part) {
    cuda_blocks what = {
        .node = {.function = a->f->function, .shared = (unsigned)a->p->shared, .params = a->p->at},
        .together = waits_in_launch(a->f),
        .dependent = a->f->dependent};
    for (unsigned k = 0; k < 3; k++) {
        what.node.grid[k] = (unsigned)part->blocks[k];
        what.node.block[k] = part->threads[k];
    }
    if (a->d->recorder)
        cuda_record_grid(a->d, &what, a->p->size, a->p->n);
    else
        a->refused |= !cuda_launch_grid(a->d, &what);
}

static void launch_part(void *user, const cuda_part *part) {
    launching *a = user;
    for (unsigned k = 0; k < 3; k++)
        if (a->f->parts == PASS_GUARDED)
            a->p->offset[k] = a->grid->offset[k] + part->first[k] * a->grid->reach[k];
        else
            a->p->parts[k] = part->first[k];
    launch_blocks(a, part);
}

/* May a phase have fewer blocks along k?  Sizes and linear ids are those of the grid. */
static bool may_shrink(const cuda_grid *g, const ir_extent *e, unsigned k) {
    bool last = true;
    for (unsigned d = k + 1; d < 3; d++) last &= g->global[d] == 1;
    return e->asks == IR_ASKS_NOTHING || (e->asks == IR_ASKS_LINEAR_IDS && last);
}

/* Sets the blocks that do anything in the phase; returns the number of their work-items. */
static uint64_t set_blocks(const cuda_grid *g, const ir_extent *e, cuda_part *to) {
    uint64_t items = 1;
    for (unsigned k = 0; k < 3; k++) {
        to->blocks[k] = g->blocks[k];
        if (may_shrink(g, e, k))
            to->blocks[k] = ir_groups_within(e, k, g->offset[k], g->reach[k], g->blocks[k]);
        to->threads[k] = (unsigned)g->local[k];
        items *= to->blocks[k] * g->reach[k];
    }
    return items;
}

/* A grid of one launch, or of a phase: that of usual code if only few work-items do anything. */
static void launch_whole(launching *a) {
    static const ir_extent whole = {.end = {0}};
    const cuda_choice *c = a->chosen;
    rt_function *f = a->f;
    const uint64_t phase = f->phases.n ? *a->p->phase : IR_EXTENTS;
    const ir_extent *e = phase < IR_EXTENTS ? &f->phases.extent[phase] : &whole;
    cuda_part part = {.first = {0}};
    uint64_t items = set_blocks(a->grid, e, &part);
    if (c->few.function && items < (uint64_t)CUDA_LARGE * a->d->processors) {
        items = set_blocks(&c->few.grid, e, &part);
        a->f = c->few.function;
    }
    if (items) launch_blocks(a, &part);
    a->f = f;
}

static void launch_resident(launching *a) {
    cuda_part all = {.blocks = {a->resident, 1, 1}};
    for (unsigned k = 0; k < 3; k++) all.threads[k] = (unsigned)a->grid->local[k];
    launch_blocks(a, &all);
}

static void launch_phase(launching *a) {
    if (a->f->resident)
        launch_resident(a);
    else if (a->f->parts == PASS_WHOLE)
        launch_whole(a);
    else
        cuda_each_part(a->grid, a->f->parts == PASS_GUARDED, launch_part, a);
}

/* False: the driver has refused one launch for all phases. */
static bool launch_all(launching *a) {
    ir_ctx *cx = &a->d->base.context->cx;
    launch_phase(a);
    bool once = waits_in_launch(a->f);
    for (uint64_t n = 1; n < a->f->phases.n && !once; n++) {
        *a->p->phase = n;
        launch_phase(a);
    }
    ir_count(cx, cuda_phases, once ? 0 : a->f->phases.n);
    ir_count(cx, cuda_together, once && !a->refused);
    return !a->refused;
}

/* l->function has its marked arguments as constants.  False: the driver has refused one launch for
 * all phases; the next try has one for each. */
static bool launch_variant(cuda *d, rt_launch *l, ir_arena *scratch) {
    const rt_function *usual = l->function;
    const cuda_choice *chosen = cuda_choose(d, l);
    l->function = chosen->function;
    check_local(d, l);
    parameters p;
    make_room(&p, l->count + PHASES + PASS_BOX_NUMBERS + 1 + HIDDEN, scratch);
    list_parameters(d, l, &chosen->grid, &p);
    cuda_allow_shared(d, l->function, p.shared);
    if (chosen->few.function) cuda_allow_shared(d, chosen->few.function, p.shared);
    launching a = {.d = d,
                   .f = l->function,
                   .grid = &chosen->grid,
                   .chosen = chosen,
                   .resident = chosen->resident,
                   .p = &p};
    bool ok = launch_all(&a);
    if (ok && l->function->prints) cuda_end_print(d);
    if (ok && chosen->way) cuda_tell_way(d, usual, chosen);
    return ok;
}

/* One thread at a time has the device. */
static void add(_Atomic uint64_t *to, uint64_t n) {
    const uint64_t before = atomic_load_explicit(to, memory_order_relaxed);
    atomic_store_explicit(to, before + n, memory_order_relaxed);
}

static void count(cuda *d, const rt_program *made) {
    rt_code_counts *to = &d->base.code;
    add(&to->launches, 1);
    add(&to->of[RT_FACT_APART], (made->facts & CUDA_APART) != 0);
    add(&to->of[RT_FACT_SPECIALIZED], made->owner != NULL);
}

void cuda_launch(cuda *d, const rt_launch *given, ir_arena *scratch) {
    if (is_empty(given->range)) return;
    d->kernel = given->function->name;
    rt_function *usual = cuda_with_constants(d, given, scratch);
    for (;;) {
        rt_launch l = *given;
        l.function = usual;
        if (launch_variant(d, &l, scratch)) {
            count(d, l.function->program);
            break;
        }
        usual->never_together = true;
        usual->last.function = NULL;
    }
    d->kernel = NULL;
}
