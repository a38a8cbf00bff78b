/* rulegen.h — what the files of rulegen share: rules as trees of nodes.
 *
 * rulegen_read.c parses them, rulegen_check.c finds errors in them, and rulegen_emit.c writes them
 * as C; rulegen.c describes the language.
 */
#ifndef SPVFUSE_RULEGEN_H
#define SPVFUSE_RULEGEN_H

#include "ir/rule_types.h"

enum { MAX_ARGS = 6, MAX_FAMILY = 16, MAX_CONDITIONS = 8, MAX_RULES = 2000, MAX_SETS = 40 };

typedef enum { N_OP, N_NAME, N_CONST, N_INT, N_FLOAT, N_BOOL, N_UNDEF, N_CALL } node_kind;

typedef struct node node;
struct node {
    node_kind kind;
    const char *text; /* name, literal, or function of a call */
    const char *literal[MAX_FAMILY];
    ir_op op[MAX_FAMILY];
    unsigned members; /* of the family, of ops or literals; 0: none */
    const char *type; /* after ':', or NULL */
    bool keep;        /* "!" */
    bool open;        /* "..." */
    const char *var;  /* C variable that holds it, once emitted */
    node *arg[MAX_ARGS];
    unsigned nargs;
};

typedef struct {
    bool negated;
    const char *function;
    const char *arg[MAX_ARGS];
    unsigned nargs;
} condition;

typedef struct {
    unsigned line, number; /* number: counted over the rules of the file */
    const char *text;      /* on one line */
    node *pattern, *result;
    uint32_t from, to; /* the types that it takes; 0: not stated */
    bool has_arrow;    /* between them */
    condition when[MAX_CONDITIONS];
    unsigned conditions;
} rule;

/* A name for several types. */
typedef struct {
    const char *name;
    uint32_t types;
} type_set;

typedef struct {
    const char *path, *name; /* name: the last part of the path */
    const char *prefix;      /* of what the output defines */
    rule rule[MAX_RULES];    /* families expanded */
    type_set set[MAX_SETS];  /* if a file has some, each rule must state its types */
    unsigned sets;
    unsigned rules, numbers;
    unsigned errors;
} rule_file;

extern const ir_op_info rulegen_ops[IR_OP_COUNT]; /* from ops.def, without the eval column */

/* Reports "path:line: error: …" and counts it. */
void rulegen_fail(rule_file *f, unsigned line, const char *fmt, ...) IR_PRINTF(3, 4);
void *rulegen_alloc(size_t bytes); /* zeroed; never freed: the tool is short-lived */
const char *rulegen_text(const char *fmt, ...) IR_PRINTF(1, 2);

/* Appends the rules in `text`; an error of syntax ends the program. (rulegen_read.c) */
void rulegen_read(rule_file *f, const char *text);

/* ---- rulegen_check.c */
bool rulegen_is_literal(const node *n);
bool rulegen_is_constant(const node *n);
bool rulegen_is_reserved(const char *name);
/* The types that a word of a set of types names; 0: none. */
uint32_t rulegen_types_of(const rule_file *f, const char *word);
/* A word that may stand for a type of its own after a colon? */
bool rulegen_is_type(const char *name);
/* How often a name occurs in the pattern, the conditions and the result. */
unsigned rulegen_count_uses(const rule *r, const char *name);
/* Names that are not bound, ops that cannot be built, constants on the wrong side, types that are
 * missing or that the op does not have. */
void rulegen_check_rule(rule_file *f, const rule *r);
/* Is this order of r covered by an order in `before`? An error unless it is one of the same rule.
 */
bool rulegen_is_covered(rule_file *f, const rule *before, unsigned n, const rule *r);

/* Writes the C functions. (rulegen_emit.c) */
void rulegen_emit(rule_file *f, FILE *out);

#endif
