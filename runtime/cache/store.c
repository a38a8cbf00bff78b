/* store.c — entries of the cache: one file each, named by its key.
 *
 * A file is written under another name and then renamed, so a reader of an entry sees all of it or
 * nothing.  The file that is being written is also the claim to write it: it is locked, and the
 * system gives up the lock when the process ends, however it ends.  A process that finds it locked
 * waits for the entry.  If a writer was killed, the next one locks its file and writes it again.
 * If a writer was stopped, each of the others waits for a second, and then compiles for itself.
 *
 * Nothing is flushed to the disk: what a machine that stops makes of a file, its checksum says.
 */
#define _DEFAULT_SOURCE /* flock */
#include "runtime/cache/cache.h"
#include "runtime/system/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[8] = "spvfcod";
static const uint64_t patience_ns = UINT64_C(1000000000);

enum { REFRESH_SECONDS = 60 }; /* an entry's time of use is no older than that */

static void put_names(rt_entry *e) {
    static const char digits[] = "0123456789abcdef";
    for (unsigned n = 0; n < RT_NAME_BYTES; n++)
        e->name[n] = digits[e->key.bytes[n / 2] >> (n & 1 ? 0 : 4) & 15];
    memcpy(e->claim, e->name, RT_NAME_BYTES);
    memcpy(e->claim + RT_NAME_BYTES, ".new", sizeof ".new");
}

static unsigned digit(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

rt_key rt_key_of_name(const char *name) {
    rt_key key;
    for (unsigned n = 0; n < RT_HASH_BYTES; n++, name += 2)
        key.bytes[n] = (uint8_t)(digit(name[0]) << 4 | digit(name[1]));
    return key;
}

static uint64_t checksum_of(const rt_entry_head *h, const void *bytes, size_t size) {
    return ir_hash(ir_hash(0, h, offsetof(rt_entry_head, checksum)), bytes, size);
}

rt_entry_state rt_entry_check(const uint8_t *file, size_t size, const rt_key *key) {
    const rt_entry_head *h = (const void *)file;
    if (size < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0 ||
        memcmp(&h->key, key, sizeof *key) != 0 || h->size != size - sizeof *h ||
        h->checksum != checksum_of(h, h + 1, h->size))
        return RT_ENTRY_DAMAGED;
    bool same = memcmp(h->build, rt_build_id, RT_BUILD_ID_BYTES) == 0;
    return same ? RT_ENTRY_GOOD : RT_ENTRY_FOREIGN;
}

/* -------------------------------------------------------------------------------------- finding */

/* When it was used last is what a file's time of change says. */
static void refresh(int file, const struct stat *s) {
    if (time(NULL) - s->st_mtim.tv_sec > REFRESH_SECONDS) futimens(file, NULL);
}

bool rt_entry_map(const rt_cache *c, const char *name, const uint8_t **bytes, size_t *size) {
    struct stat s;
    void *at = MAP_FAILED;
    int file = openat(c->folder, name, O_RDONLY | RT_OPEN_SAFELY);
    if (file < 0) return false;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 &&
        s.st_size <= RT_MOST_OF_ENTRY) {
        at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
        refresh(file, &s);
    }
    close(file);
    if (at == MAP_FAILED) return false;
    *bytes = at;
    *size = (size_t)s.st_size;
    return true;
}

void rt_entry_unmap(const uint8_t *bytes, size_t size) { munmap((void *)(uintptr_t)bytes, size); }

static bool find(rt_entry *e) {
    if (!rt_entry_map(e->cache, e->name, &e->map, &e->mapped)) return false;
    if (rt_entry_check(e->map, e->mapped, &e->key) == RT_ENTRY_GOOD) {
        e->bytes = e->map + sizeof(rt_entry_head);
        e->size = e->mapped - sizeof(rt_entry_head);
        return true;
    }
    rt_entry_unmap(e->map, e->mapped);
    e->map = NULL;
    return false;
}

/* ------------------------------------------------------------------------------------- claiming */

typedef enum { CLAIMED, BUSY, IMPOSSIBLE } claim_state;

/* Is the file that was opened still there under its name?  Its writer may have finished. */
static bool is_file(const rt_cache *c, const char *name, int file) {
    struct stat a, b;
    return fstat(file, &a) == 0 && fstatat(c->folder, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_regular(int file) {
    struct stat s;
    return fstat(file, &s) == 0 && S_ISREG(s.st_mode);
}

static claim_state claim(rt_entry *e) {
    int file = openat(e->cache->folder, e->claim, O_RDWR | O_CREAT | RT_OPEN_SAFELY, 0600);
    if (file < 0) return IMPOSSIBLE;
    bool regular = is_regular(file), locked = regular && flock(file, LOCK_EX | LOCK_NB) == 0;
    claim_state state = locked ? CLAIMED : regular && errno == EWOULDBLOCK ? BUSY : IMPOSSIBLE;
    if (locked && !is_file(e->cache, e->claim, file)) state = BUSY;
    e->claimed = state == CLAIMED;
    e->file = file;
    if (!e->claimed) close(file);
    return state;
}

/* The claim ends with the file.  One that was renamed is no longer there to be removed. */
static void let_go(rt_entry *e, bool remove) {
    if (remove) unlinkat(e->cache->folder, e->claim, 0);
    close(e->file);
    e->claimed = false;
}

/* Between a look and a claim another process may have finished. */
static bool find_or_claim(rt_entry *e) {
    if (find(e)) return true;
    claim_state state = claim(e);
    if (state == CLAIMED && find(e)) let_go(e, true);
    return state != BUSY;
}

static void trace(const rt_entry *e, const char *what, size_t size) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_INSTANT, 0, "cache", what);
    rt_trace_text(&t, "spvfuse.cache.key", e->name);
    if (size) rt_trace_number(&t, "spvfuse.cache.bytes", size);
    rt_trace_write(&t);
}

void rt_entry_begin(const rt_cache *c, const rt_key *key, rt_entry *e) {
    *e = (rt_entry){.cache = c, .key = *key};
    if (c->folder < 0) return;
    put_names(e);
    uint64_t start = rt_now_ns();
    struct timespec pause = {.tv_nsec = 50000};
    while (!find_or_claim(e) && rt_now_ns() - start < patience_ns) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 5000000) pause.tv_nsec *= 2;
    }
    if (rt_is_traced()) trace(e, e->bytes ? "cache hit" : "cache miss", e->size);
}

void rt_entry_replace(rt_entry *e) {
    rt_entry_unmap(e->map, e->mapped);
    e->map = e->bytes = NULL;
    e->mapped = e->size = 0;
    claim(e);
}

void rt_entry_end(rt_entry *e) {
    if (e->claimed) let_go(e, true);
    if (e->map) rt_entry_unmap(e->map, e->mapped);
    *e = (rt_entry){0};
}

/* -------------------------------------------------------------------------------------- writing */

/* What a writer has left that was killed.  An empty file is not made empty again: some file systems
 * write files that were to the disk when they are closed. */
static bool make_empty(int file) {
    struct stat s;
    return fstat(file, &s) == 0 && (s.st_size == 0 || ftruncate(file, 0) == 0);
}

static bool write_all(int file, const void *bytes, size_t size) {
    for (const char *p = bytes; size;) {
        ssize_t n = write(file, p, size);
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool publish(const rt_entry *e) {
    return renameat(e->cache->folder, e->claim, e->cache->folder, e->name) == 0;
}

void rt_entry_write(rt_entry *e, const void *bytes, size_t size, ir_ctx *cx) {
    if (!e->claimed || size > e->cache->limit) return;
    rt_entry_head h = {.key = e->key, .size = size};
    memcpy(h.magic, magic, sizeof h.magic);
    memcpy(h.build, rt_build_id, RT_BUILD_ID_BYTES);
    h.checksum = checksum_of(&h, bytes, size);
    bool done = make_empty(e->file) && write_all(e->file, &h, sizeof h) &&
                write_all(e->file, bytes, size) && publish(e);
    let_go(e, !done);
    if (done && rt_is_traced()) trace(e, "cache write", size);
    if (done) rt_make_room(e->cache, sizeof h + size, cx);
}
