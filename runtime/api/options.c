/* options.c — options of native code, as names of targets and devices have them:
 * "v2,text", "v3,regalloc=stack".
 */
#include "runtime/native/native.h"

#include <stdlib.h>

/* *s moves to `end` and over the comma there; false when nothing or no comma follows. */
static bool take_to(const char **s, const char *end) {
    if (*end && (*end != ',' || !end[1])) return false;
    *s = *end ? end + 1 : end;
    return true;
}

bool rt_take_option(const char **s, const char *option) {
    size_t n = strlen(option);
    return strncmp(*s, option, n) == 0 && take_to(s, *s + n);
}

bool rt_take_number(const char **s, const char *option, uint64_t *out) {
    size_t n = strlen(option);
    const char *digits = *s + n;
    char *end;
    if (strncmp(*s, option, n) != 0 || *digits < '1' || *digits > '9') return false;
    uint64_t number = strtoull(digits, &end, 10);
    if (!take_to(s, end)) return false;
    *out = number;
    return true;
}

/* "simd=N", N a power of two from 1 to 64 */
static bool take_lanes(const char **s, unsigned *lanes) {
    const char *at = *s;
    uint64_t n;
    if (!rt_take_number(&at, "simd=", &n) || n > IR_MAX_LANES || (n & (n - 1))) return false;
    *lanes = (unsigned)n;
    *s = at;
    return true;
}

bool rt_take_code_option(const char **s, const cg_machine *machine, cg_options *code) {
    for (unsigned n = 0; machine && n < machine->nlevels; n++) {
        if (!rt_take_option(s, machine->levels[n].name)) continue;
        code->level = machine->levels[n].number;
        return true;
    }
    if (rt_take_number(s, "seed=", &code->regalloc.seed) || take_lanes(s, &code->lanes))
        return true;
    if (!rt_take_option(s, "regalloc=stack")) return false;
    code->regalloc.how = CG_REGALLOC_STACK;
    return true;
}

const cg_machine *rt_take_machine(const char **s, cg_options *code) {
    size_t n = strcspn(*s, ":,");
    const cg_machine *m = cg_find_machine(*s, n);
    bool ends = !(*s)[n], goes_on = !ends && (*s)[n + 1];
    if (!m || (!ends && !goes_on)) return NULL;
    *s += n + goes_on;
    code->level = m->default_level;
    return m;
}

const char *rt_list_machines(ir_arena *a) {
    ir_text t = {.arena = a};
    ir_put(&t, "");
    for (unsigned k = 0; k < cg_machine_count; k++) {
        const cg_machine *m = cg_machines[k];
        ir_putf(&t, ", %s", m->name);
        for (unsigned n = 0; n < m->nlevels; n++)
            ir_putf(&t, "%s:%s", n ? "|" : "[", m->levels[n].name);
        if (m->nlevels) ir_put(&t, "]");
    }
    return t.data;
}
