/* trace.c — the file of a trace (trace.h), in the "JSON array format" of Chrome's Trace Event
 * Format, which chrome://tracing and ui.perfetto.dev read.
 *
 * Each event is one line and one write at the end of the file, so the file is good up to its last
 * line however the process ends; the array may lack its "]", which readers of the format allow.  A
 * process that ends by itself writes it.  Times are those of CLOCK_MONOTONIC, in microseconds.
 *
 * Threads have their own numbers.  A device is shown like a process of its own, whose number is
 * made of that of the process and of the device's (the system's numbers have 22 bits); its tracks
 * are threads of that.  Commands that overlap lie on different tracks.
 *
 * A child of a fork has a file of its own: "%p" in the name is the number of the process, and where
 * the name has none, the child's file has its number after the name.
 */
#define _GNU_SOURCE
#include "runtime/system/trace.h"

#include "runtime/api/json_string.h"
#include "runtime/api/runtime.h"
#include "runtime/system/environment.h"
#include "runtime/system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_DEVICES = 30, TRACKS = 64, PID_BITS = 22, LONGEST = 400, CLOSING = 4 };

typedef struct {
    const void *address;
    uint64_t used, named; /* a bit for each track */
} device_row;

_Atomic int rt_tracing = RT_TRACE_UNKNOWN;

static struct {
    pthread_once_t once;
    rt_lock lock; /* of all that follows */
    _Atomic int file;
    _Atomic uint32_t forks; /* rt_forks() of the process that has the file */
    device_row devices[MOST_DEVICES];
    unsigned ndevices;
    char failure[PATH_MAX + 100];
} trace = {.once = PTHREAD_ONCE_INIT, .file = -1};

/* ------------------------------------------------------------------------------------ one event */

static bool has_room(const rt_trace *t, size_t n) { return t->n + n + CLOSING < sizeof t->text; }

static void put(rt_trace *t, const char *text, size_t n) {
    if (!has_room(t, n)) return;
    memcpy(t->text + t->n, text, n);
    t->n += n;
}

static void IR_PRINTF(2, 3) putf(rt_trace *t, const char *fmt, ...) {
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0) put(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void put_character(rt_trace *t, const unsigned char *s, unsigned n) {
    if (n == 0)
        put(t, "\\ufffd", 6);
    else if (*s < 0x20)
        putf(t, "\\u%04x", *s);
    else
        putf(t, "%s%.*s", *s == '"' || *s == '\\' ? "\\" : "", (int)n, (const char *)s);
}

/* A string, cut where it is too long. */
static void put_string(rt_trace *t, const char *text) {
    enum { ROOM = 12 }; /* for a character, an ellipsis and the quote */
    size_t end = t->n + LONGEST;
    const unsigned char *s = (const unsigned char *)text;
    put(t, "\"", 1);
    while (*s && t->n < end && has_room(t, ROOM)) {
        unsigned n = json_utf8_length(s);
        put_character(t, s, n);
        s += n ? n : 1;
    }
    if (*s) put(t, "…", strlen("…"));
    put(t, "\"", 1);
}

static unsigned device_of(rt_track track) { return track / TRACKS; }

static void put_place(rt_trace *t, rt_track track) {
    long pid = (long)getpid();
    if (track)
        putf(t, "\"pid\":%ld,\"tid\":%u", pid | (long)(device_of(track) + 1) << PID_BITS, track);
    else
        putf(t, "\"pid\":%ld,\"tid\":%ld", pid, (long)syscall(SYS_gettid));
}

static void put_time(rt_trace *t, const char *key, uint64_t ns) {
    putf(t, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

static void open_at(rt_trace *t, rt_trace_kind kind, rt_track track, uint64_t ns) {
    t->n = 0;
    t->has_attributes = false;
    putf(t, ",\n{\"ph\":\"%c\",", (char)kind);
    put_place(t, track);
    put_time(t, "ts", ns);
}

static void put_name(rt_trace *t, const char *category, const char *name) {
    putf(t, ",\"cat\":\"%s\",\"name\":", category);
    put_string(t, name);
}

void rt_trace_open(rt_trace *t, rt_trace_kind kind, rt_track track, const char *category,
                   const char *name) {
    open_at(t, kind, track, rt_now_ns());
    if (kind == RT_TRACE_INSTANT) putf(t, ",\"s\":\"t\"");
    if (kind == RT_TRACE_END) return;
    put_name(t, category, name);
}

/* False: there is no room. */
static bool put_key(rt_trace *t, const char *key, size_t value) {
    if (!has_room(t, strlen(key) + value + sizeof ",\"args\":{\"\":")) return false;
    put(t, t->has_attributes ? "," : ",\"args\":{", t->has_attributes ? 1 : 9);
    t->has_attributes = true;
    putf(t, "\"%s\":", key);
    return true;
}

void rt_trace_text(rt_trace *t, const char *key, const char *value) {
    enum { LEAST = 40 };
    if (value && put_key(t, key, LEAST)) put_string(t, value);
}

void rt_trace_number(rt_trace *t, const char *key, uint64_t value) {
    if (put_key(t, key, 20)) putf(t, "%llu", (unsigned long long)value);
}

void rt_trace_sizes(rt_trace *t, const char *key, const uint64_t *list, unsigned n) {
    if (!put_key(t, key, 21 * n + 2)) return;
    for (unsigned k = 0; k < n; k++) putf(t, "%c%llu", k ? ',' : '[', (unsigned long long)list[k]);
    put(t, "]", 1);
}

static void close_event(rt_trace *t) {
    t->n += (size_t)snprintf(t->text + t->n, sizeof t->text - t->n, "%s",
                             t->has_attributes ? "}}" : "}");
}

/* --------------------------------------------------------------------------- with the lock held */

/* What cannot be written ends the trace: half an event would spoil the file. */
static void append(const char *text, size_t n) {
    if (trace.file < 0 || write(trace.file, text, n) == (ssize_t)n) return;
    snprintf(trace.failure, sizeof trace.failure, "SPVFUSE_TRACE: writing ended: %s",
             strerror(errno));
    atomic_store(&rt_tracing, RT_TRACE_OFF);
    close(trace.file);
    trace.file = -1;
}

static void append_event(rt_trace *t) {
    close_event(t);
    append(t->text, t->n);
}

/* A name for what is shown: of a process or a thread. */
static void open_name(rt_trace *t, const char *what, rt_track track) {
    t->n = 0;
    t->has_attributes = false;
    putf(t, ",\n{\"ph\":\"M\",\"name\":\"%s\",", what);
    put_place(t, track);
}

static void append_name(const char *what, rt_track track, const char *name) {
    rt_trace t;
    open_name(&t, what, track);
    rt_trace_text(&t, "name", name);
    append_event(&t);
}

/* The first events name the process that writes them. */
static void append_head(void) {
    rt_trace t;
    open_name(&t, "process_name", 0);
    rt_trace_text(&t, "name", program_invocation_short_name);
    rt_trace_text(&t, "telemetry.sdk.name", "spvfuse");
    rt_trace_text(&t, "telemetry.sdk.language", "c");
    rt_trace_number(&t, "process.pid", (uint64_t)getpid());
    t.text[0] = '[';
    append_event(&t);
    if (getpid() == (pid_t)syscall(SYS_gettid)) append_name("thread_name", 0, "main");
}

/* The name of the file: "%p" is the number of the process, "%%" a percent sign. */
static bool make_path(const char *pattern, char *path, size_t room) {
    size_t n = 0;
    bool has_pid = false;
    for (const char *s = pattern; *s && n + 16 < room; s++) {
        if (*s == '%' && s[1] == 'p') {
            n += (size_t)snprintf(path + n, room - n, "%ld", (long)getpid());
            has_pid = true;
            s++;
        } else {
            if (*s == '%' && s[1] == '%') s++;
            path[n++] = *s;
        }
    }
    path[n] = 0;
    if (rt_forks() && !has_pid) snprintf(path + n, room - n, ".%ld", (long)getpid());
    return n + 16 < room;
}

static void open_file(void) {
    char path[PATH_MAX];
    const char *pattern = rt_setting(RT_ENV_TRACE);
    trace.forks = rt_forks();
    trace.file = -1;
    trace.ndevices = 0;
    atomic_store(&rt_tracing, RT_TRACE_OFF);
    if (!pattern) return;
    errno = ENAMETOOLONG;
    if (make_path(pattern, path, sizeof path))
        trace.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (trace.file < 0) {
        snprintf(trace.failure, sizeof trace.failure, "SPVFUSE_TRACE: '%s' cannot be written: %s",
                 pattern, strerror(errno));
        return;
    }
    atomic_store(&rt_tracing, RT_TRACE_ON);
    append_head();
}

/* -------------------------------------------------------------------------------------- entries */

static void begin(void) {
    rt_lock_init(&trace.lock, false);
    open_file();
}

/* A child does not write into the file of its parent. */
static void reopen(void) {
    rt_lock_take(&trace.lock);
    if (trace.forks != rt_forks()) {
        if (trace.file >= 0) close(trace.file);
        open_file();
    }
    rt_lock_release(&trace.lock);
}

bool rt_trace_look(void) {
    pthread_once(&trace.once, begin);
    if (trace.file >= 0 && trace.forks != rt_forks()) reopen();
    return atomic_load(&rt_tracing) == RT_TRACE_ON;
}

const char *rt_trace_failure(void) {
    rt_is_traced();
    return trace.failure[0] ? trace.failure : NULL;
}

void rt_trace_write(rt_trace *t) {
    rt_lock_take(&trace.lock);
    append_event(t);
    rt_lock_release(&trace.lock);
}

void rt_trace_span(const char *category, const char *name, uint64_t began, const char *function) {
    rt_trace t;
    open_at(&t, RT_TRACE_WHOLE, 0, began);
    put_time(&t, "dur", rt_now_ns() - began);
    put_name(&t, category, name);
    rt_trace_text(&t, "spvfuse.function.name", function);
    rt_trace_write(&t);
}

void rt_trace_end(rt_track track) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, track, NULL, NULL);
    rt_trace_write(&t);
}

void rt_trace_call(const char *category, const char *name) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, category, name ? name : category);
    rt_trace_write(&t);
}

void rt_trace_end_call(const char *key, uint64_t value) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    rt_trace_number(&t, key, value);
    rt_trace_write(&t);
}

void rt_trace_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
    if (!rt_is_traced()) return;
    rt_lock_take(&trace.lock);
    append_name("thread_name", 0, name);
    rt_lock_release(&trace.lock);
}

/* At the end of the process: what comes later is not written. */
__attribute__((destructor)) static void end_trace(void) {
    if (atomic_load(&rt_tracing) != RT_TRACE_ON || trace.forks != rt_forks()) return;
    rt_lock_take(&trace.lock);
    append("\n]\n", 3);
    atomic_store(&rt_tracing, RT_TRACE_OFF);
    if (trace.file >= 0) close(trace.file);
    trace.file = -1;
    rt_lock_release(&trace.lock);
}

/* ---------------------------------------------------------------------------- tracks of devices */

/* The row of a device, perhaps a new one; when there are too many, the last one is shared. */
static unsigned find_device(const void *address, const char *name) {
    unsigned n = 0;
    while (n < trace.ndevices && trace.devices[n].address != address) n++;
    if (n == MOST_DEVICES) return n - 1;
    if (n == trace.ndevices) {
        char text[100];
        trace.devices[trace.ndevices++] = (device_row){.address = address, .used = 1};
        snprintf(text, sizeof text, "device %s (%ld)", name, (long)getpid());
        append_name("process_name", n * TRACKS + 1, text);
    }
    return n;
}

static void name_track(device_row *d, rt_track track) {
    uint64_t bit = UINT64_C(1) << track % TRACKS;
    char text[40];
    if (d->named & bit) return;
    d->named |= bit;
    snprintf(text, sizeof text, "commands %u", track % TRACKS);
    append_name("thread_name", track, text);
}

rt_track rt_trace_take_track(const void *device, const char *name) {
    rt_track track = 0;
    rt_lock_take(&trace.lock);
    if (trace.file >= 0) {
        unsigned n = find_device(device, name);
        device_row *d = &trace.devices[n];
        unsigned k = ~d->used ? (unsigned)__builtin_ctzll(~d->used) : 0;
        if (k) {
            d->used |= UINT64_C(1) << k;
            track = n * TRACKS + k;
            name_track(d, track);
        }
    }
    rt_lock_release(&trace.lock);
    return track;
}

void rt_trace_give_track(rt_track track) {
    rt_lock_take(&trace.lock);
    trace.devices[device_of(track)].used &= ~(UINT64_C(1) << track % TRACKS);
    rt_lock_release(&trace.lock);
}
