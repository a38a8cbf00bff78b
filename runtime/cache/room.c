/* room.c — how much the cache holds, and which entries leave it.
 *
 * To look at every file whenever one is written would cost more than compiling does.  So the file
 * `sizes` has the sum of the last look and then the size of every entry that was written since,
 * each added by one write at its end, which is atomic.  When they are more than the cache may hold,
 * or many, all files are looked at: those used longest ago leave until a quarter is free, and a new
 * sum alone is kept.  If the file is lost or damaged, it is right again after the next look.
 */
#include "runtime/cache/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 512, PAGE = 4096, ABANDONED_SECONDS = 600 };

static const char sizes_name[] = "sizes", new_sizes_name[] = "sizes.new";

static uint64_t whole_pages(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* ----------------------------------------------------------------------------- all of the files */

/* Digits of a key, and ".new" after them while it is written. */
static bool is_name(const char *name) {
    size_t n = strspn(name, "0123456789abcdef");
    return n == RT_NAME_BYTES && (!name[n] || !strcmp(name + n, ".new"));
}

/* What no entry can be, as a file with holes, counts with what it takes. */
static uint64_t size_of(const struct stat *s) {
    bool fits = S_ISREG(s->st_mode) && s->st_size <= RT_MOST_OF_ENTRY;
    return fits ? (uint64_t)s->st_size : (uint64_t)s->st_blocks * 512;
}

static void add_file(const rt_cache *c, const char *name, ir_arena *a, rt_file_list *out) {
    struct stat s;
    if (!is_name(name) || fstatat(c->folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0) return;
    rt_file *f = ir_push(a, out);
    *f = (rt_file){.name = ir_strdup(a, name),
                   .is_entry = !name[RT_NAME_BYTES],
                   .bytes = whole_pages(size_of(&s)),
                   .used = s.st_mtim.tv_sec};
}

typedef struct {
    const rt_cache *cache;
    DIR *folder;
    ir_arena *arena;
    rt_file_list *out;
} reading;

static void read_names(void *arg) {
    const reading *r = arg;
    for (const struct dirent *d; (d = readdir(r->folder));)
        add_file(r->cache, d->d_name, r->arena, r->out);
}

void rt_list_files(const rt_cache *c, ir_arena *a, rt_file_list *out) {
    int again = openat(c->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    reading r = {c, again >= 0 ? fdopendir(again) : NULL, a, out};
    if (!r.folder && again >= 0) close(again);
    if (!r.folder) return;
    bool ok = ir_try(a->cx, read_names, &r);
    closedir(r.folder);
    if (!ok) ir_throw(a->cx, a->cx->status);
}

/* ---------------------------------------------------------------------------------- the removal */

static int by_use(const void *a, const void *b) {
    const rt_file *x = a, *y = b;
    return x->used != y->used ? (x->used > y->used) - (x->used < y->used)
                              : strcmp(x->name, y->name);
}

static uint64_t sum_of(const rt_file_list *files) {
    uint64_t sum = 0;
    foreach_in (const rt_file, f, *files) sum += f->bytes;
    return sum;
}

/* Entries that are being written stay, unless their writer has ended.  The bytes that are left. */
static uint64_t remove_oldest(const rt_cache *c, const rt_file_list *files) {
    uint64_t sum = sum_of(files), enough = sum > c->limit ? c->limit - c->limit / 4 : sum;
    int64_t now = (int64_t)time(NULL);
    foreach_in (const rt_file, f, *files) {
        bool leaves = f->is_entry ? sum > enough : now - f->used > ABANDONED_SECONDS;
        if (leaves && unlinkat(c->folder, f->name, 0) == 0) sum -= f->bytes;
    }
    return sum;
}

static void write_sum(const rt_cache *c, uint64_t sum) {
    int file =
        openat(c->folder, new_sizes_name, O_WRONLY | O_CREAT | O_TRUNC | RT_OPEN_SAFELY, 0600);
    if (file < 0) return;
    bool ok = write(file, &sum, sizeof sum) == sizeof sum;
    close(file);
    if (!ok || renameat(c->folder, new_sizes_name, c->folder, sizes_name) != 0)
        unlinkat(c->folder, new_sizes_name, 0);
}

typedef struct {
    const rt_cache *cache;
    ir_arena arena;
} looking;

static void look(void *arg) {
    looking *l = arg;
    rt_file_list files = {0};
    rt_list_files(l->cache, &l->arena, &files);
    if (files.n) qsort(files.data, files.n, sizeof *files.data, by_use);
    write_sum(l->cache, remove_oldest(l->cache, &files));
}

static void look_at_all(const rt_cache *c, ir_ctx *cx) {
    looking l = {.cache = c};
    ir_arena_init(&l.arena, cx);
    ir_try(cx, look, &l);
    ir_arena_free(&l.arena);
}

/* -------------------------------------------------------------------------------- the short way */

/* Adds the size to the file.  False: it cannot be told what the cache holds, or it is too much. */
static bool has_room(const rt_cache *c, uint64_t size) {
    uint64_t entry[MANY], sum = 0;
    int file = openat(c->folder, sizes_name, O_RDWR | O_APPEND | RT_OPEN_SAFELY);
    if (file < 0) return false;
    bool added = write(file, &size, sizeof size) == sizeof size;
    ssize_t n = pread(file, entry, sizeof entry, 0);
    close(file);
    if (!added || n <= 0 || (size_t)n == sizeof entry || (size_t)n % sizeof *entry) return false;
    for (size_t k = 0; k < (size_t)n / sizeof *entry; k++) sum += entry[k];
    return sum <= c->limit;
}

void rt_forget_sizes(const rt_cache *c) { unlinkat(c->folder, sizes_name, 0); }

void rt_make_room(const rt_cache *c, size_t size, ir_ctx *cx) {
    if (!has_room(c, whole_pages(size))) look_at_all(c, cx);
}
