/* device.c — kernels on a device, next to what the host computes or device check leaves.
 *
 *     device DEVICE [PART…]     constructs groups atomics ranges graphs phases threads printf; all of them
 *
 * A line for each test that fails, and "N passed, M failed".
 */
#include "tests/device/device.h"

#include <stdarg.h>

char dt_printed[1 << 20];

void dt_check(device_test *t, bool holds, const char *fmt, ...) {
    va_list ap;
    *(holds ? &t->passed : &t->failed) += 1;
    if (holds) return;
    va_start(ap, fmt);
    printf("FAIL ");
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
}

/* ----------------------------------------------------------------------------------- one launch */

static void print_message(void *user, const spvf_message *m) {
    (void)user;
    printf("%s\n", m->formatted);
}

static void keep_text(void *user, const char *text) {
    size_t n = strlen(dt_printed);
    (void)user;
    snprintf(dt_printed + n, sizeof dt_printed - n, "%s", text);
}

typedef struct {
    spvf_device *device;
    spvf_module *module;
    spvf_program *program;
    spvf_queue *queue;
    spvf_buffer *buffer[8];
} running;

static bool prepare(device_test *t, running *r, const char *device, const char *text) {
    const spvf_queue_options o = {.size = sizeof o};
    if (spvf_device_open(t->context, device, &r->device) != SPVF_OK) return false;
    spvf_device_on_print(r->device, keep_text, NULL);
    return spvf_queue_create(r->device, &o, &r->queue) == SPVF_OK &&
           spvf_module_load(t->context, "k.ir", text, strlen(text), NULL, &r->module) == SPVF_OK &&
           spvf_program_create(r->device, r->module, &r->program) == SPVF_OK;
}

static bool launch(running *r, const spvf_range *range, const dt_buffer *b, size_t n) {
    spvf_argument args[8] = {{0}};
    bool ok = true;
    for (size_t k = 0; ok && k < n; k++) {
        args[k].size = b[k].bytes ? 0 : b[k].size;
        args[k].bytes = b[k].value;
        if (!b[k].bytes) continue;
        ok = spvf_buffer_create(r->device, b[k].size, b[k].bytes, SPVF_COPY_HOST, &r->buffer[k]) ==
             SPVF_OK;
        args[k].buffer = r->buffer[k];
    }
    const spvf_launch l = {.size = sizeof l,
                           .program = r->program,
                           .kernel = "k",
                           .range = *range,
                           .args = args,
                           .arg_count = n};
    ok = ok && spvf_queue_launch(r->queue, &l, NULL, NULL) == SPVF_OK;
    for (size_t k = 0; ok && k < n; k++)
        if (b[k].bytes)
            ok = spvf_queue_read(r->queue, r->buffer[k], 0, b[k].bytes, b[k].size, NULL, NULL) ==
                 SPVF_OK;
    return ok && spvf_queue_finish(r->queue) == SPVF_OK;
}

static void end(running *r) {
    if (r->queue) spvf_queue_destroy(r->queue);
    for (unsigned n = 0; n < 8; n++)
        if (r->buffer[n]) spvf_buffer_destroy(r->buffer[n]);
    if (r->program) spvf_program_destroy(r->program);
    if (r->module) spvf_module_destroy(r->module);
    if (r->device) spvf_device_destroy(r->device);
}

bool dt_run(device_test *t, const char *device, const char *text, const spvf_range *range,
            const dt_buffer *buffers, size_t n) {
    running r = {NULL};
    dt_printed[0] = 0;
    bool ok = prepare(t, &r, device, text) && launch(&r, range, buffers, n);
    end(&r);
    return ok;
}

/* --------------------------------------------------------------------------------------- printf */

static const char formats[] =
    "target 64\n"
    "@text: const [5 x i8] constant = {116, 101, 120, 116, 0}\n"
    "kernel @k() {\n"
    "entry:\n"
    "  %r0: i32 = printf \"plain\\n\"\n"
    "  %r1: i32 = printf \"int %d %i, unsigned %u, octal %o, hex %#x %X, %05d|%-6d|% d|%+d\\n\","
    " i32 -7, i32 8, i32 14, i32 15, i32 21, i32 48879, i32 28, i32 35, i32 1, i32 2\n"
    "  %r2: i32 = printf \"long %ld %lu, char %c, 100%%\\n\", i64 -5000000000, i64 7, i32 122\n"
    "  %r3: i32 = printf \"short %hd %hhd %hhu\\n\", i16 -3, i8 -4, i8 200\n"
    "  %r4: i32 = printf \"float %.3f %e %E %g %G %a %A %F\\n\", f32 1.5, f64 0.125, f64 2.0e9,"
    " f32 1.0e10, f64 1.0e-7, f64 0.5, f32 3.0, f32 nan\n"
    "  %r5: i32 = printf \"half %f, infinite %f\\n\", f16 0.5, f32 inf\n"
    "  %r6: i32 = printf \"string %s|%8s|%-8s|%.2s|%.0s|\\n\", @text, @text, @text, @text, @text\n"
    "  %r7: i32 = printf \"pointer %p\\n\", i64 4660\n"
    "  %r8: i32 = printf \"vectors %v4hld %v2hlf %v3hhd %v2lf %v8hx %v16hhu\\n\","
    " v4i32 <1, 2, -3, 4>, v2f32 <0.5, -1.0>, v3i8 <1, -2, 3>, v2f64 <0.25, 8.0>,"
    " v8i16 <1, 2, 3, 4, 5, 6, 7, 65535>,"
    " v16i8 <0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255>\n"
    "  %r9: i32 = printf \"missing %d %d\\n\", i32 1\n"
    "  %r10: i32 = printf \"\\n\"\n"
    "  ret\n"
    "}\n";

static const char lines[] = "target 64\n"
                            "kernel @k(%out: ptr.global of i32) {\n"
                            "entry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  %r: i32 = printf \"%ld a\\n\", %i\n"
                            "  %s: i32 = printf \"%ld b\\n\", %i\n"
                            "  %t: i32 = or %r, %s\n"
                            "  %o: i64 = shl %i, 2\n"
                            "  %p: ptr.global = ptradd %out, %o inbounds\n"
                            "  store %t, %p align 4\n"
                            "  ret\n"
                            "}\n";

enum { PRINTING = 1000 };

static void check_lines(device_test *t) {
    static int32_t result[PRINTING];
    static char last[PRINTING];
    unsigned count = 0, item;
    char which;
    bool in_order = true, zero = true;
    const spvf_range r = {.dims = 1, .global = {PRINTING}};
    memset(result, 1, sizeof result);
    dt_check(t, dt_run(t, t->name, lines, &r, &(dt_buffer){result, sizeof result}, 1),
             "printf runs");
    for (const char *s = dt_printed; *s && sscanf(s, "%u %c", &item, &which) == 2; count++) {
        in_order &= item < PRINTING && which == (last[item] ? 'b' : 'a');
        if (item < PRINTING) last[item] = 1;
        s = strchr(s, '\n') + 1;
    }
    for (unsigned n = 0; n < PRINTING; n++) zero &= result[n] == 0;
    dt_check(t, count == 2 * PRINTING, "printf: %u lines", count);
    dt_check(t, in_order && zero, "printf: lines of an item are in order, results are 0");
}

static void dt_printf(device_test *t) {
    static char wanted[sizeof dt_printed];
    const spvf_range one = {.dims = 1, .global = {1}};
    dt_check(t, dt_run(t, "check", formats, &one, NULL, 0), "printf on check");
    strcpy(wanted, dt_printed);
    if (!t->can.print) {
        printf("%s: printf is not tested, the device does not print for us\n", t->name);
        return;
    }
    dt_check(t, dt_run(t, t->name, formats, &one, NULL, 0), "printf");
    dt_check(t, strcmp(wanted, dt_printed) == 0, "printf:\n%s\nnot:\n%s", dt_printed, wanted);
    check_lines(t);
}

/* ----------------------------------------------------------------------------------------- parts */

static const struct {
    const char *name;
    void (*run)(device_test *t);
} parts[] = {{"constructs", dt_constructs}, {"groups", dt_groups}, {"atomics", dt_atomics},
             {"ranges", dt_ranges},         {"graphs", dt_graphs}, {"phases", dt_phases},
             {"threads", dt_threads},       {"printf", dt_printf}};

static void ask_device(void *arg) {
    device_test *t = arg;
    rt_device *d = rt_device_open(t->context, t->name);
    t->can = d->can;
    rt_device_close(d);
}

int main(int argc, char **argv) {
    const spvf_context_options o = {.size = sizeof o, .message = print_message};
    device_test t = {.name = argc > 1 ? argv[1] : "cuda"};
    if (spvf_context_create(&o, &t.context) != SPVF_OK) return 1;
    if (!ir_try(&t.context->cx, ask_device, &t)) return 1;
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++) {
        bool wanted = argc <= 2;
        for (int k = 2; k < argc; k++) wanted |= strcmp(argv[k], parts[n].name) == 0;
        if (wanted) parts[n].run(&t);
    }
    spvf_context_destroy(t.context);
    printf("%u passed, %u failed\n", t.passed, t.failed);
    return t.failed != 0;
}
