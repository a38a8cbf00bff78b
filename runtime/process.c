/* process.c — other programs: finding them in PATH, running them, one as a filter of files. */
#include "runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *rt_find_program(ir_arena *a, const char *name) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        const char *full = ir_sprintf(a, "%.*s/%s", (int)n, path, name);
        if (access(full, X_OK) == 0) return full;
        path += n + (path[n] == ':');
    }
    return NULL;
}

char *rt_temporary_name(ir_arena *a) {
    const char *folder = getenv("TMPDIR");
    return ir_sprintf(a, "%s/spvfuse-XXXXXX", folder && *folder ? folder : "/tmp");
}

/* -------------------------------------------------------------------------------------- running */

/* False when it is known to have failed.  Nothing is known when the host ignores SIGCHLD, or waits
 * for our child itself: the status is then lost, and what was written must tell. */
static bool wait_for(pid_t child) {
    int status;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool redirect(posix_spawn_file_actions_t *a, const char *in, const char *messages) {
    const int create = O_WRONLY | O_CREAT | O_TRUNC;
    if (posix_spawn_file_actions_addopen(a, 0, in ? in : "/dev/null", O_RDONLY, 0)) return false;
    if (!messages) return true;
    return posix_spawn_file_actions_addopen(a, 1, messages, create, 0600) == 0 &&
           posix_spawn_file_actions_adddup2(a, 1, 2) == 0;
}

rt_outcome rt_run_program(char *const *argv, const char *in, const char *messages) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions)) return RT_PROGRAM_MISSING;
    bool ok = redirect(&actions, in, messages) &&
              posix_spawn(&child, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return !ok ? RT_PROGRAM_MISSING : wait_for(child) ? RT_PROGRAM_RAN : RT_PROGRAM_FAILED;
}

/* -------------------------------------------------------------------------------------- filters */

typedef struct {
    spvf_context *context;
    ir_arena *arena;
    const char *program;
    const void *data;
    size_t size;
    char *in, *out; /* temporary files */
    char *result;
    size_t result_size;
} filter_job;

static char *make_temporary(filter_job *j) {
    char *name = rt_temporary_name(j->arena);
    int fd = mkstemp(name);
    if (fd < 0) rt_throw(j->context, IR_ERR_IO, "%s: cannot be made", name);
    close(fd);
    return name;
}

static void run_filter(filter_job *j) {
    char *argv[] = {
        (char *)(uintptr_t)j->program, (char[]){"-r"}, j->in, (char[]){"-o"}, j->out, NULL};
    rt_outcome outcome = rt_run_program(argv, NULL, NULL);
    if (outcome == RT_PROGRAM_MISSING)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: cannot be started", j->program);
    if (outcome == RT_PROGRAM_FAILED)
        rt_throw(j->context, IR_ERR_DEVICE, "%s refused the module", j->program);
}

static void filter(void *arg) {
    filter_job *j = arg;
    j->in = make_temporary(j);
    j->out = make_temporary(j);
    rt_write_file(j->context, j->in, j->data, j->size);
    run_filter(j);
    j->result = rt_read_file(j->context, j->arena, j->out, &j->result_size);
    if (!j->result_size)
        rt_throw(j->context, IR_ERR_DEVICE, "%s gave nothing for the module", j->program);
}

char *rt_filter(spvf_context *context, ir_arena *a, const char *program, const void *data,
                size_t size, size_t *result_size) {
    filter_job j = {.context = context, .arena = a, .program = program, .data = data, .size = size};
    bool ok = ir_try(&context->cx, filter, &j);
    if (j.in) unlink(j.in);
    if (j.out) unlink(j.out);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    *result_size = j.result_size;
    return j.result;
}
