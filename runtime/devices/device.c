/* device.c — devices by name, and the list of them. */
#include "runtime/runtime.h"

rt_device *rt_device_open(spvf_context *context, const char *name) {
    if (strcmp(name, "check") == 0) return rt_check_open(context);
    if (strcmp(name, "cpu") == 0) return rt_cpu_open(context, NULL);
    if (strncmp(name, "cpu:", 4) == 0) return rt_cpu_open(context, name + 4);
    if (strcmp(name, "opencl") == 0) return rt_opencl_open(context, 0);
    if (strncmp(name, "opencl:", 7) == 0 && name[7] >= '0' && name[7] <= '9') {
        unsigned index = 0;
        const char *s = name + 7;
        while (*s >= '0' && *s <= '9' && index < 10000) index = index * 10 + (unsigned)(*s++ - '0');
        if (!*s) return rt_opencl_open(context, index);
    }
    rt_throw(context, IR_ERR_ARGUMENT, "unknown device '%s': check, cpu, opencl, opencl:N", name);
}

typedef struct {
    spvf_context *context;
    void (*each)(void *user, const spvf_device_info *info);
    void *user;
} list_job;

static void list_devices(void *arg) {
    list_job *j = arg;
    spvf_device_info check = {"check", "the interpreter: slow, and reports every fault", true, true,
                              NULL};
    j->each(j->user, &check);
    rt_cpu_list(j->each, j->user);
    rt_opencl_list(j->context, j->each, j->user);
}

typedef struct {
    rt_device *device;
    const rt_trial *trial;
    rt_program *program;
} trying;

static void try_launch(void *arg) {
    trying *x = arg;
    rt_device *d = x->device;
    const rt_trial *t = x->trial;
    x->program = d->build(d, t->module);
    if (d->prepare) d->prepare(d, x->program, t->kernel, t->range, t->args, t->count);
}

rt_program *rt_try_launch(rt_device *d, const rt_trial *t, char *why) {
    trying x = {d, t, NULL};
    spvf_context *c = d->context;
    why[0] = 0;
    c->caught = why;
    bool ok = ir_try(&c->cx, try_launch, &x);
    c->caught = NULL;
    if (ok) return x.program;
    ir_status status = c->cx.status;
    if (status == IR_ERR_INTERNAL) rt_throw(c, status, "%s", why);
    if (status == IR_ERR_MEMORY) ir_throw(&c->cx, status);
    if (!why[0]) snprintf(why, RT_CAUGHT_SIZE, "the device does not say why");
    return NULL;
}

spvf_status spvf_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    if (!context || !each) return rt_refuse_call(context, __func__, "each is NULL");
    list_job j = {context, each, user};
    return rt_guard(context, list_devices, &j);
}
