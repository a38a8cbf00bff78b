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

/* "seed=N", N > 0 */
static bool take_seed(const char **s, uint64_t *seed) {
    char *end;
    if (strncmp(*s, "seed=", 5) != 0 || (*s)[5] < '1' || (*s)[5] > '9') return false;
    *seed = strtoull(*s + 5, &end, 10);
    return take_to(s, end);
}

/* "simd=N", N a power of two from 1 to 64 */
static bool take_lanes(const char **s, unsigned *lanes) {
    char *end;
    if (strncmp(*s, "simd=", 5) != 0 || (*s)[5] < '1' || (*s)[5] > '9') return false;
    unsigned long n = strtoul(*s + 5, &end, 10);
    if (n > IR_MAX_LANES || (n & (n - 1))) return false;
    *lanes = (unsigned)n;
    return take_to(s, end);
}

bool rt_take_code_option(const char **s, const cg_machine *machine, cg_options *code) {
    for (unsigned n = 0; machine && n < machine->nlevels; n++) {
        if (!rt_take_option(s, machine->levels[n].name)) continue;
        code->level = machine->levels[n].number;
        return true;
    }
    if (take_seed(s, &code->regalloc.seed) || take_lanes(s, &code->lanes)) return true;
    if (!rt_take_option(s, "regalloc=stack")) return false;
    code->regalloc.how = CG_REGALLOC_STACK;
    return true;
}
