/* files.c — the files that commands read and write, and the modules and plans that are in them.
 *
 * "-" is standard input or output.  Binary output goes to a terminal only if that is asked for by
 * "-o -".
 */
#include "runtime/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads to the end, or one byte too many; NULL: no memory. */
static char *read_stream(FILE *f, size_t *size) {
    size_t room = 1 << 16, n = 0, got;
    char *data = malloc(room + 1);
    while (data && n <= SPVF_MAX_FILE_SIZE && (got = fread(data + n, 1, room - n, f)) > 0) {
        n += got;
        if (n < room) continue;
        room = room * 2 > SPVF_MAX_FILE_SIZE ? SPVF_MAX_FILE_SIZE + 1 : room * 2;
        char *larger = realloc(data, room + 1);
        if (!larger) free(data);
        data = larger;
    }
    if (data) data[n] = 0;
    *size = n;
    return data;
}

char *cli_read(const char *path, size_t *size) {
    bool standard = strcmp(path, "-") == 0;
    errno = 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char *data = f ? read_stream(f, size) : NULL;
    int why = errno;
    bool large = data && *size > SPVF_MAX_FILE_SIZE;
    if (!data || large || ferror(f)) {
        if (large)
            fprintf(stderr, "%s: error: has more than %zu bytes\n", path, SPVF_MAX_FILE_SIZE);
        else
            fprintf(stderr, "%s: error: cannot be read: %s\n", *path ? path : "''", strerror(why));
        free(data);
        data = NULL;
    }
    if (f && !standard) fclose(f);
    return data;
}

bool cli_can_write(const char *path, bool binary) {
    if (!path && binary && isatty(STDOUT_FILENO)) {
        fprintf(stderr,
                "standard output: error: binary output is not for a terminal; -o FILE writes it to "
                "a file, and -o - to the terminal\n");
        return false;
    }
    if (!path || strcmp(path, "-") == 0) return true;
    bool is_there = access(path, F_OK) == 0;
    FILE *f = fopen(path, "ab");
    if (!f) fprintf(stderr, "%s: error: cannot be written: %s\n", path, strerror(errno));
    if (f) fclose(f);
    if (f && !is_there) remove(path);
    return f != NULL;
}

bool cli_write(const char *path, const void *data, size_t size) {
    bool binary = size && memchr(data, 0, size); /* no text has a 0 */
    if (!path && !cli_can_write(path, binary)) return false;
    bool standard = !path || strcmp(path, "-") == 0;
    FILE *f = standard ? stdout : fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f) ok = (standard ? fflush(f) : fclose(f)) == 0 && ok;
    if (!ok)
        fprintf(stderr, "%s: error: cannot be written: %s\n", standard ? "standard output" : path,
                strerror(errno));
    return ok;
}

bool cli_is_opencl_c(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".cl") == 0;
}

spvf_module *cli_load_module(spvf_context *context, const char *path,
                             const spvf_module_options *options) {
    size_t size;
    spvf_module *m = NULL;
    char *bytes = cli_read(path, &size);
    spvf_module_options o = options ? *options : (spvf_module_options){.size = sizeof o};
    const char *build = cli_get("--build");
    if (cli_is_opencl_c(path) || build) o.opencl_c = build ? build : "";
    if (bytes) spvf_module_load(context, path, bytes, size, &o, &m);
    free(bytes);
    return m;
}

static spvf_plan *load_plan(spvf_context *context, const char *path) {
    size_t size;
    spvf_plan *p = NULL;
    char *text = cli_read(path, &size);
    if (text) spvf_plan_load(context, path, text, size, &p);
    free(text);
    return p;
}

/* The status; *loaded is false if there was no plan to work with. */
static int with_plan(const char *path, cli_plan_work *work, bool *loaded) {
    spvf_context *c = cli_context();
    spvf_plan *plan = load_plan(c, path);
    *loaded = plan != NULL;
    bool ok = plan && work(path, plan);
    cli_print_counters(stderr, c);
    cli_print_times(stderr);
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    return ok ? CLI_OK : CLI_FAILED;
}

int cli_with_plan(const char *path, cli_plan_work *work) {
    bool loaded;
    return with_plan(path, work, &loaded);
}

int cli_with_plans(const char *const *files, bool named, cli_plan_work *work) {
    bool several = files[1] != NULL, json = several && cli_has("--json"), loaded;
    int rc = CLI_OK;
    for (const char *const *f = files; *f; f++) {
        if (json) fputs(f == files ? "[" : ",", stdout);
        if (several && named && !json) printf("%s%s:\n", f == files ? "" : "\n", *f);
        if (with_plan(*f, work, &loaded) != CLI_OK) rc = CLI_FAILED;
        if (json && !loaded) puts("null");
    }
    if (json) puts("]");
    return rc;
}
