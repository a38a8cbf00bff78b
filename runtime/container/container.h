/* container.h — for runtime/container/: device code in one file, as docs/CONTAINER.md lays it out.
 *
 *   sections.def  the kinds of sections
 *   formats.def   the formats of images
 *   read.c        header, table and sections of a file, each checked before it is used
 *   access.c      what a container holds, as spvfuse_container.h shows it
 *   content.c     what a container will hold: spvf_pack
 *   recognize.c   what a file is, and the kernels of code that is no SPIR-V
 *   write.c       contents to bytes
 *   pick.c        the image of a kernel for a device
 *   native.c      objects in memory, to be called
 *   images.c      objects that come with a module
 *   elf.h         files of objects and cubins
 *   module.c      SPIR-V of one or more containers as one module
 *   hcf.h         AdaptiveCpp's text containers
 *
 * Numbers have the byte order of machines whose low byte comes first.  The other machines refuse
 * files, as ones of another version.
 */
#ifndef SPVFUSE_RUNTIME_CONTAINER_H
#define SPVFUSE_RUNTIME_CONTAINER_H

#include "runtime/api/runtime.h"
#include "runtime/spvfuse_container.h"

/* ----------------------------------------------------------------------------------- the layout */

enum { RT_CONTAINER_VERSION = 1, RT_SECTION_ALIGN = 16 };
extern const char rt_container_magic[8];

typedef struct {
    char magic[8];
    uint32_t version, sections;
    uint64_t size;     /* of the file */
    uint64_t checksum; /* of the header, with 0 here, and of the table */
} rt_container_header;

/* A row of the table, which follows the header.  Sections are in order of offsets; each begins at
 * the next multiple of 16 after the one before, and the last one ends the file. */
typedef struct {
    uint64_t offset, size, checksum;
    uint32_t kind, reserved;
} rt_section_row;

/* Texts are offsets in the strings.  An absent text is 0, the empty one. */
typedef struct {
    uint32_t name;
    /* How many, after those of the kernels before.  Parameters as the kernel was read (host_args)
     * follow its parameters; 0: they are the same. */
    uint32_t args, host_args, providers;
    uint32_t local_size[3], local_size_hint[3], subgroup_size;
    uint32_t first_arg, first_provider, reserved;
    uint64_t local_memory;
} rt_kernel_record;

enum {
    RT_ARG_CONSTANT = 1,
    RT_ARG_READ_ONLY = 2,
    RT_ARG_NO_ALIAS = 4,
    RT_ARG_MEMBER = 8,
    RT_ARG_PADDING = 16,
    RT_ARG_UNUSED = 32,
    RT_ARG_ACCESS = 64 /* times spvf_arg_access */
};
typedef struct {
    uint32_t name, type_name;
    uint32_t kind, flags;
    uint64_t size, offset;
    uint32_t align, closure;
} rt_arg_record;

typedef struct {
    uint32_t name, format, target;
    uint32_t section; /* number in the table */
} rt_image_record;

typedef struct {
    uint32_t name, image, imported; /* or exported */
} rt_symbol_record;

typedef struct {
    uint32_t owner, index, arg; /* spvf_property_owner */
    uint32_t key, value;
} rt_property_record;

typedef enum {
    RT_NO_SECTION,
#define SECTION(id, name, record, doc) RT_SECTION_##id,
#include "runtime/container/sections.def"
#undef SECTION
    RT_SECTION_KINDS
} rt_section_kind;

typedef enum {
#define FORMAT(id, name, extension) RT_FORMAT_##id,
#include "runtime/container/formats.def"
#undef FORMAT
    RT_FORMATS /* none of these */
} rt_format;

rt_format rt_format_of(const char *name);
const char *rt_format_name(rt_format f);

static inline uint64_t rt_section_place(uint64_t end) {
    return (end + RT_SECTION_ALIGN - 1) & ~(uint64_t)(RT_SECTION_ALIGN - 1);
}
uint64_t rt_header_checksum(const rt_container_header *h, const rt_section_row *rows);
uint64_t rt_section_checksum(const rt_section_row *row, const void *bytes);

/* ----------------------------------------------------------------------------- reading (read.c) */

struct spvf_container {
    spvf_context *context;
    ir_arena arena;
    const char *name;
    const uint8_t *bytes;
    size_t size;
    void *map; /* of a file, or NULL */
    size_t mapped;
    uint32_t section_count;
    const rt_section_row *rows;
    uint32_t row_of[RT_SECTION_KINDS]; /* plus 1; 0: none */
    bool *checked;                     /* by number of section */
    const char *strings;               /* NULL: not checked yet */
    const spvf_kernel_info **kernels;  /* NULL: not asked for yet */
    bool named;
    ir_map kernel_names; /* hash of a name -> kernels of that hash, once they are named */
};

/* Does it begin as one? */
bool rt_is_container(const void *bytes, size_t size);
/* Checks header and table; the container has context, arena, name, bytes and size. */
void rt_container_check_head(spvf_container *c);
/* Called within rt_guard, as all functions below: they throw after a message. */
/* The records of a section, of which there may be none; checks it when it is used first. */
const void *rt_records(spvf_container *c, rt_section_kind kind, uint32_t *count);
uint32_t rt_count_records(const spvf_container *c, rt_section_kind kind);
/* Checks a section if it has not been. */
const void *rt_section_bytes(spvf_container *c, uint32_t number);
const char *rt_container_strings(spvf_container *c);
static inline const char *rt_container_text(spvf_container *c, uint32_t at) {
    return (c->strings ? c->strings : rt_container_strings(c)) + at;
}
/* The code of an image; NULL: there is no such image.  (access.c) */
const void *rt_container_code(spvf_container *c, size_t image, size_t *size);
/* SIZE_MAX: there is no such kernel. */
size_t rt_container_find(spvf_container *c, const char *name);
/* Says what is wrong at a byte of a section, and throws. */
IR_NORETURN void rt_container_fail(const spvf_container *c, uint32_t number, uint64_t at,
                                   const char *fmt, ...) IR_PRINTF(4, 5);

/* ----------------------------------------------------------------------- contents (content.c …) */

typedef struct {
    const char *name, *format, *target;
    const void *bytes;
    size_t size;
} rt_packed_image;

/* A name that is taken. */
typedef struct rt_packed_name {
    const char *name;
    struct rt_packed_name *next; /* of the same hash */
} rt_packed_name;

typedef struct rt_packed_kernel {
    spvf_kernel_info info;
    bool described; /* by an image that has parameters; others know names only */
    ir_vec(uint32_t) images;
    struct rt_packed_kernel *next; /* of the same hash */
    uint32_t number;
} rt_packed_kernel;

typedef struct {
    const char *name;
    uint32_t image;
    bool imported;
} rt_packed_symbol;

struct spvf_pack {
    spvf_context *context;
    ir_arena arena;
    ir_vec(rt_packed_image) images;
    ir_vec(rt_packed_kernel *) kernels;
    ir_vec(rt_packed_symbol) symbols;
    ir_vec(spvf_property) properties;
    ir_map kernel_names, image_names; /* hash -> kernels, rt_packed_name */
};

spvf_pack *rt_pack_new(spvf_context *context);
/* The image of this number; its name gets a number if it is taken, bytes are not copied. */
uint32_t rt_pack_image(spvf_pack *p, const rt_packed_image *image);
/* The kernel of this name, which is made if there is none.  Without parameters only that is known;
 * with other ones than before it throws. */
rt_packed_kernel *rt_pack_describe(spvf_pack *p, const char *name, const spvf_kernel_info *info);
/* The image holds the kernel. */
void rt_pack_provide(spvf_pack *p, rt_packed_kernel *k, uint32_t image);
rt_packed_kernel *rt_pack_find(const spvf_pack *p, const char *name);
void rt_pack_symbol(spvf_pack *p, uint32_t image, const char *name, bool imported);
void rt_pack_property(spvf_pack *p, const spvf_property *property);
/* The bytes lie in the arena. */
void rt_pack_bytes(const spvf_pack *p, ir_arena *a, uint8_t **bytes, size_t *size); /* write.c */

/* --------------------------------------------------------------- code of a module (images.c, pick.c) */

/* The property of a cubin: the hash of its text (rt_hash_text), in hexadecimal digits. */
#define RT_MADE_OF "made-of"
/* Gives the module all cubins that say what they were made of, and the objects, of all containers,
 * that suit this machine and were made of one of `sources`, the bytes that the module was read
 * from.  Throws if one is damaged. */
void rt_take_images(ir_module *m, spvf_container *const *containers, size_t count,
                    const uint64_t *sources, size_t n);
/* Is an object for this target code for this machine? */
bool rt_runs_here(const char *target);

/* --------------------------------------------------------------------- other code (recognize.c) */

/* What bytes are, apart from containers. */
typedef struct {
    rt_format format;   /* RT_FORMATS: unknown */
    const char *target; /* "" where bytes do not tell */
} rt_recognized;
rt_recognized rt_recognize(const void *bytes, size_t size, ir_arena *a);
/* Calls `each` for the name of each kernel of PTX, a cubin or an object that compile writes.
 * False: it is damaged. */
typedef void rt_name_body(void *user, const char *name);
bool rt_list_code_kernels(rt_format f, const void *bytes, size_t size, rt_name_body *each,
                          void *user);

#endif
