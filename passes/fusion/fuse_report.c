/* fuse_report.c — reports of a fusion: rules, dependences in words, and a row for every buffer and
 * every gap between two members.
 *
 * A report is in the caller's arena and refers to nothing of the members, so it outlives their
 * modules.
 */
#include "passes/fusion/fuse_impl.h"

/* ---------------------------------------------------------------------------------------- rules */

const pass_fuse_rule pass_fuse_rules[] = {
#define RULE(id, refuses, cause, cure) {id, refuses, cause, cure},
#include "passes/fusion/fuse_rules.def"
#undef RULE
};
const unsigned pass_fuse_rule_count = sizeof pass_fuse_rules / sizeof *pass_fuse_rules;

const pass_fuse_rule *pass_find_fuse_rule(const char *id) {
    for (unsigned n = 0; n < pass_fuse_rule_count; n++)
        if (strcmp(pass_fuse_rules[n].id, id) == 0) return &pass_fuse_rules[n];
    return NULL;
}

/* ------------------------------------------------------------------------------------ decisions */

void pass_decide(const pass_fuse_input *in, pass_fuse_result *result, const char *rule,
                 const char *text) {
    *ir_push(in->out, &result->decisions) = (pass_decision){.rule = rule, .text = text};
}

bool pass_refuse(const pass_fuse_input *in, pass_fuse_result *result, const char *rule,
                 const char *text) {
    *ir_push(in->out, &result->decisions) =
        (pass_decision){.rule = rule, .text = text, .refusal = true};
    return false;
}

/* ---------------------------------------------------------------------------------- dependences */

pass_access_info *pass_describe_side(const pass_fuse_input *in, const pass_summary *all,
                                     const pass_side *s) {
    pass_access_info info = pass_describe_access(&s->of->launch, s->access, in->out);
    info.member = (uint32_t)(s->of - all);
    info.kernel = ir_strdup(in->out, in->request->members[info.member].kernel->name);
    return ir_dup(in->out, &info, sizeof info);
}

pass_dependence_info pass_describe_dependence(const pass_findings *found,
                                              const pass_dependence *d) {
    pass_dependence_info info = {.kind = d->kind};
    if (d->kind == PASS_DEP_NONE) return info;
    info.first = pass_describe_side(found->in, found->summary, &d->first);
    info.second = pass_describe_side(found->in, found->summary, &d->second);
    return info;
}

void pass_print_side(ir_text *out, const pass_access_info *x) {
    ir_putf(out, "@%s ", x->kernel);
    if (x->file) ir_putf(out, "(%s:%u) ", x->file, x->line);
    pass_print_access(out, x);
}

void pass_print_dependence(ir_text *out, const pass_dependence_info *d) {
    if (d->first) pass_print_side(out, d->first);
    if (d->second) ir_put(out, "; ");
    if (d->second) pass_print_side(out, d->second);
}

/* ------------------------------------------------------------------------------------- the rows */

static void mark_accesses(const pass_summary *s, pass_fuse_result *r) {
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_access *x = &s->accesses.data[k];
        uint32_t arg;
        if (!pass_argument_of(&s->launch, x, &arg)) continue;
        r->buffers[arg].read |= (x->kind & PASS_READS) != 0;
        r->buffers[arg].written |= (x->kind & PASS_WRITES) != 0;
    }
}

/* The dependence of a gap is in most cases that of a buffer, which is described already. */
static pass_dependence_info describe_gap(const pass_findings *found, const pass_dependence *d,
                                         const pass_fuse_result *r) {
    uint32_t arg;
    if (d->kind == PASS_DEP_NONE) return (pass_dependence_info){0};
    if (pass_argument_of(&d->first.of->launch, d->first.access, &arg)) {
        const pass_dependence *of_buffer = &found->by_arg[arg];
        if (d->first.access == of_buffer->first.access &&
            d->second.access == of_buffer->second.access)
            return r->buffers[arg].dependence;
    }
    return pass_describe_dependence(found, d);
}

void pass_fuse_report(const pass_findings *found, pass_fuse_result *r) {
    uint32_t members = found->in->request->nmembers;
    r->buffers = ir_new_array(found->in->out, pass_fuse_buffer, r->nargs);
    r->gaps = ir_new_array(found->in->out, pass_fuse_gap, members);
    for (uint32_t m = 0; m < members; m++) mark_accesses(&found->summary[m], r);
    for (uint32_t a = 0; a < r->nargs; a++)
        r->buffers[a].dependence = pass_describe_dependence(found, &found->by_arg[a]);
    for (uint32_t m = 0; m + 1 < members; m++) {
        r->gaps[m].wait = found->gap[m].wait;
        r->gaps[m].why = describe_gap(found, &found->gap[m].why, r);
    }
    pass_find_traffic(found, r);
}
