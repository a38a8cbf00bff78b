/* cpu_small.c — is so little to do in a launch that its code should be made quickly?
 *
 * Code that is made quickly is scalar, and all its values are in memory.  It takes a third of the
 * time to make, and runs several times as long.  Both times grow with what they are made of: the
 * instructions of the kernel, and those that all items execute together.  So the first launch ends
 * sooner with such code when these are no more than some thousand times those of the kernel.  How
 * often loops go round is known from the arguments of the launch (passes/workgroup/work.c).
 *
 * Where code is kept in a cache, making it quickly saves less: it is scalar, but has its values in
 * registers.
 */
#include "runtime/devices/cpu/cpu.h"

/* Running quick code takes 0.2 to 0.3 ns an instruction, and making it about 3.5 us; vector code
 * takes 2 to 4 times as long to make for ranges of one dimension, and 3 to 6 times for others, with
 * nested loops over items.  How often a kernel will be launched is not known.  With these limits,
 * the first launch takes up to 1.8 times as long with vector code, where that is made, as with
 * quick code; that is about what the first launches together lose while another thread makes vector
 * code (variants.c). */
enum { LIMIT = 9000, LIMIT_OF_NESTS = 32000 };

/* Of loops whose rounds are not known. */
static const double few_items = 64;

void cpu_make_quickly(const cpu_machine *m, cg_options *code) {
    code->lanes = 1;
    if (m->cache.folder < 0) code->regalloc.how = CG_REGALLOC_STACK;
}

double cpu_size_of(const cpu_launch *l, const cpu_wanted *w) {
    const rt_cpu_options *o = &l->machine->options;
    const ir_range *r = &w->range;
    uint64_t items = pass_global_size(r, 0) * pass_global_size(r, 1) * pass_global_size(r, 2);
    bool chosen = o->eager || o->untiered || o->quick || o->code.lanes || o->code.regalloc.seed;
    if (chosen || l->launch->ahead || cpu_is_stepped(l)) return 2;
    double limit = r->dims == 1 ? LIMIT : LIMIT_OF_NESTS, n = (double)items;
    if (n > limit || !l->launch->function->repeats) return n / limit;
    pass_given given = {.range = r};
    pass_work work;
    cpu_know_values(l, w->scratch, &given);
    if (!pass_estimate_work(cpu_kernel_of(l), &given, w->scratch, &work)) return n / few_items;
    return n * work.steps / (limit * work.size);
}
