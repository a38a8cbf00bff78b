/* context.h — what everything of the compiler works in: a context with its messages, errors and
 * limits, arenas with arrays, maps and text in them, and the stages that are counted, timed and
 * shown.
 *
 * Memory: what an arena gives lives as long as the arena, and is freed with it.
 * Errors: bad input and lack of memory leave through ir_throw to the nearest ir_try; bugs assert,
 * which leaves there as well, as IR_ERR_INTERNAL with a message.
 * Threads: one context per thread at a time. */
#ifndef SPVFUSE_IR_CONTEXT_H
#define SPVFUSE_IR_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#define IR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define IR_NORETURN __attribute__((noreturn))
#else
#define IR_PRINTF(f, a)
#define IR_NORETURN
#endif

/* In place of the one of <assert.h>, which ends the process of others. */
#define assert(e) ((e) ? (void)0 : ir_bug(NULL, __FILE__, __LINE__, __func__, #e))
/* The same about an instruction, which the message names. */
#define assert_at(inst, e) ((e) ? (void)0 : ir_bug(inst, __FILE__, __LINE__, __func__, #e))
#define static_assert _Static_assert
struct ir_inst;
IR_NORETURN void ir_bug(const struct ir_inst *at, const char *file, int line, const char *function,
                        const char *what);

typedef struct ir_module ir_module;
typedef struct ir_func ir_func;
typedef struct ir_inst ir_inst;

/* ------------------------------------------------------------------ context and errors (util.c) */

typedef enum {
    IR_OK,
    IR_ERR_INPUT,
    IR_ERR_MEMORY,
    IR_ERR_LIMIT,
    IR_ERR_ARGUMENT, /* as the next three, used by the runtime only */
    IR_ERR_REFUSED,
    IR_ERR_DEVICE,
    IR_ERR_IO,
    IR_ERR_INTERNAL /* a bug of the compiler, which has been reported */
} ir_status;
typedef enum { IR_NOTE, IR_WARNING, IR_ERROR } ir_severity;

/* What the compiler was doing when an assertion failed; parts that are not known are NULL or
 * 0. */
typedef struct {
    const char *stage; /* a pass, a stage of native code, or another part that has a name */
    uint64_t number;   /* of the stage, counted in its context */
    const char *function, *block, *instruction;
    const char *file; /* where the code before the stage has been saved */
} ir_fault;

/* One message.  Every field but text may be absent (NULL or 0); `word` is a SPIR-V word offset. */
typedef struct {
    ir_severity severity;
    const char *file; /* the input: "k.spv", "plan.txt" */
    uint32_t line, column;
    uint32_t word;
    const char *inst;   /* the instruction there: "OpFMul %57" */
    const char *source; /* the OpLine file, "saxpy.cl", with source_line */
    uint32_t source_line;
    const char *text;
    const ir_fault *fault; /* of an internal error, otherwise NULL */
    const char *name;      /* of the error, for programs: "overlap" */
} ir_message;

/* What runs.  (stage.c) */
typedef struct {
    const char *stage;   /* "licm", "select"; NULL: nothing that has a name */
    const ir_func *func; /* that the stage works on, or NULL */
    const ir_inst *inst; /* that it looks at, if it says so, or NULL */
    const char *code;    /* that it was given, if the context saves it, otherwise NULL */
    int64_t began; /* by ir_nanoseconds, if the context has `span`; 0: it was left by ir_throw */
} ir_where;

/* Counts of what passes and stages do. */
typedef enum {
#define COUNTER(where, name, doc) IR_COUNT_##where##_##name,
#include "ir/counters.def"
#undef COUNTER
    IR_COUNTERS
} ir_counter;
typedef struct {
    uint64_t n[IR_COUNTERS];
} ir_counts;

struct ir_remark;
/* What a context shows of the native code that it makes; switches name stages (ir_names_stage). */
typedef struct {
    const char *dump_after;
    bool dump_changed; /* as in pass_options */
    void (*dump)(void *user, const char *stage, const char *text);
    void *dump_user;
    bool verify_each, time, trace_rules;
    bool remarks; /* passes report what they have decided, as notes */
    /* The same, for programs (ir/remark.h); NULL: nothing is asked. */
    void (*remark)(void *user, const struct ir_remark *r);
    void *remark_user;
} ir_inspection;

/* The time that stages and analyses took, in the order in which they were entered first. */
enum { IR_MAX_PARTS = 64 };
typedef struct {
    unsigned n;
    struct {
        const char *name;
        int64_t ns;
    } part[IR_MAX_PARTS];
    const char *now; /* the part that runs, or NULL */
    int64_t since;   /* it was entered */
} ir_clock;

struct ir_arena;
/* Saves the code that a stage was given in a file, for a report of the bug that `what` describes.
 * Gives its path, in the arena, or NULL. */
typedef const char *ir_saver(void *user, const ir_fault *fault, const char *what, const char *code,
                             struct ir_arena *a);

typedef struct {
    void *(*allocate)(void *user, size_t bytes); /* NULL means malloc and free */
    void (*release)(void *user, void *block);
    void *alloc_user;
    void (*report)(void *user, const ir_message *m); /* NULL drops messages */
    void *report_user;
    size_t limit; /* bytes that may be allocated at once; 0: none */
    size_t used;
    size_t keep;            /* freed bytes that may stay in `spare` until ir_ctx_trim; 0: none do */
    size_t spared;          /* bytes there, which `used` does not count */
    struct ir_chunk *spare; /* poisoned for the address sanitizer */
    ir_status status;       /* why the last ir_try failed */
    jmp_buf *trap;
    ir_where where;
    uint64_t stages;                 /* that have begun */
    ir_clock *clock;                 /* or NULL */
    void (*span)(const ir_where *w); /* is told of a stage that has ended; or NULL */
    const ir_inspection *inspection; /* or NULL */
    ir_saver *save;                  /* for a failed assertion; or NULL */
    void *save_user;
    ir_counts *counts; /* NULL: nothing is counted */
    unsigned warnings;
} ir_ctx;

/* What a context may keep: as much as fusing a few kernels takes. */
enum { IR_SPARE_BYTES = 512 << 10 };

/* Runs body(arg); true when it returned, false when it left through ir_throw. */
bool ir_try(ir_ctx *cx, void (*body)(void *arg), void *arg);
IR_NORETURN void ir_throw(ir_ctx *cx, ir_status status);
void ir_report(ir_ctx *cx, ir_message m, const char *fmt, ...) IR_PRINTF(3, 4);
void ir_vreport(ir_ctx *cx, ir_message m, const char *fmt, va_list ap);
/* Reports an error without a place; false. */
bool ir_error(ir_ctx *cx, const char *fmt, ...) IR_PRINTF(2, 3);
/* Formats one message as "file: word 0x1a3, saxpy.cl:12: error: text" into out (always ended). */
void ir_format_message(const ir_message *m, char *out, size_t size);

/* ------------------------------------------------------------------------------ arena (arena.c) */

typedef struct ir_chunk ir_chunk;
/* Gives what the context keeps back to its allocator. */
void ir_ctx_trim(ir_ctx *cx);

typedef struct ir_arena {
    ir_ctx *cx;
    ir_chunk *chunks;
    char *next, *end;
    size_t total;
} ir_arena;

void ir_arena_init(ir_arena *a, ir_ctx *cx);
void ir_arena_free(ir_arena *a);
void *ir_alloc(ir_arena *a, size_t bytes);     /* zeroed, 16-byte aligned, never NULL (throws) */
void *ir_alloc_raw(ir_arena *a, size_t bytes); /* the same, not zeroed */
void *ir_dup(ir_arena *a, const void *data, size_t bytes);
char *ir_strdup(ir_arena *a, const char *s);
char *ir_strndup(ir_arena *a, const char *s, size_t n);
char *ir_sprintf(ir_arena *a, const char *fmt, ...) IR_PRINTF(2, 3);
#define ir_new(a, T) ((T *)ir_alloc((a), sizeof(T)))
#define ir_new_array(a, T, n) ((T *)ir_alloc((a), sizeof(T) * (size_t)(n)))

/* A growing array of T in an arena: declare `ir_vec(T) v`, push with *ir_push(a, &v) = x. */
#define ir_vec(T)                                                                                  \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t n, cap;                                                                           \
    }
void *ir_vec_grow(ir_arena *a, const void *data, uint32_t *cap, uint32_t n, size_t size);
#define ir_push(a, v)                                                                              \
    ((v)->n == (v)->cap                                                                            \
         ? (void)((v)->data = ir_vec_grow((a), (v)->data, &(v)->cap, (v)->n, sizeof *(v)->data))   \
         : (void)0,                                                                                \
     &(v)->data[(v)->n++])

/* Over the elements of such an array, which may have none. */
#define foreach_in(T, x, v)                                                                        \
    for (T *x = (v).data, *x##_end = (v).n ? x + (v).n : x; x != x##_end; x++)

/* A map from 64-bit keys to pointers; a missing key gives NULL. */
typedef struct {
    uint64_t *key;
    void **val;
    uint32_t n, cap;
} ir_map;
void *ir_map_get(const ir_map *m, uint64_t key);
void ir_map_set(ir_arena *a, ir_map *m, uint64_t key, void *val);
uint64_t ir_hash(uint64_t seed, const void *data, size_t bytes);
static inline uint64_t ir_mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 29;
}

/* Text being built, in an arena; data is always ended by 0. */
typedef struct {
    ir_arena *arena;
    char *data;
    size_t n, cap;
} ir_text;
void ir_putn(ir_text *t, const char *s, size_t n);
static inline void ir_put(ir_text *t, const char *s) { ir_putn(t, s, strlen(s)); }
void ir_putf(ir_text *t, const char *fmt, ...) IR_PRINTF(2, 3);
void ir_vputf(ir_text *t, const char *fmt, va_list ap);

/* ------------------------------------------------------------------------------- stages (stage.c)
 *
 * A stage is a pass, a stage of native code, or another part of compiling that has a name.
 * Stages do not nest.  A context numbers them from 1 in the order in which they begin, which
 * depends on the input alone; so a number names one stage in all runs of a command. */

void ir_begin_stage(ir_ctx *cx, const char *name, const ir_func *f);
void ir_end_stage(ir_ctx *cx);
/* The stage looks at i now, which a failed assertion names. */
static inline void ir_look_at(ir_ctx *cx, const ir_inst *i) { cx->where.inst = i; }
/* Does a switch name the stage that runs, by its name, its number or "*"?  NULL names none. */
bool ir_names_stage(const ir_ctx *cx, const char *wanted);
/* Does the inspection of the context want the code as the stage that runs leaves it? */
bool ir_is_inspected(const ir_ctx *cx);
/* What the compiler is doing; the texts lie in the arena. */
ir_fault ir_find_fault(ir_ctx *cx, ir_arena *a);
/* Counts time from here on for an analysis, or another part of the stage.  Returns what time was
 * counted for before, which the caller enters again. */
const char *ir_enter_part(ir_ctx *cx, const char *name);
/* Names "gvn.merged" and descriptions of the counters, by number. */
extern const char *const ir_counter_names[IR_COUNTERS], *const ir_counter_docs[IR_COUNTERS];
/* Adds n to a counter of counters.def, if the context counts: ir_count(cx, gvn_merged, 1). */
#define ir_count(cx, counter, n) ir_add_count(cx, IR_COUNT_##counter, n)
static inline void ir_add_count(ir_ctx *cx, ir_counter counter, uint64_t n) {
    if (cx->counts) cx->counts->n[counter] += n;
}
/* The instructions of a function, and of all functions. */
uint64_t ir_count_instructions(const ir_func *f);
uint64_t ir_count_all_instructions(const ir_module *m);
/* What is counted before a stage, and a note of what the stage that runs has changed since:
 * "gvn: 108 -> 107 instructions, gvn.merged 1", or none if it has changed nothing. */
typedef struct {
    ir_counts counts;
    uint64_t instructions;
} ir_measure;
void ir_report_counts(const ir_module *m, const ir_measure *before, uint64_t after,
                      ir_arena *scratch);
/* A note for each stage and part, "WHAT: PART: N ns"; `file` is what they are about. */
void ir_report_clock(ir_ctx *cx, const ir_clock *c, const char *file, const char *what);
int64_t ir_nanoseconds(void); /* of a clock that is never set */

#endif
