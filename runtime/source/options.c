/* options.c — the options of clBuildProgram, clCompileProgram and clLinkProgram.
 *
 * Words are separated by blanks; quotes hold them together and \ takes the next character as it is,
 * so that -DNAME=\"text\" and -I "a folder" mean what they mean in a shell.  Words that clang knows
 * go on to it as they are.  Words that only other drivers know have no meaning here, and are left
 * out with a warning.
 */
#include "runtime/source/source.h"

/* ---------------------------------------------------------------------------------------- words */

static bool is_blank(char c) { return c && strchr(" \t\r\n\v\f", c); }

/* Takes a word, which stays where it is in the text; NULL: there is none left. */
static char *take_word(char **text) {
    char *s = *text, quote = 0;
    while (is_blank(*s)) s++;
    if (!*s) return NULL;
    char *word = s, *to = s;
    for (; *s && (quote || !is_blank(*s)); s++) {
        bool toggles = quote ? *s == quote : *s == '"' || *s == '\'';
        if (toggles)
            quote = quote ? 0 : *s;
        else if (*s == '\\' && quote != '\'' && s[1])
            *to++ = *++s;
        else
            *to++ = *s;
    }
    *text = s + (*s != 0);
    *to = 0;
    return word;
}

/* ---------------------------------------------------------------------------------------- table */

enum {
    READ =
        RT_CLC_FOR_BUILD | RT_CLC_FOR_COMPILE, /* they mean something to the compiler of a source */
    ANY = RT_CLC_FOR_BUILD | RT_CLC_FOR_COMPILE | RT_CLC_FOR_LINK,
    LINK = RT_CLC_FOR_LINK
};

typedef enum {
    PASS,     /* clang has it too */
    DROP,     /* it is a permission that is never used, or the rule here anyway */
    PREFIX,   /* more follows: at once or as the next word */
    ASK,      /* a word that begins so asks clang for warnings */
    IGNORE,   /* a word that begins so is left out */
    STANDARD, /* a version of OpenCL C */
    SLOW,     /* no optimization */
    UNIFORM,
    ARG_INFO,
    SILENT,
    REMARKS,
    LAYOUT,
    LIBRARY,
    ENABLE
} meaning;

static const struct {
    const char *word;
    unsigned use;
    meaning means;
} table[] = {
    {"-D", READ, PREFIX},
    {"-I", READ, PREFIX},
    {"-cl-std=CL1.0", READ, STANDARD},
    {"-cl-std=CL1.1", READ, STANDARD},
    {"-cl-std=CL1.2", READ, STANDARD},
    {"-cl-std=CL2.0", READ, STANDARD},
    {"-cl-std=CL3.0", READ, STANDARD},
    {"-cl-single-precision-constant", READ, PASS},
    {"-cl-fp32-correctly-rounded-divide-sqrt", READ, PASS},
    {"-cl-opt-disable", READ, SLOW},
    {"-cl-strict-aliasing", READ, DROP},
    {"-cl-uniform-work-group-size", READ, UNIFORM},
    {"-cl-no-subgroup-ifp", ANY, DROP},
    {"-cl-mad-enable", READ, PASS},
    {"-cl-kernel-arg-info", READ, ARG_INFO},
    {"-cl-denorms-are-zero", ANY, PASS},
    {"-cl-no-signed-zeros", ANY, PASS},
    {"-cl-no-signed-zeroes", LINK, DROP}, /* so it is spelt for linking */
    {"-cl-unsafe-math-optimizations", ANY, PASS},
    {"-cl-finite-math-only", ANY, PASS},
    {"-cl-fast-relaxed-math", ANY, PASS},
    {"-g", READ, PASS},
    {"-w", READ, SILENT},
    {"-Werror", READ, PASS},
    {"-Wl,", READ, IGNORE}, /* for the tools of a compiler that has any */
    {"-Wp,", READ, IGNORE},
    {"-Wa,", READ, IGNORE},
    {"-W", READ, ASK},
    {"-f", READ, IGNORE},
    {"-O", READ, IGNORE},
    {"-m", READ, IGNORE},
    {"-save-temps", READ, IGNORE},
    {"-cl-spvfuse-remarks", ANY, REMARKS},
    {"-cl-spvfuse-layout=", ANY, LAYOUT},
    {"-cl-nv-", ANY, IGNORE},
    {"-cl-intel-", ANY, IGNORE},
    {"-create-library", LINK, LIBRARY},
    {"-enable-link-options", LINK, ENABLE},
};

enum { WORDS = sizeof table / sizeof *table };

static bool fits(unsigned row, const char *word, rt_clc_use use) {
    meaning m = table[row].means;
    const char *known = table[row].word;
    if (!(table[row].use & use)) return false;
    if (m == PREFIX || m == ASK || m == IGNORE || m == LAYOUT)
        return strncmp(word, known, strlen(known)) == 0;
    return strcmp(word, known) == 0;
}

/* ---------------------------------------------------------------------------------------- entry */

typedef struct {
    ir_arena *arena;
    char *text; /* what is left */
    rt_clc_options *options;
    ir_vec(const char *) ignored;
} reading;

static void warn(reading *r) {
    for (uint32_t k = 0; k < r->ignored.n && !r->options->silent; k++)
        ir_report(r->arena->cx, (ir_message){.severity = IR_WARNING},
                  "option '%s' means nothing here", r->ignored.data[k]);
}

static void take_standard(rt_clc_options *o, const char *word) {
    o->has_std = true;
    o->is_c1 = strncmp(word, "-cl-std=CL1", 11) == 0;
}

/* "-D" and the next word; NULL: there is none. */
static char *join(reading *r, const char *word) {
    const char *next = take_word(&r->text);
    return next ? ir_sprintf(r->arena, "%s%s", word, next) : NULL;
}

/* Remarks name lines of the source, which has no folder. */
static void ask_for_lines(reading *r) {
    r->options->remarks = true;
    *ir_push(r->arena, &r->options->words) = ir_strdup(r->arena, "-g");
    *ir_push(r->arena, &r->options->words) = ir_strdup(r->arena, "-fdebug-compilation-dir=.");
}

/* False: no file is named. */
static bool take_layout(rt_clc_options *o, const char *word) {
    o->layout = strchr(word, '=') + 1;
    return *o->layout != 0;
}

static bool take(reading *r, meaning m, char *word) {
    rt_clc_options *o = r->options;
    if (m == PREFIX && !word[2] && !(word = join(r, word))) return false;
    if (m == IGNORE) *ir_push(r->arena, &r->ignored) = word;
    if (m == STANDARD) take_standard(o, word);
    if (m == SLOW) o->optimize = false;
    if (m == UNIFORM) o->uniform = true;
    if (m == ARG_INFO) o->arg_info = true;
    if (m == SILENT) o->silent = true;
    if (m == LIBRARY) o->library = true;
    if (m == ENABLE) o->enables_link = true;
    if (m == PASS || m == PREFIX || m == ASK || m == STANDARD || m == ARG_INFO || m == SILENT)
        *ir_push(r->arena, &o->words) = word;
    if (m == REMARKS) ask_for_lines(r);
    return m != LAYOUT || take_layout(o, word);
}

bool rt_clc_read_options(ir_arena *a, const char *text, rt_clc_use use, rt_clc_options *o) {
    reading r = {.arena = a, .text = ir_strdup(a, text ? text : ""), .options = o};
    char *word;
    *o = (rt_clc_options){.optimize = true, .is_c1 = true};
    while ((word = take_word(&r.text))) {
        unsigned row = 0;
        while (row < WORDS && !fits(row, word, use)) row++;
        if (row == WORDS || !take(&r, table[row].means, word))
            return ir_error(a->cx, "option '%s' is not known, or lacks a word", word);
    }
    warn(&r);
    return !o->enables_link || o->library ||
           ir_error(a->cx, "-enable-link-options is for libraries");
}
