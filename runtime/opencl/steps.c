/* steps.c — what all builds do: where their messages go, and how their steps end.
 *
 * A build has a context of its own.  Messages of that context are added to the log, in memory of
 * the log's own: a message may say that the build has no memory left.  A step is a function that
 * may throw, and its failure becomes an error of OpenCL.
 */
#include "runtime/opencl/build.h"

#include <stdlib.h>

typedef struct {
    ir_text *log;
    const char *text;
} saying;

static void append(void *arg) {
    const saying *s = arg;
    ir_put(s->log, s->text);
}

/* Has memory of its own: there may be none left of the build's, and nothing that catches that. */
void ocl_say(ocl_build *b, const char *text) {
    ir_try(&b->log_memory, append, &(saying){&b->log, text});
}

static bool is_for_log(const ocl_build *b, const spvf_message *m) {
    if (m->severity != SPVF_WARNING) return m->severity == SPVF_ERROR;
    return !b->silent && (b->has_il || !m->word);
}

static void note_message(void *user, const spvf_message *m) {
    ocl_build *b = user;
    if (!is_for_log(b, m)) return;
    ocl_say(b, m->formatted);
    ocl_say(b, "\n");
}

bool ocl_begin_build(ocl_build *b) {
    const spvf_context_options o = {.size = sizeof o, .message = note_message, .message_user = b};
    *b = (ocl_build){.context = NULL};
    if (spvf_context_create(&o, &b->context) != SPVF_OK) return false;
    ir_arena_init(&b->arena, &b->context->cx);
    ir_arena_init(&b->log_arena, &b->log_memory);
    b->log.arena = &b->log_arena;
    return true;
}

cl_int ocl_step(ocl_build *b, void (*step)(void *arg), void *arg, cl_int failure) {
    spvf_status status = rt_guard(b->context, step, arg);
    return status == SPVF_OK             ? CL_SUCCESS
           : status == SPVF_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY
                                         : failure;
}

void ocl_end_build(ocl_build *b, bool keep, char **log) {
    *log = b->log.n ? strdup(b->log.data) : NULL;
    b->context->message = NULL;
    ir_arena_free(&b->arena);
    ir_arena_free(&b->log_arena);
    ir_ctx_trim(&b->context->cx);
    if (!keep) spvf_context_destroy(b->context);
}
