/* native_call.h — a function of the IR compiled for this machine and called, for tests. */
#ifndef SPVFUSE_TESTS_NATIVE_CALL_H
#define SPVFUSE_TESTS_NATIVE_CALL_H

#include "codegen/codegen.h"
#include "ir/interp.h"

typedef enum {
    NATIVE_DONE,
    NATIVE_CANNOT, /* it asks for what only a work-item has, or for pointers */
    NATIVE_FAILED  /* after a reported error */
} native_outcome;

/* Does this machine have what CG_X86_64_V… says? */
bool native_has_level(unsigned level);
typedef struct {
    cg_options code;
    bool is_called; /* the function stays one, if it may; otherwise it is inlined */
    bool is_plain;  /* nothing is simplified before */
} native_way;

/* f(args…), as ir_interp_call; undefined lanes of arguments are zeros. */
native_outcome native_call(ir_func *f, const native_way *way, const ir_value *args,
                           ir_value *result);

#endif
