/* trace.h — a record of what the library does and when: a file of JSON in the form that Chrome's
 * tracing and Perfetto show (trace.c).
 *
 * Events lie on tracks: one for each thread, and some for each device.  An event with a duration is
 * written when it begins, and again when it ends, so the file shows what was running when a process
 * was killed; only stages of compiling, which are short, are written when they end.  On one track,
 * events nest.
 *
 *   if (rt_is_traced()) rt_trace_begin(…);
 *
 * All functions may be called by any thread, with any lock but those of trace.c and lock.c.  Nothing is
 * allocated or thrown. */
#ifndef SPVFUSE_RUNTIME_TRACE_H
#define SPVFUSE_RUNTIME_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { RT_TRACE_UNKNOWN, RT_TRACE_OFF, RT_TRACE_ON } rt_trace_state;
extern _Atomic int rt_tracing; /* rt_trace_state */
bool rt_trace_look(void);

static inline bool rt_is_traced(void) {
    return atomic_load_explicit(&rt_tracing, memory_order_relaxed) != RT_TRACE_OFF &&
           rt_trace_look();
}

/* Why SPVFUSE_TRACE is set and nothing is written; NULL: that is not so. */
const char *rt_trace_failure(void);

typedef enum {
    RT_TRACE_BEGIN = 'B',
    RT_TRACE_END = 'E',
    RT_TRACE_INSTANT = 'i',
    RT_TRACE_WHOLE = 'X' /* rt_trace_span */
} rt_trace_kind;

/* A track: 0 is the one of this thread, others belong to devices. */
typedef uint32_t rt_track;

/* An event that is being put together; attributes are added before it is written. */
typedef struct {
    size_t n;
    bool has_attributes;
    char text[2000];
} rt_trace;

/* category, name: of an end they do not matter, and may be NULL. */
void rt_trace_open(rt_trace *t, rt_trace_kind kind, rt_track track, const char *category,
                   const char *name);
/* Attributes for which there is no room are left out; a long text is cut. */
void rt_trace_text(rt_trace *t, const char *key, const char *value);
void rt_trace_number(rt_trace *t, const char *key, uint64_t value);
void rt_trace_sizes(rt_trace *t, const char *key, const uint64_t *list, unsigned n);
void rt_trace_write(rt_trace *t);
/* The last event that has begun on the track ends. */
void rt_trace_end(rt_track track);

/* What began at that time, by rt_now_ns(), on the track of this thread, and ends now; function: it
 * is about that one, or NULL. */
void rt_trace_span(const char *category, const char *name, uint64_t began, const char *function);

/* On the track of this thread, until rt_trace_end(0) or rt_trace_end_call; name NULL: it has
 * none. */
void rt_trace_call(const char *category, const char *name);
void rt_trace_end_call(const char *key, uint64_t value);

/* A track on which no event runs, of the device with this address; 0: there are too many, and the
 * event is to be left out. */
rt_track rt_trace_take_track(const void *device, const char *name);
void rt_trace_give_track(rt_track track);

/* This thread, which belongs to the library, is shown by that name: in the trace, and its first 15
 * letters in debuggers and profiles. */
void rt_trace_name_thread(const char *name);

#endif
