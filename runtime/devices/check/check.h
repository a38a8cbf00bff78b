/* check.h — device check: runs the kernels of an ir_module item by item and reports their faults.
 *
 * Execution.  Work-groups run one after the other in linear order.  The work-items of a group run
 * in linear order, each until it waits for others.  So every run of the same launch is the same.
 * Sub-groups are consecutive work-items in linear local order; the last one may be smaller.
 *
 * Reports.  The launch continues after a report unless the list says otherwise.
 *
 *   memory      An access out of bounds, misaligned, to null, to no object, to an object that has
 *               ended, to private memory of another work-item, by a pointer of the wrong address
 *               space, or a write to read-only memory.  A failed read gives undefined zeros, a
 *               failed write has no effect.
 *   undefined   An undefined value determines a branch, an address, a size, a divisor, an atomic
 *               operation or printed text, or a value without any defined byte is stored to global
 *               memory.  Copies, also of padding, propagate undefined bytes without a report.
 *   races       Two accesses to a byte by different work-items, not both atomic and at least one a
 *               write, that nothing orders.  They are ordered by barriers for the memory that their
 *               semantics name, and by an atomic read that sees an atomic write, with acquire and
 *               release semantics or fences.  Two writes of equal values are a note.
 *   divergence  Work-items of a group wait at different places, or some have finished while others
 *               wait.  Those at the earlier place in the program continue.
 *   other       Division by zero (a warning; the result is 0) and a false assumption (a warning).
 *               Unreachable code, a call of a function without body, and too deep calls: these end
 *               the work-item.  A work-group that does not end: this ends the launch.
 *
 * Reports of the same kind and the same instructions are merged and counted.
 *
 * Memory comes from the device's context.  A device belongs to one thread at a time.  Modules must
 * belong to the device's context and outlive their programs; they are not changed.
 */
#ifndef SPVFUSE_CHECK_H
#define SPVFUSE_CHECK_H

#include "ir/ir.h"

typedef struct check_device check_device;
typedef struct check_buffer check_buffer;
typedef struct check_program check_program;

/* NULL when memory is short, as everywhere below. */
check_device *check_device_new(ir_ctx *cx);
void check_device_free(check_device *d); /* after its buffers and programs */
/* From now on, reports name what the source names, and what a faulty read gives counts as defined,
 * so that one fault is not reported twice. */
void check_device_for_people(check_device *d);

/* -------------------------------------------------------------------------------------- buffers */

enum {
    CHECK_BUFFER_READ_ONLY = 1, /* kernels may not write */
    CHECK_BUFFER_AT_HOST = 2    /* wrapped memory: kernels know it by its address in this process */
};

/* Copies size bytes of data; NULL: the contents are undefined. */
check_buffer *check_buffer_new(check_device *d, uint64_t size, const void *data, unsigned flags);
/* Memory of this process, which is used where it is and outlives the buffer.  Kernels get an
 * address of the device, far from all others, so that each access beyond the buffer is found;
 * otherwise CHECK_BUFFER_AT_HOST.  The contents count as defined. */
check_buffer *check_buffer_wrap(check_device *d, void *host, uint64_t size, unsigned flags);
void check_buffer_free(check_buffer *b);
/* What reports say of the buffer besides the name of the argument; the text outlives the buffer. */
void check_buffer_describe(check_buffer *b, const char *origin);
void *check_buffer_bytes(const check_buffer *b);
void check_buffer_mark(check_buffer *b, uint64_t offset, uint64_t size, bool undefined);
uint64_t check_buffer_size(const check_buffer *b);
/* By the host.  False: outside of the buffer. */
bool check_buffer_write(check_buffer *b, uint64_t offset, uint64_t size, const void *data);
/* All that `from`, a buffer of the same size, holds, and what of it is undefined. */
void check_buffer_copy(check_buffer *to, const check_buffer *from);
bool check_buffer_read(const check_buffer *b, uint64_t offset, uint64_t size, void *data);
/* How many of these bytes are undefined. */
uint64_t check_buffer_undefined(const check_buffer *b, uint64_t offset, uint64_t size);

/* ------------------------------------------------------------------------------------- programs */

/* Program-scope globals live as long as the program. */
check_program *check_program_new(check_device *d, ir_module *m);
void check_program_free(check_program *p);

/* -------------------------------------------------------------------------------------- reports */

typedef enum {
    CHECK_OUT_OF_BOUNDS,
    CHECK_MISALIGNED,
    CHECK_NULL,
    CHECK_NO_OBJECT,
    CHECK_ENDED,
    CHECK_FOREIGN_PRIVATE,
    CHECK_READ_ONLY,
    CHECK_WRONG_SPACE,
    CHECK_UNDEFINED,
    CHECK_RACE,
    CHECK_DIVERGENCE,
    CHECK_GROUP_OPERAND, /* work-items of a group give different operands where they must agree */
    CHECK_ASYNC,         /* an async copy that was not waited for, or a wait for no event */
    CHECK_DIVISION,
    CHECK_ASSUME,
    CHECK_UNREACHABLE,
    CHECK_NO_BODY,
    CHECK_CALL_DEPTH,
    CHECK_STEP_LIMIT,
    CHECK_KINDS
} check_kind;

/* Such as "out-of-bounds", "race". */
const char *check_kind_name(check_kind kind);

/* What one work-item did. */
typedef struct {
    const ir_inst *inst;  /* NULL: it had finished */
    const char *function; /* its name */
    const char *text;     /* the instruction as printed, or "" */
    const char *file;     /* source position, or NULL and 0 */
    uint32_t line, column;
    uint64_t global_id[3], group_id[3];
    bool is_copy; /* an async copy of the whole group; global_id is of no meaning */
} check_party;

typedef struct {
    check_kind kind;
    ir_severity severity;
    const char *kernel;
    const char *headline; /* one line, no position */
    const char *details;  /* the other lines, each after a newline */
    const char *text;     /* all of it: position, severity, headline, details */
    check_party here;
    bool has_other;
    check_party other;
    const char *object;   /* argument, variable or global, or NULL */
    const char *origin;   /* what check_buffer_describe said of it, or NULL */
    const char *from;     /* where an undefined value came from, in words, or NULL */
    uint64_t object_size; /* bytes */
    int64_t offset;       /* of the access from the start of the object, or from the argument */
    uint32_t size;        /* bytes accessed; 0: no access */
    uint64_t count;       /* how often; the rest tells of the first time */
} check_report;

/* ------------------------------------------------------------------------------------- launches */

typedef struct {
    ir_arg_kind kind;
    check_buffer *buffer; /* IR_ARG_POINTER: from `offset` on; NULL: `offset` is the address */
    uint64_t offset;
    const void *bytes; /* IR_ARG_VALUE: little-endian, as in memory; also of what is `spilled` */
    uint64_t size;     /* IR_ARG_VALUE and IR_ARG_LOCAL */
} check_arg;

typedef struct {
    unsigned subgroup_size; /* 0: 8; at most 128 */
    bool any_subgroup_size; /* nothing depends on what the kernel requires, if it is another size */
    uint64_t step_limit;    /* instructions of one work-group; 0: 150 million */
    unsigned max_reports;   /* distinct ones; 0: 100 */
    bool allow_non_uniform; /* smaller groups at the end of the range */
    bool strict_races;      /* equal values written twice are an error */
    bool strict_undefined;  /* any undefined byte stored to global memory is an error */
    void (*report)(void *user, const check_report *r);            /* after the launch, in order */
    void (*print)(void *user, const char *text, size_t n);        /* printf, as it happens */
    void (*progress)(void *user, uint64_t done, uint64_t groups); /* after each group; or NULL */
    bool (*expired)(void *user); /* asked now and then: true: the launch ends; NULL: never */
    /* After the launch, if it has written to some of `watch_size` bytes: the last one that did. */
    void (*wrote)(void *user, const check_party *p);
    const check_buffer *watch; /* NULL: nothing is watched */
    uint64_t watch_offset, watch_size;
    bool only_prepare; /* nothing runs: only what the launch is refused for is found */
    void *user;
} check_options;

typedef struct {
    const char *kernel;
    ir_range range; /* without local size: the kernel's required one, or the largest divisors with
                       at most 64 work-items */
    const check_arg *args;
    unsigned nargs;
    check_options options;
} check_launch;

/* Executed by all work-items together; a range copy counts once per 512 bytes, an async copy once
 * per element. */
typedef struct {
    uint64_t loads, stores, atomics;
    uint64_t bytes_read, bytes_written; /* atomics included */
} check_traffic;

typedef struct {
    uint64_t instructions;
    uint64_t barriers, group_ops;     /* per work-item */
    check_traffic memory[IR_GENERIC]; /* by ir_space of what was accessed */
    unsigned errors, warnings, notes; /* distinct reports */
    uint64_t unreported;              /* findings beyond max_reports */
    bool ended_early;                 /* some work-item did not run to its end */
} check_result;

/* Runs the kernel.  False: refused, after an error through the context's report; *out is then all
 * 0.  Findings are not refusals. */
bool check_run(check_program *p, const check_launch *l, check_result *out);

#endif
