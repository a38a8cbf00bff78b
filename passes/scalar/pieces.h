/* pieces.h — values that are assembled from bytes of other values (pieces.c).
 *
 * memopt replaces a load by what was stored at its address.  If several stores or earlier loads
 * provide the bytes, the value is put together by shifts and masks, or by inserting lanes.
 */
#ifndef SPVFUSE_PIECES_H
#define SPVFUSE_PIECES_H

#include "ir/change.h"

/* The origin of each byte of a value in memory. */
enum { PASS_MAX_BYTES = 256 };
typedef struct {
    ir_inst *from[PASS_MAX_BYTES]; /* NULL: not known */
    uint8_t at[PASS_MAX_BYTES];    /* which byte of it */
} pass_pieces;

/* Records that `size` bytes from `to` on are those of v from `at` on, except for bytes that are
 * known already.  Returns the number of bytes that were not. */
uint64_t pass_add_piece(pass_pieces *p, ir_inst *v, uint64_t at, uint64_t to, uint64_t size);
/* Can a value of type t be assembled from the bytes at a low cost? */
bool pass_can_join(const ir_module *m, const pass_pieces *p, ir_type t);
ir_inst *pass_join(ir_builder *b, const pass_pieces *p, ir_type t);

#endif
