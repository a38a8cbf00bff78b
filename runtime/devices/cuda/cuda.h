/* cuda.h — private to runtime/devices/cuda: the device `cuda`, an NVIDIA GPU.
 *
 *   driver.c     the driver's library, and its errors
 *   cuda.c       the list of devices, opening and closing one
 *   memory.c     memory and programs
 *   variants.c   programs made again for some launches
 *   constants.c  and for values of arguments that are marked
 *   texts.c      kernels as PTX, or what the cache knows of that
 *   cubin.c      code of the device, which the cache keeps
 *   copies.c     copies and fills
 *   staging.c    memory of the host that small copies go through
 *   ranges.c     ranges as blocks of threads
 *   launch.c     arguments and launches
 *   phases.c     kernels whose groups wait for each other
 *   prints.c     what kernels print
 *   commands.c   submissions
 *   ends.c       how their ends are told
 *   replays.c    recordings that become graphs of the driver
 *
 * Declarations of the driver's functions are our own, so that nothing of CUDA is needed to build
 * this.  Source: CUDA Driver API.
 */
#ifndef SPVFUSE_RUNTIME_CUDA_DEVICE_H
#define SPVFUSE_RUNTIME_CUDA_DEVICE_H

#include "runtime/cache/cache.h"
#include "runtime/devices/device.h"
#include "runtime/system/lock.h"

#include <pthread.h>
#include <stdatomic.h>

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct cu_context_state *cu_context;
typedef struct cu_module_state *cu_module;
typedef struct cu_function_state *cu_function;
typedef struct cu_stream_state *cu_stream;
typedef struct cu_link_state *cu_link;
typedef struct cu_event_state *cu_event;
typedef struct cu_graph_state *cu_graph;
typedef struct cu_node_state *cu_node;
typedef struct cu_replay_state *cu_replay; /* a graph made ready */
typedef struct cuda_replay cuda_replay;    /* a graph of the driver (replays.c) */
typedef struct cuda_event cuda_event;      /* an event of the driver (ends.c) */
typedef struct cuda_printer cuda_printer;  /* memory for what a launch prints (prints.c) */

/* Numbers of the driver's enumerations. */
enum {
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_READY = 600,
    CU_TOO_LARGE_TOGETHER = 720,
    CU_NOT_SUPPORTED = 801,
    CU_MOST_PITCH = 11, /* attributes of devices: bytes */
    CU_THREADS_PER_BLOCK = 1,
    CU_BLOCK_SIZE = 2, /* along x; y and z follow, as for the next one */
    CU_GRID_SIZE = 5,
    CU_PROCESSORS = 16,
    CU_SHARED_PER_BLOCK_OPTIN = 97,
    CU_MAJOR = 75,
    CU_MINOR = 76,
    CU_LAUNCHES_TOGETHER = 95,
    CU_DYNAMIC_SHARED = 8, /* attributes of functions */
    CU_FUNCTION_THREADS = 0,
    CU_FUNCTION_SHARED = 1,
    CU_NODE_TOGETHER = 2, /* attribute of nodes */
    CU_PORT_EARLY = 1,    /* of a kernel, which it lets others begin by */
    CU_EDGE_EARLY = 1,    /* type of such edges */
    CU_LAUNCH_EARLY = 6,  /* attribute of launches: before the end of those before them */
    CU_JIT_ERROR_LOG = 5, /* options of the compiler */
    CU_JIT_ERROR_LOG_SIZE = 6,
    CU_JIT_TARGET = 9, /* 90 is sm_90 */
    CU_JIT_INPUT_PTX = 1,
    CU_MEMORY_HOST = 1,
    CU_MEMORY_DEVICE = 2
};

/* One side of a copy of boxes, and the copy, as the driver has them. */
typedef struct {
    size_t x, y, z, level;
    int type;
    void *host;
    cu_address device;
    void *array, *reserved;
    size_t pitch, height; /* bytes from row to row, rows from slice to slice */
} cu_side;
typedef struct {
    cu_side from, to;
    size_t width, height, depth;
} cu_box_copy;

/* The calls that are used: name, symbol, parameters. */
#define CU_CALLS(X)                                                                                \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(version, "cuDriverGetVersion", (int *version))                                               \
    X(count, "cuDeviceGetCount", (int *count))                                                     \
    X(device, "cuDeviceGet", (cu_device * d, int ordinal))                                         \
    X(name, "cuDeviceGetName", (char *name, int size, cu_device d))                                \
    X(attribute, "cuDeviceGetAttribute", (int *value, int attribute, cu_device d))                 \
    X(retain, "cuDevicePrimaryCtxRetain", (cu_context * c, cu_device d))                           \
    X(get_current, "cuCtxGetCurrent", (cu_context * c))                                            \
    X(set_current, "cuCtxSetCurrent", (cu_context c))                                              \
    X(allocate, "cuMemAlloc_v2", (cu_address * a, size_t bytes))                                   \
    X(allocate_host, "cuMemHostAlloc", (void **at, size_t bytes, unsigned flags))                  \
    X(free_host, "cuMemFreeHost", (void *at))                                                      \
    X(free, "cuMemFree_v2", (cu_address a))                                                        \
    X(write, "cuMemcpyHtoDAsync_v2", (cu_address to, const void *from, size_t bytes, cu_stream s)) \
    X(read, "cuMemcpyDtoHAsync_v2", (void *to, cu_address from, size_t bytes, cu_stream s))        \
    X(copy, "cuMemcpyDtoDAsync_v2", (cu_address to, cu_address from, size_t bytes, cu_stream s))   \
    X(stream, "cuStreamCreate", (cu_stream * s, unsigned flags))                                   \
    X(end_stream, "cuStreamDestroy_v2", (cu_stream s))                                             \
    X(wait, "cuStreamSynchronize", (cu_stream s))                                                  \
    X(event, "cuEventCreate", (cu_event * e, unsigned flags))                                      \
    X(end_event, "cuEventDestroy_v2", (cu_event e))                                                \
    X(record, "cuEventRecord", (cu_event e, cu_stream s))                                          \
    X(elapsed, "cuEventElapsedTime", (float *ms, cu_event from, cu_event to))                      \
    X(query, "cuEventQuery", (cu_event e))                                                         \
    X(wait_for, "cuEventSynchronize", (cu_event e))                                                \
    X(copy_box, "cuMemcpy3DAsync_v2", (const cu_box_copy *c, cu_stream s))                         \
    X(set8, "cuMemsetD8Async", (cu_address a, uint8_t byte, size_t n, cu_stream s))                \
    X(set16, "cuMemsetD16Async", (cu_address a, uint16_t word, size_t n, cu_stream s))             \
    X(set32, "cuMemsetD32Async", (cu_address a, uint32_t word, size_t n, cu_stream s))             \
    X(set8_apart, "cuMemsetD2D8Async",                                                             \
      (cu_address a, size_t pitch, uint8_t byte, size_t w, size_t h, cu_stream s))                 \
    X(set16_apart, "cuMemsetD2D16Async",                                                           \
      (cu_address a, size_t pitch, uint16_t word, size_t w, size_t h, cu_stream s))                \
    X(set32_apart, "cuMemsetD2D32Async",                                                           \
      (cu_address a, size_t pitch, uint32_t word, size_t w, size_t h, cu_stream s))                \
    X(link_create, "cuLinkCreate_v2", (unsigned n, int *option, void **value, cu_link *l))         \
    X(link_add, "cuLinkAddData_v2",                                                                \
      (cu_link l, int type, void *data, size_t size, const char *name, unsigned n, int *option,    \
       void **value))                                                                              \
    X(link_complete, "cuLinkComplete", (cu_link l, void **code, size_t *size))                     \
    X(link_end, "cuLinkDestroy", (cu_link l))                                                      \
    X(load, "cuModuleLoadData", (cu_module * m, const void *image))                                \
    X(unload, "cuModuleUnload", (cu_module m))                                                     \
    X(function, "cuModuleGetFunction", (cu_function * f, cu_module m, const char *name))           \
    X(set_attribute, "cuFuncSetAttribute", (cu_function f, int attribute, int value))              \
    X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, cu_function f))        \
    X(launch, "cuLaunchKernel",                                                                    \
      (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,             \
       unsigned bz, unsigned shared, cu_stream s, void **params, void **extra))                    \
    X(blocks_at_once, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                               \
      (int *blocks, cu_function f, int threads, size_t shared))                                    \
    X(error_name, "cuGetErrorName", (cu_result error, const char **name))                          \
    X(error_text, "cuGetErrorString", (cu_result error, const char **text))

/* Launches of kernels as a node of a graph. */
typedef struct {
    cu_function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel;
    cu_context context;
} cu_kernel_node;

/* What an edge of a graph waits for; all 0: the end of the node that it begins at. */
typedef struct {
    uint8_t from_port, to_port, type, reserved[5];
} cu_edge;

/* The value of an attribute of a node. */
typedef union {
    char bytes[64];
    int together;
} cu_node_value;

/* An attribute of a launch, and a launch as the driver's most general call has it. */
typedef struct {
    int which, unused;
    union {
        char bytes[64];
        int on;
    } value;
} cu_launch_attribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    cu_stream stream;
    const cu_launch_attribute *attributes;
    unsigned count;
} cu_launch;

/* Calls that older drivers lack: NULL there. */
#define CU_NEWER_CALLS(X)                                                                          \
    X(graph, "cuGraphCreate", (cu_graph * g, unsigned flags))                                      \
    X(end_graph, "cuGraphDestroy", (cu_graph g))                                                   \
    X(add_kernel, "cuGraphAddKernelNode_v2",                                                       \
      (cu_node * n, cu_graph g, const cu_node *after, size_t count, const cu_kernel_node *what))   \
    X(set_node, "cuGraphKernelNodeSetAttribute",                                                   \
      (cu_node n, int attribute, const cu_node_value *value))                                      \
    X(make_replay, "cuGraphInstantiateWithFlags",                                                  \
      (cu_replay * r, cu_graph g, unsigned long long flags))                                       \
    X(end_replay, "cuGraphExecDestroy", (cu_replay r))                                             \
    X(change_kernel, "cuGraphExecKernelNodeSetParams_v2",                                          \
      (cu_replay r, cu_node n, const cu_kernel_node *what))                                        \
    X(replay, "cuGraphLaunch", (cu_replay r, cu_stream s))                                         \
    X(add_edges, "cuGraphAddDependencies_v2",                                                      \
      (cu_graph g, const cu_node *from, const cu_node *to, const cu_edge *edges, size_t n))        \
    X(launch_with, "cuLaunchKernelEx",                                                             \
      (const cu_launch *how, cu_function f, void **params, void **extra))                          \
    X(launch_together, "cuLaunchCooperativeKernel",                                                \
      (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,             \
       unsigned bz, unsigned shared, cu_stream s, void **params))

typedef struct {
#define X(name, symbol, parameters) cu_result(*name) parameters;
    CU_CALLS(X)
    CU_NEWER_CALLS(X)
#undef X
} cu_calls;

/* A range with the size of its groups. */
typedef struct {
    uint64_t global[3], offset[3], local[3];
    uint64_t reach[3];  /* work-items of a block: as many as `local`, or several times as many */
    uint64_t blocks[3]; /* if the range is one grid */
} cuda_grid;

/* How a launch of a kernel whose groups wait for each other runs: a row of phases.c. */
typedef enum {
    CUDA_NO_PHASES,
    CUDA_IN_ONE, /* launch */
    CUDA_IN_TURNS,
    CUDA_BY_OPTION, /* this and what follows: each phase is a launch */
    CUDA_BY_DEVICE,
    CUDA_FEW_PHASES,
    CUDA_BEGINS_EARLY,
    CUDA_MANY_GROUPS,
    CUDA_NO_ROOM,
    CUDA_NO_GRID,
    CUDA_PRINTS,
    CUDA_NO_CODE,
    CUDA_REFUSED,
    CUDA_WAYS
} cuda_way;

/* What the last launch of a kernel became: the next one is often like it. */
typedef struct {
    spvf_range range;
    bool uneven;           /* rt_launch */
    bool is_large;         /* so that facts about arguments matter, */
    unsigned known;        /* which were these */
    uint64_t local;        /* bytes of local arguments, if its groups wait for each other */
    rt_function *function; /* NULL: there was none */
    cuda_grid grid;
    cuda_way way;
    uint64_t groups, room; /* when that was chosen: of the range, and for how many there was room */
    uint64_t resident;     /* blocks, if the function is resident */
    struct {
        rt_function *function; /* for phases of which few work-items do anything, or NULL */
        cuda_grid grid;
    } few;
} cuda_choice;

struct rt_memory {
    rt_owned owned; /* the first member */
    cu_address at;
    uint64_t bytes;
};

/* How many blocks of one kind are on a processor at once; threads 0: not asked yet. */
typedef struct {
    unsigned threads, blocks;
    uint64_t shared;
} cuda_room;

struct rt_function {
    const char *name;
    cu_function function;
    bool waits;              /* its groups do, for each other: in one launch, */
    bool resident;           /* as many groups as run at once take turns with those of the range, */
    ir_phases phases;        /* or it is launched for each phase: parameters after its own, */
    pass_parts parts;        /* then what comes next, */
    bool prints;             /* one, the address of records, */
    cg_ptx_hidden hidden;    /* and after those */
    bool observes_groups;    /* otherwise they may have any shape */
    bool dependent;          /* it may begin early, and waits for what it depends on */
    unsigned local[3];       /* that it requires; 0: none */
    unsigned items[3];       /* that a thread runs along each axis */
    unsigned threads;        /* of a block, at most */
    unsigned usual;          /* of a block where the launch leaves it open; 0: not asked yet */
    unsigned shared;         /* bytes of a block that launches do not give */
    unsigned dynamic_shared; /* what it has been allowed */
    cuda_room room;          /* for its blocks */
    bool never_together;     /* the driver has refused to let its groups wait in one launch */
    rt_program *program;     /* whose kernel it is */
    const ir_func *ir;       /* the kernel itself, with marked arguments; NULL: it has none */
    rt_program *constant[RT_MAX_CONSTANTS]; /* for values of these */
    unsigned constants;                     /* of them */
    bool told;                              /* that there are more values */
    unsigned told_ways;                     /* that phases run so: bits by cuda_way */
    cuda_choice last;
    rt_function *next;
};

/* What the code of a program is made for, as bits. */
enum {
    CUDA_WIDE = 1,      /* ids of more than 32 bits */
    CUDA_PARTS = 2,     /* launches that are parts of a range */
    CUDA_APART = 4,     /* memory arguments that do not overlap */
    CUDA_COARSE = 8,    /* so many work-items that each thread may run several */
    CUDA_ALIGNED = 16,  /* memory arguments that begin at multiples of CG_PTX_ALIGN bytes */
    CUDA_TOGETHER = 32, /* groups that all run at once, and may wait for each other */
    CUDA_FULL = 64,     /* groups of more threads than registers of usual code leave room for */
    CUDA_VARIANTS = 128,
    CUDA_ITEMS = 4 /* that a thread may run */
};

struct rt_program {
    rt_owned owned; /* the first member */
    const ir_module *module;
    ir_arena arena;
    bool compiled;                      /* what can be written is in `functions` */
    bool same;                          /* as without CUDA_COARSE: no thread runs several items */
    cu_module loaded;                   /* what the driver has made of it, or NULL */
    rt_function *functions;             /* that are in it */
    pass_print_list prints;             /* of all of them */
    rt_function *owner;                 /* whose marked arguments are constants here, or NULL */
    rt_constants values;                /* these; otherwise it has all kernels of the module */
    unsigned facts;                     /* it is a variant for */
    rt_program *usual;                  /* of which it is a variant, or NULL */
    rt_program *variant[CUDA_VARIANTS]; /* by facts; NULL: not made */
};

/* What has been read, and where it goes when it is there; no bytes: nothing. */
typedef struct {
    void *to;
    const void *from;
    size_t bytes;
} cuda_read;

/* Kernels whose groups wait for each other: as the option says. */
typedef enum { CUDA_EITHER, CUDA_BY_LAUNCHES, CUDA_ALL_TOGETHER } cuda_waiting;
typedef struct cuda_contents cuda_contents; /* of a buffer (staging.c) */
typedef struct cuda_kept cuda_kept; /* memory for what phases leave to later ones (phases.c) */

/* A submission on its way; the device's lock is for what follows `event`. */
typedef struct cuda_pending cuda_pending;
enum { CUDA_MORE = 4 };
struct cuda_pending {
    rt_submission *submission;
    cuda_printer *printers;
    cuda_event *begin, *event; /* before and after it, or NULL */
    cuda_read read;
    uint64_t staged;        /* cuda.staged after it */
    uint64_t since, number; /* the first one has 1; later, if it has been extended */
    cuda_pending *next;
    const rt_function *more[CUDA_MORE]; /* that it has been extended by, besides its own */
    bool is_listed;                     /* it has not ended */
    bool grows;                         /* it is being extended: it does not end */
    uint8_t more_count;
};
_Static_assert(sizeof(cuda_pending) <= RT_OWN_BYTES, "it lies in the submission");

typedef struct {
    rt_device base; /* the first member */
    ir_arena arena;
    const cu_calls *cu;
    cu_device device;
    cu_context context;
    cu_stream stream;
    rt_cache cache;
    int version;         /* of the driver */
    unsigned generation; /* of the device: 90 */
    unsigned sm;         /* that code is made for, which is no newer */
    unsigned shared;     /* bytes that a block may have */
    unsigned processors; /* that run blocks */
    size_t most_pitch;   /* bytes between rows of a copy */
    rt_facts without;    /* no code is made for these; the device knows some of them */
    cuda_waiting waiting;
    bool can_wait;    /* groups of a launch for each other, if all run at once */
    bool never_early; /* no kernel begins before the end of those before it: as the option says, */
    bool can_begin_early; /* or the device */
    cuda_kept *kept;
    rt_owned *memories, *programs;
    cuda_replay *replays;           /* graphs of recordings */
    struct cuda_recorder *recorder; /* that grids go into, or NULL: into the stream */
    const char *kernel;             /* that is being launched, for messages; NULL: none */
    cuda_printer *printing;         /* of the submission that is being enqueued, in order */
    cuda_pending *enqueuing;        /* this one, or NULL */
    unsigned char *ring;            /* memory for copies (staging.c), or NULL */
    unsigned small_copies;          /* before there was one */
    bool ring_refused;              /* by the driver */
    uint64_t staged;                /* bytes of it that have been taken */
    cuda_contents *contents;        /* of the first buffers */
    rt_lock lock;                   /* of what follows */
    uint64_t unstaged;              /* bytes of `ring` that have been given back */
    unsigned reads;                 /* submissions with cuda_pending.read */
    cuda_printer *printers;         /* that are not in use */
    cuda_pending *first, **end;     /* that have not ended */
    uint64_t submitted, hurried; /* numbers of the last one, and of the last that is waited for */
    uint64_t awaited;            /* the last one that a thread of the program waits for itself */
    cuda_event *free_event;      /* a list of those that are not in use */
    unsigned free_events;
    pthread_t waiter;            /* the thread of ends.c */
    pthread_cond_t change, told; /* for that thread; after is_telling */
    uint32_t forks_at_start; /* 1 more than forks before the thread was started; 0: it was not */
    bool dozes, sleeps, closing; /* it: for a while; until something is submitted */
    bool is_telling;             /* a thread tells of ends */
    char lost[400];              /* why the device cannot be used any more; "": it can */
    _Atomic bool is_lost;        /* so there is a reason */
} cuda;

/* The driver's functions, or NULL: *why (or NULL) says why there are none. */
const cu_calls *cuda_driver(const char **why);
/* "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)" */
void cuda_describe(const cu_calls *cu, cu_result error, char *out, size_t size);
/* Throws after a message that names the call and the kernel, unless it has succeeded. */
void cuda_must(cuda *d, const char *call, cu_result error);
/* The thread's calls go to the device.  Throws if it is lost. */
void cuda_enter(cuda *d);
/* Is the device lost, by this error or an earlier one?  The first such error, with the kernels that
 * have not ended, is what `lost` says from then on.  By any thread. */
bool cuda_note_end(cuda *d, cu_result error);
/* Of the submissions that have not ended: "'k', 'l'". */
void cuda_list_kernels(cuda *d, char *out, size_t size);

/* The kernels of a program for the device. */
typedef struct {
    rt_ptx ptx;                   /* its text is NULL if the cache knows what else there is */
    uint8_t hash[RT_HASH_BYTES];  /* of the text */
    const rt_object_image *cubin; /* what the text was assembled to, or NULL */
} cuda_text;
/* In the program's arena; throws. */
cuda_text cuda_find_text(cuda *d, rt_program *p, const rt_ptx_options *o);
/* What the cache keeps of it, and the reverse; false: the bytes are something else. */
void cuda_put_text(const cuda_text *t, ir_text *out);
bool cuda_take_text(const uint8_t *bytes, size_t size, ir_arena *arena, cuda_text *out);
/* Made ready; throws after a message that shows the line which the driver's compiler refuses. */
cu_module cuda_load(cuda *d, rt_program *p, const rt_ptx_options *o, cuda_text *text);
/* rt_driver.assemble: by the compiler of the driver, with its message when it refuses. */
rt_bytes cuda_assemble(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm,
                       const char **why_not);
/* The newest processor that the device can run code of, among those that cubins of the module are
 * for; 0: there is none. */
unsigned cuda_cubin_sm(const cuda *d, const ir_module *m);
/* The cubin of the module that was assembled from a text, or NULL. */
const rt_object_image *cuda_find_cubin(const ir_module *m, const char *ptx);

/* Its commands are to come: where it is timed, that is noted; throws.  It has failed after that. */
void cuda_expect_begin(cuda *d, cuda_pending *p);
void cuda_forget_begin(cuda *d, const cuda_pending *p);
/* The submission, whose commands are in the stream, is told of when they have ended; throws. */
void cuda_expect_end(cuda *d, cuda_pending *p);
/* Between these two it does not end, and more of its commands are given to the stream.  False: it
 * has ended, is not the last one, or has another event or too many kernels. */
bool cuda_begin_more(cuda *d, cuda_pending *p, const rt_more *more);
void cuda_end_more(cuda *d, cuda_pending *p);
void cuda_hurry(rt_device *d);
bool cuda_await(rt_device *d, rt_submission *s);
/* Waits for all submissions, and ends the thread. */
void cuda_stop(cuda *d);

/* Commands, which go into the stream. */
void cuda_copy(cuda *d, const rt_copy *what);
/* Room in memory that the device reads by itself, until what has been submitted, and what is being
 * submitted, has ended; or NULL. */
void *cuda_stage(cuda *d, size_t bytes);
/* The same for contents of a buffer; perhaps until the device is closed. */
void *cuda_stage_contents(cuda *d, size_t bytes);
/* The same for what is to be at `to` when the submission that is being enqueued ends. */
void *cuda_stage_read(cuda *d, void *to, size_t bytes);
/* With the lock held: that has ended. */
void cuda_end_read(cuda *d, cuda_pending *p, bool ok);
/* What was read to these bytes of the host, and was staged, is there; throws. */
void cuda_await_reads(cuda *d, const char *host, size_t bytes);
void cuda_free_staging(cuda *d);
void cuda_fill(cuda *d, const rt_fill *f);
void cuda_launch(cuda *d, const rt_launch *l, ir_arena *scratch);

/* A grid, whose groups may have to run all at once. */
typedef struct {
    cu_kernel_node node;
    bool together;
    bool dependent; /* it waits itself for what it depends on */
} cuda_blocks;
/* It goes into the stream; throws.  False: the driver does not run all groups at once. */
bool cuda_launch_grid(cuda *d, const cuda_blocks *what);
/* Or to the recorder, with the sizes of its parameters. */
void cuda_record_grid(cuda *d, const cuda_blocks *what, const size_t *size, size_t n);
/* The launches of a recording from this command on, as a graph, or into the stream where none is
 * made of them.  How many there are; 0: fewer than two, which are left to the caller. */
size_t cuda_replay_launches(cuda *d, const rt_more *s, size_t first, ir_arena *scratch);
void cuda_forget(rt_device *d, uint64_t recording);
void cuda_free_replays(cuda *d);

/* A box of the groups of a range. */
enum {
    CUDA_MOST_THREADS = CG_PTX_MOST_THREADS, /* of a block */
    CUDA_LARGE = 256 /* of a processor: with fewer it waits for memory more than it computes */
};
typedef struct {
    uint64_t first[3], blocks[3];
    unsigned threads[3]; /* of a block */
} cuda_part;
/* Chooses what the launch leaves to the device.  False: the range is not one grid. */
bool cuda_shape(cuda *d, const rt_launch *l, cuda_grid *g);
/* Do the registers of the function leave room for the size of groups that the launch asks for, if it
 * does?  Otherwise cuda_shape throws. */
bool cuda_allows_group(const rt_function *f, const rt_launch *l);
/* Does the grid keep all processors busy? */
bool cuda_is_large(const cuda *d, const cuda_grid *g);
/* Grids that are the range together, of a kernel whose groups may go beyond its end, or any. */
void cuda_each_part(const cuda_grid *g, bool guarded,
                    void (*each)(void *user, const cuda_part *part), void *user);

/* The code in which all groups of the launch wait for each other; `to` gets its grid, how it runs
 * and why.  Resident: as many blocks take turns with those of the range; 0: each is one of it.
 * NULL: the kernel is launched for each phase. */
rt_function *cuda_all_together(cuda *d, const rt_launch *l, cuda_choice *to);
/* In words; false: no groups of the kernel wait for others. */
bool cuda_describe_way(const rt_function *f, const cuda_choice *c, rt_phase_way *out);
/* A note, if the context is asked for remarks, once for each kernel and way. */
void cuda_remark_way(cuda *d, rt_function *f, const cuda_choice *c);
/* The launch is in the stream: the device's user and the trace are told. */
void cuda_tell_way(cuda *d, const rt_function *f, const cuda_choice *c);
/* Memory for what the phases of a launch leave to later ones. */
cu_address cuda_keep(cuda *d, const rt_function *f, const cuda_grid *g);
void cuda_free_kept(cuda *d);
/* What the local arguments of a launch take from a block's memory. */
uint64_t cuda_local_bytes(const rt_launch *l);
/* Blocks of the function may have that much; throws. */
void cuda_allow_shared(cuda *d, rt_function *f, uint64_t bytes);

/* Memory for what a launch of a kernel that prints prints, and the copy that follows the launch. */
cu_address cuda_begin_print(cuda *d, const rt_launch *l);
void cuda_end_print(cuda *d);
/* At the end of a submission, by any thread: gives its text to the output; and keeps its memory. */
void cuda_print(cuda *d, const cuda_printer *list);
void cuda_keep_printers(cuda *d, cuda_printer *list);
void cuda_free_printers(cuda *d);

/* Of rt_cuda_driver. */
rt_memory *cuda_allocate(rt_device *d, const char *name, uint64_t bytes, const void *data);
void cuda_release(rt_device *d, rt_memory *m);
rt_program *cuda_build(rt_device *d, const ir_module *m);
rt_function *cuda_find(rt_device *d, rt_program *p, const char *kernel);
void cuda_discard(rt_device *d, rt_program *p);
/* The kernel with the values of its marked arguments as constants; or as it is, if none is marked,
 * or there have been too many other values. */
rt_function *cuda_with_constants(cuda *d, const rt_launch *l, ir_arena *scratch);
void cuda_discard_constants(rt_device *d, rt_program *p);
/* The kernel as code for this launch, and its range as blocks of threads that run it; until the
 * next launch of the kernel. */
const cuda_choice *cuda_choose(cuda *d, const rt_launch *l);
bool cuda_phases(rt_device *d, const rt_launch *l, rt_phase_way *out);
/* That code for these facts, or NULL; and has it ids of more than 32 bits? */
rt_function *cuda_find_variant(cuda *d, const rt_function *usual, unsigned facts);
bool cuda_has_wide_ids(const spvf_range *r);
void cuda_discard_variants(rt_device *d, rt_program *p);
rt_progress cuda_submit(rt_device *d, rt_submission *s);
bool cuda_extend(rt_device *d, rt_submission *s, const rt_more *more, ir_status *failure);

#endif
