/* driver.c — runs a fuzz target without libFuzzer: over the files of a corpus, then over mutations
 * of them from a fixed seed.  The short form of the fuzzers that is part of the tests; also what
 * replays a finding.
 *
 *   TARGET [-n MUTATIONS] [-s SEED] FILE-OR-FOLDER…
 */
#include "tests/random.h"
#include "tests/progress.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FILES = 2000, MAX_SIZE = 1 << 16 };

typedef struct {
    uint8_t *data;
    size_t size;
} input;

static input inputs[MAX_FILES];
static size_t ninputs;
static uint64_t state;

static uint32_t draw(uint32_t n) { return draw_below(&state, n); }

static void load_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f || ninputs == MAX_FILES) {
        if (f) fclose(f);
        return;
    }
    uint8_t *data = malloc(MAX_SIZE);
    inputs[ninputs++] = (input){data, fread(data, 1, MAX_SIZE, f)};
    fclose(f);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void load(const char *path) {
    static char *names[MAX_FILES];
    DIR *d = opendir(path);
    int n = 0;
    if (!d) {
        load_file(path);
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL && n < MAX_FILES;)
        if (e->d_name[0] != '.') names[n++] = strdup(e->d_name);
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++) {
        char full[1024];
        snprintf(full, sizeof full, "%s/%s", path, names[i]);
        load_file(full);
        free(names[i]);
    }
}

/* A few random edits: bytes, words, cuts, copies of a piece to another place. */
static size_t mutate(uint8_t *data, size_t size) {
    for (uint32_t edits = 1 + draw(6); edits && size > 8; edits--) {
        uint32_t at = draw((uint32_t)size - 4), from = draw((uint32_t)size - 4);
        uint32_t n = 1 + draw(16);
        switch (draw(6)) {
        case 0: data[at] = (uint8_t)draw(256); break;
        case 1: data[at] ^= (uint8_t)(1u << draw(8)); break;
        case 2: memcpy(data + (at & ~3u), data + (from & ~3u), 4); break;
        case 3: data[at & ~3u] = (uint8_t)draw(64); break;
        case 4: size = draw(8) ? size : at & ~3u; break;
        default:
            if (at + n <= size && from + n <= size) memmove(data + at, data + from, n);
        }
    }
    return size;
}

static void run_copy(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees reads past the end */
    if (size) memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void run_mutations(long n) {
    static uint8_t data[MAX_SIZE];
    progress p = progress_begin("mutations", n > 0 ? (size_t)n : 0);
    for (long i = 0; i < n; i++) {
        const input *from = &inputs[draw((uint32_t)ninputs)];
        memcpy(data, from->data, from->size);
        run_copy(data, mutate(data, from->size));
        progress_step(&p);
    }
    progress_end(&p);
}

int main(int argc, char **argv) {
    long mutations = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            mutations = atol(argv[++i]);
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            state = strtoull(argv[++i], NULL, 10);
        else
            load(argv[i]);
    }
    for (size_t i = 0; i < ninputs; i++) run_copy(inputs[i].data, inputs[i].size);
    if (ninputs) run_mutations(mutations);
    printf("%zu passed, 0 failed\n", ninputs + (ninputs ? (size_t)mutations : 0));
    for (size_t i = 0; i < ninputs; i++) free(inputs[i].data);
    return ninputs == 0;
}
