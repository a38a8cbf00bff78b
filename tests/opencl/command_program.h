/* command_program.h — random programs: memory, and commands that use it. */
#ifndef SPVFUSE_TESTS_COMMAND_PROGRAM_H
#define SPVFUSE_TESTS_COMMAND_PROGRAM_H

#include "tests/opencl/command_kernels.h"
#include "tests/random.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCKS = 10, PLACES = 13, COMMANDS = 12, ARGS = 4, ITEMS = 128, BYTES = 2048 };

typedef struct {
    enum { BUFFER, HOST, SHARED } kind;
    char type;
    bool let_go;
} block;

/* A buffer with all of its block, a part of that buffer, or an address in it. */
typedef struct {
    unsigned block, at;
    enum { WHOLE, PART, ADDRESS } kind;
} place;

typedef struct {
    enum { LAUNCH, COPY, FILL, WAIT } kind;
    unsigned kernel, places[ARGS]; /* or: from, to */
    int value;
    cl_uint dims;
    size_t offset[3], global[3], local[3]; /* local[0] = 0: none */
    size_t at, size;
    bool left_out;
} command;

typedef struct {
    block blocks[BLOCKS];
    place places[PLACES];
    size_t global, local; /* of most launches */
    unsigned count;
    command commands[COMMANDS];
} program;

static inline size_t width(char type) { return type == 'd' ? 8 : 4; }

/* The first places are the blocks; others begin where a buffer may be divided, or anywhere. */
static inline void draw_memory(program *p, uint64_t *random) {
    for (unsigned n = 0; n < BLOCKS; n++) {
        block *b = &p->blocks[n];
        b->kind = draw_below(random, 5) < 3 ? BUFFER : 1 + draw_below(random, 2);
        b->type = n ? "iiiiffd"[draw_below(random, 7)] : 'i';
        b->let_go = b->kind == BUFFER && draw_below(random, 2);
        p->places[n] = (place){n, 0, WHOLE};
    }
    for (unsigned n = BLOCKS; n < PLACES; n++) {
        const unsigned b = draw_below(random, BLOCKS);
        p->places[n] = p->blocks[b].kind == BUFFER
                           ? (place){b, 128 * draw_below(random, 9), PART}
                           : (place){b, 8 * draw_below(random, 129),
                                     p->blocks[b].kind == HOST ? PART : ADDRESS};
    }
}

static inline char type_of(const program *p, unsigned n) {
    return p->blocks[p->places[n].block].type;
}

/* One of the places of a type, often that of the command before; PLACES: there is none. */
static inline unsigned draw_place(const program *p, char type, uint64_t *random) {
    const unsigned last = p->count ? p->commands[p->count - 1].places[0] : PLACES;
    const bool follows = draw_below(random, 2) && last < PLACES && type_of(p, last) == type;
    const unsigned first = follows ? last : draw_below(random, PLACES);
    for (unsigned n = 0; n < PLACES; n++)
        if (type_of(p, (first + n) % PLACES) == type) return (first + n) % PLACES;
    return PLACES;
}

/* Have items elements of both, other than each its own? */
static inline bool share(const program *p, unsigned a, unsigned b, bool own) {
    const place *x = &p->places[a], *y = &p->places[b];
    const unsigned apart = x->at < y->at ? y->at - x->at : x->at - y->at;
    return x->block == y->block && apart < ITEMS * width(type_of(p, a)) && (apart || !own);
}

/* An argument of a kernel. */
typedef struct {
    char letter;
    bool writes;
} parameter;

/* Reads one, and the next one begins there. */
static inline parameter next_parameter(const char **args) {
    const bool writes = **args == '>';
    *args += writes;
    return (parameter){*(*args)++, writes};
}

static inline bool is_memory(parameter x) { return strchr("ifdI", x.letter) != NULL; }

static inline bool draw_args(const program *p, command *c, uint64_t *random) {
    const char *args = kernels[c->kernel].args;
    parameter x[ARGS];
    for (unsigned n = 0; *args; n++) {
        x[n] = next_parameter(&args);
        if (!is_memory(x[n])) break;
        c->places[n] = draw_place(p, x[n].letter == 'I' ? 'i' : x[n].letter, random);
        if (c->places[n] == PLACES) return false;
        for (unsigned k = 0; k < n; k++)
            if ((x[k].writes || x[n].writes) &&
                share(p, c->places[k], c->places[n], x[k].letter != 'I' && x[n].letter != 'I'))
                return false;
    }
    return true;
}

static inline void draw_plane(command *c, uint64_t *random) {
    const bool full = draw_below(random, 2);
    c->dims = 3;
    for (unsigned d = 0; d < 3; d++) {
        c->global[d] = full ? d < 2 ? 4 : 8 : 1 + draw_below(random, 4);
        c->local[d] = c->local[0] ? 1 + draw_below(random, 4) : 0;
    }
}

static inline size_t draw_local(uint64_t *random) { return (size_t)1 << draw_below(random, 6); }

/* Up to ITEMS; whole groups for those that work as a group. */
static inline void draw_range(const program *p, command *c, uint64_t *random) {
    const bool same = draw_below(random, 8);
    c->dims = 1;
    c->offset[0] = draw_below(random, 8) ? 0 : draw_below(random, 9);
    c->global[0] = same ? p->global : 1 + draw_below(random, ITEMS - 8);
    c->local[0] = same ? p->local : draw_below(random, 2) * draw_local(random);
    if (!same && !draw_below(random, 20)) c->global[0] = 0;
    if (c->offset[0] + c->global[0] > ITEMS) c->global[0] = ITEMS - c->offset[0];
    switch (kernels[c->kernel].range) {
    case GROUPS:
        if (!c->local[0]) c->local[0] = draw_local(random);
        c->offset[0] = 0;
        c->global[0] = same ? ITEMS : 32 * (1 + draw_below(random, 3));
        break;
    case EIGHTS:
        c->local[0] = draw_below(random, 2) ? 8 : 0;
        c->offset[0] = 0;
        c->global[0] = same ? ITEMS : 32;
        break;
    case PLANE: draw_plane(c, random); break;
    case ANY: break;
    }
}

static inline bool draw_launch(const program *p, command *c, uint64_t *random) {
    c->kernel = draw_below(random, KERNELS);
    draw_range(p, c, random);
    return draw_args(p, c, random);
}

/* Between blocks; addresses are none's. */
static inline bool draw_transfer(const program *p, command *c, uint64_t *random) {
    const char type = p->blocks[draw_below(random, BLOCKS)].type;
    for (unsigned n = 0; n < 2; n++) {
        c->places[n] = draw_place(p, type, random);
        if (p->places[c->places[n]].kind == ADDRESS) return false;
    }
    c->at = 8 * draw_below(random, 32);
    c->size = 8 * (1 + draw_below(random, 96));
    return c->kind == FILL || p->places[c->places[0]].block != p->places[c->places[1]].block;
}

static inline void draw_command(const program *p, command *c, uint64_t *random) {
    bool ok;
    do {
        *c = (command){.kind = draw_below(random, 10) ? LAUNCH : 1 + draw_below(random, 3),
                       .value = (int)draw_below(random, 100)};
        ok = c->kind == LAUNCH ? draw_launch(p, c, random)
                               : c->kind == WAIT || draw_transfer(p, c, random);
    } while (!ok);
}

static inline void draw_program(program *p, uint64_t *random) {
    const unsigned count = 2 + draw_below(random, COMMANDS - 1);
    *p = (program){.global = draw_below(random, 4) ? ITEMS : 1 + draw_below(random, ITEMS),
                   .local = draw_below(random, 3) ? draw_local(random) : 0};
    draw_memory(p, random);
    for (; p->count < count; p->count++) draw_command(p, &p->commands[p->count], random);
}

#endif
