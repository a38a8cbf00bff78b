/* machines.h — the machines that tests make code for: those of codegen/targets.def, and the template,
 * which no table names and an interpreter runs.
 */
#ifndef SPVFUSE_TESTS_MACHINES_H
#define SPVFUSE_TESTS_MACHINES_H

#include "codegen/codegen.h"

typedef struct {
    const cg_machine *machine;
    unsigned most; /* the highest level that runs here; 0: none, so code is only made */
    /* Calls a function of the object with one argument, the address `argument`; false: it does not
     * end well. */
    bool (*call)(const cg_object *o, uint32_t symbol, void *argument);
} test_machine;

/* Machine n; NULL: there are fewer. */
const test_machine *test_machine_at(unsigned n);
/* The machine that runs the tests; NULL: code is not made for it. */
const test_machine *test_host(void);
/* The machine and level of "x86_64:v3"; NULL: there is none. */
const test_machine *test_find_level(const char *name, unsigned *level);

#endif
