/* steps.c — a build at work: where its messages go, and how its steps end. */
#include "runtime/opencl/build.h"

#include <stdlib.h>

/* Warnings are about SPIR-V that compilers write; who has asked for a build cannot change that. */
static void note_message(void *user, const spvf_message *m) {
    ocl_build *b = user;
    if (m->severity == SPVF_ERROR) ir_putf(&b->log, "%s\n", m->formatted);
}

bool ocl_begin_build(ocl_build *b) {
    const spvf_context_options o = {.size = sizeof o, .message = note_message, .message_user = b};
    *b = (ocl_build){.context = NULL};
    if (spvf_context_create(&o, &b->context) != SPVF_OK) return false;
    ir_arena_init(&b->arena, &b->context->cx);
    b->log.arena = &b->arena;
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
    if (!keep) spvf_context_destroy(b->context);
}
