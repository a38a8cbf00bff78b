/* errors.c — runs the reader over the modules below tests/frontend and compares what it says.
 *
 *   errors TESTS/FRONTEND WORK-FOLDER
 *
 *   errors/     not to be parsed: `; error: TEXT` on the first line is the one error
 *   malformed/  parts that cannot be read: `; malformed: TEXT` is the warning, `; refused: TEXT`
 *               why a function became a declaration, if one needs that part
 *   lenient/    sloppy but accepted: `; warning: TEXT` lines are the warnings, all of them
 *   refused/    `; refused: TEXT` is why a function became a declaration
 *   read/       `; ir: LINE` lines are in the printed module, in this order; no warnings
 *
 * NAME.spvasm goes through spirv-as, for the environment that an `; env:` line names; NAME.hex, for
 * what spirv-as itself refuses, holds words in hexadecimal with comments.  What is accepted must
 * pass the verifier, and its text must be read back to the same text.
 */
#include "frontend/frontend.h"
#include "tests/file.h"

#include <dirent.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_FILES = 1000, MAX_SAID = 32, ROOM = 512 };

static const char *work;
static int passed, failed;
static const char *current;

/* What the reader said. */
typedef struct {
    char errors[MAX_SAID][ROOM], warnings[MAX_SAID][ROOM];
    int nerrors, nwarnings;
} said;

static void note(void *user, const ir_message *m) {
    said *s = user;
    if (m->severity == IR_ERROR && s->nerrors < MAX_SAID)
        snprintf(s->errors[s->nerrors++], ROOM, "%s", m->text);
    if (m->severity == IR_WARNING && s->nwarnings < MAX_SAID)
        snprintf(s->warnings[s->nwarnings++], ROOM, "%s", m->text);
}

static void fail(const char *what, const char *detail) {
    printf("%s: %s%s%s\n", current, what, detail ? ": " : "", detail ? detail : "");
    failed++;
}

/* ---------------------------------------------------------------------------------------- files */

/* The nth line that starts with "; KEY: ", without that; false when there is none. */
static bool find_line(const char *text, const char *key, int nth, char out[ROOM]) {
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, "; ", 2) != 0 || strncmp(line + 2, key, n) != 0 || line[2 + n] != ':')
            continue;
        if (nth-- > 0) continue;
        const char *start = line + 2 + n + 1 + (line[2 + n + 1] == ' ');
        snprintf(out, ROOM, "%.*s", (int)strcspn(start, "\n"), start);
        return true;
    }
    return false;
}

static char *assemble(const char *path, const char *text, size_t *size) {
    char out[ROOM], env[ROOM] = "spv1.4";
    pid_t child;
    int status = 1;
    find_line(text, "env", 0, env);
    snprintf(out, sizeof out, "%s/%ld.spv", work, (long)getpid());
    char *argv[] = {
        "spirv-as", "--preserve-numeric-ids", "--target-env", env, (char *)path, "-o", out, NULL};
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) == 0) waitpid(child, &status, 0);
    char *words = status == 0 ? read_file(out, size) : NULL;
    unlink(out);
    return words;
}

/* Words in hexadecimal, eight digits each; two digits are one byte; comments start with ';'. */
static char *from_hex(const char *text, size_t *size) {
    char *out = malloc(strlen(text) + 1);
    *size = 0;
    for (const char *s = text; *s;) {
        size_t digits = strspn(s, "0123456789abcdef");
        unsigned long v = strtoul(s, NULL, 16);
        for (size_t i = 0; i < digits / 2; i++) out[(*size)++] = (char)(v >> (8 * i));
        s += digits;
        s += *s == ';' ? strcspn(s, "\n") : *s != 0;
    }
    return out;
}

/* --------------------------------------------------------------------------------------- checks */

static void check_error(ir_module *m, const said *s, const char *text, const ir_ctx *cx) {
    char want[ROOM];
    if (!find_line(text, "error", 0, want))
        fail("no `; error:` line", NULL);
    else if (m || s->nerrors == 0)
        fail("no error, want", want);
    else if (s->nerrors > 1 || strcmp(s->errors[0], want) != 0)
        fail("another error", s->errors[0]);
    else if (cx->status != IR_ERR_INPUT)
        fail("the status is not an input error", NULL);
    else
        passed++;
}

static bool has_warning(const said *s, const char *want) {
    int k = 0;
    while (k < s->nwarnings && strcmp(s->warnings[k], want) != 0) k++;
    if (k == s->nwarnings) fail("the warning is missing", want);
    return k < s->nwarnings;
}

static bool check_warnings(const said *s, const char *text) {
    char want[ROOM];
    int n = find_line(text, "malformed", 0, want);
    if (n && !has_warning(s, want)) return false;
    for (int k = 0; find_line(text, "warning", k, want); k++, n++)
        if (!has_warning(s, want)) return false;
    if (s->nwarnings > n) fail("a warning too many, one of them", s->warnings[s->nwarnings - 1]);
    return s->nwarnings == n;
}

static bool check_refusals(const ir_module *m, const char *text) {
    char want[ROOM];
    const char *last = "none";
    if (!find_line(text, "refused", 0, want)) strcpy(want, "");
    foreach_func (f, m) {
        if (!f->refusal) continue;
        last = f->refusal;
        if (!strcmp(last, want)) return true;
    }
    if (!*want && !strcmp(last, "none")) return true;
    fail("another refusal", last);
    return false;
}

static const char *skip_space(const char *s) { return s + strspn(s, " "); }

static bool check_ir(const char *printed, const char *text) {
    char want[ROOM];
    const char *at = printed;
    for (int n = 0; find_line(text, "ir", n, want); n++) {
        const char *line = at;
        size_t len = strlen(skip_space(want));
        for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
            const char *s = skip_space(line);
            if (!strncmp(s, skip_space(want), len) && (s[len] == '\n' || !s[len])) break;
        }
        if (!line) {
            fail("the line is missing", want);
            printf("%s", printed);
            return false;
        }
        at = line + strcspn(line, "\n");
    }
    return true;
}

static bool check_round_trip(ir_ctx *cx, ir_arena *a, const char *printed) {
    ir_module *again = ir_parse(cx, "printed", printed, strlen(printed));
    ir_text text = {.arena = a};
    if (!again) {
        fail("the printed module is not read back", NULL);
        return false;
    }
    ir_print_module(&text, again, 0);
    bool same = !strcmp(text.data, printed);
    if (!same) fail("the printed module is read back to another text", NULL);
    ir_module_free(again);
    return same;
}

static void check_module(ir_ctx *cx, ir_module *m, const said *s, const char *text) {
    ir_text printed = {.arena = &m->arena};
    if (!ir_verify_module(m)) {
        fail("the verifier finds", s->errors[0]);
        return;
    }
    ir_print_module(&printed, m, 0);
    bool ok = check_warnings(s, text) && check_refusals(m, text) && check_ir(printed.data, text) &&
              check_round_trip(cx, &m->arena, printed.data);
    if (ok) passed++;
}

static void check_bytes(const char *bytes, size_t size, const char *text, bool wants_error) {
    said *s = calloc(1, sizeof *s);
    ir_ctx cx = {.report = note, .report_user = s};
    spv_read_options options = {.file = current};
    ir_module *m = spv_read(&cx, bytes, size, &options);
    if (wants_error)
        check_error(m, s, text, &cx);
    else if (!m)
        fail("not accepted", s->errors[0]);
    else
        check_module(&cx, m, s, text);
    ir_module_free(m);
    if (cx.used) fail("memory was not given back", NULL);
    free(s);
}

static void check_file(const char *path, bool wants_error) {
    size_t size, nbytes = 0;
    char *text = read_file(path, &size);
    bool hex = strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".hex");
    if (!text) return;
    char *bytes = hex ? from_hex(text, &nbytes) : assemble(path, text, &nbytes);
    current = path;
    if (!bytes)
        fail("spirv-as does not accept it", NULL);
    else
        check_bytes(bytes, nbytes, text, wants_error);
    free(bytes);
    free(text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_folder(const char *tests, const char *name, bool wants_error) {
    char folder[ROOM], *names[MAX_FILES];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/%s", tests, name);
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL && n < MAX_FILES;)
        if (e->d_name[0] != '.') names[n++] = strdup(e->d_name);
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++) {
        char path[2 * ROOM];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        check_file(path, wants_error);
        free(names[i]);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: errors TESTS/FRONTEND WORK-FOLDER\n");
        return 2;
    }
    work = argv[2];
    mkdir(work, 0777);
    check_folder(argv[1], "errors", true);
    check_folder(argv[1], "malformed", false);
    check_folder(argv[1], "lenient", false);
    check_folder(argv[1], "refused", false);
    check_folder(argv[1], "read", false);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
