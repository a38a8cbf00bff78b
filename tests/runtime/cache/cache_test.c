/* cache_test.c — the cache as files: entries that are found, claimed, damaged, too many, and
 * written by several at once.  What they hold is the matter of cache_kernel_test.c.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, usleep */
#include "runtime/cache/cache.h"
#include "tests/runtime/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ----------------------------------------------------------------------------------- the folder */

static char folder[TEMPORARY_NAME];
static ir_ctx cx;

static rt_cache begin(const char *limit) {
    cr_assert(enter_temporary_folder(folder));
    setenv("SPVFUSE_CACHE_DIR", folder, 1);
    setenv("SPVFUSE_CACHE_SIZE", limit, 1);
    rt_cache c = rt_cache_open(true);
    cr_assert(c.folder >= 0);
    return c;
}

static void end(rt_cache *c) {
    ir_arena arena;
    rt_file_list files = {0};
    ir_arena_init(&arena, &cx);
    rt_list_files(c, &arena, &files);
    foreach_in (const rt_file, f, files) remove(f->name);
    ir_arena_free(&arena);
    rt_forget_sizes(c);
    rt_cache_close(c);
    cr_expect_eq(rmdir(folder), 0, "nothing else is left");
}

static unsigned count_files(const rt_cache *c) {
    ir_arena arena;
    rt_file_list files = {0};
    ir_arena_init(&arena, &cx);
    rt_list_files(c, &arena, &files);
    unsigned n = files.n;
    ir_arena_free(&arena);
    return n;
}

static rt_key key_of(unsigned n) {
    rt_key key = {{(uint8_t)(n >> 8), (uint8_t)n}};
    return key;
}

static void name_of(unsigned n, char name[RT_NAME_BYTES + 1]) {
    snprintf(name, RT_NAME_BYTES + 1, "%04x%060d", n, 0);
}

/* Is the entry found, with these bytes? */
static bool has(const rt_cache *c, unsigned n, const void *bytes, size_t size) {
    rt_key key = key_of(n);
    rt_entry e;
    rt_entry_begin(c, &key, &e);
    bool found = e.bytes && e.size == size && memcmp(e.bytes, bytes, size) == 0;
    cr_expect_eq(found, !e.claimed);
    rt_entry_end(&e);
    return found;
}

static void put(const rt_cache *c, unsigned n, const void *bytes, size_t size) {
    rt_key key = key_of(n);
    rt_entry e;
    rt_entry_begin(c, &key, &e);
    cr_assert(e.claimed);
    rt_entry_write(&e, bytes, size, &cx);
    rt_entry_end(&e);
}

/* --------------------------------------------------------------------------------------- hashes */

static void expect_hash(const void *data, size_t n, const char *want) {
    char text[2 * RT_HASH_BYTES + 1];
    uint8_t out[RT_HASH_BYTES];
    rt_hash h;
    for (size_t step = 1; step < 200; step += 63) {
        rt_hash_begin(&h);
        for (size_t at = 0; at < n; at += step)
            rt_hash_add(&h, (const char *)data + at, n - at < step ? n - at : step);
        rt_hash_end(&h, out);
        for (unsigned k = 0; k < RT_HASH_BYTES; k++) snprintf(text + 2 * k, 3, "%02x", out[k]);
        cr_expect_str_eq(text, want);
    }
}

Test(cache, blake2b) {
    uint8_t data[1000];
    for (unsigned n = 0; n < 129; n++) data[n] = (uint8_t)n;
    expect_hash("", 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    expect_hash("abc", 3, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    expect_hash(data, 128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1");
    expect_hash(data, 129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9");
    memset(data, 7, sizeof data);
    expect_hash(data, sizeof data,
                "46514f71bd0672bb5c7c33206b4e91c653e97723aab6d5b78a4750bf11920f76");
}

/* Two texts are not the same as one, wherever it is cut; a number has 8 bytes. */
static void hash_two(const char *a, const char *b, uint8_t out[RT_HASH_BYTES]) {
    rt_hash h;
    rt_hash_begin(&h);
    rt_hash_bytes(&h, a, strlen(a));
    rt_hash_bytes(&h, b, strlen(b));
    rt_hash_end(&h, out);
}

Test(cache, parts_of_a_hash) {
    uint8_t one[RT_HASH_BYTES], other[RT_HASH_BYTES];
    rt_hash h;
    hash_two("ab", "c", one);
    hash_two("a", "bc", other);
    cr_expect(memcmp(one, other, sizeof one) != 0);
    rt_hash_begin(&h);
    rt_hash_number(&h, 2);
    rt_hash_add(&h, "ab\1\0\0\0\0\0\0\0c", 11);
    rt_hash_end(&h, other);
    cr_expect(memcmp(one, other, sizeof one) == 0);
}

/* -------------------------------------------------------------------------------------- entries */

Test(cache, what_was_written_is_found) {
    rt_cache c = begin("1M");
    cr_expect_not(has(&c, 1, "code", 4));
    cr_expect_eq(count_files(&c), 0, "a claim that is given up leaves nothing");
    put(&c, 1, "code", 4);
    put(&c, 2, "", 0);
    cr_expect(has(&c, 1, "code", 4));
    cr_expect(has(&c, 2, "", 0));
    cr_expect_not(has(&c, 3, "code", 4));
    cr_expect_eq(count_files(&c), 2);
    end(&c);
}

/* Writes the file again without its byte `at`, or with another one there. */
static void damage(const char *name, const uint8_t *bytes, size_t size, size_t at, uint8_t with) {
    FILE *f = fopen(name, "wb");
    cr_assert_not_null(f);
    fwrite(bytes, 1, at, f);
    if (with != bytes[at]) {
        fputc(with, f);
        fwrite(bytes + at + 1, 1, size - at - 1, f);
    }
    fclose(f);
}

static size_t read_entry(const char *name, uint8_t *bytes, size_t room) {
    FILE *f = fopen(name, "rb");
    cr_assert_not_null(f);
    size_t n = fread(bytes, 1, room, f);
    fclose(f);
    return n;
}

Test(cache, damage_is_a_miss) {
    char name[RT_NAME_BYTES + 1];
    uint8_t bytes[256];
    rt_cache c = begin("1M");
    name_of(7, name);
    put(&c, 7, "some code", 9);
    size_t n = read_entry(name, bytes, sizeof bytes);
    cr_assert_eq(n, sizeof(rt_entry_head) + 9);
    for (size_t at = 0; at < n; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            damage(name, bytes, n, at, bytes[at] ^ (uint8_t)(1u << bit));
            cr_expect_not(has(&c, 7, "some code", 9), "bit %u of byte %zu", bit, at);
        }
        damage(name, bytes, n, at, bytes[at]);
        cr_expect_not(has(&c, 7, "some code", 9), "%zu bytes", at);
    }
    put(&c, 7, "some code", 9);
    cr_expect(has(&c, 7, "some code", 9), "a damaged entry is replaced");
    end(&c);
}

Test(cache, entries_of_others_are_misses) {
    char name[RT_NAME_BYTES + 1], other[RT_NAME_BYTES + 1];
    uint8_t bytes[256];
    rt_cache c = begin("1M");
    rt_key key = key_of(8);
    name_of(7, name);
    name_of(8, other);
    put(&c, 7, "some code", 9);
    cr_assert_eq(rename(name, other), 0);
    cr_expect_not(has(&c, 8, "some code", 9), "the key is another");
    put(&c, 8, "some code", 9);
    size_t n = read_entry(other, bytes, sizeof bytes);
    rt_entry_head h;
    memcpy(&h, bytes, sizeof h);
    h.build[0] ^= 1;
    h.checksum = ir_hash(ir_hash(0, &h, offsetof(rt_entry_head, checksum)), bytes + sizeof h, 9);
    memcpy(bytes, &h, sizeof h);
    cr_expect_eq(rt_entry_check(bytes, n, &key), RT_ENTRY_FOREIGN);
    damage(other, bytes, n, 0, bytes[0]);
    FILE *f = fopen(other, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
    cr_expect_not(has(&c, 8, "some code", 9), "the version is another");
    end(&c);
}

Test(cache, no_folder_is_no_error) {
    rt_key key = key_of(1);
    rt_entry e;
    setenv("SPVFUSE_CACHE_DIR", "/dev/null/folder", 1);
    rt_cache c = rt_cache_open(true);
    cr_expect_lt(c.folder, 0);
    rt_entry_begin(&c, &key, &e);
    cr_expect(!e.bytes && !e.claimed);
    rt_entry_write(&e, "code", 4, &cx);
    rt_entry_end(&e);
    rt_cache_close(&c);
}

/* The superuser may write anywhere, so another user looks. */
static int look_as_another(rt_cache *c) {
    rt_key old = key_of(1), new = key_of(2);
    rt_entry e;
    if (geteuid() == 0 && (chown(folder, 65534, 65534) != 0 || setuid(65534) != 0)) return 2;
    rt_cache_close(c);
    *c = rt_cache_open(true);
    if (c->folder < 0) return 3;
    rt_entry_begin(c, &old, &e);
    if (geteuid() != 65534 && !e.bytes) return 4;
    rt_entry_end(&e);
    rt_entry_begin(c, &new, &e);
    if (e.bytes || e.claimed) return 5;
    rt_entry_end(&e);
    return 0;
}

static int status_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

Test(cache, a_folder_that_is_only_read) {
    rt_cache c = begin("1M");
    put(&c, 1, "code", 4);
    cr_assert_eq(chmod(folder, 0500), 0);
    pid_t child = fork();
    if (child == 0) _exit(look_as_another(&c));
    cr_expect_eq(status_of(child), 0);
    cr_assert_eq(chmod(folder, 0700), 0);
    cr_assert_eq(chown(folder, geteuid(), getegid()), 0);
    end(&c);
}

Test(cache, a_folder_that_others_write_to_is_not_used) {
    rt_cache c = begin("1M");
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_expect_lt(rt_cache_open(true).folder, 0);
    cr_assert_eq(chmod(folder, 0700), 0);
    end(&c);
}

/* ----------------------------------------------------------------------------------------- room */

static void set_age(unsigned n, time_t seconds) {
    char name[RT_NAME_BYTES + 1];
    name_of(n, name);
    const struct timespec times[2] = {{.tv_sec = time(NULL) - seconds},
                                      {.tv_sec = time(NULL) - seconds}};
    cr_assert_eq(utimensat(AT_FDCWD, name, times, 0), 0);
}

Test(cache, what_was_used_longest_ago_leaves) {
    rt_cache c = begin("32K"); /* eight pages */
    for (unsigned n = 0; n < 8; n++) {
        put(&c, n, "code", 4);
        set_age(n, 1000 - (time_t)n);
    }
    cr_expect_eq(count_files(&c), 8);
    cr_expect(has(&c, 0, "code", 4), "which makes it young");
    put(&c, 8, "code", 4);
    cr_expect_eq(count_files(&c), 6, "a quarter is free");
    cr_expect(has(&c, 0, "code", 4));
    for (unsigned n = 1; n < 4; n++) cr_expect_not(has(&c, n, "code", 4));
    for (unsigned n = 4; n < 9; n++) cr_expect(has(&c, n, "code", 4));
    end(&c);
}

Test(cache, the_bound_holds_for_many) {
    rt_cache c = begin("64K");
    for (unsigned n = 0; n < 700; n++) {
        put(&c, n, "code", 4);
        if (n == 300) rt_forget_sizes(&c);
        if (n == 400) write_file("sizes", "12345");
        cr_assert_leq(count_files(&c), 16);
    }
    static const char large[70000];
    rt_key key = key_of(1000);
    rt_entry e;
    rt_entry_begin(&c, &key, &e);
    rt_entry_write(&e, large, sizeof large, &cx);
    rt_entry_end(&e);
    cr_expect_not(has(&c, 1000, large, sizeof large));
    end(&c);
}

/* They are read whenever an entry is written. */
Test(cache, notes_of_sizes_stay_short) {
    struct stat s;
    rt_cache c = begin("1G");
    for (unsigned n = 0; n < 1100; n++) {
        put(&c, n, "code", 4);
        cr_assert(stat("sizes", &s) == 0 && s.st_size <= 4096);
    }
    cr_expect_eq(count_files(&c), 1100);
    end(&c);
}

Test(cache, limits_have_units) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"5", 5},        {"3K", 3 << 10},  {"2M", 2 << 20},    {"1G", 1 << 30},
        {"", 256 << 20}, {"x", 256 << 20}, {"1KB", 256 << 20}, {"99999999999G", 256 << 20}};
    setenv("SPVFUSE_CACHE_DIR", "/dev/null/none", 1);
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        setenv("SPVFUSE_CACHE_SIZE", cases[n].text, 1);
        cr_expect_eq(rt_cache_open(false).limit, cases[n].bytes, "'%s'", cases[n].text);
    }
}

/* ------------------------------------------------------------------------------ several at once */

/* Until another process says so. */
static void wait_for(const volatile int *flag) {
    while (!*flag) usleep(100);
}

static volatile int *shared_flags(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

Test(cache, one_of_two_writes) {
    rt_cache c = begin("1M");
    volatile int *flag = shared_flags();
    rt_key key = key_of(1);
    rt_entry e;
    pid_t child = fork();
    if (child == 0) {
        rt_entry_begin(&c, &key, &e);
        flag[0] = 1;
        usleep(50000);
        rt_entry_write(&e, "code", 4, &cx);
        rt_entry_end(&e);
        _exit(0);
    }
    wait_for(flag);
    cr_expect(has(&c, 1, "code", 4), "it was waited for");
    cr_expect_eq(status_of(child), 0);
    cr_expect_eq(count_files(&c), 1);
    end(&c);
}

Test(cache, a_writer_that_is_killed_delays_no_other) {
    rt_cache c = begin("1M");
    volatile int *flag = shared_flags();
    rt_key key = key_of(1);
    rt_entry e;
    pid_t child = fork();
    if (child == 0) {
        rt_entry_begin(&c, &key, &e);
        if (write(e.file, "half of an ent", 14) != 14) _exit(1);
        flag[0] = 1;
        for (;;) pause();
    }
    wait_for(flag);
    kill(child, SIGKILL);
    cr_expect(WIFSIGNALED(status_of(child)));
    cr_expect_eq(count_files(&c), 1, "what it has left");
    uint64_t start = rt_now_ns();
    put(&c, 1, "code", 4);
    cr_expect_lt(rt_now_ns() - start, 500000000);
    cr_expect(has(&c, 1, "code", 4));
    cr_expect_eq(count_files(&c), 1);
    end(&c);
}

Test(cache, a_writer_that_stands_still_is_not_waited_for_long) {
    rt_cache c = begin("1M");
    rt_key key = key_of(1);
    rt_entry slow, e;
    rt_entry_begin(&c, &key, &slow);
    cr_assert(slow.claimed);
    rt_entry_begin(&c, &key, &e);
    cr_expect(!e.claimed && !e.bytes);
    rt_entry_write(&e, "other", 5, &cx);
    rt_entry_end(&e);
    rt_entry_write(&slow, "code", 4, &cx);
    rt_entry_end(&slow);
    cr_expect(has(&c, 1, "code", 4));
    end(&c);
}

static int write_many(const rt_cache *c) {
    for (unsigned n = 0; n < 100; n++) {
        rt_key key = key_of(n);
        rt_entry e;
        rt_entry_begin(c, &key, &e);
        if (!e.bytes && !e.claimed) return 1;
        if (e.bytes && (e.size != sizeof n || memcmp(e.bytes, &n, sizeof n) != 0)) return 2;
        rt_entry_write(&e, &n, sizeof n, &cx);
        rt_entry_end(&e);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------ odd files */

enum { PIPE, FOLDER, HOLES, ODD_KINDS };

static void make_odd(const char *name, int kind) {
    if (kind == PIPE) cr_assert_eq(mkfifo(name, 0600), 0);
    if (kind == FOLDER) cr_assert_eq(mkdir(name, 0700), 0);
    if (kind != HOLES) return;
    int file = open(name, O_WRONLY | O_CREAT, 0600);
    cr_assert(file >= 0 && ftruncate(file, (off_t)1 << 40) == 0);
    close(file);
}

/* In the place of an entry, of one that is being written, of the sizes and of new sizes. */
static void use_with_odd(int place, int kind) {
    rt_cache c = begin("1M");
    char name[RT_NAME_BYTES + sizeof ".new"];
    name_of(1, name);
    if (place == 1) strcat(name, ".new");
    if (place > 1) strcpy(name, place == 2 ? "sizes" : "sizes.new");
    make_odd(name, kind);
    rt_key key = key_of(1);
    rt_entry e;
    rt_entry_begin(&c, &key, &e);
    cr_expect(!e.bytes, "place %d, kind %d", place, kind);
    rt_entry_write(&e, "code", 4, &cx);
    rt_entry_end(&e);
    put(&c, 2, "more", 4);
    cr_expect(has(&c, 2, "more", 4), "place %d, kind %d", place, kind);
    if (place > 1 || kind == HOLES) cr_expect(has(&c, 1, "code", 4), "%d %d", place, kind);
    if (kind == FOLDER) rmdir(name);
    if (kind != FOLDER) unlink(name);
    end(&c);
}

Test(cache, pipes_folders_and_holes_do_no_harm, .timeout = 60) {
    for (int place = 0; place < 4; place++)
        for (int kind = 0; kind < ODD_KINDS; kind++) use_with_odd(place, kind);
}

Test(cache, many_write_and_remove) {
    rt_cache c = begin("128K");
    pid_t child[8];
    for (unsigned n = 0; n < 8; n++)
        if ((child[n] = fork()) == 0) _exit(write_many(&c));
    for (unsigned n = 0; n < 8; n++) cr_expect_eq(status_of(child[n]), 0);
    cr_expect_leq(count_files(&c), 40);
    end(&c);
}
