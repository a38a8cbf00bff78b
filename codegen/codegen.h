/* codegen.h — IR out: what the targets offer to the runtime. */
#ifndef SPVFUSE_CODEGEN_H
#define SPVFUSE_CODEGEN_H

#include "ir/ir.h"
#include "ir/launch.h"
#include "ir/pack.h"
#include "ir/rule_types.h"
#include "ir/target.h"

typedef struct {
    unsigned version; /* as in SPIR-V's header, 0x00010000 (1.0) to 0x00010400; 0: 1.2, or newer
                         when the module uses what 1.2 does not have */
    bool no_names;    /* leave out OpName */
    bool no_lines;    /* leave out OpLine */
} cg_spirv_options;

/* Writes the module as Kernel SPIR-V that spirv-val accepts.  *words lie in `out`.  False after a
 * reported error: something that this version of SPIR-V cannot say. */
bool cg_spirv_write(const ir_module *m, const cg_spirv_options *options, ir_arena *out,
                    uint32_t **words, size_t *count);

/* ------------------------------------------------------------------------------------- PTX (ptx/) */

typedef struct {
    unsigned sm;      /* the processor, as cg_ptx_version_of knows it */
    bool exact;       /* quotients and roots of f32 are correctly rounded */
    bool offset;      /* kernels have parameters for the global offset, which is 0 otherwise */
    bool wide;        /* global ids and sizes may be 2^32 and more along a dimension */
    bool disjoint;    /* no two pointers that a kernel is given lead to the same memory */
    bool aligned;     /* the memory of each such pointer begins at a multiple of 16 bytes */
    bool together;    /* all groups of a launch run at once, so that they can wait for each other */
    bool dependent;   /* a kernel may begin before those that it depends on have ended: it waits for
                         them (programmatic dependent launch, from sm_90 on) */
    unsigned coarsen; /* work-items that a thread may run; 0: one */
    unsigned threads; /* that a work-group may have at most; 0: what registers leave room for */
} cg_ptx_options;
enum { CG_PTX_MOST_THREADS = 1024 };
enum { CG_PTX_ALIGN = 16, CG_PTX_DEPENDENT_SM = 90 };

/* The least version of PTX that knows processor sm_N, times 10; 0: none does, or none is
 * written. */
unsigned cg_ptx_version_of(unsigned sm);
ir_target cg_ptx_target(const cg_ptx_options *options);
/* Adds the module as PTX, whose kernels are code of work-items that has been lowered for that
 * target.  Throws after a reported error: something that cannot be written. */
void cg_ptx_write(const ir_module *m, const cg_ptx_options *options, ir_arena *out, ir_text *text);
/* The parameters that follow those of such a kernel, in this order. */
typedef struct {
    bool offset;        /* the global offset, three numbers of 64 bits */
    bool work_dim;      /* the number of dimensions, 32 bits */
    uint64_t variables; /* no parameter: bytes of the kernel's own variables, if these begin the
                           dynamic part of local memory */
} cg_ptx_hidden;
cg_ptx_hidden cg_ptx_hidden_of(const ir_func *kernel, const cg_ptx_options *options,
                               ir_arena *scratch);
/* The identifier of a name of the module. */
const char *cg_ptx_name(ir_arena *out, const char *name);

/* Code for what CPUs have no instruction for, by operation and type: "sin.f32". (math/) */
extern const ir_pack cg_math_library;

/* ------------------------------------------------------------------------------------- native code
 *
 * What a native target makes of a module: bytes by section, and what is to be known to place them
 * in memory or in an object file.  All of it lies in one arena. */

typedef enum { CG_TEXT, CG_RODATA, CG_DATA, CG_SECTIONS } cg_section;

typedef struct {
    const char *name; /* unique within the object */
    cg_section section;
    uint32_t at, size; /* bytes from the start of the section */
    bool function, exported;
} cg_symbol;

typedef enum {
    CG_PC32, /* four bytes: symbol + addend - place */
    CG_ABS64 /* eight bytes: symbol + addend */
} cg_reloc_kind;

typedef struct {
    cg_section section;
    cg_reloc_kind kind;
    uint32_t at; /* place, bytes from the start of the section */
    uint32_t symbol;
    int64_t addend;
} cg_reloc;

/* Code from `at` on was made of that place in file `file` of the object; ascending. */
typedef struct {
    uint32_t at, file, line, column; /* line 0: not known */
    bool prologue_end;               /* where debuggers stop that are asked for the function */
} cg_line;

/* A type as debuggers know them; `of` is the number of another one. */
typedef enum {
    CG_TYPE_INT,
    CG_TYPE_FLOAT,
    CG_TYPE_POINTER,
    CG_TYPE_ARRAY,
    CG_TYPE_VECTOR,
    CG_TYPE_STRUCT
} cg_type_kind;
typedef struct {
    cg_type_kind kind;
    const char *name; /* of numbers and structs */
    uint64_t size;
    uint32_t of; /* pointee + 1, 0: not known; element; first of the members in cg_object.members */
    uint32_t count; /* of elements or members */
} cg_type;
typedef struct {
    uint32_t type;
    uint64_t at;
} cg_member;

/* What a debugger reads at a place in the frame of a function. */
typedef struct {
    uint32_t symbol;
    const char *name;
    uint32_t type;
    uint32_t at; /* bytes above the stack pointer */
    bool is_address, parameter;
} cg_variable;

enum { CG_GENERAL, CG_VECTOR, CG_MASK, CG_CLASSES }; /* registers of a machine */

/* How a function keeps what is its caller's.  Every function begins by pushing the frame pointer,
 * below the return address, and sets it to the stack pointer then.  The other registers that it
 * saves lie below, and are in place at the end of the `prologue`. */
typedef struct {
    uint32_t symbol;
    uint32_t before;               /* bytes of code before that push */
    uint32_t prologue;             /* bytes of code, with those */
    uint64_t stack;                /* bytes that the function and all that it calls need at most */
    uint8_t registers[CG_CLASSES]; /* by class: how many the function writes */
    uint32_t nsaved;
    struct {
        uint8_t reg;   /* DWARF's number */
        int32_t below; /* bytes from the frame pointer down to it */
    } saved[16];
} cg_frame;

typedef struct {
    ir_arg_kind kind; /* how args[n] is read, see ir/launch.h */
    uint32_t size,
        align;        /* IR_ARG_VALUE: bytes; IR_ARG_LOCAL: what the address must be aligned to */
    const char *name; /* or NULL */
} cg_arg;

/* A place that the listing names: .L and the number. */
typedef struct {
    uint32_t number;
    cg_section section;
    uint32_t at;
} cg_label;

typedef struct {
    const char *name;
    uint32_t entry, block; /* symbols */
    uint32_t nargs;
    const cg_arg *arg;
    ir_group_need need;
    ir_phases phases;       /* their two arguments are not among `arg` */
    uint32_t local_size[3]; /* that the code is made for; all 0: for any */
    uint64_t stack;         /* bytes that a call of it needs at most */
    uint32_t unused;        /* bit n: code uses nothing of argument n */
    uint32_t item_steps;    /* instructions of an item; 0: it loops, so the number is not known */
} cg_kernel;

typedef struct {
    uint8_t *bytes[CG_SECTIONS];
    uint32_t size[CG_SECTIONS], align[CG_SECTIONS];
    uint32_t room[CG_SECTIONS]; /* bytes for which memory is allocated; 0: as many as `size` */
    ir_vec(cg_symbol) symbols;
    ir_vec(cg_reloc) relocs;
    ir_vec(cg_line) lines; /* none, unless they were asked for */
    ir_vec(const char *) files;
    ir_vec(cg_frame) frames;
    ir_vec(cg_variable) variables; /* by function, like `types` and `members` only for debuggers */
    ir_vec(cg_type) types;
    ir_vec(cg_member) members;
    ir_vec(cg_kernel) kernels;
    /* Of functions, constants and globals; none, unless assembly was asked for. */
    ir_vec(cg_label) labels;
    bool stopped; /* as cg_options.stop_after says: nothing else is known */
} cg_object;

/* The place of `bytes` more bytes of a section, at the next multiple of `align`.  Throws
 * IR_ERR_LIMIT if the section would have more than INT32_MAX bytes.  (object/object_table.c) */
uint32_t cg_next_place(const cg_object *o, cg_section s, uint64_t bytes, uint32_t align,
                       ir_ctx *cx);

/* How registers are given to values. */
typedef enum {
    CG_REGALLOC_FAST, /* spilling, then assignment in SSA form */
    CG_REGALLOC_STACK /* every value in a slot of its own: the simplest thing that is right */
} cg_regalloc;

typedef struct {
    cg_regalloc how;
    uint64_t seed; /* not 0: choices that do not matter are made at random */
    bool check;    /* prove the result */
} cg_regalloc_options;

typedef struct {
    unsigned level; /* of the machine (cg_level) */
    unsigned lanes; /* as in pass_options */
    cg_regalloc_options regalloc;
    /* For each rule of selection and type that it was used for (ir/rule_types.h), a bit for each
     * type of the result; or NULL. */
    uint32_t (*rule_hits)[IR_TYPE_NUMBERS];
    bool trace_rules; /* a note for every rule that is used */
    bool lines;       /* fill cg_object.lines */
    bool assembly;    /* the listing is for cg_write_assembly: addresses are labels */
    ir_text *listing; /* gets the code as text, a function after the other; or NULL */
    /* The stage after which no more is done with a function (ir_names_stage), or NULL: the listing
     * has each as it is then, and nothing becomes an object. */
    const char *stop_after;
} cg_options;

/* A stage of native code: what is done with each function, in the order of the table
 * (native/stages.def). */
typedef struct cg_func_job cg_func_job;
typedef struct {
    const char *name, *doc;
    bool (*run)(cg_func_job *j); /* false after a reported error */
} cg_stage;
extern const cg_stage cg_stages[];
extern const unsigned cg_stage_count;

/* ------------------------------------------------------------------------ object files (object*.c)
 *
 * A linkable ELF file of an object: same object and options, same bytes. */

/* What an object file says of a machine. */
typedef struct {
    uint16_t machine;            /* e_machine */
    uint32_t pc32, abs32, abs64; /* types of relocations */
    uint32_t unwind;             /* type of the section .eh_frame */
    uint8_t sp, fp, ra;          /* DWARF's numbers of registers */
    bool ra_in_register;         /* a call leaves the return address in register ra, and the push of
                                    fp keeps it above; otherwise the call pushes it */
    uint8_t push, move;          /* bytes of the instructions that keep fp, and set it to sp */
} cg_elf;

typedef struct {
    const cg_elf *elf;
    bool lines; /* .debug_line, and what makes debuggers read it */
    /* Not NULL: the sections are in memory, at these addresses: a file for a debugger to look at,
     * whose sections are placed and whose contents are not relocated. */
    const uint64_t *address;
} cg_file_options;

/* The file lies in `out`. */
void cg_write_object(const cg_object *o, const cg_file_options *options, ir_arena *out,
                     uint8_t **bytes, size_t *size);

typedef struct {
    const char *listing;     /* of all functions, made with cg_options.assembly */
    const char *begin, *end; /* cg_machine.listing_begin and listing_end */
    cg_file_options file;
} cg_assembly;
/* The same as text for an assembler.  (object_assembly.c) */
void cg_write_assembly(const cg_object *o, const cg_assembly *assembly, ir_text *out);
/* A name as assemblers read it. */
void cg_put_symbol(ir_text *out, const char *name);

/* Adds to the data an exported array `name`: an ir_kernel_entry per kernel, and an empty one. */
void cg_add_kernel_table(cg_object *o, const char *name, ir_arena *arena);
/* Adds what the object was made of. */
void cg_add_origin(cg_object *o, const ir_object_origin *origin, ir_arena *arena);

/* --------------------------------------------------------------- machines (targets.def, targets.c)
 *
 * Everything that the library knows of a machine that code is made for: a row of targets.def names
 * it, a file in the machine's folder fills it in. */

/* What processors of a kind have in common; later ones have all that earlier ones have. */
typedef struct {
    const char *name; /* "v3", in lists of options */
    unsigned number;  /* cg_options.level */
} cg_level;

/* The machine that this process runs on. */
typedef struct {
    /* The highest level that processor and system have; 0: none.  Any thread may ask. */
    unsigned (*detect)(void);
    unsigned (*vendor)(void); /* as pass_reflection has it; NULL: not known */
    /* Sets rounding and denormals as kernels expect them, and returns the caller's setting;
     * leave_float restores it. */
    unsigned (*enter_float)(void);
    void (*leave_float)(unsigned before);
    void (*relax)(void); /* in loops that wait for another thread */
    /* Calls run(arg) with the stack pointer at `top`. */
    void (*call_on_stack)(void *top, void (*run)(void *arg), void *arg);
} cg_host;

typedef struct {
    const char *name;       /* of the target: "x86_64" */
    const char *title;      /* in messages: "x86-64" */
    const cg_level *levels; /* nlevels, ascending */
    unsigned nlevels;
    unsigned default_level; /* of what is made for other machines */
    ir_target (*describe)(unsigned level);
    /* Compiles the functions of level `group`, which are good for nothing else afterwards.  Kernels
     * are for the caller to fill in.  False after a reported error. */
    bool (*compile)(ir_module *m, const cg_options *options, ir_arena *arena, cg_object *out);
    /* Rule n of instruction selection; NULL: there are fewer. */
    const ir_rule_info *(*rule_info)(unsigned n);
    const cg_elf *elf;
    /* Directives of an assembler before the listing and after it; NULL: no assembler reads it. */
    const char *listing_begin, *listing_end;
    /* Turns an object into one for DPC++'s Native CPU.  Each kernel K gets a function K, also named
     * K.SYCLNCPU, with the parameters (void *const *args, state *), which runs the work-group of
     * the state.  The exported array `__sycl_native_cpu_decls` lists them as {name, function}, and
     * ends with {"__nativecpu_end", 0}.  What was K becomes the local symbol K.group.  NULL: the
     * machine has no such ABI. */
    void (*add_nativecpu)(cg_object *o, ir_arena *arena);
    const cg_host *host; /* NULL: this library does not run there */
} cg_machine;

extern const cg_machine *const cg_machines[];
extern const unsigned cg_machine_count;
/* The machine whose name is the first n characters; NULL: there is none. */
const cg_machine *cg_find_machine(const char *name, size_t n);
/* The machine that this process runs on; NULL: code is not made for it. */
const cg_machine *cg_host_machine(void);
/* "v3"; "?" for a number that no level has. */
const char *cg_level_name(const cg_machine *m, unsigned level);

#endif
