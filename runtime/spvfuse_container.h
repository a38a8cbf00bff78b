/* spvfuse_container.h — containers: files of device code (docs/CONTAINER.md), with images of
 * several formats and for several devices, the kernels that they hold, and what is known of these.
 * Code may also be in the text containers of AdaptiveCpp (HCF).  spvf_module_load takes containers
 * of both kinds, too.
 *
 * Ownership, threads, errors and versions are as spvfuse.h says. */
#ifndef SPVFUSE_CONTAINER_H
#define SPVFUSE_CONTAINER_H

#include "spvfuse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spvf_container spvf_container;

/* Opens a container that is in memory.  If they begin at a multiple of 16 they are used where they
 * are, and outlive the container; otherwise, and of HCF, there is a copy.  Only header and table
 * are read here.  Every other section is checked when a call asks for something in it first, so
 * that call can fail: it gives NULL, false or a status after a message that names the byte and the
 * section.  SPVF_ERROR_INPUT: they are no container, or its header or table is damaged.
 * SPVF_ERROR_ARGUMENT: context, bytes or out is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_container_load(spvf_context *context, const char *name, const void *bytes,
                                         size_t size, spvf_container **out);
/* Opens a container that is in a file, as spvf_container_load does; the file is mapped, and
 * must not become shorter meanwhile.  SPVF_ERROR_IO: it cannot be read.  Other errors are those of
 * spvf_container_load. */
SPVF_API spvf_status spvf_container_open(spvf_context *context, const char *path,
                                         spvf_container **out);
/* Frees the container and what its calls gave; modules that were made of it stay.  NULL: nothing
 * happens. */
SPVF_API void spvf_container_destroy(spvf_container *container);

/* How many kernels its images hold, each name once; 0 of NULL. */
SPVF_API size_t spvf_container_kernel_count(const spvf_container *container);
/* What the container says of a kernel; the arguments of a kernel that no SPIR-V describes are
 * unknown, and none.  NULL from `index` out of range. */
SPVF_API const spvf_kernel_info *spvf_container_kernel(spvf_container *container, size_t index);
/* The index of a kernel; SIZE_MAX: there is none of that name. */
SPVF_API size_t spvf_container_find_kernel(spvf_container *container, const char *name);
/* The images that hold a kernel; their number is *count. */
SPVF_API const uint32_t *spvf_container_providers(spvf_container *container, size_t kernel,
                                                  size_t *count);

/* An image.  Fixed: properties tell more. */
typedef struct {
    const char *name;   /* distinct within the container */
    const char *format; /* "spirv", "ptx", "cubin", "object" (of `spvfuse compile`), "llvm-ir", … */
    const char *target; /* "x86_64:v3", "sm_80"; "": none, or not known */
    size_t size;        /* of the code */
} spvf_image_info;
/* How many images the container has; 0 of NULL. */
SPVF_API size_t spvf_container_image_count(const spvf_container *container);
/* What image `index`, from 0, is.  False: there is none, or, after a message, its section is
 * damaged. */
SPVF_API bool spvf_container_image(spvf_container *container, size_t index, spvf_image_info *out);
/* The code of an image, at a multiple of 16. */
SPVF_API const void *spvf_container_code(spvf_container *container, size_t index, size_t *size);

/* A name that an image exports or imports.  Fixed. */
typedef struct {
    const char *name;
    uint32_t image;
    bool imported; /* otherwise exported */
} spvf_symbol;
/* How many symbols its images export and import; 0 of NULL. */
SPVF_API size_t spvf_container_symbol_count(const spvf_container *container);
/* Symbol `index`, from 0.  False: there is none, or, after a message, its section is damaged. */
SPVF_API bool spvf_container_symbol(spvf_container *container, size_t index, spvf_symbol *out);

typedef enum { SPVF_OF_CONTAINER, SPVF_OF_IMAGE, SPVF_OF_KERNEL, SPVF_OF_ARG } spvf_property_owner;
/* Texts that mean something to others.  Fixed. */
typedef struct {
    spvf_property_owner owner;
    uint32_t index; /* of the image or the kernel */
    uint32_t arg;   /* of the kernel */
    const char *key, *value;
} spvf_property;
/* How many properties the container has; 0 of NULL. */
SPVF_API size_t spvf_container_property_count(const spvf_container *container);
/* Property `index`, from 0.  False: there is none, or, after a message, its section is damaged. */
SPVF_API bool spvf_container_property(spvf_container *container, size_t index, spvf_property *out);

/* Checks all of a container, code included.  SPVF_ERROR_INPUT: a section is damaged, and a message
 * names it.  SPVF_ERROR_ARGUMENT: container is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_container_verify(spvf_container *container);

/* The image of a kernel that is best for a target: for "x86_64:v3" the object of the highest level
 * up to that one, for "sm_86" (or "ptx:sm_86") the newest cubin of the same generation, then the
 * newest PTX that is no newer; otherwise, and for "spirv", SPIR-V.  NULL or "cpu": what this
 * machine runs.  SPVF_ERROR_REFUSED: there is none. */
SPVF_API spvf_status spvf_container_pick(spvf_container *container, const char *kernel,
                                         const char *target, uint32_t *image);

/* A module of the SPIR-V that holds a kernel of the first container (NULL: all kernels that are in
 * any SPIR-V), linked with the images, of all the containers, that export what it imports.  If
 * several images are linked, nothing may stay undefined.  SPVF_ERROR_REFUSED: there is no SPIR-V of
 * the kernel.  SPVF_ERROR_INPUT: code is damaged, or a symbol stays undefined.
 * SPVF_ERROR_ARGUMENT: there is no container, they are of different contexts, there is no such
 * kernel, or the options have no size.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_container_module(spvf_container *const *containers, size_t count,
                                           const char *kernel, const spvf_module_options *options,
                                           spvf_module **out);

/* What will be a container. */
typedef struct spvf_pack spvf_pack;
/* An empty pack.  SPVF_ERROR_ARGUMENT: context or out is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_pack_create(spvf_context *context, spvf_pack **out);
/* Frees the pack; what it has written stays.  NULL: nothing happens. */
SPVF_API void spvf_pack_destroy(spvf_pack *pack);
/* Adds to a pack what the bytes are: SPIR-V, PTX, a cubin, an object that spvf_module_emit has
 * written, or all that a container has.  Name is the image's, target overrides what the bytes say
 * ("" or NULL: it does not); both count for images only.  Bytes are copied.  After an error the
 * pack may only be destroyed.  SPVF_ERROR_INPUT: the bytes are none of these.  SPVF_ERROR_ARGUMENT:
 * pack or bytes is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_pack_add(spvf_pack *pack, const char *name, const char *target,
                                   const void *bytes, size_t size);
/* Adds to a pack what spvf_module_emit makes of a module: "spirv…", "ptx…", "cubin…", or an object
 * for a machine without options other than a level.  Errors are those of spvf_module_emit and
 * spvf_pack_add, such as SPVF_ERROR_REFUSED when no kernel can be written. */
SPVF_API spvf_status spvf_pack_emit(spvf_pack *pack, const char *name, const spvf_module *module,
                                    const char *target);
/* Adds a property to a pack; its texts are copied.  SPVF_ERROR_ARGUMENT: it has no key, no value,
 * or an owner that is not there.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_pack_set(spvf_pack *pack, const spvf_property *property);
/* Writes the container; the same contents always have the same bytes.  SPVF_ERROR_ARGUMENT: pack or
 * out is NULL.  SPVF_ERROR_LIMIT: its texts have 4 GiB or more.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_pack_write(spvf_pack *pack, spvf_blob *out);
/* What a container holds, as HCF.  Not everything can be said there; SPVF_ERROR_REFUSED then. */
SPVF_API spvf_status spvf_container_hcf(spvf_container *container, spvf_blob *out);

#ifdef __cplusplus
}
#endif
#endif
