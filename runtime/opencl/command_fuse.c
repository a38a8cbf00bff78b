/* command_fuse.c — the commands of a command buffer become the steps of its runs.
 *
 * Launches that follow each other, with nothing but barriers between, are a chain (queue/chain.h).
 * Memory is told apart by its addresses: they are those of the host, so buffers, sub-buffers and
 * shared memory are all alike, and an address in no allocation can reach everything.  A
 * buffer without other references is internal: the program cannot ask what is in it, unless it
 * knows the address.
 *
 * After an update, a fused kernel runs with the new arguments of its parts if all that its code
 * takes for granted still holds (rt_chain_misfit).  Otherwise the commands are fused anew, which
 * takes as long as finalizing; after MOST_ANEW times, launches that do not fit stay by themselves.
 */
#include "runtime/opencl/ocl.h"
#include "runtime/queue/chain.h"

#include <stdlib.h>

enum { MOST_ANEW = 8 };

/* A fused kernel that is ready. */
typedef struct {
    rt_program *program;
    ocl_launch *launch; /* whose arguments are those of its parts */
    cl_uint parts[];    /* commands */
} ready_kernel;

struct ocl_fusion {
    rt_refs refs; /* steps that contain its kernels */
    spvf_context *context;
    char *report; /* what was fused, and what was not */
    cl_uint count;
    rt_chain_kernel kernels[]; /* room for one per command; made: a ready_kernel */
};

static const char host_memory; /* the one that all addresses belong to */

typedef struct {
    cl_command_buffer_khr buffer;
    ocl_steps *steps;
    ocl_fusion *fusion;
    FILE *report;
    ir_arena arena;
    cl_uint *chain; /* commands: launches that follow each other */
    cl_uint count;
    ir_map uses; /* references that the chain has, by buffer */
} job;

static ocl_launch *launch_of(const job *j, cl_uint n) {
    return (ocl_launch *)j->steps->commands[j->chain[n]];
}

/* Is it a launch of several commands? */
static bool is_fused(cl_event e) {
    return e->type == CL_COMMAND_NDRANGE_KERNEL && !((const ocl_launch *)e)->built;
}

/* Steps have a reference to what is fused, and others by their commands. */
static void add_step(ocl_steps *s, cl_event e) {
    if (is_fused(e)) ocl_retain_event(e);
    s->run[s->step_count] = ((const ocl_command *)e)->command;
    s->steps[s->step_count++] = e;
}

/* --------------------------------------------------------------------------------------- chains */

static uintptr_t count_uses(const job *j, cl_mem m) {
    return (uintptr_t)ir_map_get(&j->uses, (uintptr_t)m);
}

static void note_uses(job *j) {
    j->uses = (ir_map){0};
    for (cl_uint k = 0; k < j->count; k++) {
        const ocl_launch *l = launch_of(j, k);
        for (size_t n = 0; n < ocl_arg_count(l); n++)
            if (l->mems[n])
                ir_map_set(&j->arena, &j->uses, (uintptr_t)l->mems[n],
                           (void *)(count_uses(j, l->mems[n]) + 1));
    }
}

static bool is_internal(const job *j, cl_mem m) {
    return !m->parent && !m->host && !m->maps && !m->has_address &&
           rt_ref_count(&m->object.refs) == count_uses(j, m);
}

/* What can be reached from an address that is no buffer's. */
static ocl_area reach(void *address) {
    const ocl_area all = {NULL, UINTPTR_MAX};
    rt_position p;
    if (!address) return (ocl_area){NULL, 0};
    return rt_find_memory(address, &p) && p.is_whole ? (ocl_area){(void *)p.begin, p.size} : all;
}

static rt_chain_arg chain_arg(const job *j, const ocl_launch *l, size_t n) {
    const rt_arg *a = &l->block.args[n];
    if (a->kind == RT_ARG_LOCAL) return (rt_chain_arg){.size = a->size};
    if (a->kind == RT_ARG_VALUE) return (rt_chain_arg){.bytes = a->bytes, .size = a->size};
    void *address = a->address;
    cl_mem m = l->mems[n];
    ocl_area area = m ? m->memory : reach(address);
    return (rt_chain_arg){.memory = &host_memory,
                          .address = (uintptr_t)address,
                          .begin = (uintptr_t)area.bytes,
                          .end = (uintptr_t)area.bytes + area.size,
                          .internal = m && is_internal(j, m),
                          .promote = SPVF_PROMOTE_AUTO};
}

/* The local size is that which is required, when none is given. */
static spvf_range chain_range(const ocl_launch *l) {
    spvf_range r = l->range;
    for (uint32_t d = 0; d < r.dims; d++)
        if (!r.local[d]) r.local[d] = l->info->required_local_size[d];
    return r;
}

/* Groups that are smaller at the ends are not fused. */
static bool has_whole_groups(const spvf_range *r) {
    for (uint32_t d = 0; d < r->dims; d++)
        if (r->local[d] && r->global[d] % r->local[d]) return false;
    return true;
}

static rt_chain_link chain_link(job *j, const ocl_launch *l) {
    rt_chain_arg *args = ir_new_array(&j->arena, rt_chain_arg, ocl_arg_count(l));
    for (size_t n = 0; n < ocl_arg_count(l); n++) args[n] = chain_arg(j, l, n);
    spvf_range range = chain_range(l);
    return (rt_chain_link){.module = l->built->module,
                           .kernel = l->info,
                           .range = range,
                           .args = args,
                           .alone = l->alone || !has_whole_groups(&range)};
}

/* -------------------------------------------------------------------------------------- kernels */

/* The values and addresses stay with the launches that are fused. */
static ocl_launch *new_fused_launch(const job *j, const rt_chain_kernel *k, rt_function *code) {
    const spvf_fusion_info *info = spvf_fusion_get_info(k->fusion);
    const ready_kernel *r = k->made;
    ocl_launch *to = ocl_new_launch(j->buffer->queue, code, info->arg_count, 0, &info->range);
    if (!to) ir_throw(j->arena.cx, IR_ERR_MEMORY);
    for (size_t n = 0; n < info->arg_count; n++) {
        const spvf_fused_arg *a = info->args[n];
        const ocl_launch *from = (const ocl_launch *)j->steps->commands[r->parts[a->member]];
        to->block.args[n] = from->block.args[a->param];
    }
    return to;
}

static void make_launch(const job *j, const rt_chain_kernel *k, ready_kernel *to) {
    const ir_module *m = spvf_fusion_module(k->fusion)->ir;
    rt_shared_device *d = &ocl_device()->shared;
    to->program = rt_shared_build(j->fusion->context, d, m);
    const char *name = spvf_fusion_get_info(k->fusion)->name;
    to->launch = new_fused_launch(j, k, rt_shared_find(j->fusion->context, d, to->program, name));
}

static void prepare_fused(const job *j, const ocl_launch *l) {
    rt_shared_prepare(j->fusion->context, &ocl_device()->shared, &l->command.command.launch);
}

static void drop_kernel(void *made) {
    ready_kernel *r = made;
    if (r->launch) ocl_give_up(&r->launch->command.event);
    rt_shared_discard(&ocl_device()->shared, r->program);
    free(r);
}

/* Together kernels may want more memory than the device has for one. */
static void make_kernel(void *user, rt_chain_kernel *k) {
    job *j = user;
    ready_kernel *ready = k->made = calloc(1, sizeof *ready + k->count * sizeof *ready->parts);
    if (!ready) ir_throw(j->arena.cx, IR_ERR_MEMORY);
    memcpy(ready->parts, &j->chain[k->first], k->count * sizeof *ready->parts);
    make_launch(j, k, ready);
    prepare_fused(j, ready->launch);
}

static void tell(const job *j, const spvf_explanation *e, cl_uint first, cl_uint count) {
    char *text = spvf_explanation_text(e);
    if (!text) ir_throw(j->arena.cx, IR_ERR_MEMORY);
    if (e->fused)
        fprintf(j->report, "commands %u to %u are one kernel\n", first + 1, first + count);
    else
        fprintf(j->report, "command %u does not go with what is before it\n", first + count + 1);
    fputs(text, j->report);
    free(text);
}

/* Numbers of commands are those of their sync points. */
static void tell_both(const job *j, const rt_chain_kernel *k) {
    cl_uint first = j->chain[k->first], last = j->chain[k->first + k->count - 1];
    if (k->fusion) tell(j, spvf_fusion_explanation(k->fusion), first, last - first + 1);
    if (k->refusal) tell(j, k->refusal, first, j->chain[k->first + k->count] - first);
}

static void finish_kernel(job *j, const rt_chain_kernel *k) {
    const ready_kernel *r = k->made;
    tell_both(j, k);
    if (r)
        add_step(j->steps, &r->launch->command.event);
    else
        add_step(j->steps, &launch_of(j, k->first)->command.event);
}

/* What has been divided is in kernels from `first` on, and is the fusion's. */
static void take_kernels(job *j, const rt_chain_kernel *parts, uint32_t n) {
    const rt_chain_kernel *first = &j->fusion->kernels[j->fusion->count];
    for (uint32_t k = 0; k < n; k++) j->fusion->kernels[j->fusion->count++] = parts[k];
    for (uint32_t k = 0; k < n; k++) finish_kernel(j, &first[k]);
}

/* The chain becomes steps, and is empty again.  After an error the rest of it stays unfused. */
static void flush(job *j) {
    rt_chain_link *links = ir_new_array(&j->arena, rt_chain_link, j->count);
    rt_chain_kernel *kernels = ir_new_array(&j->arena, rt_chain_kernel, j->count);
    const spvf_capabilities *can = &ocl_device()->shared.base->can;
    const rt_chain chain = {
        .links = links,
        .count = j->count,
        .options = {.known_range = true, .serial = can->serial, .lanes = can->lanes},
        .unfused = j->buffer->unfused,
        .sizes = true,
        .make = make_kernel,
        .drop = drop_kernel,
        .user = j};
    uint32_t n, done = 0;
    note_uses(j);
    for (cl_uint k = 0; k < j->count; k++) links[k] = chain_link(j, launch_of(j, k));
    spvf_status status = rt_chain_divide(j->fusion->context, &chain, kernels, &n);
    take_kernels(j, kernels, n);
    if (status == SPVF_ERROR_MEMORY) ir_throw(j->arena.cx, IR_ERR_MEMORY);
    for (uint32_t k = 0; k < n; k++) done += kernels[k].count;
    for (; done < j->count; done++) add_step(j->steps, &launch_of(j, done)->command.event);
    j->count = 0;
}

static void make_steps(void *arg) {
    job *j = arg;
    const ocl_steps *s = j->steps;
    j->chain = ir_new_array(&j->arena, cl_uint, s->count);
    for (cl_uint n = 0; n < s->count; n++) {
        cl_event e = s->commands[n];
        if (!e || !e->event.run) continue; /* a barrier, or nothing to do */
        if (e->type == CL_COMMAND_NDRANGE_KERNEL) {
            j->chain[j->count++] = n;
            continue;
        }
        flush(j);
        add_step(j->steps, e);
    }
    flush(j);
}

/* ---------------------------------------------------------------------------------------- whole */

static void note(void *user, const spvf_message *m) { fprintf(user, "%s\n", m->text); }

/* Launches that were recorded; what was fused is ready. */
static cl_int prepare(const ocl_steps *s) {
    cl_int bad = CL_SUCCESS;
    for (cl_uint n = 0; n < s->step_count && !bad; n++) {
        cl_event e = s->steps[n];
        if (e->type == CL_COMMAND_NDRANGE_KERNEL && !is_fused(e))
            bad = ocl_prepare_launch((ocl_launch *)e);
    }
    return bad;
}

static void release_fusion(ocl_fusion *f) {
    if (!f || !rt_release(&f->refs)) return;
    for (cl_uint n = 0; n < f->count; n++) rt_chain_kernel_free(&f->kernels[n]);
    spvf_context_destroy(f->context);
    free(f->report);
    free(f);
}

const char *ocl_report(const ocl_steps *s) { return s->fusion->report; }

/* Without steps, but with references to the commands. */
static ocl_steps *new_steps(cl_event *commands, cl_uint count) {
    ocl_steps *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    rt_refs_init(&s->refs);
    s->commands = calloc(count + 1, sizeof *s->commands);
    s->steps = calloc(count + 1, sizeof *s->steps);
    s->run = calloc(count + 1, sizeof *s->run);
    s->count = s->commands ? count : 0;
    for (cl_uint n = 0; n < s->count; n++)
        if ((s->commands[n] = commands[n])) ocl_retain_event(commands[n]);
    if (s->commands && s->steps && s->run) return s;
    ocl_release_steps(s);
    return NULL;
}

/* What is recorded is given up as a command that was not enqueued. */
void ocl_release_steps(ocl_steps *s) {
    if (!rt_release(&s->refs)) return;
    for (cl_uint n = 0; n < s->step_count; n++)
        if (is_fused(s->steps[n])) ocl_give_up(s->steps[n]);
    release_fusion(s->fusion);
    for (cl_uint n = 0; n < s->count; n++)
        if (s->commands[n]) ocl_give_up(s->commands[n]);
    free(s->commands);
    free(s->steps);
    free(s->run);
    free(s);
}

static cl_int fuse(cl_command_buffer_khr b, ocl_steps *s, FILE *report) {
    const spvf_context_options o = {.size = sizeof o, .message = note, .message_user = report};
    job j = {.buffer = b, .steps = s, .fusion = s->fusion, .report = report};
    if (rt_context_create(&o, &s->fusion->context) != SPVF_OK) return CL_OUT_OF_HOST_MEMORY;
    ir_arena_init(&j.arena, &s->fusion->context->cx);
    spvf_status status = rt_guard(s->fusion->context, make_steps, &j);
    s->fusion->context->message = NULL; /* the report ends here */
    ir_arena_free(&j.arena);
    return status == SPVF_OK ? prepare(s) : ocl_status_of(status);
}

static cl_int fuse_with_report(cl_command_buffer_khr b, ocl_steps *s, const char *first) {
    size_t size;
    s->fusion = calloc(1, sizeof *s->fusion + s->count * sizeof *s->fusion->kernels);
    if (!s->fusion) return CL_OUT_OF_HOST_MEMORY;
    rt_refs_init(&s->fusion->refs);
    FILE *report = open_memstream(&s->fusion->report, &size);
    if (!report) return CL_OUT_OF_HOST_MEMORY;
    fputs(first, report);
    cl_int bad = fuse(b, s, report);
    if (fclose(report) != 0 && !bad) bad = CL_OUT_OF_HOST_MEMORY;
    return bad;
}

/* The report begins with `first`. */
static cl_int make_all(cl_command_buffer_khr b, cl_event *commands, const char *first,
                       ocl_steps **out) {
    ocl_steps *s = new_steps(commands, b->count);
    cl_int bad = s ? fuse_with_report(b, s, first) : CL_OUT_OF_HOST_MEMORY;
    if (!bad) *out = s;
    if (bad && s) ocl_release_steps(s);
    return bad;
}

cl_int ocl_make_steps(cl_command_buffer_khr b, cl_event *commands, ocl_steps **out) {
    return make_all(b, commands, "", out);
}

/* -------------------------------------------------------------------------------------- updates */

typedef struct {
    job job;
    const ocl_steps *old;
    const ready_kernel *misfit; /* that cannot stay */
    cl_uint part;               /* the command in it that it is about */
    const char *why;
} exchange;

static bool has_changed(const exchange *x, cl_uint n) {
    return x->job.steps->commands[n] != x->old->commands[n];
}

static bool has_changed_part(const exchange *x, const rt_chain_kernel *k) {
    const ready_kernel *r = k->made;
    for (uint32_t m = 0; m < k->count; m++)
        if (has_changed(x, r->parts[m])) return true;
    return false;
}

/* Adds the step of a fused kernel of which parts have changed, or finds why it is none. */
static void exchange_fused(exchange *x, const rt_chain_kernel *k) {
    job *j = &x->job;
    const ready_kernel *r = k->made;
    rt_chain_link *links = ir_new_array(&j->arena, rt_chain_link, k->count);
    uint32_t member;
    for (uint32_t m = 0; m < k->count; m++)
        links[m] = chain_link(j, (const ocl_launch *)j->steps->commands[r->parts[m]]);
    x->why = rt_chain_misfit(j->fusion->context, k, links, &member);
    if (x->why) {
        x->misfit = r;
        x->part = r->parts[member];
        return;
    }
    ocl_launch *l = new_fused_launch(j, k, r->launch->command.command.launch.function);
    add_step(j->steps, &l->command.event);
    ocl_release_event(&l->command.event); /* the steps have it */
    prepare_fused(j, l);
}

static void exchange_steps(void *arg) {
    exchange *x = arg;
    ocl_steps *s = x->job.steps;
    const rt_chain_kernel *k = x->job.fusion->kernels;
    for (cl_uint step = 0, n = 0; step < x->old->step_count && !x->why; step++) {
        cl_event e = x->old->steps[step];
        if (!is_fused(e)) {
            while (x->old->commands[n] != e) n++;
            add_step(s, s->commands[n++]);
            continue;
        }
        while (!k->made) k++;
        if (has_changed_part(x, k))
            exchange_fused(x, k);
        else
            add_step(s, e);
        k++;
    }
}

static cl_int prepare_changed(const exchange *x) {
    const ocl_steps *s = x->job.steps;
    cl_int bad = CL_SUCCESS;
    for (cl_uint n = 0; n < s->count && !bad; n++)
        if (has_changed(x, n)) bad = ocl_prepare_launch((ocl_launch *)s->commands[n]);
    return bad;
}

/* What runs, and what has nothing to do, is as before. */
static bool has_same_steps(const exchange *x) {
    for (cl_uint n = 0; n < x->old->count; n++) {
        const cl_event now = x->job.steps->commands[n], then = x->old->commands[n];
        if (now != then && !now->event.run != !then->event.run) return false;
    }
    return true;
}

static cl_int exchange_all(exchange *x) {
    job *j = &x->job;
    if (!has_same_steps(x)) x->why = "it has other work-items than none";
    if (x->why) return CL_SUCCESS;
    ir_arena_init(&j->arena, &j->fusion->context->cx);
    spvf_status status = rt_guard(j->fusion->context, exchange_steps, x);
    ir_arena_free(&j->arena);
    if (status != SPVF_OK) return ocl_status_of(status);
    return x->why ? CL_SUCCESS : prepare_changed(x);
}

/* What of the kernel has changed is not to be fused any more. */
static void leave_alone(const exchange *x, cl_event *commands) {
    const rt_chain_kernel *k = x->job.fusion->kernels;
    while (k->made != x->misfit) k++;
    for (uint32_t m = 0; m < k->count; m++) {
        const cl_uint n = x->misfit->parts[m];
        if (has_changed(x, n)) ((ocl_launch *)commands[n])->alone = true;
    }
}

static cl_int fuse_anew(cl_command_buffer_khr b, cl_event *commands, const exchange *x,
                        ocl_steps **out) {
    char first[200];
    const bool leave = x->misfit && b->fused_anew++ >= MOST_ANEW;
    if (leave) leave_alone(x, commands);
    snprintf(first, sizeof first, "after an update of command %u: %s, so %s\n", x->part + 1, x->why,
             leave ? "commands that are updated stay by themselves" : "commands are fused anew");
    return make_all(b, commands, x->misfit ? first : "", out);
}

cl_int ocl_change_steps(cl_command_buffer_khr b, cl_event *commands, ocl_steps **out) {
    ocl_steps *s = new_steps(commands, b->count);
    if (!s) return CL_OUT_OF_HOST_MEMORY;
    s->fusion = b->steps->fusion;
    rt_retain(&s->fusion->refs);
    exchange x = {.job = {.buffer = b, .steps = s, .fusion = s->fusion}, .old = b->steps};
    cl_int bad = exchange_all(&x);
    if (!bad && x.why) bad = fuse_anew(b, commands, &x, out);
    if (!bad && !x.why) *out = s;
    if (bad || x.why) ocl_release_steps(s);
    return bad;
}
