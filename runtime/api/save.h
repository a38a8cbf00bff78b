/* save.h — plans that repeat what a program has fused and launched, in the folder of SPVFUSE_SAVE,
 * or in memory, where a context remembers them (past.c). */
#ifndef SPVFUSE_RUNTIME_SAVE_H
#define SPVFUSE_RUNTIME_SAVE_H

#include "runtime/api/runtime.h"

typedef struct rt_past_plan rt_past_plan;

typedef struct {
    const ir_module *module;
    const char *file; /* that has its text */
} rt_saved_module;

/* A plan that is being written.  Memory comes from malloc, whatever the user's context says. */
typedef struct {
    spvf_context *context; /* of messages */
    bool is_plan;          /* otherwise it is a source */
    ir_arena arena;
    ir_text comments, declarations, launches;
    uint64_t place; /* where it comes from: another one of the same place replaces it */
    ir_vec(rt_saved_module) modules; /* of the launches so far */
    rt_past_plan *past;              /* where it goes; NULL: into the folder */
} rt_save;

/* Is there a folder? */
bool rt_saves(void);
/* Has this number not been asked about before?  So what happens often is saved once; now and then
 * it is saved again. */
bool rt_save_is_new(uint64_t number);
/* Lets `write` fill a plan and puts it into the folder, under "KIND-NAME-…".  What keeps it from
 * that is a warning.  With `replaces`, in place of one that has been written of the same place. */
typedef struct {
    const char *kind, *name;
    bool in_folder; /* it goes there, */
    rt_past *past;  /* and into this memory, or NULL */
    bool numbered;  /* with SPVFUSE_SAVE_ALL: there may be others like it */
    bool replaces;
    void (*write)(rt_save *s, void *arg);
    void *arg;
} rt_save_request;
void rt_save_plan(spvf_context *context, const rt_save_request *request);

/* Saves what a module is about to be read from. */
void rt_save_source(spvf_context *context, const rt_source *source,
                    const spvf_module_options *options);

/* ----------------------------------------------------------------------- for `write`, which may throw */

/* Letters, digits and "_" in place of others, as file systems and plans take them. */
const char *rt_save_plain_name(rt_save *s, const char *name);
void rt_save_comment(rt_save *s, const char *fmt, ...) IR_PRINTF(2, 3);
/* Memory that a kernel is given. */
typedef struct {
    ir_type element;      /* what its pointer leads to; IR_VOID: unknown */
    uint64_t bytes;       /* more than 0 */
    const void *contents; /* NULL: not known */
    bool undefined;       /* it has no contents yet */
    const char *internal; /* what a plan says of it besides, or "" */
} rt_saved_buffer;
/* Are contents of so many bytes to be saved?  Otherwise they need not be read. */
bool rt_save_takes_contents(const rt_save *s, uint64_t bytes);
/* Declares a buffer by the name that its number makes. */
void rt_save_buffer(rt_save *s, uint32_t number, const rt_saved_buffer *b);
/* Declares a value likewise. */
void rt_save_value(rt_save *s, uint32_t number, const void *bytes, size_t size);
/* Puts the module where the plan goes, if it is not there; the name of its file. */
const char *rt_save_module(rt_save *s, const ir_module *m);
/* Begins a launch, whose module is put there, too; arguments and the end of the line follow.
 * Uneven: the last work-groups may be smaller. */
void rt_save_launch(rt_save *s, const ir_func *kernel, const spvf_range *range, bool uneven);
/* Each argument in turn: "b1", "v2", "local 64".  Those of one struct are in braces, and plans do
 * not say what is between its members. */
void rt_save_arg(rt_save *s, const ir_func *kernel, uint32_t param, const char *text);

/* Saves what spvf_fuse was asked for. (save_fusion.c) */
void rt_save_fusion(spvf_context *context, const spvf_fuse_options *options,
                    const pass_fuse_request *request);

/* ---------------------------------------------------------------------------------------- files */

typedef struct {
    const char *name; /* in the folder */
    const void *data;
    size_t size;
    bool replaces;
} rt_save_file;
/* Under its name there is the whole file, or none.  False: errno says why. */
bool rt_save_write(const char *folder, const rt_save_file *f);

/* --------------------------------------------------------------------------------- past (past.c) */

/* As remember, remember_contents and remember_bytes say; NULL: no memory.  With a reference; any
 * thread may add plans. */
rt_past *rt_past_new(const spvf_context_options *o);
void rt_past_retain(rt_past *p); /* NULL: nothing happens, as for the next one */
void rt_past_release(rt_past *p);
/* A plan that is to be ended or dropped; NULL: no memory. */
rt_past_plan *rt_past_begin(rt_past *past);
void rt_past_end(rt_past_plan *p, const char *name, const char *text, size_t size);
void rt_past_drop(rt_past_plan *p);
/* Contents of larger buffers are not remembered. */
uint64_t rt_past_most_of_buffer(const rt_past_plan *p);
/* A file that the plan names.  False: there is no room for it. */
bool rt_past_add(rt_past_plan *p, const char *name, const void *data, size_t size);
/* The name of the file with the text of a module, which the plan names then; NULL: there is
 * none. */
const char *rt_past_module(rt_past_plan *p, uint64_t module, ir_arena *a);
void rt_past_note_module(rt_past_plan *p, uint64_t module, const char *name);

#endif
