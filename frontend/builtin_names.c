/* builtin_names.c — OpenCL C built-ins that a producer left as calls of undefined functions.
 *
 * "_Z10atomic_incPU3AS1Vi" is atomic_inc(volatile global int *).  The name is looked up here; of
 * the parameter types only the first one's scalar matters (signed, unsigned or float), everything
 * else follows from the SPIR-V types of the call.  Functions of OpenCL.std go through its table
 * under their own name (floats) or with "s_" or "u_" in front (integers).  A name that is not known
 * stays an import, for the link step.
 */
#include "frontend/reader.h"

/* ----------------------------------------------------------------------------------- demangling */

/* Skips pointers, qualifiers, address spaces and vector prefixes before a parameter's scalar. */
static const char *skip_prefixes(const char *s) {
    for (;;) {
        if (*s == 'P' || *s == 'K' || *s == 'V' || *s == 'r')
            s++;
        else if (*s == 'U' && s[1] >= '1' && s[1] <= '9' && strlen(s + 2) > (size_t)(s[1] - '0'))
            s += 2 + (s[1] - '0'); /* AS4, _Atomic */
        else if (!strncmp(s, "Dv", 2) && strchr(s, '_'))
            s = strchr(s, '_') + 1;
        else
            return s;
    }
}

static char scalar_class(const char *s) {
    if (!strncmp(s, "Dh", 2)) return 'f';
    if (*s && strchr("cailsx", *s)) return 's';
    if (*s && strchr("htjmyb", *s)) return 'u';
    if (*s && strchr("fd", *s)) return 'f';
    return '-';
}

/* "_Z3maxDv4_jS_" -> "umax"; NULL: no mangled name */
static const char *demangle(reader *r, const char *s) {
    size_t n = 0;
    if (strncmp(s, "_Z", 2) != 0) return NULL;
    for (s += 2; *s >= '0' && *s <= '9' && n < 1000; s++) n = n * 10 + (size_t)(*s - '0');
    if (n == 0 || strlen(s) < n) return NULL;
    return ir_sprintf(&r->scratch, "%c%.*s", scalar_class(skip_prefixes(s + n)), (int)n, s);
}

/* ----------------------------------------------------------------------------------- the tables */

static const spv_builtin opencl_names[] = {
#define OPENCL(name, reader, data, more) {name, spv_call_##reader, data, more},
#define OTHER(name, reader, data, more)
#include "frontend/builtin_names.def"
#undef OPENCL
#undef OTHER
};

static const spv_builtin other_names[] = {
#define OPENCL(name, reader, data, more)
#define OTHER(name, reader, data, more) {name, spv_call_##reader, data, more},
#include "frontend/builtin_names.def"
#undef OPENCL
#undef OTHER
};

static bool matches(const char *pattern, const char *name) {
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return !strncmp(name, pattern, n - 1);
    return !strcmp(name, pattern);
}

static const spv_builtin *find_in(const spv_builtin *table, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (matches(table[i].name, name)) return &table[i];
    return NULL;
}

/* ---------------------------------------------------------------------- OpenCL.std by its names */

static const spv_ext_row *find_ext(const char *prefix, const char *name) {
    size_t n = strlen(prefix);
    for (int i = 0; i < SPV_EXT_ROWS; i++) {
        const spv_ext_row *row = &spv_ext_rows[i];
        if (!strncmp(row->name, prefix, n) && !strcmp(row->name + n, name)) return row;
    }
    return NULL;
}

static const spv_ext_row *find_ext_of(const char *key) {
    const char *name = spv_key_name(key);
    if (spv_key_class(key) == 'f' && !strcmp(name, "max")) return find_ext("", "fmax_common");
    if (spv_key_class(key) == 'f' && !strcmp(name, "min")) return find_ext("", "fmin_common");
    if (spv_key_class(key) == 'f' && !strcmp(name, "clamp")) return find_ext("", "fclamp");
    const spv_ext_row *row = NULL;
    if (spv_key_class(key) == 's') row = find_ext("s_", name);
    if (spv_key_class(key) == 'u') row = find_ext("u_", name);
    return row ? row : find_ext("", name);
}

static void call_named_ext(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_call_ext(r, find_ext_of(key), 0, NULL);
}

static const spv_builtin ext_builtin = {"", call_named_ext, 0, 0};

/* ---------------------------------------------------------------------------------- the entries */

/* atom_add is the older name of atomic_add. */
static const char *modern_name(reader *r, const char *key) {
    if (strncmp(spv_key_name(key), "atom_", 5) != 0) return key;
    return ir_sprintf(&r->scratch, "%catomic_%s", spv_key_class(key), spv_key_name(key) + 5);
}

const spv_builtin *spv_find_builtin(reader *r, const char *mangled, const char **key) {
    size_t others = sizeof other_names / sizeof *other_names;
    *key = demangle(r, mangled);
    if (!*key) {
        *key = ir_sprintf(&r->scratch, "-%s", mangled);
        return find_in(other_names, others, mangled);
    }
    *key = modern_name(r, *key);
    const spv_builtin *b =
        find_in(opencl_names, sizeof opencl_names / sizeof *opencl_names, spv_key_name(*key));
    return b ? b : find_ext_of(*key) ? &ext_builtin : NULL;
}

void spv_call_builtin(reader *r, const spv_function *callee) {
    spv_warn(r, WARN_BUILTIN_CALL);
    r->in.arg++;
    r->in.n--;
    callee->builtin->call(r, callee->builtin, callee->builtin_key);
}
