/* types.c — OpType….
 *
 * A SPIR-V type becomes a spv_type: the IR type of its values, the IR type that it has in memory
 * (booleans are bytes there, integers of odd widths take the next wider one), and the number of its
 * leaves.  Types that are not supported are kept with a reason; a function that needs a value of
 * them is refused, so an unused type never refuses a module.
 *
 * Layout follows OpenCL C; the IR's struct types determine it.
 */
#include "frontend/reader.h"

enum { MAX_SIZE_LOG2 = 61 };

static spv_type *new_type(reader *r, spv_type_form form, ir_type value) {
    spv_id *e = spv_new_id(r, ID_TYPE);
    spv_type *t = ir_new(&r->scratch, spv_type);
    *t = (spv_type){.form = form, .id = r->in.id, .value = value, .memory = value, .leaves = 1};
    e->type = t;
    return t;
}

static void lack(spv_type *t, const char *reason) {
    t->form = T_LACKING;
    t->reason = reason;
    t->value = t->memory = IR_VOID;
}

static void lacking(reader *r, const char *reason) {
    lack(new_type(r, T_LACKING, IR_VOID), reason);
}

/* ------------------------------------------------------------------------------------ questions */

spv_type *spv_type_at(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    if (e->kind != ID_TYPE) spv_fail(r, "%s: %%%u is not a type", spv_op_name(r), id);
    return e->type;
}

spv_type *spv_pointee(reader *r, const spv_type *p) {
    return p->pointee ? spv_type_at(r, p->pointee) : NULL;
}

spv_type *spv_value_type(reader *r, spv_type *t) {
    if (!t) spv_fail(r, "%s: %%%u is not a type", spv_op_name(r), r->in.arg[-2]);
    if (t->form == T_LACKING) spv_refuse(r, "%s", t->reason);
    if (t->form == T_FUNCTION) spv_fail(r, "%s: a value cannot be a function", spv_op_name(r));
    return t;
}

bool spv_same_type(const spv_type *a, const spv_type *b) {
    return a == b || (a->value == b->value && a->memory == b->memory && a->form == b->form &&
                      a->form != T_LACKING && a->bits == b->bits);
}

const char *spv_ir_type_name(reader *r, ir_type t) {
    ir_text text = {.arena = &r->scratch};
    ir_print_type(&text, r->m, t);
    return text.data;
}

const char *spv_type_name(reader *r, const spv_type *t) {
    enum { READABLE = 16 };
    if (!t) return "no type";
    if (t->form == T_LACKING) return "a type that cannot be used";
    if (t->form == T_FUNCTION) return "a function type";
    if (t->odd) return ir_sprintf(&r->scratch, "i%u", t->bits);
    if (spv_is_aggregate(t) && ir_type_get(r->m, t->memory)->parts > READABLE)
        return ir_sprintf(&r->scratch, "%%%u, a large struct or array,", t->id);
    return spv_ir_type_name(r, spv_is_aggregate(t) ? t->memory : t->value);
}

static bool space_of(uint32_t storage, ir_space *space) {
    switch (storage) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassInput: *space = IR_PRIVATE; return true;
    case SpvStorageClassWorkgroup: *space = IR_LOCAL; return true;
    case SpvStorageClassCrossWorkgroup:
    case SpvStorageClassDeviceOnlyINTEL:
    case SpvStorageClassHostOnlyINTEL: *space = IR_GLOBAL; return true;
    case SpvStorageClassUniformConstant: *space = IR_CONST; return true;
    case SpvStorageClassGeneric: *space = IR_GENERIC; return true;
    default: return false;
    }
}

const char *spv_storage_name(uint32_t storage) {
    static const char *const names[] = {
        "UniformConstant", "Input",   "Uniform",      "Output",  "Workgroup",
        "CrossWorkgroup",  "Private", "Function",     "Generic", "PushConstant",
        "AtomicCounter",   "Image",   "StorageBuffer"};
    return storage < sizeof names / sizeof *names ? names[storage] : "of an extension";
}

/* --------------------------------------------------------------------------- members and leaves */

spv_type *spv_member(reader *r, spv_type *t, uint32_t i) {
    (void)r;
    return t->form == T_STRUCT ? t->member[i] : t->elem;
}

uint64_t spv_member_offset(reader *r, const spv_type *t, uint64_t i) {
    if (t->form == T_STRUCT) return ir_type_get(r->m, t->memory)->offset[i];
    return i * ir_sizeof(r->m, t->elem->memory);
}

uint32_t spv_member_leaf(const spv_type *t, uint32_t i) {
    return t->form == T_STRUCT ? t->first[i] : i * t->elem->leaves;
}

/* The member that a leaf belongs to: the last one that starts at or before it and is not empty. */
uint32_t spv_member_of_leaf(const spv_type *t, uint32_t leaf) {
    if (t->form == T_ARRAY) return leaf / t->elem->leaves;
    uint32_t low = 0, high = t->count;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (t->first[mid] <= leaf)
            low = mid;
        else
            high = mid;
    }
    return low;
}

spv_place_of_leaf spv_find_leaf(reader *r, spv_type *t, uint32_t leaf) {
    uint64_t offset = 0;
    while (spv_is_aggregate(t)) {
        uint32_t i = spv_member_of_leaf(t, leaf);
        offset += spv_member_offset(r, t, i);
        leaf -= spv_member_leaf(t, i);
        t = spv_member(r, t, i);
    }
    return (spv_place_of_leaf){.type = t, .offset = offset};
}

static uint32_t add_leaves(uint32_t a, uint32_t b) {
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* -------------------------------------------------------------------------------------- scalars */

void spv_read_type_void(reader *r) { new_type(r, T_VOID, IR_VOID)->leaves = 0; }

void spv_read_type_bool(reader *r) { new_type(r, T_BOOL, IR_I1)->memory = IR_I8; }

static bool has_int_capability(const reader *r, uint32_t bits) {
    switch (bits) {
    case 8: return r->facts.cap_int8;
    case 16: return r->facts.cap_int16;
    case 32: return true;
    case 64: return r->facts.cap_int64;
    default: return r->facts.cap_odd;
    }
}

void spv_read_type_int(reader *r) {
    uint32_t bits = r->in.arg[0];
    if (bits == 0 || r->in.arg[1] > 1) spv_fail(r, "OpTypeInt: no such integer type");
    if (bits > 64) {
        lacking(r, ir_sprintf(&r->scratch, "an integer of %u bits is not supported", bits));
        return;
    }
    ir_kind k = bits <= 8 ? IR_I8 : bits <= 16 ? IR_I16 : bits <= 32 ? IR_I32 : IR_I64;
    spv_type *t = new_type(r, T_INT, ir_scalar(k));
    t->bits = bits;
    t->odd = ir_bits(r->m, t->value) != bits;
    r->facts.any_odd |= t->odd;
    if (t->odd) spv_warn(r, WARN_ODD_INTEGER);
    if (!has_int_capability(r, bits)) spv_warn(r, WARN_CAPABILITY);
}

void spv_read_type_float(reader *r) {
    uint32_t bits = r->in.arg[0];
    bool brain = r->in.n > 1 && r->in.arg[1] == 0; /* FPEncoding BFloat16KHR */
    if ((bits != 16 && bits != 32 && bits != 64) || (r->in.n > 1 && !(brain && bits == 16))) {
        lacking(r, ir_sprintf(&r->scratch, "a float of %u bits is not supported", bits));
        return;
    }
    if ((bits == 16 && !brain && !r->facts.cap_half) || (bits == 64 && !r->facts.cap_double))
        spv_warn(r, WARN_CAPABILITY);
    new_type(r, T_FLOAT, brain ? IR_BF16 : bits == 16 ? IR_F16 : bits == 32 ? IR_F32 : IR_F64);
}

void spv_read_type_vector(reader *r) {
    spv_type *elem = spv_type_at(r, r->in.arg[0]);
    uint32_t lanes = r->in.arg[1];
    if (elem->form == T_LACKING) {
        lacking(r, elem->reason);
        return;
    }
    if (elem->form == T_POINTER || lanes > IR_MAX_LANES) {
        lacking(r, ir_sprintf(&r->scratch, "a vector of %u x %s is not supported", lanes,
                              spv_type_name(r, elem)));
        return;
    }
    if (lanes == 0 || elem->form < T_BOOL || elem->form > T_FLOAT)
        spv_fail(r, "OpTypeVector: no vector has %u components of type %s", lanes,
                 spv_type_name(r, elem));
    if (lanes == 1) spv_warn(r, WARN_ONE_LANE);
    spv_type *t = new_type(r, T_VECTOR, ir_vector(elem->value, lanes));
    t->memory = ir_vector(elem->memory, lanes);
    t->count = lanes;
    t->elem = elem;
    t->bits = elem->bits;
    t->odd = elem->odd;
}

/* ------------------------------------------------------------------------------------- pointers */

static spv_type *new_pointer(reader *r, uint32_t storage) {
    ir_space space = IR_PRIVATE;
    bool known = space_of(storage, &space);
    spv_type *t = new_type(r, T_POINTER, ir_ptr(space));
    t->storage = storage;
    if (!known)
        lack(t, ir_sprintf(&r->scratch, "a pointer of storage class %s is not supported",
                           spv_storage_name(storage)));
    return t;
}

void spv_read_type_forward_pointer(reader *r) {
    r->in.id = r->in.arg[0];
    if (spv_find(r, r->in.id)->kind == ID_TYPE) return;
    new_pointer(r, r->in.arg[1])->forward = true;
}

void spv_read_type_pointer(reader *r) {
    const spv_id *e = spv_find(r, r->in.id);
    spv_type *t = e->kind == ID_TYPE && e->type->forward ? e->type : new_pointer(r, r->in.arg[0]);
    const spv_id *pointee = spv_find(r, r->in.arg[1]);
    if (t->storage != r->in.arg[0])
        spv_fail(r, "OpTypePointer: not the storage class that OpTypeForwardPointer announced");
    if (pointee->kind == ID_TYPE && pointee->type->form == T_FUNCTION)
        spv_warn(r, WARN_FUNCTION_POINTER);
    t->forward = false;
    t->pointee = r->in.arg[1];
}

void spv_read_type_untyped_pointer(reader *r) { new_pointer(r, r->in.arg[0]); }

/* ----------------------------------------------------------------------------------- aggregates */

/* Elements and members may not be void, functions or unsupported types. */
static void check_element(reader *r, const spv_type *elem) {
    if (elem->form == T_VOID || elem->form == T_FUNCTION)
        spv_fail(r, "%s: %s cannot be an element", spv_op_name(r), spv_type_name(r, elem));
}

/* What an element adds to the bounded number of parts in a type. */
static uint64_t parts_of(reader *r, const spv_type *elem) {
    return ir_is_aggregate(elem->memory) ? ir_type_get(r->m, elem->memory)->parts + UINT64_C(1) : 1;
}

static bool array_fits(reader *r, const spv_type *elem, uint64_t count) {
    uint64_t size = ir_sizeof(r->m, elem->memory);
    bool sized = size == 0 || count <= (UINT64_C(1) << MAX_SIZE_LOG2) / size;
    return sized && count <= UINT32_MAX && parts_of(r, elem) <= IR_MAX_TYPE_PARTS &&
           elem->depth + 1 < IR_MAX_TYPE_DEPTH;
}

void spv_read_type_array(reader *r) {
    spv_type *elem = spv_type_at(r, r->in.arg[0]);
    int64_t count;
    check_element(r, elem);
    if (!spv_signed_constant(r, r->in.arg[1], &count) || count < 0)
        spv_fail(r, "OpTypeArray: the length %%%u is not a positive integer constant",
                 r->in.arg[1]);
    if (elem->form == T_LACKING) {
        lacking(r, elem->reason);
        return;
    }
    if (!array_fits(r, elem, (uint64_t)count)) {
        lacking(r, "an array of this size or nesting is not supported");
        return;
    }
    if (count == 0) spv_warn(r, WARN_EMPTY_ARRAY);
    spv_type *t = new_type(r, T_ARRAY, IR_VOID);
    uint64_t leaves = (uint64_t)count * elem->leaves;
    t->memory = ir_array_type(r->m, elem->memory, (uint32_t)count);
    t->count = (uint32_t)count;
    t->elem = elem;
    t->depth = elem->depth + 1;
    t->leaves = leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves;
}

const uint32_t *spv_gather(reader *r, uint32_t sequel, uint32_t *n) {
    uint32_t at = r->in.at, total = r->in.n;
    uint32_t next = at + (r->input.words[at] >> 16);
    *n = total;
    if (next >= r->input.nwords || (r->input.words[next] & 0xffff) != sequel) return r->in.arg;
    ir_vec(uint32_t) ids = {0};
    for (uint32_t i = 0; i < total; i++) *ir_push(&r->scratch, &ids) = r->in.arg[i];
    for (; next < r->input.nwords && (r->input.words[next] & 0xffff) == sequel;
         next += r->input.words[next] >> 16)
        for (uint32_t i = 1; i < r->input.words[next] >> 16; i++)
            *ir_push(&r->scratch, &ids) = r->input.words[next + i];
    *n = ids.n;
    return ids.data;
}

/* Within the bounds of the IR's types on size, nesting and parts? */
static bool struct_fits(reader *r, spv_type *const *member, uint32_t n) {
    uint64_t size = 0, parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        size += ir_sizeof(r->m, member[i]->memory) + ir_alignof(r->m, member[i]->memory);
        parts += parts_of(r, member[i]);
        if (size >> MAX_SIZE_LOG2 || member[i]->depth + 1 >= IR_MAX_TYPE_DEPTH) return false;
    }
    return parts <= IR_MAX_TYPE_PARTS;
}

static void check_offsets(reader *r, spv_type *t) {
    for (const spv_offset *o = spv_decor_of(r, t->id)->offsets; o; o = o->next) {
        if (o->member >= t->count)
            spv_fail(r, "OpMemberDecorate names member %u of a struct of %u", o->member, t->count);
        if (o->offset != spv_member_offset(r, t, o->member)) {
            lack(t,
                 "a struct whose Offset decorations differ from OpenCL's layout is not supported");
            return;
        }
    }
}

/* Which members are specialized: those that are marked, but for pointers. */
static const bool *find_marks(reader *r, const spv_type *t) {
    const spv_mark *m = spv_decor_of(r, t->id)->marks;
    bool *marked = m ? ir_new_array(&r->scratch, bool, t->count) : NULL;
    for (; m; m = m->next) {
        if (m->member >= t->count)
            spv_fail(r, "OpMemberDecorate names member %u of a struct of %u", m->member, t->count);
        const bool pointer = ir_is_ptr(t->member[m->member]->memory);
        if (pointer) spv_warn(r, WARN_SPECIALIZED);
        marked[m->member] = !pointer;
    }
    return marked;
}

static void lay_out_struct(reader *r, spv_type *t) {
    ir_type *memory = ir_new_array(&r->scratch, ir_type, t->count);
    t->first = ir_new_array(&r->scratch, uint32_t, t->count);
    t->leaves = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        memory[i] = t->member[i]->memory;
        t->first[i] = t->leaves;
        t->leaves = add_leaves(t->leaves, t->member[i]->leaves);
        if (t->member[i]->depth + 1 > t->depth) t->depth = t->member[i]->depth + 1;
    }
    const char *name = spv_name(r, t->id);
    const bool *marked = find_marks(r, t);
    t->memory =
        ir_struct_type(r->m, marked ? NULL : name, spv_has(r, t->id, D_CPACKED), memory, t->count);
    t->memory = ir_mark_members(r->m, name, t->memory, marked);
    check_offsets(r, t);
}

void spv_read_type_struct(reader *r) {
    uint32_t n;
    const uint32_t *ids = spv_gather(r, SPV_OP_TypeStructContinuedINTEL, &n);
    spv_type **member = ir_new_array(&r->scratch, spv_type *, n);
    const char *reason = NULL;
    for (uint32_t i = 0; i < n; i++) {
        member[i] = spv_type_at(r, ids[i]);
        check_element(r, member[i]);
        if (member[i]->form == T_LACKING && !reason) reason = member[i]->reason;
    }
    if (!reason && !struct_fits(r, member, n))
        reason = "a struct of this size or nesting is not supported";
    spv_type *t = new_type(r, T_STRUCT, IR_VOID);
    t->count = n;
    t->member = member;
    t->depth = 1;
    if (reason)
        lack(t, reason);
    else
        lay_out_struct(r, t);
}

/* ------------------------------------------------------------------------- functions and opaque */

void spv_read_type_function(reader *r) {
    spv_type *result = spv_type_at(r, r->in.arg[0]);
    spv_type *t = new_type(r, T_FUNCTION, IR_VOID);
    if (result->form == T_FUNCTION) spv_fail(r, "OpTypeFunction: a function cannot be a result");
    t->count = r->in.n - 1;
    t->elem = result;
    t->member = ir_new_array(&r->scratch, spv_type *, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        t->member[i] = spv_type_at(r, r->in.arg[1 + i]);
        if (t->member[i]->form == T_VOID || t->member[i]->form == T_FUNCTION)
            spv_fail(r, "OpTypeFunction: %s cannot be a parameter", spv_type_name(r, t->member[i]));
    }
}

void spv_read_type_image(reader *r) {
    const uint32_t *w = r->in.arg;
    const spv_type *texel = spv_type_at(r, w[0]);
    for (uint32_t i = 1; i < r->in.n; i++)
        if (w[i] > (i == 3 || i == 4 ? 1 : 255)) /* arrayed, multisampled */
            spv_fail(r, "OpTypeImage: operand %u is out of range", i + 1);
    if (texel->form != T_VOID && texel->form != T_INT && texel->form != T_FLOAT)
        spv_fail(r, "OpTypeImage: %s cannot be a texel", spv_type_name(r, texel));
    ir_type_info info = {.kind = IR_IMAGE,
                         .image = {.dim = (uint8_t)w[1],
                                   .depth = (uint8_t)w[2],
                                   .arrayed = (uint8_t)w[3],
                                   .ms = (uint8_t)w[4],
                                   .sampled = (uint8_t)w[5],
                                   .format = (uint8_t)w[6],
                                   .access = (uint8_t)(r->in.n > 7 ? w[7] : 0),
                                   .texel = texel->value}};
    new_type(r, T_OPAQUE, ir_image_type(r->m, &info));
}

void spv_read_type_sampler(reader *r) { new_type(r, T_OPAQUE, IR_SAMPLER); }

void spv_read_type_event(reader *r) { new_type(r, T_OPAQUE, IR_EVENT); }

void spv_read_type_sampled_image(reader *r) {
    const spv_type *image = spv_type_at(r, r->in.arg[0]);
    if (ir_kind_of(image->value) != IR_IMAGE)
        spv_fail(r, "OpTypeSampledImage: %s is not an image", spv_type_name(r, image));
    ir_type_info info = *ir_type_get(r->m, image->value);
    info.kind = IR_SAMPLED_IMAGE;
    new_type(r, T_OPAQUE, ir_image_type(r->m, &info));
}

void spv_read_type_lacking(reader *r) {
    lacking(r, ir_sprintf(&r->scratch, "%s is not supported", spv_op_name(r)));
}
