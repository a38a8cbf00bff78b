/* variants.c — the compiled code of one kernel: for launches of any shape, and of some known ones.
 *
 * A shape is what code can be made for: the local size above all.  The first launch compiles code
 * for its shape, which is less work than code for any: many kernels never see another one.  The
 * second shape makes code for any.  A shape whose launches have taken PATIENCE times as long as
 * that compilation gets code of its own: a gain of a tenth would have paid for it by then, and what
 * ran so long runs on.  Who comes while it is compiled takes the code for any shape, once there is
 * some; code that many wait for is compiled by one.  An eager compiler makes code for each shape at
 * once.
 *
 * A kernel remembers a bounded number of shapes; a new one replaces the one that was used longest
 * ago, with its code, unless it is in use.
 */
#include "runtime/native.h"

enum { PATIENCE = 10 };

void rt_kernel_init(rt_kernel *k) {
    *k = (rt_kernel){0};
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->compiled, NULL);
}

void rt_kernel_free(rt_kernel *k) {
    rt_code_unload(&k->any.variant.code);
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++)
        rt_code_unload(&l->own.variant.code);
    pthread_cond_destroy(&k->compiled);
    pthread_mutex_destroy(&k->lock);
}

/* -------------------------------------------------------------------- with the lock of a kernel */

static bool same_shape(const pass_group_shape *a, const pass_group_shape *b) {
    return memcmp(a->local, b->local, sizeof a->local) == 0 && a->whole_groups == b->whole_groups &&
           a->no_offset == b->no_offset && a->small_ids == b->small_ids && a->dims == b->dims;
}

/* The launches of a shape; NULL: it is a new one, and all entries are in use. */
static rt_launches *find_launches(rt_kernel *k, const pass_group_shape *shape) {
    rt_launches *oldest = NULL;
    for (rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++) {
        if (l->used && same_shape(&l->shape, shape)) return l;
        if (!l->users && (!oldest || l->used < oldest->used)) oldest = l;
    }
    if (!oldest) return NULL;
    rt_code_unload(&oldest->own.variant.code);
    *oldest = (rt_launches){.shape = *shape};
    return oldest;
}

/* The lock is let go meanwhile. */
static ir_status compile(rt_kernel *k, rt_compiled *c, const pass_group_shape *shape,
                         const rt_compiler *compiler) {
    c->state = RT_COMPILING;
    pthread_mutex_unlock(&k->lock);
    uint64_t start = rt_now_ns();
    ir_status status = compiler->compile(compiler->user, shape, &c->variant);
    uint64_t ns = rt_now_ns() - start;
    pthread_mutex_lock(&k->lock);
    c->ns = ns;
    c->state = status == IR_OK ? RT_COMPILED : RT_FAILED;
    pthread_cond_broadcast(&k->compiled);
    return status;
}

/* After a failure the next one tries again: it may have been memory. */
static ir_status compile_any(rt_kernel *k, const rt_compiler *compiler) {
    static const pass_group_shape any;
    while (k->any.state == RT_COMPILING) pthread_cond_wait(&k->compiled, &k->lock);
    return k->any.state == RT_COMPILED ? IR_OK : compile(k, &k->any, &any, compiler);
}

static bool is_worth_more(const rt_kernel *k, const rt_launches *l) {
    return l->own.state == RT_NOT_COMPILED && l->spent_ns > k->any.ns * PATIENCE;
}

static bool has_no_code(const rt_kernel *k) {
    if (k->any.state != RT_NOT_COMPILED) return false;
    for (const rt_launches *l = k->launches; l < k->launches + RT_MAX_SHAPES; l++)
        if (l->own.state != RT_NOT_COMPILED) return false;
    return true;
}

static ir_status choose(rt_kernel *k, rt_launches *l, const rt_compiler *compiler, rt_use *use) {
    ir_status status = IR_OK;
    if (l && l->own.state == RT_NOT_COMPILED && (compiler->eager || has_no_code(k)))
        status = compile(k, &l->own, &l->shape, compiler);
    if (status != IR_OK) {
        l->own.state = RT_NOT_COMPILED;
        return status;
    }
    while (l && l->own.state == RT_COMPILING && k->any.state != RT_COMPILED)
        pthread_cond_wait(&k->compiled, &k->lock);
    if (l && l->own.state == RT_COMPILED) {
        use->variant = &l->own.variant;
        return IR_OK;
    }
    status = compile_any(k, compiler);
    use->variant = &k->any.variant;
    if (status == IR_OK && l && is_worth_more(k, l) &&
        compile(k, &l->own, &l->shape, compiler) == IR_OK)
        use->variant = &l->own.variant;
    return status;
}

/* ------------------------------------------------------------------------------------- launches */

ir_status rt_kernel_begin(rt_kernel *k, const pass_group_shape *shape, const rt_compiler *compiler,
                          rt_use *use) {
    *use = (rt_use){0};
    pthread_mutex_lock(&k->lock);
    rt_launches *l = use->launches = find_launches(k, shape);
    if (l) {
        l->users++;
        l->used = ++k->clock;
    }
    ir_status status = choose(k, l, compiler, use);
    if (status != IR_OK && l) l->users--;
    pthread_mutex_unlock(&k->lock);
    return status;
}

void rt_kernel_end(rt_kernel *k, const rt_use *use, uint64_t ns) {
    rt_launches *l = use->launches;
    if (!l) return;
    pthread_mutex_lock(&k->lock);
    l->users--;
    if (use->variant == &k->any.variant) l->spent_ns += ns;
    pthread_mutex_unlock(&k->lock);
}
