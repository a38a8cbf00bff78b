/* chain.h — launches that follow each other, and which of them can be one kernel.
 *
 * The graphs of spvfuse_queue.h and the command buffers of OpenCL are both chains of launches.  A
 * chain is divided from the first link to the last: links that follow each other are taken together
 * as long as the whole can be fused. */
#ifndef SPVFUSE_RUNTIME_CHAIN_H
#define SPVFUSE_RUNTIME_CHAIN_H

#include "runtime/api/runtime.h"

/* What a kernel is given. */
typedef struct {
    /* A buffer: some memory, an address in it, and the addresses that can be reached from there. */
    const void *memory; /* NULL: it is no buffer */
    uintptr_t address, begin, end;
    bool internal;        /* the contents are not needed before or after the chain */
    spvf_promote promote; /* internal: what the buffer may become */
    /* A value, or, with `bytes` NULL, local memory. */
    const void *bytes;
    size_t size;
    bool variable; /* the value is no constant of the code, whatever the chain says of values */
} rt_chain_arg;

typedef struct {
    const spvf_module *module; /* that has the kernel; it stays as it is */
    const spvf_kernel_info *kernel;
    spvf_range range;
    const rt_chain_arg *args; /* one per parameter */
    bool alone;               /* it is not to be fused */
} rt_chain_link;

typedef struct rt_chain_facts rt_chain_facts; /* about arguments (chain_facts.c) */

typedef struct {
    uint32_t first, count;     /* links */
    spvf_fusion *fusion;       /* NULL: one link by itself */
    rt_chain_facts *facts;     /* that the code of a fused kernel takes for granted */
    spvf_explanation *refusal; /* why the next link is no part of it, or NULL */
    void *made;                /* of a fused kernel, by `make`; or NULL */
    void (*drop)(void *made);
} rt_chain_kernel;

typedef struct {
    const rt_chain_link *links;
    uint32_t count;
    spvf_fuse_options options; /* without what is said of members and arguments */
    bool constants;            /* values become constants of the code */
    bool sizes;   /* so do integers in closures: where accessors begin, and how long they are */
    bool unfused; /* no link is fused */
    /* Makes k->made, a fused kernel that is ready to run.  It throws when the device cannot run it
     * (rt_can_run): then links are refused, and what has been made is dropped. */
    void (*make)(void *user, rt_chain_kernel *k);
    void (*drop)(void *made);
    void *user;
} rt_chain;
void rt_chain_kernel_free(rt_chain_kernel *k);

/* In the dimensions that both have; what their padding holds is no part of it. */
bool rt_is_same_range(const spvf_range *a, const spvf_range *b);

/* Divides a chain.  `kernels` has room for one per link; what is in there is the caller's, also
 * after an error.  SPVF_ERROR_REFUSED: strict options do not let it be divided. */
spvf_status rt_chain_divide(spvf_context *context, const rt_chain *chain, rt_chain_kernel *kernels,
                            uint32_t *count);

/* Why a fused kernel is not what k->count links of the same kernels with other arguments would
 * become; `member` is the one it is about.  NULL: it can run for them as well. */
const char *rt_chain_misfit(spvf_context *context, const rt_chain_kernel *k,
                            const rt_chain_link *links, uint32_t *member);

#endif
