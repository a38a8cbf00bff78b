/* process.c — other programs: finding them, running them, one as a filter.
 *
 * A program is looked for in the folders of the system first, then in those of PATH: so a program
 * that was left in a folder of PATH does not replace an installed one.
 *
 * A program reads and writes files in memory that have no name: nothing is left behind, however it
 * ends, or this process does.  It ends with the thread that has started it, or when its time is
 * over; programs that it has started are in its process group and are ended then, too.
 *
 * It is started with vfork, since a host may be large, and between vfork and exec nothing is called
 * but the system.
 */
#define _GNU_SOURCE /* memfd_create, vfork, execve and its environment */
#include "runtime/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char rt_system_folders[] = "/usr/local/bin:/usr/bin:/bin";

static bool is_program(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Relative and empty folders are left out: they would change with the folder of the process. */
const char *rt_find_program_in(ir_arena *a, const char *path, const char *name) {
    while (path && *path) {
        size_t n = strcspn(path, ":");
        const char *full = ir_sprintf(a, "%.*s/%s", (int)n, path, name);
        if (*path == '/' && is_program(full)) return full;
        path += n + (path[n] == ':');
    }
    return NULL;
}

const char *rt_find_program(ir_arena *a, const char *name) {
    const char *found = rt_find_program_in(a, rt_system_folders, name);
    return found ? found : rt_find_program_in(a, rt_environment("PATH"), name);
}

/* ------------------------------------------------------------------------------ files in memory */

static bool write_all(int file, const char *bytes, size_t size) {
    while (size) {
        ssize_t n = write(file, bytes, size);
        if (n <= 0) return false;
        bytes += n;
        size -= (size_t)n;
    }
    return lseek(file, 0, SEEK_SET) == 0;
}

/* Not one of the first three, which the host may have closed. */
static int above_standard(int file) {
    if (file < 0 || file > 2) return file;
    int higher = fcntl(file, F_DUPFD_CLOEXEC, 3);
    close(file);
    return higher;
}

int rt_memory_file(const void *data, size_t size) {
    int file = above_standard(memfd_create("spvfuse", MFD_CLOEXEC));
    if (file < 0 || write_all(file, data, size)) return file;
    close(file);
    return -1;
}

char *rt_read_memory_file(spvf_context *context, ir_arena *arena, int file, size_t *size) {
    struct stat s;
    if (fstat(file, &s) != 0 || s.st_size < 0 || (uint64_t)s.st_size > SPVF_MAX_FILE_SIZE)
        rt_throw(context, IR_ERR_IO, "what a program has written has more than %zu bytes",
                 SPVF_MAX_FILE_SIZE);
    char *data = ir_alloc(arena, (size_t)s.st_size + 1);
    ssize_t got = pread(file, data, (size_t)s.st_size, 0);
    if (got != s.st_size) rt_throw(context, IR_ERR_IO, "what a program has written cannot be read");
    data[got] = 0;
    *size = (size_t)got;
    return data;
}

/* ------------------------------------------------------------------------------------- starting */

/* Until it has become the other program, the child must not run handlers of the host. */
static void reset_handlers(void) {
    struct sigaction now, plain = {.sa_handler = SIG_DFL};
    for (int n = 1; n < NSIG; n++)
        if (sigaction(n, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaction(n, &plain, NULL);
}

static void take_stream(int from, int to) {
    if (from >= 0) dup2(from, to);
}

static void become(const rt_program_run *p, pid_t parent, const sigset_t *signals) {
    reset_handlers();
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return; /* too late: it is gone */
    take_stream(p->in >= 0 ? p->in : open("/dev/null", O_RDONLY), 0);
    take_stream(p->out, 1);
    take_stream(p->messages, 2);
    for (unsigned n = 0; n < p->kept_count; n++) fcntl(p->kept[n], F_SETFD, 0);
    sigprocmask(SIG_SETMASK, signals, NULL);
    execv(p->argv[0], p->argv);
}

enum { NOT_STARTED = 127 };

static pid_t start(const rt_program_run *p) {
    sigset_t all, before;
    pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        become(p, parent, &before);
        _exit(NOT_STARTED);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

/* -------------------------------------------------------------------------------------- waiting */

unsigned rt_program_seconds(void) {
    return (unsigned)rt_setting_number(RT_ENV_COMPILER_SECONDS, RT_PROGRAM_SECONDS);
}

/* Until it ends, or a moment where that cannot be waited for. */
static void wait_a_while(int watch, uint64_t until) {
    uint64_t now = rt_now_ns(), left = until > now ? (until - now) / 1000000 + 1 : 1;
    struct pollfd end = {.fd = watch, .events = POLLIN};
    if (watch >= 0)
        poll(&end, 1, left > INT32_MAX ? -1 : (int)left);
    else
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool has_ended(pid_t child, int *status) {
    pid_t got = waitpid(child, status, WNOHANG);
    return got == child || (got < 0 && errno != EINTR);
}

/* When the host ignores SIGCHLD, or waits for our child itself, the status is lost: then what was
 * written must tell. */
static rt_outcome outcome_of(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED) return RT_PROGRAM_MISSING;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? RT_PROGRAM_RAN : RT_PROGRAM_FAILED;
}

static rt_outcome wait_for(pid_t child, unsigned seconds) {
    const uint64_t until = seconds ? rt_now_ns() + seconds * UINT64_C(1000000000) : UINT64_MAX;
    int status = 0, watch = (int)syscall(SYS_pidfd_open, child, 0);
    bool ended;
    while (!(ended = has_ended(child, &status)) && rt_now_ns() < until) wait_a_while(watch, until);
    if (!ended) {
        kill(-child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
    if (watch >= 0) close(watch);
    return ended ? outcome_of(status) : RT_PROGRAM_TOO_SLOW;
}

rt_outcome rt_run_program(const rt_program_run *p) {
    pid_t child = start(p);
    return child < 0 ? RT_PROGRAM_MISSING : wait_for(child, p->seconds);
}

/* -------------------------------------------------------------------------------------- filters */

typedef struct {
    spvf_context *context;
    ir_arena *arena;
    const char *program;
    int in, out;
    rt_bytes result;
} filter_job;

static void filter(void *arg) {
    filter_job *j = arg;
    char *argv[] = {(char *)(uintptr_t)j->program,
                    (char[]){"-r"},
                    (char[]){"/dev/stdin"},
                    (char[]){"-o"},
                    (char[]){"-"},
                    NULL};
    const rt_program_run run = {
        .argv = argv, .in = j->in, .out = j->out, .messages = -1, .seconds = rt_program_seconds()};
    if (j->in < 0 || j->out < 0) rt_throw(j->context, IR_ERR_IO, "files in memory cannot be made");
    rt_outcome outcome = rt_run_program(&run);
    if (outcome == RT_PROGRAM_MISSING)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: cannot be started", j->program);
    if (outcome == RT_PROGRAM_TOO_SLOW)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: has not ended after %u seconds", j->program,
                 run.seconds);
    if (outcome == RT_PROGRAM_FAILED)
        rt_throw(j->context, IR_ERR_DEVICE, "%s refused the module", j->program);
    j->result.data = rt_read_memory_file(j->context, j->arena, j->out, &j->result.size);
    if (!j->result.size)
        rt_throw(j->context, IR_ERR_DEVICE, "%s gave nothing for the module", j->program);
}

rt_bytes rt_filter(spvf_context *context, ir_arena *a, const char *program, rt_bytes input) {
    filter_job j = {.context = context,
                    .arena = a,
                    .program = program,
                    .in = rt_memory_file(input.data, input.size),
                    .out = rt_memory_file("", 0)};
    bool ok = ir_try(&context->cx, filter, &j);
    if (j.in >= 0) close(j.in);
    if (j.out >= 0) close(j.out);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    return j.result;
}
