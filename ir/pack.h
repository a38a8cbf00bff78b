/* pack.h — functions as bytes: an archive that is part of a program, from which functions are taken
 * one by one.
 *
 * A packed function calls nothing and has no names of values; the constant globals that it reads
 * come with it.  The bytes are made by ir_pack_write on the machine that builds the program and are
 * trusted: they are checked by assertions only. */
#ifndef SPVFUSE_IR_PACK_H
#define SPVFUSE_IR_PACK_H

#include "ir/ir.h"

typedef struct {
    const uint8_t *data;
    size_t size;
} ir_pack;

/* Appends the archive of all functions of m that have a body, and their globals.  False after an
 * error has been reported: a function cannot be packed. */
bool ir_pack_write(const ir_module *m, ir_text *out);

unsigned ir_pack_count(const ir_pack *p);
const char *ir_pack_name(const ir_pack *p, unsigned n); /* ascending */
bool ir_pack_has(const ir_pack *p, const char *name);

/* What has been taken from an archive into m; start with pack, m and scratch, all else zero.
 * Functions that are taken through the same one share globals. */
typedef struct {
    const ir_pack *pack;
    ir_module *m;
    ir_arena *scratch;
    ir_global **globals; /* by number in the archive; NULL: none was needed yet */
} ir_unpacker;
/* A new function of m with the body that is packed under `name`, or NULL if there is none. */
ir_func *ir_unpack(ir_unpacker *u, const char *name);

/* -------------------------------------------------------------------------- content (content.c) */

typedef ir_vec(const ir_global *) ir_global_list;

/* Appends what f and all that it needs say: the same bytes for the same code, whatever ids and
 * names are, and nothing else decides what f is compiled to.  The globals that it needs are listed
 * in an order that the bytes imply; the list lies in out's arena. */
void ir_content(const ir_func *f, ir_text *out, ir_global_list *globals);
/* The same for at least one function of a module, in this order, and for what they share. */
void ir_contents(const ir_func *const *funcs, uint32_t count, ir_text *out,
                 ir_global_list *globals);

#endif
