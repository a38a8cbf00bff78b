/* alias.h — which addresses of one function may lead to the same memory (alias.c).
 *
 * An address is an object and an offset.  The object is the parameter, variable or other value that
 * remains without steps and casts; the offset is a sum.  Two addresses with a common base are
 * compared by their sums, all others by their objects.  Results are valid until the code changes;
 * no analysis changes IR. */
#ifndef SPVFUSE_ALIAS_H
#define SPVFUSE_ALIAS_H

#include "passes/analysis/analysis.h"

/* --------------------------------------------------------------------------------------- places */

/* The decomposition of an address. */
typedef struct {
    const ir_inst *object; /* what remains of it without steps and casts */
    const ir_inst *base;   /* the object, or an address on the way beyond which sums are too long */
    pass_affine offset;    /* in bytes, from base */
} pass_place;

/* Values that are added after pass_alias_begin are objects of unknown origin.  The function must
 * not gain other uses of addresses. */
typedef struct pass_alias {
    const ir_func *f;
    ir_arena *scratch;
    const pass_place **place; /* by value id; NULL: the value is its own object */
    bool *escapes;            /* by value id of an object: other addresses may be made from it */
    uint32_t n;
} pass_alias;

void pass_alias_begin(pass_alias *a, ir_func *f, ir_arena *scratch);
/* The same of blocks in an order that was found before others were added. */
void pass_alias_begin_in(pass_alias *a, ir_func *f, const ir_order *order, ir_arena *scratch);
pass_place pass_find_place(const pass_alias *a, const ir_inst *p);
const ir_inst *pass_object_of(const pass_alias *a, const ir_inst *p);
/* A stack variable or a struct by value: memory that ends with the function. */
bool pass_is_variable(const ir_func *f, const ir_inst *object);
/* Can no other address be made from the object's address, so that every access of it is known? */
bool pass_is_closed(const pass_alias *a, const ir_inst *object);
/* How many bytes after p is q?  False: that is not known, or not one number. */
bool pass_find_step(const pass_alias *a, const ir_inst *p, const ir_inst *q, int64_t *bytes);
/* Does the first range of bytes certainly contain the second?  A size of UINT64_MAX is unknown. */
bool pass_covers(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                 uint64_t q_size);

/* ------------------------------------------------------------------------- relations and lines */

/* The relation of an address q to an address p, whatever constants are added to both. */
typedef enum {
    PASS_UNRELATED, /* not computed yet */
    PASS_APART,
    PASS_UNKNOWN_PLACE,
    PASS_AT_DISTANCE /* the low `bits` of q - p are those of the constants' difference */
} pass_how_related;
typedef struct {
    uint8_t how;  /* pass_how_related */
    uint8_t bits; /* unless exact, a multiple of 2^bits may be added to the distance */
    bool exact;
} pass_relation;
pass_relation pass_relate(const pass_alias *a, const ir_inst *p, const ir_inst *q);
/* `distance` is the constant of q minus that of p. */
bool pass_may_overlap_at(const pass_relation *r, uint64_t distance, uint64_t p_size,
                         uint64_t q_size);
bool pass_covers_at(const pass_relation *r, uint64_t distance, uint64_t p_size, uint64_t q_size);

/* Addresses that differ by constants are on one line, so that many addresses need few relations. */
enum { PASS_MOST_RELATED = 64 }; /* lines whose relations are kept */
typedef struct {
    const ir_inst *first;
    uint32_t next; /* of the same hash, + 1 */
    /* Set if it is a base plus multiples of one symbol, and no generic pointer; otherwise NULL. */
    const ir_inst *base, *symbol;
    uint8_t zeros; /* low bits of the factor */
} pass_line;
typedef struct {
    ir_vec(pass_line) list;
    ir_map by_hash;
    pass_relation *known[PASS_MOST_RELATED]; /* by two lines; NULL: none of the first one */
} pass_lines;
typedef struct {
    uint32_t line;
    uint64_t at; /* the constant */
} pass_on_line;
pass_on_line pass_find_line(const pass_alias *a, pass_lines *l, const ir_inst *p);
pass_relation pass_relate_lines(const pass_alias *a, pass_lines *l, uint32_t x, uint32_t y);

/* --------------------------------------------------------------------------------- instructions */

/* Is operand `arg` of i, a load, store, copy, fill or atomic, an address that it accesses?  Loads
 * and stores of lanes are meant, too. */
bool pass_is_accessed(const ir_inst *i, unsigned arg);
/* Appends all uses of an address and of addresses that are made from it.  False: one of them is
 * passed on, stored, or converted to an integer. */
typedef ir_vec(const ir_use *) pass_use_list;
bool pass_follow_address(const ir_inst *address, ir_arena *scratch, pass_use_list *out);
/* The range that a store, copy or fill writes; NULL: another op.  Of masked stores and scatters it
 * is the range in which they write some bytes. */
const ir_inst *pass_written(const pass_alias *a, const ir_inst *i, uint64_t *size);
/* Does it write all bytes of that range?  So does a masked store if its mask is known to have the
 * first lanes only. */
bool pass_writes_all(const ir_inst *i);
/* The range that a load or copy reads, or a masked load or gather a part of; NULL: another op. */
const ir_inst *pass_read(const pass_alias *a, const ir_inst *i, uint64_t *size);
/* May i change memory, itself or by letting other work-items do so? */
bool pass_writes(const ir_inst *i);
/* Is it memory that nothing writes? */
bool pass_is_constant(const pass_alias *a, const ir_inst *p);
/* May i, or other work-items that it waits for, write these bytes?  Read them? */
bool pass_may_write(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size);
bool pass_may_read(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size);

#endif
