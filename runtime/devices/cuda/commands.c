/* commands.c — submissions: their commands go into one stream, in order, and a callback of the
 * driver after them tells of their end.
 *
 * The callback runs on a thread of the driver and may call none of its functions.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

/* What is on its way. */
typedef struct {
    cuda *d;
    rt_submission *submission;
    cuda_printer *printers;
} pending;

/* The kernels of the commands, as "'k', 'l'". */
static void list_kernels(const rt_submission *s, char *out, size_t size) {
    size_t n = 0;
    *out = 0;
    for (size_t k = 0; k < s->count && n < size; k++) {
        const rt_command *c = &s->commands[k];
        if (c->kind != RT_COMMAND_LAUNCH) continue;
        n += (size_t)snprintf(out + n, size - n, "%s'%s'", n ? ", " : "", c->launch.function->name);
    }
}

static void on_end(cu_stream stream, cu_result status, void *user) {
    pending *p = user;
    rt_submission *s = p->submission;
    char kernels[200], why[RT_CAUGHT_SIZE] = "";
    (void)stream;
    if (status) {
        list_kernels(s, kernels, sizeof kernels);
        if (cuda_note_end(p->d, status, kernels))
            snprintf(why, sizeof why, "cuda: the device cannot be used any more: %s", p->d->lost);
        else
            snprintf(why, sizeof why, "cuda: %s%scommands ended with error %d", kernels,
                     *kernels ? ": " : "", status);
    }
    if (!status) cuda_print(p->d, p->printers);
    cuda_keep_printers(p->d, p->printers);
    free(p);
    s->ended(s, status ? IR_ERR_DEVICE : IR_OK, why);
}

typedef struct {
    pending *p;
    ir_arena *scratch;
} submitting;

static void enqueue_all(void *arg) {
    const submitting *a = arg;
    cuda *d = a->p->d;
    const rt_submission *s = a->p->submission;
    cuda_enter(d);
    for (size_t n = 0; n < s->count; n++) {
        const rt_command *c = &s->commands[n];
        switch (c->kind) {
        case RT_COMMAND_LAUNCH: cuda_launch(d, &c->launch, a->scratch); break;
        case RT_COMMAND_COPY: cuda_copy(d, &c->copy); break;
        case RT_COMMAND_FILL: cuda_fill(d, &c->fill); break;
        }
    }
    a->p->printers = d->printing;
    cuda_must(d, "cuStreamAddCallback", d->cu->call_back(d->stream, on_end, a->p, 0));
}

static pending *new_pending(cuda *d, rt_submission *s) {
    pending *p = malloc(sizeof *p);
    if (!p) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
    *p = (pending){d, s, NULL};
    return p;
}

rt_progress cuda_submit(rt_device *device, rt_submission *s) {
    cuda *d = (cuda *)device;
    ir_ctx *cx = &device->context->cx;
    pending *p = new_pending(d, s);
    ir_arena scratch;
    ir_arena_init(&scratch, cx);
    bool ok = ir_try(cx, enqueue_all, &(submitting){p, &scratch});
    ir_status status = cx->status;
    cuda_printer *printers = d->printing;
    ir_arena_free(&scratch);
    d->printing = NULL;
    if (ok) return RT_PENDING;
    free(p);
    d->cu->wait(d->stream);
    cuda_keep_printers(d, printers);
    d->kernel = NULL;
    ir_throw(cx, status);
}
