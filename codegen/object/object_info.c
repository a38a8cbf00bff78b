/* object_info.c — .debug_info and .debug_abbrev: the functions of an object, and what debuggers
 * read in their frames.
 *
 * DWARF 4.  All places in code are addresses, which assemblers can compute from labels, too.  There
 * is one unit, with its types, then each function with its name, its range, and the variables that
 * code keeps for debuggers in the frame.  Such a variable lies at a fixed distance above the stack
 * pointer, from the end of the prologue on, or the address of it does.
 */
#include "codegen/object/object.h"

enum {
    TAG_ARRAY_TYPE = 0x01,
    TAG_FORMAL_PARAMETER = 0x05,
    TAG_MEMBER = 0x0d,
    TAG_POINTER_TYPE = 0x0f,
    TAG_COMPILE_UNIT = 0x11,
    TAG_STRUCTURE_TYPE = 0x13,
    TAG_SUBRANGE_TYPE = 0x21,
    TAG_BASE_TYPE = 0x24,
    TAG_SUBPROGRAM = 0x2e,
    TAG_VARIABLE = 0x34,
    AT_LOCATION = 0x02,
    AT_NAME = 0x03,
    AT_BYTE_SIZE = 0x0b,
    AT_STMT_LIST = 0x10,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_LANGUAGE = 0x13,
    AT_PRODUCER = 0x25,
    AT_PROTOTYPED = 0x27,
    AT_COUNT = 0x37,
    AT_DATA_MEMBER_LOCATION = 0x38,
    AT_ENCODING = 0x3e,
    AT_EXTERNAL = 0x3f,
    AT_FRAME_BASE = 0x40,
    AT_TYPE = 0x49,
    AT_GNU_VECTOR = 0x2107,
    FORM_ADDR = 0x01,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_DATA1 = 0x0b,
    FORM_FLAG = 0x0c,
    FORM_REF4 = 0x13,
    FORM_SEC_OFFSET = 0x17,
    FORM_EXPRLOC = 0x18,
    FORM_PRESENT = 0x19,
    OP_DEREF = 0x06,
    OP_BREG0 = 0x70,
    OP_FBREG = 0x91,
    ENCODING_BOOLEAN = 2,
    ENCODING_FLOAT = 4,
    ENCODING_SIGNED = 5,
    LANG_OPENCL = 0x15,
    VERSION = 4
};

typedef struct {
    uint16_t attribute, form;
} field;

/* The kinds of entries, with the attributes of each in order. */
typedef enum {
    UNIT = 1,
    FUNCTION,
    NUMBER,
    POINTER,
    NO_POINTEE,
    ARRAY,
    VECTOR,
    RANGE,
    STRUCT,
    MEMBER,
    VARIABLE,
    PARAMETER,
    KINDS
} kind;

static const struct {
    uint16_t tag;
    bool children;
    field fields[7];
} entries[KINDS] = {
    [UNIT] = {TAG_COMPILE_UNIT,
              true,
              {{AT_PRODUCER, FORM_STRING},
               {AT_LANGUAGE, FORM_DATA2},
               {AT_NAME, FORM_STRING},
               {AT_STMT_LIST, FORM_SEC_OFFSET},
               {AT_LOW_PC, FORM_ADDR},
               {AT_HIGH_PC, FORM_ADDR}}},
    [FUNCTION] = {TAG_SUBPROGRAM,
                  true,
                  {{AT_NAME, FORM_STRING},
                   {AT_EXTERNAL, FORM_FLAG},
                   {AT_PROTOTYPED, FORM_PRESENT},
                   {AT_LOW_PC, FORM_ADDR},
                   {AT_HIGH_PC, FORM_ADDR},
                   {AT_FRAME_BASE, FORM_EXPRLOC}}},
    [NUMBER] = {TAG_BASE_TYPE,
                false,
                {{AT_NAME, FORM_STRING}, {AT_BYTE_SIZE, FORM_DATA1}, {AT_ENCODING, FORM_DATA1}}},
    [POINTER] = {TAG_POINTER_TYPE, false, {{AT_BYTE_SIZE, FORM_DATA1}, {AT_TYPE, FORM_REF4}}},
    [NO_POINTEE] = {TAG_POINTER_TYPE, false, {{AT_BYTE_SIZE, FORM_DATA1}}},
    [ARRAY] = {TAG_ARRAY_TYPE, true, {{AT_TYPE, FORM_REF4}}},
    [VECTOR] = {TAG_ARRAY_TYPE,
                true,
                {{AT_TYPE, FORM_REF4}, {AT_GNU_VECTOR, FORM_PRESENT}, {AT_BYTE_SIZE, FORM_DATA8}}},
    [RANGE] = {TAG_SUBRANGE_TYPE, false, {{AT_COUNT, FORM_DATA4}}},
    [STRUCT] = {TAG_STRUCTURE_TYPE, true, {{AT_NAME, FORM_STRING}, {AT_BYTE_SIZE, FORM_DATA8}}},
    [MEMBER] = {TAG_MEMBER,
                false,
                {{AT_NAME, FORM_STRING},
                 {AT_TYPE, FORM_REF4},
                 {AT_DATA_MEMBER_LOCATION, FORM_DATA8}}},
    [VARIABLE] = {TAG_VARIABLE,
                  false,
                  {{AT_NAME, FORM_STRING}, {AT_TYPE, FORM_REF4}, {AT_LOCATION, FORM_EXPRLOC}}},
    [PARAMETER] = {TAG_FORMAL_PARAMETER,
                   false,
                   {{AT_NAME, FORM_STRING}, {AT_TYPE, FORM_REF4}, {AT_LOCATION, FORM_EXPRLOC}}},
};

static void write_abbreviations(obj_bytes *b) {
    for (unsigned n = UNIT; n < KINDS; n++) {
        obj_uleb(b, n);
        obj_uleb(b, entries[n].tag);
        obj_u8(b, entries[n].children);
        const field *f = entries[n].fields;
        do {
            obj_uleb(b, f->attribute);
            obj_uleb(b, f->form);
        } while (f++->attribute);
    }
    obj_u8(b, 0);
}

static obj_bytes *begin(obj_file *f, kind k) {
    obj_bytes *b = &f->part[OBJ_INFO].bytes;
    obj_uleb(b, k);
    return b;
}

static void end_children(obj_file *f) { obj_u8(&f->part[OBJ_INFO].bytes, 0); }

/* ---------------------------------------------------------------------------------------- types */

static void write_number(obj_file *f, const cg_type *t) {
    obj_bytes *b = begin(f, NUMBER);
    bool is_bool = strcmp(t->name, "bool") == 0;
    obj_string(b, t->name);
    obj_u8(b, (unsigned)t->size);
    obj_u8(b, t->kind == CG_TYPE_FLOAT ? ENCODING_FLOAT
              : is_bool                ? ENCODING_BOOLEAN
                                       : ENCODING_SIGNED);
}

static void write_pointer(obj_file *f, const cg_type *t, const uint32_t *place) {
    obj_bytes *b = begin(f, t->of ? POINTER : NO_POINTEE);
    obj_u8(b, (unsigned)t->size);
    if (t->of) obj_u32(b, place[t->of - 1]);
}

static void write_array(obj_file *f, const cg_type *t, const uint32_t *place) {
    obj_bytes *b = begin(f, t->kind == CG_TYPE_VECTOR ? VECTOR : ARRAY);
    obj_u32(b, place[t->of]);
    if (t->kind == CG_TYPE_VECTOR) obj_u64(b, t->size);
    begin(f, RANGE);
    obj_u32(b, t->count);
    end_children(f);
}

static void write_struct(obj_file *f, const cg_type *t, const uint32_t *place) {
    obj_bytes *b = begin(f, STRUCT);
    obj_string(b, t->name ? t->name : "");
    obj_u64(b, t->size);
    for (uint32_t k = 0; k < t->count; k++) {
        const cg_member *m = &f->object->members.data[t->of + k];
        begin(f, MEMBER);
        obj_string(b, ir_sprintf(f->arena, "m%u", k));
        obj_u32(b, place[m->type]);
        obj_u64(b, m->at);
    }
    end_children(f);
}

/* Returns the place of each, by its number.  Types come after those that they are made of. */
static const uint32_t *write_types(obj_file *f) {
    const cg_object *o = f->object;
    uint32_t *place = ir_new_array(f->arena, uint32_t, o->types.n + 1);
    for (uint32_t n = 0; n < o->types.n; n++) {
        const cg_type *t = &o->types.data[n];
        place[n] = (uint32_t)f->part[OBJ_INFO].bytes.n;
        switch (t->kind) {
        case CG_TYPE_INT:
        case CG_TYPE_FLOAT: write_number(f, t); break;
        case CG_TYPE_POINTER: write_pointer(f, t, place); break;
        case CG_TYPE_ARRAY:
        case CG_TYPE_VECTOR: write_array(f, t, place); break;
        case CG_TYPE_STRUCT: write_struct(f, t, place); break;
        }
    }
    return place;
}

/* ------------------------------------------------------------------------------------ functions */

static void write_variable(obj_file *f, const cg_variable *v, const uint32_t *place) {
    obj_bytes *b = begin(f, v->parameter ? PARAMETER : VARIABLE);
    obj_bytes where = {.arena = f->arena};
    obj_string(b, v->name);
    obj_u32(b, place[v->type]);
    obj_u8(&where, OP_FBREG);
    obj_sleb(&where, v->at);
    if (v->is_address) obj_u8(&where, OP_DEREF);
    obj_uleb(b, where.n);
    ir_putn(b, where.data, where.n);
}

/* Variables of a function follow each other, and functions are in the same order. */
static uint32_t write_variables(obj_file *f, uint32_t symbol, uint32_t n, const uint32_t *place) {
    const cg_object *o = f->object;
    for (; n < o->variables.n && o->variables.data[n].symbol == symbol; n++)
        write_variable(f, &o->variables.data[n], place);
    return n;
}

static void write_functions(obj_file *f, const uint32_t *place) {
    const cg_object *o = f->object;
    obj_bytes *b = &f->part[OBJ_INFO].bytes;
    uint32_t variable = 0;
    for (uint32_t n = 0; n < o->symbols.n; n++) {
        const cg_symbol *s = &o->symbols.data[n];
        if (!s->function) continue;
        begin(f, FUNCTION);
        obj_string(b, s->name);
        obj_u8(b, s->exported);
        obj_address(f, OBJ_INFO, CG_TEXT, s->at);
        obj_address(f, OBJ_INFO, CG_TEXT, s->at + s->size);
        obj_uleb(b, 2); /* bytes of the frame base */
        obj_u8(b, OP_BREG0 + f->elf->sp);
        obj_sleb(b, 0);
        variable = write_variables(f, n, variable, place);
        end_children(f);
    }
}

void obj_write_info(obj_file *f) {
    write_abbreviations(&f->part[OBJ_ABBREV].bytes);
    obj_bytes *b = &f->part[OBJ_INFO].bytes;
    obj_u32(b, 0); /* length */
    obj_u16(b, VERSION);
    obj_offset(f, OBJ_INFO, OBJ_ABBREV, 0);
    obj_u8(b, 8); /* bytes of an address */
    begin(f, UNIT);
    obj_string(b, "spvfuse");
    obj_u16(b, LANG_OPENCL);
    obj_string(b, f->object->files.n ? f->object->files.data[0] : "");
    obj_offset(f, OBJ_INFO, OBJ_LINE, 0);
    obj_address(f, OBJ_INFO, CG_TEXT, 0);
    obj_address(f, OBJ_INFO, CG_TEXT, f->object->size[CG_TEXT]);
    write_functions(f, write_types(f));
    end_children(f);
    obj_set_u32(b, 0, (uint32_t)b->n - 4);
}
