/* stored.c — what compilers made of a source, in the cache.
 *
 * The key of an entry is all that the compiler is given: the command line, the text with its
 * prelude, headers, the environment, and the facts of the compiler's own file.  The compiler lists
 * the other files that it has read.  So an entry has their names and hashes of their bytes, and is
 * valid as long as these are the same; otherwise a new one takes its place.  It also has the names
 * that the compiler would have found before them, had there been such files.
 *
 * A file whose facts are those of the entry is not read again, unless it was so young then that a
 * change might not show.  Sources that use the date, or ask whether files exist, are not kept.
 */
#include "runtime/source/source.h"
#include "runtime/system/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LAYOUT = 1, MOST_CHECKS = 4096 };
static const int64_t second_ns = 1000000000;
static const int64_t clock_step_ns = 50000000; /* of file systems, and more */

/* ------------------------------------------------------------------------------ facts of a file */

typedef struct {
    uint64_t device, number, size;
    int64_t written, changed; /* nanoseconds */
} facts;

static int64_t in_ns(struct timespec t) { return t.tv_sec * second_ns + t.tv_nsec; }

static bool find_facts(const char *path, facts *f) {
    struct stat s;
    if (stat(path, &s) != 0) return false;
    *f = (facts){.device = s.st_dev,
                 .number = s.st_ino,
                 .size = (uint64_t)s.st_size,
                 .written = in_ns(s.st_mtim),
                 .changed = in_ns(s.st_ctim)};
    return true;
}

/* A path after it, with its end. */
typedef struct {
    facts facts;
    uint8_t hash[RT_HASH_BYTES];
    uint32_t exists, is_old; /* so old that its facts would be others when it was changed */
    uint64_t path_size;      /* a multiple of 8 */
} file_record;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return in_ns(t);
}

static void hash_bytes(const char *bytes, size_t n, uint8_t to[RT_HASH_BYTES]) {
    rt_hash h;
    rt_hash_begin(&h);
    rt_hash_add(&h, bytes, n);
    rt_hash_end(&h, to);
}

static bool read_all(int file, char *to, size_t size) {
    for (ssize_t n; size; to += n, size -= (size_t)n)
        if ((n = read(file, to, size)) <= 0) return false;
    return true;
}

/* A regular file with as many bytes; a 0 is put after them.  NULL: it is none, or not read. */
static const char *read_file(ir_arena *a, const char *path, size_t size) {
    char *bytes = ir_alloc(a, size + 1);
    struct stat s;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) &&
              (uint64_t)s.st_size == size && read_all(file, bytes, size);
    if (file >= 0) close(file);
    bytes[size] = 0;
    return ok ? bytes : NULL;
}

/* Is it as it was? */
static bool is_same(ir_arena *a, const file_record *r, const char *path) {
    uint8_t hash[RT_HASH_BYTES];
    facts now;
    bool exists = find_facts(path, &now);
    if (exists != r->exists) return false;
    if (!exists || (r->is_old && memcmp(&now, &r->facts, sizeof now) == 0)) return true;
    if (now.size != r->facts.size) return false;
    const char *bytes = read_file(a, path, now.size);
    if (bytes) hash_bytes(bytes, now.size, hash);
    return bytes && memcmp(hash, r->hash, sizeof hash) == 0;
}

/* -------------------------------------------------------------------------------------- the key */

static void add_text(rt_hash *h, const char *text) {
    if (text)
        rt_hash_bytes(h, text, strlen(text));
    else
        rt_hash_number(h, UINT64_MAX);
}

static void add_program(rt_hash *h, const char *path) {
    facts f = {0};
    add_text(h, path);
    if (path && find_facts(path, &f)) rt_hash_add(h, &f, sizeof f);
}

/* What compilers take from the environment. */
static void add_environment(rt_hash *h) {
    static const char *const names[] = {
        "CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "CCC_ADD_ARGS",      "CCC_OVERRIDE_OPTIONS",
        "LANG",  "LC_ALL",         "LC_MESSAGES",   "SOURCE_DATE_EPOCH", "LD_LIBRARY_PATH"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) add_text(h, rt_environment(names[n]));
}

/* Where the host is has a part in what #include finds, and in what debuggers are told. */
static bool needs_folder(const rt_clc_input *in) {
    bool needs = strstr(in->text, "include") || strstr(in->text, "embed");
    for (uint32_t n = 0; n < in->word_count; n++)
        needs |= !strcmp(in->words[n], "-g") || strstr(in->words[n], "__FILE__");
    return needs;
}

static void add_folder(rt_hash *h) {
    char folder[4096];
    add_text(h, getcwd(folder, sizeof folder) ? folder : NULL);
}

static rt_key key_of(const rt_clc_input *in) {
    rt_hash h;
    rt_key key;
    uint64_t layout = LAYOUT;
    rt_hash_begin(&h);
    add_text(&h, "OpenCL C");
    rt_hash_add(&h, &layout, sizeof layout);
    add_program(&h, in->tools->clang);
    add_program(&h, in->tools->translator);
    for (uint32_t n = 0; n < in->word_count; n++) add_text(&h, in->words[n]);
    add_text(&h, NULL);
    add_text(&h, in->text);
    for (size_t n = 0; n < in->source->header_count; n++) {
        add_text(&h, in->source->headers[n].name);
        add_text(&h, in->source->headers[n].text);
    }
    add_environment(&h);
    if (needs_folder(in)) add_folder(&h);
    rt_hash_end(&h, key.bytes);
    return key;
}

/* -------------------------------------------------------------------------------------- finding */

/* In front of the records of files; SPIR-V and the log follow those. */
typedef struct {
    uint64_t files, log_size, code_size; /* each text with a 0, in 8 bytes each */
} head;

static size_t whole(size_t n) { return (n + 7) / 8 * 8; }

/* Are all files as they were?  Also finds what follows their records. */
static bool is_up_to_date(rt_clc_stored *s) {
    const head *h = (const void *)s->entry.bytes;
    const uint8_t *at = s->entry.bytes + sizeof *h;
    bool same = true;
    for (uint64_t n = 0; n < h->files && same; n++) {
        const file_record *r = (const void *)at;
        same = is_same(&s->build->arena, r, (const char *)(r + 1));
        at += sizeof *r + r->path_size;
    }
    s->log = (const char *)at;
    s->code = at + whole(h->log_size + 1);
    s->code_size = h->code_size;
    return same;
}

bool rt_clc_find_stored(rt_clc_stored *s, const rt_clc_input *in) {
    *s = (rt_clc_stored){.build = in->build, .input = in, .start = now_ns()};
    const rt_cache *cache = in->source->cache;
    if (cache->folder < 0) return false;
    rt_key key = key_of(in);
    rt_entry_begin(cache, &key, &s->entry);
    if (!s->entry.bytes) return false;
    if (is_up_to_date(s)) return true;
    rt_entry_replace(&s->entry);
    return false;
}

void rt_clc_end_stored(rt_clc_stored *s) {
    if (s->entry.cache) rt_entry_end(&s->entry);
}

/* -------------------------------------------------------------------------------------- writing */

typedef const char *file_name;
typedef ir_vec(file_name) paths;

typedef struct {
    rt_clc_stored *stored;
    ir_arena *arena;
    paths files;   /* that were read */
    paths folders; /* where they may have been looked for */
    paths absent;  /* files that would have been found instead */
    ir_text out;
} writing;

static void add_name(writing *w, paths *to, const char *name) {
    foreach_in (file_name, known, *to)
        if (strcmp(*known, name) == 0) return;
    *ir_push(w->arena, to) = name;
}

/* The next name in a list for make: words with '\\ ', '\\#' and '$$' in them, and '\\' at ends of
 * lines.  NULL: there is none. */
static const char *next_name(writing *w, const char **at) {
    ir_text name = {.arena = w->arena};
    const char *s = *at;
    while (*s && (strchr(" \t\n", *s) || (*s == '\\' && s[1] == '\n'))) s++;
    for (; *s && !strchr(" \t\n", *s); s++) {
        if ((*s == '\\' && (s[1] == ' ' || s[1] == '#')) || (*s == '$' && s[1] == '$')) s++;
        ir_putn(&name, s, 1);
    }
    *at = s;
    return name.n ? name.data : NULL;
}

static void read_names(writing *w, const char *list) {
    const char *at = strchr(list, ':'), *name;
    size_t n = strlen(RT_CLC_HEADER_FOLDER);
    if (!at) return;
    at++;
    while ((name = next_name(w, &at)))
        if (strncmp(name, RT_CLC_HEADER_FOLDER, n) != 0) add_name(w, &w->files, name);
}

static void find_folders(writing *w) {
    const rt_clc_input *in = w->stored->input;
    add_name(w, &w->folders, ".");
    for (uint32_t n = 0; n < in->source->options->words.n; n++)
        if (strncmp(in->source->options->words.data[n], "-I", 2) == 0)
            add_name(w, &w->folders, in->source->options->words.data[n] + 2);
    foreach_in (file_name, file, w->files) {
        const char *slash = strrchr(*file, '/');
        if (slash)
            add_name(w, &w->folders, ir_sprintf(w->arena, "%.*s", (int)(slash - *file), *file));
    }
}

/* The file under its name in another folder. */
static void find_absent(writing *w, const char *file) {
    facts f;
    foreach_in (file_name, from, w->folders) {
        size_t n = strlen(*from);
        if (strncmp(file, *from, n) != 0 || file[n] != '/') continue;
        foreach_in (file_name, to, w->folders) {
            const char *other = ir_sprintf(w->arena, "%s%s", *to, file + n);
            if (!find_facts(other, &f)) add_name(w, &w->absent, other);
        }
    }
}

/* Is the text the same at other times, and wherever other files are? */
static bool is_lasting(const char *text) {
    static const char *const words[] = {"__DATE__", "__TIME__", "__TIMESTAMP__", "__has_include",
                                        "__has_embed"};
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (strstr(text, words[n])) return false;
    return true;
}

static bool is_input_lasting(const rt_clc_input *in) {
    bool lasting = is_lasting(in->text);
    for (uint32_t n = 0; n < in->word_count; n++) lasting &= is_lasting(in->words[n]);
    for (size_t n = 0; n < in->source->header_count; n++)
        lasting &= is_lasting(in->source->headers[n].text);
    return lasting;
}

static void put_record(writing *w, file_record *r, const char *path) {
    static const char zeros[8];
    size_t n = strlen(path);
    r->path_size = whole(n + 1);
    ir_putn(&w->out, (const char *)r, sizeof *r);
    ir_putn(&w->out, path, n);
    ir_putn(&w->out, zeros, r->path_size - n);
}

/* False: it was perhaps changed while the compiler read it, or it says something else each time. */
static bool put_file(writing *w, const char *path) {
    file_record r = {.exists = true};
    int64_t start = w->stored->start;
    if (!find_facts(path, &r.facts) || r.facts.changed > start - clock_step_ns) return false;
    const char *bytes = read_file(w->arena, path, r.facts.size);
    if (!bytes || !is_lasting(bytes)) return false;
    hash_bytes(bytes, r.facts.size, r.hash);
    r.is_old = r.facts.changed < start - 2 * second_ns && r.facts.written < start;
    put_record(w, &r, path);
    return true;
}

static void put_text(writing *w, const void *bytes, size_t n) {
    static const char zeros[8];
    ir_putn(&w->out, bytes, n);
    ir_putn(&w->out, zeros, whole(n + 1) - n);
}

static bool put_all(writing *w, const rt_clc_made *made) {
    head h = {.log_size = strlen(made->log), .code_size = made->size};
    read_names(w, made->files);
    find_folders(w);
    if (w->files.n * w->folders.n * w->folders.n > MOST_CHECKS) return false;
    foreach_in (file_name, file, w->files) find_absent(w, *file);
    h.files = w->files.n + w->absent.n;
    ir_putn(&w->out, (const char *)&h, sizeof h);
    foreach_in (file_name, file, w->files)
        if (!put_file(w, *file)) return false;
    foreach_in (file_name, name, w->absent) put_record(w, &(file_record){.exists = false}, *name);
    put_text(w, made->log, h.log_size);
    put_text(w, made->words, made->size);
    return true;
}

void rt_clc_write_stored(rt_clc_stored *s, const rt_clc_made *made) {
    ir_arena *a = &s->build->arena;
    if (!s->entry.claimed || !is_input_lasting(s->input)) return;
    writing w = {.stored = s, .arena = a, .out = {.arena = a}};
    if (put_all(&w, made)) rt_entry_write(&s->entry, w.out.data, w.out.n, &s->build->context->cx);
}
