/* fusion_kernels.c — the kernels that a row launches, in a file of their own.
 *
 * A row loads its module three times, and all kernels of the tables take ten times as long to read
 * and to optimize as those of a row.  The others become empty lines, so places in messages stay.
 */
#include "tests/conformance/fusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/file.h"

/* Is it launched, or declared to take a closure? */
static bool is_named(const runner *r, const char *kernel) {
    const int n = (int)strcspn(kernel, "(");
    char launch[200], closure[200];
    snprintf(launch, sizeof launch, "\"kernels.ir\":%.*s global", n, kernel);
    snprintf(closure, sizeof closure, "\nclosure @%.*s ", n, kernel);
    return strstr(r->launches, launch) || strstr(r->kernels, closure);
}

void row_write_kernels(const runner *r) {
    char path[600];
    bool keeps = true;
    snprintf(path, sizeof path, "%s/kernels.ir", r->scratch);
    FILE *f = fopen(path, "w");
    if (!f) perror(path), exit(2);
    for (const char *line = r->kernels, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        const char *kernel = row_word(line, "kernel");
        if (kernel) keeps = is_named(r, kernel + 1);
        fwrite(keeps ? line : "\n", 1, keeps ? (size_t)(next - line) : 1, f);
        if (*line == '}') keeps = true;
    }
    if (fclose(f) != 0) perror(path), exit(2);
}

void row_begin(runner *r) {
    char path[600];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/kernels.ir", r->folder);
    snprintf(r->scratch, sizeof r->scratch, "%s/fusionXXXXXX", folder ? folder : "/tmp");
    r->kernels = read_file(path, NULL);
    if (!r->kernels) perror(path), exit(2);
    if (!mkdtemp(r->scratch)) perror(r->scratch), exit(2);
}

void row_end(runner *r) {
    char path[600];
    snprintf(path, sizeof path, "%s/kernels.ir", r->scratch);
    remove(path);
    rmdir(r->scratch);
    free(r->kernels);
}
