/* fusion.c — runs the tables of tests/conformance/fusion: what is fused, how, and what is not.
 *
 *   fusion FOLDER [THEME.txt…]
 *
 * A row is a fuse group and what has to come of it:
 *
 *   add@512/64(a, b, t) mul@512/64(t, c, o) => {512/64} ; 5 args ; fuse.no-barrier
 *
 * Before the arrow stand options of the group (`no_barriers`, `force` …; `internal NAME`) and
 * launches: a kernel of kernels.ir, its range (sizes, /local sizes, +offset), its arguments.  Names
 * are buffers of 1024 random ints, unless a line `scalar …` of the table declares them.  Behind it,
 * between " ; ":
 *   {512/64}              the fused kernel runs on this range
 *   fuse.guard            a decision with this rule, or `fuse.guard: text`, with just this text
 *   no fuse.barrier       none with this rule
 *   5 args                the fused kernel has so many; `args add_x add_y` says which
 *   add.x constant        what became of a parameter: used, same, constant, unused; #1.x is that
 *                         of the second member
 *   local_size 4,1,1      required of the fused kernel
 *   o = 1, 2, 3           what a buffer begins with afterwards
 *   free groups           the unfused run may differ: its work-groups are the device's choice
 *   refused text [rule]   not fused, for this reason, and the group runs kernel by kernel
 *
 * Every row also runs on device check: fused and unfused give equal buffers, and nothing is
 * reported.
 */
#include "runtime/spvfuse.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1024, MAX_BUFFERS = 16, LINE = 4096 };

typedef struct {
    char name[32];
    int32_t fused[ELEMENTS], unfused[ELEMENTS];
} buffer;

typedef struct {
    const char *folder, *theme;
    unsigned line, passed, failed;
    char scalars[LINE]; /* of the theme */
    char row[LINE];

    /* of the row */
    char options[LINE], internal[32], launches[LINE];
    buffer buffers[MAX_BUFFERS];
    unsigned nbuffers;
    char plan[2 * LINE];
    char warning[LINE]; /* the first */
    char errors[LINE];
    spvf_context *context;
    spvf_plan *loaded;
    spvf_fusion *fusion; /* NULL: refused */
    bool right;
} runner;

static void complain(runner *r, const char *what, const char *want) {
    if (r->right) printf("FAIL %s:%u: %s\n", r->theme, r->line, r->row);
    printf("  %s%s\n", what, want);
    r->right = false;
}

/* ------------------------------------------------------------------------------------- messages */

static void keep_message(void *user, const spvf_message *m) {
    runner *r = user;
    size_t n = strlen(r->errors);
    if (m->severity == SPVF_WARNING && !r->warning[0] && strncmp(m->text, "not fused: ", 11) == 0)
        snprintf(r->warning, sizeof r->warning, "%s", m->text + 11);
    if (m->severity == SPVF_ERROR)
        snprintf(r->errors + n, sizeof r->errors - n, "%s\n", m->formatted);
}

/* ------------------------------------------------------------------------------------- the plan */

static void append(char *to, const char *text, size_t n) {
    size_t at = strlen(to);
    if (at + n + 1 < LINE) snprintf(to + at, n + 1, "%.*s", (int)n, text);
}

static void append_text(char *to, const char *text) { append(to, text, strlen(text)); }

static bool is_scalar(const runner *r, const char *name, size_t n) {
    for (const char *s = r->scalars; (s = strstr(s, "scalar ")) != NULL; s += 7)
        if (strncmp(s + 7, name, n) == 0 && s[7 + n] == ' ') return true;
    return false;
}

static void note_buffer(runner *r, const char *name, size_t n) {
    if (!islower((unsigned char)*name) || n >= 32 || is_scalar(r, name, n)) return;
    if (memchr(name, ' ', n)) return; /* local N */
    for (unsigned k = 0; k < r->nbuffers; k++)
        if (strlen(r->buffers[k].name) == n && memcmp(r->buffers[k].name, name, n) == 0) return;
    if (r->nbuffers == MAX_BUFFERS) abort();
    snprintf(r->buffers[r->nbuffers++].name, 32, "%.*s", (int)n, name);
}

static void take_args(runner *r, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        while (i < n && (s[i] == ' ' || s[i] == ',')) i++;
        size_t end = i;
        while (end < n && s[end] != ',') end++;
        if (end > i) note_buffer(r, s + i, end - i);
        i = end;
    }
    if (n) append_text(r->launches, " args ");
    append(r->launches, s, n);
    append_text(r->launches, "\n");
}

/* "64,4" as the plan writes it; what follows. */
static const char *take_sizes(runner *r, const char *word, const char *s, unsigned *dims) {
    append_text(r->launches, word);
    for (unsigned n = 0; isdigit((unsigned char)*s); n++, *dims = n > *dims ? n : *dims) {
        size_t digits = strspn(s, "0123456789");
        append_text(r->launches, " ");
        append(r->launches, s, digits);
        s += digits + (s[digits] == ',');
    }
    return s;
}

/* kernel@range(arguments) */
static const char *take_launch(runner *r, const char *s) {
    size_t name = strcspn(s, "@");
    unsigned dims = 0;
    append_text(r->launches, "  launch \"kernels.ir\":");
    append(r->launches, s, name);
    s = take_sizes(r, " global", s + name + 1, &dims);
    if (*s == '/') s = take_sizes(r, " local", s + 1, &dims);
    if (*s == '+') s = take_sizes(r, " offset", s + 1, &dims);
    if (*s != '(') return s + strlen(s);
    const char *close = strchr(s, ')');
    take_args(r, s + 1, (size_t)(close - s) - 1);
    return close + 1;
}

static void take_group(runner *r, const char *s, const char *arrow) {
    while (s < arrow) {
        size_t n = strcspn(s, " ");
        if (n == 0) {
            s++;
        } else if (memchr(s, '@', n)) {
            s = take_launch(r, s);
        } else if (strncmp(s, "internal ", 9) == 0) {
            s += 9;
            snprintf(r->internal, sizeof r->internal, "%.*s", (int)strcspn(s, " "), s);
            s += strcspn(s, " ");
        } else {
            append(r->options, s, n + 1);
            s += n;
        }
    }
}

static void write_plan(runner *r) {
    size_t n = (size_t)snprintf(r->plan, sizeof r->plan, "%s", r->scalars);
    for (unsigned k = 0; k < r->nbuffers; k++)
        n += (size_t)snprintf(r->plan + n, sizeof r->plan - n, "buffer %s i32[%d] = random %u%s\n",
                              r->buffers[k].name, ELEMENTS, k + 1,
                              strcmp(r->buffers[k].name, r->internal) == 0 ? " internal" : "");
    snprintf(r->plan + n, sizeof r->plan - n, "fuse fused %s{\n%s}\n", r->options, r->launches);
}

/* -------------------------------------------------------------------------------- expectations */

static const spvf_fusion_info *info_of(const runner *r) { return spvf_fusion_get_info(r->fusion); }

static size_t put_numbers(char *to, size_t room, const uint64_t *v, unsigned n) {
    size_t at = 0;
    for (unsigned k = 0; k < n && at < room; k++)
        at +=
            (size_t)snprintf(to + at, room - at, "%s%llu", k ? "," : "", (unsigned long long)v[k]);
    return at;
}

static void range_text(const spvf_range *range, char *out, size_t room) {
    size_t n = 1;
    out[0] = '{';
    n += put_numbers(out + n, room - n, range->global, range->dims);
    if (range->local[0]) out[n++] = '/';
    if (range->local[0]) n += put_numbers(out + n, room - n, range->local, range->dims);
    if (range->offset[0] || range->offset[1] || range->offset[2]) out[n++] = '+';
    if (out[n - 1] == '+') n += put_numbers(out + n, room - n, range->offset, range->dims);
    snprintf(out + n, room - n, "}");
}

static bool has_decision(const runner *r, const char *rule, size_t n, const char *text) {
    const spvf_fusion_info *info = info_of(r);
    for (size_t k = 0; k < info->decision_count; k++) {
        const spvf_decision *d = &info->decisions[k];
        bool same = strlen(d->rule) == n && memcmp(d->rule, rule, n) == 0;
        if (same && (!text || strcmp(d->text, text) == 0)) return true;
    }
    return false;
}

static bool holds_args(const runner *r, const char *names) {
    char got[LINE] = "";
    for (size_t k = 0; k < info_of(r)->arg_count; k++) {
        if (k) append_text(got, " ");
        append_text(got, info_of(r)->args[k].info.name);
    }
    return strcmp(got, names) == 0;
}

/* "add.x same", "#1.x unused" */
static bool holds_use(const runner *r, const char *item) {
    static const char *const uses[] = {"used", "same", "constant", "unused"};
    const char *dot = strchr(item, '.'), *space = dot ? strchr(dot, ' ') : NULL;
    for (size_t k = 0; space && k < info_of(r)->param_count; k++) {
        const spvf_param_info *p = &info_of(r)->params[k];
        bool named = strlen(p->kernel) == (size_t)(dot - item) &&
                     memcmp(p->kernel, item, (size_t)(dot - item)) == 0;
        bool numbered = *item == '#' && strtoul(item + 1, NULL, 10) == p->member;
        bool same = p->name && strlen(p->name) == (size_t)(space - dot) - 1 &&
                    memcmp(p->name, dot + 1, strlen(p->name)) == 0;
        if (same && (named || numbered)) return strcmp(uses[p->use], space + 1) == 0;
    }
    return false;
}

static bool holds_local_size(const runner *r, const char *want) {
    const spvf_kernel_info *k =
        spvf_module_find_kernel(spvf_fusion_module(r->fusion), info_of(r)->name);
    uint64_t size[3] = {k->required_local_size[0], k->required_local_size[1],
                        k->required_local_size[2]};
    char got[80];
    put_numbers(got, sizeof got, size, 3);
    return strcmp(got, want) == 0;
}

static bool holds_values(const runner *r, const char *item) {
    const char *s = strchr(item, '=') + 1;
    for (unsigned k = 0; k < r->nbuffers; k++) {
        const buffer *b = &r->buffers[k];
        size_t n = strlen(b->name);
        if (strncmp(item, b->name, n) != 0 || item[n] != ' ') continue;
        bool same = true;
        for (unsigned at = 0; *s; at++) {
            char *end;
            same &= b->fused[at] == (int32_t)strtoll(s, &end, 10);
            s = *end == ',' ? end + 1 : end;
        }
        return same;
    }
    return false;
}

static bool holds_range(const runner *r, const char *want) {
    char got[200];
    range_text(&info_of(r)->range, got, sizeof got);
    return strcmp(got, want) == 0;
}

static bool holds(const runner *r, const char *item) {
    const char *colon = strstr(item, ": ");
    if (!r->fusion)
        return strncmp(item, "refused ", 8) == 0 ? strcmp(item + 8, r->warning) == 0
                                                 : strchr(item, '=') && holds_values(r, item);
    if (strcmp(item, "free groups") == 0) return true;
    if (*item == '{') return holds_range(r, item);
    if (strncmp(item, "fuse.", 5) == 0)
        return has_decision(r, item, colon ? (size_t)(colon - item) : strlen(item),
                            colon ? colon + 2 : NULL);
    if (strncmp(item, "no fuse.", 8) == 0)
        return !has_decision(r, item + 3, strlen(item + 3), NULL);
    if (strncmp(item, "args ", 5) == 0) return holds_args(r, item + 5);
    if (strncmp(item, "local_size ", 11) == 0) return holds_local_size(r, item + 11);
    if (strstr(item, " args")) return strtoul(item, NULL, 10) == info_of(r)->arg_count;
    return strchr(item, '=') ? holds_values(r, item) : holds_use(r, item);
}

static void say_what_came(runner *r) {
    char text[200];
    if (!r->fusion) {
        complain(r, "got: refused ", r->warning);
        return;
    }
    range_text(&info_of(r)->range, text, sizeof text);
    complain(r, "got: ", text);
    for (size_t k = 0; k < info_of(r)->decision_count; k++) {
        printf("  %s: %s\n", info_of(r)->decisions[k].rule, info_of(r)->decisions[k].text);
    }
}

static void judge(runner *r, const char *wanted) {
    char text[LINE];
    bool right = r->right;
    snprintf(text, sizeof text, "%s", wanted);
    for (char *item = text, *next; item; item = next) {
        next = strstr(item, " ; ");
        if (next) *next = 0;
        if (next) next += 3;
        if (!holds(r, item)) complain(r, "want: ", item);
    }
    if (right && !r->right) say_what_came(r);
}

/* -------------------------------------------------------------------------------------- running */

static void keep_buffer(void *user, const char *name, const char *element, const void *data,
                        size_t size) {
    runner *r = user;
    (void)element;
    for (unsigned k = 0; k < r->nbuffers; k++)
        if (strcmp(r->buffers[k].name, name) == 0 && size == sizeof r->buffers[k].fused)
            memcpy(r->buffers[k].fused, data, size);
}

static bool run(runner *r, bool unfused, bool validate, spvf_run_result *result) {
    const spvf_run_options o = {.size = sizeof o,
                                .unfused = unfused,
                                .validate = validate,
                                .buffer = keep_buffer,
                                .buffer_user = r};
    return spvf_plan_run(r->loaded, &o, result) == SPVF_OK;
}

static void run_both(runner *r, const char *wanted) {
    spvf_run_result result = {0};
    if (!run(r, true, false, &result)) complain(r, "the unfused run fails: ", r->errors);
    for (unsigned k = 0; k < r->nbuffers; k++)
        memcpy(r->buffers[k].unfused, r->buffers[k].fused, sizeof r->buffers[k].fused);
    if (!run(r, false, !strstr(wanted, "free groups"), &result))
        complain(r, "the fused run fails: ", r->errors);
    if (!r->fusion != (result.refused_groups == 1)) complain(r, "the run decides otherwise", "");
    for (unsigned k = 0; k < r->nbuffers && !r->fusion; k++)
        if (memcmp(r->buffers[k].fused, r->buffers[k].unfused, sizeof r->buffers[k].fused) != 0)
            complain(r, "refused, and not as unfused: ", r->buffers[k].name);
}

static void run_plan(runner *r, const char *wanted) {
    char name[500];
    snprintf(name, sizeof name, "%s/%s:%u", r->folder, r->theme, r->line);
    if (spvf_plan_load(r->context, name, r->plan, strlen(r->plan), &r->loaded) != SPVF_OK) {
        complain(r, "no plan: ", r->errors);
        return;
    }
    spvf_status status = spvf_plan_fuse(r->loaded, 0, &r->fusion);
    if (status == SPVF_OK || status == SPVF_ERROR_REFUSED) {
        run_both(r, wanted);
        judge(r, wanted);
    } else {
        complain(r, "neither fused nor refused: ", r->errors);
    }
    spvf_fusion_destroy(r->fusion);
    spvf_plan_destroy(r->loaded);
}

static void begin_row(runner *r) {
    r->options[0] = r->internal[0] = r->launches[0] = r->warning[0] = r->errors[0] = 0;
    r->nbuffers = 0;
    r->loaded = NULL;
    r->fusion = NULL;
    r->right = true;
}

static void run_row(runner *r) {
    const char *arrow = strstr(r->row, " => ");
    const spvf_context_options o = {.size = sizeof o, .message = keep_message, .message_user = r};
    begin_row(r);
    if (!arrow) {
        complain(r, "a row has an arrow", "");
    } else {
        take_group(r, r->row, arrow);
        write_plan(r);
        if (spvf_context_create(&o, &r->context) != SPVF_OK) abort();
        run_plan(r, arrow + 4);
        spvf_context_destroy(r->context);
    }
    r->passed += r->right;
    r->failed += !r->right;
}

static void run_theme(runner *r, const char *theme) {
    char path[500];
    snprintf(path, sizeof path, "%s/%s", r->folder, theme);
    FILE *f = fopen(path, "r");
    r->theme = theme;
    r->line = 0;
    r->scalars[0] = 0;
    if (!f) perror(path), r->failed++;
    while (f && fgets(r->row, sizeof r->row, f)) {
        r->line++;
        if (strncmp(r->row, "scalar ", 7) == 0) append_text(r->scalars, r->row);
        r->row[strcspn(r->row, "\n")] = 0;
        if (r->row[0] && r->row[0] != '#' && strncmp(r->row, "scalar ", 7) != 0) run_row(r);
    }
    if (f) fclose(f);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_folder(runner *r) {
    char *names[100];
    size_t n = 0;
    DIR *d = opendir(r->folder);
    for (struct dirent *e; d && n < 100 && (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, ".txt")) names[n++] = strdup(e->d_name);
    if (d) closedir(d);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        run_theme(r, names[i]);
        free(names[i]);
    }
}

int main(int argc, char **argv) {
    static runner r;
    if (argc < 2) {
        fprintf(stderr, "usage: fusion FOLDER [THEME.txt…]\n");
        return 2;
    }
    r.folder = argv[1];
    for (int i = 2; i < argc; i++) run_theme(&r, argv[i]);
    if (argc == 2) run_folder(&r);
    printf("%u passed, %u failed\n", r.passed, r.failed);
    return r.failed != 0;
}
