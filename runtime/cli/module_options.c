/* module_options.c — the options of commands that say how a module is read: --define, --specialize,
 * --spec, --layout.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32, MOST_CALLS = 64 };

/* The options, and the text and lists that they point to. */
typedef struct {
    spvf_module_options options;
    spvf_definition definitions[MOST];
    spvf_marked_arg marked[MOST];
    spvf_spec_value specs[MOST];
    const char *calls[MOST_CALLS];
    size_t call_count;
    char text[4096];
    size_t used;
} parsed;

static bool fail(const char *what, const char *value) {
    fprintf(stderr, "spvfuse: %s '%s'\n", what, value);
    return false;
}

/* A copy that lives as long as the options; NULL: there is no room. */
static char *keep(parsed *p, const char *text) {
    size_t n = strlen(text) + 1;
    if (n > sizeof p->text - p->used) return NULL;
    char *copy = memcpy(p->text + p->used, text, n);
    p->used += n;
    return copy;
}

/* "NAME=F,G"; nothing after the sign: no calls. */
static bool add_definition(parsed *p, const char *value) {
    char *name = keep(p, value), *at = name ? strchr(name, '=') : NULL;
    if (!name) return fail("there is no room for --define", value);
    if (!at || at == name) return fail("--define takes NAME=F,G …, not", value);
    *at++ = 0;
    spvf_definition *d = &p->definitions[p->options.definition_count++];
    *d = (spvf_definition){.name = name, .calls = &p->calls[p->call_count]};
    for (char *f = strtok(at, ","); f; f = strtok(NULL, ",")) {
        if (p->call_count == MOST_CALLS) return fail("too many functions in", value);
        p->calls[p->call_count++] = f;
        d->call_count++;
    }
    return true;
}

/* "KERNEL:ARG", or "ARG" of all kernels; a name or a number. */
static bool add_mark(parsed *p, const char *value) {
    char *kernel = keep(p, value), *arg = kernel ? strrchr(kernel, ':') : NULL;
    if (!kernel) return fail("there is no room for --specialize", value);
    if (!*kernel || (arg && !arg[1])) return fail("--specialize takes KERNEL:ARG, not", value);
    if (arg) *arg++ = 0;
    spvf_marked_arg *m = &p->marked[p->options.specialized_count++];
    *m = (spvf_marked_arg){.kernel = arg ? kernel : NULL, .name = arg ? arg : kernel};
    if (strspn(m->name, "0123456789") != strlen(m->name)) return true;
    m->index = strtoull(m->name, NULL, 10);
    m->name = NULL;
    return true;
}

/* "ID=V": an integer, a float with f after it, a double, true or false. */
static bool add_spec(parsed *p, const char *value) {
    char *end, *stop;
    spvf_spec_value *s = &p->specs[p->options.spec_count++];
    s->id = (uint32_t)strtoul(value, &end, 10);
    const char *v = *end == '=' && end != value ? end + 1 : "";
    bool is_word = strcmp(v, "true") == 0 || strcmp(v, "false") == 0;
    bool is_float = !is_word && strncmp(v, "0x", 2) != 0 && v[strcspn(v, ".eEfn")];
    double d = is_float ? strtod(v, &stop) : 0;
    float f = (float)d;
    if (is_word)
        s->value = *v == 't';
    else if (!is_float)
        s->value = *v == '-' ? (uint64_t)strtoll(v, &stop, 0) : strtoull(v, &stop, 0);
    else if (*stop == 'f')
        memcpy(&s->value, &f, sizeof f), stop++;
    else
        memcpy(&s->value, &d, sizeof d);
    return (*v && (is_word || (stop != v && !*stop))) || fail("--spec takes ID=V, not", value);
}

static bool parse(parsed *p) {
    static const char *const names[] = {"--define", "--specialize", "--spec"};
    const char *value;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if ((value = cli_get_nth(names[n], MOST)) != NULL)
            return fail("one option too many:", value);
    for (int n = 0; n < MOST && (value = cli_get_nth("--define", n)); n++)
        if (!add_definition(p, value)) return false;
    for (int n = 0; n < MOST && (value = cli_get_nth("--specialize", n)); n++)
        if (!add_mark(p, value)) return false;
    for (int n = 0; n < MOST && (value = cli_get_nth("--spec", n)); n++)
        if (!add_spec(p, value)) return false;
    return true;
}

spvf_module *cli_load_defined(spvf_context *context, const char *path, const char *target,
                              bool closures) {
    parsed p = {.options = {.size = sizeof p.options, .target = target, .closures = closures}};
    p.options.definitions = p.definitions;
    p.options.specialized = p.marked;
    p.options.specs = p.specs;
    spvf_layout layout;
    char *text;
    if (!parse(&p) || !cli_read_layout(&layout, &text)) return NULL;
    if (text) p.options.layout = &layout;
    spvf_module *m = cli_load_module(context, path, &p.options);
    free(text);
    return m;
}
