/* unit.h — a module on its way to an object: what the stages of native code do with each function,
 * and what they leave for the sections.
 *
 * All functions of a module share one piece of code and its constants, so that they reach each
 * other by distances.  Globals lie in sections of their own, which the code refers to by symbols.
 *
 *   compile.c      the stages, in order
 *   select.c       instruction selection: the walk (select.h)
 *   blocks.c       the order of blocks (emit.h)
 *   lines.c        lines of the source (emit.h)
 *   frame.c        places in the frame (emit.h)
 *   stack_need.c   how much stack functions need
 *   sections.c     labels, globals, code, symbols, relocations and lines
 */
#ifndef SPVFUSE_CODEGEN_NATIVE_UNIT_H
#define SPVFUSE_CODEGEN_NATIVE_UNIT_H

#include "codegen/native/image.h"
#include "codegen/native/native.h"

/* A frame whose symbol is not known yet. */
typedef struct {
    const ir_func *func;
    cg_frame frame;
    uint64_t bytes;      /* of stack, without what it calls */
    uint32_t calls, end; /* its part of cg_unit.calls */
} cg_open_frame;

/* Code from a label on was made of the line at the module's `loc`. */
typedef struct {
    uint32_t label, loc;
    bool prologue_end;
} cg_open_line;

/* A variable of a frame that a debugger reads. */
typedef struct {
    const ir_func *func;
    const ir_shown *shown;
    uint32_t at;
} cg_open_variable;

typedef struct cg_unit cg_unit;

/* A native target, at one of its levels. */
typedef struct {
    const cg_target *registers;
    bool lacks_count; /* see cg_legalize */
    /* From level `group` to `machine`. */
    bool (*select)(const cg_target *t, ir_func *f, const cg_options *o, ir_arena *scratch);
    /* Appends the code of an allocated function. */
    bool (*emit)(cg_unit *u, ir_func *f, const cg_allocation *a);
    /* A new label of the code; binds one to the place that the code has reached. */
    uint32_t (*new_label)(cg_unit *u);
    void (*bind)(cg_unit *u, uint32_t label);
    /* The bytes of all code.  False: a distance does not fit its field. */
    bool (*finish)(cg_unit *u, cg_image *out);
} cg_native;

/* The target's writer begins with one. */
struct cg_unit {
    const cg_native *target;
    cg_object *object;
    ir_arena *arena;
    ir_map label_of;  /* of functions and globals, by address: label + 1 */
    ir_map symbol_of; /* of the same: symbol + 1 */
    ir_vec(cg_open_frame) frames;
    ir_vec(const ir_func *) calls; /* callees, by caller; NULL: a function of the launch's */
    const ir_module *module;       /* that is compiled */
    bool want_lines;
    ir_vec(cg_open_line) lines;
    uint32_t loc;           /* of the last one, in this function */
    uint32_t prologue_left; /* instructions of its prologue that have no code yet */
    bool prologue_ends;     /* at the next line */
    ir_map number_of_file;  /* by address of the name: number + 1 */
    ir_vec(cg_open_variable) variables;
    ir_text *listing; /* of the function that is emitted, or NULL */
    bool assembly;    /* it names labels, which the object keeps */
};

/* Compiles m.  The target has filled in *u, including the fields that its own writer adds.  False
 * after a reported error. */
bool cg_compile_unit(cg_unit *u, ir_module *m, const cg_options *options);
/* The label of a function or global. (sections.c) */
uint32_t cg_label_of(cg_unit *u, const void *what);
/* The symbol of the same, when it has been placed. */
static inline uint32_t cg_symbol_of(const cg_unit *u, const void *what) {
    uintptr_t n = (uintptr_t)ir_map_get(&u->symbol_of, (uintptr_t)what);
    assert(n && "every function and global has a symbol");
    return (uint32_t)n - 1;
}
/* Says that private memory has more than `most` bytes, and where the source asks for them. */
void cg_refuse_frame(const ir_func *f, uint32_t most);

/* The number of a file in the object; files get numbers as they are met. (lines.c) */
uint32_t cg_number_file(cg_unit *u, const char *name);

/* Adds the variables that debuggers read, with their types. (variables.c) */
void cg_place_variables(cg_unit *u, const ir_module *m);

/* Fills in cg_frame.stack of all frames. (stack_need.c) */
void cg_measure_stacks(cg_unit *u);

/* Puts a module's globals and code into the sections of the object. (sections.c) */
void cg_place_module(cg_unit *u, const ir_module *m, const cg_image *image);

#endif
