/* commands.c — submissions: their commands go into one stream, in order; launches of a recording do
 * so as graphs of the driver (replays.c). */
#include "runtime/devices/cuda/cuda.h"

typedef struct {
    cuda *d;
    cuda_pending *p;
    const rt_more *more; /* of it */
    ir_arena *scratch;
} submitting;

static void run(cuda *d, const rt_command *c, ir_arena *scratch) {
    switch (c->kind) {
    case RT_COMMAND_LAUNCH: cuda_launch(d, &c->launch, scratch); break;
    case RT_COMMAND_COPY: cuda_copy(d, &c->copy); break;
    case RT_COMMAND_FILL: cuda_fill(d, &c->fill); break;
    }
}

static void enqueue_commands(cuda *d, const rt_more *s, ir_arena *scratch) {
    for (size_t n = 0; n < s->count;) {
        size_t replayed = cuda_replay_launches(d, s, n, scratch);
        if (!replayed) run(d, &s->commands[n], scratch);
        n += replayed ? replayed : 1;
    }
}

static void enqueue_all(void *arg) {
    const submitting *a = arg;
    cuda *d = a->d;
    const rt_submission *s = a->p->submission;
    const rt_more all = {s->commands, s->count, s->recording, s->content};
    cuda_enter(d);
    cuda_expect_begin(d, a->p);
    enqueue_commands(d, &all, a->scratch);
    a->p->printers = d->printing;
    cuda_expect_end(d, a->p);
}

static void enqueue_more(void *arg) {
    const submitting *a = arg;
    cuda_enter(a->d);
    enqueue_commands(a->d, a->more, a->scratch);
}

bool cuda_extend(rt_device *device, rt_submission *s, const rt_more *more, ir_status *failure) {
    cuda *d = (cuda *)device;
    ir_ctx *cx = &device->context->cx;
    cuda_pending *p = (cuda_pending *)(void *)s->own;
    if (!cuda_begin_more(d, p, more)) return false;
    ir_arena scratch;
    ir_arena_init(&scratch, cx);
    bool ok = ir_try(cx, enqueue_more, &(submitting){d, p, more, &scratch});
    *failure = ok ? IR_OK : cx->status;
    ir_arena_free(&scratch);
    d->kernel = NULL;
    d->recorder = NULL;
    cuda_end_more(d, p);
    return true;
}

rt_progress cuda_submit(rt_device *device, rt_submission *s) {
    cuda *d = (cuda *)device;
    ir_ctx *cx = &device->context->cx;
    cuda_pending *p = (cuda_pending *)(void *)s->own;
    *p = (cuda_pending){.submission = s};
    ir_arena scratch;
    ir_arena_init(&scratch, cx);
    d->enqueuing = p;
    bool ok = ir_try(cx, enqueue_all, &(submitting){d, p, NULL, &scratch});
    ir_status status = cx->status;
    cuda_printer *printers = d->printing;
    ir_arena_free(&scratch);
    d->printing = NULL;
    d->enqueuing = NULL;
    if (ok) return RT_PENDING;
    d->cu->wait(d->stream);
    cuda_keep_printers(d, printers);
    cuda_forget_begin(d, p);
    d->kernel = NULL;
    d->recorder = NULL;
    ir_throw(cx, status);
}
