/* entry.c — entry points: interfaces and execution modes.
 *
 * The interface lists the built-in variables that the kernel or its callees use; since 1.4 all
 * module-scope variables, including those that only initializers point to.
 *
 * Consumers of Kernel modules may contract a multiplication and an addition, unless ContractionOff
 * forbids it for the whole entry point.  So that mode is set if any addition or multiplication that
 * the kernel reaches must not be contracted, and there are both to contract.
 */
#include "codegen/spirv/spirv.h"

typedef struct {
    sw_writer *w;
    uint32_t *seen; /* by id of a variable or function: the last entry point that reaches it */
    uint32_t now;   /* number of this entry point */
    sw_words interface;
    ir_vec(sw_info *) work;
    sw_arithmetic arithmetic; /* of all functions that it reaches */
} entry;

/* ------------------------------------------------------------------------------ what is reached */

static void add_variables(entry *e, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (e->seen[ids[i]] == e->now) continue;
        e->seen[ids[i]] = e->now;
        *ir_push(e->w->arena, &e->interface) = ids[i];
    }
}

/* Adds the variables whose addresses are in the initializers of variables, and so on. */
static void add_initializers(entry *e) {
    for (uint32_t k = 0; k < e->interface.n; k++) {
        const ir_global *g = ir_map_get(&e->w->globals.of_id, e->interface.data[k]);
        for (uint32_t i = 0; g && i < g->nreloc; i++) {
            uint32_t id = sw_global(e->w, g->reloc[i].global);
            add_variables(e, &id, 1);
        }
    }
}

static void reach(entry *e, sw_info *info) {
    if (e->seen[info->id] == e->now) return;
    e->seen[info->id] = e->now;
    *ir_push(e->w->arena, &e->work) = info;
}

static void collect_reached(entry *e, sw_info *kernel) {
    e->now++;
    e->interface.n = 0;
    e->arithmetic = (sw_arithmetic){0};
    reach(e, kernel);
    while (e->work.n) {
        sw_info *f = e->work.data[--e->work.n];
        e->arithmetic.adds |= f->arithmetic.adds;
        e->arithmetic.muls |= f->arithmetic.muls;
        e->arithmetic.strict |= f->arithmetic.strict;
        add_variables(e, f->inputs.data, f->inputs.n);
        if (e->w->out.version >= 0x00010400) add_variables(e, f->variables.data, f->variables.n);
        for (uint32_t i = 0; i < f->callees.n; i++) reach(e, f->callees.data[i]);
    }
    add_initializers(e);
}

/* ---------------------------------------------------------------------------------------- modes */

static void put_mode(sw_writer *w, uint32_t id, SpvExecutionMode mode, sw_list operands) {
    uint32_t all[5] = {id, (uint32_t)mode};
    for (unsigned i = 0; i < operands.n; i++) all[i + 2] = operands.word[i];
    sw_put(w, SEC_MODE, SpvOpExecutionMode, (sw_list){operands.n + 2, all});
}

static bool is_set(const uint32_t size[3]) { return size[0] || size[1] || size[2]; }

static void put_float_controls(sw_writer *w, uint32_t id, unsigned bits, uint32_t width) {
    static const struct {
        unsigned bit;
        SpvExecutionMode mode;
        SpvCapability capability;
    } rows[] = {
        {IR_FC_DENORM_PRESERVE, SpvExecutionModeDenormPreserve, SpvCapabilityDenormPreserve},
        {IR_FC_DENORM_FLUSH, SpvExecutionModeDenormFlushToZero, SpvCapabilityDenormFlushToZero},
        {IR_FC_SIGNED_ZERO_INF_NAN, SpvExecutionModeSignedZeroInfNanPreserve,
         SpvCapabilitySignedZeroInfNanPreserve},
        {IR_FC_ROUND_RTE, SpvExecutionModeRoundingModeRTE, SpvCapabilityRoundingModeRTE},
        {IR_FC_ROUND_RTZ, SpvExecutionModeRoundingModeRTZ, SpvCapabilityRoundingModeRTZ},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(bits & rows[i].bit)) continue;
        sw_capability(w, rows[i].capability);
        if (w->out.version < 0x00010400) sw_extension(w, "SPV_KHR_float_controls");
        put_mode(w, id, rows[i].mode, SW_LIST(width));
    }
}

static void put_subgroups(sw_writer *w, uint32_t id, const ir_kernel_attrs *a) {
    if (!a->subgroup_size && !a->subgroups) return;
    if (w->out.version < 0x00010100)
        sw_refuse_module(w, "a required sub-group size needs SPIR-V 1.1, not %s",
                         sw_version_name(w->out.version));
    sw_capability(w, SpvCapabilitySubgroupDispatch);
    if (a->subgroup_size) put_mode(w, id, SpvExecutionModeSubgroupSize, SW_LIST(a->subgroup_size));
    if (a->subgroups) put_mode(w, id, SpvExecutionModeSubgroupsPerWorkgroup, SW_LIST(a->subgroups));
}

static void put_modes(entry *e, const sw_info *info) {
    sw_writer *w = e->w;
    const ir_kernel_attrs *a = &info->f->attrs;
    uint32_t id = info->entry;
    if (is_set(a->local_size))
        put_mode(w, id, SpvExecutionModeLocalSize, (sw_list){3, a->local_size});
    if (is_set(a->hint)) put_mode(w, id, SpvExecutionModeLocalSizeHint, (sw_list){3, a->hint});
    if (a->has_vec_hint) put_mode(w, id, SpvExecutionModeVecTypeHint, SW_LIST(a->vec_hint));
    put_subgroups(w, id, a);
    for (unsigned k = 0; k < 3; k++) put_float_controls(w, id, a->float_controls[k], 16u << k);
    const sw_arithmetic *x = &e->arithmetic;
    bool off = info->f->flags & IR_FUNC_CONTRACTION_OFF || (x->adds && x->muls && x->strict);
    if (off) put_mode(w, id, SpvExecutionModeContractionOff, SW_NONE);
}

/* A string with a word about each parameter, each followed by a comma. */
static void put_arg_string(sw_writer *w, const ir_func *f, const char *what,
                           const char *(*about)(sw_writer *, const ir_param *)) {
    ir_text t = {.arena = w->arena};
    ir_putf(&t, "%s.%s.", what, f->name);
    for (uint32_t i = 0; i < f->nparams; i++) ir_putf(&t, "%s,", about(w, &f->param[i]));
    sw_put_string(w, SEC_STRING, SpvOpString,
                  (sw_text){.before = SW_LIST(sw_new_id(w)), .string = t.data});
}

static const char *type_name(sw_writer *w, const ir_param *p) {
    (void)w;
    return p->type_name;
}

/* In the order in which clang gives them. */
static const char *qualifiers(sw_writer *w, const ir_param *p) {
    bool restricts = p->attrs & IR_PARAM_RESTRICT, constant = p->attrs & IR_PARAM_CONST;
    bool changes = p->attrs & IR_PARAM_VOLATILE;
    return ir_sprintf(w->arena, "%s%s%s%s%s", restricts ? "restrict" : "",
                      restricts && (constant || changes) ? " " : "", constant ? "const" : "",
                      constant && changes ? " " : "", changes ? "volatile" : "");
}

/* llvm-spirv represents the types and qualifiers of the source by the strings
 * "kernel_arg_type.NAME.float*,int," and "kernel_arg_type_qual.NAME.const,,". */
static void put_arg_strings(sw_writer *w, const ir_func *f) {
    for (uint32_t i = 0; i < f->nparams; i++)
        if (!f->param[i].type_name) return;
    if (f->nparams == 0 || w->options.no_names) return;
    put_arg_string(w, f, "kernel_arg_type", type_name);
    put_arg_string(w, f, "kernel_arg_type_qual", qualifiers);
}

static void put_entry_point(entry *e, sw_info *info) {
    collect_reached(e, info);
    sw_put_string(e->w, SEC_ENTRY, SpvOpEntryPoint,
                  (sw_text){.before = SW_LIST(SpvExecutionModelKernel, info->entry),
                            .string = info->f->name,
                            .after = {e->interface.n, e->interface.data}});
    put_modes(e, info);
    put_arg_strings(e->w, info->f);
}

void sw_write_entry_points(sw_writer *w) {
    entry e = {.w = w, .seen = ir_new_array(w->arena, uint32_t, w->out.bound)};
    bool any = false;
    for (uint32_t i = 0; i < w->functions.n; i++) {
        sw_info *info = w->functions.data[i];
        if (!info->written || !(info->f->flags & IR_FUNC_KERNEL)) continue;
        put_entry_point(&e, info);
        any = true;
    }
    if (!any) sw_capability(w, SpvCapabilityLinkage);
}
