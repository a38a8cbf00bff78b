/* arguments.c — what a program sets of kernels with special members.
 *
 * A struct is one argument, whatever a layout makes of it.  The parameters that its special members
 * are made of follow it, in the order of members, also those that optimization has dropped.  So the
 * numbers of arguments are the same for all devices.
 */
#include "runtime/opencl/build.h"

typedef struct {
    spvf_kernel_info *kernel;
    spvf_arg_info *args, *host; /* the new ones */
    uint32_t args_n, host_n;
    uint32_t taken; /* of the host's arguments as the kernel was read */
    uint32_t last;  /* the number that the last one of these has now */
} numbering;

/* The host's arguments up to the one of this number. */
static void take_host_args(numbering *to, size_t end) {
    while (to->taken < end) {
        to->last = to->host_n++;
        to->host[to->last] = *to->kernel->host_args[to->taken++];
    }
}

/* A part of a special is no part of the struct. */
static spvf_arg_info as_argument(const spvf_arg_info *part, uint32_t number) {
    spvf_arg_info a = *part;
    a.member = false;
    a.offset = 0;
    a.closure = number;
    return a;
}

static void take_arg(numbering *to, const spvf_arg_info *a, bool left) {
    take_host_args(to, (size_t)a->closure + 1);
    const uint32_t number = a->special ? to->host_n++ : to->last;
    if (a->special) to->host[number] = as_argument(a, number);
    if (!left) return;
    const spvf_arg_info *now = to->kernel->args[to->args_n];
    spvf_arg_info *arg = &to->args[to->args_n++];
    *arg = *now;
    arg->closure = number;
    if (a->special) *arg = as_argument(now, number);
}

static void number(spvf_module *m, spvf_kernel_info *k, const rt_args *all) {
    numbering to = {.kernel = k,
                    .args = ir_new_array(&m->arena, spvf_arg_info, k->arg_count),
                    .host = ir_new_array(&m->arena, spvf_arg_info, k->host_arg_count + all->n)};
    for (size_t n = 0; n < all->n; n++)
        take_arg(&to, &all->list[n], k->arg_mask[n / 64] >> n % 64 & 1);
    take_host_args(&to, k->host_arg_count);
    k->args = RT_LIST(&m->arena, to.args, to.args_n);
    k->host_args = RT_LIST(&m->arena, to.host, to.host_n);
    k->host_arg_count = to.host_n;
}

static bool has_special(const rt_args *args) {
    for (size_t n = 0; n < args->n; n++)
        if (args->list[n].special) return true;
    return false;
}

void ocl_number_arguments(spvf_module *m) {
    for (size_t n = 0; n < m->kernel_count; n++) {
        const ir_func *f = ir_func_find(m->ir, m->kernels[n].name);
        const rt_args *all = ir_map_get(&m->lowered_args, (uintptr_t)f);
        if (all && has_special(all)) number(m, &m->kernels[n], all);
    }
}
