/* reduce.c — `spvfuse reduce MODULE -- TEST`: a smaller module with which a test still fails.
 *
 * The module is reduced as text of the IR, by delta debugging (Zeller and Hildebrandt 2002):
 * parts are left out, many at a time at first, then fewer, down to one.  Parts are functions and
 * globals, statements without a result, and values, whose uses become zero, or true.  Between
 * rounds, passes are tried, which fold the branches that have become constant.  (reduce_parts.c
 * has the parts.)
 *
 * A candidate is read again, so the verifier has seen it, and written as the module came: SPIR-V
 * or text. It counts if the test ends with the status that it had for the module, or by the same
 * signal, and, with --message, has printed that text.  Rounds end when none of them makes the
 * text shorter.
 *
 * A test has a process group of its own, so that all that it has started ends with it: when it
 * takes too long, and when the command is interrupted.  The command then writes what it has found
 * so far.
 */
#include "runtime/cli/reduce.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_RUN = 126, NOT_FOUND = 127 }; /* statuses of the shell, and of run_test */

enum { FOLDER = 400, PATH = FOLDER + 32 }; /* most bytes of the folder, and of what is in it */

typedef struct {
    const char *const *test;     /* and its arguments, ended by NULL */
    const char *target;          /* "ir" or "spirv" */
    char file[PATH], said[PATH]; /* the candidate, what the test prints */
    char *text;                  /* the shortest that fails */
    int status;                  /* of wait: how the test ends for it */
    unsigned tests;
} reduction;

/* -------------------------------------------------------------------------------- interruptions */

static volatile sig_atomic_t interrupted; /* the signal, or 0 */
static volatile pid_t test_group;         /* of the test that runs, or 0 */
static reduction current;                 /* for the second signal, which waits for nothing */
static char folder[FOLDER];

static void remove_folder(void) {
    unlink(current.file);
    unlink(current.said);
    rmdir(folder);
}

static void interrupt(int signal_number) {
    if (test_group) kill(-test_group, SIGKILL);
    if (interrupted) {
        remove_folder();
        _exit(128 + signal_number);
    }
    interrupted = signal_number;
}

/* A signal that is ignored, as by nohup, remains so. */
static void watch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = interrupt};
    struct sigaction before;
    for (size_t n = 0; n < sizeof signals / sizeof *signals; n++)
        if (sigaction(signals[n], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[n], &action, NULL);
}

/* Ends as the signal ends a process, which shells understand. */
static void end_by_signal(void) {
    if (!interrupted) return;
    signal(interrupted, SIG_DFL);
    raise(interrupted);
}

/* ------------------------------------------------------------------------------------ the test */

static void ignore_message(void *user, const spvf_message *m) {
    (void)user;
    (void)m;
}

/* The child: the test with the file as its last argument. */
static void run_test(const reduction *r) {
    size_t n = 0;
    int in = open("/dev/null", O_RDONLY);
    int out = open(r->said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setpgid(0, 0);
    while (r->test[n]) n++;
    const char **argv = calloc(n + 2, sizeof *argv);
    if (!argv || out < 0) _exit(CANNOT_RUN);
    memcpy(argv, r->test, n * sizeof *argv);
    argv[n] = r->file;
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(NOT_FOUND);
}

/* Waits until the child has ended or the time is over.  False: it still runs. */
static bool wait_for(pid_t child, int *status, double seconds) {
    while (waitpid(child, status, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        if ((seconds -= 0.002) <= 0) return false;
    }
    return true;
}

/* How the test ends, as wait says; one that takes too long is ended, and has succeeded. */
static int status_of_test(const reduction *r) {
    double seconds = cli_has("--timeout") ? (double)cli_number("--timeout") : 60;
    int status = 0;
    pid_t child = fork();
    if (child == 0) run_test(r);
    if (child < 0) return 0;
    setpgid(child, child); /* whichever of both is first */
    test_group = child;
    if (interrupted) kill(-child, SIGKILL); /* by a signal that did not know of it */
    bool ended = wait_for(child, &status, seconds);
    kill(-child, SIGKILL);
    if (!ended) waitpid(child, &status, 0);
    test_group = 0;
    return ended ? status : 0;
}

static bool has_said(const reduction *r) {
    const char *wanted = cli_get("--message");
    size_t size;
    char *said = wanted ? cli_read(r->said, &size) : NULL;
    bool found = !wanted || (said && strstr(said, wanted) != NULL);
    free(said);
    return found;
}

/* ---------------------------------------------------------------------------------- candidates */

/* Reads the text, runs the passes if there are any, and gives what is printed then; NULL: it is
 * wrong. The module is also written to the file of the test. */
static char *print_candidate(const reduction *r, const char *text, const char *passes) {
    const spvf_context_options options = {.size = sizeof options, .message = ignore_message};
    const spvf_pass_options run = {.size = sizeof run, .passes = passes};
    spvf_context *c;
    spvf_module *m = NULL;
    spvf_blob code = {0}, printed = {0};
    char *result = NULL;
    if (spvf_context_create(&options, &c) != SPVF_OK) return NULL;
    bool ok = spvf_module_load(c, "candidate", text, strlen(text), NULL, &m) == SPVF_OK &&
              (!passes || spvf_module_optimize(m, &run) == SPVF_OK) &&
              spvf_module_emit(m, "ir", &printed) == SPVF_OK &&
              spvf_module_emit(m, r->target, &code) == SPVF_OK;
    if (ok && cli_write(r->file, code.data, code.size)) result = calloc(1, printed.size + 1);
    if (result) memcpy(result, printed.data, printed.size);
    spvf_blob_destroy(&code);
    spvf_blob_destroy(&printed);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return result;
}

/* True: the candidate fails as well, and is the text from here on. */
static bool try_text(reduction *r, const char *text, const char *passes) {
    if (interrupted) return false;
    char *printed = print_candidate(r, text, passes);
    bool ok = printed && strlen(printed) < strlen(r->text);
    if (ok) r->tests++;
    ok = ok && status_of_test(r) == r->status && has_said(r);
    if (!ok || interrupted) {
        free(printed);
        return false;
    }
    free(r->text);
    r->text = printed;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%zu bytes, %u tests ", strlen(printed), r->tests);
    return true;
}

/* Leaves out parts of a kind, many at a time, then fewer. */
static bool leave_out(reduction *r, cli_part_kind kind) {
    bool any = false;
    cli_parts parts = cli_find_parts(r->text, kind);
    for (size_t many = parts.n; many && !interrupted; many /= 2)
        for (size_t from = 0; from < parts.n && !interrupted;) {
            char *text = cli_without_parts(r->text, &parts, from, many);
            bool shorter = text && try_text(r, text, NULL);
            free(text);
            any |= shorter;
            if (!shorter) from += many;
            if (!shorter) continue;
            cli_free_parts(&parts);
            parts = cli_find_parts(r->text, kind);
        }
    cli_free_parts(&parts);
    return any;
}

static bool try_passes(reduction *r) {
    static const char *const passes[] = {"dce",  "simplifycfg", "sccp", "simplify", "inline",
                                         "sroa", "mem2reg",     "dse",  "gvn"};
    bool any = false;
    for (size_t n = 0; n < sizeof passes / sizeof *passes; n++)
        any |= try_text(r, r->text, passes[n]);
    return any;
}

static void reduce(reduction *r) {
    bool any = true;
    while (any) {
        any = false;
        for (cli_part_kind k = 0; k < CLI_PART_KINDS; k++) any |= leave_out(r, k);
        any |= try_passes(r);
    }
    if (isatty(STDERR_FILENO)) fputc('\n', stderr);
}

/* --------------------------------------------------------------------------------------- entry */

/* A test that is not there would fail for every module. */
static bool is_failure(const reduction *r, const char *file) {
    int code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 0;
    bool cannot_run = code == CANNOT_RUN || code == NOT_FOUND;
    if (!cannot_run && r->status != 0 && has_said(r)) return true;
    if (cannot_run)
        fprintf(stderr, "%s: error: the test cannot be run: '%s' ends with status %d\n", file,
                r->test[0], code);
    else
        fprintf(stderr, "%s: error: the test does not fail%s\n", file,
                cli_has("--message") ? " with that message" : "");
    return false;
}

/* What is to be reduced, and whether the test fails for it as this command writes it. */
static bool begin(reduction *r, const char *file) {
    spvf_context *c = cli_context();
    spvf_module *m = cli_load_defined(c, file, NULL, false);
    spvf_blob text = {0};
    bool ok = m && spvf_module_emit(m, "ir", &text) == SPVF_OK;
    r->text = ok ? calloc(1, text.size + 1) : NULL;
    if (r->text) memcpy(r->text, text.data, text.size);
    char *printed = r->text ? print_candidate(r, r->text, NULL) : NULL;
    if (printed) r->status = status_of_test(r);
    free(printed);
    spvf_blob_destroy(&text);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return printed && !interrupted && is_failure(r, file);
}

static bool write_result(const reduction *r) {
    char *printed = print_candidate(r, r->text, NULL);
    size_t size;
    char *code = printed ? cli_read(r->file, &size) : NULL;
    bool ok = code && cli_write(cli_get("-o"), code, size);
    free(code);
    free(printed);
    return ok;
}

static size_t lines_of(const char *text) {
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* In the folder for temporary files; false after a message. */
static bool make_folder(void) {
    const char *temporary = getenv("TMPDIR");
    if (!temporary || *temporary != '/') temporary = "/tmp";
    int n = snprintf(folder, sizeof folder, "%s/spvfuse-reduce-XXXXXX", temporary);
    if (n > 0 && (size_t)n < sizeof folder && mkdtemp(folder)) return true;
    fprintf(stderr, "spvfuse reduce: no folder can be made in %s\n", temporary);
    return false;
}

static bool reduce_file(reduction *r, const char *file) {
    if (!begin(r, file)) return false;
    size_t before = lines_of(r->text);
    reduce(r);
    fprintf(stderr, "%s: note: %zu lines of %zu, after %u tests%s\n", file, lines_of(r->text),
            before, r->tests, interrupted ? ", when it was interrupted" : "");
    return write_result(r);
}

static bool ends_in(const char *name, const char *ending) {
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ending) == 0;
}

/* As -t, the name of the output or that of the module says. */
static bool is_for_text(const char *module) {
    const char *target = cli_get("-t"), *to = cli_get("-o");
    if (target) return strcmp(target, "ir") == 0;
    return ends_in(to, ".ir") || (ends_in(module, ".ir") && !ends_in(to, ".spv"));
}

static int run_reduce(const char *const *files) {
    const char *target = cli_get("-t");
    bool is_text = is_for_text(files[0]);
    if (!cli_can_write(cli_get("-o"), !is_text) || !make_folder()) return CLI_FAILED;
    reduction *r = &current;
    *r = (reduction){.test = files + 1, .target = is_text ? "ir" : target ? target : "spirv"};
    snprintf(r->file, sizeof r->file, "%s/module.%s", folder, is_text ? "ir" : "spv");
    snprintf(r->said, sizeof r->said, "%s/said", folder);
    watch_signals();
    bool ok = reduce_file(r, files[0]);
    remove_folder();
    free(r->text);
    end_by_signal();
    return ok ? CLI_OK : CLI_FAILED;
}

static const cli_option options[] = {
    {"-o, --output", "FILE", "the smaller module (default: standard output)"},
    {"-t, --target", "TARGET",
     "ir, or spirv (default: as the name of the output or the module says)"},
    {"--message", "TEXT", "the test also prints this"},
    {"--timeout", "N", "seconds after which a test counts as one that succeeds (default: 60)"},
    CLI_MODULE_OPTIONS,
    {NULL, NULL, NULL}};
const cli_command cli_reduce = {.name = "reduce",
                                .arguments = "MODULE -- TEST …",
                                .help = "a smaller module, for which TEST … FILE still fails",
                                .options = options,
                                .nfiles = 2,
                                .many = true,
                                .run = run_reduce};
