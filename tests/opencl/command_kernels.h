/* command_kernels.h — the kernels of command_kernels.cl, and what each may be given.
 *
 * The result of a launch does not depend on the order of its items, as long as memory overlaps only
 * where the letters of the table allow it. */
#ifndef SPVFUSE_TESTS_COMMAND_KERNELS_H
#define SPVFUSE_TESTS_COMMAND_KERNELS_H

#include <CL/cl.h>

/* The struct as the host has it. */
typedef struct {
    cl_char a;
    cl_short b;
    cl_int c[3];
    cl_long d;
    cl_int3 e;
} all;

/* What a kernel is given, a letter each: i f d — memory of ints, floats, doubles of which an item
 * uses its own element — or I, all elements; v — an int, l — local memory, s — the struct.  What is
 * written has > in front. */
typedef struct {
    const char *name, *args;
    enum { ANY, GROUPS, EIGHTS, PLANE } range;
} kernel;

static const kernel kernels[] = {
    {"add", ">iiv", ANY},        {"mix", ">iii", ANY},
    {"some", ">iiv", ANY},       {"sum", ">ii", ANY},
    {"both", ">i>ii", ANY},      {"loop", ">iiv", ANY},
    {"leave", ">iiv", ANY},      {"reverse", ">II", ANY},
    {"scatter", ">IIv", ANY},    {"gather", ">IIi", ANY},
    {"spread", ">II", ANY},      {"first", ">II", ANY},
    {"count", ">II", ANY},       {"most", ">II", ANY},
    {"flip", ">II", ANY},        {"own", ">ii", ANY},
    {"table", ">ii", ANY},       {"total_add", "I", ANY},
    {"total_get", ">i", ANY},    {"structs", ">is", ANY},
    {"three", ">iiv", ANY},      {"bytes", ">ii", ANY},
    {"half_bytes", ">ii", ANY},  {"plane", ">ii", PLANE},
    {"groups", ">iil", GROUPS},  {"rotate_group", ">ii", GROUPS},
    {"neighbour", ">i", GROUPS}, {"ids", ">i", GROUPS},
    {"eights", ">ii", EIGHTS},   {"product", ">fff", ANY},
    {"plus", ">fff", ANY},       {"quotient", ">fff", ANY},
    {"wide", ">ddf", ANY},       {"narrow", ">fd", ANY},
    {"invert", ">i", ANY},       {"chars", ">ii", ANY},
    {"shorts", ">iiv", ANY},     {"fours", ">iiv", ANY},
    {"beside", ">ii", ANY},      {"triples", ">I", ANY},
    {"records", ">II", ANY},     {"member", ">II", ANY},
    {"lane", ">ii", ANY},        {"choose", ">i>ii", ANY},
    {"cases", ">iiv", ANY},      {"least", ">II", ANY},
    {"scan", ">ii", GROUPS},     {"lead", ">II", GROUPS},
    {"rounds", ">iiv", GROUPS},  {"fetch", ">IIl", GROUPS},
    {"bring", ">IIl", GROUPS},   {"wrapped", ">ii", ANY},
    {"strided", ">II", ANY},     {"publish", ">ii", ANY},
    {"obtain", ">II", ANY},      {"some_generic", ">ii", ANY},
    {"votes", ">ii", GROUPS},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

#endif
