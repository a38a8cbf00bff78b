/* text.c — what the printer and the parser of the text form agree on: the words for flags, scopes
 * and modes, which names need quotes, and which literals have no type.
 *
 * Each table below is read in both directions, so a flag that can be printed can be parsed.  A name
 * is plain when it reads as one token: letters, digits and _ $ . and no digit in front.  Every
 * other name is quoted.  Unnamed values print as %0, %1 … and unnamed blocks as b0, b1 …; a name
 * that looks like one of those is quoted as well, so that the two never meet.
 */
#include "ir/text.h"

const text_word text_inst_flags[] = {
    {"nsw", IR_NSW},         {"nuw", IR_NUW},         {"inbounds", IR_INBOUNDS},
    {"nnan", IR_NNAN},       {"ninf", IR_NINF},       {"nsz", IR_NSZ},
    {"arcp", IR_ARCP},       {"fast", IR_FAST},       {"contract", IR_CONTRACT},
    {"reassoc", IR_REASSOC}, {"uniform", IR_UNIFORM}, {NULL, 0},
};
const text_word text_mem_flags[] = {
    {"volatile", IR_MEM_VOLATILE}, {"nontemporal", IR_MEM_NONTEMPORAL},
    {"noalias", IR_MEM_NOALIAS},   {"line", IR_MEM_LINE},
    {"whole", IR_MEM_WHOLE},       {NULL, 0},
};
const text_word text_param_attrs[] = {
    {"noalias", IR_PARAM_NOALIAS},
    {"readonly", IR_PARAM_READONLY},
    {"noaccess", IR_PARAM_NOACCESS},
    {"nocapture", IR_PARAM_NOCAPTURE},
    {"byval", IR_PARAM_BYVAL},
    {"sret", IR_PARAM_SRET},
    {"zext", IR_PARAM_ZEXT},
    {"sext", IR_PARAM_SEXT},
    {"volatile", IR_PARAM_VOLATILE},
    {"restrict", IR_PARAM_RESTRICT},
    {"const", IR_PARAM_CONST},
    {"unused", IR_PARAM_UNUSED},
    {"own", IR_PARAM_OWN},
    {"padding", IR_PARAM_PADDING},
    {"specialized", IR_PARAM_SPECIALIZED},
    {"optional", IR_PARAM_OPTIONAL},
    {"spilled", IR_PARAM_SPILLED},
    {"short", IR_PARAM_SHORT},
    {NULL, 0},
};
const text_word text_func_flags[] = {
    {"export", IR_FUNC_EXPORT},
    {"import", IR_FUNC_IMPORT},
    {"odr", IR_FUNC_ODR},
    {"inline", IR_FUNC_INLINE},
    {"noinline", IR_FUNC_NOINLINE},
    {"pure", IR_FUNC_PURE},
    {"const", IR_FUNC_CONST},
    {"refused", IR_FUNC_REFUSED},
    {"contraction_off", IR_FUNC_CONTRACTION_OFF},
    {"shared", IR_FUNC_SHARED},
    {"short_ids", IR_FUNC_SHORT_IDS},
    {NULL, 0},
};
const text_word text_global_flags[] = {
    {"export", IR_FUNC_EXPORT},
    {"import", IR_FUNC_IMPORT},
    {"odr", IR_FUNC_ODR},
    {NULL, 0},
};
const text_word text_float_controls[] = {
    {"denorm_preserve", IR_FC_DENORM_PRESERVE},
    {"denorm_flush", IR_FC_DENORM_FLUSH},
    {"signed_zero_inf_nan", IR_FC_SIGNED_ZERO_INF_NAN},
    {"round_rte", IR_FC_ROUND_RTE},
    {"round_rtz", IR_FC_ROUND_RTZ},
    {NULL, 0},
};
const text_word text_semantics[] = {
    {"acquire", IR_SEM_ACQUIRE},
    {"release", IR_SEM_RELEASE},
    {"acq_rel", IR_SEM_ACQ_REL},
    {"seq_cst", IR_SEM_SEQ_CST},
    {"relaxed", 0},
    {"local", IR_SEM_LOCAL},
    {"global", IR_SEM_GLOBAL},
    {"image", IR_SEM_IMAGE},
    {NULL, 0},
};
const text_word text_image_operands[] = {
    {"bias", 0x1},           {"lod", 0x2},
    {"grad", 0x4},           {"const_offset", 0x8},
    {"offset", 0x10},        {"const_offsets", 0x20},
    {"sample", 0x40},        {"min_lod", 0x80},
    {"sign_extend", 0x1000}, {"zero_extend", 0x2000},
    {"nontemporal", 0x4000}, {NULL, 0},
};
const text_word text_loop_hints[] = {
    {"unroll", IR_LOOP_UNROLL},
    {"no_unroll", IR_LOOP_NO_UNROLL},
    {"items", IR_LOOP_ITEMS},
    {"part", IR_LOOP_PART},
    {"ends", IR_LOOP_ENDS},
    {"rows", IR_LOOP_ROWS},
    {"components", IR_LOOP_COMPONENTS},
    {"lanes", IR_LOOP_LANES},
    {NULL, 0},
};
const text_word text_scopes[] = {
    {"cross_device", IR_SCOPE_CROSS_DEVICE},
    {"device", IR_SCOPE_DEVICE},
    {"workgroup", IR_SCOPE_WORKGROUP},
    {"subgroup", IR_SCOPE_SUBGROUP},
    {"item", IR_SCOPE_ITEM},
    {NULL, 0},
};
const text_word text_rounds[] = {
    {"rte", IR_RTE}, {"rtz", IR_RTZ}, {"rtp", IR_RTP}, {"rtn", IR_RTN}, {NULL, 0},
};
const text_word text_levels[] = {
    {"spmd", L_SPMD},           {"group", L_GROUP}, {"machine", L_MACHINE},
    {"allocated", L_ALLOCATED}, {NULL, 0},
};
const text_word text_spaces[] = {
    {"private", IR_PRIVATE}, {"local", IR_LOCAL},     {"global", IR_GLOBAL},
    {"const", IR_CONST},     {"generic", IR_GENERIC}, {NULL, 0},
};
const text_word text_kinds[] = {
    {"void", IR_VOID}, {"i1", IR_I1},   {"i8", IR_I8},           {"i16", IR_I16},
    {"i32", IR_I32},   {"i64", IR_I64}, {"f16", IR_F16},         {"bf16", IR_BF16},
    {"f32", IR_F32},   {"f64", IR_F64}, {"sampler", IR_SAMPLER}, {"event", IR_EVENT},
    {NULL, 0},
};

const text_word *text_find_word(const text_word *table, const char *s, size_t n) {
    for (; table->word; table++)
        if (strncmp(table->word, s, n) == 0 && table->word[n] == 0) return table;
    return NULL;
}

const char *text_word_of(const text_word *table, uint32_t bits) {
    for (; table->word; table++)
        if (table->bits == bits) return table->word;
    return NULL;
}

void text_put_bits(ir_text *out, const text_word *table, uint32_t bits) {
    for (; table->word; table++) {
        if (!(bits & table->bits)) continue;
        ir_put(out, " ");
        ir_put(out, table->word);
    }
}

/* ---------------------------------------------------------------------------------------- names */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_plain_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '.';
}

/* Does the name need no quotes after % and @, and as a label? */
static bool is_plain(const char *name) {
    if (!*name || is_digit(*name)) return false;
    while (is_plain_char(*name)) name++;
    return *name == 0;
}

bool text_is_numbered_label(const char *s, size_t n) {
    if (n < 2 || s[0] != 'b') return false;
    for (size_t i = 1; i < n; i++)
        if (!is_digit(s[i])) return false;
    return true;
}

void text_put_quoted(ir_text *out, const char *s, size_t n) {
    ir_put(out, "\"");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\n')
            ir_put(out, "\\n");
        else if (s[i] == '\t')
            ir_put(out, "\\t");
        else if (s[i] == '"' || s[i] == '\\')
            ir_putn(out, (const char[]){'\\', s[i]}, 2);
        else if (s[i] < ' ' || s[i] > '~')
            ir_putf(out, "\\x%02x", (unsigned char)s[i]);
        else
            ir_putn(out, &s[i], 1);
    }
    ir_put(out, "\"");
}

void text_put_name(ir_text *out, char sigil, const char *name) {
    if (sigil) ir_putn(out, &sigil, 1);
    if (is_plain(name) && (sigil || !text_is_numbered_label(name, strlen(name))))
        ir_put(out, name);
    else
        text_put_quoted(out, name, strlen(name));
}

void text_put_number(ir_text *out, uint64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    ir_putn(out, digits + at, sizeof digits - at);
}

/* ----------------------------------------------------------------------- facts about operations */

bool text_holds_address(const ir_module *m, ir_type t) {
    if (!ir_is_ptr(t) && (!ir_is_int(t) || ir_is_vector(t))) return false;
    return ir_bits(m, t) == m->pointer_bits;
}

ir_round text_default_round(ir_op op) { return ir_ops[op].rule == R_FTOI ? IR_RTZ : IR_RTE; }

bool text_is_scan(ir_op op) {
    return (op >= IR_OP_group_add && op <= IR_OP_group_xor) || op == IR_OP_group_ballot_count;
}
