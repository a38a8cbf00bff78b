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
 * If the first launch is small, its code is made quickly.  That code gives way to what takes longer
 * to make as soon as a launch is not small, or when launches have taken about as long as making
 * that would have taken longer: the time is lost once more then, and not more often.
 * A launch is asked whether it is small only where that matters: the answer takes time.
 *
 * Values are treated likewise: when launches of a shape have run its own code for so long, and
 * integers among their arguments were the same all the time, these become constants of one more
 * code.  Launches with other values run the code without constants; when those have had values in
 * common for as long, the code with constants is made again for theirs.
 *
 * A kernel remembers a bounded number of shapes; a new one replaces the one that was used longest
 * ago, with its code, unless it is in use.  So a kernel has at most 2 * RT_MAX_SHAPES + 1 variants.
 * Making all but the first two takes at most a tenth of the time of launches.
 */
#include "runtime/native/native.h"

enum { PATIENCE = 10 };

void rt_kernel_init(rt_kernel *k) {
    *k = (rt_kernel){0};
    rt_lock_init(&k->lock, false);
    pthread_cond_init(&k->compiled, NULL);
    k->forks = rt_forks();
}

/* No launch runs its code. */
static void forget(rt_launches *l) {
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

/* The launches of a shape; NULL: it is a new one, and all entries are in use. */
static rt_launches *find_launches(rt_kernel *k, const pass_group_shape *shape) {
    rt_launches *oldest = NULL;
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++) {
        if (l->used && same_shape(&l->shape, shape)) return l;
        if (!l->users && (!oldest || l->used < oldest->used)) oldest = l;
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

static bool is_small(const rt_compiler *compiler) {
    return compiler->is_small && compiler->is_small(compiler->user);
}

/* Has code that was made quickly to give way?  Making other code takes longer by some times of
 * that; more for nested loops over items. */
static bool is_outgrown(const rt_launches *l, const rt_compiler *compiler) {
    if (l->own.state != RT_COMPILED || !l->own.variant.shape.small) return false;
    unsigned times = l->shape.dims == 1 ? 2 : 3;
    return l->spent_ns > l->own.ns * times || !is_small(compiler);
}

static void drop_own(rt_launches *l) {
    rt_code_unload(&l->own.variant.code);
    l->own = (rt_compiled){0};
    l->shape.small = false;
    l->spent_ns = 0;
}

static bool has_no_code(const rt_kernel *k) {
    if (k->any.state != RT_NOT_COMPILED) return false;
    for (const rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++)
        if (l->own.state != RT_NOT_COMPILED) return false;
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
    if (l->own.variant.shape.small) return false;
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

static ir_status choose(rt_kernel *k, rt_launches *l, const launch_facts *facts, rt_use *use) {
    const rt_compiler *compiler = facts->compiler;
    ir_status status = IR_OK;
    bool first = l && l->own.state == RT_NOT_COMPILED && (compiler->eager || has_no_code(k));
    bool outgrown = l && is_outgrown(l, compiler);
    bool again = outgrown && l->users == 1; /* otherwise it is in use, and this one takes another */
    if (again) drop_own(l);
    if (first) l->shape.small = is_small(compiler);
    if (first || again) status = compile(k, &l->own, &l->shape, NULL, compiler);
    if (status != IR_OK) {
        l->own.state = RT_NOT_COMPILED;
        return status;
    }
    while (l && l->own.state == RT_COMPILING && k->any.state != RT_COMPILED)
        rt_lock_wait(&k->lock, &k->compiled);
    if (l && l->own.state == RT_COMPILED && (again || !outgrown)) {
        use->variant = choose_own(k, l, facts->values, compiler);
        return IR_OK;
    }
    status = compile_any(k, compiler);
    use->variant = &k->any.variant;
    if (l) l->shape.small = false;
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
        bool changing = l->own.state == RT_COMPILING || l->fixed.state == RT_COMPILING;
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

void rt_kernel_end(rt_kernel *k, const rt_use *use, uint64_t ns) {
    rt_launches *l = use->launches;
    if (!l) return;
    rt_lock_take(&k->lock);
    if (l->users) l->users--; /* none: a launch has forked, and goes on in the child */
    if (use->variant == &k->any.variant || use->variant->shape.small) l->spent_ns += ns;
    if (use->variant == &l->own.variant) l->alike_ns += ns;
    rt_lock_release(&k->lock);
}
