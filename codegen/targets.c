/* targets.c — the registry of machines that native code is made for. */
#include "codegen/codegen.h"

#define MACHINE(folder) extern const cg_machine cg_machine_##folder;
#include "codegen/targets.def"
#undef MACHINE

const cg_machine *const cg_machines[] = {
#define MACHINE(folder) &cg_machine_##folder,
#include "codegen/targets.def"
#undef MACHINE
};
const unsigned cg_machine_count = sizeof cg_machines / sizeof *cg_machines;

const cg_machine *cg_find_machine(const char *name, size_t n) {
    for (unsigned k = 0; k < cg_machine_count; k++)
        if (strlen(cg_machines[k]->name) == n && memcmp(cg_machines[k]->name, name, n) == 0)
            return cg_machines[k];
    return NULL;
}

const cg_machine *cg_host_machine(void) {
    for (unsigned k = 0; k < cg_machine_count; k++)
        if (cg_machines[k]->host) return cg_machines[k];
    return NULL;
}

const char *cg_level_name(const cg_machine *m, unsigned level) {
    for (unsigned k = 0; k < m->nlevels; k++)
        if (m->levels[k].number == level) return m->levels[k].name;
    return "?";
}
