/* operators.c — every operator of OpenCL C on every type in every kind of place, as native code.
 *
 *   operators source TYPE         writes the kernels for a type
 *   operators run FOLDER…         runs FOLDER/TYPE.spv of all types on device cpu, at each level of
 *                                 this machine
 *   operators all FOLDER…         also with every way to allocate registers, and on `check`
 *   operators widths FOLDER…      with 1 to 64 work-items as lanes of vectors
 *
 * Each row of the table works on elements of its own, so that a difference names the operator.
 * Lanes that a statement does not name, and what lies around the member of a struct, stay.
 */
#include "tests/conformance/operators/operators.h"

#include "ir/eval.h"
#include "runtime/spvfuse.h"
#include "runtime/spvfuse_queue.h"
#include "tests/native_call.h"
#include "tests/progress.h"
#include "tests/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ELEMENT = 3 * MAX_LANES * 8, MAX_ROWS = 64, FILLING = 0xa5 };

typedef struct {
    const lane_type *type;
    place place;
    unsigned lanes, lane_bytes;
    size_t element, at, right; /* bytes of a place, of what comes before it there, of an operand */
    uint8_t a[MAX_ROWS * ITEMS * MAX_ELEMENT], b[MAX_ROWS * ITEMS * MAX_LANES * 8];
    uint8_t want[MAX_ROWS * ITEMS * MAX_ELEMENT];
} table;

typedef struct {
    spvf_context *context;
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
    const char *level;
    unsigned passed, failed;
} bench;

/* --------------------------------------------------------------------------------------- tables */

static uint64_t read_lane(const table *t, const uint8_t *from, unsigned lane) {
    uint64_t x = 0;
    memcpy(&x, from + lane * t->lane_bytes, t->lane_bytes);
    return x;
}

static void write_lane(const table *t, uint8_t *to, unsigned lane, uint64_t x) {
    memcpy(to + lane * t->lane_bytes, &x, t->lane_bytes);
}

static uint8_t *place_at(const table *t, uint8_t *places, unsigned n) {
    return places + n * t->element + t->at;
}

/* Some operands are equal. */
static void fill(table *t) {
    uint64_t state = t->lanes * 100 + t->place;
    memset(t->a, FILLING, sizeof t->a);
    memset(t->b, FILLING, sizeof t->b);
    for (unsigned n = 0; n < operator_row_count * ITEMS; n++)
        for (unsigned k = 0; k < t->lanes; k++) {
            uint64_t y = t->place == FROM_PROGRAM
                             ? program_lane(t->type, t->lanes, n, k)
                             : some_lane(&state, t->type, has_divisor(&operator_rows[n / ITEMS]));
            bool same = splitmix64(&state) % 8 == 0;
            write_lane(t, t->b + n * t->right, k, y);
            write_lane(t, place_at(t, t->a, n), k, same ? y : some_lane(&state, t->type, false));
        }
}

/* -------------------------------------------------------------------------------------- results */

/* The number of the k-th lane that a statement names; false: there are no more. */
static bool named_lane(const table *t, unsigned k, unsigned *lane) {
    *lane = k;
    if (t->place != IN_SWIZZLE) return k < t->lanes;
    const char *digits = swizzle_of(t->lanes);
    if (k >= strlen(digits)) return false;
    *lane = (unsigned)(digits[k] <= '9' ? digits[k] - '0' : digits[k] - 'a' + 10);
    return true;
}

static void expect_element(table *t, unsigned n) {
    const operator_row *row = &operator_rows[n / ITEMS];
    const uint8_t *right = t->b + n * t->right;
    uint8_t *to = place_at(t, t->want, n);
    bool from_first = strchr(row->text, 'S') != NULL;
    unsigned lane,
        named = t->place == IN_SWIZZLE ? (unsigned)strlen(swizzle_of(t->lanes)) : t->lanes;
    if (!has_row(row, t->type, t->lanes)) return;
    for (unsigned k = 0; named_lane(t, k, &lane); k++) {
        uint64_t y = read_lane(t, right, from_first ? 0 : lane);
        write_lane(t, to, lane,
                   compute_lane(t->type, row->op, named == 1, read_lane(t, to, lane), y));
    }
}

static bool same_lane(const table *t, uint64_t x, uint64_t y) {
    bool real = ir_is_float(ir_scalar(t->type->kind));
    return x == y || (real && ir_fp_is_nan(t->type->kind, x) && ir_fp_is_nan(t->type->kind, y));
}

/* A NaN may be any; the fourth lane of three does not count. */
static bool same_element(const table *t, const uint8_t *got, const uint8_t *want) {
    unsigned lane = 0;
    for (; lane < t->lanes; lane++)
        if (!same_lane(t, read_lane(t, got + t->at, lane), read_lane(t, want + t->at, lane)))
            return false;
    size_t end = t->at + t->right;
    return !memcmp(got, want, t->at) && !memcmp(got + end, want + end, t->element - end);
}

static void show_lanes(const table *t, const char *what, const uint8_t *from) {
    printf("    %s", what);
    for (unsigned k = 0; k < t->lanes; k++)
        printf(" %llx", (unsigned long long)read_lane(t, from, k));
    printf("\n");
}

static void judge(bench *b, table *t, const uint8_t *got, unsigned row) {
    bool same = true;
    if (!has_row(&operator_rows[row], t->type, t->lanes)) return;
    for (unsigned n = row * ITEMS; n < (row + 1) * ITEMS && same; n++) {
        const uint8_t *x = got + n * t->element, *want = t->want + n * t->element;
        same = same_element(t, x, want);
        if (same) continue;
        printf("FAIL %s: %s, %s%u in %s\n", b->level, operator_rows[row].text, t->type->name,
               t->lanes, place_names[t->place]);
        show_lanes(t, "left ", place_at(t, t->a, n));
        show_lanes(t, "right", t->b + n * t->right);
        show_lanes(t, "got  ", x + t->at);
        show_lanes(t, "want ", want + t->at);
    }
    b->passed += same;
    b->failed += !same;
}

/* ----------------------------------------------------------------------------------------- runs */

static void lay_out(table *t) {
    unsigned lanes = t->lanes == 3 ? 4 : t->lanes;
    t->lane_bytes = ir_bits(NULL, ir_scalar(t->type->kind)) / 8;
    t->right = lanes * t->lane_bytes;
    t->at = t->place == IN_STRUCT ? t->right : 0;
    t->element = t->place == IN_STRUCT ? 3 * t->right : t->right;
}

static void run_kernel(bench *b, table *t) {
    static uint8_t got[sizeof t->a];
    char name[40];
    int zero = 0;
    size_t count = operator_row_count * ITEMS;
    spvf_buffer *places, *right;
    snprintf(name, sizeof name, "%s_%u", place_names[t->place], t->lanes);
    spvf_buffer_create(b->device, count * t->element, t->a, 0, &places);
    spvf_buffer_create(b->device, count * t->right, t->b, 0, &right);
    const spvf_argument args[] = {
        {.buffer = places}, {.buffer = right}, {.bytes = &zero, .size = sizeof zero}};
    const spvf_launch what = {.size = sizeof what,
                              .program = b->program,
                              .kernel = name,
                              .range = {1, {ITEMS, 1, 1}, {ITEMS, 1, 1}},
                              .args = args,
                              .arg_count = 3};
    spvf_queue_launch(b->queue, &what, NULL, NULL);
    spvf_queue_read(b->queue, places, 0, got, count * t->element, NULL, NULL);
    if (spvf_queue_finish(b->queue) != SPVF_OK) printf("FAIL %s does not run\n", name);
    spvf_buffer_destroy(places);
    spvf_buffer_destroy(right);
    for (unsigned row = 0; row < operator_row_count; row++) judge(b, t, got, row);
}

static void run_tables(bench *b, const lane_type *type) {
    static table t;
    for (unsigned w = 0; w < WIDTHS; w++)
        for (unsigned p = 0; p < PLACES; p++) {
            t.type = type;
            t.place = (place)p;
            t.lanes = widths[w];
            if (t.place == IN_SWIZZLE && t.lanes == 1) continue;
            lay_out(&t);
            fill(&t);
            memcpy(t.want, t.a, sizeof t.a);
            for (unsigned n = 0; n < operator_row_count * ITEMS; n++) expect_element(&t, n);
            run_kernel(b, &t);
        }
}

/* ---------------------------------------------------------------------------------------- entry */

static void print_message(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) printf("%s\n", m->formatted);
}

static void *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    void *bytes = malloc(*size);
    if (fread(bytes, 1, *size, f) != *size) *size = 0;
    fclose(f);
    return bytes;
}

static void run_level(bench *b, const char *path, const lane_type *type) {
    size_t size;
    void *bytes = read_file(path, &size);
    spvf_context_options o = {.size = sizeof o, .message = print_message};
    spvf_module *module = NULL;
    spvf_context_create(&o, &b->context);
    bool ok = bytes && spvf_module_load(b->context, path, bytes, size, NULL, &module) == SPVF_OK &&
              spvf_device_open(b->context, b->level, &b->device) == SPVF_OK &&
              spvf_program_create(b->device, module, &b->program) == SPVF_OK &&
              spvf_queue_create(b->device, NULL, &b->queue) == SPVF_OK;
    if (ok) {
        run_tables(b, type);
        spvf_queue_destroy(b->queue);
        spvf_program_destroy(b->program);
        spvf_device_destroy(b->device);
    } else {
        printf("FAIL %s cannot be run\n", path);
        b->failed++;
    }
    spvf_module_destroy(module);
    spvf_context_destroy(b->context);
    free(bytes);
}

static const lane_type *find_type(const char *name) {
    for (unsigned n = 0; n < lane_type_count; n++)
        if (strcmp(lane_types[n].name, name) == 0) return &lane_types[n];
    return NULL;
}

static void run_device(bench *b, const char *device, const char *folder) {
    b->level = device;
    for (unsigned n = 0; n < lane_type_count; n++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s.spv", folder, lane_types[n].name);
        run_level(b, path, &lane_types[n]);
    }
}

typedef struct {
    const char *name;
    const char *options[8]; /* of device cpu, after the level */
} mode;

static const mode modes[] = {
    {"run", {""}},
    {"all", {"", ",eager", ",regalloc=stack", ",seed=3"}},
    {"widths", {",simd=1", ",simd=2", ",simd=4", ",simd=8", ",simd=16", ",simd=32", ",simd=64"}},
};

static const mode *find_mode(const char *name) {
    for (unsigned n = 0; n < sizeof modes / sizeof *modes; n++)
        if (strcmp(modes[n].name, name) == 0) return &modes[n];
    return NULL;
}

/* At every level that the machine has. */
static void run_folder(bench *b, const char *folder, const mode *m) {
    for (unsigned n = 0; test_host_level(n); n++)
        for (unsigned k = 0; k < 8 && m->options[k]; k++) {
            char device[40];
            snprintf(device, sizeof device, "cpu:%s%s",
                     cg_level_name(cg_host_machine(), test_host_level(n)), m->options[k]);
            run_device(b, device, folder);
        }
    if (strcmp(m->name, "all") == 0) run_device(b, "check", folder);
}

int main(int argc, char **argv) {
    bench b = {0};
    const lane_type *type = argc == 3 ? find_type(argv[2]) : NULL;
    const mode *m = argc > 2 ? find_mode(argv[1]) : NULL;
    if (type && strcmp(argv[1], "source") == 0) {
        write_source(type);
        return 0;
    }
    if (!m) {
        fprintf(stderr, "usage: operators source TYPE\n       operators run|all|widths FOLDER…\n");
        return 2;
    }
    progress p = progress_begin("folders", (size_t)argc - 2);
    for (int n = 2; n < argc; n++) {
        run_folder(&b, argv[n], m);
        progress_step(&p);
    }
    progress_end(&p);
    printf("%u passed, %u failed\n", b.passed, b.failed);
    return b.failed != 0;
}
