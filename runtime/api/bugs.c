/* bugs.c — files about bugs of the compiler.
 *
 * If the environment variable SPVFUSE_BUGS names a folder, an internal error leaves a file there:
 * what has failed, and the code that the stage which failed was given.  The driver of a stage
 * prints that code before the stage, since afterwards the function may be in any state; so
 * compiling is slower.  The variable is read once, and a process with more rights than its user
 * ignores it.
 *
 * Nothing is overwritten: a name has the stage, the process and a number, and the file is created
 * under it or not at all.  A process leaves at most MOST files.
 */
#include "runtime/api/runtime.h"
#include "runtime/system/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64 };

static char folder[4096]; /* empty: nothing is left */
static atomic_uint files; /* that have been tried */

static void find_folder(void) {
    const char *asked = rt_setting(RT_ENV_BUGS);
    if (asked && strlen(asked) < sizeof folder) strcpy(folder, asked);
}

/* ---------------------------------------------------------------------------------- the content */

/* A line of a comment: the code after it has to be readable. */
static void put_line(ir_text *out, const char *text) {
    ir_put(out, "; ");
    for (; *text; text++) ir_putn(out, *text == '\n' || *text == '\r' ? " " : text, 1);
    ir_put(out, "\n");
}

static bool is_pass(const char *stage) {
    for (unsigned n = 0; n < pass_count; n++)
        if (strcmp(passes[n].name, stage) == 0) return true;
    return false;
}

static void put_report(ir_text *out, const ir_fault *fault, const char *what) {
    put_line(out, what);
    if (fault->function) put_line(out, ir_sprintf(out->arena, "function: @%s", fault->function));
    if (fault->instruction) put_line(out, ir_sprintf(out->arena, "at: %s", fault->instruction));
    if (is_pass(fault->stage))
        put_line(out, ir_sprintf(out->arena, "spvfuse opt THIS-FILE -p %s", fault->stage));
    put_line(out, ir_sprintf(out->arena, "the code before %s:", fault->stage));
}

/* ------------------------------------------------------------------------------------- the file */

static bool write_all(int file, const ir_text *text) {
    for (size_t n = 0; n < text->n;) {
        ssize_t wrote = write(file, text->data + n, text->n - n);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        n += (size_t)wrote;
    }
    return true;
}

/* A new file; -1: none can be made.  *path is its name, or the last one that was tried. */
static int create(const char *stage, ir_arena *arena, const char **path) {
    int file = -1;
    *path = folder;
    do {
        unsigned number = atomic_fetch_add(&files, 1);
        if (number >= MOST) return -1;
        *path = ir_sprintf(arena, "%s/%s-%ld-%u.ir", folder, stage, (long)getpid(), number);
        file = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    } while (file < 0 && errno == EEXIST);
    return file;
}

/* The path of the file, in the arena; NULL after a warning. */
static const char *save(void *user, const ir_fault *fault, const char *what, const char *code,
                        ir_arena *arena) {
    spvf_context *context = user;
    ir_text text = {.arena = arena};
    const char *path;
    put_report(&text, fault, what);
    ir_put(&text, code);
    errno = 0;
    int file = create(fault->stage, arena, &path);
    bool ok = file >= 0 && write_all(file, &text);
    int why = errno;
    if (file >= 0) close(file);
    if (ok) return path;
    ir_report(&context->cx, (ir_message){.severity = IR_WARNING}, "SPVFUSE_BUGS: %.400s: %s", path,
              why ? strerror(why) : "the process has left as many files as it may");
    return NULL;
}

ir_saver *rt_bug_saver(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_folder);
    return folder[0] ? save : NULL;
}
