/* machines.h — the machines that tests make code for: those of codegen/targets.def, and the
 * template, which no table names and an interpreter runs.
 */
#ifndef SPVFUSE_TESTS_MACHINES_H
#define SPVFUSE_TESTS_MACHINES_H

#include "codegen/codegen.h"

typedef struct {
    const cg_machine *machine;
    unsigned most; /* the highest level that runs here; 0: none, so code is only made */
    /* Calls the function of a symbol with one argument, the address of so many bytes.  NULL: it ends
     * well; otherwise what goes wrong. */
    const char *(*call)(const cg_object *o, uint32_t symbol, void *argument, size_t bytes);
    /* An instruction that no call has reached in this process; NULL: there is none, or nothing
     * counts them. */
    const char *(*never_run)(void);
} test_machine;

/* Machine n; NULL: there are fewer. */
const test_machine *test_machine_at(unsigned n);
/* The machine that runs the tests; NULL: code is not made for it. */
const test_machine *test_host(void);
/* Level n of this machine; 0: it has fewer. */
unsigned test_host_level(unsigned n);
/* The machine and level of "x86_64:v3"; NULL: there is none. */
const test_machine *test_find_level(const char *name, unsigned *level);

#endif
