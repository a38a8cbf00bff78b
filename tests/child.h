/* child.h — code in a child of this process; one that hangs is ended by a signal. */
#ifndef SPVFUSE_TESTS_CHILD_H
#define SPVFUSE_TESTS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* Does the body hold in a child, in time? */
static inline bool holds_in_child(bool (*body)(void *arg), void *arg) {
    enum { SECONDS = 20 };
    int status;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(SECONDS);
        _exit(body(arg) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#endif
