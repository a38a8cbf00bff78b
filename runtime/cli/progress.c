/* progress.c — how much of a plan has run, and how long the rest will take, on a terminal.
 *
 * Nothing is shown in the first second, nor where standard error is no terminal.  Each line
 * overwrites the one before, and is removed before anything else is printed.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double begun, shown; /* seconds; `shown` is 0 while there is no line */
static bool on;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cli_begin_progress(void) {
    const char *term = getenv("TERM");
    on = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    begun = now();
    shown = 0;
}

void cli_show_progress(void *user, double part) {
    double t = on && part > 0 ? now() : 0;
    (void)user;
    if (t <= 0 || t - begun < 1 || t - shown < 0.2) return;
    fflush(stdout);
    fprintf(stderr, "\r\033[K%.0f %%, %.0f s left ", 100 * part, (t - begun) * (1 - part) / part);
    fflush(stderr);
    shown = t;
}

void cli_clear_progress(void) {
    if (shown > 0) fputs("\r\033[K", stderr);
    shown = 0;
}
