/* variants_test.c — what is compiled for which launches, and how often. */
#include "runtime/native/native.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    int compiled; /* how often */
    ir_status status;
    long ns;    /* that it takes */
    bool small; /* what launches are */
    unsigned dims;
} fake;

static const rt_values none;

/* Code for values has so many steps as arguments are known, one bit each. */
static ir_status compile(void *user, const pass_group_shape *shape, const rt_values *values,
                         rt_variant *out) {
    fake *f = user;
    f->compiled++;
    nanosleep(&(struct timespec){0, f->ns}, NULL);
    if (f->status != IR_OK) return f->status;
    out->shape = *shape;
    out->item_steps = values ? values->known : 0;
    return IR_OK;
}

static double size(void *user) { return ((const fake *)user)->small ? 0.5 : 2; }

/* One launch that takes so many times as long as compiling did; the size that its code is for. */
static uint64_t launch(rt_kernel *k, fake *f, uint64_t x, unsigned times) {
    const pass_group_shape shape = {.local = {x, 1, 1}};
    rt_use use;
    cr_assert_eq(rt_kernel_begin(k, &shape, &none, &(rt_compiler){compile, f}, &use), IR_OK);
    uint64_t made_for = use.variant->shape.local[0];
    rt_kernel_end(k, &use, k->any.ns * times);
    return made_for;
}

Test(variants, the_first_size_gets_its_own_code_and_another_one_when_it_is_launched_often) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    cr_expect_eq(launch(&k, &f, 64, 2), 64);
    for (int i = 0; i < 6; i++) cr_expect_eq(launch(&k, &f, 32, 2), 0);
    cr_expect_eq(launch(&k, &f, 32, 2), 32);
    cr_expect_eq(launch(&k, &f, 16, 100), 0, "a third one");
    cr_expect_eq(launch(&k, &f, 16, 1), 16);
    cr_expect_eq(launch(&k, &f, 64, 1), 64);
    cr_expect_eq(launch(&k, &f, 32, 1), 32);
    cr_expect_eq(f.compiled, 4);
    rt_kernel_free(&k);
}

/* One launch that takes so many times as long as its code took; was that made quickly? */
static bool launch_small(rt_kernel *k, fake *f, bool small, unsigned times) {
    const pass_group_shape shape = {.local = {8, 1, 1}, .dims = f->dims};
    const rt_compiler compiler = {compile, f, .size = size};
    rt_use use;
    f->small = small;
    cr_assert_eq(rt_kernel_begin(k, &shape, &none, &compiler, &use), IR_OK);
    bool quick = use.variant->shape.small;
    rt_kernel_end(k, &use, use.launches->quick.ns * times);
    return quick;
}

/* Making other code takes longer for ranges of several dimensions, so it comes later. */
Test(variants, small_launches_get_code_that_is_made_quickly_until_they_are_many) {
    for (unsigned dims = 1; dims < 4; dims++) {
        rt_kernel k;
        fake f = {.ns = 1000, .dims = dims};
        rt_kernel_init(&k);
        for (int i = 0; i < 6; i++) cr_expect(launch_small(&k, &f, true, 0));
        for (int i = 0; i < (dims == 1 ? 3 : 4); i++) cr_expect(launch_small(&k, &f, true, 1));
        cr_expect_eq(f.compiled, 1);
        for (int i = 0; i < 3; i++) cr_expect_not(launch_small(&k, &f, true, 2));
        cr_expect_eq(f.compiled, 2);
        rt_kernel_free(&k);
    }
}

Test(variants, a_launch_that_is_not_small_gets_other_code) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    cr_expect(launch_small(&k, &f, true, 0));
    cr_expect_not(launch_small(&k, &f, false, 0));
    cr_expect_not(launch_small(&k, &f, true, 0));
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
}

Test(variants, code_in_use_stays) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_use first, second;
    const rt_compiler compiler = {compile, &f, .size = size};
    const pass_group_shape shape = {.local = {8, 1, 1}};
    rt_kernel_init(&k);
    f.small = true;
    cr_assert_eq(rt_kernel_begin(&k, &shape, &none, &compiler, &first), IR_OK);
    f.small = false;
    cr_assert_eq(rt_kernel_begin(&k, &shape, &none, &compiler, &second), IR_OK);
    cr_expect(first.variant->shape.small, "it stays as it is");
    cr_expect_not(second.variant->shape.small);
    rt_kernel_end(&k, &second, 0);
    cr_expect(first.variant->shape.small);
    rt_kernel_end(&k, &first, 0);
    cr_expect_eq(second.launches->quick.state, RT_NOT_COMPILED, "no launch runs it any more");
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
}

/* ------------------------------------------------------------ code that another thread makes */

/* Its thread is a helper of this pool, which looks at the gate. */
typedef struct {
    rt_later base; /* the first member */
    fake *made_for;
    pass_group_shape shape;
} fake_later;

static rt_pool *pool;
static _Atomic bool open_gate, was_cancelled, was_freed;

static void make(rt_job *j) {
    fake_later *l = (fake_later *)j;
    while (!open_gate && !j->cancelled) nanosleep(&(struct timespec){0, 1000}, NULL);
    was_cancelled = j->cancelled;
    ir_status status = compile(l->made_for, &l->shape, NULL, &l->base.made.variant);
    l->base.made.state = status == IR_OK ? RT_COMPILED : RT_FAILED;
}

static void free_later(rt_later *l) {
    was_freed = true;
    free(l);
}

static rt_later *begin(void *user, const pass_group_shape *shape) {
    fake_later *l = calloc(1, sizeof *l);
    was_cancelled = was_freed = false;
    l->base = (rt_later){.job = {.run = make}, .pool = pool, .free = free_later};
    l->made_for = user;
    l->shape = *shape;
    if (rt_pool_add_job(pool, &l->base.job)) return &l->base;
    free(l);
    return NULL;
}

static void open_pool(unsigned threads) {
    pool = rt_pool_new(&(rt_pool_options){.threads = threads});
    open_gate = false;
}

/* As launch_small, with a compiler that has a pool. */
static bool launch_beside(rt_kernel *k, fake *f, bool small, unsigned times) {
    const pass_group_shape shape = {.local = {8, 1, 1}, .dims = 1};
    const rt_compiler compiler = {compile, f, .size = size, .begin = begin};
    rt_use use;
    f->small = small;
    cr_assert_eq(rt_kernel_begin(k, &shape, &none, &compiler, &use), IR_OK);
    bool quick = use.variant->shape.small;
    rt_kernel_end(k, &use, use.launches->quick.ns * times);
    return quick;
}

static void await(const _Atomic bool *flag) {
    while (!*flag) nanosleep(&(struct timespec){0, 1000}, NULL);
}

static const rt_job *job_of(const rt_kernel *k) { return &k->launches[0].later->job; }

Test(variants, launches_run_quick_code_until_another_thread_has_made_other_code) {
    rt_kernel k;
    fake f = {.ns = 1000};
    open_pool(2);
    rt_kernel_init(&k);
    for (int i = 0; i < 3; i++) cr_expect(launch_beside(&k, &f, true, 0));
    cr_expect_null(k.launches[0].later, "they have taken no time");
    cr_expect(launch_beside(&k, &f, true, 1));
    cr_expect(launch_beside(&k, &f, true, 0));
    await(&job_of(&k)->begun);
    for (int i = 0; i < 20; i++) cr_expect(launch_beside(&k, &f, true, 9));
    cr_expect_eq(f.compiled, 1);
    open_gate = true;
    await(&job_of(&k)->ended);
    cr_expect_not(launch_beside(&k, &f, true, 9));
    cr_expect_null(k.launches[0].later);
    cr_expect_eq(f.compiled, 2);
    cr_expect(was_freed && !was_cancelled);
    rt_kernel_free(&k);
    rt_pool_free(pool);
}

Test(variants, a_launch_that_is_not_small_waits_for_the_other_thread) {
    rt_kernel k;
    fake f = {.ns = 1000000};
    open_pool(2);
    open_gate = true;
    rt_kernel_init(&k);
    cr_expect(launch_beside(&k, &f, true, 1));
    cr_expect(launch_beside(&k, &f, true, 1));
    await(&job_of(&k)->begun);
    cr_expect_not(launch_beside(&k, &f, false, 1));
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
    rt_pool_free(pool);
}

/* The only thread that could do so makes something else. */
Test(variants, launches_do_not_rely_on_a_thread_that_is_busy) {
    rt_kernel k, other;
    fake f = {.ns = 1000}, g = {.ns = 1000};
    open_pool(2);
    rt_kernel_init(&k);
    rt_kernel_init(&other);
    for (int i = 0; i < 2; i++) cr_expect(launch_beside(&other, &g, true, 1));
    await(&job_of(&other)->begun);
    for (int i = 0; i < 3; i++) cr_expect(launch_beside(&k, &f, true, 1));
    cr_expect_not_null(k.launches[0].later);
    cr_expect_not(launch_beside(&k, &f, true, 1), "it is compiled by the launch");
    cr_expect_eq(f.compiled, 2);
    cr_expect(was_freed);
    rt_kernel_free(&other);
    cr_expect(was_cancelled);
    rt_kernel_free(&k);
    rt_pool_free(pool);
}

Test(variants, without_helpers_launches_compile) {
    rt_kernel k;
    fake f = {.ns = 1000};
    open_pool(1);
    rt_kernel_init(&k);
    for (int i = 0; i < 3; i++) cr_expect(launch_beside(&k, &f, true, 1));
    cr_expect_not(launch_beside(&k, &f, true, 1));
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
    rt_pool_free(pool);
}

Test(variants, what_another_thread_fails_to_make_a_launch_makes) {
    rt_kernel k;
    fake f = {.ns = 1000};
    open_pool(2);
    rt_kernel_init(&k);
    for (int i = 0; i < 2; i++) cr_expect(launch_beside(&k, &f, true, 1));
    f.status = IR_ERR_MEMORY;
    open_gate = true;
    await(&job_of(&k)->ended);
    f.status = IR_OK;
    cr_expect(launch_beside(&k, &f, true, 1));
    cr_expect_null(k.launches[0].later, "it is not tried again");
    cr_expect_not(launch_beside(&k, &f, true, 1));
    cr_expect_eq(f.compiled, 3);
    rt_kernel_free(&k);
    rt_pool_free(pool);
}

Test(variants, eager_code_is_made_at_once) {
    rt_kernel k;
    rt_use use;
    fake f = {0};
    const pass_group_shape shape = {.local = {8, 1, 1}};
    rt_kernel_init(&k);
    for (int i = 0; i < 2; i++) {
        rt_kernel_begin(&k, &shape, &none, &(rt_compiler){compile, &f, .eager = true}, &use);
        cr_expect_eq(use.variant->shape.local[0], 8);
        rt_kernel_end(&k, &use, 0);
    }
    cr_expect_eq(f.compiled, 1);
    const rt_values values = {.known = 1, .value = {3}};
    for (int i = 0; i < 2; i++) {
        rt_kernel_begin(&k, &shape, &values, &(rt_compiler){compile, &f, .eager = true}, &use);
        cr_expect_eq(use.variant->item_steps, 1);
        rt_kernel_end(&k, &use, 0);
    }
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
}

static void expect_different(const pass_group_shape *shapes, int n) {
    rt_kernel k;
    rt_launches *known[RT_MAX_SHAPES];
    fake f = {0};
    rt_kernel_init(&k);
    for (int i = 0; i < 2 * n; i++) {
        rt_use use;
        rt_kernel_begin(&k, &shapes[i % n], &none, &(rt_compiler){compile, &f}, &use);
        if (i >= n) cr_expect_eq(use.launches, known[i % n]);
        for (int m = 0; m < i && i < n; m++) cr_expect_neq(use.launches, known[m]);
        known[i % n] = use.launches;
        rt_kernel_end(&k, &use, 0);
    }
    rt_kernel_free(&k);
}

Test(variants, all_of_a_shape_counts) {
    static const pass_group_shape shapes[] =
        {
            {.local = {8, 1, 1}},
            {.local = {8, 1, 1}, .whole_groups = true},
            {.local = {8, 1, 1}, .no_offset = true},
            {.local = {8, 1, 1}, .small_ids = true},
            {.local = {8, 1, 1}, .dims = 1},
            {.local = {8, 1, 1}, .apart = true},
            {.local = {8, 1, 1}, .on_lines = true},
            {.local = {8, 1, 1}, .streams = true},
        },
                                  sizes[] = {{.local = {8, 1, 1}},
                                             {.local = {8, 1, 1}, .short_numbers = true},
                                             {.local = {8, 2, 1}},
                                             {.local = {8, 1, 2}}};
    expect_different(shapes, sizeof shapes / sizeof *shapes);
    expect_different(sizes, sizeof sizes / sizeof *sizes);
}

Test(variants, the_number_of_sizes_is_bounded) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    for (uint64_t x = 1; x <= RT_MAX_SHAPES; x++) launch(&k, &f, x, 100);
    for (uint64_t x = 1; x <= RT_MAX_SHAPES; x++) cr_expect_eq(launch(&k, &f, x, 0), x);
    launch(&k, &f, 100, 0); /* in place of 1 */
    cr_expect_eq(launch(&k, &f, 2, 0), 2);
    cr_expect_eq(launch(&k, &f, 1, 0), 0);
    rt_kernel_free(&k);
}

Test(variants, sizes_in_use_stay) {
    rt_kernel k;
    rt_use use[RT_MAX_SHAPES + 1];
    fake f = {0};
    rt_kernel_init(&k);
    for (uint64_t x = 0; x <= RT_MAX_SHAPES; x++)
        rt_kernel_begin(&k, &(pass_group_shape){.local = {x + 1, 1, 1}}, &none,
                        &(rt_compiler){compile, &f}, &use[x]);
    cr_expect_null(use[RT_MAX_SHAPES].launches);
    cr_expect_not_null(use[RT_MAX_SHAPES].variant);
    for (uint64_t x = 0; x <= RT_MAX_SHAPES; x++) rt_kernel_end(&k, &use[x], 1);
    rt_kernel_free(&k);
}

Test(variants, a_failure_is_not_kept) {
    rt_kernel k;
    rt_use use;
    fake f = {.status = IR_ERR_MEMORY};
    rt_kernel_init(&k);
    for (uint64_t x = 8; x < 10; x++) { /* code of its own, then code for any */
        const pass_group_shape shape = {.local = {x, 1, 1}};
        f.status = IR_ERR_MEMORY;
        cr_expect_eq(rt_kernel_begin(&k, &shape, &none, &(rt_compiler){compile, &f}, &use),
                     IR_ERR_MEMORY);
        f.status = IR_OK;
        cr_expect_eq(launch(&k, &f, x, 100), x == 8 ? 8 : 0);
    }
    f.status = IR_ERR_MEMORY;
    cr_expect_eq(launch(&k, &f, 9, 1), 0, "what there is goes on to be used");
    cr_expect_eq(launch(&k, &f, 9, 1), 0);
    cr_expect_eq(f.compiled, 5);
    rt_kernel_free(&k);
}

/* ------------------------------------------------------------------------------------- values */

/* One launch that takes so many times as long as compiling its own code did; the arguments that its
 * code knows. */
static uint32_t launch_with(rt_kernel *k, fake *f, uint64_t first, uint64_t second,
                            unsigned times) {
    const pass_group_shape shape = {.local = {4, 1, 1}};
    const rt_values values = {.known = 5, .value = {first, 0, second}};
    rt_use use;
    cr_assert_eq(rt_kernel_begin(k, &shape, &values, &(rt_compiler){compile, f}, &use), IR_OK);
    uint32_t known = use.variant->item_steps;
    rt_kernel_end(k, &use, use.launches->own.ns * times);
    return known;
}

Test(variants, values_that_stay_become_constants) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    for (int i = 0; i < 6; i++) cr_expect_eq(launch_with(&k, &f, 7, 8, 2), 0);
    cr_expect_eq(launch_with(&k, &f, 7, 8, 2), 5);
    cr_expect_eq(launch_with(&k, &f, 7, 9, 2), 0, "for other values there is the other code");
    cr_expect_eq(launch_with(&k, &f, 7, 8, 2), 5);
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
}

Test(variants, values_that_change_do_not) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    for (uint64_t i = 0; i < 6; i++) cr_expect_eq(launch_with(&k, &f, i, 8, 2), 0);
    cr_expect_eq(launch_with(&k, &f, 100, 8, 2), 4, "but this one has stayed");
    cr_expect_eq(launch_with(&k, &f, 101, 8, 2), 4);
    for (uint64_t i = 0; i < 50; i++) cr_expect_eq(launch_with(&k, &f, i, 10 + i, 9), 0);
    cr_expect_eq(f.compiled, 2);
    rt_kernel_free(&k);
}

/* One code for values at a time: for those of late. */
Test(variants, other_values_take_their_place) {
    rt_kernel k;
    rt_use use;
    fake f = {.ns = 1000};
    const pass_group_shape shape = {.local = {4, 1, 1}};
    const rt_values old = {.known = 5, .value = {7, 0, 8}};
    rt_kernel_init(&k);
    launch_with(&k, &f, 7, 8, 100);
    cr_expect_eq(launch_with(&k, &f, 7, 8, 1), 5);
    launch_with(&k, &f, 1, 2, 100);
    cr_assert_eq(rt_kernel_begin(&k, &shape, &old, &(rt_compiler){compile, &f}, &use), IR_OK);
    cr_expect_eq(use.variant->item_steps, 5);
    cr_expect_eq(launch_with(&k, &f, 1, 2, 1), 0, "not while it runs");
    rt_kernel_end(&k, &use, 1);
    cr_expect_eq(launch_with(&k, &f, 1, 2, 1), 5);
    cr_expect_eq(launch_with(&k, &f, 7, 8, 1), 0);
    cr_expect_eq(f.compiled, 3);
    f.status = IR_ERR_MEMORY;
    launch_with(&k, &f, 3, 4, 100);
    cr_expect_eq(launch_with(&k, &f, 3, 4, 100), 0, "what fails is not tried again");
    cr_expect_eq(launch_with(&k, &f, 3, 4, 100), 0);
    cr_expect_eq(f.compiled, 4);
    rt_kernel_free(&k);
}
