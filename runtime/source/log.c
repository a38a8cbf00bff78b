/* log.c — a build of a source: its context, its memory, and where its messages go.
 *
 * Messages of the build's context are added to the log, in memory of the log's own: a message may
 * say that the build has no memory left.
 */
#include "runtime/source/source.h"

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
void rt_build_say(rt_build *b, const char *text) {
    ir_try(&b->log_memory, append, &(saying){&b->log, text});
}

static bool is_for_log(const rt_build *b, const spvf_message *m) {
    if (m->severity != SPVF_WARNING) return m->severity == SPVF_ERROR;
    return !b->silent && (b->has_il || !m->word);
}

static void note_message(void *user, const spvf_message *m) {
    rt_build *b = user;
    if (!is_for_log(b, m)) return;
    rt_build_say(b, m->formatted);
    rt_build_say(b, "\n");
}

bool rt_build_begin(rt_build *b) {
    const spvf_context_options o = {.size = sizeof o, .message = note_message, .message_user = b};
    *b = (rt_build){.context = NULL};
    if (rt_context_create(&o, &b->context) != SPVF_OK) return false;
    ir_arena_init(&b->arena, &b->context->cx);
    ir_arena_init(&b->log_arena, &b->log_memory);
    b->log.arena = &b->log_arena;
    return true;
}

void rt_build_end(rt_build *b, bool keep, char **log) {
    *log = b->log.n ? strdup(b->log.data) : NULL;
    b->context->message = NULL;
    ir_arena_free(&b->arena);
    ir_arena_free(&b->log_arena);
    ir_ctx_trim(&b->context->cx);
    if (!keep) spvf_context_destroy(b->context);
}
