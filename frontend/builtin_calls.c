/* builtin_calls.c — calls of OpenCL C built-ins, read as the operations that they name.
 *
 * While one of these functions runs, r->in is the call with its arguments as operands.  Of the
 * mangled parameter types only the class of the first one's scalar is known (signed, unsigned,
 * float); widths and lanes are those of the SPIR-V types.
 */
#include "frontend/reader.h"

/* -------------------------------------------------------------------------------------- helpers */

static bool returns_value(const reader *r) { return r->in.type->form != T_VOID; }

static void define_returned(reader *r, ir_inst *v) {
    if (returns_value(r)) spv_define_checked(r, v);
}

static ir_type result_type(reader *r) { return spv_value_type(r, r->in.type)->value; }

void spv_want_args(reader *r, const char *key, uint32_t n) {
    if (r->in.n < n)
        spv_fail(r, "%s is called with %u arguments, not %u", spv_key_name(key), r->in.n, n);
}

/* Vectors: -1 is true; scalars: 1 is. */
static void define_truth(reader *r, ir_inst *v) {
    ir_type t = result_type(r);
    if (v->type != t && ir_is_int(t) && ir_lanes(t) == ir_lanes(v->type))
        v = spv_op1(r, ir_is_vector(t) ? IR_OP_sext : IR_OP_zext, t, v);
    spv_define_checked(r, v);
}

/* ---------------------------------------------------------------------------- work-item queries */

ir_inst *spv_query_dim(reader *r, ir_op op, ir_type t, ir_inst *dim, uint64_t otherwise) {
    ir_inst *v = ir_const(r->b.f, t, otherwise);
    for (unsigned d = 3; d-- > 0;) {
        ir_inst *is = spv_op2(r, IR_OP_eq, IR_I1, dim, ir_const(r->b.f, dim->type, d));
        if (ir_is_const(is) && !is->imm.bits) continue;
        ir_inst *q = ir_build_query(&r->b, op, t, d);
        v = ir_is_const(is) ? q : ir_build_select(&r->b, is, q, v);
    }
    return v;
}

static void check_query_type(reader *r, const char *key, ir_type t) {
    if (t != IR_I32 && t != IR_I64)
        spv_fail(r, "%s returns %s", spv_key_name(key), spv_type_name(r, r->in.type));
}

void spv_call_query(reader *r, const spv_builtin *b, const char *key) {
    ir_type t = result_type(r);
    spv_want_args(r, key, 1);
    check_query_type(r, key, t);
    spv_define(r, spv_query_dim(r, (ir_op)b->data, t, spv_arg_int(r, 0), b->more));
}

void spv_call_query0(reader *r, const spv_builtin *b, const char *key) {
    check_query_type(r, key, result_type(r));
    spv_define(r, ir_build0(&r->b, (ir_op)b->data, result_type(r)));
}

/* --------------------------------------------------------------------------------------- groups */

static ir_imm uniform_group(uint32_t scope) {
    return (ir_imm){.group = {.scope = (uint8_t)scope, .uniform = 1}};
}

/* An integer that is true unless it is 0. */
static ir_inst *truth(reader *r, uint32_t k) {
    ir_inst *x = spv_arg_int(r, k);
    return spv_op2(r, IR_OP_ne, IR_I1, x, ir_const(r->b.f, x->type, 0));
}

/* work_group_all(int), sub_group_any(int): data is the op, more the scope */
void spv_call_vote(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *x = truth(r, 0);
    x = ir_build_raw(&r->b, (ir_op)b->data, IR_I1, ir_with_imm(uniform_group(b->more)), IR_ARGS(x));
    define_truth(r, x);
}

static bool is_logical(const char *what) { return !strncmp(what, "logical_", 8); }

static ir_op reduce_op(reader *r, const char *key, const char *what) {
    char c = spv_key_class(key);
    if (!strcmp(what, "add")) return c == 'f' ? IR_OP_group_fadd : IR_OP_group_add;
    if (!strcmp(what, "mul")) return c == 'f' ? IR_OP_group_fmul : IR_OP_group_mul;
    if (!strcmp(what, "min"))
        return c == 'f' ? IR_OP_group_fmin : c == 'u' ? IR_OP_group_umin : IR_OP_group_smin;
    if (!strcmp(what, "max"))
        return c == 'f' ? IR_OP_group_fmax : c == 'u' ? IR_OP_group_umax : IR_OP_group_smax;
    if (is_logical(what)) what += strlen("logical_");
    if (!strcmp(what, "and") && c != 'f') return IR_OP_group_and;
    if (!strcmp(what, "or") && c != 'f') return IR_OP_group_or;
    if (!strcmp(what, "xor") && c != 'f') return IR_OP_group_xor;
    spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
}

/* Functions named like work_group_reduce_add, sub_group_scan_inclusive_max and
 * sub_group_non_uniform_reduce_logical_and: data is the ir_groupop, more the scope. */
void spv_call_reduce(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_type t = result_type(r);
    const char *what = spv_key_name(key) + strlen(b->name) - 1; /* the rest, at the '*' */
    ir_op op = reduce_op(r, key, what);
    bool floats = spv_key_class(key) == 'f';
    if (floats ? !ir_is_float(t) : !ir_is_int(t) || ir_is_bool(t))
        spv_fail(r, "%s does not work on %s", spv_key_name(key), spv_type_name(r, r->in.type));
    ir_imm imm = uniform_group(b->more);
    imm.group.op = (uint8_t)b->data;
    ir_inst *x = is_logical(what) ? truth(r, 0) : spv_arg_of(r, 0, t);
    define_truth(r, ir_build_raw(&r->b, op, x->type, ir_with_imm(imm), IR_ARGS(x)));
}

/* broadcast(value, x [, y [, z]]) */
void spv_call_broadcast(reader *r, const spv_builtin *b, const char *key) {
    ir_inst *id[3] = {0};
    spv_want_args(r, key, 2);
    uint32_t n = r->in.n - 1 > 3 ? 3 : r->in.n - 1;
    for (uint32_t i = 0; i < n; i++) id[i] = spv_arg_size(r, 1 + i);
    ir_type t = ir_vector(ir_size_type(r->m), n);
    ir_inst *at = n == 1 ? id[0] : ir_build_vec(&r->b, t, id);
    ir_inst *x = spv_arg(r, 0);
    ir_inst *args[2] = {x, at};
    define_returned(r, ir_build_raw(&r->b, IR_OP_group_broadcast, x->type,
                                    ir_with_imm(uniform_group(b->more)), (ir_args){2, args}));
}

/* sub_group_shuffle(value, item) and the like: data is the op */
void spv_call_shuffle(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 2);
    ir_inst *args[2] = {spv_arg(r, 0), spv_arg_i32(r, 1)};
    ir_imm imm = {.group = {.scope = IR_SCOPE_SUBGROUP}};
    define_returned(r, ir_build_raw(&r->b, (ir_op)b->data, args[0]->type, ir_with_imm(imm),
                                    (ir_args){2, args}));
}

/* What an instruction with the same operands is: data is its opcode, more their number. */
void spv_call_instruction(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, b->more);
    r->in.opcode = b->data;
    spv_row_of(r->in.opcode)->read(r);
}

/* async_work_group_copy(dst, src, n, event): data is 1 where a stride precedes the event */
void spv_call_async_copy(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 4 + b->data);
    const spv_type *p = spv_arg_type(r, 0);
    const spv_type *elem = p->form == T_POINTER ? spv_pointee(r, p) : NULL;
    ir_type size = ir_size_type(r->m);
    if (!elem || elem->form > T_VECTOR || elem->form == T_VOID)
        spv_refuse(r, "%s of elements of unknown size is not supported", spv_key_name(key));
    ir_inst *one = ir_const(r->b.f, size, 1);
    ir_inst *args[6] = {spv_arg_pointer(r, 0),
                        spv_arg_pointer(r, 1),
                        spv_arg_size(r, 2),
                        b->data ? spv_arg_size(r, 3) : one,
                        spv_arg_of(r, 3 + b->data, IR_EVENT),
                        ir_const(r->b.f, size, ir_sizeof(r->m, elem->memory))};
    spv_define_checked(r, ir_build_raw(&r->b, IR_OP_async_copy, IR_EVENT,
                                       ir_with_imm(uniform_group(IR_SCOPE_WORKGROUP)),
                                       (ir_args){6, args}));
}

void spv_call_wait_events(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 2);
    ir_inst *args[2] = {spv_arg_i32(r, 0), spv_arg_pointer(r, 1)};
    (void)b;
    ir_build_raw(&r->b, IR_OP_wait_events, IR_VOID, ir_with_imm(uniform_group(IR_SCOPE_WORKGROUP)),
                 (ir_args){2, args});
}

/* ---------------------------------------------------------------------------------- conversions */

typedef struct {
    bool is_signed, is_float, sat;
    int round; /* ir_round, or -1 */
} conversion;

/* "int4_sat_rtz" */
static conversion parse_conversion(const char *s) {
    conversion c = {.is_signed = s[0] != 'u', .round = -1};
    const char *rt = strstr(s, "_rt");
    c.is_float = !strncmp(s, "float", 5) || !strncmp(s, "double", 6) || !strncmp(s, "half", 4);
    c.sat = strstr(s, "_sat") != NULL;
    if (rt)
        c.round = rt[3] == 'e' ? IR_RTE : rt[3] == 'z' ? IR_RTZ : rt[3] == 'p' ? IR_RTP : IR_RTN;
    return c;
}

/* The conversion instruction, with what would have been its decorations. */
static uint32_t conversion_opcode(conversion c, char from) {
    if (from == 'f')
        return c.is_float ? SPV_OP_FConvert : c.is_signed ? SPV_OP_ConvertFToS : SPV_OP_ConvertFToU;
    if (c.is_float) return from == 'u' ? SPV_OP_ConvertUToF : SPV_OP_ConvertSToF;
    if (c.sat && from == 's' && !c.is_signed) return SPV_OP_SatConvertSToU;
    if (c.sat && from == 'u' && c.is_signed) return SPV_OP_SatConvertUToS;
    return from == 'u' ? SPV_OP_UConvert : SPV_OP_SConvert;
}

void spv_call_convert(reader *r, const spv_builtin *b, const char *key) {
    conversion c = parse_conversion(spv_key_name(key) + strlen("convert_"));
    spv_id *e = spv_find(r, r->in.id);
    spv_decor *decor = ir_new(&r->scratch, spv_decor), *own = e->decor;
    (void)b;
    spv_want_args(r, key, 1);
    if (spv_key_class(key) == '-')
        spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
    if (c.sat) decor->has |= D_SATURATED;
    if (c.round >= 0) decor->has |= D_ROUNDING;
    decor->rounding = c.round >= 0 ? (uint32_t)c.round : 0;
    e->decor = decor;
    r->in.opcode = conversion_opcode(c, spv_key_class(key));
    spv_row_of(r->in.opcode)->read(r);
    e->decor = own;
}

void spv_call_as(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 1);
    ir_inst *x = spv_arg(r, 0);
    ir_type t = result_type(r);
    bool numbers = (ir_is_int(t) || ir_is_float(t)) && (ir_is_int(x->type) || ir_is_float(x->type));
    if (!numbers || ir_bits(r->m, ir_elem(t)) * ir_lanes(t) !=
                        ir_bits(r->m, ir_elem(x->type)) * ir_lanes(x->type))
        spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
    spv_define(r, x->type == t ? x : spv_op1(r, IR_OP_bitcast, t, x));
}

/* ----------------------------------------------------------------------------- generic pointers */

/* __to_global(p) and the like: the space is that of the result type. */
void spv_call_to_space(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 1);
    ir_inst *p = spv_arg_of(r, 0, ir_ptr(IR_GENERIC));
    ir_type t = result_type(r);
    if (!ir_is_ptr(t)) spv_fail(r, "%s returns no pointer", spv_key_name(key));
    spv_define(r, p->type == t ? p : spv_op1(r, IR_OP_ptrcast_to, t, p));
}

/* Memory semantics are the flags of fences, 8 bits up. */
void spv_call_get_fence(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 1);
    ir_inst *v = spv_op1(r, IR_OP_ptr_space, IR_I32, spv_arg_of(r, 0, ir_ptr(IR_GENERIC)));
    v = spv_op2(r, IR_OP_lshr, IR_I32, v, ir_const(r->b.f, IR_I32, 8));
    define_returned(r, spv_op2(r, IR_OP_and, IR_I32, v, ir_const(r->b.f, IR_I32, 3)));
}

/* ----------------------------------------------------------------------------------- relational */

void spv_call_compare(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 2);
    ir_inst *x = spv_arg(r, 0), *y = spv_arg_of(r, 1, x->type);
    if (!ir_is_float(x->type)) spv_bad_type(r, 0, "a float");
    ir_type bools = ir_with_elem(x->type, IR_I1);
    define_truth(r, b->more ? spv_op2(r, (ir_op)b->data, bools, y, x)
                            : spv_op2(r, (ir_op)b->data, bools, x, y));
}

void spv_call_classify(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *x = spv_arg(r, 0);
    if (!ir_is_float(x->type)) spv_bad_type(r, 0, "a float");
    ir_type bools = ir_with_elem(x->type, IR_I1);
    ir_op op = (ir_op)b->data;
    define_truth(r, op == IR_OP_funo ? spv_op2(r, op, bools, x, x) : spv_op1(r, op, bools, x));
}

/* any and all look at the top bits. */
void spv_call_any_all(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *x = spv_arg(r, 0);
    if (!ir_is_int(x->type) || ir_is_bool(x->type)) spv_bad_type(r, 0, "integers");
    x = spv_op2(r, IR_OP_slt, ir_with_elem(x->type, IR_I1), x, spv_splat_const(r, x->type, 0));
    define_truth(r, ir_is_vector(x->type) ? spv_op1(r, (ir_op)b->data, IR_I1, x) : x);
}

void spv_call_dot(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 2);
    ir_inst *x = spv_arg(r, 0), *y = spv_arg_of(r, 1, x->type);
    (void)b;
    if (!ir_is_float(x->type)) spv_bad_type(r, 0, "floats");
    define_returned(r, spv_op2(r, IR_OP_dot, ir_elem(x->type), x, y));
}

/* The instruction of a packed dot product, by the signedness of its operands. */
static uint32_t dot_opcode(const char *signs, bool adds) {
    if (signs[0] != signs[1]) return adds ? SPV_OP_SUDotAccSat : SPV_OP_SUDot;
    if (signs[0] == 's') return adds ? SPV_OP_SDotAccSat : SPV_OP_SDot;
    return adds ? SPV_OP_UDotAccSat : SPV_OP_UDot;
}

/* dot_4x8packed_us_int(x, y), dot_acc_sat_4x8packed_us_int(x, y, sum): data is 1 with a sum.  The
 * instruction for different signs takes the signed operand first. */
void spv_call_packed_dot(reader *r, const spv_builtin *b, const char *key) {
    const char *signs = spv_key_name(key) + strlen(b->name) - 1;
    uint32_t n = 2 + b->data;
    spv_want_args(r, key, n);
    if (strspn(signs, "us") < 2)
        spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
    bool turn = signs[0] == 'u' && signs[1] == 's';
    uint32_t *args = ir_new_array(&r->scratch, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++) args[k] = r->in.arg[turn && k < 2 ? 1 - k : k];
    args[n] = SpvPackedVectorFormatPackedVectorFormat4x8Bit;
    r->in.opcode = dot_opcode(signs, b->data);
    r->in.arg = args;
    r->in.n = n + 1;
    spv_read_int_dot(r);
}

/* ----------------------------------------------------------------------------------- OpenCL.std */

void spv_call_ext(reader *r, const spv_ext_row *row, uint32_t n, const uint32_t *literals) {
    uint32_t *args = ir_new_array(&r->scratch, uint32_t, r->in.n + n);
    for (uint32_t i = 0; i < r->in.n; i++) args[i] = r->in.arg[i];
    for (uint32_t i = 0; i < n; i++) args[r->in.n + i] = literals[i];
    r->in.ext = row;
    r->in.arg = args;
    r->in.n += n;
    if (r->in.n < row->min || r->in.n > row->max)
        spv_fail(r, "%s takes %u operands, not %u", spv_op_name(r), row->min, r->in.n);
    row->read(r);
}

/* data: the number of the extended instruction */
void spv_call_number(reader *r, const spv_builtin *b, const char *key) {
    (void)key;
    spv_call_ext(r, spv_ext_row_of(b->data), 0, NULL);
}

static unsigned width_in_name(const char *s) {
    while (*s && (*s < '0' || *s > '9')) s++;
    unsigned n = 0;
    for (; *s >= '0' && *s <= '9' && n < 100; s++) n = n * 10 + (unsigned)(*s - '0');
    return n;
}

/* vload4, vload_half, vload_half4, vloada_half4: the width is the literal */
void spv_call_vload(reader *r, const spv_builtin *b, const char *key) {
    uint32_t n = width_in_name(key);
    bool half = strstr(key, "_half") != NULL, aligned = strstr(key, "loada") != NULL;
    uint32_t number = aligned ? SPV_STD_vloada_halfn : SPV_STD_vload_halfn;
    (void)b;
    if (!half) number = SPV_STD_vloadn;
    if (half && n == 0) number = SPV_STD_vload_half;
    spv_call_ext(r, spv_ext_row_of(number), n ? 1 : 0, &n);
}

void spv_call_vstore(reader *r, const spv_builtin *b, const char *key) {
    uint32_t round = IR_RTE;
    bool half = strstr(key, "_half") != NULL, aligned = strstr(key, "storea") != NULL;
    const char *rt = strstr(key, "_rt");
    (void)b;
    if (rt) round = (uint32_t)parse_conversion(rt).round;
    uint32_t number = aligned ? SPV_STD_vstorea_halfn_r : SPV_STD_vstore_halfn_r;
    spv_call_ext(r, spv_ext_row_of(half ? number : SPV_STD_vstoren), half ? 1 : 0, &round);
}

/* ------------------------------------------------------------------------------- llvm leftovers */

void spv_call_nothing(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    if (returns_value(r)) spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
}

void spv_call_plain(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, ir_ops[b->data].nargs);
    r->in.n = ir_ops[b->data].nargs; /* some intrinsics have flags after their operands */
    spv_plain(r, (ir_op)b->data);
}

/* llvm.memcpy(dst, src, bytes, volatile) */
void spv_call_memcpy(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 3);
    ir_inst *to = spv_arg_pointer(r, 0), *from = spv_arg_pointer(r, 1);
    spv_copy(r, to, from, spv_arg_size(r, 2), (spv_access){.align = 1});
}

/* llvm.memset(dst, byte, bytes, volatile) */
void spv_call_memset(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 3);
    ir_inst *args[3] = {spv_arg_pointer(r, 0), spv_arg_of(r, 1, IR_I8), spv_arg_size(r, 2)};
    ir_build_raw(&r->b, IR_OP_fill, IR_VOID, IR_PLAIN, (ir_args){3, args});
}
