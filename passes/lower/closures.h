/* closures.h — what the steps of pass `closures` share; private to them. */
#ifndef SPVFUSE_PASSES_LOWER_CLOSURES_H
#define SPVFUSE_PASSES_LOWER_CLOSURES_H

#include "ir/layout.h"
#include "passes/analysis/callgraph.h"

enum { CLOSURE_MEMBERS = 64 }; /* that become parameters, at most */

/* How a kernel begins and ends with a special member. */
typedef struct {
    ir_func *init, *finalize; /* finalize: or NULL */
} closure_functions;

typedef struct {
    ir_type type; /* of the parameter */
    ir_type held; /* in memory: differs for generic pointers */
    uint64_t offset;
    bool padding;
    bool marked;                      /* specialized, by itself or as a part of a member that is */
    const closure_functions *special; /* NULL: it is none */
    const char *name;                 /* in a description, or NULL */
} closure_member;

/* The pass as a whole. */
typedef struct {
    ir_module *m;
    ir_arena *scratch;
    const ir_layout *layout; /* an empty one if nothing is declared */
    ir_map called;           /* functions that others call */
    pass_call_graph calls;   /* empty if nothing is declared */
    ir_map specials;         /* closure_functions by type */
    const bool *holders;     /* has the type of this index a special in it?  NULL: none has */
    ir_map *checked;         /* functions that specials may name */
    ir_map described;        /* ir_layout_closure by the value of the parameter */
} closure_pass;

/* A struct that is a parameter of a kernel. */
typedef struct {
    const closure_pass *pass;
    const ir_func *kernel;
    const ir_param *param;
    uint32_t index; /* of the parameter, as the kernel is read */
    const ir_layout_closure *described;
    ir_vec(closure_member) list;
    uint32_t values; /* members that are no specials */
    uint64_t end;    /* of the last one */
    bool has_pointers, has_specials, has_marks;
    bool many;         /* more than CLOSURE_MEMBERS values, of which the list lacks the last ones */
    const char *error; /* the name of what is wrong with it, or NULL */
    const char *why;
    uint64_t at; /* byte */
} closure;

/* Reports an error that has a name, about a parameter of a kernel, and leaves the pass. */
IR_NORETURN void closure_fail(const closure_pass *p, const char *name, const char *fmt, ...)
    IR_PRINTF(3, 4);
/* The functions that others call, by address. (closure_pointers.c) */
void closure_find_called(ir_module *m, ir_arena *scratch, ir_map *called);
/* Finds all that is declared in the module, and checks it. (closure_layout.c) */
void closure_read_layout(closure_pass *p);
const closure_functions *closure_find_functions(const closure_pass *p, const char *init,
                                                const char *finalize);
/* The members of a struct, or what is wrong with it. (closure_members.c) */
void closure_find_members(closure *c);

#endif
