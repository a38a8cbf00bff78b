/* variants.c — the compiled code of one kernel: for any local size, and for some known ones.
 *
 * The first launch compiles code for any local size, one thread for all that wait.  A local size on
 * which launches have taken PATIENCE times as long as that compilation gets code of its own: a gain
 * of a tenth would have paid for it by then, and what ran so long runs on.  Who comes while it is
 * compiled takes the code for any size.
 *
 * A kernel remembers a bounded number of local sizes; a new one replaces the one that was used
 * longest ago, with its code, unless it is in use.
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
    for (unsigned n = 0; n < RT_MAX_SIZES; n++) rt_code_unload(&k->size[n].own.variant.code);
    pthread_cond_destroy(&k->compiled);
    pthread_mutex_destroy(&k->lock);
}

/* -------------------------------------------------------------------- with the lock of a kernel */

static bool is_size(const rt_size *s, const uint32_t local_size[3]) {
    return memcmp(s->local_size, local_size, sizeof s->local_size) == 0;
}

/* The entry of a local size; NULL: it is a new one, and all entries are in use. */
static rt_size *find_size(rt_kernel *k, const uint32_t local_size[3]) {
    rt_size *oldest = NULL;
    for (rt_size *s = k->size; s < k->size + RT_MAX_SIZES; s++) {
        if (is_size(s, local_size)) return s;
        if (!s->users && (!oldest || s->used < oldest->used)) oldest = s;
    }
    if (!oldest) return NULL;
    rt_code_unload(&oldest->own.variant.code);
    *oldest = (rt_size){0};
    memcpy(oldest->local_size, local_size, sizeof oldest->local_size);
    return oldest;
}

/* The lock is let go meanwhile. */
static ir_status compile(rt_kernel *k, rt_compiled *c, const uint32_t local_size[3],
                         const rt_compiler *compiler) {
    c->state = RT_COMPILING;
    pthread_mutex_unlock(&k->lock);
    uint64_t start = rt_now_ns();
    ir_status status = compiler->compile(compiler->user, local_size, &c->variant);
    uint64_t ns = rt_now_ns() - start;
    pthread_mutex_lock(&k->lock);
    c->ns = ns;
    c->state = status == IR_OK ? RT_COMPILED : RT_FAILED;
    pthread_cond_broadcast(&k->compiled);
    return status;
}

/* After a failure the next one tries again: it may have been memory. */
static ir_status compile_any(rt_kernel *k, const rt_compiler *compiler) {
    static const uint32_t any[3];
    while (k->any.state == RT_COMPILING) pthread_cond_wait(&k->compiled, &k->lock);
    return k->any.state == RT_COMPILED ? IR_OK : compile(k, &k->any, any, compiler);
}

static bool is_worth_more(const rt_kernel *k, const rt_size *s) {
    bool for_any = k->any.variant.local_size[0] == 0;
    return for_any && s->own.state == RT_NOT_COMPILED && s->spent_ns > k->any.ns * PATIENCE;
}

static ir_status choose(rt_kernel *k, rt_size *s, const rt_compiler *compiler, rt_use *use) {
    if (s && s->own.state == RT_COMPILED) {
        use->variant = &s->own.variant;
        return IR_OK;
    }
    ir_status status = compile_any(k, compiler);
    use->variant = &k->any.variant;
    if (status == IR_OK && s && is_worth_more(k, s) &&
        compile(k, &s->own, s->local_size, compiler) == IR_OK)
        use->variant = &s->own.variant;
    return status;
}

/* ------------------------------------------------------------------------------------- launches */

ir_status rt_kernel_begin(rt_kernel *k, const uint32_t local_size[3], const rt_compiler *compiler,
                          rt_use *use) {
    *use = (rt_use){0};
    pthread_mutex_lock(&k->lock);
    rt_size *s = use->size = find_size(k, local_size);
    if (s) {
        s->users++;
        s->used = ++k->clock;
    }
    ir_status status = choose(k, s, compiler, use);
    if (status != IR_OK && s) s->users--;
    pthread_mutex_unlock(&k->lock);
    return status;
}

void rt_kernel_end(rt_kernel *k, const rt_use *use, uint64_t ns) {
    rt_size *s = use->size;
    if (!s) return;
    pthread_mutex_lock(&k->lock);
    s->users--;
    if (use->variant == &k->any.variant) s->spent_ns += ns;
    pthread_mutex_unlock(&k->lock);
}
