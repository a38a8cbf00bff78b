/* variants_test.c — what is compiled for which launches, and how often. */
#include "runtime/native.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <time.h>

typedef struct {
    _Atomic int compiled; /* how often */
    uint32_t last[3];
    ir_status status;
    long ns; /* that it takes */
    bool fixed;
} fake;

static ir_status compile(void *user, const uint32_t local_size[3], rt_variant *out) {
    fake *f = user;
    f->compiled++;
    memcpy(f->last, local_size, sizeof f->last);
    nanosleep(&(struct timespec){0, f->ns}, NULL);
    if (f->status != IR_OK) return f->status;
    memcpy(out->local_size, local_size, sizeof out->local_size);
    if (f->fixed) out->local_size[0] = 1;
    return IR_OK;
}

/* One launch that takes so many times as long as compiling did; the size that its code is for. */
static uint32_t launch(rt_kernel *k, fake *f, uint32_t x, unsigned times) {
    const uint32_t size[3] = {x, 1, 1};
    rt_use use;
    cr_assert_eq(rt_kernel_begin(k, size, &(rt_compiler){compile, f}, &use), IR_OK);
    uint32_t made_for = use.variant->local_size[0];
    rt_kernel_end(k, &use, k->any.ns * times);
    return made_for;
}

Test(variants, a_size_that_is_launched_often_gets_its_own_code) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    for (int i = 0; i < 6; i++) cr_expect_eq(launch(&k, &f, 64, 2), 0);
    cr_expect_eq(launch(&k, &f, 64, 2), 64);
    cr_expect_eq(launch(&k, &f, 32, 100), 0, "another size");
    cr_expect_eq(launch(&k, &f, 32, 1), 32);
    cr_expect_eq(launch(&k, &f, 64, 1), 64);
    cr_expect_eq(f.compiled, 3);
    rt_kernel_free(&k);
}

Test(variants, code_for_one_size_only_is_not_compiled_again) {
    rt_kernel k;
    fake f = {.ns = 1000, .fixed = true};
    rt_kernel_init(&k);
    for (int i = 0; i < 5; i++) cr_expect_eq(launch(&k, &f, 64, 100), 1);
    cr_expect_eq(f.compiled, 1);
    rt_kernel_free(&k);
}

Test(variants, the_number_of_sizes_is_bounded) {
    rt_kernel k;
    fake f = {.ns = 1000};
    rt_kernel_init(&k);
    for (uint32_t x = 1; x <= RT_MAX_SIZES; x++) launch(&k, &f, x, 100);
    for (uint32_t x = 1; x <= RT_MAX_SIZES; x++) cr_expect_eq(launch(&k, &f, x, 0), x);
    launch(&k, &f, 100, 0); /* in place of 1 */
    cr_expect_eq(launch(&k, &f, 2, 0), 2);
    cr_expect_eq(launch(&k, &f, 1, 0), 0);
    rt_kernel_free(&k);
}

Test(variants, sizes_in_use_stay) {
    rt_kernel k;
    rt_use use[RT_MAX_SIZES + 1];
    fake f = {0};
    rt_kernel_init(&k);
    for (uint32_t x = 0; x <= RT_MAX_SIZES; x++)
        rt_kernel_begin(&k, (const uint32_t[3]){x + 1, 1, 1}, &(rt_compiler){compile, &f}, &use[x]);
    cr_expect_null(use[RT_MAX_SIZES].size);
    cr_expect_not_null(use[RT_MAX_SIZES].variant);
    for (uint32_t x = 0; x <= RT_MAX_SIZES; x++) rt_kernel_end(&k, &use[x], 1);
    rt_kernel_free(&k);
}

Test(variants, a_failure_is_not_kept) {
    rt_kernel k;
    rt_use use;
    fake f = {.status = IR_ERR_MEMORY};
    rt_kernel_init(&k);
    const uint32_t size[3] = {8, 1, 1};
    cr_expect_eq(rt_kernel_begin(&k, size, &(rt_compiler){compile, &f}, &use), IR_ERR_MEMORY);
    f.status = IR_OK;
    cr_expect_eq(launch(&k, &f, 8, 100), 0);
    f.status = IR_ERR_MEMORY;
    cr_expect_eq(launch(&k, &f, 8, 1), 0, "what there is goes on to be used");
    cr_expect_eq(launch(&k, &f, 8, 1), 0);
    cr_expect_eq(f.compiled, 3);
    rt_kernel_free(&k);
}
