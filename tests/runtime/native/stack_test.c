/* stack_test.c — kernels with large frames, launched by threads with small stacks.
 *
 * Code that runs on a stack which is too small has to end at the page that guards it.  Code that
 * the library runs has to end well, whatever the stack of the thread that launches it.
 */
#define _GNU_SOURCE
#include "runtime/devices/cpu/cpu.h"
#include "runtime/spvfuse_queue.h"
#include "tests/native_call.h"
#include "tests/runtime/bench.h"

#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_OF_PAGE = 1024, SEEN = 77, FOREVER = 60 };

/* Writes only the first word of its variable, which is the lowest, and hands it on. */
static const char *kernel_text(uint64_t words, unsigned align) {
    static char text[1024];
    snprintf(text, sizeof text,
             "target 64\n"
             "kernel @deep(%%p: ptr.global of i32, %%n: i32) {\n"
             "entry:\n"
             "  %%a: ptr.private = alloca [%llu x i32] align %u\n"
             "  %%x: i64 = global_id 0\n"
             "  %%b: i64 = shl %%x, 2\n"
             "  %%q: ptr.global = ptradd %%p, %%b inbounds\n"
             "  %%k: i64 = zext %%n\n"
             "  %%s: ptr.private = ptradd %%a, %%k\n"
             "  store i32 %d, %%s align 4 volatile\n"
             "  %%v: i32 = load %%s align 4 volatile\n"
             "  store %%v, %%q align 4\n"
             "  ret\n"
             "}\n",
             (unsigned long long)words, align, SEEN);
    return text;
}

/* ----------------------------------------------------------------------------------------- code */

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    ir_module *module;
    cg_object object;
    rt_code code;
    rt_block *run;
} deep_code;

typedef struct {
    deep_code *code;
    const rt_native_options *options;
} compilation;

static void compile(void *arg) {
    const compilation *c = arg;
    rt_cpu_compile(ir_func_find(c->code->module, "deep"), c->options, &c->code->arena,
                   &c->code->object);
}

static void say(void *user, const ir_message *m) {
    (void)user;
    fprintf(stderr, "%s\n", m->text);
}

static void make_code(deep_code *d, uint64_t words, unsigned align, const cg_options *code) {
    const char *text = kernel_text(words, align);
    const rt_native_options o = {.only_blocks = true, .machine = cg_host_machine(), .code = *code};
    *d = (deep_code){.cx.report = say};
    ir_arena_init(&d->arena, &d->cx);
    d->module = ir_parse(&d->cx, "deep", text, strlen(text));
    cr_assert_not_null(d->module);
    cr_assert(ir_try(&d->cx, compile, &(compilation){d, &o}));
    cr_assert_eq(rt_code_load(&d->object, NULL, &d->code), IR_OK);
    void *at = rt_code_symbol(&d->code, &d->object, d->object.kernels.data[0].block);
    memcpy(&d->run, &at, sizeof at);
}

static void free_code(deep_code *d) {
    rt_code_unload(&d->code);
    ir_module_free(d->module);
    ir_arena_free(&d->arena);
}

/* All levels of this machine, both ways to allocate registers: number n, or false. */
static bool choose_code(unsigned n, cg_options *o) {
    *o = (cg_options){.level = test_host_level(n / 2),
                      .regalloc = {.how = n % 2 ? CG_REGALLOC_STACK : CG_REGALLOC_FAST}};
    return o->level != 0;
}

static const uint64_t pages[] = {1, 2, 4, 5, 6, 17, 250, 1500};
static const unsigned aligns[] = {4, 64, 128};

/* -------------------------------------------------------------------------------------- threads */

static void with_stack(size_t bytes, void *(*body)(void *arg), void *arg) {
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    cr_assert_eq(pthread_attr_setstacksize(&attr, bytes), 0);
    cr_assert_eq(pthread_create(&thread, &attr, body, arg), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

typedef struct {
    rt_pool *pool;
    const deep_code *code;
    int32_t out[16];
    ir_status status;
} groups;

static void *run_groups(void *arg) {
    groups *g = arg;
    uint32_t first = 0;
    void *args[] = {g->out, &first};
    const ir_group_info info = {.num_groups = {16, 1, 1},
                                .local_size = {1, 1, 1},
                                .global_size = {16, 1, 1},
                                .work_dim = 1};
    const rt_work w = {.run = g->code->run,
                       .info = &info,
                       .args = args,
                       .stack = g->code->object.kernels.data[0].stack};
    g->status = rt_pool_run(g->pool, &w);
    return NULL;
}

static void check_groups(const groups *g, const char *what) {
    cr_expect_eq(g->status, IR_OK, "%s", what);
    for (int k = 0; k < 16; k++) cr_expect_eq(g->out[k], SEEN, "%s: item %d", what, k);
}

Test(stack, the_smallest_threads_run_kernels_of_any_frame) {
    cg_options o;
    groups g = {.pool = rt_pool_new(&(rt_pool_options){.threads = 2})};
    for (unsigned n = 0; choose_code(n, &o); n++)
        for (size_t p = 0; p < sizeof pages / sizeof *pages; p++)
            for (size_t a = 0; a < sizeof aligns / sizeof *aligns; a++) {
                deep_code d;
                char what[100];
                snprintf(what, sizeof what, "v%u, allocation %d, %llu pages, align %u", o.level,
                         o.regalloc.how, (unsigned long long)pages[p], aligns[a]);
                make_code(&d, pages[p] * WORDS_OF_PAGE, aligns[a], &o);
                g.code = &d;
                memset(g.out, 0, sizeof g.out);
                with_stack((size_t)PTHREAD_STACK_MIN, run_groups, &g);
                check_groups(&g, what);
                free_code(&d);
            }
    rt_pool_free(g.pool);
}

/* The same through the library, which compiles at the first launch. */
typedef struct {
    spvf_device *device;
    spvf_program *program;
    spvf_status status;
    int32_t out[16];
} launches;

static void *launch(void *arg) {
    launches *l = arg;
    spvf_queue *q = NULL;
    spvf_buffer *b = NULL;
    uint32_t first = 0;
    l->status = spvf_queue_create(l->device, NULL, &q);
    if (l->status == SPVF_OK)
        l->status = spvf_buffer_create(l->device, sizeof l->out, l->out, SPVF_USE_HOST, &b);
    const spvf_argument args[] = {{.buffer = b}, {.bytes = &first, .size = sizeof first}};
    const spvf_launch what = {.size = sizeof what,
                              .program = l->program,
                              .kernel = "deep",
                              .range = {.dims = 1, .global = {16}},
                              .args = args,
                              .arg_count = 2};
    if (l->status == SPVF_OK) l->status = spvf_queue_launch(q, &what, NULL, NULL);
    if (l->status == SPVF_OK) l->status = spvf_queue_finish(q);
    spvf_buffer_destroy(b);
    spvf_queue_destroy(q);
    return NULL;
}

static void launch_deep(const char *device, uint64_t words) {
    launches l = {.status = SPVF_OK};
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernel_text(words, 4));
    cr_assert_eq(spvf_device_open(c, device, &l.device), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_program_create(l.device, m, &l.program), SPVF_OK, "%s", messages);
    with_stack(64 << 10, launch, &l);
    cr_expect_eq(l.status, SPVF_OK, "%s: %s", device, messages);
    for (int k = 0; k < 16; k++) cr_expect_eq(l.out[k], SEEN, "%s: item %d", device, k);
    spvf_program_destroy(l.program);
    spvf_device_destroy(l.device);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(stack, a_thread_of_64_kib_compiles_and_launches) {
    static const char *const devices[] = {"cpu", "cpu:regalloc=stack", "cpu:v2,eager"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (size_t p = 0; p < sizeof pages / sizeof *pages; p++)
            launch_deep(devices[d], pages[p] * WORDS_OF_PAGE);
}

/* ------------------------------------------------------------------------------ stacks that end */

enum { NEIGHBOUR = 8 << 20, PAGE = 4096, SMALL = 64 << 10 };

/* One stack in another, as when one thread compiles while another does. */
typedef struct nested {
    unsigned left;
    uintptr_t at[3];
} nested;

static void nest(void *arg) {
    nested *n = arg;
    volatile char deep[1 << 20];
    const unsigned depth = --n->left;
    deep[0] = deep[sizeof deep - 1] = (char)depth;
    n->at[depth] = (uintptr_t)deep;
    if (depth) cr_assert(rt_stack_run_deep(nest, n));
    cr_expect_eq(deep[0], (char)depth, "the stack within lies elsewhere");
    cr_expect_eq(deep[sizeof deep - 1], (char)depth);
}

Test(stack, stacks_for_compiling_are_used_again) {
    nested first = {.left = 3}, again = {.left = 1};
    cr_assert(rt_stack_run_deep(nest, &first));
    cr_assert(rt_stack_run_deep(nest, &again));
    bool kept = false;
    for (int n = 0; n < 3; n++) kept |= again.at[0] == first.at[n];
    cr_expect(kept, "one of them stays");
}

/* From low to high addresses: memory of another owner, a guard page, a stack. */
static uint8_t *map_neighbours(void) {
    uint8_t *at = mmap(NULL, NEIGHBOUR + PAGE + SMALL, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(mprotect(at + NEIGHBOUR, PAGE, PROT_NONE), 0);
    return at;
}

static void *call_block(void *arg) {
    const deep_code *d = arg;
    int32_t out;
    uint32_t first = 0;
    void *args[] = {&out, &first};
    const ir_group_info g = {.group_end = {1, 1, 1},
                             .num_groups = {1, 1, 1},
                             .local_size = {1, 1, 1},
                             .global_size = {1, 1, 1},
                             .work_dim = 1};
    d->run(&g, args);
    return NULL;
}

/* The signal that ends a process which calls the code on the small stack, or 0. */
static int call_on_small_stack(const deep_code *d, uint8_t *at) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_attr_t attr;
        pthread_t thread;
        signal(SIGSEGV, SIG_DFL);
        alarm(FOREVER);
        pthread_attr_init(&attr);
        pthread_attr_setstack(&attr, at + NEIGHBOUR + PAGE, SMALL);
        if (pthread_create(&thread, &attr, call_block, (void *)(uintptr_t)d) != 0) _exit(1);
        pthread_join(thread, NULL);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static bool is_zero(const uint8_t *at, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (at[k]) return false;
    return true;
}

Test(stack, a_frame_that_does_not_fit_meets_the_guard_page) {
    cg_options o;
    uint8_t *at = map_neighbours();
    for (unsigned n = 0; choose_code(n, &o); n++)
        for (size_t p = 0; p < sizeof pages / sizeof *pages; p++)
            for (size_t a = 0; a < sizeof aligns / sizeof *aligns; a++) {
                deep_code d;
                make_code(&d, pages[p] * WORDS_OF_PAGE, aligns[a], &o);
                uint64_t need = d.object.kernels.data[0].stack;
                int ended = call_on_small_stack(&d, at);
                cr_expect_geq(need, pages[p] * PAGE);
                cr_expect_lt(need, (pages[p] + 1) * PAGE, "not a page too many");
                if (need > SMALL)
                    cr_expect_eq(ended, SIGSEGV, "%llu pages", (unsigned long long)pages[p]);
                if (need < SMALL / 2)
                    cr_expect_eq(ended, 0, "%llu pages", (unsigned long long)pages[p]);
                cr_expect(is_zero(at, NEIGHBOUR), "a neighbour of %llu pages is whole",
                          (unsigned long long)pages[p]);
                memset(at, 0, NEIGHBOUR);
                free_code(&d);
            }
    munmap(at, NEIGHBOUR + PAGE + SMALL);
}
