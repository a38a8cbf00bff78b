/* machines.c — the machines that tests make code for, and how it is called. */
#include "tests/machines.h"

#include "runtime/native/native.h"
#include "tests/codegen/template/interpret.h"

extern const cg_machine cg_machine_template;

/* The host finds faults by itself. */
static const char *call_here(const cg_object *o, uint32_t symbol, void *argument, size_t bytes) {
    (void)bytes;
    rt_code code;
    void (*entry)(void *);
    if (rt_code_load(o, NULL, &code) != IR_OK) return "the code cannot be loaded";
    void *address = rt_code_symbol(&code, o, symbol);
    memcpy(&entry, &address, sizeof entry);
    entry(argument);
    rt_code_unload(&code);
    return NULL;
}

static test_machine listed_machine(const cg_machine *m) {
    if (m != cg_host_machine()) return (test_machine){.machine = m};
    return (test_machine){.machine = m, .most = m->host->detect(), .call = call_here};
}

const test_machine *test_machine_at(unsigned n) {
    enum { MOST = 16 };
    static test_machine machines[MOST];
    static const test_machine template = {&cg_machine_template, 1, template_interpret,
                                          template_never_run};
    assert(cg_machine_count <= MOST);
    if (n == cg_machine_count) return &template;
    if (n > cg_machine_count) return NULL;
    if (!machines[n].machine) machines[n] = listed_machine(cg_machines[n]);
    return &machines[n];
}

const test_machine *test_host(void) {
    const test_machine *t;
    for (unsigned n = 0; (t = test_machine_at(n)); n++)
        if (t->machine == cg_host_machine()) break;
    return t;
}

unsigned test_host_level(unsigned n) {
    const test_machine *t = test_host();
    if (!t || n >= t->machine->nlevels || t->machine->levels[n].number > t->most) return 0;
    return t->machine->levels[n].number;
}

const test_machine *test_find_level(const char *name, unsigned *level) {
    size_t length = strcspn(name, ":");
    const test_machine *t = NULL;
    for (unsigned n = 0; (t = test_machine_at(n)); n++)
        if (strlen(t->machine->name) == length && !memcmp(t->machine->name, name, length)) break;
    for (unsigned k = 0; t && name[length] && k < t->machine->nlevels; k++)
        if (strcmp(t->machine->levels[k].name, name + length + 1) == 0) {
            *level = t->machine->levels[k].number;
            return t;
        }
    return NULL;
}
