/* fake_cuda.c — a driver without a GPU, for tests (fake_cuda.h).
 *
 * Memory of the device is memory of the process, at the addresses that kernels get.  Commands run
 * when they are given, except that a thread calls what tells of the end of commands.  "Compiled"
 * code is the text with a head before it, and a launch is written down, with the bytes of its
 * parameters, which the text declares.  Nothing executes PTX: a test may say what launches do.
 *
 * Source: CUDA Driver API.
 */
#include "tests/runtime/devices/cuda/fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))

typedef int result;
enum {
    OK,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    INVALID_IMAGE = 200,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    TOO_LARGE = 720,
    NOT_FOUND = 500,
    NOT_READY = 600
};

/* -------------------------------------------------------------------------------- what is known */

enum { MOST_CALLS = 1 << 16, MOST_LAUNCHES = 1 << 12, MOST_FAILURES = 8 };

typedef struct {
    char symbol[48];
    unsigned n, seen;
    int error;
    bool lost;
} failure;

static struct {
    pthread_mutex_t lock;
    const char *call[MOST_CALLS]; /* names, which are literals */
    unsigned calls, launches, failures, memories, modules, graphs, events;
    fake_cuda_launch launch[MOST_LAUNCHES];
    failure fail[MOST_FAILURES];
    int lost; /* the error that all calls give */
    void (*run)(const fake_cuda_launch *l, void **params);
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local void *current; /* the context, or NULL */

static long setting(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static void log_line(const char *line) {
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%s\n", line);
    fclose(f);
}

API void fake_cuda_fail(const char *symbol, unsigned n, int error, int lost) {
    failure *f = &fake.fail[fake.failures < MOST_FAILURES ? fake.failures++ : 0];
    *f = (failure){.n = n, .error = error, .lost = lost != 0};
    snprintf(f->symbol, sizeof f->symbol, "%s", symbol);
}

static void read_environment(void) {
    const char *wanted = getenv("FAKE_CUDA_FAIL");
    char symbol[48], lost[8] = "";
    unsigned n;
    int error;
    if (wanted && sscanf(wanted, "%47[^:]:%u:%d:%7s", symbol, &n, &error, lost) >= 3)
        fake_cuda_fail(symbol, n, error, *lost);
}

/* Gives something back, so a program can do nothing about a failure. */
static bool gives_back(const char *symbol) {
    static const char *const words[] = {"Destroy", "Free", "Unload", "Release"};
    bool found = false;
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        found |= strstr(symbol, words[n]) != NULL;
    return found;
}

static bool is_meant(const failure *f, const char *symbol) {
    return strcmp(f->symbol, symbol) == 0 || (strcmp(f->symbol, "any") == 0 && !gives_back(symbol));
}

static result fail_as_told(const char *symbol) {
    result error = OK;
    for (failure *f = fake.fail; f < fake.fail + fake.failures; f++) {
        if (!is_meant(f, symbol) || ++f->seen != f->n) continue;
        error = f->error;
        if (f->lost) fake.lost = error;
    }
    return error;
}

/* Begins each function of the driver. */
static result enter(const char *symbol, bool needs_context) {
    static bool read;
    pthread_mutex_lock(&fake.lock);
    if (!read) read_environment();
    read = true;
    if (fake.calls < MOST_CALLS) fake.call[fake.calls++] = symbol;
    result error = fail_as_told(symbol);
    if (!error) error = fake.lost;
    if (!error && needs_context && !current) error = INVALID_CONTEXT;
    log_line(symbol);
    pthread_mutex_unlock(&fake.lock);
    return error;
}

/* Is it that which all calls give? */
static bool is_loss(result error) {
    pthread_mutex_lock(&fake.lock);
    bool is = error == fake.lost;
    pthread_mutex_unlock(&fake.lock);
    return is;
}

#define ENTER(symbol, needs_context)                                                               \
    do {                                                                                           \
        result enter_error = enter(symbol, needs_context);                                         \
        if (enter_error) return enter_error;                                                       \
    } while (0)

API unsigned fake_cuda_count(const char *symbol) {
    unsigned n = 0;
    pthread_mutex_lock(&fake.lock);
    for (unsigned k = 0; k < fake.calls; k++) n += !symbol || !strcmp(fake.call[k], symbol);
    pthread_mutex_unlock(&fake.lock);
    return n;
}

API int fake_cuda_has_failed(void) {
    bool failed = false;
    pthread_mutex_lock(&fake.lock);
    for (unsigned k = 0; k < fake.failures; k++) failed |= fake.fail[k].seen >= fake.fail[k].n;
    pthread_mutex_unlock(&fake.lock);
    return failed;
}

/* Threads of the device may still be changing it. */
static unsigned count(const unsigned *n) {
    pthread_mutex_lock(&fake.lock);
    unsigned now = *n;
    pthread_mutex_unlock(&fake.lock);
    return now;
}

API unsigned fake_cuda_launches(void) { return count(&fake.launches); }
API unsigned fake_cuda_memories(void) { return count(&fake.memories); }
API unsigned fake_cuda_modules(void) { return count(&fake.modules); }
API unsigned fake_cuda_graphs(void) { return count(&fake.graphs); }
API unsigned fake_cuda_events(void) { return count(&fake.events); }
API const fake_cuda_launch *fake_cuda_launch_at(unsigned n) { return &fake.launch[n]; }
API void fake_cuda_run_with(void (*run)(const fake_cuda_launch *l, void **params)) {
    pthread_mutex_lock(&fake.lock);
    fake.run = run;
    pthread_mutex_unlock(&fake.lock);
}

API void fake_cuda_forget(void) {
    pthread_mutex_lock(&fake.lock);
    fake.calls = fake.launches = fake.failures = 0;
    fake.lost = OK;
    pthread_mutex_unlock(&fake.lock);
}

/* -------------------------------------------------------------------------- devices and contexts */

API result cuInit(unsigned flags) {
    ENTER("cuInit", false);
    return flags ? INVALID_VALUE : OK;
}

API result cuDriverGetVersion(int *version) {
    ENTER("cuDriverGetVersion", false);
    *version = (int)setting("FAKE_CUDA_VERSION", 13000);
    return OK;
}

API result cuDeviceGetCount(int *n) {
    ENTER("cuDeviceGetCount", false);
    *n = (int)setting("FAKE_CUDA_DEVICES", 1);
    return OK;
}

API result cuDeviceGet(int *d, int n) {
    ENTER("cuDeviceGet", false);
    *d = n;
    return OK;
}

API result cuDeviceGetName(char *name, int size, int d) {
    ENTER("cuDeviceGetName", false);
    snprintf(name, (size_t)size, "Fake GPU %d", d);
    return OK;
}

API result cuDeviceGetAttribute(int *value, int which, int d) {
    (void)d;
    ENTER("cuDeviceGetAttribute", false);
    int sm = (int)setting("FAKE_CUDA_SM", 90);
    switch (which) {
    case 75: *value = sm / 10; break;
    case 76: *value = sm % 10; break;
    case 97: *value = 227 << 10; break;
    case 11: *value = INT32_MAX; break;                             /* bytes of a pitch */
    case 16: *value = 132; break;                                   /* multiprocessors */
    case 95: *value = (int)setting("FAKE_CUDA_TOGETHER", 1); break; /* cooperative launches */
    default: *value = 0; break;
    }
    return OK;
}

API result cuDevicePrimaryCtxRetain(void **context, int d) {
    static char contexts[64];
    ENTER("cuDevicePrimaryCtxRetain", false);
    *context = &contexts[d & 63];
    return OK;
}

API result cuCtxGetCurrent(void **context) {
    ENTER("cuCtxGetCurrent", false);
    *context = current;
    return OK;
}

API result cuCtxSetCurrent(void *context) {
    ENTER("cuCtxSetCurrent", false);
    current = context;
    return OK;
}

API result cuGetErrorName(result error, const char **text) {
    static const struct {
        result error;
        const char *name;
    } names[] = {{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
                 {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
                 {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
                 {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
                 {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (names[n].error == error) return *text = names[n].name, OK;
    return INVALID_VALUE;
}

API result cuGetErrorString(result error, const char **text) {
    *text = error == OUT_OF_MEMORY ? "out of memory"
            : error == 700         ? "an illegal memory access was encountered"
                                   : "the call has failed as it was told";
    return OK;
}

/* --------------------------------------------------------------------------------------- memory */

API result cuMemAlloc_v2(uint64_t *at, size_t bytes) {
    ENTER("cuMemAlloc_v2", true);
    if (!bytes) return INVALID_VALUE;
    void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!memory) return OUT_OF_MEMORY;
    memset(memory, 0xa5, bytes);
    fake.memories++;
    *at = (uintptr_t)memory;
    return OK;
}

API result cuMemFree_v2(uint64_t at) {
    free((void *)(uintptr_t)at);
    fake.memories--;
    ENTER("cuMemFree_v2", true);
    return OK;
}

API result cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    ENTER("cuMemHostAlloc", true);
    (void)flags;
    *at = malloc(bytes);
    return *at ? OK : OUT_OF_MEMORY;
}

API result cuMemFreeHost(void *at) {
    free(at);
    ENTER("cuMemFreeHost", true);
    return OK;
}

API result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream) {
    ENTER("cuMemcpyHtoDAsync_v2", true);
    memcpy((void *)(uintptr_t)to, from, n);
    return stream ? OK : INVALID_VALUE;
}

API result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream) {
    ENTER("cuMemcpyDtoHAsync_v2", true);
    memcpy(to, (void *)(uintptr_t)from, n);
    return stream ? OK : INVALID_VALUE;
}

API result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream) {
    ENTER("cuMemcpyDtoDAsync_v2", true);
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    return stream ? OK : INVALID_VALUE;
}

/* One side of a copy of boxes. */
typedef struct {
    size_t x, y, z, level;
    int type; /* 1: host, 2: device */
    void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
} side;
typedef struct {
    side from, to;
    size_t width, height, depth;
} box_copy;

static char *row_of(const side *s, size_t y, size_t z) {
    char *base = s->type == 1 ? s->host : (char *)(uintptr_t)s->device;
    return base + ((s->z + z) * s->height + s->y + y) * s->pitch + s->x;
}

API result cuMemcpy3DAsync_v2(const box_copy *c, void *stream) {
    ENTER("cuMemcpy3DAsync_v2", true);
    const side *sides[] = {&c->from, &c->to};
    for (int n = 0; n < 2; n++)
        if (sides[n]->pitch < c->width || (c->depth > 1 && sides[n]->height < c->height) ||
            sides[n]->type < 1 || sides[n]->type > 2)
            return INVALID_VALUE;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(row_of(&c->to, y, z), row_of(&c->from, y, z), c->width);
    return stream ? OK : INVALID_VALUE;
}

static result set_rows(uint64_t at, size_t pitch, const void *unit, size_t bytes, size_t size[2]) {
    if (at % bytes || pitch % bytes) return INVALID_VALUE;
    for (size_t y = 0; y < size[1]; y++)
        for (size_t x = 0; x < size[0]; x++)
            memcpy((char *)(uintptr_t)at + y * pitch + x * bytes, unit, bytes);
    return OK;
}

#define SET(bits, type)                                                                            \
    API result cuMemsetD##bits##Async(uint64_t at, type unit, size_t n, void *stream) {            \
        (void)stream;                                                                              \
        ENTER("cuMemsetD" #bits "Async", true);                                                    \
        return set_rows(at, 0, &unit, sizeof unit, (size_t[]){n, 1});                              \
    }                                                                                              \
    API result cuMemsetD2D##bits##Async(uint64_t at, size_t pitch, type unit, size_t width,        \
                                        size_t height, void *stream) {                             \
        (void)stream;                                                                              \
        ENTER("cuMemsetD2D" #bits "Async", true);                                                  \
        return set_rows(at, pitch, &unit, sizeof unit, (size_t[]){width, height});                 \
    }
SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned)

/* -------------------------------------------------------------------------------------- streams */

/* What has been given to the device has a number; that of events decides whether they have come. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    unsigned given, held_at; /* the last one; the last that has ended while the device is held */
    bool held;
} ends = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

/* A child of a test has only the thread that forked; no other one may hold a lock then. */
static void take_locks(void) {
    pthread_mutex_lock(&fake.lock);
    pthread_mutex_lock(&ends.lock);
}

static void release_locks(void) {
    pthread_mutex_unlock(&ends.lock);
    pthread_mutex_unlock(&fake.lock);
}

static void release_locks_in_child(void) {
    pthread_cond_init(&ends.change, NULL);
    release_locks();
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(take_locks, release_locks, release_locks_in_child);
}

typedef struct {
    unsigned number, launches;
    result status;
    bool timed, recorded;
} event;

API void fake_cuda_hold(int held) {
    pthread_mutex_lock(&ends.lock);
    ends.held = held != 0;
    ends.held_at = ends.given;
    pthread_cond_broadcast(&ends.change);
    pthread_mutex_unlock(&ends.lock);
}

API void fake_cuda_release(unsigned n) {
    pthread_mutex_lock(&ends.lock);
    ends.held_at += n;
    pthread_cond_broadcast(&ends.change);
    pthread_mutex_unlock(&ends.lock);
}

static _Thread_local unsigned waits;

API unsigned fake_cuda_waits(void) { return waits; }

static bool has_come(unsigned number) { return !ends.held || number <= ends.held_at; }

static void wait_until(unsigned number) {
    waits++;
    pthread_mutex_lock(&ends.lock);
    while (!has_come(number)) pthread_cond_wait(&ends.change, &ends.lock);
    pthread_mutex_unlock(&ends.lock);
}

API result cuEventCreate(event **e, unsigned flags) {
    ENTER("cuEventCreate", true);
    *e = calloc(1, sizeof **e);
    if (!*e) return OUT_OF_MEMORY;
    (*e)->timed = !(flags & 2);
    pthread_mutex_lock(&fake.lock);
    fake.events++;
    pthread_mutex_unlock(&fake.lock);
    return OK;
}

API result cuEventDestroy_v2(event *e) {
    free(e);
    pthread_mutex_lock(&fake.lock);
    fake.events--;
    pthread_mutex_unlock(&fake.lock);
    ENTER("cuEventDestroy_v2", true);
    return OK;
}

/* An error of a kernel is that of the events after it. */
API result cuEventRecord(event *e, void *stream) {
    result error = enter("cuEventRecord", true);
    (void)stream;
    pthread_mutex_lock(&fake.lock);
    unsigned launches = fake.launches;
    int lost = fake.lost;
    pthread_mutex_unlock(&fake.lock);
    if (error && error != lost) return error;
    pthread_mutex_lock(&ends.lock);
    *e = (event){++ends.given, launches, lost, e->timed, true};
    pthread_mutex_unlock(&ends.lock);
    return OK;
}

/* Each launch takes a millisecond. */
API result cuEventElapsedTime(float *ms, const event *from, const event *to) {
    ENTER("cuEventElapsedTime", true);
    if (!from->timed || !to->timed || !from->recorded || !to->recorded) return INVALID_HANDLE;
    pthread_mutex_lock(&ends.lock);
    result error = has_come(to->number) ? to->status : NOT_READY;
    *ms = (float)(to->launches - from->launches);
    pthread_mutex_unlock(&ends.lock);
    return error;
}

API result cuEventQuery(event *e) {
    result error = enter("cuEventQuery", true);
    if (error && !is_loss(error)) return error;
    pthread_mutex_lock(&ends.lock);
    waits++;
    error = has_come(e->number) ? e->status : NOT_READY;
    pthread_mutex_unlock(&ends.lock);
    return error;
}

API result cuEventSynchronize(event *e) {
    result error = enter("cuEventSynchronize", true);
    if (error && !is_loss(error)) return error;
    wait_until(e->number);
    return e->status;
}

API result cuStreamCreate(void **stream, unsigned flags) {
    ENTER("cuStreamCreate", true);
    (void)flags;
    *stream = malloc(1);
    return OK;
}

API result cuStreamDestroy_v2(void *stream) {
    free(stream);
    ENTER("cuStreamDestroy_v2", true);
    return OK;
}

API result cuStreamSynchronize(void *stream) {
    (void)stream;
    pthread_mutex_lock(&ends.lock);
    unsigned last = ends.given;
    pthread_mutex_unlock(&ends.lock);
    wait_until(last);
    ENTER("cuStreamSynchronize", true);
    return OK;
}

/* ------------------------------------------------------------------------------ modules and code */

static const char head[] = "\177FAKE CUBIN\n";

/* What the driver links: options name the log. */
typedef struct {
    char *log, *code;
    size_t log_size, size;
} linking;

API result cuLinkCreate_v2(unsigned n, int *option, void **value, void **state) {
    ENTER("cuLinkCreate_v2", true);
    linking *l = calloc(1, sizeof *l);
    for (unsigned k = 0; k < n; k++) {
        if (option[k] == 5) l->log = value[k];
        if (option[k] == 6) l->log_size = (size_t)(uintptr_t)value[k];
    }
    *state = l;
    return OK;
}

static result compile(linking *l, const char *text, size_t size) {
    long ms = setting("FAKE_CUDA_SLOW", 0);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    if (strncmp(text, ".version", 8) != 0) return INVALID_PTX;
    l->size = sizeof head - 1 + size;
    l->code = malloc(l->size);
    memcpy(l->code, head, sizeof head - 1);
    memcpy(l->code + sizeof head - 1, text, size);
    return OK;
}

API result cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name,
                            unsigned n, int *option, void **value) {
    linking *l = state;
    (void)name, (void)n, (void)option, (void)value;
    result error = enter("cuLinkAddData_v2", true);
    if (!error) error = type == 1 ? compile(l, data, size) : INVALID_VALUE;
    if (error == INVALID_PTX && l->log)
        snprintf(l->log, l->log_size,
                 "ptxas application ptx input, line 3; error   : Unknown symbol 'nonsense'\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors");
    return error;
}

API result cuLinkComplete(void *state, void **code, size_t *size) {
    linking *l = state;
    ENTER("cuLinkComplete", true);
    *code = l->code;
    *size = l->size;
    return OK;
}

API result cuLinkDestroy(void *state) {
    linking *l = state;
    free(l->code);
    free(l);
    ENTER("cuLinkDestroy", false);
    return OK;
}

typedef struct {
    char *text;
} module;

typedef struct function {
    char name[64];
    unsigned params, size[FAKE_CUDA_PARAMS];
    bool waits; /* before all else, for those that it depends on */
    bool full;  /* it was made for as many threads as it says */
    struct function *next;
} function;

static function *functions; /* which a driver keeps with their module */

API result cuModuleLoadData(module **m, const void *image) {
    ENTER("cuModuleLoadData", true);
    const char *text = image;
    uint64_t at = sizeof head - 1; /* of the text; in an ELF file, where it begins to run */
    bool is_file = strncmp(text, "\177ELF", 4) == 0;
    if (is_file) memcpy(&at, text + 24, sizeof at);
    if (!at || (!is_file && strncmp(text, head, sizeof head - 1) != 0)) return INVALID_IMAGE;
    *m = malloc(sizeof **m);
    (*m)->text = strdup(text + at);
    fake.modules++;
    return OK;
}

API result cuModuleUnload(module *m) {
    free(m->text);
    free(m);
    fake.modules--;
    ENTER("cuModuleUnload", true);
    return OK;
}

/* Bytes of a parameter that is declared here: ".param .align 4 .b8 NAME[12]", ".param .u64 NAME". */
static unsigned size_of_param(const char *at, const char *end) {
    const char *bytes = strstr(at, " .b8 "), *bracket = bytes ? strchr(bytes, '[') : NULL;
    if (bracket && bracket < end) return (unsigned)strtoul(bracket + 1, NULL, 10);
    static const char *const kinds = "usbf";
    for (const char *p = at; p < end; p++)
        if (*p == '.' && strchr(kinds, p[1]) && p[2] >= '0' && p[2] <= '9')
            return (unsigned)strtoul(p + 2, NULL, 10) / 8;
    return 0;
}

static void read_params(function *f, const char *at) {
    const char *close = strstr(at, "\n{");
    for (at = strstr(at, ".param"); at && at < close; at = strstr(at + 1, ".param")) {
        const char *end = strpbrk(at, ",\n");
        if (f->params == FAKE_CUDA_PARAMS) return;
        f->size[f->params++] = size_of_param(at, end);
    }
}

/* May a kernel whose body begins here begin early?  Then nothing that others write is constant. */
static bool waits_for_others(const char *at) {
    const char *body = strstr(at, "\n{"), *end = strstr(at, "\n}");
    const char *wait = body ? strstr(body, "griddepcontrol.wait;") : NULL;
    const char *load = body ? strstr(body, "\tld.") : NULL;
    const char *constant = body ? strstr(body, ".nc") : NULL;
    return wait && wait < end && !(load && load < wait) && !(constant && constant < end);
}

API result cuModuleGetFunction(function **f, module *m, const char *name) {
    char wanted[80];
    ENTER("cuModuleGetFunction", true);
    snprintf(wanted, sizeof wanted, ".entry %s(", name);
    const char *at = strstr(m->text, wanted);
    if (!at) return NOT_FOUND;
    *f = calloc(1, sizeof **f);
    (*f)->next = functions;
    functions = *f;
    snprintf((*f)->name, sizeof(*f)->name, "%s", name);
    read_params(*f, at);
    (*f)->waits = waits_for_others(at);
    const char *most = strstr(at, ".maxntid"), *body = strstr(at, "\n{");
    (*f)->full = most && most < body;
    return OK;
}

API result cuFuncGetAttribute(int *value, int which, function *f) {
    ENTER("cuFuncGetAttribute", true);
    const int threads = f->full ? 1024 : (int)setting("FAKE_CUDA_THREADS", 1024);
    *value = which == 0 ? threads : which == 4 ? 32 : 0;
    return OK;
}

API result cuFuncSetAttribute(function *f, int which, int value) {
    (void)f, (void)which, (void)value;
    ENTER("cuFuncSetAttribute", true);
    return OK;
}

enum { PROCESSORS = 132 };

/* As if a processor had room for 1536 threads. */
static long threads_at_once(void) { return setting("FAKE_CUDA_THREADS_AT_ONCE", 1536); }

API result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, function *f, int threads,
                                                       size_t shared) {
    (void)f, (void)shared;
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor", true);
    *blocks = (int)threads_at_once() / threads;
    return OK;
}

/* ------------------------------------------------------------------------------------- launches */

static void write_down(fake_cuda_launch *l, const function *f, void **params) {
    snprintf(l->kernel, sizeof l->kernel, "%s", f->name);
    l->params = f->params;
    for (unsigned n = 0; n < f->params; n++) {
        l->size[n] = f->size[n];
        memcpy(l->value[n], params[n], f->size[n] < FAKE_CUDA_VALUE ? f->size[n] : FAKE_CUDA_VALUE);
    }
}

/* A grid as the driver gets it, and as it keeps it. */
typedef struct {
    function *f;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
    bool together; /* not of the driver's form */
} kernel_node;

static result check_grid(const kernel_node *k) {
    const unsigned *g = k->grid, *b = k->block;
    if (!g[0] || !g[1] || !g[2] || g[1] > 65535 || g[2] > 65535 || g[0] > INT32_MAX ||
        (uint64_t)b[0] * b[1] * b[2] > 1024 || !b[0] || !b[1] || !b[2] || b[2] > 64)
        return INVALID_VALUE;
    return OK;
}

static result run_grid(const kernel_node *k) {
    fake_cuda_launch l = {.shared = k->shared, .together = k->together};
    memcpy(l.grid, k->grid, sizeof l.grid);
    memcpy(l.block, k->block, sizeof l.block);
    write_down(&l, k->f, k->params);
    pthread_mutex_lock(&fake.lock);
    if (fake.launches < MOST_LAUNCHES) fake.launch[fake.launches++] = l;
    result error = fail_as_told("kernel");
    if (error) fake.lost = error;
    void (*run)(const fake_cuda_launch *, void **) = fake.run;
    pthread_mutex_unlock(&fake.lock);
    if (!error && run) run(&l, k->params);
    return error;
}

API result cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                          void **extra) {
    const kernel_node k = {f, {gx, gy, gz}, {bx, by, bz}, shared, params, extra, NULL, NULL, false};
    ENTER("cuLaunchKernel", true);
    if (!stream || check_grid(&k)) return INVALID_VALUE;
    run_grid(&k);
    return OK;
}

/* The attribute of these tests: the launch may begin early. */
typedef struct {
    int which, unused;
    union {
        char bytes[64];
        int on;
    } value;
} launch_attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    const launch_attribute *attributes;
    unsigned count;
} launch_settings;

API result cuLaunchKernelEx(const launch_settings *how, function *f, void **params, void **extra) {
    kernel_node k = {.f = f, .shared = how->shared, .params = params, .extra = extra};
    ENTER("cuLaunchKernelEx", true);
    memcpy(k.grid, how->grid, sizeof k.grid);
    memcpy(k.block, how->block, sizeof k.block);
    const launch_attribute *a = how->attributes;
    bool early = how->count == 1 && a->which == 6 && a->value.on;
    if (!how->stream || check_grid(&k) || !early || !f->waits) return INVALID_VALUE;
    run_grid(&k);
    return OK;
}

API result cuLaunchCooperativeKernel(function *f, unsigned gx, unsigned gy, unsigned gz,
                                     unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                     void *stream, void **params) {
    const kernel_node k = {f, {gx, gy, gz}, {bx, by, bz}, shared, params, NULL, NULL, NULL, true};
    ENTER("cuLaunchCooperativeKernel", true);
    if (!stream || check_grid(&k)) return INVALID_VALUE;
    const uint64_t threads = (uint64_t)bx * by * bz;
    const uint64_t room = (uint64_t)threads_at_once() / threads * PROCESSORS;
    if ((uint64_t)gx * gy * gz > room) return TOO_LARGE;
    run_grid(&k);
    return OK;
}

/* --------------------------------------------------------------------------------------- graphs */

typedef struct node {
    kernel_node what; /* params are its own */
    bool early;       /* it begins before the end of `after` */
    struct node *next, *after;
} node;

typedef struct {
    uint8_t from_port, to_port, type, reserved[5];
} edge;

typedef struct graph {
    node *nodes;
    unsigned n;
    struct graph *of; /* a replay's */
} graph;

/* The driver copies parameters. */
static void keep_params(node *n, const kernel_node *from) {
    n->what = (kernel_node){.f = from->f, .shared = from->shared};
    memcpy(n->what.grid, from->grid, sizeof from->grid);
    memcpy(n->what.block, from->block, sizeof from->block);
    n->what.params = calloc(from->f->params + 1, sizeof(void *));
    for (unsigned k = 0; k < from->f->params; k++) {
        n->what.params[k] = malloc(from->f->size[k] + 1);
        memcpy(n->what.params[k], from->params[k], from->f->size[k]);
    }
}

static void free_params(node *n) {
    for (unsigned k = 0; k < n->what.f->params; k++) free(n->what.params[k]);
    free(n->what.params);
}

static void free_graph(graph *g) {
    for (node *n = g->nodes, *next; n; n = next) {
        next = n->next;
        free_params(n);
        free(n);
    }
    free(g);
}

API result cuGraphCreate(graph **g, unsigned flags) {
    ENTER("cuGraphCreate", true);
    *g = calloc(1, sizeof **g);
    fake.graphs++;
    return flags ? INVALID_VALUE : OK;
}

API result cuGraphDestroy(graph *g) {
    free_graph(g);
    fake.graphs--;
    ENTER("cuGraphDestroy", true);
    return OK;
}

static node *add_node(graph *g, const kernel_node *what, node *after) {
    node *n = calloc(1, sizeof *n), **at = &g->nodes;
    keep_params(n, what);
    n->after = after;
    while (*at) at = &(*at)->next;
    g->n++;
    return *at = n;
}

API result cuGraphAddKernelNode_v2(node **n, graph *g, node *const *after, size_t count,
                                   const kernel_node *what) {
    ENTER("cuGraphAddKernelNode_v2", true);
    if (check_grid(what) || count > (g->n != 0)) return INVALID_VALUE;
    *n = add_node(g, what, count ? *after : NULL);
    return OK;
}

/* Of these tests, edges of kernels that begin early and wait themselves. */
API result cuGraphAddDependencies_v2(graph *g, node *const *from, node *const *to, const edge *e,
                                     size_t n) {
    ENTER("cuGraphAddDependencies_v2", true);
    bool early = g && n == 1 && e->from_port == 1 && e->to_port == 0 && e->type == 1;
    if (!early || (*to)->after || !(*to)->what.f->waits) return INVALID_VALUE;
    (*to)->after = *from;
    (*to)->early = true;
    return OK;
}

/* Each node of these tests comes after the one before it. */
static bool is_chain(const graph *g) {
    for (const node *n = g->nodes; n && n->next; n = n->next)
        if (n->next->after != n) return false;
    return true;
}

API result cuGraphInstantiateWithFlags(graph **replay, graph *g, unsigned long long flags) {
    ENTER("cuGraphInstantiateWithFlags", true);
    if (flags || !is_chain(g)) return INVALID_VALUE;
    *replay = calloc(1, sizeof **replay);
    (*replay)->of = g;
    for (const node *n = g->nodes; n; n = n->next)
        add_node(*replay, &n->what, NULL)->what.together = n->what.together;
    fake.graphs++;
    return OK;
}

API result cuGraphExecDestroy(graph *replay) {
    free_graph(replay);
    fake.graphs--;
    ENTER("cuGraphExecDestroy", true);
    return OK;
}

/* The node is that of the graph. */
API result cuGraphExecKernelNodeSetParams_v2(graph *replay, node *which, const kernel_node *what) {
    node *at = replay->nodes;
    ENTER("cuGraphExecKernelNodeSetParams_v2", true);
    for (const node *n = replay->of->nodes; n && n != which; n = n->next) at = at->next;
    if (!at || check_grid(what) || (which->early && !what->f->waits)) return INVALID_VALUE;
    bool together = at->what.together; /* which only the graph can say */
    free_params(at);
    keep_params(at, what);
    at->what.together = together;
    return OK;
}

/* Value: of 64 bytes, which begin with a number. */
API result cuGraphKernelNodeSetAttribute(node *n, int attribute, const int *value) {
    ENTER("cuGraphKernelNodeSetAttribute", true);
    if (attribute != 2) return INVALID_VALUE;
    n->what.together = *value != 0;
    return OK;
}

API result cuGraphLaunch(graph *replay, void *stream) {
    ENTER("cuGraphLaunch", true);
    for (const node *n = replay->nodes; n; n = n->next) run_grid(&n->what);
    return stream ? OK : INVALID_VALUE;
}
