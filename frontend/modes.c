/* modes.c — execution modes: facts about kernels.
 *
 * A kernel is refused if its modes require an arithmetic other than the IR's, such as rounding
 * towards zero or flushing denormals (SPV_KHR_float_controls): constants would be folded wrongly.
 *
 * Modes are read after the constants, since OpExecutionModeId takes ids of (specialization)
 * constants.
 */
#include "frontend/reader.h"

/* Operand k of the mode: a literal, or the value of a constant. */
static uint32_t operand(reader *r, uint32_t k) {
    uint64_t bits;
    if (2 + k >= r->in.n) spv_fail(r, "execution mode %u takes more operands", r->in.arg[1]);
    if (r->in.opcode == SPV_OP_ExecutionMode) return r->in.arg[2 + k];
    if (!spv_int_constant(r, r->in.arg[2 + k], &bits) || bits > UINT32_MAX)
        spv_fail(r, "execution mode %u: %%%u is not a 32-bit constant", r->in.arg[1],
                 r->in.arg[2 + k]);
    return (uint32_t)bits;
}

static void take_size(reader *r, uint32_t out[3]) {
    uint32_t size[3];
    for (uint32_t i = 0; i < 3; i++) size[i] = operand(r, i);
    if (!size[0] || !size[1] || !size[2]) spv_fail(r, "a local size of 0");
    memcpy(out, size, sizeof size);
}

static void set_float_control(reader *r, ir_func *f, uint8_t flag) {
    uint32_t width = operand(r, 0);
    unsigned i = width == 16 ? 0 : width == 32 ? 1 : 2;
    if (width != 16 && width != 32 && width != 64)
        spv_fail(r, "execution mode %u: no float has %u bits", r->in.arg[1], width);
    f->attrs.float_controls[i] |= flag;
}

IR_NORETURN static void refuse_mode(reader *r, const char *what) {
    spv_refuse(r, "execution mode %s is not supported", what);
}

static void set_mode(void *arg) {
    reader *r = arg;
    ir_func *k = spv_find(r, r->in.arg[0])->func->ir;
    switch (r->in.arg[1]) {
    case SpvExecutionModeLocalSize:
    case SpvExecutionModeLocalSizeId: take_size(r, k->attrs.local_size); break;
    case SpvExecutionModeLocalSizeHint:
    case SpvExecutionModeLocalSizeHintId: take_size(r, k->attrs.hint); break;
    case SpvExecutionModeVecTypeHint:
        k->attrs.vec_hint = operand(r, 0);
        k->attrs.has_vec_hint = true;
        break;
    case SpvExecutionModeContractionOff:
        k->flags |= IR_FUNC_CONTRACTION_OFF;
        r->facts.contraction_off = true;
        break;
    case SpvExecutionModeSubgroupSize: k->attrs.subgroup_size = operand(r, 0); break;
    case SpvExecutionModeSubgroupsPerWorkgroup:
    case SpvExecutionModeSubgroupsPerWorkgroupId: k->attrs.subgroups = operand(r, 0); break;
    case SpvExecutionModeDenormPreserve: set_float_control(r, k, IR_FC_DENORM_PRESERVE); break;
    case SpvExecutionModeDenormFlushToZero: refuse_mode(r, "DenormFlushToZero");
    case SpvExecutionModeSignedZeroInfNanPreserve:
        set_float_control(r, k, IR_FC_SIGNED_ZERO_INF_NAN);
        break;
    case SpvExecutionModeRoundingModeRTE: set_float_control(r, k, IR_FC_ROUND_RTE); break;
    case SpvExecutionModeRoundingModeRTZ: refuse_mode(r, "RoundingModeRTZ");
    case SpvExecutionModeInitializer: refuse_mode(r, "Initializer");
    case SpvExecutionModeFinalizer: refuse_mode(r, "Finalizer");
    default: spv_warn(r, WARN_EXECUTION_MODE);
    }
}

void spv_set_modes(reader *r) {
    for (uint32_t i = 0; i < r->facts.modes.n; i++) {
        spv_decode(r, r->facts.modes.data[i]);
        uint32_t id = r->in.arg[0];
        const spv_id *e = id && id < r->input.bound ? spv_find(r, id) : NULL;
        if (!e || e->kind != ID_FUNCTION || !e->func->entry) {
            spv_warn(r, WARN_MODE_TARGET);
            continue;
        }
        const char *why = spv_attempt(r, set_mode);
        if (why && !e->func->refused) spv_mark_refused(r, e->func, why);
    }
}
