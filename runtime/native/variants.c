/* variants.c — the compiled code of one kernel: for launches of any shape, of some known ones, and
 * of some of these with known values.
 *
 * A shape is what code can be made for: the local size above all.  The first launch compiles code
 * for its shape, which is less work than code for any: many kernels never see another one.  The
 * second shape makes code for any.  A shape whose launches have taken PATIENCE times as long as
 * that compilation gets code of its own: a gain of a tenth would have paid for it by then, and what
 * ran so long is likely to run on.  A launch that comes while code is being compiled takes the code
 * for any shape, as soon as there is some; code that several launches wait for is compiled once.
 * An eager compiler makes code for each shape, and its values, at once.
 *
 * If the first launch is small, its code is made quickly.  Code that takes longer to make replaces
 * it when a launch is not small.  Otherwise a thread of the pool makes it, from the first launch on
 * if that is nearly large, or once launches have taken 1/SHARE of the time of making quick code.
 * Launches run the quick code until the thread has ended: so they have lost little more than the
 * time of making the quick code, whatever their number.  Where no other thread does that, a launch
 * makes the code once launches have taken about as long as that takes longer: the time is lost once
 * more then, and not more often.
 * A launch is asked how much it has to do only where that matters: the answer takes time.
 *
 * Values are treated likewise: when launches of a shape have run its own code for so long, and
 * integers among their arguments were the same all the time, these become constants of one more
 * code.  Launches with other values run the code without constants; when those have had values in
 * common for as long, the code with constants is made again for theirs.
 *
 * A kernel remembers a bounded number of shapes; a new one replaces the one that was used longest
 * ago, with its code, unless it is in use.  So a kernel has at most 2 * RT_MAX_SHAPES + 1 variants,
 * besides quick code.  Making all but the first two takes at most a tenth of the time of launches.
 */
#include "runtime/native/native.h"

enum {
    PATIENCE = 10,
    SHARE = 4 /* of the time that quick code took: then launches are worth another thread's */
};

void rt_kernel_init(rt_kernel *k) {
    *k = (rt_kernel){0};
    rt_lock_init(&k->lock, false);
    pthread_cond_init(&k->compiled, NULL);
    k->forks = rt_forks();
}

/* ----------------------------------------------------------- code that another thread makes */

static bool has_ended(const rt_later *l) {
    return atomic_load_explicit(&l->job.ended, memory_order_acquire);
}

/* Waits until it has been made, or takes it back; gives what there is. */
static rt_compiled end_later(rt_later *l, bool cancel) {
    rt_compiled made = {0};
    if (!l) return made;
    if (has_ended(l) || (rt_pool_end_job(l->pool, &l->job, cancel) && has_ended(l))) made = l->made;
    l->free(l);
    return made;
}

/* No launch runs its code. */
static void forget(rt_launches *l) {
    rt_compiled made = end_later(l->later, true);
    rt_code_unload(&made.variant.code);
    rt_code_unload(&l->quick.variant.code);
    rt_code_unload(&l->own.variant.code);
    rt_code_unload(&l->fixed.variant.code);
}

void rt_kernel_free(rt_kernel *k) {
    rt_code_unload(&k->any.variant.code);
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++) forget(l);
    rt_cond_free(&k->compiled);
    rt_lock_free(&k->lock);
}

/* -------------------------------------------------------------------- with the lock of a kernel */

static bool same_shape(const pass_group_shape *a, const pass_group_shape *b) {
    return memcmp(a->local, b->local, sizeof a->local) == 0 && a->whole_groups == b->whole_groups &&
           a->no_offset == b->no_offset && a->small_ids == b->small_ids && a->dims == b->dims &&
           a->short_numbers == b->short_numbers && a->apart == b->apart &&
           a->on_lines == b->on_lines && a->streams == b->streams &&
           memcmp(a->local_args, b->local_args, sizeof a->local_args) == 0;
}

/* The launches of a shape; NULL: it is a new one, and all entries are in use or compiled for. */
static rt_launches *find_launches(rt_kernel *k, const pass_group_shape *shape) {
    rt_launches *oldest = NULL;
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++) {
        if (l->used && same_shape(&l->shape, shape)) return l;
        bool busy = l->users || (l->later && !has_ended(l->later));
        if (!busy && (!oldest || l->used < oldest->used)) oldest = l;
    }
    if (!oldest) return NULL;
    forget(oldest);
    *oldest = (rt_launches){.shape = *shape};
    return oldest;
}

/* The lock is let go meanwhile. */
static ir_status compile(rt_kernel *k, rt_compiled *c, const pass_group_shape *shape,
                         const rt_values *values, const rt_compiler *compiler) {
    const pass_group_shape own = *shape; /* other launches may change it meanwhile */
    c->state = RT_COMPILING;
    rt_lock_release(&k->lock);
    uint64_t start = rt_now_ns();
    ir_status status = compiler->compile(compiler->user, &own, values, &c->variant);
    uint64_t ns = rt_now_ns() - start;
    rt_lock_take(&k->lock);
    c->ns = ns;
    c->state = status == IR_OK ? RT_COMPILED : RT_FAILED;
    pthread_cond_broadcast(&k->compiled);
    return status;
}

/* After a failure the next one tries again: it may have been memory. */
static ir_status compile_any(rt_kernel *k, const rt_compiler *compiler) {
    static const pass_group_shape any;
    while (k->any.state == RT_COMPILING) rt_lock_wait(&k->lock, &k->compiled);
    return k->any.state == RT_COMPILED ? IR_OK : compile(k, &k->any, &any, NULL, compiler);
}

static bool is_worth_more(const rt_kernel *k, const rt_launches *l) {
    return l->own.state == RT_NOT_COMPILED && l->spent_ns > k->any.ns * PATIENCE;
}

static bool has_code(const rt_compiled *c) { return c->state == RT_COMPILED; }

static bool has_no_code_of_its_own(const rt_launches *l) {
    return l->own.state == RT_NOT_COMPILED && l->quick.state == RT_NOT_COMPILED;
}

static bool has_no_code(const rt_kernel *k) {
    if (k->any.state != RT_NOT_COMPILED) return false;
    for (const rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++)
        if (!has_no_code_of_its_own(l)) return false;
    return true;
}

/* ------------------------------------------------------------------------- values, with it, too */

/* What both know to be the same. */
static uint32_t common_values(const rt_values *a, const rt_values *b) {
    uint32_t common = a->known & b->known;
    for (unsigned n = 0; n < RT_MAX_VALUES; n++)
        if (a->value[n] != b->value[n]) common &= ~(UINT32_C(1) << n);
    return common;
}

static bool is_fixed_to(const rt_launches *l, const rt_values *values) {
    return l->fixed.state == RT_COMPILED &&
           common_values(&l->fixed_to, values) == l->fixed_to.known;
}

static void note_values(rt_launches *l, const rt_values *values) {
    uint32_t common = common_values(&l->alike, values);
    if (!common) {
        l->alike = *values;
        l->alike_ns = 0;
    }
    if (common) l->alike.known = common;
}

/* Is it time to fix what launches have in common?  Code that is replaced must not be in use. */
static bool is_worth_fixing(const rt_launches *l, bool eager) {
    if (!l->alike.known || l->fixed.state == RT_COMPILING || l->fixed.state == RT_FAILED)
        return false;
    if (l->fixed.state == RT_COMPILED && l->users > 1) return false;
    return eager || l->alike_ns > l->own.ns * PATIENCE;
}

/* The code for its values, if there is some or it pays now; otherwise the one for all. */
static const rt_variant *choose_own(rt_kernel *k, rt_launches *l, const rt_values *values,
                                    const rt_compiler *compiler) {
    if (is_fixed_to(l, values)) return &l->fixed.variant;
    note_values(l, values);
    if (!is_worth_fixing(l, compiler->eager)) return &l->own.variant;
    rt_code_unload(&l->fixed.variant.code);
    l->fixed.variant = (rt_variant){0};
    l->fixed_to = l->alike;
    l->alike_ns = 0;
    if (compile(k, &l->fixed, &l->shape, &l->fixed_to, compiler) != IR_OK) return &l->own.variant;
    return &l->fixed.variant;
}

/* What rt_kernel_begin is told. */
typedef struct {
    const pass_group_shape *shape;
    const rt_values *values;
    const rt_compiler *compiler;
} launch_facts;

/* Code that is made for a shape; after a failure the next launch tries again. */
static ir_status compile_for(rt_kernel *k, rt_launches *l, rt_compiled *c,
                             const rt_compiler *compiler) {
    pass_group_shape shape = l->shape;
    shape.small = c == &l->quick;
    ir_status status = compile(k, c, &shape, NULL, compiler);
    if (status == IR_OK) return IR_OK;
    c->state = RT_NOT_COMPILED;
    l->spent_ns = 0; /* not at once, if there is quick code */
    return status;
}

/* The same for what another thread may be making. */
static ir_status complete_own(rt_kernel *k, rt_launches *l, const rt_compiler *compiler) {
    rt_later *later = l->later;
    l->later = NULL;
    l->own.state = RT_COMPILING;
    rt_lock_release(&k->lock);
    rt_compiled made = end_later(later, false);
    rt_lock_take(&k->lock);
    if (made.state != RT_COMPILED) return compile_for(k, l, &l->own, compiler);
    l->own = made;
    pthread_cond_broadcast(&k->compiled);
    return IR_OK;
}

static void take_later(rt_launches *l) {
    if (!l->later || !has_ended(l->later)) return;
    rt_compiled made = end_later(l->later, false);
    l->later = NULL;
    l->failed |= made.state != RT_COMPILED;
    if (made.state == RT_COMPILED) l->own = made;
}

/* A launch whose shape has code that was made quickly, and no other: has that to be made? */
static ir_status replace_quick(rt_kernel *k, rt_launches *l, const rt_compiler *compiler) {
    double size = compiler->size ? compiler->size(compiler->user) : 2;
    if (size > 1) return complete_own(k, l, compiler);
    bool begins = compiler->begin && !l->later && !l->failed;
    if (begins && l->spent_ns * SHARE > l->quick.ns)
        l->later = compiler->begin(compiler->user, &l->shape);
    if (l->later && l->later->job.begun) return IR_OK;
    /* Making other code takes longer by some times of that; more for nested loops over items. */
    bool pays = l->spent_ns > l->quick.ns * (l->shape.dims == 1 ? 2 : 3);
    return pays ? complete_own(k, l, compiler) : IR_OK;
}

/* Makes code for the shape if that is to be made now.  The first launch may begin to make what
 * replaces its own. */
static ir_status make_code(rt_kernel *k, rt_launches *l, const rt_compiler *compiler) {
    take_later(l);
    if (has_code(&l->quick) && l->own.state == RT_NOT_COMPILED)
        return replace_quick(k, l, compiler);
    if (!has_no_code_of_its_own(l) || (!compiler->eager && !has_no_code(k))) return IR_OK;
    double size = compiler->size ? compiler->size(compiler->user) : 2;
    if (size > 1) return compile_for(k, l, &l->own, compiler);
    ir_status status = compile_for(k, l, &l->quick, compiler);
    if (status == IR_OK && compiler->begin && size > 0.5)
        l->later = compiler->begin(compiler->user, &l->shape);
    return status;
}

static ir_status choose(rt_kernel *k, rt_launches *l, const launch_facts *facts, rt_use *use) {
    const rt_compiler *compiler = facts->compiler;
    ir_status status = l ? make_code(k, l, compiler) : IR_OK;
    if (status != IR_OK) return status;
    while (l && (l->own.state == RT_COMPILING || l->quick.state == RT_COMPILING) &&
           !has_code(&l->quick) && !has_code(&k->any))
        rt_lock_wait(&k->lock, &k->compiled);
    if (l && (has_code(&l->own) || has_code(&l->quick))) {
        use->variant =
            has_code(&l->own) ? choose_own(k, l, facts->values, compiler) : &l->quick.variant;
        return IR_OK;
    }
    status = compile_any(k, compiler);
    use->variant = &k->any.variant;
    if (status == IR_OK && l && is_worth_more(k, l) &&
        compile(k, &l->own, &l->shape, NULL, compiler) == IR_OK)
        use->variant = &l->own.variant;
    return status;
}

/* ------------------------------------------------------------------------------------- launches */

/* In a child of the process that used it before, which lacks the threads that launched or compiled.
 * What a thread was changing just then is forgotten, with its memory. */
static void settle(rt_kernel *k, bool whole) {
    k->forks = rt_forks();
    pthread_cond_init(&k->compiled, NULL);
    if (k->any.state == RT_COMPILING) k->any = (rt_compiled){0};
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++) {
        l->users = 0;
        l->later = NULL;
        bool changing = l->own.state == RT_COMPILING || l->fixed.state == RT_COMPILING ||
                        l->quick.state == RT_COMPILING;
        if (!whole || changing) *l = (rt_launches){0};
    }
}

static void take(rt_kernel *k) {
    bool whole = rt_lock_take(&k->lock);
    if (k->forks != rt_forks()) settle(k, whole);
}

ir_status rt_kernel_begin(rt_kernel *k, const pass_group_shape *shape, const rt_values *values,
                          const rt_compiler *compiler, rt_use *use) {
    *use = (rt_use){0};
    take(k);
    rt_launches *l = use->launches = find_launches(k, shape);
    if (l) {
        l->users++;
        l->used = ++k->clock;
    }
    ir_status status = choose(k, l, &(launch_facts){shape, values, compiler}, use);
    if (status != IR_OK && l) l->users--;
    rt_lock_release(&k->lock);
    return status;
}

/* No launch runs it, and none will. */
static void drop_quick(rt_launches *l) {
    rt_code_unload(&l->quick.variant.code);
    l->quick = (rt_compiled){0};
}

void rt_kernel_end(rt_kernel *k, const rt_use *use, uint64_t ns) {
    rt_launches *l = use->launches;
    if (!l) return;
    rt_lock_take(&k->lock);
    if (l->users) l->users--; /* none: a launch has forked, and goes on in the child */
    if (use->variant == &k->any.variant || use->variant == &l->quick.variant) l->spent_ns += ns;
    if (use->variant == &l->own.variant) l->alike_ns += ns;
    if (!l->users && has_code(&l->own) && has_code(&l->quick)) drop_quick(l);
    rt_lock_release(&k->lock);
}
