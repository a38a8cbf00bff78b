/* run.c — the golden runner: functions in text form, and below each what becomes of it.
 *
 *   run [--bless] [--filter TEXT] [--isel] [--turns] FILE.ir|DIR…
 *
 *   run --levels               the levels that this machine has, the lowest first
 *
 *   --isel                     also runs every rule of isel.rules with every type that it takes; a
 *                              rule that neither this nor eval lines used for a type is a failure
 *   --turns                    the ways to allocate registers take turns: each is used for a third of
 *                              the functions
 *   ; run: simplify,dce        the passes, on the first line; a part may begin with its own.
 *                              `parse`: only print back · `verify`: the verifier's messages
 *                              `x86_64:v3`, a machine: the code of functions that are code of
 *                              groups
 *   ; range: 512/64            of launches, for printers such as `access`; in each part its own
 *   ; machine: x86_64:v3       or ptx:sm_90; what passes prepare code for; in each part
 *                              its own
 *   ; lanes: 8                 of vectorized loops; otherwise as many as pay
 *   ; errors                   anywhere in a part: the messages of parsing or of a pass
 *   ; eval: @f(1, 2.0) == 3.0  interpreted before and after the passes; literals take the types of
 *                              the signature; `nan` is any NaN, `undef` any value; no `==`: it ends
 *   func @f(…) … { … }
 *   ;| the expected text of the function above, or the expected messages
 *   ;---                       ends a part: each is a module of its own, whose lines count from 1;
 *                              what the first part says about passes, lanes and errors holds
 *                              for all
 *
 * A function without expected text must print back unchanged (`parse`), must have no message
 * (`verify`), or is there for its eval lines.  Every part that can be read is also printed, read
 * and printed again: the same bytes.  --bless writes what came out into the file, for functions
 * that have expected text or no eval line.  A file without a `; run:` line is only read and
 * printed.
 */
#include "tests/machines.h"
#include "tests/run.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------ lines and parts */

static bool starts_with(line l, const char *prefix) {
    size_t n = strlen(prefix);
    return l.n >= n && memcmp(l.s, prefix, n) == 0;
}

static line rest_of(line l, size_t n) { return (line){l.s + n, l.n - n}; }

static line trim(line l) {
    while (l.n && (*l.s == ' ' || *l.s == '\t')) l = rest_of(l, 1);
    while (l.n && (l.s[l.n - 1] == ' ' || l.s[l.n - 1] == '\r')) l.n--;
    return l;
}

/* What is expected of one function, or of the whole part. */
typedef struct {
    const char *name;    /* of the function, or NULL */
    uint32_t first, end; /* its lines; expected text follows */
    bool has_expected;
    ir_text expected;
    const char *blessed; /* new expected text, or NULL: keep the old */
} unit;

typedef struct {
    const char *path;
    line_list lines;
    uint32_t first, end; /* of the part */
    run_setting setting; /* without passes: only the round trip */
    bool errors;
    ir_vec(unit) units;
    line_list evals;
    ir_vec(uint32_t) eval_lines;
    ir_text messages, said;
} part;

static bool is_function(line l) { return starts_with(l, "func @") || starts_with(l, "kernel @"); }

/* The line after the function that begins on line i. */
static uint32_t end_of_function(const part *p, uint32_t i) {
    line head = trim(p->lines.data[i]);
    if (!head.n || head.s[head.n - 1] != '{') return i + 1;
    while (++i < p->end)
        if (starts_with(p->lines.data[i], "}")) return i + 1;
    return p->end;
}

static const char *function_name(runner *r, line l) {
    const char *s = memchr(l.s, '@', l.n), *stop = s;
    while (stop < l.s + l.n && *stop != '(') stop++;
    return ir_strndup(&r->arena, s + 1, (size_t)(stop - s) - 1);
}

static unit *add_unit(runner *r, part *p, const char *name, uint32_t first, uint32_t end) {
    unit *u = ir_push(&r->arena, &p->units);
    *u = (unit){.name = name, .first = first, .end = end, .expected.arena = &r->arena};
    return u;
}

/* The end of a part that is judged as a whole, without empty lines. */
static uint32_t end_of_text(const part *p) {
    uint32_t end = p->end;
    while (end > p->first &&
           (trim(p->lines.data[end - 1]).n == 0 || starts_with(p->lines.data[end - 1], ";|")))
        end--;
    return end;
}

static void find_units(runner *r, part *p) {
    bool whole = p->errors;
    for (uint32_t i = p->first; i < p->end && !whole; i++)
        if (is_function(p->lines.data[i]))
            add_unit(r, p, function_name(r, p->lines.data[i]), i, end_of_function(p, i));
    if (p->units.n == 0 && p->setting.passes) add_unit(r, p, NULL, p->first, end_of_text(p));
}

static void read_expected(part *p) {
    uint32_t u = 0;
    for (uint32_t i = p->first; i < p->end; i++) {
        line l = p->lines.data[i];
        while (u + 1 < p->units.n && i >= p->units.data[u + 1].first) u++;
        if (!starts_with(l, ";|") || !p->units.n) continue;
        l = rest_of(l, l.n > 2 && l.s[2] == ' ' ? 3 : 2);
        p->units.data[u].has_expected = true;
        ir_putn(&p->units.data[u].expected, l.s, l.n);
        ir_put(&p->units.data[u].expected, "\n");
    }
}

/* The rest of a line after n characters. */
static const char *directive(runner *r, line l, size_t n) {
    l = trim(rest_of(l, n));
    return ir_strndup(&r->arena, l.s, l.n);
}

static void read_directives(runner *r, part *p) {
    for (uint32_t i = p->first; i < p->end; i++) {
        line l = p->lines.data[i];
        if (starts_with(l, "; run:")) p->setting.passes = directive(r, l, 6);
        if (starts_with(l, "; range:")) p->setting.range = directive(r, l, 8);
        if (starts_with(l, "; machine:")) p->setting.level = directive(r, l, 10);
        if (starts_with(l, "; lanes:")) p->setting.lanes = directive(r, l, 8);
        if (starts_with(l, "; errors")) p->errors = true;
        if (!starts_with(l, "; eval:")) continue;
        *ir_push(&r->arena, &p->evals) = trim(rest_of(l, 7));
        *ir_push(&r->arena, &p->eval_lines) = i;
    }
}

/* ------------------------------------------------------------------------------------- messages */

static void keep_message(void *user, const ir_message *m) {
    char text[2000];
    ir_message bare = *m;
    bare.file = NULL; /* so that expected messages do not name the file */
    ir_format_message(&bare, text, sizeof text);
    ir_put(user, text);
    ir_put(user, "\n");
}

static void listen(runner *r, ir_text *to) {
    *to = (ir_text){.arena = &r->arena};
    ir_put(to, "");
    r->cx.report = keep_message;
    r->cx.report_user = to;
}

static const char *text_of(const ir_text *t) { return t->data ? t->data : ""; }

static void print_place(runner *r, const part *p, uint32_t at, const char *what) {
    printf("FAIL %s:%u: %s\n", p->path, at + 1, what);
    r->failed++;
}

/* -------------------------------------------------------------------------------------- judging */

static bool is_mode(const part *p, const char *mode) {
    return p->setting.passes && strcmp(p->setting.passes, mode) == 0;
}

/* Is code made, for a machine, rather than passes run? */
static bool is_compiled(const part *p) {
    unsigned level;
    return p->setting.passes && test_find_level(p->setting.passes, &level);
}

static bool is_selected(const runner *r, const part *p, const unit *u) {
    if (!r->filter) return true;
    return strstr(p->path, r->filter) || (u->name && strstr(u->name, r->filter));
}

static bool has_eval(const part *p, const unit *u) {
    size_t n = u->name ? strlen(u->name) : 0;
    for (uint32_t i = 0; i < p->evals.n && n; i++) {
        line l = p->evals.data[i];
        if (l.n > n + 1 && memcmp(l.s + 1, u->name, n) == 0 && l.s[n + 1] == '(') return true;
    }
    return false;
}

/* The source lines of the function, without comment lines. */
static const char *source_of(runner *r, const part *p, const unit *u) {
    ir_text t = {.arena = &r->arena};
    for (uint32_t i = u->first; i < u->end; i++) {
        line l = p->lines.data[i];
        if (starts_with(trim(l), ";")) continue;
        ir_putn(&t, l.s, l.n);
        ir_put(&t, "\n");
    }
    return text_of(&t);
}

static void judge(runner *r, const part *p, unit *u, const char *got) {
    if (!is_selected(r, p, u)) return;
    bool messages = p->errors || is_mode(p, "verify");
    const char *want = text_of(&u->expected);
    if (!u->has_expected && is_mode(p, "parse") && !messages) want = source_of(r, p, u);
    bool silent = !u->has_expected && !messages && has_eval(p, u);
    if (silent || strcmp(want, got) == 0) {
        r->passed += !silent;
        return;
    }
    u->blessed = got;
    if (r->bless) return;
    print_place(r, p, u->first, u->name ? u->name : "(part)");
    run_diff(r, want, got);
}

static const char *print_function(runner *r, const ir_func *f) {
    ir_text t = {.arena = &r->arena};
    if (!f) return "(removed)\n";
    ir_print_func(&t, f, 0);
    return text_of(&t);
}

static const char *verify_messages(runner *r, const ir_module *m, const char *name) {
    ir_text t;
    const ir_func *f = name ? ir_func_find(m, name) : NULL;
    listen(r, &t);
    if (f)
        ir_verify_func(f);
    else
        ir_verify_module(m);
    return text_of(&t);
}

/* What has become of a function; of a kernel that is code of groups now, k.block. */
static const ir_func *find_result(runner *r, const ir_module *m, const char *name) {
    const ir_func *block = ir_func_find(m, ir_sprintf(&r->arena, "%s.block", name));
    return block ? block : ir_func_find(m, name);
}

static void judge_units(runner *r, part *p, const ir_module *m) {
    for (uint32_t i = 0; i < p->units.n; i++) {
        unit *u = &p->units.data[i];
        const ir_func *f = u->name ? find_result(r, m, u->name) : NULL;
        bool silent = f && ir_is_declaration(f) && !u->has_expected && !is_mode(p, "parse");
        if (is_mode(p, "verify"))
            judge(r, p, u, verify_messages(r, m, u->name));
        else if (u->name && p->said.n)
            judge(r, p, u, run_section(r, &p->said, u->name));
        else if (u->name && !silent)
            judge(r, p, u, print_function(r, f));
    }
}

/* ------------------------------------------------------------------------------- running a part */

static void check_round_trip(runner *r, const part *p, const ir_module *m) {
    ir_text first = {.arena = &r->arena}, second = {.arena = &r->arena}, messages;
    if (r->filter && !strstr(p->path, r->filter)) return;
    ir_print_module(&first, m, IR_PRINT_LOC);
    listen(r, &messages);
    ir_module *again = ir_parse(&r->cx, p->path, first.data, first.n);
    if (!again) {
        print_place(r, p, p->first, "what is printed cannot be read");
        printf("%s", text_of(&messages));
        return;
    }
    ir_print_module(&second, again, IR_PRINT_LOC);
    ir_module_free(again);
    if (strcmp(first.data, second.data) == 0) {
        r->passed++;
        return;
    }
    print_place(r, p, p->first, "printing, reading and printing again differ");
    run_diff(r, first.data, second.data);
}

static void run_evals(runner *r, part *p, ir_module *m, const char *when) {
    for (uint32_t i = 0; i < p->evals.n; i++) {
        ir_text messages;
        line l = p->evals.data[i];
        if (r->filter && !strstr(p->path, r->filter) && !strstr(l.s, r->filter)) continue;
        listen(r, &messages);
        const char *problem = run_eval(r, m, l);
        if (!problem) {
            r->passed++;
            continue;
        }
        print_place(r, p, p->eval_lines.data[i], when);
        printf("  %.*s: %s\n%s", (int)l.n, l.s, problem, text_of(&messages));
    }
}

static bool run_listed(runner *r, part *p, ir_module *m) {
    if (!p->setting.passes || is_mode(p, "parse") || is_mode(p, "verify")) return true;
    listen(r, &p->messages);
    bool ok = is_compiled(p) ? run_compiler(r, m, p->setting.passes, &p->said)
                             : run_passes(r, m, &p->setting, &p->said);
    if (!p->errors && !ok) {
        print_place(r, p, p->first, p->setting.passes);
        printf("%s", text_of(&p->messages));
    }
    return ok;
}

/* Functions are in the order of the text; passes may then remove or move them. */
static void take_names(runner *r, part *p, const ir_module *m) {
    uint32_t n = 0;
    foreach_func (f, m) {
        if (n < p->units.n && p->units.data[n].name)
            p->units.data[n].name = ir_strdup(&r->arena, f->name);
        n++;
    }
}

static void run_module(runner *r, part *p, ir_module *m) {
    take_names(r, p, m);
    check_round_trip(r, p, m);
    run_evals(r, p, m, "eval before the passes");
    if (!run_listed(r, p, m) || p->errors) return;
    if (p->setting.passes) judge_units(r, p, m);
    bool runs = !is_mode(p, "parse") && !is_mode(p, "verify") && !is_compiled(p);
    if (runs) run_evals(r, p, m, "eval after the passes");
}

static void run_part(runner *r, part *p) {
    const char *begin = p->first < p->end ? p->lines.data[p->first].s : "";
    line last = p->first < p->end ? p->lines.data[p->end - 1] : (line){begin, 0};
    listen(r, &p->messages);
    ir_module *m = ir_parse(&r->cx, p->path, begin, (size_t)(last.s + last.n - begin));
    if (m) run_module(r, p, m);
    ir_module_free(m);
    if (p->errors) {
        judge(r, p, &p->units.data[0], text_of(&p->messages));
    } else if (!m) {
        print_place(r, p, p->first, "the part cannot be read");
        printf("%s", text_of(&p->messages));
    }
}

/* ------------------------------------------------------------------------------------- blessing */

static void put_expected(ir_text *out, const char *text) {
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n");
        ir_put(out, n ? ";| " : ";|");
        ir_putn(out, s, n);
        ir_put(out, "\n");
        s += n + (s[n] == '\n');
    }
}

/* The lines of a part with the expected text that holds now. */
static void put_part(ir_text *out, const part *p) {
    uint32_t u = 0;
    for (uint32_t i = p->first; i <= p->end; i++) {
        for (; u < p->units.n && p->units.data[u].end == i; u++) {
            const unit *now = &p->units.data[u];
            put_expected(out, now->blessed ? now->blessed : text_of(&now->expected));
        }
        if (i == p->end || starts_with(p->lines.data[i], ";|")) continue;
        ir_putn(out, p->lines.data[i].s, p->lines.data[i].n);
        ir_put(out, "\n");
    }
}

static void write_file(const char *path, const ir_text *t) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->data, 1, t->n, f) != t->n) perror(path);
    if (f && fclose(f) != 0) perror(path);
}

/* ---------------------------------------------------------------------------------------- files */

static char *read_file(runner *r, const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char chunk[4096];
    ir_text t = {.arena = &r->arena};
    ir_put(&t, "");
    if (!f) return NULL;
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, f)) > 0;) ir_putn(&t, chunk, got);
    fclose(f);
    *n = t.n;
    return t.data;
}

typedef struct {
    runner *r;
    const char *path;
} file_job;

static void run_file(void *arg) {
    runner *r = ((file_job *)arg)->r;
    part p = {.path = ((file_job *)arg)->path};
    size_t n = 0;
    char *text = read_file(r, p.path, &n);
    if (!text) {
        print_place(r, &p, 0, "the file cannot be read");
        return;
    }
    ir_text out = {.arena = &r->arena};
    run_setting of_file = {0};
    bool errors = false;
    run_split(r, text, n, &p.lines);
    for (uint32_t i = 0; i < p.lines.n; i = p.end + 1) {
        p = (part){.path = p.path, .lines = p.lines, .first = i, .setting = of_file};
        p.errors = errors;
        for (p.end = i; p.end < p.lines.n && !starts_with(p.lines.data[p.end], ";---");) p.end++;
        read_directives(r, &p);
        if (i == 0) {
            of_file = (run_setting){.passes = p.setting.passes, .lanes = p.setting.lanes};
            errors = p.errors;
        }
        find_units(r, &p);
        read_expected(&p);
        run_part(r, &p);
        put_part(&out, &p);
        if (p.end < p.lines.n) ir_put(&out, ";---\n");
    }
    if (r->bless && out.n && (out.n != n || memcmp(out.data, text, n) != 0))
        write_file(p.path, &out);
}

static void run_path(runner *r, const char *path);

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_wanted(const char *name, const struct stat *s) {
    size_t n = strlen(name);
    return name[0] != '.' && (S_ISDIR(s->st_mode) || (n > 3 && strcmp(name + n - 3, ".ir") == 0));
}

/* Sorted, so that the output does not depend on the file system. */
static void run_directory(runner *r, const char *path, DIR *dir) {
    char *names[1000];
    size_t n = 0;
    struct stat s;
    for (struct dirent *e; n < 1000 && (e = readdir(dir)) != NULL;) {
        char full[4096];
        snprintf(full, sizeof full, "%s/%s", path, e->d_name);
        if (stat(full, &s) == 0 && is_wanted(e->d_name, &s)) names[n++] = strdup(full);
    }
    closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        run_path(r, names[i]);
        free(names[i]);
    }
}

static void run_path(runner *r, const char *path) {
    DIR *dir = opendir(path);
    if (dir) {
        run_directory(r, path, dir);
        return;
    }
    file_job job = {r, path};
    ir_arena_init(&r->arena, &r->cx);
    if (!ir_try(&r->cx, run_file, &job)) {
        printf("FAIL %s: out of memory\n", path);
        r->failed++;
    }
    ir_arena_free(&r->arena);
}

static int print_levels(void) {
    for (unsigned n = 0; test_host_level(n); n++)
        printf("%s%s", n ? " " : "", cg_level_name(cg_host_machine(), test_host_level(n)));
    printf("\n");
    return 0;
}

int main(int argc, char **argv) {
    runner r = {0};
    int i = 1;
    if (argc == 2 && strcmp(argv[1], "--levels") == 0) return print_levels();
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--bless") == 0)
            r.bless = true;
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            r.filter = argv[++i];
        else if (strcmp(argv[i], "--isel") == 0)
            run_count_rules(&r);
        else if (strcmp(argv[i], "--turns") == 0)
            r.turns = true;
        else
            break;
    }
    if (i == argc || strncmp(argv[i], "--", 2) == 0) {
        fprintf(stderr, "usage: run [--bless] [--filter TEXT] [--isel] [--turns] FILE.ir|DIR…\n");
        return 2;
    }
    for (; i < argc; i++) run_path(&r, argv[i]);
    if (r.isel_hits) run_rules(&r);
    printf("%u passed, %u failed\n", r.passed, r.failed);
    return r.failed != 0;
}
