/* image.h — the bytes of a module's code, as a target's encoder leaves them.
 *
 * Functions, blocks and globals have labels, numbers that the encoder gives out; it binds those of
 * its own code, and knows nothing of symbols. */
#ifndef SPVFUSE_CODEGEN_NATIVE_IMAGE_H
#define SPVFUSE_CODEGEN_NATIVE_IMAGE_H

#include <stdint.h>

/* A field of four bytes that holds the distance to a label which the code does not bind:
 * label + addend - place of the field. */
typedef struct {
    uint32_t at, label;
    int64_t addend;
} cg_label_reloc;

typedef struct {
    uint8_t *bytes; /* code, then constants */
    uint32_t n, code_bytes, alignment;
    cg_label_reloc *relocs;
    uint32_t nrelocs;
    uint32_t *labels; /* by label: where it is; UINT32_MAX: not bound */
    uint32_t nlabels;
} cg_image;

#endif
