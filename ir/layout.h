/* layout.h — what the types of a module do not say about structs that kernels take by value.
 *
 * SYCL compilers pass what a kernel captures as one struct, its closure.  A module may hold
 * declarations about such structs: which types and members are special, so that a function of the
 * module makes them on the device, and what the bytes of one struct are.  The text form of these is
 * part of that of modules (docs/IR.md); pass `closures` reads them and takes them out.
 */
#ifndef SPVFUSE_IR_LAYOUT_H
#define SPVFUSE_IR_LAYOUT_H

#include "ir/ir.h"

typedef enum {
    IR_MEMBER_VALUE,  /* of a type */
    IR_MEMBER_BYTES,  /* of a union or of bit-fields: bytes without a type */
    IR_MEMBER_SPECIAL /* made by a function */
} ir_member_kind;

/* A special is initialized by `init`, which takes its address and then what is given in its place,
 * and ended by `finalize`, which takes its address; NULL: it has no end. */
typedef struct {
    ir_member_kind kind;
    const char *name; /* or NULL */
    uint64_t offset;  /* in bytes */
    uint64_t size;    /* in bytes; 0 for a value, whose type says it */
    ir_type type;     /* of a value */
    const char *init, *finalize;
    bool specialized; /* code is made for its value */
} ir_layout_member;

/* The bytes of a parameter, in ascending order of offsets.  Bytes that are not named are
 * padding. */
typedef struct {
    const char *kernel;
    uint32_t param; /* as the kernel is read */
    uint64_t size;
    ir_vec(ir_layout_member) members;
} ir_layout_closure;

/* All members of a structure type.  Types with the same members are one type. */
typedef struct {
    const char *type; /* the name of the structure */
    const char *init, *finalize;
} ir_layout_special;

struct ir_layout {
    bool values;   /* structs stay as they are, and specials get parameters after them */
    bool spill;    /* what does not fit `area` is in a buffer */
    bool drop;     /* members that are not used need no parameter */
    uint64_t area; /* bytes that all parameters of a kernel may have; 0: any number */
    ir_vec(ir_layout_special) specials;
    ir_vec(ir_layout_closure) closures;
};

/* That of the module, an empty one at first. (parse_layout.c) */
ir_layout *ir_layout_of(ir_module *m);
/* Adds the declarations of a text to the layout of m; false after errors have been reported. */
bool ir_parse_layout(ir_module *m, const char *file, const char *text, size_t n);
/* The type of a member, as text; IR_VOID after an error has been reported. */
ir_type ir_parse_member_type(ir_module *m, const char *text);
/* The declarations as text. (print_layout.c) */
void ir_print_layout(ir_text *out, const ir_module *m);

#endif
