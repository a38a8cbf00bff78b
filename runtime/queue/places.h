/* places.h — the memory that members of a chain are given: what is the same, and what overlaps. */
#ifndef SPVFUSE_RUNTIME_PLACES_H
#define SPVFUSE_RUNTIME_PLACES_H

#include "runtime/queue/chain.h"

/* Memory that links are given, at one address. */
typedef struct {
    const rt_chain_arg *arg;
    uint32_t member, param; /* one that writes, if there is one */
    uintptr_t begin, end;   /* what can be reached */
    uintptr_t low, high;    /* what is accessed, as far as that is known */
    bool writes;
    bool internal; /* all that are given this address are */
} chain_place;

typedef struct {
    ir_arena *arena;
    ir_vec(chain_place) list;
    ir_vec(spvf_identity) identities, overlaps;
} chain_places;

/* Adds the memory that a link is given.  `kernel`, the description that the fusion goes by, says
 * what is written; `reach`, by argument, what is accessed, or NULL. */
void chain_add_places(chain_places *to, const rt_chain_link *l, const spvf_kernel_info *kernel,
                      uint32_t member, const pass_reach *reach);
/* When all are added: finds parameters that are given the same address, each of which is one place
 * from here on, and pairs that access the same memory from different addresses, if one of the two
 * is written.  One of these is enough to refuse a fusion, so not all are listed. */
void chain_compare_places(chain_places *p);

/* Gives a fused kernel what its code takes for granted; `reach` is what was found of each of its
 * links, or NULL.  Throws. (chain_facts.c) */
void chain_keep_facts(spvf_context *c, const rt_chain_link *links, rt_chain_kernel *k,
                      pass_reach *const *reach);
void chain_facts_free(rt_chain_facts *f);

#endif
