/* corpus_run.c — the corpus through the whole product.
 *
 *   corpus_run PLANS MODULES [--stage modules|plans|oracle] [--shard I/N] [--oracle DEVICE]
 *              [--turns N] [--one-producer] [--verify] [--reference DEVICE] [--known FILE]
 *              [--bounds FILE] [NAME…]
 *
 * MODULES/PRODUCER/NAME.spv are what the producers made of PLANS/NAME.cl.  Each module is
 *   read · verified · printed, parsed and printed again to the same bytes · optimized · written ·
 *   validated by spirv-val · read again
 * and each PLANS/NAME.plan is run on `check`: as read and one kernel at a time; from the rewritten
 * modules and optimized; fused.  All runs must end without a finding, meet the plan's expectations
 * and leave the same bytes in every buffer.  With --oracle, up to 32 times, the rewritten modules
 * also run on that device, fused and unfused; with --turns, each plan of each producer runs on so
 * many of the devices, which take turns; with --one-producer, each plan runs on the modules of one
 * producer, and these take turns; with --verify, the IR of these runs is verified after each pass,
 * and the allocation of registers is proved.  There a float may differ in the last bits; with
 * --bounds, in those plans alone that the file lists in lines "NAME ULPS reason", by so many units
 * in the last place.  With --reference, what that device leaves takes the place of what `check`
 * does, and plans run there unfused.  The file of known differences has lines "NAME [PRODUCER]
 * reason": what the device cannot do or does differently.  Such a case must fail, so the list
 * cannot grow old.
 */
#include "runtime/spvfuse.h"
#include "tests/file.h"
#include "tests/progress.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const producers[] = {"clang15-O0", "clang15-O2", "clang22-O2"};
enum {
    PRODUCERS = sizeof producers / sizeof *producers,
    MAX_NAMES = 1000,
    MAX_BUFFERS = 64,
    MAX_ORACLES = 32
};

static const char *plans, *modules, *reference, *oracles[MAX_ORACLES];
static unsigned noracles, turns, taken; /* turns: of the oracles for a plan, 0: all */
static char *known = "";                /* text of the file of known differences */
static char *bounds;                    /* text of the file of bounds, or NULL */
static bool oracle_only, verifies, one_producer;
static int passed, failed;

/* One message line per context is enough to say why something failed. */
static char why[1500];

static void keep_message(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR && !why[0]) snprintf(why, sizeof why, "%s", m->formatted);
}

static spvf_context *new_context(void) {
    spvf_context *c = NULL;
    spvf_context_options o = {.size = sizeof o, .message = keep_message};
    why[0] = 0;
    spvf_context_create(&o, &c);
    return c;
}

static void outcome(bool ok, const char *name, const char *producer, const char *step) {
    if (ok)
        passed++;
    else
        printf("FAIL %s %s: %s: %s\n", name, producer, step, why), failed++;
}

/* What the next line that begins with the name says after it; NULL: there is none. */
static const char *next_entry(const char **text, const char *name) {
    size_t n = strlen(name);
    while (**text) {
        const char *s = *text;
        *text += strcspn(s, "\n");
        *text += **text == '\n';
        if (strncmp(s, name, n) == 0 && s[n] == ' ') return s + n + 1;
    }
    return NULL;
}

/* Is there a line "NAME reason" or "NAME PRODUCER reason"? */
static bool is_known(const char *name, const char *producer) {
    const char *text = known;
    size_t p = strlen(producer);
    for (const char *rest; (rest = next_entry(&text, name)) != NULL;) {
        if (strncmp(rest, "clang", 5) != 0) return true;
        if (strncmp(rest, producer, p) == 0 && rest[p] == ' ') return true;
    }
    return false;
}

/* Units in the last place by which floats may differ; 0: they may not. */
static double bound_of(const char *name) {
    const char *text = bounds, *rest = next_entry(&text, name);
    return rest ? strtod(rest, NULL) : 0;
}

/* ---------------------------------------------------------------------------------------- files */

static bool write_file(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f) fclose(f);
    if (!ok) snprintf(why, sizeof why, "%s cannot be written", path);
    return ok;
}

/* Runs spirv-val; its first line of output is the reason. */
static bool validate(const char *path) {
    char command[1200];
    snprintf(command, sizeof command, "spirv-val --target-env spv1.4 '%s' 2>&1", path);
    FILE *f = popen(command, "r");
    if (!f) return false;
    if (!fgets(why, sizeof why, f)) why[0] = 0;
    while (fgetc(f) != EOF) {
    }
    return pclose(f) == 0;
}

/* -------------------------------------------------------------------------------------- modules */

static spvf_module *load(spvf_context *c, const char *path, const void *data, size_t size) {
    spvf_module *m = NULL;
    spvf_module_load(c, path, data, size, NULL, &m);
    return m;
}

/* print -> parse -> print gives the same bytes */
static bool round_trips(spvf_context *c, const spvf_module *m) {
    spvf_blob first = {0}, second = {0};
    bool ok = spvf_module_emit(m, "ir", &first) == SPVF_OK;
    spvf_module *again = ok ? load(c, "printed.ir", first.data, first.size) : NULL;
    ok = again && spvf_module_emit(again, "ir", &second) == SPVF_OK;
    if (ok && (first.size != second.size || memcmp(first.data, second.data, first.size) != 0)) {
        size_t i = 0;
        while (i < first.size && i < second.size &&
               ((char *)first.data)[i] == ((char *)second.data)[i])
            i++;
        while (i > 0 && ((char *)first.data)[i - 1] != '\n') i--;
        snprintf(why, sizeof why, "text differs at: %.100s", (char *)first.data + i);
        ok = false;
    }
    spvf_module_destroy(again);
    spvf_blob_destroy(&first);
    spvf_blob_destroy(&second);
    return ok;
}

static bool rewrite(spvf_context *c, spvf_module *m, const char *path, const char *name,
                    const char *producer) {
    spvf_blob out = {0};
    spvf_pass_options o = {.size = sizeof o, .verify_each = true};
    bool ok = spvf_module_optimize(m, &o) == SPVF_OK;
    outcome(ok, name, producer, "optimize");
    if (!ok) return false;
    ok = round_trips(c, m);
    outcome(ok, name, producer, "round trip after optimizing");
    ok = spvf_module_emit(m, "spirv", &out) == SPVF_OK && write_file(path, out.data, out.size);
    outcome(ok, name, producer, "write");
    if (ok) outcome(ok = validate(path), name, producer, "spirv-val");
    if (ok) {
        spvf_module *again = load(c, path, out.data, out.size);
        outcome(ok = again != NULL, name, producer, "read again");
        spvf_module_destroy(again);
    }
    spvf_blob_destroy(&out);
    return ok;
}

static bool check_module(const char *name, const char *producer) {
    char in[1024], out[1024];
    size_t size;
    snprintf(in, sizeof in, "%s/%s/%s.spv", modules, producer, name);
    snprintf(out, sizeof out, "%s/%s.out/%s.spv", modules, producer, name);
    char *data = read_file(in, &size);
    if (!data) return false;
    spvf_context *c = new_context();
    spvf_module *m = load(c, in, data, size);
    bool ok = m != NULL;
    outcome(ok, name, producer, "read");
    if (ok) outcome(ok = round_trips(c, m), name, producer, "round trip");
    if (ok) ok = rewrite(c, m, out, name, producer);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    free(data);
    return ok;
}

/* ---------------------------------------------------------------------------------------- plans */

typedef struct {
    char name[64], element[8];
    char *data;
    size_t size;
} contents;

typedef struct {
    contents buffer[MAX_BUFFERS];
    int n;
} memory;

static void keep_buffer(void *user, const char *name, const char *element, const void *data,
                        size_t size) {
    memory *m = user;
    if (m->n == MAX_BUFFERS) return;
    contents *b = &m->buffer[m->n++];
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->element, sizeof b->element, "%s", element);
    b->data = memcpy(malloc(size), data, size);
    b->size = size;
}

static void drop(memory *m) {
    for (int i = 0; i < m->n; i++) free(m->buffer[i].data);
    m->n = 0;
}

static bool run(const char *name, const char *folder, spvf_run_options o, memory *out) {
    char path[1024], as[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.plan", plans, name);
    snprintf(as, sizeof as, "%s/%s/%s.plan", modules, folder, name);
    char *text = read_file(path, &size);
    spvf_context *c = new_context();
    spvf_plan *plan = NULL;
    o.size = sizeof o;
    o.buffer = keep_buffer;
    o.buffer_user = out;
    const spvf_pass_options verify = {.size = sizeof verify, .verify_each = true};
    if (verifies && o.device) spvf_context_inspect(c, &verify);
    bool ok = spvf_plan_load(c, as, text, size, &plan) == SPVF_OK &&
              spvf_plan_run(plan, &o, NULL) == SPVF_OK;
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    free(text);
    return ok;
}

static size_t width_of(const contents *b) {
    return b->element[1] == '1' ? 2 : b->element[1] == '3' ? 4 : 8;
}

static double half_value(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) v = fraction ? NAN : INFINITY;
    return h & 0x8000 ? -v : v;
}

static double element_at(const contents *b, size_t i) {
    uint16_t h;
    float f;
    double d;
    const char *at = b->data + i * width_of(b);
    if (b->element[1] == '1') return memcpy(&h, at, sizeof h), half_value(h);
    if (b->element[1] == '3') return memcpy(&f, at, sizeof f), (double)f;
    return memcpy(&d, at, sizeof d), d;
}

/* Units in the last place of the reference, or of 1 where that is larger. */
static double distance(const contents *a, const contents *b, size_t i) {
    double x = element_at(a, i), y = element_at(b, i), size = fmax(1, fabs(x));
    size_t width = width_of(a);
    if (memcmp(a->data + i * width, b->data + i * width, width) == 0 || (isnan(x) && isnan(y)))
        return 0;
    double units = ldexp(fabs(x - y) / size, width == 2 ? 10 : width == 4 ? 23 : 52);
    return units > 0 ? units : x == y ? 0 : INFINITY;
}

/* Another implementation's math functions differ in the last bits. */
static bool close_enough(const contents *a, const contents *b, double units) {
    double worst = 0;
    for (size_t i = 0; i < a->size / width_of(a); i++) {
        double d = distance(a, b, i);
        if (d <= fmax(worst, units)) continue;
        snprintf(why, sizeof why, "%s[%zu] is %.9g, reference %.9g: %.3g units", a->name, i,
                 element_at(b, i), element_at(a, i), worst = d);
    }
    return worst == 0;
}

/* Units by which a float may differ. */
static double freedom_of(const char *name, const contents *b, bool exact) {
    if (exact) return 0;
    return bounds ? bound_of(name) : ldexp(2e-5, b->element[1] == '6' ? 52 : 23);
}

static bool same_memory(const char *name, const memory *want, const memory *got, bool exact) {
    for (int i = 0; i < want->n; i++) {
        const contents *a = &want->buffer[i], *b = &got->buffer[i];
        size_t at = 0;
        bool is_float = a->element[0] == 'f';
        while (at < a->size && a->data[at] == b->data[at]) at++;
        if (at == a->size || (is_float && close_enough(a, b, freedom_of(name, a, exact)))) continue;
        if (!is_float || exact)
            snprintf(why, sizeof why, "buffer %s differs from the reference at byte %zu", a->name,
                     at);
        return false;
    }
    return true;
}

static bool agrees(const char *name, const char *producer, const memory *want, spvf_run_options o) {
    char folder[64];
    memory got = {0};
    snprintf(folder, sizeof folder, "%s.out", producer);
    bool ok = run(name, folder, o, &got) && same_memory(name, want, &got, !o.device);
    drop(&got);
    return ok;
}

/* In a process of its own, because another implementation may crash or hang; the reason comes
 * through a pipe. */
static bool agrees_apart(const char *name, const char *producer, const memory *want,
                         spvf_run_options o) {
    int ends[2], status = 1;
    if (pipe(ends) != 0) return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        /* What fails as it is known to may say so at length. */
        if (is_known(name, producer) && !freopen("/dev/null", "w", stderr)) _exit(2);
        bool ok = agrees(name, producer, want, o);
        if (write(ends[1], why, strlen(why)) < 0) _exit(2);
        _exit(!ok);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], why, sizeof why - 1);
    why[n > 0 ? n : 0] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) snprintf(why, sizeof why, "ended by signal %d", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void compare(const char *name, const char *producer, const char *step, const memory *want,
                    spvf_run_options o) {
    bool ok = (o.device ? agrees_apart : agrees)(name, producer, want, o);
    if (o.device && is_known(name, producer)) {
        if (ok) snprintf(why, sizeof why, "agrees, but is listed as a known difference");
        ok = !ok;
    }
    outcome(ok, name, producer, step);
}

static bool has_groups(const char *name) {
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.plan", plans, name);
    char *text = read_file(path, &size);
    bool any = text && strstr(text, "\nfuse ");
    free(text);
    return any;
}

static void compare_on(const char *device, const char *name, const char *producer,
                       const memory *want) {
    bool calls = strstr(device, "calls"); /* optimized modules have none left */
    compare(name, producer, device, want,
            (spvf_run_options){.unfused = true, .no_optimize = calls, .device = device});
    if (has_groups(name) && !calls && !reference)
        compare(name, producer, "fused there", want, (spvf_run_options){.device = device});
}

static bool run_reference(const char *name, const char *producer, memory *want) {
    char folder[64];
    if (!reference)
        return run(name, producer, (spvf_run_options){.unfused = true, .no_optimize = true}, want);
    snprintf(folder, sizeof folder, "%s.out", producer);
    return run(name, folder, (spvf_run_options){.unfused = true, .device = reference}, want);
}

static void check_plan(const char *name, const char *producer) {
    memory want = {0};
    bool ok = run_reference(name, producer, &want);
    if (!oracle_only || !ok) outcome(ok, name, producer, "run as read");
    if (ok && !oracle_only) {
        compare(name, producer, "run optimized", &want, (spvf_run_options){.unfused = true});
        compare(name, producer, "run fused", &want, (spvf_run_options){.device = NULL});
    }
    for (unsigned n = turns && turns < noracles ? turns : noracles; ok && n; n--)
        compare_on(oracles[taken++ % noracles], name, producer, &want);
    drop(&want);
}

/* ----------------------------------------------------------------------------------------- main */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_names(const char *folder, const char *ending, char **out) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name), tail = strlen(ending);
        if (len <= tail || strcmp(e->d_name + len - tail, ending) != 0 || n == MAX_NAMES) continue;
        out[n] = strdup(e->d_name);
        out[n++][len - tail] = 0;
    }
    if (d) closedir(d);
    qsort(out, (size_t)n, sizeof *out, by_name);
    return n;
}

static bool wanted(const char *name, char **names) {
    if (!names[0]) return true;
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* All modules that a plan launches must be there: a producer may not have compiled one. */
static bool has_modules(const char *name, const char *producer) {
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.plan", plans, name);
    char *text = read_file(path, &size);
    bool all = text != NULL;
    for (char *s = text; all && (s = strstr(s, "launch \"")) != NULL;) {
        char *end = strchr(s += 8, '"');
        struct stat st;
        snprintf(path, sizeof path, "%s/%s/%.*s", modules, producer, (int)(end - s), s);
        all = stat(path, &st) == 0;
    }
    free(text);
    return all;
}

static void for_each(const char *folder, const char *ending, char **names, int shard, int shards,
                     bool (*check)(const char *name, const char *producer)) {
    static char *list[MAX_NAMES];
    int n = list_names(folder, ending, list);
    progress left = progress_begin("plans", (size_t)n);
    for (int i = 0; i < n; i++) {
        bool checks = i % shards == shard && wanted(list[i], names);
        for (int p = 0; checks && p < PRODUCERS; p++)
            checks = !check(list[i], producers[(i / shards + p) % PRODUCERS]) || !one_producer;
        free(list[i]);
        progress_step(&left);
    }
    progress_end(&left);
}

/* False: a module of the plan is missing. */
static bool check_one_plan(const char *name, const char *producer) {
    if (!has_modules(name, producer)) return false;
    check_plan(name, producer);
    return true;
}

static char *read_list(const char *path) {
    char *text = read_file(path, NULL);
    if (!text) perror(path), exit(2);
    return text;
}

int main(int argc, char **argv) {
    int shard = 0, shards = 1, n = 3;
    const char *stage = "";
    if (argc < 3) return fprintf(stderr, "usage: corpus_run PLANS MODULES [NAME…]\n"), 2;
    plans = argv[1];
    modules = argv[2];
    for (; n < argc && argv[n][0] == '-'; n += 2) {
        if (strcmp(argv[n], "--shard") == 0 && n + 1 < argc)
            sscanf(argv[n + 1], "%d/%d", &shard, &shards);
        else if (strcmp(argv[n], "--oracle") == 0 && n + 1 < argc && noracles < MAX_ORACLES)
            oracles[noracles++] = argv[n + 1];
        else if (strcmp(argv[n], "--turns") == 0 && n + 1 < argc)
            turns = (unsigned)atoi(argv[n + 1]);
        else if (strcmp(argv[n], "--reference") == 0 && n + 1 < argc)
            reference = argv[n + 1];
        else if (strcmp(argv[n], "--verify") == 0)
            verifies = true, n--;
        else if (strcmp(argv[n], "--one-producer") == 0)
            one_producer = true, n--;
        else if (strcmp(argv[n], "--bounds") == 0 && n + 1 < argc)
            bounds = read_list(argv[n + 1]);
        else if (strcmp(argv[n], "--stage") == 0 && n + 1 < argc)
            stage = argv[n + 1];
        else if (strcmp(argv[n], "--known") == 0 && n + 1 < argc)
            known = read_list(argv[n + 1]);
    }
    oracle_only = strcmp(stage, "oracle") == 0;
    for (int p = 0; p < PRODUCERS; p++) {
        char out[1024];
        snprintf(out, sizeof out, "%s/%s.out", modules, producers[p]);
        mkdir(out, 0777);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(stage, "modules") == 0 || !*stage)
        for_each(plans, ".cl", argv + n, shard, shards, check_module);
    if (strcmp(stage, "modules") != 0)
        for_each(plans, ".plan", argv + n, shard, shards, check_one_plan);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
