/* jit_perf.c — loaded code made known to perf, in two files.
 *
 * /tmp/perf-PID.map has a line with place, size and name for each function: `perf report` reads it.
 * jit-PID.dump has the code and its source lines, too: `perf inject --jit` makes object files of
 * it, which `perf annotate` shows (tools/perf/Documentation/jitdump-specification.txt of Linux).
 * perf finds the dump because it is mapped once as if it could be executed.  Its times are those of
 * CLOCK_MONOTONIC: `perf record -k mono`.  It is written in $JITDUMPDIR or
 * in the current folder.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAGIC = 0x4a695444, DUMP_VERSION = 1, CODE_LOAD = 0, DEBUG_INFO = 2 };

typedef struct {
    uint32_t magic, version, size, machine, unused, pid;
    uint64_t time, flags;
} dump_header;

typedef struct {
    uint32_t kind, size;
    uint64_t time;
} record;

typedef struct {
    record head;
    uint32_t pid, tid;
    uint64_t address, place, bytes, number;
} load_record;

typedef struct {
    record head;
    uint64_t address, lines;
} line_record;

static struct {
    pid_t owner; /* of the file; a child that was forked has its own */
    int file;
} dump;

/* A profile without names is still one. */
static void append(int file, const ir_text *t) {
    ssize_t wrote = t->n ? write(file, t->data, t->n) : 0;
    (void)wrote;
}

/* ------------------------------------------------------------------------------------- the map */

static void put_map_line(ir_text *t, const rt_code *c, const cg_symbol *s) {
    ir_putf(t, "%llx %x %s\n", (unsigned long long)(uintptr_t)(c->at[s->section] + s->at), s->size,
            s->name);
}

static void append_to_map(const rt_code *c, const cg_object *o, ir_arena *a) {
    ir_text t = {.arena = a};
    foreach_in (const cg_symbol, s, o->symbols)
        if (s->function) put_map_line(&t, c, s);
    const char *path = ir_sprintf(a, "/tmp/perf-%ld.map", (long)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    append(file, &t);
    close(file);
}

/* ------------------------------------------------------------------------------------ the dump */

static void put_bytes(ir_text *t, const void *bytes, size_t n) { ir_putn(t, bytes, n); }

static void put_lines(ir_text *t, const rt_code *c, const cg_object *o, const cg_symbol *s) {
    ir_text rows = {.arena = t->arena};
    uint64_t n = 0;
    foreach_in (const cg_line, l, o->lines) {
        if (!l->line || l->at < s->at || l->at - s->at >= s->size) continue;
        const char *name = o->files.data[l->file];
        uint64_t address = (uintptr_t)(c->at[CG_TEXT] + l->at);
        put_bytes(&rows, &address, sizeof address);
        put_bytes(&rows, &(uint32_t[2]){l->line, l->column}, 2 * sizeof(uint32_t));
        put_bytes(&rows, name, strlen(name) + 1);
        n++;
    }
    if (!n) return;
    line_record r = {{DEBUG_INFO, (uint32_t)(sizeof r + rows.n), rt_now_ns()},
                     (uintptr_t)(c->at[CG_TEXT] + s->at),
                     n};
    put_bytes(t, &r, sizeof r);
    put_bytes(t, rows.data, rows.n);
}

/* Lines of a function come before it. */
static void put_function(ir_text *t, const rt_code *c, const cg_object *o, const cg_symbol *s) {
    const uint8_t *code = c->at[CG_TEXT] + s->at;
    size_t name = strlen(s->name) + 1;
    put_lines(t, c, o, s);
    load_record r = {.head = {CODE_LOAD, (uint32_t)(sizeof r + name + s->size), rt_now_ns()},
                     .pid = (uint32_t)getpid(),
                     .tid = (uint32_t)syscall(SYS_gettid),
                     .address = (uintptr_t)code,
                     .place = (uintptr_t)code,
                     .bytes = s->size,
                     .number = (uintptr_t)code};
    put_bytes(t, &r, sizeof r);
    put_bytes(t, s->name, name);
    put_bytes(t, code, s->size);
}

void rt_tell_perf(const rt_code *c, const cg_object *o, ir_arena *a, ir_text *records) {
    append_to_map(c, o, a);
    foreach_in (const cg_symbol, s, o->symbols)
        if (s->function) put_function(records, c, o, s);
}

static void write_header(void) {
    const dump_header h = {.magic = MAGIC,
                           .version = DUMP_VERSION,
                           .size = sizeof h,
                           .machine = cg_host_machine()->elf->machine,
                           .pid = (uint32_t)getpid(),
                           .time = rt_now_ns()};
    ssize_t wrote = write(dump.file, &h, sizeof h);
    (void)wrote;
}

/* Once for each process. */
static void open_dump(void) {
    char path[PATH_MAX];
    const char *folder = getenv("JITDUMPDIR");
    if (dump.owner == getpid()) return;
    dump.owner = getpid();
    snprintf(path, sizeof path, "%s/jit-%ld.dump", folder ? folder : ".", (long)getpid());
    dump.file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (dump.file < 0) return;
    write_header();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *seen = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump.file, 0);
    (void)seen; /* it stays until the process ends: perf notes that it was mapped */
}

void rt_append_to_dump(const ir_text *records) {
    open_dump();
    if (dump.file >= 0) append(dump.file, records);
}
