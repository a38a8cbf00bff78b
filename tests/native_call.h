/* native_call.h — a function of the IR compiled for a machine and called, for tests. */
#ifndef SPVFUSE_TESTS_NATIVE_CALL_H
#define SPVFUSE_TESTS_NATIVE_CALL_H

#include "codegen/codegen.h"
#include "ir/interp.h"
#include "tests/machines.h"

typedef enum {
    NATIVE_DONE,
    NATIVE_CANNOT, /* it asks for what only a work-item has, or for pointers; or the code is made,
                      and this machine cannot run it */
    NATIVE_FAILED  /* after a reported error */
} native_outcome;

typedef struct {
    cg_options code;
    bool is_called;         /* the function stays one, if it may; otherwise it is inlined */
    bool is_plain;          /* nothing is simplified before */
    const test_machine *on; /* NULL: this machine */
} native_way;

/* f(args…), as ir_interp_call; undefined lanes of arguments are zeros. */
native_outcome native_call(ir_func *f, const native_way *way, const ir_value *args,
                           ir_value *result);

#endif
