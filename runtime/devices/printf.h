/* printf.h — OpenCL's printf, for devices whose kernels do not bring their own (printf.c).
 *
 * A format is read conversion by conversion, including vectors (`%v4hlf`).  The device supplies the
 * arguments and the bytes of strings.  The text does not depend on the host's locale or printf.
 */
#ifndef SPVFUSE_RUNTIME_PRINTF_H
#define SPVFUSE_RUNTIME_PRINTF_H

#include "ir/ir.h"

/* % flags width .precision vN length conversion */
typedef struct {
    char flags[8];
    unsigned width, precision;
    bool has_precision;
    unsigned lanes; /* of vN; 1: none */
    unsigned bits;  /* of an integer */
    char conversion;
} rt_conversion;

/* An argument, lane by lane: floats are double's bits, integers have `width` bits. */
typedef struct {
    uint64_t lane[IR_MAX_LANES];
    unsigned width;
} rt_print_value;

/* Where the arguments of one printf come from. */
typedef struct {
    /* The next one; false: it is missing, or not of this conversion. */
    bool (*take)(void *user, const rt_conversion *c, rt_print_value *out);
    /* One byte of a string, which `take` gave last; 0 ends it. */
    char (*read)(void *user, uint64_t address);
    void *user;
} rt_print_source;

/* Is operand n, counted from 0, printed as a string?  Of at most *limit bytes. */
bool rt_string_limit(const char *format, uint32_t n, uint64_t *limit);
bool rt_is_float_conversion(const rt_conversion *c);
/* Appends the text; string: for one %s, its room is used again.  False when a conversion is
 * malformed or lacks its argument; the text before it has been appended. */
bool rt_print(ir_text *out, ir_text *string, const char *format, const rt_print_source *source);

#endif
