/* save.h — plans that repeat what a program has fused and launched, in the folder of SPVFUSE_SAVE. */
#ifndef SPVFUSE_RUNTIME_SAVE_H
#define SPVFUSE_RUNTIME_SAVE_H

#include "runtime/api/runtime.h"

/* A plan that is being written.  Memory comes from malloc, whatever the user's context says. */
typedef struct {
    spvf_context *context; /* of messages */
    ir_arena arena;
    ir_text comments, declarations, launches;
    uint64_t place;          /* where it comes from: another one of the same place replaces it */
    const ir_module *module; /* of the last launch, */
    const char *module_file; /* and its file */
} rt_save;

/* Is there a folder? */
bool rt_saves(void);
/* Has this number not been asked about before?  So what happens often is saved once; now and then
 * it is saved again. */
bool rt_save_is_new(uint64_t number);
/* Lets `write` fill a plan and puts it into the folder, under "KIND-NAME-…".  What keeps it from that is a
 * warning.  With `replaces`, in place of one that has been written of the same place. */
typedef struct {
    const char *kind, *name;
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
bool rt_save_takes_contents(uint64_t bytes);
/* Declares a buffer by the name that its number makes. */
void rt_save_buffer(rt_save *s, uint32_t number, const rt_saved_buffer *b);
/* Declares a value likewise. */
void rt_save_value(rt_save *s, uint32_t number, const void *bytes, size_t size);
/* Begins a launch, and puts its module into the folder; arguments and the end of the line follow.
 * Uneven: the last work-groups may be smaller. */
void rt_save_launch(rt_save *s, const ir_func *kernel, const spvf_range *range, bool uneven);
/* Each argument in turn: "b1", "v2", "local 64".  Those of one struct are in braces, and plans do not
 * say what is between its members. */
void rt_save_arg(rt_save *s, const ir_func *kernel, uint32_t param, const char *text);

/* Saves what spvf_fuse was asked for. (save_fusion.c) */
void rt_save_fusion(spvf_context *context, const spvf_fuse_options *options,
                    const pass_fuse_request *request);

#endif
