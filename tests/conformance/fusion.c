/* fusion.c — runs the tables of tests/conformance/fusion: what is fused, how, and what is not.
 *
 *   fusion [--device DEVICE] FOLDER [THEME.txt…]
 *
 * A row is a fuse group and what has to come of it:
 *
 *   add@512/64(a, b, t) mul@512/64(t, c, o) => {512/64} ; 5 args ; fuse.no-barrier
 *
 * Before the arrow are options of the group (`no_barriers`, `force` …), buffers that are internal
 * (`internal NAME [private|local [assume]]`) and launches: a kernel of kernels.ir, its range
 * (sizes, /local sizes, +offset), its arguments, which may also be internal (`NAME internal
 * [private …]`).  Names are buffers of 1024 random ints, unless a line `scalar …` or `buffer NAME
 * TYPE[N] [= INIT]` of the table declares them.  Behind it, between " ; ":
 *   {512/64}              the fused kernel runs on this range
 *   fuse.guard            a decision with this rule, or `fuse.guard: text`, with just this text
 *   promote.local         the same
 *   no fuse.barrier       none with this rule
 *   5 args                the fused kernel has so many; `args add_x add_y` says which
 *   add.x constant        what became of a parameter: used, same, constant, unused, promoted; #1.x
 *                         is that of the second member
 *   local_size 4,1,1      required of the fused kernel
 *   o = 1, 2, 3           what a buffer begins with afterwards
 *   free groups           the unfused run may differ: its work-groups are the device's choice
 *   free addresses        a buffer holds addresses, which every device has of its own
 *   refused text [rule]   not fused, for this reason, and the group runs kernel by kernel
 *
 * Every row also runs on device check: fused and unfused give equal buffers, promoted buffers are
 * as they were before, and nothing is reported.  With --device it also runs there, fused and
 * unfused, and leaves in every buffer what check left.
 */
#include "tests/conformance/fusion.h"
#include "tests/progress.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* --------------------------------------------------------------------------------- expectations */

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
        const spvf_decision *d = info->decisions[k];
        bool same = strlen(d->rule) == n && memcmp(d->rule, rule, n) == 0;
        if (same && (!text || strcmp(d->text, text) == 0)) return true;
    }
    return false;
}

static bool holds_args(const runner *r, const char *names) {
    char got[LINE] = "";
    for (size_t k = 0; k < info_of(r)->arg_count; k++) {
        if (k) row_append(got, " ");
        row_append(got, info_of(r)->args[k]->info->name);
    }
    return strcmp(got, names) == 0;
}

/* "add.x same", "#1.x unused" */
static bool holds_use(const runner *r, const char *item) {
    static const char *const uses[] = {"used", "same", "constant", "unused", "promoted"};
    const char *dot = strchr(item, '.'), *space = dot ? strchr(dot, ' ') : NULL;
    for (size_t k = 0; space && k < info_of(r)->param_count; k++) {
        const spvf_param_info *p = info_of(r)->params[k];
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

static bool is_rule(const char *item) {
    return strncmp(item, "fuse.", 5) == 0 || strncmp(item, "promote.", 8) == 0;
}

static bool holds(const runner *r, const char *item) {
    const char *colon = strstr(item, ": ");
    if (strncmp(item, "free ", 5) == 0) return true;
    if (!r->fusion)
        return strncmp(item, "refused ", 8) == 0 ? strcmp(item + 8, r->warning) == 0
                                                 : strchr(item, '=') && holds_values(r, item);
    if (*item == '{') return holds_range(r, item);
    if (is_rule(item))
        return has_decision(r, item, colon ? (size_t)(colon - item) : strlen(item),
                            colon ? colon + 2 : NULL);
    if (strncmp(item, "no ", 3) == 0 && is_rule(item + 3))
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
        printf("  %s: %s\n", info_of(r)->decisions[k]->rule, info_of(r)->decisions[k]->text);
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
        if (strcmp(r->buffers[k].name, name) == 0 && size <= sizeof r->buffers[k].fused)
            memcpy(r->elsewhere ? r->buffers[k].there : r->buffers[k].fused, data, size);
}

/* All buffers before the group, then all after it. */
static void keep_print(void *user, const char *text) {
    runner *r = user;
    unsigned k = r->prints++;
    buffer *b = &r->buffers[k % r->nbuffers];
    snprintf(b->printed[k / r->nbuffers], sizeof b->printed[0], "%s", text);
}

static bool run(runner *r, const char *device, bool unfused, bool validate,
                spvf_run_result *result) {
    const spvf_run_options o = {.size = sizeof o,
                                .device = device,
                                .unfused = unfused,
                                .validate = validate,
                                .output = keep_print,
                                .output_user = r,
                                .buffer = keep_buffer,
                                .buffer_user = r};
    r->prints = 0;
    return spvf_plan_run(r->loaded, &o, result) == SPVF_OK;
}

/* What is promoted holds what it held before. */
static void expect_untouched(runner *r) {
    for (size_t k = 0; k < info_of(r)->param_count; k++) {
        const spvf_param_info *p = info_of(r)->params[k];
        if (p->use != SPVF_PARAM_PROMOTED) continue;
        const buffer *b = &r->buffers[r->buffer_of[p->member][p->param]];
        if (!b->printed[0][0] || strcmp(b->printed[0], b->printed[1]) != 0)
            complain(r, "promoted, and touched: ", b->name);
    }
}

static void run_both(runner *r, const char *wanted) {
    spvf_run_result result = {.size = sizeof result};
    if (!run(r, NULL, true, false, &result)) complain(r, "the unfused run fails: ", r->errors);
    for (unsigned k = 0; k < r->nbuffers; k++)
        memcpy(r->buffers[k].unfused, r->buffers[k].fused, sizeof r->buffers[k].fused);
    if (!run(r, NULL, false, !strstr(wanted, "free groups"), &result))
        complain(r, "the fused run fails: ", r->errors);
    if (!r->fusion != (result.refused_groups == 1)) complain(r, "the run decides otherwise", "");
    if (r->fusion) expect_untouched(r);
    for (unsigned k = 0; k < r->nbuffers && !r->fusion; k++)
        if (memcmp(r->buffers[k].fused, r->buffers[k].unfused, sizeof r->buffers[k].fused) != 0)
            complain(r, "refused, and not as unfused: ", r->buffers[k].name);
}

/* Leaves what check left, to whom the expectations belong. */
static void run_there(runner *r, bool unfused) {
    const char *what =
        unfused ? "unfused, the other device differs: " : "the other device differs: ";
    r->elsewhere = true;
    if (!run(r, r->device, unfused, false, NULL))
        complain(r, "the other device fails: ", r->errors);
    r->elsewhere = false;
    for (unsigned k = 0; k < r->nbuffers; k++) {
        const buffer *b = &r->buffers[k];
        if (memcmp(b->there, unfused ? b->unfused : b->fused, sizeof b->there) != 0)
            complain(r, what, b->name);
    }
}

static void run_plan(runner *r, const char *wanted) {
    char name[1000];
    snprintf(name, sizeof name, "%s/%s:%u", r->scratch, r->theme, r->line);
    if (spvf_plan_load(r->context, name, r->plan, strlen(r->plan), &r->loaded) != SPVF_OK) {
        complain(r, "no plan: ", r->errors);
        return;
    }
    spvf_status status = spvf_plan_fuse(r->loaded, 0, &r->fusion);
    if (status == SPVF_OK || status == SPVF_ERROR_REFUSED) {
        run_both(r, wanted);
        if (r->device && !strstr(wanted, "free ")) {
            run_there(r, true);
            run_there(r, false);
        }
        judge(r, wanted);
    } else {
        complain(r, "neither fused nor refused: ", r->errors);
    }
    spvf_fusion_destroy(r->fusion);
    spvf_plan_destroy(r->loaded);
}

static void begin_row(runner *r) {
    r->options[0] = r->launches[0] = r->warning[0] = r->errors[0] = 0;
    r->nbuffers = r->nmembers = 0;
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
        row_plan(r, arrow);
        row_write_kernels(r);
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
    r->declared[0] = 0;
    if (!f) perror(path), r->failed++;
    while (f && fgets(r->row, sizeof r->row, f)) {
        r->line++;
        bool declares = row_word(r->row, "scalar") || row_word(r->row, "buffer");
        if (declares) row_append(r->declared, r->row);
        r->row[strcspn(r->row, "\n")] = 0;
        if (r->row[0] && r->row[0] != '#' && !declares) run_row(r);
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
    progress p = progress_begin("themes", n);
    for (size_t i = 0; i < n; i++) {
        run_theme(r, names[i]);
        free(names[i]);
        progress_step(&p);
    }
    progress_end(&p);
}

int main(int argc, char **argv) {
    static runner r;
    int n = 1;
    if (argc > 2 && strcmp(argv[1], "--device") == 0) {
        r.device = argv[2];
        n = 3;
    }
    if (argc <= n) {
        fprintf(stderr, "usage: fusion [--device DEVICE] FOLDER [THEME.txt…]\n");
        return 2;
    }
    r.folder = argv[n++];
    row_begin(&r);
    for (int i = n; i < argc; i++) run_theme(&r, argv[i]);
    if (argc == n) run_folder(&r);
    row_end(&r);
    printf("%u passed, %u failed\n", r.passed, r.failed);
    return r.failed != 0;
}
