/* pipe_impl.h — private to pipe*.c: the pipeline that is being made. */
#ifndef SPVFUSE_PIPE_IMPL_H
#define SPVFUSE_PIPE_IMPL_H

#include "tests/fuzz/pipe.h"

enum {
    ELEMENTS = 1024, /* from where an argument begins */
    MAX_BEGIN = 256, /* byte */
    MAX_KERNELS = 8, /* of the group */
    MAX_OUTSIDE = 2, /* before it, and after it */
    MAX_BUFFERS = 7,
    MAX_PARAMS = 4,
    SCALARS = 3,
    ATOMICS = 7
};

typedef enum {
    OWN,      /* the linear id */
    STRIDED,  /* times 2 to 4, plus something */
    REVERSED, /* from the last item on */
    MIRRORED, /* from the last item of the group on */
    GROUPED,  /* group * size + local id */
    TURNED,   /* columns first */
    TILTED,   /* each row ahead by a number of items */
    SHIFTED,
    CROSSED, /* the neighbour's, with xor */
    JOINED,  /* plus 256, with or */
    FOLDED,  /* the low bits */
    FIXED,
    ROW,  /* one id */
    SLOT, /* the group's; one item of it writes there */
    LOADED,
    PLACES
} place;

/* Where a kernel finds its elements in a buffer. */
typedef struct {
    place kind;
    unsigned number;  /* stride, shift … */
    unsigned variant; /* how the linear id is written */
    bool narrow;      /* in 32 bits */
    bool is_signed;   /* and how it is widened then */
    unsigned up; /* or it is shifted up by so many bits, and down again: in few of them it wraps */
    bool late;   /* that is done for the offset in bytes, which is shifted down less */
    unsigned type;
    unsigned atomic; /* not 0: which atomic operation changes it */
    unsigned strip;  /* elements for each item, in a loop; 0: one */
} form;

typedef struct {
    unsigned buffer;
    bool written;
    bool shares; /* its buffer with a parameter that is written */
    form at;     /* of what is written, also by that one */
} param;

typedef struct {
    unsigned dims, global[3], local[3]; /* local 0: none */
    unsigned offset;
    bool uneven; /* the last work-groups may be smaller */
} range;

typedef struct {
    unsigned number, nparams;
    unsigned known;     /* its last argument, mostly */
    bool has_tile;      /* memory of the work-group */
    bool takes_tile;    /* as an argument */
    bool meets;         /* operations of the work-group */
    bool returns_early; /* some items */
    param params[MAX_PARAMS];
    range range;
} kernel;

typedef struct {
    const uint8_t *at, *end;
    ir_text *out, *plan;
    unsigned values, labels, buffers;
    unsigned used, first_written;  /* sets of buffers: by launches; by the first of them */
    unsigned rounds;               /* of the loop that is being made */
    unsigned items, local, offset; /* of most members */
    range shape;                   /* of most members, where dims is not 0 */
    unsigned parts;                /* percent of accesses that are of a part of an element */
    unsigned calm;                 /* percent of the places in a buffer that are those of `home` */
    form home[MAX_BUFFERS];
    bool views;                  /* arguments begin within buffers, at these bytes mostly */
    unsigned begin[MAX_BUFFERS]; /* multiples of 4 */
    unsigned kept;               /* set of buffers that are not internal */
    unsigned scalar[SCALARS];
    kernel kernel[MAX_KERNELS + 2 * MAX_OUTSIDE];
    unsigned nkernels;
    kernel *now;
} pipe;

static inline unsigned pipe_byte(pipe *p) { return p->at < p->end ? *p->at++ : 0; }
static inline unsigned pipe_below(pipe *p, unsigned n) { return pipe_byte(p) % n; }
static inline bool pipe_chance(pipe *p, unsigned percent) {
    return pipe_byte(p) * 100 < percent * 255;
}

/* pipe.c */

form pipe_form(pipe *p, bool written);                /* at home in a buffer */
unsigned pipe_some_value(pipe *p, const unsigned *k); /* k: as of pipe_index */
unsigned pipe_any_written(pipe *p);                   /* a parameter */
void pipe_any_buffers(pipe *p, kernel *k);
/* For the range that it has. */
void pipe_kernel(pipe *p, kernel *k);

/* pipe_meet.c: what the work-items of a group do together. */

void pipe_meet(pipe *p);

/* pipe_plan.c */

static inline bool pipe_is_line_of_groups(const range *r) { return r->dims == 1 && r->local[0]; }

/* pipe_places.c: text of instructions.  Values are numbers; those of a kernel differ. */

/* A new value of a type; the caller writes the rest of the line. */
unsigned pipe_value(pipe *p, const char *type);
unsigned pipe_query(pipe *p, const char *what, unsigned d);
/* A value of 64 bits as one of a type with fewer, if that is another. */
unsigned pipe_cut(pipe *p, const char *type, unsigned x);
/* Something else that a work-item can ask of its launch, as i32. */
unsigned pipe_fact(pipe *p);
unsigned pipe_with_number(pipe *p, const char *type, const char *op, unsigned x, unsigned n);
unsigned pipe_number_minus(pipe *p, const char *type, unsigned n, unsigned x);
unsigned pipe_binary(pipe *p, const char *type, const char *op, unsigned x, unsigned y);
/* An id or index, of one strip in the item's linear id. */
unsigned pipe_element(pipe *p, const form *f, const char *type);
/* The index of an element; k: the counter of a loop, or NULL for the first of a strip. */
unsigned pipe_index(pipe *p, const form *f, const unsigned *k);
/* An element of a buffer, as i32. */
unsigned pipe_load(pipe *p, unsigned parameter, const form *f, unsigned index);
void pipe_store(pipe *p, unsigned parameter, const form *f, unsigned index, unsigned v);

#endif
