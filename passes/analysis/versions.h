/* versions.h — memory as one variable in SSA form (versions.c).
 *
 * Every instruction that may write makes a version of memory, and so does a memory phi, at a block
 * where several versions join (Novillo 2007, "Memory SSA").  The versions of a function are made
 * once, and hold as long as nothing is added that writes. */
#ifndef SPVFUSE_VERSIONS_H
#define SPVFUSE_VERSIONS_H

#include "passes/analysis/alias.h"

typedef struct pass_version pass_version;
struct pass_version {
    ir_inst *by; /* what writes; NULL: a memory phi, the state at entry, or a removed store */
    pass_version *before; /* what it writes over; NULL: a memory phi, or the state at entry */
    ir_block *block;
    uint32_t number;
    bool is_range; /* it writes `size` bytes from `on`, and no others */
    pass_on_line on;
    uint64_t size;
    const ir_inst *object; /* of these bytes, if two such objects are apart; NULL: not known */
    uint32_t run;          /* the length of the sequence of writes to one line that ends here */
    pass_version *skip;    /* the version before the last PASS_RUN of them, or NULL */
    int64_t low, high;     /* the bounds of what these PASS_RUN write */
};
enum { PASS_RUN = 8 };

typedef struct {
    ir_func *f;
    const ir_dom *dom;
    ir_arena *scratch;
    pass_alias alias;
    pass_lines lines;
    pass_version **head, **end; /* by block id */
    pass_version **made;        /* by id of a writing instruction */
    uint32_t n;
} pass_versions;

/* The bytes of a search, and its state. */
typedef struct {
    ir_inst *address;
    uint64_t size;
    unsigned steps; /* still to be taken */
    pass_on_line on;
    bool is_constant;       /* nothing writes there */
    const ir_inst *object;  /* of these bytes, if two such objects are apart; NULL: not known */
    uint32_t line;          /* that was related last, + 1; 0: none */
    pass_relation relation; /* of `on` to that line */
} pass_bytes;

void pass_find_versions(pass_versions *m, ir_func *f, ir_arena *scratch);
pass_bytes pass_begin_search(pass_versions *m, ir_inst *address, uint64_t size, unsigned steps);
/* The last version, from v back, that may have written the bytes. */
pass_version *pass_last_writer(pass_versions *m, pass_bytes *q, pass_version *v);
/* Is `by`, which may be NULL, a store of known bytes that is not volatile, and whose address is
 * known to be *step bytes before this one? */
bool pass_is_store_near(const pass_versions *m, const ir_inst *by, const ir_inst *address,
                        int64_t *step);

#endif
