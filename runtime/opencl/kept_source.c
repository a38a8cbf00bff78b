/* kept_source.c — sources of programs as files, where debuggers find them (SPVFUSE_JIT).
 *
 * Each program gets a folder of its own, so that its file can be called program.cl in all messages
 * and breakpoints.  They are removed when the process ends, if it comes to that.
 */
#include "runtime/opencl/build.h"
#include "runtime/system/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct kept {
    struct kept *next;
    pid_t owner; /* a child that was forked removes nothing */
    char folder[200], path[220];
} kept;

static _Atomic(kept *) all;

/* In the folder for temporary files; false: it cannot be written. */
static bool write_file(kept *k, const char *source) {
    const char *temporary = getenv("TMPDIR");
    int n = snprintf(k->folder, sizeof k->folder, "%s/spvfuse-XXXXXX",
                     temporary && *temporary == '/' ? temporary : "/tmp");
    if (n < 0 || (size_t)n >= sizeof k->folder || !mkdtemp(k->folder)) return false;
    snprintf(k->path, sizeof k->path, "%s/program.cl", k->folder);
    FILE *f = fopen(k->path, "wxe");
    if (!f) return false;
    bool written = fputs(source, f) >= 0;
    return !fclose(f) && written;
}

static void keep(kept *k) {
    k->owner = getpid();
    k->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &k->next, k)) continue;
}

const char *ocl_keep_source(ir_arena *a, const char *source) {
    if (!rt_setting(RT_ENV_JIT)) return NULL;
    kept *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    bool written = write_file(k, source);
    const char *path = written ? ir_strdup(a, k->path) : NULL;
    keep(k);
    return path;
}

/* Profiles are looked at after the process has ended: their sources stay, as their code does. */
__attribute__((destructor)) static void remove_all(void) {
    bool stays = rt_setting_has(RT_ENV_JIT, "perf") || rt_setting_has(RT_ENV_JIT, "vtune");
    for (kept *k = atomic_load(&all), *next; k; k = next) {
        next = k->next;
        const bool goes = k->owner == getpid() && *k->path && !stays;
        if (goes) unlink(k->path);
        if (goes) rmdir(k->folder);
        free(k);
    }
}
