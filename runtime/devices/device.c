/* device.c — devices by name, the list of them, and whether one can run a kernel. */
#include "runtime/api/runtime.h"

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

bool rt_can_run(spvf_context *c, void (*prepare)(void *arg), void *arg, char *why) {
    why[0] = 0;
    c->caught = why;
    bool ok = ir_try(&c->cx, prepare, arg);
    c->caught = NULL;
    if (ok) return true;
    ir_status status = c->cx.status;
    if (status == IR_ERR_INTERNAL) rt_throw(c, status, "%s", why);
    if (status == IR_ERR_MEMORY) ir_throw(&c->cx, status);
    if (!why[0]) snprintf(why, RT_CAUGHT_SIZE, "the device does not say why");
    return false;
}

typedef struct {
    rt_device *device;
    const spvf_fusion *fusion;
    const rt_arg *args;
    rt_program *program;
} building;

static void build(void *arg) {
    building *b = arg;
    rt_device *d = b->device;
    const spvf_fusion_info *i = spvf_fusion_get_info(b->fusion);
    b->program = d->build(d, spvf_fusion_module(b->fusion)->ir);
    if (d->prepare) d->prepare(d, b->program, i->name, &i->range, b->args, i->arg_count);
}

rt_program *rt_build_fusion(rt_device *d, spvf_fusion *f, const rt_arg *args) {
    char why[RT_CAUGHT_SIZE];
    building b = {d, f, args, NULL};
    if (rt_can_run(d->context, build, &b, why)) return b.program;
    rt_fusion_refuse(f, why);
    return NULL;
}

spvf_status spvf_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    if (!context || !each) return rt_refuse_call(context, __func__, "each is NULL");
    list_job j = {context, each, user};
    return rt_guard(context, list_devices, &j);
}
