/* graphs.c — graphs that are run again and again with other values and buffers, their launches left
 * one by one or fused, or spread over this device and another one; launches that read what others
 * have written late; the ends of many launches; and destruction while they run. */
#include <time.h>

#include "tests/device/device.h"

enum { ITEMS = 10000, BYTES = 4 * ITEMS, LINKS = 8, RUNS = 200, TURNS = 10, BURST = 1000 };

static const char text[] =
    "target 64\n"
    "kernel @k(%out: ptr.global of i32, %in: ptr.global const of i32, %by: i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %in, %o inbounds\n"
    "  %q: ptr.global = ptradd %out, %o inbounds\n"
    "  %v: i32 = load %p align 4\n"
    "  %w: i32 = add %v, %by\n"
    "  store %w, %q align 4\n"
    "  ret\n"
    "}\n"
    /* Backwards, and 1 more.  Some groups take longer: they go some steps of a sequence and back. */
    "kernel @turn(%out: ptr.global of i32, %in: ptr.global const of i32, %last: i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %l: i64 = zext %last\n"
    "  %j: i64 = sub %l, %i\n"
    "  %o: i64 = shl %j, 2\n"
    "  %p: ptr.global = ptradd %in, %o inbounds\n"
    "  %v: i32 = load %p align 4\n"
    "  %i32: i32 = trunc %i\n"
    "  %group: i32 = lshr %i32, 6\n"
    "  %some: i32 = and %group, 7\n"
    "  %steps: i32 = shl %some, 5\n"
    "  jmp forth\n"
    "forth:\n"
    "  %n: i32 = phi [entry: 0, step: %n1]\n"
    "  %x: i32 = phi [entry: %v, step: %x1]\n"
    "  %more: i1 = ult %n, %steps\n"
    "  br %more, step, back\n"
    "step:\n"
    "  %n1: i32 = add %n, 1\n"
    "  %ax: i32 = mul %x, 1664525\n"
    "  %x1: i32 = add %ax, 1013904223\n"
    "  jmp forth\n"
    "back:\n"
    "  %m: i32 = phi [forth: 0, step_back: %m1]\n"
    "  %y: i32 = phi [forth: %x, step_back: %y1]\n"
    "  %rest: i1 = ult %m, %steps\n"
    "  br %rest, step_back, end\n"
    "step_back:\n"
    "  %m1: i32 = add %m, 1\n"
    "  %by: i32 = sub %y, 1013904223\n"
    "  %y1: i32 = mul %by, 4276115653\n"
    "  jmp back\n"
    "end:\n"
    "  %o2: i64 = shl %i, 2\n"
    "  %q: ptr.global = ptradd %out, %o2 inbounds\n"
    "  %w: i32 = add %y, 1\n"
    "  store %w, %q align 4\n"
    "  ret\n"
    "}\n";

typedef struct {
    device_test *test;
    spvf_device *device;
    spvf_module *module;
    spvf_program *program;
    spvf_queue *queue;
    spvf_buffer *buffer[LINKS + 2]; /* the last one takes the place of another */
    spvf_graph *graph;
} setting;

static bool begin(setting *s, device_test *t) {
    static int32_t values[ITEMS];
    *s = (setting){.test = t};
    for (int32_t n = 0; n < ITEMS; n++) values[n] = n;
    bool ok =
        spvf_device_open(t->context, t->name, &s->device) == SPVF_OK &&
        spvf_module_load(t->context, "k.ir", text, strlen(text), NULL, &s->module) == SPVF_OK &&
        spvf_program_create(s->device, s->module, &s->program) == SPVF_OK &&
        spvf_queue_create(s->device, NULL, &s->queue) == SPVF_OK;
    for (int n = 0; ok && n < LINKS + 2; n++)
        ok = spvf_buffer_create(s->device, BYTES, values, SPVF_COPY_HOST, &s->buffer[n]) == SPVF_OK;
    dt_check(t, ok, "graphs: a program and buffers");
    return ok;
}

static void end(setting *s) {
    spvf_graph_destroy(s->graph);
    for (int n = 0; n < LINKS + 2; n++) spvf_buffer_destroy(s->buffer[n]);
    spvf_queue_destroy(s->queue);
    spvf_program_destroy(s->program);
    spvf_module_destroy(s->module);
    spvf_device_destroy(s->device);
}

static spvf_launch link_of(const setting *s, spvf_argument args[3], int to, int from,
                           const int32_t *by) {
    args[0] = (spvf_argument){.buffer = s->buffer[to]};
    args[1] = (spvf_argument){.buffer = s->buffer[from]};
    args[2] = (spvf_argument){.bytes = by, .size = sizeof *by};
    return (spvf_launch){.size = sizeof(spvf_launch),
                         .program = s->program,
                         .kernel = "k",
                         .range = {.dims = 1, .global = {ITEMS}},
                         .args = args,
                         .arg_count = 3};
}

/* A chain from the first buffer to the one before the last, each link adds 1; with `alone` every
 * third launch stays by itself. */
static bool record(setting *s, bool unfused, bool alone) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = unfused};
    const int32_t one = 1;
    bool ok = spvf_graph_create(s->device, &o, &s->graph) == SPVF_OK;
    for (int n = 0; ok && n < LINKS; n++) {
        spvf_argument args[3];
        const spvf_launch l = link_of(s, args, n + 1, n, &one);
        ok = spvf_graph_launch(s->graph, &l, NULL) == SPVF_OK;
        if (alone && n % 3 == 1) ok = ok && spvf_graph_exclude(s->graph, (size_t)n) == SPVF_OK;
    }
    ok = ok && spvf_graph_commit(s->graph) == SPVF_OK;
    dt_check(s->test, ok, "graphs: recording");
    return ok;
}

static void expect(setting *s, spvf_buffer *b, int32_t more, const char *what) {
    static int32_t back[ITEMS];
    bool ok = spvf_queue_read(s->queue, b, 0, back, BYTES, NULL, NULL) == SPVF_OK &&
              spvf_queue_finish(s->queue) == SPVF_OK;
    int32_t n = 0;
    while (ok && n < ITEMS && back[n] == n + more) n++;
    dt_check(s->test, ok && n == ITEMS, "graphs: %s", what);
}

/* Values change before each run, and are read after some. */
static void run_with_values(setting *s, const char *what) {
    int32_t by[LINKS], sum = LINKS;
    bool ok = true;
    for (int n = 0; n < LINKS; n++) by[n] = 1;
    for (int32_t run = 0; run < RUNS; run++) {
        int which = (int)(run % LINKS);
        if (run > 2) {
            sum += run - by[which];
            by[which] = run;
            ok &= spvf_graph_set_value(s->graph, (size_t)which, 2, &run, sizeof run) == SPVF_OK;
        }
        ok &= spvf_graph_run(s->graph, s->queue, NULL, NULL) == SPVF_OK;
        if (run % 50 == 0) expect(s, s->buffer[LINKS], sum, what);
    }
    dt_check(s->test, ok, "graphs: %s: runs", what);
    expect(s, s->buffer[LINKS], sum, what);
}

static void run_with_buffers(setting *s) {
    spvf_buffer *place = s->buffer[LINKS], *other = s->buffer[LINKS + 1];
    bool ok = spvf_graph_run(s->graph, s->queue, NULL, NULL) == SPVF_OK;
    for (int run = 0; ok && run < 10; run++) {
        spvf_buffer *was = place;
        ok = spvf_graph_set_buffer(s->graph, place, other) == SPVF_OK &&
             spvf_graph_run(s->graph, s->queue, NULL, NULL) == SPVF_OK;
        place = other;
        other = was;
    }
    dt_check(s->test, ok, "graphs: other buffers");
    expect(s, place, LINKS, "other buffers");
}

static void check_chain(device_test *t, bool unfused, bool alone, const char *what) {
    setting s;
    if (begin(&s, t) && record(&s, unfused, alone)) {
        if (unfused) run_with_buffers(&s);
        run_with_values(&s, what);
    }
    end(&s);
}

/* Two buffers in turns: each launch reads what other groups of the one before it have written late,
 * from places that it has read before. */
static bool record_turns(setting *s, const int32_t *last) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    bool ok = spvf_graph_create(s->device, &o, &s->graph) == SPVF_OK;
    for (int n = 0; ok && n < LINKS; n++) {
        spvf_argument args[3];
        spvf_launch l = link_of(s, args, 1 - n % 2, n % 2, last);
        l.kernel = "turn";
        ok = spvf_graph_launch(s->graph, &l, NULL) == SPVF_OK;
    }
    ok = ok && spvf_graph_commit(s->graph) == SPVF_OK;
    dt_check(s->test, ok, "graphs: recording of turns");
    return ok;
}

static void check_turns(device_test *t) {
    const int32_t last = ITEMS - 1;
    setting s;
    if (begin(&s, t) && record_turns(&s, &last)) {
        bool ok = true;
        for (int run = 0; ok && run < TURNS; run++)
            ok = spvf_graph_run(s.graph, s.queue, NULL, NULL) == SPVF_OK;
        dt_check(t, ok, "graphs: turns: runs");
        expect(&s, s.buffer[0], TURNS * LINKS, "turns");
    }
    end(&s);
}

static void check_destruction(device_test *t) {
    setting s;
    if (begin(&s, t)) {
        bool ok = true;
        for (int n = 0; ok && n < 10; n++) {
            ok = record(&s, true, false);
            for (int run = 0; ok && run < 5; run++)
                ok = spvf_graph_run(s.graph, s.queue, NULL, NULL) == SPVF_OK;
            spvf_graph_destroy(s.graph);
            s.graph = NULL;
        }
        expect(&s, s.buffer[LINKS], LINKS, "graphs that are destroyed while they run");
    }
    end(&s);
}

/* Every third launch is for another device: of five parts, those with two launches are fused. */
static bool record_spread(setting *s, spvf_program *elsewhere) {
    const int32_t one = 1;
    bool ok = spvf_graph_create(s->device, NULL, &s->graph) == SPVF_OK;
    for (int n = 0; ok && n < LINKS; n++) {
        spvf_argument args[3];
        spvf_launch l = link_of(s, args, n + 1, n, &one);
        if (n % 3 == 2) l.program = elsewhere;
        ok = spvf_graph_launch(s->graph, &l, NULL) == SPVF_OK;
        if (n) ok &= spvf_graph_internal(s->graph, s->buffer[n], SPVF_PROMOTE_AUTO) == SPVF_OK;
    }
    ok = ok && spvf_graph_commit(s->graph) == SPVF_OK;
    dt_check(s->test, ok && spvf_graph_kernel_count(s->graph) == 5, "graphs: two devices");
    return ok;
}

static void check_spread(device_test *t, const char *name) {
    spvf_device *other = NULL;
    spvf_program *elsewhere = NULL;
    setting s;
    if (begin(&s, t) && spvf_device_open(t->context, name, &other) == SPVF_OK &&
        spvf_program_create(other, s.module, &elsewhere) == SPVF_OK &&
        record_spread(&s, elsewhere)) {
        run_with_buffers(&s);
        run_with_values(&s, "two devices");
    }
    end(&s);
    spvf_program_destroy(elsewhere);
    spvf_device_destroy(other);
}

static void note(void *user, spvf_status status) {
    __atomic_fetch_add((int *)user, status == SPVF_OK, __ATOMIC_RELAXED);
}

/* Callbacks come after the end, which threads that wait for it may see before: for some seconds. */
static bool all_come(const int *called, int expected) {
    int now = 0;
    for (int k = 0; k < 10000; k++) {
        now = __atomic_load_n(called, __ATOMIC_RELAXED);
        if (now >= expected) break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return now == expected;
}

/* Of many launches some have events, which end in order; all callbacks come. */
static void check_ends(device_test *t) {
    static spvf_event *e[BURST];
    static int called;
    const int32_t one = 1;
    spvf_argument args[3];
    int had = 0;
    bool ok = true;
    setting s;
    __atomic_store_n(&called, 0, __ATOMIC_RELAXED);
    if (begin(&s, t)) {
        const spvf_launch l = link_of(&s, args, 0, 0, &one);
        for (int n = 0; n < BURST; n++) {
            spvf_event **out = n % 10 == 0 ? &e[n] : NULL;
            ok &= spvf_queue_launch(s.queue, &l, NULL, out) == SPVF_OK;
            if (out && n % 20 == 0) {
                ok &= spvf_event_on_end(e[n], note, &called) == SPVF_OK;
                had++;
            }
        }
        for (int n = BURST - 10; ok && n >= 0; n -= 10) {
            ok = spvf_event_wait(e[n]) == SPVF_OK;
            for (int k = n - 10; k >= 0; k -= 10) ok &= spvf_event_ended(e[k], NULL);
        }
        dt_check(t, ok, "graphs: events end in order");
        for (int n = 0; n < BURST; n += 10) spvf_event_destroy(e[n]);
        expect(&s, s.buffer[0], BURST, "many launches");
    }
    end(&s);
    dt_check(t, all_come(&called, had), "graphs: %d of %d callbacks", called, had);
}

void dt_graphs(device_test *t) {
    check_chain(t, true, false, "launches one by one");
    check_chain(t, false, true, "launches that are left after fusion");
    check_spread(t, "cpu");
    check_spread(t, t->name);
    check_turns(t);
    check_destruction(t);
    check_ends(t);
}
