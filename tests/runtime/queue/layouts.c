/* layouts.c — random structs by value with pointers: each byte that the host gives arrives.
 *
 *     layouts [-n STRUCTS] [-s SEED] [-d DEVICE]
 *
 * Structs are nested, some of them packed, with base classes, arrays, vectors and small integers.  A kernel copies
 * all bytes of one, padding as well and pointers apart, to where one of its pointers leads, in
 * pieces of any size.  It is launched on device cpu, which takes the struct apart; on device check
 * with the arguments that spvf_closure_arguments makes; and on device cpu by a layout that leaves the
 * struct as it is, or puts it into a buffer.  With -d, as in "-d opencl:1", the kernel that has been
 * taken apart is also launched there: an OpenCL device gets it as SPIR-V.  And it is launched on device check as a kernel
 * that takes bytes without a type, which a layout describes by offset: as members, as bytes of any kind such as those of
 * unions, or not at all.  Some kernels access the struct by an offset that is not
 * known, so that it stays in memory, change it, or wait for their group in between.  Some members are
 * special: a function of the kernel puts them together of arguments, which are the bytes of the host's
 * object.  What a layout leaves, with convention `values` or in a buffer, runs on device check, too, as a
 * kernel that is given where to copy to; and as two launches of a graph.
 */
#include "runtime/spvfuse_queue.h"
#include "tests/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 4096,
    MOST_ITEMS = 3,
    MOST_POINTERS = 256,
    MOST_DEPTH = 3,
    MOST_ARGS = 700,
    MOST_LEAVES = 1024,
    ROOM = 1 << 16
};

/* Some types are loaded as they are. */
typedef enum { VALUE, ARRAY, POINTER, SPECIAL_MEMBER } leaf_kind;

typedef struct {
    leaf_kind kind;
    const char *type;
    size_t at, size, bytes; /* that an access has */
} leaf;

typedef struct {
    char text[ROOM]; /* of the type */
    size_t n;
    size_t pointers[MOST_POINTERS]; /* offsets */
    unsigned count;
    leaf leaves[MOST_LEAVES]; /* in ascending order of offsets */
    unsigned leaf_count;
    bool specials;
    unsigned items; /* of the launch, which each have a copy of their own */
    uint64_t random;
} layout;

typedef struct {
    size_t size, align;
} extent;

static unsigned below(layout *l, unsigned n) { return draw_below(&l->random, n); }

static void put(layout *l, const char *text) {
    l->n += (size_t)snprintf(l->text + l->n, ROOM - l->n, "%s", text);
}

/* ----------------------------------------------------------------------------------------- types */

static extent draw_type(layout *l, unsigned depth);

/* No other type has such an array. */
#define SPECIAL "{i64, [16 x i8]}"
static const char specials[] =
    "struct \"special\" = " SPECIAL "\n"
    "special \"special\" init @init finalize @finalize\n"
    "func @init(%self: ptr.generic, %a: i64, %b: ptr.private byval(8) align 4 of {i32, i32}, "
    "%c: i32, %d: v2i16) {\n"
    "entry:\n"
    "  store %a, %self align 1\n"
    "  %p8: ptr.generic = ptradd %self, 8\n"
    "  copy %p8, %b, i64 8 align 1\n"
    "  %p16: ptr.generic = ptradd %self, 16\n"
    "  store %c, %p16 align 1\n"
    "  %p20: ptr.generic = ptradd %self, 20\n"
    "  store %d, %p20 align 1\n"
    "  ret\n"
    "}\n"
    "func @finalize(%self: ptr.private) {\n"
    "entry:\n"
    "  store i64 -1, %self align 1\n"
    "  ret\n"
    "}\n";
static const struct { size_t offset, size; } special_args[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};

static extent add_leaf(layout *l, leaf_kind kind, const char *type, extent e) {
    l->leaves[l->leaf_count++] = (leaf){kind, type, 0, e.size, e.size};
    if (kind == POINTER) l->pointers[l->count++] = 0;
    return e;
}

/* What has been drawn since there were so many. */
typedef struct {
    unsigned pointers, leaves;
} mark;

static mark mark_here(const layout *l) { return (mark){l->count, l->leaf_count}; }

static void move(layout *l, mark from, size_t by) {
    for (; from.pointers < l->count; from.pointers++) l->pointers[from.pointers] += by;
    for (; from.leaves < l->leaf_count; from.leaves++) l->leaves[from.leaves].at += by;
}

static void repeat(layout *l, mark from, size_t by) {
    const mark end = mark_here(l);
    for (; from.pointers < end.pointers; from.pointers++)
        l->pointers[l->count++] = l->pointers[from.pointers];
    for (; from.leaves < end.leaves; from.leaves++)
        l->leaves[l->leaf_count++] = l->leaves[from.leaves];
    move(l, end, by);
}

static extent draw_special(layout *l) {
    put(l, SPECIAL);
    l->specials = true;
    return add_leaf(l, SPECIAL_MEMBER, NULL, (extent){24, 8});
}

/* last: what the kernel writes to is there. */
static extent draw_leaf(layout *l, bool pointer, bool last) {
    static const struct {
        const char *name;
        size_t size, align, bytes;
    } leaves[] = {{"i8", 1, 1, 1},           {"i16", 2, 2, 2},        {"i32", 4, 4, 4},
                  {"i64", 8, 8, 8},          {"f32", 4, 4, 4},        {"f64", 8, 8, 8},
                  {"f16", 2, 2, 2},          {"v2i8", 2, 2, 2},       {"v2f32", 8, 8, 8},
                  {"v16f64", 128, 128, 128}, {"[25 x i8]", 25, 1, 0}, {"v3i16", 8, 8, 6},
                  {"v4i32", 16, 16, 16},     {"v3f32", 16, 16, 12},   {"v3f64", 32, 32, 24},
                  {"v8f16", 16, 16, 16},     {"v3i8", 4, 4, 3},       {"v16i8", 16, 16, 16},
                  {"[9 x i16]", 18, 2, 0},   {"[40 x i8]", 40, 1, 0}};
    if (pointer) {
        static const char *const spaces[] = {"ptr.global", "ptr.generic", "ptr.global",
                                             "ptr.const"};
        const char *space = spaces[below(l, last ? 3 : 4)];
        put(l, space);
        return add_leaf(l, POINTER, space, (extent){8, 8});
    }
    unsigned k = below(l, sizeof leaves / sizeof *leaves);
    put(l, leaves[k].name);
    const leaf_kind kind = leaves[k].bytes ? VALUE : ARRAY;
    const extent e = add_leaf(l, kind, leaves[k].name, (extent){leaves[k].size, leaves[k].align});
    l->leaves[l->leaf_count - 1].bytes = leaves[k].bytes;
    return e;
}

static extent draw_array(layout *l, unsigned depth) {
    const mark first = mark_here(l);
    unsigned n = 1 + below(l, 3);
    char head[20];
    snprintf(head, sizeof head, "[%u x ", n);
    put(l, head);
    const extent e = draw_type(l, depth + 1);
    put(l, "]");
    mark last = first;
    for (unsigned k = 1; k < n; k++) {
        const mark here = mark_here(l);
        repeat(l, last, e.size);
        last = here;
    }
    return (extent){n * e.size, e.align};
}

static size_t aligned(size_t n, size_t align) { return (n + align - 1) / align * align; }

/* What is asked of a struct.  A base class is packed, so that members of the derived one are in its
 * tail. */
typedef enum { ANY, BASE, LAST_IS_POINTER } request_of_struct;

static extent draw_struct(layout *l, unsigned depth, request_of_struct wanted) {
    const bool packed = wanted == BASE || below(l, 4) == 0;
    const bool derived = depth < MOST_DEPTH && below(l, 3) == 0;
    const unsigned members = 1 + below(l, 5);
    extent all = {0, 1};
    put(l, packed ? "<{" : "{");
    for (unsigned k = 0; k < members; k++) {
        if (k) put(l, ", ");
        const mark first = mark_here(l);
        const bool last = k == members - 1;
        const extent e = last && wanted == LAST_IS_POINTER ? draw_leaf(l, true, true)
                         : k == 0 && derived               ? draw_struct(l, depth + 1, BASE)
                                                           : draw_type(l, depth + 1);
        const size_t at = packed ? all.size : aligned(all.size, e.align);
        move(l, first, at);
        all.size = at + e.size;
        if (!packed && e.align > all.align) all.align = e.align;
    }
    put(l, packed ? "}>" : "}");
    all.size = aligned(all.size, all.align);
    return all;
}

static extent draw_type(layout *l, unsigned depth) {
    unsigned kind = depth < MOST_DEPTH ? below(l, 8) : 2 + below(l, 6);
    return kind == 0                       ? draw_struct(l, depth, ANY)
           : kind == 1                     ? draw_array(l, depth)
           : kind == 2 && below(l, 2) == 0 ? draw_special(l)
                                           : draw_leaf(l, below(l, 5) == 0, false);
}

/* ---------------------------------------------------------------------------------------- kernels */

typedef struct {
    char text[ROOM];
    size_t n;
} kernel_text;

#define PUT(k, ...) ((k)->n += (size_t)snprintf((k)->text + (k)->n, ROOM - (k)->n, __VA_ARGS__))

static bool is_pointer(const layout *l, size_t at, size_t size) {
    for (unsigned p = 0; p < l->count; p++)
        if (at < l->pointers[p] + 8 && l->pointers[p] < at + size) return true;
    return false;
}

/* Some values are stored to where they come from. */
static void put_value(kernel_text *k, size_t at, const char *type, bool changes) {
    PUT(k, "  %%a%zu: ptr.private = ptradd %%base, %zu\n", at, at);
    PUT(k, "  %%v%zu: %s = load %%a%zu align 1\n", at, type, at);
    PUT(k, "  %%b%zu: ptr.global = ptradd %%out, %zu\n", at, at);
    if (changes) PUT(k, "  store %%v%zu, %%a%zu align 1\n", at, at);
    PUT(k, "  store %%v%zu, %%b%zu align 1\n", at, at);
}

static void put_bytes(kernel_text *k, size_t at, size_t size) {
    PUT(k, "  %%a%zu: ptr.private = ptradd %%base, %zu\n", at, at);
    PUT(k, "  %%b%zu: ptr.global = ptradd %%out, %zu\n", at, at);
    PUT(k, "  copy %%b%zu, %%a%zu, i64 %zu align 1\n", at, at, size);
}

/* The value that begins there and may be loaded as it is, or NULL. */
static const leaf *value_at(const layout *l, size_t at) {
    for (unsigned n = 0; n < l->leaf_count; n++)
        if (l->leaves[n].kind == VALUE && l->leaves[n].at == at) return &l->leaves[n];
    return NULL;
}

/* Copies some bytes from there on, and says how many. */
static size_t put_piece(kernel_text *k, layout *l, size_t at, size_t rest) {
    static const char *const ints[] = {"i8", "i16", "i32", "i64"};
    const leaf *value = below(l, 2) ? value_at(l, at) : NULL;
    const bool changes = below(l, 8) == 0, large = below(l, 8) == 0;
    unsigned log = large ? 4 + below(l, 3) : below(l, 4);
    if (value) {
        put_value(k, at, value->type, changes);
        return value->bytes;
    }
    while (log && ((size_t)1 << log > rest || is_pointer(l, at, (size_t)1 << log))) log--;
    const size_t size = (size_t)1 << log;
    if (is_pointer(l, at, size)) return size;
    if (log > 3)
        put_bytes(k, at, size);
    else
        put_value(k, at, ints[log], changes);
    return size;
}

/* Bytes of values that follow each other may be a union, and what is left out is padding. */
static void put_description(kernel_text *k, layout *l, extent e) {
    PUT(k, "closure @k 1 size %zu {\n", e.size);
    for (unsigned n = 0; n < l->leaf_count; n++) {
        const leaf *m = &l->leaves[n];
        const unsigned how = below(l, 8);
        const bool value = m->kind == VALUE || m->kind == ARRAY;
        if (m->kind == SPECIAL_MEMBER)
            PUT(k, "  %zu: special %zu init @init finalize @finalize", m->at, m->size);
        else if (value && how < 2)
            continue;
        else if (value && how < 5)
            PUT(k, "  %zu: bytes %zu", m->at, m->size);
        else
            PUT(k, "  %zu: %s", m->at, m->type);
        PUT(k, "%s\n", m->kind != POINTER && below(l, 8) == 0 ? " specialized" : "");
    }
    PUT(k, "}\n");
}

/* What a kernel knows of the struct, and of where to copy it to. */
typedef enum { TYPED, DESCRIBED, GIVEN } form;

static void put_kernel(kernel_text *k, layout *l, extent e, form as) {
    const size_t out = l->pointers[l->count - 1];
    const bool described = as == DESCRIBED;
    const unsigned waits = below(l, 8) ? ~0u : (unsigned)e.size / 2;
    k->n = 0;
    PUT(k, "target 64\n%s", l->specials ? specials : "");
    if (described) put_description(k, l, e);
    PUT(k, "kernel @k(%%zero: i64, %%s: ptr.private ");
    if (described)
        PUT(k, "byval(1) align 1 of i8, ");
    else
        PUT(k, "byval(%zu) align %zu of %s, ", e.size, e.align, l->text);
    PUT(k, "%%to: ptr.global, %%more: i8) {\nentry:\n");
    PUT(k, "  %%base: ptr.private = ptradd %%s, %s\n", below(l, 4) ? "0" : "%zero");
    PUT(k, "  %%o: ptr.private = ptradd %%base, %zu\n", out);
    if (as == GIVEN)
        PUT(k, "  %%all: ptr.global = ptradd %%to, 0\n");
    else
        PUT(k, "  %%all: ptr.global = load %%o align 1\n");
    PUT(k, "  %%i: i64 = global_id 0\n  %%d: i64 = mul %%i, %zu\n", e.size);
    PUT(k, "  %%out: ptr.global = ptradd %%all, %%d\n");
    bool waited = false;
    for (size_t at = 0; at < e.size;) {
        if (at >= waits && !waited) PUT(k, "  barrier workgroup workgroup seq_cst local\n");
        waited |= at >= waits;
        at += put_piece(k, l, at, e.size - at);
    }
    PUT(k, "  ret\n}\n");
}

/* ------------------------------------------------------------------------------------------- runs */

enum { CPU, CHECK, OTHER, DEVICES };

typedef struct {
    spvf_context *context;
    const char *name[DEVICES]; /* NULL: it is left out */
    spvf_device *device[DEVICES];
    spvf_queue *queue[DEVICES];
    const char *failure;
    bool too_large; /* a struct with specials has more members than parameters are made of */
} machine;

/* How a kernel is launched. */
typedef enum {
    WHOLE_ON_CPU,
    APART_ON_CHECK,
    DESCRIBED_ON_CHECK,
    LAID_OUT_ON_CPU,
    LAID_OUT_ON_CHECK,
    IN_GRAPH,
    APART_ON_OTHER,
    WAYS
} way;

static const int device_of[WAYS] = {CPU, CHECK, CHECK, CPU, CHECK, CPU, OTHER};
static const form form_of[WAYS] = {TYPED, TYPED, DESCRIBED, TYPED, GIVEN, GIVEN, TYPED};

static bool is_laid_out(way w) { return w == LAID_OUT_ON_CPU || w == LAID_OUT_ON_CHECK; }
static bool takes_apart(way w) { return w != WHOLE_ON_CPU && w != IN_GRAPH && !is_laid_out(w); }

static void say(void *user, const spvf_message *m) {
    machine *to = user;
    to->too_large = m->name && strcmp(m->name, "area-too-large") == 0;
    if (m->severity == SPVF_ERROR && !to->too_large) fprintf(stderr, "%s\n", m->formatted);
}

static bool begin(machine *m) {
    const spvf_context_options o = {.size = sizeof o, .message = say, .message_user = m};
    bool ok = spvf_context_create(&o, &m->context) == SPVF_OK;
    for (int k = 0; k < DEVICES && m->name[k]; k++)
        ok = ok && spvf_device_open(m->context, m->name[k], &m->device[k]) == SPVF_OK &&
             spvf_queue_create(m->device[k], NULL, &m->queue[k]) == SPVF_OK;
    return ok;
}

static void end(machine *m) {
    for (int k = 0; k < DEVICES; k++) {
        spvf_queue_destroy(m->queue[k]);
        spvf_device_destroy(m->device[k]);
    }
    spvf_context_destroy(m->context);
}

typedef struct {
    machine *machine;
    const layout *layout;
    const char *text[GIVEN + 1]; /* by form */
    const unsigned char *bytes;
    size_t size;
    spvf_layout laid_out;
    bool optimized;
} request;

typedef struct {
    const request *request;
    const spvf_kernel_info *info;
    way way;
    spvf_buffer *out, *spilled;
    spvf_argument args[MOST_ARGS];
} arguments;

/* A struct that is not among the parameters, in memory of the device. */
static spvf_buffer *spill(const arguments *a, const void *bytes, uint64_t size) {
    spvf_device *d = a->request->machine->device[device_of[a->way]];
    spvf_buffer *b;
    if (size != a->request->size ||
        spvf_buffer_create(d, size, (void *)(uintptr_t)bytes, SPVF_COPY_HOST, &b) != SPVF_OK)
        abort();
    return b;
}

static void set(void *user, size_t index, const void *bytes) {
    arguments *a = user;
    const spvf_arg_info *info = a->info->args[index];
    spvf_argument *to = &a->args[index];
    if (info->spilled)
        *to = (spvf_argument){.buffer = a->spilled = spill(a, bytes, info->size)};
    else if (info->kind == SPVF_ARG_BUFFER)
        *to = (spvf_argument){.buffer = a->out};
    else
        *to = (spvf_argument){.bytes = bytes, .size = (size_t)info->size};
}

static void set_part(void *user, size_t index, const void *object) {
    arguments *a = user;
    const uint32_t n = a->info->args[index]->special_arg;
    a->args[index] = (spvf_argument){.bytes = (const char *)object + special_args[n].offset,
                                     .size = special_args[n].size};
}

/* The whole struct; or what is made of it. */
static void set_arguments(const request *r, arguments *a, bool whole) {
    static const int64_t zero;
    if (whole)
        a->args[1] = (spvf_argument){.bytes = r->bytes, .size = r->size};
    else if (spvf_closure_arguments(a->info, 1, r->bytes, r->size, set, set_part, a) != SPVF_OK)
        r->machine->failure = "spvf_closure_arguments";
    a->args[0] = (spvf_argument){.bytes = &zero, .size = 8};
    a->args[a->info->arg_count - 2] = (spvf_argument){.buffer = a->out};
    a->args[a->info->arg_count - 1] = (spvf_argument){.bytes = "", .size = 1};
}

static bool compare(const request *r, const unsigned char *got) {
    for (size_t n = 0; n < r->size * r->layout->items; n++)
        if (!is_pointer(r->layout, n % r->size, 1) && got[n] != r->bytes[n % r->size]) return false;
    return true;
}

/* Each item has written. */
static bool has_copies(const request *r, spvf_queue *q, spvf_buffer *out) {
    unsigned char got[MOST_BYTES * MOST_ITEMS];
    return spvf_queue_read(q, out, 0, got, r->size * r->layout->items, NULL, NULL) == SPVF_OK &&
           spvf_queue_finish(q) == SPVF_OK && compare(r, got);
}

/* Two launches, which differ in where they write to. */
static bool run_graph(const arguments *a, const spvf_launch *what) {
    const request *r = a->request;
    spvf_device *d = r->machine->device[CPU];
    spvf_queue *q = r->machine->queue[CPU];
    spvf_buffer *other = NULL;
    spvf_graph *g = NULL;
    spvf_argument args[MOST_ARGS];
    spvf_launch second = *what;
    memcpy(args, a->args, sizeof args);
    second.args = args;
    bool ok = spvf_buffer_create(d, MOST_BYTES * MOST_ITEMS, NULL, 0, &other) == SPVF_OK &&
              spvf_graph_create(d, NULL, &g) == SPVF_OK;
    args[what->arg_count - 2].buffer = other;
    ok = ok && spvf_graph_launch(g, what, NULL) == SPVF_OK &&
         spvf_graph_launch(g, &second, NULL) == SPVF_OK && spvf_graph_commit(g) == SPVF_OK &&
         spvf_graph_run(g, q, NULL, NULL) == SPVF_OK && has_copies(r, q, a->out) &&
         has_copies(r, q, other);
    spvf_graph_destroy(g);
    spvf_buffer_destroy(other);
    return ok;
}

static bool launch(const request *r, const spvf_program *p, arguments *a, way w) {
    const unsigned items = r->layout->items;
    const spvf_launch what = {.size = sizeof what,
                              .program = (spvf_program *)(uintptr_t)p,
                              .kernel = "k",
                              .range = {.dims = 1, .global = {items}, .local = {items}},
                              .args = a->args,
                              .arg_count = a->info->arg_count};
    spvf_queue *q = r->machine->queue[device_of[w]];
    if (w == IN_GRAPH) return run_graph(a, &what);
    return spvf_queue_launch(q, &what, NULL, NULL) == SPVF_OK && has_copies(r, q, a->out);
}

/* Has the struct been taken apart?  One with too many members has not. */
static bool is_apart(const spvf_kernel_info *k) {
    for (size_t n = 0; n < k->arg_count; n++)
        if (k->args[n]->member) return true;
    return false;
}

static bool run(const request *r, spvf_module *m, spvf_buffer *out, way w) {
    static arguments a;
    spvf_program *p;
    const bool whole = !is_apart(spvf_module_kernel(m, 0));
    if (spvf_program_create(r->machine->device[device_of[w]], m, &p) != SPVF_OK) return false;
    a = (arguments){.request = r, .way = w, .out = out};
    a.info = spvf_program_kernel(p, "k");
    bool ok = a.info->arg_count <= MOST_ARGS;
    if (ok) set_arguments(r, &a, whole);
    ok = ok && launch(r, p, &a, w);
    spvf_buffer_destroy(a.spilled);
    spvf_program_destroy(p);
    return ok;
}

/* What is left of the parameters with the struct in a buffer. */
static uint64_t least_area(const layout *l) {
    uint64_t bytes = 8 + 8 + 8 + 1;
    for (unsigned n = 0; n < l->leaf_count; n++)
        if (l->leaves[n].kind == SPECIAL_MEMBER) bytes += 24;
    return bytes;
}

/* May the layout be refused, since there are too many members or bytes?  Too few bytes must be. */
static bool may_be_refused(const request *r, way w, bool *must) {
    const uint64_t area = r->laid_out.parameter_area;
    *must = is_laid_out(w) && area && area < least_area(r->layout);
    return *must || (takes_apart(w) && (r->layout->specials || w == DESCRIBED_ON_CHECK));
}

static bool run_on(const request *r, spvf_buffer *out, way w) {
    const spvf_module_options o = {.size = sizeof o,
                                   .closures = takes_apart(w),
                                   .layout = is_laid_out(w) ? &r->laid_out : NULL};
    spvf_module *m;
    const char *text = r->text[form_of[w]];
    bool must;
    const bool may = may_be_refused(r, w, &must);
    r->machine->too_large = false;
    if (spvf_module_load(r->machine->context, "k", text, strlen(text), &o, &m) != SPVF_OK)
        return r->machine->too_large && may;
    bool ok = !must && (!r->optimized || spvf_module_optimize(m, NULL) == SPVF_OK);
    if (!takes_apart(w) || is_apart(spvf_module_kernel(m, 0))) ok = ok && run(r, m, out, w);
    spvf_module_destroy(m);
    return ok;
}

/* Some limits are below what other parameters take. */
static spvf_layout draw_layout(layout *l) {
    return (spvf_layout){.size = sizeof(spvf_layout),
                         .convention = below(l, 2) ? SPVF_BY_VALUE : SPVF_DECOMPOSE,
                         .parameter_area = below(l, 2) ? 0 : 1 + below(l, 200),
                         .drop_unused = below(l, 2),
                         .spill = true};
}

static bool try_layout(machine *m, uint64_t seed) {
    static const char *const names[] = {
        "on cpu",     "on check",           "described", "laid out", "laid out on check",
        "in a graph", "on the other device"};
    static layout l;
    static kernel_text k[GIVEN + 1];
    static unsigned char bytes[MOST_BYTES];
    l = (layout){.random = seed};
    l.items = 1 + below(&l, MOST_ITEMS);
    const extent e = draw_struct(&l, 0, LAST_IS_POINTER);
    if (e.size > MOST_BYTES) return true;
    for (size_t n = 0; n < e.size; n++) bytes[n] = (unsigned char)below(&l, 256);
    for (form as = TYPED; as <= GIVEN; as++) put_kernel(&k[as], &l, e, as);
    const request r = {.machine = m,
                       .layout = &l,
                       .text = {k[TYPED].text, k[DESCRIBED].text, k[GIVEN].text},
                       .bytes = bytes,
                       .size = e.size,
                       .laid_out = draw_layout(&l),
                       .optimized = below(&l, 2)};
    bool ok = true;
    for (way w = 0; w < WAYS && ok && m->name[device_of[w]]; w++) {
        const size_t room = MOST_BYTES * MOST_ITEMS;
        spvf_buffer *out;
        ok = spvf_buffer_create(m->device[device_of[w]], room, NULL, 0, &out) == SPVF_OK;
        if (!ok) break;
        void *address = device_of[w] == CPU ? spvf_buffer_address(out) : NULL;
        memcpy(bytes + l.pointers[l.count - 1], &address, sizeof address);
        for (unsigned n = 0; n < l.count && w == LAID_OUT_ON_CHECK; n++)
            memset(bytes + l.pointers[n], 0, sizeof address); /* it has no addresses */
        ok = run_on(&r, out, w);
        if (!ok)
            printf("%s\n%s: seed %llu: %s\n", r.text[form_of[w]], names[w],
                   (unsigned long long)seed, l.text);
        spvf_buffer_destroy(out);
    }
    return ok && !m->failure;
}

int main(int argc, char **argv) {
    unsigned n = 500, passed = 0;
    uint64_t seed = 1;
    machine m = {.name = {"cpu", "check"}};
    for (int k = 1; k + 1 < argc; k += 2) {
        if (!strcmp(argv[k], "-n")) n = (unsigned)strtoul(argv[k + 1], NULL, 0);
        if (!strcmp(argv[k], "-d")) m.name[OTHER] = argv[k + 1];
        if (!strcmp(argv[k], "-s")) seed = strtoull(argv[k + 1], NULL, 0);
    }
    if (!begin(&m)) return 2;
    for (unsigned k = 0; k < n; k++) passed += try_layout(&m, seed + k);
    end(&m);
    printf("layouts: %u passed, %u failed\n", passed, n - passed);
    return passed != n;
}
