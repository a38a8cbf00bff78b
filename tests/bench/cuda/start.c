/* start.c — processes that have a first result as soon as they can: by the driver alone, from a cubin
 * in a file, and by the library, from SPIR-V and with a warm cache.
 *
 * The processes take turns.  Each tells the milliseconds from its first call to the result that it has
 * read; loading the program and its libraries is not in there, but opening the driver's is.  The
 * cubin is what the driver makes of our PTX.  The context takes most of the time, so what counts is
 * the difference of the two in each round.  Each process tells of its steps, too: how long they took,
 * and how many pages they touched first.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/cuda/host.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STARTS = 21, ITEMS = 1024, MOST_STEPS = 8 };

/* --------------------------------------------------------------------------------------- steps */

/* Of one process; the names are in the order of the steps. */
typedef struct {
    double ms[MOST_STEPS], faults[MOST_STEPS];
    unsigned n;
} steps;

static const char *const bare_names[] = {"context", "module", "memory", "launch", "result"};
static const char *const own_names[] = {"context", "device", "module", "program",
                                        "queue",   "memory", "launch", "result"};

static struct {
    steps done;
    double time;
    long faults;
} clock_of_steps;

static long count_faults(void) {
    struct rusage r;
    return getrusage(RUSAGE_SELF, &r) ? 0 : r.ru_minflt + r.ru_majflt;
}

static void begin_steps(void) {
    clock_of_steps.faults = count_faults();
    clock_of_steps.time = now();
}

/* True, so that it may follow what it tells of. */
static bool step(void) {
    steps *s = &clock_of_steps.done;
    s->ms[s->n] = (now() - clock_of_steps.time) / 1e3;
    long faults = count_faults();
    s->faults[s->n++] = (double)(faults - clock_of_steps.faults);
    clock_of_steps.faults = faults;
    clock_of_steps.time = now();
    return true;
}

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
    if (!bare_open() || !step() || !bare_load(cubin, "saxpy") || !step()) return false;
    for (int k = 0; k < 3; k++) b[k] = bare_allocate(sizeof zeros);
    return bare_write(b[0], zeros, sizeof zeros) && bare_write(b[1], zeros, sizeof zeros) &&
           step() && bare_saxpy(b, 2, ITEMS) && step() && bare_read(out, b[2], sizeof zeros) &&
           step();
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
    if (spvf_context_create(&o, &c) || !step() || spvf_device_open(c, "cuda", &d) || !step() ||
        spvf_module_load(c, "saxpy.spv", words->data, words->size, NULL, &m) || !step() ||
        spvf_program_create(d, m, &p) || !step() || spvf_queue_create(d, NULL, &q) || !step())
        return false;
    for (int k = 0; k < 3; k++)
        if (spvf_buffer_create(d, sizeof zeros, k < 2 ? zeros : NULL, 0, &b[k])) return false;
    step();
    const spvf_argument args[] = {
        {.buffer = b[0]}, {.buffer = b[1]}, {.bytes = &a, .size = sizeof a}, {.buffer = b[2]}};
    const spvf_launch l = {.size = sizeof l,
                           .program = p,
                           .kernel = "saxpy",
                           .range = {.dims = 1, .global = {ITEMS}, .local = {256}},
                           .args = args,
                           .arg_count = 4};
    return !spvf_queue_launch(q, &l, NULL, NULL) && step() &&
           !spvf_queue_read(q, b[2], 0, out, ITEMS * sizeof *out, NULL, NULL) &&
           !spvf_queue_finish(q) && step();
}

int start_as(const char *side, const char *folder) {
    bool bare = strcmp(side, "bare") == 0;
    float out[ITEMS];
    memset(out, 1, sizeof out);
    const file input = load(folder, bare ? "saxpy.cubin" : "saxpy.spv");
    begin_steps();
    bool ok = bare ? run_bare((const char *)input.data, out) : run_ours(&input, out);
    if (!ok || !is_right(out)) return 1;
    for (unsigned k = 0; k < clock_of_steps.done.n; k++)
        printf("%.4f %.0f\n", clock_of_steps.done.ms[k], clock_of_steps.done.faults[k]);
    fflush(stdout);
    _exit(0);
}

/* -------------------------------------------------------------------------------------- the rounds */

/* The sum of its steps; below 0: it fails. */
static double start(const char *program, const char *build, const char *side, steps *to) {
    char command[2300];
    double ms = 0;
    snprintf(command, sizeof command, "'%.1000s' '%.1000s' %s", program, build, side);
    FILE *f = popen(command, "r");
    if (!f) return -1;
    to->n = 0;
    while (to->n < MOST_STEPS && fscanf(f, "%lf %lf", &to->ms[to->n], &to->faults[to->n]) == 2)
        ms += to->ms[to->n++];
    return pclose(f) || !to->n ? -1 : ms;
}

static double median_of(const steps *s, unsigned k, bool faults) {
    double v[STARTS];
    for (int n = 0; n < STARTS; n++) v[n] = faults ? s[n].faults[k] : s[n].ms[k];
    return median(v, STARTS);
}

static void show_steps(const char *side, const steps *s, const char *const *names) {
    printf("  %s", side);
    for (unsigned k = 0; k < s->n; k++)
        printf("%s %s %.3f (%.0f)", k ? "," : ":", names[k], median_of(s, k, false),
               median_of(s, k, true));
    printf("\n");
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
    static steps bare_steps[STARTS], own_steps[STARTS];
    double bare[STARTS], own[STARTS], more[STARTS];
    char folder[1000];
    path_of(folder, sizeof folder, build, "bench");
    bool ok = make_cubin(folder) && start(program, build, "ours", own_steps) >= 0;
    progress p = progress_begin("pairs of processes", STARTS);
    for (int k = 0; ok && k < STARTS; k++, progress_step(&p)) {
        bare[k] = start(program, build, "bare", &bare_steps[k]);
        own[k] = start(program, build, "ours", &own_steps[k]);
        more[k] = own[k] - bare[k];
        ok = bare[k] >= 0 && own[k] >= 0;
    }
    progress_end(&p);
    if (!ok) {
        printf("%-44s fails\n", row);
        return;
    }
    double difference = median(more, STARTS);
    printf("%-44s %7.2f %7.2f %+6.2f ms (at most 3)\n", row, median(bare, STARTS),
           median(own, STARTS), difference);
    printf("  steps, in ms (pages touched first):\n");
    show_steps("the driver alone", bare_steps, bare_names);
    show_steps("ours", own_steps, own_names);
}
