/* start.c — processes that have a first result as soon as they can: by the driver alone, from a cubin
 * in a file, and by the library, from SPIR-V and with a warm cache.
 *
 * The processes take turns.  Each tells the milliseconds from its first call to the result that it has
 * read; loading the program and its libraries is not in there, but opening the driver's is.  The
 * cubin is what the driver makes of our PTX.  The context takes most of the time, so what counts is
 * the difference of the two in each round.
 */
#define _POSIX_C_SOURCE 200809L
#include "runtime/spvfuse_queue.h"
#include "tests/bench/cuda/host.h"

#include <string.h>
#include <unistd.h>

enum { STARTS = 21, ITEMS = 1024 };

static void path_of(char *out, size_t size, const char *folder, const char *name) {
    snprintf(out, size, "%s/%s", folder, name);
}

/* x is all 0, and y too. */
static bool is_right(const float out[ITEMS]) {
    for (int k = 0; k < ITEMS; k++)
        if (out[k] != 0) return false;
    return true;
}

/* ------------------------------------------------------------------------------- the driver alone */

static bool run_bare(const char *cubin, float out[ITEMS]) {
    static const float zeros[ITEMS];
    uint64_t b[3];
    if (!bare_open() || !bare_load(cubin, "saxpy")) return false;
    for (int k = 0; k < 3; k++) b[k] = bare_allocate(sizeof zeros);
    return bare_write(b[0], zeros, sizeof zeros) && bare_write(b[1], zeros, sizeof zeros) &&
           bare_saxpy(b, 2, ITEMS) && bare_read(out, b[2], sizeof zeros);
}

/* --------------------------------------------------------------------------------------- the library */

static bool run_ours(const file *words, float out[ITEMS]) {
    static float zeros[ITEMS];
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    const float a = 2;
    spvf_context *c;
    spvf_module *m;
    spvf_device *d;
    spvf_program *p;
    spvf_queue *q;
    spvf_buffer *b[3];
    if (spvf_context_create(&o, &c) || spvf_device_open(c, "cuda", &d) ||
        spvf_module_load(c, "saxpy.spv", words->data, words->size, NULL, &m) ||
        spvf_program_create(d, m, &p) || spvf_queue_create(d, NULL, &q))
        return false;
    for (int k = 0; k < 3; k++)
        if (spvf_buffer_create(d, sizeof zeros, k < 2 ? zeros : NULL, 0, &b[k])) return false;
    const spvf_argument args[] = {
        {.buffer = b[0]}, {.buffer = b[1]}, {.bytes = &a, .size = sizeof a}, {.buffer = b[2]}};
    const spvf_launch l = {.program = p,
                           .kernel = "saxpy",
                           .range = {.dims = 1, .global = {ITEMS}, .local = {256}},
                           .args = args,
                           .arg_count = 4};
    return !spvf_queue_launch(q, &l, NULL, NULL) &&
           !spvf_queue_read(q, b[2], 0, out, ITEMS * sizeof *out, NULL, NULL) &&
           !spvf_queue_finish(q);
}

int start_as(const char *side, const char *folder) {
    bool bare = strcmp(side, "bare") == 0;
    float out[ITEMS];
    memset(out, 1, sizeof out);
    const file input = load(folder, bare ? "saxpy.cubin" : "saxpy.spv");
    double start = now();
    bool ok = bare ? run_bare((const char *)input.data, out) : run_ours(&input, out);
    double ms = (now() - start) / 1e3;
    if (!ok || !is_right(out)) return 1;
    printf("%.4f\n", ms);
    fflush(stdout);
    _exit(0);
}

/* -------------------------------------------------------------------------------------- the rounds */

/* Below 0: it fails. */
static double start(const char *program, const char *build, const char *side) {
    char command[2300];
    double ms = -1;
    snprintf(command, sizeof command, "'%.1000s' '%.1000s' %s", program, build, side);
    FILE *f = popen(command, "r");
    if (!f) return -1;
    if (fscanf(f, "%lf", &ms) != 1) ms = -1;
    return pclose(f) ? -1 : ms;
}

static bool make_cubin(const char *folder) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    char path[1100];
    spvf_context *c;
    spvf_module *m;
    size_t size = 0;
    const file words = load(folder, "saxpy.spv");
    if (spvf_context_create(&o, &c) ||
        spvf_module_load(c, "saxpy.spv", words.data, words.size, NULL, &m))
        return false;
    char *ptx = emit_ptx(m, ",offset");
    void *cubin = ptx ? bare_compile(ptx, &size) : NULL;
    path_of(path, sizeof path, folder, "saxpy.cubin");
    FILE *f = cubin ? fopen(path, "wb") : NULL;
    bool ok = f && fwrite(cubin, size, 1, f) == 1;
    if (f) ok = fclose(f) == 0 && ok;
    free(ptx);
    free(cubin);
    free(words.data);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return ok;
}

void time_starts(const char *program, const char *build) {
    static const char row[] = "second process, to its first result";
    double bare[STARTS], own[STARTS], more[STARTS];
    char folder[1000];
    path_of(folder, sizeof folder, build, "bench");
    bool ok = make_cubin(folder) && start(program, build, "ours") >= 0;
    for (int k = 0; ok && k < STARTS; k++) {
        bare[k] = start(program, build, "bare");
        own[k] = start(program, build, "ours");
        more[k] = own[k] - bare[k];
        ok = bare[k] >= 0 && own[k] >= 0;
    }
    if (!ok) {
        printf("%-44s fails\n", row);
        return;
    }
    double difference = median(more, STARTS);
    printf("%-44s %7.2f %7.2f %+6.2f ms (at most 3)\n", row, median(bare, STARTS),
           median(own, STARTS), difference);
}
