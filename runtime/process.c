/* process.c — other programs: finding them in PATH, and running one as a filter over two files. */
#include "runtime/runtime.h"

#include <errno.h>
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

/* mkstemp replaces the six letters at the end of the name. */
static char *make_temporary(filter_job *j) {
    const char *folder = getenv("TMPDIR");
    char *name = ir_sprintf(j->arena, "%s/spvfuse-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(name);
    if (fd < 0) rt_throw(j->context, IR_ERR_IO, "%s: cannot be made", name);
    close(fd);
    return name;
}

static void write_input(filter_job *j) {
    FILE *f = fopen(j->in, "wb");
    bool ok = f && fwrite(j->data, 1, j->size, f) == j->size;
    if (f) ok = fclose(f) == 0 && ok;
    if (!ok) rt_throw(j->context, IR_ERR_IO, "%s: cannot be written", j->in);
}

/* False when it is known to have failed.  Nothing is known when the host ignores SIGCHLD: the
 * system has then thrown the status away, and what was written must tell. */
static bool wait_for(pid_t child) {
    int status;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void run_program(filter_job *j) {
    extern char **environ;
    char *argv[] = {
        (char *)(uintptr_t)j->program, (char[]){"-r"}, j->in, (char[]){"-o"}, j->out, NULL};
    pid_t child;
    if (posix_spawn(&child, j->program, NULL, NULL, argv, environ) != 0)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: cannot be started", j->program);
    if (!wait_for(child)) rt_throw(j->context, IR_ERR_DEVICE, "%s refused the module", j->program);
}

static void filter(void *arg) {
    filter_job *j = arg;
    j->in = make_temporary(j);
    j->out = make_temporary(j);
    write_input(j);
    run_program(j);
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
