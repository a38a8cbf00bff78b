/* cache.h — for runtime/cache/ and for devices that compile kernels: code that outlives the
 * process.
 *
 *   blake2b.c   a cryptographic hash: equal ones cannot be found
 *   key.c       what a variant of a kernel is known by
 *   object.c    code as the bytes of an entry
 *   place.c     the folder, and what the environment says
 *   store.c     entries: found, claimed, written
 *   room.c      how much the folder may hold, and which entries leave it
 *   inspect.c   spvf_cache
 *
 * A cache is a folder of files, an entry each, named by its key.  Nothing that can happen to it is
 * an error: what cannot be read is compiled, what cannot be written is not kept.
 */
#ifndef SPVFUSE_RUNTIME_CACHE_H
#define SPVFUSE_RUNTIME_CACHE_H

#include "runtime/native/native.h"

/* --------------------------------------------------------------------------- hashes (blake2b.c) */

enum { RT_HASH_BYTES = 32, RT_HASH_BLOCK = 128 };

/* BLAKE2b (RFC 7693), of 256 bits and without a key. */
typedef struct {
    uint64_t state[8];
    uint64_t bytes; /* that have been mixed in */
    uint8_t block[RT_HASH_BLOCK];
    size_t n; /* bytes in the block */
} rt_hash;

void rt_hash_begin(rt_hash *h);
void rt_hash_add(rt_hash *h, const void *data, size_t n);
/* A number, and bytes after their number: what differs in parts differs as a whole. */
void rt_hash_number(rt_hash *h, uint64_t n);
void rt_hash_bytes(rt_hash *h, const void *data, size_t n);
void rt_hash_end(rt_hash *h, uint8_t out[RT_HASH_BYTES]);

/* --------------------------------------------------------------------------------- keys (key.c) */

enum { RT_BUILD_ID_BYTES = 64 };

/* A hash of the parts of this library that decide what code is made, as text. */
extern const char rt_build_id[RT_BUILD_ID_BYTES + 1];

typedef struct {
    uint8_t bytes[RT_HASH_BYTES];
} rt_key;

/* Of what rt_native_compile makes of a kernel; the globals that the kernel needs lie in `a`. */
rt_key rt_key_of(const ir_func *kernel, const rt_native_options *o, ir_arena *a,
                 ir_global_list *globals);

/* --------------------------------------------------------------------------- objects (object.c) */

/* What an object with one kernel needs to be loaded and launched, as bytes in `a`.  Symbols of the
 * kernel's globals are known by their places in the list. */
void rt_object_write(const cg_object *o, const ir_global_list *globals, ir_text *out);
/* The reverse; the object's bytes and relocations are those given, which begin at a multiple of 8.
 * False: they are not what was written. */
bool rt_object_read(const uint8_t *bytes, size_t size, const ir_global_list *globals, ir_arena *a,
                    cg_object *out);

/* ------------------------------------------------------------------------- the folder (place.c) */

typedef struct {
    int folder;     /* a descriptor, or -1: there is no cache */
    uint64_t limit; /* bytes of entries */
} rt_cache;

static const rt_cache rt_no_cache = {.folder = -1};

/* Does SPVFUSE_CACHE ask for a cache?  Where it says nothing, `otherwise`. */
bool rt_cache_wanted(bool otherwise);
/* The path by the environment; false: it says none, or one that is too long. */
bool rt_cache_path(char *path, size_t size);
/* Makes the folder if asked to; one that others may write to is not used. */
rt_cache rt_cache_open(bool make);
void rt_cache_close(rt_cache *c);

/* ---------------------------------------------------------------------------- entries (store.c) */

enum { RT_NAME_BYTES = 2 * RT_HASH_BYTES };

typedef struct {
    char magic[8];
    char build[RT_BUILD_ID_BYTES];
    rt_key key;
    uint64_t size;     /* of what follows */
    uint64_t checksum; /* of all but itself */
} rt_entry_head;

/* Flags of each open: it must not follow a link, nor wait for the other end of a pipe. */
#define RT_OPEN_SAFELY (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

/* Bytes of the largest file that is an entry. */
enum { RT_MOST_OF_ENTRY = 64 << 20 };

/* An entry that has been found or claimed; zeros: neither. */
typedef struct {
    const rt_cache *cache;
    rt_key key;
    char name[RT_NAME_BYTES + 1];              /* of its file */
    char claim[RT_NAME_BYTES + sizeof ".new"]; /* of its file until that is complete */
    const uint8_t *bytes; /* what was written, of an entry that has been found; or NULL */
    size_t size;
    const uint8_t *map; /* its file */
    size_t mapped;
    bool claimed; /* it is for the caller to write */
    int file;     /* claimed: the file to write into, which becomes the entry */
} rt_entry;

/* Finds an entry, or claims it for the caller.  While another process or thread has claimed it,
 * this waits for what it writes, but no longer than a second: then the entry is neither. */
void rt_entry_begin(const rt_cache *c, const rt_key *key, rt_entry *e);
/* Writes a claimed entry.  No reader ever sees a part of it. */
void rt_entry_write(rt_entry *e, const void *bytes, size_t size, ir_ctx *cx);
/* An entry that was found is out of date: the caller claims it, to write another in its place. */
void rt_entry_replace(rt_entry *e);
void rt_entry_end(rt_entry *e);

typedef enum { RT_ENTRY_GOOD, RT_ENTRY_FOREIGN, RT_ENTRY_DAMAGED } rt_entry_state;
/* What a file holds that is named by a key; foreign: another compiler's. */
rt_entry_state rt_entry_check(const uint8_t *file, size_t size, const rt_key *key);
/* Maps a file of the folder; false: it cannot be. */
bool rt_entry_map(const rt_cache *c, const char *name, const uint8_t **bytes, size_t *size);
void rt_entry_unmap(const uint8_t *bytes, size_t size);
/* The key whose digits a name begins with. */
rt_key rt_key_of_name(const char *name);

/* -------------------------------------------------------------------------------- room (room.c) */

typedef struct {
    const char *name;
    bool is_entry;  /* not one that is being written */
    uint64_t bytes; /* on disk */
    int64_t used;   /* when last, in seconds */
} rt_file;
typedef ir_vec(rt_file) rt_file_list;

/* All files of the cache, in any order. */
void rt_list_files(const rt_cache *c, ir_arena *a, rt_file_list *out);
/* Makes room when the folder holds too much, now that an entry of `size` bytes has come.  Never
 * throws. */
void rt_make_room(const rt_cache *c, size_t size, ir_ctx *cx);
/* What rt_make_room has noted; it looks at all files next time. */
void rt_forget_sizes(const rt_cache *c);

#endif
