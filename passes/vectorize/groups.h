/* groups.h — accesses that are done together: members of structures, and elements of rows. */
#ifndef SPVFUSE_PASSES_GROUPS_H
#define SPVFUSE_PASSES_GROUPS_H

#include "passes/vectorize/simd.h"

enum { SIMD_MAX_MEMBERS = 16, SIMD_MAX_ACCESSES = 32 };

/* Accesses of one block to the k elements of each item; those of the next item follow.  They are
 * the members of a structure, neighbours in an array, or components of vectors, and are done
 * together, where the first of the loads is, or the last of the stores. */
typedef struct simd_group {
    bool is_store;
    bool is_apart; /* items have k elements each, anywhere */
    unsigned k;    /* elements from one item to the next */
    ir_type element;
    ir_inst *at;     /* the access that the others are done with */
    int64_t first;   /* bytes from its address to element 0 */
    uint32_t wanted; /* the elements that are accessed, as bits */
    ir_inst *access[SIMD_MAX_ACCESSES];
    int64_t offset[SIMD_MAX_ACCESSES]; /* bytes from the address of access[0] */
    unsigned n;
    uint32_t begin; /* the number of writes before access[0] */
    bool is_done;
} simd_group;

/* Finds the groups of all blocks. */
void simd_find_groups(simd *s);
/* Shuffles for each register of an access to a member of a structure, about. */
unsigned simd_shuffles_of(const simd *s, const ir_inst *i);
/* Does the accesses of the group of i, if i is the one that they are done with. (members.c) */
void simd_access_members(simd *s, const ir_inst *i, const simd_node *n);

/* The lanes of a block, `active` as integers with all bits or none, or NULL for all. */
typedef struct {
    unsigned first, lanes;
    ir_inst *active;
} simd_tile;
/* The members of a group of lanes that are apart, by rows that become columns.  (tiles.c) */
void simd_load_tile(simd *s, const simd_group *g, const simd_tile *of, const simd_node *n,
                    ir_inst **out);
/* Is it a load whose lanes may be anywhere, at least not next to each other? */
bool simd_has_far_lanes(const simd *s, const ir_inst *i);
/* The elements that a row has at most. */
unsigned simd_tile_limit(const simd *s, unsigned bytes);

#endif
