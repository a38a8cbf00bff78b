/* words.c — what the values of options and the arguments of commands may be: for completion in
 * shells, and for naming the word that was meant.
 *
 * In the table of a command, an option says what its value is by a name in capitals, such as FILE,
 * TARGET or STAGE.  A name in small letters is itself the only value.
 */
#include "runtime/cli/cli.h"

#include <string.h>

/* Word n of two lists that end with NULL, or NULL. */
static const char *word_of(const char *const *a, const char *const *b, size_t n) {
    while (*a && n) a++, n--;
    if (*a) return *a;
    while (*b && n) b++, n--;
    return *b;
}

static const char *const none[] = {NULL};

static const char *target_word(const cli_command *c, size_t n) {
    static const char *const native[] = {"x86_64",    "x86_64:v2",      "x86_64:v3",
                                         "x86_64:v4", "x86_64:icelake", NULL};
    static const char *const gpu[] = {"ptx", "cubin", NULL}, *const text[] = {"ir", "spirv", NULL};
    static const char *const other[] = {"ir",        "dot",       "spirv",     "spirv:1.0",
                                        "spirv:1.1", "spirv:1.2", "spirv:1.3", "spirv:1.4",
                                        "ptx",       "cubin",     NULL};
    if (c == &cli_explain) return word_of(native, none, n);
    if (c == &cli_reduce) return word_of(text, none, n);
    return c == &cli_pack ? word_of(native, gpu, n) : word_of(other, native, n);
}

static const char *device_word(const cli_command *c, size_t n) {
    static const char *const list[] = {"cpu", "check", "opencl", "cuda", NULL};
    return (void)c, word_of(list, none, n);
}

static const char *when_word(const cli_command *c, size_t n) {
    static const char *const list[] = {"auto", "always", "never", NULL};
    return (void)c, word_of(list, none, n);
}

static const char *stage_word(const cli_command *c, size_t n) {
    size_t passes = 0;
    while (spvf_pass_name(passes, NULL)) passes++;
    return (void)c, n < passes ? spvf_pass_name(n, NULL) : spvf_stage_name(n - passes, NULL);
}

static const char *pass_word(const cli_command *c, size_t n) {
    return (void)c, n ? spvf_pass_name(n - 1, NULL) : "standard";
}

typedef struct {
    const char *value; /* as tables of commands call it */
    cli_value_kind kind;
    const char *noun; /* as messages call it; NULL: nothing is suggested */
    const char *(*word)(const cli_command *c, size_t n);
} value_row;

static const value_row rows[] = {{"FILE", CLI_FILE, NULL, NULL},
                                 {"FOLDER", CLI_FOLDER, NULL, NULL},
                                 {"TARGET", CLI_WORD, "target", target_word},
                                 {"T1,T2,…", CLI_LIST, "target", target_word},
                                 {"DEVICE", CLI_WORD, "device", device_word},
                                 {"WHEN", CLI_WORD, NULL, when_word},
                                 {"STAGE", CLI_WORD, "pass or stage", stage_word},
                                 {"P1,P2,…", CLI_LIST, "pass", pass_word}};

static bool is_literal(const char *value) { return *value >= 'a' && *value <= 'z'; }

/* NULL: any text, or a literal. */
static const value_row *row_of(const cli_option *o) {
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (strcmp(rows[n].value, o->value) == 0) return &rows[n];
    return NULL;
}

cli_value_kind cli_kind_of(const cli_option *o) {
    const value_row *row = row_of(o);
    return row ? row->kind : is_literal(o->value) ? CLI_WORD : CLI_TEXT;
}

const char *cli_value_word(const cli_command *c, const cli_option *o, size_t n) {
    const value_row *row = row_of(o);
    if (row) return row->word ? row->word(c, n) : NULL;
    return is_literal(o->value) && n == 0 ? o->value : NULL;
}

bool cli_argument_word(const cli_command *c, size_t n, char *out, size_t size) {
    const char *s = strchr(c->arguments, '|') ? c->arguments : "";
    for (; n && *s; n--) s += strcspn(s, "|") + (strchr(s, '|') != NULL);
    snprintf(out, size, "%.*s", (int)strcspn(s, "|"), s);
    return *s != 0;
}

/* ------------------------------------------------------------------------------- what is meant */

/* Only a word that is near to another is refused, with a message: the library knows what else there
 * is. */
static bool refuse_near(const cli_command *c, const cli_option *o, const char *given) {
    cli_suggestion s = {.given = given};
    const value_row *row = row_of(o);
    const char *word;
    for (size_t n = 0; (word = cli_value_word(c, o, n)) != NULL; n++) {
        if (strcmp(word, given) == 0) return false;
        cli_suggest(&s, word);
    }
    if (!s.nearest || !row || !row->noun) return false;
    fprintf(stderr, "spvfuse %s: unknown %s '%s'; did you mean '%s'?\n", c->name, row->noun, given,
            s.nearest);
    return true;
}

bool cli_check_value(const cli_command *c, const cli_option *o, const char *value) {
    char word[64];
    cli_value_kind kind = cli_kind_of(o);
    /* After a device or a target, options follow. */
    const char *end = strcmp(o->value, "DEVICE") == 0 ? ":" : ",";
    if (is_literal(o->value) && strcmp(o->value, value) != 0) {
        fprintf(stderr, "spvfuse %s: %s takes '%s', not '%s'\n", c->name, o->name, o->value, value);
        return false;
    }
    if (kind != CLI_WORD && kind != CLI_LIST) return true;
    for (const char *s = value; *s; s += *s == ',') {
        size_t length = strcspn(s, end);
        snprintf(word, sizeof word, "%.*s", (int)length, s);
        if (refuse_near(c, o, word)) return false;
        s += length;
        if (kind == CLI_WORD) break;
    }
    return true;
}
