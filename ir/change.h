/* change.h — larger changes of a function: SSA construction and repair, stack variables that become
 * values, and copies of code within a function, between functions and between modules.
 */
#ifndef SPVFUSE_IR_CHANGE_H
#define SPVFUSE_IR_CHANGE_H

#include "ir/build.h"
#include "ir/flow.h"

/* ------------------------------------------------------------- SSA construction and repair (ssa.c)
 *
 * One variable at a time: name its definitions, ask for its value anywhere.
 *   ir_ssa s = {0}; ir_ssa_begin(&s, f, scratch, type);
 *   ir_ssa_def(&s, block, value) …   the value at the end of that block; the last one applies
 *   ir_ssa_place(&s, live_in)         finds where phis may be needed
 *   ir_ssa_at_head(&s, block), ir_ssa_at_end(&s, block) …
 *   ir_ssa_finish(&s)                 fills the phis
 * Phis are made only where a read needs them.  Reads before any definition give undef.  Between
 * place and finish edges stay as they are.  ir_ssa_begin on the same struct starts the next
 * variable and keeps the tables. */

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_type type;
    uint32_t cap;   /* entries of the tables */
    ir_inst **end;  /* by block id: value defined in the block, or NULL */
    ir_inst **head; /* by block id: phi made there, or cached value, or NULL */
    bool *join;     /* by block id: a phi may be needed */
    bool *live;     /* by block id: live at the head, as far as reads have been announced */
    ir_block_list defs, joins, cached, phis, lived;
} ir_ssa;
void ir_ssa_begin(ir_ssa *s, ir_func *f, ir_arena *scratch, ir_type type);
void ir_ssa_def(ir_ssa *s, ir_block *b, ir_inst *value);
/* After all definitions: there will be a read at the head of b.  Marks where the variable is live
 * for that. */
void ir_ssa_announce(ir_ssa *s, ir_block *b);
/* live_in: by block id, true where it may be read before it is written, as s->live is when all
 * reads have been announced; NULL: everywhere. */
void ir_ssa_place(ir_ssa *s, const bool *live_in);
ir_inst *ir_ssa_at_head(ir_ssa *s, ir_block *b);
ir_inst *ir_ssa_at_end(ir_ssa *s, ir_block *b);
void ir_ssa_finish(ir_ssa *s);
/* Appends to `out` the iterated dominance frontier of the blocks in `in`, as far as live_in allows
 * (NULL: all of it).  With a block, live_in has its predecessors that are not in `in`.  Sreedhar
 * and Gao 1995. */
void ir_iterated_frontier(ir_func *f, const ir_block_list *in, const bool *live_in,
                          ir_arena *scratch, ir_block_list *out);

/* ----------------------------------------------------------- stack variables (var.c, promote.c) */

/* A load, store, copy or fill of a variable. */
typedef struct {
    ir_inst *inst;
    unsigned arg;   /* the operand that is the address */
    int64_t offset; /* bytes from the variable's start */
} ir_var_use;
typedef ir_vec(ir_var_use) ir_var_uses;

/* Appends all uses of what an alloca makes, seen through constant offsets and casts of the address.
 * False when its address goes elsewhere: to a call, an atomic, memory, a phi, an unknown offset. */
bool ir_find_var_uses(const ir_inst *alloca, ir_arena *scratch, ir_var_uses *out);
/* Removes an alloca whose only uses are computed addresses, which are unused themselves. */
void ir_remove_var(ir_inst *alloca, ir_arena *scratch);
/* Can a value be written as one type and read as the other? */
bool ir_can_reinterpret(const ir_module *m, ir_type from, ir_type to);
/* A variable for a struct passed by value, aligned for all that may be done with it. */
ir_inst *ir_build_byval(ir_builder *b, const ir_param *p);
/* Copies such a struct. */
void ir_build_byval_copy(ir_builder *b, const ir_param *p, ir_inst *to, ir_inst *from);
/* What reading v's bytes as t gives. */
ir_inst *ir_build_reinterpret(ir_builder *b, ir_inst *v, ir_type t);
/* Turns variables that are only loaded and stored whole into values. */
bool ir_promote_vars(ir_func *f, ir_arena *scratch);

/* ------------------------------------------------------------------------------ clone (clone.c) */

/* Old value or block -> new, by id of the source function; NULL: not copied. */
typedef struct {
    ir_func *to;
    ir_inst **value;
    ir_block **block;
    uint32_t *edge; /* by block id: scratch */
} ir_clone_map;

/* Copies the reachable blocks of `from` to the end of `to` (which may be in another module).
 * Arguments replace parameters.  Returns jump to `after`, which must have no predecessor; the
 * result is the value returned: a phi there when there are several returns, NULL for void, undef
 * when nothing returns.  *entry is the copied entry block.  Allocas of the entry block stay in the
 * copy's entry.  Functions and globals that are reached are imported when the modules differ, and
 * source lines join the module's line table. */
ir_inst *ir_clone_body(ir_func *to, const ir_func *from, ir_inst *const *args, ir_block *after,
                       ir_block **entry);
/* Puts a copy of the body of function `body` in place of `at`, with arguments for its
 * parameters.  What comes before `at` stays in its block; the rest moves to a new one after the
 * copy. (splice.c) */
void ir_splice(ir_inst *at, const ir_func *body, ir_inst *const *args);
/* Moves the body of `from` to `to`, which has the same parameters and loses its own body; `from` is
 * left a declaration. */
void ir_take_body(ir_func *to, ir_func *from);
/* Copies a set of blocks of one function within it; edges and uses inside the set follow the copy,
 * others stay.  Edges into the set lead to the originals only; the copies' phis have arguments for
 * the edges inside.  Phis after the set may move in memory.  The caller provides map->value and
 * map->block with f->next_id and f->next_block entries of NULL, and as many in map->edge as blocks.
 */
void ir_clone_region(ir_func *f, ir_block *const *blocks, uint32_t n, ir_clone_map *map);

/* --------------------------------------------------------------------------- imports (import.c) */

/* What has been imported into m: functions that are imported through the same importer share what
 * they use.  Start as {.m = m}; lives while the source modules do. */
typedef struct {
    ir_module *m;
    ir_map done;                   /* source function, global, type, line, file -> its copy */
    ir_vec(const ir_func *) funcs; /* declared; bodies still to be copied */
    ir_vec(const ir_global *) globals;
} ir_importer;
/* A copy of f under `name`, with all functions and globals that it needs.  A function of m that is
 * imported by that name becomes the copy; names that are taken get a number.  Callees are no
 * kernels in m. */
ir_func *ir_importer_copy(ir_importer *im, const ir_func *f, const char *name);
ir_global *ir_importer_global(ir_importer *im, const ir_global *g);
/* The same with an importer of its own. */
ir_func *ir_import_func(ir_module *m, const ir_func *f, const char *name);
ir_global *ir_import_global(ir_module *m, const ir_global *g);
ir_type ir_import_type(ir_module *m, const ir_module *from, ir_type t);
/* All of `from` in m, which is empty: what one of them exports takes the place of what others
 * import.  Whole: nothing may stay undefined, and only kernels keep their names for others.  False
 * after messages about what is defined twice, differently or not at all. (link.c) */
bool ir_link(ir_module *m, ir_module *const *from, size_t n, bool whole);
/* The loc in im->m of the line that a loc of `from` has; 0: it has none. (lines.c) */
uint32_t ir_import_loc(ir_importer *im, const ir_module *from, uint32_t loc);

#endif
